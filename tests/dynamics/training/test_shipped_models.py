"""The checkpoints that come with the package still score what their manifests record, and show the paper's contrast."""

from functools import cache

import pytest

from dynamics.heads.named import inspect
from dynamics.model.config import COMPARED, PRESETS
from dynamics.training.checkpoint import SHIPPED, shipped
from dynamics.training.evaluation import evaluate, parts
from dynamics.training.folder import HISTORY, heldout_of, read_history, steps_to
from dynamics.training.settings import TRAININGS, TrainConfig

TASKED = sorted(folder.name for folder in SHIPPED.iterdir() if (folder / HISTORY).is_file())
SHIFTED = [name for name in TASKED if shipped(name).model.config.shift == "kv"]


@cache
def heads(name):
    """What the shipped model's induction heads are, read once, on a tenth of its rows."""
    found = shipped(name)
    return [report for report in inspect(found.model, parts(heldout_of(found), 400)[0]) if report.attends]


@pytest.mark.parametrize("name", [*PRESETS, *(f"h100/{name}" for name in ("kv-shift", *COMPARED))])
def test_shipped_checkpoint_is_of_its_preset_and_scores_what_its_manifest_records(name):
    found, preset = shipped(name), name.removeprefix("h100/")
    assert (found.model.config, TrainConfig.checked(found.manifest.training)) == (PRESETS[preset], TRAININGS[preset])
    heldout = evaluate(found.model, heldout_of(found))
    assert heldout.rows == found.manifest.metrics["heldout_rows"] >= 4096
    assert abs(heldout.correct - found.manifest.metrics["heldout_correct"]) <= 4  # two best logits may swap here


def test_shipped_kv_shift_model_solves_the_papers_data_before_plain_attention_does():
    scores = {name: shipped(name).manifest.metrics["heldout_accuracy"] for name in PRESETS}
    assert scores["kv-shift"] >= 0.99
    assert max(scores["vanilla-1"], scores["vanilla-2"]) < 0.2


def test_shipped_comparison_is_between_models_that_both_learn():
    reached = {name: steps_to(0.95, read_history(SHIPPED / name)) for name in COMPARED}
    assert reached == {"small-kv-shift": 348, "small-vanilla-1": None, "small-vanilla-2": 1383}
    scores = {name: shipped(name).manifest.metrics["heldout_accuracy"] for name in COMPARED}
    assert min(scores["small-kv-shift"], scores["small-vanilla-2"]) > 0.99


@pytest.mark.parametrize("name", SHIFTED)
def test_shipped_induction_heads_look_back_with_keys_and_stay_with_values(name):
    """Whichever one-layer model with shifted keys and values ships, wherever it was made."""
    assert heads(name) and all(report.key_looks_back and report.value_stays for report in heads(name))


@pytest.mark.parametrize(
    ("name", "number"),
    [("vanilla-1", 0), ("vanilla-2", 0), ("small-kv-shift", 1), ("small-vanilla-1", 0), ("small-vanilla-2", 4)],
)
def test_shipped_plain_models_have_induction_heads_only_in_a_second_layer_that_has_learnt(name, number):
    assert len(heads(name)) == number


def test_shipped_files_are_small():
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < 8_000_000
