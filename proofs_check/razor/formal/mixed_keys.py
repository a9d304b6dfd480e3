"""Heads whose keys are mixed with those before, as statements: Theorem 1 and windows for them."""

from dataclasses import replace
from typing import Any

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, both, either, eq, exp, implies, log
from proofs_check.language.notation import each, positive, real, sequence, total, var, when
from proofs_check.razor.formal.definitions import (
    ATTENTION,
    MASS,
    attention,
    call,
    defined,
    distance,
    eps,
    j,
    mass,
    n,
    slope,
    spread,
)
from proofs_check.records import parted, states

# theory.alibi.shifted_scope: mixed logits a_1 s_t + a_2 s_{t-1} of raw ones in [-D/2, D/2], nothing before the first
own, before = real("p", 0), real("r", 0)
raw_logits = sequence("s", n, -spread / 2, spread / 2)
GROWN = total(j, 1, distance, exp(slope * j))
# D (R + r/phi), for r e^l <= p and for p <= r e^l
RANGES = own + before * exp(slope) / GROWN, before + own * (1 - exp(-slope)) + own / GROWN


def mixed(raw: Any, sign: int) -> Term:
    """a_1 = p and a_2 = sign r; with both signs turned it is -s that is mixed."""
    return each(j, own * raw(j) + when(j < 2, 0, sign * before * raw(j - 1)))


def alike_odds(v: Any) -> Term:
    """The least odds against a token whose raw logit is v - D/2."""
    return exp(slope - before * spread - own * v) * (GROWN * exp(-slope) - 1 + exp(before * v))


ODDS = defined("odds", "l D p r k v", alike_odds(var("v")))


def two_high(sign: int) -> Term:
    """The weight of the second of k + 2 tokens, of high raw logit; the first has that of the sign, others a low one."""
    raw = mixed(lambda x: when(x < 2, sign * spread / 2, when(x < 3, spread / 2, -spread / 2)), sign)
    return attention(raw, slope, distance + 2, 2)


def _shifted_alike() -> Statement:
    """x: where the odds are least, if a_2 > a_1."""
    turn, weight = real("x"), attention(mixed(lambda x: raw_logits[x], 1), slope, n, n - distance)
    least_at = eq(own * (GROWN * exp(-slope) - 1), (before - own) * exp(before * turn))
    least_odds = lambda v: call("odds", slope, spread, own, before, distance, v)  # noqa: E731
    worst = least_odds(spread) + exp(-slope - before * spread / 2)
    return states(
        "razor.thm1.shifted.alike", "added to Theorem 1, Eq. 4",
        for_all=[n, distance, slope, spread, own, before, raw_logits, turn],
        using=[ATTENTION, ODDS],
        says=both(weight <= 1 / (1 + least_odds(raw_logits[n - distance] + spread / 2)),
                  implies(before <= own, weight <= 1 / (1 + least_odds(spread))),
                  implies(least_at, weight <= 1 / (1 + least_odds(turn))), eq(two_high(1), 1 / (1 + worst))),
    )  # fmt: skip


def _shifted_opposite() -> Statement:
    weight = attention(mixed(lambda x: raw_logits[x], -1), slope, n, n - distance)
    first, second = (weight <= 1 / (1 + GROWN * exp(-spread * wide)) for wide in RANGES)
    worst = (GROWN - exp(slope)) * exp(-own * spread) + exp(slope - (own + before) * spread)
    before_it = exp(-slope - own * spread - before * spread / 2)
    return states(
        "razor.thm1.shifted.opposite", "added to Theorem 1, Eq. 4",
        for_all=[n, distance, slope, spread, own, before, raw_logits], using=[ATTENTION],
        says=both(implies(before * exp(slope) <= own, first), implies(own <= before * exp(slope), second),
                  eq(two_high(-1), 1 / (1 + worst + before_it))),
    )  # fmt: skip


def _shifted_mass() -> Statement:
    """The window is k, below n: what is longer drops nothing."""
    found = mass(mixed(lambda x: raw_logits[x], -1), slope, n, distance)
    first, second = (found <= 1 / (1 + (exp(slope * distance) - 1) * exp(-spread * wide)) for wide in RANGES)
    return states(
        "razor.sec3.1.shifted", "added to Section 3.1, Eq. 4",
        for_all=[n, distance, slope, spread, own, before, raw_logits], using=[MASS],
        says=both(implies(before * exp(slope) <= own, first), implies(own <= before * exp(slope), second)),
    )  # fmt: skip


def _shifted_scope() -> Statement:
    """From odds to distances: theory.alibi.shifted_scope.shifted_range_beyond, whose m is the larger of the two."""
    steady, fading, far, odds = real("x", 0), real("q", 0), positive("m"), 1 / eps - 1
    reached = either(far <= exp(slope), far <= odds * exp(spread * steady))
    wide, falling = odds * exp(spread * (steady + fading / far)), exp(-spread * (steady + fading / GROWN))
    scope, enough = log(1 + wide * (1 - exp(-slope))) / slope, log(1 + wide) / slope
    return states(
        "razor.thm1.shifted.scope", "added to Theorem 1, Eq. 4",
        for_all=[replace(distance, high=None), slope, spread, steady, fading, far, eps],
        says=both(implies(both(reached, scope <= distance), odds <= GROWN * falling),
                  implies(both(reached, enough <= distance), odds <= (exp(slope * distance) - 1) * falling)),
    )  # fmt: skip


CLAIMS, FORMAL = parted((_shifted_alike(), _shifted_opposite(), _shifted_mass(), _shifted_scope()))
