"""The findings of the front page and the README, told by the ledger, and the questions of a first visit."""

from collections.abc import Mapping
from typing import NamedTuple

from proofs_check.ledger.row import Row

from ..markdown import closed
from .view import claim_link

VERDICTS = {"holds": "holds", "holds_if": "holds under a condition", "false": "is false",
            "typo": "has a misprint", "refuted": "is refuted"}  # fmt: skip
# What the evidence amounts to, and what is not said.
REACH = {"proved": "The core has proved it", "refuted": "The core has refuted it",
         "repaired": "The core has proved it under the condition",
         "argued": "The pieces are checked by machine; prose puts them together",
         "instances": "Checked at these, and nothing is said beyond", "sampled": "Sampled, and nothing is said beyond",
         "trained": "Trained, and nothing is said beyond"}  # fmt: skip
LONG = 250  # characters: a longer sentence is left to the page of its claim


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
        beside = (f"Beside it, {row.id} {VERDICTS[row.verdict]}. {_told(row)}" for row in others)
        return " ".join([_told(first), *beside])


def _told(row: Row) -> str:
    """A sentence that is printed from a tree comes after the words, and a long one is left to the page of its claim."""
    statement = row.statement if len(row.statement) <= LONG else ""
    conditions = "If " + "; ".join(row.conditions) if row.conditions else ""
    words = [conditions, row.reading, row.note, row.why]
    said = [statement, *words] if row.case is None else [*words, statement and f"As printed: {statement}"]
    core = {"holds": "proved", "holds_if": "repaired"}.get(row.verdict, "refuted")
    reach = REACH.get(core if row.strength == "proved" else row.strength or "", "")
    if reach.endswith("beyond"):
        reach += ": " + "; ".join(piece.scope for piece in row.evidence)
    return " ".join(map(closed, filter(None, (*said, reach))))


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


class Question(NamedTuple):
    """What a first visit asks; the page or the claim that tells more; the answer, with its condition and a command."""

    asked: str
    where: str
    answer: str

    @property
    def link(self) -> str:
        return self.where if ".html" in self.where else claim_link(self.where)


QUESTIONS = (
    Question("Is Theorem 3.3 true?", "kv.thm3.3",
             "Not as printed: with the causal mask no parameters give the induction head, already at three tokens in "
             "one dimension. It is true of a head that sees the places 2 to L - 1 alone. With your parameters: "
             "`python -m scripts construct thm3.3 --dim 8 --sigma 0.1`."),
    Question("How far can a BLOOM head see?", "explorer.html#pane=alibi",
             "That depends on its slope and on the range D of its logits, which was not measured on BLOOM's weights "
             "here. If D is 111.58, as for the median head of the small ALiBi model that ships, no token weighs more "
             "than 1/1000 from 468 places on at slope 1/4, and from 28,913 on at 1/256. Of a checkpoint: `python -m "
             "scripts scope MODEL --eps 1e-3`."),
    Question("Why is the printed figure wrong?", "kv.listing_l.picture",
             "The listing that draws Figure 2 has four slips. At O(T) = 0 its directions of descent are off by 61.5 "
             "degrees on average, at O(T) = 100 by 0.5. All three forms: `python -m scripts figure landscape`."),
    Question("Do value residuals help?", "arena.html",
             "A little, where that is decided at all: as half of each layer's values they lower the loss by 0.86 % "
             "[0.04, 1.67] at 173 thousand parameters, and at 45 and 99 thousand it is undecided; added with factor 2 "
             "by 1.84 % [0.65, 3.02] at 99 thousand. All this is after 300 steps on Python source, and says nothing "
             "of larger models. `python -m scripts arena` repeats it; no command measures it on a model of yours."),
    Question("What was trained, on which data, with how many seeds?", "experiments.html",
             "Small models: in the sweeps on the papers' tasks (induction, 3-grams, hops, recall) with 8 seeds or "
             "more, but for one seed at an eighth of the paper's size; in the arena on Python source with 8 to 24 "
             "pairs of seeds. `python -m scripts sweep --list` names the sweeps, and each row below has the command "
             "that trains it again."),
    Question("Is a verdict proved, or only sampled?", "glossary.html",
             "Each claim says which, as its strength: `proved`, `argued`, `instances`, `sampled`, `trained` or "
             "`read`. Only `proved` means that the core checked a proof of the whole statement. Of every claim: "
             "`python -m scripts verify --all`."),
    Question("Can I trust a verdict?", "trust.html",
             "Where it is proved, as far as you trust a core of some 2,500 lines and the way in which the sentence "
             "was written as data; elsewhere, as far as its checks reach. Check all anew: `python -m scripts verify "
             "--full`."),
    Question("Can I have a lemma of my own decided?", "own-claims.html",
             "Yes, if it can be written as a statement over numbers, sequences and sums. The answer is proved, "
             "refuted with a counterexample, or open: `python -m scripts verify --claims examples/softmax_claims.py`."),
    Question("Which heads do induction in my model?", "commands.html#heads",
             "The first line of the answer names them, or says that there are none, for any causal model of "
             "transformers, by its behaviour on random tokens: `python -m scripts heads MODEL`."),
    Question("How do I check a paper of 30 claims?", "contributing.html#add-a-paper",
             "As a package of your own: a record of the paper, a record for each claim, and statements as data for "
             "those that the core shall decide. Then `python -m scripts verify --paper NAME` checks them, and `python "
             "-m scripts audit NAME` writes the report."),
)  # fmt: skip
