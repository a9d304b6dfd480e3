"""How far an ALiBi head with mixed keys k'_t = a_1 k_t + a_2 k_{t-1} sees: neighbouring keys share one raw key.

Of one query raw logits s_t fill [-D/2, D/2] at most, mixed ones are a_1 s_t + a_2 s_{t-1}, s_0 = 0. With phi =
sum_{j=1}^{n} e^{l j} the token at distance n has odds against it of at least phi e^{-(|a_1| + |a_2|) D}, the old rule
(`shifted_range`), and of at least
- one sign: min over 0 <= v <= D of e^{l - |a_2| D - |a_1| v} (phi e^{-l} - 1 + e^{|a_2| v}), v - D/2 the target's own
  raw logit, given which all others are best at an end. v = D where |a_1| >= |a_2|, else v may lie between. Attained but
  for the token before the target, which must be there: for v = D it adds e^{-l - |a_2| D/2} to the odds, less than 1.
- opposite signs: phi e^{-D (R + r/phi)}, R = max(|a_1|, |a_2| + |a_1| (1 - e^{-l})), r = min(|a_1|, |a_2| e^l), for not
  all tokens can be far below the one before: Jensen, for the weights e^{l j}/phi. A bound; the target's raw logit high
  and all others low give (phi - e^l) e^{-|a_1| D} + e^{l - (|a_1| + |a_2|) D}, but for the token before the target.
So the old rule is nearly sharp for one sign (it loses at most e^l in odds); for opposite ones |a_1| + |a_2| gives way
to about the larger of the two. Every width of a head, and every context: for what is not attained in it, a bound.
Source: ours, beside RazorAttention's Theorem 1 and KV shifting attention, Eq. 4-6; proved in the ledger, under
razor.thm1.shifted and razor.sec3.1.shifted.
Valid when: two coefficients, raw keys without a constant part (no bias of the norm, none of the key), no rotation
between raw keys and logits, all tokens up to the target visible. raw is D, of the head without the shift.
"""

from __future__ import annotations

import math

from theory.alibi.bounds import dropped_mass_bound, scope, window_for_mass
from theory.alibi.logs import less, log_expm1, log_odds, log_sum_of_powers, one_less, slack, softplus
from theory.checked import NONNEGATIVE, SHARE, Range, elementwise, real, sized


@elementwise("distance", "slope", "raw", "own", "before")
@sized()
def shifted_weight_bound(distance: float, slope: float, raw: float, own: float, before: float) -> float:
    """Bound on the attention to the token at this distance, 1/(1 + odds), odds as above. Falls with the distance.

    Args: distance >= 1; slope >= 0; raw >= 0; own, before: a_1 and a_2. Returns: a number in [0, 1].
    Raises: ValueError for an argument outside of its range.
    """
    return math.exp(-softplus(log_shifted_odds(distance, slope, raw, own, before)))


@elementwise("distance", "slope", "raw", "own", "before")
@sized(infinite=True)
def log_shifted_odds(distance: float, slope: float, raw: float, own: float, before: float) -> float:
    """The logarithm of the odds above against the token at this distance. Arguments as `shifted_weight_bound`.

    It is rounded downwards by the `logs.slack` of what may cancel, l n + (|a_1| + |a_2|) D.
    """
    distance, slope = real("distance", distance, Range(1.0)), real("slope", slope, NONNEGATIVE)
    raw, a_1, a_2, one_sign = _head(raw, own, before)
    if math.isinf(slope * distance):
        return math.inf
    lost = slack(slope * distance + (a_1 + a_2) * raw)
    if not one_sign:
        log_phi = log_sum_of_powers(distance, slope)
        return log_phi - _range_beyond(log_phi, slope, raw, a_1, a_2) - lost
    rest = log_sum_of_powers(one_less(distance), slope)  # phi e^{-l} - 1
    height = math.log(a_1) - math.log(a_2 - a_1) + rest if 0 < a_1 < a_2 else math.inf if a_1 else -math.inf
    if height >= a_2 * raw:  # of |a_2| v, where v is best
        return slope - a_1 * raw + softplus(rest - a_2 * raw) - lost
    if height <= 0:
        return slope - a_2 * raw + softplus(rest) - lost
    return slope - a_2 * raw - a_1 / a_2 * height + rest + math.log(a_2) - math.log(a_2 - a_1) - lost


@elementwise("slope", "raw", "own", "before", "eps")
@sized(infinite=True)
def shifted_scope(slope: float, raw: float, own: float, before: float, eps: float) -> float:
    """The distance from which no weight exceeds eps, for whole distances >= 1: `scope` for shifted keys.

    One sign: the inverse, phi e^{-l} - 1 = max over v of (1/eps - 1) e^{|a_2| D - l + |a_1| v} - e^{|a_2| v}.
    Opposite signs: `scope` at `shifted_range_beyond`. Never above `scope` at (|a_1| + |a_2|) D.
    Args: slope >= 0; raw >= 0; eps in (0, 1). Returns: a real number >= 0, inf where it overflows.
    """
    slope, eps = real("slope", slope, NONNEGATIVE), real("eps", eps, SHARE)
    raw, a_1, a_2, one_sign = _head(raw, own, before)
    plain = scope(slope, (a_1 + a_2) * raw, eps)
    if not one_sign:
        return min(plain, scope(slope, shifted_range_beyond(slope, raw, own, before, eps), eps))
    odds = log_odds(eps)
    end, start = (odds + less(a, raw, slope) for a in (a_1, a_2))  # ln (1/eps - 1) e^{a D - l}
    if max(end, start) <= 0:  # at distance 1
        return min(plain, scope(slope, max(a_1, a_2) * raw, eps))
    lean = math.log(a_1) - math.log(a_2) if 0 < a_1 < a_2 else math.inf if a_1 else -math.inf
    if end + lean >= 0:  # v = D
        rest = a_2 * raw + log_expm1(end)
    elif start + lean <= 0:  # v = 0
        rest = log_expm1(start)
    else:
        rest = a_2 / (a_2 - a_1) * (start + lean) + math.log(a_2 - a_1) - math.log(a_1)
    return min(plain, scope(slope, slope + softplus(rest), 0.5))  # where phi = e^{l}(1 + e^{rest})


@elementwise("slope", "raw", "own", "before", "mass")
@sized(infinite=True)
def shifted_window(slope: float, raw: float, own: float, before: float, mass: float) -> float:
    """The window outside of which the total attention is at most mass: `window_for_mass` at `shifted_range_beyond`.

    Args: slope >= 0; raw >= 0; mass in (0, 1). Returns: a real number > 0, inf at slope 0 and where it overflows.
    """
    mass = real("mass", mass, SHARE)
    return window_for_mass(slope, shifted_range_beyond(slope, raw, own, before, mass), mass)


@elementwise("window", "slope", "raw", "own", "before", "n_tokens")
@sized()
def shifted_dropped_mass(
    window: float, slope: float, raw: float, own: float, before: float, n_tokens: float | None = None
) -> float:
    """Bound on the total attention to distances >= window: `dropped_mass_bound` at D (R + r/phi), n = window.

    Far tokens may all have the highest logit but for a factor below two, the near ones together not the lowest. One
    sign: at (|a_1| + |a_2|) D. The range is rounded upwards by its `logs.slack`, as it may cancel.
    Args: window >= 1; the rest as there. Returns: a number in [0, 1].
    """
    window, slope = real("window", window, Range(1.0)), real("slope", slope, NONNEGATIVE)
    raw, a_1, a_2, one_sign = _head(raw, own, before)
    spread = (a_1 + a_2) * raw
    if not one_sign and not math.isinf(slope * window):
        spread = _range_beyond(log_sum_of_powers(window, slope), slope, raw, a_1, a_2)
    return dropped_mass_bound(window, slope, spread + slack(spread), n_tokens)


@elementwise("slope", "raw", "own", "before", "share")
@sized()
def shifted_range_beyond(slope: float, raw: float, own: float, before: float, share: float) -> float:
    """The range at which `scope` and `window_for_mass` hold for this share of the attention, at most (|a_1| + |a_2|) D.

    Opposite signs: D (R + r/max(e^l, (1/share - 1) e^{R D})): from the distance on at which phi has reached the
    maximum, D (R + r/phi) is no more. One sign: (|a_1| + |a_2|) D.
    Args: slope >= 0; raw >= 0; share in (0, 1).
    """
    slope, share = real("slope", slope, NONNEGATIVE), real("share", share, SHARE)
    raw, a_1, a_2, one_sign = _head(raw, own, before)
    if one_sign:
        return (a_1 + a_2) * raw
    least = log_odds(share) + _steady(slope, a_1, a_2) * raw
    return _range_beyond(max(slope, least), slope, raw, a_1, a_2)


def _head(raw: float, own: float, before: float) -> tuple[float, float, float, bool]:
    """D, |a_1|, |a_2|, and whether the two have one sign (0 has both)."""
    raw, a_1, a_2 = real("raw", raw, NONNEGATIVE), real("own", own), real("before", before)
    if math.isinf((abs(a_1) + abs(a_2)) * raw):
        raise OverflowError("(|own| + |before|) raw")
    return raw, abs(a_1), abs(a_2), min(a_1, a_2) >= 0 or max(a_1, a_2) <= 0


def _steady(slope: float, a_1: float, a_2: float) -> float:
    """R, for opposite signs."""
    return max(a_1, a_2 - a_1 * math.expm1(-slope))


def _range_beyond(log_phi: float, slope: float, raw: float, a_1: float, a_2: float) -> float:
    """D (R + r/phi) for opposite signs, at most (|a_1| + |a_2|) D."""
    fading = min(a_1 * math.exp(-log_phi), a_2 * math.exp(slope - log_phi))
    return raw * min(a_1 + a_2, _steady(slope, a_1, a_2) + fading)

