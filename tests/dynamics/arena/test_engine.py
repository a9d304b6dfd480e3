"""An arena ends with the same bytes however it is run, killed and resumed; its rounds follow from the rules alone."""

import os

import numpy as np
import pytest

from dynamics.arena import engine as module
from dynamics.arena.engine import Place, differences, losses, next_runs, results, run_arena, state_of
from dynamics.arena.plan import ArenaPlan
from dynamics.statistics.rule import State
from tests.dynamics.arena.cases import pair, plan
from tests.dynamics.folders import check_kills, contents, filled
from tests.dynamics.refusal import refused

TINY = pair(3, 4)


def arena(folder, **options):
    return run_arena(TINY, folder, **{"n_jobs": 1, "progress": False} | options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of an arena that nothing interrupts."""
    folder = tmp_path_factory.mktemp("whole") / "arena"
    arena(folder)
    return contents(folder)


def test_an_arena_leaves_its_plan_and_a_result_a_run(whole):
    seeds = {int(name.partition("seed-")[2].removesuffix(".json")) for name in whole if "seed-" in name}
    assert seeds in ({0, 1, 2}, {0, 1, 2, 3})
    names = [f"results/{entry}.seed-{seed}.json" for entry in ("kv", "vanilla") for seed in sorted(seeds)]
    assert sorted(whole) == ["place.json", "plan.json", *names]
    assert ArenaPlan.parsed(whole["plan.json"], "plan") == TINY


def test_a_dask_cluster_leaves_the_bytes_of_this_machine(tmp_path, whole):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        arena(tmp_path / "dask", n_jobs=-1, scheduler=cluster.scheduler_address)
    assert contents(tmp_path / "dask") == whole


def fake(values, wanted):
    """Play an arena whose last losses are exp(values[entry][seed]); return the rounds of runs it asked for."""
    found = {name: [] for name in wanted.entries}
    rounds = []
    while runs := next_runs(wanted, found):
        rounds.append([run.name for run in runs])
        for run in sorted(runs, key=lambda run: run.training.seed):
            name = run.name.rpartition(".seed-")[0]
            found[name] += [float(np.exp(values[name][run.training.seed + n])) for n in range(run.seeds)]
    return rounds, found


def test_seeds_are_added_to_open_comparisons_alone():
    noise = np.random.default_rng(0).normal(0, 1e-5, (3, 8))
    values = {"vanilla": noise[0], "kv": noise[1] - 0.3, "resformer": noise[2] + [0, 0.5, -0.5, 0.5, -0.5, 0.5, 0, 0]}
    wanted = plan(most=6)
    rounds, found = fake(values, wanted)
    assert rounds[0] == [f"{name}.seed-{n}" for n in range(4) for name in ("kv", "vanilla")] + [
        f"resformer.seed-{n}" for n in range(4)
    ]
    assert rounds[1:] == [[f"resformer.seed-{n}", f"vanilla.seed-{n}", f"kv.seed-{n}"] for n in (4, 5)]
    states = {name: state_of(one, found)[0] for name, one in wanted.comparisons.items()}
    assert states["kv / vanilla"] is State.DECIDED
    assert states["resformer / vanilla"] is State.SPENT


def test_a_model_that_diverged_counts_as_guessing(whole, tmp_path):
    found = results(filled(tmp_path / "a", whole), TINY)
    broken = {name: one.but(loss=[[None]]) if "kv" in name else one for name, one in found.items()}
    ends = losses(TINY, broken)
    assert set(ends["kv"]) == {np.log(128)}
    (one,) = TINY.comparisons.values()
    assert differences(one, ends) == pytest.approx([np.log(np.log(128) / loss) for loss in ends["vanilla"]])


def test_the_same_arena_again_does_nothing(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_one", None)
    arena(filled(tmp_path / "a", whole))
    assert contents(tmp_path / "a") == whole


def moved(folder, name, run="kv.seed-0"):
    """The first result in a file of another name, and of a run of another name."""
    path = folder / "results" / "kv.seed-0.json"
    path.write_text(path.read_text().replace("kv.seed-0", run))
    os.replace(path, path.with_name(name))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda f: (f / "plan.json").write_text("{}"), "holds another plan"),
        (lambda f: (f / "plan.json").unlink(), "not empty, and no arena"),
        (lambda f: (f / "results" / "kv.seed-0.json").write_text("{}"), r"kv.seed-0.json: run: Field req"),
        (lambda f: moved(f, "kv.seed-1.json"), "is of no run of this plan"),
        (lambda f: moved(f, "kv.seed-x.json", "kv.seed-x"), "is of no run of this plan"),
    ],
)
def test_other_folders_are_refused_and_left_as_they_are(tmp_path, whole, spoil, words):
    spoil(filled(tmp_path / "a", whole))
    before = contents(tmp_path / "a")
    refused(words, arena, tmp_path / "a")
    assert contents(tmp_path / "a") == before


def test_an_arena_is_not_gone_on_with_elsewhere_or_without_its_place(tmp_path, whole):
    filled(tmp_path / "a", whole)
    refused("threads: 1, float32, not cpu, threads: 2, float32", arena, tmp_path / "a", place=Place(threads=2))
    (tmp_path / "a" / "place.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"place\.json"):
        arena(tmp_path / "a")


@pytest.mark.deep
def test_an_arena_killed_before_any_file_operation_ends_with_the_same_bytes(tmp_path, whole):
    # The place, the plan, the lock's removal; the results.
    assert check_kills({__name__: "arena"}, tmp_path) == [3 + len(whole) - 2]


@pytest.mark.deep
def test_two_processes_end_with_the_same_bytes(tmp_path, whole):
    arena(tmp_path / "a", n_jobs=2)
    assert contents(tmp_path / "a") == whole
