"""A model's settings as checked data, and the presets of Figure 1a; no torch, so command lines stay quick."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from dynamics.files import registered
from dynamics.files.manifest import Count, Fraction01, Positive, Strict

LayerNumbers = Annotated[tuple[Count, ...], Field(strict=False)]  # a list, in a JSON file
Order = Literal["raw", "shifted"]


PLACED = ("common", "half", "fused", "apart")  # what `dynamics.model.places` makes


class Own(Strict):
    """A_n V_n: a layer reads the values that it projects. Source: ResFormer, Eq. 1."""

    kind: Literal["own"] = "own"


class Residual(Strict):
    """A_n (lambda1 V_n + lambda2 V_1) in the layers named (default: all but the first). Source: ResFormer, Eq. 7, 4.2.

    learnt: the two factors are parameters of each such layer, and start there. order "raw": what is added is projected
    and not shifted, and the layer's shift mixes the sum; "shifted": both are shifted first, each by its own layer.
    """

    kind: Literal["residual"] = "residual"
    lambda1: float = 0.5
    lambda2: float = 0.5
    learnt: bool = False
    layers: LayerNumbers | None = None
    order: Order = "raw"


class Shared(Strict):
    """A_n V_a: a layer projects no values unless it is an anchor, and reads those of the last anchor up to it.

    Source: ResFormer, Eq. 10 (SVFormer), where the first layer is the one anchor. order: whether it reads projections,
    which its own shift then mixes, or values as the anchor has shifted them. keys: it has no keys of its own either,
    and reads those that the anchor reads, shifted and placed (cross-layer attention, arXiv:2405.12981; `cla`).
    """

    kind: Literal["shared"] = "shared"
    anchors: LayerNumbers = (0,)
    order: Order = "raw"
    keys: bool = False

    @model_validator(mode="after")
    def _keys_fit(self) -> "Shared":
        if self.keys and self.order != "shifted":
            raise ValueError(
                f"keys are shared as the anchor has shifted them: order must be 'shifted', got {self.order!r}"
            )
        return self


class Neutreno(Strict):
    """A_n V_n + lam (V_1 - V_n) in all layers but the first. Source: ResFormer, Eq. 8 and Appendix A.3 (0.4)."""

    kind: Literal["neutreno"] = "neutreno"
    lam: float = 0.4
    order: Order = "raw"


class Identity(Strict):
    """A_n V_n + (V_1 + .. + V_{n-1}) / (n - 1) in all layers but the first. Source: ResFormer, Eq. 6."""

    kind: Literal["identity"] = "identity"
    order: Order = "raw"


class CrossLayer(Strict):
    """Softmax(Q_n [K_n; K_m]^T) [V_n; V_m] in all layers but the first, m the first layer or the one below.

    Source: ResFormer, Eq. 2. Keys and values are those that layer m itself reads: placed, and shifted by it.
    """

    kind: Literal["cross"] = "cross"
    source: Literal["first", "previous"] = "first"


class Borrowed(Strict):
    """own X_n + other X_m in the layers named (default: all but the first), X queries, keys or values as projected.

    Source: ResFormer, Figures 5, 9, 11 and 16. What m is: the first layer, the one below, or all below, their mean.
    Where own is 0 a layer projects no X, and what it reads is what the next one borrows. The layer's own shift mixes
    the sum. Each layer keeps what it reads in a cache of its own. Values without own ones are `Shared`.
    """

    kind: Literal["borrowed"] = "borrowed"
    of: Literal["query", "key", "value"]
    source: Literal["first", "previous", "mean"] = "first"
    own: float = 0.5
    other: float = 0.5
    layers: LayerNumbers | None = None

    @model_validator(mode="after")
    def _values_are_own(self) -> "Borrowed":
        if self.of == "value" and self.own == 0:
            raise ValueError("values that are all another layer's are of kind 'shared': own must not be 0")
        return self


class Dense(Strict):
    """Own values; each block reads a learnt weighted sum of the embedding and all blocks below it, at first the last.

    Source: DenseFormer (arXiv:2402.02622), section 3; ResFormer, Eq. 9 leaves the embedding and the residuals out.
    """

    kind: Literal["dense"] = "dense"


def cla(n_layers: int, layers: int = 2) -> Shared:
    """Cross-layer attention: of every `layers` layers the first projects keys and values, the others read them."""
    return Shared(anchors=tuple(range(0, n_layers, layers)), order="shifted", keys=True)


Values = Annotated[
    Own | Residual | Shared | Neutreno | Identity | CrossLayer | Borrowed | Dense, Field(discriminator="kind")
]


class Past(Strict):
    """y_t = sum_j c_j x_{t-j} at a place, with x_t added to it if residual; beside what heads shift themselves.

    at: the embedding (smear); the normed states that an attention layer reads, its projected queries, keys or values,
    what it adds; the normed states that an MLP reads, or its hidden ones before they are gated. Canon layers
    (arXiv:2512.17351) are window 4 at "attention" (A), "query", "key" and "value" (B), "mlp" (C) and "hidden" (D).
    per: coefficients of each channel, or one for all. offset: no coefficients are learnt; this share of each head's
    channels is that of the token before (partial key offset). heads: none are learnt either; these heads, from 0, have
    that of the token before alone (KV shifting attention, Appendix J).
    """

    at: Literal["embedding", "attention", "query", "key", "value", "output", "mlp", "hidden"]
    window: Annotated[int, Field(ge=2, le=4)] = 2
    per: Literal["channel", "one"] = "channel"
    residual: bool = True
    offset: Fraction01 | None = None
    heads: LayerNumbers | None = None

    @model_validator(mode="after")
    def _offset_fits(self) -> "Past":
        if self.fixed and (self.at not in PROJECTED or self.window != 2 or self.residual):
            named = f"heads {list(self.heads)}" if self.heads is not None else f"offset {self.offset}"
            raise ValueError(f"{named} is of queries, keys or values, window 2 and not residual")
        if self.heads is not None and self.offset is not None:
            raise ValueError("an offset moves a share of every head, heads move whole: one of the two")
        return self

    @property
    def fixed(self) -> bool:
        """Whether no coefficients are learnt."""
        return self.offset is not None or self.heads is not None


PROJECTED = ("query", "key", "value")
Pasts = Annotated[tuple[Past, ...], Field(strict=False)]
SMEAR = (Past(at="embedding", per="one"),)
ONE_KEY_ONE_VALUE = (
    Past(at="key", heads=(0,), residual=False),  # latent attention's shift in KV shifting attention, Appendix J
    Past(at="value", heads=(1,), residual=False),
)
KEY_OFFSET = (Past(at="key", offset=0.5, residual=False),)
CANON = {
    "A": (Past(at="attention", window=4),),
    "B": tuple(Past(at=name, window=4) for name in PROJECTED),
    "C": (Past(at="mlp", window=4),),
    "D": (Past(at="hidden", window=4),),
}


class Latent(Strict):
    """Latent attention: c = W_D x is kept, keys are [W_UK c; R W_R x], values W_UV c; queries are projected as ever.

    Source: DeepSeek-V2 (arXiv:2405.04434), section 2.1; KV shifting attention, Appendix J (size 256, rope 32). size: of
    c. rope: how many of each head's last channels are rotated; in keys these are W_R x, one vector for all heads. What
    is shifted is the whole key, as ever before it is rotated. norm: whether c is normed by its root mean square, as in
    the published models; the papers' equations leave it out.
    """

    size: Annotated[int, Field(ge=1, le=16384)]
    rope: Count = 0
    norm: bool = False


def check_attention(
    weights: str, head_dim: int, position: str, causal: bool, values: Values, qk_norm: bool, latent: Latent | None
) -> None:
    """Raises: ValueError for choices that do not go together in one attention layer."""
    if weights == "differential" and head_dim % (multiple := 4 if position == "rope" else 2):
        raise ValueError(
            f"differential attention halves heads: their size must be a multiple of {multiple}, got {head_dim}"
        )
    if weights == "selective" and (not causal or values.kind == "cross"):
        raise ValueError("selective attention is causal, and over the keys of one layer")
    if latent is None:
        return
    if values.kind == "borrowed":
        raise ValueError("layers that read latents borrow no queries, keys or values")
    if weights == "differential" or qk_norm:
        raise ValueError("the keys of latents are neither halved (differential) nor normed (qk_norm)")
    if latent.rope % 2 or latent.rope >= head_dim or (latent.rope > 0) != (position == "rope"):
        least = f"above 0 if and only if the position is 'rope', even and below the head size {head_dim}"
        raise ValueError(f"rope of a latent must be {least}, got {latent.rope} and {position!r}")


class ModelConfig(Strict):
    """A small Llama-like decoder; mlp_width 0 leaves the feed-forward layers out.

    place: where the shift acts, see `dynamics.model.places`; "heads" is the paper's, the others are for experiments
    only. A package of one's own may register further models by name (`decoder.build`).
    values: what a layer reads from other layers (`dynamics.model.values`). weights: softmax; softmax plus one; softmax
    with a learnt sink logit for each head; softmax with a gate sigmoid(w.x) for each head that multiplies the output;
    the difference of two softmaxes; or a softmax whose logits the first head lowers for all heads
    (`dynamics.model.softmax`). max_length: the number of learnt positions. past: other places where states are mixed
    with those of the tokens before. start: what every shift and past finds before the first token of a document:
    nothing, the last tokens of the document before it in a packed row, or a learnt vector. qk_norm: whether each head's
    query and key are normed, after they are mixed and before they are rotated. latent: what keys and values are
    projected from, if not the states.
    causal: whether a token sees those up to itself alone. tied: whether the embedding is the output matrix too.
    """

    vocab: Annotated[int, Field(ge=2, le=1_000_000)] = 8000
    width: Annotated[int, Field(ge=1, le=16384)] = 64
    n_heads: Positive = 4
    n_kv_heads: Positive | None = None
    n_layers: Annotated[int, Field(ge=1, le=256)] = 1
    mlp_width: Annotated[int, Field(ge=0, le=65536)] = 0
    window: Annotated[int, Field(ge=1, le=4)] = 2
    shift: Literal["none", "k", "v", "kv", "qkv"] = "kv"
    place: str = "heads"
    parameters: Literal["free", "gate", "clip"] = "free"
    initial: Literal["paper", "matched"] = "paper"
    position: Literal["rope", "alibi", "learned", "none"] = "rope"
    rope_base: Annotated[float, Field(gt=1)] = 10000.0
    max_length: Annotated[int, Field(ge=1, le=16_777_216)] | None = None
    values: Values = Own()
    weights: Literal["softmax", "plus_one", "sink", "gate", "differential", "selective"] = "softmax"
    past: Pasts = ()
    start: Literal["zero", "carried", "learnt"] = "zero"
    qk_norm: bool = False
    latent: Latent | None = None
    causal: bool = True
    tied: bool = True

    @model_validator(mode="after")
    def _heads_divide(self) -> "ModelConfig":
        if self.width % self.n_heads:
            raise ValueError(f"width {self.width} is not a multiple of n_heads {self.n_heads}")
        if self.position == "rope" and (self.width // self.n_heads) % 2:
            raise ValueError(f"rope needs an even head size, got width/n_heads = {self.width // self.n_heads}")
        if self.n_kv_heads and self.n_heads % self.n_kv_heads:
            raise ValueError(f"n_heads {self.n_heads} is not a multiple of n_kv_heads {self.n_kv_heads}")
        if self.parameters == "gate" and self.window != 2:
            raise ValueError(f"gated parameters need window 2, got {self.window}")
        if (self.position == "learned") != (self.max_length is not None):
            raise ValueError(f"position 'learned' and max_length go together, got {self.position!r}, {self.max_length}")
        return self

    @model_validator(mode="after")
    def _values_fit(self) -> "ModelConfig":
        kind = self.values.kind
        named = {"residual": "layers", "shared": "anchors", "borrowed": "layers"}.get(kind)
        layers = getattr(self.values, named) if named else None
        if layers is None:
            return self
        first = 0 if kind == "shared" else 1
        if self.n_layers <= first:
            raise ValueError("layers of values need a layer above the first one, got one layer")
        if list(layers) != sorted(set(layers)) or not layers or layers[0] < first or layers[-1] >= self.n_layers:
            raise ValueError(f"{named} of values must rise within {first}..{self.n_layers - 1}, got {list(layers)}")
        if kind == "shared" and layers[0] != 0:
            raise ValueError(f"the first anchor must be layer 0, got {layers[0]}")
        return self

    @model_validator(mode="after")
    def _past_fits(self) -> "ModelConfig":
        places = [past.at for past in self.past]
        if len(set(places)) < len(places):
            raise ValueError(f"each place of the past once, got {', '.join(places)}")
        if not self.mlp_width and {"mlp", "hidden"} & set(places):
            raise ValueError("the past of an MLP needs mlp_width")
        if self.values.kind == "shared" and ("value" in places or ("key" in places and self.values.keys)):
            raise ValueError("keys and values that are shared are mixed by the shift, not by the past of a layer")
        if self.values.kind == "borrowed" and self.values.of in places:
            raise ValueError("what is borrowed is mixed by the shift, not by the past of a layer")
        for past in self.past:
            most = self.n_heads if past.at == "query" else self.n_kv_heads or self.n_heads
            if past.heads is not None and any(head >= most for head in past.heads):
                raise ValueError(f"heads of the past must be below {most}, got {list(past.heads)}")
        return self

    @model_validator(mode="after")
    def _attention_fits(self) -> "ModelConfig":
        chosen = self.weights, self.width // self.n_heads, self.position_in_attention, self.causal, self.values
        check_attention(*chosen, self.qk_norm, self.latent)
        return self

    @model_validator(mode="after")
    def _place_fits(self) -> "ModelConfig":
        if self.place not in (known := registered.names(registered.MODELS)):
            raise ValueError(f"place must be one of {', '.join(known)}, got {self.place!r}")
        if self.place not in PLACED:
            return self
        shift = "kv" if self.place == "common" else "none"
        if (self.shift, self.position in ("alibi", "learned"), self.n_kv_heads) != (shift, False, None):
            least = "no alibi, no learned positions and no n_kv_heads"
            raise ValueError(f"place {self.place!r} needs shift {shift!r}, {least}")
        if not self.plain:
            raise ValueError(f"place {self.place!r} needs own values, softmax, causal attention and tied embeddings")
        if self.start != "zero":
            raise ValueError(f"place {self.place!r} needs start 'zero', got {self.start!r}")
        if self.place == "apart" and self.n_layers != 2:
            raise ValueError(f"place 'apart' needs two layers, got {self.n_layers}")
        return self

    @property
    def plain(self) -> bool:
        """Whether it is causal softmax attention over values of its own, positions in logits alone, tied embeddings.

        A shift, if there is one, finds nothing before the first token.
        """
        found = self.values, self.weights, self.past, self.causal, self.tied, self.position == "learned"
        started = self.start != "zero" and self.shift != "none" and self.window > 1
        found = *found, self.qk_norm, self.latent, started
        return found == (Own(), "softmax", (), True, True, False, False, None, False)

    @property
    def plain_logits(self) -> bool:
        """Whether all logits are products of a layer's own projected queries and keys, at most shifted and placed."""
        shared = isinstance(self.values, Shared) and self.values.keys
        mixed = any(past.at in ("query", "key") for past in self.past)
        return not (shared or mixed or self.qk_norm or self.latent or self.weights in ("differential", "selective"))

    @property
    def position_in_attention(self) -> Literal["rope", "alibi", "none"]:
        """What a layer does about positions: nothing where they are learnt, and come with the embedding."""
        return "none" if self.position == "learned" else self.position

    def least_parameters(self) -> int:
        """Return a lower bound of the number of weights: embeddings, query and output projections, MLP."""
        rows = self.vocab * (1 if self.tied else 2) + (self.max_length or 0)
        return rows * self.width + self.n_layers * self.width * (2 * self.width + 3 * self.mlp_width)


# The size of Figure 1a at which two vanilla layers learn too, in about 1500 steps of `training.settings`;
# `experiments.induction` says what keeps them from it.
SMALL = ModelConfig(vocab=32, width=32, n_heads=4, mlp_width=64)

_VANILLA: dict[str, dict[str, str | int]] = {
    "kv-shift": {},
    "vanilla-1": {"shift": "none"},
    "vanilla-2": {"shift": "none", "n_layers": 2},
}
PRESETS = {name: ModelConfig().model_copy(update=changes) for name, changes in _VANILLA.items()}
COMPARED = {f"small-{name}": SMALL.model_copy(update=changes) for name, changes in _VANILLA.items()}
PRESETS |= COMPARED
