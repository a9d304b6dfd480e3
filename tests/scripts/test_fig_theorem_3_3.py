"""The figure of Theorem 3.3: the counterexample of its first panel; the picture is compared as a whole."""

import pytest

from scripts.figures.heads import fig_theorem_3_3


def test_the_two_sentences_ask_for_0_and_1_and_get_one_answer():
    data = fig_theorem_3_3.compute(40)
    assert data.sentences.tolist() == [[1, 0, 0], [0, 1, 0]]
    assert data.wanted.tolist() == [0, 1] and data.given == pytest.approx([1 / 3, 1 / 3])
    assert data.forced == pytest.approx([1 / 3] * 3)
