"""The lists that the core is measured on: false statements, of which none is ever confirmed, and true ones.

The false ones and a few of the true ones run every time; `make test-deep` runs all and holds the shares.
"""

import pytest

from proofs_check.core.certificate import Outcome, check_certificate, premise
from proofs_check.core.statement import obligations
from proofs_check.core.terms import Malformed
from proofs_check.core.witness import refutes
from proofs_check.rigour.decide import BRIEF, UNAIDED, Effort, Empty, decide
from proofs_check.rigour.points.refute import refute
from proofs_check.rigour.points.satisfy import satisfy
from tests.proofs_check.core.false_statements import EMPTY, FALSE, FORBIDDEN
from tests.proofs_check.core.true_statements import TRUE

REFUTED = 0.90  # the share that has to be reached
PROVED = 0.63  # at least 85 of 134 were proved when this was last measured
_FEW = (
    "exp.chord",
    "log.of_product",
    "softmax.total",
    "attention.hull",
    "entropy.below_log",
    "cauchy.plane_triangle",
    "quotient.or_zero",
)
_LIGHT = Effort(refuter=800, prover=40, looks=200, depth=5, work=50_000)


def is_refuted(made):
    """Is there a point at which some part of it fails, as the core sees it?"""
    for _, sequent in obligations(made):
        point = refute(sequent)
        if point is not None:
            assert refutes(sequent, point)
            return True
    return False


@pytest.mark.parametrize("made", FALSE, ids=lambda made: made.name)
def test_a_false_statement_is_never_confirmed(made):
    try:
        found = decide(made, BRIEF)
    except Empty:
        return
    assert found.checked is None or found.checked.outcome is not Outcome.PROVED


@pytest.mark.deep
@pytest.mark.timeout(3600)
def test_most_false_statements_are_refuted():
    assert sum(map(is_refuted, FALSE)) >= REFUTED * len(FALSE)


def test_the_lists_are_as_long_as_they_claim():
    assert len({made.digest for made in FALSE}) == len(FALSE) >= 100 and len(TRUE) >= 100


@pytest.mark.parametrize("way", FORBIDDEN)
def test_what_the_interface_forbids_cannot_be_built(way):
    with pytest.raises((Malformed, TypeError)):
        FORBIDDEN[way]()


@pytest.mark.parametrize("made", EMPTY, ids=lambda made: made.name)
def test_a_statement_about_nothing_is_an_error(made):
    assert satisfy(premise(made), steps=600) is None


@pytest.mark.parametrize("name", _FEW)
def test_a_true_statement_is_never_refuted(name):
    (made,) = (made for made in TRUE if made.name == f"true.{name}")
    found = decide(made, _LIGHT)
    assert found.checked is None or found.checked.outcome is not Outcome.REFUTED
    if found.certificate is not None:
        assert check_certificate(made, found.certificate) == found.checked


@pytest.mark.deep
@pytest.mark.timeout(7200)
def test_no_true_statement_is_refuted_and_as_many_are_proved_as_before():
    outcomes = {}
    for made in TRUE:
        found = decide(made, UNAIDED)
        outcomes[made.name] = None if found.checked is None else found.checked.outcome
    assert Outcome.REFUTED not in outcomes.values(), outcomes
    open_ = sorted(name for name, told in outcomes.items() if told is not Outcome.PROVED)
    assert len(open_) <= (1 - PROVED) * len(TRUE), open_
