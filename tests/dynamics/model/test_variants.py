"""Every variant against its definition, and whole = chunk = step = packed = scored rows for every combination."""

import numpy as np
import pytest
import torch

from dynamics.model import stacked
from dynamics.model.cache import KVCache
from dynamics.model.decoder import InductionModel
from tests.dynamics.model import variants
from tests.dynamics.refusal import refused

CLOSE = 1e-10
LENGTH = 7
SPLITS = ((3, 4), (1, 5, 1), (2, 2, 3))
NAMES = ["-".join(map(str, combination)) for combination in variants.COMBINATIONS]


@pytest.fixture(params=variants.COMBINATIONS, ids=NAMES)
def combination(request):
    return request.param


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=0, atol=CLOSE)


@torch.no_grad()
def in_parts(model, tokens, parts):
    caches = [KVCache() for _ in model.blocks]
    return torch.cat([model(part, caches=caches) for part in tokens.split(list(parts), dim=1)], dim=1)


@torch.no_grad()
def test_whole_equals_the_definition_chunks_steps_documents_and_scored_rows(combination):
    model, tokens = variants.model(variants.named(*combination)), variants.tokens(2, LENGTH)
    whole = model(tokens)
    close(whole[1], torch.from_numpy(variants.logits(model, tokens[1].numpy())))
    number = variants.COMBINATIONS.index(combination)
    close(in_parts(model, tokens, SPLITS[number % 3]), whole)
    close(in_parts(model, tokens, [1] * LENGTH), whole)
    other = variants.tokens(2, 4, seed=1)
    documents = torch.tensor([[4] * LENGTH + [9] * 4] * 2)
    packed = model(torch.cat([tokens, other], dim=1), segment_ids=documents)
    close(packed, torch.cat([whole, model(other)], dim=1))
    close(model(tokens, torch.tensor([LENGTH - 1, 2])), whole[[0, 1], [LENGTH - 1, 2]])


MIXED = [
    (name, values, shift)
    for name, past in variants.PASTS.items()
    for values in ("vanilla", "resformer", "svformer", "denseformer", "cross-layer")
    for shift in ("none", "kv")
    if values != "svformer" or all(mixing.at != "value" for mixing in past)
]


@torch.no_grad()
@pytest.mark.parametrize(("name", "values", "shift"), MIXED)
def test_what_is_mixed_with_its_past_equals_the_definition_chunks_steps_and_documents(name, values, shift):
    number = list(variants.PASTS).index(name)
    choices = variants.WEIGHTS[number % 4], shift, variants.POSITIONS[number % 4], (None, 2, 1)[number % 3]
    model, tokens = variants.model(variants.named(values, *choices, past=variants.PASTS[name])), variants.tokens(2, 7)
    whole = model(tokens)
    close(whole[0], torch.from_numpy(variants.logits(model, tokens[0].numpy())))
    close(in_parts(model, tokens, [3, 4]), whole)
    close(in_parts(model, tokens, [1] * 7), whole)
    other, documents = variants.tokens(2, 4, seed=1), torch.tensor([[1] * 7 + [2] * 4] * 2)
    close(model(torch.cat([tokens, other], 1), segment_ids=documents), torch.cat([whole, model(other)], dim=1))
    close(model(tokens, torch.tensor([6, 2])), whole[[0, 1], [6, 2]])


@torch.no_grad()
@pytest.mark.parametrize("name", variants.PASTS)
def test_what_is_mixed_with_its_past_starts_as_if_it_were_not_unless_it_is_fixed(name):
    plain, mixed = (InductionModel(variants.named(past=past), torch.Generator().manual_seed(0))
                    for past in ((), variants.PASTS[name]))  # fmt: skip
    tokens = variants.tokens(2, 7)
    same = torch.allclose(plain(tokens), mixed(tokens), atol=1e-6)
    assert same == all(not mixing.fixed for mixing in variants.PASTS[name])


def test_there_are_at_least_sixty_combinations():
    assert len(set(variants.COMBINATIONS)) == len(variants.COMBINATIONS) >= 60


@torch.no_grad()
@pytest.mark.parametrize("values", variants.VALUES)
def test_global_attention_equals_the_definition_and_packs(values):
    for number, weights in enumerate(variants.WEIGHTS):
        config = variants.named(values, weights, position=variants.POSITIONS[number], n_kv_heads=2, causal=False)
        model, tokens = variants.model(config), variants.tokens(2, 5)
        whole = model(tokens)
        close(whole[0], torch.from_numpy(variants.logits(model, tokens[0].numpy())))
        close(model(tokens, torch.tensor([0, 3])), whole[[0, 1], [0, 3]])
        documents = torch.tensor([[0] * 5 + [1] * 3] * 2)
        close(model(torch.cat([tokens, tokens[:, :3]], dim=1), segment_ids=documents)[:, :5], whole)


@torch.no_grad()
@pytest.mark.parametrize("values", variants.VALUES)
def test_stacked_models_equal_each_by_itself(values):
    for number, weights in enumerate(variants.WEIGHTS):
        choices = weights, variants.SHIFTS[number], variants.POSITIONS[number], 2
        config = variants.named(values, *choices, tied=number > 1)
        models = [variants.model(config, seed) for seed in range(3)]
        tokens, rows = variants.tokens(6, LENGTH).view(3, 2, LENGTH), torch.tensor([[6, 2], [1, 5], [0, 3]])
        found = stacked.logits(config, stacked.stack(models), tokens, rows)
        close(found, torch.stack([model(tokens[n], rows[n]) for n, model in enumerate(models)]))


@torch.no_grad()
@pytest.mark.parametrize("values", variants.VALUES)
def test_a_token_sees_none_after_it_unless_attention_is_global(values):
    tokens = variants.tokens(2, LENGTH)
    changed = torch.cat([tokens[:, :4], (tokens[:, 4:] + 1) % variants.VOCAB], dim=1)
    causal, all_seen = (variants.model(variants.named(values, causal=causal)) for causal in (True, False))
    close(causal(changed)[:, :4], causal(tokens)[:, :4])
    assert (all_seen(changed)[:, :4] - all_seen(tokens)[:, :4]).abs().min() > 1e-6


@torch.no_grad()
@pytest.mark.parametrize("combination", [found for found in variants.COMBINATIONS if found[3] != "learned"], ids=str)
def test_left_pads_change_nothing_in_any_layer_of_any_variant(combination):
    model = variants.model(variants.named(*combination))
    tokens, count = variants.tokens(2, 5), torch.tensor([3, 0])
    padded = torch.cat([torch.zeros(2, 3, dtype=torch.long), tokens], dim=1)
    padded[1] = variants.tokens(1, 8, seed=4)
    found = _through_layers(model, padded, count)
    close(found[0, 3:], _through_layers(model, tokens[:1])[0])
    close(found[1], _through_layers(model, padded[1:])[0])


def _through_layers(model, tokens, padding=None):
    """The attentions one after another on the embeddings, without what stands between them."""
    from dynamics.model.values import Earlier

    hidden, earlier = model.embed(tokens), Earlier()
    for block in model.blocks:
        hidden = hidden + block.attention(hidden, padding=padding, earlier=earlier)
    return hidden


@pytest.mark.gpu
@torch.no_grad()
@pytest.mark.parametrize("values", variants.VALUES)
def test_on_a_gpu_every_variant_gives_the_same_logits(values):
    for number, weights in enumerate(variants.WEIGHTS):
        model = variants.model(variants.named(values, weights, position=variants.POSITIONS[number], n_kv_heads=2))
        tokens = variants.tokens(2, LENGTH)
        expected = model(tokens)
        model, there = model.cuda(), tokens.cuda()
        torch.testing.assert_close(model(there).cpu(), expected, rtol=0, atol=1e-9)
        torch.testing.assert_close(in_parts(model, there, [1] * LENGTH).cpu(), expected, rtol=0, atol=1e-9)


def test_weights_shown_are_those_used():
    for values in ("vanilla", "resformer", "svformer", "denseformer", "neutreno"):
        for weights in variants.WEIGHTS:
            model, tokens = variants.model(variants.named(values, weights)), variants.tokens(2, LENGTH)
            last = torch.tensor([LENGTH - 1, 3])
            shown = model.attention_weights(tokens, last)
            sums = torch.stack([layer.sum(-1) for layer in shown])
            assert (sums < 1 - 1e-6).all() if weights in ("plus_one", "sink") else np.allclose(sums.detach(), 1)
    refused("keys of two layers", variants.model(variants.named("cross-layer")).attention_weights, tokens, last)


def test_a_global_model_has_no_cache_and_learnt_positions_end():
    tokens = variants.tokens(1, 5)
    everywhere = variants.model(variants.named(causal=False))
    refused("a cache needs causal attention", everywhere, tokens, caches=[KVCache() for _ in everywhere.blocks])
    learned = variants.model(variants.named(position="learned", max_length=6))
    caches = [KVCache() for _ in learned.blocks]
    learned(tokens, caches=caches)
    refused("10 tokens have no place among 6 positions", learned, tokens, caches=caches)
    long = variants.tokens(1, 9)
    learned(long, segment_ids=torch.tensor([[0] * 5 + [1] * 4]))
    refused("7 tokens have no place among 6 positions", learned, long, segment_ids=torch.tensor([[0] * 2 + [1] * 7]))
    with pytest.raises(ValueError, match="9 tokens have no place among 6 positions"):
        stacked.logits(learned.config, stacked.stack([learned]), long[None], torch.tensor([[8]]))


def test_caches_of_another_number_of_tokens_or_one_for_all_are_refused():
    model, tokens = variants.model(variants.named()), variants.tokens(1, 5)
    one = KVCache()
    refused("caches must be one a layer, 4, got 1", model, tokens, caches=[one] * 4)
    caches = [KVCache(9), KVCache(9), KVCache(3), KVCache(9)]
    with pytest.raises(ValueError, match="the cache holds 3 tokens, 5 do not fit"), torch.no_grad():
        model(tokens, caches=caches)
    refused("the caches hold 0, 5 tokens: they are of one text no more", model, tokens, caches=caches)


def test_a_layer_that_reads_of_others_says_so_when_it_is_called_alone():
    model = InductionModel(variants.named("resformer"))
    states = torch.randn(1, 4, 16)
    model.blocks[0].attention(states)
    refused("layer 1 reads what layers below it keep", model.blocks[1].attention, states)
