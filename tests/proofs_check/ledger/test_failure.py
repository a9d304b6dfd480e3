"""Both sides of a refuted statement where it fails: the relation that is false there, or nothing."""

from fractions import Fraction

import pytest

from proofs_check.core.terms import both, either, exp, num, sqrt, to_json
from proofs_check.language.notation import exists, real, statement
from proofs_check.ledger.failure import sides

x = real("x")


def shown(says, part="conclusion", **point):
    at = {"part": part, "point": {name: str(value) for name, value in point.items()}}
    return sides(statement("planted.statement", for_all=[x], says=says).to_json(), at)


@pytest.mark.parametrize(
    ("says", "at", "expected"),
    [
        (x <= 2, 3, ("3", "2")),
        (x > 2, Fraction(1, 3), ("2", "1/3")),
        (both(x <= 9, exp(x) <= 7), 2, ("7.38906", "7")),
        (x <= Fraction(10**15, 3 * 10**15 + 1), 1, ("1", "0.333333")),
        (either(x <= 1, x >= 5), 3, None),
        (both(x <= 9, either(x <= 1, x >= 5)), 3, None),
        (x <= 2, 1, ("1", "2")),
        (both(x <= 2, x <= 3), 1, None),
        (sqrt(x) <= 2, -1, None),
    ],
)
def test_the_sides_of_the_relation_that_fails(says, at, expected):
    assert shown(says, x=at) == expected


def test_a_part_of_a_form_has_its_own_sides():
    assert shown(exists({x: 3}, x <= 2), "witness") in (("3", "2"), None)


def test_an_irrational_point_shows_its_sides():
    says = statement("planted.statement", for_all=[x], says=x <= 1).to_json()
    assert sides(says, {"part": "conclusion", "point": {"x": {"term": to_json(sqrt(num(2)))}}}) == ("1.41421", "1")
