"""Margins for the construction of Appendix A."""

from fractions import Fraction

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, ball_at_least, identity, same
from proofs_check.kv.induction.representation_checks import error
from proofs_check.ledger.mathematical import identities
from theory.induction.network import construction
from theory.induction.regime import wrong_mask_witness
from theory.induction.sharpness import r
from theory.symbols import sigma


def _whole(array: np.ndarray, rows: bool = False) -> sp.Matrix:
    """A matrix of the construction at sigma = 1, where its entries are whole numbers; for rows, its transpose."""
    matrix = sp.Matrix(array.astype(int))
    return matrix.T if rows else matrix


def _column(name: str, size: int) -> sp.Matrix:
    return sp.Matrix(sp.symbols(f"{name}1:{size + 1}", real=True))


def _score(dim: int, rows: bool = False) -> sp.Expr:
    """Query of the last token times key of another, W* = I."""
    weights = construction(dim, 1.0, 1.0)
    other, last = (sp.Matrix.vstack(_column(a, dim), _column(b, dim)) for a, b in (("x", "y"), ("l", "z")))
    return (_whole(weights.query, rows) * last).dot(_whole(weights.key, rows) * other)


def matrices(dim: int, rows: bool = False) -> Margin:
    """W_V^(1) takes (x, 0) to (0, x), the score is x_L . y_s and W_O^(2) W_V^(2) takes (x, y) to x."""
    weights = construction(dim, 1.0, 1.0)
    x, y, zero = _column("x", dim), _column("y", dim), sp.zeros(dim, 1)
    written = _whole(weights.first_value, rows) * sp.Matrix.vstack(x, zero)
    read = _whole(weights.output) * _whole(weights.value, rows) * sp.Matrix.vstack(x, y)
    return identities([*written, _score(dim, rows), *read], [*zero, *x, _column("l", dim).dot(y), *x])


def conforms(dim: int, rows: bool = False) -> Margin:
    """Can W_O^(2), a d x D matrix, be applied to a token of width D? As y = W x, or as y = x W."""
    return same(construction(dim, 1.0, 1.0).output.shape[0 if rows else 1], 2 * dim)


def star(dim: int, factor: sp.Expr = 1 / sigma, divisor: sp.Expr = sp.S.One) -> Margin:
    """The score with W* = factor I, divided once more by `divisor`, is x_L . y_s / sigma."""
    return identity(factor * _score(dim) / divisor, _column("l", dim).dot(_column("y", dim)) / sigma)


def first_layer(place: int, itself: bool = False, out: int = 1) -> Margin:
    """ALiBi weights r^{s-tau} over tau < s, after W_O = out I, are softmax(-p (s-1-tau)) over tau = 1..s-1."""
    found = [r ** (place - tau) for tau in range(1, place + itself)]
    printed = [r ** (place - 1 - tau) for tau in range(1, place)]
    absent = [sp.Integer(0)] * itself
    return identities([out * w / sp.Add(*found) for w in found], [w / sp.Add(*printed) for w in printed] + absent)


def two_values(first: tuple[int, ...], second: tuple[int, ...]) -> Margin:
    """|IH - TF| at sigma = 1, m = 0, e^{-p} = 1/10 is certainly larger at the second input than at the first."""
    found = [error([[value] for value in x], 1, 0, Fraction(1, 10)) for x in (first, second)]
    return ball_at_least(found[1] - found[0], strict=True)


def masks(
    longest: int, match_weight: int, decay: Fraction, first_mask: str = "strict", support: str = "inner"
) -> Margin:
    """p -> infinity: the network equals IH at all binary tokens up to a length, or the first one where it does not."""
    found = wrong_mask_witness(first_mask, support, longest, Fraction(match_weight), decay)
    return Margin(0.0, "no exception", "IH") if found is None else same(found.output, found.head)


def balanced_pair(odds: int, factor: int = 2) -> Margin:
    """Two positions with odds g and 1/g: the change of softmax is 2 (g - 1)/(g + 1), that is 2 tanh(w/4), g^2 = e^w."""
    up, down = Fraction(odds, 1 + odds), Fraction(1, 1 + odds)
    return same(abs(up - down) + abs(down - up), factor * Fraction(odds - 1, odds + 1))
