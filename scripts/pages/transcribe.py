"""Read the cells of the papers' tables from the papers' texts, as a second table beside the one that is typed by hand.

Each table becomes rows of strings as printed, its header first where it has one. A cell that the text garbles is typed
here, and is marked so with what the text has and why.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dynamics.files.atomic import atomic_write_text

from ..commands import cli

WRITTEN = Path(__file__).resolve().parents[2] / "proofs_check" / "records" / "tables.json"


class Typed(NamedTuple):
    """Cells by row and column; row 0 is the header, column 0 the names of the rows. None is a cell that is lost."""

    reason: str
    cells: Mapping[tuple[int, int], str | None]


class Layout(NamedTuple):
    """Where a table stands in the text, and which of its rows are read."""

    above: bool = False  # whether the table stands above its caption
    skipped: int = 0  # lines above the header
    width: int = 0  # cells of a row, where only blanks stand between them
    without: str = "$."  # names of rows that are left out: they hold words, or numbers that no claim uses
    typed: Sequence[Typed] = ()


FINAL, FIRST = "kv-shifting", "kv-shifting-v1"
MODELS = ("Qwen1.5-7B-Chat", "Qwen1.5-72B-Chat", "Llama3-8B-Instruct", "Baichuan2-13B")
# Of Table 4 of RazorAttention the text has the caption alone; no claim uses Table 5 of the first version.
TABLES = {
    f"{FINAL}: Table 1": Layout(),
    f"{FINAL}: Table 2": Layout(),
    f"{FINAL}: Table 3": Layout(above=True),
    f"{FINAL}: Table 4": Layout(),
    f"{FINAL}: Table 5": Layout(),
    **{f"{FINAL}: Table {number}": Layout(skipped=1) for number in range(6, 16)},
    f"{FINAL}: Table 16": Layout(without="LEARNING RATE SHEDULE"),
    f"{FIRST}: Table 1": Layout(width=5),
    f"{FIRST}: Table 2": Layout(width=10),
    f"{FIRST}: Table 3": Layout(width=6, skipped=1),
    f"{FIRST}: Table 4": Layout(width=2, typed=[Typed(
        "The text runs several readings of one formula together.",
        {(0, 0): "", (0, 1): "$\\alpha_1 > \\alpha_2$", (0, 2): "$\\alpha_1 \\leq \\alpha_2$",
         (1, 0): "$\\beta_1 > \\beta_2$", (2, 0): "$\\beta_1 \\leq \\beta_2$"},
    )]),
    f"{FIRST}: Table 6": Layout(width=5, without="Learning Rate shedule|Optimizer"),
    f"{FIRST}: Table 7": Layout(width=2),
    "razorattention: Table 1": Layout(above=True, typed=[
        Typed("Letters are misread.", {(0, 1): "MultiFieldQA-en", (0, 2): "HotpotQA", (0, 3): "2WikiMQA"}),
    ]),
    "razorattention: Table 2": Layout(above=True, without="Sink token num"),  # the text lost it, and no claim uses it
    "razorattention: Table 3": Layout(above=True, typed=[
        Typed("Letters are misread.", {(0, 2): "NrtvQA", (0, 4): "MF-en", (0, 5): "MF-zh", (0, 11): "MultiNews",
                                       (0, 16): "LCC"}),
        Typed("The text has one name for four rows, misread, and beside any of them.",
              {(row, 0): MODELS[(row - 1) // 4] for row in range(1, 17)}),
        Typed("The text has a misread mark; by the caption these scores are not included.",
              {(row, column): "-" for row in range(9, 13) for column in (13, 15)}),
        Typed("The text has a misread mark: the number is lost.", {(10, 6): None}),
    ]),
    "resformer: Table 1": Layout(above=True),
    "resformer: Table 2": Layout(above=True),
    "resformer: Table 3": Layout(above=True, skipped=1),
    "resformer: Table 4": Layout(above=True, without="Tie|.*Learning|Activation|Position|Batch|Data|Adam|Drop|Weight"),
    "resformer: Table 5": Layout(above=True),
}  # fmt: skip
# Sentences and captions with numbers that claims take for cells; each pattern is found once, its groups are the row.
SETTINGS = (
    r"linear warmup of (\d+) steps", r"learning rate for (\S+) / (\S+) / (\S+) / (\S+) / (\S+) model",
    r"model is \$?([\de-]+) / ([\de-]+) / ([\de-]+) / ([\de-]+) / ([\de-]+)",
    r"batch size is (\d+M)/(\d+M)/(\d+M)/(\d+M)/(\dM)", r"1M here means \$?([\d,]+) =", r"vocabulary size of (\d+)",
    r"batch size for (\S+) and \S+ model is ([\d.]+M)",
    r"batch size for \S+ and (\S+) model is ([\d.]+M), for (\S+) is ([\d.]+M)",
    r"from scratch: a (\S+)/(\S+) parameters",
)  # fmt: skip
COUNTED = r"the total numbers is (\d+)", r"the diagonal was already (\d+),(\d+)"
PAIR = ", ".join(rf"\$\\{name}_{index} = (-?[\d.]+)\$" for name in ("alpha", "beta") for index in (1, 2))
SENTENCES = {
    f"{FINAL}: settings": SETTINGS, f"{FIRST}: settings": SETTINGS,
    f"{FINAL}: beside Table 5": (*COUNTED, PAIR), f"{FIRST}: beside Table 4": COUNTED,
    f"{FINAL}: caption of Table 13": (
        r"consumption is (\d+) MiB when context length is (\d+)",
        r"context length is (\d+), KV shifting attention is (\d+) MiB",
        r"selective attention is (\d+) MiB when context length is (\d+)",
    ),
    "resformer: Section 4.1.1": (r"warmup for the first ([\d,]+) steps",),
}  # fmt: skip


def parser() -> cli.Parser:
    p = cli.Parser(prog="python -m scripts.pages.transcribe", description=__doc__.splitlines()[0])
    p.add_argument("--papers", required=True, metavar="FOLDER", help="where the texts of the papers are, as PAPER.txt")
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)

    folder = Path(args.papers)
    found = {}
    for name in (*TABLES, *SENTENCES):
        found[name] = rows((folder / f"{name.split(': ')[0]}.txt").read_text("utf-8"), name)
    tables = (f" {json.dumps(name)}: [\n{_lines(table)}\n ]" for name, table in found.items())
    atomic_write_text(WRITTEN, "{\n" + ",\n".join(tables) + "\n}\n")
    cells = [cell for table in found.values() for row in table for cell in row]
    typed = sum(isinstance(cell, dict) for cell in cells)
    print(f"{WRITTEN}: {len(found)} tables, {len(cells)} cells, {typed} of them typed")
    return 0


def rows(text: str, name: str) -> list[list[Any]]:
    """The rows of a table, or the one row of numbers that sentences give.

    Raises ValueError where the text does not have the table or the sentence exactly once.
    """
    if name in SENTENCES:
        return [[cell for pattern in SENTENCES[name] for cell in _once(re.findall(pattern, text), pattern, name)]]
    layout, lines = TABLES[name], text.splitlines()
    caption = name.split(": ")[1] + ":"
    step = -1 if layout.above else 1
    at = _once([place for place, line in enumerate(lines) if caption in line[:40]], caption, name)[0] + 2 * step
    block = []
    while 0 <= at < len(lines) and lines[at].strip() and not lines[at].startswith("Table"):
        block.append(lines[at])
        at += step
    table: list[list[Any]] = []
    for line in [line for line in block[::step] if not line.startswith("|--")][layout.skipped :]:
        row = _cells(line, layout.width)
        if len(table) > 1 and not row[0]:
            row[0] = table[-1][0]  # a name that stands for several rows
        if not re.match(layout.without, row[0]):
            table.append(row)
    for reason, cells in layout.typed:
        for (row, column), cell in cells.items():
            table[row][column] = {"typed": True, "cell": cell, "text": table[row][column], "reason": reason}
    return table


def _once(found: list[Any], what: str, name: str) -> tuple[Any, ...]:
    if len(found) != 1:
        raise ValueError(f"{name}: {what!r} is found {len(found)} times in the text of the paper, not once")
    return found[0] if isinstance(found[0], tuple) else (found[0],)


def _cells(line: str, width: int) -> list[str]:
    """The name of a row and its cells, between tabs, bars or blanks; the number of a line before them is dropped."""
    if not width:
        parts = line.strip("|").split("|") if line.startswith("|") else re.sub(r"^\d+\t", "", line).split("\t")
    elif len(parts := line.rsplit(None, width)) == width:
        parts = ["", *parts]
    elif len(parts) < width:
        parts = line.rsplit(None, 1)
    parts = [part.strip() for part in parts]
    while not parts[-1]:
        parts.pop()
    return parts


def _lines(table: list[list[Any]]) -> str:
    return ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in table)


if __name__ == "__main__":
    sys.exit(cli.run(main))
