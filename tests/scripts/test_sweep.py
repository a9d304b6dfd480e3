"""The sweep command line: what it leaves and prints, that it goes on where it was, and how it refuses."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dynamics import sweep_presets
from dynamics.config import ModelConfig, TrainConfig
from dynamics.sweep import read_sweep
from dynamics.sweep_job import JobResult, Measure
from dynamics.sweep_presets import SWEEPS, SweepPreset
from scripts import sweep
from scripts.cli import run

TINY = SweepPreset(
    {name: ModelConfig(vocab=24, width=8, n_heads=2, shift=shift) for name, shift in (("a", "kv"), ("b", "none"))},
    TrainConfig(steps=3, batch=4, pool=12, heldout_rows=16),
    Measure(every=2),
    2,
)
SMALL = ["--quick", "--backend", "sequential", "--quiet", "--out"]


@pytest.fixture(autouse=True)
def _tiny_preset(monkeypatch):
    monkeypatch.setitem(sweep_presets.SWEEPS, "figure-1a-quick", TINY)


def refusal(capsys, arguments):
    try:
        code = run(sweep.main, arguments)
    except SystemExit as stop:
        code = stop.code
    printed = capsys.readouterr()
    assert (code, printed.out, printed.err.count("\n")) == (2, "", 1)
    return printed.err


def test_sweep_trains_every_model_with_every_seed_and_prints_a_line_a_model(tmp_path, capsys):
    assert run(sweep.main, [*SMALL, str(tmp_path / "s")]) == 0
    assert [job.name for job in read_sweep(tmp_path / "s")[0].jobs] == ["a.seed-0", "a.seed-1", "b.seed-0", "b.seed-1"]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["model", "a", "b"]
    assert lines[1].split()[1:] == ["0", "of", "2", ">", "3", "-"]


def test_same_command_again_has_nothing_to_do(tmp_path, monkeypatch, capsys):
    assert run(sweep.main, [*SMALL, str(tmp_path / "s")]) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr("dynamics.sweep.run_job", None)
    assert run(sweep.main, [*SMALL, str(tmp_path / "s")]) == 0
    assert capsys.readouterr().out == first


def result(seed, reached):
    job = TINY.jobs()[seed]
    return JobResult(job=job, measure=TINY.measure, steps=[], accuracy=[], loss=[], steps_to_level=reached)


@pytest.mark.parametrize(
    ("reached", "words"),
    [([40, 20], ["2", "of", "2", "30", "20-40"]), ([20, None], ["1", "of", "2", ">", "3", "20-20"])],
)
def test_median_counts_censored_jobs_as_later_than_all_others(reached, words):
    alone = TINY._replace(models={"a": TINY.models["a"]})
    assert sweep.table([result(seed, steps) for seed, steps in enumerate(reached)], alone)[1].split()[1:] == words


def test_presets_and_backends_of_the_command_line_are_those_of_the_package():
    from dynamics.sweep import BACKENDS

    assert sweep.BACKENDS == BACKENDS
    assert {name.removesuffix("-quick") for name in SWEEPS} == set(sweep.PRESETS)
    assert all(f"{name}-quick" in SWEEPS for name in sweep.PRESETS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seeds", "0"], "--seeds: expected a whole number >= 1, got '0'"),
        (["--jobs", "none"], "got 'none'"),
        (["--preset", "figure-9000"], "invalid choice"),
        (["--backend", "mpi"], "invalid choice"),
        (["--backend", "dask"], "--scheduler"),
        (["--scheduler", "tcp://localhost:1"], "--backend dask"),
        (["--device", "abacus", "--quick"], "device must be"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in refusal(capsys, [*arguments, "--out", "out"])
    assert os.listdir(tmp_path) == []


def test_folder_of_another_sweep_is_refused(tmp_path, capsys):
    assert run(sweep.main, [*SMALL, str(tmp_path / "s")]) == 0
    capsys.readouterr()
    assert "holds another sweep (jobs differs)" in refusal(capsys, [*SMALL, str(tmp_path / "s"), "--seeds", "1"])


def test_ctrl_c_exits_130_and_the_command_goes_on(tmp_path, monkeypatch):
    from dynamics import sweep_job

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sweep_job, "train_step", stop)
        assert run(sweep.main, [*SMALL, str(tmp_path / "s")]) == 130
    assert run(sweep.main, [*SMALL, str(tmp_path / "s")]) == 0


def test_help_imports_nothing_heavy():
    code = (
        "import sys, scripts.sweep as s\n"
        "try: s.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'joblib', 'dask', 'pydantic'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    root = Path(sweep.__file__).parents[1]
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True, stdout=subprocess.DEVNULL)
