"""The closed form of the one-repeat landscape against attention itself, and its own edges."""

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from proofs_check.evidence.tolerances import KERNEL, ROUNDING
from proofs_check.oracles.landscape import one_hot_logits, one_hot_loss, symbolic_one_hot_logits
from theory import landscape
from theory.landscape import kernels, symbolic
from theory.symbols import PARAMETERS, n_tokens

PLACES = [(tokens, place) for tokens in range(2, 13) for place in range(1, tokens + 1)]
PARAMETER = st.floats(-6, 6)


@pytest.mark.parametrize(("tokens", "place"), PLACES)
def test_loss_and_logits_equal_attention_over_one_hot_rows(tokens, place):
    rng = np.random.default_rng(1000 * tokens + place)
    points = rng.normal(scale=2, size=(200, 4))
    rows = landscape.logits(*points.T, tokens, place)
    losses = landscape.loss(*points.T, tokens, place)
    for point, row, loss in zip(points, rows, losses, strict=True):
        np.testing.assert_allclose(row, one_hot_logits(*point, tokens, place), rtol=0, atol=ROUNDING)
        assert abs(loss - one_hot_loss(*point, tokens, place)) <= ROUNDING


@pytest.mark.parametrize(("tokens", "place"), [p for p in PLACES if p[0] <= 7])
def test_logits_equal_attention_symbolically(tokens, place):
    for mine, true in zip(symbolic.logits(tokens, place), symbolic_one_hot_logits(tokens, place), strict=True):
        assert sp.simplify(mine - true) == 0


@pytest.mark.parametrize("tokens", range(2, 9))
def test_mean_is_the_average_over_the_generators_positions(tokens):
    point = (0.3, -0.4, 1.2, 0.7)
    places = range(1, tokens)
    for function in (landscape.loss, landscape.gradient, landscape.excess_loss):
        average = np.mean([function(*point, tokens, place) for place in places], axis=0)
        np.testing.assert_allclose(function(*point, tokens, "mean"), average, rtol=0, atol=1e-14)


def _fifty_digits(expr, digits=50):
    function = sp.lambdify([*PARAMETERS, n_tokens], expr, "mpmath", cse=True)

    def evaluate(*point):
        with mpmath.workdps(digits):
            return function(*map(mpmath.mpf, point))

    return evaluate


LOSS = symbolic.loss(symbolic.interior_table())
EXACT_LOSS = _fifty_digits(LOSS)
EXACT_EXCESS = _fifty_digits(LOSS - sp.log(n_tokens))
EXACT_GRADIENT = [_fifty_digits(sp.diff(LOSS, p)) for p in PARAMETERS]


@given(st.tuples(PARAMETER, PARAMETER, PARAMETER, PARAMETER), st.floats(4, 1e6))
def test_kernels_agree_with_fifty_digits(point, tokens):
    assert abs(landscape.loss(*point, tokens) - EXACT_LOSS(*point, tokens)) <= KERNEL * max(1, np.log(tokens))
    gradient = landscape.gradient(*point, tokens)
    for value, exact in zip(gradient, EXACT_GRADIENT, strict=True):
        # the terms of one component reach the size of the betas; their sum may cancel
        assert abs(value - exact(*point, tokens)) <= 8 * KERNEL


@pytest.mark.parametrize("tokens", [10.0**k for k in range(6, 13)])
def test_excess_loss_keeps_its_digits_where_the_subtraction_loses_them(tokens):
    rng = np.random.default_rng(int(np.log10(tokens)))
    worst = 0.0
    for point in rng.uniform(size=(300, 4)):
        exact = EXACT_EXCESS(*point, tokens)
        worst = max(worst, float(abs(landscape.excess_loss(*point, tokens) - exact) / abs(exact)))
    assert worst <= 1e-15
    point = (0.0, 1.0, 1.0, 0.0)
    naive = float(landscape.loss(*point, tokens)) - np.log(tokens)
    assert abs(naive - float(EXACT_EXCESS(*point, tokens))) > 1e-10 * abs(float(EXACT_EXCESS(*point, tokens)))


def test_arguments_broadcast():
    alpha = np.linspace(0, 1, 3)[:, None, None]
    tokens = np.array([4, 5, 8, 13])
    for position in (None, 1, 3, "mean"):
        value = landscape.loss(alpha, 1 - alpha, np.array([[0.2], [0.8]]), 0.5, tokens, position)
        assert value.shape == (3, 2, 4)
        assert value[1, 0, 2] == landscape.loss(0.5, 0.5, 0.2, 0.5, 8, position)
        gradient = landscape.gradient(alpha, 1 - alpha, np.array([[0.2], [0.8]]), 0.5, tokens, position)
        assert gradient.shape == (3, 2, 4, 4)


@pytest.mark.parametrize(
    "point", [(800, 900, 1e5, 3), (-800, -900, 5, 3), (0, 0, -1e6, 1e6), (3000, 3000, 2, 1), (900, -900, 1e-300, 0)]
)
def test_extreme_parameters_stay_finite(point):
    for position in (None, 1, 9, 10, "mean"):
        assert np.isfinite(landscape.loss(*point, 10, position))
        assert np.isfinite(landscape.excess_loss(*point, 10, position))
        assert np.isfinite(landscape.gradient(*point, 10, position)).all()
    assert np.isfinite(landscape.logits(*point, 10, 3)).all()


def test_a_small_loss_keeps_its_relative_accuracy():
    point = (0.0, 2.0, 600.0, 0.0)
    exact = float(_fifty_digits(LOSS, digits=200)(*point, 9.0))
    assert 0 < exact < 1e-80
    assert landscape.loss(*point, 9) == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0, 0, 0, 3.9), ">= 4, got 3.9"),
        ((0, 0, 0, 0, 1, 1), ">= 2"),
        ((0, 0, 0, 0, 5, 6), r"whole number in 1\.\.5"),
        ((0, 0, 0, 0, 5, 0), r"whole number in 1\.\.5"),
        ((0, 0, 0, 0, 5.5, 2), "whole number"),
        ((0, 0, 0, 0, 5, "middle"), "position"),
        ((0, 0, 0, 0, 5, True), "position"),
        ((0, 0, 0, 0, 5, 2.0), "position"),
        ((float("nan"), 0, 0, 0, 5), "finite"),
        ((0, 0, float("inf"), 0, 5), "finite"),
        ((0, 0, 0, 0, float("inf")), "n_tokens must be"),
    ],
)
@pytest.mark.parametrize("function", [landscape.loss, landscape.gradient, landscape.excess_loss, landscape.logits])
def test_bad_arguments_are_refused_in_one_line(function, arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        function(*arguments)
    assert "\n" not in str(caught.value)


def test_logits_refuse_a_mean_and_several_lengths():
    with pytest.raises(ValueError, match="position must be a whole number"):
        landscape.logits(0, 0, 0, 0, 5, "mean")


def test_printed_loss_follows_the_symbols_and_refuses_negative_rests():
    from theory.symbols import rest_logits, rest_scores

    point = (0.3, 0.7, 0.4, 0.6)
    function = sp.lambdify([*PARAMETERS, rest_scores, rest_logits], symbolic.printed_loss(), "numpy")
    assert landscape.printed_loss(*point, 7, 5.5) == pytest.approx(function(*point, 7, 5.5), abs=1e-14)
    with pytest.raises(ValueError, match=">= 0"):
        landscape.printed_loss(*point, -1, 0)


def test_position_table_refuses_impossible_positions():
    for tokens, place in [(1, 1), (4, 0), (4, 5)]:
        with pytest.raises(ValueError, match=r"(n_tokens|position) must be a whole number"):
            symbolic.position_table(tokens, place)


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
        np.testing.assert_allclose(hessian, numeric, rtol=0, atol=1e-8)
        np.testing.assert_allclose(hessian, np.swapaxes(hessian, -1, -2), rtol=0, atol=1e-15)


EXACT_HESSIAN = [[_fifty_digits(sp.diff(LOSS, p, q)) for q in PARAMETERS] for p in PARAMETERS]


@given(st.tuples(PARAMETER, PARAMETER, PARAMETER, PARAMETER), st.floats(4, 1e6))
def test_hessian_agrees_with_fifty_digits(point, tokens):
    hessian = landscape.hessian(*point, tokens)
    exact = np.array([[float(f(*point, tokens)) for f in row] for row in EXACT_HESSIAN])
    # second derivatives reach the square of the betas
    np.testing.assert_allclose(hessian, exact, rtol=0, atol=36 * KERNEL)


@pytest.mark.parametrize(
    ("tokens", "place"), [(t, i) for t in (2, 3, 4, 5, 9) for i in range(1, t + 1) if i < 4 or i > t - 2]
)
def test_every_position_is_pinned_to_the_truth_in_fifty_digits(tokens, place):
    truth = symbolic.loss(symbolic.position_table(tokens, place))
    slopes = [sp.diff(truth, p) for p in PARAMETERS]
    exact = [truth, *slopes, *(sp.diff(slope, p) for slope in slopes for p in PARAMETERS)]
    function = _fifty_digits(exact)
    rng = np.random.default_rng(10 * tokens + place)
    for point in rng.normal(scale=3, size=(5, 4)):
        wanted = np.array([float(x) for x in function(*point, tokens)])
        assert landscape.loss(*point, tokens, place) == pytest.approx(wanted[0], rel=1e-14)
        assert landscape.excess_loss(*point, tokens, place) == pytest.approx(wanted[0] - np.log(tokens), abs=1e-14)
        np.testing.assert_allclose(landscape.gradient(*point, tokens, place), wanted[1:5], rtol=0, atol=1e-14)
        hessian = landscape.hessian(*point, tokens, place)
        np.testing.assert_allclose(hessian, wanted[5:].reshape(4, 4), rtol=0, atol=1e-13)


ROWS = {(kind == "end", row) for kind, classes in kernels.KINDS.items() for c in classes for row in (c.u, c.v) if row}


@pytest.mark.parametrize(("end", "row"), sorted(ROWS, key=lambda pair: (pair[0], pair[1].bend)))
def test_slopes_of_a_row_are_its_derivatives(end, row):
    """Exactly, on the weights as expressions in log A and log B."""
    x, y, t = sp.symbols("x y t", positive=True)
    m, k = (1, t - 1) if end else (2, t - 2)
    total = m * sp.exp(x) + sp.exp(y) + k
    a, b, o = sp.exp(x) / total, sp.exp(y) / total, 1 / total
    w = kernels.Weights(a, b, o, a - o, b - o, b - a, a + b - o, m, k, end)
    value = row.value(w)
    for claimed, derivative in (
        (a * row.along_a(w), sp.diff(value, x)),
        (b * row.along_b(w), sp.diff(value, y)),
        (a * (w.b + k * o - m * a) * row.along_a(w), sp.diff(value, x, 2)),
        (b * (m * a + k * o - b) * row.along_b(w), sp.diff(value, y, 2)),
        (a * b * (row.bend - 2 * row.along_a(w)), sp.diff(value, x, y)),
    ):
        assert sp.simplify(claimed - derivative) == 0


def test_hessian_broadcasts():
    tokens = np.array([4, 5, 8])
    for position in (None, 3, "mean"):
        assert landscape.hessian(0.1, 0.9, np.array([[0.2], [0.8]]), 0.5, tokens, position).shape == (2, 3, 4, 4)
