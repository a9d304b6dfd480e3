"""A point that meets the hypotheses: without one nothing is stated."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

from proofs_check.core import witness
from proofs_check.core.domain import Sequent
from proofs_check.rigour.points.drawing import Budget, Domain, FloatPoint
from proofs_check.rigour.points.equal import without_equalities
from proofs_check.rigour.points.exact import rationals
from proofs_check.rigour.points.moves import towards
from proofs_check.rigour.points.solved import solved

_NEAR = 12  # drawn points that are moved to where sides meet


def satisfy(sequent: Sequent, *, steps: int = 3000, seed: int = 1) -> dict[str, Any] | None:
    """A point of which the core is certain that it lies in the domain and meets the hypotheses."""
    other, back = without_equalities(sequent)
    for found in _candidates(other, steps, seed):
        for point in back(found):
            if witness.meets(sequent, point):
                return point
    return None


def _candidates(sequent: Sequent, steps: int, seed: int) -> Iterator[dict[str, Any]]:
    """Exact points near plain ones, near drawn ones, and where two sides meet."""
    rng = random.Random(seed)
    domain, budget = Domain(sequent, rng), Budget(steps)
    near: list[FloatPoint] = []
    for point in _plainest(domain):
        yield from rationals(sequent, point)
        near.append(point)
    for round_ in range(steps):
        drawn = domain.draw((2, 0, 1)[round_ % 3])
        if not budget.spend():
            break
        if drawn is not None and domain.distance(drawn) > 0:
            drawn = towards(domain, drawn, budget)
        yield from rationals(sequent, drawn) if drawn is not None else ()
    # A hypothesis may hold where two sides meet, and nowhere else.
    for round_ in range(steps // 10):
        drawn = domain.draw((3, 2)[round_ % 2])
        if drawn is not None:
            near.append(drawn)
            yield from rationals(sequent, drawn) if round_ % 2 == 0 else ()
    for point in near[:: 1 + len(near) // _NEAR]:
        for exact in itertools.islice(rationals(sequent, point), 1):
            yield from solved(sequent, exact)


def _plainest(domain: Domain) -> Iterator[FloatPoint]:
    """Points without ingenuity: least sizes, and one number everywhere, 0 or the nearest to it that is allowed."""
    for step, value in itertools.product(range(3), (0.0, 0.5, 1.0, 2.0)):
        point: FloatPoint = {}
        for v in domain.sequent.variables:
            low, high = domain.interval(v, point)
            inner = min(1.0, (high - low) / 2) if math.isfinite(high - low) else 0.5
            number = max(low + inner * v.low_open, min(value, high - inner * v.high_open))
            if v.whole:
                number = math.ceil(low) + step if math.isfinite(low) else step
            if v.values:
                number = float(v.values[0])
            sizes = [size(point) for size in domain.sizes[v.name]]
            if math.isnan(number) or any(math.isnan(k) or not 0 <= k <= 50 for k in sizes):
                break
            filled: Any = number
            for size in reversed(sizes):
                filled = (filled,) * int(size)
            point[v.name] = filled
        else:
            yield point
