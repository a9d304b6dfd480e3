"""The search beside the core: weaker variants from a proved statement, witnesses at irrational and narrow places."""

from fractions import Fraction

import pytest

from proofs_check.core.certificate import Outcome, check_certificate
from proofs_check.core.rules import Rejected, check
from proofs_check.core.terms import Term, num
from proofs_check.core.witness import refutes
from proofs_check.language import (
    PI,
    absolute,
    both,
    cos,
    either,
    eq,
    exp,
    fold,
    iff,
    implies,
    largest,
    least,
    log,
    ne,
    positive,
    real,
    sequence,
    sin,
    sqrt,
    tanh,
    total,
    var,
    when,
    whole,
)
from proofs_check.rigour.arithmetic import rounded, small
from proofs_check.rigour.combined import combined
from proofs_check.rigour.decide import MUTANT, UNAIDED, Effort, _part, decide
from proofs_check.rigour.points.refute import refute
from proofs_check.rigour.tactics import Failed, by
from tests.proofs_check.core.writing import claim, q

x, y, n = real("x"), positive("y"), whole("n", 1)
s, i = sequence("s", n, 0), var("i")
TENTH = Fraction(11, 10)
SUM = total(i, 1, n, s[i])
TOP = fold("max", i, 1, n, s[i])
MOST = n * TOP
m = whole("m", 0, n)
EXPS = total(i, 1, m, exp(s[i]))
NO_SEARCH = Effort(refuter=0, prover=0, looks=0, depth=3, work=60_000)


def fails_at(*said, **more):
    """The point at which the search refutes it."""
    sequent = q(*said, **more)
    point = refute(sequent)
    assert point is not None and refutes(sequent, point)
    return point


def outcome_from(proved, made, effort=MUTANT):
    found = decide(made, effort, None, proved).checked
    return found and found.outcome


@pytest.mark.parametrize(
    ("known", "weaker"),
    [
        (8 * tanh(y) <= 8 * y, 8 * tanh(y / TENTH) <= 8 * y),
        (8 * tanh(y) <= 8 * y, 8 * tanh(y) <= 8 * y * TENTH),
        (log(1 + y) <= y, log(1 + y / TENTH) <= y),
        (1 / (1 + y) < 1, 1 / (TENTH + y) < 1),
        (exp(-y) < 1, exp(-y * TENTH) < 1),
        (SUM <= MOST, total(i, num(1) + 1, n, s[i]) <= MOST),
        (SUM <= MOST, total(i, 1, n, s[i] / TENTH) <= MOST),
        (implies(x < y, exp(x) < exp(y)), implies(x < y, exp(x) < TENTH * exp(y))),
        (both(y > 0, exp(y) > 1 + y), both(y > 0, TENTH * exp(y) > 1 + y)),
        (implies(y <= x, exp(y) <= exp(x)), implies(TENTH * y <= x, exp(y) <= exp(x))),
        (tanh(y) <= absolute(y), tanh(y) <= absolute(TENTH * y)),
        (tanh(y) <= largest(y, 1), tanh(y) <= largest(y, TENTH)),
        (tanh(least(y, 1)) <= y, tanh(least(y / TENTH, 1)) <= y),
        (tanh(y) <= when(y < 1, y, 1), tanh(y) <= when(y < 2, y, 1)),
        (EXPS <= m * exp(TOP), total(i, num(1) + 1, m, exp(s[i])) <= m * exp(TOP)),
    ],
    ids=range(15),
)
def test_a_weaker_variant_is_proved_from_the_statement(known, weaker):
    """By steps from the places that differ: a search would prove some of them anew."""
    proved, made = (claim(says, n, m, s, x, y) for says in (known, weaker))
    assert outcome_from(proved, made, NO_SEARCH) is Outcome.PROVED


def test_a_proof_that_cites_is_nothing_without_what_it_cites():
    proved, made = claim(SUM <= MOST, n, s), claim(total(i, 1, n, s[i] / TENTH) <= MOST, n, s)
    certificate = decide(made, MUTANT, None, proved).certificate
    assert check_certificate(made, certificate, proved).outcome is Outcome.PROVED
    with pytest.raises(Rejected):
        check_certificate(made, certificate)


def test_a_stronger_variant_is_not():
    for says in (tanh(y * TENTH) <= y, tanh(y) <= y / TENTH, tanh(y) * TENTH <= y):
        assert outcome_from(claim(tanh(y) <= y, y), claim(says, y)) is Outcome.REFUTED


@pytest.mark.parametrize(
    "says",
    [
        ne(x**2, 2), ne(x**2, x + 1), ne(exp(x), 3), ne(tanh(x), Fraction(1, 3)), ne(cos(x), -1),
        ne(sqrt(1 + x**2), 3), ne(log(y), 2), ne(sin(x) + 1, 0),
    ],
    ids=range(8),
)  # fmt: skip
def test_what_fails_at_an_irrational_number_alone_is_refuted_there(says):
    assert any(isinstance(value, Term) for value in fails_at(says, x, y).values())


def test_an_equivalence_is_refuted_between_two_thresholds():
    cache = (15 * n + 85 * Term("min", n.as_term(), num(4000))) / (100 * n)
    assert 22_667 <= fails_at(iff(n >= 22_700, cache <= Fraction(3, 10)), n)["n"] < 22_700


@pytest.mark.parametrize("low", [0, Fraction(-1, 10)])
def test_a_wider_domain_is_proved_from_the_statement_and_where_it_is_empty(low):
    a, width = real("a"), real("width", low)
    items = sequence("s", n, var("a"), var("a") + var("width"))
    proved, made = (claim(s[1] - a <= w, n, a, w, items) for w in (real("width", 0), width))
    assert outcome_from(proved, made) is Outcome.PROVED


def test_two_equalities_that_are_denied_are_solved_one_after_the_other():
    z, m = real("z"), real("m")
    says = either(ne(x * exp(2 * m) + z * exp(m), 0), ne(total(i, 1, 2, when(eq(i, 1), x, z)), y))
    fails_at(says, x, z, m, y)


def test_a_share_that_must_be_below_a_small_number_is_refuted_at_the_edge():
    d, e, t = positive("d"), real("e", 0, 1, open=True), positive("t")
    says = exp(d - t) / (1 + exp(d - t)) < Fraction(9, 10) * e
    fails_at(says, d, e, t, given=[d - log(e) <= t])


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ([x, real("z")], absolute(largest(x, 0) - largest(var("z"), 0)) <= absolute(x - var("z"))),
        ([real("x", 0, PI / 2)], 2 * x / PI <= sin(x)),
        ([x], absolute(x) <= sqrt(1 + x**2)),
        ([real("x", 0, Fraction(1, 3))], x * exp(x) < 1),
        ([whole("m", 0), whole("k", 1, var("m") - 1)], var("m") > 0),
    ],
    ids=["piecewise", "both ends", "conjugate", "a third", "strict"],
)
def test_the_search_proves(variables, says):
    assert decide(claim(says, *variables), UNAIDED).checked.outcome is Outcome.PROVED


def test_a_number_that_is_given_and_false_proves_anything():
    false, true = (q(x > 5, x, given=[num(number) <= Fraction(1, 10)]) for number in (1, 0))
    check(false, by("absurd", small)(false))
    with pytest.raises(Failed):
        by("absurd", small)(true)


def test_a_mutant_cites_the_conditions_that_the_statement_has_shown():
    """That the sum is not 0 is out of reach without a search, and is cited."""
    divided = 1 / (total(i, 1, n, exp(s[i]) * cos(s[i]) ** 2) + exp(-y))
    known, wanted = (q(divided * y < number, n, s, y) for number in (7, 8))
    defined, _, how = _part(wanted, known, NO_SEARCH, {}, "conclusion", search=False)
    assert how == "known" and defined[-1][0] == "cited"


def test_a_limit_that_is_a_thousandth_off_is_refuted_by_a_long_sum():
    """The error 4/n that is allowed is below a thousandth from 4001 terms on, and no drawn sum has over 3000."""
    far = absolute(total(i, 1, n, 1) / n - Fraction(1001, 1000)) <= 4 / n.as_term()
    assert 4000 < fails_at(far, n)["n"] <= 24_000


def test_a_larger_multiple_follows_where_what_is_below_has_a_sign():
    z, top = real("z"), absolute(x) / (1 + y) <= var("z") / y
    proved = claim(absolute(x) / (2 + y) <= z / y, x, y, z, given=[top])
    for factor, outcome in ((TENTH, Outcome.PROVED), (Fraction(9, 10), None)):
        made = claim(absolute(x) / (2 + y) <= z * factor / y, x, y, z, given=[top])
        assert outcome_from(proved, made, NO_SEARCH) is outcome


@pytest.mark.parametrize(("low", "holds"), [(Fraction(9, 5), True), (Fraction(1, 2), False), (1, False)])
def test_a_whole_number_above_a_fraction_is_at_least_the_next_whole_one(low, holds):
    sequent = q(n >= 2, n, given=[n >= low])
    if not holds:
        with pytest.raises(Failed):
            rounded(sequent)
        return
    check(sequent, rounded(sequent))


@pytest.mark.parametrize(("share", "holds"), [(1, True), (Fraction(9, 10), False)])
def test_products_of_facts_and_exponentials_are_found_and_denominators_cleared(share, holds):
    """Where a <= e^u b, of positive a and b: a/(a + b) <= e^u/(1 + e^u), and no less."""
    a, b, u = map(var, "abu")
    goal = a / (a + b) <= share * exp(u) / (1 + exp(u))
    s = q(goal, positive("a"), positive("b"), real("u"), given=[a <= exp(u) * b])
    if holds:
        check(s, combined(s))
    else:
        with pytest.raises(Failed, match="no combination"):
            combined(s)
