"""Shared keys, latents, differential and selective attention: each against its definition, and in parts as whole."""

import pytest
import torch

from dynamics.model import stacked
from dynamics.model.cache import KVCache
from dynamics.model.config import ONE_KEY_ONE_VALUE, Latent, cla
from tests.dynamics.model import variants

CLOSE = 1e-10
LENGTH = 7
SPLITS = ((3, 4), (1, 5, 1), (2, 2, 3))
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
CASES = [(name, shift) for name in KINDS for shift in ("none", "kv", "qkv")]


def of(name, shift="kv", position=None, **more):
    number = CASES.index((name, shift))
    position = position or variants.POSITIONS[(number + number // 3) % 4]
    options = KINDS[name] | {"n_kv_heads": (None, 2)[number % 2]} | more
    if (latent := options.get("latent")) is not None:
        options["latent"] = latent.model_copy(update={"rope": 2 if position == "rope" else 0}).model_dump()
    return variants.named(shift=shift, position=position, width=16, **options)


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=0, atol=CLOSE)


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
