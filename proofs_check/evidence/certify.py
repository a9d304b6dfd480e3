"""Branch and bound in Arb: proves `expression > bound` on a box, or finds a point where it fails, with a certificate.

A certificate is the tree of splits in preorder, as exact numbers; each leaf names the expression that clears the bound
and the argument: "natural" (the enclosure of the expression), "monotone" (its enclosure on the face where the gradient
puts the least value) or "mean_value" (its value at the centre of that face plus gradient times offsets).
`proofs_check.evidence.check` re-verifies it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import sympy
from flint import arb

from proofs_check.evidence.certificate import Leaf, Proof, Split
from proofs_check.evidence.check import statement
from theory.lowering.ball import BallFunction, Interval
from theory.lowering.box import ROUGH, Box, Exact, Outcome, exact, outward, rational, symbols_in, to_ball
from theory.lowering.precision import working

_CORNERS_UP_TO = 10
# A gap is written into the certificate, so it must be neither too small nor too large to write down.
_LEAST, _MOST = arb(2) ** -4096, arb(2) ** 64


@dataclass
class _Bounds:
    """Lower bounds of the expressions on one box after another."""

    exprs: Sequence[sympy.Expr]
    box: Box
    bound: Fraction
    strict: bool
    gradients: bool

    def __post_init__(self) -> None:
        self.symbols = symbols_in(self.exprs, self.box)
        self.level = to_ball(self.bound)
        self.value = BallFunction(self.exprs, self.box.names)
        self.smooth = [self.gradients and not expr.has(*ROUGH) for expr in self.exprs]

    @cached_property
    def slope(self) -> list[BallFunction | None]:
        """For each smooth expression its gradient, one entry for each side of the box."""
        return [
            BallFunction([self._derivative(expr, name) for name in self.box.names], self.box.names) if smooth else None
            for expr, smooth in zip(self.exprs, self.smooth, strict=True)
        ]

    def _derivative(self, expr: sympy.Expr, name: str) -> sympy.Expr:
        return sympy.diff(expr, self.symbols[name]) if name in self.symbols else sympy.S.Zero

    def clears(self, low: arb) -> bool:
        """Does this lower end settle the claim, by a gap that can be written down?"""
        if not low.is_finite():
            return False
        return bool((low - self.level).lower() >= _LEAST or (not self.strict and low >= self.level))

    def fails(self, point: Mapping[str, Fraction]) -> arb | None:
        """The largest (expression - bound) at an exact point if that certainly breaks the claim."""
        if any(symbol.is_integer and point[name].denominator > 1 for name, symbol in self.symbols.items()):
            return None
        ends = self.value.on(Box({name: (point[name],) * 2 for name in self.box.names}))
        gaps = [high - self.level for _, high in ends]
        # Where one end is not finite the expression may not be defined, and then nothing fails.
        if _finite(ends) and all((gap <= 0 if self.strict else gap < 0) for gap in gaps):
            worst: arb = gaps[0]
            for gap in gaps[1:]:
                worst = worst.max(gap)
            return worst
        return None


def _finite(intervals: Sequence[Interval]) -> bool:
    return all(low.is_finite() and high.is_finite() for low, high in intervals)


def _face(region: Box, slopes: Sequence[Interval]) -> Box:
    """The face of the region on which an expression with these slopes takes its least value."""
    face = region
    for (name, low, high), slope in zip(region.sides, slopes, strict=True):
        if slope[0] >= 0 or slope[1] <= 0:
            end = low if slope[0] >= 0 else high
            face = face.with_side(name, end, end)
    return face


def _mean_value(value: BallFunction, which: int, slopes: Sequence[Interval], face: Box) -> arb:
    """A lower bound of f(c) + sum_i f_i(region) (face_i - c_i), c the centre of the face; it bounds f on the face."""
    total = value.on(Box({name: (coordinate,) * 2 for name, coordinate in face.center().items()}))[which][0]
    for (_, low, high), slope in zip(face.sides, slopes, strict=True):
        reach = to_ball((high - low) / 2).upper()
        total = (total - reach * (-slope[0]).max(slope[1])).lower()
    return total


@dataclass(frozen=True)
class _Look:
    """What one box shows: a leaf, or candidates for a counterexample and the axis to split."""

    leaf: Leaf | None
    gap: arb | None
    points: tuple[Mapping[str, Fraction], ...]
    axis: str


def _claimed(low: arb, bound: Fraction) -> Fraction:
    """A short number between the bound and `low`: 16 bits of the gap, so that certificates stay small."""
    level = to_ball(bound)
    if not (low - level).lower() >= _LEAST:
        return bound
    gap = rational((low - level).min(_MOST).lower())
    shift = gap.numerator.bit_length() - gap.denominator.bit_length() - 17
    unit = Fraction(2) ** shift
    return bound + math.floor(gap / unit * Fraction(65535, 65536)) * unit


def _look(bounds: _Bounds, region: Box) -> _Look:
    values = bounds.value.on(region)

    def found(kind: str, which: int, low: arb) -> _Look:
        return _Look(Leaf(kind, which, _claimed(low, bounds.bound)), low - bounds.level, (), "")

    for which, (low, high) in enumerate(values):
        if high.is_finite() and bounds.clears(low):
            return found("natural", which, low)
    points: list[Mapping[str, Fraction]] = [region.center()]
    weights = {name: Fraction(1) / bounds.box.width(name) if bounds.box.width(name) else 0 for name in region.names}
    for which, value in enumerate(values):
        function = bounds.slope[which]
        if function is None or not _finite([value]) or value[1] < bounds.level:
            continue
        slopes = function.on(region)
        if not _finite(slopes):
            continue
        face = _face(region, slopes)
        if face != region:
            low = bounds.value.on(face)[which][0]
            if bounds.clears(low):
                return found("monotone", which, low)
            points.append(face.center())
        low = _mean_value(bounds.value, which, slopes, face).lower()
        if bounds.clears(low):
            return found("mean_value", which, low)
    return _Look(None, None, tuple(points), max(region.names, key=lambda name: weights[name] * region.width(name)))


def _below_zero(gap: arb) -> float:
    """The gap at a counterexample, rounded up but still negative: a strict claim may fail by equality."""
    return min(outward(gap)[1], math.nextafter(0, -1))


def _corners(box: Box) -> Iterator[Mapping[str, Fraction]]:
    if sum(low < high for _, low, high in box.sides) <= _CORNERS_UP_TO:
        yield from box.corners()


def _search(
    bounds: _Bounds, budget: int
) -> tuple[Outcome, dict[int, Split | Leaf], Mapping[str, Fraction] | None, float, int]:
    for point in _corners(bounds.box):
        if (gap := bounds.fails(point)) is not None:
            return Outcome.REFUTED, {}, point, _below_zero(gap), 0
    # Breadth first, numbered as in a heap (children 2k and 2k + 1): a counterexample anywhere is found early.
    tree: dict[int, Split | Leaf] = {}
    queue = deque([(1, bounds.box)])
    margin = math.inf
    while queue and len(tree) < budget:
        number, region = queue.popleft()
        look = _look(bounds, region)
        if look.leaf is not None and look.gap is not None:
            tree[number] = look.leaf
            margin = min(margin, outward(look.gap)[0])
            continue
        for point in look.points:
            if (gap := bounds.fails(point)) is not None:
                return Outcome.REFUTED, {}, point, _below_zero(gap), len(tree) + 1
        if region.width(look.axis) == 0:
            return Outcome.UNDECIDED, {}, None, math.nan, len(tree) + 1
        halves = region.split(look.axis)
        tree[number] = Split(look.axis, halves[0][look.axis][1])
        queue.extend([(2 * number, halves[0]), (2 * number + 1, halves[1])])
    if queue:
        return Outcome.UNDECIDED, {}, None, math.nan, len(tree)
    return Outcome.PROVED, tree, None, max(margin, 0.0), len(tree)


def _preorder(tree: Mapping[int, Split | Leaf]) -> tuple[Split | Leaf, ...]:
    nodes: list[Split | Leaf] = []
    pending = [1] if tree else []
    while pending:
        number = pending.pop()
        nodes.append(tree[number])
        if isinstance(tree[number], Split):
            pending += [2 * number + 1, 2 * number]
    return tuple(nodes)


def prove_any_positive(
    exprs: Sequence[sympy.Expr],
    box: Box,
    *,
    bound: Exact = 0,
    strict: bool = True,
    budget: int = 20_000,
    precision: int = 128,
    gradients: bool = True,
) -> Proof:
    """At each point of `box`, is at least one of `exprs` > bound (>= if not strict)?

    Args: budget, the number of boxes looked at before giving up; precision in bits; gradients, whether to try the
    monotone and the mean-value argument on smooth expressions. Raises ValueError for a claim that makes no sense.
    """
    claim = [sympy.sympify(expr, strict=True) for expr in exprs]
    if not claim or budget < 1 or precision < 24:
        raise ValueError(f"{len(claim)} expressions, budget {budget}, precision {precision}: need at least 1, 1 and 24")
    with working(precision):
        bounds = _Bounds(claim, box, exact(bound), strict, gradients)
        outcome, tree, point, margin, boxes = _search(bounds, budget)
    return Proof(outcome, statement(claim, box, bound, strict), precision, _preorder(tree), point, margin, boxes)


def prove_positive(
    expr: sympy.Expr,
    box: Box,
    *,
    bound: Exact = 0,
    strict: bool = True,
    budget: int = 20_000,
    precision: int = 128,
    gradients: bool = True,
) -> Proof:
    """Is `expr` > bound (>= if not strict) at each point of `box`? See `prove_any_positive`."""
    return prove_any_positive(
        [expr], box, bound=bound, strict=strict, budget=budget, precision=precision, gradients=gradients
    )


def both_signs(exprs: Sequence[sympy.Expr]) -> list[sympy.Expr]:
    """e1, -e1, e2, -e2, ...: some entry is positive exactly where the expressions are not all zero."""
    return [signed for expr in exprs for signed in (expr, sympy.Mul(-1, expr, evaluate=False))]


def prove_any_nonzero(
    exprs: Sequence[sympy.Expr], box: Box, *, budget: int = 20_000, precision: int = 128, gradients: bool = True
) -> Proof:
    """At each point of `box`, is at least one of `exprs` nonzero? The certificate is one for `both_signs(exprs)`."""
    return prove_any_positive(both_signs(exprs), box, budget=budget, precision=precision, gradients=gradients)
