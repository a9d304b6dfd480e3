"""Sharp bounds for the compensation token of RazorAttention, Eq. 4 and 5, which prints none."""

from proofs_check.ledger.claim import Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import ONCE, mathematical, sampled, symbolic
from proofs_check.razor.cache import compensation_bound_checks as c

EQ5 = "RazorAttention, Section 3.2, Eq. 4 and 5, added"
COUNTS = tuple({"count": n} for n in (2, 3, 4, 5))


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
        "razor.eq5.gaps",
        EQ5,
        "T - That <= tanh(log(Z_D / Zhat)/4) <= tanh(Lambda(r)/4), the first with equality for one kept logit half way "
        "between log Z_D and log Zhat; |vbar - vhat| <= tanh(r/4) diam(V_D), with equality at r = 2 ln(n + 1) for one "
        "of n + 2 keys that lies r above the others.",
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
            lambda effort: [{"seed": s} for s in range(200 if effort is Effort.QUICK else 5000)],
            Control("a tenth less", lambda **p: c.random_error(**p, factor=0.9)),
        ),
        coverage=everywhere(
            "razor.eq5.identity with razor.eq5.gaps, any number of tokens; for the second bound the compensated "
            "output is a mean of the same values whose likelihood ratios spread by e^r at most."
        ),
        is_correction=True,
        formula=r"\|o-\hat o\|\le\tanh\frac{r}{4}\,\mathrm{diam}\,V",
    ),
)
