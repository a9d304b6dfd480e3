"""A record of the tokens that a cache has read: a text that does not continue them is refused."""

from __future__ import annotations

import torch
from torch import Tensor

JOINED = 256  # parts that are kept apart at most


class Read:
    """The ids of all tokens that the model was given with a cache, and which of them were no pads.

    Where embeddings were given in place of ids nothing can be compared from then on.
    """

    def __init__(self) -> None:
        self._parts: list[Tensor] = []
        self._known = True
        self.real: Tensor | None = None  # (batch, n) bool once there are pads

    def note(self, ids: Tensor | None) -> None:
        """The next tokens, (batch, new)."""
        self._known = self._known and ids is not None
        self._parts = [*(self.ids() if len(self._parts) >= JOINED else self._parts), ids] if self._known else []

    def ids(self) -> list[Tensor]:
        """All ids so far, (batch, n), if they are known and any."""
        if len(self._parts) > 1:
            self._parts = [torch.cat(self._parts, dim=1)]
        return list(self._parts) if self._known else []

    def reorder(self, index: Tensor) -> None:
        """Replace sequence b by sequence index[b]."""
        self._parts = [ids.index_select(0, index.to(ids.device)) for ids in self.ids()]
        if self.real is not None:
            self.real = self.real.index_select(0, index.to(self.real.device))

    def check_prompt(self, prompt: Tensor) -> None:
        """Raise ValueError unless the whole text `prompt` (batch, m) begins with what was read.

        The cache may hold several sequences for each, beams or samples, all of which must begin it.
        """
        for ids in self.ids():
            (rows, n), (batch, length) = ids.shape, prompt.shape
            if rows % batch:
                raise ValueError(f"the cache has read {rows} sequences, the prompt has {batch}: use reset()")
            if length <= n:
                raise ValueError(f"the cache has read {n} tokens, a prompt of {length} does not continue: use reset()")
            other = prompt[:, :n].to(ids.device).repeat_interleave(rows // batch, dim=0) != ids
            if self.real is not None:
                other &= self.real[:, :n].to(ids.device)
            if other.any():
                row, token = other.nonzero()[0].tolist()
                raise ValueError(
                    f"the prompt is not what the cache has read: its token {token} is another in sequence {row}: "
                    "use reset()"
                )

    def check_pads(self, mask: Tensor | None, seen: int, new: int) -> None:
        """Raise ValueError unless the mask (batch, seen + new), None for no pads from now on, has those of before."""
        if mask is None:
            if self.real is not None:
                self.real = torch.nn.functional.pad(self.real[:, :seen], (0, new), value=True)
            return
        before = mask.new_ones(len(mask), seen) if self.real is None else self.real[:, :seen]
        if before.shape != mask[:, :seen].shape or (before != mask[:, :seen]).any():
            raise ValueError(f"attention_mask is not that of the {seen} tokens that the cache has: use reset()")
        self.real = None if mask.all() else mask
