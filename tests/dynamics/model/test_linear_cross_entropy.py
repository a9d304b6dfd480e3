import pytest
import torch
from torch.nn import functional as F

from dynamics.model.linear_cross_entropy import linear_cross_entropy


def _problem(scale=1.0):
    generator = torch.Generator().manual_seed(0)
    hidden = (scale * torch.randn(5, 3, generator=generator, dtype=torch.float64)).requires_grad_()
    weight = torch.randn(7, 3, generator=generator, dtype=torch.float64).requires_grad_()
    return hidden, weight, torch.randint(7, (5,), generator=generator)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_linear_cross_entropy_and_its_gradients_are_those_of_torch(scale):
    hidden, weight, target = _problem(scale=scale)
    loss, accuracy = linear_cross_entropy(hidden, weight, target)
    logits = hidden @ weight.T
    expected = F.cross_entropy(logits, target)
    torch.testing.assert_close(loss, expected, rtol=1e-13, atol=1e-13)
    assert accuracy == (logits.argmax(1) == target).float().mean()
    gradients = (torch.autograd.grad(3 * value, (hidden, weight)) for value in (loss, expected))
    for found, true in zip(*gradients, strict=True):
        torch.testing.assert_close(found, true, rtol=1e-12, atol=1e-13)


def test_a_second_backward_is_refused_not_wrong():
    hidden, weight, target = _problem()
    loss, _ = linear_cross_entropy(hidden, weight, target)
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="inplace operation"):
        loss.backward()


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_under_autocast_logits_are_not_rounded(device):
    """In bfloat16 logits tie, and on a GPU a sum has another type than they: the backward pass failed."""
    hidden, weight, target = (part.detach().float().to(device) if part.is_floating_point() else part.to(device)
                              for part in _problem())  # fmt: skip
    hidden.requires_grad_(), weight.requires_grad_()
    expected = F.cross_entropy(hidden @ weight.T, target)
    with torch.autocast(device, torch.bfloat16):
        loss, _ = linear_cross_entropy(hidden, weight, target)
        found = torch.autograd.grad(loss, (hidden, weight))
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(found, torch.autograd.grad(expected, (hidden, weight)))
