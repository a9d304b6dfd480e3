"""Formulas, verdicts, trainings and figures about attention: one command for all of them.

`induction-workbench COMMAND ..` where this is installed, `python -m scripts COMMAND ..` in a checkout; each command is
a module beside this one, and says more with --help.
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path

from . import __version__
from .cli import Parser, run

COMMANDS = (
    "verify", "construct", "audit", "report", "train", "sweep", "scalar", "compare", "arena", "igsm", "dissect",
    "family", "scope", "receipt", "sinks", "conform",
)  # fmt: skip
HERE = Path(__file__).parent


def commands() -> dict[str, str]:
    """Every command with the first line of its docstring."""
    names = [*COMMANDS, *sorted(path.stem for path in HERE.glob("fig_*.py"))]
    return {name: (HERE / f"{name}.py").read_text("utf-8").split('"""')[1].strip().splitlines()[0] for name in names}


def parser() -> Parser:
    listed = "commands:\n" + "\n".join(f"  {name:20}{line}" for name, line in commands().items())
    name = "induction-workbench" if __package__ == "induction_workbench" else "python -m scripts"
    p = Parser(prog=name, description=__doc__, epilog=listed, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    p.add_argument("command", metavar="COMMAND", choices=list(commands()))
    p.add_argument("rest", metavar="..", nargs=argparse.REMAINDER, help="what the command takes")
    return p


def _dispatch(argv: list[str] | None) -> int:
    given = sys.argv[1:] if argv is None else argv
    if not given:
        raise ValueError(f"give a command: {', '.join(commands())} (or --help)")
    asked = parser().parse_args(given)
    return import_module(f".{asked.command}", __package__).main(asked.rest)


def main(argv: list[str] | None = None) -> int:
    """Run a command as its own command line would; return its exit code."""
    return run(_dispatch, argv)


if __name__ == "__main__":
    sys.exit(main())
