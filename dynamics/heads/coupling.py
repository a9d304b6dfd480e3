"""How the heads of many trained models mix: the counts of Table 5, and each head's place in the theorem's model.

`Mixing.key` and `Mixing.value` take the place of alpha and beta in the theorem (`dynamics.heads.theorem`).
"""

from collections.abc import Iterable
from pathlib import Path

import torch

from dynamics.files.manifest import Count, Strict
from dynamics.heads import named
from dynamics.heads.theorem import Pair, check, gains
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.sweep.job import WEIGHTS
from dynamics.sweep.record import Job
from dynamics.sweep.run import read_sweep
from dynamics.tasks.task import Batch
from dynamics.training import checkpoint
from dynamics.training.folder import heldout_of
from dynamics.training.settings import TrainConfig

TwoByTwo = tuple[tuple[int, int], tuple[int, int]]


class Mixing(Strict):
    """One head of a one-layer model: its coefficients at the start and trained, its attention and its gains.

    successor: mean attention to x_{i+1} when x_{T+1} asks; key_gain, value_gain: as `gains`.
    """

    seed: Count
    head: Count
    alpha: Pair
    beta: Pair
    start_alpha: Pair
    start_beta: Pair
    successor: float
    key_gain: float
    value_gain: float

    @property
    def key(self) -> Pair:
        """key_gain (alpha1, alpha2), the same in every gauge: the theorem's alpha / sigma."""
        return self.key_gain * self.alpha[0], self.key_gain * self.alpha[1]

    @property
    def value(self) -> Pair:
        """value_gain (beta1, beta2), the same in every gauge: the theorem's beta."""
        return self.value_gain * self.beta[0], self.value_gain * self.beta[1]


class MixingTable(Strict):
    """All heads of a sweep over seeds; training: that of the first seed; accuracy: held-out, seed by seed."""

    config: ModelConfig
    training: TrainConfig
    accuracy: dict[int, float]
    heads: tuple[Mixing, ...]


def collect(folder: str | Path) -> MixingTable:
    """Read the heads of a finished sweep that kept its weights and whose jobs differ in their seeds alone.

    Raises: OSError for a missing file; ValueError, one line, for a damaged one, for several settings, and for models
        other than one layer of shifted keys and values with window 2.
    """
    manifest, _ = read_sweep(folder)
    first = manifest.jobs[0]
    if any(_settings(job) != _settings(first) for job in manifest.jobs):
        raise ValueError(f"{folder}: heads of different settings make no one table")
    rows: list[Mixing] = []
    accuracy: dict[int, float] = {}
    for job in manifest.jobs:
        found = checkpoint.load(Path(folder) / WEIGHTS / job.name)
        accuracy[job.training.seed] = float(found.manifest.metrics["heldout_accuracy"])
        rows += mixings(found.model, heldout_of(found), job.training.seed)
    return MixingTable(config=first.config, training=first.training, accuracy=accuracy, heads=tuple(rows))


def mixings(model: InductionModel, batch: Batch, seed: int) -> list[Mixing]:
    """The heads of a model trained from `seed`, in order. Raises: ValueError as `collect`."""
    check(model.config)
    # One seed means one initial model: training never stores it.
    start = InductionModel(model.config, torch.Generator().manual_seed(seed)).blocks[0].attention
    alphas, betas = start.alpha_mix().tolist(), start.beta_mix().tolist()
    group = start.n_heads // start.n_kv_heads
    return [
        Mixing(
            seed=seed,
            head=report.head,
            alpha=_pair(report.alpha),
            beta=_pair(report.beta),
            start_alpha=_pair(alphas[report.head // group]),
            start_beta=_pair(betas[report.head // group]),
            successor=report.successor,
            key_gain=key_gain,
            value_gain=value_gain,
        )
        for report, (key_gain, value_gain) in zip(named.inspect(model, batch), gains(model, batch), strict=True)
    ]


def cells(pairs: Iterable[tuple[Pair, Pair]]) -> TwoByTwo:
    """Count (alpha, beta) as Table 5 does: rows beta1 > beta2 and not, columns alpha1 > alpha2 and not."""
    counts = [[0, 0], [0, 0]]
    for alpha, beta in pairs:
        counts[beta[0] <= beta[1]][alpha[0] <= alpha[1]] += 1
    return (counts[0][0], counts[0][1]), (counts[1][0], counts[1][1])


def fixed(alpha: Pair, beta: Pair) -> tuple[Pair, Pair]:
    """Both pairs in the gauge of `named.fix_gauge`: the cell then compares sizes, and is the same in every gauge."""
    return _pair(named.fix_gauge(alpha)), _pair(named.fix_gauge(beta))


def _settings(job: Job) -> tuple[ModelConfig, TrainConfig]:
    return job.config, job.training.model_copy(update={"seed": 0})


def _pair(coefficients: Iterable[float]) -> Pair:
    first, second = coefficients
    return first, second
