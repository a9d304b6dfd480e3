"""What SVFormer stores (Section 3.5), also with groups and anchors."""

from proofs_check.ledger.claim import Claim, Severity, Verdict
from proofs_check.ledger.mathematical import mathematical

SECTION = "ResFormer, Section 3.5, Equation 10"

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "resformer.eq10.cache",
        SECTION,
        "It only requires computing and storing the value vectors for the first layer, saving nearly half of the KV "
        "cache during inference.",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="Nearly half, for many layers: within any c of one half in L >= 1/(2c) layers.",
        note="Many layers. (L + 1)/(2L) of the cache is left: saved are 37.5 % with 4 layers, 43.75 % with 8, 45.8 % "
        "with 12 and 47.9 % with 24, and never one half, which sharing keys and values by twos saves of an even number "
        "of layers.",
        formula=r"L\ge\tfrac1{2c}\implies\tfrac12-c\le1-\tfrac{L+1}{2L}<\tfrac12",
    ),
)
