"""The settings of the comparison at two sizes; no torch."""

from dynamics.comparison_record import Settings
from dynamics.config import ModelConfig
from dynamics.text_needles import VOCAB
from dynamics.text_settings import TextTraining


def preset(corpus: str, seeds: int, quick: bool) -> Settings:
    """Full: the paper's architecture, four vanilla ALiBi layers; quick: two layers with KV shifting, which learn to
    retrieve in a tenth of the steps. Args: corpus, the hash of the text; seeds."""
    if quick:
        return Settings(
            config=_config(n_layers=2, shift="kv"),
            training=TextTraining(corpus=corpus, lengths=((64, 150), (128, 50))),
            seeds=seeds, context=128, budgets=("1/2", "1/4"), text_rows=16, needle_rows=16, pairs=4, draws=1,
        )  # fmt: skip
    return Settings(config=_config(n_layers=4, shift="none"), training=TextTraining(corpus=corpus), seeds=seeds)


def _config(n_layers: int, shift: str) -> ModelConfig:
    return ModelConfig.checked(
        {"vocab": VOCAB, "width": 64, "n_heads": 8, "n_layers": n_layers, "mlp_width": 128, "shift": shift,
         "position": "alibi"}
    )  # fmt: skip
