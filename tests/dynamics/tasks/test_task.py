"""A task of one's own: what its rows must be, and what a heading says of it."""

from typing import Any, Literal

import numpy as np
import pytest

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
WORDS = {
    "flat": r"given: tokens must be int64 \(rows, length\), got int64 \(3,\)",
    "floats": r"given: tokens must be int64 \(rows, length\), got float64 \(1, 3\)",
    "shape": r"given: target must be \(rows,\), got \(2,\) for one row",
    "scored": "given: a row of 3 tokens is scored at index 1",
    "long": "given: a row of 5 tokens is scored at index 4",
    "large": r"given: tokens must be in 0\.\.8, got 9",
    "answer": r"given: tokens must be in 0\.\.8, got 9",
    "negative": r"given: tokens must be in 0\.\.8, got -4",
}


def test_a_good_batch_passes_and_settings_are_named_in_a_heading():
    Given().check(9)
    assert Given().words() == {"change": "change ", "size": "size 2"}
    assert WORDS.keys() == WRONG.keys()


@pytest.mark.parametrize("change", WRONG)
def test_rows_that_are_no_batch_are_refused(change):
    with pytest.raises(ValueError, match=WORDS[change]):
        Given(change=change).check(9)


def test_a_task_that_draws_nothing_says_so():
    with pytest.raises(NotImplementedError, match="given draws no rows"):
        Task(name="given").check(9)
