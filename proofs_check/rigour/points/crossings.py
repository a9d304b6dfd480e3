"""Points where a comparison inside a statement changes its truth value. A false equivalence often fails near one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import Term, walk
from proofs_check.rigour.points.floats import margin

_GRID = (0.0, *(sign * 10.0**power for sign in (1, -1) for power in range(-3, 7)))
_MOST = 12  # comparisons that are looked at

Point = dict[str, Any]
Margin = Callable[[Mapping[str, Any]], float]


def crossings(sequent: Sequent, point: Point, ends: Callable[[Any, Point], tuple[float, float]]) -> Iterator[Point]:
    """Points on both sides of each change, along each number of the point; `ends` gives the interval of a variable."""
    atoms = list(dict.fromkeys(node for node in walk(sequent.goal) if node.kind == "rel"))[:_MOST]
    if len(atoms) < 2:
        return
    margins = [margin(_strict(atom)) for atom in atoms]
    for v in sequent.variables:
        if v.sizes or v.values or sequent.mentioning(v.name):
            continue
        low, high = ends(v, point)
        values = _values(low, high, point[v.name], v.whole)
        for found in margins:
            yield from _changes(found, point, v.name, values, v.whole)


def _strict(atom: Term) -> Term:
    return Term("rel", "<", *atom.parts[1:])


def _values(low: float, high: float, here: float, whole: bool) -> list[float]:
    start = low if math.isfinite(low) else high if math.isfinite(high) else 0.0
    reached = {start + step for step in _GRID} | {here}
    reached |= {low + (high - low) * k / 16 for k in range(17)} if math.isfinite(high - low) else set()
    inside = {float(round(x)) if whole else x for x in reached}
    return sorted(x for x in inside if low <= x <= high)


def _changes(found: Margin, point: Point, name: str, values: list[float], whole: bool) -> Iterator[Point]:
    signs = [found({**point, name: value}) for value in values]
    for a, b, below, above in zip(values, values[1:], signs, signs[1:], strict=False):
        if below * above < 0:
            for _ in range(80):
                middle = math.floor((a + b) / 2) if whole else (a + b) / 2
                if middle in (a, b):
                    break
                a, b = (middle, b) if found({**point, name: middle}) * below > 0 else (a, middle)
            yield from ({**point, name: float(value)} for value in (a, b, 2 * a - b, 2 * b - a))
