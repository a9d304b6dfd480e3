"""Find the heads of a causal model that do induction, or say that there are none, with a baseline beside each score.

MODEL is a folder of safetensors (a model trained here, or any causal model of transformers) or a hub id. It reads
random tokens in which a segment comes twice. First it is measured whether the model copies, then where each head looks.
A head is chosen if its score is .1 above even attention, above its twin (no earlier copy) and above the same head with
shuffled weights, and higher than any head of 20 shuffled models, in nine of ten seeds. Induction heads must be needed
too: without their outputs the second copy loses more than the first, and more than without other heads.
"""

import argparse
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from ..figures.figure_files import add_outputs, outputs, write_outputs
from .cli import Parser, bar, command_parser, hint, numbers, whole
from .texts import add_model, add_text, given_text, memory_of, opened, told

if TYPE_CHECKING:
    from torch import nn

    from dynamics.heads.found import Found


def parser() -> Parser:
    p = command_parser("heads", __doc__)
    add_model(p)
    add_text(p, required=False)
    exclude = "ids that are never drawn, besides the tokenizer's special ones: 0,5"
    ids = partial(numbers, told="ids such as 0,5")
    p.add_argument("--exclude", type=ids, default=[], metavar="ID,..", help=exclude)
    p.add_argument("--seeds", type=whole(1, 1000), default=10, metavar="N", help="sets of 8 prompts (default 10)")
    length = "tokens of a prompt (default: the most of 24, 48, 96, 192 at which the model copies)"
    p.add_argument("--length", type=whole(12), metavar="N", help=length)
    p.add_argument("--seed", type=whole(0), default=0, help="of the prompts (default 0)")
    add_outputs(p, "a map of each kind")
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    places = outputs(args, "heads")
    from . import heads_report

    found, asked, said = _found(args)
    document = partial(heads_report.document, found, asked)
    written = write_outputs(places, args.format, document, ".heads.heads_map", found)
    print(heads_report.text(found), *said, *written, sep="\n")
    return 0


def _found(args: argparse.Namespace) -> "tuple[Found, dict[str, object], list[str]]":
    """What is found, how it was asked, and what is to be said of the text."""
    from dynamics.heads.found import find
    from dynamics.sinks.texts import facts

    model, folder, device = opened(args, undeclared=True)
    special = facts(model, folder)
    given = given_text(args, model, folder) if args.text or args.tokens or args.records else None
    excluded = sorted({*args.exclude, *special.special})
    asked = {"first": special.first, "excluded": excluded} | {k: getattr(args, k) for k in ("seeds", "length", "seed")}
    with memory_of(device, "--length"):
        _say_time(args, model)
        found = find(model, text=given.pieces if given else (), over=partial(bar, args), **asked)
    return found, {"model": args.model, "text": given and given.names} | asked, told(given) if given else []


def _say_time(args: argparse.Namespace, model: "nn.Module") -> None:
    """How long it takes, by one batch of prompts of the longest length."""
    import numpy as np

    from dynamics.heads.batched import show
    from dynamics.heads.cause import SETS
    from dynamics.heads.found import TESTED, lengths
    from dynamics.heads.kinds import COPIES, PROMPTS

    tried = lengths(model, args.length)
    show(model, np.zeros((1, min(tried)), np.int64), lambda *_: None)  # the first call is slower
    start = perf_counter()
    show(model, np.zeros((PROMPTS, max(tried)), np.int64), lambda *_: None)
    losses = 3 * len(tried) + SETS
    batches = 3 * args.seeds + 2 * COPIES + losses * TESTED // PROMPTS
    told = f"at most about {(perf_counter() - start) * batches:.0f} s"
    hint(args, f"{told}; longer if no induction head explains the copying: heads are then taken out one by one")
