"""A bundle is the arena's results in one file that says when it was changed; what is shipped is what the plan asks."""

import math

import pytest

from dynamics.arena import bundle as module
from dynamics.arena.bundle import (
    bundle_of,
    read_bundle,
    shipped_arena,
    shipped_names,
    shipped_speeds,
    write_bundle,
    write_timed,
)
from dynamics.arena.engine import Place, next_runs
from dynamics.arena.presets import PRESETS
from dynamics.arena.record import Speed, Speeds
from dynamics.arena.ways import shipped_ways
from dynamics.tasks.corpus import standard_library
from tests.dynamics.arena.cases import made_up, plan
from tests.dynamics.arena.test_ways import found as ways
from tests.dynamics.refusal import refused

VALUES = {
    "kv": [2.0, 2.1, 2.2, 2.3, 2.4, 2.5],
    "vanilla": [2.5, 2.6, 2.7, 2.8, 2.9, 3.0],
    "resformer": [2.5, 2.4, 2.3, 2.2, 2.1, 2.0],
}
NAMES = shipped_names()


@pytest.mark.parametrize("stack", [1, 2])
def test_a_bundle_gives_back_what_went_in(stack, tmp_path):
    wanted = plan(stack)
    found = made_up(wanted, VALUES)
    write_bundle(tmp_path / "b.json", bundle_of(wanted, found, Place()))
    again = read_bundle(tmp_path / "b.json")
    assert again.plan == wanted
    assert again.results == found
    assert again.losses == VALUES


def test_runs_after_a_gap_are_left_out():
    found = made_up(plan(), VALUES)
    del found["kv.seed-1"]
    assert bundle_of(plan(), found, Place()).losses == VALUES | {"kv": [2.0]}
    for number in (0, 2, 3, 4, 5):
        del found[f"kv.seed-{number}"]
    left = bundle_of(plan(), found, Place())
    assert "kv" not in left.curves
    assert left.losses["kv"] == []


def test_speeds_and_ways_are_found_by_the_plan_they_are_of(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SHIPPED", tmp_path)
    one = Speed(tokens_per_second=1, seconds=[1])
    speeds = Speeds(plan_sha256=plan().sha256, torch_version="2", processor="one", speeds={"kv": one})
    for kind, shipped, timed in (("speeds", shipped_speeds, speeds), ("ways", shipped_ways, ways(plan(), 1.5))):
        assert shipped(plan()) is None
        write_timed(tmp_path / f"x.{kind}.json", timed)
        assert shipped(plan()) == timed
        assert shipped(plan(stack=2)) is None
    refused("no shipped arena 'x'; there are none", shipped_arena, "x")


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_arena_is_whole_and_what_its_preset_plans(name):
    found = shipped_arena(name)
    assert next_runs(found.plan, found.losses) == []
    assert all(math.isfinite(loss) for each in found.losses.values() for loss in each)
    corpus = next(iter(found.plan.entries.values())).training.corpus
    assert PRESETS[name](corpus) == found.plan
    speeds = shipped_speeds(found.plan)
    assert speeds is None or speeds.speeds.keys() == found.plan.entries.keys()


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_run_repeats_to_the_same_numbers(name, tmp_path):
    """Of each shipped arena its shortest run, where the text and torch are those that it was made with."""
    import torch

    from dynamics.arena.engine import cost
    from dynamics.arena.training import run

    shipped = shipped_arena(name)
    one = min(shipped.results.values(), key=lambda result: cost(result.run))
    if one.run.training.corpus != standard_library().sha256 or shipped.torch_version != torch.__version__:
        pytest.skip("made with another text or another torch")
    torch.set_num_threads(shipped.place.threads)
    assert run(one.run, tmp_path / "r.json", tmp_path / "s") == one
