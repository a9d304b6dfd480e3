"""Margins for the construction and the inequalities of Appendix A."""

import itertools
from fractions import Fraction

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, ball_at_least, identity, same, worst
from proofs_check.kv.induction.general_checks import nonnegative
from proofs_check.kv.induction.representation_checks import error
from proofs_check.ledger.claim import Effort
from proofs_check.ledger.mathematical import identities
from theory.induction.network import construction
from theory.induction.regime import wrong_mask_witness
from theory.induction.sharpness import copy_gap_residuals, r, tilt_residual, two_point_residual, two_point_slack
from theory.symbols import sigma


def _whole(array: np.ndarray) -> sp.Matrix:
    """A matrix of the construction at sigma = 1, where its entries are whole numbers."""
    return sp.Matrix(*array.shape, [sp.Integer(int(value)) for value in array.ravel()])


def _column(name: str, size: int) -> sp.Matrix:
    return sp.Matrix(sp.symbols(f"{name}1:{size + 1}", real=True))


def _score(dim: int, convention: str = "column") -> sp.Expr:
    """Query of the last token times key of another, W* = I."""
    weights = construction(dim, 1.0, 1.0)
    other, last = (sp.Matrix.vstack(_column(a, dim), _column(b, dim)) for a, b in (("x", "y"), ("l", "z")))
    query, key = _whole(weights.query), _whole(weights.key)
    if convention == "row":
        query, key = query.T, key.T
    return (query * last).dot(key * other)


def matrices(dim: int, convention: str = "column") -> Margin:
    """W_V^(1) takes (x, 0) to (0, x), the score is x_L . y_s and W_O^(2) W_V^(2) takes (x, y) to x."""
    weights = construction(dim, 1.0, 1.0)
    x, y, zero = _column("x", dim), _column("y", dim), sp.zeros(dim, 1)
    first, value = _whole(weights.first_value), _whole(weights.value)
    if convention == "row":
        first, value = first.T, value.T
    written = first * sp.Matrix.vstack(x, zero)
    read = _whole(weights.output) * value * sp.Matrix.vstack(x, y)
    score = _score(dim, convention)
    return identities([*written, score, *read], [*zero, *x, _column("l", dim).dot(y), *x])


def conforms(dim: int, convention: str = "column") -> Margin:
    """Can W_O^(2), a d x D matrix, be applied to a token of width D? As y = W x, or as y = x W."""
    rows, columns = construction(dim, 1.0, 1.0).output.shape
    return same(columns if convention == "column" else rows, 2 * dim)


def star(dim: int, factor: sp.Expr = 1 / sigma, divisor: sp.Expr = sp.S.One) -> Margin:
    """The score with W* = factor I, divided once more by `divisor`, is x_L . y_s / sigma."""
    return identity(factor * _score(dim) / divisor, _column("l", dim).dot(_column("y", dim)) / sigma)


def first_layer(place: int, itself: bool = False, out: int = 1) -> Margin:
    """ALiBi weights r^{s-tau} over tau < s, after W_O = out I, are softmax(-p (s-1-tau)) over tau = 1..s-1."""
    seen = range(1, place + 1 if itself else place)
    total = sp.Add(*(r ** (place - tau) for tau in seen))
    weights = {tau: out * r ** (place - tau) / total for tau in seen}
    printed = sp.Add(*(r ** (place - 1 - tau) for tau in range(1, place)))
    pairs = [
        (weights.get(tau, sp.Integer(0)), r ** (place - 1 - tau) / printed if tau < place else sp.Integer(0))
        for tau in range(1, place + 1)
    ]
    return identities(*zip(*pairs, strict=True))


def seen_by_copy(least: int) -> Margin:
    """The softmax of y_s runs over tau = 1 .. s - 1: at least one, at s = least + more with any `more` >= 0."""
    more = sp.Symbol("more", integer=True, nonnegative=True)
    return nonnegative((least + more) - 1 - 1)


def two_values(first: tuple[int, ...], second: tuple[int, ...]) -> Margin:
    """|IH - TF| at sigma = 1, m = 0, e^{-p} = 1/10 is certainly larger at the second input than at the first."""
    found = [
        error([[Fraction(value)] for value in x], Fraction(1), Fraction(0), Fraction(1, 10)) for x in (first, second)
    ]
    return ball_at_least(found[1] - found[0], strict=True)


def masks(
    longest: int, match_weight: int, decay: Fraction, first_mask: str = "strict", support: str = "inner"
) -> Margin:
    """p -> infinity: the network equals IH at all binary tokens up to a length, or the first one where it does not."""
    found = wrong_mask_witness(first_mask, support, longest, Fraction(match_weight), decay)
    return Margin(0.0, "no exception", "IH") if found is None else same(found.output, found.head)


def softmax_steps(size: int, divisor: int = 4) -> Margin:
    """Blocks reduce to two points, which move tanh(w/4) at most and exactly, and tanh(z) <= z as (z - tanh z)' >= 0."""
    blocks = [block for count in range(1, size) for block in itertools.combinations(range(size), count)]
    square, residual = two_point_slack()
    z = sp.Symbol("z", nonnegative=True)
    return worst(
        [
            identity(two_point_residual(divisor), 0),
            identity(residual, 0),
            same(True, bool(square.is_nonnegative)),
            identity(sp.diff(z - sp.tanh(z), z), sp.tanh(z) ** 2),
            identity(sp.limit(sp.tanh(z) / z, z, 0), 1),
            *(identity(tilt_residual(size, block), 0) for block in blocks),
        ]
    )


def softmax_rational(seed: int, size: int, factor: Fraction = Fraction(2)) -> Margin:
    """sum |softmax(u) - softmax(v)| <= 2 sup |u - v|, at scores u, v that are logarithms of whole numbers.

    With osc the range of u - v, 2 sup |u - v| >= 2 tanh(osc / 4) = 2 (R - 1) / (R + 1), R = e^{osc / 2}. R^2 is a
    ratio of whole numbers; a rational just below its root is taken for R, so what is checked is a little stronger.
    """
    rng = np.random.default_rng([seed, size])
    p, q = ([Fraction(int(v)) for v in rng.integers(1, 60, size)] for _ in range(2))
    distance = sum(abs(a / sum(p) - b / sum(q)) for a, b in zip(p, q, strict=True))
    tilt = [a / b for a, b in zip(p, q, strict=True)]
    root = _root_below(max(tilt) / min(tilt))
    return at_most(distance, factor * (root - 1) / (root + 1))


def _root_below(value: Fraction, digits: int = 10**9) -> Fraction:
    scaled = value * digits**2
    return Fraction(int(sp.integer_nthroot(int(scaled), 2)[0]), digits)


def balanced_pair(odds: int, factor: Fraction = Fraction(2)) -> Margin:
    """Two positions with odds g and 1/g: the change of softmax is 2 (g - 1)/(g + 1), that is 2 tanh(w/4), g^2 = e^w."""
    up, down = Fraction(odds, 1 + odds), Fraction(1, 1 + odds)
    return same(abs(up - down) + abs(down - up), factor * Fraction(odds - 1, odds + 1))


def copy_weights(place: int, ratio: Fraction) -> list[Fraction]:
    """Weights of y_s on x_1 .. x_{s-1}."""
    total = sum(ratio**j for j in range(place - 1))
    return [ratio ** (place - 1 - tau) / total for tau in range(1, place)]


def copy_error(place: int, ratio: Fraction, low: int = -1, top: int = 1, share: Fraction = Fraction(1)) -> Margin:
    """|sum w x - x_{s-1}| <= share ||w - e_{s-1}||_1 at all corners of [low, top]^{s-1}."""
    miss = copy_weights(place, ratio)
    miss[-1] -= 1
    corners = itertools.product((low, top), repeat=place - 1)
    left = max(abs(sum(w * x for w, x in zip(miss, corner, strict=True))) for corner in corners)
    return at_most(left, share * sum(map(abs, miss)))


def copy_norm(place: int, factor: int = 2) -> Margin:
    """||w - e_{s-1}||_1 = 2 |1 / sum_{tau=0}^{s-2} r^tau - 1|, r = e^{-p}; the entries are >= 0 but the last."""
    total = sp.Add(*(r**tau for tau in range(place - 1)))
    miss = sp.Add(*(r ** (place - 1 - tau) / total for tau in range(1, place - 1))) + (1 - 1 / total)
    return identity(sp.cancel(miss), sp.cancel(factor * (1 - 1 / total)))


def geometric(supremum: sp.Expr) -> Margin:
    """sup_s |1/sum - 1| equals `supremum`, or lies below it by a nonnegative amount."""
    return worst([identity(residual, 0) for residual in copy_gap_residuals(supremum)])


def geometric_bound(place: int, ratio: Fraction, power: int = 1, printed: bool = True) -> Margin:
    """1 - 1/sum_{tau=0}^{s-2} r^tau <= r^power / (1 - r), as printed, or <= r^power."""
    gap = 1 - 1 / sum(ratio**tau for tau in range(place - 1))
    return at_most(gap, ratio**power / (1 - ratio) if printed else ratio**power)


def excess() -> Margin:
    """r / (1 - r) - r = r^2 / (1 - r): the printed bound exceeds the supremum."""
    return identity(r / (1 - r) - r, r**2 / (1 - r))


def triples(effort: Effort):
    return [{"seed": seed, "size": n} for n in range(2, 7) for seed in range(10 if effort is Effort.QUICK else 100)]


def ratios(effort: Effort):
    return [{"place": s, "ratio": v} for s in range(2, 8) for v in (Fraction(1, 100), Fraction(1, 3), Fraction(9, 10))]
