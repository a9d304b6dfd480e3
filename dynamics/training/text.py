"""Train a small model on the next byte of text that hides needles; a resumed run equals an uninterrupted one."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.tasks.corpus import Corpus
from dynamics.tasks.needles import ANSWER, TEXT, VOCAB, Windows, training_windows
from dynamics.training.evaluation import training_rng
from dynamics.training.loop import choose_device, descend, device_name, make_optimizer, refuse_global, run_steps
from dynamics.training.state import STATE, History, StateKeeper
from dynamics.training.text_settings import TextTraining

SAVE_EVERY = 50


class TextResult(NamedTuple):
    """A trained model and, for each step before its update, the loss of text and of answers in nats."""

    model: InductionModel
    history: History
    seconds: float
    threads: int
    device: str


def train_text(
    config: ModelConfig,
    training: TextTraining,
    corpus: Corpus,
    *,
    out: str | Path | None = None,
    device: str = "auto",
    progress: bool = True,
) -> TextResult:
    """Train on the corpus; with `out`, keep the state there and continue from one that is already there.

    Raises: ValueError for another vocabulary or corpus than the settings name, or a state of other settings;
        KeyboardInterrupt on Ctrl-C, after the running step is finished and the state saved.
    """
    refuse_global(config)
    if config.vocab != VOCAB:
        raise ValueError(f"vocab must be {VOCAB}, bytes and needles, got {config.vocab}")
    if corpus.sha256 != training.corpus:
        raise ValueError(f"the text is {corpus.sha256[:12]}.., the settings are for {training.corpus[:12]}..")
    model = InductionModel(config, torch.Generator().manual_seed(training.seed)).to(choose_device(device)).train()
    optimizer = make_optimizer(model, training)
    keeper = StateKeeper(None if out is None else Path(out) / STATE, SAVE_EVERY, model, optimizer, training)
    history = keeper.resumed({"answer": [], "text": []})
    step = partial(_step, model, optimizer, training, corpus.training)
    seconds = run_steps(step, optimizer, training, history, keeper, progress)
    return TextResult(model.eval(), history, seconds, torch.get_num_threads(), device_name(model.embedding.device))


def text_losses(model: InductionModel, windows: Windows) -> tuple[Tensor, Tensor, Tensor]:
    """Cross-entropy in nats and hits of each target, (rows, length), and what the target is."""
    tokens, kind = (torch.from_numpy(part).to(model.embedding.device) for part in windows)
    logits, target = model(tokens[:, :-1]), tokens[:, 1:]
    losses = F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none").view(target.shape)
    return losses, logits.argmax(-1) == target, kind[:, 1:]


def _step(
    model: InductionModel, optimizer: torch.optim.AdamW, training: TextTraining, text: np.ndarray, step: int
) -> dict[str, float]:
    length = training.length_at(step)
    rng, rows = training_rng(training.seed, step), training.tokens // length
    windows = training_windows(rng, text, rows, length, training.needle_share, training.spacing)
    losses, _, kind = text_losses(model, windows)
    # A batch without needles has no answers: their mean is then an empty sum, 0.
    means = [losses[kind == wanted].sum() / (kind == wanted).sum().clamp(min=1) for wanted in (TEXT, ANSWER)]
    descend(model, optimizer, means[0] + training.needle_weight * means[1], training.clip)
    return {"answer": means[1].item(), "text": means[0].item()}
