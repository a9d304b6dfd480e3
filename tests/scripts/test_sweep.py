"""The sweep command line: what it leaves and prints, that it goes on where it was, and how it refuses."""

import os

import numpy as np
import pytest

from dynamics.experiments import PAPER, QUICK, SweepPreset, alike, presets
from dynamics.experiments.presets import SWEEPS
from dynamics.model.config import ModelConfig
from dynamics.sweep.record import JobResult, Measure
from dynamics.sweep.run import read_sweep
from dynamics.sweep.shipped import read_bundle
from dynamics.tasks.induction import Induction
from dynamics.training.settings import TrainConfig
from scripts.commands import sweep
from tests.scripts.commands import drawn, loaded, stopped, told

MODELS = {name: ModelConfig(vocab=24, width=8, n_heads=2, shift=shift) for name, shift in (("a", "kv"), ("b", "none"))}
TRAINING = TrainConfig(steps=3, batch=4, task=Induction(pool=12), heldout_rows=16)
TINY = SweepPreset(alike(MODELS, TRAINING), Measure(every=2), 2, "Two tiny models")
SMALL = ["--quick", "--backend", "sequential", "--quiet", "--out"]


@pytest.fixture(autouse=True, scope="module")
def _tiny_preset():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(presets.SWEEPS, "figure-1a-quick", TINY)
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a finished sweep, its bundle, and what was printed."""
    folder = tmp_path_factory.mktemp("sweep")
    return folder, told("sweep", *SMALL, folder / "s", "--bundle", folder / "bundle.json")


def test_sweep_trains_every_model_with_every_seed_and_prints_a_line_a_model(finished):
    folder, printed = finished
    assert [job.name for job in read_sweep(folder / "s")[0].jobs] == ["a.seed-0", "a.seed-1", "b.seed-0", "b.seed-1"]
    lines = printed.splitlines()
    assert lines[0] == "Two tiny models"
    assert lines[1].startswith("vocabulary 24, rows of 4.9 different tokens on average")
    assert [line.split()[0] for line in lines[2:5]] == ["variant", "a", "b"]
    assert lines[3].split()[1:] == ["0", "of", "2", ">3", ">3..>3", "-"]
    assert read_bundle(folder / "bundle.json").manifest == read_sweep(folder / "s")[0]


def test_any_finished_sweep_is_drawn_twice_alike(finished, tmp_path, refused):
    drawn(tmp_path, "fig_sweep", "--sweep", str(finished[0] / "s"), "--quick", again=True)
    with np.load(tmp_path / "one.npz") as found:
        assert found["accuracy"].shape == (2, 2, 2)
        assert str(found["title"]) == ""  # of the shipped experiments it is none
    refused(f"fig_sweep --sweep {finished[0]}/s --preset figure-1a --out {tmp_path}/x", "s: not a sweep of figure-1a")


def result(seed, reached):
    job = TINY.jobs()[seed]
    return JobResult.model_construct(job=job, steps_to_level=reached)


@pytest.mark.parametrize(
    ("reached", "words"),
    [
        ([40, 20], ["2", "of", "2", "30", "20..40", "20-40"]),
        ([20], ["1", "of", "1", "20", "one", "seed", "-"]),
        ([20, None], ["1", "of", "2", ">3", "20..>3", "20"]),
    ],
)
def test_median_counts_censored_jobs_as_later_than_all_others(reached, words):
    results = [result(seed, steps) for seed, steps in enumerate(reached)]
    assert sweep.table(results, TINY.measure.level)[1].split()[1:] == words


def test_several_presets_have_a_folder_each(tmp_path, monkeypatch, done):
    for name in ("other", "other-quick"):
        monkeypatch.setitem(presets.SWEEPS, name, TINY)
    printed = done("sweep", *SMALL, tmp_path / "s", "--seeds", "1", "--preset", "figure-1a", "other")
    assert sorted(os.listdir(tmp_path / "s")) == ["figure-1a-quick", "other-quick"]
    assert printed.count("Two tiny models") == 2


def test_paper_size_trains_in_the_precision_of_its_preset(finished, tmp_path, monkeypatch, done):
    monkeypatch.setitem(presets.SWEEPS, "figure-1a-paper", TINY._replace(precision="bfloat16"))
    done("sweep", "--backend", "sequential", "--quiet", "--out", tmp_path / "half", "--paper-size")
    half, whole = read_sweep(tmp_path / "half"), read_sweep(finished[0] / "s")
    assert (half[0].precision, whole[0].precision) == ("bfloat16", "float32")
    assert [a.loss != b.loss for a, b in zip(half[1], whole[1], strict=True)] == [True] * 4
    assert max(abs(a.loss[-1] - b.loss[-1]) for a, b in zip(half[1], whole[1], strict=True)) < 0.05


def test_list_names_every_experiment(done):
    assert [line.split()[0] for line in done("sweep", "--list").splitlines()] == sorted(SWEEPS)


def test_list_and_refusals_import_nothing_heavy():
    statuses, heavy = loaded("sweep --list", "sweep --preset nonsense")
    assert statuses == [0, 2] and set(heavy) <= {"numpy", "pydantic", "tqdm"}


def test_interrupted_sweep_says_that_the_same_command_goes_on_and_it_does(tmp_path, monkeypatch, command, done):
    with monkeypatch.context() as patch:
        patch.setattr("dynamics.sweep.job.train_step", stopped)
        status, _, errors = command("sweep", *SMALL, tmp_path / "s")
    assert (status, errors) == (130, "interrupted: the same command goes on where it was\n")
    done("sweep", *SMALL, tmp_path / "s")


def test_backends_of_the_command_line_are_those_of_the_package():
    from dynamics.training.parallel import BACKENDS

    assert sweep.BACKENDS == BACKENDS


@pytest.mark.parametrize("name", SWEEPS)
def test_preset_has_at_least_eight_seeds_where_it_can_and_a_job_a_variant_and_seed(name):
    preset = SWEEPS[name]
    assert preset.seeds >= (1 if name.endswith((QUICK, PAPER, "-eighth")) else 8)
    assert [job.name for job in preset.jobs(2)] == [f"{v}.seed-{k}" for v in preset.variants for k in (0, 1)]
    assert [job.training.seed for job in preset.jobs(2)] == [0, 1] * len(preset.variants)
    assert preset.title
    if name.endswith((QUICK, PAPER)):
        assert name.removesuffix(QUICK).removesuffix(PAPER) in SWEEPS
