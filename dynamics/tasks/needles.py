"""Windows of text with needles: pairs (key, value) of bytes that no text has, each asked for again later.

A planted pair overwrites two bytes of the text; its question is the key once more, after which the value is due. Keys
(128..143) are distinct within a window and values (144..159) are drawn freely, so only looking the key up in the
window answers, and guessing is right once in 16.
"""

from typing import NamedTuple

import numpy as np

N_KEYS = N_VALUES = 16
FIRST_KEY = 128
FIRST_VALUE = FIRST_KEY + N_KEYS
VOCAB = FIRST_VALUE + N_VALUES
TEXT, NOISE, ANSWER = 0, 1, 2  # what a byte is: predictable text, planted and unpredictable, the answer of a question


class Windows(NamedTuple):
    """tokens (rows, length + 1) int64, inputs and targets in one; kind (rows, length + 1): TEXT, NOISE or ANSWER."""

    tokens: np.ndarray
    kind: np.ndarray


def text_windows(rng: np.random.Generator, text: np.ndarray, rows: int, length: int) -> Windows:
    """Windows of length + 1 bytes from anywhere in a text. Raises ValueError for a text shorter than that."""
    if length < 1 or rows < 1 or len(text) <= length:
        raise ValueError(f"{rows} rows of {length} bytes do not fit a text of {len(text)} bytes")
    start = rng.integers(0, len(text) - length, rows)
    tokens = text[start[:, None] + np.arange(length + 1)].astype(np.int64)
    return Windows(tokens, np.full_like(tokens, TEXT))


def plant(rng: np.random.Generator, windows: Windows, row: int, needles: np.ndarray, questions: np.ndarray) -> None:
    """Put a pair at each of the places `needles` of a row, in place, and ask for it at the same entry of `questions`.

    A place is the index of the key; the value follows. Raises ValueError for more places than keys, or where they
    overlap, leave the window, or ask before the pair was planted.
    """
    places = np.concatenate([needles, questions])
    taken = np.sort(np.concatenate([places, places + 1]))
    if len(needles) != len(questions) or len(needles) > N_KEYS or (np.diff(taken) < 1).any():
        raise ValueError(f"{len(needles)} needles, {len(questions)} questions: need pairs, apart, {N_KEYS} at most")
    if taken[0] < 0 or taken[-1] >= windows.tokens.shape[1] or (needles >= questions).any():
        raise ValueError("needles and questions must lie in the window, each needle before its question")
    keys = FIRST_KEY + rng.choice(N_KEYS, len(needles), replace=False)
    values = FIRST_VALUE + rng.integers(0, N_VALUES, len(needles))
    for at in (needles, questions):
        windows.tokens[row, at], windows.tokens[row, at + 1] = keys, values
        windows.kind[row, at], windows.kind[row, at + 1] = NOISE, NOISE
    windows.kind[row, questions + 1] = ANSWER


def training_windows(
    rng: np.random.Generator, text: np.ndarray, rows: int, length: int, share: float, spacing: int
) -> Windows:
    """Windows of which a `share` carries a pair for each `spacing` bytes (one at least), their places anywhere."""
    windows, pairs = text_windows(rng, text, rows, length), min(max(length // spacing, 1), N_KEYS)
    for row in range(rows):
        if rng.random() < share:
            slots = 2 * rng.permutation(length // 2)[: 2 * pairs].reshape(2, pairs)
            plant(rng, windows, row, slots.min(axis=0), slots.max(axis=0))
    return windows


def retrieval_windows(rng: np.random.Generator, text: np.ndarray, rows: int, length: int, pairs: int) -> Windows:
    """Windows whose first half hides `pairs` pairs, all asked for in the last quarter: distances above length / 4.

    About a quarter of the distances are below length / 2: a window of half the context holds those pairs by design.
    """
    windows, quarter = text_windows(rng, text, rows, length), length // 8
    for row in range(rows):
        needles = 2 * rng.choice(2 * quarter, pairs, replace=False)
        questions = 2 * (3 * quarter + rng.choice(quarter, pairs, replace=False))
        plant(rng, windows, row, needles, questions)
    return windows
