"""A small Llama-like decoder whose last layer and head can run at one scored position only."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dynamics.model.attention import KVShiftAttention
from dynamics.model.cache import KVCache
from dynamics.model.config import ModelConfig


def at(hidden: Tensor, query_index: Tensor | None) -> Tensor:
    """Select hidden[b, query_index[b]]: (batch, length, width) -> (batch, 1, width); None selects everything."""
    if query_index is None:
        return hidden
    return hidden[torch.arange(len(hidden), device=hidden.device), query_index].unsqueeze(1)


class SwiGLU(nn.Module):
    """W_down(silu(W_gate x) * W_up x), the feed-forward layer of Llama, without biases."""

    def __init__(self, width: int, hidden: int, generator: torch.Generator | None):
        super().__init__()
        self.gate = _linear(width, hidden, generator)
        self.up = _linear(width, hidden, generator)
        self.down = _linear(hidden, width, generator)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(hidden)) * self.up(hidden))


class Block(nn.Module):
    """x + attention(norm x), then x + mlp(norm x) where there is an MLP."""

    def __init__(self, config: ModelConfig, generator: torch.Generator | None):
        super().__init__()
        self.attention_norm = nn.RMSNorm(config.width, eps=1e-6)
        self.attention = KVShiftAttention(
            config.width,
            config.n_heads,
            n_kv_heads=config.n_kv_heads,
            window=config.window,
            shift=config.shift,
            parameters=config.parameters,
            initial=config.initial,
            position=config.position,
            rope_base=config.rope_base,
            generator=generator,
        )
        if config.mlp_width:
            self.mlp_norm = nn.RMSNorm(config.width, eps=1e-6)
            self.mlp = SwiGLU(config.width, config.mlp_width, generator)
        else:
            self.mlp_norm = self.mlp = None

    def forward(self, hidden: Tensor, query_index: Tensor | None = None, cache: KVCache | None = None) -> Tensor:
        mixed = self.attention(self.attention_norm(hidden), query_index=query_index, cache=cache)
        hidden = at(hidden, query_index) + mixed
        return hidden if self.mlp is None else hidden + self.mlp(self.mlp_norm(hidden))


class InductionModel(nn.Module):
    """Tied embeddings, n_layers blocks, a final RMSNorm; logits = norm(hidden) E^T.

    Source: the architecture of section 3.2 (Llama, KV shifting in the attention); here the embeddings are tied and
    the MLP is optional. Args: config; generator, for the initial weights (None: torch's global one).
    Raises: ValueError for a config whose shift is placed elsewhere (`dynamics.model.places`).
    """

    def __init__(self, config: ModelConfig, generator: torch.Generator | None = None):
        super().__init__()
        if config.place != "heads":
            raise ValueError(f"dynamics.model.places.build makes a model whose shift is placed at {config.place!r}")
        self.config = config
        # Variance 1/width, as in Theorem 3.4: a token's embedding then has norm about 1 and logit about 1 with itself.
        std = config.width**-0.5
        self.embedding = nn.Parameter(torch.empty(config.vocab, config.width).normal_(0, std, generator=generator))
        self.blocks = nn.ModuleList(Block(config, generator) for _ in range(config.n_layers))
        self.norm = nn.RMSNorm(config.width, eps=1e-6)

    def forward(self, tokens: Tensor, query_index: Tensor | None = None, caches: list[KVCache] | None = None) -> Tensor:
        """Return logits.

        Args: tokens, (batch, length) integers in 0..vocab-1, right-padded (causality hides the padding);
            query_index, (batch,) the one scored position of each row, or None for all;
            caches, one a layer, hold what came before tokens and take them in (excludes query_index).
        Returns: (batch, vocab) with query_index, else (batch, length, vocab). Below the last layer every position is
            needed; the last layer and the head then run at query_index only, which gives the same numbers.
        """
        hidden = self.features(tokens, query_index, caches)
        if query_index is None:
            return F.linear(hidden, self.embedding)
        # Same numbers as above; with the embedding as the left factor its gradient is no view of another matrix, and
        # autograd adds that of `embed` to it in place, not in a third matrix of this size.
        return (self.embedding @ hidden.T).T

    def features(
        self, tokens: Tensor, query_index: Tensor | None = None, caches: list[KVCache] | None = None
    ) -> Tensor:
        """Return what the embedding multiplies: (batch, width) with query_index, else (batch, length, width)."""
        if caches is not None and len(caches) != len(self.blocks):
            raise ValueError(f"caches must be one a layer, {len(self.blocks)}, got {len(caches)}")
        *below, last = caches or [None] * len(self.blocks)
        hidden = self.embed(tokens)
        for block, cache in zip(self.blocks[:-1], below, strict=True):
            hidden = block(hidden, cache=cache)
        hidden = self.norm(self.blocks[-1](hidden, query_index, last))
        return hidden if query_index is None else hidden.squeeze(1)

    def embed(self, tokens: Tensor) -> Tensor:
        """Return the rows of the embedding, (batch, length, width)."""
        if tokens.is_cuda:
            return F.embedding(tokens, self.embedding)  # whose gradient, unlike that of index_select, is reproducible
        # On a CPU the same numbers, and a gradient five times as fast.
        return self.embedding.index_select(0, tokens.flatten()).unflatten(0, tokens.shape)

    def attention_weights(self, tokens: Tensor, query_index: Tensor) -> list[Tensor]:
        """Return, layer by layer, the attention probabilities of the scored position, (batch, heads, length)."""
        hidden, weights = self.embed(tokens), []
        for block in self.blocks:
            weights.append(block.attention.weights(block.attention_norm(hidden), query_index=query_index).squeeze(2))
            hidden = block(hidden)
        return weights


def _linear(rows: int, columns: int, generator: torch.Generator | None) -> nn.Linear:
    layer = nn.utils.skip_init(nn.Linear, rows, columns, bias=False)  # nn.Linear would draw from the global generator
    nn.init.normal_(layer.weight, 0.0, rows**-0.5, generator=generator)
    return layer
