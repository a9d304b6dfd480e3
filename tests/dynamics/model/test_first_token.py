"""When a token masked as the waiver paper's Eq. 11 means it has the states of a first token, and when it has not.

Token k sees itself alone, in every layer and head: then its states are those of the same token at the first place, if
and only if positions come in through logits alone. Source: waiver paper, Section 4.2.1.
"""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.model.attention_function import replaced
from dynamics.model.config import Identity, Neutreno, Own, Residual, Shared
from dynamics.model.positions import rotate
from tests.dynamics.model import variants
from theory import alibi, sink

EXACT, APART = 1e-12, 1e-2
ALL = None


def masked_attention(masked, layers=ALL, heads=ALL, after=False, turned=False, kept=None):
    """Causal attention, written out, in which row k of `masked` sees key k alone.

    after: the mask comes behind the softmax, as the paper's Eq. 7 prints it; turned: values are rotated too; kept: a
    list that gets the weights of each layer.
    """

    def function(layer, query, key, value, *, scale, slopes, sinks=None):
        group, length = query.shape[1] // key.shape[1], query.shape[2]
        key, value = (x.repeat_interleave(group, dim=1) for x in (key, value))
        if turned:
            value = rotate(value.transpose(1, 2), torch.arange(length)[None], 10000.0).transpose(1, 2)
        row, column = torch.arange(length)[:, None], torch.arange(length)
        scores = scale * query @ key.mT
        if slopes is not None:
            scores = scores - slopes[:, None, None] * (row - column)
        seen = (column <= row).expand(query.shape[1], -1, -1).clone()
        if layers is ALL or layer in layers:
            alone = torch.isin(row, torch.tensor(masked)) & (column != row)
            seen[slice(None) if heads is ALL else list(heads)] &= ~alone
        weights = scores if after else scores.masked_fill(~seen, -torch.inf)
        rest = 0 if sinks is None else sinks[:, None, None].exp()
        powers = weights.exp()
        weights = powers / (powers.sum(-1, keepdim=True) + rest)
        weights = torch.where(seen, weights, 0)
        if kept is not None:
            kept.append(weights)
        return weights @ value

    return function


@torch.no_grad()
def states(model, tokens, function):
    """The states behind every block, (layers, batch, length, width)."""
    found = []
    hooks = [block.register_forward_hook(lambda *call: found.append(call[2])) for block in model.blocks]
    with replaced(model, function):
        model.features(tokens)
    for hook in hooks:
        hook.remove()
    return torch.stack(found)


def gaps(model, tokens, place, **options):
    """By layer, how far the states of a masked token are from those of the same token at the first place."""
    masked = states(model, tokens, masked_attention([place], **options))[:, :, place]
    first = states(model, tokens[:, place : place + 1], masked_attention([], **options))[:, :, 0]
    return [float(gap) for gap in (masked - first).abs().amax((1, 2))]


def built(position, seed=0, **options):
    return variants.model(variants.named(shift="none", position=position, **options), seed)


@settings(max_examples=25 if settings.get_current_profile_name() == "ci" else 2000)
@given(
    position=st.sampled_from(("rope", "alibi", "none")),
    values=st.sampled_from((Own(), Residual(), Residual(lambda1=1.0, lambda2=2.0), Shared(), Neutreno(), Identity())),
    weights=st.sampled_from(variants.WEIGHTS),
    heads=st.sampled_from(((4, None), (4, 2), (2, 1))),
    n_layers=st.integers(1, 6),
    masked=st.sets(st.integers(1, 7), min_size=1, max_size=4),
    seed=st.integers(0, 2**20),
)
@torch.no_grad()
def test_masked_in_every_layer_it_is_a_first_token(position, values, weights, heads, n_layers, masked, seed):
    options = {"values": values, "weights": weights, "n_layers": n_layers, "n_heads": heads[0]}
    model, tokens = built(position, seed, n_kv_heads=heads[1], **options), variants.tokens(2, 8, seed)
    found = states(model, tokens, masked_attention(sorted(masked)))
    for place in masked:
        first = states(model, tokens[:, place : place + 1], masked_attention([]))[:, :, 0]
        assert (found[:, :, place] - first).abs().max() < EXACT


def test_the_function_of_these_tests_is_the_models_own_attention():
    for position in ("rope", "alibi", "none"):
        for weights in variants.WEIGHTS:
            model, tokens = built(position, weights=weights, n_kv_heads=2), variants.tokens(2, 8)
            with replaced(model, masked_attention([])), torch.no_grad():
                found = model(tokens)
            torch.testing.assert_close(found, model(tokens).detach(), rtol=0, atol=1e-10)


@pytest.mark.parametrize("position", ["rope", "alibi", "none"])
def test_only_masked_in_every_layer_and_head(position):
    model, tokens = built(position), variants.tokens(2, 8)
    assert max(gaps(model, tokens, 5)) < EXACT
    lowest = gaps(model, tokens, 5, layers=(0,))
    assert lowest[0] < EXACT and min(lowest[1:]) > APART
    assert min(gaps(model, tokens, 5, layers=(1, 2, 3))) > APART
    assert min(gaps(model, tokens, 5, heads=(0, 1, 2))) > APART
    assert min(gaps(model, tokens, 5, after=True)) > APART


def test_not_where_positions_come_in_otherwise():
    tokens = variants.tokens(2, 8)
    assert min(gaps(built("learned"), tokens, 5)) > APART
    assert min(gaps(built("rope"), tokens, 5, turned=True)) > APART
    shifted = variants.model(variants.named(shift="kv", position="none"))
    assert min(gaps(shifted, tokens, 5)) > APART
    keys = variants.model(variants.named(shift="k", position="none"))
    assert max(gaps(keys, tokens, 5)) < EXACT  # a key that is seen alone does not count


def first_and_copy(position, place, **options):
    """By layer, the last token's weights on the first token and on its masked copy, (heads,) each; and the model."""
    model, tokens, kept = built(position, **options), variants.tokens(1, 8), []
    tokens[0, place] = tokens[0, 0]
    states(model, tokens, masked_attention([place], kept=kept))
    return model, [(weights[0, :, -1, 0], weights[0, :, -1, place]) for weights in kept]


@pytest.mark.parametrize("weights", variants.WEIGHTS)
def test_without_positions_it_gets_the_weight_of_the_first_token(weights):
    for first, copy in first_and_copy("none", 5, weights=weights)[1]:
        np.testing.assert_allclose(copy, first, rtol=1e-12)
        plain = first / (1 - copy)  # what the first token has where there is no copy
        shared = sink.copy_weights(plain.numpy())
        np.testing.assert_allclose(copy, shared.copy, rtol=1e-12)


def test_with_alibi_it_is_nearer_and_gets_more_by_the_exponential_of_the_slope():
    slopes = np.array(alibi.slopes(variants.HEADS))
    for first, copy in first_and_copy("alibi", 5)[1]:
        np.testing.assert_allclose(copy / first, np.exp(5 * slopes), rtol=1e-10)


def test_with_rope_its_logit_is_that_of_the_same_key_at_another_angle():
    model, found = first_and_copy("rope", 5)
    tokens = variants.tokens(1, 8)
    tokens[0, 5] = tokens[0, 0]
    block, states_in = model.blocks[0], model.embed(tokens)
    normed = block.attention_norm(states_in)
    query = block.attention.q_proj(normed)[0, -1].view(variants.HEADS, -1).detach().numpy()
    key = block.attention.k_proj(normed)[0, 0].view(variants.HEADS, -1).detach().numpy()
    half = key.shape[1] // 2
    frequencies = 10000.0 ** (-np.arange(half) / half)
    order = np.stack([np.arange(half), np.arange(half) + half], axis=1).ravel()  # halves to neighbouring pairs
    gap = [sink.rotary_copy_gap(q[order], k[order], 7, 5, frequencies) for q, k in zip(query, key, strict=True)]
    first, copy = found[0]
    np.testing.assert_allclose((copy / first).log().numpy(), np.array(gap) / np.sqrt(2 * half), atol=1e-12)
