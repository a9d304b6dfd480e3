"""Statements as data: what is refused when it is written, what it comes down to, and how it reads."""

from fractions import Fraction

import pytest

from proofs_check.core import printing
from proofs_check.core.certificate import check_certificate
from proofs_check.core.domain import check_formed, solvable, solved
from proofs_check.core.rules import Rejected
from proofs_check.core.statement import from_data
from proofs_check.core.terms import Malformed, Term, num
from proofs_check.core.witness import from_json, meets, refutes
from proofs_check.language import (
    ball,
    both,
    each,
    either,
    eq,
    exists,
    exp,
    implies,
    limit,
    log,
    ne,
    positive,
    real,
    sequence,
    sqrt,
    statement,
    supremum,
    total,
    unique_minimiser,
    unique_zero,
    var,
    whole,
)
from proofs_check.rigour.decide import decide
from tests.proofs_check.core.test_defined import outcome
from tests.proofs_check.core.writing import claim, q

x, y, u = real("x"), real("y"), real("u", 0, 1, open="low")
n, i, j = whole("n", 1), var("i"), var("j")
s, m = sequence("s", n), whole("m", 1, n)
WEIGHT, ROOT, ONE = exp(s[m]) / total(i, 1, n, exp(s[i])), sqrt(2), Fraction(1)
AT_1, AT_MINUS_1 = {"x": ONE}, {"x": -ONE}


def test_equal_trees_are_one_object_and_types_are_told_apart():
    assert x + 1 is x + 1
    assert (x + 1 is 1 + x) is False
    assert num(1) is not Term("pow", num(1), 1)


def test_nothing_is_simplified_when_a_term_is_built():
    assert (x / x).kind == "div"
    assert outcome(x, eq(x / x, 1)) == "refuted"
    assert outcome(positive("x"), eq(x / x, 1)) == "proved"


def test_an_equality_is_solved_and_its_variable_keeps_its_domain():
    w = positive("w")
    sequent = q(x < 1, x, w, given=[eq(w, 1 - x)])
    other = solved(sequent, *solvable(sequent))
    assert [v.name for v in other.variables] == ["x"]
    assert [printing.text(g) for g in other.given] == ["0 < 1 - x"]
    assert outcome([x, w], x < 1, eq(w, 1 - x)) == "proved"


def test_a_certificate_needs_its_point_and_its_own_statement():
    made = claim(exp(x) > 0, x)
    other = claim(exp(x) > 1, x)
    certificate = decide(made).certificate
    assert check_certificate(made, certificate).outcome.value == "proved"
    for wrong in ({"statement": other.digest}, {"point": {"x": "a"}}, {"proofs": {}}):
        with pytest.raises(Rejected):
            check_certificate(made, {**certificate, **wrong})
    with pytest.raises(Rejected):
        check_certificate(other, {**certificate, "statement": other.digest})


def test_the_digest_is_of_what_is_said_and_not_of_its_name():
    one = claim(x < 1, x)
    assert one.digest == statement("b", for_all=[x], says=x < 1).digest
    assert one.digest != claim(x <= 1, x).digest
    for made in (one, claim(s[1] <= 2, ball("s", 2, 3))):
        assert from_data(made.to_json()) == made


@pytest.mark.parametrize(
    ("variables", "says", "wanted"),
    [
        ([x, u], supremum(1 - exp(-(x**2)), 1, at={x: 1 / u}, step=u, rate=1, attained=False), "proved"),
        (x, supremum(x * (1 - x), Fraction(1, 4), at={x: Fraction(1, 2)}), "proved"),
        (real("T", 1), limit(1 / (1 + exp(-var("T"))), 1, var("T"), 1), "proved"),
        ([x, y], exists({y: x + 1}, x < y), "proved"),
        (x, unique_minimiser((x**2 - 1) ** 2, at={x: 1}), "refuted"),
        (real("x", -2, 2), unique_zero([x**2 - 1], {"x": (Fraction(1, 2), Fraction(3, 2))}), "refuted"),
    ],
)
def test_each_form_of_conclusion_is_decided(variables, says, wanted):
    assert outcome(variables, says) == wanted


def test_a_free_length_is_proved_for_every_length():
    assert outcome([n, s, m], WEIGHT <= 1) == "proved"
    assert outcome([n, s, m], WEIGHT < 1) == "refuted"


def test_a_witness_meets_the_hypotheses_and_lies_in_the_domain():
    sequent = q(x > 2, x, given=[x > 1])
    assert refutes(sequent, {"x": Fraction(3, 2)})
    assert not refutes(sequent, AT_1)
    assert not refutes(sequent, {"x": Fraction(3)})
    assert not refutes(sequent, {"x": 1.5})
    assert not refutes(sequent, {})
    assert meets(sequent, {"x": Fraction(3)})
    for radius, inside in ((3, False), (Fraction(7, 2), True)):
        beyond = q(s[1] <= 2, ball("s", 2, radius))  # of radius^2 = 9 or 12.25
        assert refutes(beyond, {"s": (Fraction(3), Fraction(1))}) is inside


def test_a_hypothesis_without_a_value_refutes_once_those_before_it_hold():
    def about(*given):
        return q(x <= 2, real("x", -2, 2), given=given)

    bad = log(x) < 1
    assert refutes(about(bad), {"x": Fraction(0)})
    assert refutes(about(x < 1, bad), AT_MINUS_1)
    assert not refutes(about(x > 0, bad), AT_MINUS_1)
    assert not refutes(about(bad, x > 0), AT_MINUS_1)
    assert not refutes(about(bad), AT_1)
    assert not refutes(about(bad), {"x": Fraction(-3)})
    ended = q(x < 0, real("y", -1, 1), real("x", 0, 1 / y))
    assert refutes(ended, {"y": Fraction(1, 2), "x": ROOT})
    # An end without a value leaves no domain to speak of, once those before it lie inside.
    assert refutes(ended, {"y": Fraction(0), "x": ROOT})
    assert not refutes(ended, {"y": Fraction(2), "x": ROOT})


def test_a_coordinate_may_be_a_term_that_certainly_has_a_value():
    sequent = q(x**2 < 2, x, n, given=[x**2 <= 2, x > 1])
    assert refutes(sequent, {"x": ROOT, "n": ONE})
    none = (-ROOT, sqrt(3), num(1), log(-1), 1 / num(0), sqrt(y), num(1) < 2, total(i, 1, n, 1))
    for outside in none:
        assert not meets(sequent, {"x": outside, "n": ONE})
        assert not refutes(sequent, {"x": outside, "n": ONE})
    assert not meets(sequent, {"x": ROOT, "n": sqrt(4)})  # whole numbers are written as they are
    assert not meets(sequent, {"x": each(i, num(1)), "n": ONE})
    ended = q(var("x") < 2, real("x", 0, ROOT, open="high"))
    assert not meets(ended, {"x": ROOT})
    moved = q(ne(y**2, 2 * x**2), x, real("y", x, 3))
    assert refutes(moved, {"x": ONE, "y": ROOT})
    assert refutes(moved, {"x": log(3), "y": ROOT * log(3)})
    assert not meets(moved, {"x": ROOT, "y": ONE})
    place = {"x": log(3), "n": ONE}
    assert from_json(printing.point_to_json(place)) == place
    assert printing.coordinate(printing.point_to_json(place)["x"]) == "log(3)"


def test_nothing_is_undefined_behind_what_may_decide_it_already():
    """sqrt(2) + sqrt(3) = sqrt(5 + 2 sqrt(6)): true, and neither enclosures nor normal forms say so."""
    undecided = eq(ROOT + sqrt(3), sqrt(5 + 2 * sqrt(6)))
    no_value = 1 / (x - x) > 0
    for goal in (either(undecided, no_value), implies(ne(*undecided.parts[1:]), no_value)):
        assert not refutes(q(goal, x), AT_1)
    assert refutes(q(either(x < 0, no_value), x), AT_1)
    assert refutes(q(both(undecided, x < 0), x), AT_1)


def test_a_name_that_is_bound_in_one_place_is_not_declared_in_another():
    inside, loose = total(i, 1, n, 2 * i) <= 1, 2 * i <= 1
    check_formed(q(inside, n, s))
    for goal in (both(inside, loose), both(loose, inside)):
        with pytest.raises(Malformed):
            check_formed(q(goal, n, s))
