"""Plans as JSON: read back equal, stable, and refused in one line where they are not plans."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from dynamics.razor.plan import RazorPlan
from dynamics.razor.plan_file import parse_plan, plan_text, read_plan, write_plan
from tests.dynamics.razor.cases import plans

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


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "p.json: not readable as JSON"),
        (b"[1]", "p.json: not a JSON object"),
        (b'{"format": NaN}', "p.json: "),
        (changed(version=2), r"p.json: version: Input should be 1 \(got 2\)"),
        (changed(format="plan"), "p.json: format: Input should be 'razor-plan'"),
        (changed(extra=1), "p.json: extra: Extra inputs are not permitted"),
        (changed(sinks=-1), r"p.json: sinks: .* \(got -1\)"),
        (changed(sinks=True), "p.json: sinks: "),
        (changed(buffer=1.5), "p.json: buffer: "),
        (changed(share=[1]), "p.json: share: "),
        (plan_text(PLAN).replace('"sinks"', '"n_heads": 8, "sinks"').encode(), ".*'n_heads' stands twice"),
        (changed(share=[1, 0]), "p.json: share: the denominator must not be 0"),
        (changed(share=[3, 2]), r"p.json: share must be a Fraction in \[0, 1\], got Fraction\(3, 2\)"),
        (changed(full=[[1, 1], []]), r"p.json: full.0: a head stands twice \(got \[1, 1\]\)"),
        (changed(full=[[2], []]), "p.json: full must name key-value heads 0..1, got 2"),
        (changed(full=[]), "p.json: full must hold one set of key-value heads a layer, got none"),
        (changed(n_heads=3), "p.json: n_heads must be a multiple of n_kv_heads, got 3 and 2"),
        (changed(compensation="all"), "p.json: compensation: Input should be 'none', 'mean', 'alibi' or 'centred'"),
    ],
)
def test_what_is_no_plan_is_refused_in_one_line(data, message):
    with pytest.raises(ValueError, match=f"^{message}") as refusal:
        parse_plan(data, "p.json")
    assert "\n" not in str(refusal.value)


def test_a_file_that_is_too_large_or_missing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dynamics.razor.plan_file.LARGEST", 8)
    write_plan(tmp_path / "p.json", PLAN)
    with pytest.raises(ValueError, match=r"p.json: more than 8 bytes are too many"):
        read_plan(tmp_path / "p.json")
    with pytest.raises(FileNotFoundError):
        read_plan(tmp_path / "absent.json")
