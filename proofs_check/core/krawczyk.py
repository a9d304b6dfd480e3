"""Krawczyk's operator as a check: a box of constants holds exactly one zero of a square system.

K(X) = c - Y f(c) + (I - Y J(X)) (X - c), c the centre, Y any matrix. Each zero in X lies in K(X); if K(X) lies in the
interior of X there is exactly one (Krawczyk 1969; Moore 1977). Y is found here, and need not be good.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb, arb_mat

from proofs_check.core.boxes import Region, evaluator
from proofs_check.core.derive import derivative
from proofs_check.core.enclose import Value, interval
from proofs_check.core.terms import Malformed, Term
from theory.lowering.precision import working

_PRECISION = 256


def check(equations: Sequence[Term], region: Region) -> None:
    """Raises Malformed, Unknown or Undefined unless the interior of the region holds exactly one common zero."""
    with working(_PRECISION):
        names, n = list(region), len(region)
        if len(equations) != n or not all(low < high for low, high in region.values()):
            raise Malformed("as many equations as sides, and each side longer than a point")
        centre: Region = {name: ((low + high) / 2,) * 2 for name, (low, high) in region.items()}
        # f is defined and differentiable on the whole box, since it and its slopes are enclosed there.
        slopes = [derivative(f, name) for f in equations for name in names]
        whole = evaluator(region)
        _ = [whole.value(f) for f in equations]
        jacobian = arb_mat(n, n, [_ball(whole.value(slope)) for slope in slopes])
        middle = evaluator(centre)
        values = arb_mat(n, 1, [_ball(middle.value(f)) for f in equations])
        try:
            found = arb_mat(n, n, [_ball(middle.value(slope)).mid() for slope in slopes]).inv()
        except ZeroDivisionError as fault:
            raise Malformed("the system is singular at the centre") from fault
        y = arb_mat(n, n, [entry.mid() for entry in found.entries()])
        sides = [region[name] for name in names]
        reach = [interval((high - low) / 2)[1] for low, high in sides]
        offsets = arb_mat(n, 1, [(-far).union(far) for far in reach])
        one = arb_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
        image = -(y * values) + (one - y * jacobian) * offsets
        for entry, (low, high) in zip(image.entries(), sides, strict=True):
            half = interval((high - low) / 2)[0]
            # That an inverse close to Y exists follows from the inclusion in the interior.
            if not (entry.is_finite() and entry.upper() < half and -half < entry.lower()):
                raise Malformed("the image does not lie in the interior of the box")


def _ball(value: Value) -> arb:
    low, high = interval(value)
    return low.union(high)
