"""Sides that a symbol's assumptions deny, and numbers that nobody could write down."""

import pytest
from sympy import Symbol

from theory.lowering.box import Box, exact, rational, symbols_in, to_ball

DENIED = {
    "extended_positive": (-1, 1), "positive": (0, 1), "extended_nonnegative": (-1, 1), "nonzero": (-1, 1),
    "extended_nonzero": (-1, 1), "negative": (-1, 0), "nonpositive": (-1, 1), "even": (1, 2), "odd": (1, 2),
    "prime": (2, 3), "composite": (4, 5), "irrational": (1, 2), "imaginary": (0, 1), "infinite": (0, 1),
    "transcendental": (0, 1),
}  # fmt: skip
FALSE = {"zero": (-1, 1), "real": (0, 1), "integer": (0, 1), "extended_real": (0, 1)}


@pytest.mark.parametrize(
    ("symbol", "side"),
    [(Symbol("s", **{name: True}), side) for name, side in DENIED.items()]
    + [(Symbol("s", **{name: False}), side) for name, side in FALSE.items()],
    ids=[*DENIED, *(f"not {name}" for name in FALSE)],
)
def test_a_side_that_the_symbol_denies_is_refused_by_name_and_by_symbol(symbol, side):
    with pytest.raises(ValueError, match="symbol s is assumed"):
        Box({symbol: side})
    with pytest.raises(ValueError, match="symbol s is assumed"):
        symbols_in([symbol + 5], Box({"s": side}))


@pytest.mark.parametrize(
    "assumption", ["real", "finite", "positive", "extended_positive", "integer", "rational", "nonzero"]
)
def test_a_side_that_the_symbol_grants_is_taken(assumption):
    symbol = Symbol("s", **{assumption: True})
    assert symbols_in([symbol], Box({symbol: (1, 2)})) == {"s": symbol}


def test_a_constant_that_nobody_could_read_back_is_refused_in_one_short_line():
    for value in ("1e9999", 10**9999, "1/" + "9" * 5000, "9" * 5000):
        with pytest.raises(ValueError) as caught:
            exact(value)
        assert len(str(caught.value)) < 120 and "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="too long"):
        rational(to_ball(1).exp().mid() * to_ball(2) ** 7000)
    with pytest.raises(ValueError, match="not one finite number"):
        rational(to_ball(0, 1))
