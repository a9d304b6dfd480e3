"""RazorAttention's key-value cache: all tokens for retrieval heads, sinks, window and compensation for the others."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from dynamics.razor.layer import RazorLayer
from dynamics.razor.plan import RazorPlan

BLOCK = 128  # queries at a time: what bounds the memory of their scores


class RazorCache:
    """A stateful `AttentionFunction`: keeps of each chunk what a `RazorPlan` says, and drops the rest for good.

    What a query sees depends on its position alone, so any division into chunks gives the same outputs: those of
    `masked.MaskedAttention` on all tokens at once. Inference only, without pads.
    Args: plan; centres, for "centred": q_0 of each layer, (n_heads, head_dim), scaled.
    Raises: ValueError for "centred" with neither a prompt nor centres, and for a layer that does not exist.
    """

    stateful = True

    def __init__(self, plan: RazorPlan, centres: Mapping[int, Tensor] | None = None) -> None:
        self.plan = plan
        given = centres or {}
        plan.check_centres(given)
        self._layers = [RazorLayer(plan, layer, given.get(layer)) for layer in range(len(plan.full))]

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, slopes: Tensor | None
    ) -> Tensor:
        self._check(layer, query, key, value, slopes)
        state = self._layers[layer]
        parts = zip(query.split(BLOCK, 2), key.split(BLOCK, 2), value.split(BLOCK, 2), strict=True)
        return torch.cat([state.read(*part, scale, slopes) for part in parts], dim=2)

    def n_tokens(self, layer: int = 0) -> int:
        """Tokens that this layer has seen."""
        return self._layers[layer].n_tokens

    def nbytes(self) -> int:
        """Bytes of all tensors stored, their whole storages, as `razor_bytes` says; given centres are the caller's."""
        storages = [tensor.untyped_storage() for layer in self._layers for tensor in layer.tensors()]
        return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())

    def reorder(self, beam_index: Tensor) -> None:
        """Replace sequence b by sequence beam_index[b] in every layer; the batch size may change.

        Raises: ValueError unless beam_index is a vector of integers inside the batch, or if nothing is cached.
        """
        held = [tensor for layer in self._layers for tensor in layer.tensors()]
        if not held:
            raise ValueError("reorder needs a cache that holds tokens, this one is empty")
        batch = len(held[0])
        if beam_index.ndim != 1 or beam_index.is_floating_point() or beam_index.dtype == torch.bool:
            raise ValueError(f"beam_index must be a vector of integers, got {beam_index.dtype}, {beam_index.ndim} axes")
        if beam_index.numel() == 0 or beam_index.min() < 0 or beam_index.max() >= batch:
            raise ValueError(f"beam_index must name sequences 0..{batch - 1}, got {beam_index.tolist()}")
        for layer in self._layers:
            layer.reorder(beam_index)

    def _check(self, layer: int, query: Tensor, key: Tensor, value: Tensor, slopes: Tensor | None) -> None:
        plan = self.plan
        if layer not in range(len(self._layers)):
            raise ValueError(f"layer must lie in 0..{len(self._layers) - 1}, got {layer}")
        batch, _, new, _ = query.shape
        expected = (batch, plan.n_kv_heads, new)
        if query.shape[1] != plan.n_heads or not new or key.shape[:3] != expected or value.shape[:3] != expected:
            raise ValueError(
                f"query (batch, {plan.n_heads}, new, d), key and value (batch, {plan.n_kv_heads}, new, d) needed, "
                f"got {tuple(query.shape)}, {tuple(key.shape)} and {tuple(value.shape)}"
            )
        if torch.is_grad_enabled() and any(x.requires_grad for x in (query, key, value)):
            raise ValueError("the Razor cache holds no graph: use torch.no_grad()")
        if slopes is None and plan.compensation == "alibi":
            raise ValueError("compensation 'alibi' needs slopes, this attention has none")
        if slopes is not None and slopes.shape != (plan.n_heads,):
            raise ValueError(f"slopes must have shape ({plan.n_heads},), got {tuple(slopes.shape)}")
        self._layers[layer].check(key, value)
