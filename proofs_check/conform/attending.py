"""Causal attention, plain, with ALiBi or with learned sinks: one set of cases, three references."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.case import UNIT, Case, deviation
from proofs_check.conform.check import LENGTHS, WIDTHS, Check, Given, checks, drawn
from proofs_check.conform.reference import Array

AXES = ("row", "head", "query", "channel")
PAD = 30.0  # keys and values of pads, large so that a leak is seen
LATE = 800.0  # logits of later tokens: beside them all others vanish, in double precision too
READINGS = {
    "groups": "the numbers of head h in group h mod groups",
    "window": "the numbers of a window of so many tokens before the query's own",
    "corner": "the numbers of a triangle that starts at the first key (upper left)",
}


# What may be asked for at once, and the parameter that it needs.
FEATURES = dict.fromkeys(("one", "some", "groups", "rows")) | {
    "left": "mask", "right": "mask", "documents": "segments", "window": "window",
}  # fmt: skip
APART = ({"one", "some", "right"}, {"left", "right"})  # with pads after it the last token is none


class Inputs(NamedTuple):
    """What one call is given: arrays, and mask, segments or window."""

    q: Array
    k: Array
    v: Array
    sinks: Array | None
    added: Array | None
    more: dict[str, Any]

    def expected(self, *read: str) -> Array:
        """The outputs, by the readings that are named."""
        (q, k, v, sinks, added, more), queries = self, self.q.shape[2]
        if "groups" in read:
            order = np.arange(q.shape[1]) % k.shape[1]
            k, v = k[:, order], v[:, order]
        if "window" in read and more.get("window") is not None:
            more = more | {"window": more["window"] + 1}
        sees = reference.seen(queries, k.shape[2], **more, first=0 if "corner" in read else None)
        return reference.attention(q, k, v, sees, added, sinks)

    def call(self, given: Given) -> object:
        return given.call(self.q, self.k, self.v, *([] if self.sinks is None else [self.sinks]), **self.more)


def _inputs(given, keys, *words: str, heads=2, groups=0, rows=1, width=8, scale=1.0, sinks=None, **more: Any):
    """words: what else is asked for, drawn: one query or some, pads left or right, documents, a window."""
    queries = 1 if "one" in words else given.between(2, max(2, keys - 1)) if "some" in words else keys
    q, k, v = (
        given.normal(rows, n, length, width, size=size)
        for n, length, size in ((heads, queries, scale), (groups or heads, keys, scale), (groups or heads, keys, 1.0))
    )
    if "left" in words or "right" in words:
        more["mask"] = given.padded(rows, keys)[:, :: 1 if "left" in words else -1].copy()
        k, v = (np.where(more["mask"][:, None, :, None], x, PAD) for x in (k, v))
    if "documents" in words:
        more["segments"] = given.documents(rows, keys)
    if "window" in words:
        more["window"] = given.between(1, keys + 1)
    if given.subject == "sink_attention" and sinks is None:
        sinks = given.normal(heads, size=2.0)
    added = reference.bias(heads, queries, keys) if given.subject == "alibi_attention" else None
    return Inputs(q, k, v, sinks, added, more)


def _case(given, keys, *words: str, read=(), **sizes: Any):
    """words and sizes: as for `_inputs`; read: the conventions that the adapter has been seen to have."""
    return _told(given, _inputs(given, keys, *words, **sizes), read)


def _told(given, x, read=()):
    read = (*given.adapter.conventions, *read)
    (rows, heads, queries, width), (groups, keys), mask = x.q.shape, x.k.shape[1:3], x.more.get("mask")
    sizes = {"rows": rows, "heads": heads, "groups": groups, "queries": queries, "keys": keys, "channels": width}
    told = [spelt(name, value) for name, value in x.more.items()]
    told.append(f"batch {rows}, {heads} heads of {width} in {groups} groups, {queries} queries at the end of {keys}")
    real = None if mask is None else np.broadcast_to(mask[:, None, keys - queries :, None], x.q.shape)
    return Case(
        f"{', '.join(told)} keys", lambda: x.call(given), lambda: x.expected(*read), AXES, real, sizes=sizes,
        mistakes=lambda: {"the numbers without sinks": x._replace(sinks=None).expected(*read)},
        conventions=lambda: {READINGS[name]: x.expected(*read, name) for name in READINGS if name not in read},
    )  # fmt: skip


def spelt(name: str, value: Any) -> str:
    """What is asked beside the tokens, in words: documents by their lengths, pads by their number."""
    if name == "window":
        return f"window {value}"
    if len(value) > 4:
        return {"mask": "pads", "segments": "documents"}[name] + " in each row"
    if name == "segments":
        lengths = (np.unique(row, return_counts=True)[1] for row in value)
        return f"documents of {' and '.join('+'.join(map(str, row)) for row in lengths)} tokens"
    side = "left" if value[:, -1].all() else "right"
    return f"{side} pads {', '.join(map(str, (~value).sum(1)))}"


def _counts(given, most):
    """Numbers of heads; with ALiBi those on whose slopes all agree."""
    return [n for n in range(1, most + 1) if given.subject != "alibi_attention" or n & (n - 1) == 0]


def _ladder(*words: str):
    """Lengths around the edges of tiles, widths and numbers of heads, one at a time, and some drawn together."""

    def cases(given):
        for keys in LENGTHS[len(words) :]:
            yield _case(given, keys, *words, heads=1 + (keys > 3))
        for width in WIDTHS:
            yield _case(given, 5, *words, width=width)
        for heads in _counts(given, 32):
            yield _case(given, 4, *words, heads=heads)
        for rows in (1, 2, 3, 4):
            heads, width = given.one_of(_counts(given, 32)), given.between(2, 128)
            yield _case(given, given.between(20, 160), *words, heads=heads, rows=rows, width=width)

    return cases


def _drawn(given, features, keys, wide):
    if any(len(apart & features) > 1 for apart in APART):
        return
    keys, few = max(keys, 2 + ("some" in features)), _counts(given, 8 if keys < 64 else 4)
    groups, share = given.one_of(few[:3]), given.one_of(few[1:]) if "groups" in features else 1
    yield _case(given, keys, *features, read=_read(given) if len(features) > 1 else (), heads=groups * share,
                groups=groups, rows=given.rows(1 if "one" in features else keys) if "rows" in features else 1,
                width=given.one_of(WIDTHS[:-2]) if wide else 8)  # fmt: skip


@lru_cache(8)
def _read(given):
    """The conventions of the adapter, each seen where nothing else could be."""
    found = []
    probes = {"groups": {"heads": 4, "groups": 2}, "window": {"window": 2}, "corner": {}}
    for name, asked in probes.items():
        if name != "window" or given.takes(name):
            with suppress(Exception):  # a check of its own tells what goes wrong there
                wrong = deviation(_case(given, 6, *["some"] * (name == "corner"), **asked), given.adapter.dtype)
                found += [name] if wrong and wrong.convention == READINGS[name] else []
    return tuple(found)


def _grouped(given):
    for heads in _counts(given, 32)[1:]:
        for groups in sorted({1, given.one_of([n for n in range(1, heads) if heads % n == 0])}):
            yield _case(given, given.between(2, 9), heads=heads, groups=groups)
    yield from drawn(_drawn, "groups")(given)
    yield _case(given, 140, heads=32, groups=8, width=128)


def _large_logits(given):
    """Logits up to 4 * 12^2 are off by what their own rounding is, and so are outputs where two are nearly alike."""
    slack = 2 * UNIT[given.adapter.dtype] * 4 * 12.0**2
    for keys, (name, needed) in product((3, 5), FEATURES.items()):
        if needed is None or given.takes(needed):
            yield _case(given, keys, name, read=_read(given), scale=12.0)._replace(slack=slack)


def _causal(given):
    """What comes later is exchanged; and by keys at which the last query before has its largest logits, by far."""
    for keys, at in ((2, 1), (3, 1), (5, 2), (40, 30)):
        x = _inputs(given, keys)
        for sign in (1, -1):
            yield _told(given, x._replace(v=np.concatenate([x.v[:, :, :at], sign * x.v[:, :, at:]], 2)))
        last = x.q[:, :, at - 1 : at]
        late = np.broadcast_to(np.arange(keys)[:, None] >= at, x.q.shape)
        far = given.adapter.rounded(LATE * np.sqrt(8) * last / (last**2).sum(-1, keepdims=True))
        case = _told(given, x._replace(k=np.where(late, far, x.k)))
        yield case._replace(told=f"{case.told}, logits of {LATE:g} at keys from {at} on", compared=~late)


def _any_head_count(given):
    for heads in (n for n in (*range(3, 32), 40, 71, 112) if n & (n - 1)):
        yield _case(given, 4, heads=heads)
        yield _case(given, 4, "one", heads=heads)
    for words in ((), ("one",)):
        yield _case(given, 40, *words, heads=12, groups=3)


def _extreme(sink):
    """e^120 is beyond single precision: the sink belongs in the maximum that is taken out."""

    def cases(given):
        for keys, word in ((1, "all"), (3, "all"), (3, "one"), (40, "all")):
            yield _case(given, keys, word, sinks=np.full(2, sink))

    return cases


def _checks(subject):
    """For every kind of attention."""
    for name, says, cases in (
        ("whole", "every output is the sum over its softmax", _ladder()),
        ("causal", "what comes later changes no output, however large it is", _causal),
        ("decode", "a single query after cached keys gets its row of the whole", _ladder("one")),
        ("chunks", "so do the queries of a chunk after cached keys", _ladder("some")),
        ("grouped", "head h reads group h // (heads / groups)", _grouped),
        ("large_logits", "logits of a few hundred neither overflow nor vanish", _large_logits),
    ):
        yield Check(f"{subject}.{name}", says, cases)
    yield from checks(
        subject, _drawn, FEATURES,
        ("batch", "each row of a batch is as if alone", "rows"),
        ("left_padding", "pads before a row are not seen", "left"),
        ("right_padding", "pads after a row are not seen", "right"),
        ("packed", "a document sees no other", "documents"),
        ("window", "of a window the last tokens are seen, the query's own among them", "window"),
    )  # fmt: skip


CHECKS = (
    *_checks("attention"),
    *_checks("alibi_attention"),
    Check("alibi_attention.any_head_count", "so it is for head counts that are not powers of two", _any_head_count),
    *_checks("sink_attention"),
    Check("sink_attention.no_sink", "with a sink of -60 nothing goes nowhere", _extreme(-60.0)),
    Check("sink_attention.large_sink", "with a sink of 120 all goes nowhere, and nothing overflows", _extreme(120.0)),
)
