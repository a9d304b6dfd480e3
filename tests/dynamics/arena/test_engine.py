"""An arena ends with the same bytes however it is run, killed and resumed; its rounds follow from the rules alone."""

import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from dynamics.arena import engine as module
from dynamics.arena.engine import Place, differences, losses, next_runs, read_plan, results, run_arena, state_of
from dynamics.arena.plan import ArenaPlan
from dynamics.statistics.rule import State
from tests.dynamics.arena.cases import MODELS, TRAINING, comparison, entry, plan
from tests.dynamics.refusal import refused
from tests.dynamics.sweep.test_run import contents

ROOT = Path(__file__).resolve().parents[3]
TINY = {"steps": 3, "rows": 1, "length": 8, "heldout_rows": 1, "scores": 1}


def tiny() -> ArenaPlan:
    """Two entries, three seeds."""
    training = TRAINING.model_copy(update=TINY)
    entries = {name: entry(training, **MODELS[name]) for name in ("kv", "vanilla")}
    compared = {"kv / vanilla": comparison("kv", "vanilla", 3, 4)}
    return ArenaPlan(title="Tiny", entries=entries, comparisons=compared)


def arena(folder, wanted=None, **options):
    return run_arena(wanted or tiny(), folder, **{"n_jobs": 1, "progress": False} | options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of an arena that nothing interrupts."""
    folder = tmp_path_factory.mktemp("whole") / "arena"
    arena(folder)
    return contents(folder)


def test_an_arena_leaves_its_plan_and_a_result_a_run(whole, tmp_path):
    seeds = {int(name.partition("seed-")[2].removesuffix(".json")) for name in whole if "seed-" in name}
    assert seeds in ({0, 1, 2}, {0, 1, 2, 3})
    names = [f"results/{entry}.seed-{seed}.json" for entry in ("kv", "vanilla") for seed in sorted(seeds)]
    assert sorted(whole) == ["place.json", "plan.json", *names]
    assert ArenaPlan.parsed(whole["plan.json"], "plan") == tiny()


def test_a_dask_cluster_leaves_the_bytes_of_this_machine(tmp_path, whole):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        arena(tmp_path / "dask", n_jobs=-1, scheduler=cluster.scheduler_address)
    assert contents(tmp_path / "dask") == whole


def fake(values, monkeypatch, wanted):
    """Play an arena whose last losses are exp(values[entry][seed]); return the rounds of runs it asked for."""
    found = {name: [] for name in wanted.entries}
    rounds = []
    while runs := next_runs(wanted, found):
        rounds.append([run.name for run in runs])
        for run in sorted(runs, key=lambda run: run.training.seed):
            name = run.name.rpartition(".seed-")[0]
            found[name] += [float(np.exp(values[name][run.training.seed + n])) for n in range(run.seeds)]
    return rounds, found


def test_seeds_are_added_to_open_comparisons_alone(monkeypatch):
    noise = np.random.default_rng(0).normal(0, 1e-5, (3, 8))
    values = {"vanilla": noise[0], "kv": noise[1] - 0.3, "resformer": noise[2] + [0, 0.5, -0.5, 0.5, -0.5, 0.5, 0, 0]}
    wanted = plan(most=6)
    rounds, found = fake(values, monkeypatch, wanted)
    assert rounds[0] == [f"{name}.seed-{n}" for n in range(4) for name in ("kv", "vanilla")] + [
        f"resformer.seed-{n}" for n in range(4)
    ]
    assert rounds[1:] == [[f"resformer.seed-{n}", f"vanilla.seed-{n}", f"kv.seed-{n}"] for n in (4, 5)]
    states = {name: state_of(one, found)[0] for name, one in wanted.comparisons.items()}
    assert states["kv / vanilla"] is State.DECIDED
    assert states["resformer / vanilla"] is State.SPENT


def test_whole_stacks_are_trained(monkeypatch):
    values = {name: np.zeros(8) for name in MODELS}
    rounds, _ = fake(values, monkeypatch, plan(stack=2))
    first = [f"{name}.seed-{n}" for n in (0, 2) for name in ("kv", "vanilla")]
    assert rounds[0] == first + [f"resformer.seed-{n}" for n in (0, 2)]
    assert {name.partition(".seed-")[2] for later in rounds[1:] for name in later} <= {"4"}


def test_a_model_that_diverged_counts_as_guessing(whole, tmp_path):
    arena(tmp_path / "a")
    found = results(tmp_path / "a", tiny())
    broken = {name: one.model_copy(update={"loss": [[None]]}) if "kv" in name else one for name, one in found.items()}
    ends = losses(tiny(), broken)
    assert set(ends["kv"]) == {np.log(128)}
    (one,) = tiny().comparisons.values()
    assert differences(one, ends) == pytest.approx([np.log(np.log(128) / loss) for loss in ends["vanilla"]])


def test_the_same_arena_again_does_nothing(whole, tmp_path, monkeypatch):
    arena(tmp_path / "a")
    assert contents(tmp_path / "a") == whole
    monkeypatch.setattr(module, "_one", None)
    arena(tmp_path / "a")
    assert contents(tmp_path / "a") == whole


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda f: arena(f, tiny().model_copy(update={"title": "Other"})), "holds another plan"),
        (
            lambda f: arena(f, place=Place(threads=2)),
            r"was begun on cpu, threads: 2, float32, not cpu, threads: 1, float32; choose another folder",
        ),
        (lambda f: (f.mkdir(), (f / "note.txt").write_text("mine")), "not empty, and no arena"),
        (lambda f: (arena(f), (f / "results" / "kv.seed-0.json").write_text("{}")), r"kv.seed-0.json: run: Field req"),
        (
            lambda f: (arena(f), os.replace(f / "results" / "kv.seed-0.json", f / "results" / "kv.seed-1.json")),
            "is of no run of this plan",
        ),
        (
            lambda f: (arena(f), os.replace(f / "results" / "kv.seed-0.json", f / "results" / "x.json")),
            "is of no run of this plan",
        ),
    ],
)
def test_other_folders_are_refused_and_left_as_they_are(tmp_path, write, words):
    write(tmp_path / "a")
    before = contents(tmp_path / "a")
    refused(words, arena, tmp_path / "a")
    assert contents(tmp_path / "a") == before


def test_a_plan_without_its_place_is_not_gone_on_with(tmp_path):
    arena(tmp_path / "a")
    (tmp_path / "a" / "place.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"place\.json"):
        arena(tmp_path / "a")


def test_bad_numbers_and_no_plan_are_refused(tmp_path):
    for jobs in (0, -2):
        refused("n_jobs must be", arena, tmp_path / "a", n_jobs=jobs)
    with pytest.raises(FileNotFoundError):
        read_plan(tmp_path / "a")
    assert not list(tmp_path.iterdir())


def kill_at_random_moments(root, kills, seed):
    """Kill and resume until that many kills have hit; an arena that comes to its end is kept, and another begun."""
    drawn, hits, finished = random.Random(seed), 0, 0
    while hits < kills:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
            signal.setitimer(signal.ITIMER_REAL, drawn.uniform(1e-3, 0.4))
            arena(Path(root) / str(finished))
            os._exit(0)
        drawn.random()
        status = os.waitpid(child, 0)[1]
        assert status == 0 or os.WTERMSIG(status) == signal.SIGKILL
        hits, finished = hits + (status != 0), finished + (status == 0)
    arena(Path(root) / str(finished))


@pytest.mark.parametrize("kills", [4, pytest.param(40, marks=pytest.mark.deep)])
def test_an_arena_killed_at_random_moments_ends_with_the_same_bytes(tmp_path, whole, kills):
    code = (
        "import tempfile, torch; from tests.dynamics.arena import test_engine as t; torch.set_num_threads(1); "
        "t.arena(tempfile.mkdtemp() + '/warm'); "
        f"t.kill_at_random_moments({str(tmp_path)!r}, {kills}, {kills})"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": tempfile.mkdtemp(dir=tmp_path.parent)}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [contents(folder) == whole for folder in tmp_path.iterdir()] == [True] * len(os.listdir(tmp_path))
    assert os.listdir(tmp_path)


@pytest.mark.deep
def test_two_processes_end_with_the_same_bytes(tmp_path, whole):
    arena(tmp_path / "a", n_jobs=2)
    assert contents(tmp_path / "a") == whole
