"""Every command with its first line, its examples and its options, as its parser says them."""

import argparse
import re
from functools import cache, partial
from typing import NamedTuple

from ...commands.examples import examples
from ...commands.table import COMMANDS, FIGURES, GROUPS, STUDIES, headline, module, path_of
from . import text

PROGRAM = "python -m scripts"
WIDE = partial(argparse.RawDescriptionHelpFormatter, width=2000, max_help_position=1000)  # an option a line


class Command(NamedTuple):
    """examples: whole lines; options: each with what it does; members: of a group, with their pages and first lines."""

    name: str
    line: str
    examples: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    members: tuple[tuple[str, str, str], ...] = ()

    @property
    def anchor(self) -> str:
        return text.anchor(self.name)

    @property
    def link(self) -> str:
        return f"commands.html#{self.anchor}"


@cache
def every() -> tuple[Command, ...]:
    """The commands, then the groups, each before those of its members that have options of their own."""
    own = tuple(name for name in FIGURES if "\ndef parser(" in path_of(f"figure {name}").read_text("utf-8"))
    found = [_command(name) for name in COMMANDS]
    for group, members in (("figure", own), ("study", STUDIES)):
        found += [_group(group, members), *(_command(f"{group} {name}") for name in members)]
    return tuple(found)


def _command(name: str) -> Command:
    lines = tuple(f"{PROGRAM} {name} {words}".strip() for words in examples(name))
    return Command(name, headline(path_of(name)), lines, _options(name))


def _group(group: str, own: tuple[str, ...]) -> Command:
    """own: the members that have options of their own; the others are pictures."""
    line, members = GROUPS[group]
    links = (f"#{group}-{name}" if name in own else f"figures.html#fig_{name}" for name in members)
    lines = (headline(path_of(f"{group} {name}")) for name in members)
    return Command(group, f"{line[0].upper()}{line[1:]}.", members=tuple(zip(members, links, lines, strict=True)))


def _options(name: str) -> tuple[tuple[str, str], ...]:
    """What its --help lists, but for what all commands share."""
    parser = module(name).parser()
    parser.formatter_class = WIDE
    listed = parser.format_help().rpartition("\nexamples:")[0]
    found = re.findall(r"^  (\S.*?)(?:  +(.*))?$", listed, re.MULTILINE)
    return tuple(pair for pair in found if pair[0] not in ("-h, --help", "--quiet"))
