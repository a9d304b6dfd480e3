"""A task of one's own: what its rows must be, and what a heading says of it."""

from typing import Any, Literal

import numpy as np
import pytest
from scipy.stats import chisquare

from dynamics.tasks.task import Batch, Task

GOOD: dict[str, Any] = {
    "tokens": np.array([[3, 4, 5, 0]]), "lengths": np.array([3]), "query_index": np.array([2]),
    "target": np.array([4]), "position": np.array([1]),
}  # fmt: skip


class Given(Task):
    """Hands out one batch."""

    name: Literal["given"] = "given"
    change: str = ""
    size: int = 2

    def draw(self, rng, rows, vocab, seed):
        """The batch with a part replaced."""
        return Batch(**GOOD | WRONG.get(self.change, {}))


WRONG: dict[str, dict[str, Any]] = {
    "flat": {"tokens": np.array([3, 4, 5])},
    "floats": {"tokens": np.array([[3.0, 4.0, 5.0]])},
    "shape": {"target": np.array([4, 4])},
    "scored": {"query_index": np.array([1])},
    "long": {"lengths": np.array([5]), "query_index": np.array([4])},
    "large": {"tokens": np.array([[3, 4, 9]])},
    "answer": {"target": np.array([9])},
    "negative": {"tokens": np.array([[3, -4, 5]])},
}


def well_formed(batch, rows):
    """The longest row fills the tokens, and each row is scored at its last one."""
    assert batch.tokens.dtype == np.int64
    assert batch.tokens.shape == (rows, batch.lengths.max())
    np.testing.assert_array_equal(batch.lengths, batch.query_index + 1)


def fits(counts, expected=None):
    """Counts of a fixed seed; a correct sampler fails at this level once in 10,000 seeds."""
    assert chisquare(counts, expected).pvalue > 1e-4


def test_a_good_batch_passes_and_settings_are_named_in_a_heading():
    Given().check(9)
    assert Given().words() == {"change": "change ", "size": "size 2"}


def test_a_task_that_draws_nothing_says_so():
    with pytest.raises(NotImplementedError, match="given draws no rows"):
        Task(name="given").check(9)
