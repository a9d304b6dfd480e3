"""The points at which the paper's false statements fail: the core takes them, and they are those that are shown."""

import pytest

from proofs_check.core.printing import point_to_json
from proofs_check.ledger.proofs import script_of
from proofs_check.razor.formal import FORMAL
from proofs_check.razor.proofs.failing import POINTS
from proofs_check.rigour.decide import decide
from proofs_check.rigour.points.exact import as_fractions


def witness(name, scripts):
    found = decide(FORMAL[name], scripts=scripts)
    assert found.checked.outcome.value == "refuted"
    return found.certificate["witness"][1]


@pytest.mark.parametrize("name", POINTS)
def test_a_statement_is_refuted_at_the_point_that_is_told(name):
    told = point_to_json(as_fractions(POINTS[name]))
    assert told.items() <= witness(name, script_of(name)).items()  # what an equality gives is not told


def test_theorem_1_fails_with_two_tokens_in_two_dimensions():
    found = witness("razor.thm1", script_of("razor.thm1"))
    assert (found["n"], found["d"], found["e"]) == ("2", "2", "1")


def test_a_point_at_which_a_statement_holds_refutes_nothing():
    name = "razor.appA.last_step"
    harmless = {**POINTS[name], "s": (0, 0)}
    assert witness(name, {"points": lambda _: [harmless]}) != point_to_json(as_fractions(harmless))
