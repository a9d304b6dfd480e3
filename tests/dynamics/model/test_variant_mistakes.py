"""Mistakes seen in public implementations, planted: each is caught by a check that the right code passes."""

from fractions import Fraction

import pytest
import torch

import dynamics.model.decoder as decoder
import dynamics.model.formed as formed
import dynamics.model.forward as forward
import dynamics.model.softmax as softmax
import dynamics.model.values as values
from dynamics.model import sizes
from dynamics.model.cache import KVCache
from dynamics.model.config import Borrowed, Shared
from dynamics.model.positions import Layout
from tests.dynamics.model import variants
from theory.value_residual import svformer_cache

CLOSE, PLANTED = 1e-10, 1e-3


def gap(model):
    """How far a packed row is from its definition."""
    row, documents = variants.tokens(1, 8), torch.tensor([[0] * 5 + [1] * 3])
    expected = torch.from_numpy(variants.logits(model, row[0].numpy(), documents[0].numpy()))
    return float((model(row, segment_ids=documents)[0] - expected).abs().max())


def step_gap(model):
    """How far a model that decodes step by step is from itself."""
    tokens, caches = variants.tokens(2, 6), [KVCache() for _ in model.blocks]
    stepped = torch.cat([model(part, caches=caches) for part in tokens.split(1, dim=1)], dim=1)
    return float((stepped - model(tokens)).abs().max())


def factors_exchanged(right):
    def combined(rule, layer, own, earlier, factors=None):
        if not values.reads(rule, layer):
            return own
        return rule.lambda1 * earlier.first + rule.lambda2 * own

    return combined


def other_layer_unmasked(right):
    def mask(heads, where, dtype):
        found = right(heads, where, dtype)
        return found.index_fill(-1, torch.arange(where.length, found.shape[-1]), True)

    return mask


def shifted_by_the_largest(right):
    def attend(query, key, value, mask, scale, sinks=None, causal=True):
        weights = softmax.probabilities(query, key, mask, scale)  # e^{x - max} / sum e^{x - max}
        powers = weights / weights.amax(-1, keepdim=True)
        return powers / (1 + powers.sum(-1, keepdim=True)) @ value

    return attend


def selected_at_once(right):
    def selected(scores, first, before=None):
        taken, after = right(scores, first, before)
        return torch.cat([taken[:, 1:], after[:, None]], dim=1), after

    return selected


def forgotten(right):
    def selected(scores, first, before=None):
        taken, after = right(scores, first, before)
        return taken, torch.zeros_like(after)

    return selected


def first_keys_for_all(right):
    def note(self, rule, layer, key, value):
        return right(self, rule, layer, key, value) if layer == 0 else None

    return note


def one_place_back_alone(right):
    return lambda start, weights, ages: right(start, weights, ages) * (ages == 0)[..., None, None]


def without_the_embedding(right):
    return lambda states, weights: right(states, weights * (torch.arange(len(states)) > 0))


ROPE_LATENT = {"latent": {"size": 5, "rope": 2}, "width": 16}
# What is replaced and by what, in which model, and the check that sees it.
MISTAKES = {
    "factors exchanged": (values, "combined", factors_exchanged, {"values": "resformer-sparse"}, gap),
    "shifted before they are added": (values, "shifted_first", lambda right: lambda rule: True,
                                      {"values": "resformer"}, gap),
    "wrong sign": (values, "added", lambda right: lambda *given: None if (f := right(*given)) is None else -f,
                   {"values": "neutreno"}, gap),
    "no embedding": (decoder, "_over_depth", without_the_embedding, {"values": "denseformer"}, gap),
    "the future of the other layer": (forward, "_mask", other_layer_unmasked, {"values": "cross-layer"}, gap),
    "keys of the first layer": (values.Earlier, "note_keys", first_keys_for_all, variants.KINDS["cla"], gap),
    "another head's sink": (forward, "_sinks", lambda right: lambda *given: right(*given).flip(-1),
                            {"weights": "sink"}, gap),
    "plus one beside the largest": (forward, "attend", shifted_by_the_largest, {"weights": "plus_one"}, gap),
    "selection by itself": (softmax, "selected", selected_at_once, {"weights": "selective"}, gap),
    "selection forgotten": (softmax, "selected", forgotten, {"weights": "selective"}, step_gap),
    "layers from 1": (softmax, "initial_share", lambda right: lambda layer: right(layer + 1),
                      {"weights": "differential", "width": 16}, gap),
    "latents rotated anew": (Layout, "whole", lambda right: lambda where: right(where)._replace(offset=where.offset),
                             ROPE_LATENT, step_gap),
    "positions anew": (decoder.InductionModel, "embed", lambda right: lambda self, tokens, *_: right(self, tokens),
                       {"position": "learned"}, step_gap),
    "a start for one token back": (formed, "before_first", one_place_back_alone, {"start": "learnt", "window": 3}, gap),
}  # fmt: skip


@torch.no_grad()
@pytest.mark.parametrize("name", MISTAKES)
def test_a_planted_mistake_is_caught(name, monkeypatch):
    where, attribute, wrong, options, check = MISTAKES[name]
    model = variants.model(variants.named(**options))
    assert check(model) < CLOSE
    monkeypatch.setattr(where, attribute, wrong(getattr(where, attribute)))
    assert check(model) > PLANTED


@pytest.mark.parametrize("n_kv_heads", [None, 2, 1])
@pytest.mark.parametrize("anchors", [(0,), (0, 2), (0, 1, 2, 3)])
def test_svformers_cache_is_what_the_formula_says(anchors, n_kv_heads):
    groups = n_kv_heads or variants.HEADS
    for order in ("raw", "shifted"):
        config = variants.named(Shared(anchors=anchors, order=order), shift="none", n_kv_heads=n_kv_heads)
        found = Fraction(sizes.cache_size(config).per_token, 2 * variants.LAYERS * config.width)
        assert found == svformer_cache(variants.LAYERS, variants.HEADS, groups, len(anchors))


@torch.no_grad()
def test_layers_that_borrow_all_of_a_projection_have_none():
    model = variants.model(variants.named(Borrowed(of="key", own=0.0, source="previous", layers=(1, 3))))
    assert [block.attention.k_proj is None for block in model.blocks] == [False, True, False, True]
    assert all(block.attention.q_proj is not None for block in model.blocks)
    with pytest.raises(ValueError, match="the keys of another layer has no probabilities to show by itself"):
        model.attention_weights(variants.tokens(1, 4), torch.tensor([3]))


def test_every_field_of_every_record_is_tried_away_from_its_default():
    rules = [*variants.VALUES.values(), variants.KINDS["cla"]["values"]]
    for record in {type(rule) for rule in rules}:
        for name, field in record.model_fields.items():
            given = {getattr(rule, name) for rule in rules if type(rule) is record}
            assert name == "kind" or given - {field.default}, (record, name)
