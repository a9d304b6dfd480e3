"""Train many models of one configuration at once - seeds, initial values, learning rates - each as if it were alone.

Every model sees the batches of its own seed, has its own AdamW moments and its own clipping: the result is that of
`train` in a loop, up to rounding (a matmul over stacked weights sums in another order, and rows are padded to the
longest of all models, which causality hides).
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from tqdm import tqdm

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.model.stacked import logits, stack, unstack
from dynamics.training.batches import heldout_rows, training_batch
from dynamics.training.collector import frozen_heap
from dynamics.training.evaluation import evaluate
from dynamics.training.interrupt import deferred_interrupt
from dynamics.training.loop import TrainResult, choose_device, device_name, learning_rate, refuse_global
from dynamics.training.settings import TrainConfig

Rows = tuple[Tensor, Tensor, Tensor]
OPTIMIZED = ("learning_rate", "warmup", "final_lr", "weight_decay", "beta2")


class Member(NamedTuple):
    """One model of the ensemble: its place in the caller's list, its settings and its initial model."""

    place: int
    training: TrainConfig
    model: InductionModel


def train_ensemble(
    config: ModelConfig,
    trainings: Sequence[TrainConfig],
    *,
    device: str = "auto",
    models: Sequence[InductionModel] | None = None,
    dtype: torch.dtype = torch.float32,
    chunk: int | None = None,
    compile: bool = False,
    progress: bool = True,
) -> list[TrainResult]:
    """Train one model for each of `trainings`; equal to `train(config, training)` for each, up to rounding.

    Args:
        config: the configuration all models share.
        trainings: at least one; steps and batch must agree, everything else may differ.
        models: initial models (left unchanged), default: drawn from each training's seed as `train` does.
        dtype: of the weights. chunk: models trained side by side, default `default_chunk`.
        compile: compile the step; pays where steps are many (a cold compile takes tens of seconds).
    Returns: a TrainResult for each of trainings, in their order; its seconds are a model's share of its chunk's.
    Raises: ValueError for settings that do not fit together; KeyboardInterrupt on Ctrl-C, between two steps.
    """
    _check(config, trainings, models, chunk)
    where, size = choose_device(device), chunk or default_chunk(config)
    members = sorted(_members(config, trainings, models), key=lambda member: _optimized(member.training))
    forward = torch.compile(losses, dynamic=True) if compile else losses
    results: dict[int, TrainResult] = {}
    steps = -(-len(members) // size) * trainings[0].steps
    with tqdm(total=steps, disable=None if progress else True, unit="step", mininterval=0.5) as bar:
        for start in range(0, len(members), size):
            part = members[start : start + size]
            results.update(_train_chunk(config, part, where, dtype, forward, bar))
    return [results[place] for place in range(len(trainings))]


def default_chunk(config: ModelConfig) -> int:
    """Return how many models to stack: as measured, 32 up to width 32; beyond, 8 keep the working set in cache."""
    return 32 if config.width <= 32 else 8


class Stack:
    """Stacked parameters with AdamW; `step` is `training.train_step` for all models at once.

    Members with equal optimizer settings should be neighbours: each run of them is one parameter group.
    """

    def __init__(self, members: Sequence[Member], device: torch.device, dtype: torch.dtype):
        self.config, self.trainings = members[0].model.config, [member.training for member in members]
        self.parameters = {
            name: p.detach().to(device, dtype).requires_grad_()
            for name, p in stack([member.model for member in members]).items()
        }
        self.clip = torch.tensor([training.clip for training in self.trainings], dtype=dtype, device=device)
        self.runs = _runs(self.trainings)
        self.views = [[p.detach()[run] for p in self.parameters.values()] for run in self.runs]
        self.optimizer = torch.optim.AdamW(
            [self._group(run, views) for run, views in zip(self.runs, self.views, strict=True)], fused=True
        )

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """What the optimizer changes, by name, where all members are one run: each parameter's own memory.

        Raises: ValueError for members whose optimizer settings differ.
        """
        if len(self.views) != 1:
            raise ValueError("models of other optimizer settings have no parameters in common")
        yield from zip(self.parameters, self.views[0], strict=True)

    def _group(self, run: slice, views: list[Tensor]) -> dict:
        training = self.trainings[run.start]
        return {
            "params": views,
            "lr": training.learning_rate,
            "betas": (0.9, training.beta2),
            "weight_decay": training.weight_decay,
        }

    def step(self, number: int, rows: Rows, forward: Callable) -> tuple[Tensor, Tensor]:
        """Take step `number` on rows as from `stacked_rows`; return losses and accuracies before it, (models,) each."""
        loss, accuracy = forward(self.config, self.parameters, *rows)
        for parameter in self.parameters.values():
            parameter.grad = None
        # Not autograd.grad: backward lays a gradient out as its parameter, which the fused kernel takes for granted.
        loss.sum().backward()
        gradients = [parameter.grad for parameter in self.parameters.values()]
        clip_each(gradients, self.clip)
        for group, run, views in zip(self.optimizer.param_groups, self.runs, self.views, strict=True):
            group["lr"] = learning_rate(self.trainings[run.start], number)
            for view, gradient in zip(views, gradients, strict=True):
                view.grad = gradient[run]
        self.optimizer.step()
        return loss.detach(), accuracy


def losses(
    config: ModelConfig, parameters: dict[str, Tensor], tokens: Tensor, query_index: Tensor, target: Tensor
) -> tuple[Tensor, Tensor]:
    """Mean cross-entropy and accuracy of every model on its own rows, (models,) each."""
    scores = logits(config, parameters, tokens, query_index)
    loss = F.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="none").view(target.shape).mean(1)
    scores = scores.detach()  # a maximum: a twentieth of the cost of an argmax
    return loss, (scores.gather(-1, target[..., None])[..., 0] >= scores.amax(-1)).float().mean(1)


def clip_each(gradients: Sequence[Tensor], most: Tensor) -> None:
    """Scale each model's gradient, in place, to a norm of at most `most` (models,), as clip_grad_norm_ does for one."""
    norms = torch.stack([torch.linalg.vector_norm(g.flatten(1), dim=1) for g in gradients])
    factor = (most / (torch.linalg.vector_norm(norms, dim=0) + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(factor.view(-1, *[1] * (gradient.ndim - 1)))


def stacked_rows(trainings: Sequence[TrainConfig], step: int, vocab: int, device: torch.device | str) -> Rows:
    """Draw the batch that each model's own run has at `step`, padded to the longest: tokens, query_index, target."""
    drawn = [training_batch(training, vocab, step) for training in trainings]
    longest = max(batch.tokens.shape[1] for batch in drawn)
    tokens = np.zeros((len(drawn), trainings[0].batch, longest), dtype=np.int64)
    for mine, batch in zip(tokens, drawn, strict=True):
        mine[:, : batch.tokens.shape[1]] = batch.tokens
    parts = (tokens, np.stack([b.query_index for b in drawn]), np.stack([b.target for b in drawn]))
    return tuple(torch.from_numpy(part).to(device) for part in parts)


def _train_chunk(config, members, device, dtype, forward, bar) -> dict[int, TrainResult]:
    models, start, curves = Stack(members, device, dtype), time.perf_counter(), []
    with frozen_heap(), deferred_interrupt() as asked:
        for step in range(members[0].training.steps):
            rows = stacked_rows(models.trainings, step, config.vocab, device)
            # Kept as tensors: reading them at each step would make a GPU wait.
            curves.append(torch.stack([part.double() for part in models.step(step, rows, forward)]))
            bar.update()
            if asked.is_set():
                raise KeyboardInterrupt
    seconds = (time.perf_counter() - start) / len(members)
    loss, accuracy = torch.stack(curves).cpu().permute(1, 2, 0).tolist()
    return {
        member.place: _result(member, unstack(config, models.parameters, n), loss[n], accuracy[n], seconds)
        for n, member in enumerate(members)
    }


def _result(
    member: Member, model: InductionModel, loss: list[float], accuracy: list[float], seconds: float
) -> TrainResult:
    training, model = member.training, model.eval()
    heldout = evaluate(model, heldout_rows(training, model.config.vocab))
    history = {"accuracy": accuracy, "loss": loss}
    return TrainResult(model, history, heldout, seconds, torch.get_num_threads(), device_name(model.embedding.device))


def _members(
    config: ModelConfig, trainings: Sequence[TrainConfig], models: Sequence[InductionModel] | None
) -> list[Member]:
    if models is None:
        # As `train`: drawn on the CPU, so that one seed means one model on every device.
        models = [InductionModel(config, torch.Generator().manual_seed(training.seed)) for training in trainings]
    return [Member(place, *pair) for place, pair in enumerate(zip(trainings, models, strict=True))]


def _optimized(training: TrainConfig) -> tuple[float, ...]:
    return tuple(getattr(training, name) for name in OPTIMIZED)


def _runs(trainings: Sequence[TrainConfig]) -> list[slice]:
    """Cut 0..n-1 into the longest runs of neighbours with equal optimizer settings."""
    keys = [_optimized(training) for training in trainings]
    starts = [n for n in range(len(keys)) if n == 0 or keys[n] != keys[n - 1]]
    return [slice(a, b) for a, b in zip(starts, [*starts[1:], len(keys)], strict=True)]


def _check(
    config: ModelConfig,
    trainings: Sequence[TrainConfig],
    models: Sequence[InductionModel] | None,
    chunk: int | None,
) -> None:
    if not trainings:
        raise ValueError("an ensemble needs at least one training")
    for name in ("steps", "batch"):
        found = sorted({getattr(training, name) for training in trainings})
        if len(found) > 1:
            raise ValueError(f"all models of an ensemble need the same {name}, got {found}")
    for training in trainings:
        training.task.check(config.vocab)
    refuse_global(config)
    if chunk is not None and chunk < 1:
        raise ValueError(f"chunk must be at least 1, got {chunk}")
    if models is not None and len(models) != len(trainings):
        raise ValueError(f"got {len(models)} initial models for {len(trainings)} trainings")
    if models is not None and any(model.config != config for model in models):
        raise ValueError("an initial model has another configuration than the ensemble")
