"""Statements of KV shifting by draws and enumeration that share no code with the claims' evidence."""


import numpy as np
import pytest

from proofs_check.kv.induction import depth_width


@pytest.mark.parametrize("sentences", [depth_width.FOUR, depth_width.FOUR_FOR_TWO])
def test_no_head_over_token_and_place_does_the_four_sentences(sentences):
    """Any contribution of a token at a place, here thousands of draws at three scales: never the four signs at once."""
    rng = np.random.default_rng(0)
    for scale in (0.1, 1.0, 10.0):
        shares = scale * rng.standard_normal((3000, 5, 6))
        sums = [shares[:, ["abcde".index(letter) for letter in word], range(len(word))].sum(1) for word in sentences]
        right = (sums[0] > 0) & (sums[1] < 0) & (sums[2] < 0) & (sums[3] > 0)
        assert not right.any()
