"""What one KV-shift layer remembers between calls: mixed keys and values, and the last *raw* tokens."""

from __future__ import annotations

import torch
from torch import Tensor


class KVCache:
    """Keys and values as attention reads them, with the raw tokens that the next one will be mixed with.

    The paper's decode listings (KV shifting attention, Appendix M, both versions) fail because they keep the mixed
    key as "last", or mix with one coefficient twice. Here `previous(name)` is always raw and un-rotated.

    Args: capacity: tokens to allocate once, at the first append (inference only); None concatenates, graph and all.
    """

    def __init__(self, capacity: int | None = None) -> None:
        if capacity is not None and capacity < 1:
            raise ValueError(f"capacity must be at least 1 or None, got {capacity}")
        self.capacity = capacity
        self.length = 0
        self.padding: Tensor | None = None
        self._key: Tensor | None = None
        self._value: Tensor | None = None
        self._raw: dict[str, Tensor] = {}

    def __len__(self) -> int:
        return self.length

    @property
    def key(self) -> Tensor | None:
        """Mixed, rotated keys, (batch, kv_heads, length, head_dim), or the latents that keys are projected from, then
        (batch, 1, length, size); None before the first append."""
        return None if self._key is None else self._key[:, :, : self.length]

    @property
    def value(self) -> Tensor | None:
        """Mixed values, (batch, kv_heads, length, head_dim); None before the first append."""
        return None if self._value is None else self._value[:, :, : self.length]

    def previous(self, name: str) -> Tensor | None:
        """The last raw tokens of "key", "value" or "query", (batch, at most window - 1, heads, head_dim)."""
        return self._raw.get(name)

    def append(
        self, key: Tensor, value: Tensor | None, raw: dict[str, Tensor], keep: int
    ) -> tuple[Tensor, Tensor | None]:
        """Add a chunk and return all keys and values.

        Args:
            key, value: (batch, kv_heads, chunk, head_dim), mixed, the keys rotated; no value (None, with every chunk)
                where the cache of another layer keeps it.
            raw: raw projections (batch, chunk, heads, head_dim) by name; the last `keep` tokens of each are kept.
        Raises: ValueError for a chunk of another shape or dtype, one beyond capacity, or a graph in fixed storage.
        """
        self._check(key, value)
        self._key = self._extend(self._key, key)
        self._value = None if value is None else self._extend(self._value, value)
        self._remember(key.shape[2], raw, keep)
        return self.key, self.value

    def advance(self, count: int, raw: dict[str, Tensor], keep: int) -> None:
        """Take in `count` tokens whose keys and values are kept elsewhere; raw and keep as for `append`.

        Raises: ValueError if this cache holds keys and values of its own.
        """
        if self._key is not None:
            raise ValueError(f"this cache holds the keys of {self.length} tokens, the attention function does not")
        self._remember(count, raw, keep)

    def remember(self, name: str, tokens: Tensor, keep: int) -> None:
        """Keep the last `keep` of tokens (batch, chunk, channels, 1) under a name; what else is kept stays as it is."""
        self._remember(0, {name: tokens}, keep)

    def keep(self, name: str, held: Tensor) -> None:
        """Keep held (batch, ..) under a name, in place of what was kept there."""
        self._raw[name] = held

    def _remember(self, count: int, raw: dict[str, Tensor], keep: int) -> None:
        for name, tokens in raw.items():
            last = tokens[:, max(0, tokens.shape[1] - keep) :]
            if name in self._raw:
                last = torch.cat([self._raw[name], last], dim=1)
            # A bare slice would keep the projections of the whole chunk alive.
            self._raw[name] = last[:, max(0, last.shape[1] - keep) :].clone()
        self.length += count

    def reorder(self, beam_index: Tensor) -> None:
        """Replace sequence b by sequence beam_index[b], in place of all that is kept; the batch size may change.

        Raises: ValueError unless beam_index is one-dimensional, integer and inside the batch, or if nothing is cached.
        """
        if not self.length:
            raise ValueError("reorder needs a cache that holds tokens, this one is empty")
        if beam_index.ndim != 1 or beam_index.is_floating_point() or beam_index.dtype == torch.bool:
            raise ValueError(f"beam_index must be a vector of integers, got {beam_index.dtype}, {beam_index.ndim} axes")
        held = [tensor for tensor in (self._key, self.padding, *self._raw.values()) if tensor is not None]
        if not held:  # a layer without shift whose keys are kept elsewhere
            return
        batch = held[0].shape[0]
        if beam_index.numel() == 0 or beam_index.min() < 0 or beam_index.max() >= batch:
            raise ValueError(f"beam_index must name sequences 0..{batch - 1}, got {beam_index.tolist()}")
        if self._key is not None:
            self._key = self._key.index_select(0, beam_index)
        if self._value is not None:
            self._value = self._value.index_select(0, beam_index)
        self._raw = {name: tokens.index_select(0, beam_index) for name, tokens in self._raw.items()}
        self.padding = None if self.padding is None else self.padding.index_select(0, beam_index)

    def _extend(self, stored: Tensor | None, new: Tensor) -> Tensor:
        if self.capacity is None:
            return new if stored is None else torch.cat([stored, new], dim=2)
        if stored is None:
            stored = new.new_empty(*new.shape[:2], self.capacity, new.shape[3])
        stored[:, :, self.length : self.length + new.shape[2]] = new
        return stored

    def _check(self, key: Tensor, value: Tensor | None) -> None:
        if self.length and self._key is None:
            raise ValueError(f"the keys of {self.length} tokens are kept elsewhere, by an attention function")
        total = self.length + key.shape[2]
        if self.capacity is not None and total > self.capacity:
            raise ValueError(f"the cache holds {self.capacity} tokens, {total} do not fit")
        if self.capacity is not None and torch.is_grad_enabled() and _wants_graph(key, value):
            raise ValueError("a cache with a capacity holds no graph: use torch.no_grad() or capacity=None")
        if self._key is not None and (value is None) != (self._value is None):
            raise ValueError("values are kept here or by another layer's cache, from the first chunk to the last")
        if self._key is not None and (
            key.shape[:2] != self._key.shape[:2] or key.shape[3] != self._key.shape[3] or key.dtype != self._key.dtype
        ):
            raise ValueError(
                f"the cache holds {self._key.dtype} of shape {tuple(self.key.shape)}, "
                f"got {key.dtype} of shape {tuple(key.shape)}"
            )


def _wants_graph(key: Tensor, value: Tensor | None) -> bool:
    return key.requires_grad or (value is not None and value.requires_grad)
