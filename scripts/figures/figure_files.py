"""Files of a figure: PDF and PNG without dates, and the arrays beside them, each whole or absent."""

import argparse
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..commands.cli import output_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("pdf", "png")
STYLE = Path(__file__).with_name("workbench.mplstyle")
_WITHOUT_DATES = {"pdf": {"CreationDate": None}, "png": {"Software": None}}


def formats(text: str) -> tuple[str, ...]:
    """An argparse type: one or both of pdf and png, separated by a comma."""
    chosen = tuple(dict.fromkeys(text.split(",")))
    if not set(chosen) <= set(FORMATS):
        raise argparse.ArgumentTypeError(f"expected pdf, png or pdf,png, got {text!r}")
    return chosen


def figure_prefix(out: str, name: str, kinds: tuple[str, ...]) -> Path:
    """The path without its ending: `out` itself, or `name` inside it if it is a folder or ends in a slash.

    Raises ValueError where one of the files could not be written.
    """
    path = Path(out)
    if out.endswith("/") or path.is_dir():
        path = path / name
    else:
        output_file(out)  # beside a device nothing is meant to be written
        path = path.with_suffix("") if path.suffix in (".pdf", ".png", ".npz") else path
    for kind in (*kinds, "npz"):
        output_file(f"{path}.{kind}")
    return path


def add_outputs(p: argparse.ArgumentParser, drawn: str) -> None:
    """Add --json, --figure and --format to a command; drawn: what the figure shows."""
    p.add_argument("--json", metavar="FILE", help="write all numbers there; null: there is no such number")
    p.add_argument("--figure", metavar="PATH", help=f"draw {drawn}: a folder, or a path without its ending")
    p.add_argument("--format", type=formats, default=FORMATS, metavar="pdf,png", help="files of it (default both)")


Places = tuple[Path | None, Path | None]


def outputs(args: argparse.Namespace, name: str) -> Places:
    """Where the JSON and the figure go, None for what is not asked for. Raises: as `figure_prefix`."""
    prefix = figure_prefix(args.figure, name, args.format) if args.figure else None
    return output_file(args.json) if args.json else None, prefix


def write_outputs(
    places: Places, kinds: tuple[str, ...], document: Callable[[], str], panels: str, *found: Any
) -> list[str]:
    """Write what was asked for, and say so in a line a file; panels: the module that draws what was found."""
    target, prefix = places
    written = []
    if target is not None:
        from dynamics.files.atomic import atomic_write_text

        atomic_write_text(target, document())
        written.append(target)
    if prefix is not None:
        module = import_module(panels, __package__)
        data = module.compute(*found)
        written += save_figure(module.draw(data), data._asdict(), prefix, kinds)
    return [f"wrote {path}" for path in written]


def save_figure(figure: "Figure", arrays: Mapping[str, Any], prefix: Path, kinds: tuple[str, ...]) -> list[Path]:
    """Write prefix.<kind> for each kind and prefix.npz; two runs give the same bytes. Raises OSError."""
    import io

    import matplotlib
    import numpy as np

    from dynamics.files.atomic import atomic_write_bytes

    contents = {}
    with matplotlib.rc_context(fname=STYLE):
        for kind in kinds:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=_WITHOUT_DATES[kind])
            contents[kind] = buffer.getvalue()
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    contents["npz"] = buffer.getvalue()
    # drawn in memory first, so that a failure to draw leaves no file at all
    paths = [Path(f"{prefix}.{kind}") for kind in contents]
    for path, content in zip(paths, contents.values(), strict=True):
        atomic_write_bytes(path, content)
    return paths
