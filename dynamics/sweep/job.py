"""One job of a sweep: train a model, score it on held-out rows every few steps, leave one JSON file.

A job killed at any moment goes on from its last state and ends with the same bytes: batches are functions of
(seed, step), states and results are written atomically, and a result holds no clock.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import torch

from dynamics.files.atomic import atomic_write_text
from dynamics.model.decoder import InductionModel, build
from dynamics.sweep.record import Job, JobResult, Measure, Precision, result_of
from dynamics.training import checkpoint
from dynamics.training.batches import heldout_rows, training_batch
from dynamics.training.collector import frozen_heap
from dynamics.training.evaluation import as_tensors, evaluate
from dynamics.training.folder import metrics
from dynamics.training.interrupt import deferred_interrupt
from dynamics.training.loop import choose_device, device_name, make_optimizer, set_rate, train_step
from dynamics.training.state import History, StateKeeper

RESULTS, STATES, WEIGHTS = "results", "states", "weights"


class Place(NamedTuple):
    """Where and how a job runs: its sweep's folder, device, CPU threads, whether its weights are kept, precision."""

    folder: str
    device: str = "cpu"
    threads: int = 1
    weights: bool = False
    precision: Precision = "float32"


def result_path(folder: str | Path, job: Job) -> Path:
    """Where a job's result lies."""
    return Path(folder) / RESULTS / f"{job.name}.json"


def read_result(folder: str | Path, job: Job, measure: Measure) -> JobResult | None:
    """Return a finished job's result, None if it is not finished.

    Raises: ValueError, one line, for a file that is damaged or belongs to another job.
    """
    path = result_path(folder, job)
    if not path.exists():
        return None
    found = JobResult.from_file(path)
    if (found.job, found.measure) != (job, measure):
        raise ValueError(f"{path}: holds the result of other settings")
    return found


def run_job(job: Job, measure: Measure, place: Place) -> str:
    """Run a job from its last state, or from the start, and leave its result; return its name.

    Raises: KeyboardInterrupt on Ctrl-C, between two steps and with the state saved; OSError for a full disk.
    """
    if read_result(place.folder, job, measure) is not None:
        return job.name
    state = Path(place.folder) / STATES / f"{job.name}.safetensors"
    with _threads(place.threads), frozen_heap(), deferred_interrupt() as asked:
        model, history = _train(job, measure, place, state, asked)
    if place.weights:
        _keep_weights(job, place, model)
    steps = [int(step) for step in history["step"]]
    result = result_of(job, measure, steps, history["accuracy"], history["loss"])
    atomic_write_text(result_path(place.folder, job), result.model_dump_json() + "\n")
    # After the result: a kill in between leaves a state that the sweep sweeps away.
    state.unlink(missing_ok=True)
    return job.name


def _train(job: Job, measure: Measure, place: Place, state: Path, asked) -> tuple[InductionModel, History]:
    """Train to the end, or to the level; the history is the held-out curve with the step of each score."""
    training, config, device = job.training, job.config, choose_device(place.device)
    model = build(config, torch.Generator().manual_seed(training.seed)).to(device)
    optimizer = make_optimizer(model, training)
    heldout = heldout_rows(training, config.vocab)
    keeper = StateKeeper(state, measure.save_every, model, optimizer, training)
    history = keeper.resumed({"step": [], "accuracy": [], "loss": [], "done": []}, measure.steps(training.steps))
    for step in range(len(history["done"]), training.steps):
        if history["accuracy"] and measure.done(history["accuracy"][-1]):
            break
        set_rate(optimizer, training, step)
        batch = training_batch(training, config.vocab, step)
        with torch.autocast(device.type, torch.bfloat16, enabled=place.precision == "bfloat16"):
            loss, _ = train_step(model, optimizer, as_tensors(batch, device), training.clip)
        history["done"].append(loss)
        if (step + 1) % measure.every == 0 or step + 1 == training.steps:
            score = evaluate(model, heldout)
            for name, value in (("step", step + 1), ("accuracy", score.accuracy), ("loss", score.loss)):
                history[name].append(float(value))
        keeper.keep(step + 1, asked, history)
    return model, history


def _keep_weights(job: Job, place: Place, model: InductionModel) -> None:
    training = job.training
    rows = heldout_rows(training, job.config.vocab)
    checkpoint.save(
        Path(place.folder) / WEIGHTS / job.name,
        model,
        seed=training.seed,
        threads=place.threads,
        device=device_name(model.embedding.device),
        training=training.model_dump(),
        metrics=metrics(evaluate(model, rows)),
    )


@contextmanager
def _threads(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
