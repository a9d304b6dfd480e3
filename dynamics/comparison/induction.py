"""Two vanilla ALiBi layers trained on the induction task, and their attention against the scopes.

Without shifted keys the bounds of `theory.alibi` are the heads' own, attained where it says so.
"""

from pathlib import Path

import numpy as np

from dynamics.comparison.by_distance import EPS, MeasuredScopes, head_scopes, largest_weights
from dynamics.files.shipped import FOLDER
from dynamics.model.config import ModelConfig
from dynamics.tasks.needles import TEXT, Windows
from dynamics.tasks.task import Batch
from dynamics.training.batches import heldout_rows
from dynamics.training.loop import train
from dynamics.training.settings import TrainConfig
from dynamics.training.state import STATE

CONFIG = ModelConfig(vocab=540, n_layers=2, shift="none", position="alibi")
TRAINING = TrainConfig(steps=2400, batch=64, learning_rate=4e-3, final_lr=0.1)
SEEDS, ROWS, LEAST = 2, 2000, 16
SHIPPED = FOLDER / "comparison" / "attention_by_distance_induction.json"


def induction_scopes(folder: Path, device: str, bar: bool) -> tuple[MeasuredScopes, list[float]]:
    """Train (or go on training) in folder/seed-N; attention on held-out rows, and held-out accuracies."""
    heads, accuracy, windows = [], [], []
    for seed in range(SEEDS):
        settings, place = TRAINING.model_copy(update={"seed": seed}), folder / f"seed-{seed}"
        resume = (place / STATE).exists()
        result = train(CONFIG, settings, out=place, resume=resume, device=device, progress=bar)
        windows = by_length(heldout_rows(settings, CONFIG.vocab, ROWS))
        heads += head_scopes(result.model, seed, largest_weights(result.model, windows))
        accuracy.append(result.heldout.accuracy)
    context = max(len(head.largest) for head in heads)
    rows = sum(len(batch.tokens) for batch in windows)
    return MeasuredScopes(eps=EPS, corpus="induction task", windows=rows, context=context, heads=tuple(heads)), accuracy


def by_length(batch: Batch) -> list[Windows]:
    """Rows of at least LEAST tokens, those of one length together, each followed by its answer."""
    found = []
    for length in range(LEAST, int(batch.lengths.max()) + 1):
        chosen = batch.lengths == length
        if chosen.any():
            tokens = np.concatenate([batch.tokens[chosen, :length], batch.target[chosen, None]], axis=1)
            found.append(Windows(tokens, np.full_like(tokens, TEXT)))
    return found
