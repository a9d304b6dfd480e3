"""Whole models: decoding with a cache, in a batch, after prompts of any length, gives what the whole sequence gives.

No reference knows the model; it is held to itself, read whole and without a cache, by log-probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from proofs_check.conform.case import Case, tolerance
from proofs_check.conform.check import Check, Given
from proofs_check.conform.reference import Array

AXES = ("row", "token", "entry")
STEPS = ("row", "step", "entry")
LEAST_EFFECT = 100  # tolerances by which the tokens before must change the last logits


def _log_softmax(found: object) -> object:
    if not isinstance(found, np.ndarray) or not found.ndim:
        return found
    with np.errstate(invalid="ignore"):  # what is no number stays none
        top = found.max(-1, keepdims=True)
        return found - top - np.log(np.exp(found - top).sum(-1, keepdims=True))


def _tokens(given: Given, *shape: int) -> NDArray[np.int64]:
    """Token 0 is left out: it is what pads often are."""
    return given.draw.integers(1, given.adapter.vocab, shape)


def _whole(given: Given, tokens: NDArray[np.int64]) -> Array:
    """Each row by itself. Raises NotImplementedError without `logits`, TypeError for what is not (1, length, vocab)."""
    if given.adapter.function("logits") is None:
        raise NotImplementedError("needs the function logits too, which reads a whole sequence")
    found = [_log_softmax(given.adapter.call("logits", row[None])) for row in tokens]
    for row in found:
        if not isinstance(row, np.ndarray) or row.ndim != 3 or row.shape[:2] != (1, tokens.shape[1]):
            raise TypeError(f"logits must be (1, {tokens.shape[1]}, vocab), got {getattr(row, 'shape', type(row))}")
    return np.concatenate(found)


def _causal(given: Given) -> Iterator[Case]:
    for length, at in ((2, 1), (6, 3)):
        tokens = _tokens(given, 1, length)
        other = tokens.copy()
        other[:, at:] = tokens[:, at:] % (given.adapter.vocab - 1) + 1
        expected = _whole(given, tokens)
        earlier = np.broadcast_to(np.arange(length)[:, None] < at, expected.shape)
        told = f"{length} tokens, those from {at} on exchanged"
        yield Case(told, lambda o=other: _log_softmax(given.call(o)), expected, AXES, earlier)


def _batch(given: Given) -> Iterator[Case]:
    for rows, length in ((2, 1), (3, 5)):
        tokens = _tokens(given, rows, length)
        yield Case(f"{rows} rows of {length} tokens", lambda t=tokens: _log_softmax(given.call(t)),
                   _whole(given, tokens), AXES)  # fmt: skip


def _decoded(given: Given, sizes: Sequence[tuple[Sequence[int], int]], **more: int) -> Iterator[Case]:
    """sizes: lengths of the prompts, and how many tokens follow each."""
    for lengths, steps in sizes:
        rows = [_tokens(given, n + steps) for n in lengths]
        _memory(given, rows)
        expected = np.stack([_whole(given, row[None])[0, n - 1 :] for row, n in zip(rows, lengths, strict=True)])
        prompts = [row[:n].tolist() for row, n in zip(rows, lengths, strict=True)]
        later = np.stack([row[n:] for row, n in zip(rows, lengths, strict=True)])
        told = f"prompts of {', '.join(map(str, lengths))} tokens, {steps} more one at a time"
        told += "".join(f", {name} {number}" for name, number in more.items())
        yield Case(told, lambda p=prompts, s=later: _log_softmax(given.call(p, s, **more)), expected, STEPS)


def _memory(given: Given, rows: Sequence[NDArray[np.int64]]) -> None:
    """Raises NotImplementedError where those before hardly change what comes after the last: nothing is tried."""
    row = max(rows, key=len)
    other = row % (given.adapter.vocab - 1) + 1
    other[-1] = row[-1]
    first, second = (_whole(given, x[None])[0, -1] for x in (row, other))
    if np.abs(first - second).max() < LEAST_EFFECT * tolerance(given.adapter.dtype, first):
        raise NotImplementedError(f"all but the last of {len(row)} tokens change nothing there: draw larger weights")


def _chunked(given: Given) -> Iterator[Case]:
    for chunk in (1, 2, 3):
        yield from _decoded(given, (((4,), 1), ((7,), 2)), chunk=chunk)


CHECKS = (
    Check("logits.causal", "what comes later changes no logits", _causal),
    Check("logits.batch", "each row of a batch is as if alone", _batch),
    Check(
        "decoded.steps",
        "token after token with a cache gives what the whole gives",
        lambda given: _decoded(given, (((1,), 1), ((2,), 3), ((5,), 8))),
    ),
    Check(
        "decoded.batch",
        "so do several rows at once",
        lambda given: _decoded(given, (((2, 2), 2), ((4, 4, 4), 3))),
    ),
    Check(
        "decoded.ragged",
        "so do prompts of different lengths in one batch, however they are padded",
        lambda given: _decoded(given, (((2, 1), 1), ((2, 3), 1), ((5, 2, 7), 4))),
    ),
    Check("decoded.chunks", "so does a prompt read in chunks", _chunked, ("chunk",)),
)
