"""Trainings whose losses Theorem 3.4 is asked to foresee: decoders, and the theorem's own model of four scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import torch

from dynamics.comparison.theorem_record import JUDGED, Run, Setting, TheoremStudy
from dynamics.experiments import Variant
from dynamics.experiments.presets import SWEEPS
from dynamics.files.manifest import package_version
from dynamics.heads import theorem
from dynamics.model.config import PRESETS, ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.observed.undisturbed import undisturbed
from dynamics.scalar.model import ScalarModel, draw_batch, draw_gram, train_scalars
from dynamics.scalar.record import ScalarTraining
from dynamics.tasks.induction import as_induction, length_law
from dynamics.training.batches import heldout_rows
from dynamics.training.loop import train
from dynamics.training.settings import TRAININGS, TrainConfig
from theory import landscape

LOOKS = 50  # steps at which a training is looked at, and the first
ROWS = 1024  # held-out rows, or fresh sentences, that a loss is measured on
# From halves the flow's loss is a tenth of the guess at time 20; training goes on to 60. Its first correction c1/d of
# `theory.landscape.finite_width` is below 1 % of the loss there for the first width, and above the loss for 16. For 4
# it is above the loss even where that is half of the guess.
WIDTHS = {"scalar": 4096, "scalar-narrow": 16, "scalar-narrowest": 4}
SCALAR = ScalarTraining(n_tokens=12, width=4096, runs=8, steps=1200, rate=0.05, batch=64)
SHORTER = 5

Setup = Variant | ScalarTraining


def plan(quick: bool = False, seeds: int = 8) -> dict[str, Setup]:
    """The settings by name; quick: without the vocabulary of 8000, and decoders for a fifth of the steps."""
    models = {name: Variant(PRESETS[name], TRAININGS[name]) for name in ("kv-shift", "small-kv-shift")}
    models["coupling"] = SWEEPS["coupling"].variants["kv-shift-8"]
    if quick:
        del models["kv-shift"]
        models = {name: shorter(one) for name, one in models.items()}
    scalars = {name: SCALAR.model_copy(update={"width": d, "runs": seeds}) for name, d in WIDTHS.items()}
    return models | scalars


def shorter(setup: Variant, by: int = SHORTER) -> Variant:
    """The same training with fewer steps."""
    config, training = setup
    return Variant(config, training.model_copy(update={"steps": training.steps // by}))


def trainings(setups: Mapping[str, Setup], seeds: int) -> int:
    """How often `run_theorem` reports: the scalar model trains all its seeds side by side."""
    return sum(1 if isinstance(one, ScalarTraining) else seeds for one in setups.values())


def run_theorem(setups: Mapping[str, Setup], seeds: int, report: Callable[[], object] = bool) -> TheoremStudy:
    """All trainings of a plan, one after the other on the CPU; `report` is called after each."""
    found = {}
    for name, setup in setups.items():
        if isinstance(setup, ScalarTraining):
            found[name] = scalar_setting(setup)
            report()
        else:
            found[name] = model_setting(*setup, seeds, report)
    return TheoremStudy(version=package_version(), torch_version=torch.__version__, device="cpu", settings=found)


def model_setting(
    config: ModelConfig, training: TrainConfig, seeds: int, report: Callable[[], object] = bool
) -> Setting:
    """A decoder from seeds 0, 1, ..; each has training rows and held-out rows of its own."""
    pool, runs = as_induction(training.task).pool, []
    every = max(1, training.steps // LOOKS)
    steps = sorted({*range(0, training.steps, every), training.steps})
    for seed in range(seeds):
        runs.append(_followed(config, training.model_copy(update={"seed": seed}), steps, pool))
        report()
    guess = length_law(pool)[2:] @ np.log(np.arange(2, pool + 1))
    return Setting(config=config, training=training, guess=float(guess), steps=tuple(steps), runs=tuple(runs))


def _followed(config: ModelConfig, training: TrainConfig, steps: list[int], pool: int) -> Run:
    rows = heldout_rows(training, config.vocab, ROWS)
    thetas, losses = [], []

    def each(step: int, model: InductionModel) -> None:
        if step in steps:
            with undisturbed(model):
                thetas.append(theorem.theta(model, rows))
                losses.append(theorem.stages(model, rows))

    train(config, training, device="cpu", progress=False, each=each)
    measured = {stage: _short(one[stage] for one in losses) for stage in theorem.STAGES}
    return Run(predicted=_short(theorem.predicted(thetas, pool)), measured=measured)


def scalar_setting(training: ScalarTraining) -> Setting:
    """The scalar model on as many frozen tables as it has runs; the loss is measured on fresh sentences."""
    trained = train_scalars(training, every=max(1, training.steps // LOOKS))
    gram = draw_gram(training, torch.Generator().manual_seed(training.seed))  # the tables of `train_scalars`
    sentences = draw_batch(
        training.model_copy(update={"batch": ROWS}), torch.Generator().manual_seed(training.seed + 1)
    )
    with torch.no_grad():
        losses = [ScalarModel(torch.tensor(one), gram).losses(sentences).mean(1) for one in trained.theta]
    predicted = landscape.loss(*np.moveaxis(trained.theta, -1, 0), training.n_tokens, "mean")
    runs = (
        Run(predicted=_short(one), measured={JUDGED: _short(other)})
        for one, other in zip(predicted.T, torch.stack(losses, dim=1).tolist(), strict=True)
    )
    steps = np.rint(trained.times / training.rate).astype(int).tolist()
    guess = float(np.log(training.n_tokens))
    return Setting(config=None, training=training, guess=guess, steps=tuple(steps), runs=tuple(runs))


def _short(losses: Iterable[float]) -> tuple[float, ...]:
    return tuple(float(f"{loss:.6g}") for loss in losses)
