"""Branch and bound for the rule `boxes`: cuts a box until enclosures show the goal on each part."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from flint import arb

from proofs_check.core.boxes import PRECISION, Look, Region, check_root, evaluator
from proofs_check.core.domain import Sequent
from proofs_check.core.enclose import Undefined, Unknown, interval
from proofs_check.core.terms import Malformed
from proofs_check.rigour.tactics import Failed, Proof, by
from theory.lowering.precision import working

_WIDEST = Fraction(10) ** 9
_FAULTS = (Unknown, Undefined, Malformed, ZeroDivisionError)
KINDS = ("natural", "monotone", "mean")


def boxes(sequent: Sequent, *, budget: int = 1500, precision: int = 64) -> Proof:
    """A certificate, or Failed when the budget of looks is spent."""
    return searched(sequent, budget, precision)[0]


def searched(sequent: Sequent, budget: int, precision: int, kinds: Sequence[str] = KINDS) -> tuple[Proof, arb]:
    """A certificate with leaves of these kinds, and the least margin that they show; infinite where they show none."""
    with working(precision):
        try:
            root = root_of(sequent)
            check_root(sequent, root)
            nodes, least = _search(Look(sequent), root, {v.name for v in sequent.variables if v.whole}, budget, kinds)
        except (Malformed, Unknown, Undefined, KeyError, OverflowError) as fault:
            raise Failed(f"boxes: {fault}") from fault
    ends = {name: [str(low), str(high)] for name, (low, high) in root.items()}
    return ["boxes", precision, ends, nodes], least


def valued(sequent: Sequent) -> Proof:
    """A comparison without variables, decided by its value at the first precision that tells."""
    for precision in PRECISION:
        for which in range(2 if sequent.goal.parts[0] == "!=" else 1):
            leaf = by("boxes", precision, {}, [["natural", which]])
            with suppress(Failed):
                return by("forget", [v.name for v in sequent.variables], [*range(len(sequent.given))], leaf)(sequent)
    raise Failed(f"{PRECISION[-1]} bits do not decide a comparison without variables")


def root_of(sequent: Sequent) -> Region:
    """A box of fractions around the domain."""
    root: Region = {}
    for v in sequent.variables:
        if v.values:
            root[v.name] = (min(v.values), max(v.values))
            continue
        if v.low is None or v.high is None or v.sizes:
            raise Failed(f"boxes: {v.name} has no bounded side")
        env = evaluator(root)
        low, high = env.value(v.low), env.value(v.high)
        root[v.name] = (_outer(low, 0), _outer(high, 1))
        if root[v.name][1] - root[v.name][0] > _WIDEST or root[v.name][0] > root[v.name][1]:
            raise Failed(f"boxes: {v.name} has too wide a side")
    return root


def _outer(value: Any, side: int) -> Fraction:
    if isinstance(value, Fraction):
        return value
    end = interval(value)[side]
    if not end.is_finite() or abs(end) > 10**12:
        raise Failed("boxes: an end is too large")
    found = Fraction(float(end))
    return found + (Fraction(1, 2**40) * (1 + abs(found))) * (1 if side else -1)


def _search(
    look: Look, root: Region, wholes: set[str], budget: int, kinds: Sequence[str]
) -> tuple[list[Any], arb]:
    tree: dict[int, Any] = {}
    least = arb("inf")
    queue = deque([(1, root)])
    spent = 0
    while queue:
        spent += 1
        if spent > budget:
            raise Failed("boxes: the budget is spent")
        number, region = queue.popleft()
        leaf = _leaf(look, region, kinds)
        if leaf is not None:
            tree[number], shown = leaf
            least = least.min(shown)
            continue
        if not region:
            raise Failed("boxes: enclosures do not decide a goal without variables")
        name = max(region, key=lambda n: _weight(root, region, n))
        low, high = region[name]
        if name in wholes and high - low >= 1:
            at = Fraction((low + high) // 2)
            halves = {**region, name: (low, at)}, {**region, name: (at + 1, high)}
        else:
            if low == high or high - low < Fraction(1, 2**60):
                raise Failed("boxes: a point that enclosures do not decide")
            at = (low + high) / 2
            if at.denominator > 2**70:
                raise Failed("boxes: too small a part")
            halves = {**region, name: (low, at)}, {**region, name: (at, high)}
        tree[number] = ["cut", name, str(at)]
        queue.extend([(2 * number, halves[0]), (2 * number + 1, halves[1])])
    nodes: list[Any] = []
    pending = [1]
    while pending:
        number = pending.pop()
        nodes.append(tree[number])
        if tree[number][0] == "cut":
            pending += [2 * number + 1, 2 * number]
    return nodes, least


def _weight(root: Region, region: Region, name: str) -> Fraction:
    whole = root[name][1] - root[name][0]
    return (region[name][1] - region[name][0]) / whole if whole else Fraction(0)


def _leaf(look: Look, region: Region, kinds: Sequence[str]) -> tuple[list[Any], arb] | None:
    """A leaf that shows the goal on the region, with a lower bound of its margin, or that a hypothesis fails there."""
    for kind in kinds:
        for which, (_, margin) in enumerate(look.goals):
            with suppress(*_FAULTS):
                low = look.bound(region, kind, which, margin)
                if look.clears(which, low):
                    return [kind, which], low
        if kind == "natural":
            for which in range(len(look.facts)):
                with suppress(*_FAULTS):
                    if look.shows(region, "none", which):
                        return ["none", which], arb("inf")
    return None
