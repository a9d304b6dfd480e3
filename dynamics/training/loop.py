"""Train an InductionModel on the induction task or a neighbour; a resumed run equals an uninterrupted one."""

import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn
from tqdm import tqdm

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel, build
from dynamics.model.linear_cross_entropy import linear_cross_entropy
from dynamics.training.batches import heldout_rows, training_batch
from dynamics.training.collector import frozen_heap
from dynamics.training.evaluation import Evaluation, as_tensors, evaluate
from dynamics.training.interrupt import deferred_interrupt
from dynamics.training.settings import TrainConfig
from dynamics.training.state import STATE, History, StateKeeper, device_name, load_state

Each = Callable[[int, InductionModel], None]


class TrainResult(NamedTuple):
    """A trained model, its loss and accuracy per step, its held-out score, and what the run took.

    history: "loss" and "accuracy" of each step's batch before the update: of rows drawn for that step, some of which
    a small task may have drawn before. seconds: of the training loop alone, in this process.
    """

    model: InductionModel
    history: History
    heldout: Evaluation
    seconds: float
    threads: int
    device: str


def train(
    config: ModelConfig,
    training: TrainConfig,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    device: str = "auto",
    save_every: int = 200,
    progress: bool = True,
    each: Each | None = None,
) -> TrainResult:
    """Train with AdamW, warm-up and cosine decay on batches of the training's task.

    Args: out, the folder for state.safetensors (None: no state is kept); resume, continue from it; save_every, steps
        between states, which are also written within seconds; device "auto" takes a GPU where there is one; each, what
        to call before every step and after the last with the number of updates done and the model, which it must leave
        as it is (`dynamics.observed.undisturbed`). The thread count is torch's own.
    Returns: TrainResult; the same settings and thread count give the same bits on a CPU, interrupted or not.
    Raises: ValueError for settings that do not fit together or a state that cannot be resumed; KeyboardInterrupt on
        Ctrl-C, after the running step is finished and the state saved.
    """
    _check(config, training, out, resume)
    model, optimizer = _start(config, training, choose_device(device))
    state = None if out is None else Path(out) / STATE
    history: History = {"accuracy": [], "loss": []}
    if resume:
        history = load_state(state, model, optimizer, training, history)
    keeper = StateKeeper(state, save_every, model, optimizer, training)
    step = partial(_step, model, optimizer, training, each)
    seconds = run_steps(step, optimizer, training, history, keeper, progress)
    heldout = evaluate(model.eval(), heldout_rows(training, config.vocab))
    return TrainResult(model, history, heldout, seconds, torch.get_num_threads(), device_name(model.embedding.device))


def learning_rate(training: TrainConfig, step: int) -> float:
    """Peak rate times min(1, (step+1)/warmup) times a cosine from 1 at step 0 to final_lr at the last step."""
    warm = min(1.0, (step + 1) / training.warmup) if training.warmup else 1.0
    cosine = 0.5 * (1 + math.cos(math.pi * step / training.steps))
    return training.learning_rate * warm * (training.final_lr + (1 - training.final_lr) * cosine)


def train_step(
    model: InductionModel, optimizer: torch.optim.Optimizer, rows: tuple[Tensor, Tensor, Tensor], clip: float
) -> tuple[float, float]:
    """Take one step on the cross-entropy at the scored position; return loss and accuracy before it.

    Args: rows, (tokens, query_index, target) as from `as_tensors`; clip, the largest norm of the gradient.
    """
    tokens, query_index, target = rows
    loss, accuracy = linear_cross_entropy(model.features(tokens, query_index), model.unembedding, target)
    descend(model, optimizer, loss, clip)
    return loss.item(), accuracy.item()


def descend(model: InductionModel, optimizer: torch.optim.Optimizer, loss: Tensor, clip: float) -> None:
    """Take one step down the loss, its gradient clipped to this norm."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()


def set_rate(optimizer: torch.optim.Optimizer, training: TrainConfig, step: int) -> None:
    """Give the optimizer the learning rate of a step."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(training, step)


def make_optimizer(model: InductionModel, training: TrainConfig) -> torch.optim.AdamW:
    """Return fused AdamW with betas (0.9, beta2)."""
    return torch.optim.AdamW(
        model.parameters(),
        lr=training.learning_rate,
        betas=(0.9, training.beta2),
        weight_decay=training.weight_decay,
        fused=True,
    )


def refuse_global(config: ModelConfig) -> None:
    """Raises ValueError for a model that would see, at the scored token, what comes after it."""
    if not config.causal:
        raise ValueError("a model that is not causal sees the tokens after the scored one: it cannot be trained here")


def choose_device(device: str) -> torch.device:
    """Resolve "auto", "cpu", "cuda" or "cuda:N"; ValueError for a device that is not there."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError:
        raise ValueError(f"device must be auto, cpu or cuda[:N], got {device!r}") from None
    if chosen.type not in ("cpu", "cuda"):
        raise ValueError(f"device must be auto, cpu or cuda[:N], got {device!r}")
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise ValueError(f"no device {device}: this machine has {torch.cuda.device_count()} CUDA devices")
    return chosen


def _check(config: ModelConfig, training: TrainConfig, out: str | Path | None, resume: bool) -> None:
    training.task.check(config.vocab)
    refuse_global(config)
    if resume and out is None:
        raise ValueError("resume needs the folder of the interrupted run")


def _start(
    config: ModelConfig, training: TrainConfig, device: torch.device
) -> tuple[InductionModel, torch.optim.AdamW]:
    # Initial weights are drawn on the CPU: one seed means one model on every device.
    model = build(config, torch.Generator().manual_seed(training.seed)).to(device).train()
    return model, make_optimizer(model, training)


def _step(
    model: InductionModel, optimizer: torch.optim.AdamW, training: TrainConfig, each: Each | None, number: int
) -> dict[str, float]:
    if each is not None:
        each(number, model)
    batch = as_tensors(training_batch(training, model.config.vocab, number), model.embedding.device)
    loss, accuracy = train_step(model, optimizer, batch, training.clip)
    if each is not None and number + 1 == training.steps:
        each(training.steps, model)
    return {"accuracy": accuracy, "loss": loss}


def run_steps(
    step: Callable[[int], dict[str, float]],
    optimizer: torch.optim.AdamW,
    training: TrainConfig,
    history: History,
    keeper: StateKeeper,
    progress: bool,
) -> float:
    """Take the steps that the history has not, each at its learning rate; what they return goes into the history.

    Args: keeper, of the state; progress, whether a bar is wanted elsewhere than on a terminal.
    Returns: seconds. Raises: KeyboardInterrupt on Ctrl-C, with the state saved.
    """
    first, start = len(next(iter(history.values()))), time.perf_counter()
    bar = tqdm(total=training.steps, initial=first, disable=None if progress else True, unit="step", mininterval=0.5)
    with frozen_heap(), deferred_interrupt() as asked, bar:
        for number in range(first, training.steps):
            set_rate(optimizer, training, number)
            values = step(number)
            for name, value in values.items():
                history[name].append(value)
            bar.update()
            bar.set_postfix({name: f"{value:.3f}" for name, value in values.items()}, refresh=False)
            # The last step too: an interruption while the result is scored or written then costs nothing.
            keeper.keep(number + 1, asked, history, last=number + 1 == training.steps)
    return time.perf_counter() - start
