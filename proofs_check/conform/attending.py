"""Causal attention, plain, with ALiBi or with learned sinks: one set of cases, three references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.case import Case
from proofs_check.conform.check import Cases, Check, Given
from proofs_check.conform.reference import Array, Yes

AXES = ("row", "head", "query", "channel")
PAD = 30.0  # keys and values of pads, large so that a leak is seen
WIDTH = 8  # channels of a head


def _case(
    given: Given,
    told: str,
    sizes: tuple[int, int, int, int, int],
    *,
    scale: float = 1.0,
    sinks: Array | None = None,
    **more: Any,
) -> Case:
    """sizes: batch, heads, groups, queries, keys; more: mask, segments or window, for the adapter and the reference."""
    batch, heads, groups, queries, keys = sizes
    q, k = given.normal(batch, heads, queries, WIDTH, size=scale), given.normal(batch, groups, keys, WIDTH, size=scale)
    v = given.normal(batch, groups, keys, WIDTH)
    mask: Yes | None = more.get("mask")
    real = None
    if mask is not None:
        k, v = (np.where(mask[:, None, :, None], x, PAD) for x in (k, v))
        real = np.broadcast_to(mask[:, None, keys - queries :, None], q.shape)
    arguments, added = [q, k, v], None
    if given.subject == "sink_attention":
        sinks = given.normal(heads, size=2.0) if sinks is None else sinks
        arguments.append(sinks)
    if given.subject == "alibi_attention":
        added = reference.bias(heads, queries, keys)
    seen = reference.seen(queries, keys, **more)
    expected = reference.attention(q, k, v, seen, added, sinks)
    others = {}
    if sinks is not None:
        others["those without sinks"] = reference.attention(q, k, v, seen, added)
    if 1 < groups < heads:
        apart = np.arange(heads) % groups  # a model trained from its first step with this order is none the worse
        others["those of head h in group h mod groups"] = reference.attention(
            q, k[:, apart], v[:, apart], seen, added, sinks
        )
    told = f"{told}batch {batch}, {heads} heads in {groups} groups, {queries} queries at the end of {keys} keys"
    return Case(told, lambda: given.call(*arguments, **more), expected, AXES, real, others=others)


def _sized(*sizes: tuple[int, int, int, int, int], scale: float = 1.0) -> Cases:
    def cases(given: Given) -> Iterator[Case]:
        for each in sizes:
            yield _case(given, "", each, scale=scale)

    return cases


def _causal(given: Given) -> Iterator[Case]:
    """What comes after a query is changed: its output must be that of before."""
    for keys, at in ((2, 1), (3, 1), (5, 2)):
        tokens = [given.normal(1, 2, keys, WIDTH) for _ in range(3)]
        late = np.arange(keys)[:, None] >= at
        other = [np.where(late, given.normal(1, 2, keys, WIDTH), x) for x in tokens]
        more = [given.normal(2)] if given.subject == "sink_attention" else []
        before = given.call(*tokens, *more)
        if not isinstance(before, np.ndarray) or before.shape != tokens[0].shape:
            raise TypeError(f"expected an array of shape {tokens[0].shape}, got {getattr(before, 'shape', before)}")
        told = f"{keys} tokens, those from {at} on exchanged"
        earlier = np.broadcast_to(~late, before.shape)
        yield Case(told, lambda a=(*other, *more): given.call(*a), before, AXES, earlier)


def _left_padded(given: Given) -> Iterator[Case]:
    for pads, queries in (((0, 1), 2), ((1, 0), 3), ((2, 0, 3), 5), ((3, 1), 1)):
        keys = max(queries, max(pads) + 1)
        mask = np.arange(keys) >= np.array(pads)[:, None]
        told = f"left pads {', '.join(map(str, pads))}, "
        yield _case(given, told, (len(pads), 2, 2, queries, keys), mask=mask)


def _right_padded(given: Given) -> Iterator[Case]:
    for pads, keys in (((0, 1), 2), ((1, 0), 3), ((2, 0, 3), 5)):
        mask = np.arange(keys) < keys - np.array(pads)[:, None]
        told = f"right pads {', '.join(map(str, pads))}, "
        yield _case(given, told, (len(pads), 2, 2, keys, keys), mask=mask)


def _packed(given: Given) -> Iterator[Case]:
    for rows in (((0, 1),), ((0, 0, 1),), ((0, 0, 1, 1, 1), (0, 1, 1, 2, 2))):
        ids = np.array(rows)
        told = f"documents {' and '.join(''.join(map(str, row)) for row in rows)}, "
        yield _case(given, told, (len(rows), 2, 2, ids.shape[1], ids.shape[1]), segments=ids)


def _windowed(given: Given) -> Iterator[Case]:
    for window, (queries, keys) in product((1, 2, 3), ((2, 2), (5, 5), (1, 5), (2, 6))):
        yield _case(given, f"window {window}, ", (1, 2, 2, queries, keys), window=window)


def _any_head_count(given: Given) -> Iterator[Case]:
    for heads in (3, 6, 12):
        yield _case(given, "", (1, heads, heads, 4, 4))


def _no_sink(given: Given) -> Iterator[Case]:
    for keys in (1, 3):
        yield _case(given, "sinks of -60, ", (1, 2, 2, keys, keys), sinks=np.full(2, -60.0))


def _large_sink(given: Given) -> Iterator[Case]:
    """e^120 is beyond single precision: the sink belongs in the maximum that is taken out."""
    for keys in (1, 3):
        yield _case(given, "sinks of 120, ", (1, 2, 2, keys, keys), sinks=np.full(2, 120.0))


def _shared() -> Iterable[tuple[str, str, Cases, tuple[str, ...]]]:
    """For every kind of attention: property, sentence, cases, parameters needed."""
    yield "whole", "every output is the sum over its softmax", _sized(
        (1, 1, 1, 1, 1), (1, 1, 1, 2, 2), (1, 2, 2, 3, 3), (1, 4, 4, 9, 9)
    ), ()
    yield "causal", "what comes later changes no output", _causal, ()
    yield "decode", "a single query after cached keys gets its row of the whole", _sized(
        (1, 1, 1, 1, 2), (1, 2, 2, 1, 3), (1, 4, 4, 1, 9)
    ), ()
    yield "chunks", "so do the queries of a chunk after cached keys", _sized(
        (1, 1, 1, 2, 3), (1, 2, 2, 3, 6), (1, 4, 4, 4, 9)
    ), ()
    yield "grouped", "head h reads group h // (heads / groups)", _sized(
        (1, 2, 1, 1, 1), (1, 4, 2, 3, 3), (1, 8, 2, 5, 5)
    ), ()
    yield "batch", "each row of a batch is as if alone", _sized((2, 1, 1, 2, 2), (3, 2, 2, 4, 4), (3, 4, 4, 5, 5)), ()
    yield "large_logits", "logits of a few hundred neither overflow nor vanish", _sized(
        (1, 1, 1, 2, 2), (1, 2, 2, 5, 5), scale=12.0
    ), ()
    yield "left_padding", "pads before a row are not seen", _left_padded, ("mask",)
    yield "right_padding", "pads after a row are not seen", _right_padded, ("mask",)
    yield "packed", "a document sees no other", _packed, ("segments",)
    yield "window", "of a window the last tokens are seen, the query's own among them", _windowed, ("window",)


CHECKS = (
    *(
        Check(f"{subject}.{name}", says, cases, needs)
        for subject in ("attention", "alibi_attention", "sink_attention")
        for name, says, cases, needs in _shared()
    ),
    Check("alibi_attention.any_head_count", "so it is for 3, 6 and 12 heads", _any_head_count),
    Check("sink_attention.no_sink", "with a sink of -60 nothing goes nowhere", _no_sink),
    Check("sink_attention.large_sink", "with a sink of 120 all goes nowhere, and nothing overflows", _large_sink),
)
