"""RazorAttention's key-value cache: all tokens for retrieval heads, sinks, window and compensation for the others."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from dynamics.razor.layer import RazorLayer
from dynamics.razor.logits import Logits, wide
from dynamics.razor.plan import RazorPlan
from dynamics.razor.schedule import Schedule


class _Schedules(WeakValueDictionary[tuple, Schedule]):
    """Those that the layers of a cache use."""

    def __deepcopy__(self, memo: dict) -> _Schedules:
        """Those that the copied layers use: a schedule serves one cache."""
        return _Schedules({key: deepcopy(made, memo) for key, made in self.items()})


class RazorCache:
    """A stateful `AttentionFunction`: keeps of each chunk what a `RazorPlan` says, and drops the rest for good.

    What a query sees depends on its position alone, so any division into chunks gives the same outputs: those of
    `masked.MaskedAttention` on all tokens at once. Inference only. From the first pads on, each sequence is kept and
    read by itself, as if it were alone: the plan counts its real tokens, and a pad is neither seen nor kept. Slopes
    that are the same tensor as before are the same numbers: it is not to be written to while tokens come one by one.
    Args: plan; centres, for "centred": q_0 of each layer, (n_heads, head_dim), scaled.
    Raises: ValueError for "centred" with neither a prompt nor centres, and for a layer that does not exist.
    """

    stateful = True

    def __init__(self, plan: RazorPlan, centres: Mapping[int, Tensor] | None = None) -> None:
        self.plan = plan
        self._centres = dict(centres or {})
        plan.check_centres(self._centres)
        # One part for all sequences, or one for each.
        self._parts: list[list[RazorLayer]] = [[] for _ in plan.full]
        self._seen = [0] * len(plan.full)
        self._schedules = _Schedules()
        # Of a single token, what was checked last and need not be again: shapes and types by layer, and slopes.
        self._passed: dict[int, tuple] = {}
        self._slopes: Tensor | None = None
        self._rates: Tensor | None = None

    def __call__(
        self,
        layer: int,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        scale: float,
        slopes: Tensor | None,
        sinks: Tensor | None = None,
        softcap: float | None = None,
        window: int | None = None,
        real: Tensor | None = None,
    ) -> Tensor:
        rates = self._checked(layer, query, key, value, slopes)
        learnt = None if sinks is None else sinks.view(1, self.plan.n_kv_heads, -1)
        logits = Logits(scale, rates, learnt, softcap)
        parts = self._opened(layer, len(query), window, real)
        if real is None and len(parts) == 1:
            output = parts[0].read(query, key, value, logits, self._schedule)
        else:
            output = query.new_zeros(*query.shape[:3], value.shape[3])
            for row, part in enumerate(parts):
                seen = slice(None) if real is None else real[row].nonzero()[:, 0]
                own = [x[row : row + 1, :, seen] for x in (query, key, value)]
                if own[0].shape[2]:
                    output[row : row + 1, :, seen] = part.read(*own, logits, self._schedule)
        self._seen[layer] += query.shape[2]
        return output

    def n_tokens(self, layer: int = 0) -> int:
        """Tokens that this layer has seen of each sequence, pads among them."""
        return self._seen[layer]

    def parts(self, layer: int) -> list[RazorLayer]:
        """What this layer keeps, its tokens in order: of all sequences together or, where there are pads, of each."""
        for part in self._parts[layer]:
            part.close()
        return self._parts[layer]

    def nbytes(self) -> int:
        """Bytes of the tokens and means stored, `plan.razor_bytes` of them; given centres are the caller's."""
        return sum(part.nbytes() for parts in self._parts for part in parts)

    def allocated(self) -> int:
        """Bytes of all tensors held, their whole storages: `nbytes` after several tokens of each sequence at once.

        Single tokens are stored in place, in at most `plan.spare_bytes` more. Slopes and centres are the caller's.
        """
        storages = [tensor.untyped_storage() for tensor in self._tensors()]
        return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())

    def reorder(self, beam_index: Tensor) -> None:
        """Replace sequence b by sequence beam_index[b] in every layer; the batch size may change.

        Raises: ValueError unless beam_index is a vector of integers inside the batch, or if nothing is cached.
        """
        if not any(self._seen):
            raise ValueError("reorder needs a cache that holds tokens, this one is empty")
        parts = next(parts for parts in self._parts if parts)
        batch = parts[0].batch if len(parts) == 1 else len(parts)
        if beam_index.ndim != 1 or beam_index.is_floating_point() or beam_index.dtype == torch.bool:
            raise ValueError(f"beam_index must be a vector of integers, got {beam_index.dtype}, {beam_index.ndim} axes")
        if beam_index.numel() == 0 or beam_index.min() < 0 or beam_index.max() >= batch:
            raise ValueError(f"beam_index must name sequences 0..{batch - 1}, got {beam_index.tolist()}")
        self._passed.clear()
        for layer, parts in enumerate(self._parts):
            if len(parts) == 1:
                parts[0].reorder(beam_index)
            elif parts:
                self._parts[layer] = [parts[row].taken(0) for row in beam_index.tolist()]

    def _opened(self, layer: int, batch: int, window: int | None, real: Tensor | None) -> list[RazorLayer]:
        """The parts of this layer; one a sequence as soon as there are pads."""
        parts = self._parts[layer]
        if not parts:
            parts.append(RazorLayer(self.plan, layer, self._centres.get(layer), window, batch))
        if parts[0].window != window:
            raise ValueError(f"layer {layer} had a sliding window of {parts[0].window} tokens, got {window}")
        if real is not None and len(parts) == 1 < batch:
            self._parts[layer] = [parts[0].taken(row) for row in range(batch)]
        return self._parts[layer]

    def _schedule(self, plan: RazorPlan, n: int, like: Tensor) -> Schedule:
        """One for all layers that have seen as many tokens and keep alike, as long as one of them uses it."""
        key = plan, n, like.dtype, like.device
        made = self._schedules.get(key)
        if made is None:
            made = self._schedules[key] = Schedule(plan, n, wide(like), like.device)
        return made

    def _tensors(self) -> list[Tensor]:
        held = [tensor for parts in self._parts for part in parts for tensor in part.tensors()]
        shared = [tensor for schedule in self._schedules.values() for tensor in schedule.tensors()]
        return held + shared

    def _checked(self, layer: int, query: Tensor, key: Tensor, value: Tensor, slopes: Tensor | None) -> Tensor | None:
        """The slopes as rates, (1, n_kv_heads, group). Single tokens that go on as before are not checked again."""
        given = query.shape, key.shape, value.shape, query.dtype, key.dtype, value.dtype
        if given == self._passed.get(layer) and slopes is self._slopes and not torch.is_grad_enabled():
            return self._rates
        self._check(layer, query, key, value, slopes)
        rates = None if slopes is None else slopes.view(1, self.plan.n_kv_heads, -1)
        one = query.shape[2] == 1
        self._passed[layer] = given if one else ()
        if slopes is not self._slopes or not one:
            self._slopes, self._rates = (slopes, rates) if one else (None, None)
        return rates if self._rates is None else self._rates

    def _check(self, layer: int, query: Tensor, key: Tensor, value: Tensor, slopes: Tensor | None) -> None:
        plan = self.plan
        if not 0 <= layer < len(self._parts):
            raise ValueError(f"layer must lie in 0..{len(self._parts) - 1}, got {layer}")
        batch, n_heads, new, _ = query.shape
        expected = (batch, plan.n_kv_heads, new)
        if n_heads != plan.n_heads or not new or key.shape[:3] != expected or value.shape[:3] != expected:
            raise ValueError(
                f"query (batch, {plan.n_heads}, new, d), key and value (batch, {plan.n_kv_heads}, new, d) needed, "
                f"got {tuple(query.shape)}, {tuple(key.shape)} and {tuple(value.shape)}"
            )
        check_no_graph(query, key, value)
        if slopes is None and plan.compensation == "alibi":
            raise ValueError("compensation 'alibi' needs slopes, this attention has none")
        if slopes is not None and slopes.shape != (plan.n_heads,):
            raise ValueError(f"slopes must have shape ({plan.n_heads},), got {tuple(slopes.shape)}")
        parts = self._parts[layer]
        for part in parts:
            part.check(key, value, part.batch if len(parts) == 1 else len(parts))


def check_no_graph(*tensors: Tensor) -> None:
    """Raise ValueError for tensors through which gradients would have to go."""
    if torch.is_grad_enabled() and any(x.requires_grad for x in tensors):
        raise ValueError("the Razor cache holds no graph: use torch.no_grad()")
