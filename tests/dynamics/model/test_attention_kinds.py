"""Shared keys, latents, differential and selective attention: against published code, shown, and replaced."""

import numpy as np
import pytest
import torch

from dynamics.model import softmax
from dynamics.model.attention import KVShiftAttention
from dynamics.model.attention_function import full_attention, replaced
from dynamics.model.config import Latent
from dynamics.model.decoder import InductionModel
from tests.dynamics.model import variants
from tests.dynamics.model.test_variants import LENGTH, close
from tests.dynamics.refusal import refused


def of(name):
    return variants.model(variants.of_kind(name))


@torch.no_grad()
@pytest.mark.parametrize("name", ["differential", "selective", "normed", "latent", "differential, normed"])
def test_weights_shown_are_those_of_the_definition(name):
    model, tokens = of(name), variants.tokens(2, LENGTH)
    attention, kept = model.blocks[0].attention, []
    states = model.blocks[0].read_by_attention(model.embed(tokens))
    own = {name: parameter.numpy() for name, parameter in attention.named_parameters()}
    variants.attention(model.config, 0, own, states[0].numpy(), np.zeros(LENGTH), kept)
    whole, rows = attention.weights(states), torch.tensor([6, 3])
    close(whole[0], torch.from_numpy(np.stack(kept[0][-1])))
    close(attention.weights(states, query_index=rows)[:, :, 0], whole[[0, 1], :, rows])


@torch.no_grad()
@pytest.mark.parametrize("name", ["cla", "latent", "normed"])
def test_another_attention_function_takes_their_place(name):
    model, tokens = of(name), variants.tokens(2, LENGTH)
    whole = model(tokens)
    with replaced(model, full_attention):
        close(model(tokens), whole)


@pytest.mark.parametrize("name", ["differential", "selective"])
def test_more_than_one_softmax_is_no_functions_place(name):
    with replaced(of(name), full_attention) as model:
        refused("more than one", model, variants.tokens(1, 4))


def test_latents_are_not_kept_by_a_function_and_shared_keys_are_not_shown():
    tokens = variants.tokens(1, 4)
    with replaced(of("latent"), full_attention) as model:
        refused("latents", model, tokens, caches=variants.caches(model))
    refused("keys of another layer", of("cla").attention_weights, tokens, torch.tensor([3]))
    both = variants.model(variants.named("cross-layer"))
    refused("keys of two layers", both.attention_weights, tokens, torch.tensor([3]))


def test_selection_is_that_of_the_published_listing():
    scores = torch.randn(2, 3, 6, 6, dtype=torch.float64).masked_fill(~torch.ones(6, 6).tril().bool(), -torch.inf)
    chosen = scores[:, 0].relu() * (1 - torch.eye(6))
    chosen[:, :, 0] = 0
    chosen = chosen.roll(1, 1)
    chosen[:, 0] = 0
    first = (torch.arange(6) == 0)[None]
    close(softmax.selected(scores, first)[0], chosen.cumsum(1), 1e-12)


@torch.no_grad()
def test_differential_attention_is_that_of_transformers():
    modeling = pytest.importorskip("transformers.models.diffllama.modeling_diffllama")
    config = pytest.importorskip("transformers").DiffLlamaConfig(
        hidden_size=24, num_attention_heads=4, num_key_value_heads=4, rms_norm_eps=1e-6, attn_implementation="eager"
    )
    for layer in (0, 3):
        theirs = modeling.DiffLlamaAttention(config, layer).double()
        ours = KVShiftAttention(24, 2, shift="none", weights="differential", layer=layer).double()
        for name in ("q_proj", "k_proj", "v_proj"):  # there head h is one of heads h and h + 2
            weight = getattr(theirs, name).weight.view(2, 2, 6, 24).transpose(0, 1).reshape(24, 24)
            getattr(ours, name).weight.copy_(weight)
        ours.o_proj.weight.copy_(theirs.o_proj.weight)
        names = ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2")
        ours.share_vectors.copy_(torch.stack([getattr(theirs, name) for name in names]))
        x, place = torch.randn(2, 7, 24, dtype=torch.float64), torch.arange(7)[None]
        turned = modeling.DiffLlamaRotaryEmbedding(config)(x, place)
        found = theirs(x, turned, causal(7))[0]
        close(ours(x), found, 1e-5)


@torch.no_grad()
def test_latent_attention_is_that_of_transformers():
    modeling = pytest.importorskip("transformers.models.deepseek_v2.modeling_deepseek_v2")
    config = pytest.importorskip("transformers").DeepseekV2Config(
        hidden_size=24, num_attention_heads=3, num_key_value_heads=3, q_lora_rank=None, kv_lora_rank=10,
        qk_rope_head_dim=4, qk_nope_head_dim=4, v_head_dim=8, attn_implementation="eager",
    )  # fmt: skip
    theirs = modeling.DeepseekV2Attention(config, 0).double()
    ours = KVShiftAttention(24, 3, shift="none", latent=Latent(size=10, rope=4, norm=True)).double()
    pairs = torch.tensor([0, 2, 1, 3])  # there neighbours are a pair
    query = theirs.q_proj.weight.view(3, 8, 24)
    ours.q_proj.weight.copy_(torch.cat([query[:, :4], query[:, 4:][:, pairs]], dim=1).flatten(0, 1))
    down, up = theirs.kv_a_proj_with_mqa.weight, theirs.kv_b_proj.weight.view(3, 12, 10)
    ours.latent_proj.weight.copy_(torch.cat([down[:10], down[10:][pairs]]))
    theirs.kv_a_layernorm.weight.uniform_(0.5, 2)
    ours.latent_norm.copy_(theirs.kv_a_layernorm.weight)
    ours.k_proj.weight.copy_(up[:, :4].flatten(0, 1))
    ours.v_proj.weight.copy_(up[:, 4:].flatten(0, 1))
    ours.o_proj.weight.copy_(theirs.o_proj.weight)
    x, place = torch.randn(2, 7, 24, dtype=torch.float64), torch.arange(7)[None]
    turned = modeling.DeepseekV2RotaryEmbedding(config)(x, place)
    found = theirs(x, causal(7), position_embeddings=turned)[0]
    close(ours(x), found, 1e-5)


def causal(length):
    """What is added to logits."""
    return torch.full((1, 1, length, length), -1e9, dtype=torch.float64).triu(1)


def test_a_seed_draws_the_same_projections_whatever_is_made_of_them():
    def drawn(options):
        model = InductionModel(variants.named(**options), torch.Generator().manual_seed(1))
        return dict(model.blocks[0].attention.named_parameters())

    first = drawn({})
    for options in ({"weights": "differential"}, {"weights": "selective"}, {"weights": "sink"}, {"qk_norm": True},
                    {"values": "resformer"}, {"values": "neutreno"}, {"values": "cross-layer"}):  # fmt: skip
        other = drawn(options)
        assert all(torch.equal(other[name], first[name]) for name in first)
