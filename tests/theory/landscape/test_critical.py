"""The critical point, the saddle, the minimum on the box and the symbolic forms behind them."""

import math

import numpy as np
import pytest

from theory import landscape
from theory.landscape import critical_symbolic as symbolic
from theory.symbols import n_tokens

TOKENS = [4, 4.5, 7, 1000, 1e9]


@pytest.mark.parametrize("tokens", TOKENS)
def test_gradient_vanishes_at_the_critical_point(tokens):
    point = landscape.critical_point(tokens)
    assert np.abs(landscape.gradient(*point, tokens)).max() < 1e-14
    assert float(landscape.loss(*point, tokens)) == pytest.approx(math.log(tokens), rel=1e-14)


def test_symbolic_hessian_is_that_of_the_kernels():
    for tokens in (4, 9):
        exact = np.array(symbolic.critical_hessian().subs(n_tokens, tokens), dtype=float)
        numeric = landscape.hessian(*landscape.critical_point(tokens), tokens)
        assert np.abs(exact - numeric).max() < 1e-14


@pytest.mark.parametrize("tokens", TOKENS)
def test_box_minimum_is_the_loss_at_its_place(tokens):
    place = landscape.box_minimum(tokens)
    loss = landscape.loss(place.alpha1, 1 - place.alpha1, place.beta1, 1 - place.beta1, tokens)
    assert place.loss == pytest.approx(float(loss), rel=1e-14)
