"""Margins for the claims about waivers that are single exact comparisons."""

from fractions import Fraction

import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, different, less, same, worst


def one_too_many(length: int, last: int = 0) -> Margin:
    """The number of positions from 0 to length + last is not the length."""
    return different(length, len(range(length + last + 1)))


def others_are_scaled(weight: Fraction | int = Fraction(9, 10), value: int = 0) -> Margin:
    """A token of this weight and value, and two others of values 1 and 3 and equal weights: its term, and theirs."""
    own, others = weight * value, (1 - weight) / Fraction(2) * 1 + (1 - weight) / Fraction(2) * 3
    return worst([same(0, own), different(others, Fraction(2)), same(others, 2 * (1 - Fraction(weight)))])


def smaller_key(key: tuple[int, int], other: tuple[int, int]) -> Margin:
    """Against the query (-1, 0) both products are negative, the first key is the smaller one, and so is its product."""
    product, of_other = -key[0], -other[0]
    norms = (sum(x * x for x in k) for k in (key, other))
    return worst([less(product, 0), less(of_other, 0), less(*norms), less(product, of_other)])


def no_component(key: tuple[int, int]) -> Margin:
    """The product with (1, 0) is not positive, and not negative either."""
    product = key[0]
    return worst([at_most(product, 0), at_most(0, product)])


def cosine_is_no_angle(theta: bool = False) -> Margin:
    """The angle between (1, 0) and itself, and its cosine by Equation 6, the product over both norms."""
    key = (1, 0)
    angle, norms = sp.atan2(key[1], key[0]), sp.sqrt(sum(x * x for x in key)) ** 2
    return different(angle if theta else sum(x * x for x in key) / norms, angle)


def duplicates(rows: tuple[str, ...]) -> Margin:
    """States of first tokens are functions of their embeddings: fewer than words where two have the same one."""
    return less(len(set(rows)), len(rows))


def not_linear(scale: int) -> Margin:
    """x + LN(x) in one dimension, x + x/|x|, at 1 and at `scale`: a matrix would multiply the one to get the other."""
    at_one, at_scale = (x + Fraction(x, abs(x)) for x in (1, scale))
    return different(scale * at_one, at_scale)


def figure_4(caption: int = 255, text: int = 383) -> Margin:
    """The index of the changed element."""
    return different(caption, text)


def characters(tokens: int, longest: int, least: int) -> Margin:
    """Texts of more than `least` characters can have fewer tokens than are needed, where one has up to `longest`."""
    return less(Fraction(least + 1, longest), tokens)

