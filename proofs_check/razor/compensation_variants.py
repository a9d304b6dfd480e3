"""Compensation beyond Eq. 4 of RazorAttention: rotated keys, fading keys, another centre, second order."""

from proofs_check.claim import Claim, Control, Interval, Sampled
from proofs_check.kv.mathematical import ONCE, exact, mathematical, sampled, symbolic
from proofs_check.razor import compensation_variant_checks as c

ROPE = "RazorAttention, Section 3.2 (Eq. 4 on rotated keys), added"
ALIBI = "RazorAttention, Section 3.1 and Eq. 4, added"
EQ4 = "RazorAttention, Eq. 4, added"
FEW = tuple({"count": n} for n in (2, 3, 4, 5))
ROUND = {"periods": (16, 17, 19), "reaches": (3, 2, 1)}
DECAYS = tuple({"tokens": n, "window": w} for n in (1, 2, 4) for w in (1, 3))
HEADS = (Interval("seed", 0, 10**6, whole=True), Interval("scale", 0.0, 6.0))

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.eq4.rotary",
        ROPE,
        "Averaging keys after the rotation counts even identical tokens too little, from two of them on: with logits "
        "x and y by cosh((x - y)/2).",
        symbolic(
            "two turned copies of a key, free logits",
            c.rotated_pair,
            ONCE,
            Control("cosh((x - y)/3)", lambda: c.rotated_pair(half=3)),
        ),
        exact(
            "neighbours, frequency 1, |q| |k| = 1, 10, 100: at least 2.6 %, 400 %, 10^9 times too little",
            c.rotated_neighbours,
            (
                {"reach": 1, "excess": "0.026"},
                {"reach": 10, "excess": "4"},
                {"reach": 100, "excess": "1000000000"},
            ),
            Control("no turn", lambda reach, excess: c.rotated_neighbours(reach, excess, turn=0)),
        ),
        is_correction=True,
        formula=r"\frac{Z_D}{\hat Z}=\cosh\frac{x-y}{2}",
    ),
    mathematical(
        "razor.eq4.rotary.limit",
        ROPE,
        "Over many positions the factor tends to prod_i I_0(|q_i| |k_i|) over the pairs of dimensions, 14.09 for "
        "(3, 2, 1), while the mean of n copies of a turning pair shrinks to |sin(n theta/2)| / (n |sin(theta/2)|).",
        exact(
            "three pairs with periods 16, 17, 19, all 5168 positions one by one",
            c.rotated_many,
            (ROUND,),
            Control("I_0 of (3, 2, 2)", lambda **p: c.rotated_many(**p, claimed=(3, 2, 2))),
            Control("periods 4, 5, 7", None, ({**ROUND, "periods": (4, 5, 7)},)),
        ),
        symbolic(
            "geometric sums of 2 to 5 phases",
            c.phases,
            FEW,
            Control("n + 1", lambda count: c.phases(count, drift=1)),
        ),
        is_correction=True,
        formula=r"\frac{Z_D}{\hat Z}\to\prod_i I_0(|q_i||k_i|)",
    ),
    mathematical(
        "razor.eq4.rotary.unrotated",
        ROPE,
        "A token that keeps the mean key before the rotation, and sums e^{q.R kbar} over the dropped distances, is "
        "exact for identical keys.",
        sampled(
            "6 copies of a key at random distances, two random frequencies, by complex phases",
            c.unrotated,
            lambda effort: [{"seed": seed} for seed in range(50)],
            Control("keys that differ", lambda seed: c.unrotated(seed, identical=False)),
        ),
        is_correction=True,
        formula=r"\hat Z=\sum_{m\in D}e^{q R_m\bar k}",
    ),
    mathematical(
        "razor.eq4.alibi_mean",
        ALIBI,
        "Under ALiBi with the mean bias of the dropped tokens, identical keys are counted too little by "
        "sinh(l N/2)/(N sinh(l/2)): 158 times with l = 1/256 and N = 4000.",
        symbolic(
            "2 to 5 consecutive distances, every slope",
            c.mean_bias,
            FEW,
            Control("the bias one token off", lambda count: c.mean_bias(count, shift=1)),
        ),
        exact(
            "4000 tokens one by one",
            c.mean_bias_counted,
            ({"count": 4000, "inverse_slope": 256, "claimed": 158},),
            Control("l = 1/128", None, ({"count": 4000, "inverse_slope": 128, "claimed": 158},)),
        ),
        is_correction=True,
        formula=r"\frac{Z_D}{\hat Z}=\frac{\sinh(lN/2)}{N\sinh(l/2)}",
    ),
    mathematical(
        "razor.eq4.alibi_decay",
        ALIBI,
        "With weights e^{-l distance} the token is exact for identical keys; as the query moves on, mass <- e^{-l} "
        "mass + e^{-l W} and the means with it, exactly.",
        symbolic(
            "1 to 4 tokens that leave a window of 1 or 3, free keys, every slope",
            c.decay,
            DECAYS,
            Control("e^{-l (W + 1)}", lambda **p: c.decay(**p, fresh_power=1)),
        ),
        is_correction=True,
        formula=r"m\leftarrow e^{-l}m+e^{-lW}",
    ),
    mathematical(
        "razor.eq4.weighted",
        EQ4,
        "Lambda(r) bounds the log mass of a token with any prior weights as well: with ALiBi weights r is the range of "
        "q.k alone, whatever the slope; about a query q_0, the range of (q - q_0).k.",
        symbolic(
            "free prior weights on 2 to 4 tokens: the chords sum to the two-point law of razor.eq5.log_mass",
            c.weighted_chord,
            FEW[:3],
            Control("even weights in the mean", lambda count: c.weighted_chord(count, even=True)),
        ),
        is_correction=True,
        formula=r"\ln\frac{Z_D}{\hat Z}\le\Lambda(r),\qquad r=\max_{i,j\in D}(q-q_0)(k_i-k_j)",
    ),
    mathematical(
        "razor.eq4.tangent",
        EQ4,
        "Eq. 4 is the tangent of q -> log Z_D(q) at q = 0. The tangent at q_0 has the softmax means at q_0 as key and "
        "value and the entropy of the weights as log mass; log mass, its gradient and the output are exact at q_0.",
        symbolic(
            "keys, values and queries on a line, free; 2 and 3 dropped tokens and one kept",
            c.tangent,
            FEW[:2],
            Control("one more in the log mass", lambda count: c.tangent(count, shift=1)),
        ),
        is_correction=True,
        formula=r"\ln Z_D(q)\ge\ln Z_D(q_0)+(q-q_0)k^*",
    ),
    mathematical(
        "razor.eq4.second_order",
        EQ4,
        "With the covariance of the keys in the log mass and Cov(v, k)(q - q_0) in the value, the log mass is right to "
        "second order at q_0 and the output to first order, whatever is kept.",
        symbolic(
            "on a line, 2 dropped tokens and one kept, all free",
            c.second_order,
            FEW[:1],
            Control("a value that does not turn", lambda count: c.second_order(count, turning=False)),
        ),
        is_correction=True,
        formula=r"\ln Z_D(q_0)+(q-q_0)k^*+\frac12(q-q_0)\Sigma(q-q_0)",
    ),
    mathematical(
        "razor.eq4.second_order_bound",
        EQ4,
        "Its log mass errs by at most r^3/(36 sqrt 3), r the range of (q - q_0).k.",
        symbolic(
            "Taylor: a sixth of a third central moment, which is at most r^3/(6 sqrt 3) for every law of range r",
            c.third_moment,
            ONCE,
            Control("7 for 6", lambda: c.third_moment(denominator=7)),
        ),
        sampled(
            "2 to 39 random keys, two-valued in one case of two, by direct sums",
            c.random_second_order,
            Sampled(200, 5000),
            Control("half of it", lambda **p: c.random_second_order(**p, factor=0.5)),
        ),
        is_correction=True,
        hypotheses=HEADS,
        formula=r"\frac{r^3}{36\sqrt3}",
    ),
)
