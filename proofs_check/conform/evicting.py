"""Caches that forget: equal to full attention masked by what they say they keep, and RazorAttention by its own rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.case import Case
from proofs_check.conform.check import Check, Given
from proofs_check.conform.reference import Array, Yes

AXES = ("row", "head", "query", "channel")
KEPT = ("row", "group", "query", "key")
LAYERED = ("layer", *AXES)
WIDTH = 8
LENGTHS = ((8, *(1,) * 8), (20, *(1,) * 12))  # chunks: a prompt, and steps
CHUNKED = ((5, 3, *(1,) * 12), (6, 6, 6))


def _tokens(given: Given, heads: int, groups: int, length: int, *front: int) -> tuple[Array, Array, Array]:
    q = given.normal(*front, heads, length, WIDTH)
    return q, given.normal(*front, groups, length, WIDTH), given.normal(*front, groups, length, WIDTH)


def _run(given: Given, tokens: tuple[Array, Array, Array], chunks: Sequence[int]) -> tuple[Array, Yes]:
    """The outputs, and what was kept, (batch, groups, queries, keys)."""
    found = given.call(*tokens, list(chunks))
    if not isinstance(found, tuple) or len(found) != 2 or not all(isinstance(x, np.ndarray) for x in found):
        raise TypeError("evicting_attention returns (output, kept), two arrays")
    out, kept = found
    batch, groups, length, _ = tokens[1].shape
    if kept.dtype != bool or kept.shape != (batch, groups, length, length):
        raise TypeError(f"kept is True or False for {(batch, groups, length, length)}, got {kept.dtype} {kept.shape}")
    return out, kept


def _forgetting(kept: Yes) -> Yes:
    """What was kept, if anything was dropped. Raises NotImplementedError otherwise: then nothing was tried."""
    if (kept | ~np.tri(kept.shape[2], dtype=bool)).all():
        raise NotImplementedError(f"nothing was dropped of {kept.shape[2]} tokens: give the cache less room")
    return kept


def _output(given: Given, heads: int, groups: int, lengths: Sequence[Sequence[int]] = LENGTHS) -> Iterator[Case]:
    for chunks in lengths:
        tokens = _tokens(given, heads, groups, sum(chunks), 2)
        out, kept = _run(given, tokens, chunks)
        sees = np.repeat(_forgetting(kept), heads // groups, axis=1)
        told = f"batch 2, {heads} heads in {groups} groups, chunks of {', '.join(map(str, chunks))} tokens"
        yield Case(told, lambda out=out: out, reference.attention(*tokens, sees), AXES)


def _kept(given: Given, of: str) -> Iterator[Case]:
    for chunks in LENGTHS:
        tokens = _tokens(given, 2, 2, sum(chunks), 1)
        kept, index = _forgetting(_run(given, tokens, chunks)[1]), np.arange(sum(chunks))
        wrong = {
            "own": (index[:, None] == index) & ~kept,
            "causal": (index[:, None] < index) & kept,
            "return": np.concatenate([np.zeros_like(kept[:, :, :1]), kept[:, :, 1:] & ~kept[:, :, :-1]], 2)
            & (index[:, None] > index),
        }[of]
        told = f"2 heads, chunks of {', '.join(map(str, chunks))} tokens"
        yield Case(told, lambda wrong=wrong: wrong, np.zeros_like(wrong), KEPT)


def _razor(
    given: Given,
    whole: Sequence[Sequence[int]],
    groups: tuple[int, int] = (2, 2),
    chunks: Sequence[int] = (12,),
    distant: bool = False,
    **more: bool,
) -> Case:
    """whole: of each layer, the groups that see all; distant: the last query looks for a dropped key."""
    sinks, window, length, (heads, kv) = 1, 4, sum(chunks), groups
    keep = np.array([[group in some for group in range(kv)] for some in whole])
    q, k, v = _tokens(given, heads, kv, length, len(keep), 1)
    if distant:
        k[..., sinks, :] = given.adapter.rounded(12 * q[:, :, ::heads // kv, -1] / np.linalg.norm(
            q[:, :, ::heads // kv, -1], axis=-1, keepdims=True))  # fmt: skip
    compensated = more.get("compensation", False)
    expected = np.stack([reference.razor(*layer, sinks, window, compensated)
                         for layer in zip(q, k, v, keep, strict=True)])  # fmt: skip
    plain = np.stack([reference.razor(*layer, sinks, window, False) for layer in zip(q, k, v, keep, strict=True)])
    full = np.stack([reference.attention(*layer, reference.seen(length, length))
                     for layer in zip(q, k, v, strict=True)])  # fmt: skip
    told = (f"{len(keep)} layers, {heads} heads in {kv} groups, whole {[list(some) for some in whole]}, "
            f"{sinks} sinks, window {window}, chunks of {', '.join(map(str, chunks))}")  # fmt: skip
    return Case(told, lambda: given.call(q, k, v, keep, sinks, window, list(chunks), **more), expected, LAYERED,
                others={"those of full attention": full, "those without compensation": plain})  # fmt: skip


def _local(given: Given) -> Iterator[Case]:
    for length in (6, 12):
        yield _razor(given, [[]], chunks=(length,))


def _distant(given: Given) -> Iterator[Case]:
    for length in (6, 12):
        yield _razor(given, [[]], chunks=(length,), distant=True)


def _whole(given: Given) -> Iterator[Case]:
    yield _razor(given, [[1]], chunks=(6,))
    yield _razor(given, [[0]])


def _layers(given: Given) -> Iterator[Case]:
    yield _razor(given, [[0], [1]], chunks=(6,))
    yield _razor(given, [[], [1], [0, 1]])


def _grouped(given: Given, **more: bool) -> Iterator[Case]:
    yield _razor(given, [[1]], groups=(4, 2), chunks=(6,), **more)
    yield _razor(given, [[0], [1]], groups=(6, 2), **more)


def _chunks(given: Given, **more: bool) -> Iterator[Case]:
    for chunks in ((1,) * 7, (5, 1, 1, 1), (6, 6), (3, 4, 5)):
        yield _razor(given, [[1], [0]], chunks=chunks, **more)


def _token(given: Given) -> Iterator[Case]:
    for length in (7, 12):
        yield _razor(given, [[1]], chunks=(length,), compensation=True)


CHECKS = (
    Check(
        "evicting_attention.output",
        "outputs are those of full attention, masked by what the cache says that it keeps",
        lambda given: _output(given, 2, 2),
    ),
    Check("evicting_attention.grouped", "so they are with two heads to a group", lambda given: _output(given, 4, 2)),
    Check(
        "evicting_attention.chunks",
        "so they are where later tokens come in chunks",
        lambda given: _output(given, 2, 2, CHUNKED),
    ),
    Check("evicting_attention.own_token", "a query sees its own token", lambda given: _kept(given, "own")),
    Check("evicting_attention.causal", "nothing is kept before it comes", lambda given: _kept(given, "causal")),
    Check("evicting_attention.gone_for_good", "what was dropped does not return", lambda given: _kept(given, "return")),
    Check("razor_attention.local_heads", "a local head sees sinks and its window, no more", _local),
    Check("razor_attention.dropped_weigh_nothing", "a dropped key weighs nothing, however large its logit", _distant),
    Check("razor_attention.whole_heads", "a retrieval head sees all", _whole),
    Check("razor_attention.every_layer", "so it is in every layer, not in the first alone", _layers),
    Check("razor_attention.grouped", "a group is whole or not, and its heads with it", lambda given: _grouped(given)),
    Check("razor_attention.chunks", "chunks and steps give what the whole gives", lambda given: _chunks(given)),
    Check(
        "razor_attention.compensation",
        "N_d dropped tokens stand together as their mean, which counts N_d times",
        _token,
        ("compensation",),
    ),
    Check(
        "razor_attention.compensation_in_chunks",
        "so they do in chunks, steps and groups",
        lambda given: (case for cases in (_chunks, _grouped) for case in cases(given, compensation=True)),
        ("compensation",),
    ),
)
