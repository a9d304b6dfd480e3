"""Mutants are made by rule and told from the statement where it is sharp; `test_store` has how they are counted."""

from dataclasses import replace
from fractions import Fraction

import pytest

from proofs_check.core.mutants import mutants
from proofs_check.language import (
    both,
    choice,
    either,
    eq,
    exp,
    implies,
    limit,
    real,
    sequence,
    supremum,
    total,
    unique_minimiser,
    unique_zero,
    var,
    when,
    whole,
)
from proofs_check.ledger.verdicts import counted, score
from proofs_check.rigour import decide
from proofs_check.rigour.decide import no_way, try_mutants
from tests.proofs_check.core.writing import claim

x, y, u = real("x"), real("y"), real("u", 0, 1, open="low")
n, i = whole("n", 2), var("i")
s = sequence("s", n, 0, 1)


def test_each_kind_of_change_is_made():
    made = claim(total(i, 1, n, s[i]) - 2 <= n, n, s, given=[s[1] > 0])
    kinds = {mutant.kind for mutant in mutants(made)}
    assert kinds == {
        "constant by a tenth", "constant by a thousandth", "sign", "index", "strictness", "hypothesis dropped",
        "integer bound", "domain widened",
    }  # fmt: skip


@pytest.mark.parametrize(
    "made",
    [
        claim(supremum(1 - exp(-(x**2)), 1, at={x: 1 / u}, step=u, rate=1), x, u),
        claim(limit(1 / var("T"), 0, var("T"), 1), real("T", 1)),
        claim(unique_minimiser(exp(x) - x, at={x: 0}), x),
        claim(unique_zero([x**2 - 2], {"x": (1, Fraction(3, 2))}), real("x", 0, 2)),
        claim(var("c") ** 2 <= 4, choice("c", 1, 2)),
    ],
    ids=lambda made: made.says.kind,
)
def test_every_form_has_mutants_of_its_own(made):
    found = mutants(made)
    assert len(found) >= 3
    assert len({mutant.statement.digest for mutant in found} | {made.digest}) == len(found) + 1
    assert [m.statement.digest for m in found] == [m.statement.digest for m in mutants(made)]


def told_apart(made, tried):
    """What `counted` says, the statement being proved."""
    return counted(made, decide.decide(made).certificate, tried)


def test_every_mutant_of_an_identity_is_refuted():
    made = claim(eq((x + y) ** 2, x**2 + 2 * x * y + y**2), x, y)
    counts = told_apart(made, try_mutants(made))
    assert counts["refuted"] == counts["made"] - counts["true"] > 5
    assert score(counts) == 1 and len(counts["kinds"]) >= 3
    assert score({"made": 2, "true": 2, "refuted": 0}) is None


def test_a_sharp_bound_is_told_from_a_thousandth_less():
    made = claim(x * (1 - x) <= Fraction(1, 4), x)
    tried = try_mutants(made)
    by_kind = [(row["kind"], row["certificate"]) for row in tried]
    assert any(kind == "constant by a thousandth" and found and "witness" in found for kind, found in by_kind)
    assert told_apart(made, tried)["open"] == 0


def test_a_point_that_a_script_names_refutes_what_no_search_finds(monkeypatch):
    made = claim(x <= 6, x, given=[4 < x, x < 6])
    monkeypatch.setattr(decide, "refute", lambda *_, **__: None)

    def told(*points):
        return told_apart(made, try_mutants(made, {"points": lambda _: list(points)}))

    assert told()["refuted"] >= 1  # at drawn points, before anything is searched for
    monkeypatch.setattr(decide, "_DRAWN", 0)
    assert told()["refuted"] == 0 < told()["true"]
    for point in ({"x": Fraction(599, 100)}, {"x": 6 - exp(-9)}):
        assert told(point)["refuted"] >= 1 and told(point)["true"] == told()["true"]
    # What fails no mutant, lies outside or is no point of the statement shows nothing, and hides no proof.
    assert all(told(point) == told() for point in ({"x": 5}, {"x": 3}, {"y": 6}))


@pytest.mark.parametrize(("names", "says", "true"), [
    ([x], implies(both(either(x <= 1, x <= 2), x >= 0), x <= 2), 8),
    ([x, y], implies(eq(x, y), x <= y + 1), 2),
    ([n, s], total(i, 1, 2, when(i < 2, 1, -s[i])) <= total(i, 1, 2, when(i < 2, 1, 0)), 11),
    pytest.param([x, y], implies(both(either(x <= 1, x <= 2), y <= x), y <= 2), 8, marks=pytest.mark.deep),
    pytest.param([n, s], total(i, 1, n, when(i < 2, 1, -s[i])) <= total(i, 1, n, when(i < 2, 1, 0)), 10,
                 marks=pytest.mark.deep),
])  # fmt: skip
def test_a_mutant_that_assumes_more_or_cuts_between_whole_numbers_is_true(names, says, true, monkeypatch):
    made = claim(says, *names)
    monkeypatch.setattr(decide, "refute", lambda *_, **__: None)
    for effort in ("MUTANT", "STUBBORN"):
        monkeypatch.setattr(decide, effort, replace(decide.MUTANT, work=10_000))
    # With a script nothing is searched for.
    assert told_apart(made, try_mutants(made, {"weaker": no_way}))["true"] == true
