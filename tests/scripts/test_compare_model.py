"""The command compare: its numbers are those of the library, its words those of the numbers; and how it refuses."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from dynamics.comparison.equal_memory import Row, held_bytes, shape_of
from dynamics.comparison.on_text import measure
from dynamics.razor.plan_file import parse_plan, read_plan
from dynamics.sinks.opened import open_model
from scripts.commands import table
from tests.dynamics.hf import models
from tests.scripts.commands import read

compare = partial(table.call, "compare")
ROWS = models.tokens(8, 33).numpy()
OPTIONS = "--heads none --sinks 2 --quiet --json out.json"


@pytest.fixture(scope="module")
def folders(saved):
    """Folders of a Llama whose tokenizer has a first token, of a gpt-oss, of a GPT-2 and of a BERT."""
    return saved(("llama", "gpt_oss", "gpt2", "bert"), {"<s>": 0, "[UNK]": 1}, bos_token="<s>")


@pytest.fixture
def here(here):
    np.save("rows.npy", ROWS)
    Path("ids").write_text(" ".join(map(str, ROWS.reshape(-1))), "utf-8")
    Path("heads").write_text("0.1\n", "utf-8")
    return here


def test_the_numbers_are_those_of_the_library_and_the_plan_is_the_chosen_policy(folders, here, done):
    more = "--heads heads --bos each --length 30 --budget 1/2 --write-plan plan.json --policies window razor sinks"
    printed = done(compare, folders / "llama", *f"--records rows.npy {OPTIONS} {more}".split())
    written = read("out.json")
    (found,) = written["budgets"]
    model = open_model(folders / "llama", torch.device("cpu"))
    windows = np.insert(ROWS[:, :29], 0, 0, axis=1)
    shape = shape_of(model, torch.from_numpy(windows[0]))
    rows = [Row(row["policy"], tuple(map(planned, row["plans"]))) for row in found["rows"]]
    (scores,) = measure(model, windows, shape, [rows])
    for row, given in zip(rows, found["rows"], strict=True):
        assert_allclose(found["scores"][row.policy]["windows"], scores[row.policy].windows, rtol=1e-6)
        assert held_bytes(row.policy, row.plans[0], shape, 30) == given["held"] <= found["bytes"] / 2
        assert f"  {given['held']:,}  " in printed and f"{given['held'] / found['bytes']:.1%}" in printed
        assert f"{found['lines'][row.policy]['extra']['value']:+.4f} [" in printed
    assert rows[1].plans[0].full == (frozenset({0}), frozenset()) and ", 1 whole" in printed
    best = found["choice"]["best"]
    assert read_plan("plan.json") == {row.policy: row.plans[0] for row in rows}[best]
    assert f"chosen on 4 texts: {best}; on the other 4" in printed and found["texts"][7] == "record 8"
    assert "8 of 8 windows of 30 tokens, one every 29; put in front: token 0 in each; 32 tokens left out" in printed


def planned(written):
    return parse_plan(json.dumps(written).encode())


@pytest.mark.parametrize("bos", ["each", "first", "none"])
def test_a_first_token_is_not_doubled(folders, here, monkeypatch, bos):
    seen = []
    monkeypatch.setattr("dynamics.comparison.on_text.features", lambda _, tokens: seen.append(tokens) or pytest.fail())
    Path("ids").write_text(" ".join(map(str, [0, *range(1, 59)])), "utf-8")
    with pytest.raises(pytest.fail.Exception):
        compare([str(folders / "llama"), *f"--tokens ids {OPTIONS} --length 30 --bos {bos}".split()])
    assert seen[0].tolist() == list(range(30))


def test_what_does_not_run_says_so_in_its_row(folders, here, done):
    printed = done(compare, folders / "gpt_oss", *f"--tokens ids {OPTIONS} --budget 1 --positions cache".split())
    assert "heavy hitters / random eviction / sinks, renumbered: not written for " in printed
    assert "learned sink logits" in printed and "sliding windows" in printed
    assert "razor / razor, no token / razor, random heads: no head is kept whole" in printed
    assert "window / sinks + window: keeps everything, not run again" in printed
    more = "--positions cache --budget 1/2 --quick --policies window razor --heads auto"
    learned = done(compare, folders / "gpt2", *f"--tokens ids {OPTIONS} {more}".split())
    assert "sinks, renumbered: attention alone cannot give this model other positions" in learned
    assert "heads for Razor: no induction heads found" in learned and "razor: no head is kept whole" in learned


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("bert --tokens ids", "this model is an encoder"),
        ("gpt2 --tokens ids --length 200", "beyond the 128 positions"),
        ("gpt2 --tokens ids --length 40 --budget-tokens 4", "a budget is of 5 (the sinks and one more) to 40 tokens"),
        ("gpt2 --tokens ids --length 40 --budget 1/2,1/9", "got 4.44444"),
        ("gpt2 --tokens ids --length 40 --budget 39/40 --heads none", "no token is left to score"),
        ("gpt2 --tokens ids --budget 0", "expected shares of the full cache"),
        ("gpt2 --tokens ids --bos each", "needs a tokenizer with a first token"),
        ("gpt2 --tokens ids --heads wrong", "expected layers or layer.head"),
        ("gpt2 --tokens ids --length 40 --heads far", "got (7, 0)"),
        ("gpt2 --tokens ids --write-plan plan.json", "--write-plan needs one budget"),
        ("gpt2 --tokens ids --json a --write-plan a --budget 1/2", "name one file"),
        ("gpt2 --text blank", "the text is empty"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(folders, here, command, line, words):
    Path("blank").write_text(" \n", "utf-8")
    Path("far").write_text("7.0", "utf-8")
    Path("wrong").write_text("3.x", "utf-8")
    before = sorted(here.iterdir())
    status, printed, told = command(compare, *f"{folders}/{line} --quiet".split())
    assert (status, printed, told.count("\n")) == (2, "", 1) and words in told, told
    assert sorted(here.iterdir()) == before
