"""Shared keys, latents, differential and selective attention: each against its definition, and in parts as whole."""

import pytest
import torch

from dynamics.model import forward, stacked
from dynamics.model.attention_function import full_attention, replaced
from dynamics.model.cache import KVCache
from dynamics.model.config import ONE_KEY_ONE_VALUE, Latent, cla
from dynamics.model.values import Earlier
from tests.dynamics.model import variants
from tests.dynamics.model.test_variants import SPLITS, close
from tests.dynamics.refusal import refused

CLOSE = 1e-10
LENGTH = 7
KINDS = {
    "cla": {"values": cla(variants.LAYERS)},
    "cla, three layers": {"values": cla(variants.LAYERS, 3)},
    "latent": {"latent": Latent(size=5)},
    "normed latent": {"latent": Latent(size=5, norm=True)},
    "latent, a key and a value shifted": {"latent": Latent(size=6), "past": ONE_KEY_ONE_VALUE},
    "normed": {"qk_norm": True},
    "differential": {"weights": "differential"},
    "differential, normed": {"weights": "differential", "qk_norm": True},
    "selective": {"weights": "selective"},
    "latent cla": {"latent": Latent(size=5, norm=True), "values": cla(variants.LAYERS)},
    "latent resformer": {"latent": Latent(size=5), "values": "resformer"},
    "latent neutreno": {"latent": Latent(size=5), "values": "neutreno-shifted"},
    "latent svformer": {"latent": Latent(size=5), "values": "svformer-anchors"},
    "latent cross-layer": {"latent": Latent(size=5), "values": "cross-layer"},
    "latent identity, gated": {"latent": Latent(size=5), "values": "identity", "weights": "gate"},
    "latent selective": {"latent": Latent(size=5), "weights": "selective"},
    "differential cla": {"weights": "differential", "values": cla(variants.LAYERS)},
    "differential cross-layer": {"weights": "differential", "values": "cross-layer", "qk_norm": True},
    "differential neutreno": {"weights": "differential", "values": "neutreno"},
    "selective cla": {"weights": "selective", "values": cla(variants.LAYERS), "qk_norm": True},
    "selective svformer": {"weights": "selective", "values": "svformer"},
    "selective canon": {"weights": "selective", "past": variants.PASTS["canon"]},
    "differential canon": {"weights": "differential", "past": variants.PASTS["canon"]},
    "latent canon": {"latent": Latent(size=5), "past": variants.PASTS["canon"]},
}
SHIFTS = ("none", "kv", "qkv")
# Each kind with every shift; what is made of two of them with one, by turns.
CASES = [(name, shift) for n, name in enumerate(KINDS) for m, shift in enumerate(SHIFTS) if n < 9 or n % 3 == m]


def of(name, shift="kv", position=None, **more):
    number = 3 * list(KINDS).index(name) + SHIFTS.index(shift)
    position = position or variants.POSITIONS[(number + number // 3) % 4]
    options = KINDS[name] | {"n_kv_heads": (None, 2)[number % 2]} | more
    if (latent := options.get("latent")) is not None:
        options["latent"] = latent.model_copy(update={"rope": 2 if position == "rope" else 0}).model_dump()
    return variants.named(shift=shift, position=position, width=16, **options)


@torch.no_grad()
def in_parts(model, tokens, parts, caches=None):
    caches = [KVCache() for _ in model.blocks] if caches is None else caches
    return torch.cat([model(part, caches=caches) for part in tokens.split(list(parts), dim=1)], dim=1)


@torch.no_grad()
@pytest.mark.parametrize(("name", "shift"), CASES)
def test_whole_equals_the_definition_chunks_steps_documents_and_scored_rows(name, shift):
    model, tokens = variants.model(of(name, shift)), variants.tokens(2, LENGTH)
    whole = model(tokens)
    close(whole[1], torch.from_numpy(variants.logits(model, tokens[1].numpy())))
    close(in_parts(model, tokens, SPLITS[CASES.index((name, shift)) % 3]), whole)
    close(in_parts(model, tokens, [1] * LENGTH, [KVCache(LENGTH) for _ in model.blocks]), whole)
    other, documents = variants.tokens(2, 4, seed=1), torch.tensor([[4] * LENGTH + [9] * 4] * 2)
    packed = model(torch.cat([tokens, other], dim=1), segment_ids=documents)
    close(packed, torch.cat([whole, model(other)], dim=1))
    close(model(tokens, torch.tensor([LENGTH - 1, 2])), whole[[0, 1], [LENGTH - 1, 2]])


@torch.no_grad()
@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if "past" not in kind])
def test_stacked_models_equal_each_by_itself(name):
    config = of(name, "qkv")
    models = [variants.model(config, seed) for seed in range(3)]
    tokens, rows = variants.tokens(6, LENGTH).view(3, 2, LENGTH), torch.tensor([[6, 2], [1, 5], [0, 3]])
    expected = torch.stack([model(tokens[n], rows[n]) for n, model in enumerate(models)])
    close(stacked.logits(config, stacked.stack(models), tokens, rows), expected)
    close(stacked.logits_by_vmap(models[0], stacked.stack(models), tokens, rows), expected)


@torch.no_grad()
@pytest.mark.parametrize("name", KINDS)
def test_what_is_learnt_before_a_document_is_found_in_parts_documents_and_stacks(name):
    config = of(name, "qkv", start="learnt")
    models = [variants.model(config, seed) for seed in range(2)]
    for model in models:
        for parameter_name, parameter in model.named_parameters():
            if "start" in parameter_name:
                parameter.normal_(generator=torch.Generator().manual_seed(5))
    tokens, other = variants.tokens(2, LENGTH), variants.tokens(2, 4, seed=1)
    whole, packed = models[0](tokens), torch.cat([tokens, other], dim=1)
    close(in_parts(models[0], tokens, [3, 1, 3]), whole)
    documents = torch.tensor([[4] * LENGTH + [9] * 4] * 2)
    found = models[0](packed, segment_ids=documents)
    close(found, torch.cat([whole, models[0](other)], dim=1))
    both = packed.expand(2, -1, -1), None, documents.expand(2, -1, -1)
    expected = torch.stack([found, models[1](packed, segment_ids=documents)])
    close(stacked.logits(config, stacked.stack(models), *both), expected)


@torch.no_grad()
@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if "past" not in kind])
def test_left_pads_change_nothing_in_any_layer(name):
    model = variants.model(of(name, position="rope"))
    padded, count = variants.tokens(2, 8), torch.tensor([3, 0])
    found, caches = through_layers(model, padded, count), [KVCache() for _ in model.blocks]
    close(found[0, 3:], through_layers(model, padded[:1, 3:])[0])
    close(found[1], through_layers(model, padded[1:])[0])
    close(torch.cat([through_layers(model, part, count if n == 0 else None, caches)
                     for n, part in enumerate(padded.split([2, 5, 1], dim=1))], dim=1), found)  # fmt: skip


def through_layers(model, tokens, padding=None, caches=None):
    """The attentions one after another on the embeddings, without what stands between them."""
    hidden, earlier = model.embed(tokens), Earlier()
    for n, block in enumerate(model.blocks):
        cache = None if caches is None else caches[n]
        hidden = hidden + block.attention(hidden, padding=padding, earlier=earlier, cache=cache)
    return hidden


@torch.no_grad()
@pytest.mark.parametrize("name", KINDS)
def test_beams_are_reordered_with_all_that_is_kept(name):
    model, tokens, beams = variants.model(of(name)), variants.tokens(3, 6), torch.tensor([2, 0, 2])
    caches = [KVCache() for _ in model.blocks]
    in_parts(model, tokens[:, :5], [3, 2], caches)
    for cache in caches:
        cache.reorder(beams)
    close(model(tokens[beams, 5:], caches=caches)[:, 0], model(tokens)[beams, 5])


@pytest.mark.parametrize("name", KINDS)
def test_every_parameter_has_a_gradient_and_caches_keep_it(name):
    model, tokens = variants.model(of(name, "qkv" if (name, "qkv") in CASES else "kv")), variants.tokens(2, 5)
    whole = torch.autograd.grad(model(tokens).pow(2).sum(), list(model.parameters()))
    caches = [KVCache() for _ in model.blocks]
    parts = torch.cat([model(part, caches=caches) for part in tokens.split([2, 2, 1], dim=1)], dim=1)
    for one, other in zip(whole, torch.autograd.grad(parts.pow(2).sum(), list(model.parameters())), strict=True):
        assert float(one.abs().max()) > 0
        torch.testing.assert_close(other, one, rtol=1e-9, atol=1e-9)


@torch.no_grad()
@pytest.mark.parametrize("name", ["differential", "selective", "normed", "latent", "differential, normed"])
def test_weights_shown_are_those_used(name):
    model, tokens = variants.model(of(name)), variants.tokens(2, LENGTH)
    attention, rows = model.blocks[0].attention, torch.tensor([6, 3])
    states = model.blocks[0].read_by_attention(model.embed(tokens))
    whole = attention.weights(states)
    close(attention.weights(states, query_index=rows)[:, :, 0], whole[[0, 1], :, rows])
    second = float(forward._share(attention.heads, attention.own(), states)) if "differential" in name else 0.0
    close(whole.sum(-1), torch.full((2, 4, LENGTH), 1 - second, dtype=torch.float64))


@torch.no_grad()
@pytest.mark.parametrize("name", ["cla", "latent", "normed"])
def test_another_attention_function_takes_their_place(name):
    model, tokens = variants.model(of(name)), variants.tokens(2, LENGTH)
    whole = model(tokens)
    with replaced(model, full_attention):
        close(model(tokens), whole)


@pytest.mark.parametrize("name", ["differential", "selective"])
def test_more_than_one_softmax_is_no_functions_place(name):
    with replaced(variants.model(of(name)), full_attention) as model:
        refused("more than one", model, variants.tokens(1, 4))


def test_latents_are_not_kept_by_a_function_and_shared_keys_are_not_shown():
    tokens = variants.tokens(1, 4)
    with replaced(variants.model(of("latent")), full_attention) as model:
        refused("latents", model, tokens, caches=[KVCache() for _ in model.blocks])
    refused("keys of another layer", variants.model(of("cla")).attention_weights, tokens, torch.tensor([3]))
    with pytest.raises(ValueError, match="layer 1 reads what layers below it keep"):
        variants.model(of("cla")).blocks[1].attention(torch.zeros(1, 4, 16, dtype=torch.float64))
