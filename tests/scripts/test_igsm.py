"""The command of the iGSM plan: its table, its files, going on; what ships, and what is said of it."""

import numpy as np
import pytest
import torch

from dynamics.arena import igsm as presets
from dynamics.arena.igsm import PRESETS
from dynamics.arena.solved import IGSM, accuracies, lines, outcome, read_bundle
from dynamics.arena.solving import train
from dynamics.arena.solving_plan import PARTS
from proofs_check.ledger.registry import load
from scripts.pages import igsm_page
from tests.dynamics.arena.solving_cases import TRAINING, tiny
from tests.scripts.commands import read, run_twice

FEW = TRAINING.model_copy(update={"problems": 1, "tested": (3,), "steps": PARTS})


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setitem(presets.PRESETS, "quick", lambda: tiny(training=FEW))


def test_a_run_prints_its_table_and_writes_json_and_bundle(tmp_path, done):
    said = run_twice(done, tmp_path, ["--table"], "igsm", "--quick", "--jobs", "1", "--quiet")
    assert said[0] == "Tiny"
    assert [line.split(",")[0] for line in said[2:4]] == ["answered", "right"]
    assert "independent and normal" in "\n".join(said)
    record, bundle = read(tmp_path / "t.json"), read_bundle(tmp_path / "b.json")
    assert record["accuracies"][0]["seeds"] == 4
    assert record["plan_sha256"] == bundle.plan.sha256 == tiny(training=FEW).sha256
    assert {len(seeds) for seeds in bundle.solved.values()} == {4}


def test_what_ships_is_all_of_the_plan():
    bundle = read_bundle(IGSM)
    assert bundle.plan == PRESETS["igsm"]()
    assert {len(seeds) for seeds in bundle.solved.values()} == {bundle.plan.seeds} == {8}
    assert all(None not in one.loss for seeds in bundle.solved.values() for one in seeds)


def test_what_is_said_is_what_ships():
    """The page's rows and its words on them, from the bundle, by numpy alone."""
    bundle, text = read_bundle(IGSM), "\n".join(igsm_page.section(load()))
    found = {line.name: (line, outcome(bundle.plan, line)) for line in lines(bundle)}
    for place, name in enumerate(list(bundle.plan.rules)[:3]):
        ours, theirs = (
            np.array([one.answered[place] for one in bundle.solved[m]]) / 300 for m in ("kv-shift", "vanilla")
        )
        assert (found[name][0].variant, found[name][0].baseline) == pytest.approx((ours.mean(), theirs.mean()))
        assert (
            f"| {name} | 8 | {theirs.mean():.3f} | {ours.mean():.3f} | {100 * (ours - theirs).mean():+.1f} points"
            in text
        )
    assert [said for _, said in found.values()] == ["undecided"] * 4 + [
        "no difference larger than 2 points",
        "undecided",
    ]
    four = [accuracies(bundle, model, "answered, 4 operations") for model in ("kv-shift", "vanilla")]
    assert (four[0] > four[1]).all()
    assert "[-1.5, +20.5]" in text
    for operations in (5, 6):
        answered, right = (found[f"{kind}, {operations} operations"][0] for kind in ("answered", "right"))
        assert max(answered.baseline, answered.variant) < 1 / bundle.plan.training.task.modulus + 0.01
        assert max(right.baseline, right.variant) < 0.01


@pytest.mark.deep
def test_a_shipped_run_repeats_to_the_same_numbers(tmp_path):
    """Where torch is the one that it was made with."""
    bundle = read_bundle(IGSM)
    if bundle.torch_version != torch.__version__:
        pytest.skip("made with another torch")
    torch.set_num_threads(bundle.place.threads)
    one = train(bundle.plan.run(bundle.plan.variant, 0), tmp_path / "r.json", tmp_path / "s", bundle.place)
    assert one.solved == bundle.solved[bundle.plan.variant][0]
