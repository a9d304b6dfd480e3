"""Every kind of values trains, comes back from its file, and trains in an ensemble as it does alone."""

import pytest
import torch

from dynamics.model.config import (
    CANON,
    SMEAR,
    CrossLayer,
    Dense,
    ModelConfig,
    Neutreno,
    Past,
    Residual,
    Shared,
)
from dynamics.model.decoder import InductionModel
from dynamics.tasks.induction import Induction
from dynamics.training import checkpoint
from dynamics.training.ensemble import train_ensemble
from dynamics.training.loop import make_optimizer, train, train_step
from dynamics.training.settings import TrainConfig
from tests.dynamics.folders import saved
from tests.dynamics.refusal import refused

TRAINING = TrainConfig(steps=3, batch=4, warmup=0, heldout_rows=8, task=Induction(pool=8))
ROWS = torch.arange(24).view(4, 6), torch.tensor([5, 3, 4, 5]), torch.tensor([1, 2, 3, 4])
SIZES = {"vocab": 24, "width": 8, "n_heads": 2, "n_layers": 3, "mlp_width": 8}
MODELS = {
    "residual": {"values": Residual(learnt=True, layers=(1,)), "weights": "sink"},
    "shared": {"values": Shared(anchors=(0, 2)), "weights": "gate", "tied": False},
    "neutreno": {"values": Neutreno(), "position": "learned", "max_length": 32},
    "cross": {"values": CrossLayer(source="previous"), "position": "none"},
    "dense": {"values": Dense(), "n_kv_heads": 1},
    "start": {"start": "learnt", "values": Residual(order="shifted"), "window": 3},
    "past": {"past": (*SMEAR, *CANON["A"], *CANON["D"], Past(at="output", per="one")), "values": Residual()},
}


@pytest.fixture(params=MODELS)
def config(request):
    return ModelConfig(**(SIZES | MODELS[request.param]))


@torch.no_grad()
def test_a_model_comes_back_as_it_was_written(config, tmp_path):
    model = InductionModel(config, torch.Generator().manual_seed(1)).eval()
    saved(tmp_path, model)
    found = checkpoint.load(tmp_path).model
    assert found.config == config
    tokens = torch.arange(12).view(2, 6)
    assert torch.equal(found(tokens), model(tokens))


def test_every_parameter_is_trained(config):
    model = InductionModel(config, torch.Generator().manual_seed(1))
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    optimizer = make_optimizer(model, TRAINING)
    for _ in range(2):
        train_step(model, optimizer, ROWS, 1.0)
    assert [name for name, p in model.named_parameters() if torch.equal(p, before[name])] == []


def test_an_untied_output_matrix_is_the_one_that_is_trained():
    model = InductionModel(ModelConfig(**SIZES, tied=False), torch.Generator().manual_seed(1))
    train_step(model, make_optimizer(model, TRAINING), ROWS, 1.0)
    assert model.head.grad.abs().sum(1).min() > 0  # of every word: softmax over all of them
    assert model.embedding.grad[16].abs().max() > 0 == model.embedding.grad[17].abs().max()  # row 2 is scored at 16


def test_what_sees_the_future_and_what_others_cannot_read_is_refused(tmp_path):
    everywhere = ModelConfig(**SIZES, causal=False)
    for trained in (train, lambda config, training: train_ensemble(config, [training])):
        refused("not causal sees the tokens after the scored one", trained, everywhere, TRAINING)
    from dynamics.weights.reader import open_checkpoint
    from dynamics.weights.running import export_baichuan_m1

    model = InductionModel(ModelConfig(**SIZES | MODELS["residual"]))
    saved(tmp_path, model)
    refused("only causal softmax attention over own values", open_checkpoint, str(tmp_path))
    refused("holds causal softmax attention over own values", export_baichuan_m1, model, tmp_path / "folder")
