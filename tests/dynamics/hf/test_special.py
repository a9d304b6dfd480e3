"""Generation with the Razor cache: padded batches, sliding windows, sink logits and soft caps; prompts out of place."""

from contextlib import nullcontext

import pytest
import torch

from dynamics.hf import attention, families
from dynamics.hf import cache as hf_cache
from dynamics.razor.masked import MaskedAttention
from tests.dynamics.hf import models
from tests.dynamics.hf.test_cache import (
    BEAMS,
    GREEDY,
    SAMPLING,
    TIGHT,
    assert_same,
    both,
    formula,
    generate,
    plan_for,
    raises,
)

LENGTHS = (9, 4, 1)
LONGER = GREEDY | {"max_new_tokens": 6}
WINDOWED = [*models.sliding(5), ("gpt_oss", {}), ("gemma2", {})]


def padded(side, lengths=LENGTHS):
    """ids, and attention_mask with pads on one side; the ids of pads are any."""
    ids = models.tokens(len(lengths), max(lengths))
    mask = torch.zeros_like(ids)
    for row, length in enumerate(lengths):
        mask[row, slice(-length, None) if side == "left" else slice(0, length)] = 1
    return ids, mask


@pytest.mark.parametrize(
    ("family", "how", "chunk"),
    [(f, GREEDY, None) for f in ("bloom", "mpt", "llama", "gpt2", "opt", "gpt_oss", "gemma2")]
    + [("bloom", SAMPLING, None), ("llama", BEAMS, None), ("bloom", BEAMS, 2), ("llama", GREEDY, 2)],
)
def test_a_left_padded_batch_equals_the_masked_full_attention(family, how, chunk):
    model = models.model(family)
    ids, mask = padded("left")
    plan = plan_for(model, prompt=2)
    found, expected, cache = both(model, plan, ids, how, mask, prefill_chunk_size=chunk)
    assert cache.get_seq_length() == 14
    assert_same(found, expected)
    _, unpadded, _ = both(model, plan, ids, how)
    assert (found.logits[0] - unpadded.logits[0]).abs().max() > 1e-4


@pytest.mark.parametrize("family", ["bloom", "mpt", "llama", "gpt2", "gemma2"])
def test_a_right_padded_forward_equals_each_sequence_alone(family):
    model = models.model(family)
    plan = plan_for(model)
    ids, mask = padded("right", (12, 7, 3))
    with models.double(), torch.no_grad(), hf_cache.razor(model, plan) as cache:
        found = model(ids, attention_mask=mask, past_key_values=cache).logits
        held = cache.nbytes()
        for row, length in enumerate((12, 7, 3)):
            cache.reset()
            alone = model(ids[row : row + 1, :length], past_key_values=cache).logits
            assert (found[row, :length] - alone[0]).abs().max() < TIGHT
            held -= cache.nbytes()
        assert held == 0


def test_generate_goes_on_from_pads_on_the_left_as_alone_and_refuses_them_on_the_right():
    """From pads on the right transformers goes on from a pad: its text is not that of the sequence alone."""
    model, (ids, mask) = models.model("llama"), padded("left", (9, 4))
    right = {"inputs": torch.stack([ids[0], ids[1].roll(4)]), "attention_mask": padded("right", (9, 4))[1]}
    with models.double(), hf_cache.razor(model, plan_for(model)) as cache:
        with raises("a sequence ends in a pad, and generate would go on from there: pad on the left"):
            model.generate(**right, past_key_values=cache)
        found = model.generate(ids, attention_mask=mask, past_key_values=cache, **LONGER)[1, 9:]
        cache.reset()
        assert torch.equal(found, model.generate(ids[1:, 5:], past_key_values=cache, **LONGER)[0, 4:])
    assert not torch.equal(found, model.generate(**right, **LONGER)[1, 9:])


@pytest.mark.parametrize(
    ("family", "asked", "told"),
    [
        ("gpt2", {"max_new_tokens": 8}, None),
        ("gpt2", {"max_new_tokens": 9}, "9 tokens and up to 9 new ones need 17 positions, the model has 16"),
        ("opt", {"max_length": 20}, "9 tokens and up to 11 new ones need 19 positions, the model has 16"),
        ("llama", {"max_new_tokens": 9}, None),
    ],
)
def test_generation_past_the_last_learned_position_is_refused_before_it_begins(family, asked, told):
    model = models.model(family, **{"n_positions" if family == "gpt2" else "max_position_embeddings": 16})
    with hf_cache.razor(model, plan_for(model)) as cache:
        with raises(told) if told else nullcontext():
            model.generate(models.tokens(2, 9), past_key_values=cache, do_sample=False, **asked)
        assert (cache.get_seq_length() == 0) == bool(told)


@pytest.mark.parametrize("family", ["llama", "bloom"])
def test_a_padded_text_goes_on_and_its_pads_stay_pads(family):
    model = models.model(family)
    plan = plan_for(model)
    ids, mask = padded("left", (9, 4))
    with models.double():
        with hf_cache.razor(model, plan) as cache:
            first = generate(model, ids, GREEDY, past_key_values=cache, attention_mask=mask)
            longer = torch.cat([first.sequences, models.tokens(2, 3, seed=3)], dim=1)
            seen = torch.nn.functional.pad(mask, (0, 9), value=1)
            second = generate(model, longer, GREEDY, past_key_values=cache, attention_mask=seen)
            more = torch.nn.functional.pad(second.sequences, (0, 2))
            wrong = torch.nn.functional.pad(mask, (0, 17), value=1)
            wrong[0, 3] = 0
            with raises("attention_mask is not that of the 23 tokens that the cache has: use reset"):
                generate(model, more, GREEDY, past_key_values=cache, attention_mask=wrong)
        with attention.replaced(model, MaskedAttention(plan)):
            expected = generate(model, longer, GREEDY, use_cache=False, attention_mask=seen)
    assert_same(second, expected)


@pytest.mark.parametrize(("family", "changes"), WINDOWED)
@pytest.mark.parametrize("how", [GREEDY, BEAMS])
def test_windows_sinks_and_caps_equal_the_masked_full_attention(family, changes, how):
    model = models.model(family, **changes)
    found, expected, cache = both(model, plan_for(model), models.tokens(2, 10), how)
    assert_same(found, expected)
    windows = families.heads(model).windows
    assert any(windows)
    assert how is BEAMS or cache.nbytes() == formula(model, cache.plan, 15, 8, batch=2, windows=windows)


CASES = [
    *((family, {}) for family in models.FAMILIES),
    *WINDOWED,
    ("bloom", {"n_head": 8, "apply_residual_connection_post_layernorm": True}),
    ("bloom", {"n_head": 1}),
    ("bloom", {"hidden_size": 36, "n_head": 12, "n_layer": 3}),
    ("mpt", {"attn_config": {"clip_qkv": 0.7, "softmax_scale": 0.31}}),
    ("mpt", {"n_heads": 4}),
    ("llama", {"attention_bias": True, "num_key_value_heads": 1}),
    ("llama", {"num_key_value_heads": 4, "rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}}),
]


@pytest.mark.parametrize(("family", "changes"), CASES)
def test_a_plan_that_drops_nothing_generates_what_the_model_does(family, changes):
    model = models.eager(family, **changes)
    ids = models.tokens(2, 10)
    with models.double():
        own = generate(model, ids, GREEDY, use_cache=True)
        with hf_cache.razor(model, plan_for(model, buffer=16)) as cache:
            found = generate(model, ids, GREEDY, past_key_values=cache, prefill_chunk_size=4)
    assert_same(found, own)


@pytest.mark.parametrize("family", ["llama", "bloom"])
def test_an_unrelated_prompt_on_a_used_cache_is_refused(family):
    model = models.model(family)
    ids = models.tokens(2, 8)
    with hf_cache.razor(model, plan_for(model)) as cache:
        text = model.generate(ids, past_key_values=cache, max_new_tokens=4, **GREEDY)
        longer = torch.cat([text, models.tokens(2, 5, seed=3)], dim=1)
        other = longer.clone()
        other[1, 6] = (other[1, 6] + 1) % 64

        def go_on(prompt, message, **more):
            with raises(message):
                model.generate(prompt, past_key_values=cache, max_new_tokens=2, **GREEDY | more)
            with raises(message):
                model.generate(input_ids=prompt, past_key_values=cache, max_new_tokens=2, **GREEDY | more)

        go_on(other, "the prompt is not what the cache has read: its token 6 is another in sequence 1: use reset")
        go_on(ids, "the cache has read 11 tokens, a prompt of 8 does not continue: use reset")
        go_on(longer[:1].repeat(3, 1), "the cache has read 2 sequences, the prompt has 3: use reset")
        go_on(longer[:1], "the prompt is not what the cache has read", num_return_sequences=2, do_sample=True)
        assert cache.get_seq_length() == 11
        model.generate(longer, past_key_values=cache, max_new_tokens=2, prefill_chunk_size=2, **GREEDY)
        cache.reset()
        text = model.generate(other, past_key_values=cache, max_new_tokens=2, **GREEDY)
        model.generate(torch.cat([text, ids], dim=1), past_key_values=cache, max_new_tokens=2, **GREEDY)
    assert "generate" not in vars(model)


def test_one_of_several_samples_does_not_go_on_for_all():
    model, more = models.model("llama"), SAMPLING | {"num_return_sequences": 3, "max_new_tokens": 6}
    torch.manual_seed(0)
    with hf_cache.razor(model, plan_for(model)) as cache:
        texts = model.generate(models.tokens(1, 8), past_key_values=cache, **more)
        with raises("the prompt is not what the cache has read: its token 9 is another in sequence 1"):
            model.generate(texts[:1], past_key_values=cache, **more)
        model.generate(texts, past_key_values=cache, **more | {"num_return_sequences": 1})


def test_what_is_not_compared():
    model = models.model("llama")
    ids = models.tokens(2, 8)
    with hf_cache.razor(model, plan_for(model)) as cache, torch.no_grad():
        model(ids, past_key_values=cache)
        model(inputs_embeds=model.get_input_embeddings()(ids), past_key_values=cache)
        model.generate(models.tokens(2, 20, seed=2), past_key_values=cache, max_new_tokens=2, **GREEDY)
        assert cache.get_seq_length() == 21


def test_many_single_tokens_are_compared_too():
    model = models.model("llama")
    ids = models.tokens(1, 300)
    with hf_cache.razor(model, plan_for(model)) as cache, torch.no_grad():
        for token in range(299):
            cache.read.note(ids[:, token : token + 1])
        cache.read.check_prompt(ids)
        ids[0, 298] = (ids[0, 298] + 1) % 64
        with raises("the prompt is not what the cache has read: its token 298 is another in sequence 0"):
            cache.read.check_prompt(ids)
