"""What RazorAttention leaves open about dropped tokens: no slope, a budget over heads."""

from proofs_check.ledger.claim import Claim, Control, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from proofs_check.razor.cache import truncation_budget_checks as b

ADDED = "RazorAttention, Section 3.1, added"


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.sec3.1.budget",
        ADDED,
        "Total error budget sum c_h delta_h = eta: where delta_h = eta/(c_h l_h sum 1/l) is at most 1 in every head, "
        "the windows (D_h - ln delta_h)/l_h are shortest in total there. Where masses of at most 1/2 spend the budget "
        "and all c_h l_h delta_h (1 - (1 - e^{-D_h}) delta_h) agree, no other masses of at most 1/2 within the budget "
        "make the sharp windows shorter in total.",
        symbolic(
            "2 to 4 heads: the budget is spent, the slopes agree, the windows are convex",
            b.stationary,
            tuple({"count": n} for n in (2, 3, 4)),
            Control("l_h squared", lambda count: b.stationary(count, power=2)),
        ),
        symbolic(
            "derivatives of the sharp window, convex up to a mass of 1/2",
            b.sharp_rate,
            ONCE,
            Control("1 - a delta in the second derivative", lambda: b.sharp_rate(curvature=1)),
        ),
        coverage=everywhere(
            "Each head's term is one and the same function of its own slope, cost and mass, so that any number of "
            "heads adds no other case; a stationary point of convex windows is the least."
        ),
        is_correction=True,
        note="A mass above 1 is none: for D = l = (1, 1), c = (1, 1/1000) and eta = 1 the formula gives 500 to the "
        "second head. For eta = 2/5 no masses of at most 1/2 agree: the sharp windows are shortest with 1/2 there.",
        formula=r"\delta_h=\frac{\eta}{c_h l_h\sum_j 1/l_j}",
    ),
    mathematical(
        "razor.sec3.1.budget_saving",
        ADDED,
        "Against equal shares of the budget it saves (sum 1/l) KL(p || uniform) tokens, p ~ 1/l: 1182 with 32 ALiBi "
        "heads (KL = 0.737), whatever the budget for which both give every head a mass of at most 1.",
        symbolic(
            "2 to 4 heads",
            b.saving,
            tuple({"count": n} for n in (2, 3, 4)),
            Control("uniform over one head more", lambda count: b.saving(count, base=1)),
        ),
        exact(
            "32 heads, slopes 2^{-i/4}, head by head",
            b.saving_at,
            ({"n_heads": 32, "divergence": "0.737", "tokens": 1182},),
            Control("16 heads", None, ({"n_heads": 16, "divergence": "0.737", "tokens": 1182},)),
        ),
        coverage=everywhere("Each head adds one and the same term to both sides; the 32 slopes of ALiBi are summed."),
        is_correction=True,
        formula=r"\sum_h\frac{1}{l_h}\ln\frac{\delta_h}{\delta_{equal}}=\sum_h\frac{1}{l_h}\,KL(p\|u)",
    ),
)
