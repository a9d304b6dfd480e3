"""The checkpoints that come with the package still score what their manifests record, and show the paper's contrast."""

import pytest

from dynamics.checkpoint import SHIPPED, shipped
from dynamics.config import PRESETS
from dynamics.evaluation import evaluate
from dynamics.heads import inspect
from dynamics.runs import heldout_of

# Rows whose two best logits may swap under another order of summation; re-evaluated here, none does.
NEAR_TIES = 4


@pytest.mark.parametrize("name", PRESETS)
def test_shipped_checkpoint_scores_what_its_manifest_records(name):
    found = shipped(name)
    heldout = evaluate(found.model, heldout_of(found))
    assert found.model.config == PRESETS[name]
    assert heldout.rows == found.manifest.metrics["heldout_rows"] >= 4096
    assert abs(heldout.correct - found.manifest.metrics["heldout_correct"]) <= NEAR_TIES


def test_shipped_kv_shift_model_solves_the_task_where_plain_attention_fails():
    scores = {name: shipped(name).manifest.metrics["heldout_accuracy"] for name in PRESETS}
    steps = {shipped(name).manifest.training["steps"] for name in PRESETS}
    assert len(steps) == 1
    assert scores["kv-shift"] >= 0.99
    assert max(scores["vanilla-1"], scores["vanilla-2"]) < 0.2


def test_shipped_induction_heads_look_back_with_keys_and_stay_with_values():
    found = shipped("kv-shift")
    heads = [report for report in inspect(found.model, heldout_of(found)) if report.is_induction]
    assert heads
    assert all(report.key_looks_back and report.value_stays for report in heads)


@pytest.mark.parametrize("name", ["vanilla-1", "vanilla-2"])
def test_shipped_plain_models_have_no_induction_head(name):
    found = shipped(name)
    assert not any(report.is_induction for report in inspect(found.model, heldout_of(found)))


def test_shipped_files_are_small():
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < 8_000_000
