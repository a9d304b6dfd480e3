"""flash-linear-attention: token_shift, in Triton, which is interpreted where there is no GPU: one setting, untuned."""

import os

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ.setdefault("TRITON_INTERPRET", "1")
from fla.modules import token_shift as kernels  # noqa: E402
from fla.modules.token_shift import token_shift  # noqa: E402

BACKEND = "torch"
if DEVICE == "cpu":
    for kernel in vars(kernels).values():
        while kernel is not None:
            if hasattr(kernel, "configs"):
                kernel.configs = kernel.configs[:1]
            kernel = getattr(kernel, "fn", None)


def shift(x, weights, state=None, segments=None):
    """It gives x[t - 1] - x[t], and the last token as its state."""
    if len(weights) != 2:
        raise NotImplementedError("the token before, and no other")
    x = x.to(DEVICE)
    if segments is None:
        change, state = token_shift(x, cache=state, output_cache=True)
        return (weights[0] * x + weights[1] * (x + change)).cpu(), state
    rows = [token_shift(row[None], _bounds(of).to(DEVICE)) for row, of in zip(x, segments, strict=True)]
    return (weights[0] * x + weights[1] * (x + torch.cat(rows))).cpu(), None


def _bounds(segments):
    """Where documents begin, and the end."""
    starts = (segments.diff() != 0).nonzero()[:, 0] + 1
    return torch.cat([starts.new_zeros(1), starts, starts.new_tensor([len(segments)])])
