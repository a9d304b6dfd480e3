"""Which cache policy hurts a model least on a text: all policies at the same memory, against the full cache.

MODEL is a folder of safetensors that `sinks` can run, no encoder, or a hub id. Each window of the text is read with the
full cache and with each policy at each budget. Scored are the tokens after every policy has evicted something. The
policy is chosen on one half of the texts and reported on the other. No policy is assumed to be better than another.
"""

import argparse
import time
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dynamics.comparison.plan import FULL, PLANNED, RENUMBERED, SHORT

from .cli import Parser, bar, command_parser, finite, hint, layers_and_heads, output_file, whole, wrapped
from .texts import add_model, add_text, given_text, memory_of, opened, told

if TYPE_CHECKING:
    from torch import nn

    from dynamics.comparison.equal_memory import Row, Shape
    from dynamics.comparison.on_text import Scored
    from dynamics.sinks.texts import Facts, Text
    from dynamics.sinks.windows import Cut

    from .compare_report import Result

NEEDED = {"razor", "razor-no-token", "razor-random-heads"}  # policies that keep heads whole
QUICK, PROMPTS = 8, 3  # windows; sets of prompts by which heads are chosen


def parser() -> Parser:
    p = command_parser("compare", __doc__)
    add_model(p)
    add_text(p)
    size = p.add_mutually_exclusive_group()
    shares = "shares of the full cache (default 1/2,1/4)"
    size.add_argument("--budget", type=_shares, default="1/2,1/4", metavar="B,..", help=shares)
    size.add_argument("--budget-tokens", type=whole(1), metavar="N", help="or tokens for each key-value head")
    p.add_argument("--policies", nargs="+", choices=SHORT, default=list(SHORT), help="default: all")
    heads = "that Razor keeps whole: none, auto (default: those that `heads` finds) or a file of lines such as 3.0 or 3"
    p.add_argument("--heads", type=_heads, default="auto", help=heads)
    places = "cache: one more row, sinks and a window with positions counted in the cache (default original)"
    p.add_argument("--positions", choices=("original", "cache"), default="original", help=places)
    first = "where the tokenizer's first token is put: before each window, the first one of each text, or none"
    p.add_argument("--bos", choices=("each", "first", "none"), help=f"{first} (default each, if there is one)")
    p.add_argument("--length", type=whole(2), metavar="N", help="tokens of a window (default: at most 1024)")
    p.add_argument("--sinks", type=whole(0), default=4, metavar="N", help="first tokens that are kept (default 4)")
    p.add_argument("--margin", type=finite, default=0.01, help="nats a token that do not matter (default .01)")
    p.add_argument("--seeds", type=whole(1), default=5, metavar="N", help="random draws (default 5)")
    p.add_argument("--write-plan", metavar="FILE", help="write the chosen policy as the plan of a Razor cache, as JSON")
    p.add_argument("--quick", action="store_true", help=f"at most {QUICK} windows")
    p.add_argument("--json", metavar="FILE", help="write all numbers there; null: there is no such number")
    return p


def _shares(text: str) -> list[Fraction]:
    """An argparse type: shares in (0, 1]."""
    try:
        found = [Fraction(part) for part in text.split(",")]
    except (ValueError, ZeroDivisionError):
        found = [Fraction(0)]
    if not all(0 < share <= 1 for share in found):
        raise argparse.ArgumentTypeError(f"expected shares of the full cache such as 1/2,1/4, got {text!r}")
    return found


def _heads(text: str) -> str | dict[int, set[int]]:
    """An argparse type: a word, or by layer the heads that a file names, none for all of them."""
    return text if text in ("none", "auto") else layers_and_heads(",".join(Path(text).read_text("utf-8").split()))


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    targets = [output_file(given) for given in (args.json, args.write_plan) if given]
    if len(set(targets)) < len(targets):
        raise ValueError(f"--json and --write-plan name one file: {args.json}")
    if args.write_plan and args.budget_tokens is None and len(args.budget) > 1:
        raise ValueError("--write-plan needs one budget, such as --budget 1/4")
    from . import compare_report

    facts, results = _compared(args)
    lines = [*map(wrapped, facts), *compare_report.lines(results, args.margin, args.seeds)]
    if args.json:
        from dynamics.files.atomic import atomic_write_text

        atomic_write_text(args.json, compare_report.document(vars(args), facts, results))
        lines.append(f"wrote {args.json}")
    if args.write_plan:
        lines.append(_written(args.write_plan, results[0]))
    print("\n".join(lines))
    return 0


def _written(path: str, result: "Result") -> str:
    """Write the plan of the chosen policy, where a Razor cache runs it; say what was done."""
    from dynamics.razor.plan_file import write_plan

    best = result.choice.best if result.choice else "nothing"
    if best not in PLANNED:
        return f"wrote no plan: {best} was chosen"
    write_plan(path, next(row.plans[0] for row in result.rows if row.policy == best))
    return f"wrote {path}: {best}"


def _compared(args: argparse.Namespace) -> "tuple[list[str], list[Result]]":
    """What a reader must know of the run, and the result of each budget."""
    import torch

    from dynamics.comparison.equal_memory import barred, held_bytes, rows, shape_of
    from dynamics.sinks.texts import facts

    from . import compare_report

    model, folder, device = opened(args)
    text, known = given_text(args, model, folder), facts(model, folder)
    with memory_of(device, "--length"):
        cut, words = _windows(args, model, text, known.first)
        shape = shape_of(model, torch.from_numpy(cut.rows[0, :1]).to(device))
        length = cut.rows.shape[1]
        shares = _checked(args, length)
        full, heads = _whole(args, model, shape, known)
        reasons = barred(model, shape, "" if any(full) else "no head is kept whole")
        wanted = [SHORT[name] for name in args.policies] + [RENUMBERED] * (args.positions == "cache")
        policies, most = {name: reasons.get(name, "") for name in wanted}, held_bytes(FULL, shape.whole, shape, length)
        budgets = [rows(shape, length, int(share * most), policies, full, args.sinks, args.seeds) for share in shares]
        scores = _measured(args, model, shape, cut, budgets)
    said = [*told(text), compare_report.described(model, shape), words, f"heads for Razor: {heads}"]
    return said, [compare_report.result(*one, most, cut, text) for one in zip(shares, budgets, scores, strict=True)]


def _windows(args: argparse.Namespace, model: "nn.Module", text: "Text", first: int | None) -> "tuple[Cut, str]":
    """The windows of the text, and words for them. A first token that stands in the text is not doubled."""
    from dynamics.sinks.windows import windows_of

    bos = args.bos or ("none" if first is None else "each")
    if bos != "none":
        if first is None:
            raise ValueError(f"--bos {bos} needs a tokenizer with a first token")
        pieces = [piece[int(piece[0] == first) :] for piece in text.pieces]
        text = text._replace(pieces=pieces if bos == "each" else [[first, *piece] for piece in pieces])
    cut = windows_of(model, text, args.length, first if bos == "each" else None)
    count, length = cut.rows.shape
    taken = slice(None, None, -(-count // QUICK) if args.quick else 1)
    front = {"none": "no token", "each": f"token {first} in each", "first": f"token {first} in each text"}[bos]
    some = cut._replace(rows=cut.rows[taken], piece=cut.piece[taken])
    words = f"{len(some.rows)} of {count} windows of {length} tokens, one every {length - (bos == 'each')}"
    short = f"; {cut.too_short} texts fill no window" if cut.too_short else ""
    return some, f"{words}; put in front: {front}; {cut.left_out} tokens left out{short}"


def _checked(args: argparse.Namespace, length: int) -> list[Fraction]:
    """The budgets as shares. Raises: ValueError for one without room for the sinks and one more token."""
    shares = [Fraction(args.budget_tokens, length)] if args.budget_tokens else args.budget
    for share in shares:
        if not args.sinks + 1 <= share * length <= length:
            allowed = f"{args.sinks + 1} (the sinks and one more) to {length} tokens of a key-value head"
            raise ValueError(f"a budget is of {allowed}, got {float(share * length):g}")
    return shares


def _whole(
    args: argparse.Namespace, model: "nn.Module", shape: "Shape", known: "Facts"
) -> tuple[tuple[frozenset[int], ...], str]:
    """By layer the key-value heads that Razor keeps whole, and words for them."""
    from dynamics.heads.found import find
    from dynamics.razor.plan import RazorPlan

    heads, words = [], "none was asked for"
    if args.heads == "auto" and NEEDED.isdisjoint(args.policies):
        words = "no policy takes any"
    elif args.heads == "auto":
        hint(args, "scoring heads first (--heads none or FILE: not)")
        found = find(model, first=known.first, excluded=known.special, seeds=PROMPTS, over=partial(bar, args))
        heads, words = found.whole_heads, found.why
    elif args.heads != "none":
        heads = [(layer, head) for layer, some in args.heads.items() for head in some or range(shape.n_heads)]
        words = ", ".join(f"{layer}.{head}" for layer, head in heads)
    return RazorPlan.for_heads(heads, shape.n_layers, shape.n_heads, shape.n_kv_heads).full, words


def _measured(
    args: argparse.Namespace, model: "nn.Module", shape: "Shape", cut: "Cut", budgets: "list[list[Row]]"
) -> "list[dict[str, Scored]]":
    """Run all rows, with a bar; after the first window say how long all of them take."""
    from dynamics.comparison.on_text import measure

    count, begun = len(cut.rows), time.perf_counter()
    with bar(args, total=count, unit="window", leave=False) as shown:

        def progress(done: int) -> None:
            if done == 1:
                hint(args, f"{count} windows take about {(time.perf_counter() - begun) * count:.0f} s")
            shown.update()

        return measure(model, cut.rows, shape, budgets, progress)
