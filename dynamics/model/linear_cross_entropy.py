"""Logits, cross-entropy and accuracy in one differentiable step that keeps one matrix of the logits' size."""

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def linear_cross_entropy(hidden: Tensor, weight: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean over rows of -log softmax(hidden weight^T)[target], and the share of rows it ranks first.

    Args: hidden (rows, width); weight (vocab, width); target (rows,) integers in 0..vocab-1. A tie counts as ranked
        first. Returns: loss and accuracy, scalars; gradients reach hidden and weight, once. Under autocast too both
        are worked out in the type of the weights: logits in bfloat16 tie, and a tie counts as right.
    """
    with _exactly(weight):
        return _LinearCrossEntropy.apply(hidden.to(weight.dtype), weight, target)


def _exactly(weight: Tensor) -> torch.autocast:
    return torch.autocast(weight.device.type, enabled=False)


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden: Tensor, weight: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        logits, index = hidden @ weight.T, target[:, None]
        chosen, top = logits.gather(1, index), logits.amax(1, keepdim=True)
        logits.sub_(top).exp_()
        total = logits.sum(1, keepdim=True)
        ctx.save_for_backward(hidden, weight, index, logits, total)
        right = (chosen >= top).float().mean()
        ctx.mark_non_differentiable(right)
        return (total.log() + top - chosen).mean(), right

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor, _) -> tuple[Tensor, Tensor, None]:
        # In place, so that no second matrix of this size is made; a second backward is then refused by autograd.
        hidden, weight, index, exponentials, total = ctx.saved_tensors
        share = grad / len(hidden)
        slopes = exponentials.mul_(share / total)
        slopes.scatter_add_(1, index, (-share).expand(index.shape))
        with _exactly(weight):
            return slopes @ weight, slopes.T @ hidden, None
