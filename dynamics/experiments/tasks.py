"""Tasks besides induction: 3-grams (Figure 9), k hops (Figure 8), associative recall with many queries (MQAR).

Figure 9: 200 of the 400 pairs of 20 tokens and nothing but the pair in a row. 0.8K parameters in one layer, 0.4M in two
and 50M in four are the paper's own sizes (792, 397,000 and 50.4 million here, norms and mixing aside); its vocabulary,
batch and rates are not given. Even 50M takes a CPU half a minute a run. `figure-9-text` puts six random tokens first;
`figure-9-sizes` varies what Appendix E.3 suspects to be the bottleneck.
Figure 8: two layers, one k a run and rows of at most 16 letters; the paper-size preset mixes k = 0..16 on 98 letters as
the cited code does, with as many scored positions a step as its 32 rows have.
MQAR: 4 pairs among 16 keys and 16 values; the paper-size preset has the largest setting of Zoology's Figure 2.
Measured, median steps to 95 %, KV-shift against vanilla of the same size: 3-grams 562 and 648 at 0.8K, 40 and 40 at
0.4M, 16 and 18 at 50M, in text 135 and 265; hops k = 1: 80 and 290, 2: 400 and > 2000, 3: 1670 and > 2000, 4: both
> 2000; MQAR with one layer 190 and > 3000, and 1850 for two vanilla layers.
"""

from dynamics.experiments import SweepPreset, Variant, alike
from dynamics.model.config import ModelConfig
from dynamics.sweep.record import Measure
from dynamics.tasks.hop import Hop
from dynamics.tasks.mqar import MQAR
from dynamics.tasks.trigram import Trigram
from dynamics.training.settings import TrainConfig

_PAIRS = Trigram(pairs=200, length=2)
TRIGRAM = {
    "0.8K": Variant(
        ModelConfig(vocab=31, width=8, n_heads=2, mlp_width=12),
        TrainConfig(task=_PAIRS, steps=2000, batch=64, learning_rate=1e-2, heldout_rows=1024),
    ),
    "0.4M": Variant(
        ModelConfig(vocab=31, width=128, n_heads=4, mlp_width=341, n_layers=2),
        TrainConfig(task=_PAIRS, steps=400, batch=64, learning_rate=3e-4, heldout_rows=1024),
    ),
    "50M": Variant(
        ModelConfig(vocab=31, width=1024, n_heads=16, mlp_width=2736, n_layers=4),
        TrainConfig(task=_PAIRS, steps=200, batch=64, learning_rate=2e-4, heldout_rows=200),
    ),
}
_TEXT = Variant(
    ModelConfig(vocab=31, width=32, n_heads=2, mlp_width=128),
    TrainConfig(task=Trigram(pairs=200, length=8), steps=1500, batch=64, learning_rate=3e-3, heldout_rows=1024),
)
_PAIR = _TEXT._replace(training=_TEXT.training.with_task(length=2))

_HOP = ModelConfig(vocab=24, width=32, n_heads=2, mlp_width=64, n_layers=2)
_HOP_TRAINING = TrainConfig(task=Hop(symbols=4, length=17), steps=2000, batch=64, learning_rate=3e-3, heldout_rows=1024)
HOPS = (1, 2, 3, 4)
_HOP_PAPER = ModelConfig(vocab=32, width=128, n_heads=4, mlp_width=512)
_HOP_PAPER_TRAINING = TrainConfig(
    task=Hop(symbols=4, hops=16, least_hops=0, length=99), steps=100_000, batch=32 * 98, learning_rate=1e-4,
    warmup=1000, final_lr=0.0, weight_decay=0.01, heldout_rows=16_384,
)  # fmt: skip

_MQAR = ModelConfig(vocab=43, width=32, n_heads=2, mlp_width=64)
_MQAR_TRAINING = TrainConfig(task=MQAR(pairs=4, length=16), steps=3000, batch=64, learning_rate=1e-3, heldout_rows=1024)
_MQAR_PAPER = ModelConfig(vocab=8192, width=128, n_heads=2, mlp_width=512)
_MQAR_PAPER_TRAINING = TrainConfig(
    task=MQAR(pairs=64, length=512), steps=50_000, batch=1024, learning_rate=1e-3, warmup=1000, weight_decay=0.1
)

FIGURE_9 = "Figure 9: steps to learn 200 3-grams, KV-shift against vanilla attention of the same size"
TEXT = "Figure 9, pairs in text: steps to learn 200 3-grams after six random tokens"
SIZES = "Appendix E.3: steps to learn 200 3-grams by width, MLP and attention, one layer"
FIGURE_8 = "Figure 8: steps to learn k hops with two layers, KV-shift against vanilla attention"
MQAR = "Associative recall with many queries: steps to learn it, KV-shift with one layer against vanilla attention"


def both(variants: dict[str, Variant]) -> dict[str, Variant]:
    """`kv-shift.<name>` and `vanilla.<name>` of every variant."""
    return {
        f"{kind}.{name}": Variant(config.model_copy(update={"shift": shift}), training)
        for name, (config, training) in variants.items()
        for kind, shift in (("kv-shift", "kv"), ("vanilla", "none"))
    }


def by_hops(config: ModelConfig, training: TrainConfig, hops: tuple[int, ...] = HOPS) -> dict[str, Variant]:
    """Both models for each k."""
    return both({f"k-{k}": Variant(config, training.with_task(hops=k)) for k in hops})


def by_layers(config: ModelConfig, training: TrainConfig, layers: tuple[int, ...]) -> dict[str, Variant]:
    """Both models at each depth."""
    return both({f"layers-{n}": Variant(config.model_copy(update={"n_layers": n}), training) for n in layers})


def by_size(base: ModelConfig) -> dict[str, ModelConfig]:
    """One vanilla layer, and one change of it each: mixed keys and values, more heads, a wider MLP, more width."""
    changes = {"vanilla": {}, "kv-shift": {"shift": "kv"}, "heads-4": {"n_heads": 4}, "mlp-48": {"mlp_width": 48}}
    changes["width-16"] = {"width": 16}
    return {name: base.model_copy(update={"shift": "none"} | change) for name, change in changes.items()}


def by_depth(base: ModelConfig) -> dict[str, ModelConfig]:
    """KV-shift with one layer, vanilla with one and two."""
    vanilla = {f"vanilla-{n}": base.model_copy(update={"shift": "none", "n_layers": n}) for n in (1, 2)}
    return {"kv-shift": base} | vanilla


def _shorter(training: TrainConfig, steps: int) -> TrainConfig:
    return training.model_copy(update={"steps": steps})


_ON_A_CPU = both({size: TRIGRAM[size] for size in ("0.8K", "0.4M")})
_SMALLEST, _SMALLEST_TRAINING = TRIGRAM["0.8K"]

PRESETS = {
    "figure-9": SweepPreset(_ON_A_CPU, Measure(every=5), 16, FIGURE_9),
    "figure-9-quick": SweepPreset(_ON_A_CPU, Measure(every=50), 1, FIGURE_9),
    "figure-9-50m": SweepPreset(both({"50M": TRIGRAM["50M"]}), Measure(every=3), 8, f"{FIGURE_9}, 50M parameters"),
    "figure-9-paper": SweepPreset(both(TRIGRAM), Measure(every=5), 16, f"{FIGURE_9}, all three sizes"),
    "figure-9-text": SweepPreset(both({"text": _TEXT, "pair": _PAIR}), Measure(every=5), 8, TEXT),
    "figure-9-sizes": SweepPreset(alike(by_size(_SMALLEST), _SMALLEST_TRAINING), Measure(every=10), 8, SIZES),
    "hop-k": SweepPreset(by_hops(_HOP, _HOP_TRAINING), Measure(every=20), 8, FIGURE_8),
    "hop-k-quick": SweepPreset(by_hops(_HOP, _shorter(_HOP_TRAINING, 600), (1, 2)), Measure(every=50), 1, FIGURE_8),
    "hop-k-paper": SweepPreset(
        by_layers(_HOP_PAPER, _HOP_PAPER_TRAINING, (2, 3, 4, 5, 6)), Measure(every=1000), 3, f"{FIGURE_8}: k = 0..16"
    ),
    "mqar": SweepPreset(alike(by_depth(_MQAR), _MQAR_TRAINING), Measure(every=20), 8, MQAR),
    "mqar-quick": SweepPreset(alike(by_depth(_MQAR), _shorter(_MQAR_TRAINING, 1000)), Measure(every=50), 1, MQAR),
    "mqar-paper": SweepPreset(
        alike(by_depth(_MQAR_PAPER), _MQAR_PAPER_TRAINING), Measure(every=100), 8, f"{MQAR}, Zoology's size", "bfloat16"
    ),
}
