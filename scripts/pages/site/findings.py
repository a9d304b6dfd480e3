"""The findings of the front page and the README, told by the ledger, and the questions of a first visit."""

from collections.abc import Mapping
from typing import NamedTuple

from proofs_check.ledger.row import Row

from .view import claim_link

VERDICTS = {"holds": "holds", "holds_if": "holds under a condition", "false": "is false",
            "typo": "has a misprint", "refuted": "is refuted"}  # fmt: skip
# What the evidence amounts to, and what is not said.
REACH = {"proved": "The core has proved it", "refuted": "The core has refuted it",
         "argued": "The pieces are checked by machine; prose puts them together",
         "instances": "Checked at these, and nothing is said beyond", "sampled": "Sampled, and nothing is said beyond",
         "trained": "Trained, and nothing is said beyond"}  # fmt: skip
LONG = 250  # characters: a longer statement is left to the page of its claim


class Finding(NamedTuple):
    """claims: what is told, in this order; figure: a file of docs/; alt: what it shows."""

    figure: str
    alt: str
    claims: tuple[str, ...]

    @property
    def link(self) -> str:
        return claim_link(self.claims[0])

    def title(self, rows: Mapping[str, Row]) -> str:
        """Where the first claim stands, and how it is ruled."""
        row = rows[self.claims[0]]
        return f"{row.source}: {VERDICTS[row.verdict]}"

    def text(self, rows: Mapping[str, Row]) -> str:
        """Of each claim the sentence, its conditions, the ruling and its reason, what is shown, and where that ends."""
        first, *others = (rows[name] for name in self.claims)
        beside = (f"{row.id} ({VERDICTS[row.verdict]}): {_told(row)}" for row in others)
        return " Beside it, ".join([_told(first), *beside])


def _told(row: Row) -> str:
    statement = row.statement if len(row.statement) <= LONG else "Its page has the formula"
    said = [statement, row.reading, row.note, row.why]
    said.insert(1, "If " + "; ".join(row.conditions) if row.conditions else "")
    refuted = row.strength == "proved" and row.verdict in ("false", "typo", "refuted")
    reach = REACH.get("refuted" if refuted else row.strength or "", "")
    if reach.endswith("beyond"):
        reach += ": " + "; ".join(piece.scope for piece in row.evidence)
    return " ".join(f"{part.removesuffix('.')}." for part in (*said, reach) if part)


FINDINGS = (
    Finding("fig_theorem_3_3", "What one head misses under the causal mask",
            ("kv.thm3.3", "kv.thm3.3.impossible", "kv.thm3.3.discrepancy")),
    Finding("fig_counterexample", "A token beyond the printed distance that keeps its weight",
            ("razor.thm1", "razor.thm1.iff")),
    Finding("fig_landscape", "The loss as it is, as Eq. 10 prints it, and as the listing draws it",
            ("kv.listing_l.picture", "kv.fig2.caption")),
    Finding("fig_waiver_token", "What a masked token becomes, by positional scheme",
            ("waiver.eq11.layers", "waiver.eq11")),
)  # fmt: skip
BLOOM = "explorer.html#pane=alibi"
QUESTIONS = (
    ("Is Theorem 3.3 true?", claim_link("kv.thm3.3"), "On the tokens 2 to L - 1 it is. Under the causal mask it is "
     "not; the smallest example and the error stand beside it."),
    ("How far can a BLOOM head see?", BLOOM, "Set slope and range, read the distance. Of a checkpoint: "
     "python -m scripts scope MODEL."),
    ("Why is the printed figure wrong?", claim_link("kv.listing_l.picture"), "Its listing has four slips; drag the "
     "point and compare."),
)  # fmt: skip
