"""Runs that ship, as (sweep, variant, seed): their times to the level, which of two come first, their best scores.

Those of the shipped seeds are re-read, their bytes checked against the recorded hash; a seed beyond them is trained
afresh with the sweep's own settings. A model that ships with its weights is a variant of `CHECKPOINT`.
"""

import tempfile
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache
from math import isinf
from typing import Any, NamedTuple

from dynamics.statistics.survival import median_time, probability_faster
from proofs_check.evidence.counting import rank_test
from proofs_check.ledger.claim import Effort

Run = tuple[str, str]  # a sweep and a variant of it
CHECKPOINT = "checkpoint"  # in the place of a sweep: a model that ships with its weights
FRESH = 2  # seeds trained afresh by the full effort


class Found(NamedTuple):
    """The share that is on the named side, ties by half; the two-sided p of no difference; the share in words."""

    share: Fraction
    p: Fraction
    said: str


@cache
def _sweep(name: str) -> dict[str, list[Any]]:
    """The shipped results by variant. Raises ValueError where none ship, or other jobs than those of the preset."""
    from dynamics.experiments import variant_of
    from dynamics.experiments.presets import named
    from dynamics.sweep.shipped import shipped_sweep

    found: dict[str, list[Any]] = {}
    results = shipped_sweep(name).results
    if [one.job.name for one in results] != [job.name for job in named(name).jobs()]:
        raise ValueError(f"the shipped runs of {name} are not those of its preset")
    for one in results:
        found.setdefault(variant_of(one.job.name), []).append(one)
    return found


def settings(run: Run) -> tuple[Any, Any]:
    """The model and its training."""
    from dynamics.model.config import PRESETS
    from dynamics.training.settings import TRAININGS

    sweep, name = run
    if sweep == CHECKPOINT:
        return PRESETS[name], TRAININGS[name]
    return shipped(run)[0].job.config, shipped(run)[0].job.training


def shipped(run: Run) -> Sequence[Any]:
    """The shipped results of a variant, seed by seed. Raises ValueError where there are none."""
    sweep, variant = run
    if variant not in _sweep(sweep):
        raise ValueError(f"the sweep {sweep} has no variant {variant}")
    return _sweep(sweep)[variant]


@lru_cache(maxsize=64)
def result(run: Run, seed: int) -> Any:
    """The shipped result of that seed, or one trained now."""
    from dynamics.sweep.job import Place, read_result, run_job

    known = shipped(run)
    if seed < len(known):
        return known[seed]
    training = known[0].job.training.model_copy(update={"seed": seed})
    job = known[0].job.model_copy(update={"name": f"{run[1]}.seed-{seed}", "training": training})
    with tempfile.TemporaryDirectory() as folder:
        run_job(job, known[0].measure, Place(folder))
        return read_result(folder, job, known[0].measure)


def retrained(run: Run, seed: int) -> tuple[Any, Any]:
    """A model trained now from that seed, and held-out rows that it has never seen."""
    from dynamics.training.batches import heldout_rows
    from dynamics.training.loop import train

    config, training = settings(run)
    training = training.model_copy(update={"seed": seed})
    return train(config, training, device="cpu", progress=False).model, heldout_rows(training, config.vocab)


def seeds(run: Run, effort: Effort) -> Sequence[int]:
    """The shipped seeds, with full effort also fresh ones."""
    return range(len(shipped(run)) + (FRESH if effort is Effort.FULL else 0))


def times(run: Run) -> list[int | None]:
    """Steps to the level, seed by seed; None where a run was censored at its budget."""
    return [one.steps_to_level for one in shipped(run)]


def budget(run: Run) -> int:
    """The steps that each of its runs may take."""
    return int(shipped(run)[0].job.training.steps)


def level_of(run: Run) -> str:
    """The accuracy at which a run arrives."""
    return f"{100 * shipped(run)[0].measure.level:g} %"


def seeds_of(run: Run) -> str:
    """How many seeds there are."""
    return "one seed" if run[0] == CHECKPOINT else f"{len(shipped(run))} seeds"


def tally(run: Run) -> str:
    """The median steps to the level, and how many runs arrive where not all do."""
    found = times(run)
    middle, count = median_time(found), sum(time is not None for time in found)
    steps = f"over {budget(run)} steps" if isinf(middle) else f"{middle:g} steps"
    return steps if count == len(found) else f"{steps}, {count} of {len(found)} runs"


@cache
def sooner(first: Run, second: Run, factor: Fraction = Fraction(1)) -> Found:
    """A run of the first arrives before `factor` times the steps of one of the second, by the rank test.

    Both are followed to one horizon, the earlier of the first's budget and `factor` times the second's: what is later,
    or has not arrived, is later than all that is not.
    """
    end = min(budget(first), factor * budget(second))
    scaled = times(first), [None if time is None else factor * time for time in times(second)]
    ours, theirs = ([time if time is not None and time <= end else None for time in one] for one in scaled)
    share = probability_faster(ours, theirs)
    late = ([float("inf") if time is None else time for time in one] for one in (ours, theirs))
    return Found(Fraction(share.value), rank_test(*late), "{:.2f} [{:.2f}, {:.2f}]".format(*share))


def best(of: Run, seed: int) -> float:
    """The best accuracy of each run."""
    return max(result(of, seed).accuracy)
