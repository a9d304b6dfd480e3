"""Positions that restart, and rotary embedding."""

import torch

from dynamics.model.positions import Layout, rotate
from dynamics.model.shift import document_runs, shift_mix
from tests.dynamics.model.kv_cases import PLANTED, TOLERANCE, attention, gap
from tests.dynamics.model.kv_cases import tokens as random_tokens


def test_positions_restart_at_each_document_and_after_pads():
    ids, padding = torch.tensor([[5, 5, 5, 1, 1, 5]]), torch.tensor([1])
    runs = document_runs(ids, padding)
    assert Layout(0, 6, ids.device, None, runs, padding).positions().tolist() == [[0, 0, 1, 0, 1, 0]]
    assert Layout(4, 2, ids.device, None, None, torch.tensor([3])).positions().tolist() == [[1, 2]]


def test_rope_scores_depend_on_the_distance_alone():
    query, key = random_tokens(1, 1).view(1, 1, 1, 8), random_tokens(1, 1, seed=2).view(1, 1, 1, 8)
    scores = [
        (rotate(query, torch.tensor([[t + 3]]), 100.0) * rotate(key, torch.tensor([[t]]), 100.0)).sum().item()
        for t in (0, 7, 100)
    ]
    assert max(scores) - min(scores) < TOLERANCE < abs(scores[0] - (query * key).sum().item())


def test_rope_and_the_shift_do_not_commute():
    module, x = attention(), random_tokens(1, 4)
    key, at = module.k_proj(x).unflatten(-1, (2, 4)), torch.arange(4)[None]
    weights = module.alpha_mix()
    after = rotate(shift_mix(key, weights), at, 10000.0)
    assert gap(after, shift_mix(rotate(key, at, 10000.0), weights)) > PLANTED
