"""Receipts and promises beside generate: what is generated stays the same, and no bound is exceeded in any family; and
docs/receipts.md says what is measured: the families' rows, the plan's file, what a promise keeps."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from dynamics.hf import cache as hf_cache
from dynamics.hf.receipt import promised, receipts
from dynamics.model.attention_function import full_attention, replaced
from dynamics.razor.plan_file import parse_plan, plan_text
from dynamics.razor.promise import PromiseCache
from dynamics.scope.promise import windows
from dynamics.scope.receipt import weighed
from dynamics.training.checkpoint import SHIPPED, shipped
from dynamics.weights.families import READ
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.hf import models
from tests.dynamics.hf.receipt_rows import UNREAD, line, row
from tests.dynamics.hf.test_cache import BEAMS, GREEDY, plan_for
from tests.dynamics.refusal import refused


def checkpoint_of(model, folder):
    model.save_pretrained(folder)
    return open_checkpoint(folder)


def generated(model, cache, how=GREEDY, batch=2):
    return model.generate(models.tokens(batch, 10), past_key_values=cache, max_new_tokens=8, **how)


@pytest.mark.parametrize(
    ("family", "dtype"),
    [(family, "float32") for family in models.FAMILIES] + [("bloom", "bfloat16"), ("llama", "bfloat16")],
)
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


class Compared:
    """A cache in place of another, whose outputs are held against full attention of all that it was given."""

    def __init__(self, inner, known):
        self.inner, self.radii = inner, [torch.from_numpy(layer.values.radius) for layer in known]
        self.n_tokens, self.nbytes, self.reorder = inner.n_tokens, inner.nbytes, inner.reorder
        self.seen, self.worst = {}, 0.0

    def __call__(self, layer, query, key, value, *, scale, slopes, **more):
        found = self.inner(layer, query, key, value, scale=scale, slopes=slopes, **more)
        new = (query, key, value)
        old = self.seen.get(layer, [x[:, :, :0] for x in new])
        self.seen[layer] = [torch.cat(pair, dim=2) for pair in zip(old, new, strict=True)]
        full = full_attention(layer, *self.seen[layer], scale=scale, slopes=slopes)[:, :, -query.shape[2] :]
        diameter = 2 * self.radii[layer].repeat_interleave(query.shape[1] // key.shape[1])
        self.worst = max(self.worst, float(((found - full).norm(dim=-1) / diameter[:, None]).max()))
        return found


@pytest.mark.parametrize("family", ["bloom", "mpt", "llama", "gpt_neox", "opt"])
def test_a_promise_is_kept_while_generating(family, tmp_path):
    model = models.model(family, dtype=torch.float32)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(0.5)
    known = weighed(checkpoint_of(model, tmp_path))
    with promised(model.double(), known, error=0.2) as cache:
        cache.razor_cache = compared = Compared(cache.razor_cache, known)
        model.generate(models.tokens(1, 20), past_key_values=cache, max_new_tokens=60, **GREEDY)
    share = compared.inner.kept_share()
    assert compared.worst <= 0.2 and share <= 1
    assert share < 0.8 if family in ("bloom", "mpt") else share > 0.5


def test_what_does_not_fit_is_refused(tmp_path):
    model = models.model("llama", dtype=torch.float32)
    checkpoint = checkpoint_of(model, tmp_path)
    plan, wide = plan_for(model), replace(plan_for(model), full=(frozenset(),) * 3)
    fewer = "the weights are of 1 layers of 4 heads, the model has 2 of 4"
    for context, message in (
        (receipts(model, plan, weighed(checkpoint)[:1]), fewer),
        (promised(model, weighed(checkpoint)[:1], 0.1), fewer),
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
    refused(r"^the weights are of logits scaled by 3.18198, this attention has 4", known[0].stretched, 4.0)
    with receipts(model, plan_for(model), known, measure=True) as cache:
        generated(model, cache)
        assert cache.razor_cache.receipt().violations == 0


ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "receipts.md").read_text("utf-8")
ROWS = {cells[0]: cells for cells in re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| (\S+) \|$",
                                                PAGE, re.MULTILINE)}  # fmt: skip
QUICK = ("bloom", "mpt", "llama", "qwen3")


@pytest.mark.parametrize("family", [*QUICK, *(pytest.param(name, marks=pytest.mark.deep) for name in models.FAMILIES
                                              if name not in QUICK)])  # fmt: skip
def test_a_family_is_as_tight_as_the_page_says(family):
    _, entries, over, tight, vacuous, ranged = row(family)
    said = ROWS[family]
    assert (int(said[1]), int(said[2])) == (entries, over) and over == 0
    assert float(said[3]) == pytest.approx(tight, rel=0.03, abs=0.06)
    assert float(said[4]) == pytest.approx(vacuous, abs=0.02)
    assert (said[5] == "-") == (ranged is None) and (ranged is None or abs(float(said[5]) - ranged) < 0.02)


def test_every_family_has_its_row():
    assert list(ROWS) == list(models.FAMILIES)
    assert line(("x", 1, 0, 2.0, 0.5, None)) == "| x | 1 | 0 | 2.0 | 0.50 | - |"


def test_the_plan_on_the_page_is_a_plan():
    found = re.search(r"^    \{\n.*?^    \}\n", PAGE, re.MULTILINE | re.DOTALL)
    text = re.sub("^    ", "", found[0], flags=re.MULTILINE)
    assert plan_text(parse_plan(text.encode())) == text
    fields = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (`\w+`[^|]*) \|", PAGE, re.MULTILINE))))
    assert fields >= set(json.loads(text))


@pytest.mark.parametrize("error", [0.1, 0.01])
def test_a_promise_keeps_what_the_page_says(error):
    checkpoint, model = open_checkpoint(SHIPPED / "alibi-text"), shipped("alibi-text").model
    tokens = torch.tensor(list((ROOT / "LICENSE").read_bytes()[:256]))[None]
    cache = PromiseCache(weighed(checkpoint), 8, error)
    with replaced(model, cache), torch.no_grad():
        model(tokens)
    said = re.search(rf"^\| 256 \| {error} \| ([\d.]+) \|", PAGE, re.MULTILINE)
    assert float(said[1]) == pytest.approx(cache.kept_share(), abs=0.002)
    assert sum(map(sum, windows(checkpoint, error, 256))) / (32 * 256) == pytest.approx(0.95, abs=0.005)
