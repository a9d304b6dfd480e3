"""A model to measure, from a folder or the hub; nothing is unpickled, no strange code run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from dynamics.files.strict_json import read_object
from dynamics.training import checkpoint
from dynamics.weights import folder as folders
from dynamics.weights import own
from dynamics.weights.families import FAMILIES, RUN

if TYPE_CHECKING:
    from torch import nn

DTYPES = {name: getattr(torch, name) for name in ("float16", "bfloat16", "float32", "float64")}


def open_model(
    path_or_hub_id: str | Path, device: torch.device, dtype: str | None = None, undeclared: bool = False
) -> nn.Module:
    """A model of ours or a transformers model of `dynamics.weights.families`, in evaluation mode.

    Args: a folder, or "owner/name" on the hub; dtype: None for that of the file (of a model of ours, float32);
        undeclared: whether a causal model of another model_type is opened too, if transformers has it itself.
    Raises: OSError; ValueError of one line for what is neither, another model_type, an encoder with a decoder, weights
        that are pickled, missing, of another shape, or not finite, and whatever transformers refuses. A head that is
        missing is left out: there are no logits then.
    """
    if dtype is not None and dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")
    folder = folders.locate(path_or_hub_id)
    if own.is_own(folder):
        return checkpoint.load(folder, device).model.to(DTYPES[dtype or "float32"])
    kind = _model_type(folder, undeclared)
    folders.stored_tensors(folder)
    model = _from_transformers(folder, kind, dtype)
    for name, tensor in model.named_parameters():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{folder}: tensor {name} holds a value that is not finite")
    return model.to(device).eval()


def _model_type(folder: Path, undeclared: bool) -> str:
    path = folder / "config.json"
    if not path.is_file():
        raise ValueError(f"{folder}: config.json is missing")
    data = read_object(path)
    kind = data.get("model_type")
    if data.get("is_encoder_decoder", False):
        raise ValueError(f"{path}: a model of an encoder and a decoder has two kinds of attention: not supported")
    if not isinstance(kind, str) or not (undeclared or kind in RUN):
        missing = "missing is its class of attention in dynamics.weights.families"
        raise ValueError(f"{path}: model_type {kind!r} is not one of {', '.join(RUN)}: {missing}")
    return kind


def _from_transformers(folder: Path, kind: str, dtype: str | None) -> nn.Module:
    try:
        import transformers
    except ImportError:
        raise ValueError(f"{folder}: a model of transformers needs the extra [hf]") from None
    _quiet(transformers)
    causal = kind not in FAMILIES or FAMILIES[kind].causal
    loader = transformers.AutoModelForCausalLM if causal else transformers.AutoModelForMaskedLM
    # The grouped experts of gpt-oss know no double precision.
    more = {"experts_implementation": "eager"} if kind == "gpt_oss" and dtype == "float64" else {}
    try:
        model, told = loader.from_pretrained(
            folder, dtype=dtype or "auto", use_safetensors=True, local_files_only=True, trust_remote_code=False,
            output_loading_info=True, **more,
        )  # fmt: skip
    # Not narrower: for a config that does not hold huggingface_hub raises a child of Exception alone, for shapes that
    # do not fit transformers a RuntimeError; and nothing of ours stands in this call.
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{folder}: transformers cannot load it ({type(error).__name__}: {reason[:300]})") from None
    if missing := sorted(told["missing_keys"]):
        body = f"{model.base_model_prefix}."
        if inside := [name for name in missing if name.startswith(body)]:
            raise ValueError(f"{folder}: tensor {inside[0]} is missing")
        return model.base_model
    return model


def _quiet(transformers) -> None:
    """Switch off the warnings and progress bars of transformers. This module says in one line what is wrong."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
