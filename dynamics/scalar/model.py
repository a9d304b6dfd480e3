"""The theorem's own model in torch: frozen random embeddings, identity projections, only four mixing scalars free.

A sentence is a random order of all T tokens, then the i-th of them again; the last token is the query, the answer is
x_{i+1}. Embeddings, iid N(0, 1/d) of width d, are drawn once a run and never trained. They enter only through their
Gram matrix G, so that a step costs the same for every d. Many runs are trained side by side, each on its own sentences.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dynamics.scalar.record import ScalarTraining

Array = NDArray[np.float64]


class Batch(NamedTuple):
    """words (runs, batch, T), a permutation of 0..T-1 each; places (runs, batch), the repeated position, from 0."""

    words: Tensor
    places: Tensor


class ScalarModel(nn.Module):
    """`runs` models side by side: scalars (runs, 4) are the parameters, the Gram matrices (runs, T, T) are frozen."""

    gram: Tensor

    def __init__(self, start: Tensor, gram: Tensor) -> None:
        """start (4,) or (runs, 4); gram (runs, T, T), of the embeddings of each run."""
        super().__init__()
        self.scalars = nn.Parameter(start.expand(len(gram), 4).clone())
        self.register_buffer("gram", gram)

    def forward(self, batch: Batch) -> Tensor:
        """Logits (runs, batch, T), last axis by token number, at the last position of each sentence."""
        words, places = batch
        alpha1, alpha2, beta1, beta2 = self.scalars[:, :, None, None].unbind(1)
        query = words.gather(2, places[..., None])
        runs = torch.arange(len(words))[:, None]
        row = self.gram[runs, query[..., 0]]
        # Key k mixes x_k and x_{k-1}; position 1 has no predecessor, position T + 1 is the query's own.
        own = row.gather(2, torch.cat([words, query], 2))
        scores = alpha1 * own + alpha2 * nn.functional.pad(own[..., :-1], (1, 0))
        attention = scores.softmax(-1)
        mine = attention[..., :-1].scatter_add(2, places[..., None], attention[..., -1:])
        read = beta1 * mine + beta2 * attention[..., 1:]
        # The read-out is a mixture of embeddings: its coefficients, put back in token order, times G are the logits.
        return torch.zeros_like(row).scatter(2, words, read) @ self.gram

    def losses(self, batch: Batch) -> Tensor:
        """Cross entropy of x_{i+1} in nats, (runs, batch)."""
        target = batch.words.gather(2, batch.places[..., None] + 1)
        logits = self(batch)
        return logits.logsumexp(-1) - logits.gather(2, target)[..., 0]


def draw_gram(settings: ScalarTraining, generator: torch.Generator) -> Tensor:
    """Gram matrices (runs, T, T) of T embeddings a run, iid N(0, 1/d), float64."""
    gram = torch.empty(settings.runs, settings.n_tokens, settings.n_tokens, dtype=torch.float64)
    for one in gram:  # a table at a time: at d = 4096 all of them together would fill the memory
        table = torch.randn(settings.n_tokens, settings.width, generator=generator, dtype=torch.float64)
        torch.matmul(table, table.T, out=one)
    return gram.div_(settings.width)


def draw_batch(settings: ScalarTraining, generator: torch.Generator) -> Batch:
    """A batch of sentences for each run: a random order of the tokens, a position from the law."""
    shape, tokens = (settings.runs, settings.batch), settings.n_tokens
    words = torch.rand((*shape, tokens), generator=generator).argsort(-1)
    first, last = (0, tokens - 1) if settings.law == "mean" else (1, tokens - 2)
    return Batch(words, torch.randint(first, last, shape, generator=generator))


class ScalarRuns(NamedTuple):
    """Trained trajectories and what is needed of the frozen tables to predict them.

    times (records,), step times rate, from 0; theta (records, runs, 4), in the order alpha1, alpha2, beta1, beta2;
    diagonal, off_diagonal (runs,), the means of G_jj - 1 and of G_jk (j != k) in each run.
    """

    times: Array
    theta: Array
    diagonal: Array
    off_diagonal: Array


def train_scalars(settings: ScalarTraining, every: int = 1) -> ScalarRuns:
    """Gradient descent on fresh sentences; the scalars are recorded at the start, each `every` steps and at the end."""
    generator = torch.Generator().manual_seed(settings.seed)
    model = ScalarModel(torch.tensor(settings.start, dtype=torch.float64), draw_gram(settings, generator))
    descent = torch.optim.SGD(model.parameters(), lr=settings.rate)
    steps, theta = [0], [model.scalars.detach().clone()]
    for step in range(1, settings.steps + 1):
        descent.zero_grad()
        model.losses(draw_batch(settings, generator)).mean(1).sum().backward()
        descent.step()
        if step % every == 0 or step == settings.steps:
            steps.append(step)
            theta.append(model.scalars.detach().clone())
    diagonal, off_diagonal = table_means(model.gram)
    return ScalarRuns(settings.rate * np.array(steps), torch.stack(theta).numpy(), diagonal, off_diagonal)


def table_means(gram: Tensor) -> tuple[Array, Array]:
    """Mean of G_jj - 1 and mean of G_jk over j != k, of Gram matrices (runs, T, T); both (runs,)."""
    tokens = gram.shape[-1]
    trace = gram.diagonal(dim1=1, dim2=2).sum(1)
    rest = gram.sum((1, 2)) - trace
    return (trace / tokens - 1).numpy(), (rest / (tokens * (tokens - 1))).numpy()
