"""Run an arena in a folder: seeds are added until every rule stops or its budget ends; resumed after any kill.

Folder: place.json and plan.json, written first, results/<entry>.seed-<n>.json, states/ while models train. What is left
does not depend on the number of processes nor on interruptions: what to run next follows from the results.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import joblib
import numpy as np
import torch
from tqdm import tqdm

from dynamics.arena.plan import ArenaPlan, Comparison
from dynamics.arena.record import Precision, Run, RunResult
from dynamics.files.atomic import atomic_write_text
from dynamics.files.lock import LOCK, only_writer
from dynamics.files.manifest import Strict
from dynamics.model.config import Positive
from dynamics.statistics.rule import State, decide
from dynamics.tasks.packed import VOCAB

GUESSING = math.log(VOCAB)
PLAN, RESULTS, STATES = "plan.json", "results", "states"
PLACE = "place.json"
WAYS = "ways.json"  # what a choice of stacks was made by, before the plan (`dynamics.arena.ways`)
BEFORE = (LOCK, WAYS, PLACE)  # what an arena may hold that a kill kept from its plan
Losses = Mapping[str, list[float]]  # entry -> final loss, seed by seed


class Place(Strict):
    """Where each run trains: device, CPU threads, precision. Results depend on it, so that a folder has one."""

    device: str = "cpu"
    threads: Positive = 1
    precision: Precision = "float32"


def run_arena(
    plan: ArenaPlan, folder: str | Path, *, n_jobs: int = -1, place: Place | None = None, progress: bool = True
) -> dict[str, RunResult]:
    """Run what the plan still needs, round by round, and return all results by run.

    Args: n_jobs, processes (-1: one a core); place, default one CPU thread each.
    Raises: ValueError, before anything is written, for a folder of another plan, of something else, or that another
        process writes; KeyboardInterrupt on Ctrl-C, with whole files. Calling again goes on.
    """
    check_jobs(n_jobs)
    folder, place = Path(folder).absolute(), place or Place()
    with only_writer(folder):
        begin(folder, plan, place)
        with (
            joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered") as parallel,
            bar_of(plan.title, progress) as bar,
        ):
            while True:
                found = results(folder, plan)
                bar.update(sum(cost(one.run) for one in found.values()) - bar.n)
                wanted = next_runs(plan, losses(plan, found))
                bar.total = int(bar.n + sum(cost(run) for run in wanted))
                if not wanted:
                    break
                # Longest first, so that no core waits for one long run at the end of a round.
                ordered = sorted(wanted, key=lambda run: -cost(run))
                for done in parallel(joblib.delayed(_one)(run, folder, place) for run in ordered):
                    bar.update(done)
        clean(folder)
        return found


def next_runs(plan: ArenaPlan, found: Losses) -> list[Run]:
    """What open comparisons need next: all seeds up to the least, then one more of each entry, a stack at a time."""
    wanted: dict[str, Run] = {}
    for one in plan.comparisons.values():
        state, n = state_of(one, found)
        if state in (State.DECIDED, State.SPENT):
            continue
        for number in range(max(one.rule.least, n + 1)):
            for entry in (one.variant, one.baseline):
                if number >= len(found.get(entry, ())):
                    run = plan.run(entry, number)
                    wanted[run.name] = run
    return list(wanted.values())


def differences(one: Comparison, found: Losses) -> list[float]:
    """log(variant/baseline) of the seeds that both have, up to the most that the rule allows."""
    pairs = zip(found.get(one.variant, ()), found.get(one.baseline, ()), strict=False)
    return [float(np.log(a / b)) for a, b in pairs][: one.rule.most]


def state_of(one: Comparison, found: Losses) -> tuple[State, int]:
    """Whether a comparison goes on, and after how many seeds."""
    values = differences(one, found)
    return (decide(one.rule, values).state, len(values)) if values else (State.FEW, 0)


def losses(plan: ArenaPlan, found: Mapping[str, RunResult]) -> dict[str, list[float]]:
    """The last held-out loss of each entry, seed by seed, as far as they follow one another.

    A loss that is not finite counts as that of guessing: a model that diverged has learnt nothing.
    """
    ends: dict[str, list[float]] = {}
    for entry in plan.entries:
        ends[entry] = []
        while (name := plan.run(entry, len(ends[entry])).name) in found:
            ends[entry] += [GUESSING if one[-1] is None else one[-1] for one in found[name].loss]
    return ends


def results(folder: str | Path, plan: ArenaPlan) -> dict[str, RunResult]:
    """The finished runs of a plan by name. Raises: ValueError, one line: a damaged file, or of another run."""
    found = {}
    for path in sorted((Path(folder) / RESULTS).glob("*.json")):
        one = RunResult.parsed(path.read_bytes(), str(path))
        entry, _, number = one.run.name.rpartition(".seed-")
        if path.stem != one.run.name or entry not in plan.entries or plan.run(entry, int(number)) != one.run:
            raise ValueError(f"{path}: is of no run of this plan")
        found[one.run.name] = one
    return found


def read_plan(folder: str | Path) -> ArenaPlan:
    """The plan of a folder. Raises: OSError: there is none. ValueError, one line: it does not hold."""
    path = Path(folder) / PLAN
    return ArenaPlan.parsed(path.read_bytes(), str(path))


def cost(run: Run) -> int:
    """A measure of a run's time for the progress bar: tokens times layers times width."""
    training = run.training
    return run.seeds * training.steps * training.rows * training.length * run.config.n_layers * run.config.width


def _one(run: Run, folder: Path, place: Place) -> int:
    """Train one run in this process; return its cost."""
    from dynamics.arena.training import run as train  # here, as each process imports it once

    torch.set_num_threads(place.threads)
    state = folder / STATES / f"{run.name}.safetensors"
    train(run, folder / RESULTS / f"{run.name}.json", state, place.device, precision=place.precision)
    return cost(run)


def check_jobs(n_jobs: int) -> None:
    """Raises: ValueError for a number of processes that is neither -1 nor at least 1."""
    if n_jobs == 0 or n_jobs < -1:
        raise ValueError(f"n_jobs must be -1 or at least 1, got {n_jobs}")


def begin(folder: Path, plan: Strict, place: Place) -> None:
    """Write the plan and the place first: they say what the folder is before anything is in it."""
    path, text = folder / PLAN, plan.model_dump_json(indent=1) + "\n"
    if path.exists():
        if path.read_bytes() != text.encode():
            raise ValueError(f"{folder}: holds another plan; choose another folder")
    elif any(not found.name.endswith(".tmp") and found.name not in BEFORE for found in folder.iterdir()):
        raise ValueError(f"{folder}: not empty, and no arena")
    if path.exists() or (folder / PLACE).exists():
        before = read_place(folder)
        if before != place:
            told = (f"{one.device}, threads: {one.threads}, {one.precision}" for one in (before, place))
            raise ValueError("{}: was begun on {}, not {}; choose another folder".format(folder, *told))
    else:
        atomic_write_text(folder / PLACE, place.model_dump_json() + "\n")
    if not path.exists():
        atomic_write_text(path, text)


def read_place(folder: str | Path) -> Place:
    """Where the runs of a folder train. Raises: OSError, ValueError as `read_plan`."""
    path = Path(folder) / PLACE
    return Place.parsed(path.read_bytes(), str(path))


def clean(folder: Path) -> None:
    """Remove what interruptions left."""
    for path in [*folder.glob("*.tmp"), *folder.glob("*/*.tmp"), *(folder / STATES).glob("*")]:
        path.unlink()
    if (folder / STATES).is_dir():
        (folder / STATES).rmdir()


def bar_of(title: str, progress: bool) -> tqdm:
    """A bar over `cost`, on a terminal."""
    return tqdm(unit="", unit_scale=True, disable=None if progress else True, desc=title[:30], mininterval=1.0)
