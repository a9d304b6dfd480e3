"""A lower end of the learning time with its remainder: gradient flow never runs ahead of its large-T limit."""

import math
from functools import cache

import numpy as np

from dynamics.flow import gradient_flow
from proofs_check.claim import Claim, Control, Effort, Interval, Sampled
from proofs_check.kv.beyond_time_checks import LEVEL, starts
from proofs_check.kv.mathematical import certified, mathematical, sampled, symbolic
from proofs_check.margin import Margin, at_most, ball_at_least, identity, worst
from theory import landscape_order as order
from theory.landscape import scaled_learning_time
from theory.symbols import PARAMETERS

SOURCE = "KV shifting (both versions), Section 3.2, Figure 2, our addition"
REGION = (
    "R: 1/2 <= e^{alpha1} <= e, alpha2, beta1 >= 0, beta2 >= -beta1/4, 2 e^{alpha1} beta1 + e^{alpha2} |beta2| <= S",
    "T >= 44",
    "interior positions, all four parameters",
)
DRAWN = (Interval("a1", -math.log(2), 1.0), Interval("height", 0.0, 1.0), Interval("filled", 0.0, 1.0),
         Interval("split", -1.0, 1.0), Interval("size", math.log(44), math.log(1e6)))  # fmt: skip


def velocity(parameter: str, sign: int = 1) -> Margin:
    """The velocity as the lemma writes it, identically in the shares and in the four parameters."""
    symbol = next(p for p in PARAMETERS if p.name == parameter)
    return identity(order.slope_by_shares(symbol), sign * order.velocity_forms()[symbol])


def constants(tokens: int) -> Margin:
    """The three numbers on which the lemma rests are positive; each grows with T."""
    return worst([ball_at_least(ball) for ball in (*order.slack_above(tokens), order.slack_below(tokens))])


def not_ahead(a1: float, height: float, filled: float, split: float, size: float, factor: float = 1.0) -> Margin:
    """factor T velocity <= limit at a point of R: alpha2 up to log(100 T), then both betas fill a share of S."""
    tokens, own = math.exp(size), math.exp(a1)
    a2 = height * math.log(100 * tokens)
    room = filled * (tokens - 2 + 2 * own + math.exp(a2)) * (1 - 1e-12)
    b1 = room * (1 - abs(split)) / (2 * own)
    b2 = max(math.copysign(room * abs(split) * math.exp(-a2), split), -b1 / 4)
    if not order.inside(min(a1, 1.0), a2, b1, b2, tokens):
        raise ValueError("the drawn point is not in R")
    found = order.speeds(a1, a2, b1, b2, np.float64(tokens))
    pairs = ((found.alpha2, found.limit_alpha2), (found.beta1, found.limit_beta1))
    return worst([at_most(factor * speed / (1 + limit), limit / (1 + limit), 1e-9) for speed, limit in pairs])


@cache
def _flow(tokens: int):
    """The flow from the named and the random slice starts until 5 T: times, states, times to loss 0.1."""
    a, b = starts(0).T
    times = np.linspace(0, 5.0 * tokens, 501)
    rows = np.stack([a, 1 - a, b, 1 - b], axis=1)
    found = gradient_flow(rows, tokens, times[-1], times=times, levels=[LEVEL])
    return times, found.theta, found.level_times[0]


@cache
def _limits() -> tuple[float, ...]:
    return tuple(scaled_learning_time(1 - a1, b1).value for a1, b1 in starts(0))


def stays(tokens: int, margin: float = 1.0) -> Margin:
    """Every computed state until loss 0.1 lies in R, 2 A beta1 + B |beta2| at most `margin` of S."""
    times, theta, learnt = _flow(tokens)
    before = times[:, None] <= learnt
    a1, a2, b1, b2 = np.moveaxis(theta[before], -1, 0)
    a1 = np.minimum(a1, 1.0) if np.max(a1) <= 1 + 1e-12 else a1  # a start at alpha1 = 1, rounded
    filled = (2 * np.exp(a1) * b1 + np.exp(a2) * np.abs(b2)) / (tokens - 2 + 2 * np.exp(a1) + np.exp(a2))
    return worst([at_most(1.0, order.inside(a1, a2, b1, b2, tokens).astype(float)), at_most(filled, margin)])


def rises(tokens: int, start: int, stretched: float = 1.0) -> Margin:
    """t + T s*(alpha2, beta1), as a share of T, never falls at ten moments until loss 0.1."""
    times, theta, learnt = _flow(tokens)
    moments = np.flatnonzero(times <= learnt[start])
    chosen = moments[np.linspace(0, len(moments) - 1, 10).astype(int)]
    values = [times[k] / tokens + stretched * scaled_learning_time(*theta[k, start, 1:3]).value for k in chosen]
    return at_most(values[:-1], values[1:], 1e-7)


def in_time(tokens: int, less: float = 0.0) -> Margin:
    """Each computed time to loss 0.1 is at least the proved one."""
    proved = [order.earliest(limit, tokens, LEVEL) for limit in _limits()]
    return at_most(proved, (1 - less) * _flow(tokens)[2])


def lengths(effort: Effort) -> list[dict[str, int]]:
    return [{"tokens": t} for t in ((44, 10**4) if effort is Effort.QUICK else (44, 100, 1000, 10**4, 10**5))]


def named(effort: Effort) -> list[dict[str, int]]:
    return [{**point, "start": start} for point in lengths(effort) for start in range(3)]


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.beyond.time.not_ahead",
        SOURCE,
        "In the region R gradient flow is never faster than its limit: T alpha2' <= beta1 e^{alpha2} and T beta1' <= "
        "e^{alpha2} - 1, for every T >= 44.",
        symbolic(
            "both velocities by shares of the token classes, as the proof in theory.landscape_order uses them",
            velocity,
            ({"parameter": "alpha2"}, {"parameter": "beta1"}),
            Control("uphill", lambda parameter: velocity(parameter, -1)),
        ),
        certified(
            "the proof's three constants, increasing in T, at T = 44",
            constants,
            ({"tokens": order.LEAST_TOKENS},),
            Control("T = 42", points=({"tokens": 42},)),
        ),
        sampled(
            "random points of R, alpha2 to log(100 T), T to 1e6",
            not_ahead,
            Sampled(300, 5000),
            Control("1 % faster", lambda **p: not_ahead(**p, factor=1.01)),
        ),
        formula=r"-T\frac{\partial L}{\partial\alpha_2}\le\beta_1e^{\alpha_2},\quad"
        r"-T\frac{\partial L}{\partial\beta_1}\le e^{\alpha_2}-1",
        hypotheses=(*REGION, *DRAWN),
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.time.lower",
        SOURCE,
        "While the flow stays in R, t + T s*(alpha2, beta1) never falls; so it has loss 0.1 no sooner than s* T - 1 / "
        "log(9.5 (T - 4)). Computed flows from the slice of the box stay in R until then.",
        sampled(
            "in R until loss 0.1: the named and 20 random slice starts, T = 44, 1e4 (full: also 1e2, 1e3, 1e5)",
            stays,
            lengths,
            Control("half of the room", lambda tokens: stays(tokens, 0.5)),
        ),
        sampled(
            "t + T s* at ten moments of the three named flows",
            rises,
            named,
            Control("s* 1 % longer", lambda **p: rises(**p, stretched=1.01)),
        ),
        sampled(
            "times to loss 0.1 against the proved bound",
            in_time,
            lengths,
            Control("half of the time", lambda tokens: in_time(tokens, 0.5)),
        ),
        formula=r"t\ge s^*T-\frac{1}{\log\frac{T-4}{e^{0.1}-1}}",
        hypotheses=REGION,
        note="That a flow stays in R is computed, not proved; all else is: kv.beyond.time.not_ahead, and s* falls with "
        "alpha2 and beta1.",
        is_correction=True,
    ),
)
