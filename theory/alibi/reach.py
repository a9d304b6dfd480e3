"""How far the window that an ALiBi head needs lies beyond the distance that it can reach, at most, for any weights."""

from __future__ import annotations

from theory.alibi.logs import log_1m_exp, log_odds
from theory.checked import POSITIVE, SHARE, elementwise, real, sized


@elementwise("slope", "mass")
@sized()
def reach_forget_gap(slope: float, mass: float) -> float:
    """(1/l) ln((1/mass - 1)/(1 - e^{-l})): `window_for_mass` lies at most this far beyond `scope` at eps = 1/2.

    W = (1/l) ln(1 + A e^D) and n* = (1/l) ln(1 + B e^D), A = 1/mass - 1, B = 1 - e^{-l}: W - n* rises with D to the gap
    if A >= B, and falls to it otherwise. So at every D whole windows w that some context exceeds mass at and whole
    distances n that no context gives half of its attention have w - n below the gap, and it is the least such number
    for all D together; a window rounded up and a reach rounded down may be less than two tokens further apart.
    Source: ours, beside RazorAttention's Theorem 1; proved in the ledger, as razor.thm1.gap.
    Valid when: D_s = D, or else no context need reach n*. mass <= 1/2 is asked for, so that A >= 1 > B; for one above
    1/(2 - e^{-l}) it is false.
    Args: slope > 0; mass in (0, 1/2]. Returns: tokens, a real number > 0.
    Raises: ValueError for an argument outside of its range.
    """
    slope, mass = real("slope", slope, POSITIVE), real("mass", mass, SHARE)
    if mass > 0.5:
        raise ValueError(f"mass must be at most 1/2, got {mass}")
    return (log_odds(mass) - log_1m_exp(slope)) / slope
