"""Plans as JSON: read back equal, stable, and refused in one line where they are not plans."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from dynamics.razor.plan import RazorPlan
from dynamics.razor.plan_file import parse_plan, plan_text, read_plan, write_plan
from tests.dynamics.razor.cases import plans
from tests.dynamics.refusal import refused

PLAN = RazorPlan(4, 2, (frozenset({1}), frozenset()), sinks=2, buffer=6, share=Fraction(1, 5), prompt=3)
TEXT = """{
  "format": "razor-plan",
  "version": 1,
  "n_heads": 4,
  "n_kv_heads": 2,
  "full": [[1],[]],
  "sinks": 2,
  "buffer": 6,
  "share": [1,5],
  "compensation": "mean",
  "prompt": 3,
  "centre_queries": 16
}
"""


@given(plans(n_layers=3))
def test_a_plan_is_read_back_as_it_was(plan):
    assert parse_plan(plan_text(plan).encode()) == plan


def test_the_file_is_what_the_page_says(tmp_path):
    path = tmp_path / "folder" / "plan.json"
    write_plan(path, PLAN)
    assert path.read_text() == TEXT == plan_text(PLAN)
    assert read_plan(path) == PLAN
    assert read_plan(path) == replace(PLAN, share=Fraction(2, 10))


def changed(**fields):
    return json.dumps(json.loads(TEXT) | fields).encode()


def test_a_file_that_is_too_large_or_missing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dynamics.razor.plan_file.LARGEST", 8)
    write_plan(tmp_path / "p.json", PLAN)
    refused(r"p.json: more than 8 bytes are too many", read_plan, tmp_path / "p.json")
    with pytest.raises(FileNotFoundError):
        read_plan(tmp_path / "absent.json")
