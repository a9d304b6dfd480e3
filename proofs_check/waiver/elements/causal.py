"""Causal masks, first tokens and their copies (Sections 3.3 and 4 of the waiver paper)."""

from fractions import Fraction

from proofs_check.language import choice, eq, exp, log, total, when, whole
from proofs_check.ledger.claim import SAMPLES, WITNESSED, Control, Effort, Severity, Verdict
from proofs_check.ledger.mathematical import exact, mathematical, sampled
from proofs_check.records import derived, every, rule
from proofs_check.waiver.elements import checks as c

CAUSAL = "Waiver paper, Section 3.3.1"
# One head without positions among 512 tokens: the logit of the waiver's word is 24 log 2, all others are 0.
PLACE, TOKEN = choice("place", 1, 256, 512), whole("token", 1, 512)
EXPONENTIAL = derived("exponential", (TOKEN, PLACE), when(eq(TOKEN, PLACE), exp(24 * log(2)), 1))

CLAIMS = (
    mathematical(
        "waiver.eq7",
        f"{CAUSAL}, Equation 7",
        "Causal attention is the mask times the softmax, and the first element is not affected by other elements.",
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        correction="waiver.eq7.corrected",
        reading="As Section 4.2.1 has it, the mask sets logits to minus infinity before the softmax.",
        note="The softmax of the masked logits; as printed what comes later enters the first weight's denominator.",
        formula=r"\mathrm{softmax}(S+\log M)V",
    ),
    mathematical(
        "waiver.eq8",
        f"{CAUSAL}, Equation 8",
        "The first element is processed as by an MLP alone: its projections in attention can be moved into the MLP, as "
        "matrix products are associative.",
        exact(
            "one dimension, x + RMSNorm(x) at x and 2 x: no projection in front of an MLP gives both",
            c.not_linear,
            ({"scale": 2},),
            Control("the same x", lambda scale: c.not_linear(1)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        coverage=WITNESSED,
        reading="MLP stands for the layer's map of a single token, its residual and its normalisation in it.",
        note="That reading. The map is a fixed function of the token (waiver.eq7.corrected), and not the layer's MLP "
        "with other weights: a residual and a normalisation stand between.",
        formula=r"\mathrm{outs}_0=\mathrm{MLP}(\mathrm{emb}_0)",
    ),
    mathematical(
        "waiver.sec3.3.1.size",
        CAUSAL,
        "The number of states that a first element can have equals the size of the vocabulary.",
        exact(
            "two words of one embedding: one state",
            c.duplicates,
            ({"rows": ("a", "b", "b")},),
            Control("all different", points=({"rows": ("a", "b", "c")},)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        coverage=WITNESSED,
        reading="Where different words have different states.",
        note="At most that: rows of the embedding may agree, and layers may map two words to one.",
        formula=r"|\{f(E_w)\}|\le|V|",
    ),
    mathematical(
        "waiver.sec3.3.2.impossible",
        "Waiver paper, Section 3.3.2",
        "With global attention each element is mixed with others, which makes it impossible to tell a waiver by the "
        "method of feature distributions within elements.",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="That method is the one of Section 3.3.1, which tells an element by its not being mixed; under a "
        "softmax over all elements each has a positive weight, and none is unmixed.",
        note="That reading: other features of an element can tell a waiver, waiver.sec3.3.2.impossible.word.",
        formula=r"0<a(i,j)<1",
    ),
    rule("waiver.sec3.3.2.impossible.word", "added to Section 3.3.2", every(
        (PLACE,), EXPONENTIAL(PLACE, PLACE) / total(TOKEN, 1, 512, EXPONENTIAL(TOKEN, PLACE)) > Fraction(9999, 10**4),
        EXPONENTIAL), why="So a waiver can be told by its word under global attention, by a key that is large for it."),
    mathematical(
        "waiver.eq11.layers",
        "Waiver paper, Section 4.2.1, added",
        "Behind every layer a token that is so masked has the state that the same word has as a first token.",
        sampled(
            "random models of three layers without positions, with ALiBi and with RoPE",
            c.masked_is_first,
            lambda effort: [
                {"position": position, "seed": seed}
                for position in ("none", "alibi", "rope")
                for seed in range(2 if effort is Effort.QUICK else 20)
            ],
            Control("the first layer alone masked", lambda **p: c.masked_is_first(**p, layers=(0,))),
            Control("learned positions", lambda seed, position: c.masked_is_first("learned", seed)),
            Control("values mixed with those before", lambda **p: c.masked_is_first(**p, shift="v")),
        ),
        formula=r"h^{(n)}_k=h^{(n)}_1\ (x_1=x_k),\quad n=1,2,\ldots",
        coverage=SAMPLES,
        hypotheses=(
            "the mask is in every layer and head",
            "position enters through the logits of queries and keys alone: none, ALiBi, rotary",
        ),
        is_correction=True,
        note="Layer by layer: its attention gives the token its own value, and all else is done token by token. It "
        "keeps its own word: it is a copy of the first token only where the two words are one.",
    ),
)
