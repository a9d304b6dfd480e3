"""Other places for a shift than keys and values by themselves: fusion without decoupling, and either of them given.

What `ModelConfig.place` means, x the normed input of a layer and x_{s-1} that of the token before:
    heads   keys, values and queries are mixed each by coefficients of its own (`dynamics.model.attention`, the paper's)
    common  keys and values of a head are mixed by the same coefficients: neighbours are fused, nothing is decoupled
    half    queries, keys, values of a state whose upper half of channels is the previous token's (Zhang et al. 2021)
    fused   keys and values of (x_s + R x_{s-1}) / sqrt(2), R a fixed orthogonal matrix: the fusion is given
    apart   two layers; in the second keys are read from what the first has added to a token, values from its embedding,
            queries from the sum as ever: the decoupling is given, the fusion is left to the first layer
Nothing of this is in the papers but for `half`.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from dynamics.model.attention import KVShiftAttention
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import Block, InductionModel, at
from dynamics.model.positions import rotate
from dynamics.model.shift import shift_mix
from dynamics.model.softmax import attend


def build(config: ModelConfig, generator: torch.Generator | None = None) -> InductionModel:
    """The model of a configuration, wherever its shift is."""
    return InductionModel(config, generator) if config.place == "heads" else PlacedModel(config, generator)


class PlacedModel(InductionModel):
    """An InductionModel of another place; its logits and features are as there, its attention weights are not shown."""

    def __init__(self, config: ModelConfig, generator: torch.Generator | None = None):
        shift = "k" if config.place == "common" else "none"  # the coefficients of the keys serve the values too
        super().__init__(config.model_copy(update={"place": "heads", "shift": shift}), generator)
        self.config = config
        rotation = None
        if config.place == "fused":
            drawn = torch.empty(config.width, config.width).normal_(generator=generator)
            rotation = torch.linalg.qr(drawn).Q
        # Not a weight: it is the same function of the seed wherever the model is built.
        self.register_buffer("rotation", rotation, persistent=False)

    def features(self, tokens: Tensor, query_index: Tensor | None = None, caches: list | None = None) -> Tensor:
        """As `InductionModel.features`; raises ValueError for caches."""
        if caches is not None:
            raise ValueError(f"a model whose shift is placed at {self.config.place!r} keeps no cache")
        first = hidden = self.embed(tokens)
        last = len(self.blocks) - 1
        for number, block in enumerate(self.blocks):
            scored = query_index if number == last else None
            hidden = self._block(block, hidden, first if number else None, scored)
        hidden = self.norm(hidden)
        return hidden if query_index is None else hidden.squeeze(1)

    def attention_weights(self, tokens: Tensor, query_index: Tensor) -> list[Tensor]:
        """Not shown. Raises ValueError."""
        raise ValueError(f"the attention of a model whose shift is placed at {self.config.place!r} is not shown")

    def _block(self, block: Block, hidden: Tensor, first: Tensor | None, query_index: Tensor | None) -> Tensor:
        """One block; `first`, the embeddings, where it is not the lowest one."""
        mixed = attended(block.attention, *self._sources(block, hidden, first))
        hidden = at(hidden, query_index) + at(mixed, query_index)
        return hidden if block.mlp is None else hidden + block.mlp(block.mlp_norm(hidden))

    def _sources(self, block: Block, hidden: Tensor, first: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """What queries, keys and values are projected from."""
        state = block.attention_norm(hidden)
        if self.config.place == "half":
            half = self.config.width // 2
            state = torch.cat([state[..., :half], before(state)[..., half:]], dim=-1)
        if self.config.place == "fused":
            fused = (state + before(state) @ self.rotation.T) * 0.5**0.5
            return state, fused, fused
        if self.config.place == "apart" and first is not None:
            return state, block.attention_norm(hidden - first), block.attention_norm(first)
        return state, state, state


def before(states: Tensor) -> Tensor:
    """The states (batch, length, width) of the tokens before, zeros for the first."""
    return F.pad(states, (0, 0, 1, 0))[:, :-1]


def attended(layer: KVShiftAttention, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Causal attention of states (batch, length, width), each of the three projected from states of its own.

    Where the layer has alpha it mixes keys and values alike.
    """
    query, key, value = (
        project(states).unflatten(-1, (-1, layer.head_dim))
        for project, states in ((layer.q_proj, queries), (layer.k_proj, keys), (layer.v_proj, values))
    )
    if layer.alpha is not None:
        key, value = (shift_mix(heads, layer.alpha_mix()) for heads in (key, value))
    if layer.position == "rope":
        positions = torch.arange(queries.shape[1], device=queries.device)[None]
        query, key = (rotate(heads, positions, layer.rope_base) for heads in (query, key))
    heads = attend(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), None, layer.scale)
    return layer.o_proj(heads.transpose(1, 2).flatten(2))
