"""One training step at width 64: rows trimmed and only the scored position computed, against rows padded to 512.

Every way trains its own copy of one model on the same batches: the losses must stay the same, step after step. The law
of the batches is untouched (rows are not sorted by length). Drawing the batch is outside the timing.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.row import Guard, Limit, Row, compare
from benchmarks.timing import interleave
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.tasks.induction import induction_batch
from dynamics.training.collector import frozen_heap
from dynamics.training.evaluation import as_tensors, training_rng
from dynamics.training.loop import make_optimizer, train_step
from dynamics.training.settings import TrainConfig

_IGNORED = -100
Rows = tuple[Tensor, Tensor, Tensor]


def measure(quick: bool) -> Row:
    config = ModelConfig(vocab=600, width=16, mlp_width=32) if quick else ModelConfig(mlp_width=256)
    training, pool = (TrainConfig(batch=4), 32) if quick else (TrainConfig(batch=32), 512)
    losses: dict[str, list[float]] = {}
    variants = {name: stepper(way, config, training, pool, losses.setdefault(name, [])) for name, way in WAYS.items()}
    # AdamW in turn with ours, on memory of its own: its cost within a step, not in a loop with all of it in the cache.
    in_turn = {"ours": stepper(ours, config, training, pool, []), "AdamW": optimizer_alone(config, training)}
    with frozen_heap():  # as in every training loop here
        # Several steps in a row, as in training: a step after a padded one starts with cold caches.
        times = interleave(variants, 3 if quick else 7, {"ours": 5, "scored": 2})
        limit = interleave(in_turn, 3 if quick else 39)
    label = f"padded to {pool}, logits "
    return Row(
        "toy_step",
        [
            compare(times, "padded", label + "everywhere", 130, 187),
            compare(times, "scored", label + "where scored", 20, 31),
        ],
        [Limit("AdamW step alone", limit.ratio("ours", "AdamW"), 18)],
        [Guard("largest difference of a loss", max(gap(losses["ours"], other) for other in losses.values()), 1e-5)],
    )


class Run(NamedTuple):
    """A model in training and the length that the printed generator pads to."""

    model: InductionModel
    optimizer: torch.optim.Optimizer
    clip: float
    pool: int

    def update(self, loss: Tensor) -> float:
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        return loss.item()

    def pad(self, tokens: Tensor) -> Tensor:
        return F.pad(tokens, (0, max(0, self.pool - tokens.shape[1])))


def ours(run: Run, rows: Rows) -> float:
    return train_step(run.model, run.optimizer, rows, run.clip)[0]


def padded(run: Run, rows: Rows) -> float:
    """Logits at all positions; every label but the scored one is ignored."""
    tokens, query_index, target = rows
    labels = torch.full((len(tokens), run.pool), _IGNORED)
    labels[torch.arange(len(tokens)), query_index] = target
    logits = run.model(run.pad(tokens))
    return run.update(F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=_IGNORED))


def scored(run: Run, rows: Rows) -> float:
    """Hidden states at all positions, logits at the scored one."""
    tokens, query_index, target = rows
    model = run.model
    hidden = F.embedding(run.pad(tokens), model.embedding)
    for block in model.blocks:
        hidden = block(hidden)
    last = hidden[torch.arange(len(tokens)), query_index]
    return run.update(F.cross_entropy(F.linear(model.norm(last), model.embedding), target))


WAYS = {"ours": ours, "scored": scored, "padded": padded}


def start(config: ModelConfig, training: TrainConfig, pool: int) -> Run:
    model = InductionModel(config, torch.Generator().manual_seed(0)).train()
    return Run(model, make_optimizer(model, training), training.clip, pool)


def stepper(way, config: ModelConfig, training: TrainConfig, pool: int, losses: list[float]) -> Callable[[], None]:
    """Take the next step of a run each time it is called, on prepared batches, and keep its loss."""
    run, batches = start(config, training, pool), prepared(config, training, pool)
    return lambda: losses.append(way(run, next(batches)))


def prepared(config: ModelConfig, training: TrainConfig, pool: int) -> Iterator[Rows]:
    drawn = (induction_batch(training_rng(0, step), training.batch, config.vocab, pool) for step in range(40))
    return iter([as_tensors(batch, "cpu") for batch in drawn])


def optimizer_alone(config: ModelConfig, training: TrainConfig) -> Callable[[], None]:
    run = start(config, training, 0)
    for parameter in run.model.parameters():
        parameter.grad = torch.full_like(parameter, 1e-3)
    return run.optimizer.step


def gap(found: list[float], other: list[float]) -> float:
    """Over the steps that both took."""
    return max(abs(a - b) for a, b in zip(found, other, strict=False))
