"""The shift against its definition written as loops, and its gradients."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.model import shift
from dynamics.model.shift import shift_back, shift_mix
from tests.dynamics.model.test_variants import close


def looped(x, weights, previous=None, segment_ids=None):
    """y[t] = sum_j weights[.., j] x[t - j], one scalar product at a time; weights may be each sequence's own."""
    weights = weights.expand(len(x), *weights.shape[-2:])
    past = 0 if previous is None else previous.shape[1]
    joined = x if previous is None else torch.cat([previous, x], dim=1)
    out = torch.zeros_like(x)
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            for j in range(min(weights.shape[2], past + t + 1)):
                if segment_ids is not None and len(set(segment_ids[b, t - j : t + 1].tolist())) > 1:
                    break
                out[b, t] += weights[b, :, j, None] * joined[b, past + t - j]
    return out


def draw_inputs(seed, length=5, heads=3, window=2, each=False):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(2, length, heads, 2, dtype=torch.float64, generator=generator)
    sizes = (2, heads, window) if each else (heads, window)
    return x, torch.randn(sizes, dtype=torch.float64, generator=generator)


@given(
    st.integers(0, 10_000),
    st.integers(1, 8),
    st.integers(1, 4),
    st.sampled_from([1, 5, 1 << 18]),
    st.booleans(),
    st.data(),
)
def test_shift_equals_its_definition(seed, length, window, slab, each, data):
    """Alone, after as many tokens as may be, and within documents."""
    x, weights = draw_inputs(seed, length=length, window=window, each=each)
    past = data.draw(st.integers(0, length - 1))
    documents = torch.tensor(data.draw(st.lists(st.lists(st.integers(0, 2), min_size=length, max_size=length),
                                                min_size=2, max_size=2)))  # fmt: skip
    for inputs in ((x, weights), (x[:, past:], weights, x[:, :past]), (x, weights, None, documents)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shift, "SLAB", slab)
            close(shift_mix(*inputs), looped(*inputs), 1e-14)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("slab", [1, 1 << 18])
@pytest.mark.parametrize(("length", "window"), [(1, 2), (2, 4), (5, 3)])
def test_shift_gradients_are_right_to_second_order(monkeypatch, length, window, slab):
    monkeypatch.setattr(shift, "SLAB", slab)
    x, weights = draw_inputs(0, length=length, heads=2, window=window)
    inputs = (x.requires_grad_(), weights.requires_grad_())
    assert torch.autograd.gradcheck(shift_mix, inputs, check_batched_grad=True, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(shift_mix, inputs)


@pytest.mark.parametrize("frozen", [0, 1])
def test_shift_gradient_of_one_argument_alone_is_that_of_both(frozen):
    inputs = draw_inputs(1)
    both = [tensor.clone().requires_grad_() for tensor in inputs]
    alone = [tensor.clone().requires_grad_(i != frozen) for i, tensor in enumerate(inputs)]
    (shift_mix(*both) ** 2).sum().backward()
    (shift_mix(*alone) ** 2).sum().backward()
    assert alone[frozen].grad is None
    assert torch.equal(alone[1 - frozen].grad, both[1 - frozen].grad)


def test_shift_of_transposed_storage_equals_its_definition():
    x, weights = draw_inputs(2, length=6)
    strided = x.transpose(1, 2).contiguous().transpose(1, 2).requires_grad_()
    mixed = shift_mix(strided, weights)
    close(mixed, looped(x, weights), 1e-14)
    grad = torch.randn_like(mixed).transpose(1, 2).contiguous().transpose(1, 2)
    mixed.backward(grad)
    plain = x.clone().requires_grad_()
    shift._mix_by_padding(plain, weights).backward(grad)
    close(strided.grad, plain.grad, 1e-14)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_shift_keeps_the_dtype_of_its_tokens(dtype):
    x, weights = draw_inputs(3)
    weights = weights.float().requires_grad_()
    mixed = shift_mix(x.to(dtype), weights)
    mixed.sum().backward()
    assert mixed.dtype == dtype and weights.grad.dtype == torch.float32


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, on importing its compiler
def test_shift_compiles_to_one_graph_with_the_same_gradients():
    compiled = torch.compile(shift_mix, backend="aot_eager", fullgraph=True)
    gradients = []
    for mix in (shift_mix, compiled):
        x, weights = (tensor.requires_grad_() for tensor in draw_inputs(8, length=6))
        (mix(x, weights) ** 2).sum().backward()
        gradients.append((x.grad, weights.grad))
    assert all(torch.allclose(a, b, rtol=0, atol=1e-12) for a, b in zip(*gradients, strict=True))


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("window", [1, 2, 4])
def test_shift_back_is_the_adjoint_of_the_shift(window, length):
    generator = torch.Generator().manual_seed(window)
    values, attention, weights = (
        torch.randn(shape, generator=generator, dtype=torch.float64)
        for shape in ((2, length, 3, 4), (2, 3, length), (3, window))
    )
    after = torch.einsum("bhl,blhd->bhd", attention, shift_mix(values, weights))
    before = torch.einsum("bhl,blhd->bhd", shift_back(attention, weights), values)
    torch.testing.assert_close(before, after, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("shape", [(3, 9, 4, 6), (2, 1, 2, 4), (2, 3, 5, 1)])
@pytest.mark.parametrize("each", [False, True])
def test_packed_documents_mix_to_the_bits_of_the_definition(shape, each):
    random = torch.Generator().manual_seed(0)
    segments = (torch.rand(shape[:2], generator=random) < 0.3).cumsum(1)
    x, grad = (torch.randn(shape, generator=random) for _ in range(2))
    for window in (2, 3, 4):
        weights = torch.randn((*(shape[:1] if each else ()), shape[2], window), generator=random).requires_grad_()
        results = []
        for mix in (shift_mix, shift._mix_by_padding):
            mixed = mix(x.requires_grad_(), weights, None, segments)
            results.append((mixed, *torch.autograd.grad(mixed, (x, weights), grad)))
        assert all(torch.equal(ours, plain) for ours, plain in zip(*results, strict=True))


def test_packed_documents_have_second_derivatives():
    random = torch.Generator().manual_seed(1)
    segments = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 1, 2]])
    x, weights = (torch.randn(size, generator=random).double().requires_grad_() for size in ((2, 5, 2, 1), (2, 3)))
    assert torch.autograd.gradgradcheck(lambda *both: shift_mix(*both, segment_ids=segments), (x, weights))
