"""Receipts and promises beside generate: what is generated stays the same, and no bound is exceeded in any family."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from dynamics.hf import cache as hf_cache
from dynamics.hf.receipt import promised, receipts
from dynamics.scope.receipt import weighed
from dynamics.weights.families import READ
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.hf import models
from tests.dynamics.hf.test_cache import BEAMS, GREEDY, plan_for

# Their query and key norms are of another kind than scope's reader knows.
UNREAD = {"cohere", "stablelm"}


def checkpoint_of(model, folder):
    model.save_pretrained(folder)
    return open_checkpoint(folder)


def generated(model, cache, how=GREEDY, batch=2):
    return model.generate(models.tokens(batch, 10), past_key_values=cache, max_new_tokens=8, **how)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("family", models.FAMILIES)
def test_no_bound_is_exceeded_in_any_family(family, dtype, tmp_path):
    model = models.model(family, dtype=getattr(torch, dtype))
    read = family in READ and family not in UNREAD
    known = weighed(checkpoint_of(model, tmp_path), dtype) if read else None
    plan = plan_for(model)
    with receipts(model, plan, known, measure=True) as cache:
        tokens = generated(model, cache)
        found = cache.razor_cache.receipt()
    with hf_cache.razor(model, plan) as plain:
        assert torch.equal(generated(model, plain), tokens)
    assert found.violations == 0 and found.bound.shape[:3] == (2, 17, 2)
    assert found.forgetful[:, -1].any() and np.isnan(found.ranged[found.forgetful]).all() == (not read)


@pytest.mark.parametrize("family", ["bloom", "llama"])
def test_a_wrong_range_is_seen(family, tmp_path):
    model = models.model(family, dtype=torch.float32)
    known = weighed(checkpoint_of(model, tmp_path))
    shrunk = [one._replace(values=one.values._replace(radius=one.values.radius * 0.1)) for one in known]
    with receipts(model, plan_for(model), shrunk, measure=True) as cache:
        generated(model, cache)
        assert cache.razor_cache.receipt().violations > 0


def test_beams_take_their_receipts_with_them():
    model = models.model("llama", dtype=torch.float32)
    with receipts(model, plan_for(model), measure=True) as cache:
        generated(model, cache, BEAMS)
        assert cache.razor_cache.receipt().violations == 0


def test_a_reset_begins_new_receipts():
    model = models.model("bloom", dtype=torch.float32)
    with receipts(model, plan_for(model), measure=True) as cache:
        generated(model, cache)
        first = cache.razor_cache.receipt()
        cache.reset()
        assert cache.get_seq_length() == cache.nbytes() == 0
        generated(model, cache)
        assert cache.razor_cache.receipt() == first


@pytest.mark.parametrize("family", ["bloom", "mpt", "llama", "gpt_neox", "opt"])
def test_a_promise_is_kept_while_generating(family, tmp_path):
    model = models.model(family, dtype=torch.float64)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(0.5)
    checkpoint = checkpoint_of(model.float(), tmp_path)
    known, error = weighed(checkpoint, "float32"), 0.2
    model, worst = model.double(), []
    with promised(model, known, error) as cache:
        inner = cache.razor_cache
        kept, seen = inner.__class__.__call__, {}

        def compared(layer, query, key, value, *, scale, slopes):
            found = kept(inner, layer, query, key, value, scale=scale, slopes=slopes)
            group = query.shape[1] // key.shape[1]
            parts = [torch.cat([*seen.get((layer, i), []), x], dim=2) for i, x in enumerate((key, value))]
            seen.update({(layer, i): [x] for i, x in enumerate(parts)})
            keys, values = (x.repeat_interleave(group, 1) for x in parts)
            n, c = keys.shape[2], query.shape[2]
            distance = torch.arange(n - c, n)[:, None] - torch.arange(n)
            rate = torch.zeros(query.shape[1]) if slopes is None else slopes
            scores = scale * query @ keys.mT - rate[:, None, None] * distance
            full = scores.masked_fill(distance < 0, -torch.inf).softmax(-1) @ values
            radius = torch.from_numpy(known[layer].values.radius).repeat_interleave(group)
            worst.append(float(((found - full).norm(dim=-1) / (2 * radius[:, None])).max()))
            return found

        class Compared:
            n_tokens, nbytes, reorder = inner.n_tokens, inner.nbytes, inner.reorder
            __call__ = staticmethod(compared)

        cache.razor_cache = Compared()
        model.generate(models.tokens(1, 20), past_key_values=cache, max_new_tokens=60, **GREEDY)
        share = inner.kept_share()
    assert max(worst) <= error and share <= 1
    assert share < 0.8 if family in ("bloom", "mpt") else share > 0.5


def test_what_does_not_fit_is_refused(tmp_path):
    model = models.model("llama", dtype=torch.float32)
    checkpoint = checkpoint_of(model, tmp_path)
    plan, wide = plan_for(model), replace(plan_for(model), full=(frozenset(),) * 3)
    for context, message in (
        (receipts(model, plan, weighed(checkpoint)[:1]), "the weights are of 1 layers, the plan is of 2"),
        (promised(model, weighed(checkpoint)[:1], 0.1), "the weights are of 1 layers of 4 heads, the model has 2 of 4"),
        (receipts(model, wide), "the plan is for 3 layers"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"), context:
            pass
    assert not model._forward_pre_hooks


def test_the_factor_of_yarn_is_in_the_range(tmp_path):
    rope = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 8.0, "original_max_position_embeddings": 64,
            "attention_factor": 3.0}  # fmt: skip
    model = models.model("llama", dtype=torch.float32, rope_parameters=rope)
    known = weighed(checkpoint_of(model, tmp_path))
    scale = (32 / 4) ** -0.5
    assert known[0].stretched(scale).keys.cap == pytest.approx(3.0 * known[0].keys.cap)
    assert known[0].stretched(9 * scale) is known[0]
    with pytest.raises(ValueError, match=r"^the weights are of logits scaled by 3.18198, this attention has 4"):
        known[0].stretched(4.0)
    with receipts(model, plan_for(model), known, measure=True) as cache:
        generated(model, cache)
        assert cache.razor_cache.receipt().violations == 0
