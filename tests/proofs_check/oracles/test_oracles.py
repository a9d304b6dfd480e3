"""The brute-force oracles: each against a sentence worked by hand, then all against each other."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from flint import arb
from pytest import approx

from proofs_check.oracles import landscape
from theory.symbols import alpha1, alpha2, beta1, beta2

POINT = (Fraction(3, 4), Fraction(-5, 4), Fraction(7, 4), Fraction(-1, 2))
CASES = [(tokens, position) for tokens in (2, 3, 5) for position in range(1, tokens + 1)]


def test_sentence_repeats_the_token_at_its_position():
    assert landscape.sentence(4, 1) == [0, 1, 2, 3, 0]
    assert landscape.sentence(4, 3) == [0, 1, 2, 3, 2]


def test_logits_of_three_tokens_are_those_worked_by_hand():
    # Tokens 0 1 2 1: the query is 1. Scores: 0, alpha1 (it is 1), alpha2 (after 1), alpha1 (1 again; after 2).
    a1, a2, b1, b2 = 0.3, -0.7, 1.1, 0.4
    w = np.exp([0, a1, a2, a1])
    w /= w.sum()
    expected = [b1 * w[0] + b2 * w[1], b1 * (w[1] + w[3]) + b2 * w[2], b1 * w[2] + b2 * w[3]]
    assert landscape.one_hot_logits(a1, a2, b1, b2, 3, 2) == approx(expected, abs=1e-15)
    loss = math.log(sum(math.exp(value) for value in expected)) - expected[2]
    assert landscape.one_hot_loss(a1, a2, b1, b2, 3, 2) == approx(loss, abs=1e-15)


@pytest.mark.parametrize(("tokens", "position"), CASES)
def test_floats_symbols_and_balls_agree(tokens, position):
    floats = landscape.one_hot_logits(*map(float, POINT), tokens, position)
    point = dict(zip((alpha1, alpha2, beta1, beta2), map(sp.Rational, map(str, POINT)), strict=True))
    symbols = [float(row.subs(point)) for row in landscape.symbolic_one_hot_logits(tokens, position)]
    balls = landscape.ball_one_hot_logits(*POINT, tokens, position)
    assert len(symbols) == len(balls) == tokens
    assert symbols == approx(floats, abs=1e-14)
    assert [float(ball) for ball in balls] == approx(floats, abs=1e-14)
    loss = landscape.ball_one_hot_loss(*POINT, tokens, position)
    assert isinstance(loss, arb) and loss.rad() < 1e-12
    assert float(loss) == approx(landscape.one_hot_loss(*map(float, POINT), tokens, position), abs=1e-14)


def test_large_scores_do_not_overflow():
    assert np.isfinite(landscape.one_hot_logits(1e4, 1e4, 1.0, 1.0, 5, 2)).all()
