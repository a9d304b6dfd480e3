"""Identities of shared keys, latents, differential and selective attention, published code, and mistakes, planted."""

import pytest
import torch
from torch.nn.functional import pad

import dynamics.model.formed as formed
import dynamics.model.forward as forward
import dynamics.model.softmax as softmax
import dynamics.model.values as values
from dynamics.model.attention import KVShiftAttention
from dynamics.model.cache import KVCache
from dynamics.model.config import ONE_KEY_ONE_VALUE, Latent, cla
from dynamics.model.decoder import InductionModel
from dynamics.model.positions import Layout
from tests.dynamics.model import variants

CLOSE, PLANTED = 1e-10, 1e-3


def built(like=None, **options):
    """A model, with the parameters of `like` wherever it has those."""
    model = variants.model(variants.named(width=16, **options), seed=3)
    held = {} if like is None else dict(like.named_parameters())
    for name, parameter in model.named_parameters():
        if name in held and held[name].shape == parameter.shape:
            parameter.data.copy_(held[name])
    return model


@torch.no_grad()
def distance(model, other, tokens=None):
    tokens = variants.tokens(2, 7) if tokens is None else tokens
    return float((model(tokens) - other(tokens)).abs().max())


@torch.no_grad()
def gap(**options):
    """How far a model is from its definition."""
    model, tokens = built(**options), variants.tokens(1, 7)
    return float((model(tokens)[0] - torch.from_numpy(variants.logits(model, tokens[0].numpy()))).abs().max())


@torch.no_grad()
def step_gap(**options):
    """How far a model that decodes step by step is from itself."""
    model, tokens = built(**options), variants.tokens(2, 7)
    caches = [KVCache() for _ in model.blocks]
    stepped = torch.cat([model(part, caches=caches) for part in tokens.split(1, dim=1)], dim=1)
    return float((stepped - model(tokens)).abs().max())


def test_shared_keys_of_anchors_alone_are_own_ones():
    model = built(position="rope")
    assert distance(model, built(model, values=cla(4, 1))) < CLOSE
    assert distance(model, built(model, values=cla(4))) > PLANTED


def test_a_latent_that_is_the_state_is_no_latent():
    model = built(position="alibi", shift="qkv")
    other, wrong = (built(model, position="alibi", shift="qkv", latent=Latent(size=16).model_dump()) for _ in range(2))
    for block in other.blocks:
        block.attention.latent_proj.weight.data.copy_(torch.eye(16))
    assert distance(model, other) < CLOSE
    assert distance(model, wrong) > PLANTED


def test_one_key_and_one_value_of_the_token_before_are_coefficients_zero_and_one():
    model = built(shift="none", past=ONE_KEY_ONE_VALUE)
    other, wrong = built(model, shift="kv"), built(model, shift="kv")
    for built_model, heads in ((other, (0, 1)), (wrong, (1, 0))):
        for block in built_model.blocks:
            for name, head in zip(("alpha", "beta"), heads, strict=True):
                coefficients = torch.eye(1, 2).repeat(4, 1)
                coefficients[head] = torch.tensor([0.0, 1.0])
                getattr(block.attention, name).data.copy_(coefficients)
    assert distance(model, other) < CLOSE
    assert distance(model, wrong) > PLANTED


def test_normed_keys_do_not_see_how_large_they_are():
    model = built(qk_norm=True)
    other, plain = built(model, qk_norm=True), built(model)
    larger = built(plain)
    for block in (*other.blocks, *larger.blocks):
        block.attention.k_proj.weight.data.mul_(50)
    assert distance(model, other) < 1e-4  # but for the floor of 1e-6 under the mean square
    assert distance(plain, larger) > PLANTED


def test_differential_attention_of_equal_halves_is_one_softmax_normed():
    attention, states = built(weights="differential").blocks[0].attention, torch.randn(2, 5, 16, dtype=torch.float64)
    with torch.no_grad():
        share = forward._share(attention.heads, attention.own(), states)
        assert float((attention.weights(states) / (1 - share)).min()) < -PLANTED
        for projection in (attention.q_proj, attention.k_proj):
            halves = projection.weight.view(4, 2, 2, 16)
            halves[:, 1] = halves[:, 0]
        found = attention.weights(states) / (1 - share)
    torch.testing.assert_close(found.sum(-1), torch.ones(2, 4, 5, dtype=torch.float64))
    assert float(found.min()) >= 0


def test_a_first_head_that_selects_nothing_leaves_a_softmax():
    model = built(weights="selective")
    plain = built(model)
    assert distance(model, plain) > PLANTED
    for block in (*model.blocks, *plain.blocks):
        block.attention.q_proj.weight.data[:4] = 0
    assert distance(model, plain) < CLOSE


def test_selection_is_that_of_the_published_listing():
    scores = torch.randn(2, 3, 6, 6, dtype=torch.float64).masked_fill(~torch.ones(6, 6).tril().bool(), -torch.inf)
    chosen = scores[:, 0].relu() * (1 - torch.eye(6))
    chosen[:, :, 0] = 0
    chosen = chosen.roll(1, 1)
    chosen[:, 0] = 0
    first = (torch.arange(6) == 0)[None]
    torch.testing.assert_close(softmax.selected(scores, first)[0], chosen.cumsum(1), rtol=0, atol=1e-12)


def planted_selection(change):
    """softmax.selected with scores, first tokens or what it gives changed."""
    right = softmax.selected

    def selected(scores, first, before=None):
        if change == "over keys":
            own = torch.eye(scores.shape[3], dtype=torch.bool)
            found = scores[:, 0].relu().masked_fill(own | first[:, None], 0.0)
            return pad(found, (0, 0, 1, 0))[:, :-1].cumsum(2), found[:, -1]
        if change == "no floor":
            return right(scores.masked_fill(scores.isinf(), 0.0).abs(), first, before)
        if change == "first tokens too":
            return right(scores, torch.zeros_like(first), before)
        taken, after = right(scores, first, before)
        if change == "at once":
            return torch.cat([taken[:, 1:], after[:, None]], dim=1), after
        return taken, torch.zeros_like(after)  # "forgotten"

    return selected


@pytest.mark.parametrize("change", ["over keys", "no floor", "first tokens too", "at once", "forgotten"])
def test_a_wrong_selection_is_caught(change, monkeypatch):
    check = step_gap if change == "forgotten" else gap
    assert check(weights="selective") < CLOSE
    monkeypatch.setattr(softmax, "selected", planted_selection(change))
    assert check(weights="selective") > PLANTED


def test_a_selection_that_crosses_documents_is_caught(monkeypatch):
    def packed_gap():
        model, tokens = built(weights="selective"), variants.tokens(1, 8)
        with torch.no_grad():
            packed = model(tokens, segment_ids=torch.tensor([[0] * 3 + [1] * 5]))
            return float((packed[:, 3:] - model(tokens[:, 3:])).abs().max())

    assert packed_gap() < CLOSE
    right = Layout.whole
    monkeypatch.setattr(Layout, "whole", lambda where: right(where)._replace(runs=None))
    assert packed_gap() > PLANTED


@pytest.mark.parametrize("change", ["sign", "layers from 1", "no norm's factor", "halves exchanged", "one per model"])
def test_a_wrong_difference_is_caught(change, monkeypatch):
    assert gap(weights="differential") < CLOSE
    share, start, difference = softmax.share, softmax.initial_share, softmax.difference
    wrong = {
        "sign": ("share", lambda vectors, layer: -share(vectors, layer)),
        "layers from 1": ("initial_share", lambda layer: start(layer + 1)),
        "no norm's factor": ("initial_share", lambda layer: 0.0 * layer),
        "halves exchanged": ("difference", lambda one, q, k, factor: difference(one, q.roll(2, -1), k, factor)),
        "one per model": ("share", lambda vectors, layer: share(vectors, 0)),
    }
    monkeypatch.setattr(softmax, *wrong[change])
    assert gap(weights="differential") > PLANTED


def test_latents_rotated_as_if_each_chunk_began_the_text_are_caught(monkeypatch):
    latent = {"size": 5, "rope": 2}
    assert step_gap(latent=latent) < CLOSE
    right = Layout.whole
    monkeypatch.setattr(Layout, "whole", lambda where: right(where)._replace(offset=where.offset))
    assert step_gap(latent=latent) > PLANTED


def test_latents_whose_shared_key_is_left_out_are_caught(monkeypatch):
    latent = {"size": 5, "rope": 2}
    right = formed.projected

    def without(name, heads, p, x):
        found = right(name, heads, p, x)
        if name != "key":
            return found
        parts = found.unflatten(-1, (-1, heads.head_dim))
        return torch.cat([parts[..., :-2], torch.zeros_like(parts[..., -2:])], dim=-1).flatten(-2)

    assert gap(latent=latent) < CLOSE
    monkeypatch.setattr(formed, "projected", without)
    assert gap(latent=latent) > PLANTED


def test_shared_keys_of_the_first_layer_for_all_are_caught(monkeypatch):
    right = values.Earlier.note_keys
    first = lambda self, rule, layer, key, value: right(self, rule, layer, key, value) if layer == 0 else None  # noqa: E731
    assert gap(values=cla(4)) < CLOSE
    monkeypatch.setattr(values.Earlier, "note_keys", first)
    assert gap(values=cla(4)) > PLANTED


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
        torch.testing.assert_close(ours(x), found, rtol=0, atol=1e-5)


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
    torch.testing.assert_close(ours(x), found, rtol=0, atol=1e-5)


def causal(length):
    """What is added to logits."""
    return torch.full((1, 1, length, length), -1e9, dtype=torch.float64).triu(1)


def test_a_seed_draws_the_same_projections_whatever_is_made_of_them():
    first = dict(InductionModel(variants.named(), torch.Generator().manual_seed(1)).blocks[0].named_parameters())
    for options in ({"weights": "differential"}, {"weights": "selective"}, {"qk_norm": True}):
        draw = torch.Generator().manual_seed(1)
        other = dict(InductionModel(variants.named(**options), draw).blocks[0].attention.named_parameters())
        for name in ("q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight", "alpha", "beta"):
            assert torch.equal(other[name], first[f"attention.{name}"])
