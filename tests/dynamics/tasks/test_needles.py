"""Needles: each question has one answer in its window, earlier; the rest of the window is the text, untouched."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dynamics.tasks.needles import (
    ANSWER,
    FIRST_KEY,
    FIRST_VALUE,
    N_KEYS,
    NOISE,
    TEXT,
    VOCAB,
    retrieval_windows,
    text_windows,
    training_windows,
)

CORPUS = (np.arange(5000) * 7919 % 97 + 30).astype(np.uint8)


def looked_up(tokens, answer):
    """The value after the only earlier copy of the key before this answer."""
    (at,) = np.flatnonzero(tokens[: answer - 1] == tokens[answer - 1])
    return tokens[at + 1], answer - (at + 1)


def check(windows):
    """Every answer is found by looking up, and every other byte below 128 is text; returns the distances."""
    distances = []
    for tokens, kind in zip(windows.tokens, windows.kind, strict=True):
        for answer in np.flatnonzero(kind == ANSWER):
            value, distance = looked_up(tokens, answer)
            assert value == tokens[answer] >= FIRST_VALUE
            distances.append(distance)
        assert ((tokens < FIRST_KEY) == (kind == TEXT)).all()
        assert (kind == NOISE).sum() == 3 * (kind == ANSWER).sum() and tokens.max() < VOCAB
    return np.array(distances)


@given(st.integers(0, 2**32), st.integers(8, 80), st.sampled_from([4, 8, 16]))
def test_training_windows_can_be_answered_by_looking_up(seed, length, spacing):
    windows = training_windows(np.random.default_rng(seed), CORPUS, 4, length, 1.0, spacing)
    assert len(check(windows)) == 4 * min(max(length // spacing, 1), N_KEYS)


def test_retrieval_windows_ask_from_the_last_quarter_for_the_first_half():
    windows = retrieval_windows(np.random.default_rng(1), CORPUS, 50, 64, 4)
    distances = check(windows)
    assert len(distances) == 200 and distances.min() > 16
    assert (np.nonzero(windows.kind == ANSWER)[1] >= 48).all()


def test_text_windows_are_pieces_of_the_text():
    windows = text_windows(np.random.default_rng(0), CORPUS, 20, 30)
    text = CORPUS.tobytes()
    assert all(bytes(row.astype(np.uint8)) in text for row in windows.tokens) and not windows.kind.any()
    assert len({row.tobytes() for row in windows.tokens}) > 10


def test_share_of_rows_with_needles():
    windows = training_windows(np.random.default_rng(0), CORPUS, 400, 16, 0.25, 8)
    assert 70 <= (windows.kind == ANSWER).any(axis=1).sum() <= 130
