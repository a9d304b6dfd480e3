"""Slips of the waiver paper's text, each with the place that shows what is meant."""

from proofs_check.evidence.margin import different
from proofs_check.ledger.claim import WITNESSED, Claim, Control, Nature, Severity, Verdict
from proofs_check.ledger.exact_claim import exact_claim


def _slip(id: str, source: str, statement: str, printed: str, meant: str, note: str) -> Claim:
    point = {"printed": printed, "true": meant}
    return exact_claim(
        id, f"Waiver paper, {source}", statement, different, (point,),
        (Control("what is meant", points=({**point, "printed": meant},)),), scope="the words, and those of the place",
        nature=Nature.TEXTUAL, verdict=Verdict.TYPO, severity=Severity.MISPRINT, coverage=WITNESSED, witness=point,
        note=note,
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    _slip(
        "waiver.sec1.weights",
        "Section 1",
        "The model reduces the weights of certain elements in the softmax function to absorb excess attention.",
        "weights", "values",
        "Values, as in the abstract and in Section 3.2: an element of less weight absorbs less attention.",
    ),
    _slip(
        "waiver.sec3.2.transposed",
        "Section 3.2",
        "The attention weights are calculated by multiplying the transposed query matrix and the key matrix.",
        "Q^T K", "Q K^T",
        "Of the query matrix and the transposed key matrix, as in Equation 1: the rows are positions.",
    ),
    _slip(
        "waiver.sec3.3.1.last",
        "Section 3.3.1",
        "The fully connected layer that can distinguish the first and last elements is in Llama3-8B's second layer.",
        "the first and last elements", "the first element from the other elements",
        "The first element from the others, as in the next paragraph: the last one is mixed like all others.",
    ),
)  # fmt: skip
