"""Loss, excess and gradient against brute force in sixty digits: every T from 2 on, every position, every size."""

import random

import numpy as np
import pytest
from mpmath import mp, mpf

from tests.shares import one_in
from tests.theory.cases import refuses
from tests.theory.landscape.digits import condition, draw, gradient_condition, truth
from theory import landscape

RELATIVE = 1e-12  # times the condition number of the function at its inputs, where that exceeds 1
LEAST = mpf(2) ** -1074

NAMED = [
    ((-36, -37, 3, -2), 2, 1),  # a partition of two small exponentials and no other key
    ((-40, -40, 1, 0), 2, "mean"),
    ((-800, -900, 5, 3), 2, 1),
    ((-20, -21, 3, -2), 2, "mean"),
    ((-40, 1e-12, 0, 2), 2, 2),
    ((27, 0, 2, 0), 10**12, None),  # one D above 1, the excess far below it
    ((41, 0, 3, 0), 10**18, None),
    ((40, 39, 3, -1), 10**18, 10**18 - 1),  # T - 1 and T are one double here
    ((40, 39, 3, -1), 10**18, 10**18),
    ((700, 60, 400, 335), 10**18, 10**18),  # e^D underflows, T e^D does not
    ((2.2436258903574027, -1.7589773853005673e-17, 0, 2.3383376679200984e-18), 3, "mean"),  # both positions cancel
    ((700, 700, -4.3946966250096514e-10, -8.789393250019303e-10), 3, 2),  # the logits' sum vanishes, for any beta
    ((40, 40.000001, 1e-8, -3e-8), 3, 2),
    ((700, -700, -636, 0), 3, "mean"),
    ((-653.0148312651841, 653.0148312651858, 700, -700), 305185807923, 305185807923),  # A B near 1, A next to nothing
    ((700, 700, 700, -700), 9, 9),
    ((700, -0.9, -2e-5, -700), 731758, 731758),
]


def error(found, exact, kappa):
    """Error over |exact| max(1, kappa); a zero or an infinity for what a double holds counts as infinite."""
    found = float(found)
    if abs(mpf(found) - exact) <= 8 * LEAST and (found != 0 or abs(exact) < LEAST):
        return 0.0
    lost = found == 0 and kappa * RELATIVE < 1
    if not np.isfinite(found) or lost or exact == 0:
        return float("inf")
    return float(abs(mpf(found) - exact) / abs(exact) / max(1, kappa))


def errors(point, tokens, position):
    """Of loss, excess and gradient, the last relative to its largest entry."""
    exact = truth(point, tokens, position)
    for function, value in ((landscape.loss, exact.loss), (landscape.excess_loss, exact.excess)):
        kappa = condition(value, point, exact.gradient) if value else 1
        yield error(function(*point, tokens, position), value, kappa)
    found = landscape.gradient(*point, tokens, position)
    top = max(map(abs, exact.gradient))
    assert np.isfinite(found).all()
    gaps = [abs(mpf(float(entry)) - value) for entry, value in zip(found, exact.gradient, strict=True)]
    if max(gaps) <= 8 * LEAST:
        return
    worst = max(gaps) / top if top else mpf("inf")
    yield float(worst if worst <= RELATIVE else worst / max(1, gradient_condition(point, tokens, position)))


@pytest.mark.parametrize(("point", "tokens", "position"), NAMED)
def test_named_points_keep_twelve_digits(point, tokens, position):
    assert max(errors(point, tokens, position)) <= RELATIVE


@pytest.mark.parametrize("seed", one_in(99, range(99)))
def test_drawn_points_keep_twelve_digits_times_their_condition(seed):
    rng = random.Random(seed)
    for _ in range(600):
        case = draw(rng)
        assert max(errors(*case)) <= RELATIVE, case


def test_all_positions_of_a_batch_of_lengths_are_told_apart():
    tokens = np.array([2, 3, 4, 5, 9, 10**18])
    point = (-0.3, 0.7, 2.0, -1.5)
    for position in (1, 2, "mean"):
        for function in (landscape.loss, landscape.excess_loss, landscape.gradient, landscape.hessian):
            each = [function(*point, t, position) for t in tokens]
            np.testing.assert_array_equal(function(*point, tokens, position), each)


def printed(point, rest_scores, rest_logits):
    """Eq. 10 as printed, term by term, in 1500 digits."""
    with mp.workdps(1500):
        a1, a2, b1, b2, scores, rest = map(mpf, (*point, rest_scores, rest_logits))
        total = mp.exp(a2) + 2 * mp.exp(a1) + scores
        own, previous = mp.exp(a1) / total, mp.exp(a2) / total
        target = b1 * previous + b2 / total
        powers = 2 * mp.exp(b1 / total + b2 * previous) + mp.exp(2 * own * b1 + previous * b2) + rest
        return mp.log(1 + powers / mp.exp(target))


@pytest.mark.parametrize(
    ("point", "rests"),
    [
        ((0.3, 0.7, 0.4, 0.6), (7, 5.5)),
        ((700, -700, 400, -500), (3.5, 1e9)),
        ((-650, -660, 0.3, -2), (0, 7.7)),
        ((8.8, 263.6, -3.4e-5, -537.9), (3.5, 0)),
    ],
)
def test_printed_loss_follows_print_at_any_size(point, rests):
    exact = float(printed(point, *rests))
    assert float(landscape.printed_loss(*point, *rests)) == pytest.approx(exact, rel=RELATIVE, abs=0)


def test_printed_loss_refuses_a_partition_that_underflows():
    refuses(lambda: landscape.printed_loss(-800, -800, 1, 1, 0, 1), "overflows")
