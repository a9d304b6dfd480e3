"""The loss in torch is theory's, with its gradient and its second derivatives, and can be optimised."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.scalar.closed_form import landscape_loss
from tests.dynamics.refusal import refused, rows
from theory import landscape

NUMBERS = st.lists(st.floats(-20, 20), min_size=4, max_size=4)


def tensors(values):
    return [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in values]


@given(NUMBERS, st.sampled_from([2, 3, 4, 5, 9, 100]), st.data())
def test_values_and_gradients_are_those_of_theory(values, tokens, data):
    choices = [None, "mean", *range(1, min(tokens, 6) + 1), tokens - 1, tokens]
    position = data.draw(st.sampled_from(choices if tokens >= 4 else choices[1:]))
    inputs = tensors(values)
    found = landscape_loss(*inputs, tokens, position)
    assert found.item() == pytest.approx(landscape.loss(*values, tokens, position), rel=1e-12, abs=1e-12)
    gradients = [g.item() for g in torch.autograd.grad(found, inputs)]
    scale = 1e-10 * max(1.0, *map(abs, values))
    assert gradients == pytest.approx(landscape.gradient(*values, tokens, position), rel=1e-9, abs=scale)


def test_arguments_broadcast_and_keep_their_type():
    sizes, beta = torch.tensor([4, 30, 1000]), torch.linspace(0, 1, 5)[:, None]
    found = landscape_loss(0.0, 1.0, beta, 1 - beta, sizes)
    assert found.shape == (5, 3) and found.dtype == torch.float32
    expected = landscape.loss(0.0, 1.0, beta.double().numpy(), 1 - beta.double().numpy(), sizes.numpy())
    assert np.allclose(found.numpy(), expected, rtol=1e-6)
    assert landscape_loss(0.0, 1.0, 1.0, 0.0, 30).dtype == torch.float64
    whole_ones = landscape_loss(0.0, 1.0, torch.tensor([0, 1]), 0.0, 9.5)  # n_tokens stays 9.5
    assert np.allclose(whole_ones, landscape.loss(0.0, 1.0, [0, 1], 0.0, 9.5), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize(("tokens", "position"), [(4, None), (9.5, None), (7, "mean"), (6, 6), (2, 1)])
def test_it_is_differentiable_twice_and_forward(tokens, position):
    inputs = tensors((0.3, 0.8, -0.4, 1.2))
    assert torch.autograd.gradcheck(lambda *p: landscape_loss(*p, tokens, position), inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda *p: landscape_loss(*p, tokens, position), inputs)
    hessian = torch.func.hessian(lambda p: landscape_loss(*p, tokens, position))(torch.stack(inputs).detach())
    assert np.allclose(hessian, landscape.hessian(0.3, 0.8, -0.4, 1.2, tokens, position), atol=1e-12)


@pytest.mark.gpu
def test_it_runs_where_its_parameters_are():
    inputs = [value.detach().cuda() for value in tensors((0.3, 0.8, -0.4, 1.2))]
    found = landscape_loss(*inputs, [4, 30])
    assert found.is_cuda and np.allclose(found.cpu(), landscape.loss(0.3, 0.8, -0.4, 1.2, [4, 30]), rtol=1e-12)


REFUSED = {
    "n_tokens must be a finite number >= 4, got 3.9": (3.9,),
    "n_tokens must be finite numbers >= 4 only, got 3.0": (torch.tensor([4.0, 3.0]),),
    "n_tokens must be a finite number >= 4": [(float("nan"),), (float("inf"),)],
    "n_tokens must be a number": [(True,), (torch.tensor(True),), ("9",)],
    "n_tokens": [(1, "mean"), (6.5, "mean")],
    "position": [(6, 7), (6, "middle")],
}


@pytest.mark.parametrize(("words", "given"), rows(REFUSED))
def test_other_arguments_are_refused_in_one_line(words, given):
    refused(words, landscape_loss, 0.0, 1.0, 1.0, 0.0, *given)
