"""The search beside the core: weaker variants from a proved statement, witnesses at irrational and narrow places."""

from fractions import Fraction

import pytest

from proofs_check.core.certificate import Outcome, check_certificate
from proofs_check.core.domain import positive, real, sequence, whole
from proofs_check.core.rules import Rejected
from proofs_check.core.statement import obligations, statement
from proofs_check.core.terms import Term, both, cos, exp, fold, iff, implies, log, ne, num, sin, sqrt, tanh, total, var
from proofs_check.core.witness import refutes
from proofs_check.rigour.decide import MUTANT, decide
from proofs_check.rigour.points.refute import refute

x, y, n = real("x"), positive("y"), whole("n", 1)
s, i = sequence("s", n, 0), var("i")
TENTH = Fraction(11, 10)
SUM = total(i, 1, n, s[i])
MOST = n * fold("max", i, 1, n, s[i])


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
    ],
    ids=range(9),
)
def test_a_weaker_variant_is_proved_from_the_statement(known, weaker):
    proved = statement("a.known", for_all=[n, s, x, y], says=known)
    made = statement("a.weaker", for_all=[n, s, x, y], says=weaker)
    found = decide(made, MUTANT, None, proved)
    assert found.checked is not None and found.checked.outcome is Outcome.PROVED


def test_a_proof_that_cites_is_nothing_without_what_it_cites():
    proved = statement("a.known", for_all=[n, s], says=SUM <= MOST)
    made = statement("a.weaker", for_all=[n, s], says=total(i, 1, n, s[i] / TENTH) <= MOST)
    certificate = decide(made, MUTANT, None, proved).certificate
    assert check_certificate(made, certificate, proved).outcome is Outcome.PROVED
    with pytest.raises(Rejected):
        check_certificate(made, certificate)


def test_a_stronger_variant_is_not():
    proved = statement("a.known", for_all=[y], says=tanh(y) <= y)
    for says in (tanh(y * TENTH) <= y, tanh(y) <= y / TENTH, tanh(y) * TENTH <= y):
        found = decide(statement("a.other", for_all=[y], says=says), MUTANT, None, proved)
        assert found.checked is not None and found.checked.outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    "says",
    [
        ne(x**2, 2), ne(x**2, x + 1), ne(exp(x), 3), ne(tanh(x), Fraction(1, 3)), ne(cos(x), -1),
        ne(sqrt(1 + x**2), 3), ne(log(y), 2), ne(sin(x) + 1, 0),
    ],
    ids=range(8),
)  # fmt: skip
def test_what_fails_at_an_irrational_number_alone_is_refuted_there(says):
    ((_, sequent),) = obligations(statement("a", for_all=[x, y], says=says))
    point = refute(sequent)
    assert point is not None and refutes(sequent, point)
    assert any(isinstance(value, Term) for value in point.values())


def test_an_equivalence_is_refuted_between_two_thresholds():
    cache = (15 * n + 85 * Term("min", n.as_term(), num(4000))) / (100 * n)
    ((_, sequent),) = obligations(statement("a", for_all=[n], says=iff(n >= 22_700, cache <= Fraction(3, 10))))
    point = refute(sequent)
    assert point is not None and 22_667 <= point["n"] < 22_700
