"""The command line that all figure scripts share: where to write, which files, and how much effort."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..commands.cli import Parser, command_parser
from ..commands.table import module, path_of
from .figure_files import FORMATS, figure_prefix, formats, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZES = re.compile(r'^QUICK_SIZE, FULL_SIZE = (\d+), (\d+).*\nUNIT = "(.*)"$', re.MULTILINE)


def figure_parser(name: str, doc: str | None, sizes: tuple[int, int], unit: str, *, full: bool = True) -> Parser:
    """A parser with --out, --format and --quick or --full, which set `size` to the first or the second of `sizes`.

    unit: what the sizes count, for --help; full: whether the second is the default.
    """
    p = command_parser(f"figure {name.removeprefix('fig_')}", doc)
    p.set_defaults(name=name)
    p.add_argument("--out", default=f"out/{name}", metavar="PATH", help="a folder, or a path without its ending")
    p.add_argument("--format", type=formats, default=FORMATS, metavar="pdf,png", help="files (default both)")
    effort = p.add_mutually_exclusive_group()
    for option, size, default in (("--quick", sizes[0], not full), ("--full", sizes[1], full)):
        text = f"{size} {unit}" + " (the default)" * default
        effort.add_argument(option, action="store_const", dest="size", const=size, default=sizes[full], help=text)
    return p


def write_figure(
    args: argparse.Namespace,
    compute: Callable[[int], Any],
    draw: Callable[[Any], Figure],
    arrays: Callable[[Any], dict[str, Any]] = lambda data: data._asdict(),
) -> int:
    """Write the figure of the data and its arrays (a NamedTuple's fields); print each path, return the exit status 0.

    Whether its files can be written is known before anything is computed.
    """
    prefix = figure_prefix(args.out, args.name, args.format)
    data = compute(args.size)
    for path in save_figure(draw(data), arrays(data), prefix, args.format):
        print(path)
    return 0


def plain(name: str, argv: list[str] | None) -> int:
    """The command of a figure without options of its own: its module has the sizes, `compute` and `draw`.

    The module is imported when its figure is drawn. For --help its file is only read, which is quick.
    """
    path = path_of(name)
    text = path.read_text("utf-8")
    quick, full, unit = _SIZES.search(text).groups()
    args = figure_parser(path.stem, text.split('"""')[1], (int(quick), int(full)), unit).parse_args(argv)
    figure = module(name)
    return write_figure(args, figure.compute, figure.draw)
