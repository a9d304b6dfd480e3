"""KV-shift attention against its definition, chunks, packed and padded = alone, one row = row of all."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.model.cache import KVCache
from dynamics.model.config import ModelConfig
from dynamics.model.positions import Layout
from dynamics.model.shift import document_runs
from tests.dynamics.model import variants
from tests.dynamics.model.kv_cases import (
    TOLERANCE,
    attention,
    attentions,
    beam_gap,
    chunked_gap,
    filled,
    gap,
    lengths,
    packed_gap,
    padded_gap,
)
from tests.dynamics.model.kv_cases import tokens as random_tokens
from tests.dynamics.refusal import refused


@given(attentions(), st.integers(1, 4))
def test_attention_equals_its_equations_head_by_head(module, length):
    x, names = random_tokens(1, length), ("n_heads", "n_kv_heads", "position")
    same = {name: getattr(module, name) for name in names}
    config = ModelConfig(width=module.n_heads * module.head_dim, start=module.start_kind, **same)
    own = dict(module.named_parameters())
    own |= {name: getattr(module, f"{name}_mix")() for name in ("alpha", "beta", "gamma")}
    own, kept = {name: tensor.detach().numpy() for name, tensor in own.items()}, []
    out = variants.attention(config, 0, own, x[0].numpy(), np.zeros(length), kept, module.sliding_window)
    assert gap(module(x)[0], torch.from_numpy(out)) < TOLERANCE
    assert gap(module.weights(x)[0], torch.from_numpy(np.stack(kept[0][-1]))) < TOLERANCE


@given(attentions(), lengths(), st.lists(st.integers(0, 2), min_size=1, max_size=4), st.data())
def test_attention_in_chunks_documents_pads_and_beams_equals_each_row_alone(module, sizes, beams, data):
    real = data.draw(st.lists(st.integers(0, sum(sizes)), min_size=1, max_size=3).filter(any))
    assert chunked_gap(module, sizes) < TOLERANCE
    assert chunked_gap(module, [1] * sum(sizes)) < TOLERANCE
    assert padded_gap(module, real) < TOLERANCE
    assert padded_gap(module, [*real, 0], sizes) < TOLERANCE
    if module.start_kind != "carried":
        assert packed_gap(module, sizes, data.draw(st.integers(0, 3))) < TOLERANCE
    capacity = data.draw(st.sampled_from([None, sum(sizes) + 2]))
    with torch.set_grad_enabled(capacity is None):
        assert beam_gap(module, sizes, beams, KVCache(capacity)) < TOLERANCE


@given(attentions(), st.integers(1, 6), st.booleans(), st.booleans(), st.data())
def test_attention_at_query_index_is_that_row_of_the_whole(module, length, packed, padded, data):
    index = torch.tensor(data.draw(st.lists(st.integers(0, length - 1), min_size=2, max_size=2)), dtype=torch.int32)
    draw_row = st.lists(st.integers(0, 1), min_size=length, max_size=length)
    segment_ids = torch.tensor(data.draw(st.lists(draw_row, min_size=2, max_size=2))) if packed else None
    pads = st.lists(st.integers(0, length), min_size=2, max_size=2)
    extra = {"segment_ids": segment_ids, "padding": torch.tensor(data.draw(pads)) if padded else None}
    x, rows, index_long = random_tokens(2, length), torch.arange(2), index.long()
    assert gap(module(x, query_index=index, **extra)[:, 0], module(x, **extra)[rows, index_long]) < TOLERANCE
    weights = module.weights(x, query_index=index, **extra)[:, :, 0]
    assert gap(weights, module.weights(x, **extra)[rows, :, index_long]) < TOLERANCE


def test_attention_under_vmap_equals_a_loop_over_models():
    modules = [attention(seed, n_heads=4, n_kv_heads=2, shift="qkv") for seed in range(3)]
    parameters, _ = torch.func.stack_module_state(modules)
    x, ids, pads = random_tokens(2, 5), torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 2, 2]]), torch.tensor([0, 3])
    for extra in ({}, {"query_index": pads}, {"segment_ids": ids}, {"padding": pads}):
        def energy(weights, extra=extra):
            return torch.func.functional_call(modules[0], weights, (x,), extra).pow(2).sum()

        stacked = torch.func.vmap(torch.func.grad(energy))(parameters)
        for i, module in enumerate(modules):
            alone = torch.autograd.grad(module(x, **extra).pow(2).sum(), list(module.parameters()))
            names = [name for name, _ in module.named_parameters()]
            for name, gradient in zip(names, alone, strict=True):
                assert gap(stacked[name][i], gradient) < TOLERANCE * max(1.0, gradient.abs().max().item())


def test_attention_in_half_precision_stays_near_double_and_ignores_what_pads_hold():
    module, x, pads = attention(n_heads=4, n_kv_heads=2, position="alibi"), random_tokens(2, 6), torch.tensor([2, 0])
    expected = module(x, padding=pads)
    x[0, :2] = torch.nan
    out = module.bfloat16()(x.bfloat16(), padding=pads)
    assert out.dtype == torch.bfloat16 and gap(out.double(), expected) < 0.05 * expected.abs().max()


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    "choices",
    [
        {"shift": "qkv", "window": 3},
        {"shift": "qkv", "window": 3, "position": "none"},
        {"position": "alibi", "parameters": "gate"},
    ],
)
@pytest.mark.parametrize("query_index", [None, torch.tensor([2])], ids=["every token", "one row"])
def test_attention_gradients_are_right_backward_and_forward(choices, query_index):
    module, x = attention(n_kv_heads=1, **choices), random_tokens(1, 3).requires_grad_()
    names = [name for name, _ in module.named_parameters()]

    def out(x, *parameters):
        by_name = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(module, by_name, (x,), {"query_index": query_index})

    assert torch.autograd.gradcheck(out, (x, *module.parameters()), check_forward_ad=True, fast_mode=True)


def test_cache_refused_chunk_leaves_it_unchanged():
    cache, module = filled(capacity=4), attention()
    key, raw = cache.key.clone(), cache.previous("key").clone()
    with torch.no_grad():
        refused("do not fit", module, random_tokens(2, 2), cache=cache)
    assert len(cache) == 3 and torch.equal(cache.key, key) and torch.equal(cache.previous("key"), raw)


def test_positions_restart_at_each_document_and_after_pads():
    ids, padding = torch.tensor([[5, 5, 5, 1, 1, 5]]), torch.tensor([1])
    runs = document_runs(ids, padding)
    assert Layout(0, 6, ids.device, None, runs, padding).positions().tolist() == [[0, 0, 1, 0, 1, 0]]
    assert Layout(4, 2, ids.device, None, None, torch.tensor([3])).positions().tolist() == [[1, 2]]


@pytest.mark.gpu
def test_attention_on_the_gpu_equals_the_cpu():
    for position in ("rope", "alibi", "none"):
        module, x = attention(n_heads=4, n_kv_heads=2, shift="qkv", window=3, position=position), random_tokens(2, 9)
        expected = module(x)
        gradients = torch.autograd.grad(expected.pow(2).sum(), list(module.parameters()))
        module, x, cache = module.cuda(), x.cuda(), KVCache()
        out = module(x)
        assert gap(out.cpu(), expected) < TOLERANCE
        on_gpu = torch.autograd.grad(out.pow(2).sum(), list(module.parameters()))
        assert max(gap(a.cpu(), b) for a, b in zip(on_gpu, gradients, strict=True)) < TOLERANCE
        with torch.no_grad():
            assert gap(torch.cat([module(c, cache=cache) for c in x.split([4, 1, 4], dim=1)], dim=1), out) < TOLERANCE
        index = torch.tensor([8, 2], device="cuda")
        assert gap(module(x, query_index=index)[:, 0], out[torch.arange(2), index]) < TOLERANCE
