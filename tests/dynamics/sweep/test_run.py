"""A sweep ends with the same bytes however it was run, killed and resumed, and refuses a folder that is not its own."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from itertools import count
from pathlib import Path

import pytest
import torch

from dynamics.model.config import ModelConfig
from dynamics.sweep import job as sweep_job
from dynamics.sweep import run as module
from dynamics.sweep.job import Place, read_result, run_job
from dynamics.sweep.record import Job, Measure
from dynamics.sweep.run import read_manifest, read_sweep, run_sweep
from dynamics.tasks.induction import Induction
from dynamics.training.checkpoint import load
from dynamics.training.loop import train
from dynamics.training.settings import TrainConfig
from tests.dynamics.interruption import interrupt
from tests.dynamics.refusal import flip, refused

ROOT = Path(__file__).resolve().parents[3]
TRAINING = TrainConfig(steps=12, batch=4, task=Induction(pool=12), warmup=3, heldout_rows=16)
MEASURE = Measure(every=5, save_every=2)


def jobs(number=3, **changes):
    config = ModelConfig(vocab=24, width=8, n_heads=2)
    trainings = [TRAINING.model_copy(update={"seed": seed, **changes}) for seed in range(number)]
    return [Job(name=f"job-{t.seed}", config=config, training=t) for t in trainings]


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(Path(folder).rglob("*")) if p.is_file()}


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


def test_job_scores_as_train_does_and_stops_at_the_level(tmp_path):
    (job,) = jobs(1)
    (result,) = sweep(tmp_path / "a", [job], measure=Measure(every=5))
    expected = train(job.config, job.training, device="cpu", progress=False).heldout
    assert result.steps == [5, 10, 12]
    assert (result.accuracy[-1], result.loss[-1]) == (expected.accuracy, expected.loss)
    assert result.censored
    (stopped,) = sweep(tmp_path / "b", [job], measure=Measure(every=5, level=0.0))
    assert (stopped.steps, stopped.steps_to_level) == ([5], 5)
    (ran_on,) = sweep(tmp_path / "c", [job], measure=Measure(every=5, level=0.0, stop=False))
    assert (ran_on.steps, ran_on.steps_to_level) == ([5, 10, 12], 5)
    assert ran_on.accuracy == result.accuracy
    (later,) = sweep(tmp_path / "d", [job], measure=Measure(every=5, level=0.0, stop_at=1.0))
    assert (later.steps, later.steps_to_level) == ([5, 10, 12], 5)
    (sooner,) = sweep(tmp_path / "e", [job], measure=Measure(every=5, level=1.0, stop_at=0.0))
    assert (sooner.steps, sooner.censored) == ([5], True)


def test_kept_weights_are_those_of_the_job(tmp_path):
    (job,) = jobs(1, steps=6)
    sweep(tmp_path / "s", [job], weights=True)
    expected = train(job.config, job.training, device="cpu", progress=False).model.state_dict()
    found = load(tmp_path / "s" / "weights" / job.name).model.state_dict()
    assert all(torch.equal(found[name], value) for name, value in expected.items())


def test_finished_sweep_reads_back_and_runs_again_without_work(tmp_path, monkeypatch):
    results = sweep(tmp_path / "s")
    manifest, read = read_sweep(tmp_path / "s")
    assert read == results
    assert list(manifest.jobs) == jobs()
    monkeypatch.setattr(module, "run_job", None)
    before = contents(tmp_path / "s")
    assert sweep(tmp_path / "s") == results
    assert contents(tmp_path / "s") == before


def test_losses_that_are_not_finite_are_recorded_as_missing(tmp_path):
    (job,) = jobs(1, steps=5)
    result = sweep_job.result_of(job, MEASURE, [5], [0.0], [float("nan")])
    assert result.loss == [None]
    assert sweep_job.JobResult.model_validate_json(result.model_dump_json()) == result


# SIGKILL. A fresh interpreter imports everything once and forks a child for each kill: moments are then those of the
# sweep and not of its imports.


def warm():
    """A sweep that does not count: torch imports more at its first step."""
    with tempfile.TemporaryDirectory() as folder:
        sweep(folder, jobs(1, steps=1))


def forked(action) -> bool:
    """Run action in a child; return whether it was killed."""
    child = os.fork()
    if child == 0:
        try:
            action()
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or status == 0
    return os.WIFSIGNALED(status)


def killed_after(seconds, folder):
    def action():
        signal.setitimer(signal.ITIMER_REAL, seconds)  # SIGALRM's own action would end the child politely
        sweep(folder, weights=True)

    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    return forked(action)


def kill_at_random_moments(root, kills, seed):
    """Kill and resume until that many kills have hit; a sweep that comes to its end is kept, and another begun."""
    drawn, hits, finished = random.Random(seed), 0, 0
    while hits < kills:
        if killed_after(drawn.uniform(1e-4, 0.25), Path(root) / str(finished)):
            hits += 1
        else:
            finished += 1
    sweep(Path(root) / str(finished), weights=True)


def kill_before_every_file_operation(root):
    """For k = 1, 2, ..: a new sweep, killed before its k-th rename or removal, then resumed; prints the last k."""

    def counted(name, left):
        plain = getattr(os, name)

        def operation(path, *arguments, **options):
            left[0] -= os.path.exists(path)  # removing what is not there is no operation
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return plain(path, *arguments, **options)

        setattr(os, name, operation)

    def action(folder, number):
        left = [number]
        for name in ("replace", "unlink"):
            counted(name, left)
        sweep(folder, jobs(2, steps=3), weights=True)

    for number in count(1):
        folder = Path(root) / str(number)
        if not forked(partial(action, folder, number)):
            break
        sweep(folder, jobs(2, steps=3), weights=True)
    print(number - 1)


def interpreter(call):
    """Run one of the functions above in an interpreter of its own; return what it prints."""
    warm = "torch.set_num_threads(1); test_run.warm()"
    code = f"import torch; from tests.dynamics.sweep import test_run; {warm}; test_run.{call}"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("kills", [5, pytest.param(50, marks=pytest.mark.deep)])
def test_sweep_killed_at_random_moments_ends_with_the_same_bytes(tmp_path, whole, kills):
    interpreter(f"kill_at_random_moments({str(tmp_path)!r}, {kills}, {kills})")
    assert [contents(folder) == whole for folder in tmp_path.iterdir()] == [True] * len(os.listdir(tmp_path))
    assert os.listdir(tmp_path)


def test_sweep_killed_before_any_file_operation_ends_with_the_same_bytes(tmp_path):
    # The manifest twice, the lock's removal; for each of two jobs a state, the weights, their manifest, the result, the
    # state's removal.
    assert int(interpreter(f"kill_before_every_file_operation({str(tmp_path)!r})")) == 3 + 2 * 5
    found = [contents(folder) for folder in tmp_path.iterdir()]
    assert len(found) == 14
    assert all(one == found[0] for one in found)


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
        ({"weights": True}, "weights differs"),
        ({"some": []}, "at least one job"),
        ({"some": jobs(1) * 2}, "'job-0' is there twice"),
        ({"some": jobs(1, task=Induction(pool=14))}, "job-0: pool must be at most vocab - 11 = 13"),
        ({"backend": "mpi"}, "backend must be one of loky, sequential, dask, got 'mpi'"),
        ({"backend": "dask"}, "scheduler"),
        ({"scheduler": "tcp://localhost:1"}, "scheduler"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"threads": 0}, "threads"),
        ({"device": "abacus"}, "device must be"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_and_change_nothing(tmp_path, changes, words):
    sweep(tmp_path / "s", jobs(1, steps=1))
    before = contents(tmp_path)
    refused(words, sweep, tmp_path / "s", **{"some": jobs(1, steps=1)} | changes)
    assert contents(tmp_path) == before


def test_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    refused("not empty, and no sweep", sweep, tmp_path)
    assert list(contents(tmp_path)) == ["mine.txt"]


@pytest.mark.parametrize("name", ["manifest.json", "results/job-1.json"])
def test_flipped_byte_is_refused(tmp_path, name):
    sweep(tmp_path / "s", jobs(2, steps=1))
    path = tmp_path / "s" / name
    flip(path, bit=0x80)
    for act in (lambda: read_sweep(tmp_path / "s"), lambda: sweep(tmp_path / "s", jobs(2, steps=1))):
        refused(path.name, act)


def test_unfinished_sweep_is_not_read(tmp_path):
    module._begin(tmp_path, header := _header())
    assert read_manifest(tmp_path) == header
    refused("not finished", read_sweep, tmp_path)
    with pytest.raises(OSError):
        read_manifest(tmp_path / "nowhere")


def _header():
    return module.SweepManifest(
        version="1", torch_version="2", device="cpu", threads=1, weights=False, measure=MEASURE, jobs=tuple(jobs(1))
    )


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "..", "a b", "x" * 101])
def test_job_names_are_file_names(name):
    with pytest.raises(ValueError):
        Job(name=name, config=ModelConfig(), training=TRAINING)


def test_result_of_other_settings_is_refused(tmp_path):
    (job,) = jobs(1, steps=1)
    run_job(job, MEASURE, Place(str(tmp_path)))
    assert read_result(tmp_path, job, MEASURE) is not None
    refused("other settings", read_result, tmp_path, job, Measure())


def test_progress_bar_counts_what_was_done_before(tmp_path):
    bar = module._bar(jobs(), jobs()[:1], progress=False)
    assert (bar.total, bar.n if bar.n else bar.initial) == (3 * TRAINING.steps, 2 * TRAINING.steps)
