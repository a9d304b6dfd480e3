"""How a sentence may be read: a closed list. A reading changes the printed statement in one way, and accuses nobody."""

from dataclasses import dataclass

from proofs_check.core.statement import Statement
from proofs_check.ledger.claim import Severity


@dataclass(frozen=True)
class Reading:
    """changes: the one part of the printed statement that the reading may change: "says", "given", "variables",
    "definitions", or "" where the statement is written as it is read.
    """

    sentence: str
    severity: Severity = Severity.READING
    changes: str = ""

    def fits(self, printed: Statement, read: Statement) -> bool:
        """Is `read` the printed statement with that part changed, and no other?"""
        parts = {name for name in ("variables", "given", "says") if getattr(printed, name) != getattr(read, name)}
        old, new = dict(printed.definitions), dict(read.definitions)
        if any(old[name] != new[name] for name in old.keys() & new.keys()):
            parts.add("definitions")
        return parts == {self.changes}


READINGS = {
    "rivals": Reading("The comparison is with other methods, not with variants of the same one.", changes="says"),
    "cut": Reading("Per cent are points, cut after the last printed digit instead of rounded.", Severity.ARITHMETIC,
                   changes="says"),
    "printed digits": Reading("A number stands for all that round to it.", Severity.ARITHMETIC, changes="says"),
    "cited": Reading("What belongs to another work has the number that this work gives.", Severity.ARITHMETIC,
                     changes="definitions"),
    "embeddings": Reading("A number of parameters may leave the embeddings out.", Severity.ARITHMETIC,
                          changes="definitions"),
    "some size": Reading("Sizes that are not given are some for which the numbers come out.", changes="variables"),
    "counted apart": Reading("What is said of a whole leaves out what the paper itself counts apart.", changes="says"),
    "printed sizes": Reading("Sizes enter a product as the text prints them, rounded.", Severity.ARITHMETIC,
                             changes="says"),
    "together": Reading("What all devices hold together is counted, not what each of them holds.", changes="says"),
    "places": Reading("Attention is on the places that the definition sums over; the text's mask lets in more.",
                      Severity.REPAIRABLE, changes="says"),
    "exists": Reading("What is spoken of exists.", changes="given"),
    "some setting": Reading("A method is capable of what it does in some setting, printed or not.",
                            changes="definitions"),
    "attention": Reading("The cost of a model is that of its attention alone.", changes="says"),
    "excerpt": Reading("A listing is an excerpt: lines that any such module has may be left out."),
}  # fmt: skip
