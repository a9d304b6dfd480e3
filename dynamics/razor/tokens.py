"""The tokens that some heads of a layer hold: in order while chunks come in, in a ring while single tokens do."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from dynamics.razor.logits import wide
from dynamics.razor.plan import ROOM


class Tokens:
    """Keys and values of the heads `index` of a layer, side by side: `store`, (batch, heads, rows, d_k + d_v).

    A chunk leaves a store of exactly its tokens, in order. With the first single token it becomes
        [header rows | sinks | the other tokens, a ring from its `oldest` on | at most ROOM spare rows],
    in which a new token takes the row of the one that leaves, or a spare one. The header is for the layer's
    compensation tokens, which are read with the others. `key` and `value` are in order in either case.
    Token j is held if j < sinks or j >= sinks + dropped. Beside a ring stands `column`, one number a row, of the type
    of logits: with slopes the token's position, else, if there is a header, what is added to its logit, 0 for a token.
    """

    def __init__(self, index: list[int], n_heads: int, sinks: int = 0, header: int = 0) -> None:
        self.index, self.sinks, self.header = index, sinks, header
        self.runs = runs(index)
        self.all = len(index) == n_heads
        self.store: Tensor | None = None
        self.column: Tensor | None = None
        self.width = 0  # d_k
        self.count = self.dropped = self.oldest = 0
        self.base = 0  # header rows that there are now
        self.head: tuple[Tensor, Tensor | None] | None = None  # views of the header and its first number, of a ring
        self._views: tuple[tuple[int, int], tuple[Tensor, Tensor, Tensor | None]] | None = None

    @property
    def key(self) -> Tensor:
        return self.ordered()[..., : self.width]

    @property
    def value(self) -> Tensor:
        return self.ordered()[..., self.width :]

    def tensors(self) -> list[Tensor]:
        """All that is allocated."""
        return [tensor for tensor in (self.store, self.column) if tensor is not None]

    def select(self, heads: Tensor) -> Tensor:
        """These heads of (batch, n_kv_heads, ..)."""
        if self.all:
            return heads
        parts = [heads[:, first:last] for first, last in self.runs]
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)

    def ordered(self) -> Tensor:
        """The rows of the tokens by position."""
        held = self.store[:, :, self.base : self.base + self.count]
        if not self.oldest:
            return held
        turn = self.sinks + self.oldest
        return torch.cat([held[:, :, : self.sinks], held[:, :, turn:], held[:, :, self.sinks : turn]], dim=2)

    def append(self, key: Tensor, value: Tensor) -> None:
        """Store new tokens, key and value (batch, heads, c, d), in order and without spare rows."""
        new = torch.cat([key, value], dim=-1)
        self.width = key.shape[-1]
        self._settle(new if self.store is None else torch.cat([self.ordered(), new], dim=2))

    def drop(self, first: int, count: int) -> None:
        """Forget `count` tokens from the `first` stored one on; the others move to new storage."""
        if count:
            held = self.ordered()
            self.dropped += count
            self._settle(torch.cat([held[:, :, :first], held[:, :, first + count :]], dim=2))

    def ready(self, grows: bool, placed: bool) -> bool:
        """A ring, with a spare row if it is to grow; `placed`: its column holds positions. Whether it is a new one."""
        ring = self._views is not None and (self.store.is_inference() <= torch.is_inference_mode_enabled())
        if ring and not (grows and (self.oldest or self.base + self.count == self.store.shape[2])):
            return False
        held, rows = self.ordered(), self.header + self.count + (ROOM if grows else 0)
        self.store, self.column = held.new_empty(*held.shape[:2], rows, held.shape[3]), None
        self.base, self.oldest = self.header, 0
        self.store[:, :, self.base : self.base + self.count] = held
        if placed:
            index = torch.arange(rows, device=held.device) - self.base
            self.column = (index + (index >= self.sinks) * self.dropped).to(wide(held))
        elif self.header:
            self.column = torch.zeros(rows, dtype=wide(held), device=held.device)
        self._views = (0, 0), (self.store, self.store, self.column)  # made when they are read
        self.head = self.store.narrow(2, 0, self.header), None if self.column is None else self.column[:1]
        return True

    def row(self, leaves: bool) -> int:
        """Where the next token goes: the row of the oldest one that is no sink, if that leaves; of a ring."""
        return self.base + (self.sinks + self.oldest if leaves else self.count)

    def put(self, key: Tensor, value: Tensor, leaves: bool, placed: bool) -> None:
        """Store one token, in place of the oldest if that leaves; of a ring."""
        row = self.row(leaves)
        torch.cat([key, value], dim=-1, out=self.store.narrow(2, row, 1))
        if placed:
            self.column.narrow(0, row, 1).fill_(self.count + self.dropped)
        if leaves:
            self.oldest = (self.oldest + 1) % (self.count - self.sinks)
            self.dropped += 1
        else:
            self.count += 1

    def read(self, header: bool) -> tuple[Tensor, Tensor, Tensor | None]:
        """Keys, values and column (1, 1, 1, n) of all tokens, and of the header if it is read too; of a ring."""
        first, stop = 0 if header else self.base, self.base + self.count
        if self._views[0] != (first, stop):
            held = self.store.narrow(2, first, stop - first)
            column = None if self.column is None else self.column[None, None, None, first:stop]
            self._views = (first, stop), (held[..., : self.width], held[..., self.width :], column)
        return self._views[1]

    def reorder(self, beam_index: Tensor) -> None:
        if self.store is not None:
            self._views = self.head = None
            self.store = self.store.index_select(0, beam_index)

    def _settle(self, store: Tensor) -> None:
        self.store, self.column, self._views = store, None, None
        self.head = None
        self.count, self.base, self.oldest = store.shape[2], 0, 0


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
        if len(tokens.runs) == 1:
            pieces.append((tokens.runs[0][0], found))
            continue
        split = found.split([last - first for first, last in tokens.runs], dim=1)
        pieces += zip((first for first, _ in tokens.runs), split, strict=True)
    return torch.cat([piece for _, piece in sorted(pieces, key=_first)], dim=1)


def _first(piece: tuple[int, Tensor]) -> int:
    return piece[0]
