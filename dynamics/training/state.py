"""The state of an unfinished training run in one safetensors file: weights, AdamW moments, history, settings, digest.

Batches are functions of (seed, step), so the step number is all the random state there is.
"""

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from dynamics.files.atomic import atomic_write_bytes
from dynamics.files.strict_json import parse_object
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel, build
from dynamics.training.checkpoint import check_shapes, read_tensors
from dynamics.training.settings import TrainConfig, by_task

STATE = "state.safetensors"
SLOTS = ("step", "exp_avg", "exp_avg_sq")
History = dict[str, list[float]]
SOON = 1.0  # seconds: the clock asks for no state sooner than this after the last one
LOST = 0.05  # share of a run's time that a kill costs at most
COST = 0.05  # share of a run's time that writing states for the clock's sake may take


class StateKeeper:
    """Writes the state of a run every so many steps, and earlier if a kill would lose too much time."""

    def __init__(self, path: Path | None, every: int):
        """Args: path, None to write none; every, steps between states."""
        self._path, self._every = path, every
        self._start = self._saved = time.monotonic()
        self._cost = 0.0

    def keep(
        self,
        done: int,
        now: bool,
        model: InductionModel,
        optimizer: torch.optim.AdamW,
        training: TrainConfig,
        history: History,
    ) -> None:
        """Write the state after `done` steps if it is due, or `now`."""
        if self._path is None or not (now or done % self._every == 0 or self._late()):
            return
        before = time.monotonic()
        save_state(self._path, model, optimizer, training, history)
        self._saved = time.monotonic()
        self._cost = self._saved - before

    def _late(self) -> bool:
        now = time.monotonic()
        return now - self._saved >= max(SOON, LOST * (now - self._start), self._cost / COST)


def save_state(
    path: Path, model: InductionModel, optimizer: torch.optim.AdamW, training: TrainConfig, history: History
) -> None:
    """Write the whole state atomically; the number of finished steps is the length of the history."""
    tensors = {f"model.{name}": parameter.detach() for name, parameter in model.named_parameters()}
    for name, parameter in model.named_parameters():
        for slot in SLOTS:
            tensors[f"{slot}.{name}"] = optimizer.state[parameter][slot]
    for name, values in history.items():
        tensors[f"history.{name}"] = torch.tensor(values, dtype=torch.float64)
    tensors["settings"] = _bytes(_settings(model.config, training))
    # A copy each: safetensors refuses tensors that share memory, and the file must not follow later steps.
    tensors = {name: tensor.cpu().clone() for name, tensor in tensors.items()}
    tensors["sha256"] = _bytes(_digest(tensors))
    atomic_write_bytes(path, safetensors.torch.save(tensors))


def load_state(path: Path, model: InductionModel, optimizer: torch.optim.AdamW, training: TrainConfig) -> History:
    """Restore model and optimizer in place and return the history so far.

    Raises: ValueError, one plain line: no state to resume, a damaged file, or a run begun with other settings.
    """
    if not path.exists():
        raise ValueError(f"nothing to resume: {path} does not exist")
    tensors = _verified(path)
    _check_settings(bytes(tensors.pop("settings").tolist()), _settings(model.config, training), path)
    history = {name[8:]: tensors.pop(name).tolist() for name in sorted(tensors) if name.startswith("history.")}
    shapes = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    expected = {f"{slot}.{name}": shape for slot in ("model", *SLOTS[1:]) for name, shape in shapes.items()}
    check_shapes(tensors, expected | {f"step.{name}": () for name in shapes}, str(path))
    for name, parameter in model.named_parameters():
        parameter.data.copy_(tensors[f"model.{name}"])
        optimizer.state[parameter] = {slot: tensors[f"{slot}.{name}"].to(parameter.device) for slot in SLOTS}
    return history


def read_model(path: Path) -> tuple[InductionModel, TrainConfig, int]:
    """The model of an unfinished run, its settings and the number of finished steps.

    Raises: FileNotFoundError; ValueError, one plain line, for a damaged file.
    """
    tensors = _verified(path)
    if not {"settings", "history.loss"} <= tensors.keys():
        raise ValueError(f"{path}: not the state of a training")
    settings = by_task(parse_object(bytes(tensors.pop("settings").tolist()), str(path)))
    known = {name: value for name, value in settings.items() if name in ModelConfig.model_fields}
    rest = {name: value for name, value in settings.items() if name not in known}
    config, training = ModelConfig.checked(known, str(path)), TrainConfig.checked(rest, str(path))
    model = build(config, torch.Generator().manual_seed(training.seed))
    weights = {name[6:]: tensor for name, tensor in tensors.items() if name.startswith("model.")}
    check_shapes(weights, {name: tuple(one.shape) for name, one in model.named_parameters()}, str(path))
    for name, parameter in model.named_parameters():
        parameter.data.copy_(weights[name])
    return model, training, len(tensors["history.loss"])


def _verified(path: Path) -> dict[str, Tensor]:
    """The tensors of a state, its settings among them, as bytes."""
    tensors = read_tensors(path.read_bytes(), str(path))
    digest = bytes(tensors.pop("sha256", torch.zeros(0)).to(torch.uint8).tolist())
    if digest != _digest(tensors):
        raise ValueError(f"{path}: the contents do not match their sha256")
    return tensors


def _settings(config: ModelConfig, training: TrainConfig) -> bytes:
    return json.dumps({**config.model_dump(), **training.model_dump()}, sort_keys=True).encode()


def _check_settings(found: bytes, wanted: bytes, path: Path) -> None:
    old, new = (_flat(by_task(json.loads(settings))) for settings in (found, wanted))
    for name in new:
        if old.get(name) != new[name]:
            raise ValueError(f"{path}: the interrupted run has {name}={old.get(name)}, not {new[name]}")


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with those of the task, where there is one, among them."""
    rest = {name: value for name, value in settings.items() if name != "task"}
    return rest | {f"task.{name}": value for name, value in settings.get("task", {}).items()}


def _digest(tensors: dict[str, Tensor]) -> bytes:
    total = hashlib.sha256()
    for name in sorted(tensors):
        total.update(f"{name} {tensors[name].dtype} {tuple(tensors[name].shape)};".encode())
        total.update(tensors[name].contiguous().numpy().tobytes())
    return total.digest()


def _bytes(data: bytes) -> Tensor:
    return torch.tensor(list(data), dtype=torch.uint8)
