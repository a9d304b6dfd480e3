"""Positions: rotary embedding, the ALiBi bias, and which key a query may see (packed, left-padded, cached)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Layout(NamedTuple):
    """Where the tokens of one call stand: offset cached tokens, then length new ones.

    rows (batch,) selects one query of each sequence; runs (batch, length) numbers packed documents; padding (batch,)
    counts left pads from the first token ever seen; reach is how many keys a query sees at most, itself included;
    causal: whether it sees those up to its own alone.
    """

    offset: int
    length: int
    device: torch.device
    rows: Tensor | None = None
    runs: Tensor | None = None
    padding: Tensor | None = None
    reach: int | None = None
    causal: bool = True

    def whole(self) -> Layout:
        """That of all tokens, the cached ones too, each a query."""
        return self._replace(offset=0, length=self.offset + self.length, rows=None)

    def indices(self) -> Tensor:
        """Index of every new token among all tokens, pads included; shape (length,)."""
        return torch.arange(self.offset, self.offset + self.length, device=self.device)

    def queries(self) -> Tensor:
        """Index of every query; shape (batch or 1, queries)."""
        return self.indices()[None] if self.rows is None else self.rows[:, None]

    def pads(self) -> Tensor | None:
        """True where a new token is padding; shape (batch, length)."""
        return None if self.padding is None else self.indices() < self.padding[:, None]

    def positions(self) -> Tensor:
        """Position of every new token, from 0 at its document's first real token; shape (batch or 1, length)."""
        index = self.indices()[None]
        if self.runs is not None:
            fresh = torch.diff(self.runs, dim=1, prepend=self.runs[:, :1]) != 0
            return index - torch.where(fresh, index, 0).cummax(1).values
        return index if self.padding is None else (index - self.padding[:, None]).clamp(min=0)

    def pick(self, values: Tensor) -> Tensor:
        """Values (batch or 1, length) at the queries; shape (batch or 1, queries)."""
        if self.rows is None:
            return values
        return values.expand(self.rows.shape[0], -1).gather(1, self.rows[:, None])

    def pick_states(self, values: Tensor) -> Tensor:
        """Values (batch, length, any) at the queries; shape (batch, queries, any)."""
        if self.rows is None:
            return values
        return values.gather(1, self.rows[:, None, None].expand(-1, 1, values.shape[2]))

    def visible(self) -> Tensor | None:
        """Which keys each query may see, (batch or 1, 1, queries, keys) - or None where `causal` alone decides.

        A pad sees itself, so that its softmax has a support; its output is erased afterwards.
        """
        n_keys = self.offset + self.length
        whole = not self.causal or (self.rows is None and (self.offset == 0 or self.length == 1))
        all_in_reach = self.reach is None or self.reach >= n_keys
        if whole and all_in_reach and self.runs is None and self.padding is None:
            return None
        keys, queries = torch.arange(n_keys, device=self.device), self.queries()[..., None]
        seen = self.in_order()
        if not all_in_reach:
            seen = seen & (keys > queries - self.reach)
        if self.runs is not None:
            seen = seen & (self.pick(self.runs)[..., None] == self.runs[:, None, :])
        elif self.padding is not None:
            seen = seen & ((keys >= self.padding[:, None, None]) | (keys == queries))
        return seen[:, None]

    def in_order(self) -> Tensor:
        """Which keys stand where a query may look, (batch or 1, queries, keys)."""
        keys, queries = torch.arange(self.offset + self.length, device=self.device), self.queries()[..., None]
        return keys <= queries if self.causal else (keys >= 0).expand(*queries.shape[:2], -1)


def rotate(x: Tensor, positions: Tensor, base: float) -> Tensor:
    """Rotary embedding: turn the pair (x[i], x[i + d/2]) by the angle position * base^(-2i/d).

    Source: RoFormer (arXiv:2104.09864), Eq. 15, in the half-split order of Llama; angles are formed in float64.
    Args: x (batch, length, heads, d) with d even; positions (batch or 1, length). Returns: the shape of x.
    """
    half = x.shape[-1] // 2
    rates = base ** (-torch.arange(half, device=x.device, dtype=torch.float64) / half)
    angles = positions[..., None, None] * rates
    cos, sin = angles.cos(), angles.sin()
    # One factor a component of the whole token: the inner loops then run over heads * d, not over d / 2.
    along, across = (
        torch.cat(halves, dim=-1).to(x.dtype).expand(-1, -1, x.shape[2], -1).flatten(2)
        for halves in ((cos, cos), (-sin, sin))
    )
    return torch.addcmul(x.flatten(2) * along, x.roll(half, -1).flatten(2), across).view(x.shape)


def alibi_bias(slopes: Tensor, where: Layout) -> Tensor:
    """-slope * |query index - key index|, of shape (batch or 1, heads, queries, keys); future keys are not masked."""
    keys = torch.arange(where.offset + where.length, device=where.device)
    distance = where.queries()[..., None] - keys
    return -slopes[:, None, None] * distance[:, None].abs().to(slopes.dtype)
