"""The docket: every claim in one group, in the order in which a reader wants them, with counts that add up."""

import re

import pytest

from proofs_check.ledger.registry import load
from proofs_check.ledger.rows import record
from scripts import docket, docs

REGISTRY = load()
ROWS = [record(claim, REGISTRY) for claim in REGISTRY.values()]


def test_every_claim_is_in_exactly_one_group():
    groups = docket.grouped(ROWS)
    assert sum(len(rows) for _, rows in groups) == len(ROWS)
    assert groups[0][0].key == "breaks" and groups[-1][0].key == "unsettled"
    with pytest.raises(ValueError, match="belongs to 0 groups"):
        docket.grouped([{**ROWS[0], "is_correction": False, "verdict": "false", "severity": "reading"}])


def test_the_readme_counts_add_up():
    readme = (docs.ROOT / "README.md").read_text("utf-8").split(docs.BEGIN)[1].split(docs.END)[0]
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in readme.splitlines() if line.startswith("| ")]
    numbers = {row[0]: [int(cell or 0) for cell in row[1:]] for row in table[1:]}
    papers = len(set(docket.SHORT.values()))
    assert table[0][2 : 2 + papers] == list(dict.fromkeys(docket.SHORT.values()))
    for total, *rest in numbers.values():
        assert total == sum(rest[:papers]) == sum(rest[papers:])
    assert sum(counts[0] for counts in numbers.values()) == len(ROWS)
    own, ours = (
        int(n) for n in re.findall(r"^(\d+) claims of the papers, and (\d+) statements", readme.strip(), re.M)[0]
    )
    titles = {group.title for group in docket.GROUPS if group.key in ("ours", "outcomes")}
    assert ours == sum(numbers[title][0] for title in titles) and own + ours == len(ROWS)


def test_errata_and_report_tell_the_same_counts():
    readme, errata = ((docs.ROOT / path).read_text("utf-8") for path in ("README.md", "docs/errata.md"))
    told = [line for line in readme.split(docs.BEGIN)[1].split(docs.END)[0].splitlines() if line.startswith("|")]
    assert len(told) > 10 and "\n".join(told) in errata
    rows = docs._records(REGISTRY)
    shown = [line.strip("|").split("|") for line in told if "---" not in line]
    assert [[cell.strip() for cell in line] for line in shown] == docket.table(docket.counts(rows))
    wrong = docket.counts([{**rows[0], "strength": "proved"}])
    assert wrong[0].strengths == {"proved": 1} and docket.table([]) == [["", "claims"]]


def test_the_readme_leads_with_the_theorems_and_links_the_papers():
    lead = (docs.ROOT / "README.md").read_text("utf-8").split("    make ")[0]
    assert all(address in lead for address in docket.PAPERS.values())
    broken = docket.grouped(ROWS)[0][1]
    theorems = [row["id"] for row in broken if re.fullmatch(r"\w+\.thm[\d.]+", row["id"])]
    assert theorems and all(f"`{name}`" in lead or f"--id {name}`" in lead for name in theorems)


def test_the_audit_page_names_tests_that_exist():
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", (docs.ROOT / "docs" / "audit.md").read_text("utf-8"))
    assert len(named) > 80
    for file, name in named:
        assert f"\ndef {name}(" in (docs.ROOT / "tests" / file).read_text("utf-8"), (file, name)


def test_nothing_that_is_told_is_called_proved():
    for path in ("README.md", "docs/claims.md"):
        told = (docs.ROOT / path).read_text("utf-8").split(docs.BEGIN)[-1]
        assert not re.search(r"\bclaims? (is|are) proved\b|\bproved claims?\b", told)


MARKUP = [
    "a * b * c",
    "x_1 and y_2",
    "[S] -> [B]",
    "|x| < 1",
    "e^{-p}",
    "`code_with_stars * and | bars`",
    "a\\b",
    "$x$",
]


@pytest.mark.parametrize("text", MARKUP)
def test_escaped_text_holds_no_markup(text):
    shown = docs.escaped(text)
    outside = "".join(shown.split("`")[::2])
    assert not re.search(r"(?<!\\)(?:\\\\)*[*_<>\[\]#|~$]", outside)
    assert re.sub(r"\\(.)", r"\1", shown) == text


def test_generated_pages_hold_no_markup_of_a_statement():
    for page in (docs.claim_table(REGISTRY), docs.errata(REGISTRY)):
        for claim in REGISTRY.values():
            if f"`{claim.id}`" in page and claim.statement in page:
                assert docs.escaped(claim.statement) == claim.statement
