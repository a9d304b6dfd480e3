"""Time in which the large-T flow of Figure 2 learns: the blow-up time as an enclosed integral.

In time s = t / T the flow is alpha2' = beta1 e^{alpha2}, beta1' = e^{alpha2} - 1, along which `energy` is constant, so
that ds = d alpha2 / (beta1 e^{alpha2}) integrates to a finite time: the one at which the loss leaves log T.
"""

import sympy as sp
from flint import acb, arb

from theory.box import Exact, to_ball
from theory.symbols import alpha2, beta1

_FAR = 80  # e^-80 is far below the width of any ball here


def radicand(q: sp.Expr, b: sp.Expr, u: sp.Expr) -> sp.Expr:
    """q^2 (b^2 + 2 u) + 2 q (e^{-u} - 1): the square of q beta1 once alpha2 has grown by u from log q, beta1 from b."""
    return q**2 * (b**2 + 2 * u) + 2 * q * (sp.exp(-u) - 1)


def energy() -> sp.Expr:
    """beta1^2 / 2 - alpha2 - e^{-alpha2}."""
    return beta1**2 / 2 - alpha2 - sp.exp(-alpha2)


def blow_up_time(a2: Exact, b1: Exact) -> arb:
    """s*(alpha2, beta1) = int_0^oo e^{-u} / sqrt(radicand(e^{alpha2}, beta1, u)) du as a ball.

    Valid when: alpha2 >= 0 and beta1 > 0. Raises ValueError otherwise.
    """
    start, slope = to_ball(a2), to_ball(b1)
    if not (start >= 0 and slope > 0):
        raise ValueError(f"the blow-up time needs alpha2 >= 0 and beta1 > 0, got {a2} and {b1}")
    q = start.exp()

    def integrand(u: acb, analytic: bool) -> acb:
        return (-u).exp() / (q * q * (slope * slope + 2 * u) + 2 * q * ((-u).exp() - 1)).sqrt(analytic=analytic)

    # beyond _FAR the radicand exceeds 2 q (q _FAR - 1) > 1, so the tail lies in [0, e^-_FAR]
    return acb.integral(integrand, 0, _FAR).real + arb(0).union(arb(-_FAR).exp())
