"""The tokens that some heads of a layer hold, in order."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor


class Tokens:
    """Keys and values of the heads `index` of a layer, side by side: `store`, (batch, heads, tokens, d_k + d_v).

    Token j is held if j < sinks or j >= sinks + dropped.
    """

    def __init__(self, index: list[int], n_heads: int, sinks: int = 0) -> None:
        self.index, self.sinks = index, sinks
        self.runs = runs(index)
        self.all = len(index) == n_heads
        self.store: Tensor | None = None
        self.width = 0  # d_k
        self.dropped = 0

    @property
    def count(self) -> int:
        """Tokens held."""
        return 0 if self.store is None else self.store.shape[2]

    def nbytes(self) -> int:
        return 0 if self.store is None else self.store.nbytes

    @property
    def key(self) -> Tensor:
        return self.store[..., : self.width]

    @property
    def value(self) -> Tensor:
        return self.store[..., self.width :]

    def select(self, heads: Tensor) -> Tensor:
        """These heads of (batch, n_kv_heads, ..)."""
        if self.all:
            return heads
        parts = [heads[:, first:last] for first, last in self.runs]
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)

    def append(self, key: Tensor, value: Tensor) -> None:
        """Store new tokens, key and value (batch, heads, c, d), without spare rows."""
        new = torch.cat([key, value], dim=-1)
        self.width = key.shape[-1]
        self.store = new if self.store is None else torch.cat([self.store, new], dim=2)

    def drop(self, first: int, count: int) -> None:
        """Forget `count` tokens from the `first` stored one on; the others move to new storage."""
        if count:
            self.dropped += count
            self.store = torch.cat([self.store[:, :, :first], self.store[:, :, first + count :]], dim=2)

    def reorder(self, beam_index: Tensor) -> None:
        if self.store is not None:
            self.store = self.store.index_select(0, beam_index)


def runs(index: list[int]) -> list[tuple[int, int]]:
    """The runs [first, last) of consecutive numbers in a rising list."""
    cuts = [0, *(i + 1 for i, (a, b) in enumerate(pairwise(index)) if b != a + 1), len(index)]
    return [(index[first], index[last - 1] + 1) for first, last in pairwise(cuts) if first < last]


def merged(parts: list[tuple[Tokens, Tensor]]) -> Tensor:
    """What was computed for disjoint sets of heads, (batch, heads, ..) each, in the order of the heads."""
    if len(parts) == 1:
        return parts[0][1]
    pieces = []
    for tokens, found in parts:
        split = found.split([last - first for first, last in tokens.runs], dim=1)
        pieces += zip((first for first, _ in tokens.runs), split, strict=True)
    return torch.cat([piece for _, piece in sorted(pieces, key=_first)], dim=1)


def _first(piece: tuple[int, Tensor]) -> int:
    return piece[0]
