"""Which route gradient flow takes from the box of Figure 2 with four parameters free: what the slice cannot show."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dynamics.flow.trajectories import gradient_flow
from proofs_check.evidence.margin import Margin, at_most, less
from proofs_check.ledger.claim import SAMPLES, Claim, Control, Effort
from proofs_check.ledger.mathematical import mathematical, sampled

SOURCE = "KV shifting (both versions), Section 3.2, Figure 2, our addition"
# T: percentage of the box that ends on the anti-induction route.
SHARES = {4: 22.7, 5: 16.2, 6: 12.3, 8: 8.0, 10: 5.7, 12: 4.3, 15: 3.1, 20: 2.0, 30: 1.0, 100: 0.1}
LEARNT, T_END = 0.1, 1e6  # once the loss is this small, the sign of beta1 tells the route
POINTS_OFF = 0.15  # percentage points: the rounding of the shares, and the resolution of a grid of 64 x 64


@lru_cache(maxsize=32)
def ends(tokens: int, size: int) -> NDArray:
    """Final sign of beta1, by midpoint of a size x size grid on [0,1]^2; NaN for a start that has not learnt."""
    first, second = np.meshgrid(*2 * [(np.arange(size) + 0.5) / size])
    starts = np.stack([first, 1 - first, second, 1 - second], axis=-1).reshape(-1, 4)
    flow = gradient_flow(starts, tokens, T_END, times=[T_END], levels=[LEARNT], rtol=1e-7, atol=1e-9)
    return np.where(np.isnan(flow.level_times[0]), np.nan, np.sign(flow.theta[-1, :, 2]))


def share(tokens: int, size: int, sign: int = -1, recorded: int | None = None) -> Margin:
    found = ends(tokens, size)
    if np.isnan(found).any():
        return less(0.0, float(-np.isnan(found).mean()))  # the claim is that every start learns
    return at_most(abs(SHARES[recorded or tokens] - 100 * float(np.mean(found == sign))), POINTS_OFF)


def _points(effort: Effort) -> list[dict[str, int]]:
    chosen = (4, 20) if effort is Effort.QUICK else tuple(SHARES)
    return [{"tokens": tokens, "size": 64 if effort is Effort.QUICK else 200} for tokens in chosen]


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.beyond.route.share", SOURCE,
        "Of the starts of Figure 2's box (alpha2 = 1 - alpha1, beta2 = 1 - beta1), all four parameters then free, "
        "computed gradient flow takes the anti-induction route from 22.7 % of the area at T = 4, 16.2, 12.3, 8.0, 5.7, "
        "4.3, 3.1, 2.0, 1.0 % at T = 5, 6, 8, 10, 12, 15, 20, 30 and 0.1 % at T = 100; every start of the grid learns.",
        sampled("midpoints of a grid, flowed to t = 1e6", share, _points,
                Control("the other route", lambda tokens, size: share(tokens, size, 1)),
                Control("the share of another T", lambda tokens, size: share(tokens, size, recorded=5))),
        hypotheses=("interior position", "starts on the slice, inside the box"),
        coverage=SAMPLES,
        formula=r"\left|\{(\alpha_1,\beta_1)\in[0,1]^2:\beta_1(t)\to-\infty\}\right|",
        is_correction=True,
    ),
)
