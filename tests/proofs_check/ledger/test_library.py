"""Verdicts from Python are those of the command line, as records."""

import json
import sys
from types import SimpleNamespace

import pytest

import proofs_check
from proofs_check.language import exp, log, real, statement, whole
from proofs_check.ledger.library import Verdicts, decide, verify
from scripts.commands import verify as command

X = real("x")
IDS = ("razor.thm1", "razor.appA.square")


@pytest.fixture(scope="module")
def found():
    return verify(*IDS)


def test_records_are_the_rows_of_the_command_line(found, tmp_path):
    assert command.main(["--id", IDS[0], "--json", str(tmp_path / "v.json")]) == 0
    rows = {row["id"]: row for row in json.loads((tmp_path / "v.json").read_text("utf-8"))["claims"]}
    assert [verdict.id for verdict in found] == [*IDS] and [*rows] == [IDS[0]]
    told, _ = json.loads(json.dumps(found.to_json()))
    assert told.pop("witness")["sides"] == ["0.742089", "1/2"] and told == {name: rows[IDS[0]][name] for name in told}


def test_a_verdict_says_what_it_says(found):
    ruling = found["razor.thm1"]
    assert (ruling.verdict, ruling.status, ruling.strength, ruling.coverage) == ("false", "confirmed", "proved", "all")
    assert "attention(s, l, n, j) = exp(" in ruling.as_data
    assert ruling.witness["point"]["h"] == [["-1", "0"], ["1", "0"]] and "gap <= D" in ruling.holds_instead
    assert [*map(str, ruling.witness["sides"])] == ["0.742089", "1/2"]
    assert found.supported and len(found) == 2 and found[0] is next(iter(found)) and found[:1] == Verdicts([found[0]])
    assert repr(found) == "<2 verdicts: 2 confirmed>" and found != list(found)
    with pytest.raises(KeyError):
        found["razor.thm2"]


def test_rulings_are_read_without_running_anything():
    told = verify(papers=["razor"], verdict="false", run=False)
    assert len(told) >= 4 and {(v.paper, v.verdict, v.status) for v in told} == {("razor", "false", None)}
    assert not told.supported and repr(told) == f"<{len(told)} verdicts: {len(told)} not run>"


def test_a_frame_has_a_row_a_claim(found, monkeypatch):
    made = []
    frame = SimpleNamespace(set_index=lambda name: ("indexed by", name))
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda rows: made.append(rows) or frame))
    assert found.frame() == ("indexed by", "id") and made == [found.to_json()]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="pandas"):
        found.frame()


def test_a_statement_is_decided():
    x, n = real("x"), whole("n", 1)
    proved = decide(statement("t", for_all=[x], says=exp(x) >= 1 + x), mutants=True)
    assert (proved.outcome, proved.strength, proved.coverage) == ("proved", "proved", "all")
    assert proved.certificate and proved.mutants["made"] > 0 and proved.sentence
    assert decide(statement("u", for_all=[x], says=exp(x) > x)).mutants is None  # only if asked for
    refuted = decide(statement("f", for_all=[n], says=log(n) < n - 1))
    assert refuted.outcome == "refuted" and refuted.at["point"] == {"n": "1"} and refuted.mutants is None
    assert decide(statement("e", for_all=[x], given=[x > 1, x < 0], says=x > 0)).outcome == "error"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: verify(papers="kv"), "papers a list of them, got"),
        (lambda: verify(3), "ids and papers are texts"),
        (lambda: verify("razor.thm1", jobs=0), r"jobs must be a whole number in 1\.\.256, got 0"),
        (lambda: verify("razor.thm1", jobs=True), "jobs must be a whole number"),
        (lambda: verify(verdict="wrong"), "verdict must be one of holds, .*, got 'wrong'"),
        (lambda: decide("x > 0"), "decide takes a statement of proofs_check.language, got str"),
        (lambda: decide(statement("t", for_all=[X], says=X > 0), seconds=0), "seconds must be positive"),
    ],
)
def test_bad_questions_are_one_line(ask, message):
    with pytest.raises(ValueError, match=message) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_the_package_shows_both():
    assert dir(proofs_check) == ["decide", "verify"] and proofs_check.verify is verify
    with pytest.raises(AttributeError, match="no attribute 'prove'"):
        _ = proofs_check.prove
