"""Krawczyk's operator in Arb: existence, uniqueness, enclosure and absence of zeros of a square system on a box.

K(X) = c - Y f(c) + (I - Y J(X)) (X - c), with c the centre and Y any matrix (here an approximate inverse of J(c)). Each
zero of f in X lies in K(X); if K(X) lies in the interior of X, there is exactly one (Krawczyk 1969; Moore 1977).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy
from flint import arb, arb_mat, ctx

from proofs_check.evidence.certificate import Proof
from proofs_check.evidence.certify import prove_any_nonzero
from theory.lowering.ball import BallFunction
from theory.lowering.box import ROUGH, Box, Outcome, rational, symbols_in, to_ball
from theory.lowering.precision import working

_NEWTON_STEPS = 60
_MOST = arb(2) ** 4096  # an image that large proves nothing, and its ends could not be written down


@dataclass(frozen=True)
class Zero:
    """What is known about the zeros of a system in a box.

    PROVED: exactly one zero, inside `enclosure`. REFUTED: none, or at least two (`reason` says which).
    """

    outcome: Outcome
    enclosure: Box | None
    boxes: int
    reason: str


class _System:
    """f and its Jacobian as enclosures, and one Krawczyk step."""

    def __init__(self, exprs: Sequence[sympy.Expr], box: Box) -> None:
        symbols = symbols_in(exprs, box)
        if len(exprs) != len(box.names) or set(symbols) != set(box.names):
            raise ValueError(
                f"{len(exprs)} equations in {', '.join(symbols)} on a box with sides {', '.join(box.names)}: "
                "need as many equations as sides, and each side used"
            )
        if any(symbol.is_integer for symbol in symbols.values()):
            raise ValueError("a zero of real equations is no whole number: the symbols must not be assumed integer")
        if any(expr.has(*ROUGH) for expr in exprs):
            raise ValueError("the equations must be differentiable: no Abs, Max, Min or Piecewise")
        self.names = box.names
        self.f = BallFunction(exprs, box.names)
        self.jacobian = BallFunction([sympy.diff(e, symbols[name]) for e in exprs for name in box.names], box.names)

    def may_vanish(self, region: Box) -> bool:
        return not any(low > 0 or high < 0 for low, high in self.f.on(region))

    def newton(self, start: Mapping[str, Fraction]) -> dict[str, Fraction] | None:
        """An approximate zero by Newton's method from `start`; nothing is proved here."""
        point = {name: to_ball(value).mid() for name, value in start.items()}
        for _ in range(_NEWTON_STEPS):
            inverse = self._inverse([value.mid() for value in self.jacobian(*point.values())])
            values = [value.mid() for value in self.f(*point.values())]
            if inverse is None or not all(value.is_finite() for value in values):
                return None
            step = (inverse * arb_mat(len(values), 1, values)).entries()
            point = {name: (value - move).mid() for (name, value), move in zip(point.items(), step, strict=True)}
            if all(move.abs_upper() <= (1 + value.abs_upper()) * arb(2) ** (8 - ctx.prec)
                   for move, value in zip(step, point.values(), strict=True)):  # fmt: skip
                return {name: rational(value) for name, value in point.items()}
        return None

    def _inverse(self, entries: Sequence[arb]) -> arb_mat | None:
        n = len(self.names)
        if not all(entry.is_finite() for entry in entries):
            return None
        try:
            inverse = arb_mat(n, n, list(entries)).inv()
        except ZeroDivisionError:
            return None
        return arb_mat(n, n, [entry.mid() for entry in inverse.entries()])

    def step(self, region: Box) -> Box | None:
        """K(region) with rational ends, or None where it is not defined."""
        n = len(self.names)
        center = [to_ball(value).mid() for value in region.center().values()]
        slopes = [low.union(high) for low, high in self.jacobian.on(region)]
        inverse = self._inverse([value.mid() for value in self.jacobian(*center)])
        values = self.f(*center)
        whole = [end for pair in self.f.on(region) for end in pair]
        # J(X) speaks of the segments from c only if c lies in X, and of f at all only if f is defined on X.
        inside = region.contains(dict(zip(self.names, map(rational, center), strict=True)))
        if inverse is None or not inside or not all(x.is_finite() for x in (*slopes, *values, *whole)):
            return None
        offsets = arb_mat(n, 1, [ball - middle for ball, middle in zip(region.balls(), center, strict=True)])
        identity = arb_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
        image = (
            arb_mat(n, 1, center)
            - inverse * arb_mat(n, 1, list(values))
            + (identity - inverse * arb_mat(n, n, slopes)) * offsets
        )
        if not all(entry.is_finite() and entry.abs_upper() < _MOST for entry in image.entries()):
            return None
        ends = ((rational(entry.lower()), rational(entry.upper())) for entry in image.entries())
        return Box(dict(zip(self.names, ends, strict=True)))


def _meet(first: Box, second: Box) -> Box | None:
    """The intersection, or None when the boxes are disjoint."""
    ends = {name: (max(a, second[name][0]), min(b, second[name][1])) for name, a, b in first.sides}
    return Box(ends) if all(low <= high for low, high in ends.values()) else None


def _inside(inner: Box, outer: Box) -> bool:
    return all(outer[name][0] < low and high < outer[name][1] for name, low, high in inner.sides)


def _neighbourhood(system: _System, start: Box, around: Box) -> tuple[Box, Box] | None:
    """Two boxes that hold the same single zero, one large, one small; Newton from the centre of `start` guesses it."""
    point = system.newton(start.center())
    if point is None:
        return None
    large: Box | None = None
    small: Box | None = None
    reach = around.width()
    for _ in range(ctx.prec):
        region = Box({name: (value - reach, value + reach) for name, value in point.items()})
        image = system.step(region)
        # The smaller regions lie in the first one, where the zero is unique, so theirs is the same.
        if image is not None and _inside(image, region):
            large, small = large or region, image
        elif small is not None:
            break
        reach /= 2
    return None if large is None or small is None else (large, small)


def unique_zero(exprs: Sequence[sympy.Expr], box: Box, *, budget: int = 5_000, precision: int = 128) -> Zero:
    """Does the square system `exprs` = 0 have exactly one zero in `box`, and where?

    Newton's method guesses the zero, Krawczyk's operator proves it unique in a neighbourhood, and the rest of the box
    is searched and shown to hold no other. A double zero, or one on the boundary, stays UNDECIDED.
    Raises ValueError for a system that is not square or not differentiable.
    """
    with working(precision):
        return _unique_zero(_System([sympy.sympify(expr, strict=True) for expr in exprs], box), box, budget)


def _unique_zero(system: _System, box: Box, budget: int) -> Zero:
    known: Box | None = None  # a box proved to hold exactly one zero, and where in it
    enclosure: Box | None = None
    queue = deque([box])
    looked = 0
    while queue:
        if looked == budget:
            return Zero(Outcome.UNDECIDED, enclosure, looked, "the budget ran out before the whole box was decided")
        region = queue.popleft()
        looked += 1
        if (known is not None and known.contains(region)) or not system.may_vanish(region):
            continue
        if known is None and looked.bit_count() == 1 and (pair := _neighbourhood(system, region, box)) is not None:
            known, enclosure = pair
        image = system.step(region)
        met = region if image is None else _meet(image, region)
        if met is None:
            continue
        isolated = image is not None and _inside(image, region)
        if isolated and enclosure is not None and _meet(met, enclosure) is None and box.contains(enclosure):
            return Zero(Outcome.REFUTED, None, looked, f"there are at least two zeros, one of them in {met}")
        if known is not None and known.contains(met):
            continue
        if met.width() == 0:
            return Zero(Outcome.UNDECIDED, enclosure, looked, f"a zero may lie at {met} on the boundary of a part")
        queue.extend(met.split() if met.width() * 2 > region.width() else [met])
    if enclosure is None or _meet(enclosure, box) is None:
        return Zero(Outcome.REFUTED, None, looked, "there is no zero in the box")
    if box.contains(enclosure):
        return Zero(Outcome.PROVED, enclosure, looked, "there is exactly one zero in the box")
    return Zero(Outcome.UNDECIDED, enclosure, looked, "the zero lies too near the boundary of the box")


def no_zero(exprs: Sequence[sympy.Expr], box: Box, *, budget: int = 20_000, precision: int = 128) -> Proof:
    """Have `exprs`, any number of them, no common zero in `box`? The certificate is for `certify.both_signs(exprs)`."""
    return prove_any_nonzero(exprs, box, budget=budget, precision=precision)
