"""KV-shift attention against loops, packed = alone, padded = unpadded, one row = row of all."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.model.cache import KVCache
from dynamics.model.forward import States, query_key_value
from dynamics.model.positions import Layout
from dynamics.model.shift import document_runs
from tests.dynamics.model.kv_cases import (
    TOLERANCE,
    attention,
    attentions,
    beam_gap,
    chunked_gap,
    future_gap,
    gap,
    lengths,
    packed_gap,
    padded_gap,
)
from tests.dynamics.model.kv_cases import tokens as random_tokens
from tests.dynamics.model.kv_loops import looped_heads


@given(attentions(), st.integers(1, 4))
def test_attention_equals_its_equations_in_loops(module, length):
    x = random_tokens(1, length)
    probabilities, out = looped_heads(module, x[0])
    assert gap(module(x)[0], out) < TOLERANCE
    assert gap(module.weights(x)[0], probabilities) < TOLERANCE


@pytest.mark.parametrize("position", ["rope", "alibi", "none"])
@pytest.mark.parametrize("shift", ["none", "k", "v", "kv", "qkv"])
@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_attention_of_every_combination_passes_every_check(window, shift, position):
    for n_heads, n_kv_heads in ((2, 2), (3, 1), (4, 2)):
        module = attention(n_heads=n_heads, n_kv_heads=n_kv_heads, head_dim=4, window=window, shift=shift,
                           position=position)
        x = random_tokens(1, 4)
        assert gap(module(x)[0], looped_heads(module, x[0])[1]) < TOLERANCE
        assert packed_gap(module, [3, 1, 4], pads=2) < TOLERANCE
        assert padded_gap(module, [5, 1, 0], [1, 3, 2]) < TOLERANCE
        assert chunked_gap(module, [3, 1, 1, 2]) < TOLERANCE
        assert beam_gap(module, [2, 1], [2, 2, 0, 1]) < TOLERANCE
        assert future_gap(module, 6, 2) < TOLERANCE


@given(attentions(), lengths(), st.integers(0, 3))
def test_attention_packed_equals_each_document_alone(module, sizes, pads):
    assert packed_gap(module, sizes, pads) < TOLERANCE


@given(attentions(), st.lists(st.integers(0, 6), min_size=1, max_size=3).filter(any))
def test_attention_left_padded_equals_each_row_alone(module, real):
    assert padded_gap(module, real) < TOLERANCE


@given(attentions(), st.integers(2, 7), st.data())
def test_attention_outputs_do_not_depend_on_later_tokens(module, length, data):
    assert future_gap(module, length, data.draw(st.integers(0, length - 2))) < TOLERANCE


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


@given(attentions(), st.integers(1, 6), st.booleans(), st.booleans(), st.data())
def test_attention_weights_times_values_are_the_output(module, length, packed, padded, data):
    ids = torch.tensor([data.draw(st.lists(st.integers(0, 1), min_size=length, max_size=length))])
    extra = {
        "segment_ids": ids if packed else None,
        "padding": torch.tensor([data.draw(st.integers(0, length))]) if padded else None,
    }
    x = random_tokens(1, length)
    weights, out = module.weights(x, **extra), module(x, **extra)
    runs = None if not packed else document_runs(ids, extra["padding"])
    where = Layout(0, length, x.device, None, runs, extra["padding"])
    value = query_key_value(module.heads, module.own(), States(x, x, x), where)[2]
    value = value.repeat_interleave(module.n_heads // module.n_kv_heads, dim=1)
    assert gap((weights @ value).transpose(1, 2).flatten(2) @ module.o_proj.weight.T, out) < TOLERANCE
    total = weights.sum(-1)
    assert torch.allclose(total[total != 0], torch.ones(()).double()) and bool((weights >= 0).all())


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


@pytest.mark.parametrize("position", ["rope", "alibi", "none"])
def test_attention_gradients_are_right(position):
    module = attention(n_heads=2, n_kv_heads=1, shift="qkv", window=3, position=position)
    x = random_tokens(1, 4).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, *_: module(x), (x, *module.parameters()))


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("choices", [{}, {"position": "alibi", "parameters": "gate"}, {"shift": "qkv", "window": 3}])
@pytest.mark.parametrize("query_index", [None, torch.tensor([2, 0])], ids=["every token", "one row"])
def test_attention_differentiates_forward_as_backward(choices, query_index):
    module, x = attention(**choices), random_tokens(2, 4).requires_grad_()
    names = [name for name, _ in module.named_parameters()]

    def out(x, *parameters):
        by_name = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(module, by_name, (x,), {"query_index": query_index})

    inputs = (x, *module.parameters())
    assert torch.autograd.gradcheck(out, inputs, check_forward_ad=True, check_batched_forward_grad=False)
    tangents = tuple(torch.randn_like(value) for value in inputs)
    _, forward = torch.func.jvp(out, tuple(value.detach() for value in inputs), tangents)
    weighted = torch.randn_like(forward)
    gradients = torch.autograd.grad((out(*inputs) * weighted).sum(), inputs)
    backward = sum((g * tangent).sum() for g, tangent in zip(gradients, tangents, strict=True))
    assert torch.allclose((forward * weighted).sum(), backward, rtol=1e-10)


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
