"""References that lead nowhere, checked against what exists, and slips of the text, against a small exact case."""

from proofs_check.evidence.margin import Margin, different, less, same
from proofs_check.ledger.claim import ENUMERATED, INSTANCES, Control, Nature, Severity, Verdict
from proofs_check.ledger.exact_claim import BOTH, FINAL, FIRST, exact_claim
from proofs_check.records import quoted

# The optimiser, its two rates and its weight decay as names and as numbers, in Section 4.1 and in Table 16 (6).
OPTIMISER = {
    "text": {"names": ("AdamW", "beta1", "beta"), "numbers": ("0.9", "0.95", "0.1")},
    "table": {"names": ("Adam", "alpha1", "alpha2"), "numbers": ("0.9", "0.95", "0.1")},
}
# What each version cites for the fusion of adjacent information, by title (Section 5; text comes last).
FUSIONS = {
    "vision": "Shift: A zero flop, zero parameter alternative to spatial convolutions",
    "video": "Token shift transformer for video classification",
    "speech": "Accelerating transducers through adjacent token merging",
    "text (first version)": "RWKV: Reinventing RNNs for the transformer era",
    "text (final)": "Training verifiers to solve math word problems",
}
# Words of a title that speak of mixing neighbours, in time or in space.
MIXING = ("shift", "adjacent", "rnn")
SENTENCES = [{"tokens": t, "position": i} for t in range(3, 8) for i in range(1, t)]
# Errors of approximation as whole numbers 0 .. 5: enough to tell the orders of two bounds apart.
ERRORS = range(6)


def _separates(lower: int, upper: int) -> Margin:
    """Every error at or above `lower` exceeds every error at or below `upper`."""
    return less(max(e for e in ERRORS if e <= upper), min(e for e in ERRORS if e >= lower))


def _knows_another(holder: int, about: int) -> Margin:
    """Under the causal mask the state at `holder` can carry another token `about` only if that token came earlier."""
    return less(about, holder)


def _repeats(tokens: int, position: int, ahead: int = 1) -> Margin:
    """In x_1 .. x_T x_i x_{i+1}, j = T + 1 repeats i, and token j + 1 is compared with token i + ahead."""
    words = [*range(1, tokens + 1), position, position + 1]
    return same(words[tokens + 1], words[position - 1 + ahead])


def _speaks_of_mixing(medium: str) -> Margin:
    return same(True, any(word in FUSIONS[medium].lower() for word in MIXING))._replace(printed=FUSIONS[medium])


TYPO = {
    "nature": Nature.TEXTUAL,
    "verdict": Verdict.TYPO,
    "severity": Severity.MISPRINT,
    "coverage": ENUMERATED,
}
FOR_SOME = {**TYPO, "coverage": INSTANCES}

CLAIMS = (
    exact_claim(
        "kv.fn3.direction",
        f"{BOTH}, footnote 3",
        "It would be more rigorous to prove the lower bound for two vanilla layers smaller than the upper bound for "
        "KV shifting.",
        _separates,
        [{"lower": a, "upper": b} for a in ERRORS for b in ERRORS if a > b],
        (Control("a smaller lower bound", points=[{"lower": a, "upper": b} for a in ERRORS for b in ERRORS if a < b]),),
        scope="all pairs of bounds among six errors",
        note="Larger: only a lower bound above the other's upper bound separates the two.",
        **FOR_SOME,
    ),
    exact_claim(
        "kv1.sec4.6.sums",
        f"{FIRST}, Section 4.6",
        "The sum of alpha_i and the sum of alpha_i have left 1; a gate keeps both of them at 1.",
        different,
        ({"printed": "alpha", "true": "beta"},),
        (Control("the first version", points=({"printed": "alpha", "true": "alpha"},)),),
        scope="the same sentence in the final version",
        note="The second sum is that of beta_i, as the final version has it.",
        **TYPO,
    ),
    exact_claim(
        "kv.appF.information",
        "KV shifting (final), Appendix F (first version: Section 4.6)",
        "A head gets at token i - 1 by way of token i because token i - 1 may contain information about token i - 1.",
        _knows_another,
        [{"holder": i, "about": i - 1} for i in range(2, 8)],
        (
            Control("token i - 1 about itself", points=[{"holder": i - 1, "about": i - 1} for i in range(2, 8)]),
            Control("token i - 1 about token i", points=[{"holder": i - 1, "about": i} for i in range(2, 8)]),
        ),
        note="It is token i that may contain information about token i - 1.",
        **FOR_SOME,
    ),
    exact_claim(
        "kv.sec3.2.condition",
        f"{BOTH}, Section 3.2, Various depth",
        "The data: if token j is the same as token i < j, then token j + 1 is the same as token i.",
        _repeats,
        SENTENCES,
        (Control("token i", lambda tokens, position: _repeats(tokens, position, ahead=0)),),
        scope="all one-repeat sentences of 3 to 7 tokens, repeated and continued",
        note="Token j + 1 is the same as token i + 1.",
        **FOR_SOME,
    ),
    exact_claim(
        "kv.tab16.optimizer",
        "KV shifting (final), Table 16 (first version: Table 6), with Section 4.1",
        "The optimiser of Section 4.1, AdamW with beta1 = 0.9 and beta = 0.95, is that of the table.",
        same,
        ({"printed": OPTIMISER["text"]["numbers"], "true": OPTIMISER["table"]["numbers"]},),
        (Control("by name", points=({"printed": OPTIMISER["text"]["names"], "true": OPTIMISER["table"]["names"]},)),),
        scope="0.9, 0.95 and weight decay 0.1 in both places",
        note="AdamW's beta1 and beta2: the table prints Adam, alpha1 and alpha2, the mixing coefficients' names.",
        **TYPO,
    ),
    exact_claim(
        "kv.sec5.fusion_reference",
        f"{FINAL}, Section 5",
        "Adjacent information is fused in vision, video, speech and text; Cobbe et al. (2021) is the example in text.",
        _speaks_of_mixing,
        [{"medium": medium} for medium in FUSIONS if medium != "text (final)"],
        (Control("the work cited for text", points=({"medium": "text (final)"},)),),
        scope="the titles of the works cited by both versions, as their reference lists have them",
        note="Peng et al. (2023), a recurrent model of text, as in the first version and as Appendix G says; Cobbe et "
        "al. is on verifiers for word problems. That the other works fuse is theirs to say.",
        **TYPO,
    ),
    *quoted(__file__),
)
