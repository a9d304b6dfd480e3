"""What only the first version of the KV-shifting paper says, in Section 5 and footnote 4."""

import itertools
from functools import reduce

import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_at_least, less, worst
from proofs_check.kv.method.setup import BASE, DEFAULT_BASE, decay, rates
from proofs_check.ledger.claim import ENUMERATED, Claim, Control, Nature, Severity, Verdict, everywhere
from proofs_check.ledger.exact_claim import exact_claim
from proofs_check.ledger.mathematical import exact, identities, mathematical, symbolic
from theory.shift.algebra import softmax, tokens

FIRST = "KV shifting (first version), Section 5"


def _layer(states: list[sp.Expr], causal: bool) -> list[sp.Expr]:
    """One attention layer without positions, D = 1, identity projections."""
    rows = []
    for place, state in enumerate(states):
        seen = states[: place + 1] if causal else states
        rows.append(sum(w * s for w, s in zip(softmax([state * s for s in seen]), seen, strict=True)))
    return rows


def _permuted(length: int, layers: int = 1, causal: bool = True, fixed: int = 1) -> Margin:
    """Outputs under every permutation of all but the last `fixed` tokens, against the permuted outputs: the last one of
    causal layers (fixed = 1), all of layers without a mask (fixed = 0).
    """
    states = list(tokens(length))

    def outputs(order: tuple[int, ...]) -> list[sp.Expr]:
        rows = [states[k] for k in order]
        for _ in range(layers):
            rows = _layer(rows, causal)
        return rows[-1:] if fixed else rows

    places = tuple(range(length))
    plain = dict(zip(places[-1:] if fixed else places, outputs(places), strict=True))
    orders = [order + places[length - fixed :] for order in itertools.permutations(places[: length - fixed])]
    found = [row for order in orders for row in outputs(order)]
    return identities(found, [plain[k] for order in orders for k in order if k in plain])


def _nearest_first(base: int, window: int) -> Margin:
    """sum_i cos(m theta_i) is lower at m = 1 than at 0, and lower yet at every other m of the window; d = 128."""
    speeds = rates(base)
    sums = [decay(distance, speeds) for distance in range(window)]
    highest = reduce(arb.max, sums[2:])
    return worst([ball_at_least(sums[0] - sums[1], strict=True), ball_at_least(sums[1] - highest, strict=True)])


# What the models of Elhage et al. and Llama have beside attention, the one part of the theory, as the footnote and
# Section 3 say.
BESIDE = {"attention-only": (), "Llama": ("MLP", "normalisation")}


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv1.sec5.permutation",
        FIRST,
        "Pure attention has permutation invariance.",
        symbolic(
            "the last output of one causal layer under all orders of the earlier tokens, N = 3, 4; tokens free",
            _permuted,
            ({"length": 3}, {"length": 4}),
            Control("two causal layers", points=({"length": 3, "layers": 2},)),
        ),
        symbolic(
            "two layers without a mask: the outputs of permuted tokens are the permuted outputs, N = 2, 3; tokens free",
            lambda length, causal=False: _permuted(length, layers=2, causal=causal, fixed=0),
            ({"length": 2}, {"length": 3}),
            Control("with the causal mask", points=({"length": 2, "causal": True},)),
        ),
        verdict=Verdict.HOLDS_IF,
        hypotheses=("one layer seen from the last token, or no causal mask",),
        reading="Attention without positions is meant, as a sum over the tokens that it sees.",
        severity=Severity.READING,
        note="Missing: a second layer under the causal mask does tell the order, from three tokens on.",
        formula=r"Y_L(x_{\pi(1)},\ldots,x_{\pi(L-1)},x_L)=Y_L(x_1,\ldots,x_L)",
        coverage=everywhere("The output is a ratio of two sums over the tokens seen, which a permutation reorders."),
    ),
    mathematical(
        "kv1.sec5.rope.nearest",
        f"{FIRST}, our addition",
        "For a key equal to the query, of one length in every pair of components, the rotary score is largest at "
        "distance 0 and next at 1: d = 128, windows of 2048 for base 10,000 and 4096 for 100,000.",
        exact(
            "sum_i cos(m base^(-2i/d)) in balls at every m of the window",
            _nearest_first,
            ({"base": DEFAULT_BASE, "window": 2048}, {"base": BASE, "window": 4096}),
            Control("one speed for all pairs", points=({"base": 1, "window": 64},)),
        ),
        is_correction=True,
        formula=r"\sum_i\cos(m\,b^{-2i/d})<\sum_i\cos(b^{-2i/d})<\frac{d}{2},\quad m\ge2",
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv1.fn4",
        "KV shifting (first version), Section 3.2, footnote 4",
        "The attention-only structure of Elhage et al. is better aligned with the theory than Llama's.",
        lambda near, far: less(len(BESIDE[near]), len(BESIDE[far])),
        ({"near": "attention-only", "far": "Llama"},),
        (Control("the other way round", points=({"near": "Llama", "far": "attention-only"},)),),
        scope="parts that the theory leaves out: MLP and normalisation",
        nature=Nature.TEXTUAL,
        reading="Better aligned means with fewer parts that the theory leaves out.",
        coverage=everywhere("Two structures are compared, by the parts of each that the theory leaves out."),
    ),
)
