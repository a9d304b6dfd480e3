"""The checks of test_attention.py reject the wrong attentions found in the wild."""

import pytest
import torch

import dynamics.model.formed as formed
from dynamics.model.positions import Layout
from dynamics.model.shift import shift_mix
from tests.dynamics.model.kv_cases import PLANTED, TOLERANCE, attention, future_gap, gap, packed_gap, padded_gap
from tests.dynamics.model.kv_cases import tokens as random_tokens
from tests.dynamics.model.kv_loops import looped_heads


def test_attention_check_rejects_a_shift_that_leaks_across_documents(monkeypatch):
    def leaking(raw, weights, previous=None, segment_ids=None):
        return shift_mix(raw, weights, previous)

    assert packed_gap(attention(), [2, 3]) < TOLERANCE
    monkeypatch.setattr(formed, "shift_mix", leaking)
    assert packed_gap(attention(), [2, 3]) > PLANTED


def planted_mask(monkeypatch, change):
    right = Layout.visible
    monkeypatch.setattr(Layout, "visible", lambda where: change(where, right))


def test_attention_check_rejects_documents_that_see_each_other(monkeypatch):
    planted_mask(monkeypatch, lambda where, right: right(where._replace(runs=None)))
    assert packed_gap(attention(), [2, 3]) > PLANTED


def test_attention_check_rejects_pads_that_are_attended_to(monkeypatch):
    planted_mask(monkeypatch, lambda where, right: right(where._replace(padding=None)))
    assert padded_gap(attention(), [2, 4]) > PLANTED


def test_attention_check_rejects_a_causal_mask_thrown_away(monkeypatch):
    planted_mask(monkeypatch, lambda where, right: torch.ones(where.length, where.length, dtype=torch.bool))
    assert future_gap(attention(), 5, 2) > PLANTED


def test_attention_check_rejects_an_edge_padded_shift(monkeypatch):
    def edge_padded(raw, weights, previous=None, segment_ids=None):
        return shift_mix(raw, weights, raw[:, :1])

    module, x = attention(), random_tokens(1, 4)
    _, out = looped_heads(module, x[0])
    monkeypatch.setattr(formed, "shift_mix", edge_padded)
    assert gap(module(x)[0], out) > PLANTED


@pytest.mark.parametrize("wrong", ["zero", "sign", "exponent"])
def test_attention_check_rejects_a_wrong_alibi(monkeypatch, wrong):
    module, x = attention(position="alibi", n_heads=3, head_dim=4), random_tokens(1, 4)
    _, out = looped_heads(module, x[0])
    module.slopes = {
        "zero": [0.0] * 3,
        "sign": [-slope for slope in module.slopes],
        "exponent": [2.0 ** (-8.0 * (h + 1) / 3) for h in range(3)],
    }[wrong]
    assert gap(module(x)[0], out) > PLANTED
