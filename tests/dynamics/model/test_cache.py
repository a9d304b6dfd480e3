"""Whole = in chunks = token by token, with pads and beams; and the caches that get it wrong."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import dynamics.model.formed as formed
import dynamics.model.forward as forward_module
from dynamics.model.cache import KVCache
from dynamics.model.positions import Layout, alibi_bias, rotate
from dynamics.model.shift import shift_mix
from tests.dynamics.model.kv_cases import (
    PLANTED,
    TOLERANCE,
    attention,
    attentions,
    beam_gap,
    chunked,
    chunked_gap,
    filled,
    lengths,
    padded_gap,
)
from tests.dynamics.model.kv_cases import tokens as random_tokens
from tests.dynamics.refusal import refused


@given(attentions(), lengths())
def test_cache_in_chunks_equals_whole(module, sizes):
    assert chunked_gap(module, sizes) < TOLERANCE


@given(attentions(), st.integers(1, 8))
def test_cache_token_by_token_equals_whole(module, length):
    assert chunked_gap(module, [1] * length) < TOLERANCE


@given(attentions(), lengths())
def test_cache_with_capacity_equals_whole(module, sizes):
    with torch.no_grad():
        assert chunked_gap(module, sizes, KVCache(capacity=sum(sizes))) < TOLERANCE


@given(attentions(), lengths(), st.data())
def test_cache_with_left_pads_equals_each_row_alone(module, sizes, data):
    real = data.draw(st.lists(st.integers(0, sum(sizes)), min_size=1, max_size=3))
    assert padded_gap(module, real, sizes) < TOLERANCE


@given(attentions(), lengths(), st.lists(st.integers(0, 2), min_size=1, max_size=4), st.booleans())
def test_cache_reordered_equals_recomputation(module, sizes, beams, fixed):
    with torch.no_grad():
        cache = KVCache(capacity=sum(sizes) + 2) if fixed else KVCache()
        assert beam_gap(module, sizes, beams, cache) < TOLERANCE


def test_cache_keeps_the_graph_of_the_prefix():
    module, x = attention(shift="qkv", window=3), random_tokens(1, 5)
    whole = torch.autograd.grad(module(x).pow(2).sum(), list(module.parameters()))
    parts = torch.autograd.grad(chunked(module, x, [2, 1, 2], KVCache()).pow(2).sum(), list(module.parameters()))
    assert max((a - b).abs().max().item() for a, b in zip(whole, parts, strict=True)) < TOLERANCE


def test_cache_holds_one_mixed_key_a_token_and_window_less_one_raw_ones():
    module, cache = attention(n_heads=4, n_kv_heads=2, window=3), KVCache()
    chunked(module, random_tokens(2, 7), [4, 1, 2], cache)
    assert len(cache) == 7 and cache.key.shape == cache.value.shape == (2, 2, 7, 2)
    assert cache.previous("key").shape == cache.previous("value").shape == (2, 2, 2, 2)
    assert cache.previous("query") is None
    raw = module.k_proj(random_tokens(2, 7)[:, -2:]).unflatten(-1, (2, 2))
    assert torch.equal(cache.previous("key"), raw)


class KeepsMixedTokens(KVCache):
    """The mistake of the first version's listing: the mixed key is kept as "last"."""

    def append(self, key, value, raw, keep):
        mixed = {"key": key.transpose(1, 2), "value": value.transpose(1, 2)}
        return super().append(key, value, mixed, keep)


class KeepsRotatedKey(KVCache):
    """The mistake: the key is rotated before it is kept for the shift."""

    def append(self, key, value, raw, keep):
        at = torch.arange(self.length, self.length + key.shape[2])[None]
        return super().append(key, value, raw | {"key": rotate(raw["key"], at, 10000.0)}, keep)


class ForgetsTheShift(KVCache):
    """The mistake: each chunk starts as if nothing had come before."""

    def previous(self, name):
        return None


class KeepsTheFirstRawToken(KVCache):
    """The mistake: the raw state is written at prefill and never again."""

    def append(self, key, value, raw, keep):
        first = not self.length
        return super().append(key, value, raw if first else {}, keep)


@pytest.mark.parametrize("sizes", [[3, 1, 1], [2, 2, 1]])
@pytest.mark.parametrize(
    ("wrong", "position"),
    [
        (KeepsMixedTokens, "none"),
        (KeepsMixedTokens, "rope"),
        (KeepsRotatedKey, "rope"),
        (ForgetsTheShift, "none"),
        (KeepsTheFirstRawToken, "alibi"),
    ],
)
def test_cache_check_rejects_a_wrong_state(wrong, position, sizes):
    module = attention(position=position)
    assert chunked_gap(module, sizes) < TOLERANCE
    assert chunked_gap(module, sizes, wrong()) > PLANTED


def test_cache_check_rejects_one_coefficient_in_decode(monkeypatch):
    def listing(raw, weights, previous=None, segment_ids=None):
        one = weights if previous is None else weights[:, :1].expand_as(weights)
        return shift_mix(raw, one, previous, segment_ids)

    monkeypatch.setattr(formed, "shift_mix", listing)
    assert chunked_gap(attention(), [3, 1, 1]) > PLANTED


def test_cache_check_rejects_a_zero_alibi_bias_in_decode(monkeypatch):
    def zero(slopes, where):
        return alibi_bias(slopes, where) * (where.offset == 0)

    monkeypatch.setattr(forward_module, "alibi_bias", zero)
    assert chunked_gap(attention(position="alibi"), [3, 1, 1]) > PLANTED


def test_cache_check_rejects_alibi_distances_displaced_by_a_key_in_decode(monkeypatch):
    def displaced(slopes, where):
        bias = alibi_bias(slopes, where)
        return bias.roll(1, dims=-1) if where.offset else bias

    monkeypatch.setattr(forward_module, "alibi_bias", displaced)
    assert chunked_gap(attention(position="alibi"), [3, 1, 1]) > PLANTED


@pytest.mark.parametrize("mistake", ["top left", "none"])
def test_cache_check_rejects_a_misplaced_causal_mask(monkeypatch, mistake):
    def visible(where):
        queries = where.indices()[:, None] - (where.offset if mistake == "top left" else -where.length)
        return (torch.arange(where.offset + where.length) <= queries)[None, None]

    right = Layout.visible
    monkeypatch.setattr(Layout, "visible", lambda where: visible(where) if where.offset else right(where))
    assert chunked_gap(attention(), [2, 3]) > PLANTED


def test_cache_check_rejects_positions_that_restart_in_each_chunk(monkeypatch):
    right = Layout.positions
    monkeypatch.setattr(Layout, "positions", lambda where: right(where) - where.offset)
    assert chunked_gap(attention(), [3, 1, 1]) > PLANTED


class ReordersOnlyKeys(KVCache):
    """The mistake: the beams move, the raw tokens stay."""

    def reorder(self, beam_index):
        raw = self._raw
        super().reorder(beam_index)
        self._raw = raw


def test_cache_check_rejects_raw_tokens_left_behind_by_beams():
    assert beam_gap(attention(), [3, 1], [2, 0, 0]) < TOLERANCE
    assert beam_gap(attention(), [3, 1], [2, 0, 0], ReordersOnlyKeys()) > PLANTED


def test_cache_check_rejects_pads_that_are_shifted_in(monkeypatch):
    right = formed._raw

    def shifts_pads_in(name, heads, p, states, where, *_):
        return right(name, heads, p, states, where._replace(padding=None))

    assert padded_gap(attention(), [2, 5], [3, 2]) < TOLERANCE
    monkeypatch.setattr(formed, "_raw", shifts_pads_in)
    assert padded_gap(attention(), [2, 5], [3, 2]) > PLANTED


def test_cache_refused_chunk_leaves_it_unchanged():
    cache, module = filled(capacity=4), attention()
    key, raw = cache.key.clone(), cache.previous("key").clone()
    with torch.no_grad():
        refused("do not fit", module, random_tokens(2, 2), cache=cache)
    assert len(cache) == 3 and torch.equal(cache.key, key) and torch.equal(cache.previous("key"), raw)
