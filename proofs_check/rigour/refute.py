"""The refuter: points drawn from the declared domain, the worst of them made worse, a witness in small rationals.

Ends, corners, extremes and random points come first, crowded at open ends and far out; then the margin is minimised
from the worst; then the witness is shrunk. All of it in floats: the core says whether a point refutes.
"""

from __future__ import annotations

import itertools
import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.optimize import minimize

from proofs_check.core import witness
from proofs_check.core.domain import Sequent, Variable
from proofs_check.core.terms import Term, conjuncts, free, walk
from proofs_check.rigour.crossings import crossings
from proofs_check.rigour.floats import WORK, function, margin
from proofs_check.rigour.solved import solved

_OFFSETS = (1e-1, 1e-2, 1e-4, 1e-8, 1e-12)
_FAR = (0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, 10.0, -10.0, 30.0, -30.0, 1e-3, -1e-3, 100.0, -100.0, 1e-6, 1e4, 1e8)
_FARTHEST = (1e15, 1e30, 1e60, 1e150, 1e300)
_SIZES = (0, 1, 2, 3, 4, 5, 6, 8, 12, 17, 30, 100, 300, 1000, 2999)
_LONGEST = 3000.0
_EXACT = (1, 2, 3, 4, 6, 10, 12, 100, 1000, 10**4, 10**6, 10**9, 10**12, 10**16)
_FAILING, _DOUBTFUL, _UNDEFINED = 100, 16, 12  # drawn points that the core is asked about

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


class _Domain:
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
        self.longest = _LONGEST ** (1 / max(1, _nesting(sequent.goal)))
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

    def inside(self, point: FloatPoint) -> bool:
        for v in self.sequent.variables:
            low, high = self.interval(v, point)
            value = point[v.name]
            if not isinstance(value, tuple) and not v.values and not low <= value <= high:
                return False
        return True


def _nesting(term: Term) -> int:
    inner = max((_nesting(part) for part in term.parts if isinstance(part, Term)), default=0)
    return inner + (term.kind == "fold")


def _conclusion(sequent: Sequent) -> Sequent:
    """The goal behind its own assumptions."""
    goal = sequent.goal
    while goal.kind == "implies":
        goal = goal.parts[1]
    return Sequent(sequent.variables, (), goal)


def refute(sequent: Sequent, *, steps: int = 4000, seed: int = 0) -> dict[str, Any] | None:
    """A point at which the core finds the sequent false or undefined, or None when the budget is spent."""
    if not sequent.variables:
        return {} if witness.refutes(sequent, {}) else None
    hunt = _Hunt(sequent, steps, seed)
    for suspect in itertools.chain(hunt.least_wholes(), hunt.drawn(), hunt.crossed()):
        if (found := _exact(sequent, suspect)) is not None:
            return _shrink(sequent, found)
    for exact in hunt.irrational():
        if witness.refutes(sequent, exact):
            return exact
    for suspect in hunt.descended():
        if (found := _exact(sequent, suspect)) is not None:
            return _shrink(sequent, found)
    return None


class _Hunt:
    """Suspects, phase by phase: points that floats take for failures, or cannot tell about."""

    def __init__(self, sequent: Sequent, steps: int, seed: int) -> None:
        self.sequent, self.steps, self.budget = sequent, steps, Budget(steps)
        self.domain = _Domain(sequent, random.Random(seed))
        self.goals = [margin(part) for part in conjuncts([_conclusion(sequent).goal])]
        self.scored: list[tuple[float, FloatPoint]] = []  # the drawn points with their margins
        self.astray: list[FloatPoint] = []  # the first that do not meet the hypotheses

    def goal(self, point: FloatPoint) -> float:
        """The least margin of the parts of the conclusion; nan where one has none."""
        values = [goal(point) for goal in self.goals]
        return math.nan if any(map(math.isnan, values)) else min(values)

    def least_wholes(self) -> Iterator[FloatPoint]:
        for point in _wholes(self.domain, 3 * self.steps):
            if not self.goal(point) > 1e-11 and self.domain.distance(point) == 0:
                yield point

    def drawn(self) -> Iterator[FloatPoint]:
        failing = doubtful = undefined = 0
        for round_ in range(self.steps // 2):
            if not self.budget.spend():
                return
            point = self._draw(round_)
            if point is None:
                continue
            value = self.goal(point)
            if not math.isnan(value):
                self.scored.append((value, point))
            # What floats cannot tell is asked of the core: some points where they see no number, or no difference.
            close = -1e-9 < value < 1e-11 or (value <= 1.0001e-9 and round_ < 60)
            undefined += math.isnan(value)
            doubtful += close
            failing += value <= -1e-9
            some = (math.isnan(value) and undefined <= _UNDEFINED) or (close and doubtful <= _DOUBTFUL)
            if round_ < 3 or some or (value <= -1e-9 and failing <= _FAILING):
                yield point

    def _draw(self, round_: int) -> FloatPoint | None:
        point = self.domain.draw((0, 1, 2, 3)[round_ % 4] if round_ > 8 else 0 if round_ < 6 else 2)
        if point is None or self.domain.distance(point) == 0:
            return point
        if len(self.astray) < 3:
            self.astray.append(point)
        return _towards(self.domain, point, self.budget)

    def crossed(self) -> Iterator[FloatPoint]:
        self.scored.sort(key=lambda pair: pair[0])
        for _, point in self.scored[:2]:
            for crossed in crossings(self.sequent, point, self.domain.interval):
                if self.domain.distance(crossed) == 0 and self.goal(crossed) < 0:
                    yield crossed

    def irrational(self) -> Iterator[dict[str, Any]]:
        some = [point for _, point in self.scored[:: 1 + len(self.scored) // 3]]
        for point in [*some, *self.astray]:
            yield from solved(self.sequent, next(_rationals(self.sequent, point), {}))

    def descended(self) -> Iterator[FloatPoint]:
        for goal in self.goals:
            scored = [(goal(point), point) for _, point in self.scored]
            for number, (_, point) in enumerate(_distinct(sorted(scored, key=lambda pair: pair[0]))[:6]):
                better = _descend(self.domain, goal, point, self.budget)
                if goal(better) < 1e-11:
                    yield better
                polished = _polished(self.domain, goal, better) if number < 3 else None
                if polished is not None and goal(polished) < 1e-7:
                    yield polished


def _polished(
    domain: _Domain, goal: Callable[[Mapping[str, Any]], float], point: FloatPoint
) -> FloatPoint | None:
    """Nelder and Mead from a point: for valleys that no coordinate follows."""
    places = [(n, at) for n, at in _coordinates(point, domain.sequent, domain.bounds)
              if not domain.sequent.variable(n).whole]  # fmt: skip
    if not 2 <= len(places) <= 8 or WORK[0] > 10**9:
        return None

    def at(x: Any) -> FloatPoint:
        moved = point
        for (name, place), value in zip(places, x, strict=True):
            moved = _put(moved, name, place, float(value))
        return moved

    def score(x: Any) -> float:
        moved = at(x)
        found = goal(moved)
        return found if domain.inside(moved) and domain.distance(moved) == 0 and not math.isnan(found) else 1e30

    start = [_at(point[name], place) for name, place in places]
    limits = {"maxfev": 400 * len(places), "xatol": 1e-12, "fatol": 0}
    with np.errstate(all="ignore"):  # outside the domain the score is huge
        found = minimize(score, start, method="Nelder-Mead", options=limits)
    return at(found.x)


def sample(sequent: Sequent, count: int, seed: int = 7) -> list[FloatPoint]:
    """Float points of the domain that meet the hypotheses; perhaps fewer, perhaps none."""
    rng = random.Random(seed)
    domain, budget, spending = _Domain(sequent, rng), Budget(4 * count), Budget(10 * count)
    points: list[FloatPoint] = []
    for round_ in range(3 * count):
        point = domain.draw((2, 0, 1)[round_ % 3])
        if point is not None and domain.distance(point) > 0:
            # Repairing a point is dear: a few are repaired where too few come by themselves.
            point = _towards(domain, point, budget) if budget.steps > 0 and len(points) < 5 else None
        if point is not None:
            points.append(point)
        spending.spend()
        if len(points) == count or spending.steps < 0:
            break
    return points


@lru_cache(maxsize=5000)
def least_margin(sequent: Sequent, count: int = 60) -> float:
    """The least margin of the goal that some float points show; inf where there is no point, or no number."""
    goal = margin(_conclusion(sequent).goal)
    values = [goal(point) for point in sample(sequent, count)]
    return min((value for value in values if not math.isnan(value)), default=math.inf)


@lru_cache(maxsize=5000)
def refuted(sequent: Sequent, count: int = 60) -> bool:
    """Does some float point fail the goal, and the core agree?"""
    goal = margin(_conclusion(sequent).goal)
    worst = sorted(((goal(point), k, point) for k, point in enumerate(sample(sequent, count))), key=lambda x: x[:2])
    failing = [point for value, _, point in worst if value < -1e-9 and _finite(point)][:4]
    return any(witness.refutes(sequent, _as_fractions(point)) for point in failing)


def _finite(point: FloatPoint) -> bool:
    return all(math.isfinite(x) for x in _numbers(tuple(point.values())))


def _as_fractions(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_fractions(part) for name, part in value.items()}
    return tuple(map(_as_fractions, value)) if isinstance(value, tuple) else Fraction(value)


def least_point(sequent: Sequent) -> FloatPoint | None:
    """The float point at which the margin was found least."""
    rng = random.Random(3)
    domain = _Domain(sequent, rng)
    goal = margin(_conclusion(sequent).goal)
    scored = [(goal(point), point) for point in sample(sequent, 60)]
    scored = sorted((pair for pair in scored if not math.isnan(pair[0])), key=lambda pair: pair[0])
    if not scored:
        return None
    point = scored[0][1]
    return _descend(domain, goal, point, Budget(1500))


def _wholes(domain: _Domain, count: int) -> Iterator[FloatPoint]:
    """Where all variables are whole: the least values one after another, diagonal by diagonal."""
    variables = domain.sequent.variables
    if not all(v.whole and not v.sizes and not v.values for v in variables) or len(variables) > 4:
        return
    if any(v.name in domain.bounds for v in variables):
        count = min(count, 4000)
    given = 0
    for total in itertools.count():
        for steps in _splits(total, len(variables)):
            point: FloatPoint = {}
            for v, step in zip(variables, steps, strict=True):
                low, high = domain.interval(v, point)
                start = math.ceil(low) if math.isfinite(low) else (-step if step % 2 else 0)
                point[v.name] = float(start + step)
                if not low <= point[v.name] <= high:
                    break
            else:
                yield point
            given += 1
        if given > count:
            return


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _splits(total - first, parts - 1):
            yield (first, *rest)


def _distinct(scored: list[tuple[float, FloatPoint]]) -> list[tuple[float, FloatPoint]]:
    seen: set[str] = set()
    kept = []
    for value, point in scored:
        key = f"{value:.6g}"
        if key not in seen:
            seen.add(key)
            kept.append((value, point))
    return kept


def _plainest(domain: _Domain) -> Iterator[FloatPoint]:
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


def satisfy(sequent: Sequent, *, steps: int = 3000, seed: int = 1) -> dict[str, Any] | None:
    """A point of which the core is certain that it lies in the domain and meets the hypotheses."""
    rng = random.Random(seed)
    domain, budget = _Domain(sequent, rng), Budget(steps)
    for point in _plainest(domain):
        for exact in _rationals(sequent, point):
            if witness.meets(sequent, exact):
                return exact
    for round_ in range(steps):
        drawn = domain.draw((2, 0, 1)[round_ % 3])
        if not budget.spend():
            return None
        if drawn is not None and domain.distance(drawn) > 0:
            drawn = _towards(domain, drawn, budget)
        for exact in _rationals(sequent, drawn) if drawn is not None else ():
            if witness.meets(sequent, exact):
                return exact
    return None


def _coordinates(point: FloatPoint, sequent: Sequent, fixed: Collection[str] = ()) -> list[tuple[str, tuple[int, ...]]]:
    """The places of the real numbers of a point, and of the whole ones that are no sizes."""
    places: list[tuple[str, tuple[int, ...]]] = []

    def visit(name: str, value: Any, place: tuple[int, ...]) -> None:
        if isinstance(value, tuple):
            for k, part in enumerate(value):
                visit(name, part, (*place, k))
        else:
            places.append((name, place))

    for v in sequent.variables:
        if (not v.values and not sequent.mentioning(v.name)) or (not v.whole and not v.values):
            visit(v.name, point[v.name], ())
    return places


def _moved(point: FloatPoint, name: str, place: tuple[int, ...], change: Callable[[float], Any]) -> FloatPoint:
    """The point with the number at one place changed."""

    def put(value: Any, rest: tuple[int, ...]) -> Any:
        if not rest:
            return change(value)
        return tuple(put(part, rest[1:]) if k == rest[0] else part for k, part in enumerate(value))

    return {**point, name: put(point[name], place)}


def _put(point: FloatPoint, name: str, place: tuple[int, ...], value: float | Fraction) -> FloatPoint:
    """The point with another number at one place."""
    return _moved(point, name, place, lambda _: value)


def _clipped(domain: _Domain, point: FloatPoint, name: str) -> FloatPoint:
    """The point with this variable, and those whose ends it moves, put back between their ends."""
    point = _clipped_alone(domain, point, domain.sequent.variable(name))
    for later in domain.sequent.mentioning(name):
        if not domain.sequent.variable(later).sizes or name not in domain.bounds:
            point = _clipped_alone(domain, point, domain.sequent.variable(later))
    return point


def _clipped_alone(domain: _Domain, point: FloatPoint, known: Variable) -> FloatPoint:
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
    domain: _Domain, score: Callable[[FloatPoint], float], point: FloatPoint, budget: Budget, enough: float
) -> FloatPoint:
    """Coordinate by coordinate with growing and shrinking steps, until the score is below `enough` or nothing helps."""
    places = _coordinates(point, domain.sequent, domain.bounds)
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
                change = partial(_stepped, delta=sign * step, whole=whole)
                moved = _clipped(domain, _moved(point, name, place, change), name)
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


def _towards(domain: _Domain, point: FloatPoint, budget: Budget) -> FloatPoint | None:
    """A point that meets the hypotheses, near one that does not."""
    found = _search(domain, domain.distance, point, budget, 1e-300)
    return found if domain.distance(found) == 0 and domain.inside(found) else None


def _descend(
    domain: _Domain, goal: Callable[[Mapping[str, Any]], float], point: FloatPoint, budget: Budget
) -> FloatPoint:
    def score(at: FloatPoint) -> float:
        found = goal(at)
        if domain.distance(at) > 0 or math.isnan(found) or not domain.inside(at):
            return math.inf
        return found

    return _search(domain, score, point, Budget(max(200, budget.steps // 3)), -math.inf)


def _rationals(sequent: Sequent, point: FloatPoint) -> Iterator[dict[str, Any]]:
    """Exact points near a float point, the simplest first, the float itself last."""
    seen = set()
    told = {float(c): c for f in (sequent.goal, *sequent.given) for node in walk(f) if node.kind == "num"
            for c in (node.parts[0], -node.parts[0]) if abs(c) < 10**300}  # fmt: skip
    for limit in (-1, *_EXACT[3::3], 0):
        if not _finite(point):
            return
        found = {name: _exactly(value, limit, told) for name, value in point.items()}
        if str(found) not in seen:
            seen.add(str(found))
            yield found


def _exactly(value: Any, limit: int, told: Mapping[float, Fraction]) -> Any:
    """Fractions near floats: with denominators up to a limit (0: any), or, below 0, numbers of the statement first."""
    if isinstance(value, tuple):
        return tuple(_exactly(part, limit, told) for part in value)
    number = Fraction(value)
    if limit < 0:
        return told.get(float(value), number.limit_denominator(12))
    return number.limit_denominator(limit) if limit else number


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, tuple):
        for part in value:
            yield from _numbers(part)
    else:
        yield value


def _exact(sequent: Sequent, point: FloatPoint) -> dict[str, Any] | None:
    for exact in _rationals(sequent, point):
        if witness.refutes(sequent, exact):
            return exact
    return None


def _shrink(sequent: Sequent, point: dict[str, Any]) -> dict[str, Any]:
    """Simpler numbers, one coordinate after another, as long as the core still sees the failure."""
    for name, place in _coordinates(point, sequent)[:24]:
        for simple in _simpler(_at(point[name], place)):
            moved = _put(point, name, place, simple)
            if witness.refutes(sequent, moved):
                point = moved
                break
    return point


def _at(value: Any, place: tuple[int, ...]) -> Any:
    for k in place:
        value = value[k]
    return value


def _simpler(value: Fraction) -> Iterator[Fraction]:
    candidates = [Fraction(0), Fraction(1), Fraction(-1)]
    candidates += [value.limit_denominator(limit) for limit in _EXACT]
    for candidate in candidates:
        if candidate == value:
            return
        yield candidate
