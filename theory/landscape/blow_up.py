"""Time in which the large-T flow learns: the blow-up time as an enclosed integral.

In time s = t / T the flow is alpha2' = beta1 e^{alpha2}, beta1' = e^{alpha2} - 1, in four parameters and on the slice
alike, and `energy` is constant along it, so that ds = d alpha2 / (beta1 e^{alpha2}) integrates to a finite time: the
one at which the loss leaves log T. With phi(a) = a + e^{-a} >= 1, beta1^2 - 2 phi(alpha2) is constant; a start goes to
induction (alpha2, beta1 -> oo) or to anti-induction (-oo), as it lies above or below the curve
beta1 = -sgn(alpha2) sqrt(2 (phi(alpha2) - 1)), which leads into the critical point (0, 0).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import sympy as sp
from flint import acb, arb, ctx

from theory.checked import shown
from theory.lowering.box import Exact, exact, to_ball
from theory.lowering.precision import working
from theory.symbols import alpha2, beta1

_PRECISIONS = (80, 160, 320, 640, 1280)  # bits: a start near the boundary of both sides needs more
_ENOUGH = 60  # bits of s* that a double can use
_FAR = 80  # where an integral over e^-u is cut: e^-80 = 2^-115
_NEAR = arb(0.25)
_NARROW = 1 / 16
_LEAST_SPEED = 12  # of beta1 once alpha2 is 80 above its least: beta1^2 >= 2 (79 - ..) there


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
    return _blow_up_time(exact(a2), exact(b1))


@lru_cache(maxsize=1000)  # claims ask for the same starts again
def _blow_up_time(a2: Fraction, b1: Fraction) -> arb:
    found = None
    for bits in _PRECISIONS:
        with working(bits):
            found = _along(to_ball(a2), to_ball(b1))
            if found is not None and found.rel_accuracy_bits() >= _ENOUGH:
                return found
    if found is None or not found.is_finite():
        start = ", ".join(f"{n} = {to_ball(v).str(17, radius=False)}" for n, v in (("alpha2", a2), ("beta1", b1)))
        raise ValueError(f"{start} is not certainly on the side of induction: no finite learning time")
    return found


def scaled_blow_up_time(a2: Exact, b1: Exact, sigma: Exact) -> arb:
    """sigma s*(alpha2 / sigma, beta1 / sigma): the blow-up time with scores divided by sigma > 0.

    In alpha2 / sigma, beta1 / sigma and time s / sigma the flow is that of sigma = 1.
    """
    scale = exact(sigma)
    if scale <= 0:
        raise ValueError(f"sigma must be > 0, got {shown(sigma)}")
    with working(_PRECISIONS[0]):
        return to_ball(scale) * blow_up_time(exact(a2) / scale, exact(b1) / scale)


def _along(a: arb, b: arb) -> arb | None:
    """The time from (a, b), leg by leg; None if the side is undecided at this precision, or it is not induction."""
    height = 2 * _above_one(a)
    if b > 0 and a >= 0:
        return _onwards(a, b)
    if b > 0 and a < 0 and b * b > height:
        speed = (b * b - height).sqrt()  # at alpha2 = 0, where it is least
        return _up_to_zero(-a, speed) + _onwards(arb(0), speed)
    if b == 0 and a > 0:
        return _from_rest(a, None)
    if b < 0 and a > 0 and b * b < height:
        turn = _turning_point(_above_one(a) - b * b / 2, a)
        # down to the turn takes as long as up from it to the start
        return None if turn is None else _from_rest(turn, None) + _from_rest(turn, _from_turn(a, turn))
    return None


def _above_one(a: arb) -> arb:
    """phi(a) - 1 = a + e^{-a} - 1 >= 0, without the cancellation near 0."""
    return (_curve(acb(a)) * a * a).real


def _curve(u: acb, decay: acb | None = None) -> acb:
    """(u + e^{-u} - 1) / u^2 = sum_k (-u)^k / (k + 2)!, entire; the quotient itself needs a ball without 0.

    decay: e^{-u}, where it is known.
    """
    size = u.abs_upper()
    if size > _NEAR:
        return (u + ((-u).exp() if decay is None else decay) - 1) / (u * u) if u.abs_lower() > 0 else acb("nan")
    bits = -math.log2(max(float(size), 1e-300))  # that each term gains
    terms = 2 + int(ctx.prec / bits)
    total = acb(0)
    for k in range(terms - 1, -1, -1):
        total = (1 - u * total) / (k + 2)
    rest = (2 * size**terms / math.factorial(terms + 2)).upper()  # the terms left out fall by a factor below 1/2
    return total + acb(arb(0, rest), arb(0, rest))


def _tail(speed: arb) -> arb:
    """int_80^oo e^{-u} / beta1 du, in [0, e^-80 / beta1] for beta1 at least `speed`."""
    return arb(0).union(arb(-_FAR).exp() / speed)


def _stretched(integrand: Callable[[acb, bool], acb], end: arb, scale: arb) -> arb:
    """int_0^end f(u) du, f changing first at u near `scale`: if that is small, in x with u = scale (e^x - 1)."""
    if scale > _NARROW:
        return acb.integral(integrand, 0, acb(end)).real
    unit = scale.mid()

    def stretched(x: acb, analytic: bool) -> acb:
        return integrand(unit * x.expm1(), analytic) * unit * x.exp()

    return acb.integral(stretched, 0, acb((end / unit).log1p())).real


def _onwards(a: arb, b: arb) -> arb:
    """beta1 > 0 and alpha2 >= 0: e^{-a} int_0^oo e^{-u} / beta1(u) du.

    beta1(u)^2 = b^2 + 2 u (1 - e^{-a}) + 2 e^{-a} (u + e^{-u} - 1), no term below 0.
    """
    q, lift = (-a).exp(), -(-a).expm1()
    first, rise, bend = acb(b * b), acb(2 * lift), acb(2 * q)

    def integrand(u: acb, analytic: bool) -> acb:
        decay = (-u).exp()
        return decay * (first + u * (rise + bend * u * _curve(u, decay))).rsqrt(analytic=analytic)

    # beta1 leaves b where the larger of both other terms reaches b^2
    scale = b.min(b * b / (2 * lift) if lift > 0 else b).min(arb(1))
    return q * (_stretched(integrand, arb(_FAR), scale) + _tail(b.max(arb(_LEAST_SPEED))))


def _up_to_zero(depth: arb, speed: arb) -> arb:
    """From alpha2 = -depth up to 0, where beta1 = speed: int_0^depth e^v / sqrt(speed^2 + 2 (e^v - v - 1)) dv."""
    square = acb(speed * speed)

    def integrand(v: acb, analytic: bool) -> acb:
        growth = v.exp()
        return growth * (square + 2 * v * v * _curve(-v, growth)).rsqrt(analytic=analytic)

    return _stretched(integrand, depth, speed.min(arb(1)))


def _turning_point(level: arb, start: arb) -> arb | None:
    """The a in (0, start) with phi(a) - 1 = level > 0: Newton from the right, then one step in intervals."""
    point = start.mid()
    for _ in range(400):
        move = ((_above_one(point) - level) / -(-point).expm1()).mid()
        point = (point - move).mid()
        if abs(move) <= abs(point) * arb(2) ** (16 - ctx.prec):
            break
    # as wide as the level is uncertain, too
    reach = 4 * abs((_above_one(point) - level) / -(-point).expm1()).upper() + abs(point) * arb(2) ** (32 - ctx.prec)
    around = (point - reach).union(point + reach)
    # phi' = 1 - e^{-a} > 0 keeps its sign on `around`, so Newton's interval step encloses the only zero there
    found = point - (_above_one(point) - level) / -(-around).expm1()
    return found if around.contains_interior(found) else None


def _from_turn(a: arb, turn: arb) -> arb:
    rise = a - turn
    return rise.sqrt() if rise > 0 else arb(0).union(rise.upper().max(arb(0)).sqrt())


def _from_rest(turn: arb, end: arb | None) -> arb:
    """From (turn, 0) until alpha2 = turn + end^2, or for ever; with u = v^2 the root at the turn is gone:

    int_0^end 2 e^{-turn - v^2} / sqrt(2 h(v^2)) dv, h(u) = 1 - e^{-turn} (1 - e^{-u}) / u.
    """
    q, lift = (-turn).exp(), -(-turn).expm1()
    first, bend = acb(lift / 2), acb(q / 2)

    def integrand(v: acb, analytic: bool) -> acb:
        u = v * v
        # h(u) = 1 - q + q u (u + e^{-u} - 1) / u^2
        decay = (-u).exp()
        return decay * (first + bend * u * _curve(u, decay)).rsqrt(analytic=analytic)

    scale = lift.sqrt()
    if end is not None:
        return q * _stretched(integrand, end, scale)
    return q * (_stretched(integrand, arb(_FAR).sqrt(), scale) + _tail(arb(_LEAST_SPEED)))
