"""Run a model on a text: where its attention sinks are, what they do to values and states, what a change does.

MODEL is a folder of safetensors (GPT-2, BERT, BLOOM, MPT, Falcon, gpt-oss, the Llama-like families of `scope`, or a
model trained here) or a hub id. The text is cut into windows, which the model sees one by one. Tokens at its
end that do not fill a window are left out. A model trained here reads a text as bytes.

A change is compared with the model as it is: loss and logits (with a head), the last states, the weights of its tokens.
--mask and --replace are those of the waiver paper (Sections 4.2.1 and 4.2.2); --hide and --swap are ours.
"""

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING

from ..figures.figure_files import add_outputs, outputs, write_outputs
from .cli import Parser, command_parser, layers_and_heads, numbers, whole
from .texts import add_model, add_text, given_text, memory_of, opened, told

if TYPE_CHECKING:
    from torch import nn

    from dynamics.sinks.intervention import Effect, Hide, Mask, Replace, Swap
    from dynamics.sinks.measured import Measured
    from dynamics.sinks.texts import Text


def parser() -> Parser:
    p = command_parser("sinks", __doc__)
    add_model(p)
    add_text(p)
    p.add_argument("--window", type=whole(2), metavar="N", help="tokens of a window (default: at most 1024)")
    p.add_argument("--begin", type=whole(0), metavar="ID", help="a token to put in front of each window, such as <s>")
    layers = partial(numbers, told="layers such as 0,3,7")
    p.add_argument("--layers", type=layers, metavar="L,..", help="only these layers: 0,3,7")
    change = p.add_mutually_exclusive_group()
    token = "TOKEN[@L[.H],..]"
    mask = "let token TOKEN of each window see itself alone (the paper's Eq. 11), in all layers or these: 5, 5@0,2.1"
    change.add_argument("--mask", type=_mask, metavar=token, help=mask)
    hide = "hide token TOKEN of each window from all others; it still sees them"
    change.add_argument("--hide", type=_mask, metavar=token, help=hide)
    replace = "give token I the learned position of token J in place of its own (the paper's replacement)"
    change.add_argument("--replace", type=_pair, metavar="I,J", help=replace)
    swap = "let tokens I and J exchange their learned positions, or their places where positions are not learned"
    change.add_argument("--swap", type=_pair, metavar="I,J", help=swap)
    add_outputs(p, "the layers")
    return p


def _mask(text: str) -> tuple[int, dict[int, set[int]] | None]:
    """An argparse type: a token, and the layers and heads of its mask, None for all."""
    token, at, places = text.partition("@")
    if len(found := numbers(token, "a token and layers such as 5 or 5@0,2.1")) != 1:
        raise argparse.ArgumentTypeError(f"expected one token, got {text!r}")
    return found[0], layers_and_heads(places) if at else None


def _pair(text: str) -> tuple[int, int]:
    """An argparse type: two different tokens."""
    found = numbers(text, "two tokens such as 0,5")
    if len(found) != 2 or found[0] == found[1]:
        raise argparse.ArgumentTypeError(f"expected two different tokens such as 0,5, got {text!r}")
    return found[0], found[1]


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    places = outputs(args, "sinks")
    from . import sinks_report

    model, given, found, effect = _measured(args)
    text = [*told(given), sinks_report.text(model, found, effect)]
    document = partial(sinks_report.document, args.model, model, found, effect)
    print(*text, *write_outputs(places, args.format, document, ".heads.sinks_panels", found), sep="\n")
    return 0


def _measured(args: argparse.Namespace) -> "tuple[nn.Module, Text, Measured, Effect | None]":
    """The model, its text, what is measured of it, and what a change did, with a bar on a terminal."""
    from dynamics.sinks.intervention import intervene
    from dynamics.sinks.measured import chosen_layers, measure

    model, folder, device = opened(args)
    tokens = given_text(args, model, folder)
    layers, change = chosen_layers(model, args.layers), _change(args)
    more = {"begin": args.begin, "progress": sys.stderr.isatty() and not args.quiet}
    with memory_of(device, "--window"):
        effect = None if change is None else intervene(model, tokens, change, args.window, **more)
        return model, tokens, measure(model, tokens, args.window, layers, **more), effect


def _change(args: argparse.Namespace) -> "Mask | Hide | Replace | Swap | None":
    from dynamics.sinks.intervention import Hide, Mask, Replace, Swap

    for kind in (Mask, Hide, Replace, Swap):
        if given := getattr(args, kind.__name__.lower()):
            return kind(*given)
    return None
