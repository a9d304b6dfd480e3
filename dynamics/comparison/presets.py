"""The settings of the comparison at two sizes; no torch."""

from dynamics.comparison.record import Settings
from dynamics.model.config import ModelConfig
from dynamics.tasks.needles import VOCAB
from dynamics.training.text_settings import TextTraining


def preset(corpus: str, seeds: int, quick: bool) -> Settings:
    """Four ALiBi layers of eight heads with KV shifting, or two for --quick. Args: corpus, the hash of the text; seeds.

    Shifted keys make heads learn to retrieve within some dozens of steps; without them hundreds do not suffice here.
    """
    if quick:
        return Settings(
            config=_config(n_layers=2),
            training=TextTraining(corpus=corpus, lengths=((64, 100), (128, 50))),
            seeds=seeds, context=128, budgets=("1/2", "1/4"), text_rows=16, needle_rows=16, pairs=4, draws=1,
        )  # fmt: skip
    return Settings(config=_config(n_layers=4), training=TextTraining(corpus=corpus), seeds=seeds)


def _config(n_layers: int) -> ModelConfig:
    return ModelConfig.checked(
        {"vocab": VOCAB, "width": 96, "n_heads": 8, "n_layers": n_layers, "mlp_width": 192, "shift": "kv",
         "position": "alibi"}
    )  # fmt: skip
