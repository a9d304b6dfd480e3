"""The safetensors files of a checkpoint, in a folder or from the hub; every header is checked, no weight is read."""

import re
from collections.abc import Mapping
from pathlib import Path

from dynamics.files.atomic import sha256_of
from dynamics.files.strict_json import read_object
from dynamics.weights import safetensors_file as safetensors_files
from dynamics.weights.safetensors_file import StoredTensor

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
ADAPTER = "adapter_config.json"
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib", ".npy", ".npz")
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def locate(path_or_hub_id: str | Path) -> Path:
    """The folder itself, or that of a downloaded snapshot: only safetensors and JSON at the top of the repository.

    Raises: ValueError, one line, for a file in place of a folder (a pickled one by name), for what is neither a folder
    nor "owner/name", and where the hub gives nothing.
    """
    path = Path(path_or_hub_id)
    if path.is_dir():
        return path
    if path.suffix.lower() in PICKLED:
        raise ValueError(f"{path}: pickled weights are never read; convert them to safetensors")
    if path.exists():
        raise ValueError(f"{path}: give the folder of the checkpoint, not a file of it")
    if not HUB_ID.fullmatch(str(path_or_hub_id)):
        raise ValueError(f"{path}: no such folder")
    return _download(str(path_or_hub_id))


def stored_tensors(folder: Path) -> dict[str, StoredTensor]:
    """Every tensor of model.safetensors or, where that is absent, of the files in model.safetensors.index.json.

    Raises: OSError; ValueError, one line, for no such file (pickled weights are named), both of them, an adapter beside
        them, an index that points outside of the folder, to a file that is absent, or disagrees with what a file holds,
        and damaged headers.
    """
    if (folder / ADAPTER).exists():
        raise ValueError(f"{folder / ADAPTER}: an adapter beside the weights is not read: merge it into them first")
    if (folder / SINGLE).is_file() and (folder / INDEX).is_file():
        raise ValueError(f"{folder}: {SINGLE} and {INDEX} are both there: remove the one that is not meant")
    if (folder / SINGLE).is_file():
        return safetensors_files.tensors(folder / SINGLE)
    if (folder / INDEX).is_file():
        return _sharded(folder)
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in PICKLED:
            raise ValueError(f"{path}: pickled weights are never read; convert them to safetensors")
    raise ValueError(f"{folder}: neither {SINGLE} nor {INDEX} is there")


def check_hashes(folder: Path, expected: Mapping[str, str]) -> None:
    """Compare files with their SHA-256, read piece by piece. Raises: ValueError naming the first that differs."""
    for name, digest in expected.items():
        if not _plain(name) or not (folder / name).is_file():
            raise ValueError(f"{folder}: no file {name!r} to compare with its sha256")
        found = sha256_of(folder / name)
        if found != digest.lower():
            raise ValueError(f"{folder / name}: sha256 is {found[:12]}.., not {digest[:12]}..")


def _sharded(folder: Path) -> dict[str, StoredTensor]:
    index = folder / INDEX
    names = read_object(index).get("weight_map")
    if not isinstance(names, dict) or not names or not all(isinstance(file, str) for file in names.values()):
        raise ValueError(f"{index}: weight_map must give a file for every tensor")
    shards = sorted(set(names.values()))
    for file in shards:
        if not _plain(file) or not file.endswith(".safetensors"):
            raise ValueError(f"{index}: {file!r} is not the name of a safetensors file in this folder")
        if not (folder / file).is_file():
            raise ValueError(f"{index}: the file {file} is missing")
    result: dict[str, StoredTensor] = {}
    for file in shards:
        for name, tensor in safetensors_files.tensors(folder / file).items():
            if names.get(name) != file:
                raise ValueError(f"{folder / file}: tensor {name} is not listed for this file in {INDEX}")
            result[name] = tensor
    for name in sorted(names.keys() - result.keys()):
        told = name if name.isprintable() else repr(name)
        raise ValueError(f"{folder / names[name]}: tensor {told} is missing, {INDEX} lists it")
    return result


def _plain(name: str) -> bool:
    return bool(name) and name.isprintable() and not set("/\\:") & set(name) and name not in (".", "..")


def _download(hub_id: str) -> Path:
    try:
        import huggingface_hub
    except ImportError:
        raise ValueError(f"{hub_id}: no such folder, and the hub needs the extra [hf]") from None
    try:
        folder = huggingface_hub.snapshot_download(
            hub_id, allow_patterns=["*.safetensors", "*.json"], ignore_patterns=["*/*", "consolidated*"]
        )
    except Exception as error:  # of the hub, the network, or the disk: whatever it was, there is no checkpoint
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{hub_id}: no such folder, and the hub gave nothing ({type(error).__name__}: {reason[:200]})"
        ) from None
    return Path(folder)
