"""Sections 3.3 and 5: what makes KV shifting learn induction, fusing neighbours or decoupling keys from values.

Setting and budget are those of Figure 1b at widths 16 and 64 (`experiments.induction`): two heads, MLP 64, vocabulary
32, rows of about 5 tokens, 2500 steps of 64 rows at 1e-3. `dynamics.model.places` has the models: one layer with keys
and values shifted each for itself, with keys alone, with one common mixture (fusion, no decoupling), with half of the
channels of its input shifted; one layer to which the fusion is given; two vanilla layers, and two to which the
decoupling is given. Measured, 8 seeds, median steps to 95 % at widths 16 and 64: KV shift 440, 280; K shift 330, 100;
common 1180, 340; half of the channels 790, 160; fusion given 580, 120; decoupling given 1930, 490; two vanilla layers 3
of 8 seeds, 2290. The runs of KV shift and of two vanilla layers are those of Figure 1b.
"""

from dynamics.experiments import SweepPreset, Variant, induction
from dynamics.model.config import ModelConfig
from dynamics.sweep.record import Measure
from dynamics.training.settings import TrainConfig

WIDTHS = (16, 64)
MODELS: dict[str, dict[str, str | int]] = {
    "kv-shift": {},
    "k-shift": {"shift": "k"},
    "common": {"place": "common"},
    "half-channels": {"shift": "none", "place": "half"},
    "fusion-given": {"shift": "none", "place": "fused"},
    "decoupling-given": {"shift": "none", "place": "apart", "n_layers": 2},
    "vanilla-2": {"shift": "none", "n_layers": 2},
}
DECOUPLING = "Sections 3.3 and 5: steps to learn induction, neighbours fused or keys and values decoupled"


def by_place(base: ModelConfig, training: TrainConfig, widths: tuple[int, ...] = WIDTHS) -> dict[str, Variant]:
    """`width-<width>.<model>` for every model at each width."""
    return {
        f"width-{width}.{name}": Variant(base.model_copy(update=changes | {"width": width}), training)
        for width in widths
        for name, changes in MODELS.items()
    }


_BASE, _TRAINING = induction.PRESETS["figure-1b"].variants["kv-shift.width-16"]

PRESETS = {
    "decoupling": SweepPreset(by_place(_BASE, _TRAINING), Measure(every=20), 8, DECOUPLING),
    "decoupling-quick": SweepPreset(
        by_place(_BASE, _TRAINING.model_copy(update={"steps": 600}), (64,)), Measure(every=50), 1, DECOUPLING
    ),
}
