"""A sweep ends with the same bytes however it was run, killed and resumed, and refuses a folder that is not its own."""

import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from dynamics.model.config import ModelConfig
from dynamics.sweep import job as sweep_job
from dynamics.sweep import run as module
from dynamics.sweep.record import Job, Measure
from dynamics.sweep.run import read_manifest, read_sweep, run_sweep
from dynamics.tasks.induction import Induction
from dynamics.training.checkpoint import load
from dynamics.training.loop import train
from dynamics.training.settings import TrainConfig
from tests.dynamics.folders import ROOT, check_kills, contents, filled
from tests.dynamics.interruption import interrupt
from tests.dynamics.refusal import refused

TRAINING = TrainConfig(steps=12, batch=4, task=Induction(pool=12), warmup=3, heldout_rows=16)
MEASURE = Measure(every=5, save_every=2)


def jobs(number=3, **changes):
    config = ModelConfig(vocab=24, width=8, n_heads=2)
    trainings = [TRAINING.model_copy(update={"seed": seed, **changes}) for seed in range(number)]
    return [Job(name=f"job-{t.seed}", config=config, training=t) for t in trainings]


def sweep(folder, some=None, **options):
    options = {"measure": MEASURE, "backend": "sequential", "progress": False} | options
    return run_sweep(jobs() if some is None else some, folder, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of an uninterrupted sequential sweep."""
    folder = tmp_path_factory.mktemp("whole") / "sweep"
    sweep(folder, weights=True)
    return contents(folder)


def test_sweep_leaves_one_manifest_and_a_result_a_job(whole):
    names = ["job-0", "job-1", "job-2"]
    weights = [f"weights/{name}/{file}" for name in names for file in ("manifest.json", "weights.safetensors")]
    assert sorted(whole) == sorted(["manifest.json", *weights, *(f"results/{name}.json" for name in names)])


def test_loky_backend_gives_the_bytes_of_the_sequential_one(tmp_path, whole):
    sweep(tmp_path / "loky", backend="loky", n_jobs=2, weights=True)
    assert contents(tmp_path / "loky") == whole


def test_dask_backend_gives_the_bytes_of_the_sequential_one(tmp_path, whole):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        sweep(tmp_path / "dask", backend="dask", scheduler=cluster.scheduler_address, weights=True)
    assert contents(tmp_path / "dask") == whole


def test_job_scores_as_train_does_and_keeps_its_weights(tmp_path, whole):
    job, folder = jobs(1)[0], filled(tmp_path / "s", whole)
    expected, found = train(job.config, job.training, device="cpu", progress=False), read_sweep(folder)[1][0]
    assert found.steps == [5, 10, 12]
    assert (found.accuracy[-1], found.loss[-1]) == (expected.heldout.accuracy, expected.heldout.loss)
    assert found.censored
    kept = load(folder / "weights" / job.name).model.state_dict()
    assert all(torch.equal(kept[name], value) for name, value in expected.model.state_dict().items())


@pytest.mark.parametrize(
    ("more", "steps", "to_level"),
    [
        ({"level": 0.0}, [5], 5),
        ({"level": 0.0, "stop": False}, [5, 6], 5),
        ({"level": 0.0, "stop_at": 1.0}, [5, 6], 5),
        ({"level": 1.0, "stop_at": 0.0}, [5], None),
    ],
)
def test_a_job_ends_where_its_measure_says(tmp_path, more, steps, to_level):
    (found,) = sweep(tmp_path / "s", jobs(1, steps=6), measure=Measure(every=5, **more))
    assert (found.steps, found.steps_to_level, found.censored) == (steps, to_level, to_level is None)


def test_finished_sweep_reads_back_and_runs_again_without_work(tmp_path, whole, monkeypatch):
    manifest, results = read_sweep(filled(tmp_path / "s", whole))
    assert list(manifest.jobs) == [one.job for one in results] == jobs()
    monkeypatch.setattr(module, "run_job", None)
    assert sweep(tmp_path / "s", weights=True) == results
    assert contents(tmp_path / "s") == whole


def test_losses_that_are_not_finite_are_recorded_as_missing():
    (job,) = jobs(1, steps=5)
    result = sweep_job.result_of(job, MEASURE, [5], [0.0], [float("nan")])
    assert result.loss == [None]
    assert sweep_job.JobResult.model_validate_json(result.model_dump_json()) == result


def test_a_run_and_a_sweep_killed_before_any_file_operation_end_with_the_same_bytes(tmp_path):
    works = {"tests.dynamics.training.test_loop": "go_on"}
    works[__name__] = "partial(sweep, some=jobs(2, steps=3), weights=True)"
    # The state, the weights, their manifest, the history and its hash, the removals of the lock and of the state. The
    # manifest twice, the lock's removal; for each of two jobs a state, the weights, their manifest, the result, the
    # state's removal.
    assert check_kills(works, tmp_path) == [7, 3 + 2 * 5]


@pytest.mark.deep
def test_loky_sweep_killed_with_its_processes_is_finished_by_another_backend(tmp_path, whole):
    folder = tmp_path / "sweep"
    code = (
        "from tests.dynamics.sweep.test_run import sweep; "
        f"sweep({str(folder)!r}, backend='loky', n_jobs=2, weights=True)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, start_new_session=True)
    while process.poll() is None and not list(folder.glob("states/*")):
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert read_manifest(folder).sha256 is None
    sweep(folder, weights=True)
    assert contents(folder) == whole


def test_ctrl_c_keeps_the_state_and_the_next_run_goes_on(tmp_path, whole, monkeypatch):
    folder = tmp_path / "sweep"
    calls = interrupt(monkeypatch, sweep_job, "train_step", 7)
    with pytest.raises(KeyboardInterrupt):
        sweep(folder, weights=True)
    assert [path.name for path in (folder / "states").iterdir()] == ["job-0.safetensors"]
    sweep(folder, weights=True)
    assert len(calls) == 3 * TRAINING.steps
    assert contents(folder) == whole


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"some": jobs(2)}, "holds another sweep .jobs differs"),
        ({"measure": Measure(every=7)}, "measure differs"),
        ({"weights": False}, "weights differs"),
        ({"some": []}, "at least one job"),
        ({"some": jobs(1) * 2}, "'job-0' is there twice"),
        ({"some": jobs(1, task=Induction(pool=14))}, "job-0: pool must be at most vocab - 11 = 13"),
        ({"threads": 0}, "threads"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_and_change_nothing(tmp_path, whole, changes, words):
    refused(words, sweep, filled(tmp_path, whole), **{"weights": True} | changes)
    assert contents(tmp_path) == whole


def test_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    refused("not empty, and no sweep", sweep, tmp_path)
    assert list(contents(tmp_path)) == ["mine.txt"]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("manifest.json", '"version"', '"versiom"'), ("results/job-1.json", '"loss":[', '"loss":[9')],
)
def test_changed_file_is_refused(tmp_path, whole, name, old, new):
    path = filled(tmp_path, whole) / name
    path.write_text(path.read_text().replace(old, new, 1))
    for act in (lambda: read_sweep(tmp_path), lambda: sweep(tmp_path, weights=True)):
        refused(path.name, act)


def test_unfinished_sweep_is_not_read(tmp_path, whole):
    manifest = read_manifest(filled(tmp_path, whole))
    begun = manifest.model_copy(update={"sha256": None})
    (tmp_path / "manifest.json").write_text(begun.model_dump_json())
    assert read_manifest(tmp_path) == begun != manifest
    refused("not finished", read_sweep, tmp_path)
    with pytest.raises(OSError):
        read_manifest(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "..", "a b", "x" * 101])
def test_job_names_are_file_names(name):
    with pytest.raises(ValueError):
        Job(name=name, config=ModelConfig(), training=TRAINING)


def test_progress_bar_counts_what_was_done_before():
    bar = module._bar(jobs(), jobs()[:1], progress=False)
    assert (bar.total, bar.n if bar.n else bar.initial) == (3 * TRAINING.steps, 2 * TRAINING.steps)
