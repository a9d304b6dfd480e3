"""Mixing coefficients of a shift: how they start, and what the stored parameter means."""

from __future__ import annotations

import torch
from torch import Tensor


def initial(heads: int, window: int, kind: str, generator: torch.Generator | None = None) -> Tensor:
    """Draw all but the last coefficient from U(0, 1); the last is 1 - their sum, so that each row adds up to 1.

    Source: KV shifting attention, section 2.2 and footnote 10 (windows 3 and 4, whose last one may be negative).
    Returns: (heads, window) for "free" and "clip"; the logits of the first column, (heads, 1), for "gate".
    """
    drawn = torch.rand(heads, window - 1, generator=generator)
    if kind == "gate":
        return drawn.logit(eps=torch.finfo(drawn.dtype).eps)
    return torch.cat([drawn, 1.0 - drawn.sum(1, keepdim=True)], dim=1)


def effective(parameter: Tensor, kind: str) -> Tensor:
    """Coefficients (heads, window) of a stored parameter: itself, (sigmoid a, 1 - sigmoid a), or clipped to [0, 1].

    Source: KV shifting attention, Appendix F.1 (whose beta_2 = 1 - alpha_1 is a slip for 1 - beta_1).
    """
    if kind == "gate":
        # sigmoid(-a), not 1 - sigmoid(a): no cancellation where the gate saturates.
        return torch.cat([parameter.sigmoid(), (-parameter).sigmoid()], dim=1)
    return parameter.clamp(0.0, 1.0) if kind == "clip" else parameter


def identity(heads: int, window: int, like: Tensor) -> Tensor:
    """Coefficients (1, 0, ..) of what is not shifted, (heads, window), in the dtype and on the device of `like`."""
    return torch.eye(1, window, dtype=like.dtype, device=like.device).expand(heads, window)
