"""The docket: every claim in one group, in the order in which a reader wants them, with counts that add up."""

import re
from dataclasses import replace
from functools import cache

import pytest

from proofs_check.ledger.registry import load
from proofs_check.ledger.rows import record
from scripts.commands import audit, docs
from scripts.pages import docket
from scripts.pages.markdown import escaped
from scripts.pages.site.findings import FINDINGS
from tests.scripts.commands import text_of

REGISTRY = load()
README, ERRATA = text_of("README.md"), text_of("docs/errata.md")
ROWS = [record(claim, REGISTRY) for claim in REGISTRY.values()]
BY_ID = {row.id: row for row in ROWS}
records = cache(lambda: docs.records(REGISTRY))


def test_every_claim_is_in_exactly_one_group():
    groups = docket.grouped(ROWS)
    assert sum(len(rows) for _, rows in groups) == len(ROWS)
    assert groups[0][0].key == "breaks" and groups[-1][0].key == "unsettled"
    with pytest.raises(ValueError, match="belongs to 0 groups"):
        docket.grouped([replace(ROWS[0], is_correction=False, verdict="false", severity="reading")])


def test_the_counts_of_the_errata_add_up():
    table = docket.table(docket.counts(records()))
    told = [[cell.strip() for cell in line.split("|")[1:-1]] for line in ERRATA.splitlines() if line.startswith("| ")]
    assert told == [[str(cell) for cell in row] for row in table]
    numbers = {row[0]: [int(cell or 0) for cell in row[1:]] for row in table[1:]}
    short = list(dict.fromkeys(paper.short for paper in docket.papers(row.id for row in ROWS).values()))
    papers = len(short)
    assert table[0][3 : 3 + papers] == short == ["KV shifting", "Razor", "ResFormer", "waiver"]
    for total, defects, *rest in numbers.values():
        assert total == sum(rest[:papers]) == sum(rest[papers:]) and defects <= total
    assert sum(counts[0] for counts in numbers.values()) == len(ROWS)
    wrong = docket.counts([replace(ROWS[0], strength="proved")])
    assert wrong[0].strengths == {"proved": 1} and docket.table([]) == [["kind", "claims", "defects"]]


def test_claims_that_repeat_a_defect_stand_behind_its_first_one():
    rows = [replace(ROWS[0], id=name, severity=severity, defect=defect) for name, severity, defect in
            (("b", "code", "c"), ("a", None, None), ("c", "code", None), ("d", "code", None), ("e", "code", "c"))]
    assert [[row.id for row in members] for members in docket.defects(rows)] == [["c", "b", "e"], ["d"]]


def test_the_readme_leads_with_the_papers_then_the_jobs_then_the_findings():
    assert all(address in README.split("    make ")[0] for address in docket.titles(ROWS).values())
    broken = docket.grouped(ROWS)[0][1]
    theorems = [row.id for row in broken if re.fullmatch(r"\w+\.thm[\d.]+", row.id)]
    assert set(theorems) <= {one.claims[0] for one in FINDINGS[:2]}
    jobs, screen = README.split("## What was found")
    assert "## What it is for" in jobs and len(jobs.splitlines()) <= 75
    assert all(escaped(one.title(BY_ID)) in screen and f"`{one.claims[0]}`" in screen for one in FINDINGS)
    assert f"{FINDINGS[0].figure}.png" in screen
    assert all(claim in REGISTRY for one in FINDINGS for claim in one.claims)


def test_a_finding_stands_on_claims_that_are_ruled_on():
    """None is unsettled: what nobody has decided here is no finding."""
    for one in FINDINGS:
        assert "unsettled" not in {REGISTRY[claim].verdict.value for claim in one.claims}, one.claims


def test_a_finding_is_told_by_the_rows_of_its_claims():
    """Another sentence, condition, verdict, note or reach of the ledger is another text."""
    (one, *_), first = FINDINGS, BY_ID[FINDINGS[0].claims[0]]
    changes = {"statement": "S", "note": "N", "reading": "R", "strength": "sampled"}
    for changed in ({name: value} for name, value in changes.items()):
        other = BY_ID | {first.id: replace(first, **changed)}
        assert one.text(other) != one.text(BY_ID), changed
    assert one.title(BY_ID | {first.id: replace(first, verdict="false")}).endswith("is false")


def test_the_audit_page_names_tests_that_exist():
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", text_of("docs/audit.md"))
    assert len(named) > 80
    for file, name in named:
        assert f"\ndef {name}(" in text_of(f"tests/{file}"), (file, name)


def test_nothing_that_is_told_is_called_proved():
    for told in (README, text_of("docs/errata.md")):
        assert not re.search(r"\bclaims? (is|are) proved\b|\bproved claims?\b", told)


def test_escaped_text_holds_no_markup():
    text = "a * b * c, x_1 and y_2, [S] -> [B], |x| < 1, e^{-p}, `code_with_stars * and | bars`, a\\b, $x$"
    shown = escaped(text)
    outside = "".join(shown.split("`")[::2])
    assert not re.search(r"(?<!\\)(?:\\\\)*[*_<>\[\]#|~$]", outside)
    assert re.sub(r"\\(.)", r"\1", shown) == text


def test_generated_pages_hold_no_markup_of_a_statement():
    rows = records()
    page = audit.errata(REGISTRY, rows)
    for claim in REGISTRY.values():
        if f"`{claim.id}`" in page and re.search(rf"(?<!\\){re.escape(claim.statement)}", page):
            assert escaped(claim.statement) == claim.statement
