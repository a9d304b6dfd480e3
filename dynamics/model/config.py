"""A model's settings as checked data, and the presets of Figure 1a; no torch, so command lines stay quick."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from dynamics.files import registered
from dynamics.files.manifest import Strict

Positive = Annotated[int, Field(ge=1)]
Fraction01 = Annotated[float, Field(ge=0, le=1)]


PLACED = ("common", "half", "fused", "apart")  # what `dynamics.model.places` makes


class ModelConfig(Strict):
    """A small Llama-like decoder with tied embeddings; mlp_width 0 leaves the feed-forward layers out.

    place: where the shift acts, see `dynamics.model.places`; "heads" is the paper's, the others are for experiments
    only. A package of one's own may register further models by name (`decoder.build`).
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
    position: Literal["rope", "alibi", "none"] = "rope"
    rope_base: Annotated[float, Field(gt=1)] = 10000.0

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
        return self

    @model_validator(mode="after")
    def _place_fits(self) -> "ModelConfig":
        if self.place not in (known := registered.names(registered.MODELS)):
            raise ValueError(f"place must be one of {', '.join(known)}, got {self.place!r}")
        if self.place not in PLACED:
            return self
        shift = "kv" if self.place == "common" else "none"
        if (self.shift, self.position == "alibi", self.n_kv_heads) != (shift, False, None):
            raise ValueError(f"place {self.place!r} needs shift {shift!r}, no alibi and no n_kv_heads")
        if self.place == "apart" and self.n_layers != 2:
            raise ValueError(f"place 'apart' needs two layers, got {self.n_layers}")
        return self

    def least_parameters(self) -> int:
        """Return a lower bound of the number of weights: embedding, query and output projections, MLP."""
        return self.vocab * self.width + self.n_layers * self.width * (2 * self.width + 3 * self.mlp_width)


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
