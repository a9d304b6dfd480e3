"""The second checker: re-verifies a certificate without the program that found it.

It shares neither the search nor the ball printer: it reads the tree of splits in rational arithmetic and evaluates each
leaf with the intervals of `proofs_check.evidence.enclose`, at its own precision.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Any

import sympy
from flint import arb

from proofs_check.evidence.enclose import Interval, Unknown, enclose, times
from theory.lowering.box import ROUGH, Box, Exact, Outcome, exact, outward, symbols_in, to_ball
from theory.lowering.precision import working

FORMAT = "box certificate 1"
PRECISION = 167
Region = dict[str, tuple[Fraction, Fraction]]


class Rejected(Exception):
    """The certificate does not establish the claim; the message says where."""


@dataclass(frozen=True)
class Checked:
    """`margin`: a lower bound of (expression - bound) over the box if PROVED, negative if REFUTED, NaN if rejected."""

    outcome: Outcome
    margin: float
    leaves: int
    reason: str


_text = cache(sympy.srepr)  # the search and this check write down the same expressions


def statement(exprs: Sequence[sympy.Expr], box: Box, bound: Exact, strict: bool) -> dict[str, Any]:
    """What is claimed, as plain data: at each point of the box at least one expression is > (or >=) the bound."""
    sides = [[name, str(low), str(high)] for name, low, high in box.sides]
    claim = {"any_of": [_text(e) for e in exprs], "relation": ">" if strict else ">=", "bound": str(exact(bound))}
    return {**claim, "box": sides}


def digest(content: Any) -> str:
    """sha256 of the canonical JSON."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _rational(text: str) -> Fraction:
    if not re.fullmatch(r"-?\d+(/\d+)?", text):
        raise Rejected(f"{text!r} is not a rational number")
    return exact(text)


def _environment(region: Region) -> dict[str, Interval]:
    return {name: (to_ball(low).lower(), to_ball(high).upper()) for name, (low, high) in region.items()}


def _leaf_bound(expr: sympy.Expr, slopes: Callable[[], dict[str, sympy.Expr]], region: Region, kind: str) -> arb:
    """A lower bound of expr on the region, by the argument that the leaf names."""
    low, _ = enclose(expr, _environment(region))
    if kind == "natural":
        return low
    if kind not in ("monotone", "mean_value") or expr.has(*ROUGH):
        raise Rejected(f"a leaf of kind {kind!r} does not apply to {expr}")
    gradient = {name: enclose(slope, _environment(region)) for name, slope in slopes().items()}
    face = dict(region)
    for name, (slope_low, slope_high) in gradient.items():
        # The expression is monotone in this variable on the whole region, so its least value lies on one face.
        if slope_low >= 0 or slope_high <= 0:
            end = region[name][0] if slope_low >= 0 else region[name][1]
            face[name] = (end, end)
    if kind == "monotone":
        return enclose(expr, _environment(face))[0]
    middle = {name: ((low + high) / 2,) * 2 for name, (low, high) in face.items()}
    total = enclose(expr, _environment(middle))[0]
    for name, slope in gradient.items():
        reach = (face[name][1] - face[name][0]) / 2
        offset = _environment({name: (-reach, reach)})[name]
        total = (total + times(slope, offset)[0]).lower()
    return total


def _leaves(nodes: Sequence[Any], root: Region) -> Iterator[tuple[Region, str, int, Fraction]]:
    """The leaf regions of the tree in preorder; halves of halves, so they cover the root without gap or overlap."""
    pending = [root]
    for node in nodes:
        if not pending:
            raise Rejected("nodes are left over after the box is covered")
        region = pending.pop()
        if node[0] == "split":
            _, axis, at = node
            low, high = region[axis]
            if not low < (middle := _rational(at)) < high:
                raise Rejected(f"a split of {axis} at {at} outside ({low}, {high})")
            pending += [{**region, axis: (middle, high)}, {**region, axis: (low, middle)}]
        else:
            _, kind, which, lower = node
            if node[0] != "leaf" or type(which) is not int or which < 0:
                raise Rejected(f"a node {node!r} is neither a split nor a leaf")
            yield region, kind, which, _rational(lower)
    if pending:
        raise Rejected("the leaves do not cover the box")


def _region(box: Box) -> Region:
    return {name: (low, high) for name, low, high in box.sides}


def _proved(body: Mapping[str, Any], exprs: Sequence[sympy.Expr], box: Box, bound: Fraction, strict: bool) -> Checked:
    symbols = symbols_in(exprs, box)

    @cache
    def slopes(which: int) -> dict[str, sympy.Expr]:
        return {name: sympy.diff(exprs[which], symbol) for name, symbol in symbols.items()}

    gaps: list[arb] = []
    for region, kind, which, lower in _leaves(body["nodes"], _region(box)):
        if lower < bound or (strict and lower == bound):
            raise Rejected(f"a leaf claims only {lower}, which does not clear the bound {bound}")
        found = _leaf_bound(exprs[which], partial(slopes, which), region, kind)
        if not found >= to_ball(lower).upper():
            raise Rejected(f"a leaf claims {lower}, but only {found.str(10)} can be confirmed on {region}")
        gaps.append(found - to_ball(bound))
    margin = min(outward(gap)[0] for gap in gaps)
    return Checked(
        Outcome.PROVED, max(margin, 0.0), len(gaps), "every leaf clears the bound and the leaves are the box"
    )


def _refuted(body: Mapping[str, Any], exprs: Sequence[sympy.Expr], box: Box, bound: Fraction, strict: bool) -> Checked:
    point = {name: _rational(value) for name, value in body["point"].items()}
    fractional = [s.name for s in symbols_in(exprs, box).values() if s.is_integer and point[s.name].denominator > 1]
    if not box.contains(point) or fractional:
        raise Rejected(f"the point {body['point']} is not in the domain")
    environment = _environment({name: (value, value) for name, value in point.items()})
    gaps = [enclose(expr, environment)[1] - to_ball(bound) for expr in exprs]
    if not all(gap <= 0 if strict else gap < 0 for gap in gaps):
        raise Rejected(f"no failure can be confirmed at {body['point']}")
    margin = max(outward(gap)[1] for gap in gaps)
    return Checked(Outcome.REFUTED, min(margin, math.nextafter(0, -1)), 0, f"it fails at {body['point']}")


def verify(
    certificate: str, exprs: sympy.Expr | Sequence[sympy.Expr], box: Box, *, bound: Exact = 0, strict: bool = True
) -> Checked:
    """Does the certificate (JSON) establish that at each point of `box` some expression is > bound (>= if not strict)?

    The claim is the caller's: a certificate for another claim is rejected. A rejection is UNDECIDED with its reason.
    Raises ValueError only for a claim that makes no sense (see `theory.lowering.box.symbols_in`).
    """
    claim = [exprs] if isinstance(exprs, sympy.Expr) else list(exprs)
    symbols_in(claim, box)
    try:
        body = json.loads(certificate)
        if set(body) != {"format", "statement", "sha256", "outcome", "precision", "seal", "nodes", "point"}:
            raise Rejected("its fields are not those of a certificate")
        if body.pop("seal") != digest(body) or body["format"] != FORMAT:
            raise Rejected("it was changed after it was written")
        expected = statement(claim, box, bound, strict)
        if body["statement"] != expected or body["sha256"] != digest(expected):
            raise Rejected("it is about another claim")
        method = {"PROVED": _proved, "REFUTED": _refuted}[body["outcome"]]
        with working(PRECISION):
            return method(body, claim, box, exact(bound), strict)
    except (Rejected, Unknown, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        return Checked(Outcome.UNDECIDED, math.nan, 0, f"rejected: {error}")
