"""The training command line: what it leaves, what it prints, and how it refuses."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dynamics.experiments.presets import named
from dynamics.model.config import COMPARED, PRESETS, TASKS, TRAININGS, ModelConfig, TrainConfig
from dynamics.training.checkpoint import shipped
from dynamics.training.describe import sizes
from scripts import train
from scripts.cli import run

FILES = ["history.json", "history.json.sha256", "manifest.json", "weights.safetensors"]
TINY = ["--steps", "2", "--batch", "4", "--width", "8", "--heads", "2", "--device", "cpu", "--threads", "1", "--quiet"]


@pytest.fixture(autouse=True)
def _threads_as_before():
    import torch

    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def trained(tmp_path):
    assert run(train.main, [*TINY, "--out", str(tmp_path / "out")]) == 0
    return tmp_path / "out" / "kv-shift"


def refusal(capsys, arguments):
    """Run a command that must fail; return its one line of stderr."""
    try:
        code = run(train.main, arguments)
    except SystemExit as stop:
        code = stop.code
    printed = capsys.readouterr()
    assert code == 2
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    return printed.err


def test_train_leaves_weights_manifest_and_history(trained):
    assert sorted(os.listdir(trained)) == FILES
    manifest = json.loads((trained / "manifest.json").read_text())
    assert manifest["training"]["steps"] == 2
    assert manifest["config"]["width"] == 8
    assert manifest["threads"] == 1
    assert len(json.loads((trained / "history.json").read_text())["loss"]) == 2


@pytest.mark.parametrize(("task", "words"), [("trigram", "no heads are named"), ("mqar", "no induction head")])
def test_task_is_trained_recorded_and_inspected(tmp_path, capsys, task, words):
    assert run(train.main, [*TINY, "--task", task, "--out", str(tmp_path)]) == 0
    assert words in capsys.readouterr().out
    assert json.loads((tmp_path / "kv-shift" / "manifest.json").read_text())["training"]["task"] == task
    assert tuple(TASKS) == train.TASKS


def test_compare_trains_its_presets_and_says_whether_there_are_induction_heads(tmp_path, capsys):
    assert run(train.main, [*TINY, "--compare", "--out", str(tmp_path)]) == 0
    assert sorted(os.listdir(tmp_path)) == sorted(train.COMPARED)
    printed = capsys.readouterr().out
    assert printed.count("no induction head") == 3
    assert [line.split()[0] for line in printed.splitlines()[2:5]] == list(train.COMPARED)
    assert "width 8, 2 heads, MLP 64, 4 rows a step, 2 steps" in printed.splitlines()[0]
    assert "chosen" not in printed  # these sizes are not the ones that were


def test_compare_is_at_a_size_at_which_two_vanilla_layers_learn_and_says_so(capsys):
    found = {name: shipped(name).manifest for name in train.COMPARED}
    options = train.parser().parse_args(["--compare"])
    runs = {name: train._settings(name, options) for name in train.COMPARED}
    header = train._header(runs, options)
    assert "a size at which two vanilla layers learn too, chosen for that" in header
    for name, (config, training) in runs.items():
        assert ModelConfig.checked(found[name].config) == config
        assert TrainConfig.checked(found[name].training) == training
    assert found["small-vanilla-2"].metrics["heldout_accuracy"] > 0.95
    assert found["small-vanilla-1"].metrics["heldout_accuracy"] < 0.5


def test_help_states_the_sizes_that_are_trained():
    text = " ".join(train.__doc__.split())
    small = sizes([(config, TRAININGS[name]) for name, config in COMPARED.items()])
    stated = small.replace(", then one of them again", "").replace(", 64 rows a step, at most 3000 steps", "")
    assert stated.replace("AdamW", "3000 steps of 64 rows, AdamW") in text
    assert "vocabulary 8000 and rows of 29.0 different tokens" in text
    assert "vocabulary 8000, rows of 29.0 different tokens" in sizes([(PRESETS["kv-shift"], TRAININGS["kv-shift"])])
    assert (TRAININGS["kv-shift"].steps, TRAININGS["kv-shift"].batch) == (500, 256)


def test_inspect_reports_the_heads_of_a_checkpoint(trained, capsys):
    capsys.readouterr()
    assert run(train.main, ["--inspect", str(trained), "--device", "cpu"]) == 0
    printed = capsys.readouterr().out
    assert "on successor" in printed
    assert len([line for line in printed.splitlines() if line.split()[:1] == ["0"]]) == 2


def test_presets_of_the_command_line_are_those_of_the_package():
    assert tuple(PRESETS) == tuple(TRAININGS) == train.PRESETS
    assert tuple(COMPARED) == train.COMPARED
    assert {named(name).title for name in train.SWEEPS.values()}
    assert train.SWEEPS.keys() == set(TASKS) - {"induction"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--steps", "0"], "--steps: expected a whole number >= 1, got '0'"),
        (["--steps", "many"], "got 'many'"),
        (["--seed", "-1"], "got '-1'"),
        (["--seed", str(2**64)], "seed"),
        (["--preset", "gpt"], "invalid choice: 'gpt'"),
        (["--shift", "vk"], "invalid choice: 'vk'"),
        (["--width", "66"], "width 66 is not a multiple of n_heads 4"),
        (["--heads", "64"], "even head size"),
        (["--layers", "999"], "n_layers"),
        (["--threads", "0"], "--threads"),
        (["--device", "abacus"], "device must be auto, cpu or cuda[:N], got 'abacus'"),
        (["--resume"], "nothing to resume"),
        (["--compare", "--resume"], "nothing to resume: no interrupted run in out/small-kv-shift, out/small-"),
        (["--resume", "--overwrite"], "not allowed with"),
        (["--compare", "--task", "hop"], "hop is compared, with seeds, by python -m scripts.sweep --preset hop-k"),
        (["--compare", "--preset", "vanilla-1"], "not allowed with"),
        (["--inspect", "nowhere"], "nowhere"),
        (["--unknown"], "unrecognized arguments: --unknown"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in refusal(capsys, [*arguments, "--out", "out"])
    assert os.listdir(tmp_path) == []


def test_out_that_is_a_file_is_refused(capsys, tmp_path):
    (tmp_path / "file").write_text("mine")
    assert "not a folder" in refusal(capsys, [*TINY, "--out", str(tmp_path / "file")])
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("name", ["weights.safetensors", "manifest.json"])
def test_inspect_refuses_a_flipped_byte(trained, name, capsys):
    data = bytearray((trained / name).read_bytes())
    data[len(data) // 2] ^= 0x80
    (trained / name).write_bytes(data)
    capsys.readouterr()
    assert name in refusal(capsys, ["--inspect", str(trained)])


def test_a_finished_run_is_replaced_only_when_asked(trained, capsys):
    before, out = {path.name: path.read_bytes() for path in trained.iterdir()}, ["--out", str(trained.parent)]
    capsys.readouterr()
    assert f"{trained}: holds a finished run; overwrite replaces it" in refusal(capsys, [*TINY, *out, "--seed", "1"])
    assert {path.name: path.read_bytes() for path in trained.iterdir()} == before
    assert run(train.main, [*TINY, *out, "--seed", "1", "--overwrite"]) == 0
    assert json.loads((trained / "manifest.json").read_text())["seed"] == 1


def test_comparison_is_refused_before_it_trains_where_a_run_would_be_lost(tmp_path, capsys):
    last = tmp_path / train.COMPARED[-1]
    assert run(train.main, [*TINY, "--preset", last.name, "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    assert "holds a finished run" in refusal(capsys, [*TINY, "--compare", "--out", str(tmp_path)])
    assert os.listdir(tmp_path) == [last.name]


def test_interrupted_comparison_keeps_what_is_finished_and_goes_on(tmp_path, monkeypatch, capsys):
    from dynamics.training import loop

    plain, command, calls = loop.train_step, [*TINY, "--steps", "5", "--compare", "--out"], []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 7:
            os.kill(os.getpid(), signal.SIGINT)
        return plain(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "train_step", interrupted)
        assert run(train.main, [*command, str(tmp_path / "a")]) == 130
        advice = f"the state is in {tmp_path}/a/small-vanilla-1; the same command with --resume goes on\n"
        assert capsys.readouterr().err == f"interrupted: {advice}"
        calls[:] = [1] * 10
        assert run(train.main, [*command, str(tmp_path / "a"), "--resume"]) == 0
        assert len(calls) == 10 + 3 + 5
    assert "as found" in capsys.readouterr().out.splitlines()[2]
    assert run(train.main, [*command, str(tmp_path / "b")]) == 0
    for path in (tmp_path / "b").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "a" / path.relative_to(tmp_path / "b")).read_bytes()
    capsys.readouterr()
    assert "other settings" in refusal(capsys, [*TINY, "--compare", "--resume", "--out", str(tmp_path / "a")])


def test_interrupted_command_exits_130_and_resumes_to_the_same_files(tmp_path, monkeypatch):
    from dynamics.training import loop

    plain, command = loop.train_step, [*TINY, "--steps", "5", "--out"]

    def interrupted(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return plain(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "train_step", interrupted)
        assert run(train.main, [*command, str(tmp_path / "a")]) == 130
    assert os.listdir(tmp_path / "a" / "kv-shift") == ["state.safetensors"]
    assert run(train.main, [*command, str(tmp_path / "a"), "--resume"]) == 0
    assert run(train.main, [*command, str(tmp_path / "b")]) == 0
    for name in FILES:
        assert (tmp_path / "a" / "kv-shift" / name).read_bytes() == (tmp_path / "b" / "kv-shift" / name).read_bytes()


def test_help_imports_nothing_heavy():
    code = (
        "import sys, scripts.train as t\n"
        "try: t.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'scipy', 'sympy', 'matplotlib', 'pydantic'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    root = Path(train.__file__).parents[1]
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True, stdout=subprocess.DEVNULL)
