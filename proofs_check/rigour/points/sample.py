"""A few points of a domain: what floats show of a goal there, and one that meets the hypotheses for certain."""

from __future__ import annotations

import math
import random
from functools import lru_cache

from proofs_check.core import witness
from proofs_check.core.domain import Sequent
from proofs_check.rigour.points.drawing import Budget, Domain, FloatPoint
from proofs_check.rigour.points.exact import as_fractions, finite
from proofs_check.rigour.points.floats import margin
from proofs_check.rigour.points.moves import descend, towards


def sample(sequent: Sequent, count: int, seed: int = 7) -> list[FloatPoint]:
    """Float points of the domain that meet the hypotheses; perhaps fewer, perhaps none."""
    rng = random.Random(seed)
    domain, budget, spending = Domain(sequent, rng), Budget(4 * count), Budget(10 * count)
    points: list[FloatPoint] = []
    for round_ in range(3 * count):
        point = domain.draw((2, 0, 1)[round_ % 3])
        if point is not None and domain.distance(point) > 0:
            # Repairing a point is dear: a few are repaired where too few come by themselves.
            point = towards(domain, point, budget) if budget.steps > 0 and len(points) < 5 else None
        if point is not None:
            points.append(point)
        spending.spend()
        if len(points) == count or spending.steps < 0:
            break
    return points


def conclusion(sequent: Sequent) -> Sequent:
    """The goal behind its own assumptions."""
    goal = sequent.goal
    while goal.kind == "implies":
        goal = goal.parts[1]
    return Sequent(sequent.variables, (), goal)


@lru_cache(maxsize=5000)
def least_margin(sequent: Sequent, count: int = 60) -> float:
    """The least margin of the goal that some float points show; inf where there is no point, or no number."""
    goal = margin(conclusion(sequent).goal)
    values = [goal(point) for point in sample(sequent, count)]
    return min((value for value in values if not math.isnan(value)), default=math.inf)


@lru_cache(maxsize=5000)
def refuted(sequent: Sequent, count: int = 60) -> bool:
    """Does some float point fail the goal, and the core agree?"""
    return any(witness.refutes(sequent, as_fractions(point)) for point in failing(sequent, count))


def failing(sequent: Sequent, count: int) -> list[FloatPoint]:
    """The few float points that fail the goal most, of so many."""
    goal = margin(conclusion(sequent).goal)
    worst = sorted(((goal(point), k, point) for k, point in enumerate(sample(sequent, count))), key=lambda x: x[:2])
    return [point for value, _, point in worst if value < -1e-9 and finite(point)][:4]


def least_point(sequent: Sequent) -> FloatPoint | None:
    """The float point at which the margin was found least."""
    rng = random.Random(3)
    domain = Domain(sequent, rng)
    goal = margin(conclusion(sequent).goal)
    scored = [(goal(point), point) for point in sample(sequent, 60)]
    scored = sorted((pair for pair in scored if not math.isnan(pair[0])), key=lambda pair: pair[0])
    if not scored:
        return None
    point = scored[0][1]
    return descend(domain, goal, point, Budget(1500))
