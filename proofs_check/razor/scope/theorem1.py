"""Theorem 1 of RazorAttention and the steps of its proof: false as printed, and the bound that is attained."""

from fractions import Fraction

import numpy as np
import sympy as sp
from flint import arb

from proofs_check.evidence.margin import (
    Margin,
    ball_above,
    ball_at_least,
    ball_below,
    ball_within,
    identity,
    same,
    worst,
)
from proofs_check.ledger.claim import ENUMERATED, WITNESSED, Claim, Control, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from proofs_check.oracles.alibi import BallHead, ball, ball_scores, ball_softmax
from theory import alibi

THEOREM = "RazorAttention, Section 3.1, Theorem 1"
PROOF = "RazorAttention, Appendix A"
HALF = Fraction(1, 2)
E1 = ((1, 0), (0, 0))


def own_term_is_summed(n_tokens: int, own: int = 1) -> Margin:
    """The denominator less e^{S_{m->m}} is the sum of the other exponentials: the own term is one of its terms."""
    scores = sp.symbols(f"s0:{n_tokens}", real=True)
    total = sum(sp.exp(s) for s in scores)
    return identity(total - own * sp.exp(scores[-1]), sum(sp.exp(s) for s in scores[:-1]))


def term_of_the_sum(own: bool = True) -> Margin:
    """The denominator of query m is at least e^{S_{m->m}}; without `own` e^{S_{n->n}} of another query is asked for."""
    head = BallHead("rms", (1, 1), (0, 0), E1, E1, HALF)
    target, query = (1, 0), (0, 1)
    total = sum((s.exp() for s in ball_scores(head, [target, query])), arb(0))
    term = ball_scores(head, [query if own else target])[0].exp()
    return ball_at_least(total - term)


def below_one(product: int) -> Margin:
    """e^{q_m . k_m} < 1 although e^{q_m . q_m} >= 1, which is put in its place; d = 1, W_Q = product, W_K = x = 1."""
    value, square = ball(product).exp(), ball(product * product).exp()
    smaller = ball_below(value, 1)
    return worst([smaller, ball_at_least(square - 1)], sides=smaller)


def above_its_tangent() -> Margin:
    """e^t >= 1 + t, with equality at t = 0 alone: the difference is convex, and 0 and flat at 0."""
    t = sp.Symbol("t", real=True)
    excess = sp.exp(t) - 1 - t
    return worst(
        [
            identity(excess.subs(t, 0), 0),
            identity(sp.diff(excess, t).subs(t, 0), 0),
            same(bool(sp.diff(excess, t, 2).is_positive), True),
        ]
    )


def square_at_least_one(sign: int = 1) -> Margin:
    """q . q is a sum of squares, of the first coordinate and of all others; and e^t >= 1 + t."""
    first, others = sp.Symbol("q_1", real=True), sp.Symbol("rest", nonnegative=True)
    return worst([same(bool((sign * (first**2 + others)).is_nonnegative), True), above_its_tangent()])


def bounded_logits(factor: int = 2) -> Margin:
    """Own logit at least -B, the target's at most B, R >= 0 of all others: the weight falls short of e^{2B - ln} by a
    positive quotient, whatever R, and e^{2B - ln} tends to 0."""
    slope, bound, rest, n = sp.symbols("l B R n", positive=True)
    top = sp.exp(factor * bound - slope * n)
    weight = 1 / (1 + sp.exp(slope * n - 2 * bound) + rest)
    gap = top**2 * (1 + rest) / (1 + top * (1 + rest))
    return worst([identity(top - weight, gap), identity(sp.limit(top, n, sp.oo), 0)])


def dominated(strength: int, distance: int) -> Margin:
    """q_m . k_n = 0, so that any slope dominates it, and the weight is still above one half: all the rest is lower."""
    head = BallHead("rms", (1, 1), (0, 0), ((strength, 0),), ((-1, 0),), HALF)
    weight = ball_softmax(ball_scores(head, [(0, 1), *[(1, 0)] * distance]))[0]
    return ball_above(weight, HALF)


def gap_by_chord(curve: int = 1) -> Margin:
    """D_s/d = max |S u| - u.S u over unit u, eigenvalues t in [-p, r]: |S u|^2 <= (r - p) u.S u + p r by the chord of
    t^2, which the two extreme eigenvectors reach; so it is z - (z^2 - p r)/(r - p) with |p| <= z <= |r|. That is
    (r + p)^2/(4(r - p)) less a square over r - p, and 2p less (z - p)(z + 2p - r)/(r - p)."""
    p, r, t, z = sp.symbols("p r t z", real=True)
    found = z - curve * (z**2 - p * r) / (r - p)
    return worst(
        [
            identity((r - p) * t + p * r - t**2, (t + p) * (r - t)),
            identity((r + p) ** 2 / (4 * (r - p)) - found, (z - (r - p) / 2) ** 2 / (r - p)),
            identity(2 * p - found, (z - p) * (z + 2 * p - r) / (r - p)),
        ]
    )


def symmetric_gap(low: int, high: int, formula: str = "both") -> Margin:
    """The certified D_s of a diagonal head, d = 3, against its closed form at eigenvalues low..high; within 1e-13."""
    d, p, r = 3, -low, high
    form = np.diag([float(low), (low + high) / 2, float(high)])
    inner = formula == "self" or (p > 0 and r <= 3 * p)
    true = Fraction(2 * d * p) if inner else Fraction(d * (r + p) ** 2, 4 * (r - p))
    found = alibi.certified_self_gap(np.eye(d), form, np.ones(d))
    value, near = ball(true) / ball(d).sqrt(), Fraction(1, 10**13)
    below, above = (ball(Fraction(end)) for end in found)
    return worst([ball_within(below - value, near), ball_within(value - above, near)])


OWN_TERM = symbolic(
    "with S_{m->m}: the denominator less that term is a sum of exponentials, 1 to 6 other tokens",
    own_term_is_summed,
    tuple({"n_tokens": n} for n in range(2, 8)),
    Control("twice that term", lambda n_tokens: own_term_is_summed(n_tokens, own=2)),
)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.appA.denominator",
        PROOF + ", bound of the attention weight",
        "The denominator of the attention of query m is at least exp(S_{n->n}).",
        OWN_TERM,
        exact(
            "two tokens, d = 2, RMSNorm, with S_{m->m}: 1 against e^{-l} + 1",
            term_of_the_sum,
            ONCE,
            Control("as printed: e^2 against e^{-l} + 1", lambda: term_of_the_sum(own=False)),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=everywhere("The own score's exponential is one term of a sum of positive ones, however many."),
        formula=r"\sum_n e^{S_{m\to n}}\ge e^{S_{n\to n}}",
        note="S_{m->m} = q_m . k_m is meant: S_{n->n} is the own score of another query and no term of the sum.",
    ),
    mathematical(
        "razor.appA.denominator.corrected",
        PROOF + ", bound of the attention weight, corrected",
        "The denominator of the attention of query m is at least exp(S_{m->m}) = exp(q_m . k_m).",
        OWN_TERM,
        formula=r"\sum_n e^{S_{m\to n}}\ge e^{q_m\cdot k_m}",
        coverage=everywhere("The own score's exponential is one term of a sum of positive ones, however many."),
        is_correction=True,
    ),
    mathematical(
        "razor.appA.positive",
        PROOF + ", bound of the attention weight",
        "The own token's term exp(q_m . k_m) may be written exp(q q^T), and so left out as at least 1.",
        exact(
            "one dimension, RMSNorm, W_Q^T W_K = -1..-8: e^{q.k} is below 1 and e^{q.q} above",
            below_one,
            tuple({"product": -n} for n in range(1, 9)),
            Control("a positive product", None, ({"product": 1},)),
        ),
        defect="razor.thm1",
        verdict=Verdict.FALSE,
        severity=Severity.BREAKS,
        coverage=WITNESSED,
        formula=r"e^{q_mk_m^T}=e^{q_mq_m^T}\ge 1",
        witness={"product": -2},
        correction="razor.appA.gap",
        note="The term is query against key, and is below 1 wherever that product is negative. The inequality as "
        "printed, for q against itself, is true: razor.appA.square.",
    ),
    mathematical(
        "razor.appA.square",
        PROOF + ", bound of the attention weight",
        "exp(q q^T) is at least 1.",
        symbolic(
            "a sum of squares in free coordinates, and e^t >= 1 + t",
            square_at_least_one,
            ONCE,
            Control("the square with a minus", lambda: square_at_least_one(sign=-1)),
        ),
        formula=r"e^{qq^T}\ge 1",
        coverage=everywhere("q q^T is a sum of squares in every dimension, and e^t >= 1 + t for every real t."),
        note="It is not the term of the sum: razor.appA.positive.",
    ),
    mathematical(
        "razor.appA.gap",
        PROOF + ", corrected",
        "q_m . k_n - q_m . k_m <= D_s <= D; for a symmetric form with eigenvalues -p..r, RMSNorm with unit gains, "
        "D_s = 2dp if p > 0 and r <= 3p, else d(r + p)^2/(4(r - p)), times 1/sqrt(d_head).",
        symbolic(
            "free p, r and eigenvalues: a chord and two differences that are squares or products of signed factors",
            gap_by_chord,
            ONCE,
            Control("half of the quadratic term", lambda: gap_by_chord(curve=2)),
        ),
        exact(
            "enclosures of D_s by a query and a multiplier against the closed form, diagonal heads in balls",
            symmetric_gap,
            tuple({"low": low, "high": high} for low, high in ((-1, 2), (-1, 4), (0, 3), (-2, -1), (1, 5), (-3, 9))),
            Control("D_s = 2dp always", lambda **p: symmetric_gap(**p, formula="self")),
        ),
        formula=r"q_m\cdot k_n-q_m\cdot k_m\le D_s\le D",
        coverage=everywhere(
            "The first line is the definition; the best key of a query u is along S u, the chord of t^2 bounds |S u|^2 "
            "and two extreme eigenvectors reach it, and both forms of the maximum are shown for free p and r."
        ),
        is_correction=True,
    ),
    mathematical(
        "razor.sec3.1.domination",
        "RazorAttention, Section 3.1",
        "When l_h (m - n) significantly dominates q_m . k_n the attention between the two tokens decays to zero.",
        symbolic(
            "the own logit at -B, the target's at B and any sum of other terms; the limit of the bound",
            bounded_logits,
            ONCE,
            Control("B for 2B", lambda: bounded_logits(factor=1)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="The distance grows, and the logits of the query are at most B in size, as a norm before makes them: "
        "the attention is at most e^{2B - l_h (m - n)}.",
        coverage=everywhere("Slope, bound, distance and the sum of all other terms are free symbols."),
        formula=r"|q_mk_j^T|\le B\ \forall j\Rightarrow a_{m\to n}\le e^{2B-l_h(m-n)}\to 0",
        note="All logits of the query must be dominated, its own token's among them: hence 2B and not B; "
        "razor.sec3.1.domination.wider has q_m . k_n = 0.",
    ),
    mathematical(
        "razor.sec3.1.domination.wider",
        "RazorAttention, Section 3.1, added",
        "To dominate q_m . k_n alone is not enough: at every distance up to 60 some head has q_m . k_n = 0 and a "
        "weight above one half, its other logits lying lower.",
        exact(
            "q_m . k_n = 0 and every other logit -2c, in balls",
            dominated,
            tuple({"strength": n + 4, "distance": n} for n in range(1, 61)),
            Control("the other logits at 0 as well", None, ({"strength": 0, "distance": 5},)),
        ),
        formula=r"q_mk_n^T=0,\ a_{m\to n}>\frac12",
        coverage=ENUMERATED,
        is_correction=True,
        note="A softmax does not see a shift: the slope has to dominate q_m . (k_n - k_j) for some nearer token j.",
    ),
)
