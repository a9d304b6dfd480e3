"""Checks of the arguments of KVShiftAttention: a wrong argument raises ValueError with a message of one line."""

from __future__ import annotations

import math
from functools import partial
from numbers import Integral, Real

import torch
from torch import Tensor

from dynamics.model.cache import KVCache
from dynamics.model.positions import Layout
from dynamics.model.shift import MAX_WINDOW

SHIFTS = ("none", "k", "v", "kv", "qkv")
PARAMETERS = ("free", "gate", "clip")
POSITIONS = ("rope", "alibi", "none")
WEIGHTS = ("softmax", "plus_one", "sink", "gate", "differential", "selective")
STARTS = ("zero", "carried", "learnt")


def sizes(width: int, n_heads: int, n_kv_heads: int | None, head_dim: int | None) -> tuple[int, int]:
    """Check the four sizes and return (n_kv_heads, head_dim) with their defaults filled in."""
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    for name, size in (("width", width), ("n_heads", n_heads), ("n_kv_heads", n_kv_heads), ("head_dim", head_dim)):
        if size is not None:
            _whole(name, size)
    if n_heads % n_kv_heads:
        raise ValueError(f"n_heads must be a multiple of n_kv_heads, got {n_heads} and {n_kv_heads}")
    if head_dim is None and width % n_heads:
        raise ValueError(f"width must be a multiple of n_heads unless head_dim is given, got {width} and {n_heads}")
    return n_kv_heads, width // n_heads if head_dim is None else head_dim


def choices(
    window: int,
    shift: str,
    parameters: str,
    position: str,
    head_dim: int,
    rope_base: float,
    scale: float | None,
    sliding_window: int | None = None,
    weights: str = "softmax",
    causal: bool = True,
    start: str = "zero",
) -> None:
    """Check the named choices and the numbers."""
    if isinstance(window, bool) or not isinstance(window, Integral) or window not in range(1, MAX_WINDOW + 1):
        raise ValueError(f"window must be an integer in 1..{MAX_WINDOW}, got {window}")
    for name, choice, known in (
        ("shift", shift, SHIFTS),
        ("parameters", parameters, PARAMETERS),
        ("position", position, POSITIONS),
        ("weights", weights, WEIGHTS),
        ("start", start, STARTS),
    ):
        if choice not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {choice!r}")
    if parameters == "gate" and window != 2:
        raise ValueError(f"parameters 'gate' needs window 2, got {window}")
    if position == "rope" and head_dim % 2:
        raise ValueError(f"position 'rope' needs an even head_dim, got {head_dim}")
    for name, number in (("rope_base", rope_base), ("scale", scale)):
        if number is None:
            continue
        if isinstance(number, bool) or not isinstance(number, Real) or not (math.isfinite(number) and number > 0):
            raise ValueError(f"{name} must be positive and finite, got {number!r}")
    if sliding_window is not None:
        _whole("sliding_window", sliding_window)
        if not causal:
            raise ValueError("a sliding window needs causal attention: it is one of the tokens before")


def inputs(
    x: Tensor,
    width: int,
    query_index: Tensor | None,
    segment_ids: Tensor | None,
    padding: Tensor | None,
    cache: KVCache | None,
) -> None:
    """Check the arguments of a forward call."""
    if not isinstance(x, Tensor) or not x.is_floating_point():
        found = x.dtype if isinstance(x, Tensor) else type(x).__name__
        raise ValueError(f"x must be a tensor of real floats, got {found}")
    if x.ndim != 3 or x.shape[2] != width or not x.shape[1]:
        raise ValueError(f"x must be (batch, length >= 1, {width}), got shape {tuple(x.shape)}")
    batch, length = x.shape[:2]
    _integers("query_index", query_index, (batch,), 0, length - 1)
    _integers("segment_ids", segment_ids, (batch, length), None, None)
    _integers("padding", padding, (batch,), 0, length if cache is None else None)
    if cache is None:
        return
    if query_index is not None or segment_ids is not None:
        raise ValueError("a cache excludes query_index and segment_ids")
    if cache.length and padding is not None:
        raise ValueError(f"padding belongs to the first chunk, the cache already holds {cache.length} tokens")


def replacement(function: partial, where: Layout) -> None:
    """Check that partial(function, layer) can take the place of the attention here."""
    if where.runs is not None or where.padding is not None or where.reach is not None:
        raise ValueError("a replaced attention function takes neither segment_ids nor padding, and no sliding_window")
    if where.offset and not getattr(function.func, "stateful", False):
        raise ValueError(f"an attention function without memory cannot continue after {where.offset} tokens")
    seen = getattr(function.func, "n_tokens", None)
    if seen is not None and seen(*function.args) != where.offset:
        raise ValueError(
            f"the attention function has seen {seen(*function.args)} tokens, the cache of its layer {where.offset}"
        )


def _whole(name: str, size: object) -> None:
    if isinstance(size, bool) or not isinstance(size, Integral):
        raise ValueError(f"{name} must be an integer, got {size!r}")
    if size < 1:
        raise ValueError(f"{name} must be at least 1, got {size}")


def _integers(name: str, values: Tensor | None, shape: tuple[int, ...], low: int | None, high: int | None) -> None:
    if values is None:
        return
    if values.shape != shape or values.is_floating_point() or values.is_complex() or values.dtype == torch.bool:
        raise ValueError(f"{name} must be integers of shape {shape}, got {values.dtype} of shape {tuple(values.shape)}")
    # Values cannot be read while torch traces; there an index out of range fails in gather.
    if low is None or not values.numel() or torch.compiler.is_compiling():
        return
    if torch._C._are_functorch_transforms_active():
        return
    if values.min() < low or (high is not None and values.max() > high):
        bound = f"at least {low}" if high is None else f"in {low}..{high}"
        raise ValueError(f"{name} must be {bound}, got {values.tolist()}")
