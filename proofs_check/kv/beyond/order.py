"""A lower end of the learning time with its remainder: gradient flow never runs ahead of its large-T limit."""

from functools import cache

import numpy as np
import sympy as sp

from dynamics.flow.trajectories import gradient_flow
from proofs_check.evidence.margin import Margin, at_most, ball_at_least, identity, less, same, worst
from proofs_check.kv.beyond.time import LEVEL, falls, predicted, starts
from proofs_check.ledger.claim import SAMPLES, Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import exact, mathematical, sampled, symbolic
from theory.landscape import blow_up
from theory.landscape import learning_order as order
from theory.landscape.symbolic import B, interior_table, loss
from theory.symbols import PARAMETERS, alpha2, beta1, n_tokens

SOURCE = "KV shifting (both versions), Section 3.2, Figure 2, our addition"
REGION = (
    "R: 1/2 <= e^{alpha1} <= e, alpha2, beta1 >= 0, beta2 >= -beta1/4, 2 e^{alpha1} beta1 + e^{alpha2} |beta2| <= S",
    "T >= 44",
    "interior position, all four parameters, L in the closed form of kv.eq10.corrected",
)


def velocity(parameter: str, sign: int = 1) -> Margin:
    """The velocity as the lemma writes it, identically in the shares and in the four parameters."""
    symbol = next(p for p in PARAMETERS if p.name == parameter)
    return identity(order.slope_by_shares(symbol), sign * order.velocity_forms()[symbol])


def constants(tokens: int) -> Margin:
    """The three numbers on which the lemma rests are positive, and each grows with T, being affine in it."""
    here, after = ((*order.slack_above(t), order.slack_below(t)) for t in (tokens, tokens + 1))
    rises = [ball_at_least(later - now, strict=True) for now, later in zip(here, after, strict=True)]
    return worst([*(ball_at_least(ball) for ball in here), *rises])


def at_the_end(which: str, sign: int = 1) -> Margin:
    """What the theorem uses at the end: D_o, the share of the other tokens in e^L, and that beta1 does not fall."""
    table = interior_table()
    target, *rest = (entry.numerator / table.partition for entry in table.classes)
    first, second = blow_up.velocity()
    pieces = {
        "D_o": (rest[2] - target, -sign * beta1 * (B - 1) / table.partition),
        "e^L less (T - 4) e^{D_o}": (
            sp.exp(loss(table)) - sign * (n_tokens - 4) * sp.exp(rest[2] - target),
            1 + sp.exp(rest[0] - target) + 2 * sp.exp(rest[1] - target),
        ),
        "d beta1 / d alpha2": (second / first, sign * (1 - sp.exp(-alpha2)) / beta1),
    }
    return identity(*pieces[which])


Start = tuple[float, float]
GRID = 10  # steps of the grid of starts on each side of the box


@cache
def _flow(tokens: int, start: Start | None = None):
    """The flow from the slice starts away from (1, 0), or from one start, until 5 T: times, states, times to 0.1."""
    a, b = (starts(GRID) if start is None else np.array([start])).T
    times = np.linspace(0, 5.0 * tokens, 501)
    rows = np.stack([a, 1 - a, b, 1 - b], axis=1)
    found = gradient_flow(rows, tokens, times[-1], times=times, levels=[LEVEL])
    return times, found.theta, found.level_times[0]


def stays(tokens: int, margin: float = 1.0, start: Start | None = None) -> Margin:
    """Every computed state until loss 0.1 lies in R, 2 A beta1 + B |beta2| at most `margin` of S; each start learns."""
    times, theta, learnt = _flow(tokens, start)
    before = times[:, None] <= np.where(np.isnan(learnt), np.inf, learnt)
    a1, a2, b1, b2 = np.moveaxis(theta[before], -1, 0)
    a1 = np.minimum(a1, 1.0) if np.max(a1) <= 1 + 1e-12 else a1  # a start at alpha1 = 1, rounded
    filled = (2 * np.exp(a1) * b1 + np.exp(a2) * np.abs(b2)) / (tokens - 2 + 2 * np.exp(a1) + np.exp(a2))
    outside = int(np.sum(~order.inside(a1, a2, b1, b2, tokens)))
    return worst([same(outside, 0), same(int(np.isnan(learnt).sum()), 0), at_most(float(filled.max()), margin)])


@cache
def leaves(tokens: int, start: Start) -> Margin:
    """From that start of the slice the four-parameter flow leaves R, by beta1 < 0, and learns anti-induction."""
    a, b = start
    found = gradient_flow([(a, 1 - a, b, 1 - b)], tokens, 1e6, times=[1e6], levels=[LEVEL])
    end, learnt = found.theta[-1, 0], bool(np.isfinite(found.level_times[0, 0]))
    return worst([same((bool(order.inside(*end, tokens)), learnt), (False, True)), less(float(end[2]), 0.0)])


def in_time(tokens: int, less: float = 0.0) -> Margin:
    """Each computed time to loss 0.1 is at least the proved one."""
    proved = [order.earliest(limit, tokens, LEVEL) for limit in predicted(GRID)]
    return at_most(proved, (1 - less) * _flow(tokens)[2])


def lengths(effort: Effort) -> list[dict[str, int]]:
    return [{"tokens": t} for t in ((44, 10**4) if effort is Effort.QUICK else (44, 100, 1000, 10**4, 10**5))]


AWAY = "starts of the slice: alpha1, beta1 in [0, 1], alpha1 - beta1 <= 4/5"

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.beyond.time.not_ahead",
        SOURCE,
        "In the region R gradient flow is never faster than its limit: T alpha2' <= beta1 e^{alpha2} and T beta1' <= "
        "e^{alpha2} - 1, for every T >= 44.",
        symbolic(
            "both velocities by shares of the token classes, as the proof in theory.landscape.learning_order uses them",
            velocity,
            ({"parameter": "alpha2"}, {"parameter": "beta1"}),
            Control("uphill", lambda parameter: velocity(parameter, -1)),
        ),
        exact(
            "the proof's three constants at T = 44 in balls, and that they grow with T, being affine in it",
            constants,
            ({"tokens": order.LEAST_TOKENS},),
            Control("T = 42", points=({"tokens": 42},)),
        ),
        formula=r"-T\frac{\partial L}{\partial\alpha_2}\le\beta_1e^{\alpha_2},\quad"
        r"-T\frac{\partial L}{\partial\beta_1}\le e^{\alpha_2}-1",
        hypotheses=REGION,
        coverage=everywhere(
            "The lemma of theory.landscape.learning_order: the velocities in free symbols, each bracket estimated by "
            "its least value over A in [1/2, e], which is affine and grows with T."
        ),
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.time.lower",
        SOURCE,
        "While the flow stays in R, t + T s*(alpha2, beta1) never falls; so a flow that has stayed in R until its loss "
        "is 0.1 has taken no less than s* T - 1 / log(9.5 (T - 4)).",
        symbolic(
            "each velocity of the limit flow grows with the other parameter, so s* falls with both",
            falls,
            ({"which": "alpha2 with beta1"}, {"which": "beta1 with alpha2"}),
            Control("it falls", lambda which: falls(which, -1)),
        ),
        symbolic(
            "the logit of the others, its share of e^L, and that beta1 grows with alpha2 along the limit flow",
            at_the_end,
            tuple({"which": w} for w in ("D_o", "e^L less (T - 4) e^{D_o}", "d beta1 / d alpha2")),
            Control("other signs", lambda which: at_the_end(which, -1)),
        ),
        sampled(
            "times to loss 0.1 against the proved bound",
            in_time,
            lengths,
            Control("half of the time", lambda tokens: in_time(tokens, 0.5)),
        ),
        formula=r"t\ge s^*T-\frac{1}{\log\frac{T-4}{e^{0.1}-1}}",
        hypotheses=(*REGION, "the flow stays in R until its loss is 0.1"),
        coverage=everywhere(
            "The theorem of theory.landscape.learning_order: in R the flow lags behind its limit "
            "(kv.beyond.time.not_ahead), s* falls in both parameters, and at loss 0.1 at most 1 / log(9.5 (T - 4)) of "
            "T s* is left."
        ),
        note="Which flows stay in R is computed: kv.beyond.time.stays.",
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.time.stays",
        SOURCE,
        "Computed four-parameter flows from a grid of slice starts with alpha1 - beta1 <= 4/5 stay in R until their "
        "loss is 0.1. Nearer to (1, 0) some do not: from (.95, 0) at T = 44 the flow leaves R for anti-induction.",
        sampled(
            "121 starts, T = 44, 1e4 (full: also 1e2, 1e3, 1e5)",
            stays,
            lengths,
            Control("half of the room", lambda tokens: stays(tokens, 0.5)),
            Control("from (.95, 0)", lambda tokens: stays(44, start=(0.95, 0.0))),
        ),
        sampled(
            "the flow from (.95, 0) at T = 44 until t = 1e6",
            leaves,
            ({"tokens": 44, "start": (0.95, 0.0)},),
            Control("from (.5, .5)", points=({"tokens": 44, "start": (0.5, 0.5)},)),
        ),
        formula=r"\theta(t)\in R\quad(L(\theta(t))>0.1)",
        hypotheses=(*REGION, AWAY),
        coverage=SAMPLES,
        note="At T = 44 about .55 % of the box ends on the anti-induction route (kv.beyond.route.share).",
        is_correction=True,
    ),
)
