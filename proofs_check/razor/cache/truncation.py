"""Section 3.1 of RazorAttention, "we can safely discard them": what dropped tokens cost."""

from fractions import Fraction

from proofs_check.evidence.margin import worst
from proofs_check.ledger.claim import WITNESSED, Claim, Control, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from proofs_check.razor.cache import truncation_checks as c
from proofs_check.razor.formal.dropped_mass import RANGE
from proofs_check.razor.scope import mass_checks as m

SECTION = "RazorAttention, Section 3.1"
ADDED = f"{SECTION}, added"
THREE = {"weights": (4, 2, 1), "first": 1}
SLOW_DECAY = {"inverse_slope": 256, "inverse_eps": 1000, "scope": 407, "claimed": "0.204"}
ALTERNATING, PAIRED, CONSTANT = (1, -1, 1, -1), (1, 1, -1, -1), (5, 5, 5, 5)
ROWS = (
    {"rows": ((3,),), "gamma": (2,), "z": (1,), "layer": False},
    {"rows": ((3, 3, 3, 3), ALTERNATING), "gamma": (1, 1, 1, 1), "z": (1, 1, 1, 1), "layer": False},
    {"rows": ((2, -1, 2, -1),), "gamma": (1, 2, 1, 2), "z": ALTERNATING, "layer": False},
    {"rows": ((2, -2, 2, -2), PAIRED, CONSTANT), "gamma": (1, 1, 1, 1), "z": ALTERNATING, "layer": True},
)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.sec3.1.minimal",
        SECTION,
        "Once the distance exceeds L_h remote tokens have minimal influence on the output for small eps (such as 0.1 "
        "%).",
        symbolic(
            "o - o_K = T (vbar - o_K), any number of tokens; and T < eps beyond (D + t - ln eps)/l, every t >= 0",
            lambda: worst([c.output_split(0, 0), m.with_room()]),
            ONCE,
            Control("o in place of o_K on the right", lambda: c.output_split(0, 0, swapped=True)),
            Control("a numerator below the range", lambda: m.with_room(printed=True)),
        ),
        exact(
            "three heads whose numerator is D, values at the ends of a diameter, in balls",
            m.moved,
            m.INSIDE,
            Control("a head for which Theorem 1 fails: 0.888 of the diameter", points=(m.FAILING,)),
        ),
        defect="razor.sec3.1.discard",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=everywhere(
            "The identity is in sums over any number of tokens, the mass is that of razor.sec3.1.discard, and two "
            "weighted means of values lie within their diameter."
        ),
        reading="Remote tokens are those beyond L_h, and the output moves by at most eps diam(V) without them.",
        note=RANGE + ". A small weight of each token is not enough: razor.sec3.1.minimal.sum.",
        formula=r"m-n>L_h\ \forall n\in D\implies\|o-o_K\|\le\epsilon\,\mathrm{diam}\,V",
    ),
    mathematical(
        "razor.sec3.1.minimal.sum",
        ADDED,
        "That each dropped token weighs at most eps does not bound the change of the output by eps diam(V): inside L_h "
        "it can be 20.4 % at eps = 0.1 %.",
        exact(
            "3 tokens, q = 0, e^{-l} = 1/2, values 0, 1, 1: weights 4/7, 2/7, 1/7; with eps = 2/7 the output moves by "
            "3/7, all dropped from distance 1 < L_h = 1.81 on",
            c.moves_more,
            (THREE, {"weights": (8, 4, 2, 1), "first": 2}),
            Control("2 tokens, one of them dropped", None, ({"weights": (2, 1), "first": 1},)),
        ),
        exact(
            "l = 1/256, eps = 0.1 %, all logits 0, value 1 on remote and 0 on near tokens: from distance 407 < L_h = "
            "1768 on no token weighs more than eps in any context, and the output of 40000 tokens moves by 20.4 %",
            c.moves_by,
            (SLOW_DECAY,),
            Control("eps = 0.05 %", None, ({**SLOW_DECAY, "inverse_eps": 2000},)),
            Control("from 500 on", None, ({**SLOW_DECAY, "scope": 500},)),
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
            "vbar - o_K is a weighted mean of differences of values, 1 to 3 dropped and kept tokens",
            c.means_apart,
            tuple({"dropped": d, "kept": k} for d in (1, 2, 3) for k in (1, 2, 3)),
            Control("a kept weight that is not counted", lambda **p: c.means_apart(**p, plant=1)),
        ),
        exact(
            "values 1 and -1 on dropped and kept tokens: the error is 2 T",
            c.output_reached,
            tuple({"dropped": d, "kept": k} for d in ((0,), (1, -1), (3, 0, 0)) for k in ((0,), (2, 1))),
            Control("kept values 0", lambda **p: c.output_reached(**p, end=0)),
        ),
        is_correction=True,
        coverage=everywhere(
            "razor.sec3.1.output, and a mean of differences is no longer than the longest; each pair of a dropped and "
            "a kept token gives one and the same term, so that the shapes shown stand for all."
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
            lambda: worst([m.near_and_far(), c.ends_of_a_diameter()]),
            ONCE,
            Control("a window of one more", lambda: m.near_and_far(shift=1)),
            Control("kept values 0", lambda: c.ends_of_a_diameter(end=0)),
        ),
        exact(
            "width 1, RMSNorm, W_Q W_K = -c: near states 1, far states -1; e^{2c} = 2, 8, e^{-l} = 1/2, 9/10",
            c.worst_output,
            tuple(
                {"ratio": ratio, "lift": lift, "kept": kept, "tokens": tokens}
                for ratio in (Fraction(1, 2), Fraction(9, 10))
                for lift in (1, 3)
                for kept in (1, 4)
                for tokens in (5, 20)
            ),
            Control("the query's own state turned", lambda **p: c.worst_output(**p, turned=True)),
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
            c.opposite_states,
            ONCE,
            Control("a sign", lambda: c.opposite_states(sign=-1)),
        ),
        exact(
            "d = 1 and 4, integer weights of up to 3 value dimensions: z and -z reach the largest eigenvalue",
            c.diameter,
            ROWS,
            Control("LayerNorm without P", lambda **p: c.diameter(**p, plain=True)),
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
