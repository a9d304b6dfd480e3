"""A training run in a folder: weights.safetensors, manifest.json, history.json; state.safetensors until it is done."""

import json
from pathlib import Path

from dynamics import checkpoint
from dynamics.checkpoint import Checkpoint
from dynamics.config import ModelConfig, TrainConfig
from dynamics.evaluation import Evaluation, evaluate, heldout_batch
from dynamics.files import atomic_write_text
from dynamics.run_state import STATE
from dynamics.tasks import InductionBatch
from dynamics.training import TrainResult, train

HISTORY = "history.json"


def train_into(
    folder: str | Path,
    config: ModelConfig,
    training: TrainConfig,
    *,
    resume: bool = False,
    device: str = "auto",
    progress: bool = True,
    half: bool = False,
) -> TrainResult:
    """Train and leave a checkpoint in folder; an interrupted run leaves its state there instead, for resume.

    half stores float16 weights; the manifest's metrics are those of the weights as stored.
    Raises: as `train` and `checkpoint.save`.
    """
    folder = Path(folder)
    result = train(config, training, out=folder, resume=resume, device=device, progress=progress)
    if half:
        result.model.half().float()
        rows = heldout_batch(training.seed, training.heldout_rows, config.vocab, training.pool)
        result = result._replace(heldout=evaluate(result.model, rows))
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
    atomic_write_text(folder / HISTORY, json.dumps(result.history) + "\n")
    (folder / STATE).unlink(missing_ok=True)
    return result


def metrics(heldout: Evaluation) -> dict[str, float | int]:
    """Return the entries of a manifest for a held-out score."""
    return {
        "heldout_accuracy": heldout.accuracy,
        "heldout_correct": heldout.correct,
        "heldout_rows": heldout.rows,
        "heldout_loss": heldout.loss,
    }


def heldout_of(found: Checkpoint, rows: int | None = None) -> InductionBatch:
    """Draw the held-out rows on which a checkpoint's manifest was scored (`rows`: another number of them)."""
    training = TrainConfig.checked(found.manifest.training)
    return heldout_batch(training.seed, rows or training.heldout_rows, found.model.config.vocab, training.pool)
