"""Range of mixed keys: attained when neighbours are free, never exceeded, the first tokens included."""

import math

import numpy as np
import pytest

from tests.theory.alibi.drawn_heads import normalised, random_head
from theory import alibi
from theory.alibi.shifted import shifted_range


@pytest.mark.parametrize("coefficients", [(1.0, 0.0), (0.3, 0.7), (-0.4, 1.3), (0.2, -0.5, 0.9)])
def test_range_of_mixed_keys_is_attained_by_chosen_neighbours(coefficients):
    head = random_head(np.random.default_rng(0), 6, 3, "rms", False)
    plain = {name: value for name, value in head.items() if value is not None}
    found = alibi.extremes(**plain)
    query = head["w_q"] @ found.query
    signs = np.sign(coefficients)
    high, low = (head["w_k"] @ key for key in (found.high, found.low))
    best = sum(c * (high if s > 0 else low) for c, s in zip(coefficients, signs, strict=True))
    worst = sum(c * (low if s > 0 else high) for c, s in zip(coefficients, signs, strict=True))
    spread = query @ (best - worst) / math.sqrt(3)
    assert spread == pytest.approx(shifted_range(alibi.logit_range(**plain), coefficients), rel=1e-10)


def test_no_context_exceeds_the_range_and_the_raw_range_is_exceeded():
    rng = np.random.default_rng(1)
    head, coefficients = random_head(rng, 3, 2, "rms", False), np.array([0.8, -0.6])
    raw = alibi.logit_range(**head)
    largest = 0.0
    for _ in range(400):
        states = normalised(rng.standard_normal((12, 3)), head)
        keys = states @ head["w_k"].T
        mixed = coefficients[0] * keys + coefficients[1] * np.concatenate([np.zeros((1, 2)), keys[:-1]])
        logits = states @ head["w_q"].T @ mixed.T / math.sqrt(2)
        largest = max(largest, float(np.ptp(logits, axis=1).max()))
    assert raw < largest <= shifted_range(raw, coefficients)


def test_rows_are_taken_one_by_one_and_zeros_leave_no_range():
    assert shifted_range(2.0, [[1.0, 0.0], [0.5, -0.5], [0.0, 0.0]]).tolist() == [2.0, 2.0, 0.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1.0, [1.0]), "raw must be a finite number >= 0"),
        ((1.0, [math.nan]), "coefficients must be finite"),
        ((1.0, 2.0), "shape \\(\\)"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        shifted_range(*arguments)
