"""How tight receipts are, family by family: the rows of docs/receipts.md, from tiny random models.

`python -m tests.dynamics.hf.receipt_rows` prints them.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace

import torch

from dynamics.hf.receipt import receipts
from dynamics.razor.receipt import Receipt
from dynamics.scope.receipt import weighed
from dynamics.weights.families import READ
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.hf import models
from tests.dynamics.hf.test_cache import plan_for

# Its values are not normed: they have no bound.
UNREAD = ("olmo2",)
PROMPT, NEW, BUFFER = 16, 48, 16


def measured(family: str) -> Receipt:
    """Receipts of a tiny random model that generates, with two sinks and a window, in single precision."""
    model = models.model(family, dtype=torch.float32)
    known = None
    if family in READ and family not in UNREAD:
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            known = weighed(open_checkpoint(folder))
    plan = replace(plan_for(model, compensation="none", buffer=BUFFER), full=(frozenset(),) * 2)
    with receipts(model, plan, known, measure=True) as cache:
        ids = models.tokens(2, PROMPT)
        model.generate(ids, past_key_values=cache, max_new_tokens=NEW, do_sample=False)
        return cache.razor_cache.receipt()


def row(family: str) -> tuple[str, int, int, float, float, float | None]:
    """Family, entries, exceeded bounds, median of bound / measured, vacuous share, and that of the range alone."""
    found = measured(family)
    ranged = None if family not in READ or family in UNREAD else found.vacuous_range
    return family, int(found.forgetful.sum()), found.violations, found.tightness, found.vacuous, ranged


def line(cells: tuple[str, int, int, float, float, float | None]) -> str:
    """The row as Markdown."""
    family, entries, over, tight, vacuous, ranged = cells
    last = "-" if ranged is None else f"{ranged:.2f}"
    return f"| {family} | {entries} | {over} | {tight:.1f} | {vacuous:.2f} | {last} |"


if __name__ == "__main__":
    print(*(line(row(family)) for family in models.FAMILIES), sep="\n")
