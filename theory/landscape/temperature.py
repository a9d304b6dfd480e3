"""Logit temperature of an induction head with Gaussian embeddings: where scaling the output up stops paying.

Hard attention reads the value u of the target exactly and multiplies it by kappa, so a competitor x has the logit
kappa x.u against kappa |u|^2: with the margin D = x.u - |u|^2 the loss is log(1 + sum_j e^{kappa D_j}). Embeddings are
iid N(0, I/d); given r = |u|^2 the margins are iid N(-r, r/d), and d r is chi-square with d degrees of freedom.
Source: our addition to KV shifting, Theorem 3.4.
"""

from fractions import Fraction
from math import factorial
from typing import NamedTuple

import sympy as sp
from flint import acb, arb

from theory.checked import shown, whole
from theory.landscape.symbolic import interior_table, loss
from theory.lowering.alone import alone
from theory.lowering.box import Exact, to_ball
from theory.symbols import alpha1, beta1, beta2, dim, n_tokens

kappa = sp.Symbol("kappa", positive=True)
margin = sp.Symbol("margin", real=True)
square = sp.Symbol("square", positive=True)  # r = |u|^2
tilt = sp.Symbol("tilt", real=True)


def infinite_width_loss() -> sp.Expr:
    """Loss at d = infinity with alpha = (0, alpha2), beta = (kappa, 0), i interior; it falls in alpha2 and, from
    alpha2 > log 2 on, in kappa, towards 0: no finite optimum."""
    return loss(interior_table()).subs({alpha1: 0, beta2: 0, beta1: kappa}, simultaneous=True)


def conditional_density() -> sp.Expr:
    """Density of the margin given r: that of N(-r, r/d) = e^{-d D} times an even function of D."""
    return sp.sqrt(dim / (2 * sp.pi * square)) * sp.exp(-dim * (margin + square) ** 2 / (2 * square))


def square_density() -> sp.Expr:
    """Density of r = |u|^2."""
    return (dim / 2) ** (dim / 2) / sp.gamma(dim / 2) * square ** (dim / 2 - 1) * sp.exp(-dim * square / 2)


def moment_generating() -> sp.Expr:
    """E e^{s D} = (1 + 2 s/d - s^2/d^2)^{-d/2} for |s - d| < sqrt(2) d, s = `tilt`; it is even about s = d."""
    return (1 + 2 * tilt / dim - tilt**2 / dim**2) ** (-dim / 2)


def jensen_bound() -> sp.Expr:
    """E L <= log(1 + (T - 1)(1 + 2 kappa/d - kappa^2/d^2)^{-d/2}); least at kappa = d: log(1 + (T - 1) 2^{-d/2}).

    Valid when: kappa < (1 + sqrt(2)) d. By Jensen, as log is concave and the D_j share one law.
    """
    return sp.log(1 + (n_tokens - 1) * moment_generating().subs(tilt, kappa))


def best_temperature(width: int) -> int:
    """kappa* = 2 d, the only minimiser of E log(1 + e^{kappa D}) for one competitor, at every width d.

    E[D / (1 + e^{-kappa D})] at kappa = 2 d is the integral of D / (e^{d D} + e^{-d D}), odd, against an even function.
    With two competitors or more the minimiser lies strictly between d and 2 d.
    Raises ValueError unless d >= 1 is whole.
    """
    return 2 * whole("width", width, 1)


class _Tail(NamedTuple):
    """f(+-y) = constant e^{-rate y} sum_j coefficients[j] y^j for y > 0."""

    coefficients: list[arb]
    rate: arb

    @alone
    def at(self, y: acb) -> acb:
        total = acb(0)
        for coefficient in reversed(self.coefficients):
            total = total * y + coefficient
        return total * (-y * self.rate).exp()

    @alone
    def moment(self, power: int, start: arb) -> arb:
        """int_start^oo y^power f dy, by upper incomplete gamma functions."""
        terms = [
            c * (self.rate * start).gamma_upper(arb(j + power + 1)) / self.rate ** (j + power + 1)
            for j, c in enumerate(self.coefficients)
        ]
        return sum(terms, arb(0))


@alone
def margin_density(width: int) -> tuple[_Tail, _Tail]:
    """Density of D at positive and at negative margins, at an even width d, as balls.

    Mixing the conditional density over r gives a constant times e^{-d D} y^nu K_nu(y), y = sqrt(2) d |D| and
    nu = (d - 1)/2, elementary for even d. Raises ValueError for a width that is not even and positive.
    """
    width = whole("width", width, 2)
    if width % 2:
        raise ValueError(f"width must be even, got {width}")
    top, root = width // 2 - 1, arb(2).sqrt() * width
    powers = [
        to_ball(Fraction(factorial(top + k), factorial(k) * factorial(top - k) * 2**k)) * root ** (top - k)
        for k in range(top, -1, -1)
    ]
    sides = [_Tail(powers, root + width), _Tail(powers, root - width)]
    total = sides[0].moment(0, arb(0)) + sides[1].moment(0, arb(0))
    return _Tail([p / total for p in powers], root + width), _Tail([p / total for p in powers], root - width)


@alone
def slope_in_temperature(temperature: Exact, width: int) -> arb:
    """d/d kappa of E log(1 + e^{kappa D}) = E[D / (1 + e^{-kappa D})] for one competitor, enclosed; d even.

    Raises ValueError unless temperature >= 0 and the width is even and positive.
    """
    level, width = to_ball(temperature), whole("width", width, 2)
    if not level >= 0:
        raise ValueError(f"temperature must be at least 0, got {shown(temperature)}")
    above, below = margin_density(width)
    far = arb(40)

    def integrand(y: acb, _: bool) -> acb:
        return y * (above.at(y) / (1 + (-level * y).exp()) - below.at(y) / (1 + (level * y).exp()))

    near = acb.integral(integrand, 0, far).real
    # beyond `far` the factors 1 / (1 + e^{...}) lie in [0, 1]
    return near + arb(0).union(above.moment(1, far)) - arb(0).union(below.moment(1, far))
