"""Sweeps by name. Figure 1a of the KV-shifting paper at a size where a vanilla model gets there on a CPU.

Only the last token of a row is scored, so a vanilla model sits on the plateau of guessing a token of the context until
two layers have found each other. Vocabulary 32, pool 12 (rows of about 5 tokens), width 32, an MLP of 64 and learning
rate 1e-3 let two layers leave it; 0.003 does for some seeds only, 0.01 for none. Without the MLP, with ALiBi for RoPE,
or with vocabulary 64 and pool 16, two layers were still on it after 1500 steps of 64 rows.
Measured, 8 seeds, steps to 95 %: KV-shift 8 of 8, median 490, in two groups (120-160 and 820-1160); one vanilla layer
0 of 8 in 3000 (0.41-0.45 at the end); two layers 8 of 8, median 1140; four 8 of 8, median 1020.
"""

from typing import NamedTuple

from dynamics.config import ModelConfig, TrainConfig
from dynamics.sweep_job import Job, Measure


class SweepPreset(NamedTuple):
    """Models by name, the training they share, how they are scored, and how many seeds each has."""

    models: dict[str, ModelConfig]
    training: TrainConfig
    measure: Measure
    seeds: int

    def jobs(self, seeds: int | None = None) -> list[Job]:
        """A job a model and seed, seeds 0, 1, .."""
        return [
            Job(name=f"{name}.seed-{seed}", config=config, training=self.training.model_copy(update={"seed": seed}))
            for name, config in self.models.items()
            for seed in range(self.seeds if seeds is None else seeds)
        ]


_SMALL = ModelConfig(vocab=32, width=32, n_heads=2, mlp_width=64)
_FIGURE_1A = {
    "kv-shift": _SMALL,
    "vanilla-1": _SMALL.model_copy(update={"shift": "none"}),
    "vanilla-2": _SMALL.model_copy(update={"shift": "none", "n_layers": 2}),
    "vanilla-4": _SMALL.model_copy(update={"shift": "none", "n_layers": 4}),
}
_TRAINING = TrainConfig(steps=3000, batch=64, learning_rate=1e-3, pool=12, heldout_rows=1024)

SWEEPS = {
    "figure-1a": SweepPreset(_FIGURE_1A, _TRAINING, Measure(every=20), 8),
    "figure-1a-quick": SweepPreset(_FIGURE_1A, _TRAINING.model_copy(update={"steps": 2000}), Measure(every=50), 1),
}
