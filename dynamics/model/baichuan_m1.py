"""The decoder of Baichuan-M1, the published model whose keys and values are shifted, from the parts of our own.

Layers differ: some see a window alone and have other numbers of heads. The head is a matrix of its own whose rows are
taken at norm 1. `dynamics.weights.running` reads one from a folder and writes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dynamics.model.attention import KVShiftAttention
from dynamics.model.cache import KVCache
from dynamics.model.decoder import Block, SwiGLU, embed, run, weights_by_layer, with_caches


class LayerShape(NamedTuple):
    """Heads of a layer, and how many tokens it sees, itself among them; None for all."""

    n_heads: int
    n_kv_heads: int
    sliding_window: int | None = None


class BaichuanM1(nn.Module):
    """Embedding, one block a `LayerShape`, a final RMSNorm; logits = norm(hidden) U^T with the rows of U at norm 1.

    Raises: ValueError for heads that do not divide the width, as `KVShiftAttention`.
    """

    def __init__(
        self, vocab: int, width: int, mlp_width: int, layers: Sequence[LayerShape], rope_base: float, eps: float
    ) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(vocab, width))
        self.blocks = nn.ModuleList(_Block(width, mlp_width, layer, rope_base, eps) for layer in layers)
        self.norm = nn.RMSNorm(width, eps=eps)
        self.head = nn.Parameter(torch.empty(vocab, width))

    def forward(self, tokens: Tensor, query_index: Tensor | None = None, caches: list[KVCache] | None = None) -> Tensor:
        """Logits, (batch, length, vocab), or (batch, vocab) with query_index; arguments as `InductionModel.forward`."""
        hidden = self.norm(run(with_caches(self.blocks, caches), embed(self.embedding, tokens), query_index))
        logits = F.linear(hidden, F.normalize(self.head, dim=-1))
        return logits if query_index is None else logits.squeeze(1)

    def attention_weights(self, tokens: Tensor, query_index: Tensor) -> list[Tensor]:
        """Layer by layer, the attention probabilities of the scored position, (batch, heads, length)."""
        return weights_by_layer(self.blocks, embed(self.embedding, tokens), query_index)


class _Block(Block):
    def __init__(self, width: int, mlp_width: int, layer: LayerShape, rope_base: float, eps: float) -> None:
        nn.Module.__init__(self)
        self.attention_norm, self.mlp_norm = nn.RMSNorm(width, eps=eps), nn.RMSNorm(width, eps=eps)
        self.attention = KVShiftAttention(
            width, layer.n_heads, n_kv_heads=layer.n_kv_heads, rope_base=rope_base, sliding_window=layer.sliding_window
        )
        self.mlp = SwiGLU(width, mlp_width, None)
