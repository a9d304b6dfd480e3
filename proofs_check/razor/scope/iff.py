"""Exactly when Theorem 1, with W_Q^T W_K, is true; and what changes for rotary heads and grouped queries."""

from fractions import Fraction

from proofs_check.ledger.claim import ENUMERATED, WITNESSED, Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import exact, mathematical, sampled, symbolic
from proofs_check.razor.scope import head_checks as h
from proofs_check.razor.scope import iff_checks as c
from proofs_check.razor.scope.iff_checks import HALF

THEOREM = "RazorAttention, Section 3.1, Theorem 1"
E1, MINUS = (1, 0), (-1, 0)
BROKEN = (
    {"gamma": (1, 0), "bias": (0, 0), "norm": "rms", "hidden": E1, "other": MINUS, "strength": 6},
    {"gamma": (3, 1), "bias": (0, 0), "norm": "rms", "hidden": E1, "other": MINUS, "strength": 1},
    {"gamma": (1, 1), "bias": (HALF, 0), "norm": "rms", "hidden": E1, "other": MINUS, "strength": 8},
    {"gamma": (1, 1), "bias": (HALF, -HALF), "norm": "layer", "hidden": (1, -1), "other": (-1, 1), "strength": 6},
)
TRUE = {"gamma": (1, 1), "bias": (0, 0), "norm": "rms", "hidden": E1, "other": MINUS, "strength": 6}
TWO_STATES = tuple({"gain": g, "share": Fraction(n, 4)} for g in (1, -3) for n in (0, 2, 3, 4, 9))
ROTATED = {"w_q": ((1, 0), (0, 0)), "w_k": ((0, 0), (1, 0))}

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.thm1.iff",
        THEOREM + ", completed",
        "For given gains and bias Theorem 1 (with W_Q^T W_K) holds for all heads, slopes, eps and contexts if and only "
        "if kappa = sup ||x|| ||x - y|| over post-norm states is at most 2 (||gamma||^2 + ||b||^2).",
        symbolic(
            "if: x.M z is at most ||M|| |x||z|, and a rank-one M reaches it; free vectors of 2 and 3 coordinates",
            c.rank_one,
            ({"d": 2}, {"d": 3}),
            Control("the root of the size", lambda d: c.rank_one(d, power=2)),
        ),
        symbolic(
            "only if: just beyond L_h, in a context of the target and the query's state, the others' odds tend to 0",
            c.odds_vanish,
            ({},),
            Control("kappa at the bound", lambda: c.odds_vanish(excess=0)),
        ),
        exact(
            "only if: heads -c u u^T for four norms above the bound, from hidden states to weights, in balls",
            c.violated,
            BROKEN,
            Control("gains of one size, no bias", None, (TRUE,)),
        ),
        sampled(
            "both ways: where kappa is above, a violating head and context; where it is below, no head's gap passes it",
            c.both_ways,
            lambda effort: [{"seed": s} for s in range(24 if effort is Effort.QUICK else 240)],
            Control("the bound shortened by a half", lambda seed: c.both_ways(seed, stretch=0.5)),
        ),
        formula=r"\sup_{x,y}\|x\|\|x-y\|\le 2(\|\gamma\|^2+\|b\|^2)",
        hypotheses=("the right product W_Q^T W_K", "scores as in Eq. 1"),
        coverage=everywhere(
            "If: the own token alone keeps the weight below e^{||M|| kappa - ln}, by the norm of a product of vectors. "
            "Only if: a pair of states above the bound gives a rank-one head whose weight just beyond L_h tends to 1."
        ),
        is_correction=True,
    ),
    mathematical(
        "razor.thm1.no_bias",
        THEOREM + ", completed",
        "Without a bias Theorem 1 (with W_Q^T W_K) holds if and only if all |gamma_i| are equal, or d = 2 (LayerNorm).",
        symbolic(
            "kappa = 2 max ||x||^2: the triangle inequality, met by y = -x",
            c.twice_the_size,
            ({},),
            Control("one more", lambda: c.twice_the_size(plant=1)),
        ),
        symbolic(
            "LayerNorm, free gains, d = 3..7: the trace, and a component that is 0 only for equal squares",
            c.largest_gain,
            tuple({"d": d} for d in range(3, 8)),
            Control("the second component for the third", lambda d: c.largest_gain(d, other=1)),
        ),
        exact(
            "equal gains make P Gamma^2 P a multiple of P; so does every gain for LayerNorm d = 2",
            c.equal_gains,
            [
                *({"d": d, "norm": n} for n in ("rms", "layer") for d in range(2, 7)),
                *({"d": 2, "norm": "layer", "spread": s} for s in (1, 5)),
            ],
            Control("one larger gain, d = 3", None, ({"d": 3, "norm": "layer", "spread": 1},)),
        ),
        exact(
            "one larger gain does not, from d = 2 (RMSNorm) and d = 3 (LayerNorm) on",
            c.unequal_gains,
            [
                {"d": d, "norm": n, "spread": s}
                for n, start in (("rms", 2), ("layer", 3))
                for d in range(start, 7)
                for s in (1, 5)
            ],
            Control("LayerNorm at d = 2", None, ({"d": 2, "norm": "layer", "spread": 1},)),
        ),
        formula=r"|\gamma_1|=\dots=|\gamma_d|",
        coverage=everywhere(
            "kappa = 2 d lambda_max(P Gamma^2 P), at least 2 ||gamma||^2 by the trace, with equality for a multiple of "
            "P only; that takes equal squares, by a component in which d enters as 1/d alone (RMSNorm: P = 1)."
        ),
        is_correction=True,
    ),
    mathematical(
        "razor.thm1.one_size",
        THEOREM + ", completed",
        "With gains of one size, r = sqrt(d) |gamma_i|, and RMSNorm, or LayerNorm with gains of one sign and a bias "
        "orthogonal to the ones, Theorem 1 (with W_Q^T W_K) holds if and only if b = 0 or ||b|| >= r: kappa = "
        "2 r (r + ||b||).",
        symbolic(
            "kappa, on a sphere of free points about b, 2 to 4 dimensions: two differences are squares, 0 at one pair",
            c.kappa_of_a_sphere,
            tuple({"d": d} for d in (2, 3, 4)),
            Control("the sign of the square", lambda d: c.kappa_of_a_sphere(d, sign=-1)),
        ),
        symbolic(
            "kappa less the bound is 2 ||b|| (r - ||b||)",
            c.one_size,
            ({},),
            Control("a sign", lambda: c.one_size(sign=-1)),
        ),
        exact(
            "LayerNorm at d = 2: kappa over its two states, and the theorem's condition, as rationals",
            c.two_states,
            TWO_STATES,
            Control("gains of two signs", lambda **p: c.two_states(**p, second=-1), TWO_STATES[1:2]),
        ),
        formula=r"2r(r+\|b\|)\le 2(r^2+\|b\|^2)\iff\|b\|(r-\|b\|)\le 0",
        hypotheses=("RMSNorm, or LayerNorm with one signed gain",),
        coverage=everywhere(
            "The states are a sphere of radius r about b, in a space that holds b; only the span of b, u and v "
            "counts, and both factors of kappa are largest at one pair."
        ),
        is_correction=True,
    ),
    mathematical(
        "razor.sec3.2.raw_range",
        "RazorAttention, Section 3.2, Eq. 3, added",
        "The spectral norm of the raw product W_Q^T W_K, as in Eq. 2, does not bound the logits of a rotary head: it "
        "can be 0 while a quarter turn makes the logit x_1 y_1.",
        exact(
            "W_Q = [[1, 0], [0, 0]], W_K = [[0, 0], [1, 0]]: product 0, and a quarter turn makes the logit x_1 y_1",
            h.raw_product,
            (ROTATED,),
            Control("no turn", lambda w_q, w_k: h.raw_product(w_q, w_k, turned=False)),
        ),
        formula=r"q_m^TR_{n-m}k_n>\|W_Q^TW_K\|_2\|x_m\|\|x_n\|=0",
        coverage=WITNESSED,
        is_correction=True,
        note="Print claims Eq. 2 for ALiBi only. A bound over all relative rotations carries over: the sizes of query "
        "and key, pair by pair.",
    ),
    mathematical(
        "razor.sec3.2.raw_range.corrected",
        "RazorAttention, Section 3.2, Eq. 3, added",
        "A rotated logit is at most sum_f |q_f| |k_f| over the rotary pairs, so two logits of one query differ at most "
        "by 2/sqrt(d_head) sqrt(max_x sum_f w_f |q_f|^2 max_y sum_f |k_f|^2/w_f), any w_f > 0, key bias included.",
        symbolic(
            "(|q||k|)^2 - (q . R k)^2 is a square for one pair and every angle",
            h.turned_pair,
            ({},),
            Control("a sign", lambda: h.turned_pair(sign=-1)),
        ),
        symbolic(
            "(w |q|^2 + |k|^2/w)/2 - |q||k| is a square for every w > 0",
            h.weighted,
            ({},),
            Control("w for sqrt w", lambda: h.weighted(power=1)),
        ),
        sampled(
            "random heads with biases at random rotations, both pairings",
            h.no_rotation_above,
            lambda effort: [{"seed": s} for s in range(12 if effort is Effort.QUICK else 120)],
            Control("a fifth of the bound", lambda seed: h.no_rotation_above(seed, factor=0.2)),
        ),
        formula=r"|q\cdot Rk|\le\sum_f|q_f||k_f|",
        coverage=everywhere(
            "Pair by pair two squares, for every query, key, angle and weight; the pairs add up, and a common factor "
            "of all w_f turns the mean of the two sums into the root of their product."
        ),
        is_correction=True,
    ),
    mathematical(
        "razor.sec4.1.group_window",
        "RazorAttention, Section 4.1 (groups of 4 query heads)",
        "Keys shared by a group of query heads must be kept for the group's smallest slope: for 32 slopes in groups "
        "of 4 neighbours that takes 1.2728 times the windows of single heads, at equal ranges.",
        exact(
            "sum of the largest 1/slope of each group against the sum of all, in balls, to half a unit",
            h.group_cost,
            ({"n_heads": 32, "group": 4, "claimed": "1.2728"},),
            Control("groups of 8", lambda **p: h.group_cost(**{**p, "group": 8})),
            Control("1.2715", lambda **p: h.group_cost(**{**p, "claimed": "1.2715"})),
        ),
        formula=r"\frac{4\sum_g\max_{h\in g}1/l_h}{\sum_h1/l_h}=1.2728",
        coverage=ENUMERATED,
        is_correction=True,
    ),
)
