"""Section 3.1 of RazorAttention, "we can safely discard them": what dropped tokens cost."""

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_at_least, identity, same, worst
from proofs_check.ledger.claim import WITNESSED, Claim, Control, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from proofs_check.razor.cache.compensation_heads import symbolic_head
from proofs_check.razor.scope import mass

SECTION = "RazorAttention, Section 3.1"
ADDED = f"{SECTION}, added"
ALTERNATING, PAIRED, CONSTANT = (1, -1, 1, -1), (1, 1, -1, -1), (5, 5, 5, 5)
ROWS = (
    {"rows": ((3,),), "gamma": (2,), "z": (1,), "layer": False},
    {"rows": ((3, 3, 3, 3), ALTERNATING), "gamma": (1, 1, 1, 1), "z": (1, 1, 1, 1), "layer": False},
    {"rows": ((2, -1, 2, -1),), "gamma": (1, 2, 1, 2), "z": ALTERNATING, "layer": False},
    {"rows": ((2, -2, 2, -2), PAIRED, CONSTANT), "gamma": (1, 1, 1, 1), "z": ALTERNATING, "layer": True},
)


def moves_by(inverse_eps: int = 1000, scope: int = 407) -> Margin:
    """All logits 0, l = 1/256: `scope` is the first distance that weighs at most eps in every context (the shortest
    decides), and the tokens from there on carry 0.204 of 40000; it lies within the printed scope, -ln(eps)/l; by
    geometric sums in balls."""
    ratio, eps = (arb(-1) / 256).exp(), arb(1) / inverse_eps
    first, before = (ratio**n * (1 - ratio) / (1 - ratio ** (n + 1)) for n in (scope, scope - 1))
    mass = (ratio**scope - ratio**40_000) / (1 - ratio**40_000)
    claim = ball_at_least(arb("5e-4") - abs(mass - arb("0.204")))
    inside = ball_at_least(-eps.log() * 256 - scope, strict=True)
    return worst([ball_at_least(eps - first), ball_at_least(before - eps), claim, inside])


def output_split(swapped: bool = False) -> Margin:
    """o - o_K = T (vbar - o_K), for free weights and values and any set of dropped tokens."""
    h = symbolic_head()
    return identity(h.full - h.kept, h.mass * (h.dropped_mean - (h.full if swapped else h.kept)))


def means_apart(plant: int = 0) -> Margin:
    """sum p_i v_i - sum q_j u_j = sum_ij p_i q_j (v_i - u_j) where the p and the q add up to 1: two weighted means
    lie no further apart than some v_i and u_j. Free weights and values of 3 tokens a side."""
    p, q = (sp.Matrix([*free, 1 - sum(free)]) for free in (sp.symbols("p0:2"), sp.symbols("q0:2")))
    v, u = (sp.Matrix(sp.symbols(f"{name}0:3")) for name in "vu")
    q[2] += plant
    pairs = sum(p[i] * q[j] * (v[i] - u[j]) for i in range(3) for j in range(3))
    return identity(p.dot(v) - q.dot(u), pairs)


def ends_of_a_diameter(end: int = -1) -> Margin:
    """Dropped values 1, kept values -1, any number of tokens: the output moves by 2 T."""
    h = symbolic_head()
    return identity((h.full - h.kept).subs({h.dropped_mean: 1, h.kept: end}), 2 * h.mass)


def opposite_states(sign: int = 1) -> Margin:
    """4 d - |z - z'|^2 = |z + z'|^2 where |z|^2 = |z'|^2 = d: no two states lie further apart than z and -z."""
    d, inner = sp.symbols("d inner", real=True)
    return identity(4 * d - (2 * d - 2 * inner), sign * (2 * d + 2 * inner))


def worst_output(ratio: Fraction, kept: int, turned: bool = False) -> Margin:
    """Width 1, RMSNorm: of 20 states those near are 1 and those far -1, logits -c x y, e^{2c} = 8, e^{-l} = ratio,
    W_V = 1. The output moves by diam(V) = 2 times the sharp mass; rationals, token by token."""
    states = [Fraction(1)] * kept + [Fraction(-1)] * (20 - kept)
    if turned:
        states[0] = -states[0]
    weights = [ratio**j * (1 if state == states[0] else 8) for j, state in enumerate(states)]
    moved = [w * x for w, x in zip(weights, states, strict=True)]
    full, near = (sum(moved[:n]) / sum(weights[:n]) for n in (20, kept))
    mass = 1 / (1 + (ratio**-kept - 1) / (1 - ratio ** (20 - kept)) / 8)
    return same(abs(full - near), 2 * mass)


def diameter(rows: Sequence[Sequence[int]], gamma: Sequence[int], z: Sequence[int], layer: bool, plain: bool = False):
    """States z and -z, |z|^2 = d: |W_V Gamma (z - (-z))|^2 against 4 d times the largest eigenvalue of A A^T,
    A = W_V Gamma P, which no pair of states exceeds; in integers."""
    scaled, width = sp.Matrix(rows) * sp.diag(*gamma), len(gamma)
    centred = scaled * (sp.eye(width) - sp.ones(width, width) / width) if layer and not plain else scaled
    state = sp.Matrix(z)
    admissible = same((state.dot(state), int(layer) * sum(z)), (width, 0))
    widest = 4 * (scaled * state).dot(scaled * state)
    found = same(sp.Integer(widest), 4 * width * max((centred * centred.T).eigenvals()))
    return worst([admissible, found])


def leave_one_out(plain: bool = False) -> Margin:
    """o_{-j} - o = a_j / (1 - a_j) (o - v_j), for free weights and values and any number of other tokens."""
    h = symbolic_head()
    factor = h.mass if plain else h.mass / (1 - h.mass)
    return identity(h.kept - h.full, factor * (h.full - h.dropped_mean))


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.sec3.1.minimal",
        SECTION,
        "Once the distance exceeds L_h remote tokens have minimal influence on the output for small eps (such as 0.1 "
        "%).",
        symbolic(
            "o - o_K = T (vbar - o_K), any number of tokens; and T < eps beyond (D + t - ln eps)/l, every t >= 0",
            lambda: worst([output_split(), mass.with_room()]),
            ONCE,
            Control("o in place of o_K on the right", lambda: output_split(swapped=True)),
            Control("a numerator below the range", lambda: mass.with_room(printed=True)),
        ),
        exact(
            "T in three heads whose numerator is D, in balls; values at the ends of a diameter make it the change",
            mass.beyond_printed,
            mass.INSIDE,
            Control("a head for which Theorem 1 fails: 0.888 of the diameter", points=(mass.FAILING,)),
        ),
        defect="razor.sec3.1.discard",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=everywhere(
            "The identity is in sums over any number of tokens, the mass is that of razor.sec3.1.discard, and two "
            "weighted means of values lie within their diameter."
        ),
        reading="Remote tokens are those beyond L_h, and the output moves by at most eps diam(V) without them.",
        note=mass.RANGE + ". A small weight of each token is not enough: razor.sec3.1.minimal.sum.",
        formula=r"m-n>L_h\ \forall n\in D\implies\|o-o_K\|\le\epsilon\,\mathrm{diam}\,V",
    ),
    mathematical(
        "razor.sec3.1.discard",
        SECTION,
        "All tokens further than L_h can be safely discarded (eps = 0.1 %).",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        reading="Discarded are the tokens at distances beyond L_h, and safely means that together they weigh less than "
        "eps.",
        formula=r"\sum_{m-n>L_h}a_{m\to n}<\epsilon",
        note=mass.RANGE + ", as it is with W_Q^T W_K, gains of one size and no bias. Where it is not, Theorem 1 fails "
        "and with it this. The reason given, a bound for each token, is not enough: razor.sec3.1.discard.sum.",
    ),
    mathematical(
        "razor.sec3.1.minimal.sum",
        ADDED,
        "That each dropped token weighs at most eps does not bound the change of the output by eps diam(V): inside L_h "
        "it can be 20.4 % at eps = 0.1 %.",
        exact(
            "l = 1/256, eps = 0.1 %, all logits 0, value 1 on remote and 0 on near tokens: from distance 407 < L_h = "
            "1768 on no token weighs more than eps in any context, and the output of 40000 tokens moves by 20.4 %",
            moves_by,
            ONCE,
            Control("eps = 0.05 %", lambda: moves_by(inverse_eps=2000)),
            Control("from 500 on", lambda: moves_by(scope=500)),
        ),
        coverage=WITNESSED,
        is_correction=True,
        note="What counts is the dropped mass T, not the largest dropped weight: here 204 eps.",
        formula=r"a_n\le\epsilon\ \forall n\in D,\quad\|o-o_K\|>204\,\epsilon",
    ),
    mathematical(
        "razor.sec3.1.output_bound",
        ADDED,
        "So |o - o_K| <= T diam(V); reached where dropped and kept values sit at the two ends of a diameter.",
        symbolic(
            "vbar - o_K is a weighted mean of differences of values, 3 dropped and 3 kept tokens",
            means_apart,
            ONCE,
            Control("a kept weight that is not counted", lambda: means_apart(plant=1)),
        ),
        symbolic(
            "values 1 and -1 on dropped and kept tokens, any number of them: the error is 2 T",
            ends_of_a_diameter,
            ONCE,
            Control("kept values 0", lambda: ends_of_a_diameter(end=0)),
        ),
        is_correction=True,
        coverage=everywhere(
            "razor.sec3.1.output, and a mean of differences is no longer than the longest; each pair of a dropped and "
            "a kept token gives one and the same term, so that the shape shown stands for all."
        ),
        formula=r"\|o-o_K\|\le T\,\mathrm{diam}\,V",
    ),
    mathematical(
        "razor.sec3.1.output_attained",
        ADDED,
        "With the sharp mass the bound |o - o_K| <= diam(V)/(1 + e^{-D}(e^{lW} - 1)/(1 - e^{-l(m - W)})) of an ALiBi "
        "head with a window of W in m tokens is attained.",
        symbolic(
            "the mass of W kept and any number of dropped tokens, and the output at values 1 and -1",
            lambda: worst([mass.near_and_far(), ends_of_a_diameter()]),
            ONCE,
            Control("a window of one more", lambda: mass.near_and_far(shift=1)),
            Control("kept values 0", lambda: ends_of_a_diameter(end=0)),
        ),
        exact(
            "width 1, RMSNorm, W_Q W_K = -c: near states 1, far states -1; e^{2c} = 8, e^{-l} = 1/2, 9/10",
            worst_output,
            tuple({"ratio": ratio, "kept": kept} for ratio in (Fraction(1, 2), Fraction(9, 10)) for kept in (1, 4)),
            Control("the query's own state turned", lambda **p: worst_output(**p, turned=True)),
        ),
        coverage=everywhere(
            "One dimension has a head of every range, in which the mass is the closed form for every slope, window and "
            "length, and values at the two ends of a diameter turn it into 2 T; the rationals are cases."
        ),
        is_correction=True,
        formula=r"\|o-o_K\|\le\frac{\mathrm{diam}\,V}{1+e^{-D}(e^{lW}-1)/(1-e^{-l(m-W)})}",
    ),
    mathematical(
        "razor.sec3.1.value_diameter",
        ADDED,
        "diam(V) <= 2 sqrt(d) sigma_max(W_V Gamma P), P = I for RMSNorm and I - 11^T/d for LayerNorm; both biases "
        "cancel and two opposite states reach it.",
        symbolic(
            "the farthest two of all z with |z|^2 = d are opposite",
            opposite_states,
            ONCE,
            Control("a sign", lambda: opposite_states(sign=-1)),
        ),
        exact(
            "d = 1 and 4, integer weights of up to 3 value dimensions: z and -z reach the largest eigenvalue",
            diameter,
            ROWS,
            Control("LayerNorm without P", lambda **p: diameter(**p, plain=True)),
            Control("states that are no singular vector", None, ({**ROWS[2], "z": PAIRED},)),
        ),
        coverage=everywhere(
            "v - v' = W_V Gamma P (z - z') with |z - z'| at most 2 sqrt(d), so the largest singular value bounds it; "
            "plus and minus sqrt(d) times its vector, which lies in the range of P, reach it. Four heads are computed."
        ),
        is_correction=True,
        formula=r"\mathrm{diam}\,V\le 2\sqrt d\,\sigma_{\max}(W_V\Gamma P)",
    ),
)
