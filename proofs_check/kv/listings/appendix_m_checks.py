"""What the training listing of Appendix M gives, for 2 sequences of 3 heads and components in whole numbers."""

from math import prod

import torch
import torch.nn.functional as F

from dynamics.model.listing_m import listing_convolution, listing_module, unfold_shape

BATCH, HEADS, SIZE = 2, 3, 4


def squares(*shape: int, start: int = 1) -> torch.Tensor:
    """Distinct squares: whole numbers without a linear relation that a check could meet by chance."""
    return (torch.arange(start, start + prod(shape)) ** 2).reshape(shape)


def _states(length: int, window: int) -> tuple[torch.Tensor, torch.Tensor]:
    return squares(BATCH, length, HEADS, SIZE), squares(HEADS, window, start=700)


def convolved(length: int, window: int) -> list:
    """custom_convolution(U, K) at token t."""
    return listing_convolution(*_states(length, window)).tolist()


def mixed(length: int, window: int, first: str = "oldest") -> list:
    """sum[j = 0..w - 1] K[j] U[t - (w - 1) + j], zeros before the first token, the {first} first."""
    states, weights = _states(length, window)
    found = torch.zeros_like(states)
    for column in range(window):
        lag = window - 1 - column if first == "oldest" else column
        for t in range(lag, length):
            found[:, t] += weights[:, column, None] * states[:, t - lag]
    return found.tolist()


def unfolded(length: int, window: int) -> tuple[int, ...]:
    """The shape of U_unfolded."""
    return unfold_shape(_states(length, window)[0], window)


def windows(length: int, window: int, extra: int = 1) -> tuple[int, ...]:
    """(bs, seq + {extra} (w - 1), h, d, w)."""
    return BATCH, length + extra * (window - 1), HEADS, SIZE, window


def result(length: int, window: int) -> tuple[int, ...]:
    """The shape of V."""
    return tuple(listing_convolution(*_states(length, window)).shape)


def tokens(length: int, window: int, extra: int = 0) -> tuple[int, ...]:
    """(bs, seq + {extra} (w - 1), h, d)."""
    return BATCH, length + extra * (window - 1), HEADS, SIZE


def inner(length: int, window: int) -> tuple[tuple[int, ...], ...]:
    """The shapes of U_padded, K_expanded and V_unfolded."""
    states, weights = _states(length, window)
    padded = F.pad(states, (0, 0, 0, 0, window - 1, 0))
    expanded = weights.unsqueeze(0).unsqueeze(0).unsqueeze(-2)
    return tuple(tuple(x.shape) for x in (padded, expanded, padded.unfold(1, window, 1) * expanded))


def three(length: int, window: int, padded: int = 1) -> tuple[tuple[int, ...], ...]:
    """(bs, seq + {padded} (w - 1), h, d), (1, 1, h, 1, w), (bs, seq, h, d, w)."""
    longer = (BATCH, length + padded * (window - 1), HEADS, SIZE)
    return longer, (1, 1, HEADS, 1, window), (BATCH, length, HEADS, SIZE, window)


def called(
    imports_torch: bool = False, calls_super: bool = False, spelled: str = "foward", returns: bool = False
) -> str | None:
    """What a call of the module gives."""
    made = listing_module(imports_torch=imports_torch, calls_super=calls_super, spelled=spelled, returns=returns)
    found = made(HEADS)(torch.zeros(BATCH, 3, HEADS, SIZE))
    return "a tensor" if isinstance(found, torch.Tensor) else found
