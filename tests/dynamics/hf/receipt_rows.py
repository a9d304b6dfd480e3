"""How tight receipts are, family by family: the rows of docs/receipts.md, from tiny random models.

`python -m tests.dynamics.hf.receipt_rows` prints them.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace

import torch

from dynamics.hf.receipt import receipts
from dynamics.scope.receipt import weighed
from dynamics.weights.families import READ
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.hf import models
from tests.dynamics.hf.test_cache import plan_for

# Its values are not normed: they have no bound.
UNREAD = ("olmo2",)
PROMPT, NEW, BUFFER = 16, 48, 16


def numbers(model: torch.nn.Module, ids: torch.Tensor, read: bool) -> tuple[int, int, float, float, float | None]:
    """What a model that goes on from ids has, with two sinks and a window, in single precision: entries, exceeded
    bounds, median of bound / measured, vacuous share, and that of the range alone, None where values are not read."""
    known = None
    if read:
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            known = weighed(open_checkpoint(folder))
    plan = replace(plan_for(model, compensation="none", buffer=BUFFER), full=(frozenset(),) * 2)
    with receipts(model, plan, known, measure=True) as cache:
        model.generate(ids, past_key_values=cache, max_new_tokens=NEW, do_sample=False)
        found = cache.razor_cache.receipt()
    ranged = found.vacuous_range if read else None
    return int(found.forgetful.sum()), found.violations, found.tightness, found.vacuous, ranged


def row(family: str) -> tuple[str, int, int, float, float, float | None]:
    """The family, and the numbers of its tiny random model."""
    read = family in READ and family not in UNREAD
    return family, *numbers(models.model(family, dtype=torch.float32), models.tokens(2, PROMPT), read)


def line(cells: tuple[str, int, int, float, float, float | None]) -> str:
    """The row as Markdown."""
    family, entries, over, tight, vacuous, ranged = cells
    last = "-" if ranged is None else f"{ranged:.2f}"
    return f"| {family} | {entries} | {over} | {tight:.1f} | {vacuous:.2f} | {last} |"


if __name__ == "__main__":
    print(*(line(row(family)) for family in models.FAMILIES), sep="\n")
