"""The field on a plane against brute force in sixty digits, its chain rule, its rows and what it refuses."""

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.testing import assert_allclose, assert_array_equal

from tests.theory.cases import refuses
from tests.theory.landscape.digits import truth
from theory import landscape
from theory.landscape import printed
from theory.landscape.planes import field, place, plane

FIGURE_2 = {"alpha2": "1 - alpha1", "beta2": "1 - beta1"}
HALF = {"alpha2": "0.5alpha1 - 2beta2 + .25", "beta1": -0.75}
# axes, fixed, box, T, position
SETTINGS = {
    "two tokens": (("alpha1", "beta1"), FIGURE_2, (0, 1, 0, 1), 2, "last"),
    "three tokens": (("alpha1", "beta1"), FIGURE_2, (0, 1, 0, 1), 3, "mean"),
    "a million": (("alpha1", "beta1"), FIGURE_2, (0, 1, 0, 1), 10**6, None),
    "the keys": (("alpha1", "alpha2"), {"beta1": 1, "beta2": 0}, (-2, 8, -2, 14), 12, None),
    "the end": (("beta1", "beta2"), {"alpha1": 0, "alpha2": 1}, (-2, 4, -2, 2), 60, "end"),
    "an oblique plane": (("beta2", "alpha1"), HALF, (-3, 2, -1, 4), 7, 3),
    "a wide box": (("alpha1", "beta1"), FIGURE_2, (-30, 40, -50, 60), 12, None),
}


def parameters(fixed, axes, first, second):
    """(alpha1, .., beta2) at one point, written apart from `landscape.field`."""
    known = {axes[0]: first, axes[1]: second}
    for name, value in fixed.items():
        known[name] = {
            "1 - alpha1": lambda at: 1 - at["alpha1"],
            "1 - beta1": lambda at: 1 - at["beta1"],
            "0.5alpha1 - 2beta2 + .25": lambda at: mpf(0.5) * at["alpha1"] - 2 * at["beta2"] + mpf(0.25),
        }.get(value, lambda at, value=value: mpf(value))(known)
    return [known[name] for name in ("alpha1", "alpha2", "beta1", "beta2")]


@pytest.mark.parametrize("name", SETTINGS)
def test_the_field_is_the_loss_and_its_slopes_at_twenty_points(name):
    axes, fixed, box, tokens, position = SETTINGS[name]
    found = field(axes, box, tokens, fixed=fixed, position=position, size=41)
    where = place(position, tokens)
    rng = np.random.default_rng(len(name))
    step = mpf(10) ** -25
    for i, j in rng.integers(0, 41, size=(20, 2)):
        with mp.workdps(80):
            first, second = mpf(float(found.first[i])), mpf(float(found.second[j]))
            middle, right, up = (
                truth(tuple(parameters(fixed, axes, first + a * step, second + b * step)), tokens, where).loss
                for a, b in ((0, 0), (1, 0), (0, 1))
            )
            wanted = [middle, (right - middle) / step, (up - middle) / step]
        for value, true in zip((found.loss, found.d_first, found.d_second), wanted, strict=True):
            assert abs(mpf(float(value[0, i, j])) - true) <= 1e-12 * max(1, abs(true)), (name, i, j)


def test_the_equation_off_figure_2_is_the_printed_loss_and_has_its_slopes():
    found = field(("beta1", "beta2"), (-1, 2, -1, 2), 9, fixed={"alpha1": 0.3, "alpha2": 1.2}, rows=("equation",))
    b1, b2 = found.first[:, None], found.second
    assert_array_equal(found.loss[0], landscape.printed_loss(0.3, 1.2, b1, b2, 5, 5))
    for slope, ways in ((found.d_first, (1, 0)), (found.d_second, (0, 1))):
        ends = [landscape.printed_loss(0.3, 1.2, b1 + h * ways[0], b2 + h * ways[1], 5, 5) for h in (1e-5, -1e-5)]
        assert_allclose(slope[0], (ends[0] - ends[1]) / 2e-5, atol=1e-9)


def test_limits_of_one_row_refuse_nothing_in_another():
    found = field(("alpha1", "beta1"), (0, 1, 0, 1), 1000, rows=("exact", "equation", "listing"), size=5)
    assert found.absent[:2] == ("", "") and "overflows beyond T = 504" in found.absent[2]
    assert np.isfinite(found.loss[:2]).all() and np.isnan(found.loss[2]).all() and np.isnan(found.d_first[2]).all()
    end = field(("alpha1", "beta1"), (0, 1, 0, 1), 12, rows=("exact", "equation", "listing"), position="end", size=5)
    assert [bool(why) for why in end.absent] == [False, True, True]


def test_on_figure_2_the_printed_rows_are_the_listing_and_the_equation():
    found = field(("alpha1", "beta1"), (0, 1, -2, 3), 30, rows=("listing", "equation"), size=6)
    a, b = found.first[2], found.second[4]
    both = printed.loss(a, b, 26), landscape.printed_loss(a, 1 - a, b, 1 - b, 26, 26)
    assert found.loss[:, 2, 4] == pytest.approx(both, rel=1e-13)


def test_a_point_off_the_plane_knows_its_distance():
    surface = plane(("alpha1", "beta1"), {"alpha2": "1 - alpha1", "beta2": 0})
    assert surface.distance([[0.25, 0.75, 9, 0], [0.25, 0.5, 9, -2]]).tolist() == [0, 2]


@pytest.mark.parametrize("tokens", [2, 3, 4, 12])
def test_places_have_names(tokens):
    assert [place(name, tokens) for name in ("first", "last", "end", "mean", 2)] == [1, tokens - 1, tokens, "mean", 2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"axes": "alpha1"}, "two different names"),
        ({"axes": ("alpha1", "gamma")}, "axes must be one of"),
        ({"fixed": {"alpha2": 1}}, "need values of alpha2 and beta2"),
        ({"fixed": {"alpha1": 1, "alpha2": 1, "beta2": 0}}, "need values of alpha2 and beta2"),
        ({"fixed": {"alpha2": "alpha1*beta1", "beta2": 0}}, "affine"),
        ({"fixed": {"alpha2": "2*", "beta2": 0}}, "affine"),
        ({"fixed": {"alpha2": "--1", "beta2": 0}}, "affine"),
        ({"fixed": {"alpha2": "1e999", "beta2": 0}}, "alpha2 must be a finite number"),
        ({"fixed": {"alpha2": float("nan"), "beta2": 0}}, "alpha2 must be a finite number"),
        ({"box": (0, 1, 1, 1)}, "box must run upwards"),
        ({"box": (0, 1, 0)}, "box has shape (3,)"),
        ({"box": (0, 1, 0, float("inf"))}, "box must be finite"),
        ({"n_tokens": 1}, "n_tokens must be a finite number >= 2"),
        ({"position": "middle"}, "position must be one of"),
        ({"rows": ("listing",), "box": (0, 11, 0, 1)}, "[-10, 10]"),
        ({"rows": ("Exact",)}, "rows must be one of"),
        ({"rows": ()}, "rows must name at least one"),
        ({"size": 1}, "size must be a whole number >= 2"),
    ],
)
def test_what_is_no_field_is_refused_in_one_line(change, words):
    usual = {"axes": ("alpha1", "beta1"), "box": (0, 1, 0, 1), "n_tokens": 12}
    refuses(lambda: field(**(usual | change)), words)
