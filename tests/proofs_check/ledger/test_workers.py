"""Claims run in processes of their own: the rows are those of one process, and nothing that ends looks good."""

import os
import runpy
from dataclasses import replace

import pytest

from proofs_check.ledger import workers
from proofs_check.ledger.claim import Verdict
from proofs_check.ledger.harness import run_claim
from proofs_check.ledger.registry import BrokenLedger
from proofs_check.ledger.rows import measured, measurements, record
from proofs_check.ledger.workers import Plan
from tests.proofs_check.ledger import ledgers


class Progress:
    def __init__(self):
        self.total, self.steps, self.closed = None, 0, False

    def started(self, rows):
        self.total = len(rows)
        return self

    def update(self, n, /):
        self.steps += n

    def close(self):
        self.closed = True


def untimed(rows):
    return [replace(row, evidence=tuple(replace(piece, seconds=0.0) for piece in row.evidence)) for row in rows]


def test_rows_are_those_of_one_process_in_the_registrys_order():
    registry, progress = ledgers.whole(None, None), Progress()
    found = workers.run(Plan(("planted",), load=ledgers.whole), 2, progress.started)
    alone = [
        measured(record(claim, registry), measurements(run_claim(claim)))
        for claim in registry.values()
    ]
    assert untimed(found) == untimed(alone)
    assert (progress.total, progress.steps, progress.closed) == (12, 12, True)


@pytest.mark.parametrize(
    ("end", "block", "jobs"),
    [("leaves", 8, 1), ("aborts", 1, 2), pytest.param("aborts", 8, 2, marks=pytest.mark.deep)],
)
def test_evidence_that_ends_its_process_is_an_error_of_its_claim_alone(monkeypatch, end, block, jobs):
    monkeypatch.setattr(workers, "_BLOCK", block)
    rows = workers.run(Plan(("planted",), load=getattr(ledgers, end)), jobs)
    assert len(rows) == 9
    status = {row.id: row.status for row in rows}
    assert status.pop(f"planted.{end}") == "error"
    assert set(status.values()) == {"confirmed"}
    assert "ended early" in next(row.message for row in rows if row.status == "error")


def test_bad_input_comes_back_as_bad_input():
    with pytest.raises(ValueError, match=r"did you mean planted\.c1"):
        workers.run(Plan(("planted",), ("planted.cc1",), load=ledgers.whole), 1)


def test_records_are_rows_that_were_not_run():
    rows = workers.records_of(Plan(("planted",), ("planted.c1*",), load=ledgers.whole))
    assert [(row.id, row.status) for row in rows] == [(f"planted.c{k}", None) for k in (1, 10, 11)]


def test_what_evidence_writes_where_it_runs_changes_no_word_of_its_row():
    (row,) = workers.run(Plan(load=ledgers.rewrites), 1)
    before = record(*ledgers.rewrites(None, None).values(), {})
    assert row.status == "confirmed" and row.witness["point"] == {"where": "one"}
    changed = {name for name, value in vars(row).items() if value != getattr(before, name)}
    assert changed == {"status", "evidence", "witness"}
    assert type(row.witness["point"]["where"]) is str


def test_a_run_that_says_no_more_than_confirmed_is_believed_in_nothing():
    claim = ledgers.GOOD
    entry, good = record(claim, {}), measurements(run_claim(claim))
    assert measured(entry, good).status == "confirmed"
    (piece,) = good["evidence"]
    for changed in ({"margin": -1.0}, {"margin": None}, {"points": 0}, {"controls_rejected": 0}):
        assert measured(entry, {**good, "evidence": [piece | changed]}).status == "error", changed
    assert measured(entry, {**good, "evidence": []}).message.startswith("its evidence came back other")
    assert measured(entry, {**good, "strength": "proved", "statement": "2 = 3"}).statement == claim.statement
    broken = record(replace(claim, is_correction=True, verdict=Verdict.UNSETTLED), {})
    assert measured(broken, good).status == broken.status == "error"


def test_a_record_that_cannot_be_read_is_named():
    with pytest.raises(BrokenLedger, match=r"the record of planted\.good cannot be read: AttributeError"):
        workers.records_of(Plan(load=ledgers.unreadable))


def test_a_worker_that_holds_much_is_not_replaced():
    with workers.processes(1) as pool:
        first = pool.submit(os.getpid).result()
        assert [done.result() for done in [pool.submit(ledgers.holds_much), pool.submit(os.getpid)]] == [first, first]


@pytest.mark.parametrize("given", [None, "2"])
def test_a_worker_has_one_thread_unless_another_number_is_asked_for(monkeypatch, given):
    monkeypatch.setenv("OMP_NUM_THREADS", given or "")
    if given is None:
        monkeypatch.delenv("OMP_NUM_THREADS")
    with runpy.run_path(workers.__file__)["processes"](1) as pool:
        assert pool.submit(os.getenv, "OMP_NUM_THREADS").result() == (given or "1")
