"""The closed form of the one-repeat landscape against attention itself, and its own edges."""

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from proofs_check.evidence.tolerances import KERNEL
from tests.theory.cases import refuses
from theory import landscape
from theory.landscape import symbolic
from theory.symbols import PARAMETERS, n_tokens

PARAMETER = st.floats(-6, 6)


@pytest.mark.parametrize(
    ("tokens", "position", "message"),
    [
        (3.9, None, ">= 4, got 3.9"),
        (1, 1, ">= 2"),
        (5, 6, "whole number in 1..5"),
        (5, 0, "whole number in 1..5"),
        (5.5, 2, "whole number"),
        (5, 2.0, "position"),
    ],
)
@pytest.mark.parametrize("function", [landscape.loss, landscape.gradient, landscape.excess_loss, landscape.logits])
def test_bad_arguments_are_refused_in_one_line(function, tokens, position, message):
    refuses(lambda: function(0, 0, 0, 0, tokens, position), message)


@pytest.mark.parametrize("tokens", [2, 3, 5, 9])
@pytest.mark.parametrize("where", [1, 2, -1, 0, None, "mean"])
def test_hessian_is_the_derivative_of_the_gradient_at_every_position(tokens, where):
    if where is None and tokens < 4:
        tokens = 4
    place = where if where is None or where == "mean" or where > 0 else tokens + where
    rng = np.random.default_rng(0)
    for point in rng.normal(size=(10, 4)):
        steps = 1e-5 * np.eye(4)
        numeric = [
            (landscape.gradient(*(point + h), tokens, place) - landscape.gradient(*(point - h), tokens, place)) / 2e-5
            for h in steps
        ]
        hessian = landscape.hessian(*point, tokens, place)
        assert_allclose(hessian, numeric, rtol=0, atol=1e-8)
        assert_allclose(hessian, np.swapaxes(hessian, -1, -2), rtol=0, atol=1e-15)


HESSIAN = sp.hessian(symbolic.loss(symbolic.interior_table()), PARAMETERS)
EXACT_HESSIAN = sp.lambdify([*PARAMETERS, n_tokens], HESSIAN, "mpmath", cse=True)


@given(st.tuples(PARAMETER, PARAMETER, PARAMETER, PARAMETER), st.floats(4, 1e6))
def test_hessian_agrees_with_fifty_digits(point, tokens):
    hessian = landscape.hessian(*point, tokens)
    with mpmath.workdps(50):
        exact = np.array(EXACT_HESSIAN(*map(mpmath.mpf, (*point, tokens))).tolist(), dtype=float)
    # second derivatives reach the square of the betas
    assert_allclose(hessian, exact, rtol=0, atol=36 * KERNEL)
