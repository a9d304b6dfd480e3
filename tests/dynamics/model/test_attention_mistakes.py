"""The checks of attention reject the wrong ones found in the wild, and those of the paper's listings."""

import pytest
import torch

from dynamics.model import formed
from dynamics.model.cache import KVCache
from dynamics.model.positions import Layout
from tests.dynamics.model.kv_cases import (
    PLANTED,
    TOLERANCE,
    attention,
    beam_gap,
    chunked_gap,
    gap,
    packed_gap,
    padded_gap,
    tokens,
)
from tests.dynamics.model.kv_loops import looped_heads


def chunks():
    return chunked_gap(attention(), [3, 1, 1])


def documents():
    return packed_gap(attention(), [2, 3])


def pads():
    return padded_gap(attention(), [2, 4])


def beams():
    return beam_gap(attention(), [3, 1], [2, 0, 0])


def loops():
    module, x = attention(), tokens(1, 4)
    return gap(module(x)[0], looped_heads(module, x[0])[1])


def crosses_documents(right):
    return lambda raw, weights, previous=None, segment_ids=None: right(raw, weights, previous)


def edge_padded(right):
    return lambda raw, weights, previous=None, segment_ids=None: right(raw, weights, raw[:, :1])


def one_coefficient(right):
    """Of the decode listing of Appendix M: one column multiplies both tokens."""

    def mix(raw, weights, previous=None, segment_ids=None):
        return right(raw, weights if previous is None else weights[:, :1].expand_as(weights), previous, segment_ids)

    return mix


def keeps_mixed_tokens(right):
    """Of the first version's listing: the mixed key is kept as "last"."""

    def append(self, key, value, raw, keep):
        return right(self, key, value, {"key": key.transpose(1, 2), "value": value.transpose(1, 2)}, keep)

    return append


def leaves_raw_tokens(right):
    def reorder(self, beam_index):
        raw = self._raw
        right(self, beam_index)
        self._raw = raw

    return reorder


def pads_shifted_in(right):
    return lambda name, heads, p, states, where, *_: right(name, heads, p, states, where._replace(padding=None))


MISTAKES = {
    "the first token mixed with itself": (formed, "shift_mix", edge_padded, loops),
    "a shift across documents": (formed, "shift_mix", crosses_documents, documents),
    "documents that see each other": (
        Layout, "visible", lambda right: lambda where: right(where._replace(runs=None)), documents,
    ),
    "pads attended to": (Layout, "visible", lambda right: lambda where: right(where._replace(padding=None)), pads),
    "pads shifted in": (formed, "_raw", pads_shifted_in, pads),
    "one coefficient in decode": (formed, "shift_mix", one_coefficient, chunks),
    "mixed tokens kept": (KVCache, "append", keeps_mixed_tokens, chunks),
    "queries counted from their chunk": (
        Layout, "queries", lambda right: lambda where: right(where) - where.offset,
        lambda: chunked_gap(attention(), [2, 3]),
    ),
    "positions restart in each chunk": (
        Layout, "positions", lambda right: lambda where: right(where) - where.offset, chunks,
    ),
    "raw tokens left behind by beams": (KVCache, "reorder", leaves_raw_tokens, beams),
}  # fmt: skip


@torch.no_grad()
@pytest.mark.parametrize("name", MISTAKES)
def test_attention_check_rejects_a_planted_mistake(name, monkeypatch):
    where, attribute, wrong, check = MISTAKES[name]
    assert check() < TOLERANCE
    monkeypatch.setattr(where, attribute, wrong(getattr(where, attribute)))
    assert check() > PLANTED
