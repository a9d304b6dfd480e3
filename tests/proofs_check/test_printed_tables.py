"""What the code holds of the papers' tables against the cells that `scripts.transcribe` read from their texts."""

import json
import re
from fractions import Fraction

import pytest
from sympy import latex

from dynamics.heads import selection
from proofs_check.kv.method import setup
from proofs_check.kv.tables.text import OPTIMISER
from scripts.pages import transcribe
from theory.cache import size
from theory.landscape import symbolic

PRINTED = json.loads(transcribe.WRITTEN.read_text("utf-8"))
# The same tables in the final and in the first version.
VERSIONS = [("Table 1", "Table 1"), ("Table 2", "Table 2"), ("Table 4", "Table 7"), ("Table 5", "Table 4"),
            ("Table 14", "Table 3"), ("Table 16", "Table 6"), ("settings", "settings")]  # fmt: skip
SHAPES = {"layers": "Layers", "heads": "Attention Heads", "hidden": "Hidden Dimension", "ffn": "FFN Dimension"}


def typed_by_hand():
    """The tables as the code holds them: rows of names and values, by the names of the printed tables."""
    form = {entry.name: latex(entry.numerator) for entry in symbolic.interior_table().classes}
    edge = latex(symbolic.printed_edge_numerator())
    logits = {"i - 1": edge, "i": form["repeated"], "i+1": form["target"], "T": edge, "other else": form["other"]}
    table = [["predict tokens", "logit"], *([name, f"{logit}/S"] for name, logit in logits.items())]
    return {"kv-shifting: Table 3": table, **others()}


def others():
    """Those of RazorAttention."""
    return {
        "razorattention: Table 2": [
            ["Hyper-parameter", "Settings"],
            ["Buffer length", (size.LEAST_BUFFER, 1 / size.BUFFER_SHARE)],
            ["Induction head protection", 100 * Fraction(selection.INDUCTION_SHARE)],
            ["Echo head protection", 100 * Fraction(selection.ECHO_SHARE)],
        ],
    }


def plain(cell):
    """The text of a printed cell; None where it is lost."""
    return cell["cell"] if isinstance(cell, dict) else cell


def numbers(text):
    found = re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e-\d+)?", text, re.IGNORECASE)
    return [Fraction(number.replace(",", "")) for number in found]


def bare(text):
    text = text.replace("KV Shiting", "KV shifting")  # a slip of the first version
    return re.sub(r"[^a-z0-9+.<>-]", "", text.casefold())


def agree(value, printed):
    """Whether what the code holds is what a cell prints: a name, a number or several, or that there is none."""
    if value is None or printed is None:
        return value is None and printed in (None, "-", "OOM")
    if isinstance(value, str):
        return bare(value) == bare(printed)
    return [*value] == numbers(printed) if isinstance(value, tuple) else [value] == numbers(printed)


def pairs(table, typed):
    """The cells that stand at the same place; raises ValueError where the one table has more than the other."""
    return [
        (value, plain(cell))
        for held, row in zip(typed, table, strict=True)
        for value, cell in zip(held, row, strict=True)
    ]


@pytest.mark.parametrize("name", typed_by_hand())
def test_each_cell_is_the_printed_one_and_a_digit_that_differs_is_seen(name):
    found = pairs(PRINTED[name], typed_by_hand()[name])
    assert [(value, printed) for value, printed in found if not agree(value, printed)] == []
    assert [(value, other) for value, printed in found for other in moved(printed) if agree(value, other)] == []


def moved(printed):
    """The cell with each of its digits one higher, or with a digit where it has none."""
    text = printed or ""
    digits = [place for place, letter in enumerate(text) if letter.isdigit()]
    return [f"{text[:p]}{(int(text[p]) + 1) % 10}{text[p + 1 :]}" for p in digits] or [f"{text}0"]


@pytest.mark.parametrize(("final", "first"), VERSIONS)
def test_both_versions_print_the_same_numbers(final, first):
    read = [[[numbers(plain(cell) or "") for cell in row] for row in PRINTED[f"{paper}: {name}"]
             if not bare(plain(row[0])).startswith("optimizer")]
            for paper, name in (("kv-shifting", final), ("kv-shifting-v1", first))]  # fmt: skip
    assert read[0] == read[1] and any(map(any, read[0]))


def test_optimiser_and_base_of_table_16():
    (_, printed), (_, base) = PRINTED["kv-shifting: Table 16"][-2:]
    (adam, *rates), (*values, decay) = (OPTIMISER["table"][part] for part in ("names", "numbers"))
    said = f"{adam} with " + ", ".join(map("{} = {}".format, rates, values)) + f", weight decay={decay}"
    assert agree(said, printed) and agree(setup.BASE, base)


def test_of_what_the_script_types_no_cell_is_a_number():
    typed = [cell for table in PRINTED.values() for row in table for cell in row if isinstance(cell, dict)]
    assert len(typed) == 38 and all(cell["typed"] is True and cell["reason"] for cell in typed)
    scores = [cell for table in PRINTED.values() for row in table[1:] for cell in row[1:] if cell in typed]
    assert len(scores) == 9 and {plain(cell) for cell in scores} == {None, "-"}


LAYOUTS = [
    ("kv-shifting: Table 4", "Table 4: Two.\n\nMODEL\tA\tB\nX\t1\t2,3\n\nTable 4 says",
     [["MODEL", "A", "B"], ["X", "1", "2,3"]]),
    ("kv-shifting-v1: Table 3", "Table 3: Six.\n\nover\nA B C D E F\nX - 1 1 2 3 4 5 6\n6 5 4 3 2 1\nall alike 7",
     [["", *"ABCDEF"], ["X - 1", *"123456"], ["X - 1", *"654321"], ["all alike", "7"]]),
    ("resformer: Table 3", "\n| | |\n|---|---|\n| Length | 5 |\n| Step | 32 | |\n\nTable 3: Bars.",
     [["Length", "5"], ["Step", "32"]]),
    ("resformer: Section 4.1.1", "a warmup for the first 1,200 steps with", [["1,200"]]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "rows"), LAYOUTS)
def test_a_table_is_read_between_tabs_bars_and_blanks_where_the_text_has_it_once(name, text, rows):
    assert transcribe.rows(text, name) == rows
    for times in (0, 2):
        with pytest.raises(ValueError, match=f"is found {times} times in the text of the paper, not once"):
            transcribe.rows(f"{text}\n" * times, name)
