"""What a formula needs to be defined, what is known of a domain, what is whole, and derivatives, word for word."""

from fractions import Fraction

import pytest
from flint import arb

from proofs_check.core.boxes import Look
from proofs_check.core.certificate import Outcome, check_certificate
from proofs_check.core.derive import derivative
from proofs_check.core.domain import Sequent, Variable, facts, is_whole, needed
from proofs_check.core.printing import text
from proofs_check.core.rules import Rejected
from proofs_check.core.terms import Malformed, Term, num, to_json
from proofs_check.language import (
    absolute,
    ball,
    both,
    choice,
    either,
    exp,
    fold,
    iff,
    implies,
    log,
    positive,
    real,
    sequence,
    sqrt,
    statement,
    total,
    var,
    when,
    whole,
)
from tests.proofs_check.core.test_obligations import line
from tests.proofs_check.core.writing import certificate
from theory.lowering.precision import working

x, y, i, n, s = map(var, "xyins")
X, Y, N, S = real("x"), real("y"), whole("n", 1), sequence("s", n)
POSITIVE = x > 0
ABOVE_0 = [N, sequence("s", n, 0)]

NEEDED = {
    "negative power": ([X], [], x**-2 < 1, ["; |- x != 0"]),
    "logarithm": ([X], [], log(1 / x) < 1, ["; |- x != 0", "; |- 0 < 1/x"]),
    "and": ([X], [], both(POSITIVE, log(x) < 1), ["; 0 < x |- 0 < x"]),
    "or": ([X], [], either(x <= 0, log(x) < 1), ["; 0 < x |- 0 < x"]),
    "implies": ([X], [], implies(POSITIVE, log(x) < 1), ["; 0 < x |- 0 < x"]),
    "iff": ([X], [], iff(POSITIVE, log(x) < 1), ["; |- 0 < x"]),
    "if": ([X], [], when(1 / x > 0, log(x), sqrt(-x)) < 1,
           ["; |- x != 0", "; 0 < 1/x |- 0 < x", "; 1/x <= 0 |- 0 <= -x"]),
    "item": ([N, S], [], s[n + 1] < 1, ["n whole [1, ]; |- 0 <= n", "; |- 1 <= n + 1 and n + 1 <= n"]),
    "sum": ([X, N], [], total(i, 1, n, 1 / (x - i)) < 1, [", i' whole [1, n]; |- x - i' != 0"]),
    "least": ([X, N], [], fold("min", i, 1, n, x) < 1, ["; |- 1 <= n"]),
    "hypotheses in turn": ([X], [POSITIVE, log(x) < 1], x < 1 / x,
                           ["; 0 < x |- 0 < x", "; 0 < x, log(x) < 1 |- x != 0"]),
}  # fmt: skip


@pytest.mark.parametrize("name", NEEDED)
def test_what_a_sequent_needs(name):
    variables, given, goal, told = NEEDED[name]
    domain = line(Sequent(tuple(variables), (), num(0) < 1)).split(";")[0]
    found = [line(one).replace(";  |-", "; |-") for one in needed(Sequent(tuple(variables), tuple(given), goal))]
    assert found == [domain + one if one[0] in ",;" else one for one in told]


def test_ends_and_sizes_are_defined_before_anything_is_known():
    variables = (X, Variable("y", 1 / x, log(x)), whole("n"), sequence("s", n + 1))
    found = [line(one) for one in needed(Sequent(variables, (x > 1,), y < 1))]
    assert found == ["x [, ];  |- x != 0", "x [, ];  |- 0 < x",
                     "x [, ], y [1/x, log(x)], n whole [, ];  |- 0 <= n + 1"]  # fmt: skip


@pytest.mark.parametrize(
    ("variables", "goal", "told"),
    [
        ([real("x", 0, 1)], x < 2, ["0 <= x", "x <= 1"]),
        ([real("x", 0, 1, open=True)], x < 2, ["0 < x", "x < 1"]),
        ([positive("x")], x < 2, ["0 < x"]),
        ([choice("x", 1, 2)], x < 2, ["x = 1 or x = 2"]),
        ([N, sequence("s", n, 0, 1)], s[1] < s[n], ["1 <= n", "0 <= s[1]", "s[1] <= 1", "0 <= s[n]", "s[n] <= 1"]),
        (ABOVE_0, total(i, 1, n, s[2] * s[i]) < total(i, s[1], n, 1), ["1 <= n", "0 <= s[1]"]),
        (ABOVE_0, either(s[1] < 1, s[2] < 1), ["1 <= n", "0 <= s[1]"]),
        (ABOVE_0, both(s[1] < 1, s[2] < 1), ["1 <= n", "0 <= s[1]"]),
        (ABOVE_0, implies(s[1] < 1, s[2] < 1), ["1 <= n", "0 <= s[1]"]),
        (ABOVE_0, when(s[1] < 1, s[2], s[3]) < 1, ["1 <= n", "0 <= s[1]"]),
        (ABOVE_0, s[1] + exp(s[2]) < 1, ["1 <= n", "0 <= s[1]", "0 <= s[2]"]),
        ([N, ball("s", n, 3)], s[1] < 1, ["1 <= n", "sum[k = 1..n] s[k]^2 <= 3^2"]),
    ],
)  # fmt: skip
def test_what_is_known_of_a_domain(variables, goal, told):
    assert list(map(text, facts(Sequent(tuple(variables), (), goal)))) == told


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


@pytest.mark.parametrize(
    ("term", "told"),
    [
        (y + 3, "0"), (x + y, "1"), (x * y, "y"), (x**-1, "-x^-2"), (y / x, "0/x + (-y)/x^2"),
        (exp(2 * x), "exp(2 x) 2"), (total(i, 1, n, x * i), "sum[i = 1..n] i"), (absolute(y) + x, "1"),
        (when(y < 0, y, 2) + x, "1"),
    ],
)  # fmt: skip
def test_derivatives(term, told):
    assert text(derivative(term, "x")) == told


@pytest.mark.parametrize("term", [absolute(x), Term("max", x, num(0)), when(x < 0, x, 2), total(i, 1, x, i),
                                  total(i, x, 3, i), fold("max", i, 1, n, x), fold("prod", i, 1, n, x)])  # fmt: skip
def test_a_term_that_may_have_a_kink_has_no_derivative(term):
    with pytest.raises(Malformed):
        derivative(term, "x")


def test_bounds_of_boxes_are_lower_bounds():
    look = Look(Sequent((real("x", 0, 1), real("y", 0, 1)), (), x + y**2 <= 2 * x * y + 3))
    region = {"x": (Fraction(0), Fraction(1)), "y": (Fraction(1, 2), Fraction(1))}
    margin = look.goals[0][1]
    least = min((2 * a * b + 3 - a - b * b) for a in (0, 0.5, 1) for b in (0.5, 0.75, 1))
    for kind in ("natural", "monotone", "mean"):
        found = float(look.bound(region, kind, 0, margin))
        assert found <= least, kind
    # x grows, so its face is exact; y does not, and the mean value has to pay for its whole side.
    rising = Look(Sequent((real("x", 0, 1),), (), 0 <= x**2 + x))
    for low, high in ((0, 1), (1, 3), (2, 2)):
        side = {"x": (Fraction(low), Fraction(high))}
        assert float(rising.bound(side, "monotone", 0, rising.goals[0][1])) == low**2 + low
    hill = Look(Sequent((real("x", 0, 1),), (), 0 <= x - x**2))  # slope 1 - 2 x in [-1, 1], 1/4 in the middle
    assert float(hill.bound({"x": (Fraction(0), Fraction(1))}, "mean", 0, hill.goals[0][1])) == 0.25 - 0.5
    # At a single point only the rounding is left, and it goes down: a bound of e is below e.
    point = Look(Sequent((real("x", 0, 2),), (), 0 <= exp(x)))
    at_one = {"x": (Fraction(1), Fraction(1))}
    for kind in ("natural", "monotone", "mean"):
        with working(64):
            found = point.bound(at_one, kind, 0, point.goals[0][1])
        with working(300):
            assert found < arb(1).exp() < found + arb(2) ** -50, kind
    with pytest.raises(Malformed):
        look.bound(region, "median", 0, margin)


def test_instances_need_a_point_each_and_a_proof_each():
    told = statement("a", for_all=[N, real("x", 0, 1)], says=x * (1 - x) <= n / 4)
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
