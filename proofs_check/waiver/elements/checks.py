"""Margins for the claims about waivers that are single exact comparisons."""

from fractions import Fraction

from proofs_check.evidence.margin import Margin, at_most, different, less, same, worst


def one_too_many(length: int, last: int = 0) -> Margin:
    """The number of positions from 0 to length + last is not the length."""
    return different(length, len(range(length + last + 1)))


def others_are_scaled(weight: Fraction | int = Fraction(9, 10)) -> Margin:
    """A token of value 0 and this weight, and two others of values 1 and 3 and equal weights: 2 (1 - a), not 2."""
    with_it = (1 - weight) / Fraction(2) * 1 + (1 - weight) / Fraction(2) * 3
    return worst([different(with_it, Fraction(2)), same(with_it, 2 * (1 - Fraction(weight)))])


def no_component(key: tuple[int, int]) -> Margin:
    """The product with (1, 0) is not positive, and not negative either."""
    product = key[0]
    return worst([at_most(product, 0), at_most(0, product)])


def cosine_is_no_angle(theta: bool = False) -> Margin:
    """Of two equal vectors the cosine is 1, their product over both norms, and the angle is 0."""
    printed = 0 if theta else Fraction(1 * 1, 1 * 1)
    return different(printed, 0)


def duplicates(rows: tuple[str, ...]) -> Margin:
    """States of first tokens are functions of their embeddings: fewer than words where two have the same one."""
    return less(len(set(rows)), len(rows))


def not_linear(scale: int) -> Margin:
    """x + x/|x| at 1 and at `scale`: a matrix would multiply the one by `scale` to get the other."""
    at_one, at_scale = 1 + 1, scale + 1
    return different(scale * at_one, at_scale)


def figure_4(caption: int = 255, text: int = 383) -> Margin:
    """The index of the changed element."""
    return different(caption, text)


def characters(tokens: int, longest: int, least: int) -> Margin:
    """Texts of more than `least` characters can have fewer tokens than are needed, where one has up to `longest`."""
    return less(Fraction(least + 1, longest), tokens)


def alone(logit: int, others: int = 0) -> Margin:
    """A softmax over one position is 1, whatever its logit; equal ones beside it take their parts."""
    return same(Fraction(1), Fraction(1, 1 + others))
