"""A small Llama-like decoder whose last layer and head can run at one scored position only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dynamics.files import registered
from dynamics.model.attention import KVShiftAttention
from dynamics.model.cache import KVCache
from dynamics.model.config import ModelConfig, Past
from dynamics.model.forward import swiglu, weight_of
from dynamics.model.past import beginnings, begun, parameter
from dynamics.model.positions import Layout
from dynamics.model.shift import document_runs
from dynamics.model.values import Earlier

# What is mixed behind the attention of a layer needs the tokens before the scored one too.
BEHIND = frozenset(("output", "mlp", "hidden"))


def at(hidden: Tensor, query_index: Tensor | None) -> Tensor:
    """Select hidden[b, query_index[b]]: (batch, length, width) -> (batch, 1, width); None selects everything."""
    if query_index is None:
        return hidden
    return hidden[torch.arange(len(hidden), device=hidden.device), query_index].unsqueeze(1)


def embed(embedding: Tensor, tokens: Tensor) -> Tensor:
    """Return the rows of the embedding (vocab, width) for tokens (batch, length), (batch, length, width).

    Of a stack, (models, vocab, width) and (models, batch, length), the models' batches one after another.
    """
    if embedding.ndim == 3:
        first = torch.arange(len(embedding), device=tokens.device) * embedding.shape[1]
        embedding, tokens = embedding.flatten(0, 1), (tokens + first[:, None, None]).flatten(0, 1)
    if tokens.is_cuda:
        return F.embedding(tokens, embedding)  # whose gradient, unlike that of index_select, is reproducible
    # On a CPU the same numbers, and a gradient five times as fast.
    return embedding.index_select(0, tokens.flatten()).unflatten(0, tokens.shape)


def within_positions(count: int, most: int) -> None:
    """Raises ValueError for more tokens than there are learnt positions."""
    if count > most:
        raise ValueError(f"{count} tokens have no place among {most} positions")


def residual(
    hidden: Tensor,
    rows: Tensor | None,
    attend: Callable[[Tensor, Tensor | None], Tensor],
    mlp: Callable[[Tensor], Tensor] | None,
) -> Tensor:
    """x + attend(x) at the scored rows (None: everywhere), then x + mlp(x); both norm what they are handed."""
    hidden = at(hidden, rows) + attend(hidden, rows)
    return hidden if mlp is None else hidden + mlp(hidden)


def run(
    blocks: Sequence[Callable[[Tensor, Tensor | None], Tensor]],
    hidden: Tensor,
    rows: Tensor | None,
    depth: Sequence[Tensor] = (),
) -> Tensor:
    """Through all blocks: every position is needed below the last one, which runs at the scored rows alone.

    depth: after block i its output becomes sum_j depth[i][.., j] X_j, X_0 what came in and X_j the output of block
    j - 1 (`config.Dense`); empty where nothing is mixed.
    """
    states = [hidden]
    for number, block in enumerate(blocks):
        last = number == len(blocks) - 1
        hidden = block(hidden, rows if last else None)
        if depth:
            states = [at(state, rows) for state in states] if last else states
            states.append(hidden)
            hidden = _over_depth(states, depth[number])
    return hidden


def _over_depth(states: Sequence[Tensor], weights: Tensor) -> Tensor:
    """sum_j weights[.., j] states[j], (batch, any, width); weights (count,), or (models, count) of a stack."""
    each = weights.reshape(-1, len(states)).repeat_interleave(len(states[0]) * len(states) // weights.numel(), dim=0)
    return sum(state * column[:, None, None] for state, column in zip(states, each.unbind(1), strict=True))


def with_caches(
    blocks: Sequence[Block], caches: Sequence[KVCache] | None, **more: object
) -> list[Callable[..., Tensor]]:
    """Each block with its cache and with `more`.

    Raises: ValueError unless caches are one a layer, each another one and of as many tokens, or none at all.
    """
    if caches is not None:
        if len(set(map(id, caches))) != len(blocks) or len(caches) != len(blocks):
            raise ValueError(f"caches must be one a layer, {len(blocks)}, got {len(set(map(id, caches)))}")
        if len(lengths := {cache.length for cache in caches}) > 1:
            held = ", ".join(map(str, sorted(lengths)))
            raise ValueError(f"the caches hold {held} tokens: they are of one text no more")
    each = zip(blocks, caches or [None] * len(blocks), strict=True)
    return [partial(block, cache=cache, **more) for block, cache in each]


def weights_by_layer(
    blocks: Sequence[Block],
    hidden: Tensor,
    query_index: Tensor,
    calls: Sequence[Callable[..., Tensor]] | None = None,
    depth: Sequence[Tensor] = (),
) -> list[Tensor]:
    """Layer by layer, the attention probabilities of the scored position, (batch, heads, length).

    calls: the blocks as `run` calls them, where a call takes more than the states.
    """
    weights = []

    def shown(block: Block, call: Callable[..., Tensor], states: Tensor, rows: Tensor | None) -> Tensor:
        weights.append(block.attention.weights(block.read_by_attention(states), query_index=query_index).squeeze(2))
        return call(states)

    pairs = zip(blocks, blocks if calls is None else calls, strict=True)
    run([partial(shown, block, call) for block, call in pairs], hidden, None, depth)
    return weights


def scores(embedding: Tensor, hidden: Tensor) -> Tensor:
    """Return hidden (batch, width) times the embedding transposed; both may have a leading model axis.

    With the embedding as the left factor its gradient is no view of another matrix, and autograd adds that of `embed`
    to it in place, not in a third matrix of this size.
    """
    return (embedding @ hidden.mT).mT


def build(config: ModelConfig, generator: torch.Generator | None = None) -> InductionModel:
    """The model of a configuration: what is registered under `config.place`, here or by another package.

    One's own is a subclass of `InductionModel` that hands a copy of its config with place "heads" to its base, keeps
    its own as `self.config` and says in `features` what it does; `dynamics.model.places` holds an example. A line in
    `[project.entry-points."induction_workbench.models"]`, `name = "package.module:Class"`, makes it known.
    Raises: ValueError, one line: the model refuses config, or what is registered makes no InductionModel.
    """
    model = registered.named(registered.MODELS, config.place)(config, generator)
    if not isinstance(model, InductionModel) or model.config != config:
        raise ValueError(f"{config.place!r} is registered as what makes no InductionModel with that config")
    return model


class SwiGLU(nn.Module):
    """W_down(silu(W_gate x) * W_up x), the feed-forward layer of Llama, without biases."""

    def __init__(self, width: int, hidden: int, generator: torch.Generator | None):
        super().__init__()
        self.gate = _linear(width, hidden, generator)
        self.up = _linear(width, hidden, generator)
        self.down = _linear(hidden, width, generator)

    def forward(self, hidden: Tensor, mix: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        names = ("gate", "up", "down")
        return swiglu(hidden, {f"{name}.weight": weight_of(name, getattr(self, name)) for name in names}, mix)


class Block(nn.Module):
    """x + attention(norm x), then x + mlp(norm x) where there is an MLP; layer counts from 0."""

    pasts: Mapping[str, Past] = MappingProxyType({})

    def __init__(self, config: ModelConfig, generator: torch.Generator | None, layer: int = 0):
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
            position=config.position_in_attention,
            rope_base=config.rope_base,
            weights=config.weights,
            causal=config.causal,
            values=config.values,
            layer=layer,
            past=config.past,
            start=config.start,
            qk_norm=config.qk_norm,
            latent=config.latent,
            generator=generator,
        )
        if config.mlp_width:
            self.mlp_norm = nn.RMSNorm(config.width, eps=1e-6)
            self.mlp = SwiGLU(config.width, config.mlp_width, generator)
        else:
            self.mlp_norm = self.mlp = None
        sizes = {"attention": config.width, "output": config.width, "mlp": config.width, "hidden": 2 * config.mlp_width}
        self.pasts = {mixing.at: mixing for mixing in config.past if mixing.at in sizes}
        self.past = nn.ParameterDict({at: parameter(mixing, sizes[at]) for at, mixing in self.pasts.items()})
        self.start_kind, self.past_start = config.start, beginnings(config.start, {at: sizes[at] for at in self.pasts})

    def forward(
        self,
        hidden: Tensor,
        query_index: Tensor | None = None,
        cache: KVCache | None = None,
        earlier: Earlier | None = None,
        segment_ids: Tensor | None = None,
    ) -> Tensor:
        context = cache, segment_ids

        def attend(states: Tensor, rows: Tensor | None) -> Tensor:
            normed = self.read_by_attention(states, *context)
            found = self.attention(normed, query_index=rows, segment_ids=segment_ids, cache=cache, earlier=earlier)
            return self._mixed("output", found, *context)

        rows = None if self.pasts.keys() & BEHIND else query_index
        mlp = None if self.mlp is None else partial(self.feed_forward, cache=cache, segment_ids=segment_ids)
        out = residual(hidden, rows, attend, mlp)
        return out if rows is query_index else at(out, query_index)

    def read_by_attention(
        self, states: Tensor, cache: KVCache | None = None, segment_ids: Tensor | None = None
    ) -> Tensor:
        """The states as the attention gets them: normed, and mixed with those before where the model says so."""
        return self._mixed("attention", self.attention_norm(states), cache, segment_ids)

    def feed_forward(self, hidden: Tensor, cache: KVCache | None = None, segment_ids: Tensor | None = None) -> Tensor:
        """What the MLP adds."""
        normed = self._mixed("mlp", self.mlp_norm(hidden), cache, segment_ids)
        if "hidden" not in self.pasts:
            return self.mlp(normed)
        return self.mlp(normed, partial(self._mixed, "hidden", cache=cache, segment_ids=segment_ids))

    def _mixed(self, at: str, x: Tensor, cache: KVCache | None, segment_ids: Tensor | None) -> Tensor:
        if at not in self.pasts:
            return x
        return begun(self.pasts[at], self.past[at], x, self.start_kind, self.past_start.get(at), cache, segment_ids)


class InductionModel(nn.Module):
    """Embeddings, n_layers blocks, a final RMSNorm; logits = norm(hidden) E^T, or H^T where they are not tied.

    Source: the architecture of section 3.2 (Llama, KV shifting in the attention); here the MLP is optional, and so is
    all that `ModelConfig` names beside the shift. Args: config; generator, for the initial weights (None: torch's
    global one). Raises: ValueError for a config of another model (`build`).
    """

    def __init__(self, config: ModelConfig, generator: torch.Generator | None = None):
        super().__init__()
        if config.place != "heads":
            raise ValueError(f"a model whose place is {config.place!r} is made by dynamics.model.decoder.build")
        self.config = config
        # Variance 1/width, as in Theorem 3.4: a token's embedding then has norm about 1 and logit about 1 with itself.
        self.embedding = _rows(config.vocab, config.width, generator)
        self.blocks = nn.ModuleList(Block(config, generator, layer) for layer in range(config.n_layers))
        self.norm = nn.RMSNorm(config.width, eps=1e-6)
        self.head = None if config.tied else _rows(config.vocab, config.width, generator)
        learned = config.position == "learned"
        self.positions = _rows(config.max_length, config.width, generator) if learned else None
        dense = config.values.kind == "dense"
        smear = [mixing for mixing in config.past if mixing.at == "embedding"]
        self.smear = parameter(smear[0], config.width) if smear else None
        learnt = smear and config.start == "learnt"
        self.smear_start = nn.Parameter(torch.zeros(config.width)) if learnt else None
        self.depth = nn.ParameterList(map(_last, range(2, config.n_layers + 2))) if dense else None

    def forward(
        self,
        tokens: Tensor,
        query_index: Tensor | None = None,
        caches: list[KVCache] | None = None,
        segment_ids: Tensor | None = None,
    ) -> Tensor:
        """Return logits.

        Args: tokens, (batch, length) integers in 0..vocab-1, right-padded (causality hides the padding; where a model
                is not causal, give the pads a segment of their own);
            query_index, (batch,) the one scored position of each row, or None for all;
            caches, one a layer, hold what came before tokens and take them in (excludes query_index);
            segment_ids, (batch, length) integers: packed documents, each as if alone (excludes caches).
        Returns: (batch, vocab) with query_index, else (batch, length, vocab). Below the last layer every position is
            needed; the last layer and the head then run at query_index only, which gives the same numbers.
        """
        packed = {} if segment_ids is None else {"segment_ids": segment_ids}
        hidden = self.features(tokens, query_index, caches, **packed)
        if query_index is None:
            return F.linear(hidden, self.unembedding)
        return scores(self.unembedding, hidden)

    def features(
        self,
        tokens: Tensor,
        query_index: Tensor | None = None,
        caches: list[KVCache] | None = None,
        segment_ids: Tensor | None = None,
    ) -> Tensor:
        """Return what the output matrix multiplies: (batch, width) with query_index, else (batch, length, width)."""
        blocks = with_caches(self.blocks, caches, earlier=Earlier(), segment_ids=segment_ids)
        hidden = self.entering(tokens, caches[0] if caches else None, segment_ids)
        hidden = self.norm(run(blocks, hidden, query_index, self.depth or ()))
        return hidden if query_index is None else hidden.squeeze(1)

    def entering(self, tokens: Tensor, cache: KVCache | None = None, segment_ids: Tensor | None = None) -> Tensor:
        """The states that the first layer takes; cache is that of the first layer."""
        hidden = self.embed(tokens, 0 if cache is None else cache.length, segment_ids)
        smears = [mixing for mixing in self.config.past if mixing.at == "embedding"]
        if not smears:
            return hidden
        return begun(smears[0], self.smear, hidden, self.config.start, self.smear_start, cache, segment_ids)

    @property
    def unembedding(self) -> Tensor:
        """The output matrix, (vocab, width)."""
        return self.embedding if self.head is None else self.head

    def embed(self, tokens: Tensor, offset: int = 0, segment_ids: Tensor | None = None) -> Tensor:
        """Return the rows of the embedding, (batch, length, width), and of learnt positions where there are any.

        Raises: ValueError for tokens, or a document of them, beyond the last position.
        """
        hidden = embed(self.embedding, tokens)
        if self.positions is None:
            return hidden
        runs = None if segment_ids is None else document_runs(segment_ids)
        place, count = Layout(offset, tokens.shape[1], tokens.device, runs=runs).positions(), offset + tokens.shape[1]
        if runs is not None and count > len(self.positions) and not torch.compiler.is_compiling():
            count = int(place.max()) + 1  # of the longest document
        within_positions(count, len(self.positions))
        return hidden + self.positions[place]

    def attention_weights(self, tokens: Tensor, query_index: Tensor) -> list[Tensor]:
        """Return, layer by layer, the attention probabilities of the scored position, (batch, heads, length)."""
        calls = with_caches(self.blocks, None, earlier=Earlier())
        return weights_by_layer(self.blocks, self.entering(tokens), query_index, calls, self.depth or ())


def _rows(count: int, width: int, generator: torch.Generator | None) -> nn.Parameter:
    return nn.Parameter(torch.empty(count, width).normal_(0, width**-0.5, generator=generator))


def _last(count: int) -> Tensor:
    """(0, .., 0, 1): a weighted sum of `count` states that is the last of them."""
    return torch.eye(count)[-1]


def _linear(rows: int, columns: int, generator: torch.Generator | None) -> nn.Linear:
    # Not nn.Linear itself: it would draw from the global generator.
    layer = nn.utils.skip_init(nn.Linear, rows, columns, bias=False, device=torch.get_default_device())
    nn.init.normal_(layer.weight, 0.0, rows**-0.5, generator=generator)
    return layer
