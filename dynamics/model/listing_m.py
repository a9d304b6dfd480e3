"""The listings of Appendix M of the KV-shifting paper (first version: Appendix F), each flaw as a flag."""

from enum import Enum
from types import FunctionType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def unfold_shape(x: Tensor, window: int) -> tuple[int, ...]:
    """Shape of the windows that listing_convolution multiplies; the listing's comment says length + window - 1."""
    return tuple(_windows(x, window).shape)


def listing_convolution(x: Tensor, weights: Tensor) -> Tensor:
    """y[t] = sum_j weights[:, j] x[t - (w - 1) + j]: column 0 multiplies the oldest token, the last one token t.

    Source: custom_convolution, by the same pad, unfold and sum. Args: x (batch, length, heads, head_dim); weights
    (heads, w). Returns: the shape of x.
    """
    return (_windows(x, weights.shape[1]) * weights[:, None, :]).sum(dim=-1)


class Flaw(Enum):
    """What the printed inference code gets wrong."""

    NONE = "raw last token, weight 0 on it and weight 1 on the new one"
    FINAL = "final version: weight 1 on the last token as well"
    FIRST = "first version: the last token is kept mixed at the prompt"


class ListingDecoder:
    """The decode rule of Appendix M, one call for the prompt and one for each later chunk.

    Args: weights (heads, 2) in the listing's order, (previous, current); flaw, what is kept from print. The flawed
        rules broadcast where a chunk holds more than one token; Flaw.NONE takes any chunk.
    """

    def __init__(self, weights: Tensor, flaw: Flaw) -> None:
        self.weights = weights
        self.flaw = flaw
        self.last: Tensor | None = None

    def __call__(self, raw: Tensor) -> Tensor:
        """Raw projections (batch, chunk, heads, head_dim) to the mixed ones that go into the cache."""
        if self.last is None:
            mixed = listing_convolution(raw, self.weights)
            self.last = (mixed if self.flaw is Flaw.FIRST else raw)[:, -1:]
            return mixed
        previous, current = self.weights[:, :1], self.weights[:, 1:]
        last, self.last = self.last, raw
        if self.flaw is Flaw.NONE:
            self.last = raw[:, -1:]
            last = torch.cat([last, raw[:, :-1]], dim=1)
        return (current if self.flaw is Flaw.FINAL else previous) * last + current * raw

    def run(self, raw: Tensor, chunks: tuple[int, ...]) -> Tensor:
        """What the cache holds after the chunks of raw (batch, sum of chunks, heads, head_dim), in that order."""
        return torch.cat([self(part) for part in raw.split(chunks, dim=1)], dim=1)


def listing_module(
    *, imports_torch: bool = False, calls_super: bool = False, spelled: str = "foward", returns: bool = False
) -> type[nn.Module]:
    """The module of Appendix M, reduced to its coefficients: by default with the four slips that are printed.

    Args: imports_torch, the name torch is bound; calls_super, nn.Module.__init__ runs first; spelled, the name of the
        forward method; returns, it returns.
    """

    def __init__(self: Any, heads: int) -> None:
        if calls_super:
            nn.Module.__init__(self)
        start = torch.rand(heads, 1)
        self.K = nn.Parameter(torch.cat([start, 1 - start], dim=1))

    def forward(self: Any, k: Tensor) -> Tensor | None:
        mixed = listing_convolution(k, self.K)
        return mixed if returns else None

    bound = {"nn": nn, "Tensor": Tensor} | ({"torch": torch} if imports_torch else {})
    start = FunctionType(__init__.__code__, bound, closure=__init__.__closure__)
    return type("Listing", (nn.Module,), {"__init__": start, spelled: forward})


def _windows(x: Tensor, window: int) -> Tensor:
    """(batch, length, heads, head_dim, window): every token with the window - 1 before it, zeros before the first."""
    return F.pad(x, (0, 0, 0, 0, window - 1, 0)).unfold(1, window, 1)
