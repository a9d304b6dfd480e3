"""A Razor cache fed in chunks = the masked full computation: every kind of compensation, GQA, ALiBi, prompts, beams,
pads, sliding windows, learned sink logits and a soft cap."""

from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import dynamics.razor.layer as razor_layer_module
import dynamics.razor.logits as razor_logits_module
from dynamics.razor.cache import RazorCache
from dynamics.razor.masked import MaskedAttention
from dynamics.razor.plan import razor_bytes
from tests.dynamics.razor.cases import (
    KINDS,
    SCALE,
    TOLERANCE,
    cache_gap,
    decode,
    plans,
    sizes,
    slopes_of,
    small_plan,
    stream,
)
from tests.dynamics.refusal import refused


@given(plans(kinds=["centred"]), sizes(), st.booleans())
def test_given_centres_are_used(plan, chunks, with_alibi):
    plan = replace(plan, prompt=0)
    centre = torch.randn(plan.n_heads, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    assert cache_gap(plan, chunks, slopes_of(plan, with_alibi), centres={0: centre}) < TOLERANCE


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 3e-6), (torch.bfloat16, 0.06)])
@pytest.mark.parametrize("kind", KINDS)
def test_smaller_types_keep_their_type_and_do_not_drift(kind, dtype, tolerance):
    plan = small_plan(compensation=kind, buffer=8, share=Fraction(0))
    tokens, slopes = [x.to(dtype) for x in stream(plan, 300, batch=1)], slopes_of(plan, True).float()
    cache = RazorCache(plan)
    found = decode(cache, tokens, [240, *[1] * 60], slopes)
    expected = MaskedAttention(plan)(0, *(x.double() for x in tokens), scale=SCALE, slopes=slopes.double())
    assert found.dtype == dtype
    assert (found[:, :, -50:] - expected[:, :, -50:]).abs().max() < tolerance


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_on_a_gpu_as_on_a_cpu(kind):
    plan = small_plan(compensation=kind)
    tokens, slopes = [x.cuda() for x in stream(plan, 40)], slopes_of(plan, True).cuda()
    expected = MaskedAttention(plan)(0, *tokens, scale=SCALE, slopes=slopes)
    assert (decode(RazorCache(plan), tokens, [9, *[1] * 31], slopes) - expected).abs().max() < TOLERANCE


def test_misuse_is_refused():
    plan = small_plan()
    query, key, value = stream(plan, 6)

    def fails(match, *tokens, layer=0, slopes=None, cache=None):
        refused(match, cache or RazorCache(plan), layer, *tokens, scale=SCALE, slopes=slopes)

    fails("layer must lie in 0..0, got 1", query, key, value, layer=1)
    fails("query .batch, 4, new, d., key and value .batch, 2, new, d. needed", query, query, value)
    fails("query .batch, 4, new, d.", query, key[:, :, 1:], value[:, :, 1:])
    fails("query .batch, 4, new, d.", query[:, :, :0], key[:, :, :0], value[:, :, :0])
    fails("slopes must have shape .4,., got .2,.", query, key, value, slopes=torch.ones(2))
    fails("holds no graph", query, key.clone().requires_grad_(), value)
    fails("'alibi' needs slopes", query, key, value, cache=RazorCache(replace(plan, compensation="alibi")))
    held = RazorCache(plan)
    refused("this one is empty", held.reorder, torch.tensor([0]))
    held(0, query, key, value, scale=SCALE, slopes=None)
    fails("holds keys of batch 2, width 4 and torch.float64, got 1", query[:1], key[:1], value[:1], cache=held)
    fails("torch.float32", query.float(), key.float(), value.float(), cache=held)
    refused("layer 0 had a sliding window of None tokens, got 3", held, 0, query, key, value, scale=SCALE, slopes=None,
            window=3)
    for index in ([2], [-1], []):
        refused(r"sequences 0\.\.1", held.reorder, torch.tensor(index, dtype=torch.long))
    refused("vector of integers", held.reorder, torch.tensor([0.0]))
    assert held.n_tokens() == 6
    centred = replace(plan, compensation="centred", prompt=0)
    for kind in (RazorCache, MaskedAttention):
        refused("needs a prompt of at least 1 token, or a centre for every layer", kind, centred)
        refused(r"centres must be of layers 0\.\.0, got 3", kind, plan, {3: torch.zeros(4, 4)})


def learnt(plan):
    return torch.randn(plan.n_heads, generator=torch.Generator().manual_seed(4), dtype=torch.float64)


special = st.fixed_dictionaries({}, optional={"softcap": st.sampled_from([0.7, 5.0]), "window": st.integers(1, 9)})


@settings(max_examples=110 if settings.get_current_profile_name() == "ci" else 2000)
@given(plans(), sizes(), st.booleans(), special, st.booleans(), st.integers(0, 9))
def test_plain_or_with_sinks_cap_and_window_chunks_equal_the_masked_computation(
    plan, chunks, with_alibi, more, sinks, seed
):
    slopes = slopes_of(plan, with_alibi)
    more |= {"sinks": learnt(plan)} if sinks else {}
    assert cache_gap(plan, chunks, slopes, seed=seed, **more) < TOLERANCE


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", [{}, {"softcap": 0.7}, {"sinks": True}, {"softcap": 2.0, "sinks": True}])
@pytest.mark.parametrize("chunks", [[1] * 21, [4, 3, 14], [20, *[1] * 20, 16, *[1] * 3], [33, 1, 16]])
def test_every_kind_of_compensation_in_chunks_longer_than_a_block_of_queries(kind, more, chunks, monkeypatch):
    monkeypatch.setattr(razor_logits_module, "BLOCK", 5)
    monkeypatch.setattr(razor_layer_module, "PIECE", 3)
    plan = small_plan(compensation=kind, prompt=5 if sum(chunks) == 21 else 20)
    more = more | ({"sinks": learnt(plan)} if "sinks" in more else {})
    assert cache_gap(plan, chunks, slopes_of(plan, True), **more) < TOLERANCE


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_padded_batch_equals_each_sequence_alone(kind, side):
    plan, slopes = small_plan(compensation=kind), slopes_of(small_plan(), True)
    lengths, n, more = [12, 7, 1], 12, 9
    tokens = stream(plan, n + more, batch=3)
    real = torch.ones(3, n + more, dtype=torch.bool)
    for row, length in enumerate(lengths):
        real[row, slice(0, n - length) if side == "left" else slice(length, n)] = False
    cache = RazorCache(plan)
    found = decode(cache, tokens, [n, *[1] * more], slopes, real=real)
    expected = MaskedAttention(plan)(0, *tokens, scale=SCALE, slopes=slopes, real=real)
    assert (found - expected).abs().max() < TOLERANCE and not found.transpose(1, 2)[~real].any()
    assert cache.n_tokens() == n + more
    assert cache.nbytes() == sum(razor_bytes(plan, length + more, 4, 8) for length in lengths)
