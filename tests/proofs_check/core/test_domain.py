"""What is whole, derivatives, bounds on boxes, and instances, each by itself."""

from fractions import Fraction

import pytest
from flint import arb

from proofs_check.core.boxes import Look
from proofs_check.core.certificate import Outcome, check_certificate
from proofs_check.core.derive import derivative
from proofs_check.core.domain import is_whole
from proofs_check.core.rules import Rejected
from proofs_check.core.terms import Malformed, Term, num, to_json
from proofs_check.language import (
    absolute,
    exp,
    fold,
    real,
    statement,
    total,
    var,
    when,
    whole,
)
from tests.proofs_check.core.writing import certificate, q
from theory.lowering.precision import working

x, y, i, n = map(var, "xyin")
N, UNIT = whole("n", 1), real("x", 0, 1)


@pytest.mark.parametrize(
    ("term", "told"),
    [
        (num(3), True), (num(Fraction(1, 2)), False), (n, True), (x, False), (n**2, True), (x**2, False),
        (n**-1, False), (n + 1, True), (n + x, False), (n * n, True), (n / 2, False), (Term("max", n, num(2)), True),
        (Term("min", n, x), False), (when(x < 0, n, 2), True), (when(n < 0, n, x), False), (absolute(n), False),
    ],
)  # fmt: skip
def test_what_is_whole_by_its_shape(term, told):
    assert is_whole(term, frozenset({"n"})) is told


@pytest.mark.parametrize("term", [absolute(x), Term("max", x, num(0)), when(x < 0, x, 2), total(i, 1, x, i),
                                  total(i, x, 3, i), fold("max", i, 1, n, x), fold("prod", i, 1, n, x)])  # fmt: skip
def test_a_term_that_may_have_a_kink_has_no_derivative(term):
    with pytest.raises(Malformed):
        derivative(term, "x")


def test_bounds_of_boxes_are_lower_bounds():
    look = Look(q(x + y**2 <= 2 * x * y + 3, UNIT, real("y", 0, 1)))
    region = {"x": (Fraction(0), Fraction(1)), "y": (Fraction(1, 2), Fraction(1))}
    margin = look.goals[0][1]
    least = min((2 * a * b + 3 - a - b * b) for a in (0, 0.5, 1) for b in (0.5, 0.75, 1))
    for kind in ("natural", "monotone", "mean"):
        found = float(look.bound(region, kind, 0, margin))
        assert found <= least, kind
    # x grows, so its face is exact; y does not, and the mean value has to pay for its whole side.
    rising = Look(q(0 <= x**2 + x, UNIT))
    for low, high in ((0, 1), (1, 3), (2, 2)):
        side = {"x": (Fraction(low), Fraction(high))}
        for kind in ("natural", "monotone"):
            assert float(rising.bound(side, kind, 0, rising.goals[0][1])) == low**2 + low
    hill = Look(q(0 <= x - x**2, UNIT))  # slope 1 - 2 x in [-1, 1], 1/4 in the middle
    assert float(hill.bound({"x": (Fraction(0), Fraction(1))}, "mean", 0, hill.goals[0][1])) == 0.25 - 0.5
    # At a single point only the rounding is left, and it goes down: a bound of e is below e.
    point = Look(q(0 <= exp(x), real("x", 0, 2)))
    at_one = {"x": (Fraction(1), Fraction(1))}
    for kind in ("natural", "monotone", "mean"):
        with working(64):
            found = point.bound(at_one, kind, 0, point.goals[0][1])
        with working(300):
            assert found < arb(1).exp() < found + arb(2) ** -50, kind
    with pytest.raises(Malformed):
        look.bound(region, "median", 0, margin)


def test_instances_need_a_point_each_and_a_proof_each():
    told = statement("a", for_all=[N, UNIT], says=x * (1 - x) <= n / 4)
    square = ["linear", [["1", [["square", to_json(x - Fraction(1, 2)), []]]]]]
    entry = {"at": {"n": "1"}, "point": {"x": "0"}, "proofs": {"conclusion": [[], square]}}

    def checked(**changes):
        return check_certificate(told, certificate(told, point={"n": "1", "x": "0"}, instances=[{**entry, **changes}]))

    found = checked()
    assert (found.outcome, found.detail) == (Outcome.INSTANCES, "1 instances")
    for changes in (
        {"point": {"x": "2"}}, {"point": {}}, {"at": {"n": "0"}}, {"at": {"n": "3/2"}}, {"at": {"n": "2"}},
        {"at": {}, "point": {"n": "1", "x": "0"}}, {"at": {"x": "0"}, "point": {"n": "1"}},
        {"proofs": {"conclusion": [[], ["identity"]]}}, {"proofs": {}},
    ):  # fmt: skip
        with pytest.raises(Rejected):
            checked(**changes)
