"""What SVFormer stores (Section 3.5), also with groups, anchors and heads of unequal sizes."""

from proofs_check.ledger.claim import Claim, Severity, Verdict
from proofs_check.ledger.exact_claim import unsettled_claim
from proofs_check.ledger.mathematical import mathematical

SECTION = "ResFormer, Section 3.5, Equation 10"

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "resformer.eq10.cache",
        SECTION,
        "With the values of one layer for all L the cache is (L + 1)/(2L) as large: nearly half is saved, and always "
        "less than half, by 1/(2L).",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="Nearly half, for many layers.",
        note="Saved are 37.5 % with 4 layers, 43.75 % with 8, 45.8 % with 12 and 47.9 % with 24; 45 % needs 10 layers.",
        formula=r"\frac{L+1}{2L}",
    ),
    mathematical(
        "resformer.eq10.grouped",
        f"{SECTION}, Sections 4.6 and 4.8, added",
        "With g groups for h heads and a layers that keep values of their own it is (g/h)(L + a)/(2L).",
        is_correction=True,
        formula=r"\frac gh\cdot\frac{L+a}{2L}",
    ),
    mathematical(
        "resformer.sec4.6.gqa",
        "ResFormer, Sections 1, 2.2 and 4.6",
        "Used together with GQA the cache is smaller than with either alone.",
        formula=r"\frac gh\cdot\frac{L+1}{2L}<\min\left(\frac gh,\frac{L+1}{2L}\right)",
    ),
    mathematical(
        "resformer.eq10.sizes",
        f"{SECTION}, added",
        "With keys of k and values of v numbers a head it is (L k + v)/(L (k + v)): with equal sizes more than one "
        "half, which sharing keys and values by twos, as CLA does, gives for an even number of layers.",
        is_correction=True,
        formula=r"\frac{Lk+v}{L(k+v)}",
    ),
    unsettled_claim(
        "resformer.sec3.5.first",
        "ResFormer, Sections 2.2 and 3.5",
        "SVFormer is the first method to decouple the values from queries and keys.",
        "A statement about priority.",
    ),
)
