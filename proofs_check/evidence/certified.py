"""Sympy expressions on boxes: each becomes a statement, whose certificate is searched, and which the core decides.

An inequality holds where `check_certificate` says proved. A zero is one by the core's Krawczyk step. An area is a sum
of cells on each of which the core's enclosures give the sign. What the core does not confirm is Undecided.
"""

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache, partial, reduce
from typing import Any

import sympy as sp
from flint import arb, arb_mat

from proofs_check.core import krawczyk
from proofs_check.core.boxes import Look, Region, evaluator
from proofs_check.core.certificate import check_certificate
from proofs_check.core.derive import derivative
from proofs_check.core.domain import Sequent, Variable, needed
from proofs_check.core.enclose import interval
from proofs_check.core.rules import FAULTS, Rejected
from proofs_check.core.statement import FORMAT, Statement, obligations
from proofs_check.core.terms import ZERO, Term, either, ne, num
from proofs_check.evidence.margin import BARELY_NOT, Margin, Undecided
from proofs_check.language.converted import term
from proofs_check.rigour.branch import KINDS, boxes, searched
from proofs_check.rigour.tactics import Failed
from theory.lowering.box import Box, Exact, exact, outward, rational, symbols_in, to_ball
from theory.lowering.precision import working

_PRECISION = 64
_STEPS = 10  # of Newton's method
_NEAR = Fraction(1, 2**50)  # of each side: how far about the guess its enclosure reaches


def _terms(exprs: Sequence[sp.Expr], box: Box) -> tuple[tuple[Variable, ...], list[Term]]:
    """The sides of the box as variables, and the expressions as terms in them."""
    symbols = symbols_in(exprs, box)
    variables = {name: Variable(name, num(low), num(high)) for name, low, high in box.sides}
    places = {symbol: variables[name] for name, symbol in symbols.items()}
    return tuple(variables.values()), [term(expr, places) for expr in exprs]


@cache
def proved_on(
    box: Box, *exprs: sp.Expr, bound: Exact = 0, nonzero: bool = False, slopes: bool = True, budget: int = 20_000
) -> Margin:
    """Is at least one of the expressions > bound (with `nonzero`: not equal to it) at each point of the box?

    Where the core says proved, the margin is the least lower bound of the excess that the search found. Where it says
    refuted, at a corner or at the centre, the margin is below 0. An expression may lack a value where an earlier one is
    > bound. slopes: search with slopes too; budget: how many parts of the box to look at.
    Raises: Undecided where the core confirms neither; ValueError for what has no term (see `language.converted`).
    """
    variables, terms = _terms(exprs, box)
    level = num(exact(bound))
    statement = Statement("on a box", variables, (), either(*(ne(t, level) if nonzero else level < t for t in terms)))
    ((label, sequent),) = obligations(statement)
    look = Look(sequent)
    for point in (box.center(), *box.corners()):
        at = {name: str(value) for name, value in point.items()}
        if (excess := _excess(look, point)) <= 0:
            _confirm(statement, witness=[label, at])
            return Margin(min(outward(excess)[1], BARELY_NOT), f"> {bound}", f"not at {at}")
    try:
        defined = [boxes(condition, budget=budget) for condition in needed(sequent)]
        proof, least = searched(sequent, budget, _PRECISION, KINDS if slopes else KINDS[:1])
    except Failed as reason:
        raise Undecided(f"{reason}, on {box}") from reason
    _confirm(statement, point=at, proofs={label: [defined, proof]})
    return Margin(max(outward(least)[0], 0.0), f"> {bound}", f"{len(proof[-1])} parts of {box}")


nonzero_on = partial(proved_on, nonzero=True)


def _excess(look: Look, point: dict[str, Fraction]) -> arb:
    """An upper bound of the largest margin of the goal at a point; infinite where nothing is known."""
    try:
        with working(_PRECISION):
            at = look.on({name: (value, value) for name, value in point.items()})
            return reduce(arb.max, [interval(at.value(margin))[1] for _, margin in look.goals])
    except FAULTS:
        return arb("inf")


def _confirm(statement: Statement, **body: Any) -> None:
    """Raises Undecided where the core rejects the certificate, of a proof or of a point at which it fails."""
    try:
        check_certificate(statement, {"format": FORMAT, "statement": statement.digest, **body})
    except Rejected as fault:
        raise Undecided(f"the core does not confirm it: {fault}") from fault


@cache
def unique_zero(box: Box, *exprs: sp.Expr) -> Box:
    """A small box about the only common zero that a square system has in the interior of a box.

    Newton's method guesses it. By Krawczyk's step, which the core checks, there is exactly one in the box and in the
    small one. Raises: Undecided where that fails, as for a box that is too large; ValueError if it is not square.
    """
    _, terms = _terms(exprs, box)
    if len(exprs) != len(box.names):
        raise ValueError(f"{len(exprs)} equations on a box with the sides {', '.join(box.names)}")
    try:
        guess = _newton(terms, box)
        near = {name: _NEAR * (high - low) for name, low, high in box.sides}
        small = Box({name: (guess[name] - near[name], guess[name] + near[name]) for name in box.names})
        for region in (box, small):
            krawczyk.check(terms, {name: (low, high) for name, low, high in region.sides})
    except FAULTS as fault:
        raise Undecided(f"no unique zero is confirmed in {box}: {fault}") from fault
    if not box.contains(small):
        raise Undecided(f"Newton's method leaves {box}")
    return small


def _newton(terms: Sequence[Term], box: Box) -> dict[str, Fraction]:
    """A guess of the zero, from the centre of the box. Raises what the core's enclosures do, or ZeroDivisionError."""
    slopes = [derivative(t, name) for t in terms for name in box.names]
    point, n = box.center(), len(terms)
    with working(2 * _PRECISION):
        for _ in range(_STEPS):
            at = evaluator({name: (value, value) for name, value in point.items()})
            rows = [[arb.union(*interval(at.value(t))).mid() for t in part] for part in (slopes, terms)]
            moves = arb_mat(n, n, rows[0]).solve(arb_mat(n, 1, rows[1])).entries()
            ends = [(to_ball(value) - move).mid() for value, move in zip(point.values(), moves, strict=True)]
            point = dict(zip(point, map(rational, ends), strict=True))
    return point


@cache
def positive_area(expr: sp.Expr, x: sp.Symbol, y: sp.Symbol, depth: int) -> tuple[Fraction, Fraction]:
    """Bounds (low, high) of the area of {expr > 0} in 0 <= x, y <= 1, from cells of side >= 2^-depth.

    A cell where the core's enclosures give no sign is cut into four; what is left at the end is in neither bound.
    Raises: ValueError for a negative depth and for what has no term.
    """
    if depth < 0:
        raise ValueError(f"depth must be >= 0, got {depth}")
    variables, (t,) = _terms([expr], Box({x: (0, 1), y: (0, 1)}))
    look = Look(Sequent(variables, (), either(ZERO < t, t <= ZERO)))
    area, cells = [Fraction(0), Fraction(0)], [(0, 0)]  # where it is positive, and where it is not
    for level in range(depth + 1):
        rest = []
        for i, j in cells:
            sides = ((x.name, i), (y.name, j))
            which = _shown(look, {name: (Fraction(k, 2**level), Fraction(k + 1, 2**level)) for name, k in sides})
            if which is None:
                rest += [(2 * i + right, 2 * j + above) for right in (0, 1) for above in (0, 1)]
            else:
                area[which] += Fraction(1, 4**level)
        cells = rest
    return area[0], 1 - area[1]


def _shown(look: Look, region: Region) -> int | None:
    """Which alternative of a goal, the first or the second, enclosures show on the region."""
    with working(_PRECISION), suppress(*FAULTS):
        middle = {name: ((low + high) / 2,) * 2 for name, (low, high) in region.items()}
        which = int(not look.shows(middle, "natural", 0))  # no other can be
        if any(look.shows(region, kind, which) for kind in ("natural", "mean")):
            return which
    return None
