"""Many ascents at once: limited-memory BFGS on independent rows, each with its own curvature and step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import torch
from torch import Tensor

SETTLED = 3  # idle steps before a row rests; all but the first of them along the gradient
MEMORY = 10  # pairs of moves and changes of the gradient
Objective = Callable[[Tensor], Tensor]
Pair = tuple[Tensor, Tensor, Tensor]  # move, change of the gradient, and 1 / their product: 0 where it is not usable


def ascend(objective: Objective, start: Tensor, steps: int = 300, tolerance: float = 1e-14) -> Tensor:
    """Rows (..., n) where the objective, a value (...) for each row alone, is locally largest; never below the start's.

    A row rests after three steps in turn that gain less than `tolerance` times 1 + |value|. Unlike torch.optim.LBFGS,
    which sees one variable, no row waits for another: its curvature and its step are its own.
    """
    point = start.detach().clone()
    value, slope = _evaluated(objective, point)
    pairs: deque[Pair] = deque(maxlen=MEMORY)
    idle = torch.zeros_like(value)
    for _ in range(steps):
        direction = _direction(slope, pairs)
        rise = (direction * slope).sum(-1, keepdim=True)
        plain = slope / (1.0 + slope.norm(dim=-1, keepdim=True))  # where nothing is known of the curvature
        direction = torch.where((rise > 0) & (idle == 0)[..., None] & bool(pairs), direction, plain)
        step = _step(objective, point, value, direction, slope, idle < SETTLED)
        new = point + step[..., None] * direction
        new_value, new_slope = _evaluated(objective, new)
        idle = torch.where(new_value - value > tolerance * (1.0 + value.abs()), 0, idle + 1)
        pairs.append(_pair(new - point, slope - new_slope))
        point, value, slope = new, new_value, new_slope
        if bool((idle >= SETTLED).all()):
            break
    return point


def _evaluated(objective: Objective, point: Tensor) -> tuple[Tensor, Tensor]:
    with torch.enable_grad():
        leaf = point.detach().requires_grad_(True)
        value = objective(leaf)
        (slope,) = torch.autograd.grad(value.sum(), leaf)
    return value.detach(), slope


def _pair(move: Tensor, change: Tensor) -> Pair:
    product = (move * change).sum(-1)
    usable = product > 1e-12 * move.norm(dim=-1) * change.norm(dim=-1)
    return move, change, torch.where(usable, 1.0 / torch.where(usable, product, 1.0), 0.0)


def _direction(slope: Tensor, pairs: deque[Pair]) -> Tensor:
    """The two-loop recursion (Nocedal and Wright, algorithm 7.4), row by row."""
    direction, factors = slope, []
    for move, change, inverse in reversed(pairs):
        factor = inverse * (move * direction).sum(-1)
        direction = direction - factor[..., None] * change
        factors.append(factor)
    scale = torch.ones_like(slope[..., 0])
    for _, change, inverse in pairs:  # the youngest usable pair decides
        usable = inverse > 0
        scale = torch.where(usable, 1.0 / (torch.where(usable, inverse, 1.0) * (change**2).sum(-1) + ~usable), scale)
    direction = direction * scale[..., None]
    for (move, change, inverse), factor in zip(pairs, reversed(factors), strict=True):
        back = inverse * (change * direction).sum(-1)
        direction = direction + (factor - back)[..., None] * move
    return direction


def _step(
    objective: Objective, point: Tensor, value: Tensor, direction: Tensor, slope: Tensor, active: Tensor
) -> Tensor:
    """The first of 1, 1/2, 1/4 ... that rises by 1e-4 of what the slope promises; 0 where none does or a row rests."""
    rise, step = (direction * slope).sum(-1), active.to(value.dtype)
    with torch.no_grad():
        for _ in range(30):
            enough = objective(point + step[..., None] * direction) >= value + 1e-4 * step * rise
            if bool((enough | ~active).all()):
                return step
            step = torch.where(enough, step, step / 2)
    return torch.where(enough, step, 0.0)
