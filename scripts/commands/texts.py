"""The text that a command reads: its arguments, and what is said about its tokens."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn

    from dynamics.sinks.texts import Text


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
