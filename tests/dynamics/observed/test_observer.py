"""The observer: a model in training is left as it was, the cost is held to its share, the log is whole."""

import json
import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.model.decoder import build
from dynamics.observed.log import Line, begun, read_lines, stacked, write_lines
from dynamics.observed.observer import Observer
from dynamics.observed.probe import make_probe
from dynamics.observed.scores import observe, summary
from dynamics.observed.undisturbed import undisturbed
from dynamics.training.loop import make_optimizer, train_step
from dynamics.training.settings import TrainConfig
from tests.dynamics.hf import models
from tests.dynamics.hf.test_attention import snapshot
from tests.dynamics.model import variants
from tests.dynamics.refusal import refused

# --- the model is left as it was --------------------------------------------------------------------------------------


class Own:
    """A model of ours whose training draws from torch's generator of all."""

    @staticmethod
    def start():
        config = variants.named("resformer-learnt", "sink", "kv", "rope")
        return build(config, torch.Generator().manual_seed(0)).train()

    @staticmethod
    def step(model, optimizer):
        rows = torch.randint(variants.VOCAB, (4, 9)), torch.full((4,), 8), torch.randint(variants.VOCAB, (4,))
        return train_step(model, optimizer, rows, 1.0)


class Theirs:
    """A transformers model with every kind of dropout."""

    @staticmethod
    def start():
        dropouts = {"attn_pdrop": 0.2, "resid_pdrop": 0.2, "embd_pdrop": 0.2}
        return models.model("gpt2", dtype=torch.float32, **dropouts).train()

    @staticmethod
    def step(model, optimizer):
        tokens = torch.randint(64, (2, 12))
        optimizer.zero_grad()
        model(tokens, labels=tokens).loss.backward()
        optimizer.step()


def trained(case, observed, path=None):
    """Bytes of weights and moments, and of the generators, after some steps."""
    torch.manual_seed(7), random.seed(7), np.random.seed(7)
    model = case.start()
    optimizer = make_optimizer(model, TrainConfig(learning_rate=1e-2))
    observer = Observer(model, make_probe(model, k=4), path, share=None) if observed else None
    for step in range(6):
        if observer:
            assert observer.step(step) is not None
        case.step(model, optimizer)
    tensors = [*model.state_dict().values(), *(t for held in optimizer.state.values() for t in held.values())]
    draws = torch.rand(3).tolist(), random.random(), np.random.rand()
    return [tensor.numpy().tobytes() for tensor in tensors], draws


@pytest.mark.parametrize("case", [Own, Theirs], ids=["ours", "gpt2"])
def test_weights_trained_with_an_observer_and_without_are_the_same_bytes(case, tmp_path):
    assert trained(case, True, tmp_path / "log.jsonl") == trained(case, False)


def everything(model):
    """All that an observation could change and training would not show at once."""
    modules = list(model.modules())
    return (
        snapshot(model),
        [module.training for module in modules],
        [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in modules],
        (torch.is_grad_enabled(), torch.get_rng_state().tolist()),
        [None if weight.grad is None else weight.grad.tolist() for weight in model.parameters()],
    )


@pytest.mark.parametrize("case", [Own, Theirs], ids=["ours", "gpt2"])
@pytest.mark.parametrize("fails", [False, True])
def test_modes_gradients_hooks_and_the_attention_come_back_even_after_an_error(case, fails, monkeypatch):
    model = case.start()
    case.step(model, torch.optim.SGD(model.parameters(), lr=0.1))  # leaves gradients
    next(iter(model.children())).eval()  # one part is frozen
    probe = make_probe(model, k=4)
    before = everything(model)
    if fails:
        monkeypatch.setattr("dynamics.observed.scores._losses", lambda *_: [][0])
        with pytest.raises(IndexError):
            observe(model, probe)
    else:
        observe(model, probe)
    assert everything(model) == before


def test_an_observation_is_the_same_in_the_midst_of_training_and_draws_nothing_of_training():
    model = Theirs.start()
    probe = make_probe(model, k=4)
    training, evaluation = observe(model, probe), observe(model.eval(), probe)
    assert training == evaluation
    state = torch.get_rng_state()
    with undisturbed(model):
        torch.rand(5)
        assert not torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), state)


# --- the share --------------------------------------------------------------------------------------------------------


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def run(steps, costs, **settings):
    """An observer of a clock that nothing but `steps` (training) and `costs` (observations, in turn) moves."""
    clock, taken = Clock(), []

    def costly(model):
        taken.append(costs[len(taken) % len(costs)])
        clock.now += taken[-1]
        return FOUND

    observer = Observer(torch.nn.Linear(1, 1), costly, clock=clock, **settings)
    states = []
    for number, seconds in enumerate([*steps, 0.0]):
        if observer.step(number) is not None:
            states.append((number, observer.trained, observer.spent, taken[-1]))
        clock.now += seconds
    return observer, states


MODEL = variants.model(variants.named())
FOUND = summary(MODEL, make_probe(MODEL, k=4))


@given(
    st.lists(st.floats(0.001, 1.0), min_size=1, max_size=300),
    st.lists(st.floats(0.001, 3.0), min_size=1, max_size=5),
    st.integers(1, 7),
    st.sampled_from([0.02, 0.1, 0.5]),
)
def test_an_observation_is_paid_for_before_it_is_made(steps, costs, every, share):
    observer, states = run(steps, costs, every=every, share=share)
    assert states[0][:2] == (0, 0.0)
    for (last, _, spent, _), (number, trained, after, cost), foreseen in zip(
        states, states[1:], _dearest(states), strict=False
    ):
        assert number - last >= every
        assert spent + foreseen <= share * trained
        assert after <= share * trained + max(0.0, cost - foreseen) + 1e-9
    if len(states) > 1 and len(set(costs)) == 1:
        assert states[-1][2] / states[-1][1] <= share + 1e-9
    assert observer.trained == pytest.approx(sum(steps))
    assert observer.spent == pytest.approx(sum(state[3] for state in states))


def _dearest(states):
    """What the last two observations cost at most, before each but the first."""
    costs = [state[3] for state in states]
    return [max(costs[max(0, n - 1) : n + 1]) for n in range(len(costs))]


def test_the_share_is_used_and_not_only_kept():
    observer, states = run([0.1] * 20_000, [0.5], share=0.02)
    assert 0.019 <= observer.share <= 0.02
    gaps = np.diff([state[0] for state in states])
    assert gaps[0] == 500 and set(gaps[1:].tolist()) <= {249, 250, 251}  # 2 * 0.5 / 0.02 / 0.1, then half of it


def test_the_share_of_a_run_whose_steps_are_known_is_spread_over_them():
    observer, states = run([0.1] * 1000, [0.05], share=0.02, total=1000)
    assert 0.019 <= observer.share <= 0.02
    assert {24, 25, 26} >= set(np.diff([state[0] for state in states]).tolist())


def test_the_cost_that_is_written_is_that_of_the_clock(tmp_path):
    model = variants.model(variants.named())
    observer = Observer(model, make_probe(model, k=4), tmp_path / "log.jsonl", share=None)
    for step in range(4):
        observer.step(step)
    lines = observer.lines
    assert all(line.seconds > 0 for line in lines) and lines[0].share is None
    assert lines[-1].share == pytest.approx(sum(line.seconds for line in lines) / lines[-1].trained, rel=0.9)
    assert observer.spent > sum(line.seconds for line in lines)  # files were written
    assert observer.share == observer.spent / observer.trained


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"every": 0}, "every must be at least 1, got 0"), ({"share": 0.0}, r"share must be in \(0, 1\], got 0.0")],
)
def test_bad_settings_are_refused(settings, message):
    refused(message, Observer, torch.nn.Linear(1, 1), None, **settings)


# --- the log ----------------------------------------------------------------------------------------------------------


def test_the_log_holds_what_was_observed(tmp_path):
    model = variants.model(variants.named())
    probe, path = make_probe(model, k=4), tmp_path / "log.jsonl"
    observer = Observer(model, probe, path, share=None)
    observer.step(0)
    with torch.no_grad():
        model.blocks[1].attention.alpha.add_(1.0)
    observer.step(1)
    lines = read_lines(path)
    assert lines == observer.lines and [line.step for line in lines] == [0, 1]
    found = summary(model, probe)
    for name in ("induction", "entropy", "drain", "copy_loss", "alpha", "beta"):
        np.testing.assert_allclose(stacked(lines, name)[1], found[name], rtol=1e-5)
    np.testing.assert_allclose(np.diff(stacked(lines, "alpha"), axis=0)[0, :, 0, 0], [0, 1, 0, 0], atol=1e-5)
    refused("the log has no text_loss", stacked, lines, "text_loss")


def test_a_diverged_model_is_logged_with_nothing_where_there_are_no_numbers(tmp_path):
    model = variants.model(variants.named())
    model.blocks[2].attention.v_proj.weight.data.fill_(torch.nan)
    observer = Observer(model, make_probe(model, k=4), tmp_path / "log.jsonl")
    line = observer.step(0)
    assert line.drain[2] is None and line.copy_loss[0] is None and line.induction[0][0] is not None
    assert "NaN" not in (tmp_path / "log.jsonl").read_text()
    assert np.isnan(stacked(read_lines(tmp_path / "log.jsonl"), "drain")[0, 2])


def test_a_run_that_goes_on_continues_its_log_and_another_does_not_touch_it(tmp_path):
    path, line = tmp_path / "log.jsonl", Line.of(0, FOUND, seconds=0.1, trained=1.0, share=0.1)
    write_lines(path, [line.but(step=step) for step in (0, 10, 20, 30)])
    before = path.read_bytes()
    refused("exists already", Observer, torch.nn.Linear(1, 1), None, path)
    assert path.read_bytes() == before
    assert [line.step for line in begun(path, 20)] == [0, 10]
    goes_on = Observer(torch.nn.Linear(1, 1), lambda _: {}, path, every=15, share=None, after=20)
    assert goes_on.step(20) is None and goes_on.step(25).step == 25
    assert begun(tmp_path / "none.jsonl", None) == begun(tmp_path / "none.jsonl", 20) == []


@pytest.mark.parametrize("change", [{"step": -1}, {"unknown": 1}, {"induction": 3}])
def test_a_damaged_log_is_refused_in_one_line(tmp_path, change):
    path, line = tmp_path / "log.jsonl", json.loads(Line.of(0, FOUND).model_dump_json())
    path.write_text(json.dumps(line) + "\n" + json.dumps(line | change) + "\n")
    refused(r"log\.jsonl, line 2: ", read_lines, path)
