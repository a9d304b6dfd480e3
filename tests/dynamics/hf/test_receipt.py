"""Receipts and promises beside generate: what is generated stays the same, and no bound is exceeded in any family; and
docs/receipts.md says what is measured: the families' rows, the plan's file, what a promise keeps."""

import json
import re
from copy import copy, deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch

from dynamics.comparison.local_errors import measured
from dynamics.hf import attention, families
from dynamics.hf import cache as hf_cache
from dynamics.hf.receipt import promised, receipts
from dynamics.model.attention_function import replaced
from dynamics.razor.plan_file import parse_plan, plan_text
from dynamics.razor.promise import PromiseCache
from dynamics.scope.promise import windows
from dynamics.scope.receipt import weighed
from dynamics.training.checkpoint import SHIPPED, shipped
from dynamics.weights.families import READ
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.hf import models, trained
from tests.dynamics.hf.receipt_rows import UNREAD, line, row
from tests.dynamics.hf.test_cache import GREEDY, plan_for, raises
from tests.dynamics.refusal import refused


def checkpoint_of(model, folder):
    model.save_pretrained(folder)
    return open_checkpoint(folder)


def generated(model, cache):
    return model.generate(models.tokens(2, 10), past_key_values=cache, max_new_tokens=8, **GREEDY)


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


@pytest.mark.parametrize(("family", "bias"), [*dict.fromkeys(["bloom", "mpt", "llama", "gpt_neox", "opt"], 0.0).items(),
                                              ("opt", 10.0)])  # fmt: skip
def test_a_promise_is_kept(family, bias, tmp_path):
    """Also where queries lie far from 0, and are scaled before attention (OPT)."""
    model = models.model(family, dtype=torch.float32, seed=2)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.mul_(0.3)
            if bias and name.endswith("q_proj.bias"):
                weight.add_(bias * torch.arange(-2, 2).repeat(8))
    known = weighed(checkpoint_of(model, tmp_path))
    cache = PromiseCache(known, families.heads(model.double()).n_kv_heads, 0.05)

    def read(function):
        with attention.replaced(model, function), torch.no_grad():
            model(models.tokens(1, 100), use_cache=False)

    worst = measured("promised", 1.0, cache, read, [2 * layer.values.radius for layer in known]).worst
    assert worst <= 0.05 and (cache.kept_share() < 0.8) == (family in ("bloom", "mpt") or bias > 0)


def adapt(model, place, factor):
    """From now on there is an adapter at this module of every layer."""
    for name, module in model.named_modules():
        if name.endswith(place):
            module.register_forward_hook(lambda _module, _args, found: found * factor)


CACHES = {
    "razor": lambda model, _: hf_cache.razor(model, plan_for(model)),
    "receipts": lambda model, known: receipts(model, plan_for(model), known, measure=True),
    "promised": lambda model, known: promised(model, known, 0.1),
}
BOUND = pytest.mark.parametrize("kind", ["receipts", "promised"])


def with_weighed(family, folder):
    model = models.model(family, dtype=torch.float32)
    return model, weighed(checkpoint_of(model, folder))


@BOUND
@pytest.mark.parametrize(
    ("family", "place", "role"),
    [("llama", "q_proj", "queries"), ("llama", "k_proj", "keys"), ("qwen2", "v_proj", "values"),
     ("bloom", "query_key_value", "queries"), ("qwen3", "k_norm", "keys"), ("llama", "input_layernorm", "queries"),
     ("llama", "seed", "queries"), ("llama", "head_dim", "queries")],
)  # fmt: skip
def test_a_model_that_does_not_run_what_was_weighed_is_refused(kind, family, place, role, tmp_path):
    model, known = with_weighed(family, tmp_path)
    model = models.model(family, **{place: 2}) if place in ("seed", "head_dim") else model
    adapt(model, place, 1.02)
    with raises(f"layer 0: {role} are not those of the weights that were weighed"), CACHES[kind](model, known):
        pass
    assert not any(module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize(
    ("kind", "family", "place", "role"),
    [("receipts", "llama", "k_proj", "keys"), ("receipts", "qwen2", "v_proj", "values"),
     ("receipts", "bloom", "query_key_value", "keys"), ("promised", "llama", "q_proj", "queries"),
     ("promised", "qwen3", "v_proj", "values"), ("promised", "bloom", "query_key_value", "queries")],
)  # fmt: skip
def test_no_bound_outlives_a_change_of_the_weights(kind, family, place, role, tmp_path):
    model, known = with_weighed(family, tmp_path)
    with CACHES[kind](model, known) as cache:
        text = generated(model, cache)
        adapt(model, place, 40.0)
        with raises(rf"layer 0: {role} of head \d lie where the weights that were weighed put none"):
            model.generate(text, past_key_values=cache, max_new_tokens=1)
        assert cache.get_seq_length() == 17


@pytest.mark.filterwarnings("ignore")  # torch's own, on compiling
def test_a_compiled_model_generates_the_same_with_receipts():
    model = models.model("llama", dtype=torch.float32)
    with receipts(model, plan_for(model)) as cache:
        text, found = generated(model, cache), cache.razor_cache.receipt()
        cache.reset()
        model.forward = torch.compile(model.forward, backend="eager")
        assert torch.equal(generated(model, cache), text) and cache.razor_cache.receipt() == found


@pytest.mark.parametrize("kind", CACHES)
def test_copies_of_a_prefix_go_on_by_themselves(kind, tmp_path):
    model, known = with_weighed("bloom", tmp_path)
    prefix, ends = models.tokens(1, 30), models.tokens(3, 9, seed=1).split(1)

    def said(held, end):
        scores = model(end, past_key_values=held).logits.tolist()
        return scores, held.nbytes(), kind == "receipts" and held.razor_cache.receipt()

    with CACHES[kind](model, known) as cache, torch.no_grad():
        model(prefix, past_key_values=cache)
        held = deepcopy(cache), copy(cache), cache
        for end, found in zip(ends, [*map(said, held, ends)], strict=True):
            cache.reset()
            model(prefix, past_key_values=cache)
            assert said(cache, end) == found
        assert [one.get_seq_length() for one in held] == [39] * 3
    with raises("this Razor cache is used outside of its"), torch.no_grad():
        model(prefix, past_key_values=held[0])


@BOUND
def test_training_other_layers_and_a_coarser_type_are_refused(kind, tmp_path):
    model, known = with_weighed("llama", tmp_path)
    with CACHES[kind](model, known) as cache, raises("the Razor cache holds no graph: use torch.no_grad"):
        model(models.tokens(1, 4), past_key_values=cache)
    with raises("the weights are of 1 layers of 4 heads, the model has 2 of 4"), CACHES[kind](model, known[:1]):
        pass
    told = r"the weights were weighed for a model in float32, this one computes in float16: use weighed\(checkpoint, '"
    with raises(told), CACHES[kind](model.half(), known):
        pass
    with CACHES[kind](model, weighed(open_checkpoint(tmp_path), "float16")) as cache:
        generated(model, cache)


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


@pytest.mark.deep
@pytest.mark.parametrize("family", trained.FAMILIES)
def test_a_trained_model_is_as_the_pages_say(family):
    """Within what another machine and another Python's library make of the same training."""
    bounds, (entries, over, *receipt) = trained.rows(family)
    pages = PAGE + (ROOT / "docs" / "families.md").read_text("utf-8")
    found = dict(re.findall(r"^\| (`\w+`|\w+, trained) \| ([\d.| ]+) \|$", pages, re.MULTILINE))
    said, told = ([float(x) for x in found[name].split("|")] for name in (f"`{family}`", f"{family}, trained"))
    assert said == pytest.approx(bounds, rel=0.1, abs=0.1) and bounds[2] < bounds[1]
    assert told[:2] == [entries, over] and over == 0 and told[3:] == pytest.approx(receipt[1:], abs=0.15)
    assert 1 / 3 < told[2] / receipt[0] < 3


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
