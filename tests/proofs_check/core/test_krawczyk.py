"""Boxes in which there is exactly one zero, and boxes of which that cannot be said."""

from fractions import Fraction

import pytest

from proofs_check.core.krawczyk import check
from proofs_check.core.terms import Malformed
from proofs_check.language import exp, var

x, y = var("x"), var("y")


def region(**sides):
    return {name: tuple(map(Fraction, side)) for name, side in sides.items()}


@pytest.mark.parametrize(("equations", "box"), [
    ([x**2 - 2], region(x=(1, 2))),
    ([x**3 - x], region(x=("-1/4", "1/4"))),
    ([x + y - 3, x - y - 1], region(x=(1, 4), y=("1/2", 3))),
    ([exp(x) - y, x + y - 1], region(x=("-1/4", "1/4"), y=("3/4", "5/4"))),
])  # fmt: skip
def test_one_zero(equations, box):
    check(equations, box)


@pytest.mark.parametrize(("equations", "box"), [
    ([x**3 - x], region(x=(-2, 2))),  # three, and the centre is one of them
    ([x**2 - 2], region(x=(-3, 3))),  # two
    ([x**2 - 2], region(x=(2, 3))),  # none
    ([x - 1], region(x=(1, 2))),  # on its edge
    ([x], region(x=(0, 0))),  # a point
    ([x**3 - x, y], region(x=(-2, 2), y=(-1, 1))),
    ([x + y - 3], region(x=(1, 4), y=(1, 3))),
    ([x + y - 3, 2 * x + 2 * y - 6], region(x=(1, 4), y=(1, 3))),
])  # fmt: skip
def test_more_zeros_or_none(equations, box):
    with pytest.raises(Malformed):
        check(equations, box)
