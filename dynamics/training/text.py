"""Train a small model on the next byte of text that hides needles; a resumed run equals an uninterrupted one."""

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import tqdm

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.tasks.corpus import Corpus
from dynamics.tasks.needles import ANSWER, TEXT, VOCAB, Windows, training_windows
from dynamics.training.collector import frozen_heap
from dynamics.training.evaluation import training_rng
from dynamics.training.interrupt import deferred_interrupt
from dynamics.training.loop import choose_device, device_name, learning_rate, make_optimizer, refuse_global
from dynamics.training.state import STATE, History, StateKeeper, load_state
from dynamics.training.text_settings import TextTraining


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
    save_every: int = 50,
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
    state, history = None if out is None else Path(out) / STATE, {"answer": [], "text": []}
    if state is not None and state.exists():
        history = load_state(state, model, optimizer, training, history)
    seconds = _run(model, optimizer, training, corpus, history, StateKeeper(state, save_every), progress)
    return TextResult(model.eval(), history, seconds, torch.get_num_threads(), device_name(model.embedding.device))


def text_losses(model: InductionModel, windows: Windows) -> tuple[Tensor, Tensor, Tensor]:
    """Cross-entropy in nats and hits of each target, (rows, length), and what the target is."""
    tokens, kind = (torch.from_numpy(part).to(model.embedding.device) for part in windows)
    logits, target = model(tokens[:, :-1]), tokens[:, 1:]
    losses = F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none").view(target.shape)
    return losses, logits.argmax(-1) == target, kind[:, 1:]


def _run(
    model: InductionModel,
    optimizer: torch.optim.AdamW,
    training: TextTraining,
    corpus: Corpus,
    history: History,
    keeper: StateKeeper,
    progress: bool,
) -> float:
    first, start = len(history["text"]), time.perf_counter()
    bar = tqdm(total=training.steps, initial=first, disable=None if progress else True, unit="step", mininterval=0.5)
    with frozen_heap(), deferred_interrupt() as asked, bar:
        for step in range(first, training.steps):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(training, step)
            text, answer = _step(model, optimizer, training, corpus.training, step)
            history["text"].append(text)
            history["answer"].append(answer)
            bar.update()
            bar.set_postfix(text=f"{text:.3f}", answer=f"{answer:.3f}", refresh=False)
            last = step + 1 == training.steps
            keeper.keep(step + 1, asked.is_set() or last, model, optimizer, training, history)
            if asked.is_set():
                raise KeyboardInterrupt
    return time.perf_counter() - start


def _step(
    model: InductionModel, optimizer: torch.optim.AdamW, training: TextTraining, text: np.ndarray, step: int
) -> tuple[float, float]:
    length = training.length_at(step)
    rng, rows = training_rng(training.seed, step), training.tokens // length
    windows = training_windows(rng, text, rows, length, training.needle_share, training.spacing)
    losses, _, kind = text_losses(model, windows)
    # A batch without needles has no answers: their mean is then an empty sum, 0.
    means = [losses[kind == wanted].sum() / (kind == wanted).sum().clamp(min=1) for wanted in (TEXT, ANSWER)]
    optimizer.zero_grad(set_to_none=True)
    (means[0] + training.needle_weight * means[1]).backward()
    nn.utils.clip_grad_norm_(model.parameters(), training.clip)
    optimizer.step()
    return means[0].item(), means[1].item()
