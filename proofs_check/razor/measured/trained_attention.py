"""Theorem 1 on trained heads: measured attention by distance against the printed and the sharp scope.

Evidence re-reads the shipped attention by distance of `python -m scripts study compare`, whose bytes are checked.
"""

from typing import Any

from proofs_check.ledger.claim import Claim, Control, Evidence, Kind
from proofs_check.razor.measured import trained_checks as c
from proofs_check.razor.measured.trained import MODEL, trained

TASK = "two vanilla ALiBi layers of four heads, width 64, vocabulary 540, 2400 steps on the induction task, 2 seeds"
HEADS = "96 heads of text and 16 vanilla heads of the induction task, the largest weight at each distance"

SCALE = "64 windows of 256 held-out bytes and 1697 rows of the task, 3 and 2 seeds, shipped results"


def read(scope: str, margin: Any, points: Any, *controls: Control) -> Evidence:
    return Evidence(Kind.TRAINED, f"{scope}; {SCALE}", margin, points, controls)


CLAIMS: tuple[Claim, ...] = (
    trained(
        "razor.trained.sharp_scope",
        "RazorAttention, Theorem 1, our addition",
        "The corrected bound holds for 96 heads of text models and 16 of the induction task, at every distance "
        "measured: no violation. (Keys that are shifted: with |alpha_1| + |alpha_2| times D.)",
        read(
            HEADS,
            c.within_bound,
            c.heads(),
            Control("a tenth of the logit range", lambda **p: c.within_bound(**p, factor=0.1)),
        ),
        read(
            "no weight above 0.1 % beyond the sharp scope: the 14 heads whose scope ends within what was measured",
            c.within_scope,
            lambda _: c.ends_inside(),
            Control("a tenth of the scope", lambda **p: c.within_scope(**p, factor=0.1)),
        ),
        others="",  # it is proved
        hypotheses=(MODEL, TASK),
    ),
    trained(
        "razor.trained.printed_scope",
        "RazorAttention, Theorem 1, Eq. 2, and Section 3.1",
        "In three text models of 32 ALiBi heads and two of the induction task the printed scope is longer than the "
        "sharp one, beyond which no context has a weight above 0.1 %; it is also longer than all that was read, 256 "
        "bytes and 90 tokens, so that keeping the recent L_h tokens drops nothing, a compression of 1.",
        read(
            "96 heads of text and 16 vanilla heads of the induction task",
            c.printed_covers,
            c.heads(),
            Control("a quarter of it", lambda **p: c.printed_covers(**p, factor=0.25)),
        ),
        read(
            "the printed scope against the distances that occur",
            c.printed_drops_nothing,
            c.heads(),
            Control("the sharp scope", lambda **p: c.printed_drops_nothing(**p, scope="sharp")),
            Control("half of it", lambda **p: c.printed_drops_nothing(**p, factor=0.5)),
        ),
        hypotheses=(MODEL, TASK),
        outcome_of="razor.sec5.alibi",
        note="No printed scope ends within what was read (least 331 for 256 bytes, 141 for 90 tokens): no attention "
        "tests one. Shifted keys are outside of print: W_K is taken times |alpha_1| + |alpha_2|.",
    ),
    trained(
        "razor.trained.conservative",
        "RazorAttention, Theorem 1, our addition",
        "Scopes that hold for every input are long: in 47 of 96 heads of text models, whose reach ends within 239 "
        "bytes, the sharp scope is 3 to 15 times, the printed one 12 times the reach or more.",
        read(
            "the 47 heads that give no distance from 239 on more than 0.1 %",
            c.conservative,
            lambda _: [
                *({**p, "scope": "sharp", "least": 3.0, "most": 15.0} for p in c.ended()),
                *({**p, "scope": "printed", "least": 12.0} for p in c.ended()),
            ],
            Control(
                "the sharp scope 5 times", points=lambda _: [{**p, "scope": "sharp", "least": 5.0} for p in c.ended()]
            ),
            Control(
                "the printed one for the sharp",
                points=lambda _: [{**p, "scope": "printed", "least": 3.0, "most": 15.0} for p in c.ended()],
            ),
        ),
        note="Read off the results, not predicted.",
    ),
)
