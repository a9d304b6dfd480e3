"""Statements of KV shifting by draws and enumeration that share no code with the claims' evidence."""

import itertools

import numpy as np
import pytest

from proofs_check.kv.induction import depth_width


def one_mixture(length, match):
    """Output of the head over keys and values (x_s + 3 x_{s-1})/4, W_Q = 8 I, less the last token; one-hot tokens."""
    tokens = np.eye(length)[[*range(length), match]]
    mixed = tokens / 4 + 3 * np.vstack([np.zeros(length), tokens[:-1]]) / 4
    weights = np.exp(8 * mixed @ tokens[-1])
    return weights @ mixed / weights.sum() - tokens[-1]


def test_one_mixture_for_keys_and_values_names_the_successor_in_all_741_sentences():
    sentences = [(length, match) for length in range(2, 40) for match in range(length - 1)]
    assert len(sentences) == 741
    assert all(one_mixture(length, match).argmax() == match + 1 for length, match in sentences)


@pytest.mark.parametrize("sentences", [depth_width.FOUR, depth_width.FOUR_FOR_TWO])
def test_no_head_over_token_and_place_does_the_four_sentences(sentences):
    """Any contribution of a token at a place, here thousands of draws at three scales: never the four signs at once."""
    rng = np.random.default_rng(0)
    for scale in (0.1, 1.0, 10.0):
        shares = scale * rng.standard_normal((3000, 5, 6))
        sums = [shares[:, ["abcde".index(letter) for letter in word], range(len(word))].sum(1) for word in sentences]
        right = (sums[0] > 0) & (sums[1] < 0) & (sums[2] < 0) & (sums[3] > 0)
        assert not right.any()


def test_one_head_that_holds_the_token_before_does_them():
    """The state after an a speaks for its own token, c or d; all others are silent."""
    speaks = {"c": 1, "d": -1}
    for word, wanted in zip(depth_width.FOUR, (1, -1, -1, 1), strict=True):
        assert sum(speaks.get(own, 0) for before, own in itertools.pairwise(word) if before == "a") == wanted


def softmax(scores):
    return np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()


def test_any_number_of_positions_moves_no_more_than_the_chord_allows():
    rng = np.random.default_rng(5)
    for _ in range(2000):
        n = int(rng.integers(2, 30))
        u, v = (rng.normal(size=n) * 10.0 ** rng.uniform(-2, 1.5) for _ in range(2))
        assert abs(softmax(u) - softmax(v)).sum() <= 2 * np.tanh(np.ptp(u - v) / 4) + 1e-12
    for width in (0.1, 1.0, 10.0):  # two opposite positions reach it
        u = np.array([width, -width]) / 4
        assert abs(softmax(u) - softmax(-u)).sum() == pytest.approx(2 * np.tanh(width / 4))


def test_linear_storage_below_its_width_is_noisy():
    rng = np.random.default_rng(6)
    for number, width in ((6, 3), (8, 5), (12, 4)):
        store, read = rng.normal(size=(width, number)), rng.normal(size=(number, width))
        product = read @ store
        product /= np.diag(product)[:, None]
        assert (product**2).sum() / number - 1 >= number / width - 1
        basis = np.linalg.qr(rng.normal(size=(number, number)))[0][:width]
        assert ((basis.T @ basis) ** 2).sum() / number == pytest.approx(width / number)
