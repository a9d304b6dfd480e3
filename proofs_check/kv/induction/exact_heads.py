"""The heads of Section 3.1 at exact tokens, in rationals or Arb balls.

A weight is a function of the product of the last token with the key and of the distance L - s. Tokens are rows of
rationals, x_1 first; everything is the output at the last position, with loops over positions and no formula of theory.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from flint import arb, fmpq

Rows = Sequence[Sequence[Any]]


class Numbers(NamedTuple):
    """weight(product, distance) = e^{product / sigma - m distance}, and how a rational enters."""

    weight: Callable[[Any, int], Any]
    number: Callable[[Any], Any]


def ball(value: Fraction | int) -> arb:
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


def rational(match_weight: Fraction | int, decay: Fraction | int) -> Numbers:
    """e^{1/sigma} and e^{-m} given as rationals; the products of the tokens must be whole."""

    def weight(product: Fraction, distance: int) -> Fraction:
        if Fraction(product).denominator != 1:
            raise ValueError(f"the product {product} of the tokens is not whole")
        return Fraction(match_weight) ** int(product) * Fraction(decay) ** distance

    return Numbers(weight, Fraction)


def balls(sigma: Fraction | int, slope: Fraction | int) -> Numbers:
    """Arb balls at rational sigma and m."""
    return Numbers(lambda product, distance: ball(Fraction(product) / sigma - slope * distance).exp(), ball)


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def average(weights: Sequence[Any], rows: Rows, number: Callable[[Any], Any]) -> list[Any]:
    """Rows averaged with positive weights."""
    total = sum(weights, number(0))
    return [
        sum((w * number(value) for w, value in zip(weights, column, strict=True)), number(0)) / total
        for column in zip(*rows, strict=True)
    ]


def induction_weights(x: Rows, numbers: Numbers) -> dict[int, Any]:
    """Unnormalised weights of Definition 3.1 at s = 2 .. L - 1."""
    return {s: numbers.weight(dot(x[-1], x[s - 2]), len(x) - s) for s in range(2, len(x))}


def induction_head(x: Rows, numbers: Numbers) -> list[Any]:
    weights = induction_weights(x, numbers)
    return average(list(weights.values()), [x[s - 1] for s in weights], numbers.number)


def copies(x: Rows, ratio: Fraction, itself: bool = False) -> list[list[Fraction]]:
    """y_1 .. y_L for e^{-p} = ratio; y_1 is zero unless a token sees itself."""
    found = []
    for s in range(1, len(x) + 1):
        seen = range(1, s + 1 if itself else s)
        weights = [Fraction(ratio) ** (s - tau) for tau in seen]
        rows = [x[tau - 1] for tau in seen]
        found.append(average(weights, rows, Fraction) if rows else [Fraction(0)] * len(x[0]))
    return found


def two_layer(x: Rows, numbers: Numbers, ratio: Fraction, itself: bool = False, repaired: bool = False) -> list[Any]:
    """Appendix A over {2 .. L-1}; `repaired` takes (y_s - (1 - r) x_s) / r as key, for the mask with s itself."""
    keys = copies(x, ratio, itself)
    if repaired:
        keys = [
            [(y - (1 - ratio) * own) / ratio for y, own in zip(key, row, strict=True)]
            for key, row in zip(keys, x, strict=True)
        ]
    places = range(2, len(x))
    weights = [numbers.weight(dot(x[-1], keys[s - 1]), len(x) - s) for s in places]
    return average(weights, [x[s - 1] for s in places], numbers.number)
