"""Formulas, verdicts, trainings and figures about attention: one command for all of them.

`induction-workbench COMMAND ..` where this is installed, `python -m scripts COMMAND ..` in a checkout; each command
says more, with examples, with --help.
"""

import argparse
import sys

from . import __version__
from .commands.cli import Parser, program, run
from .commands.table import COMMANDS, FIGURES, GROUPS, STUDIES, call, commands, headline, path_of


def _listed(title: str, lines: dict[str, str]) -> str:
    """Names with a line each, wrapped at the terminal's width."""
    import shutil
    import textwrap

    column, width = 4 + max(map(len, lines)), min(120, shutil.get_terminal_size().columns)
    shown = (
        textwrap.fill(f"  {name}".ljust(column) + line, width, subsequent_indent=" " * column)
        for name, line in lines.items()
    )
    return "\n".join([f"{title}:", *shown])


def parser() -> Parser:
    listed = _listed("commands", commands())
    p = Parser(prog=program(), description=__doc__, epilog=listed, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    p.add_argument("command", metavar="COMMAND", help="one of those below")
    p.add_argument("rest", metavar="..", nargs=argparse.REMAINDER, help="what the command takes")
    return p


def _members(group: str) -> Parser:
    """The parser of a group: it lists the members."""
    text, names = GROUPS[group]
    listed = _listed("names", {name: headline(path_of(f"{group} {name}")) for name in names})
    p = Parser(
        prog=program(group),
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=listed,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("name", metavar="NAME", help="one of those below")
    p.add_argument("rest", metavar="..", nargs=argparse.REMAINDER, help="what it takes")
    return p


def _known(name: str, names: tuple[str, ...], what: str) -> str:
    """The name. Raises ValueError with the nearest names, or with the new one of an old command."""
    if name in names:
        return name
    new = f"figure {name[4:]}" if name.startswith("fig_") and name[4:] in FIGURES else f"study {name}"
    if what == "command" and (name in STUDIES or new.startswith("figure")):
        raise ValueError(f"{name} is now: {new}")
    import difflib

    near = difflib.get_close_matches(name, names, 3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"choose from {', '.join(names)}"
    raise ValueError(f"no {what} {name!r}: {hint}")


def _dispatch(argv: list[str] | None) -> int:
    given = sys.argv[1:] if argv is None else argv
    if not given:
        raise ValueError(f"give a command: {', '.join(commands())} (or --help)")
    if given[0].startswith("-"):  # --help or --version, else an error
        parser().parse_args(given)
    name, rest = _known(given[0], (*COMMANDS, *GROUPS), "command"), given[1:]
    if name in GROUPS:
        if not rest:
            raise ValueError(f"give a {name}: {', '.join(GROUPS[name][1])} (or --help)")
        if rest[0].startswith("-"):
            _members(name).parse_args(rest)
        name, rest = f"{name} {_known(rest[0], GROUPS[name][1], name)}", rest[1:]
    return call(name, rest)


def main(argv: list[str] | None = None) -> int:
    """Run a command as its own command line would; return its exit code."""
    return run(_dispatch, argv)


if __name__ == "__main__":
    sys.exit(main())
