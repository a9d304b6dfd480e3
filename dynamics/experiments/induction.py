"""Figures 1a, 1b and 7a of the KV-shifting paper on its induction task: at a size for a CPU, and at the paper's.

Only the last token of a row is scored, so a vanilla model sits on the plateau of guessing a token of the context until
two layers have found each other. Vocabulary 32, pool 12 (rows of about 5 tokens), width 32, an MLP of 64 and learning
rate 1e-3 let two layers leave it; 0.003 does for some seeds only, 0.01 for none. One seed each: without the MLP two
layers were still on it after 3000 steps of 64 rows (0.48), with vocabulary 64 and pool 12 or 16 after 5000 (0.46 and
0.38); with ALiBi for RoPE they take 2750. With vocabulary 128, width 64, an MLP of 128 and 128 rows a step they reach
0.94 in 5000 steps, one layer with KV shifting 0.95 in 250. Four heads make it likely that one starts near (alpha1,
beta1) = (0, 1): KV shifting then needs 200-360 steps, with two heads 120-1160, in two groups. A head of size 2 (width
8, four heads) does not learn; width 8 therefore sets two heads for all of Figure 1b.
Measured, 8 seeds, median steps to 95 % (interval), within 3000: KV shifting 240 (200-280); one vanilla layer none, at
0.44-0.46; two 1470 (1300-1580); four 1260 (1140-1380). Within 2500 at widths 8, 16, 32, 64: KV shifting 5 of 8 seeds,
then all, medians 1600, 440, 490, 280; two vanilla layers 0, 3, 8, 5 seeds, medians none, none, 1140, 2290.
"""

from dynamics.experiments import SweepPreset, Variant, alike
from dynamics.model.config import SMALL, ModelConfig
from dynamics.sweep.record import Measure
from dynamics.training.settings import SMALL_TRAINING, TrainConfig

_TRAINING = SMALL_TRAINING.model_copy(update={"heldout_rows": 1024})

# Section 3.2 and Appendix K: about 20M parameters without the embedding, 8 GPUs with 512 rows, 2e-4 after 1000 steps.
_PAPER = ModelConfig(vocab=8000, width=1024, n_heads=16, mlp_width=5120)
_PAPER_NARROW = ModelConfig(vocab=8000, width=8, n_heads=2, mlp_width=64)
_PAPER_TRAINING = TrainConfig(steps=10_000, batch=4096, learning_rate=2e-4, warmup=1000, weight_decay=0.1)
# The rows of one of the paper's eight GPUs. A state takes 340 MB: in this preset only the clock writes one.
_EIGHTH = _PAPER_TRAINING.model_copy(update={"batch": 512, "heldout_rows": 1024})

DEPTH = "Figure 1a: learning induction, one layer with KV shifting against 1, 2 and 4 vanilla layers"
AGAINST_TWO = "Figure 1a: learning induction, one layer with KV shifting against two vanilla layers"
WIDTH = "Figure 1b: learning induction by width, one layer with KV shifting against two vanilla layers"
SHIFT = "Figure 7a on the induction task: one layer with keys, values or queries shifted"


def by_depth(base: ModelConfig) -> dict[str, ModelConfig]:
    """The four models of Figure 1a."""
    vanilla = {f"vanilla-{layers}": {"shift": "none", "n_layers": layers} for layers in (1, 2, 4)}
    return {"kv-shift": base} | {name: base.model_copy(update=changes) for name, changes in vanilla.items()}


SHIFTS = ("none", "k", "v", "kv", "qkv")
WIDTHS = (8, 16, 32, 64)


def by_width(base: ModelConfig, training: TrainConfig, widths: tuple[int, ...]) -> dict[str, Variant]:
    """Figure 1b: one layer with KV shifting and two vanilla layers at each width."""
    models = {"kv-shift": {}, "vanilla-2": {"shift": "none", "n_layers": 2}}
    return {
        f"{name}.width-{width}": Variant(base.model_copy(update=changes | {"width": width}), training)
        for name, changes in models.items()
        for width in widths
    }


def by_shift(base: ModelConfig) -> dict[str, ModelConfig]:
    """Figure 7a: one layer whose keys, values, queries are mixed or not."""
    return {shift: base.model_copy(update={"shift": shift}) for shift in SHIFTS}


def _with(steps: int) -> TrainConfig:
    return _TRAINING.model_copy(update={"steps": steps})


_NARROW = SMALL.model_copy(update={"n_heads": 2})

PRESETS = {
    "figure-1a": SweepPreset(alike(by_depth(SMALL), _with(3000)), Measure(every=20, stop_at=0.99), 8, DEPTH),
    "figure-1a-quick": SweepPreset(alike(by_depth(SMALL), _with(2000)), Measure(every=50), 1, DEPTH),
    "figure-1a-paper": SweepPreset(
        alike(by_depth(_PAPER), _PAPER_TRAINING), Measure(every=50), 8, f"{DEPTH}, the paper's size", "bfloat16"
    ),
    "figure-1a-eighth": SweepPreset(
        {name: Variant(by_depth(_PAPER)[name], _EIGHTH) for name in ("kv-shift", "vanilla-2")},
        Measure(every=50, save_every=100_000), 1, f"{AGAINST_TWO}, an eighth of the paper's rows", "bfloat16",
    ),
    "figure-1b": SweepPreset(by_width(_NARROW, _with(2500), WIDTHS), Measure(every=20), 8, WIDTH),
    "figure-1b-quick": SweepPreset(by_width(_NARROW, _with(2000), (8, 32)), Measure(every=50), 1, WIDTH),
    "figure-1b-paper": SweepPreset(
        by_width(_PAPER_NARROW, _PAPER_TRAINING, (8, 16, 32, 64, 128)),
        Measure(every=50), 8, f"{WIDTH}, the paper's task", "bfloat16",
    ),
    "figure-7a": SweepPreset(alike(by_shift(SMALL), _with(1500)), Measure(every=20), 8, SHIFT),
    "figure-7a-quick": SweepPreset(alike(by_shift(SMALL), _with(600)), Measure(every=20), 1, SHIFT),
}  # fmt: skip
