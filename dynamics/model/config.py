"""Model and training settings as checked data, and the presets of Figure 1a; no torch, so command lines stay quick."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from dynamics.files.manifest import Strict

Positive = Annotated[int, Field(ge=1)]
Fraction01 = Annotated[float, Field(ge=0, le=1)]


class ModelConfig(Strict):
    """A small Llama-like decoder with tied embeddings; mlp_width 0 leaves the feed-forward layers out.

    place: where the shift acts, see `dynamics.model.places`; "heads" is the paper's, the others are for experiments
    only.
    """

    vocab: Annotated[int, Field(ge=2, le=1_000_000)] = 8000
    width: Annotated[int, Field(ge=1, le=16384)] = 64
    n_heads: Positive = 4
    n_kv_heads: Positive | None = None
    n_layers: Annotated[int, Field(ge=1, le=256)] = 1
    mlp_width: Annotated[int, Field(ge=0, le=65536)] = 0
    window: Annotated[int, Field(ge=1, le=4)] = 2
    shift: Literal["none", "k", "v", "kv", "qkv"] = "kv"
    place: Literal["heads", "common", "half", "fused", "apart"] = "heads"
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
        if self.place == "heads":
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


class TrainConfig(Strict):
    """AdamW with linear warm-up and a cosine down to final_lr of the peak (1: constant); every batch is new data.

    Of the fields after task, induction reads pool; trigram reads pairs (of its table) and length (2: nothing but the
    pair); hop reads symbols, hops, least_hops and length; mqar reads pairs (of a row) and length. See `batches`.
    """

    steps: Annotated[int, Field(ge=1, le=10_000_000)] = 500
    batch: Annotated[int, Field(ge=1, le=1_000_000)] = 256
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 3e-3
    warmup: Annotated[int, Field(ge=0)] = 20
    final_lr: Fraction01 = 1.0
    weight_decay: Annotated[float, Field(ge=0, le=10)] = 0.0
    beta2: Annotated[float, Field(gt=0, lt=1)] = 0.95
    clip: Annotated[float, Field(gt=0)] = 1.0
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    task: Literal["induction", "trigram", "hop", "mqar"] = "induction"
    pool: Annotated[int, Field(ge=3)] = 512
    pairs: Positive = 8
    symbols: Annotated[int, Field(ge=3)] = 4
    hops: Annotated[int, Field(ge=0)] = 1
    least_hops: Annotated[int, Field(ge=0)] | None = None
    length: Annotated[int, Field(ge=2)] = 16
    heldout_rows: Annotated[int, Field(ge=1, le=10_000_000)] = 4096


# Settings of each task at which a model of the presets shows what it can do within minutes.
TASKS: dict[str, dict[str, int | str]] = {
    "induction": {},
    "trigram": {"task": "trigram", "pairs": 200, "length": 2},
    "hop": {"task": "hop", "hops": 1, "length": 17},
    "mqar": {"task": "mqar", "pairs": 4, "length": 16},
}

# The size of Figure 1a at which two vanilla layers learn too, in about 1500 steps; `experiments.induction` says what
# keeps them from it. At the defaults above, the paper's own data, KV shifting learns and they are far from it.
SMALL = ModelConfig(vocab=32, width=32, n_heads=4, mlp_width=64)
SMALL_TRAINING = TrainConfig(steps=3000, batch=64, learning_rate=1e-3, pool=12)

_VANILLA: dict[str, dict[str, str | int]] = {
    "kv-shift": {},
    "vanilla-1": {"shift": "none"},
    "vanilla-2": {"shift": "none", "n_layers": 2},
}
PRESETS = {name: ModelConfig().model_copy(update=changes) for name, changes in _VANILLA.items()}
COMPARED = {f"small-{name}": SMALL.model_copy(update=changes) for name, changes in _VANILLA.items()}
PRESETS |= COMPARED
TRAININGS = {name: SMALL_TRAINING if name in COMPARED else TrainConfig() for name in PRESETS}
