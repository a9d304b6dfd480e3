"""Statements about finitely many points: what the core says of them, against enumeration and at the edges."""

from collections import Counter
from dataclasses import replace

import pytest

from proofs_check.core.certificate import Outcome, check_certificate
from proofs_check.core.finite import evaluated
from proofs_check.core.meaning import Model, means
from proofs_check.core.rules import Rejected
from proofs_check.core.terms import Term, lift
from proofs_check.language import choice, either, eq, exp, ne, real, sqrt, var, whole
from tests.proofs_check.core.model_check import met, unread
from tests.proofs_check.core.random_statements import statement
from tests.proofs_check.core.writing import certificate, claim, q
from tests.shares import one_in

n, m = var("n"), var("m")
N, M, ANY = whole("n", 1, 6), whole("m", 1, 6), whole("n", 1)
UNKNOWN = sqrt(3 + 2 * sqrt(2)) <= 1 + sqrt(2) + 0 * n  # true, and the core does not know it

TRUE = {
    "two variables, the later below the earlier": claim(m <= n, N, whole("m", 1, n)),
    "an open end": claim(n < 6, replace(N, high_open=True)),
    "an open low end": claim(n > 1, replace(N, low_open=True)),
    "a choice": claim(eq(n, 2 * (n / 2)), choice("n", 2, 5)),
    "a value that a hypothesis guards": claim(ne(1 / (n - 3), 0), N, given=[ne(n, 3)]),
    "two expressions that are equal": claim(eq(exp(n) * exp(n), exp(2 * n)), N),
}
FALSE = {
    "at the last point": claim(n < 6, N),
    "without a value at one point": claim(ne(1 / (n - 3), 0), N),
}
UNTOLD = {
    "unknown at each point": claim(UNKNOWN, N),
    "a hypothesis that is unknown": claim(n < 6, N, given=[either(n <= 1, UNKNOWN)]),
    "no point at all": claim(n > 7, N, given=[n > 6]),
}
# Two whole numbers, each from 1 to 6, are one variable of many values.
BELOW, ABOVE, PAIR = whole("n", -(9**9), 6), whole("n", 1, 9**9), replace(N, sizes=(lift(2),))
MANY = [claim(m >= 1, M, of) for of in (ANY, BELOW, ABOVE, real("n", 1, 6), PAIR)]


def everywhere(made):
    return certificate(made, point={"n": "1"}, everywhere=True)


def assumed(made):
    """The statement's domain with its hypotheses, and with those that an implication as conclusion assumes."""
    given, says = made.given, made.says
    while isinstance(says, Term) and says.kind == "implies":
        given, says = (*given, says.parts[0]), says.parts[1]
    return q(n <= n, *made.variables, given=given)


@pytest.mark.parametrize("seeds", one_in(20, [range(k, k + 200) for k in range(0, 4000, 200)], 2))
def test_random_statements_are_told_as_enumeration_tells_them(seeds):
    counts = Counter()
    for seed in seeds:
        made, _ = statement(seed, finite=True)
        if unread(made):
            continue
        # All whole numbers of the domain, where the statement's own model has a few.
        wide = Model({v.name: v.values or range(-9, 10) for v in made.variables}, dict(made.definitions))
        true, found = means(made, wide), evaluated(made)
        try:
            said = check_certificate(made, found).outcome
        except Rejected:
            assert not met(assumed(made), wide)
            continue
        assert said is Outcome.POOR or said is (Outcome.PROVED if true else Outcome.REFUTED)
        counts[said] += 1
    assert min(counts[Outcome.PROVED], counts[Outcome.REFUTED]) > len(seeds) // 5


@pytest.mark.parametrize("name", TRUE)
def test_what_holds_at_each_point_is_proved(name):
    assert check_certificate(TRUE[name], evaluated(TRUE[name])).outcome is Outcome.PROVED


@pytest.mark.parametrize("name", FALSE)
def test_what_fails_at_a_point_is_refuted_there_and_holds_nowhere_else(name):
    assert check_certificate(FALSE[name], evaluated(FALSE[name])).outcome is Outcome.REFUTED
    with pytest.raises(Rejected, match="not certainly true"):
        check_certificate(FALSE[name], everywhere(FALSE[name]))


@pytest.mark.parametrize("name", UNTOLD)
def test_what_is_not_known_or_about_nothing_is_not_proved(name):
    for data in (evaluated(UNTOLD[name]), everywhere(UNTOLD[name])):
        with pytest.raises(Rejected):
            check_certificate(UNTOLD[name], data)


def test_many_points_are_not_looked_at():
    assert [made for made in MANY if evaluated(made) is not None] == []
    half = claim(ne(2 * n, 7), real("n", 1, 6))  # false at 7/2 alone, between the whole numbers
    for made in (half, claim(exp(n) >= 1, ANY)):
        with pytest.raises(Rejected, match="Endless"):
            check_certificate(made, everywhere(made))
