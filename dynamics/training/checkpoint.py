"""Checkpoints: one folder with weights.safetensors and manifest.json; nothing is ever unpickled."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from dynamics.files import manifest as manifests
from dynamics.files.atomic import atomic_write_bytes, sha256_bytes
from dynamics.files.manifest import Manifest, Scalar
from dynamics.files.shipped import FOLDER
from dynamics.model.config import COMPARED, PRESETS, ModelConfig
from dynamics.model.decoder import InductionModel, build

WEIGHTS, MANIFEST = "weights.safetensors", "manifest.json"
SHIPPED = FOLDER / "models"
SHIPPED_NAMES = (*PRESETS, "alibi-text", *(f"h100/{name}" for name in ("kv-shift", *COMPARED)))
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


class Checkpoint(NamedTuple):
    """A model in float32, ready to run, and its manifest."""

    model: InductionModel
    manifest: Manifest


def save(
    folder: str | Path,
    model: InductionModel,
    *,
    seed: int,
    threads: int,
    device: str,
    training: Mapping[str, Scalar | dict[str, Scalar]],
    metrics: Mapping[str, float | int],
    half: bool = False,
) -> Manifest:
    """Write the weights, then the manifest with their hash; half stores them as float16.

    Raises: ValueError for a weight or a metric that is not finite; OSError for a folder that cannot be written.
    """
    dtype = torch.float16 if half else torch.float32
    tensors = {name: tensor.detach().to("cpu", dtype).contiguous() for name, tensor in model.state_dict().items()}
    _check_finite(tensors, "the model")
    data = safetensors.torch.save(tensors)
    manifest = Manifest.checked(
        {
            "version": manifests.package_version(),
            "torch_version": torch.__version__,
            "seed": seed,
            "threads": threads,
            "device": device,
            "dtype": "float16" if half else "float32",
            "config": model.config.model_dump(),
            "training": dict(training),
            "metrics": dict(metrics),
            "sha256": sha256_bytes(data),
        }
    )
    # Manifest last: an interruption in between leaves a hash that does not fit, which load refuses.
    atomic_write_bytes(Path(folder) / WEIGHTS, data)
    manifests.write(Path(folder) / MANIFEST, manifest)
    return manifest


def load(folder: str | Path, device: str | torch.device = "cpu") -> Checkpoint:
    """Read a checkpoint of this layout.

    Raises:
        OSError: a file is missing. ValueError, one plain line: a manifest that does not hold, weights whose hash is
        not the recorded one, a missing, unknown or wrongly shaped tensor, a value that is not finite.
    """
    folder = Path(folder)
    manifest = manifests.read(folder / MANIFEST)
    config = ModelConfig.checked(manifest.config, f"{folder / MANIFEST}: config")
    data = (folder / WEIGHTS).read_bytes()
    found = sha256_bytes(data)
    if found != manifest.sha256:
        raise ValueError(f"{folder / WEIGHTS}: sha256 is {found[:12]}.., the manifest records {manifest.sha256[:12]}..")
    tensors = read_tensors(data, str(folder / WEIGHTS))
    if len(data) < config.least_parameters():  # before a manifest makes us allocate what the file does not hold
        raise ValueError(f"{folder / WEIGHTS}: {len(data)} bytes are too few for the model that the manifest describes")
    # What a model draws besides its weights is a function of the seed.
    model = build(config, torch.Generator().manual_seed(manifest.seed))
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    check_shapes(tensors, expected, str(folder / WEIGHTS))
    model.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    return Checkpoint(model.to(device).eval(), manifest)


def shipped(name: str, device: str | torch.device = "cpu") -> Checkpoint:
    """Load one of the trained checkpoints that come with the package, kv-shift say; those of h100/ an H100 trained."""
    if name not in SHIPPED_NAMES:
        raise ValueError(f"no shipped checkpoint {name!r}; there are {', '.join(SHIPPED_NAMES)}")
    return load(SHIPPED / name, device)


def read_tensors(data: bytes, what: str) -> dict[str, Tensor]:
    """Parse safetensors bytes; anything else is a ValueError of one line."""
    try:
        return safetensors.torch.load(data)
    except safetensors.SafetensorError as error:
        raise ValueError(f"{what}: not a safetensors file ({' '.join(str(error).split())})") from None


def check_shapes(tensors: Mapping[str, Tensor], expected: Mapping[str, tuple[int, ...]], what: str) -> None:
    """Refuse missing, unknown, wrongly shaped, non-float or non-finite tensors, naming the first."""
    for name in sorted(expected.keys() - tensors.keys()):
        raise ValueError(f"{what}: tensor {name} is missing")
    for name in sorted(tensors.keys() - expected.keys()):
        raise ValueError(f"{what}: unknown tensor {name}")
    for name, shape in expected.items():
        if tuple(tensors[name].shape) != shape:
            raise ValueError(f"{what}: tensor {name} has shape {tuple(tensors[name].shape)}, not {shape}")
        if tensors[name].dtype not in FLOATS:
            raise ValueError(f"{what}: tensor {name} has type {tensors[name].dtype}, not a floating one")
    _check_finite(tensors, what)


def _check_finite(tensors: Mapping[str, Tensor], what: str) -> None:
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{what}: tensor {name} holds a value that is not finite")
