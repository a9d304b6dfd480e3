"""Mixing coefficients of a shift: how they start, and what the stored parameter means."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

LAWS = ("paper", "matched")


def initial(heads: int, window: int, kind: str, generator: torch.Generator | None = None, law: str = "paper") -> Tensor:
    """Draw rows of coefficients that add up to 1.

    "paper": all but the last from U(0, 1), the last 1 - their sum. Its E sum c^2, the mean factor on the variance of
    keys and values, is 2/3, 5/6, 3/2 for windows 2, 3, 4, and the last coefficient may be negative.
    "matched": Dirichlet(1/(2 window - 3), ..), which has E sum c^2 = 2/3 for every window and no negative coefficient;
    for window 2 the two laws are one, and so are the draws.
    Source: KV shifting attention, section 2.2 and footnote 10; "matched" is our addition.
    Returns: (heads, window) for "free" and "clip"; the logits of the first column, (heads, 1), for "gate".
    Raises: ValueError for a law other than these.
    """
    check_law(law)
    if law == "matched" and window > 2:
        return _dirichlet(heads, window, generator)
    drawn = torch.rand(heads, window - 1, generator=generator)
    if kind == "gate":
        return drawn.logit(eps=torch.finfo(drawn.dtype).eps)
    return torch.cat([drawn, 1.0 - drawn.sum(1, keepdim=True)], dim=1)


def check_law(law: str) -> None:
    """Raises ValueError for a law other than those of `initial`."""
    if law not in LAWS:
        raise ValueError(f"initial must be one of {', '.join(LAWS)}, got {law!r}")


def _dirichlet(heads: int, window: int, generator: torch.Generator | None) -> Tensor:
    # torch's own Dirichlet reads the global generator only; one number of this one seeds numpy's.
    seed = int(torch.randint(2**63 - 1, (1,), generator=generator))
    drawn = np.random.default_rng(seed).dirichlet([1 / (2 * window - 3)] * window, heads)
    return torch.from_numpy(drawn).to(torch.get_default_dtype())


def effective(parameter: Tensor, kind: str) -> Tensor:
    """Coefficients (.., heads, window) of a stored parameter: itself, (sigmoid a, 1 - sigmoid a), or clipped to [0, 1].

    Source: KV shifting attention, Appendix F.1 (whose beta_2 = 1 - alpha_1 is a slip for 1 - beta_1).
    """
    if kind == "gate":
        # sigmoid(-a), not 1 - sigmoid(a): no cancellation where the gate saturates.
        return torch.cat([parameter.sigmoid(), (-parameter).sigmoid()], dim=-1)
    return parameter.clamp(0.0, 1.0) if kind == "clip" else parameter


def identity(heads: int, window: int, like: Tensor) -> Tensor:
    """Coefficients (1, 0, ..) of what is not shifted, (heads, window), in the dtype and on the device of `like`."""
    return torch.eye(1, window, dtype=like.dtype, device=like.device).expand(heads, window)
