"""Time in which the large-T flow learns: the blow-up time as an enclosed integral.

In time s = t / T the flow is alpha2' = beta1 e^{alpha2}, beta1' = e^{alpha2} - 1, in four parameters and on the slice
alike, and `energy` is constant along it, so that ds = d alpha2 / (beta1 e^{alpha2}) integrates to a finite time: the
one at which the loss leaves log T. With phi(a) = a + e^{-a} >= 1, beta1^2 - 2 phi(alpha2) is constant; a start goes to
induction (alpha2, beta1 -> oo) or to anti-induction (-oo), as it lies above or below the curve
beta1 = -sgn(alpha2) sqrt(2 (phi(alpha2) - 1)), which leads into the critical point (0, 0).
"""

import math

import sympy as sp
from flint import acb, arb, ctx

from theory.box import Exact, exact, to_ball
from theory.precision import working
from theory.symbols import alpha2, beta1

_FAR = 80  # e^-80 is far below the width of any ball here
_NEAR = 0.25
_TERMS = 20
_PRECISION = 80


def radicand(q: sp.Expr, b: sp.Expr, u: sp.Expr) -> sp.Expr:
    """q^2 (b^2 + 2 u) + 2 q (e^{-u} - 1): the square of q beta1 once alpha2 has grown by u from log q, beta1 from b."""
    return q**2 * (b**2 + 2 * u) + 2 * q * (sp.exp(-u) - 1)


def energy() -> sp.Expr:
    """beta1^2 / 2 - alpha2 - e^{-alpha2}."""
    return beta1**2 / 2 - alpha2 - sp.exp(-alpha2)


def velocity(sigma: sp.Expr = sp.S.One) -> tuple[sp.Expr, sp.Expr]:
    """(alpha2', beta1') of the limit flow with scores divided by sigma: descent on -beta1 (e^{alpha2 / sigma} - 1)."""
    growth = sp.exp(alpha2 / sigma)
    return beta1 * growth / sigma, growth - 1


def blow_up_time(a2: Exact, b1: Exact) -> arb:
    """s*(alpha2, beta1) = int_{alpha2}^oo e^{-a} da / beta1(a) as a ball, along the whole path if beta1 < 0 at first.

    Valid when: the start certainly lies on the side of induction. Raises ValueError otherwise.
    """
    with working(_PRECISION):
        a, b = to_ball(a2), to_ball(b1)
        height = 2 * (_phi(a) - 1)
        if b > 0 and (a >= 0 or b * b > height):
            return _onwards(a, b)
        if b == 0 and a > 0:
            return _from_rest(a, arb(_FAR).sqrt()) + _tail()
        if b < 0 and a > 0 and b * b < height:
            turn = _turning_point(_phi(a) - b * b / 2, a)
            rise = a - turn
            end = rise.sqrt() if rise > 0 else arb(0).union(rise.upper().max(0).sqrt())
            # down to the turn takes as long as up from it to the start
            return _from_rest(turn, arb(_FAR).sqrt()) + _tail() + _from_rest(turn, end)
    raise ValueError(f"alpha2 = {a2}, beta1 = {b1} is not certainly on the side of induction: no finite learning time")


def scaled_blow_up_time(a2: Exact, b1: Exact, sigma: Exact) -> arb:
    """sigma s*(alpha2 / sigma, beta1 / sigma): the blow-up time with scores divided by sigma > 0.

    In alpha2 / sigma, beta1 / sigma and time s / sigma the flow is that of sigma = 1.
    """
    scale = exact(sigma)
    if scale <= 0:
        raise ValueError(f"sigma must be > 0, got {sigma}")
    with working(_PRECISION):
        return to_ball(scale) * blow_up_time(exact(a2) / scale, exact(b1) / scale)


def _phi(a: arb) -> arb:
    return a + (-a).exp()


def _mean(u: acb) -> acb:
    """(1 - e^{-u}) / u = sum_k (-u)^k / (k + 1)!, entire; the quotient itself needs a ball without 0."""
    size = u.abs_upper()
    if size > _NEAR:
        return (1 - (-u).exp()) / u if u.abs_lower() > 0 else acb("nan")
    total = acb(0)
    for k in range(_TERMS, 0, -1):
        total = (1 - u * total) / k
    rest = (2 * size**_TERMS / math.factorial(_TERMS + 1)).upper()  # the terms left out, as |u| / 22 < 1/2
    return total + acb(arb(0, rest), arb(0, rest))


def _tail() -> arb:
    """int beyond u = 80 (and alpha2 >= 80): beta1 >= 1 there, so that it lies in [0, e^-80]."""
    return arb(0).union(arb(-_FAR).exp())


def _onwards(a: arb, b: arb) -> arb:
    """beta1 > 0 all the way: int_0^oo e^{-u} / sqrt(radicand(e^a, b, u)) du."""
    q = a.exp()
    far = _FAR + max(0, 1 - math.floor(float(a.lower())))

    def integrand(u: acb, analytic: bool) -> acb:
        # the radicand with u in one factor, so that a wide ball loses little
        return (-u).exp() / (q * q * b * b + 2 * q * u * (q - _mean(u))).sqrt(analytic=analytic)

    return acb.integral(integrand, 0, far).real + _tail()


def _turning_point(level: arb, start: arb) -> arb:
    """The a > 0 with phi(a) = level in (1, phi(start)): Newton from the right, then one step in intervals."""
    point = start.mid()
    for _ in range(200):
        move = ((_phi(point) - level) / (1 - (-point).exp())).mid()
        point = (point - move).mid()
        if abs(move) <= abs(point) * arb(2) ** (16 - ctx.prec):
            break
    reach = abs(point) * arb(2) ** (32 - ctx.prec)
    around = (point - reach).union(point + reach)
    # phi' = 1 - e^{-a} > 0 keeps its sign on `around`, so Newton's interval step encloses the only zero there
    found = point - (_phi(point) - level) / (1 - (-around).exp())
    if not around.contains_interior(found):
        raise ValueError(f"the start is too near the boundary of the two routes (phi = {level.str(10)} at the turn)")
    return found


def _from_rest(turn: arb, end: arb) -> arb:
    """From (turn, 0) until alpha2 = turn + end^2; with u = v^2 the root at the turn is gone:

    int_0^end 2 e^{-turn - v^2} / sqrt(2 h(v^2)) dv, h(u) = 1 - e^{-turn} (1 - e^{-u}) / u.
    """
    scale = (-turn).exp()

    def integrand(v: acb, analytic: bool) -> acb:
        u = v * v
        return 2 * scale * (-u).exp() / (2 * (1 - scale * _mean(u))).sqrt(analytic=analytic)

    return acb.integral(integrand, 0, acb(end)).real
