"""What a waiver is (Sections 3.1 and 3.2 of the waiver paper): weights, values, keys, and the effect on the output."""

from proofs_check.ledger.claim import WITNESSED, Claim, Control, Severity, Verdict
from proofs_check.ledger.mathematical import exact, mathematical
from proofs_check.waiver.elements import checks as c

SECTION = "Waiver paper, Section 3.2"

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "waiver.eq2.index",
        "Waiver paper, Equations 2 and 3",
        "The sums go from 0 to the length of the sequence.",
        exact(
            "0 to n are n + 1 positions",
            c.one_too_many,
            tuple({"length": length} for length in (1, 2, 512)),
            Control("0 to n - 1", lambda length: c.one_too_many(length, last=-1)),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=WITNESSED,
        witness={"length": 2},
        note="To the length less 1; Equations 9 to 11 count from 1.",
        formula=r"\sum_{k=0}^{n-1}e^{e(i,k)}",
    ),
    mathematical(
        "waiver.abstract.contribution",
        "Waiver paper, Abstract and Sections 3.1 and 3.2",
        "An element of small values can be given much attention without a significant effect on the weighted sum.",
        exact(
            "three tokens, the first of value 0 and weight 9/10: its own term is 0, and the others' are divided by ten",
            c.others_are_scaled,
            ({},),
            Control("a value of 1", lambda: c.others_are_scaled(value=1)),
            Control("no weight", lambda: c.others_are_scaled(weight=0)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        coverage=WITNESSED,
        reading="Its own term is small.",
        note="The others' terms are multiplied by 1 - a: the sum is not what it is without the element "
        "(waiver.sec3.2.effect).",
        formula=r"o=(1-a)o'+a\,v",
    ),
    mathematical(
        "waiver.sec3.2.direction",
        SECTION,
        "A key without a component along the query has a cosine below 0.",
        exact(
            "two orthogonal vectors: no component along each other, and the cosine is 0",
            c.no_component,
            ({"key": (0, 1)},),
            Control("an opposite one", points=({"key": (-1, 0)},)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        coverage=WITNESSED,
        reading="Where it is not orthogonal to it.",
        note="At most 0: an orthogonal key has no component either.",
        formula=r"\cos\theta\le0",
    ),
    mathematical(
        "waiver.eq6.angle",
        f"{SECTION}, Equation 6",
        "cos(theta) is the angle between the two vectors.",
        exact(
            "two equal vectors: the cosine is 1, the angle 0",
            c.cosine_is_no_angle,
            ({},),
            Control("theta", lambda: c.cosine_is_no_angle(theta=True)),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=WITNESSED,
        witness={},
        note="theta is.",
        formula=r"q\cdot k=\|q\|\|k\|\cos\theta",
    ),
    mathematical(
        "waiver.sec3.2.smaller",
        SECTION,
        "Where all cosines are negative, a smaller key has the larger product with the query.",
        exact(
            "(2, 0) and (1, 3) against (-1, 0): the smaller one has the smaller product",
            c.smaller_key,
            ({"key": (2, 0), "other": (1, 3)},),
            Control("at equal angles", points=({"key": (2, 0), "other": (3, 0)},)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        formula=r"q\cdot k=\|q\|\,\|k\|\cos\theta,\quad\cos\theta<0",
        coverage=WITNESSED,
        correction="waiver.sec3.2.smaller.corrected",
        reading="\"Smaller\", in quotation marks there, is meant of keys at equal angles, or of norm times absolute "
        "cosine.",
        note="That reading: by its norm alone a longer key that is nearly orthogonal to the query has a larger "
        "product.",
    ),
)
