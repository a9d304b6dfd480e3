"""The page of what is ruled on: no claim of a paper is left out, the counts are those of the rows, places are real."""

from types import SimpleNamespace

from proofs_check.kv import KV
from proofs_check.ledger.registry import host, installed, load
from scripts.pages import coverage_page

REGISTRY = load(host())


PLAIN = {"source": "KV shifting (final), Table 3", "verdict": "holds", "strength": "argued", "is_correction": False,
         "reading": "", "case": None, "defect": None}  # fmt: skip


def _row(name, **rest):
    return SimpleNamespace(**{"id": name, "paper": name.split(".")[0], "record": "rule", **PLAIN, **rest})


ROWS = [_row("kv.one", strength="proved"), _row("kv.two", verdict="open", strength="proved"), _row("kv.three"),
        _row("kv.ours", is_correction=True), _row("kv1.old", verdict="unsettled"), _row("razor.a")]  # fmt: skip


def test_each_claim_of_a_paper_counts_once_and_ours_do_not():
    found = {name: numbers for name, *numbers in coverage_page.shares(ROWS)}
    assert found["KV shifting"][:4] == ["4", "2", "2", "1"] and found["Razor"][:4] == ["1", "1", "0", "0"]


def test_claim_stands_at_each_place_that_its_source_names():
    read = coverage_page.places
    assert read(KV, "KV shifting (final), Section 3.2, Tables 3 and 5") == ["Section 3.2", "Table 3", "Table 5"]
    assert read(KV, "KV shifting (final), Section 3.2, on T = 2") == ["Section 3.2"]  # words that no record may use
    assert read(KV, "KV shifting (final), Table 99") == []


def test_page_names_every_claim_of_a_paper_and_every_sentence_that_none_is_about():
    rows = [_row(c.id, source=c.source, verdict=c.verdict.value) for c in REGISTRY.values() if not c.is_correction]
    text = coverage_page.page(rows)
    assert [row.id for row in rows if f"`{row.id}`" not in text] == []
    for paper in (installed()[name] for name in ("kv", "razor", "resformer", "waiver")):
        left = coverage_page.unruled(paper)
        assert left and all(paper.place(at).labels for at in left)
        assert f"\n- {next(iter(left))}: " in text


def test_page_names_each_choice_of_a_person():
    shown = {"shown": {"name": "kv.right"}}
    rows = [_row("kv.slip", case=shown, defect="kv.other", reading=""), _row("kv.read", case=None, defect=None,
            reading="A whole."), _row("kv.plain", case=None, defect=None, reading="")]  # fmt: skip
    assert coverage_page.by_judgement(rows)[2:] == ["| `kv.slip` |  | `kv.right` | `kv.other` |",
                                                    "| `kv.read` | A whole. |  |  |"]  # fmt: skip


def test_place_without_a_claim_is_named():
    text = coverage_page.page([row for row in ROWS if row.id == "kv.one"])
    assert "| Table 3 | `kv.one` |  |" in text
    assert "Table 2, Table 4," in text.partition("No claim names: ")[2]
