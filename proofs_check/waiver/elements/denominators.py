"""Other ways out of a softmax that must sum to 1, and how they are related to a waiver."""

from proofs_check.ledger.claim import Claim
from proofs_check.ledger.mathematical import mathematical

SECTION = "Waiver paper, Section 3.1, added"

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "waiver.beyond.sink_logit",
        SECTION,
        "A learned sink logit b without a value scales the softmax's output by 1 - p, p its share; softmax plus one "
        "is b = 0, and the same as one more token with key and value 0.",
        is_correction=True,
        formula=r"\frac{\sum_je^{s_j}v_j}{e^b+\sum_je^{s_j}}=(1-p)\,\mathrm{softmax}(s)v",
    ),
    mathematical(
        "waiver.beyond.gate",
        SECTION,
        "Every gate strictly between 0 and 1 on a head's output is a sink logit that may depend on the query.",
        is_correction=True,
        formula=r"b=\log\frac{1-g}{g}+\log\sum_je^{s_j}",
    ),
    mathematical(
        "waiver.beyond.gate.constant",
        SECTION,
        "No constant gate is a learned sink logit: on one token of logit 0 and of logit 1 the logit scales the output "
        "differently.",
        is_correction=True,
        formula=r"1-\frac{e^b}{1+e^b}<1-\frac{e^b}{e+e^b}",
    ),
)
