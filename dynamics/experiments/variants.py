"""Variants of KV shifting: longer windows (Figure 7b), gate and clip (Figure 10a), learning rates (Figure 4b), Table 5.

The paper compares the losses of 1.5B models; here it is the steps to learn induction, at the size of `induction`.
Windows 3 and 4 start as the paper's footnote 10 has it, with more variance and of both signs, and as "matched", with
the variance of window 2 (`coefficients.initial`): only the second pair of comparisons is about the window alone.
Coupling trains 32 models of 8 heads each for 1000 steps: 256 heads stand for Table 5's 128 pairs. They have no MLP, as
the theorem's model: a head's own W_V W_O then is all that reads its values out (`dynamics.heads.theorem.gains`).
"""

from dynamics.experiments import SweepPreset, Variant, alike, induction
from dynamics.model.config import ModelConfig
from dynamics.sweep.record import Measure
from dynamics.training.settings import TrainConfig

SMALL_MODEL, SMALL_TRAINING = induction.PRESETS["figure-1a"].variants["kv-shift"]
PAPER_MODEL, PAPER_TRAINING = induction.PRESETS["figure-1a-paper"].variants["kv-shift"]

_EVERY_50 = Measure(every=50)
RATES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
PAPER_RATES = (1e-4, 2e-4, 1e-3, 1e-2)

WINDOWS = "Figure 7b: steps to learn induction, windows 2 to 4 as the paper starts them and with matched variance"
GATES = "Figure 10a: steps to learn induction, free coefficients against the gate and the clip"
LEARNING_RATES = "Figure 4b: steps to learn induction by learning rate, one layer with KV shifting"
VANILLA_RATES = "Figure 4b: steps to learn induction by learning rate, two vanilla layers"
COUPLING = "Table 5: how the heads of one-layer KV-shift models mix keys and values after training"


def by_window(base: ModelConfig) -> dict[str, ModelConfig]:
    """Window 2, where both laws are one, and windows 3 and 4 under each."""
    longer = {
        f"window-{window}{'' if law == 'paper' else '-matched'}": {"window": window, "initial": law}
        for window in (3, 4)
        for law in ("paper", "matched")
    }
    return {"window-2": base} | {name: base.model_copy(update=changes) for name, changes in longer.items()}


def by_gate(base: ModelConfig) -> dict[str, ModelConfig]:
    """Free, gated and clipped coefficients."""
    return {kind: base.model_copy(update={"parameters": kind}) for kind in ("free", "gate", "clip")}


def by_rate(name: str, base: ModelConfig, training: TrainConfig, rates: tuple[float, ...]) -> dict[str, Variant]:
    """`<name>rate-<rate>`: the model at every rate."""
    at = {rate: training.model_copy(update={"learning_rate": rate}) for rate in rates}
    return {f"{name}rate-{rate:g}": Variant(base, at[rate]) for rate in rates}


def _two_vanilla_layers(base: ModelConfig) -> ModelConfig:
    return base.model_copy(update={"shift": "none", "n_layers": 2})


def _shorter(steps: int, learning_rate: float = SMALL_TRAINING.learning_rate) -> TrainConfig:
    return SMALL_TRAINING.model_copy(update={"steps": steps, "learning_rate": learning_rate})


def _at_paper_size(variants: dict[str, Variant], words: str, measure: Measure = _EVERY_50) -> SweepPreset:
    return SweepPreset(variants, measure, 8, f"{words}, the paper's size", "bfloat16")


_EIGHT_HEADS = SMALL_MODEL.model_copy(update={"n_heads": 8, "mlp_width": 0})
_TO_THE_END = Measure(every=100, stop=False)

PRESETS = {
    "windows": SweepPreset(alike(by_window(SMALL_MODEL), _shorter(2000)), Measure(every=20), 8, WINDOWS),
    "windows-quick": SweepPreset(alike(by_window(SMALL_MODEL), _shorter(1500)), _EVERY_50, 1, WINDOWS),
    "windows-paper": _at_paper_size(alike(by_window(PAPER_MODEL), PAPER_TRAINING), WINDOWS),
    "gates": SweepPreset(alike(by_gate(SMALL_MODEL), _shorter(2000)), Measure(every=20), 8, GATES),
    "gates-quick": SweepPreset(alike(by_gate(SMALL_MODEL), _shorter(1500)), _EVERY_50, 1, GATES),
    "gates-paper": _at_paper_size(alike(by_gate(PAPER_MODEL), PAPER_TRAINING), GATES),
    "learning-rates": SweepPreset(
        by_rate("", SMALL_MODEL, _shorter(1500), RATES), _EVERY_50, 8, LEARNING_RATES
    ),
    "learning-rates-quick": SweepPreset(
        by_rate("", SMALL_MODEL, _shorter(600), RATES), _EVERY_50, 1, LEARNING_RATES
    ),
    "learning-rates-paper": _at_paper_size(
        by_rate("", PAPER_MODEL, PAPER_TRAINING, PAPER_RATES), LEARNING_RATES
    ),
    "vanilla-rates": SweepPreset(
        by_rate("vanilla-2.", _two_vanilla_layers(SMALL_MODEL), _shorter(1500), RATES),
        _EVERY_50,
        8,
        VANILLA_RATES,
    ),
    "vanilla-rates-quick": SweepPreset(
        by_rate("vanilla-2.", _two_vanilla_layers(SMALL_MODEL), _shorter(1500), RATES[1:3]),
        _EVERY_50,
        1,
        VANILLA_RATES,
    ),
    "vanilla-rates-paper": _at_paper_size(
        by_rate("vanilla-2.", _two_vanilla_layers(PAPER_MODEL), PAPER_TRAINING, PAPER_RATES), VANILLA_RATES
    ),
    "coupling": SweepPreset(alike({"kv-shift-8": _EIGHT_HEADS}, _shorter(1000, 3e-3)), _TO_THE_END, 32, COUPLING),
    "coupling-quick": SweepPreset(alike({"kv-shift-8": _EIGHT_HEADS}, _shorter(500, 3e-3)), _TO_THE_END, 4, COUPLING),
    "coupling-paper": _at_paper_size(
        alike({"kv-shift-16": PAPER_MODEL.model_copy(update={"mlp_width": 0})}, PAPER_TRAINING), COUPLING, _TO_THE_END
    ),
}
