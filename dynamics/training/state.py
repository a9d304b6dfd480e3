"""The state of an unfinished training run in one safetensors file: weights, AdamW moments, history, settings, digest.

It names the environment that its numbers depend on as well: threads, device, versions of torch and of this package.
Batches are functions of (seed, step), so the step number is all the random state there is.
"""

import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from dynamics.files.atomic import atomic_write_bytes
from dynamics.files.manifest import package_version
from dynamics.files.strict_json import parse_object
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel, build
from dynamics.training.checkpoint import check_shapes, read_tensors
from dynamics.training.settings import TrainConfig, by_task

STATE = "state.safetensors"
SLOTS = ("step", "exp_avg", "exp_avg_sq")
ENVIRONMENT = "environment"
WAY_OUT = "; go on with the same --threads, --device and versions, or begin anew: --overwrite, or another folder"
History = dict[str, list[float]]
SOON = 1.0  # seconds: the clock asks for no state sooner than this after the last one
LOST = 0.05  # share of a run's time that a kill costs at most
COST = 0.05  # share of a run's time that writing states for the clock's sake may take


class StateKeeper:
    """Writes the state of a run every so many steps, and earlier if a kill would lose too much time."""

    def __init__(
        self,
        path: Path | None,
        every: int,
        model: InductionModel,
        optimizer: torch.optim.AdamW,
        training: TrainConfig,
    ):
        """Args: path, None to write none; every, steps between states; the others: as `save_state`."""
        self._path, self._every, self._run = path, every, (model, optimizer, training)
        self._start = self._saved = time.monotonic()
        self._cost = 0.0

    def resumed(self, empty: History, scored: Sequence[int] = ()) -> History:
        """As `load_state` where there is a state, else the empty history."""
        there = self._path is not None and self._path.exists()
        return load_state(self._path, *self._run, empty, scored) if there else empty

    def keep(self, done: int, asked: Event, history: History, last: bool = False) -> None:
        """Write the state after `done` steps if it is due, the last one, or asked for by Ctrl-C, which then ends it."""
        due = asked.is_set() or last or done % self._every == 0 or self._late()
        if self._path is not None and due:
            before = time.monotonic()
            save_state(self._path, *self._run, history)
            self._saved = time.monotonic()
            self._cost = self._saved - before
        if asked.is_set():
            raise KeyboardInterrupt

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
    tensors["settings"] = _bytes(json.dumps(_settings(model, training)).encode())
    # A copy each: safetensors refuses tensors that share memory, and the file must not follow later steps.
    tensors = {name: tensor.cpu().clone() for name, tensor in tensors.items()}
    tensors["sha256"] = _bytes(_digest(tensors))
    atomic_write_bytes(path, safetensors.torch.save(tensors))


def load_state(
    path: Path,
    model: InductionModel,
    optimizer: torch.optim.AdamW,
    training: TrainConfig,
    empty: History,
    scored: Sequence[int] = (),
) -> History:
    """Restore model and optimizer in place and return the history so far.

    Args: empty, the history of a new run: "done" has an entry a step and the others one a score, or without a "done"
        all have one a step; scored, the steps after which there are scores.
    Raises: ValueError, one plain line: no state to resume, a damaged file, or a run begun with other settings or in
        another environment. A state that names no environment, of an earlier version, is read.
    """
    if not path.exists():
        raise ValueError(f"nothing to resume: {path} does not exist")
    tensors, settings, history = _read(path)
    _check_settings(settings, _settings(model, training), path)
    done = _counted(history, empty, scored, getattr(training, "training", training).steps, path)
    shapes = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    expected = {f"{slot}.{name}": shape for slot in ("model", *SLOTS[1:]) for name, shape in shapes.items()}
    check_shapes(tensors, expected | {f"step.{name}": () for name in shapes}, str(path))
    for name, parameter in model.named_parameters():
        slots = {slot: tensors[f"{slot}.{name}"].to(parameter.device, parameter.dtype) for slot in SLOTS}
        if slots["step"] != done or (slots["exp_avg_sq"] < 0).any():
            raise ValueError(f"{path}: the moments of {name} are not those after {done} steps")
        parameter.data.copy_(tensors[f"model.{name}"])
        optimizer.state[parameter] = slots
    return history


def read_model(path: Path) -> tuple[InductionModel, TrainConfig, int]:
    """The model of an unfinished run, its settings and the number of finished steps.

    Raises: FileNotFoundError; ValueError, one plain line, for a damaged file.
    """
    tensors, settings, history = _read(path)
    settings.pop(ENVIRONMENT, None)
    known = {name: value for name, value in settings.items() if name in ModelConfig.model_fields}
    rest = {name: value for name, value in settings.items() if name not in known}
    config, training = ModelConfig.checked(known, str(path)), TrainConfig.checked(rest, str(path))
    model = build(config, torch.Generator().manual_seed(training.seed))
    weights = {name[6:]: tensor for name, tensor in tensors.items() if name.startswith("model.")}
    check_shapes(weights, {name: tuple(one.shape) for name, one in model.named_parameters()}, str(path))
    for name, parameter in model.named_parameters():
        parameter.data.copy_(weights[name])
    return model, training, _counted(history, {"accuracy": [], "loss": []}, (), training.steps, path)


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any], History]:
    """The tensors of a state whose digest is right, its settings and its history."""
    tensors = read_tensors(path.read_bytes(), str(path))
    if _text(tensors.pop("sha256", torch.zeros(0))) != _digest(tensors):
        raise ValueError(f"{path}: the contents do not match their sha256")
    settings = by_task(parse_object(_text(tensors.pop("settings", torch.zeros(0))), f"{path}: settings"))
    names = sorted(name for name in tensors if name.startswith("history."))
    history = {name.removeprefix("history."): tensors.pop(name).flatten().tolist() for name in names}
    return tensors, settings, history


def _counted(history: History, empty: History, scored: Sequence[int], last: int, path: Path) -> int:
    """The number of finished steps. Raises: ValueError, one line, for a history that no run has after so many."""
    each = ["done"] if "done" in empty else list(empty)
    done = len(history.get(each[0], ()))
    steps = [step for step in scored if step <= done]
    found = {name: len(values) for name, values in history.items()}
    wanted = {name: done if name in each else len(steps) for name in empty}
    if found != wanted or not 0 < done <= last or history.get("step", steps) != steps:
        raise ValueError(f"{path}: no run has a history of {found} after {done} of {last} steps")
    for name, values in history.items():
        if any(value < 0 or (name == "accuracy" and not value <= 1) for value in values):
            raise ValueError(f"{path}: the history of {name} has a value out of range")
    return done


def _settings(model: InductionModel, training: TrainConfig) -> dict[str, Any]:
    """What the numbers of a run depend on, as it is read back."""
    environment = {
        "threads": torch.get_num_threads(),
        "device": device_name(next(parameter.device for _, parameter in model.named_parameters())),
        "torch": torch.__version__,
        "version": package_version(),
    }
    return json.loads(json.dumps({**model.config.model_dump(), **training.model_dump(), ENVIRONMENT: environment}))


def device_name(device: torch.device | str) -> str:
    """What a manifest says of where a model was trained: "cpu", or the card with its name."""
    device = torch.device(device)
    return str(device) if device.type == "cpu" else f"{device} ({torch.cuda.get_device_name(device)})"


def _check_settings(found: dict[str, Any], wanted: dict[str, Any], path: Path) -> None:
    if ENVIRONMENT not in found:  # of an earlier version
        wanted.pop(ENVIRONMENT, None)
    old, new = _flat(found), _flat(wanted)
    for name in {**new, **old}:
        if old.get(name) != new.get(name):
            way = WAY_OUT if name.startswith(ENVIRONMENT) else ""
            raise ValueError(f"{path}: the interrupted run has {name}={old.get(name)}, not {new.get(name)}{way}")


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with those of records within them by both names."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        within = _flat(value).items() if isinstance(value, dict) else ()
        found |= {f"{name}.{inner}": one for inner, one in within} or {name: value}
    return found


def _digest(tensors: dict[str, Tensor]) -> bytes:
    total = hashlib.sha256()
    for name in sorted(tensors):
        total.update(f"{name} {tensors[name].dtype} {tuple(tensors[name].shape)};".encode())
        total.update(tensors[name].reshape(-1).view(torch.uint8).numpy().tobytes())  # numpy has no bfloat16
    return total.digest()


def _text(tensor: Tensor) -> bytes:
    return bytes(tensor.flatten().to(torch.uint8).tolist())


def _bytes(data: bytes) -> Tensor:
    return torch.tensor(list(data), dtype=torch.uint8)
