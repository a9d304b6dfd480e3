"""Margins of the learning time: the large-T limit flow, its integral, and the flow at finite T against it."""

from fractions import Fraction
from functools import cache

import numpy as np
import sympy as sp
from flint import arb

from dynamics.flow.trajectories import gradient_flow
from proofs_check.evidence.margin import Margin, at_most, ball_at_least, identity, less, worst
from proofs_check.ledger.claim import Effort
from theory.landscape import blow_up
from theory.landscape.exact import learning_time, scaled_learning_time
from theory.landscape.slice_symbolic import full_leading_excess
from theory.lowering.ball import to_ball
from theory.symbols import PARAMETERS, alpha1, alpha2, beta1, beta2, sigma

SIZES = (1_000, 10_000, 100_000)
LEVEL = 0.1
NAMED = ((0.5, 0.5), (0.0, 1.0), (1.0, 0.2))
AWAY = 0.8  # starts of the box with alpha1 - beta1 at most that: not near (1, 0), where nothing moves
NEAR = (1.0, 0.05)


def limit_field(parameter: str, sign: int = 1) -> Margin:
    """-d/d parameter of lim T (L - log T) is the velocity of `landscape.blow_up`, and 0 for alpha1 and beta2."""
    first, second = blow_up.velocity()
    moves = {alpha1: sp.S.Zero, alpha2: sign * first, beta1: second, beta2: sp.S.Zero}
    symbol = next(p for p in PARAMETERS if p.name == parameter)
    return identity(-sp.diff(full_leading_excess(), symbol), moves[symbol])


def conserved(extra: sp.Expr = sp.S.Zero) -> Margin:
    """beta1^2 / 2 - sigma^2 (a + e^{-a}), a = alpha2 / sigma, along the limit flow with scores divided by sigma."""
    first, second = blow_up.velocity(sigma)
    kept = sigma**2 * blow_up.energy().subs({alpha2: alpha2 / sigma, beta1: beta1 / sigma}, simultaneous=True)
    kept = sp.expand(kept) + extra
    return identity(sp.expand(sp.diff(kept, alpha2) * first + sp.diff(kept, beta1) * second), 0)


def integrand(which: str, factor: int = 2) -> Margin:
    """The steps from ds = d alpha2 / (beta1 e^{alpha2}) to the integrals that are enclosed."""
    u, v, turn = (sp.Symbol(name, positive=True) for name in ("u", "v", "turn"))
    # beta1(u)^2 by conservation of the energy, once alpha2 has grown by u
    square = beta1**2 + factor * (u + sp.exp(-alpha2 - u) - sp.exp(-alpha2))
    shifted = blow_up.energy().subs({alpha2: alpha2 + u, beta1: 0})
    mean = (1 - sp.exp(-(v**2))) / v**2
    pieces = {
        "energy": (square / 2 + shifted, blow_up.energy()),
        "radicand": (blow_up.radicand(sp.exp(alpha2), beta1, u), sp.exp(2 * alpha2) * square),
        "from rest": (
            square.subs({beta1: 0, alpha2: turn}).subs(u, v**2),
            2 * v**2 * (1 - sp.exp(-turn) * mean),
        ),
    }
    return identity(sp.expand(pieces[which][0]), sp.expand(pieces[which][1]))


def tail(start: str, far: str) -> Margin:
    """Beyond alpha2 = `far` >= 80 at most e^-80 of the time is left: beta1 >= 1 there, as 2 (phi(far) - phi) > 1."""
    phi = [to_ball(x) + (-to_ball(x)).exp() for x in (start, far)]
    return worst([ball_at_least(2 * (phi[1] - phi[0]), 1), ball_at_least(to_ball(far), 80)])


def value(a1: str, b1: str, low: str, high: str, scale: str = "1") -> Margin:
    """low <= s* <= high on the slice start (alpha1, beta1), scores divided by `scale`."""
    ball = blow_up.scaled_blow_up_time(1 - Fraction(a1), Fraction(b1), scale)
    return worst([ball_at_least(ball - to_ball(low)), ball_at_least(to_ball(high) - ball)])


def scaling(which: str, power: int = 1) -> Margin:
    """With a = alpha2 / sigma, b = beta1 / sigma, time s / sigma^power the flow of any sigma is that of sigma = 1."""
    at = {alpha2: alpha2 / sigma, beta1: beta1 / sigma}
    place = ("alpha2", "beta1").index(which)
    plain, scaled = blow_up.velocity()[place], blow_up.velocity(sigma)[place]
    return identity(scaled / sigma * sigma**power, plain.subs(at, simultaneous=True))


def scaled_growth(doublings: int, low: str, high: str, linear: bool = False) -> Margin:
    """s*_sigma / sigma - log sigma between bounds, for sigma = 2^doublings and the start (.5, .5)."""
    ball = blow_up.blow_up_time(Fraction(1, 2 ** (doublings + 1)), Fraction(1, 2 ** (doublings + 1)))
    rest = ball - (0 if linear else doublings * arb(2).log())
    return worst([ball_at_least(rest - to_ball(low)), ball_at_least(to_ball(high) - rest)])


def falls(which: str, sign: int = 1) -> Margin:
    """The limit flow is cooperative: each velocity grows with the other parameter (by e^{alpha2} > 0).

    A start above another one in both stays so, and blows up no later (Kamke): s* falls in alpha2 and beta1.
    """
    first, second = blow_up.velocity()
    slope = {"alpha2 with beta1": sp.diff(first, beta1), "beta1 with alpha2": sp.diff(second, alpha2)}[which]
    return identity(slope, sign * sp.exp(alpha2))


def starts(steps: int) -> np.ndarray:
    """The three named slice starts, then a grid of the box without the starts near (1, 0), as (alpha1, beta1)."""
    grid = np.linspace(0, 1, steps + 1)
    pairs = np.array([(a, b) for a in grid for b in grid if a - b <= AWAY + 1e-12])
    return np.vstack([NAMED, pairs])


@cache
def flow_times(mode: str, tokens: int, steps: int) -> np.ndarray:
    """Time at which the flow from each start first has L <= 0.1."""
    longest = 1.2 * predicted(steps).max() * tokens + 200 * np.log(tokens)
    return _learnt(mode, tokens, starts(steps), longest)


def _learnt(mode: str, tokens: int, pairs: np.ndarray, longest: float) -> np.ndarray:
    a, b = pairs.T
    rows = np.stack([a, 1 - a, b, 1 - b], axis=1)
    found = gradient_flow(rows, tokens, longest, times=[longest], levels=[LEVEL], mode=mode)
    if found.violations:
        raise ArithmeticError(f"the loss rose along {found.violations} steps")
    return found.level_times[0]


@cache
def predicted(steps: int) -> np.ndarray:
    return np.array([scaled_learning_time(1 - a, b).value for a, b in starts(steps)])


def within_log(mode: str, tokens: int, steps: int = 10, most: float = 10.0, shift: float = 0.0) -> Margin:
    """0 < t - s* T < most log T for all starts; `shift` moves s*."""
    gap = flow_times(mode, tokens, steps) - (predicted(steps) + shift) * tokens
    return worst([less(0.0, float(gap.min())), less(float(gap.max()), most * float(np.log(tokens)))])


def gap_near(mode: str, low: float, high: float, start: tuple[float, float] = NEAR) -> Margin:
    """low < t - s* T < high from a start near (1, 0) at T = 1000, with an end beyond 0 or beyond 10 log T."""
    tokens = SIZES[0]
    limit = learning_time(1 - start[0], start[1], tokens).value
    gap = float(_learnt(mode, tokens, np.array([start]), 3 * limit)[0] - limit)
    outside = less(gap, 0.0) if mode == "slice" else less(10 * float(np.log(tokens)), gap)
    return worst([less(low, gap), less(gap, high), outside])


def rate(mode: str, factor: float = 1.0) -> Margin:
    """(t(1e5) - t(1e4)) / 9e4 within 0.1 % of s*."""
    slope = (flow_times(mode, SIZES[2], 10) - flow_times(mode, SIZES[1], 10)) / (SIZES[2] - SIZES[1])
    return at_most(float(np.abs(slope / (factor * predicted(10)) - 1).max()), 1e-3)


def plateau(tokens: int, low: float, high: float) -> Margin:
    """Share of the time to L = 0.1 that the four-parameter flow from (.5, .5) spends above 0.9 log T."""
    levels = [0.9 * float(np.log(tokens)), LEVEL]
    found = gradient_flow([[0.5] * 4], tokens, 3.0 * tokens, times=[3.0 * tokens], levels=levels).level_times[:, 0]
    share = float(found[0] / found[1])
    return worst([at_most(low, share), at_most(share, high)])


def side_piece(which: str, sign: int = 1) -> Margin:
    """u = beta1 + g, v = beta1 - g with g = sgn(alpha2) sqrt(2 (phi - 1)): u' = h u, v' = -h v, u v constant.

    phi = a + e^{-a} has its only minimum 1 at 0, so g rises from -oo to oo and h = (e^{alpha2} - 1) / g > 0.
    """
    g = sp.Symbol("g", real=True, nonzero=True)
    phi = alpha2 + sp.exp(-alpha2)
    slope = sp.diff(2 * (phi - 1), alpha2) / (2 * g)  # of g in alpha2
    first, second = blow_up.velocity()
    rate = sign * (sp.exp(alpha2) - 1) / g
    pieces = {
        "u' = h u": (second + slope * first, rate * (beta1 + g)),
        "v' = -h v": (second - slope * first, -rate * (beta1 - g)),
        "u v is the energy": (beta1**2 - 2 * (phi - 1), sign * 2 * (blow_up.energy() + 1)),
        "phi at 0": (phi.subs(alpha2, 0), sp.Integer(sign)),
        "phi' at 0": (sp.diff(phi, alpha2).subs(alpha2, 0), sp.Integer(1 - sign)),
        "phi'' > 0": (sp.diff(phi, alpha2, 2), sign * sp.exp(-alpha2)),
    }
    return identity(*(sp.expand(part) for part in pieces[which]))


SIDE_PIECES = ("u' = h u", "v' = -h v", "u v is the energy", "phi at 0", "phi' at 0", "phi'' > 0")


def modes(effort: Effort) -> list[dict]:
    """Slice and four free parameters at every size; a finer grid too when there is time."""
    grids = (10,) if effort is Effort.QUICK else (10, 20)
    return [{"mode": m, "tokens": t, "steps": steps} for m in ("slice", "free") for t in SIZES for steps in grids]
