"""Figure 2, heads closer to (0, 1): descent on the slice keeps the order of two starts, at every T >= 4.

With u = 1/T, E_c = D_c/u the logit difference of class c over u and q = (1 - 4u, u, u, 2u) the shares of the classes,
L - log T = log sum_c q_c e^{u E_c} =: log Z, so that T d2L/(d alpha1 d beta1) = sum_c p_c d2E_c + u Cov_p(d_a E, d_b E)
with p_c = q_c e^{u E_c}/Z; times Z^2 it is `cross`, analytic in u down to u = 0, that is T -> infinity.
Where it is positive, descent is cooperative in (-alpha1, beta1): one Euler step z -> clip(z - h grad L) of descent
projected on the box keeps the order of two points of the box for small h, since the step's Jacobian has no negative
entry on the segment between them and clipping is monotone; the limit h -> 0 keeps it too (Kamke). (0, 1) is the box's
largest point in that order, so the start that is closer in both coordinates reaches it no later.
"""

from functools import cache

import numpy as np
import sympy as sp

from dynamics.flow.trajectories import gradient_flow
from proofs_check.evidence.certified import proved_on
from proofs_check.evidence.margin import Margin, at_most, identity, less, same, worst
from proofs_check.ledger.claim import SAMPLES, Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import ONCE, certified, mathematical, sampled, symbolic
from theory.landscape import slice_symbolic
from theory.landscape.symbolic import interior_table
from theory.lowering.box import Box
from theory.symbols import alpha1, beta1

SOURCE = "KV shifting (both versions), Section 3.2, Figure 2, our addition"
u = sp.Symbol("u", nonnegative=True)
BOX = Box({alpha1: (0, 1), beta1: (0, 1), u: (0, "1/4")})
SIDE = 9  # starts along each side of the box


def _cross(terms: slice_symbolic.Terms, x: sp.Symbol, y: sp.Symbol, covariance: int = 1) -> sp.Expr:
    """Z^2/u times d2 log Z/(dx dy), Z the sum of q_c e^{u E_c} over terms (q_c, E_c)."""
    weighted = [(share * sp.exp(u * exponent), exponent) for share, exponent in terms]
    along_x, along_y = (sp.Add(*(weight * sp.diff(e, symbol) for weight, e in weighted)) for symbol in (x, y))
    return sp.Add(*(weight for weight, _ in weighted)) * sp.diff(along_x, y) - covariance * u * along_x * along_y


@cache
def cross() -> sp.Expr:
    """Z^2 T d2L/(d alpha1 d beta1)."""
    terms = slice_symbolic.exact_terms(interior_table(1 / u))
    return _cross([(sp.expand(u * count), sp.together(gap / u)) for count, gap in terms], alpha1, beta1)


def second_derivative(covariance: int = 1) -> Margin:
    """`_cross` for exponents E_c = e + a s + b t + m s t, at s = t = 0."""
    s, t = sp.symbols("s t", real=True)
    jets = zip(*(sp.symbols(f"{name}1:5", real=True) for name in "qeabm"), strict=True)
    terms = [(q, e + a * s + b * t + m * s * t) for q, e, a, b, m in jets]
    total = sp.Add(*(q * sp.exp(u * exponent) for q, exponent in terms))
    sides = sp.diff(sp.log(total), s, t), u * _cross(terms, s, t, covariance) / total**2
    return identity(*(side.subs({s: 0, t: 0}) for side in sides))


def _starts() -> np.ndarray:
    axis = np.linspace(0, 1, SIDE)
    a, b = (part.ravel() for part in np.meshgrid(axis, axis, indexing="ij"))
    return np.stack([a, 1 - a, b, 1 - b], axis=1)


def _ordered() -> tuple[np.ndarray, np.ndarray]:
    """(near, far): pairs of starts of which the first is closer to (0, 1) in both coordinates."""
    a, _, b, _ = _starts().T
    return np.nonzero((a[:, None] <= a) & (b[:, None] >= b) & ~np.eye(len(a), dtype=bool))


@cache
def _rest_times(tokens: int) -> np.ndarray:
    return gradient_flow(_starts(), tokens, 400.0 * tokens, times=[0.0], mode="box").rest_times


def arrives_first(tokens: int, reverse: bool = False) -> Margin:
    """Projected descent from 81 starts: in each ordered pair the closer one comes to rest at (0, 1) no later."""
    times = _rest_times(tokens) / tokens
    near, far = (times[which] for which in _ordered())
    return at_most(far, near) if reverse else at_most(near, far)


@cache
def free_flow(tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """Times to loss 0.1 in four parameters from the same starts, and beta1 at the end."""
    found = gradient_flow(_starts(), tokens, 5000.0, times=[0.0], levels=[0.1])
    return found.level_times[0], found.theta[-1, :, 2]


def free_is_slower(near: tuple[float, float], far: tuple[float, float], tokens: int, taking=None) -> Margin:
    """In four parameters the closer start reaches the loss 0.1 later; `taking` are both times to the nearest whole."""
    times = free_flow(tokens)[0].reshape(SIDE, SIDE)
    found = [float(times[round(a * (SIDE - 1)), round(b * (SIDE - 1))]) for a, b in (near, far)]
    rounded = [at_most(abs(t - n), 0.5) for t, n in zip(found, taking or (), strict=bool(taking))]
    return worst([less(found[1], found[0]), *rounded])


def free_failures(tokens: int, pairs: int, induction: int = 0) -> Margin:
    """Ordered pairs in which the closer start is not sooner at loss 0.1, and those where both end with beta1 > 0."""
    times, end = free_flow(tokens)
    near, far = _ordered()
    failing = ~(times[near] < times[far])
    heads = failing & (end[near] > 0) & (end[far] > 0)
    return same((int(failing.sum()), int(heads.sum())), (pairs, induction))


REFUTING = ({"near": (1.0, 0.625), "far": (1.0, 0.0), "tokens": 6, "taking": (630, 304)},)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.fig2.closer.every_t",
        SOURCE,
        "Descent on the slice, projected on the box of Figure 2, keeps the order of two heads at every T >= 4: the one "
        "closer to (0, 1) in both coordinates stays closer and reaches the induction head (0, 1) no later.",
        certified(
            "T d2L/(d alpha1 d beta1) > 0 on the box, u = 1/T in [0, 1/4]",
            lambda: proved_on(BOX, cross()),
            ONCE,
            Control("the sign turned", lambda: proved_on(BOX, -cross())),
        ),
        symbolic(
            "the second derivative of a log-sum-exp of four classes, jets free",
            second_derivative,
            ONCE,
            Control("without the product of the slopes", lambda: second_derivative(0)),
        ),
        sampled(
            "projected descent from a 9 x 9 grid, all 1944 ordered pairs, T = 4, 6, 10, 30 (full: 100, 1000)",
            arrives_first,
            lambda effort: [{"tokens": t} for t in (4, 6, 10, 30, *((100, 1000) if effort is Effort.FULL else ()))],
            Control("the other way round", lambda tokens: arrives_first(tokens, True)),
        ),
        is_correction=True,
        coverage=everywhere(
            "The mixed derivative's sign is certified on the whole box for u = 1/T in [0, 1/4]. By it a short Euler "
            "step keeps the order of two points (Kamke's condition), and so does the projection on the box; these "
            "steps tend to the projected flow, as L is smooth; and (0, 1) is the last point of the order."
        ),
        hypotheses=("alpha2 = 1 - alpha1, beta2 = 1 - beta1", "projected on [0, 1]^2", "T >= 4, interior position"),
        formula=r"\frac{\partial^2L}{\partial\alpha_1\partial\beta_1}>0,\quad(\alpha_1,\beta_1)\in[0,1]^2,\quad T\ge4",
    ),
    mathematical(
        "kv.fig2.closer.free",
        SOURCE,
        "In four parameters closer in both coordinates is not enough for a low loss: T = 6, (1, 5/8) takes 630 to "
        "L = 0.1 and (1, 0) takes 304; on a 9 x 9 grid 39 of 1944 ordered pairs fail at T = 4 and at 6, 12 at 10, each "
        "with a head that ends at beta1 < 0; no pair fails whose two heads both become induction heads.",
        sampled(
            "times of free gradient flow from two starts",
            free_is_slower,
            REFUTING,
            Control("(0, 1) and (0, 1/2)", points=({"near": (0.0, 1.0), "far": (0.0, 0.5), "tokens": 6},)),
        ),
        sampled(
            "pairs that fail, none of them of two heads that both end with beta1 > 0",
            free_failures,
            ({"tokens": 4, "pairs": 39}, {"tokens": 6, "pairs": 39}, {"tokens": 10, "pairs": 12}),
            Control("none", points=({"tokens": 6, "pairs": 0},)),
            Control("all of such heads", lambda tokens, pairs: free_failures(tokens, pairs, pairs)),
        ),
        is_correction=True,
        coverage=SAMPLES,
        hypotheses=("starts on the slice", "T = 4, 6, 10, interior position"),
        formula=r"t_{0.1}(1,\frac{5}{8})=630>304=t_{0.1}(1,0),\quad T=6",
    ),
)
