"""docs/receipts.md says what is measured: the families' rows, the plan's file, what a promise keeps."""

import json
import re
from pathlib import Path

import pytest
import torch

from dynamics.model.attention_function import replaced
from dynamics.razor.plan_file import parse_plan, plan_text
from dynamics.razor.promise import PromiseCache
from dynamics.scope.promise import windows
from dynamics.scope.receipt import weighed
from dynamics.training.checkpoint import SHIPPED, shipped
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.hf import models
from tests.dynamics.hf.receipt_rows import line, row

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "receipts.md").read_text("utf-8")
ROWS = {cells[0]: cells for cells in re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| (\S+) \|$",
                                                PAGE, re.MULTILINE)}  # fmt: skip
QUICK = ("bloom", "mpt", "llama", "qwen3")


@pytest.mark.parametrize("family", [*QUICK, *(pytest.param(name, marks=pytest.mark.deep) for name in models.FAMILIES
                                              if name not in QUICK)])  # fmt: skip
def test_a_family_is_as_tight_as_the_page_says(family):
    _, entries, over, tight, vacuous, ranged = row(family)
    said = ROWS[family]
    assert (int(said[1]), int(said[2])) == (entries, over) and over == 0
    assert float(said[3]) == pytest.approx(tight, rel=0.03, abs=0.06)
    assert float(said[4]) == pytest.approx(vacuous, abs=0.02)
    assert (said[5] == "-") == (ranged is None) and (ranged is None or abs(float(said[5]) - ranged) < 0.02)


def test_every_family_has_its_row():
    assert list(ROWS) == list(models.FAMILIES)
    assert line(("x", 1, 0, 2.0, 0.5, None)) == "| x | 1 | 0 | 2.0 | 0.50 | - |"


def test_the_plan_on_the_page_is_a_plan():
    found = re.search(r"^    \{\n.*?^    \}\n", PAGE, re.MULTILINE | re.DOTALL)
    text = re.sub("^    ", "", found[0], flags=re.MULTILINE)
    assert plan_text(parse_plan(text.encode())) == text
    fields = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (`\w+`[^|]*) \|", PAGE, re.MULTILINE))))
    assert fields >= set(json.loads(text))


@pytest.mark.parametrize("error", [0.1, 0.01])
def test_a_promise_keeps_what_the_page_says(error):
    checkpoint, model = open_checkpoint(SHIPPED / "alibi-text"), shipped("alibi-text").model
    tokens = torch.tensor(list((ROOT / "LICENSE").read_bytes()[:256]))[None]
    cache = PromiseCache(weighed(checkpoint), 8, error)
    with replaced(model, cache), torch.no_grad():
        model(tokens)
    said = re.search(rf"^\| 256 \| {error} \| ([\d.]+) \|", PAGE, re.MULTILINE)
    assert float(said[1]) == pytest.approx(cache.kept_share(), abs=0.002)
    assert sum(map(sum, windows(checkpoint, error, 256))) / (32 * 256) == pytest.approx(0.95, abs=0.005)
