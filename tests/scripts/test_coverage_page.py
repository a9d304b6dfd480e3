"""The page of checkable sentences: its claims exist, no claim of a paper is left out, the shares are as promised."""

import re
from types import SimpleNamespace

from proofs_check.ledger.registry import load
from scripts.pages import coverage_page
from tests.scripts.commands import text_of

REGISTRY = load()
TEXT = text_of("docs/coverage.md")
ROWS = coverage_page.sentences(TEXT)
# per cent of the checkable sentences
PROMISED = {"KV shifting": 96, "RazorAttention": 93, "ResFormer": 80, "Waiver paper": 92}


def test_every_claim_that_is_named_exists_and_every_row_is_read():
    assert {claim for row in ROWS for claim in row.claims} <= set(REGISTRY)
    assert len(ROWS) == len(re.findall(r"^\| \d+ \|", TEXT, re.M)) > 500


def test_every_claim_of_a_paper_is_named():
    named = {claim for row in ROWS for claim in row.claims}
    assert [name for name, claim in REGISTRY.items() if not claim.is_correction and name not in named] == []


PAGE = """### P: 1 One
| 1 | a | `t.holds` `o.more` |
| 2 | b | `t.open` |
| 3 | c | `o.more` |
| 4 | d |  |
| 5 | e | `t.open` `t.false` |
### P: 2 Two
| 1 | f | `t.open` `o.proved` |
"""


def test_a_sentence_is_decided_by_claims_of_the_paper_alone():
    said = {"t.holds": ("holds", "argued"), "t.open": ("unsettled", "read"), "t.false": ("false", "proved"),
            "o.more": ("holds", "argued"), "o.proved": ("holds", "proved")}  # fmt: skip
    rows = [SimpleNamespace(id=name, verdict=verdict, strength=strength, is_correction=name.startswith("o."))
            for name, (verdict, strength) in said.items()]  # fmt: skip
    found = coverage_page.shares(PAGE, rows)
    assert [tuple(share) for share in found] == [
        ("P", 6, 2, 2, 1, 1, 1), ("P: 1 One", 5, 2, 1, 1, 1, 1), ("P: 2 Two", 1, 0, 1, 0, 0, 0)
    ]  # fmt: skip


def test_the_shares_are_as_promised():
    for paper, least in PROMISED.items():
        rows = [row for row in ROWS if row.section.startswith(f"{paper}:")]
        covered = [row for row in rows if any(not REGISTRY[claim].is_correction for claim in row.claims)]
        assert 100 * len(covered) >= least * len(rows), f"{len(covered)} of {len(rows)}"
