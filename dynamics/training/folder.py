"""A training run in a folder: weights, manifest and history, with hashes; state.safetensors until it is done."""

import json
import math
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import model_validator

from dynamics.files import manifest as manifests
from dynamics.files.atomic import check_target
from dynamics.files.hashed import read_hashed, write_hashed
from dynamics.files.lock import only_writer
from dynamics.files.manifest import Fraction01, Loss, Strict, counted
from dynamics.model.config import ModelConfig
from dynamics.tasks.task import Batch
from dynamics.training import checkpoint
from dynamics.training.batches import heldout_rows
from dynamics.training.checkpoint import Checkpoint
from dynamics.training.evaluation import Evaluation, evaluate
from dynamics.training.loop import Each, TrainResult, train
from dynamics.training.settings import TrainConfig
from dynamics.training.state import STATE, History

HISTORY = "history.json"
WINDOW = 20  # batches whose mean accuracy says that a level is reached


class StoredHistory(Strict):
    """The contents of history.json: loss (None where it was not finite) and accuracy of each step."""

    accuracy: list[Fraction01]
    loss: list[Loss]

    @model_validator(mode="after")
    def _as_long(self) -> Self:
        counted(len(self.loss), accuracy=self.accuracy)
        return self


def train_into(
    folder: str | Path,
    config: ModelConfig,
    training: TrainConfig,
    *,
    resume: bool = False,
    overwrite: bool = False,
    device: str = "auto",
    progress: bool = True,
    half: bool = False,
    each: Each | None = None,
) -> TrainResult:
    """Train and leave a checkpoint in folder; an interrupted run leaves its state there instead, for resume.

    half stores float16 weights; the manifest's metrics are those of the weights as stored. each: as `train`.
    Raises: ValueError for a folder with a run that is neither resumed nor overwritten, or that another process writes;
        as `train` and `checkpoint.save`.
    """
    folder = Path(folder)
    check_folder(folder, resume=resume, overwrite=overwrite)
    with only_writer(folder):
        if not resume:
            (folder / STATE).unlink(missing_ok=True)  # of the run that is overwritten
        result = train(config, training, out=folder, resume=resume, device=device, progress=progress, each=each)
        if half:
            result.model.half().float()
            result = result._replace(heldout=evaluate(result.model, heldout_rows(training, config.vocab)))
        checkpoint.save(
            folder,
            result.model,
            seed=training.seed,
            threads=result.threads,
            device=result.device,
            training=training.model_dump(),
            metrics=metrics(result.heldout),
            half=half,
        )
        finite = {name: [x if math.isfinite(x) else None for x in curve] for name, curve in result.history.items()}
        write_hashed(folder / HISTORY, json.dumps(finite) + "\n")
    # Last, and without the lock: a kill before it leaves a run to resume, and one after it leaves nothing.
    (folder / STATE).unlink(missing_ok=True)
    return result


def check_folder(folder: str | Path, *, resume: bool = False, overwrite: bool = False) -> None:
    """Raise ValueError, one line, where a run would be lost, there is none to resume, or a file cannot be written."""
    folder = Path(folder)
    for name in (checkpoint.WEIGHTS, checkpoint.MANIFEST, HISTORY, f"{HISTORY}.sha256", STATE):
        check_target(folder / name)
    if resume and not is_interrupted(folder):
        done = "the run there is finished" if is_finished(folder) else f"{folder / STATE} does not exist"
        raise ValueError(f"nothing to resume: {done}")
    if resume or overwrite:
        return
    if is_interrupted(folder):
        raise ValueError(f"{folder}: holds an interrupted run; resume continues it, overwrite replaces it")
    if is_finished(folder):
        raise ValueError(f"{folder}: holds a finished run; overwrite replaces it")


def is_finished(folder: str | Path) -> bool:
    """Whether a run left its checkpoint in folder and no state to go on from."""
    return (Path(folder) / checkpoint.MANIFEST).exists() and not is_interrupted(folder)


def is_interrupted(folder: str | Path) -> bool:
    """Whether a run in folder can be resumed."""
    return (Path(folder) / STATE).exists()


def read_history(folder: str | Path) -> History:
    """Read "loss" and "accuracy" of each step of a finished run. Raises: as `read_hashed`; ValueError: no history."""
    path = Path(folder) / HISTORY
    return StoredHistory.parsed(read_hashed(path), str(path)).model_dump()


def steps_to(level: float, history: History) -> int | None:
    """Steps after which the last 20 batches were right at least `level` on average, None for never.

    The accuracy of a batch before its update is one on rows drawn anew. A small task has few rows, so that some were
    drawn before, and some are held-out rows too: 6 % with a vocabulary of 32 and a pool of 12.
    """
    if len(history["accuracy"]) < WINDOW:
        return None
    means = np.convolve(history["accuracy"], np.full(WINDOW, 1 / WINDOW), "valid")
    reached = np.flatnonzero(means >= level - 1e-9)
    return int(reached[0]) + WINDOW if reached.size else None


def finished_run(folder: str | Path, config: ModelConfig, training: TrainConfig) -> tuple[History, Evaluation]:
    """Read history and held-out score of a finished run. Raises: ValueError for one of other settings."""
    path = Path(folder) / checkpoint.MANIFEST
    found = manifests.read(path)
    model = ModelConfig.checked(found.config, f"{path}: config")
    known = model, TrainConfig.checked(found.training, f"{path}: training")
    if known != (config, training):  # as checked records: a field that is younger than the run has its default
        raise ValueError(f"{folder}: holds a finished run of other settings; overwrite replaces it")
    names = ("heldout_loss", "heldout_correct", "heldout_rows")
    if missing := [name for name in names if name not in found.metrics]:
        raise ValueError(f"{path}: metrics: {missing[0]} is missing")
    loss, correct, rows = (found.metrics[name] for name in names)
    if not (loss >= 0 and 0 <= correct <= rows == training.heldout_rows):
        raise ValueError(f"{path}: metrics: {correct} of {rows} rows right, loss {loss}")
    history = read_history(folder)
    if len(history["loss"]) != training.steps:
        raise ValueError(f"{Path(folder) / HISTORY}: {len(history['loss'])} steps of {training.steps}")
    return history, Evaluation(float(loss), int(correct), int(rows))


def metrics(heldout: Evaluation) -> dict[str, float | int]:
    """Return the entries of a manifest for a held-out score."""
    return {
        "heldout_accuracy": heldout.accuracy,
        "heldout_correct": heldout.correct,
        "heldout_rows": heldout.rows,
        "heldout_loss": heldout.loss,
    }


def heldout_of(found: Checkpoint) -> Batch:
    """Draw the held-out rows on which a checkpoint's manifest was scored."""
    training = TrainConfig.checked(found.manifest.training)
    return heldout_rows(training, found.model.config.vocab)
