"""Sharp bounds for the compensation token of RazorAttention, Eq. 4 and 5, which prints none."""

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, identity, worst
from proofs_check.evidence.tolerances import KERNEL
from proofs_check.ledger.claim import Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import ONCE, mathematical, sampled, symbolic
from proofs_check.razor.scope.theorem1 import above_its_tangent
from theory.cache import compensation_bounds as b

EQ5 = "RazorAttention, Section 3.2, Eq. 4 and 5, added"


def deficit(count: int, drift: int = 0) -> Margin:
    """Z_D / e^{q.khat} - N = sum (e^{delta_m} - 1 - delta_m), as sum delta_m = 0; e^x - 1 - x > 0 but at x = 0."""
    steps = list(sp.symbols(f"delta0:{count - 1}", real=True))
    steps.append(drift - sum(steps))
    split = identity(sum(sp.exp(x) for x in steps) - count, sum(sp.exp(x) - 1 - x for x in steps))
    return worst([split, above_its_tangent()])


def mass_gap(half: bool = False) -> Margin:
    """tanh(lambda/4) - (T - That) is a square times positive terms, t = e^{lambda/2}, c = Z_K / Zhat.

    With c = (1 - p) / p it is the same for the weight of a share p of two values against its share.
    """
    t, c, p = sp.symbols("t c p", positive=True)
    bound = (t - 1) / (t + 1) / (2 if half else 1)
    gap = t**2 / (t**2 + c) - 1 / (1 + c)
    left = (t - 1) * (t - c) ** 2 / ((t + 1) * (t**2 + c) * (1 + c))
    two_values = p * t**2 / (1 - p + p * t**2) - p
    return worst([identity(bound - gap, left), identity(gap.subs(c, (1 - p) / p), two_values)])


def random_error(seed: int, factor: float = 1.0) -> Margin:
    """Random heads with logits up to 12.1 apart, by direct sums: both bounds on ||o - o_comp||, and the one on
    ||vbar - vhat||."""
    rng = np.random.default_rng(seed)
    scale = rng.uniform(0, 12)
    n, kept = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    logits, values = scale * (rng.random(n + kept) > 0.5) + 0.1 * rng.random(n + kept), rng.normal(size=(n + kept, 2))
    if seed % 2:
        values = np.sign(values[:, :1]) * np.array([[1.0, 0.0]])
        logits[n:] -= 3
    weights, token = np.exp(logits), n * np.exp(logits[:n].mean())
    stand_in = np.append(np.full(n, token / n), weights[n:])  # the token's weight, spread over what it stands for
    error = _distance(values, weights, stand_in)
    apart = _distance(values, weights * (np.arange(n + kept) < n), weights * (np.arange(n + kept) >= n))
    spread, inner = np.ptp(logits[:n]), _diameter(values[:n])
    bounds = [
        float(b.error_bound(spread, token / stand_in.sum(), apart, inner)),
        float(b.total_error_bound(spread, _diameter(values))),
        float(b.mean_gap_bound(spread)) * inner,
    ]
    sides = [error, error, _distance(values[:n], weights[:n], stand_in[:n])]
    return at_most(sides, [factor * bound for bound in bounds], slack=KERNEL)


def _distance(values: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Between two weighted means of the values."""
    return float(np.linalg.norm(first @ values / first.sum() - second @ values / second.sum()))


def _diameter(values: np.ndarray) -> float:
    return max(float(np.linalg.norm(x - y)) for x in values for y in values)


DEFICIT = symbolic(
    "the deficit as a sum of e^x - 1 - x, which is convex, 0 and flat at 0: free logits of 2 to 5 tokens, one term a "
    "token",
    deficit,
    tuple({"count": n} for n in (2, 3, 4, 5)),
    Control("logits about another mean", lambda count: deficit(count, drift=1)),
)

MASS_GAP = symbolic(
    "tanh(lambda/4) minus the gap is a square times positive terms, in t = e^{lambda/2} and c = Z_K / Zhat, zero at "
    "c = t; so the share of a set of tokens whose mean likelihood ratio is t^2 <= e^r times that of the rest moves by "
    "tanh(r/4) at most",
    mass_gap,
    ONCE,
    Control("half of it", lambda: mass_gap(half=True)),
)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.eq5.under",
        EQ5,
        "The token never counts more than it stands for: N_d e^{q.khat} <= Z_D = sum e^{q.k_m}, with equality iff q.k "
        "is constant on the dropped tokens.",
        DEFICIT,
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
        MASS_GAP,
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
        MASS_GAP,
        sampled(
            "random heads of up to 5 dropped and 3 kept tokens, values in the plane, by direct sums",
            random_error,
            lambda effort: [{"seed": s} for s in range(200 if effort is Effort.QUICK else 5000)],
            Control("a tenth less", lambda **p: random_error(**p, factor=0.9)),
        ),
        coverage=everywhere(
            "The first bound is razor.eq5.identity with razor.eq5.gaps, any number of tokens; for the second the "
            "compensated output is a mean of the same values whose likelihood ratios spread by e^r at most."
        ),
        is_correction=True,
        formula=r"\|o-\hat o\|\le\tanh\frac{r}{4}\,\mathrm{diam}\,V",
    ),
)
