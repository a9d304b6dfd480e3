"""Margins of the claims on critical points, infima and escape routes in the four parameters."""

from fractions import Fraction

import sympy as sp
from flint import arb

from proofs_check.kv.mathematical import identities
from proofs_check.margin import Margin, at_most, ball_at_least, identity, less, same, worst
from proofs_check.oracles import ball_one_hot_loss
from theory import landscape_critical_symbolic as c
from theory.box import to_ball
from theory.landscape_symbolic import A, B, loss
from theory.precision import working
from theory.symbols import PARAMETERS, alpha1, alpha2, beta1, beta2, n_tokens

S = c.TABLE.partition
LOSS = loss(c.TABLE)
FAR = sp.Symbol("far", positive=True)  # how far along a ray
ABOVE = sp.Symbol("above", nonnegative=True)  # T = 4 + above


def gradient_in_weights(index: int, edges: int = 2) -> Margin:
    """Z S dL/dparameter is `weighted_gradient` at w_c = count_c e^{D_c}; `edges` plants another count."""
    weights = [n * sp.exp(gap / S) for n, gap in zip((1, edges, n_tokens - 4), c.gaps(), strict=True)]
    total = sp.exp(LOSS) * S * sp.diff(LOSS, PARAMETERS[index])
    expected = c.weighted_gradient()[index].subs(dict(zip(c.WEIGHTS, weights, strict=True)))
    return identity(total, expected)


def alpha_equations(index: int, factor: int = 1) -> Margin:
    """S times S Z dL/dalpha = diag(A, B) M beta S - dS/dalpha (beta . S Z dL/dbeta), for any weights."""
    gradient = c.weighted_gradient()
    row = c.alpha_equations()[index]
    lead = (A, B)[index] * (factor * row[0] * beta1 + row[1] * beta2)
    rest = sp.diff(S, PARAMETERS[index]) * (beta1 * gradient[2] + beta2 * gradient[3])
    names = {A: sp.Symbol("own", positive=True), B: sp.Symbol("previous", positive=True)}
    return identity(sp.cancel((gradient[index] * S - lead * S + rest).subs(names)), 0)


def determinant(sign: int = 1) -> Margin:
    """det M is a polynomial in the weights with positive coefficients, so beta = 0 at a critical point."""
    (a, b), (d, e) = c.alpha_equations()
    value = sp.Poly(sp.expand(a * e - sign * b * d), *c.WEIGHTS)
    return worst([less(0, coefficient) for coefficient in value.coeffs()])


def uniform_equations(shift: int = 0) -> Margin:
    """At beta = 0 the weights are the counts; two equations, linear in A and B with determinant 2 T, have one root."""
    own, previous = sp.symbols("own previous", positive=True)
    at = dict(zip(c.WEIGHTS, c.counts(), strict=True)) | {beta1: 0, beta2: 0}
    found = [sp.cancel(c.weighted_gradient()[k].subs(at).subs({A: own, B: previous})) for k in (2, 3)]
    matrix = sp.Matrix([[sp.diff(equation, name) for name in (own, previous)] for equation in found])
    root = {own: 1 - 1 / (2 * n_tokens) + shift, previous: 1 + 1 / n_tokens}
    bends = [sp.diff(equation, x, y) for equation in found for x in (own, previous) for y in (own, previous)]
    values = [equation.subs(root) for equation in found]
    value = c.at_critical(sp.exp(LOSS))
    return identities([matrix.det(), value, *values, *bends], [2 * n_tokens, n_tokens, *[0] * 10])


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


def anti_induction_rates(mixed: int = 1) -> Margin:
    """With beta = -far (1, rho) S D_c is -far times 2A - B - rho (1 - B), 1 - B + rho (A - 1), 1 - B."""
    rho = sp.Symbol("rho", nonnegative=True)
    along = [gap.subs({beta1: -FAR, beta2: -rho * FAR}) for gap in c.gaps()]
    rates = [2 * A - B - rho * (1 - B), 1 - B + mixed * rho * (A - 1), 1 - B]
    return identities(along, [-FAR * rate for rate in rates])


def loss_between(a1: str, a2: str, b1: str, b2: str, tokens: int, low: str, high: str) -> Margin:
    """low < L < high by attention over one-hot rows, in balls."""
    with working(4000):
        found = ball_one_hot_loss(*map(Fraction, (a1, a2, b1, b2)), tokens, 2)
        inside = [ball_at_least(found - to_ball(low), strict=True), ball_at_least(to_ball(high) - found, strict=True)]
        return Margin(worst(inside).value, found.str(6), f"({low}, {high})")


