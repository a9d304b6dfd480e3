"""What RazorAttention leaves open about dropped tokens: no slope, a budget over heads."""

import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_at_least, identity, same, worst
from proofs_check.ledger.claim import Claim, Control, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic

ADDED = "RazorAttention, Section 3.1, added"
MASS, SLOPE, RANGE, COST, BUDGET, REACH, COUNT = sp.symbols("mass slope range cost budget reach count", positive=True)
SPLIT = BUDGET / (COST * SLOPE * REACH)  # of one head; reach is the sum of 1/slope over all


def stationary(power: int = 1) -> Margin:
    """The head spends the share (1/l)/R of the budget, these add up to 1; dW/d delta = -mu c with mu = R/eta for every
    head; and W is convex: W = (D - ln delta)/l."""
    window = (RANGE - sp.log(MASS)) / SLOPE**power
    return worst(
        [
            identity(COST * SPLIT, BUDGET * (1 / SLOPE) / REACH),
            identity(sp.diff(window, MASS).subs(MASS, SPLIT), -COST * REACH / BUDGET),
            same(bool(sp.diff(window, MASS, 2).is_positive), True),
        ]
    )


def sharp_rate(curvature: int = 2) -> Margin:
    """W = ln[1 + (1/delta - 1) e^D] / l: W' = -1/(l delta (1 - a delta)), a = 1 - e^{-D}; W'' has the sign of 1 - 2 a
    delta, so W is convex up to delta = 1/2."""
    window = sp.log(1 + (1 / MASS - 1) * sp.exp(RANGE)) / SLOPE
    bend = 1 - sp.exp(-RANGE)
    inner = MASS * (1 - bend * MASS)
    return worst(
        [
            identity(sp.diff(window, MASS), -1 / (SLOPE * inner)),
            identity(sp.diff(-1 / (SLOPE * inner), MASS), (1 - curvature * bend * MASS) / (SLOPE * inner**2)),
        ]
    )


def saving(base: int = 0) -> Margin:
    """Equal shares less the split, head by head: (1/l) ln(delta / delta_equal) = R p ln(p n), p = 1/(l R): these add up
    to R KL(p || uniform)."""
    gain, share = sp.log(SPLIT / (BUDGET / (COST * COUNT))) / SLOPE, 1 / (SLOPE * REACH)
    return identity(sp.expand_log(gain - REACH * share * sp.log(share * (COUNT + base)), force=True).expand(), 0)


def saving_at(n_heads: int = 32) -> Margin:
    """Slopes 2^{-8i/h}: KL to three digits and whole tokens, summed head by head; balls."""
    reaches = [arb(2) ** (arb(8 * i) / n_heads) for i in range(1, n_heads + 1)]
    total = sum(reaches, arb(0))
    found = sum((r / total * (r / total * n_heads).log() for r in reaches), arb(0))
    tokens = ball_at_least(arb(1) / 2 - abs(found * total - 1182))
    return worst([ball_at_least(arb("5e-4") - abs(found - arb("0.737"))), tokens])


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.sec3.1.budget",
        ADDED,
        "Total error budget sum c_h delta_h = eta: where delta_h = eta/(c_h l_h sum 1/l) is at most 1 in every head, "
        "the windows (D_h - ln delta_h)/l_h are shortest in total there. Where masses of at most 1/2 spend the budget "
        "and all c_h l_h delta_h (1 - (1 - e^{-D_h}) delta_h) agree, no other masses of at most 1/2 within the budget "
        "make the sharp windows shorter in total.",
        symbolic(
            "one head of any number: the budget is spent, the slopes agree, the windows are convex",
            stationary,
            ONCE,
            Control("l_h squared", lambda: stationary(power=2)),
        ),
        symbolic(
            "derivatives of the sharp window, convex up to a mass of 1/2",
            sharp_rate,
            ONCE,
            Control("1 - a delta in the second derivative", lambda: sharp_rate(curvature=1)),
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
            "one head of any number",
            saving,
            ONCE,
            Control("uniform over one head more", lambda: saving(base=1)),
        ),
        exact(
            "32 heads, slopes 2^{-i/4}, head by head",
            saving_at,
            ONCE,
            Control("16 heads", lambda: saving_at(16)),
        ),
        coverage=everywhere("Each head adds one and the same term to both sides; the 32 slopes of ALiBi are summed."),
        is_correction=True,
        formula=r"\sum_h\frac{1}{l_h}\ln\frac{\delta_h}{\delta_{equal}}=\sum_h\frac{1}{l_h}\,KL(p\|u)",
    ),
)
