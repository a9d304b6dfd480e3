"""The fastest way to train an entry's seeds here: alone in a pool of processes, in one stack, in a pool of stacks.

A stack rounds otherwise than its models alone, so how many are stacked is a part of the plan. It is chosen once, before
anything has run; the folder keeps what was measured, and an interrupted arena goes on with the same choice.
"""

import math
from pathlib import Path

import joblib
import torch
from pydantic import Field
from tqdm import tqdm

from dynamics.arena.bundle import shipped_timed
from dynamics.arena.engine import WAYS
from dynamics.arena.plan import ArenaPlan, Entry
from dynamics.arena.record import Name
from dynamics.arena.speed import processor, stack_seconds
from dynamics.files.atomic import atomic_write_text
from dynamics.files.lock import LOCK, only_writer
from dynamics.files.manifest import Positive, Strict
from dynamics.training.parallel import quiet_restarts

ROUNDS = 5
MARGIN = 1.05  # what a stack has to gain over the pool: less is noise


class Stacked(Strict):
    """A size of stack; seconds: the least that a step of it took, with all processes at work."""

    stack: Positive
    seconds: float = Field(gt=0)


class Measured(Strict):
    """seeds: that the rules want at the least; sizes: stacks that they allow, 1 first; whole: all of them."""

    seeds: Positive
    sizes: list[Stacked] = Field(min_length=1)
    whole: float = Field(gt=0)  # seconds of a step


class Ways(Strict):
    """What was measured for a plan on one machine, and for how many processes."""

    plan_sha256: str
    torch_version: str
    processor: str
    processes: Positive
    entries: dict[Name, Measured]


def chosen_plan(plan: ArenaPlan, folder: str | Path, processes: int) -> ArenaPlan:
    """The plan with the stacks that are the fastest here, measured if the folder does not yet hold what was measured.

    Raises: ValueError, one line, for a folder that holds an arena begun without a choice, something else, or what was
        measured for another plan.
    """
    folder, path = Path(folder), Path(folder) / WAYS
    with only_writer(folder):
        if not path.exists():
            if any(not found.name.endswith(".tmp") and found.name != LOCK for found in folder.iterdir()):
                raise ValueError(f"{folder}: not empty, and begun without a choice of stacks")
            atomic_write_text(path, measured(plan, processes).model_dump_json(indent=1) + "\n")
        found = read_ways(path)
    if (found.plan_sha256, found.entries.keys()) != (plan.sha256, plan.entries.keys()):
        raise ValueError(f"{path}: measured for another plan; choose another folder")
    return chosen(plan, found)


def read_ways(path: str | Path) -> Ways:
    """What was measured. Raises: OSError: no such file. ValueError, one line: it does not hold."""
    return Ways.from_file(path)


def shipped_ways(plan: ArenaPlan) -> Ways | None:
    """What comes with the package for a plan, or None. Raises ValueError for other bytes than recorded."""
    return shipped_timed(plan, Ways)


def measured(plan: ArenaPlan, processes: int, rounds: int = ROUNDS, progress: bool = False) -> Ways:
    """Time each size of stack of each entry, and one of all its seeds, in as many processes at once as will train."""
    with quiet_restarts(), joblib.Parallel(n_jobs=processes) as parallel:
        names = tqdm(plan.entries, desc="timing", unit=" entries", disable=None if progress else True)
        entries = {name: _measured(plan, name, processes, rounds, parallel) for name in names}
    return Ways(plan_sha256=plan.sha256, torch_version=torch.__version__, processor=processor(), processes=processes,
                entries=entries)  # fmt: skip


def chosen(plan: ArenaPlan, found: Ways) -> ArenaPlan:
    """The plan with the fastest stack of each entry."""
    stacks = {name: fastest(one, found.processes) for name, one in found.entries.items()}
    entries = {name: one.model_copy(update={"stack": stacks[name]}) for name, one in plan.entries.items()}
    return ArenaPlan(title=plan.title, entries=entries, comparisons=plan.comparisons, first_seed=plan.first_seed)


def fastest(one: Measured, processes: int) -> int:
    """The size of stack with which the entry's seeds are done first; 1, the pool, unless another gains MARGIN."""
    pool, *others = one.sizes
    best = min(others, key=lambda size: wall(one.seeds, size, processes), default=pool)
    return best.stack if MARGIN * wall(one.seeds, best, processes) <= wall(one.seeds, pool, processes) else pool.stack


def wall(seeds: int, size: Stacked, processes: int) -> float:
    """Seconds of one step of all seeds: their stacks go through the processes in as many turns as it takes."""
    return math.ceil(math.ceil(seeds / size.stack) / processes) * size.seconds


def spoken(found: Ways) -> list[str]:
    """One line for each entry: the way that was chosen, and how many times faster it is than the pool."""
    wide, lines = max(map(len, found.entries)), []
    for name, one in found.entries.items():
        best = fastest(one, found.processes)
        lines.append(f"{name:<{wide}} {way(one, best):<20} {gains(one, found.processes)[best]:.2f} x the pool")
    return lines


def gains(one: Measured, processes: int) -> dict[int, float]:
    """For each size of stack, how many times faster than in the pool all seeds are done; last, one stack of all."""
    pool = wall(one.seeds, one.sizes[0], processes)
    found = {size.stack: pool / wall(one.seeds, size, processes) for size in one.sizes}
    return found | {one.seeds: pool / one.whole}


def way(one: Measured, stack: int) -> str:
    """What a size of stack is called."""
    if stack == 1:
        return "pool"
    return "stack" if stack == one.seeds else f"pool of stacks of {stack}"


def sizes(plan: ArenaPlan, name: str) -> tuple[int, list[int]]:
    """The seeds that an entry's rules want at the least, and the stacks that make up the least and most of them all."""
    rules = [one.rule for one in plan.comparisons.values() if name in (one.variant, one.baseline)]
    common = math.gcd(*(count for rule in rules for count in (rule.least, rule.most)))
    return max(rule.least for rule in rules), [size for size in range(1, common + 1) if common % size == 0]


def _measured(plan: ArenaPlan, name: str, processes: int, rounds: int, parallel: joblib.Parallel) -> Measured:
    seeds, allowed = sizes(plan, name)
    every = sorted({*allowed, seeds})
    each = parallel(joblib.delayed(_seconds)(plan.entries[name], every, rounds) for _ in range(processes))
    least = dict(zip(every, map(min, zip(*each, strict=True)), strict=True))
    found = [Stacked(stack=size, seconds=least[size]) for size in allowed]
    return Measured(seeds=seeds, sizes=found, whole=least[seeds])


def _seconds(entry: Entry, allowed: list[int], rounds: int) -> list[float]:
    from dynamics.tasks.corpus import standard_library  # here, as each process reads it once

    return stack_seconds(entry, allowed, standard_library(), rounds)
