"""Training: interrupted and resumed equals uninterrupted, seeds decide, wrong states are refused."""

import os
import resource
import shutil
import signal

import pytest
import torch

from dynamics.files.lock import only_writer
from dynamics.model.config import ModelConfig
from dynamics.observed.log import read_lines
from dynamics.observed.task import LOG, logged, read_run
from dynamics.tasks.induction import Induction
from dynamics.training import loop as module
from dynamics.training import state
from dynamics.training.checkpoint import load
from dynamics.training.evaluation import evaluate, heldout_batch, parts
from dynamics.training.folder import is_finished, is_interrupted, read_history, steps_to, train_into
from dynamics.training.loop import learning_rate, train
from dynamics.training.settings import TrainConfig
from dynamics.training.state import STATE
from tests.dynamics.folders import contents, forked
from tests.dynamics.interruption import interrupt
from tests.dynamics.refusal import flip, refused

pytestmark = pytest.mark.usefixtures("one_thread")

CONFIG = ModelConfig(vocab=64, width=16, n_heads=2, mlp_width=8)
TRAINING = TrainConfig(steps=12, batch=8, task=Induction(pool=20), warmup=5, heldout_rows=32)


def run(**options):
    return train(CONFIG, TRAINING, progress=False, **options)


def run_into(folder, **options):
    each = logged(folder / LOG, TRAINING, None)  # as many lines as there are steps, whatever they cost
    return train_into(folder, CONFIG, TRAINING, device="cpu", progress=False, each=each, **options)


def stopped(monkeypatch, step, call, out):
    """A call that leaves its state in out, stopped by Ctrl-C in a step."""
    with monkeypatch.context() as patch:
        interrupt(patch, module, "train_step", step)
        with pytest.raises(KeyboardInterrupt):
            call(out) if call is run_into else call(out=out)
    assert set(os.listdir(out)) == {STATE, LOG} if call is run_into else {STATE}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The uninterrupted run, its folder, and what it leaves alone."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("whole")
    handler, generator = signal.getsignal(signal.SIGINT), torch.get_rng_state()
    result = run_into(folder)
    assert signal.getsignal(signal.SIGINT) is handler and torch.equal(torch.get_rng_state(), generator)
    return result, folder


def same(left, right):
    return all(torch.equal(left.state_dict()[name], value) for name, value in right.state_dict().items())


def test_run_interrupted_while_it_is_scored_resumes_from_its_last_step(tmp_path, monkeypatch, whole):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "evaluate", stop)
        with pytest.raises(KeyboardInterrupt):
            run(out=tmp_path)
        patch.setattr(module, "train_step", stop)
        patch.setattr(module, "evaluate", evaluate)
        assert run(out=tmp_path, resume=True).heldout == whole[0].heldout


def test_resume_refuses_a_damaged_or_missing_state(tmp_path, monkeypatch):
    refused("nothing to resume", run, out=tmp_path, resume=True)
    stopped(monkeypatch, 3, run, tmp_path)
    whole = (tmp_path / STATE).read_bytes()
    for place in (0, 40, len(whole) // 3, len(whole) // 2, len(whole) - 1):
        (tmp_path / STATE).write_bytes(whole)
        flip(tmp_path / STATE, place, 4)
        refused(r"sha256|not a safetensors file", run, out=tmp_path, resume=True)


def test_state_is_kept_every_few_steps_and_at_the_end(tmp_path, monkeypatch):
    saved = []
    monkeypatch.setattr(state.time, "monotonic", lambda: 0.0)  # a slow machine saves its first state earlier
    monkeypatch.setattr(state, "save_state", lambda *arguments: saved.append(len(arguments[-1]["loss"])))
    run(out=tmp_path, save_every=5)
    assert saved == [5, 10, 12]


def test_first_state_comes_within_two_seconds_and_later_ones_cost_little(tmp_path, monkeypatch):
    clock, saved = [0.0], []

    def save(*arguments):
        saved.append(clock[0])
        clock[0] += 0.2

    def stepping(*arguments):
        clock[0] += 0.5
        return plain(*arguments)

    plain = module.train_step
    monkeypatch.setattr(state.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(state, "save_state", save)
    monkeypatch.setattr(module, "train_step", stepping)
    train(CONFIG, TRAINING.but(steps=100, batch=1), out=tmp_path, save_every=1000, progress=False)
    assert saved[0] <= 2
    assert 0.2 * len(saved) <= 0.06 * clock[0]


def test_a_folder_with_a_run_is_neither_overwritten_nor_begun_anew_unasked(tmp_path, monkeypatch, whole):
    stopped(monkeypatch, 11, run_into, tmp_path)
    refused("holds an interrupted run; resume continues it, overwrite replaces it", run_into, tmp_path)
    run_into(tmp_path, resume=True)
    names = ["history.json", "history.json.sha256", "manifest.json", "weights.safetensors"]
    before = contents(tmp_path)
    assert sorted(before) == names and before == contents(whole[1])
    refused("holds a finished run; overwrite replaces it", run_into, tmp_path)
    refused("nothing to resume: the run there is finished", run_into, tmp_path, resume=True)
    assert contents(tmp_path) == before
    run_into(tmp_path, overwrite=True)
    assert contents(tmp_path) == before


def test_two_runs_in_one_folder_are_refused(tmp_path):
    with only_writer(tmp_path):
        refused(r"another run is writing here \(process", run_into, tmp_path)
    assert os.listdir(tmp_path) == []


def test_steps_to_a_level_are_those_of_the_mean_of_twenty_batches():
    curve = [0.0] * 10 + [1.0] * 30
    assert steps_to(1.0, {"accuracy": curve, "loss": []}) == 30
    assert steps_to(0.95, {"accuracy": curve, "loss": []}) == 29
    assert steps_to(0.95, {"accuracy": [0.9] * 40, "loss": []}) is None
    assert steps_to(0.95, {"accuracy": [1.0] * 19, "loss": []}) is None


def test_history_is_read_back_and_a_changed_one_refused(tmp_path, whole):
    result, folder = whole
    assert read_history(folder) == result.history
    assert load(folder).manifest.metrics["heldout_correct"] == result.heldout.correct
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    flip(tmp_path / "history.json")
    refused("not the bytes", read_history, tmp_path)


def test_pool_larger_than_the_vocabulary_is_refused_before_anything_is_written(tmp_path):
    training = TRAINING.with_task(pool=54)
    refused("at most vocab - 11 = 53, got 54", train, CONFIG, training, out=tmp_path / "new", progress=False)
    assert not (tmp_path / "new").exists()


def test_learning_rate_warms_up_and_decays_to_its_floor():
    training = TrainConfig(steps=100, warmup=10, learning_rate=1.0, final_lr=0.25)
    rates = [learning_rate(training, step) for step in range(101)]
    assert rates[0] == pytest.approx(0.1)
    assert max(rates) == rates[9]
    assert rates[100] == pytest.approx(0.25)
    assert learning_rate(training.but(warmup=0), 0) == 1.0


def test_each_step_is_taken_at_its_rate(monkeypatch):
    rates, plain = [], module.train_step

    def stepping(model, optimizer, *rest):
        rates.append(optimizer.param_groups[0]["lr"])
        return plain(model, optimizer, *rest)

    monkeypatch.setattr(module, "train_step", stepping)
    run()
    assert rates == [learning_rate(TRAINING, step) for step in range(TRAINING.steps)]


def test_evaluation_does_not_depend_on_the_chunk(whole):
    model, batch = whole[0].model, heldout_batch(0, 64, 64, 20)
    whole, cut = evaluate(model, batch), evaluate(model, batch, chunk=7)
    assert whole.correct == cut.correct
    assert whole.loss == pytest.approx(cut.loss, rel=1e-6)
    assert sum(len(piece.lengths) for piece in parts(batch, 7)) == 64


# --- the log ----------------------------------------------------------------------------------------------------------


def known(folder):
    """The lines of a log without what they cost."""
    cost = {"seconds": None, "trained": None, "share": None}
    return [line.but(**cost) for line in read_lines(folder / LOG)]


def test_a_log_changes_no_bit_of_a_run(tmp_path, whole):
    seen = []
    logs = logged(tmp_path / LOG, TRAINING, None)
    result = run(each=lambda step, model: (seen.append(step), logs(step, model)))
    assert same(run().model, whole[0].model) and same(result.model, whole[0].model)
    assert result.history == whole[0].history
    assert seen == [line.step for line in read_lines(tmp_path / LOG)] == list(range(13))
    run(each=logged(tmp_path / LOG, TRAINING, 1e-9))
    assert [line.step for line in read_lines(tmp_path / LOG)] == [0, 12]


def test_a_log_of_a_run_that_was_killed_has_whole_lines_and_goes_on(tmp_path, monkeypatch, whole):
    for step in (1, 2, 10):
        out = tmp_path / str(step)

        def killed(out=out, step=step):
            interrupt(monkeypatch, module, "train_step", step, signal.SIGKILL)
            monkeypatch.setattr(state, "SOON", 0.0)  # a state after each step
            run_into(out)

        assert forked(killed)
        assert [line.step for line in read_lines(out / LOG)] == list(range(step))
        resumes = (out / STATE).exists()
        if resumes:
            found = read_run(out)
            assert not found.finished and found.step <= step and len(found.lines) == step
        run_into(out, resume=resumes, overwrite=not resumes)
        assert known(out) == known(whole[1]) and contents(out) == contents(whole[1])


def go_on(folder):
    """Begin a run, resume it, or leave it as it is: what is killed in the tests of sweeps."""
    if not is_finished(folder):
        run_into(folder, resume=is_interrupted(folder))


@pytest.mark.parametrize("room", [0, 300, 5000])
def test_a_full_disk_is_told_with_the_file_and_leaves_whole_ones(tmp_path, room):
    """A file that may have no more bytes than that stands for the disk."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, usual[1]))
    try:
        with pytest.raises(OSError) as caught:
            run_into(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert str(caught.value.filename).startswith(str(tmp_path))
    left = os.listdir(tmp_path)
    assert set(left) <= {LOG, STATE} and (LOG not in left or (tmp_path / LOG).read_bytes()[-1:] in (b"", b"\n"))


def test_a_run_is_read_as_it_stands(tmp_path, monkeypatch, whole):
    stopped(monkeypatch, 7, run_into, tmp_path)
    found, finished = read_run(tmp_path), read_run(whole[1])
    assert (found.step, found.finished, found.training) == (7, False, TRAINING)
    assert (finished.step, finished.finished, finished.lines[-1].step) == (12, True, 12)
    assert same(finished.model, load(whole[1]).model)
    with pytest.raises(FileNotFoundError):
        read_run(tmp_path / "nowhere")


def test_a_line_that_is_being_written_is_no_line_and_a_broken_one_is_named(tmp_path, whole):
    out = shutil.copytree(whole[1], tmp_path / "out")
    lines = read_lines(out / LOG)
    with open(out / LOG, "ab") as log:
        log.write(b'{"step": 13, "accur')
    assert read_lines(out / LOG) == lines == read_run(out).lines
    with open(out / LOG, "ab") as log:
        log.write(b"\n")
    refused(f"{LOG}, line {len(lines) + 1}: ", read_run, out)
