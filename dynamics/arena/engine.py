"""Run an arena in a folder: seeds are added until every rule stops or its budget ends; resumed after any kill.

Folder: place.json and plan.json, written first, results/<entry>.seed-<n>.json, states/ while models train. What is left
does not depend on the number of processes nor on interruptions: what to run next follows from the results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import joblib
import numpy as np
import torch
from tqdm import tqdm

from dynamics.arena.plan import ArenaPlan, Comparison
from dynamics.arena.record import Precision, Run, RunResult
from dynamics.arena.solving_plan import SolvingPlan, SolvingResult, SolvingRun
from dynamics.files.atomic import atomic_write_text
from dynamics.files.lock import LOCK, only_writer
from dynamics.files.manifest import Positive, Strict
from dynamics.statistics.rule import State, decide
from dynamics.tasks.packed import VOCAB
from dynamics.training.parallel import check, workers

if TYPE_CHECKING:
    from dynamics.arena.dissected import DissectionPlan

GUESSING = math.log(VOCAB)
PLAN, RESULTS, STATES = "plan.json", "results", "states"
PLACE = "place.json"
WAYS = "ways.json"  # what a choice of stacks was made by, before the plan (`dynamics.arena.ways`)
BEFORE = (LOCK, WAYS, PLACE)  # what an arena may hold that a kill kept from its plan
Losses = Mapping[str, list[float]]  # entry -> final loss, seed by seed
Found = TypeVar("Found", RunResult, SolvingResult)


class Place(Strict):
    """Where each run trains: device, CPU threads, precision. Results depend on it, so that a folder has one."""

    device: str = "cpu"
    threads: Positive = 1
    precision: Precision = "float32"


def run_arena(
    plan: ArenaPlan,
    folder: str | Path,
    *,
    n_jobs: int = -1,
    scheduler: str | None = None,
    place: Place | None = None,
    progress: bool = True,
) -> dict[str, RunResult]:
    """Run what the plan still needs, round by round, and return all results by run.

    Args, raises: as `run_rounds`.
    """

    def look(folder: Path) -> tuple[dict[str, RunResult], list[Run]]:
        found = results(folder, plan)
        return found, next_runs(plan, losses(plan, found))

    where = {"n_jobs": n_jobs, "scheduler": scheduler, "place": place}
    return run_rounds(plan, folder, look, _train, **where, progress=progress)


def run_rounds(
    plan: ArenaPlan | DissectionPlan | SolvingPlan,
    folder: str | Path,
    look: Callable[[Path], tuple[dict[str, Found], list[Any]]],
    train: Callable[[Any, Path, Path, Place], Any],
    *,
    n_jobs: int = -1,
    scheduler: str | None = None,
    place: Place | None = None,
    progress: bool = True,
) -> dict[str, Found]:
    """Run round by round what `look` finds wanting in the folder, until it finds nothing, and return all results.

    Args: look(folder), the results by run, and the runs to do next; train(run, result, state, place), which leaves the
        result in its file; n_jobs, processes (-1: one a core), or scheduler, the address of a dask cluster's, which
        shares the folder; place, default one CPU thread each.
    Raises: ValueError, before anything is written, for a folder of another plan, of something else, or that another
        process writes; KeyboardInterrupt on Ctrl-C, with whole files. Calling again goes on.
    """
    backend = "loky" if scheduler is None else "dask"
    check(backend, n_jobs, scheduler)
    folder, place = Path(folder).absolute(), place or Place()
    with workers(backend, n_jobs, scheduler) as parallel, only_writer(folder):
        _begin(folder, plan, place)
        with _bar(plan.title, progress) as bar:
            while True:
                found, wanted = look(folder)
                bar.update(sum(cost(one.run) for one in found.values()) - bar.n)
                bar.total = int(bar.n + sum(cost(run) for run in wanted))
                if not wanted:
                    break
                # Longest first, so that no core waits for one long run at the end of a round.
                ordered = sorted(wanted, key=lambda run: -cost(run))
                for done in parallel(joblib.delayed(_one)(run, folder, place, train) for run in ordered):
                    bar.update(done)
        _clean(folder)
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
    """The state of a comparison, and the number of its paired seeds (at most as many as its rule allows)."""
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

    def is_planned(run: Run) -> bool:
        entry, number = run.name.rpartition(".seed-")[0], run.training.seed - plan.first_seed
        return entry in plan.entries and number >= 0 and plan.run(entry, number) == run

    return read_results(folder, RunResult, is_planned)


def read_results(folder: str | Path, kind: type[Found], is_planned: Callable[[Any], bool]) -> dict[str, Found]:
    """The finished runs of a folder by name, those of a plan. Raises: ValueError, one line, as `results`."""
    found = {}
    for path in sorted((Path(folder) / RESULTS).glob("*.json")):
        one = kind.from_file(path)
        if path.stem != one.run.name or not is_planned(one.run):
            raise ValueError(f"{path}: is of no run of this plan")
        found[path.stem] = one
    return found


def read_plan(folder: str | Path) -> ArenaPlan:
    """The plan of a folder. Raises: OSError: there is none. ValueError, one line: it does not hold."""
    return ArenaPlan.from_file(Path(folder) / PLAN)


def cost(run: Run | SolvingRun) -> int:
    """A measure of a run's time for the progress bar: tokens times layers times width."""
    training = run.training
    return run.seeds * training.steps * training.rows * training.length * run.config.n_layers * run.config.width


def _one(run: Run | SolvingRun, folder: Path, place: Place, train: Callable[[Any, Path, Path, Place], Any]) -> int:
    """Train one run in this process; return its cost."""
    torch.set_num_threads(place.threads)
    train(run, folder / RESULTS / f"{run.name}.json", folder / STATES / f"{run.name}.safetensors", place)
    return cost(run)


def _train(run: Run, result: Path, state: Path, place: Place) -> None:
    from dynamics.arena.training import run as train  # here, as each process imports it once

    train(run, result, state, place.device, precision=place.precision)


def _begin(folder: Path, plan: Strict, place: Place) -> None:
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
    return Place.from_file(Path(folder) / PLACE)


def _clean(folder: Path) -> None:
    """Remove what interruptions left."""
    for path in [*folder.glob("*.tmp"), *folder.glob("*/*.tmp"), *(folder / STATES).glob("*")]:
        path.unlink()
    if (folder / STATES).is_dir():
        (folder / STATES).rmdir()


def _bar(title: str, progress: bool) -> tqdm:
    """A bar over `cost`, on a terminal."""
    return tqdm(unit="", unit_scale=True, disable=None if progress else True, desc=title[:30], mininterval=1.0)
