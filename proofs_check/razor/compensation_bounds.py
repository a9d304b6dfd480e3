"""Sharp bounds for the compensation token of RazorAttention, Eq. 4 and 5, which prints none."""

from fractions import Fraction

import sympy as sp

from proofs_check.claim import Claim, Control, Interval, Sampled, everywhere
from proofs_check.kv.mathematical import ONCE, exact, mathematical, sampled, symbolic
from proofs_check.razor import compensation_bound_checks as c
from theory.compensation_bounds import LOG_MASS_BOUND, span

EQ5 = "RazorAttention, Section 3.2, Eq. 4 and 5, added"
COUNTS = tuple({"count": n} for n in (2, 3, 4, 5))
SPANS = tuple({"span": r} for r in (1, 2, 5, 10))
HEADS = (Interval("seed", 0, 10**6, whole=True), Interval("scale", 0.0, 12.0))


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.eq5.under",
        EQ5,
        "The token never counts more than it stands for: N_d e^{q.khat} <= Z_D = sum e^{q.k_m}, with equality iff q.k "
        "is constant on the dropped tokens.",
        symbolic(
            "the deficit as a sum of e^x - 1 - x, which is convex, 0 and flat at 0: free logits of 2 to 5 tokens, "
            "one term a token",
            c.deficit,
            COUNTS,
            Control("logits about another mean", lambda count: c.deficit(count, drift=1)),
        ),
        coverage=everywhere("Each token adds e^x - 1 - x of its own logit, positive but at 0, whatever their number."),
        is_correction=True,
        formula=r"N_d e^{q\hat k}\le\sum_{m\in D}e^{qk_m}",
    ),
    mathematical(
        "razor.eq5.log_mass",
        EQ5,
        "log(Z_D / Zhat) <= Lambda(r) = log((e^r - 1)/r) - 1 + r/(e^r - 1), r the range of q.k on the dropped tokens.",
        symbolic(
            "chords of the exponential add up to the law on the two ends: free logits of 2 to 5 tokens",
            c.chord,
            COUNTS,
            Control("a third of the keys at the top", lambda count: c.chord(count, share=sp.Rational(1, 3))),
        ),
        symbolic(
            "the two-point gap is concave in the share, stationary at 1/r - 1/(e^r - 1), and Lambda there; every r",
            c.worst_two_point,
            ONCE,
            Control("without the last term", lambda: c.worst_two_point(LOG_MASS_BOUND - span / (sp.exp(span) - 1))),
        ),
        sampled(
            "up to 8 random dropped logits of range up to 12, one head in two on two values, by direct sums",
            c.random_log_gap,
            Sampled(200, 5000),
            Control("0.9 Lambda", lambda **p: c.random_log_gap(**p, factor=0.9)),
        ),
        coverage=everywhere(
            "Each token's chord is one and the same term, so the two-point law of their mean share bounds any number; "
            "its maximum over the share is found for every r."
        ),
        is_correction=True,
        hypotheses=HEADS,
        formula=r"\ln\frac{Z_D}{\hat Z}\le\Lambda(r)=\ln\frac{e^r-1}{r}-1+\frac{r}{e^r-1}",
    ),
    mathematical(
        "razor.eq5.log_mass.sharp",
        EQ5,
        "Lambda(r) is the supremum over dropped sets of range r: a share 1/r - 1/(e^r - 1) of the keys, r above the "
        "others, reaches it.",
        symbolic(
            "the gap of the two-point law at that share is Lambda(r), every r",
            c.worst_two_point,
            ONCE,
            Control("without the last term", lambda: c.worst_two_point(LOG_MASS_BOUND - span / (sp.exp(span) - 1))),
        ),
        exact(
            "r = 1, 2, 5, 10: ten million keys come within 1e-9, in balls",
            c.reached,
            SPANS,
            Control("half of the keys at the top", lambda span: c.reached(span, share=Fraction(1, 2))),
            Control("one key of two hundred", lambda span: c.reached(span, keys=200), ({"span": 10},)),
        ),
        coverage=everywhere(
            "The gap is continuous in the share, and whole numbers of keys come near any share, every r."
        ),
        is_correction=True,
        formula=r"\sup_D\ln\frac{Z_D}{\hat Z}=\Lambda(r),\qquad p^*=\frac{1}{r}-\frac{1}{e^r-1}",
    ),
    mathematical(
        "razor.eq5.log_mass.quadratic",
        EQ5,
        "Lambda(r) <= r^2 / 8.",
        symbolic(
            "any two-point law: 0 and flat at r = 0, and 1/4 minus its second derivative in r is a square; every r",
            c.quadratic,
            ONCE,
            Control("r^2 / 10", lambda: c.quadratic(parts=5)),
        ),
        coverage=everywhere("Share and r are free: two integrations of a square from 0."),
        is_correction=True,
        formula=r"\Lambda(r)\le r^2/8",
    ),
    mathematical(
        "razor.eq5.gaps",
        EQ5,
        "T - That <= tanh(Lambda(r)/4) and |vbar - vhat| <= tanh(r/4) diam(V_D); both are reached by dropped logits of "
        "two values.",
        symbolic(
            "tanh(lambda/4) minus the gap is a square times positive terms, in t = e^{lambda/2} and c = Z_K / Zhat, "
            "zero at c = t; the same with a share of two values",
            c.mass_gap,
            ONCE,
            Control("half of it", lambda: c.mass_gap(half=True)),
        ),
        coverage=everywhere(
            "Free t and c, equality included; the distance of two means is at most the largest change of a set's share "
            "times the diameter, and a set and its rest have a likelihood ratio of e^r at most."
        ),
        is_correction=True,
        formula=r"T-\hat T\le\tanh\frac{\Lambda(r)}{4}",
    ),
    mathematical(
        "razor.eq5.error",
        EQ5,
        "|o - o_comp| <= tanh(Lambda(r)/4) |vbar - o_K| + That tanh(r/4) diam(V_D), and |o - o_comp| <= tanh(r/4) "
        "diam(V) over all values of the head.",
        symbolic(
            "the share of any set of tokens, where its mean likelihood ratio is t^2 <= e^r times that of the rest, "
            "moves by at most tanh(r/4); the first bound is razor.eq5.identity with razor.eq5.gaps",
            c.mass_gap,
            ONCE,
            Control("half of it", lambda: c.mass_gap(half=True)),
        ),
        sampled(
            "random heads of up to 5 dropped and 3 kept tokens, values in the plane, by direct sums",
            c.random_error,
            Sampled(200, 5000),
            Control("a tenth less", lambda **p: c.random_error(**p, factor=0.9)),
        ),
        coverage=everywhere(
            "razor.eq5.identity with razor.eq5.gaps, any number of tokens; for the second bound the compensated "
            "output is a mean of the same values whose likelihood ratios spread by e^r at most."
        ),
        is_correction=True,
        hypotheses=HEADS,
        formula=r"\|o-\hat o\|\le\tanh\frac{r}{4}\,\mathrm{diam}\,V",
    ),
)
