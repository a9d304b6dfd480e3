"""Margins of the claims on critical points, infima and escape routes in the four parameters."""

from fractions import Fraction

import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, at_most, ball_at_least, identity, less, same, worst
from proofs_check.ledger.mathematical import identities
from proofs_check.oracles.landscape import ball_one_hot_loss
from theory.landscape import critical_symbolic as c
from theory.landscape.symbolic import A, B, loss
from theory.lowering.box import to_ball
from theory.lowering.precision import working
from theory.symbols import alpha1, alpha2, beta1, beta2, n_tokens

S = c.TABLE.partition
LOSS = loss(c.TABLE)
FAR = sp.Symbol("far", positive=True)  # how far along a ray
ABOVE = sp.Symbol("above", nonnegative=True)  # T = 4 + above


def positive_for_all_tokens(expr: sp.Expr) -> Margin:
    """Numerator and denominator are polynomials in T - 4 with coefficients of one sign: positive for T >= 4."""
    parts = [sp.Poly(part.subs(n_tokens, 4 + ABOVE), ABOVE) for part in sp.fraction(sp.together(expr))]
    return worst([less(0, coefficient) for part in parts for coefficient in part.coeffs()])


def mixed_block(sign: int = 1) -> Margin:
    """No second derivative in alpha alone; the mixed block has determinant (2T - 1)/(T^3 (T + 1)), positive."""
    hessian, t = c.critical_hessian(), n_tokens
    expected = (2 * t - 1) / (t**3 * (t + 1))
    block = hessian[:2, 2:].det()
    equal = identities([*hessian[:2, :2], block, hessian.det()], [0, 0, 0, 0, expected, expected**2])
    return worst([equal, positive_for_all_tokens(sign * block)])


def inertia(factor: int = 1) -> Margin:
    """Q^T H Q is [[0, I], [I, 0]], whose eigenvalues are 1, 1, -1, -1 (Sylvester: so is the signature of H)."""
    hessian = c.critical_hessian()
    move = c.congruence(hessian)
    move[:2, 2:] = factor * move[:2, 2:]
    model = sp.zeros(2).row_join(sp.eye(2)).col_join(sp.eye(2).row_join(sp.zeros(2)))
    moved = (move.T * hessian * move).applyfunc(sp.cancel)
    return worst([identities(list(moved), list(model)), same(model.eigenvals(), {sp.Integer(1): 2, sp.Integer(-1): 2})])


Terms = list[tuple[sp.Expr, sp.Expr]]
TIED = {  # what each ablation holds at zero
    "vanilla": {alpha2: 0, beta2: 0},
    "v_shift": {alpha2: 0},
    "k_shift": {beta2: 0},
    "kv_shift": {},
}
FLOOR = {"vanilla": n_tokens - 1, "v_shift": n_tokens - 3, "k_shift": sp.Integer(1), "kv_shift": sp.Integer(1)}
FREE: dict[str, Terms] = {  # the rest of e^L: (count, exponent times S)
    "vanilla": [(1, beta1 * (2 * A - 1))],
    "v_shift": [(1, beta1 * (2 * A - 1)), (2, beta2 * (A - 1))],
    "k_shift": [(1, beta1 * (2 * A - B)), (n_tokens - 2, beta1 * (1 - B))],
    "kv_shift": list(zip(c.counts(), c.gaps(), strict=True)),
}
RAYS: dict[str, tuple[dict[sp.Symbol, sp.Expr], Terms]] = {  # a ray, and (count, rate) of what falls off along it
    "vanilla": ({alpha1: 0, beta1: -FAR}, [(1, 1 / (n_tokens + 1))]),
    "v_shift": (
        {alpha1: sp.log(2), beta1: -FAR, beta2: -FAR},
        [(1, 3 / (n_tokens + 3)), (2, 1 / (n_tokens + 3))],
    ),
    "k_shift": (
        {alpha1: 0, alpha2: sp.log(3), beta1: FAR},
        [(1, 1 / (n_tokens + 3)), (n_tokens - 2, 2 / (n_tokens + 3))],
    ),
    "kv_shift": (
        {alpha1: 0, alpha2: -sp.log(2), beta1: -FAR, beta2: -FAR},
        [(1, 2 / (2 * n_tokens + 1)), (n_tokens - 2, 1 / (2 * n_tokens + 1))],
    ),
}


def floor(model: str, extra: int = 0) -> Margin:
    """e^L is the floor plus exponentials with counts >= 0, one of them > 0: L > log floor, never equal."""
    tied = TIED[model]
    rest = sum((n * sp.exp(top / S.subs(tied)) for n, top in FREE[model]), sp.Integer(0))
    lowest = [sp.sympify(n).subs(n_tokens, 4) for n, _ in FREE[model]]
    rises = [sp.diff(n, n_tokens) for n, _ in FREE[model]]
    signs = [at_most(0, min(lowest)), less(0, max(lowest)), at_most(0, min(rises))]
    return worst([identity(sp.exp(LOSS.subs(tied)), FLOOR[model] + extra + rest), *signs])


def reached(model: str, sign: int = 1) -> Margin:
    """Along the ray e^L is the floor plus count e^{-rate far}, each rate positive for all T >= 4: the limit."""
    at, terms = RAYS[model]
    moved = {key: value.subs(FAR, sign * FAR) for key, value in ((k, sp.sympify(v)) for k, v in at.items())}
    along = sp.exp(LOSS.subs(TIED[model]).subs(moved))
    expected = FLOOR[model] + sum(n * sp.exp(-rate * FAR) for n, rate in terms)
    return worst([identity(along, expected), *(positive_for_all_tokens(rate) for _, rate in terms)])


ENDS = {"vanilla": (1, 0, -1, 0), "v_shift": (1, 0, -1, -1), "k_shift": (0, 2, 1, 0), "kv_shift": (1, -1, -1, -1)}


def attention_reaches(model: str, tokens: int, floor_of: str = "") -> Margin:
    """Attention over one-hot rows far out: log floor < L < log floor + 1e-9, in balls."""
    with working(6000):
        a1, a2, b1, b2 = ENDS[model]
        reach = 100 * (tokens + 9)
        found = ball_one_hot_loss(*map(Fraction, (a1, a2, b1 * reach, b2 * reach)), tokens, 2)
        excess = found - arb(int(FLOOR[floor_of or model].subs(n_tokens, tokens))).log()
        return worst([ball_at_least(excess, strict=True), ball_at_least(to_ball(Fraction(1, 10**9)) - excess)])


def induction_rates(first: int = 2) -> Margin:
    """D_c is affine in beta1 with slope -(B - 2A)/S and, twice, -(B - 1)/S: all fall where B > max(2A, 1)."""
    slopes = [sp.diff(gap, beta1) for gap in c.gaps()]
    bends = [sp.diff(gap, beta1, 2) for gap in c.gaps()]
    return identities([*slopes, *bends], [-(B - first * A), -(B - 1), -(B - 1), 0, 0, 0])


def loss_between(a1: str, a2: str, b1: str, b2: str, tokens: int, low: str, high: str) -> Margin:
    """low < L < high by attention over one-hot rows, in balls."""
    with working(4000):
        found = ball_one_hot_loss(*map(Fraction, (a1, a2, b1, b2)), tokens, 2)
        inside = [ball_at_least(found - to_ball(low), strict=True), ball_at_least(to_ball(high) - found, strict=True)]
        return Margin(worst(inside).value, found.str(6), f"({low}, {high})")


