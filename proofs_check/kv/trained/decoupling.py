"""Sections 3.2, 3.3 and 5: is it fusing neighbours or decoupling keys from values that makes induction learned?

What was trained: one layer with KV shift, K shift, one common mixture or half of the channels shifted, or with the
fusion given; two vanilla layers, and two with the decoupling given (`dynamics.model.places`).
"""

from fractions import Fraction
from typing import Any

from proofs_check.kv.trained import checks as c
from proofs_check.ledger.claim import INSTANCES, Control, Effort, Severity, Verdict
from proofs_check.ledger.exact_claim import FINAL
from proofs_check.ledger.mathematical import exact, mathematical
from proofs_check.records import quoted
from proofs_check.records.trained import Comparison, Trained, pair

META = f"{FINAL}, Section 3.3, first paragraph"
META_HERE, DISCUSSION = "Section 3.3, first paragraph, trained here", "Section 5, fourth paragraph, trained here"
KV, K, COMMON, HALF, VANILLA = "kv-shift", "k-shift", "common", "half-channels", "vanilla-2"
FUSED, APART = "fusion-given", "decoupling-given"


def at(width: int, first: str, second: str, factor: Fraction = Fraction(1)) -> Comparison:
    """Two models of one width."""
    return pair(*(("decoupling", f"width-{width}.{name}") for name in (first, second)), factor)


def both(*models: Any) -> list[Comparison]:
    """Two models, at either width."""
    return [at(width, *models) for width in (16, 64)]


def _sentences(effort: Effort) -> list[dict[str, int]]:
    longest = 7 if effort is Effort.QUICK else 20
    return [{"tokens": t, "position": i} for t in range(2, longest + 1) for i in range(1, t)]


CLAIMS = (
    mathematical(
        "kv.sec3.3.two_parts",
        META,
        "Where the previous layer has fused neighbours, the next one has to separate the information into keys and "
        "values.",
        exact(
            "states of two orthogonal halves (x_s, x_{s-1}), sharp attention, T = 2..8, each i < T: of the four "
            "read-outs only keys from x_{s-1} with values from x_s give x_{i+1}",
            c.no_other_halves,
            tuple({"tokens": t} for t in range(2, 9)),
            Control("both from one half", lambda tokens: c.no_other_halves(tokens, ("own", "own"))),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="The usual circuit is meant, whose first layer stores both tokens side by side.",
        note="Printed is 'coupling'. Without that circuit nothing has to be separated: kv.sec3.3.two_parts.mixture.",
        formula=r"h_s=(x_s,x_{s-1})",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.sec3.3.two_parts.mixture",
        f"{META}, the other reading",
        "Nothing has to be separated for the right answer: one head whose keys and values are the same mixture (x_s + "
        "3 x_{s-1})/4, scores times 8, own token taken off by the residual connection, names the successor.",
        exact(
            "one-hot tokens, each i < T, T = 2..7 (full: to 20): its logit exceeds every other but the own token's",
            c.one_mixture,
            _sentences,
            Control("(3 x_s + x_{s-1})/4", lambda **p: c.one_mixture(**p, quarters=1)),
            Control("scores times -8", lambda **p: c.one_mixture(**p, scale=-8)),
        ),
        formula=r"\hat K=\hat V=\frac{x_s+3x_{s-1}}{4}",
        hypotheses=("orthonormal tokens, one of them repeated", "i < T"),
        coverage=INSTANCES,
        is_correction=True,
    ),
    Trained("kv.sec3.3.fusion.trained", META_HERE, ahead=both(FUSED, APART, Fraction(1, 2)),
            outcome_of="kv.sec3.3.fusion",
            why="A vanilla model fuses in a layer of its own; so does the model with the decoupling given."),
    Trained("kv.sec3.3.decoupling.trained", META_HERE, ahead=[at(16, K, FUSED)], left=[at(64, K, FUSED)],
            outcome_of="kv.sec3.3.decoupling", why="The decoupling is left to the model with the fusion given."),
    Trained("kv.sec3.3.slower.trained", META_HERE, ahead=[at(64, APART, VANILLA), *both(FUSED, APART)],
            left=[at(16, APART, VANILLA)], outcome_of="kv.sec3.3.slower",
            why="Of two seeds more at width 16 one with the decoupling given stays at 82 % within the 2500 steps."),
    Trained("kv.sec5.adjacent.trained", DISCUSSION, ahead=both(FUSED, APART, Fraction(1, 2)),
            outcome_of="kv.sec5.adjacent", why="Integrating the neighbour is not free here: the layer that has nothing "
            "else to learn for the next one's keys takes the more steps."),
    Trained("kv.sec5.not_fusion.trained", DISCUSSION, ahead=both(COMMON, VANILLA, Fraction(2, 3)),
            outcome_of="kv.sec5.not_fusion", why="Of two seeds more at width 16 one with a common mixture takes 2440."),
    Trained("kv.sec5.decoupling.trained", DISCUSSION,
            ahead=[*both(K, COMMON), at(16, K, COMMON, Fraction(2, 3)), at(16, KV, COMMON)],
            left=[at(64, KV, COMMON), at(64, K, COMMON, Fraction(2, 3)), at(16, KV, COMMON, Fraction(2, 3))],
            outcome_of="kv.sec5.decoupling", why="Decoupling adds to fusion."),
    Trained("kv.appG.placement.trained", "Appendix G, last paragraph (first version: Appendix J), trained here",
            ahead=[*both(K, COMMON), at(16, K, HALF), at(16, KV, COMMON)],
            left=[*both(K, KV), *both(KV, HALF), at(64, K, HALF)], outcome_of="kv.appG.placement",
            why="Queries alone, values alone and nothing shifted do not learn (kv.appG.query, "
            "kv.fig7a.induction.values)."),
    *quoted(__file__),
)
