"""Whole models: decoding with a cache, in a batch, after prompts of any length, gives what the whole sequence gives.

No reference knows the model; it is held to itself, read whole and without a cache, by log-probabilities.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from proofs_check.conform.case import Case, tolerance
from proofs_check.conform.check import Check

AXES = ("row", "token", "entry")
STEPS = ("row", "step", "entry")
LEAST_EFFECT = 100.0  # tolerances by which the tokens before must change the last logits, where a cache holds them
# Tokens of a prompt, and those that follow one at a time: past 32, 64 and 128 tokens of both.
SIZES = ((1, 1), (2, 3), (5, 8), (30, 6), (66, 4), (9, 120), (150, 3))


def _read(given, name, *asked: Any, **more: Any):
    """Log-probabilities, of arrays."""
    found = given.adapter.call(name, *asked, **more)
    if not isinstance(found, np.ndarray) or not found.ndim:
        return found
    with np.errstate(invalid="ignore"):  # what is no number stays none
        return found - np.logaddexp.reduce(found, axis=-1, keepdims=True)


def _tokens(given, *shape: int):
    """Token 0 is left out: it is what pads often are."""
    return given.draw.integers(1, given.adapter.vocab, shape)


def _exchanged(given, tokens, where):
    """Another token in the place of each, where it is said."""
    return np.where(where, tokens % (given.adapter.vocab - 1) + 1, tokens)


def _whole(given, tokens):
    """Each row by itself. Raises NotImplementedError without `logits`, TypeError for what is not (1, length, vocab)."""
    if given.adapter.function("logits") is None:
        raise NotImplementedError("needs the function logits too, which reads a whole sequence")
    found = [_read(given, "logits", row[None]) for row in tokens]
    for row in found:
        if not isinstance(row, np.ndarray) or row.ndim != 3 or row.shape[:2] != (1, tokens.shape[1]):
            raise TypeError(f"logits must be (1, {tokens.shape[1]}, vocab), got {getattr(row, 'shape', type(row))}")
    return np.concatenate(found)


def _memory(given, least=1.0):
    """Raises NotImplementedError where those before change what comes after the last by less than so many tolerances:
    then nothing is tried."""
    row = _tokens(given, 1, 6)
    first, second = (_whole(given, x)[:, -1] for x in (row, _exchanged(given, row, np.arange(6) < 5)))
    if np.abs(first - second).max() < least * tolerance(given.adapter.dtype, first):
        raise NotImplementedError("all but the last of 6 tokens change nothing there: draw larger weights")


def _causal(given):
    _memory(given)
    for length, at in ((2, 1), (6, 3), (36, 32), (70, 64), (150, 128)):
        tokens = _tokens(given, 1, length)
        other = _exchanged(given, tokens, np.arange(length) >= at)
        for told, handed in (("exchanged", other), ("left out", tokens[:, :at])):
            got, expected = (lambda x=x, at=at: _whole(given, x)[:, :at] for x in (handed, tokens))
            told = f"{length} tokens, those from {at} on {told}"
            yield Case(told, got, expected, AXES, sizes={"tokens": length})


def _batch(given):
    _memory(given)
    for rows, length in ((2, 1), (3, 5), (9, 4), (17, 2), (5, 33), (2, 130)):
        tokens = _tokens(given, rows, length)
        got, expected = partial(_read, given, "logits", tokens), partial(_whole, given, tokens)
        sizes = {"rows": rows, "tokens": length}
        yield Case(f"{rows} rows of {length} tokens", got, expected, AXES, sizes=sizes)


def _decoded(asked):
    """asked: of "batch", "ragged" and "chunk"; of three rows and more all but the second begin alike."""

    def cases(given):
        _memory(given, LEAST_EFFECT)
        for prompt, steps in SIZES:
            rows = given.one_of((2, 3, 5))
            lengths = [prompt] * (rows if "batch" in asked else 1)
            if "ragged" in asked:
                others = given.draw.integers(1, given.one_of((2, prompt + 1)), rows - 1)
                lengths = given.draw.permutation([prompt + 1, *others]).tolist()
            tokens, same = _tokens(given, len(lengths), prompt + 1 + steps), given.one_of((prompt // 2, prompt))
            tokens[2:, :same] = tokens[0, :same]
            more = {"chunk": given.one_of((1, 2, 3, 16, 33, 64))} if "chunk" in asked else {}
            yield _case(given, [row[: n + steps] for row, n in zip(tokens, lengths, strict=True)], steps, more)

    return cases


def _case(given, texts, steps, more):
    prompts, later = [text[:-steps].tolist() for text in texts], np.stack([text[-steps:] for text in texts])
    sizes = {"rows": len(texts), "prompt": max(map(len, prompts)), "steps": steps} | more
    told = f"prompts of {', '.join(str(len(row)) for row in prompts)} tokens, {steps} more one at a time"
    return Case(
        told + "".join(f", {name} {number}" for name, number in more.items()),
        lambda: _read(given, "decoded", prompts, later, **more),
        lambda: np.concatenate([_whole(given, text[None])[:, -steps - 1 :] for text in texts]),
        STEPS, sizes=sizes,
    )  # fmt: skip


CHECKS = (
    Check("logits.causal", "what comes later changes no logits, nor that nothing does", _causal),
    Check("logits.batch", "each row of a batch is as if alone", _batch),
    *(
        Check(f"decoded.{name}", says, _decoded(asked), ("chunk",) * ("chunk" in asked))
        for name, says, *asked in (
            ("steps", "token after token with a cache gives what the whole gives"),
            ("batch", "so do several rows at once, which may begin alike", "batch"),
            ("ragged", "so do prompts of different lengths in one batch, however they are padded", "ragged"),
            ("chunks", "so does a prompt read in chunks", "chunk"),
            ("batch_chunks", "so do several prompts read in chunks", "batch", "chunk"),
            ("ragged_chunks", "so do prompts of different lengths read in chunks", "ragged", "chunk"),
        )
    ),
)
