"""The text that a command reads: its arguments, and what is said about its tokens."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .cli import Parser

if TYPE_CHECKING:
    import torch
    from torch import nn

    from dynamics.sinks.texts import Text


DTYPES = ("float16", "bfloat16", "float32", "float64")


def add_model(p: Parser) -> None:
    """Add MODEL, --device and --dtype."""
    p.add_argument("model", metavar="MODEL", help="a folder, or owner/name on the hub")
    p.add_argument("--device", default="auto", help="auto, cpu or cuda[:N]")
    p.add_argument("--dtype", choices=DTYPES, help="of the weights (default: as stored)")


def opened(args: argparse.Namespace, **settings: bool) -> "tuple[nn.Module, Path, torch.device]":
    """The model, its folder and device; the text is looked for first. Raises: as `dynamics.sinks.opened.open_model`."""
    from dynamics.sinks.opened import open_model
    from dynamics.training.loop import choose_device
    from dynamics.weights.folder import locate

    device = choose_device(args.device)
    check_files(args)
    folder = locate(args.model)
    return open_model(folder, device, args.dtype, **settings), folder, device


@contextmanager
def memory_of(device: "torch.device", size: str) -> Iterator[None]:
    """One line where the device has too little memory; size: the option that makes the work smaller."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError:
        raise ValueError(f"not enough memory on {device}: a smaller {size} or --dtype needs less") from None


def add_text(p: argparse.ArgumentParser, required: bool = True) -> None:
    """Add --text, --tokens and --records, of which one may be given."""
    read = p.add_mutually_exclusive_group(required=required)
    through = "UTF-8; through the model's tokenizer.json without special tokens, of a model trained here as bytes"
    read.add_argument("--text", metavar="FILE", nargs="+", help=f"{through}; each file starts its own windows")
    read.add_argument("--tokens", metavar="FILE", help="numbers of tokens with spaces between, or an array (.npy)")
    own = "a text with a record a line, or an array of tokens with a record a row (.npy); each starts its own windows"
    read.add_argument("--records", metavar="FILE", help=own)


def given_text(args: argparse.Namespace, model: "nn.Module", folder: Path) -> "Text":
    """The text that was asked for. Raises: as `dynamics.sinks.texts.read`."""
    from dynamics.sinks.texts import read

    return read(model, folder, texts=args.text or (), tokens=args.tokens, records=args.records)


def check_files(args: argparse.Namespace) -> None:
    """Refuse, before a model is opened, a text that is not there. Raises: OSError."""
    for name in (*(args.text or ()), args.tokens, args.records):
        if name is not None:
            with open(name, "rb"):
                pass


def told(text: "Text") -> list[str]:
    """What a reader must know of the tokens: how many are unknown to the tokenizer, where there are any."""
    if not text.unknown:
        return []
    share = 100 * text.unknown / text.n_tokens
    return [f"{text.unknown} of {text.n_tokens} tokens ({share:.2g} %) are unknown to the tokenizer and read as one"]
