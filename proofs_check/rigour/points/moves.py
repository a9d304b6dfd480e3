"""Points moved within the domain: coordinate by coordinate, back between their ends, down a margin."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import minimize

from proofs_check.core.domain import Sequent, Variable
from proofs_check.rigour.points.drawing import Budget, Domain, FloatPoint
from proofs_check.rigour.points.floats import WORK


def coordinates(point: FloatPoint, sequent: Sequent) -> list[tuple[str, tuple[int, ...]]]:
    """The places of the real numbers of a point, and of the whole ones that are no sizes."""
    places: list[tuple[str, tuple[int, ...]]] = []

    def visit(name: str, value: Any, place: tuple[int, ...]) -> None:
        if isinstance(value, tuple):
            for k, part in enumerate(value):
                visit(name, part, (*place, k))
        else:
            places.append((name, place))

    for v in sequent.variables:
        if not v.values and not (v.whole and sequent.mentioning(v.name)):
            visit(v.name, point[v.name], ())
    return places


def put_at(point: FloatPoint, name: str, place: tuple[int, ...], value: float | Fraction) -> FloatPoint:
    """The point with another number at one place."""

    def put(old: Any, rest: tuple[int, ...]) -> Any:
        if not rest:
            return value
        return tuple(put(part, rest[1:]) if k == rest[0] else part for k, part in enumerate(old))

    return {**point, name: put(point[name], place)}


def number_at(value: Any, place: tuple[int, ...]) -> Any:
    for k in place:
        value = value[k]
    return value


def _clipped(domain: Domain, point: FloatPoint, name: str) -> FloatPoint:
    """The point with this variable, and those whose ends it moves, put back between their ends."""
    point = _clipped_alone(domain, point, domain.sequent.variable(name))
    for later in domain.sequent.mentioning(name):
        if not domain.sequent.variable(later).sizes or name not in domain.bounds:
            point = _clipped_alone(domain, point, domain.sequent.variable(later))
    return point


def _clipped_alone(domain: Domain, point: FloatPoint, known: Variable) -> FloatPoint:
    name = known.name
    low, high = domain.interval(known, point)

    def clip(value: Any) -> Any:
        return tuple(map(clip, value)) if isinstance(value, tuple) else min(max(value, low), high)

    moved = {**point, name: clip(point[name])}
    if known.radius is not None:
        norm, radius = math.sqrt(sum(x * x for x in moved[name])), domain.radius[name](point)
        if norm > radius:
            moved[name] = tuple(x * radius / norm * (1 - 1e-12) for x in moved[name])
    return moved


def _search(
    domain: Domain, score: Callable[[FloatPoint], float], point: FloatPoint, budget: Budget, enough: float
) -> FloatPoint:
    """Coordinate by coordinate with growing and shrinking steps, until the score is below `enough` or nothing helps."""
    places = coordinates(point, domain.sequent)
    best = score(point)
    reach = dict.fromkeys(places, 0.5)
    for _ in range(60):
        improved = False
        for name, place in places if len(places) <= 12 else domain.rng.sample(places, 12):
            whole = domain.sequent.variable(name).whole
            for sign in (1, -1):
                if not budget.spend():
                    return point
                step = max(1.0, round(reach[name, place])) if whole else reach[name, place]
                value = _stepped(number_at(point[name], place), sign * step, whole)
                moved = _clipped(domain, put_at(point, name, place, value), name)
                found = score(moved)
                if found < best:
                    point, best, improved = moved, found, True
                    reach[name, place] *= 2
                    break
            else:
                reach[name, place] /= 4
            if best < enough:
                return point
        if not improved and max(reach.values(), default=0) < 1e-13:
            break
    return point


def _stepped(value: float, delta: float, whole: bool) -> float:
    """A step of a whole number is one of its own; else it is a share of the number."""
    return value + (delta if whole else delta * max(abs(value), 1e-3 if abs(delta) < 0.1 else 1.0))


def towards(domain: Domain, point: FloatPoint, budget: Budget) -> FloatPoint | None:
    """A point that meets the hypotheses, near one that does not."""
    found = _search(domain, domain.distance, point, budget, 1e-300)
    return found if domain.distance(found) == 0 and domain.inside(found) else None


def descend(
    domain: Domain, goal: Callable[[Mapping[str, Any]], float], point: FloatPoint, budget: Budget
) -> FloatPoint:
    def score(at: FloatPoint) -> float:
        found = goal(at)
        if domain.distance(at) > 0 or math.isnan(found) or not domain.inside(at):
            return math.inf
        return found

    return _search(domain, score, point, Budget(max(200, budget.steps // 3)), -math.inf)


def polished(
    domain: Domain, goal: Callable[[Mapping[str, Any]], float], point: FloatPoint
) -> FloatPoint | None:
    """Nelder and Mead from a point: for valleys that no coordinate follows."""
    places = [(n, at) for n, at in coordinates(point, domain.sequent)
              if not domain.sequent.variable(n).whole]  # fmt: skip
    if not 2 <= len(places) <= 8 or WORK[0] > 10**9:
        return None

    def at(x: Any) -> FloatPoint:
        moved = point
        for (name, place), value in zip(places, x, strict=True):
            moved = put_at(moved, name, place, float(value))
        return moved

    def score(x: Any) -> float:
        moved = at(x)
        found = goal(moved)
        return found if domain.inside(moved) and domain.distance(moved) == 0 and not math.isnan(found) else 1e30

    start = [number_at(point[name], place) for name, place in places]
    limits = {"maxfev": 400 * len(places), "xatol": 1e-12, "fatol": 0}
    with np.errstate(all="ignore"):  # outside the domain the score is huge
        found = minimize(score, start, method="Nelder-Mead", options=limits)
    return at(found.x)
