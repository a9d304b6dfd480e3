"""Margins on a shipped sweep: whether single runs arrive at the level, how many do, and the medians of their steps.

A run is (sweep, variant, seed). Those of the shipped seeds are re-read, their bytes checked against the recorded hash;
a seed beyond them is trained afresh with the sweep's own settings.
"""

import tempfile
from functools import lru_cache
from math import isinf
from typing import Any

from dynamics.statistics.survival import median_time
from proofs_check.evidence.margin import Margin, at_most, less, same
from proofs_check.ledger.claim import Control, Effort, Evidence, Kind

Variant = tuple[str, str]  # a sweep and a variant of it
FRESH = 2  # seeds trained afresh by the full effort


@lru_cache(maxsize=32)
def shipped(variant: Variant) -> tuple[Any, ...]:
    """The shipped results of a variant, seed by seed. Raises ValueError where there are none."""
    from dynamics.experiments import variant_of
    from dynamics.sweep.shipped import shipped_sweep

    sweep, name = variant
    found = tuple(result for result in shipped_sweep(sweep).results if variant_of(result.job.name) == name)
    if not found:
        raise ValueError(f"the sweep {sweep} has no variant {name}")
    return found


@lru_cache(maxsize=64)
def result(variant: Variant, seed: int) -> Any:
    """The shipped result of that seed, or one trained now."""
    from dynamics.sweep.job import Place, read_result, run_job

    known = shipped(variant)
    if seed < len(known):
        return known[seed]
    training = known[0].job.training.model_copy(update={"seed": seed})
    job = known[0].job.model_copy(update={"name": f"{variant[1]}.seed-{seed}", "training": training})
    with tempfile.TemporaryDirectory() as folder:
        run_job(job, known[0].measure, Place(folder))
        return read_result(folder, job, known[0].measure)


def times(variant: Variant) -> tuple[int | None, ...]:
    """Steps to the level, seed by seed; None where a run was censored at its budget."""
    return tuple(one.steps_to_level for one in shipped(variant))


def budget(variant: Variant) -> int:
    """The steps that each of its runs may take."""
    return int(shipped(variant)[0].job.training.steps)


def arrives(variant: Variant, seed: int, level: float = 0.95) -> Margin:
    """The run reaches that accuracy within its budget."""
    return at_most(level, max(result(variant, seed).accuracy))


def stays_below(variant: Variant, seed: int, level: float = 0.95) -> Margin:
    """The run stays below that accuracy to the end of its budget."""
    return less(max(result(variant, seed).accuracy), level)


def arrivals(variant: Variant, number: int) -> Margin:
    """So many of the shipped runs reach the level within their budget."""
    return same(sum(time is not None for time in times(variant)), number)


def medians(variants: tuple[Variant, ...], steps: tuple[int | None, ...]) -> Margin:
    """The median steps to the level of each variant are those numbers; None where the median is censored."""
    found = [median_time(times(variant)) for variant in variants]
    return same(steps, tuple(None if isinf(value) else round(value) for value in found))


def numbers(*named: tuple[Variant, int]) -> Evidence:
    """How many seeds of each variant arrive, as a statement names it."""
    points, more = ([{"variant": one, "number": n + extra} for one, n in named] for extra in (0, 1))
    return trained("seeds that reach 95 % within their steps", arrivals, points, Control("one more", points=more))


def runs(variant: Variant, **more: Any) -> Any:
    """Points, as a function of the effort: the shipped seeds, with full effort also fresh ones."""

    def points(effort: Effort) -> list[dict[str, Any]]:
        seeds = len(shipped(variant)) + (FRESH if effort is Effort.FULL else 0)
        return [{"variant": variant, "seed": seed} | more for seed in range(seeds)]

    return points


def trained(scope: str, margin: Any, points: Any, *controls: Control) -> Evidence:
    return Evidence(Kind.TRAINED, f"{scope}; the shipped sweep, its hash checked", margin, points, controls)
