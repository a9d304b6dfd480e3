"""Steps that hold for every length, dimension and place: identities in free symbols, whose signs are part of the check.

Each margin is one step of a proof whose other steps are sums over positions or coordinates, so that no size enters.
"""

import sympy as sp

from proofs_check.evidence.margin import Margin, identity, same, worst
from theory.induction.sharpness import copy_gap_residuals, r
from theory.symbols import sigma, slope


def nonnegative(expr: sp.Expr) -> Margin:
    """expr >= 0 by the signs of its symbols, term by term."""
    return same(bool(sp.expand(expr).is_nonnegative), True)


def at_least_one(least: int, left_out: int) -> Margin:
    """A sum over all but `left_out` of least + more places has at least one term, whatever the whole `more` >= 0."""
    return nonnegative(least + sp.Symbol("more", integer=True, nonnegative=True) - left_out - 1)


def positive(expr: sp.Expr) -> Margin:
    return same(bool(sp.factor(expr).is_positive), True)


def termwise(top: int = 1, low: int = -1, share: sp.Expr = sp.S.One) -> Margin:
    """|c x| <= share c for c >= 0 and low <= x <= top, as x = top - a = low + b with a, b >= 0; then summed."""
    c, a, b = sp.symbols("c a b", nonnegative=True)
    return worst([nonnegative(share * c - c * (top - a)), nonnegative(share * c + c * (low + b))])


def largest_entry(side: int = 1) -> Margin:
    """|a b_k| <= |a| max |b|: the sum of these is Hoelder's inequality. `side` -1: a bound below the entry."""
    a, entry, more = sp.symbols("a entry more", nonnegative=True)
    return nonnegative(a * (entry + side * more) - a * entry)


def tilt(divisor: int = 4) -> Margin:
    """Laws p, q of any number of positions with q / p between m and M, m <= 1 <= M: the share that moves is

        E_p (rho - 1)^+ <= (1 - m)(M - 1)/(M - m) <= tanh(w/4),  M / m = e^w,  rho = q / p,  E_p rho = 1.
    The chord over [m, M] lies above (rho - 1)^+, and is affine, so that its mean is its value at 1; the second step is
    a square. Then 2 tanh(w/4) <= w/2, as z - tanh z starts at 0 and has the derivative tanh^2 z.
    """
    low = sp.Symbol("m", positive=True)
    below, above = sp.symbols("below above", nonnegative=True)
    rho, high, g = sp.symbols("rho M g", positive=True)
    width, z = sp.Symbol("w", positive=True), sp.Symbol("z", nonnegative=True)
    chord = (high - 1) * (rho - low) / (high - low)
    bound = (high - 1) * (1 - low) / (high - low)
    tanh = sp.tanh(width / divisor).rewrite(sp.exp)
    ends = {low: 1 / (1 + below), high: 1 + above}
    return worst(
        [
            identity(chord - (rho - 1), (1 - low) * (high - rho) / (high - low)),
            nonnegative(sp.cancel(((1 - low) * (high - 1)).subs(ends) * (1 + below))),
            identity(chord.subs(rho, 1), bound),
            identity((g - 1) / (g + 1) - bound.subs(high, low * g**2), (low * g - 1) ** 2 / (low * (g**2 - 1))),
            identity(tanh.subs(width, 2 * sp.log(g)), (g - 1) / (g + 1)),
            identity(sp.diff(z - sp.tanh(z), z), sp.tanh(z) ** 2),
            identity((z - sp.tanh(z)).subs(z, 0), 0),
        ]
    )


def one_weight(times: int = 2) -> Margin:
    """||w - e_{s-1}||_1 = 2 (1 - w_{s-1}), w_{s-1} = 1 over the sum: what is not on s - 1 plus what s - 1 lacks."""
    total = 1 + sp.Symbol("others", positive=True)
    return identity((total - 1) / total + (1 - 1 / total), times * (1 - 1 / total))


def geometric(power: int = 1, supremum: sp.Expr = r) -> Margin:
    """sup_s |1/sum_{tau=0}^{s-2} r^tau - 1| = r, and the printed bound r/(1 - r) exceeds it by r^2/(1 - r)."""
    residuals = [*copy_gap_residuals(supremum), r**power / (1 - r) - r - r**2 / (1 - r)]
    return worst([identity(residual, 0) for residual in residuals])


def order_constant(power: int = 1) -> Margin:
    """r/(1-r) <= r/(1-r0) for r = e^{-p} <= r0 = e^{-p0}: the difference is r (r0 - r)/((1-r)(1-r0))."""
    first = sp.Symbol("r0", positive=True)
    return identity(r / (1 - first) - r**power / (1 - r), r * (first - r) / ((1 - r) * (1 - first)))


def repaired_weights(factor: sp.Expr | None = None) -> Margin:
    """The repaired key at any s, q = r^s: weights ((1-r)/(1-q) - (1-r))/r on x_s and (1-r)/(1-q) on x_{s-1}, sum 1."""
    q = sp.Symbol("r^s", positive=True)
    shrink = 1 - r if factor is None else factor
    total = (1 - q) / (1 - r)  # 1 + r + .. + r^{s-1}
    own, before = (1 / total - shrink) / r, 1 / total
    rest = (total - 1 - r) / total / r  # r^2 + .. + r^{s-1}, divided by r and the total
    return worst(
        [
            identity(own + before + rest, 1),
            identity(own, (1 - r) * q / (r * (1 - q))),
            identity(before - (1 - r), (1 - r) * q / (1 - q)),
        ]
    )


def same_term(alpha: tuple = (0, 1), beta: tuple = (1, 0), scale: sp.Expr = 1 / sigma) -> Margin:
    """At a general place s and coordinate, key, bias and value of Appendix B's head are those of Eq. 7."""
    own, before, last = sp.symbols("own before last", real=True)  # a coordinate of x_s, x_{s-1} and x_L
    distance = sp.Symbol("distance", nonnegative=True)  # L - s
    score = scale * last * (alpha[0] * own + alpha[1] * before) - slope * distance
    printed = last * before / sigma - slope * sp.Abs(distance)
    return worst([identity(score, printed), identity(beta[0] * own + beta[1] * before, own)])


def gains_weight(start: int = 1) -> Margin:
    """x = (start, 0, c, 1), d = 1: TF - IH = c kappa with kappa > 0, at every sigma, m and finite p.

    With E = e^{1/sigma}, t = e^{-m}, tokens 2 and 3 weigh E^start t^2 and t in IH, E^start t^2 and E^q t in TF, where
    q = start r/(1+r) > 0 is what y_3 keeps of x_1; E^q = 1 + gain. Token 2 is 0 and token 3 is c.
    """
    match, decay, gain = sp.symbols("E t gain", positive=True)
    lifted = 1 + gain if start else sp.Integer(1)
    share = lifted * decay / (match**start * decay**2 + lifted * decay)
    return positive(sp.cancel(share - share.subs(gain, 0)))


def share_of_matches(cold: bool = True) -> Margin:
    """The right letter's share M/(M+N) is at least k/(k+h) >= 1 - L e^{mL - 1/sigma} -> 0 left as sigma -> 0, any m.

    M >= k = e^{1/sigma - mL}: one match at a distance <= L. N <= h = L: every other token has weight <= 1.
    """
    k, n, length, largest_slope = sp.symbols("k N L m0", positive=True)
    more, fewer = sp.symbols("more fewer", nonnegative=True)
    m, h = k + more, n + fewer
    lost = length / sp.exp(1 / sigma - largest_slope * length)
    return worst(
        [
            nonnegative(sp.numer(sp.together(m / (m + n) - k / (k + h)))),
            identity(h / k - (1 - k / (k + h)), h**2 / (k * (k + h))),
            same(sp.limit(lost, sigma, 0 if cold else sp.oo), sp.Integer(0)),
        ]
    )
