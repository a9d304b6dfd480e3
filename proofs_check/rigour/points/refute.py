"""The refuter searches the declared domain for a point where the statement fails, and returns it in small rationals.

It tries drawn points first, then points where a comparison changes its truth value, and points where two sides are
equal. Then it minimises the margin from the worst point and shrinks the witness. It computes in floats; the core
decides whether a point refutes.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

from proofs_check.core import witness
from proofs_check.core.domain import Sequent
from proofs_check.core.terms import conjuncts
from proofs_check.rigour.points.crossings import crossings
from proofs_check.rigour.points.drawing import Budget, Domain, FloatPoint, nesting
from proofs_check.rigour.points.equal import without_equalities
from proofs_check.rigour.points.exact import rationals, refuting, shrink
from proofs_check.rigour.points.floats import margin
from proofs_check.rigour.points.in_turn import solved_in_turn
from proofs_check.rigour.points.moves import descend, polished, towards
from proofs_check.rigour.points.sample import conclusion
from proofs_check.rigour.points.solved import solved

_LONG = 24_000
_FAILING, _DOUBTFUL, _UNDEFINED = 100, 16, 12  # drawn points that the core is asked about


def refute(sequent: Sequent, *, steps: int = 4000, seed: int = 0) -> dict[str, Any] | None:
    """A point at which the core finds the sequent false or undefined, or None when the budget is spent."""
    other, back = without_equalities(sequent)
    found = _hunted(other, steps, seed)
    points = back(found) if found is not None else iter(())
    return next((point for point in points if witness.refutes(sequent, point)), None)


def _hunted(sequent: Sequent, steps: int, seed: int) -> dict[str, Any] | None:
    if not sequent.variables:
        return {} if witness.refutes(sequent, {}) else None
    hunt = _Hunt(sequent, steps, seed)
    for suspect in itertools.chain(hunt.least_wholes(), hunt.drawn(), hunt.crossed()):
        if (found := refuting(sequent, suspect)) is not None:
            return shrink(sequent, found)
    for placed in hunt.irrational():
        if witness.refutes(sequent, placed):
            return placed
    for suspect in itertools.chain(hunt.descended(), hunt.long_sums()):
        if (found := refuting(sequent, suspect)) is not None:
            return shrink(sequent, found)
    return None


class _Hunt:
    """Suspects, phase by phase: points that floats take for failures, or cannot tell about."""

    def __init__(self, sequent: Sequent, steps: int, seed: int) -> None:
        self.sequent, self.steps, self.budget = sequent, steps, Budget(steps)
        self.domain = Domain(sequent, random.Random(seed))
        self.goals = [margin(part) for part in conjuncts([conclusion(sequent).goal])]
        self.scored: list[tuple[float, FloatPoint]] = []  # the drawn points with their margins
        self.astray: list[FloatPoint] = []  # the first that do not meet the hypotheses

    def goal(self, point: FloatPoint) -> float:
        """The least margin of the parts of the conclusion; nan where one has none."""
        values = [goal(point) for goal in self.goals]
        return math.nan if any(map(math.isnan, values)) else min(values)

    def least_wholes(self) -> Iterator[FloatPoint]:
        for point in _wholes(self.domain, 3 * self.steps):
            if (not self.goal(point) > 1e-11 and self.domain.distance(point) == 0) or self.domain.lacks(point):
                yield point

    def drawn(self) -> Iterator[FloatPoint]:
        failing = doubtful = undefined = 0
        for round_ in range(self.steps // 2):
            if not self.budget.spend():
                return
            point = self._draw(round_)
            if point is None:
                continue
            value = math.nan if self.domain.lacks(point) else self.goal(point)
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

    def long_sums(self) -> Iterator[FloatPoint]:
        """Simple points with a sum as long as can be checked: a limit that is a thousandth off shows nowhere else."""
        longest = float(round(_LONG ** (1 / max(1, nesting(self.sequent.goal)))))
        free = [v.name for v in self.sequent.variables if v.name in self.domain.bounds and v.high is None
                and not self.sequent.mentioning(v.name)]  # fmt: skip
        budget = Budget(self.steps)
        for name in itertools.cycle(free):
            if not budget.spend():
                return
            point = self.domain.draw(0)
            if point is None or not self.goal({**point, name: longest}) < 0:
                continue
            if self.domain.distance({**point, name: longest}) == 0:
                lengths = (float(round(longest / part)) for part in (16, 8, 4, 2, 1))
                yield next(at for n in lengths if self.goal(at := {**point, name: n}) < 0)

    def _draw(self, round_: int) -> FloatPoint | None:
        point = self.domain.draw((0, 1, 2, 3)[round_ % 4] if round_ > 8 else 0 if round_ < 6 else 2)
        if point is None or self.domain.distance(point) == 0 or self.domain.lacks(point):
            return point
        if len(self.astray) < 3:
            self.astray.append(point)
        return towards(self.domain, point, self.budget)

    def crossed(self) -> Iterator[FloatPoint]:
        self.scored.sort(key=lambda pair: pair[0])
        for _, point in self.scored[:2]:
            for crossed in crossings(self.sequent, point, self.domain.interval):
                if self.domain.distance(crossed) == 0 and self.goal(crossed) < 0:
                    yield crossed

    def irrational(self) -> Iterator[dict[str, Any]]:
        some = [point for _, point in self.scored[:: 1 + len(self.scored) // 3]]
        for point in [*some, *self.astray]:
            near = next(rationals(self.sequent, point), {})
            yield from solved_in_turn(self.sequent, near)
            yield from solved(self.sequent, near)

    def descended(self) -> Iterator[FloatPoint]:
        for goal in self.goals:
            scored = [(goal(point), point) for _, point in self.scored]
            for number, (_, point) in enumerate(_distinct(sorted(scored, key=lambda pair: pair[0]))[:6]):
                better = descend(self.domain, goal, point, self.budget)
                if goal(better) < 1e-11:
                    yield better
                smoothed = polished(self.domain, goal, better) if number < 3 else None
                if smoothed is not None and goal(smoothed) < 1e-7:
                    yield smoothed


def _wholes(domain: Domain, count: int) -> Iterator[FloatPoint]:
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
    kept: dict[str, tuple[float, FloatPoint]] = {}
    for pair in scored:
        kept.setdefault(f"{pair[0]:.6g}", pair)
    return list(kept.values())
