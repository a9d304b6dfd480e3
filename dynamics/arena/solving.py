"""Train models to solve iGSM-like problems, as a plan says, in a folder as the arena's; resumed to the same bytes."""

from pathlib import Path

import numpy as np
import torch

from dynamics.arena.engine import Place, read_results, run_rounds
from dynamics.arena.solving_plan import PARTS, Solved, SolvingPlan, SolvingResult, SolvingRun, SolvingTraining
from dynamics.arena.training import finite
from dynamics.files.atomic import atomic_write_text
from dynamics.model.decoder import InductionModel
from dynamics.tasks.igsm_problem import Problem
from dynamics.training.collector import frozen_heap
from dynamics.training.evaluation import heldout_rng, training_rng
from dynamics.training.interrupt import deferred_interrupt
from dynamics.training.loop import choose_device, descend, make_optimizer, set_rate
from dynamics.training.solving import accuracy, packed_loss
from dynamics.training.state import StateKeeper

SAVE_EVERY = 500


def run_plan(
    plan: SolvingPlan, folder: str | Path, *, n_jobs: int = -1, place: Place | None = None, progress: bool = True
) -> dict[str, SolvingResult]:
    """Run what the plan still needs and return all results by run. Args, raises: as `engine.run_arena`."""

    def look(folder: Path) -> tuple[dict[str, SolvingResult], list[SolvingRun]]:
        found = results(folder, plan)
        return found, [run for name, run in plan.runs.items() if name not in found]

    return run_rounds(plan, folder, look, train, n_jobs=n_jobs, place=place, progress=progress)


def results(folder: str | Path, plan: SolvingPlan) -> dict[str, SolvingResult]:
    """The finished runs of a plan by name. Raises: ValueError, one line: a damaged file, or of another run."""
    return read_results(folder, SolvingResult, list(plan.runs.values()).__contains__)


def train(run: SolvingRun, result: Path, state: Path, place: Place) -> SolvingResult:
    """Train a model from its last state, or from the start, let it solve the held-out problems, write the result.

    Raises: ValueError, one line: a state of other settings; KeyboardInterrupt on Ctrl-C, between two steps and with
        the state saved; OSError for a full disk.
    """
    if place.precision != "float32":
        raise ValueError(f"models that solve problems train in float32, got {place.precision}")
    model = InductionModel(run.config, torch.Generator().manual_seed(run.training.seed)).to(choose_device(place.device))
    with frozen_heap(), deferred_interrupt() as asked:
        losses = _trained(model, run, state, asked)
    found = SolvingResult(run=run, solved=_solved(model.eval(), run.training, losses))
    atomic_write_text(result, found.model_dump_json() + "\n")
    state.unlink(missing_ok=True)  # after the result: a kill in between leaves a state that is swept away
    return found


def heldout(training: SolvingTraining, operations: int) -> list[Problem]:
    """The test problems of exactly so many operations, the same for every model and seed."""
    rng, task = heldout_rng(operations), training.task.at(operations)
    return [task.problem(rng) for _ in range(training.problems)]


def _trained(model: InductionModel, run: SolvingRun, state: Path, asked) -> list[float]:
    """Train in place; the loss of each step's batch before the update."""
    training, optimizer = run.training, make_optimizer(model.train(), run.training)
    keeper = StateKeeper(state, SAVE_EVERY, model, optimizer, run)
    history = keeper.resumed({"loss": []})
    losses = history["loss"]
    for step in range(len(losses), training.steps):
        set_rate(optimizer, training, step)
        packed = training.task.packed(training_rng(training.seed, step), training.rows, training.length)
        loss = packed_loss(model, packed)
        descend(model, optimizer, loss, training.clip)
        losses.append(loss.item())
        # The last step too: an interruption while problems are solved then costs nothing.
        keeper.keep(step + 1, asked, history, last=step + 1 == training.steps)
    return losses


def _solved(model: InductionModel, training: SolvingTraining, losses: list[float]) -> Solved:
    answered, right = [], []
    for operations in training.tested:
        problems = heldout(training, operations)
        found = accuracy(model, training.task.at(operations), problems)
        answered.append(round(found.answered * len(problems)))
        right.append(found.mistakes.count(None))
    means = [float(np.mean(part)) for part in np.array_split(np.array(losses), PARTS)]
    return Solved(
        answered=answered, right=right,
        loss=[finite(mean) for mean in means],
    )  # fmt: skip
