"""A run of `dynamics.training.folder` as it goes: a log of what its model does on rows of its task, and its state."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from dynamics.files.atomic import check_target
from dynamics.heads import theorem
from dynamics.heads.named import successor_attention, unnamed
from dynamics.model.decoder import InductionModel
from dynamics.observed.log import Line, read_lines
from dynamics.observed.observer import SHARE, Observer
from dynamics.observed.scores import coefficients
from dynamics.observed.undisturbed import undisturbed
from dynamics.tasks.induction import Induction
from dynamics.tasks.task import Batch, Task
from dynamics.training import checkpoint
from dynamics.training.batches import heldout_rows
from dynamics.training.evaluation import evaluate
from dynamics.training.loop import Each
from dynamics.training.settings import TrainConfig
from dynamics.training.state import STATE, read_model

LOG = "log.jsonl"
ROWS = 64  # held-out rows that an observation reads
MOST = 256  # tokens over which it takes gains
MOMENTS = 100  # observations of a run, at most


def on_rows(model: InductionModel, rows: Batch, task: Task) -> dict[str, Any]:
    """Fields of a log's `Line`: accuracy, losses, successor, and what the theorem speaks of: alpha, beta and gain."""
    with undisturbed(model):
        score = evaluate(model, rows)
        found: dict[str, Any] = {"accuracy": score.accuracy, "losses": [score.loss]}
        if model.config.place != "heads" or unnamed(model.config, rows):
            return found
        found["successor"] = [layer.tolist() for layer in successor_attention(model, rows)]
        if theorem.has_gains(model.config) and isinstance(task, Induction):
            found["losses"] = list(theorem.stages(model, rows).values())
            found["gain"] = theorem.gains(model, rows, MOST)
            found["alpha"], found["beta"] = coefficients(model)
    return found


def logged(path: str | Path, training: TrainConfig, share: float | None = SHARE) -> Each:
    """What `train` calls at each step to keep a log: at most 100 observations, within `share` of the time.

    A run that resumes goes on with its log; one that begins replaces what is there. Raises: as `Observer`, at the first
    call.
    """
    observers: list[Observer] = []

    def each(step: int, model: InductionModel) -> None:
        if not observers:
            if step == 0:
                check_target(path).unlink(missing_ok=True)
            rows = heldout_rows(training, model.config.vocab, ROWS)
            look, total = partial(on_rows, rows=rows, task=training.task), training.steps
            every, after = max(1, total // MOMENTS), step or None
            observers.append(Observer(model, look, path, every=every, share=share, after=after, total=total))
        observers[0].step(step, due=step == training.steps)

    return each


class Run(NamedTuple):
    """A run as it stands: its model after `step` updates, in training until `finished`; lines of its log, if any."""

    model: InductionModel
    training: TrainConfig
    step: int
    finished: bool
    lines: list[Line]


def read_run(folder: str | Path, device: str | torch.device = "cpu") -> Run:
    """Read a run that is finished, was killed or goes on. Raises: OSError: there is none; ValueError: it is damaged."""
    folder = Path(folder)
    try:
        (model, training, step), finished = read_model(folder / STATE), False
    except FileNotFoundError:
        (model, manifest), finished = checkpoint.load(folder), True
        path = folder / checkpoint.MANIFEST
        training = TrainConfig.checked(manifest.training, f"{path}: training")
        step = training.steps
        try:
            training.task.check(model.config.vocab)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    lines = read_lines(folder / LOG) if (folder / LOG).exists() else []
    return Run(model.to(device).eval(), training, step, finished, lines)
