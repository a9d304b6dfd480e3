"""Generation with the Razor cache = transformers' own loop over the masked full attention of the whole text."""

import gc
from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.hf import attention, families
from dynamics.hf import cache as hf_cache
from dynamics.razor.cache import RazorCache
from dynamics.razor.masked import MaskedAttention
from dynamics.razor.plan import RazorPlan, razor_bytes
from tests.dynamics.hf import models
from tests.dynamics.razor.cases import plans

TIGHT = 1e-10
RECORD = {"output_logits": True, "return_dict_in_generate": True}
GREEDY = {"do_sample": False}
SAMPLING = {"do_sample": True, "top_k": 0, "temperature": 0.8}
BEAMS = {"do_sample": False, "num_beams": 3}


def plan_for(model, **changes):
    """One full key-value head in layer 0, none in layer 1; of 14 tokens a head that is not full sees about half."""
    found = families.heads(model)
    whole = (frozenset([found.n_kv_heads - 1]),) + (frozenset(),) * (found.n_layers - 1)
    settings = {"sinks": 2, "buffer": 3, "share": Fraction(1, 5), "compensation": "mean"} | changes
    return RazorPlan(found.n_heads, found.n_kv_heads, whole, **settings)


def generate(model, ids, how, **arguments):
    torch.manual_seed(7)
    return model.generate(ids, max_new_tokens=6, **RECORD, **how, **arguments)


def both(model, plan, ids, how=GREEDY, mask=None, **arguments):
    """With the cache; and by transformers' loop without one: the masked attention of the whole text at each step."""
    # generate rounds logits to single precision, transformers' layers much else: double throughout.
    with models.double():
        with hf_cache.razor(model, plan) as cache:
            found = generate(model, ids, how, past_key_values=cache, attention_mask=mask, **arguments)
        with attention.replaced(model, MaskedAttention(plan)):
            expected = generate(model, ids, how, use_cache=False, attention_mask=mask)
    assert all(logits.dtype == torch.float64 for logits in found.logits)
    return found, expected, cache


def assert_same(found, expected):
    assert torch.equal(found.sequences, expected.sequences)
    assert all((a - b).abs().max() < TIGHT for a, b in zip(found.logits, expected.logits, strict=True))


KINDS = [(f, kind) for f in ("bloom", "mpt", "llama", "qwen3") for kind in ("none", "mean", "centred")]
KINDS += [("bloom", "alibi"), ("mpt", "alibi"), ("mistral", "mean"), ("qwen2", "centred")]
CASES = [(family, kind, GREEDY, size % 4) for size, (family, kind) in enumerate(KINDS)]
CASES += [(f, "mean", how, 0) for f in ("bloom", "llama") for how in (SAMPLING, BEAMS)]
CASES += [("mpt", "mean", BEAMS | {"do_sample": True, "top_k": 0}, 0)]
CASES += [("qwen3", "mean", SAMPLING | {"num_return_sequences": 3}, 0)]


@pytest.mark.parametrize(("family", "kind", "how", "chunk"), CASES)
def test_generation_equals_the_masked_full_attention(family, kind, how, chunk):
    model = models.model(family)
    plan = plan_for(model, compensation=kind, prompt=8 if kind == "centred" else 0)
    found, expected, cache = both(model, plan, models.tokens(2, 8), how, prefill_chunk_size=chunk or None)
    assert_same(found, expected)
    assert found.sequences.shape[1] == 14 and cache.get_seq_length() == 13


@pytest.mark.parametrize("family", ["gpt2", "opt", "gpt_neox"])
def test_key_value_heads_that_only_the_config_names_are_not_there(family):
    model = models.model(family, num_key_value_heads=2)
    assert_same(*both(model, plan_for(model), models.tokens(2, 8))[:2])


def formula(model, plan, n, itemsize, **sizes):
    dim = getattr(model.config, "head_dim", None) or model.config.hidden_size // plan.n_heads
    return razor_bytes(plan, n, dim, itemsize, **sizes)


def live_bytes():
    """Bytes behind all floating tensors that are alive, parameters aside."""
    found = [x for x in gc.get_objects() if type(x) is torch.Tensor and x.is_floating_point()]
    return sum({x.untyped_storage().data_ptr(): x.untyped_storage().nbytes() for x in found}.values())


@pytest.mark.parametrize(
    ("family", "kind"), [("bloom", "alibi"), ("llama", "mean"), ("mpt", "none"), ("qwen3", "centred")]
)
def test_bytes_held_equal_the_formula_and_no_key_is_kept_twice(family, kind):
    model, ids = models.model(family, dtype=torch.float32), models.tokens(3, 24)
    plan = plan_for(model, compensation=kind, prompt=5)
    with hf_cache.razor(model, plan) as cache, torch.no_grad():
        before = live_bytes() if family in ("bloom", "qwen3") else None
        for n, chunk in zip((4, 8, 12, 16, 20, 24), ids.split(4, dim=1), strict=True):
            model(chunk, past_key_values=cache)
            assert cache.nbytes() == formula(model, plan, n, 4, batch=3)
        assert before is None or live_bytes() - before == cache.nbytes()


@pytest.mark.deep
@pytest.mark.parametrize("family", models.FAMILIES)
@settings(max_examples=40)
@given(data=st.data())
def test_any_plan_generates_what_the_masked_full_attention_does(family, data):
    model = models.model(family, seed=data.draw(st.integers(0, 3)))
    found = families.heads(model)
    kinds = ["none", "mean", "centred"] + ["alibi"] * (found.slopes is not None)
    plan = data.draw(plans(2, found.n_heads, found.n_kv_heads, kinds))
    ids = models.tokens(data.draw(st.integers(1, 3)), data.draw(st.integers(max(1, plan.prompt), 16)))
    how = data.draw(st.sampled_from([GREEDY, SAMPLING, BEAMS]))
    arguments = data.draw(st.sampled_from([{}, {"prefill_chunk_size": 2}]))
    assert_same(*both(model, plan, ids, how, **arguments)[:2])


@pytest.mark.gpu
@pytest.mark.parametrize("family", models.FAMILIES)
def test_generation_on_a_gpu_equals_the_masked_full_attention(family):
    model = models.model(family).cuda()
    for how in (GREEDY, SAMPLING, BEAMS):
        found, expected, _ = both(model, plan_for(model), models.tokens(2, 8).cuda(), how)
        assert_same(found, expected)


def raises(message):
    return pytest.raises(ValueError, match=f"^{message}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"full": (frozenset(),) * 3},
            "the plan is for 3 layers of 4 heads and 2 key-value heads, the model has 2 of 4",
        ),
        ({"n_heads": 8}, "the plan is for 2 layers of 8 heads and 2 key-value heads, the model has 2 of 4 and 2"),
        ({"n_kv_heads": 4}, "the plan is for 2 layers of 4 heads and 4 key-value heads, the model has 2 of 4 and 2"),
        ({"compensation": "alibi"}, "compensation 'alibi' needs slopes, llama has none"),
        ({"compensation": "centred"}, "compensation 'centred' needs a prompt of at least 1 token, or a centre"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(change, message):
    model = models.model("llama")
    with raises(message), hf_cache.razor(model, replace(plan_for(model), **change)):
        pass
    assert model.config._attn_implementation == "sdpa" and not model._forward_pre_hooks


def test_a_model_whose_tokens_see_later_ones_has_no_cache():
    model = models.model("bert")
    with raises("a token of bert sees those after it"), hf_cache.razor(model, plan_for(model)):
        pass


@pytest.mark.parametrize("kind", hf_cache.GROWING_ANGLES)
def test_angles_that_change_with_the_length_are_refused(kind):
    rope = {"rope_type": kind, "rope_theta": 1e4, "factor": 2.0, "original_max_position_embeddings": 64}
    rope |= {"short_factor": [1.0] * 4, "long_factor": [1.0] * 4} if kind == "longrope" else {}
    model = models.model("llama", rope_parameters=rope)
    with raises(f"rotary angles of type '{kind}' change with the length"), hf_cache.razor(model, plan_for(model)):
        pass


def test_they_are_refused_in_one_kind_of_layer_too():
    plain = {"rope_type": "default", "rope_theta": 1e4}
    angles = {"full_attention": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}, "sliding_attention": plain}
    model = models.model("gemma3_text", rope_parameters=angles)
    with raises("rotary angles of type 'dynamic' change"), hf_cache.razor(model, plan_for(model)):
        pass


@pytest.mark.parametrize("family", ["bloom", "mpt", "llama"])
def test_calls_that_would_give_other_numbers_are_refused(family):
    model = models.model(family)
    ids = models.tokens(2, 8)
    with torch.no_grad():
        with hf_cache.razor(model, plan_for(model)) as cache:
            with raises("the model was called without this cache: give it as past_key_values"):
                model(ids)
            with raises("use_cache is False: the whole text would be read again at every step"):
                model.generate(ids, past_key_values=cache, use_cache=False, max_new_tokens=2)
            with torch.enable_grad(), raises("the Razor cache holds no graph"):
                model(ids, past_key_values=cache)
            with raises("a Razor cache cannot be cropped"):
                model.generate(ids[:1], past_key_values=cache, prompt_lookup_num_tokens=3, max_new_tokens=4)
            cache.reset()
            assert cache.get_seq_length() == 0
            model(ids, past_key_values=cache)
            with raises("the cache holds keys of batch 2"):
                model(ids[:1], past_key_values=cache)
            with raises("a Razor cache is not repeated"):
                cache.batch_repeat_interleave(2)
            cache.batch_select_indices(torch.tensor([1]))
            model(ids[1:], past_key_values=cache)
            assert cache.get_seq_length() == 16
        with raises("this Razor cache is used outside of its"):
            model(ids[1:], past_key_values=cache)


def test_a_call_that_broke_off_is_noticed(monkeypatch):
    model = models.model("llama")
    ids = models.tokens(1, 5)
    real = RazorCache.__call__

    def failing(self, layer, *tensors, **settings):
        if layer == 1:
            raise KeyboardInterrupt
        return real(self, layer, *tensors, **settings)

    with hf_cache.razor(model, plan_for(model)) as cache, torch.no_grad():
        with monkeypatch.context() as patch:
            patch.setattr(RazorCache, "__call__", failing)
            with pytest.raises(KeyboardInterrupt):
                model(ids, past_key_values=cache)
        with raises("layer 1 has 0 tokens, layer 0 10: a call broke off"):
            model(ids, past_key_values=cache)
        cache.reset()
        model(ids, past_key_values=cache)


@pytest.mark.parametrize("family", ["mpt", "llama"])
def test_the_model_is_as_before_afterwards(family):
    model = models.model(family)
    settings, config, ids = model.generation_config, model.config, models.tokens(1, 6)
    own = model.generate(ids, max_new_tokens=3)
    with pytest.raises(KeyboardInterrupt), hf_cache.razor(model, plan_for(model)):
        raise KeyboardInterrupt
    assert model.generation_config is settings and model.config is config and not model._forward_pre_hooks
    assert torch.equal(model.generate(ids, max_new_tokens=3), own)
