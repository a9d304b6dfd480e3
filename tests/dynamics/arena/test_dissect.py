"""A model that is looked at while it trains leaves the arena's bytes; what is seen of it is what it does."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from dynamics.arena import dissect as module
from dynamics.arena.bundle import shipped_arena, shipped_names
from dynamics.arena.dissect import (
    SCHEMES,
    changes,
    contexts,
    dissection,
    probe_of,
    quick,
    read_folder,
    run_dissection,
    windows,
)  # fmt: skip
from dynamics.arena.dissected import DissectionPlan, Looks, read_dissection, strays, write_dissection
from dynamics.arena.training import run as train
from dynamics.arena.training import texts
from dynamics.model.decoder import build
from dynamics.observed.log import stacked
from dynamics.observed.scores import observe
from dynamics.tasks.corpus import standard_library
from tests.dynamics.folders import contents, filled
from tests.dynamics.refusal import refused

CORPUS = standard_library()
ENTRIES = ("kv-shift+resformer", "learnt-positions")


def tiny() -> DissectionPlan:
    """Two entries of the quick plan, one with shifts, one with learnt positions; two seeds, three moments."""
    plan = quick(CORPUS.sha256)
    entries = {name: plan.entries[name] for name in ENTRIES}
    entries = {
        name: one.but(training=one.training.but(steps=6, rows=2, warmup=1))
        for name, one in entries.items()
    }
    return plan.but(entries=entries, looks=Looks(moments=2, windows=2, changed=2, targets=8))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("dissected") / "a"
    run_dissection(tiny(), found, n_jobs=1, progress=False)
    return found


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_run_that_is_looked_at_leaves_the_bytes_of_the_arenas_own(folder, entry, tmp_path):
    run = tiny().run(entry, 1)
    train(run, tmp_path / "plain.json", tmp_path / "state")
    assert (folder / "results" / f"{run.name}.json").read_bytes() == (tmp_path / "plain.json").read_bytes()


def test_a_killed_dissection_goes_on_to_the_same_bytes_and_a_whole_one_does_nothing(folder, tmp_path, monkeypatch):
    whole = contents(folder)
    other = filled(tmp_path / "a", whole)
    (other / "seen" / f"{ENTRIES[0]}.seed-0.json").unlink()
    (other / "seen" / "half.tmp").write_text("{")
    run_dissection(tiny(), other, n_jobs=1, progress=False)
    assert contents(other) == whole
    monkeypatch.setattr(module, "_train", lambda *_: pytest.fail("trained again"))
    run_dissection(tiny(), other, n_jobs=1, progress=False)
    assert contents(other) == whole


def test_folders_of_others_and_damaged_ones_are_refused(folder, tmp_path):
    refused(
        "holds another plan", run_dissection, tiny().but(seeds=1), folder, n_jobs=1, progress=False
    )
    copy = filled(tmp_path / "c", contents(folder))
    results = copy / "results"
    (results / f"{ENTRIES[0]}.seed-0.json").write_bytes((results / f"{ENTRIES[0]}.seed-1.json").read_bytes())
    refused("is of no run of this plan", read_folder, copy)
    seen = copy / "seen" / f"{ENTRIES[0]}.seed-0.json"
    seen.write_text(seen.read_text().replace('"step":3', '"step":4'))
    refused("seed-0.json: not seen after", read_folder, copy)


def test_a_file_holds_what_the_folder_does(folder, tmp_path):
    found = read_folder(folder)
    write_dissection(tmp_path / "d.json", found)
    assert read_dissection(tmp_path / "d.json") == found
    assert [len(found.seen[name]) for name in ENTRIES] == [2, 2]
    (tmp_path / "d.json").write_bytes((tmp_path / "d.json").read_bytes() + b" ")
    refused("not the bytes", read_dissection, tmp_path / "d.json")


def test_what_is_seen_at_the_end_is_what_the_observer_finds_of_the_trained_model(tmp_path):
    kept, run = {}, tiny().run(ENTRIES[0], 0)
    looks, source = tiny().looks, texts(CORPUS, CORPUS.sha256)
    watcher = module.Watcher(run, looks, source)

    def watch(done, stack):
        watcher(done, stack)
        kept["model"] = module.unstack(stack.config, stack.parameters, 0)

    refused("has not come to its end", watcher.seen)
    train(run, tmp_path / "r.json", None, watch=watch)
    assert not (tmp_path / "None").exists() and len(list(tmp_path.iterdir())) == 1
    model, seen = kept["model"], watcher.seen()
    found = observe(model, probe_of(model, looks, source))
    assert [one.step for one in seen.moments] == looks.steps(run.training.steps) == [0, 3, 6]
    for name in ("induction", "previous", "sink", "entropy", "drain", "peak", "alpha", "beta"):
        np.testing.assert_allclose(stacked(seen.moments, name)[-1], getattr(found, name), rtol=6e-3)
    repeats = [found.copy_loss[:15].mean(), *found.copy_loss[15:].reshape(3, 16).mean(1)]
    np.testing.assert_allclose(seen.moments[-1].copy_loss, repeats, atol=1e-5)
    assert seen.moments[0] != seen.moments[1].but(step=0)
    assert seen.swap is None and seen.mask.later_before != seen.mask.later_after


def model_of(name, seed=0):
    return build(quick(CORPUS.sha256).entries[name].config, torch.Generator().manual_seed(seed)).eval()


def test_rows_of_a_probe_are_beginnings_of_heldout_documents_and_tokens_that_are_not_rare():
    looks, source = Looks(), texts(CORPUS, CORPUS.sha256)
    probe = probe_of(model_of("vanilla"), looks, source)
    assert probe.text.shape == (32, 128) and probe.copies.shape == (16, 64)
    joined = CORPUS.heldout.tobytes()
    for row in probe.text.astype(np.uint8):
        at = joined.index(row.tobytes())
        assert at == 0 or joined[:at].rstrip(b" \t\n") != joined[:at]
    counts = np.bincount(CORPUS.training, minlength=128)
    assert counts[probe.copies].min() > counts.sum() / 2000
    refused("documents of more than 1000000 bytes, not 3", windows, source.heldout, 3, 1_000_000)


def test_later_losses_leave_out_the_target_that_the_waiver_foretells():
    model, looks = model_of("alibi"), Looks(window=24, waiver=5)
    text = np.random.default_rng(0).integers(32, 120, (3, 24))
    mask, swap = changes(model, text, looks)
    with torch.no_grad():
        each = F.cross_entropy(
            model(torch.from_numpy(text))[:, :-1].mT, torch.from_numpy(text)[:, 1:], reduction="none"
        )
    assert swap is None
    assert mask.loss_before == pytest.approx(each.mean().item(), abs=2e-5)
    assert mask.later_before == pytest.approx(each[:, 6:].mean().item(), abs=2e-5)
    assert mask.waiver_before != mask.waiver_after and len(mask.first_after) == 2


def test_learnt_positions_are_swapped_too():
    text = np.random.default_rng(0).integers(32, 120, (2, 24))
    mask, swap = changes(model_of("learnt-positions"), text, Looks(window=24, waiver=5))
    assert swap is not None and swap.loss_before == mask.loss_before and swap.loss_after != mask.loss_after
    assert swap.waiver_before == mask.waiver_before and swap.first_before == mask.first_before


def test_contexts_are_the_last_tokens_before_the_same_targets():
    model, looks, source = model_of("kv-shift"), Looks(targets=16), texts(CORPUS, CORPUS.sha256)
    rows = torch.from_numpy(windows(source.heldout, 16, 129))
    with torch.no_grad():
        wanted = [F.cross_entropy(model(rows[:, 128 - n : 128])[:, -1], rows[:, 128]).item() for n in (1, 2, 64, 128)]
    assert looks.contexts == [1, 2, 4, 8, 16, 32, 64, 128]
    assert np.array(contexts(model, looks, source.heldout))[[0, 1, 6, 7]] == pytest.approx(wanted, abs=2e-5)


def test_the_plan_has_the_leagues_entries_and_models_that_differ_in_positions_alone():
    bundle = shipped_arena("league")
    plan = dissection(bundle.plan.entries["vanilla"].training.corpus)
    shared = [name for name in plan.entries if name in bundle.plan.entries]
    assert shared == ["vanilla", "kv-shift", "resformer", "kv-shift+resformer"]
    for name in shared:
        assert plan.entries[name] == bundle.plan.entries[name]
        assert plan.run(name, 3) == bundle.plan.run(name, 3)
    configs = {position: plan.entries[name].config for position, name in SCHEMES.items()}
    assert {position: config.position for position, config in configs.items()} == {name: name for name in SCHEMES}
    assert "dissected" not in shipped_names()


def test_a_run_that_strays_from_the_league_is_named(folder):
    bundle = shipped_arena("league")
    found = read_folder(folder)
    assert strays(found, bundle) == []  # other entries than the league's are not compared
    plan = found.plan.but(entries={"vanilla": bundle.plan.entries["vanilla"]})
    mine = bundle.curves["vanilla"]
    same = mine.but(loss=mine.loss[:2], by_place=mine.by_place[:2])
    equal = found.but(plan=plan, curves={"vanilla": same})
    assert strays(equal, bundle) == []
    moved = same.but(loss=[mine.loss[0], [*mine.loss[1][:-1], mine.loss[1][-1] + 1e-6]])
    assert strays(equal.but(curves={"vanilla": moved}), bundle) == ["vanilla.seed-1"]
