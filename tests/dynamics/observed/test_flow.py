"""Coefficients read from a log, and the flow beside them."""

import numpy as np
import pytest
import torch

from dynamics.heads.named import fix_gauge
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import build
from dynamics.observed.flow import MixingPath, directions, flow_beside, is_induction, mixing_path
from dynamics.observed.observer import Observer
from dynamics.observed.probe import make_probe
from tests.dynamics.refusal import refused
from theory import landscape


def log(steps=2, **changes):
    """The lines of a model whose alpha grows by 1 a step."""
    config = ModelConfig(**({"vocab": 12, "width": 16, "n_heads": 4, "n_kv_heads": 2, "n_layers": 2} | changes))
    model = build(config, torch.Generator().manual_seed(0))
    observer = Observer(model, make_probe(model, k=4, repeats=2), share=None)
    for step in range(steps):
        observer.step(10 * step)
        for block in model.blocks if model.config.shift != "none" else ():
            block.attention.alpha.data.add_(1.0)
    return model, observer.lines


def test_a_path_is_that_of_the_parameters():
    model, lines = log(3)
    path = mixing_path(lines, layer=1)
    attention = model.blocks[1].attention
    assert path.steps.tolist() == [0, 10, 20] and path.theta.shape == (3, 2, 4)
    np.testing.assert_allclose(path.theta[0, :, :2], attention.alpha.detach() - 3, atol=1e-5)
    np.testing.assert_allclose(path.theta[:, :, 2:], attention.beta.detach().expand(3, 2, 2), atol=1e-5)
    np.testing.assert_allclose(np.diff(path.theta[..., :2], axis=0), 1, atol=1e-5)


def test_the_flow_begins_where_the_heads_did_and_ends_in_induction():
    _, lines = log(1)
    path = mixing_path(lines)
    flow = flow_beside(path, n_tokens=8, t_end=200.0)
    np.testing.assert_array_equal(flow.theta[0], path.theta[0])
    assert is_induction(flow.theta[-1]).all() and flow.violations == 0
    ends = [landscape.loss(*theta.T, 8, "mean") for theta in (flow.theta[0], flow.theta[-1])]
    assert (ends[1] < ends[0] / 2).all()


def test_directions_are_those_of_the_gauge_that_names_heads():
    theta = np.random.default_rng(0).normal(size=(3, 2, 4))
    found = directions(theta)
    np.testing.assert_allclose(found, directions(theta * np.array([-2.0, -2.0, 0.3, 0.3])))
    assert tuple(found[1, 0, :2]) == fix_gauge(tuple(theta[1, 0, :2]))
    np.testing.assert_array_equal(is_induction(theta), is_induction(found))
    assert is_induction(np.array([0.1, -0.9, 2.0, 1.0])) and not is_induction(np.array([1.0, 0.9, 2.0, 1.0]))


@pytest.mark.parametrize(
    ("changes", "layer", "message"),
    [
        ({"shift": "none"}, 0, "the log has no alpha"),
        ({"window": 3}, 0, "the flow is that of window 2, the log has window 3"),
        ({}, 2, r"layer must be in 0\.\.1, got 2"),
    ],
)
def test_what_has_no_flow_is_refused(changes, layer, message):
    refused(message, mixing_path, log(1, **changes)[1], layer)


def test_an_empty_log_has_no_path():
    refused("the log has no lines", mixing_path, [])
    assert MixingPath(np.zeros(1, int), np.zeros((1, 1, 4))) == MixingPath(np.zeros(1, int), np.zeros((1, 1, 4)))
