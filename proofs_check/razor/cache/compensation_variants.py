"""Compensation beyond Eq. 4 of RazorAttention: rotated keys, fading keys, another centre, second order."""

from fractions import Fraction

from proofs_check.ledger.claim import INSTANCES, Claim, Control, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from proofs_check.razor.cache import compensation_variant_checks as c

ROPE = "RazorAttention, Section 3.2 (Eq. 4 on rotated keys), added"
ALIBI = "RazorAttention, Section 3.1 and Eq. 4, added"
EQ4 = "RazorAttention, Eq. 4, added"
FEW = tuple({"count": n} for n in (2, 3, 4, 5))
PHASES = tuple(
    {"phase": Fraction(n, 4), "claimed": found} for n, found in ((0, "1.335"), (1, "1.236"), (2, "0.998"), (4, "0.669"))
)
DECAYS = tuple({"tokens": n, "window": w} for n in (1, 2, 4) for w in (1, 3))

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.eq4.rotary",
        ROPE,
        "Averaging keys after the rotation counts even identical tokens too little, from two of them on whose logits "
        "x and y differ: by cosh((x - y)/2).",
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
        coverage=everywhere(
            "Both logits are free; three or more lose by razor.eq5.under, and the numbers are in balls."
        ),
        is_correction=True,
        formula=r"\frac{Z_D}{\hat Z}=\cosh\frac{x-y}{2}",
    ),
    mathematical(
        "razor.eq4.rotary.limit",
        ROPE,
        "Over many positions, with frequencies of which no integer combination is a multiple of 2 pi, the factor "
        "tends to prod_i I_0(|q_i| |k_i|) over the pairs of dimensions, 14.09 for (3, 2, 1), while the mean of n "
        "copies of a turning pair shrinks to |sin(n theta/2)| / (n |sin(theta/2)|).",
        exact(
            "frequencies 1, sqrt 2 and sqrt 3, the first 1000, 4000 and 16000 positions one by one: within 200 over "
            "their number; 14.09 to half a digit",
            c.rotated_many,
            tuple({"positions": n} for n in (1000, 4000, 16_000)),
            Control("I_0 of (3, 2, 2)", lambda positions: c.rotated_many(positions, claimed=(3, 2, 2))),
            Control("frequencies 1, 2 and 3", lambda positions: c.rotated_many(positions, squares=(1, 4, 9))),
            Control("14.10", lambda positions: c.rotated_many(positions, number="14.10")),
        ),
        symbolic(
            "geometric sums of 2 to 5 phases",
            c.phases,
            FEW,
            Control("n + 1", lambda count: c.phases(count, drift=1)),
        ),
        coverage=INSTANCES,
        hypotheses=("sum of k_i theta_i, k_i whole, is a multiple of 2 pi for no k but 0",),
        note="RoPE's own frequencies need not be such: razor.eq4.rotary.dependent.",
        is_correction=True,
        formula=r"\frac{Z_D}{\hat Z}\to\prod_i I_0(|q_i||k_i|)",
    ),
    mathematical(
        "razor.eq4.rotary.dependent",
        ROPE,
        "Where frequencies depend on each other the limit is another one: with theta and theta/10, as base 10^4 has "
        "them 16 pairs apart at 128 dimensions, and |q_i| |k_i| = 5 and 30, it falls from 1.335 times the product "
        "where the pairs turn in phase to 0.669 times where they are half a turn apart.",
        exact(
            "400 equal steps of a turn, one by one in balls, and the series of Bessel functions, at four phases",
            c.rotated_dependent,
            PHASES,
            Control("the product itself", points=({"phase": Fraction(0), "claimed": "1.000"},)),
            Control("theta/11 in its place", lambda **p: c.rotated_dependent(**p, part=11)),
        ),
        exact(
            "in between it falls: the series' first cosine outweighs the slopes of the others",
            c.falls_with_the_phase,
            ONCE,
            Control("a fiftieth of it", lambda: c.falls_with_the_phase(weaker=50)),
        ),
        exact(
            "10^(-8 (i + 16)/128) is a tenth of 10^(-8 i/128), i = 0..47",
            c.tenth_of_a_frequency,
            tuple({"pair": i} for i in range(48)),
            Control("15 pairs apart", lambda pair: c.tenth_of_a_frequency(pair, apart=15)),
        ),
        coverage=everywhere(
            "The mean over positions tends to the mean over a turn (Weyl), which is the series (Jacobi and Anger); the "
            "series falls with the phase from 0 to half a turn, and its two ends are computed."
        ),
        hypotheses=("theta is no rational multiple of 2 pi",),
        note="No frequency of RoPE is such a multiple: pi is transcendental, and 10^(-8 i/128) is algebraic.",
        is_correction=True,
        formula=r"\frac{Z_D}{\hat Z}\to I_0(5)I_0(30)+2\sum_{k\ge1}I_k(5)I_{10k}(30)\cos k\varphi",
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
        coverage=everywhere("One step multiplies every weight by e^{-l} and adds e^{-lW}, the same at every length."),
        is_correction=True,
        formula=r"m\leftarrow e^{-l}m+e^{-lW}",
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
        coverage=INSTANCES,
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
        coverage=INSTANCES,
        is_correction=True,
        formula=r"\ln Z_D(q_0)+(q-q_0)k^*+\frac12(q-q_0)\Sigma(q-q_0)",
    ),
)
