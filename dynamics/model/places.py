"""Models whose shift stands elsewhere: keys and values that share one mixture, or a fixed mixture in place of it.

What `ModelConfig.place` means, x the normed input of a layer and x_{s-1} that of the token before:
    heads   keys, values and queries are mixed each by coefficients of its own (`dynamics.model.attention`, the paper's)
    common  keys and values of a head are mixed by the same coefficients: neighbours are fused, nothing is decoupled
    half    queries, keys, values of a state whose upper half of channels is the previous token's (Zhang et al. 2021)
    fused   keys and values of (x_s + R x_{s-1}) / sqrt(2), R a fixed orthogonal matrix: the fusion is given
    apart   two layers; in the second keys are read from what the first has added to a token, values from its embedding,
            queries from the sum as ever: the decoupling is given, the fusion is left to the first layer
Nothing of this is in the papers but for `half`.
"""

from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import Block, InductionModel, residual, run
from dynamics.model.forward import States, attention
from dynamics.model.positions import Layout


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

    def features(
        self,
        tokens: Tensor,
        query_index: Tensor | None = None,
        caches: list | None = None,
        segment_ids: Tensor | None = None,
    ) -> Tensor:
        """As `InductionModel.features`; raises ValueError for caches and packed documents."""
        if caches is not None:
            raise ValueError(f"a model whose shift is placed at {self.config.place!r} keeps no cache")
        if segment_ids is not None:
            raise ValueError(f"a model whose shift is placed at {self.config.place!r} takes no packed documents")
        first = self.embed(tokens)
        blocks = [partial(self._block, block, first if number else None) for number, block in enumerate(self.blocks)]
        hidden = self.norm(run(blocks, first, query_index))
        return hidden if query_index is None else hidden.squeeze(1)

    def attention_weights(self, tokens: Tensor, query_index: Tensor) -> list[Tensor]:
        """Not shown. Raises ValueError."""
        raise ValueError(f"the attention of a model whose shift is placed at {self.config.place!r} is not shown")

    def _block(self, block: Block, first: Tensor | None, hidden: Tensor, query_index: Tensor | None) -> Tensor:
        """One block; `first`, the embeddings, where it is not the lowest one."""
        layer, own = block.attention, block.attention.own()
        if self.config.place == "common":
            own["beta"] = own["alpha"]

        def attend(hidden: Tensor, rows: Tensor | None) -> Tensor:
            where = Layout(0, hidden.shape[1], hidden.device, rows)
            return attention(layer.heads, own, self._sources(block, hidden, first), where)

        return residual(hidden, query_index, attend, None if block.mlp is None else block.feed_forward)

    def _sources(self, block: Block, hidden: Tensor, first: Tensor | None) -> States:
        """What queries, keys and values are projected from."""
        state = block.attention_norm(hidden)
        if self.config.place == "half":
            half = self.config.width // 2
            state = torch.cat([state[..., :half], before(state)[..., half:]], dim=-1)
        if self.config.place == "fused":
            fused = (state + before(state) @ self.rotation.T) * 0.5**0.5
            return States(state, fused, fused)
        if self.config.place == "apart" and first is not None:
            return States(state, block.attention_norm(hidden - first), block.attention_norm(first))
        return States(state, state, state)


def before(states: Tensor) -> Tensor:
    """The states (batch, length, width) of the tokens before, zeros for the first."""
    return F.pad(states, (0, 0, 1, 0))[:, :-1]
