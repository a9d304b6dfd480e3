"""The shift: every head's mixture of a token's projection with those of the tokens just before it."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import forward_ad

MAX_WINDOW = 4
# Elements handled at a time in eager mode: one slab of the input, gradient and product stays in the L2 cache.
SLAB = 1 << 18


def shift_mix(x: Tensor, weights: Tensor, previous: Tensor | None = None, segment_ids: Tensor | None = None) -> Tensor:
    """Mix y[t] = sum_j weights[:, j] x[t - j], with x = 0 before the first token.

    Source: KV shifting attention, Eq. 5 and Appendix M (there column 0 multiplies the *oldest* token).
    Args:
        x: (batch, length, heads, head_dim), raw projections, not yet rotated.
        weights: (heads, window), window 1..4; column j multiplies the j-th previous token. Or (batch, heads, window),
            for each sequence its own, as in a stack of models.
        previous: (batch, any, heads, head_dim), raw tokens just before x (a cache); None or missing ones are zeros.
        segment_ids: (batch, length) document of each token; a document is a run of equal ids and nothing is mixed
            across its start.
    Returns: (batch, length, heads, head_dim), in the dtype of x.
    Raises: ValueError for shapes that do not agree, and for previous together with segment_ids.
    """
    _check(x, weights, previous, segment_ids)
    weights = weights.to(x.dtype)
    alone = previous is None and weights.shape[-1] > 1
    if alone and not torch.compiler.is_compiling() and not torch._C._are_functorch_transforms_active():
        if segment_ids is None and weights.ndim == 2:
            return _ShiftMix.apply(x, weights)
        if segment_ids is not None and x.device.type == "cpu" and forward_ad._current_level < 0:
            return _PackedMix.apply(x, weights, segment_ids)
    return _mix_by_padding(x, weights, previous, segment_ids)


def before_first(start: Tensor, weights: Tensor, ages: Tensor) -> Tensor:
    """start sum_{j > age} weights[:, j]: what a `shift_mix` gains if x = start, and not zero, before the first token.

    Args: start (heads, head_dim) and weights (heads, window), or (batch, ..) each; ages (batch or 1, length), how many
    tokens of its document stand before a token. Returns: (batch or 1, length, heads, head_dim), in start's dtype.
    """
    missing = ages[..., None] < torch.arange(1, weights.shape[-1], device=ages.device)
    shares = missing.to(start.dtype) @ weights[..., 1:].mT.to(start.dtype)
    return shares[..., None] * (start if start.ndim == 2 else start[:, None])


def per_row(parameter: Tensor, axes: int, batch: int) -> Tensor:
    """A parameter of `axes` axes as it is; one with a model axis before them once for each row of its model's batch."""
    return parameter if parameter.ndim == axes else parameter.repeat_interleave(batch // len(parameter), dim=0)


def shift_back(attention: Tensor, weights: Tensor) -> Tensor:
    """Move a shift from the values to the attention: b[s] = sum_j weights[.., j] a[s + j], with a = 0 after the end.

    Then sum_s b[s] v[s] = sum_t a[t] shift_mix(v)[t]: the adjoint of `shift_mix`.
    Args: attention (.., heads, length); weights (.., heads, window), broadcast. Returns: the shape of attention.
    """
    length, window = attention.shape[-1], weights.shape[-1]
    padded, weights = F.pad(attention, (0, window - 1)), weights.to(attention.dtype)
    return sum(padded[..., j : j + length] * weights[..., j : j + 1] for j in range(window))


def document_runs(segment_ids: Tensor, padding: Tensor | None = None) -> Tensor:
    """Number the documents of each row 0, 1, ...: a run of equal ids is one, and left pads are one of their own.

    Args: segment_ids (batch, length) integers; padding (batch,) left pads. Returns: (batch, length), int64.
    """
    starts = F.pad(segment_ids[:, 1:] != segment_ids[:, :-1], (1, 0))
    if padding is not None:
        starts = starts | (torch.arange(starts.shape[1], device=starts.device) == padding[:, None])
    return starts.cumsum(1)


def _check(x: Tensor, weights: Tensor, previous: Tensor | None, segment_ids: Tensor | None) -> None:
    if x.ndim != 4:
        raise ValueError(f"x must be (batch, length, heads, head_dim), got shape {tuple(x.shape)}")
    if weights.shape[:-1] not in ((x.shape[2],), (x.shape[0], x.shape[2])) or not 1 <= weights.shape[-1] <= MAX_WINDOW:
        raise ValueError(
            f"weights must be ({x.shape[2]}, window) with window in 1..{MAX_WINDOW}, got shape {tuple(weights.shape)}"
        )
    if previous is not None and segment_ids is not None:
        raise ValueError("previous and segment_ids exclude each other: a cached token has no document id")
    if previous is not None and (
        previous.ndim != 4 or previous.shape[0] != x.shape[0] or previous.shape[2:] != x.shape[2:]
    ):
        raise ValueError(f"previous must be x's shape {tuple(x.shape)} but for the length, got {tuple(previous.shape)}")
    if segment_ids is not None and segment_ids.shape != x.shape[:2]:
        raise ValueError(f"segment_ids must have shape {tuple(x.shape[:2])}, got {tuple(segment_ids.shape)}")


def _mix_by_padding(
    x: Tensor, weights: Tensor, previous: Tensor | None = None, segment_ids: Tensor | None = None
) -> Tensor:
    """The definition in differentiable operations: one padded copy, window slices of it."""
    length, back = x.shape[1], weights.shape[-1] - 1
    columns = (weights if weights.ndim == 2 else weights[:, None]).unsqueeze(-1).unbind(-2)
    kept = 0
    if previous is not None and back:
        kept = min(back, previous.shape[1])
        x = torch.cat([previous[:, previous.shape[1] - kept :].to(x.dtype), x], dim=1)
    padded = F.pad(x, (0, 0, 0, 0, back - kept, 0))
    mixed = padded[:, back:] * columns[0]
    runs = None if segment_ids is None else F.pad(document_runs(segment_ids), (back, 0), value=-1)
    for j in range(1, back + 1):
        older = padded[:, back - j : back - j + length]
        if runs is not None:
            same = runs[:, back - j : back - j + length] == runs[:, back:]
            older = older.masked_fill(~same[..., None, None], 0.0)
        mixed = torch.addcmul(mixed, older, columns[j])
    return mixed


class _ShiftMix(torch.autograd.Function):
    """shift_mix without a past, saving only x and the weights and touching memory one slab at a time."""

    @staticmethod
    def forward(ctx, x: Tensor, weights: Tensor) -> Tensor:
        ctx.save_for_backward(x, weights)
        ctx.save_for_forward(x, weights)
        flat, columns = x.detach().flatten(2), _columns(weights, x.shape[3])
        mixed = torch.empty_like(flat, memory_format=torch.contiguous_format)
        for rows, start, stop in _slabs(flat):
            torch.mul(flat[rows, start:stop], columns[0], out=mixed[rows, start:stop])
            for j in range(1, len(columns)):
                first = max(start, j)
                if first < stop:
                    mixed[rows, first:stop].addcmul_(flat[rows, first - j : stop - j], columns[j])
        return mixed.view(x.shape)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weights = ctx.saved_tensors
        # Gradient mode is on here only under create_graph, and a batched gradient comes from a vectorised Jacobian:
        # neither goes through writes into a plain buffer.
        if torch.is_grad_enabled() or torch._C._functorch.is_legacy_batchedtensor(grad):
            return _differentiable_gradients(grad, x, weights)
        return _gradients_by_slab(grad, x, weights, *ctx.needs_input_grad)

    @staticmethod
    def jvp(ctx, of_x: Tensor | None, of_weights: Tensor | None) -> Tensor:
        # The shift is linear in each of the two.
        x, weights = ctx.saved_tensors
        moved = [] if of_x is None else [_mix_by_padding(of_x, weights)]
        turned = [] if of_weights is None else [_mix_by_padding(x, of_weights)]
        return sum([*moved, *turned])


def _columns(weights: Tensor, head_dim: int) -> Tensor:
    """(window, heads * head_dim): each coefficient once a component, so that the inner loops run over whole tokens."""
    return weights.detach().T.repeat_interleave(head_dim, dim=1)


def _gradients_by_slab(
    grad: Tensor, x: Tensor, weights: Tensor, wants_x: bool, wants_weights: bool
) -> tuple[Tensor | None, Tensor | None]:
    """dx[t] = sum_j w_j g[t + j] and dw_j = sum_t,d g[t] x[t - j], the products summed while they are in cache."""
    flat, grad, columns = x.flatten(2), grad.flatten(2), _columns(weights, x.shape[3])
    length, wide = x.shape[1], torch.promote_types(x.dtype, torch.float32)
    grad_x = torch.empty_like(flat, memory_format=torch.contiguous_format) if wants_x else None
    sums = torch.zeros(columns.shape, dtype=wide, device=x.device)
    for rows, start, stop in _slabs(flat):
        for j in range(len(columns)):
            last, first = min(stop, length - j), max(start, j)
            if wants_x and j == 0:
                torch.mul(grad[rows, start:stop], columns[0], out=grad_x[rows, start:stop])
            elif wants_x and start < last:
                grad_x[rows, start:last].addcmul_(grad[rows, start + j : last + j], columns[j])
            if wants_weights and first < stop:
                sums[j] += (grad[rows, first:stop] * flat[rows, first - j : stop - j]).sum((0, 1), dtype=wide)
    grad_weights = sums.unflatten(1, (-1, x.shape[3])).sum(2).T.to(weights.dtype) if wants_weights else None
    return None if grad_x is None else grad_x.view(x.shape), grad_weights


def _differentiable_gradients(grad: Tensor, x: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    length = x.shape[1]
    grad_x, grad_weights = grad * weights[:, :1], [(grad * x).sum((0, 1, 3))]
    for j in range(1, weights.shape[1]):
        back = min(j, length)
        grad_x = grad_x + F.pad(grad[:, back:] * weights[:, j : j + 1], (0, 0, 0, 0, 0, back))
        grad_weights.append((grad[:, back:] * x[:, : length - back]).sum((0, 1, 3)))
    return grad_x, torch.stack(grad_weights, dim=1)


def _slabs(x: Tensor) -> Iterator[tuple[slice, int, int]]:
    """Cut (batch, length, token) into pieces of about SLAB elements; off the CPU launches cost more, so one piece."""
    batch, length = x.shape[:2]
    token = x.shape[2]
    size = SLAB if x.device.type == "cpu" else max(1, x.numel())
    rows = max(1, size // max(1, length * token))
    span = length if rows > 1 else max(1, size // max(1, token))
    for row in range(0, batch, rows):
        for start in range(0, length, span):
            yield slice(row, row + rows), start, min(length, start + span)


class _PackedMix(torch.autograd.Function):
    """`_mix_by_padding` of packed documents, to the same bits with half the passes over memory.

    Each product and each sum of the definition's own gradient stands here in its order; the first tokens of documents,
    few, are zeroed by their indices rather than by a mask over all.
    """

    @staticmethod
    def forward(ctx, x: Tensor, weights: Tensor, segment_ids: Tensor) -> Tensor:
        ctx.save_for_backward(x, weights, segment_ids)
        ctx.fresh = _fresh(segment_ids, weights.shape[-1])
        flat, columns = x.detach().flatten(2), _token_columns(weights, x.shape[3])
        mixed = torch.mul(flat, columns[0], out=flat.new_empty(flat.shape))
        for j, fresh in ctx.fresh:
            mixed.addcmul_(_older(flat, j, fresh), columns[j])
        return mixed.view(x.shape)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        x, weights, segment_ids = ctx.saved_tensors
        wants_x, wants_weights = ctx.needs_input_grad[:2]
        if torch.is_grad_enabled() or torch._C._functorch.is_legacy_batchedtensor(grad):
            wanted = [part for part, asked in ((x, wants_x), (weights, wants_weights)) if asked]
            with torch.enable_grad():
                mixed = _mix_by_padding(x, weights, None, segment_ids)
            found = iter(torch.autograd.grad(mixed, wanted, grad, create_graph=True))
            return next(found) if wants_x else None, next(found) if wants_weights else None, None
        return (
            _packed_gradient(grad, weights, ctx.fresh) if wants_x else None,
            _packed_sums(grad, x, weights, ctx.fresh) if wants_weights else None,
            None,
        )


def _packed_gradient(grad: Tensor, weights: Tensor, fresh: list[tuple[int, Tensor]]) -> Tensor:
    """dx[t] = sum_j w_j g[t + j] within documents, from the oldest token on."""
    flat, columns, length = grad.flatten(2), _token_columns(weights, grad.shape[3]), grad.shape[1]
    found = flat.new_zeros(flat.shape)
    for j, first in reversed(fresh):
        part = torch.mul(flat, columns[j], out=flat.new_empty(flat.shape))
        part.view(-1, part.shape[2]).index_fill_(0, first, 0.0)
        found[:, : max(0, length - j)] += part[:, j:]
    return (found.add_(flat * columns[0])).view(grad.shape)


def _packed_sums(grad: Tensor, x: Tensor, weights: Tensor, fresh: list[tuple[int, Tensor]]) -> Tensor:
    """dw_j = sum_t,d g[t] x[t - j] within documents, of each sequence where each has weights of its own."""
    flat, products = grad.flatten(2), [grad * x]
    products += [_older(x.flatten(2), j, first).mul_(flat).view(x.shape) for j, first in fresh]
    of_each = weights[:, 0] if weights.ndim == 2 else weights[:, None, :, 0]
    return torch.stack([part.sum_to_size(*of_each.shape, 1) for part in products], dim=-1).view(weights.shape)


def _token_columns(weights: Tensor, head_dim: int) -> list[Tensor]:
    """Column by column, each coefficient once a component: (tokens,), or (batch, 1, tokens)."""
    whole = weights.detach().repeat_interleave(head_dim, dim=-2)
    return [column.contiguous() for column in (whole if whole.ndim == 2 else whole[:, None]).unbind(-1)]


def _fresh(segment_ids: Tensor, window: int) -> list[tuple[int, Tensor]]:
    """For each j >= 1 of the window, which tokens, over all rows, have no token of their document j before.

    They are the j tokens from each start on: what stands behind a short document's end is as fresh in the next one.
    """
    starts = F.pad(segment_ids[:, 1:] != segment_ids[:, :-1], (1, 0), value=True).flatten().nonzero()[:, 0]
    found, total = [starts], segment_ids.numel()
    for j in range(1, window - 1):
        later = starts + j
        found.append(torch.cat([found[-1], later[later < total]]))
    return list(enumerate(found[: window - 1], start=1))


def _older(flat: Tensor, j: int, fresh: Tensor) -> Tensor:
    """The tokens j before, zero where there is none."""
    found = flat.new_empty(flat.shape)
    found[:, j:] = flat[:, : max(0, flat.shape[1] - j)]
    found.view(-1, flat.shape[2]).index_fill_(0, fresh, 0.0)
    return found
