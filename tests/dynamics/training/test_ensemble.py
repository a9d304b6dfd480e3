"""An ensemble is the sequential loop: same weights, same curves, whatever the configuration and the chunk."""

import signal
from itertools import pairwise

import pytest
import torch
from torch import nn

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.tasks.induction import Induction, induction_batch
from dynamics.training import ensemble as module
from dynamics.training.ensemble import clip_each, default_chunk, train_ensemble
from dynamics.training.evaluation import as_tensors, training_rng
from dynamics.training.loop import learning_rate, make_optimizer, train_step
from dynamics.training.settings import TrainConfig
from tests.dynamics.interruption import interrupt

pytestmark = pytest.mark.usefixtures("one_thread")

CONFIG = ModelConfig(vocab=48, width=8, n_heads=2)
BASE = TrainConfig(steps=20, batch=6, task=Induction(pool=14), warmup=5, heldout_rows=32)
# Seeds, rates, decay, clipping and pool all differ, and neighbours do not share optimizer settings.
VARIED = [
    BASE,
    BASE.but(seed=1, learning_rate=1e-2, final_lr=0.1),
    BASE.but(seed=2, clip=0.05),
    BASE.but(seed=3, weight_decay=0.3, beta2=0.99, warmup=0),
    BASE.with_task(pool=30).but(seed=1),
]


def alone(config, training, model=None):
    """The loop of dynamics.training.loop, in float64."""
    model = (model or fresh(config, training.seed)).double()
    optimizer, curve = make_optimizer(model, training), []
    for step in range(training.steps):
        optimizer.param_groups[0]["lr"] = learning_rate(training, step)
        batch = induction_batch(training_rng(training.seed, step), training.batch, config.vocab, training.task.pool)
        curve.append(train_step(model, optimizer, as_tensors(batch, "cpu"), training.clip))
    return model, curve


def fresh(config, seed):
    return InductionModel(config, torch.Generator().manual_seed(seed))


def gap(left, right):
    """Largest difference of two models' weights."""
    other = right.state_dict()
    return max((value - other[name]).abs().max().item() for name, value in left.state_dict().items())


def check_equal(config, trainings, **options):
    results = train_ensemble(config, trainings, device="cpu", dtype=torch.float64, progress=False, **options)
    for result, training in zip(results, trainings, strict=True):
        model, curve = alone(config, training)
        assert gap(result.model, model) <= 1e-10
        assert result.history["loss"] == pytest.approx([loss for loss, _ in curve], abs=1e-10)
        assert result.history["accuracy"] == pytest.approx([accuracy for _, accuracy in curve], abs=1e-10)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"shift": "none", "n_layers": 2, "mlp_width": 8},
        {"shift": "qkv", "parameters": "gate", "position": "alibi", "n_kv_heads": 1},
    ],
    ids=lambda changes: "-".join(map(str, changes.values())) or "default",
)
def test_ensemble_equals_the_loop_after_twenty_steps_with_equal_curves(changes):
    check_equal(CONFIG.but(**changes), VARIED, chunk=3)


def test_initial_models_may_be_given_and_are_left_alone():
    models = [fresh(CONFIG, seed) for seed in (7, 8)]
    trainings = [BASE.but(steps=6)] * 2
    results = train_ensemble(CONFIG, trainings, models=models, device="cpu", dtype=torch.float64, progress=False)
    assert gap(models[0], fresh(CONFIG, 7)) == 0
    for result, seed in zip(results, (7, 8), strict=True):
        assert gap(result.model, alone(CONFIG, trainings[0], fresh(CONFIG, seed))[0]) < 1e-10
        assert (result.heldout.rows, result.threads, result.device) == (32, 1, "cpu")


def test_clipping_is_that_of_torch_for_each_model():
    generator = torch.Generator().manual_seed(0)
    gradients = [torch.randn(4, *shape, generator=generator).double() for shape in [(3, 2), (5,)]]
    limits, expected = torch.tensor([0.1, 1.0, 50.0, 3.0]).double(), []
    for index, most in enumerate(limits.tolist()):
        parameters = [nn.Parameter(torch.zeros_like(g[index])) for g in gradients]
        for parameter, g in zip(parameters, gradients, strict=True):
            parameter.grad = g[index].clone()
        nn.utils.clip_grad_norm_(parameters, most)
        expected.append([parameter.grad for parameter in parameters])
    clip_each(gradients, limits)
    for place, g in enumerate(gradients):
        assert torch.allclose(g, torch.stack([of[place] for of in expected]), atol=1e-15, rtol=0)


def test_neighbours_with_equal_settings_share_a_parameter_group():
    runs = module._runs([VARIED[0], VARIED[2], VARIED[1], VARIED[0]])
    assert runs == [slice(0, 2), slice(2, 3), slice(3, 4)]
    assert all(a.stop == b.start for a, b in pairwise(runs))
    assert default_chunk(ModelConfig(width=128)) < default_chunk(ModelConfig(width=16))


def test_ctrl_c_stops_an_ensemble_between_two_steps(monkeypatch):
    interrupt(monkeypatch, module, "stacked_rows")
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        train_ensemble(CONFIG, VARIED, device="cpu", progress=False)
    assert signal.getsignal(signal.SIGINT) is before
