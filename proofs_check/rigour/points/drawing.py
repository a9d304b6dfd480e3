"""Points drawn from the declared domain: ends, corners, numbers of the statement, crowded and far, random."""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any

from proofs_check.core import witness
from proofs_check.core.domain import Sequent, Variable
from proofs_check.core.terms import Term, conjuncts, free, walk
from proofs_check.rigour.points.floats import WORK, function, margin

_OFFSETS = (1e-1, 1e-2, 1e-4, 1e-8, 1e-12)
_FAR = (0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, 10.0, -10.0, 30.0, -30.0, 1e-3, -1e-3, 100.0, -100.0, 1e-6, 1e4, 1e8)
_FARTHEST = (1e15, 1e30, 1e60, 1e150, 1e300)
_SIZES = (0, 1, 2, 3, 4, 5, 6, 8, 12, 17, 30, 100, 300, 1000, 2999)
_LONGEST = 3000.0

FloatPoint = dict[str, Any]


@dataclass
class Budget:
    """Steps that a search may take; when they are spent, nothing is decided."""

    steps: int

    def __post_init__(self) -> None:
        self.seen = WORK[0]

    def spend(self) -> bool:
        """One step, and one more for each hundred terms of sums gone through since the last."""
        self.steps -= 1 + (WORK[0] - self.seen) // 100
        self.seen = WORK[0]
        return self.steps >= 0


class Domain:
    """Draws points, variable after variable, and measures how far a point is from meeting the hypotheses."""

    def __init__(self, sequent: Sequent, rng: random.Random) -> None:
        self.sequent, self.rng = sequent, rng
        self.ends = {v.name: tuple(None if e is None else function(e) for e in (v.low, v.high)) for v in
                     sequent.variables}  # fmt: skip
        self.sizes = {v.name: tuple(map(function, v.sizes)) for v in sequent.variables}
        self.radius = {v.name: function(v.radius) for v in sequent.variables if v.radius is not None}
        self.bounds = {n for f in (sequent.goal, *sequent.given) for node in walk(f) if node.kind == "fold"
                       for end in node.parts[2:4] for n in free(end)}  # fmt: skip
        # What happens happens often at the numbers that a statement is written with.
        told = {node.parts[0] for f in (sequent.goal, *sequent.given) for node in walk(f) if node.kind == "num"}
        self.told = sorted({float(sign * c) for c in told if abs(c) < 10**300 for sign in (1, -1)})
        # A size that makes nested sums too long is not drawn.
        self.longest = _LONGEST ** (1 / max(1, nesting(sequent.goal)))
        self.given = [margin(formula) for formula in conjuncts(witness.hypotheses(sequent))]

    def interval(self, known: Variable, point: FloatPoint) -> tuple[float, float]:
        low, high = self.ends[known.name]
        return (-math.inf if low is None else low(point)), (math.inf if high is None else high(point))

    def _told(self, v: Variable, low: float, high: float) -> float | None:
        first = (bisect_right if v.low_open else bisect_left)(self.told, low)
        inside = self.told[first : (bisect_left if v.high_open else bisect_right)(self.told, high)]
        return self.rng.choice(inside) if inside else None

    def draw(self, style: int) -> FloatPoint | None:
        """style 0: ends and corners; 1: crowded and far; 2: uniform and small; 3: at numbers of the statement."""
        point: FloatPoint = {}
        for v in self.sequent.variables:
            low, high = self.interval(v, point)
            if v.values:
                point[v.name] = float(self.rng.choice(v.values))
                continue
            if math.isnan(low) or math.isnan(high) or low > high:
                return None
            sizes = [size(point) for size in self.sizes[v.name]]
            if any(math.isnan(size) or not 0 <= size <= 2000 for size in sizes):
                return None
            if sizes:
                total = math.prod(sizes)
                if total > 4000:
                    return None
                point[v.name] = self._sequence(v, [int(s) for s in sizes], low, high, style)
                if v.radius is not None:
                    point[v.name] = self._into_ball(point[v.name], self.radius[v.name](point))
            else:
                point[v.name] = self._number(v, low, high, style)
            if point[v.name] is None:
                return None
        return point

    def _sequence(self, v: Variable, sizes: list[int], low: float, high: float, style: int) -> Any:
        pattern = self.rng.randrange(6)
        base = [self._number(v, low, high, style) for _ in range(3)]

        def item(place: tuple[int, ...]) -> float | None:
            if pattern == 0:
                return base[0]
            if pattern == 1:  # one differs
                return base[0] if all(p == 0 for p in place) else base[1]
            if pattern == 2:
                return base[0] if place[-1] == sizes[-1] - 1 else base[1]
            if pattern == 3:
                return base[self.rng.randrange(3)]
            return self._number(v, low, high, style)

        def build(level: int, place: tuple[int, ...]) -> Any:
            if level == len(sizes):
                return item(place)
            return tuple(build(level + 1, (*place, k)) for k in range(sizes[level]))

        return build(0, ())

    def _into_ball(self, vector: tuple[float, ...], radius: float) -> tuple[float, ...]:
        norm = math.sqrt(sum(x * x for x in vector))
        if norm <= radius and self.rng.random() < 0.5:
            return vector
        shrink = radius / norm * self.rng.choice((1 - 1e-9, 0.9, 0.5)) if norm else 1.0
        return tuple(x * shrink for x in vector)

    def _number(self, v: Variable, low: float, high: float, style: int) -> float | None:
        rng = self.rng
        if style == 3:
            style = 2
            found = self._told(v, low, high) if rng.random() < 0.85 else None
            if found is not None and (not v.whole or (found.is_integer() and v.name not in self.bounds)):
                return found
        if v.whole:
            return self._whole(v, low, high, style)
        finite = math.isfinite(low), math.isfinite(high)
        if style == 2 and rng.random() < 0.25 and (found := self._simple(v, low, high)) is not None:
            return found
        if style == 1 and rng.random() < 0.06:
            size = rng.choice(_FARTHEST) ** rng.choice((1, -1)) * rng.choice((1, -1))
            if all(finite):
                size = low + abs(size) if abs(size) < 1 else size
            if low < size < high:
                return size
        if all(finite):
            width = high - low
            if style == 0:
                choices = [low + width / 2]
                choices += [] if v.low_open else [low]
                choices += [] if v.high_open else [high]
                return rng.choice(choices)
            if style == 1:
                part = rng.choice(_OFFSETS) * rng.choice((1.0, rng.random()))
                return low + width * part if rng.random() < 0.5 else high - width * part
            return rng.uniform(low, high)
        if any(finite):
            end, sign = (low, 1) if finite[0] else (high, -1)
            opened = v.low_open if finite[0] else v.high_open
            if style == 0 and not opened:
                return end
            if style == 2:
                return end + sign * rng.choice((rng.random(), 3 * rng.random(), rng.randrange(1, 9)))
            return end + sign * (10 ** rng.uniform(-8, 4) if style else rng.choice((0.5, 1.0, 2.0)))
        if style == 2:
            return rng.uniform(-3, 3) if rng.random() < 0.6 else float(rng.randrange(-6, 7))
        return rng.choice(_FAR) if rng.random() < 0.7 else rng.choice((1, -1)) * 10 ** rng.uniform(-8, 5)

    def _simple(self, v: Variable, low: float, high: float) -> float | None:
        """A fraction with a small denominator."""
        under = self.rng.randrange(1, 13)
        first = math.ceil(max(low, -4.0) * under) + v.low_open
        last = math.floor(min(high, 4.0) * under) - v.high_open
        return self.rng.randrange(first, last + 1) / under if first <= last else None

    def _whole(self, v: Variable, low: float, high: float, style: int) -> float | None:
        rng = self.rng
        if math.isfinite(low):
            low = math.floor(low) + 1.0 if v.low_open else math.ceil(low)
        if math.isfinite(high):
            high = math.ceil(high) - 1.0 if v.high_open else math.floor(high)
        if low > high:
            return None
        if math.isfinite(low) and math.isfinite(high):
            if style == 0 or rng.random() < 0.3:
                return float(rng.choice((low, high)))
            return float(rng.randrange(int(low), int(high) + 1)) if high - low < 1e15 else float(low)
        steps = _SIZES[:4] if style == 0 else _SIZES[:9] if style == 1 or rng.random() < 0.97 else _SIZES
        step = float(rng.choice(steps))
        if v.name in self.bounds and step > self.longest:
            step = float(rng.choice(_SIZES[:5]))
        if math.isfinite(low):
            return low + step
        if math.isfinite(high):
            return high - step
        return step * rng.choice((1, -1))

    def distance(self, point: FloatPoint) -> float:
        """0 where the hypotheses hold, as far as floats tell."""
        worst = 0.0
        for given in self.given:
            found = given(point)
            worst += 1.0 if math.isnan(found) else max(0.0, -found)
        return worst

    def lacks(self, point: FloatPoint) -> bool:
        """Has a hypothesis no number, while none of them fails?"""
        values = [given(point) for given in self.given]
        return any(map(math.isnan, values)) and not any(value < 0 for value in values)

    def inside(self, point: FloatPoint) -> bool:
        for v in self.sequent.variables:
            low, high = self.interval(v, point)
            value = point[v.name]
            if not isinstance(value, tuple) and not v.values and not low <= value <= high:
                return False
        return True


def nesting(term: Term) -> int:
    """How many sums stand in one another."""
    inner = max((nesting(part) for part in term.parts if isinstance(part, Term)), default=0)
    return inner + (term.kind == "fold")
