"""The token shift y[t] = sum_j w_j x[t - j], whole = chunks = steps = packed = padded; keys shifted and rotated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.adapter import plain
from proofs_check.conform.case import Case
from proofs_check.conform.check import Check, Given
from proofs_check.conform.reference import Array

AXES = ("row", "token", "channel")
KEYS = ("row", "head", "token", "channel")
WEIGHTS = ([0.25, 0.75], [1.0, -0.5])  # exact in every dtype
WIDTH, BASE, PAD = 8, 100.0, 30.0
CUTS = ((1, 1), (2, 1), (1, 2), (3, 3), (2, 2, 2), (1, 3, 2), (4, 1, 1))  # lengths of chunks, the smallest first


def _text(weights: Sequence[float]) -> str:
    return "weights " + ", ".join(f"{w:g}" for w in weights)


def _output(given: Given, found: object) -> object:
    """Of a function with a state the first of two."""
    if not given.takes("state"):
        return found
    if not isinstance(found, tuple) or len(found) != 2:
        raise TypeError(f"a function with a parameter state returns (output, state), got a {type(found).__name__}")
    return found[0]


def _whole(given: Given, weights: Sequence[Sequence[float]] = WEIGHTS, rows: int = 1) -> Iterator[Case]:
    for length in (1, 2, 3, 6):
        for mixture in weights:
            x = given.normal(rows, length, WIDTH)
            told = f"batch {rows}, {length} tokens, {_text(mixture)}"
            yield Case(told, lambda x=x, w=mixture: _output(given, given.call(x, w)),
                       reference.shifted(x, mixture), AXES, others=_edge(x, mixture))  # fmt: skip


def _edge(x: Array, mixture: Sequence[float]) -> dict[str, Array]:
    """Edge padding: the first token stands before itself too."""
    padded = np.concatenate([np.repeat(x[:, :1], len(mixture), axis=1), x], axis=1)
    found = reference.shifted(padded, mixture)[:, len(mixture) :]
    return {"those with the first token in place of what is before it": found}


def _first(given: Given) -> Iterator[Case]:
    for mixture in WEIGHTS:
        for length in (1, 4):
            x = given.normal(1, length, WIDTH)
            yield Case(
                f"first of {length} tokens, {_text(mixture)}",
                lambda x=x, w=mixture: _head(_output(given, given.call(x, w))),
                mixture[0] * x[:, :1], AXES, others={n: o[:, :1] for n, o in _edge(x, mixture).items()},
            )  # fmt: skip


def _head(found: object) -> object:
    return found[:, :1] if isinstance(found, np.ndarray) and found.ndim == 3 else found


def _causal(given: Given) -> Iterator[Case]:
    for length, at in ((2, 1), (5, 3)):
        x = given.normal(1, length, WIDTH)
        late = np.broadcast_to(np.arange(length)[:, None] >= at, x.shape)
        other = np.where(late, given.normal(1, length, WIDTH), x)
        told = f"{length} tokens, those from {at} on exchanged"
        yield Case(told, lambda o=other: _output(given, given.call(o, WEIGHTS[0])),
                   reference.shifted(x, WEIGHTS[0]), AXES, ~late)  # fmt: skip


def _cut(given: Given, cuts: Sequence[Sequence[int]], weights: Sequence[float] = WEIGHTS[0]) -> Iterator[Case]:
    for cut in cuts:
        x = given.normal(2, sum(cut), WIDTH)
        told = f"batch 2, chunks of {', '.join(map(str, cut))} tokens, {_text(weights)}"
        alone = np.concatenate([reference.shifted(part, weights) for part in _parts(x, cut, 1)], 1)
        yield Case(told, lambda x=x, cut=cut: _in_chunks(given, x, cut, weights), reference.shifted(x, weights), AXES,
                   others={"those of chunks without a past": alone})  # fmt: skip


def _parts(x: Array, cut: Sequence[int], axis: int) -> list[Array]:
    return np.split(x, np.cumsum(cut)[:-1], axis=axis)


def _in_chunks(given: Given, x: Array, cut: Sequence[int], weights: Sequence[float]) -> object:
    """Through the function itself, whose state is handed on as it came."""
    function, state, found = given.adapter.function(given.subject), None, []
    for part in _parts(x, cut, 1):
        both = given.adapter.raw(function, part, weights, state=state)
        found.append(_output(given, both))
        state = both[1]
    return np.concatenate([plain(part) for part in found], axis=1)


def _packed(given: Given) -> Iterator[Case]:
    for rows in (((0, 1),), ((0, 0, 1, 1),), ((0, 0, 1, 1, 1), (0, 1, 1, 2, 2))):
        ids = np.array(rows)
        x = given.normal(len(ids), ids.shape[1], WIDTH)
        told = f"documents {' and '.join(''.join(map(str, row)) for row in rows)}"
        yield Case(told, lambda x=x, ids=ids: _output(given, given.call(x, WEIGHTS[0], segments=ids)),
                   reference.shifted(x, WEIGHTS[0], ids), AXES,
                   others={"those of one document": reference.shifted(x, WEIGHTS[0])})  # fmt: skip


def _padded(given: Given) -> Iterator[Case]:
    for pads, length in (((1, 0), 2), ((0, 2, 3), 5)):
        mask = np.arange(length) >= np.array(pads)[:, None]
        x = np.where(mask[..., None], given.normal(len(pads), length, WIDTH), PAD)
        told = f"{length} tokens, left pads {', '.join(map(str, pads))}"
        yield Case(told, lambda x=x, m=mask: _output(given, given.call(x, WEIGHTS[0], mask=m)),
                   reference.shifted(x, WEIGHTS[0], mask=mask), AXES,
                   np.broadcast_to(mask[..., None], x.shape))  # fmt: skip


def _keys(given: Given, cuts: Sequence[Sequence[int]]) -> Iterator[Case]:
    """Keys (batch, heads, length, d), with their positions."""
    for cut in cuts:
        for mixture in WEIGHTS:
            x, at = given.normal(1, 2, sum(cut), WIDTH), np.arange(sum(cut))[None]
            mixed = np.swapaxes(reference.shifted(np.swapaxes(x, 1, 2), mixture), 1, 2)
            pairs = given.adapter.pairs
            early = np.swapaxes(reference.rotated(x, at, BASE, pairs), 1, 2)
            others = {"those rotated before they are shifted": np.swapaxes(reference.shifted(early, mixture), 1, 2)}
            told = f"2 heads, chunks of {', '.join(map(str, cut))} keys, {_text(mixture)}"
            yield Case(told, lambda x=x, cut=cut, w=mixture: _keys_in_chunks(given, x, cut, w),
                       reference.rotated(mixed, at, BASE, pairs), KEYS, others=others)  # fmt: skip


def _keys_in_chunks(given: Given, x: Array, cut: Sequence[int], weights: Sequence[float]) -> object:
    function, state, found, start = given.adapter.function(given.subject), None, [], 0
    for part in _parts(x, cut, 2):
        at = np.arange(start, start + part.shape[2])[None]
        more = {"state": state} if given.takes("state") else {}
        both = given.adapter.raw(function, part, weights, at, BASE, **more)
        found.append(plain(_output(given, both)))
        state, start = both[1] if more else None, start + part.shape[2]
    return np.concatenate(found, axis=2)


def _linear(given: Given) -> Iterator[Case]:
    """Twice the weights make twice the keys: a norm of keys belongs before the shift, or the weights' size is lost."""
    for length in (1, 4):
        x, at = given.normal(1, 2, length, WIDTH), np.arange(length)[None]
        once = reference.rotated(np.swapaxes(reference.shifted(np.swapaxes(x, 1, 2), WEIGHTS[0]), 1, 2), at, BASE,
                                 given.adapter.pairs)  # fmt: skip
        doubled = [2 * w for w in WEIGHTS[0]]
        yield Case(f"{length} keys, {_text(doubled)}",
                   lambda x=x, at=at, w=doubled: _output(given, given.call(x, w, at, BASE)), 2 * once, KEYS,
                   others={f"those of {_text(WEIGHTS[0])}": once})  # fmt: skip


def _one_by_one(n: int) -> tuple[int, ...]:
    return (1,) * n


CHECKS = (
    Check("shift.whole", "y[t] = w_0 x[t] + w_1 x[t - 1]", _whole),
    Check("shift.first_token", "before the first token stands nothing: y[0] = w_0 x[0]", _first),
    Check("shift.causal", "what comes later changes nothing", _causal),
    Check("shift.batch", "each row of a batch is as if alone", lambda given: _whole(given, WEIGHTS[:1], rows=3)),
    Check(
        "shift.wider",
        "so it is with three weights",
        lambda given: _whole(given, ([0.25, 0.5, -1.0],)),
    ),
    Check("shift.chunks", "chunk after chunk gives what the whole gives", lambda given: _cut(given, CUTS), ("state",)),
    Check(
        "shift.steps",
        "token after token gives what the whole gives",
        lambda given: _cut(given, (_one_by_one(2), _one_by_one(5))),
        ("state",),
    ),
    Check(
        "shift.wider_steps",
        "so it is with three weights",
        lambda given: _cut(given, (_one_by_one(3), _one_by_one(5), (1, 2, 1)), [0.25, 0.5, -1.0]),
        ("state",),
    ),
    Check("shift.packed", "nothing is mixed across the start of a document", _packed, ("segments",)),
    Check("shift.left_padding", "no pad is mixed into a token", _padded, ("mask",)),
    Check(
        "shifted_keys.order",
        "a key is shifted first and then rotated",
        lambda given: _keys(given, ((1,), (2,), (5,))),
    ),
    Check("shifted_keys.linear", "twice the weights make twice the keys", _linear),
    Check(
        "shifted_keys.steps",
        "key after key gives what the whole gives: what is remembered is neither shifted nor rotated",
        lambda given: _keys(given, (_one_by_one(2), _one_by_one(3), _one_by_one(5))),
        ("state",),
    ),
    Check("shifted_keys.chunks", "so does chunk after chunk", lambda given: _keys(given, CUTS), ("state",)),
)
