"""The shift, forward and backward, against the printed unfold and pad + slice; its memory; a layer against SDPA."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.row import Comparison, Guard, Limit, Row, compare
from benchmarks.timing import Times, interleave, peak_in_fresh_process
from dynamics.model.attention import KVShiftAttention
from dynamics.model.listing_m import listing_convolution
from dynamics.model.shift import shift_mix

_SHAPE, _QUICK_SHAPE = (8, 2048, 16, 64), (2, 64, 4, 16)
Mix = Callable[[Tensor, Tensor], Tensor]


def measure(quick: bool) -> Row:
    shape = _QUICK_SHAPE if quick else _SHAPE
    mixes = MIXES if quick else MIXES | {"compiled": torch.compile(shift_mix)}
    tensors = _tensors(shape)
    variants = {name: both_ways(mix, *tensors) for name, mix in mixes.items()}
    times = interleave(variants | {"clone": tensors[0].detach().clone}, 3 if quick else 9)
    layer = layer_times(*((1, 64, 32, 4) if quick else (1, 2048, 1024, 16)), rounds=2 if quick else 7)
    return Row("shift", comparisons(times, quick), _limits(times, layer, quick), _guards(mixes, quick))


def comparisons(times: Times, quick: bool) -> list[Comparison]:
    found = [
        compare(times, "unfold", "Appendix M: unfold", 2.7, 3.6),
        compare(times, "padded", "pad + slice", 1.7),
    ]
    # torch.compile takes some ten seconds and a compiler of C++
    return found if quick else [*found, compare(times, "unfold", "unfold, ours compiled", 3.5, 4.7, "compiled")]


def _limits(times: Times, layer: Times, quick: bool) -> list[Limit]:
    limits = [
        Limit("a fresh clone of x", times.ratio("ours", "clone"), 7.5),
        Limit("plain SDPA, whole layer" + ("" if quick else " at length 2048"), layer.ratio("ours", "plain"), 1.05),
    ]
    return limits if quick else [*limits, Limit("x in peak extra memory", peak_units("ours"), 3.2)]


def _guards(mixes: dict[str, Mix], quick: bool) -> list[Guard]:
    guards = [Guard("relative error of y, dx, dw in float32", max(map(error, mixes.values())), 2e-6)]
    return guards if quick else [*guards, Guard("memory control: clone - 1 unit", abs(peak_units("clone") - 1), 0.1)]


def unfold(x: Tensor, weights: Tensor) -> Tensor:
    """Appendix M's convolution, whose first column is the oldest token's."""
    return listing_convolution(x, weights.flip(1))


def pad_and_slice(x: Tensor, weights: Tensor) -> Tensor:
    older = F.pad(x, (0, 0, 0, 0, 1, 0))[:, :-1]
    return x * weights[:, :1] + older * weights[:, 1:]


MIXES: dict[str, Mix] = {"ours": shift_mix, "unfold": unfold, "padded": pad_and_slice}


def _tensors(shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor, Tensor]:
    random = torch.Generator().manual_seed(0)
    x, grad = (torch.randn(shape, generator=random).to(dtype) for _ in range(2))
    weights = torch.rand((shape[2], 2), generator=random).to(dtype)
    return x.requires_grad_(), weights.requires_grad_(), grad


def both_ways(mix: Mix, x: Tensor, weights: Tensor, grad: Tensor) -> Callable[[], tuple[Tensor, ...]]:
    def run() -> tuple[Tensor, ...]:
        mixed = mix(x, weights)
        return mixed, *torch.autograd.grad(mixed, (x, weights), grad)

    return run


def error(mix: Mix) -> float:
    """Largest error of the output and both gradients, each relative to its largest entry, against float64 unfold."""
    shape = (2, 256, 4, 16)
    found, true = both_ways(mix, *_tensors(shape))(), both_ways(unfold, *_tensors(shape, torch.float64))()
    pairs = [(a.detach(), b.detach()) for a, b in zip(found, true, strict=True)]
    return max(float((a - b).abs().max() / b.abs().max()) for a, b in pairs)


def memory_probe(name: str) -> Callable[[], object]:
    """What `peak_units` measures in a process of its own, warmed up on a small input."""
    x, weights, grad = _tensors(_SHAPE)
    if name == "clone":
        return x.detach().clone
    both_ways(MIXES[name], *_tensors(_QUICK_SHAPE))()
    return both_ways(MIXES[name], x, weights, grad)


def peak_units(name: str) -> float:
    """Peak extra memory of one forward and backward pass over the size of x; the output and dx are two units of it."""
    return peak_in_fresh_process("benchmarks.shift", "memory_probe", name) / (4 * torch.Size(_SHAPE).numel())


class PlainAttention(nn.Module):
    """Causal attention of torch alone: three projections, scaled_dot_product_attention, one projection."""

    def __init__(self, width: int, n_heads: int):
        super().__init__()
        self.n_heads = n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        heads = [part(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in (self.q, self.k, self.v)]
        return self.o(F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2))


def layer_times(batch: int, length: int, width: int, n_heads: int, rounds: int) -> Times:
    """One layer, forward and backward, with the shift and without; no positions on either side."""
    layers = {"ours": KVShiftAttention(width, n_heads, position="none"), "plain": PlainAttention(width, n_heads)}
    x = torch.randn((batch, length, width), generator=torch.Generator().manual_seed(0))

    def run(layer: nn.Module) -> None:
        torch.autograd.grad(layer(x).sum(), list(layer.parameters()))

    return interleave({name: lambda layer=layer: run(layer) for name, layer in layers.items()}, rounds)
