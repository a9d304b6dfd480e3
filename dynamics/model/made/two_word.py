"""One-layer models with a vocabulary of two words that break RazorAttention's Theorem 1 on "B A A ... A"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from dynamics.model.attention import KVShiftAttention


class Case(NamedTuple):
    """A head, the hidden states of the words A and B, and the distance of B at which its weight exceeds eps."""

    norm: str
    gamma: tuple[float, ...]
    bias: tuple[float, ...]
    w_q: tuple[tuple[float, ...], ...]
    w_k: tuple[tuple[float, ...], ...]
    slope: float
    words: tuple[tuple[float, ...], tuple[float, ...]]
    distance: int
    eps: float


OPPOSITE = ((1.0, 0.0), (-1.0, 0.0))
CASES = {
    "two tokens": Case(
        "rms", (1, 0), (0, 0), ((1, 0), (0, 0)), ((-1, 0), (0, 0)), 3.0, OPPOSITE, 1, 0.5
    ),
    "product as printed": Case(
        "layer", (1, 1), (0, 0), ((0, -1), (0, 0)), ((0, 1), (0, 0)), 0.5, ((-1, 1), (1, -1)), 1, 0.61
    ),
    "RMSNorm, d = 2": Case(
        "rms", (1, 0), (0, 0), ((5, 0), (0, 0)), ((-1, 0), (0, 0)), 0.5, OPPOSITE, 34, 1e-3
    ),
    "LayerNorm, d = 3": Case(
        "layer", (1, 0, 0), (0, 0, 0), ((40, 0, 0),), ((-1, 0, 0),), 0.5, ((2, -1, -1), (-2, 1, 1)), 174, 1e-3
    ),
    "equal gains, a bias": Case(
        "layer", (1, 1), (0.5, -0.5), ((-10, 10),), ((1, -1),), 0.5, ((1, -1), (-1, 1)), 214, 1e-3
    ),
    "eps = 1e-300, product as printed": Case(
        "layer", (1, 1), (0, 0), ((0, -1000), (0, 0)), ((0, 1), (0, 0)), 0.5, ((-1, 1), (1, -1)), 1382, 1e-300
    ),
}  # fmt: skip
A, B = 0, 1


class TwoWordModel(nn.Module):
    """Embedding, torch's RMSNorm or LayerNorm with its gains and bias, one ALiBi head; scores as printed, unscaled.

    `forward` gives the head's output, `attention` its weights; float64. The norm's epsilon is 0, as in the theorem.
    """

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.case = case
        d_head, d_model = len(case.w_q), len(case.gamma)
        self.embedding = nn.Embedding.from_pretrained(_matrix(case.words), freeze=True)
        self.norm = (nn.LayerNorm if case.norm == "layer" else nn.RMSNorm)(d_model, eps=0.0, dtype=torch.float64)
        self.head = KVShiftAttention(d_model, 1, head_dim=d_head, shift="none", position="alibi", scale=1.0).double()
        self.head.slopes = [case.slope]
        with torch.no_grad():
            self.norm.weight.copy_(torch.tensor(case.gamma))
            if case.norm == "layer":
                self.norm.bias.copy_(torch.tensor(case.bias))
            self.head.q_proj.weight.copy_(_matrix(case.w_q))
            self.head.k_proj.weight.copy_(_matrix(case.w_k))

    def forward(self, tokens: Tensor) -> Tensor:
        """Output of the head, (batch, length, d_model), for tokens (batch, length) of 0 (A) and 1 (B)."""
        return self.head(self.norm(self.embedding(tokens)))

    @torch.no_grad()
    def attention(self, tokens: Tensor) -> Tensor:
        """Attention weights (batch, queries, keys) of the same tokens."""
        return self.head.weights(self.norm(self.embedding(tokens)))[:, 0]

    def sentence(self, distance: int | None = None) -> Tensor:
        """The tokens "B A A ... A" (1, distance + 1); by default with B where its weight exceeds eps."""
        return torch.tensor([[B] + [A] * (self.case.distance if distance is None else distance)])


def two_word_model(name: str) -> TwoWordModel:
    """The model of this name among CASES. Raises ValueError for another name."""
    if name not in CASES:
        raise ValueError(f"no two-word model {name!r}; there are {', '.join(CASES)}")
    return TwoWordModel(CASES[name])


def _matrix(rows: Sequence[Sequence[float]]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)
