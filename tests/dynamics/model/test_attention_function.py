"""Replaced attention: the same numbers as the model's own, restored on every exit, and no quiet misuse."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.model.attention_function import full_attention, replaced
from tests.dynamics.model import variants
from tests.dynamics.refusal import refused

TOLERANCE = 1e-12


def model(**changes):
    return variants.model(variants.named(n_layers=2, width=16, **changes))


def tokens():
    return variants.tokens(2, 9)


@given(
    st.sampled_from(["rope", "alibi", "none"]),
    st.sampled_from(["none", "k", "kv", "qkv"]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from(["zero", "learnt"]),
    st.booleans(),
)
def test_full_attention_gives_the_numbers_of_the_models_own(position, shift, n_kv_heads, start, scored):
    network, words = model(position=position, shift=shift, n_kv_heads=n_kv_heads, start=start), tokens()
    query_index = torch.tensor([3, 8]) if scored else None
    own = network(words, query_index)
    with replaced(network, full_attention):
        assert (network(words, query_index) - own).abs().max() < TOLERANCE


def test_all_attention_goes_through_the_function_with_its_layer_and_shapes():
    seen = []

    def record(layer, query, key, value, *, scale, slopes):
        seen.append((layer, query.shape, key.shape, value.shape, scale, tuple(slopes.tolist())))
        return torch.zeros_like(query)

    network, words = model(position="alibi", n_kv_heads=2), tokens()
    with replaced(network, record):
        found = network(words, torch.tensor([3, 8]))
    shapes = ((2, 4, 9, 4), (2, 2, 9, 4), (2, 2, 9, 4), 0.5, (0.25, 0.0625, 0.015625, 0.00390625))
    assert seen == [(0, *shapes), (1, *shapes)]
    with torch.no_grad():
        for block in network.blocks:
            block.attention.o_proj.weight.zero_()
    assert torch.equal(found, network(words, torch.tensor([3, 8])))


def test_replacement_ends_with_the_block_and_with_an_exception_and_nests():
    network, words = model(), tokens()
    own = network(words)

    def nothing(layer, query, key, value, **_):
        return 0 * query

    with pytest.raises(KeyError), replaced(network, nothing):
        raise KeyError
    assert torch.equal(network(words), own)
    with replaced(network, full_attention):
        whole = network(words)
        with replaced(network, nothing):
            assert not torch.equal(network(words), whole)
        assert torch.equal(network(words), whole)
    assert torch.equal(network(words), own)


def test_replacement_leaves_weights_names_and_training_alone():
    network = model()
    names = list(network.state_dict())
    with replaced(network, full_attention):
        assert list(network.state_dict()) == names
        network(tokens()).sum().backward()
    assert all(p.grad is not None for p in network.parameters())


def test_misuse_is_refused():
    network, words = model(), tokens()
    own = variants.caches(network)
    network(words, caches=own)
    caches = variants.caches(network)
    with replaced(network, full_attention):
        refused("no probabilities", network.attention_weights, words, torch.tensor([3, 8]))
        network(words, caches=caches)
        refused("without memory cannot continue after 9 tokens", network, words, caches=caches)
        with pytest.raises(ValueError, match="neither segment_ids nor padding"):
            network.blocks[0].attention(torch.zeros(1, 2, 16).double(), padding=torch.tensor([1]))
    refused("kept elsewhere", network, words, caches=caches)

    def remembers(layer, query, key, value, **_):
        return query

    remembers.stateful = True
    with replaced(network, remembers):
        refused("holds the keys of 9 tokens", network, words, caches=own)


def test_reorder_without_keys_of_its_own_moves_the_raw_tokens():
    network, words = model(), tokens()
    caches = variants.caches(network)
    with replaced(network, full_attention):
        network(words, caches=caches)
    before = caches[0].previous("key")
    caches[0].reorder(torch.tensor([1, 1, 0]))
    assert torch.equal(caches[0].previous("key"), before[[1, 1, 0]])
    refused("must name sequences", caches[0].reorder, torch.tensor([3]))
