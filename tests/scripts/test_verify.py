
"""The verify and report command lines: what they write, how they end."""

import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from proofs_check.ledger import registry, shipped
from proofs_check.ledger.claim import Effort
from proofs_check.ledger.row import from_json
from proofs_check.ledger.rows import decided, document, record
from proofs_check.ledger.store import judge
from scripts.commands import verify
from tests.proofs_check.ledger import ledgers
from tests.scripts.commands import read, told

EQ10 = ("--id", "kv.eq10", "--id", "kv.eq10.corrected")
SHOWN = ("--id", "kv.sec2.2.initial_state", "--id", "kv.tab3")  # a claim with evidence and one without
BALL_WITNESS = "kv.eq12"  # a witness in Arb balls, which do not pickle
KEYS = {"id", "paper", "source", "statement", "nature", "verdict", "status", "evidence", "witness", "correction",
        "severity", "reading", "coverage", "coverage_why", "outcome_of"}  # fmt: skip
EVIDENCE_KEYS = {"kind", "margin", "points", "seconds", "controls_rejected", "scope", "tolerance", "error"}


@pytest.fixture(scope="module")
def verified(tmp_path_factory):
    """The JSON of a run of Eq. 10, of its correction and of two other claims, and what was printed."""
    target = tmp_path_factory.mktemp("verify") / "deep" / "verify.json"
    return target, told("verify", *EQ10, *SHOWN, "--jobs", "1", "--json", target)


def test_verify_writes_the_promised_json(verified):
    document = read(verified[0])
    assert set(document) == {"claims", "summary"}
    for row in document["claims"]:
        assert set(row) >= KEYS
        assert row["status"] == "confirmed"
        assert all(set(e) >= EVIDENCE_KEYS for e in row["evidence"])
    one = next(row for row in document["claims"] if row["id"] == "kv.eq10")
    assert (one["evidence"], one["witness"], one["strength"]) == ([], None, "proved")
    assert one["core"]["outcome"] == "refuted" and one["core"]["at"]["point"]["T"] == "4"
    assert document["summary"]["mathematical_strong"] == document["summary"]["mathematical"] == 2
    assert one["holds_instead"].startswith("For whole T >= 4, 2 <= i <= T - 2; real a1, a2, b1, b2: attention_loss = ")


def test_markdown_is_a_table_and_a_witness_has_its_point_and_both_sides(command, tmp_path):
    _, out, _ = command("verify", "--id", BALL_WITNESS, "--markdown", "--jobs", 1, "--json", tmp_path / "v.json")
    assert out.splitlines()[0] == "| claim | verdict | status | strength | evidence | margin |"
    assert out.splitlines()[2].startswith(f"| {BALL_WITNESS} | ")
    (row,) = read(tmp_path / "v.json")["claims"]
    assert set(row["witness"]) == {"point", "printed", "true"}


def test_a_claim_named_is_shown_in_full(verified):
    for part in ("kv.sec2.2.initial_state: false", "Statement: alpha1 ~ U(0, 1)", "Witness at own = 1/2, cosine = 0",
                 "printed 1", "true 1/2", "Holds instead: kv.sec2.2.initial_state.corrected: Keys of", "Covers: ",
                 "Evidence, exact: ", "rejects "):  # fmt: skip
        assert part in verified[1], part


def test_a_claim_without_evidence_is_shown_by_what_the_core_decides(verified):
    _, out = verified[1].split("kv.tab3: typo")
    out = f"kv.tab3: typo{out}"
    for part in ("kv.tab3: typo (misprint), confirmed", "  Statement: For whole T >= 4, ", "\n    where logit(",
                 "The core: refuted", "It fails at T = 4, i = 2, a1 = 0, ",
                 "left side 0.148848, right side 0.40461 (conclusion)", "Covers: all\n"):  # fmt: skip
        assert part in out, part
    assert "Evidence, " not in out


def test_a_contradiction_names_its_point_and_both_sides(command):
    status, out, _ = command(lambda argv: verify.main(argv, ledgers.wrong), "--jobs", 1)
    assert status == 1
    assert "contradicted: planted.exact: a fraction turned over" in out
    assert "  Contradicted at the statement itself: printed False, true True" in out


def test_a_run_is_told_on_one_screen_in_a_pipe_as_on_a_terminal(command, monkeypatch):
    def main(argv):
        return verify.main([*argv, "--jobs", "1"], ledgers.fails)

    status, out, err = command(main)
    lines, (before, after) = out.splitlines(), err.splitlines()
    assert status == 1 and len(lines) <= 7 and max(map(len, [*lines, before, after])) <= 120
    assert before.startswith("Claims to check: 12 (planted). ") and "minutes on 2 cores" in before
    assert "--all` adds a row" in after and command(main, "--quiet") == (status, out, "")
    assert lines[1].split() == ["planted", "12", "8", "0", "0", "4", "0", "0"]
    first = "The first one:\nerror: planted.c2: RuntimeError: no such thing"
    assert f"\nClaims that fail or stay open: 4. {first}" in out
    every = command(main, "--all")[1]
    assert every.startswith(out) and all(f"\nplanted.c{k} " in every for k in range(12))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    _, seen, err = command(main)
    assert seen == out and " 0/12 " in err


def test_the_line_of_a_paper_counts_claims_by_status_and_defects_once(verified):
    claims = [from_json(row) for row in read(verified[0])["claims"] if row["id"] in EQ10]
    assert verify.overview(claims).endswith("\nClaims that fail or stay open: 0.")
    wrong = next(row for row in claims if row.id == "kv.eq10")
    own = {"defect": None, "status": "contradicted"}
    claims += [replace(wrong, **change) for change in (
        {"id": "kv1.again", "status": "undecided", "message": "who knows"}, {"id": "razor.own", **own},
        {"id": "razor.good", "status": "error", "verdict": "holds", "severity": None},
        {"id": "razor.read", "status": "not_checked", "strength": "read", **dict.fromkeys(("severity", "defect"))},
    )]  # fmt: skip
    out = verify.overview(claims)
    rows = [line.split()[-7:] for line in out.splitlines()[:4]]
    assert rows[0] == ["claims", "decided", "unsettled", "open", "failed", "defects", "proved"]
    assert ["".join(row) for row in rows[1:]] == ["3201013", "3010212", "6211225"]
    assert "The first one:\nundecided: kv1.again: who knows\n" in out


@pytest.mark.parametrize("end", ["leaves", "leaves_while_loading"])
def test_a_process_that_ends_never_ends_with_status_zero(command, tmp_path, end):
    def main(argv):
        return verify.main(argv, getattr(ledgers, end))

    status, out, err = command(main, "--json", tmp_path / "v.json")
    assert status == 1
    assert (
        "error: planted." in out
        if end in ledgers.ENDS
        else err == "error: a process ended while it loaded the claims\n"
    )
    assert (tmp_path / "v.json").exists() == (end in ledgers.ENDS)


@pytest.mark.parametrize("asked", [(), ("--false",)])
def test_no_claim_at_all_is_bad_input(command, asked):
    status, out, err = command(lambda argv: verify.main(argv, ledgers.none), *asked)
    assert (status, out) == (2, "") and err == f"error: there is no claim{' that is false' * ('--false' in asked)}\n"


def test_what_ships_otherwise_than_listed_is_told_in_a_line_a_file(command, monkeypatch):
    monkeypatch.setattr(shipped, "faults", lambda: ["a was changed", "b is missing"])
    assert command("verify", *EQ10) == (1, "", "error: a was changed\nerror: b is missing\n")


def test_what_the_core_says_against_a_claim_stands_beside_its_own_sentence():
    claim = next(iter(registry.load(patterns=("kv.tab3",)).values()))
    entry = replace(record(claim, {}), evidence=(), status="not_checked")
    row = decided(entry, {**judge(claim.formal.to_json(), mutants=False), "outcome": "proved"})
    summary = document([row], Effort.QUICK)["summary"]
    for text in (verify.table([row], summary), verify.markdown([row], summary)):
        assert "the core finds the statement proved\n  Where attend(" in text


def test_the_list_runs_nothing_and_may_be_of_false_claims_only(command):
    status, out, _ = command("verify", "--list", "--false", "--paper", "resformer")
    rows = out.splitlines()
    assert status == 0 and any(row.startswith("resformer.sec4.4.gain ") for row in rows)
    assert all(row.split()[1] == "false" for row in rows)


def test_report_is_one_page_without_outside_links(verified, done, tmp_path):
    none = (word for name in ("--figures", "--training", "--construction") for word in (name, tmp_path))
    done("report", "--from", verified[0], "--before", verified[0], "--out", tmp_path / "report.html", *none)
    page = (tmp_path / "report.html").read_text()
    assert "No ruling and no status changed." in page and "<math" in page and 'src="' not in page
    assert "http" not in page.replace(registry.installed()["kv"].link, "")
    assert "<code>kv.eq10.corrected</code>" in page and "Covers " in page


SLOW = """
import signal, sys
from scripts.commands import cli, verify
from tests.proofs_check.ledger import ledgers

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
    sys.exit(cli.run(lambda argv: verify.main(argv, ledgers.sleeps)))
"""


def test_an_interrupted_verify_ends_with_130_and_writes_nothing(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, "--jobs", "1", "--json", str(tmp_path / "verify.json")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    # A worker that is killed while it starts leaves a name behind, which joblib's tracker may remark on afterwards.
    assert sum("interrupted" in line for line in err.splitlines()) == 1 and "Traceback" not in err
    assert list(tmp_path.iterdir()) == []
