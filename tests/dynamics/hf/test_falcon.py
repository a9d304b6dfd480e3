"""Falcon of every kind: rotary or ALiBi, one key-value head or groups or all, beside its MLP or before it."""

import numpy as np
import pytest
import torch

from dynamics.heads.scores import head_scores, repeated_prompt
from dynamics.hf import attention, families
from dynamics.model.attention_function import full_attention
from dynamics.razor.plan import razor_bytes
from tests.dynamics.heads.test_scores import brute_force
from tests.dynamics.hf import models
from tests.dynamics.hf.test_attention import TIGHT, difference, logits_of
from tests.dynamics.hf.test_cache import BEAMS, GREEDY, SAMPLING, assert_same, both, plan_for, raises
from theory import alibi

ROTARY = {
    "falcon-7b": ({"multi_query": True}, 1),
    "one after the other": ({"multi_query": False, "parallel_attn": False, "bias": True}, 4),
    "falcon-40b": ({"new_decoder_architecture": True, "num_kv_heads": 2}, 2),
    "falcon2-11b": ({"new_decoder_architecture": True, "num_kv_heads": 2, "num_ln_in_parallel_attn": 1}, 2),
}
ALIBI = {
    "falcon-rw": ({"multi_query": False, "parallel_attn": False, "bias": True}, 4),
    "beside its MLP": ({"multi_query": False}, 4),
    "slopes that bfloat16 rounds": ({"multi_query": False, "num_attention_heads": 16}, 16),
    "new": ({"new_decoder_architecture": True, "num_kv_heads": 4}, 4),
}
KINDS = ROTARY | {f"alibi, {name}": (changes | {"alibi": True}, heads) for name, (changes, heads) in ALIBI.items()}
RW = KINDS["alibi, falcon-rw"][0]
# Beyond position 256 bfloat16 no longer tells neighbours apart.
LONG = 300


@pytest.mark.parametrize("kind", KINDS)
def test_full_attention_gives_the_logits_that_it_has_by_default(kind):
    changes, n_kv_heads = KINDS[kind]
    model = models.model("falcon", **changes)
    assert difference(model, full_attention, models.tokens(2, LONG)) < TIGHT
    assert model.config._attn_implementation == "sdpa"
    assert families.heads(model).n_kv_heads == n_kv_heads


def test_logits_in_low_precision_stay_within_its_rounding():
    model, ids = models.model("falcon", dtype=torch.bfloat16, **RW), models.tokens(2, LONG)
    own = logits_of(model, ids)
    with attention.replaced(model, full_attention):
        found = logits_of(model, ids)
    assert found.dtype == torch.bfloat16
    assert (found - own).abs().max() < 0.2  # logits up to 8


def test_with_alibi_the_attention_that_it_returns_has_the_bias_twice_and_scores_have_it_once():
    """transformers 4.57 to 5.23: output_attentions=True adds the bias to logits, and a mask that has it already."""
    model, tokens = models.model("falcon", **RW), repeated_prompt(64, 15, 4, 2)
    with torch.no_grad(), models.double():
        told = model(torch.from_numpy(tokens)[None], output_attentions=True)
        silent = model(torch.from_numpy(tokens)[None])
        found = head_scores(model, k=15, seed=2)
        once, twice = (first_layer(model, torch.from_numpy(tokens)[None], times).numpy() for times in (1, 2))
    assert (told.logits - silent.logits).abs().max() > 0.1
    np.testing.assert_allclose(told.attentions[0][0], twice, rtol=0, atol=1e-12)
    expected = brute_force(once[None], tokens, 15)
    np.testing.assert_allclose([score[0] for score in found], [score[0] for score in expected], rtol=0, atol=1e-12)


def first_layer(model, tokens, times):
    """Attention of layer 0 by the definition, the bias rounded as Falcon does, added so many times; tokens (1, n)."""
    layer, length = model.transformer.h[0], tokens.shape[1]
    heads, width = layer.self_attention.num_heads, layer.self_attention.head_dim
    hidden = layer.input_layernorm(model.transformer.word_embeddings(tokens))
    mixed = layer.self_attention.query_key_value(hidden)[0].double()
    query, key, _ = mixed.unflatten(-1, (heads, 3, width)).unbind(2)
    bias = (torch.tensor(alibi.slopes(heads)).bfloat16()[:, None] * torch.arange(length)).double()
    logits = (torch.einsum("qhd,khd->hqk", query, key) + times * bias[:, None]) / width**0.5
    future = torch.ones(length, length, dtype=torch.bool).triu(1)
    return logits.masked_fill(future, -torch.inf).softmax(-1)


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("falcon-40b", SAMPLING),
        ("falcon2-11b", GREEDY),
        ("alibi, falcon-rw", GREEDY),
        ("alibi, slopes that bfloat16 rounds", BEAMS),
    ],
)
def test_generation_with_the_cache_equals_the_masked_full_attention(kind, how):
    model = models.model("falcon", **KINDS[kind][0])
    found, expected, cache = both(model, plan_for(model), models.tokens(2, 8), how)
    assert_same(found, expected)
    width = 9 if kind.startswith("alibi") else 8
    assert how is not GREEDY or cache.nbytes() == razor_bytes(cache.plan, 13, width, 8, value_dim=8, batch=2)


def test_what_cannot_be_exact_is_refused():
    shared = models.model("falcon", alibi=True)
    with raises(r"alibi with 4 heads on 1 key-value heads: falcon rounds the bias of each head to bfloat16"):
        families.heads(shared)
    model, ids = models.model("falcon", **RW), models.tokens(2, 6)
    with raises("compensation 'alibi' needs slopes, falcon has none"):
        both(model, plan_for(model, compensation="alibi"), ids)
    with attention.replaced(models.model("falcon"), full_attention) as rotary, raises("a mask of shape"):
        logits_of(rotary, ids, attention_mask=torch.ones(2, 1, 6, 6, dtype=torch.bool).tril())
    bias = torch.arange(6.0).expand(1, 4, 1, 6)
    states = torch.zeros(1, 4, 6, 4)
    attention._with_bias(states, states, bias, bias / 2)
    with raises("a mask of shape"):
        attention._with_bias(states, states, bias, (bias / 2).masked_fill(bias == 3, -1e9))
    padded = torch.ones_like(ids)
    padded[0, 0] = 0
    with attention.replaced(model, full_attention), raises("padding cannot go through an attention function"):
        logits_of(model, ids, attention_mask=padded)
