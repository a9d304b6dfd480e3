"""From one token to all that are dropped (Section 3.1): the mass outside a window."""

from proofs_check.ledger.claim import Claim, Severity, Verdict
from proofs_check.ledger.mathematical import mathematical

SECTION = "RazorAttention, Section 3.1"
RANGE = "The numerator of Eq. 2, without -ln eps, must be at least the range D of the head's logits"

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.sec3.1.discard",
        SECTION,
        "All tokens further than L_h can be safely discarded (eps = 0.1 %).",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        reading="What is discarded lies at distances beyond L_h, and safely means that together it weighs less than "
        "eps.",
        formula=r"\sum_{m-n>L_h}a_{m\to n}<\epsilon",
        note=RANGE + ", as it is with W_Q^T W_K, gains of one size and no bias; where it is not, Theorem 1 fails and "
        "with it this. The reason given, a bound for each token, is not enough: razor.sec3.1.discard.sum.",
    ),
)
