"""Margins for identities: equal, different, entry by entry."""

import pytest
import sympy as sp

from proofs_check.ledger.mathematical import identities, not_identity

x = sp.Symbol("x", real=True)


def test_not_identity_is_positive_where_the_sides_differ():
    assert not_identity(x, 2 * x).value > 0


def test_not_identity_is_negative_for_two_forms_of_one_expression():
    assert not_identity((x + 1) ** 2, x**2 + 2 * x + 1).value < 0


def test_identities_take_the_worst_entry():
    assert identities((x, x), (x, x)).value == 0
    assert identities((x, x), (x, x + 1)).value < 0


def test_identities_refuse_sides_of_different_lengths():
    with pytest.raises(ValueError, match="zip"):
        identities((x,), (x, x))


def test_identities_refuse_two_empty_sides():
    with pytest.raises(ValueError, match="both sides are empty"):
        identities((), ())
