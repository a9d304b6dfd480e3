"""Margins for what width induction needs: inputs that a narrow state confuses, and the noise of linear read-outs.

Two vanilla layers: the first leaves at place s a state h_s = H (x_s, x_{s-1}) of width D, the second attends to
{2..L-1} with any scores and passes on any function of the states it attends to. For D < 2d some (a, b) != 0 has
H (a, b) = 0. If a != 0, then at L = 3, where only place 2 is attended to, x_2 + a and x_1 + b leave h_2 as it was, and
IH = x_2 moves. If a = 0, then at L = 4 x_1 + b leaves every state as it was, and IH moves, as its weight on x_2 grows
with x_4 . x_1. So such layers need D >= 2d for IH on tokens of R^d, while KV shifting has IH on {2..L-1} at D = d. The
same holds for m features of d dimensions each (m d for d), and for the latent of latent attention as the state.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, different, identity, same, worst
from proofs_check.kv.induction.exact_heads import induction_head, rational
from proofs_check.kv.induction.general_checks import positive

MATCH, DECAY = Fraction(3), Fraction(1, 2)  # e^{1/sigma} and e^{-m}


def moved_token(moved: bool = True) -> Margin:
    """L = 3: IH is x_2, whatever the weight, and x_2 + a is another value for a != 0."""
    weight, change = sp.symbols("w a", positive=True)
    token = sp.Symbol("x", real=True)
    before, after = (weight * value / weight for value in (token, token + (change if moved else 0)))
    return worst([identity(before, token), positive(sp.expand(after - before))])


def moved_weight(moved: bool = True) -> Margin:
    """L = 4, x_4 = b: x_1 + b multiplies the weight of x_2 by e^{|b|^2/sigma} = 1 + gain, so that it gains share."""
    first, second, gain = sp.symbols("w_2 w_3 gain", positive=True)
    lifted = first * (1 + gain if moved else 1)
    return positive(sp.factor(lifted / (lifted + second) - first / (first + second)))


def _state(dim: int, width: int, seed: int) -> sp.Matrix:
    rng = np.random.default_rng([dim, width, seed])
    return sp.Matrix(width, 2 * dim, [int(v) for v in rng.integers(-4, 5, 2 * dim * width)])


def _whole(vector: sp.Matrix) -> list[int]:
    """The multiple of a rational vector that has whole entries."""
    scale = sp.ilcm(*(entry.q for entry in vector))
    return [int(entry * scale) for entry in vector]


def _attended(state: sp.Matrix, x: Sequence[Sequence[int]]) -> list[sp.Matrix]:
    """What layer 2 can use: the states of the places 2 .. L - 1, and at L = 4 the query's too."""
    places = range(2, len(x) + (1 if len(x) > 3 else 0))
    return [state * sp.Matrix([*x[s - 1], *x[s - 2]]) for s in places]


def confused(dim: int, lacking: int, seed: int) -> Margin:
    """A random state of width 2 d - lacking: two inputs with the same states that IH tells apart."""
    return _told_apart(_state(dim, 2 * dim - lacking, seed), dim)


def confused_copy(dim: int, keeps: int = 0) -> Margin:
    """The same for the state that keeps x_s and only `keeps` entries of x_{s-1}: a = 0 in its kernel."""
    return _told_apart(sp.eye(2 * dim)[: dim + keeps, :], dim)


def _told_apart(state: sp.Matrix, dim: int) -> Margin:
    kernel = state.nullspace()
    if not kernel:
        return Margin(-1.0, "no two inputs", "two inputs with the same states")
    a, b = (_whole(kernel[0])[k * dim : (k + 1) * dim] for k in (0, 1))
    if any(a):
        x = [[1] * dim, [2] * dim, [1] * dim]
        moved = [[p + q for p, q in zip(row, change, strict=True)] for row, change in zip(x, (b, a), strict=False)]
        other = [*moved, x[2]]
    else:
        x = [[0] * dim, [1] * dim, [2] * dim, b]
        other = [b, *x[1:]]
    alike = same(_attended(state, x) == _attended(state, other), True)
    heads = [tuple(induction_head(rows, rational(MATCH, DECAY))) for rows in (x, other)]
    return worst([alike, different(*heads)])


def noise_floor(plant: int = 0) -> Margin:
    """N numbers in D < N dimensions, read with unit gain by P = F E: mean interference ||P||^2/N - 1 >= N/D - 1.

    A change of basis gives E orthonormal rows, so that ||F E|| = ||F||, ||E||^2 = D and tr P = <F, E^T> = N. Then
    0 <= ||F - c E^T||^2 = ||F||^2 - 2 c N + c^2 D, and c = N/D leaves ||F||^2 >= N^2/D. Interference is what is left of
    ||P||^2 without the N gains, over N.
    """
    squared, number, dims, c = sp.symbols("F2 N D c", positive=True)
    square = squared - 2 * c * number + c**2 * dims
    interference = (squared - number) / number
    least = interference - (number / dims - 1) + plant
    return identity(least, square.subs(c, number / dims) / number)


def interference(store: sp.Matrix, read: sp.Matrix) -> Fraction:
    """Mean square error that the other stored numbers, independent of variance 1, cause in one that is read."""
    product = read * store
    scaled = sp.diag(*(1 / product[k, k] for k in range(product.rows))) * product
    total = sum((scaled[i, j] ** 2 for i in range(scaled.rows) for j in range(scaled.cols) if i != j), sp.Integer(0))
    return Fraction(int(total.p), int(total.q)) / product.rows


def above_floor(numbers: int, width: int, seed: int, factor: Fraction = Fraction(1)) -> Margin:
    """Rational maps in and out: their mean interference is at least `factor` (N/D - 1)."""
    rng = np.random.default_rng([numbers, width, seed])
    draw = [sp.Matrix(*shape, [int(v) for v in rng.integers(1, 8, numbers * width)]) for shape in
            ((width, numbers), (numbers, width))]  # fmt: skip
    return at_most(factor * (Fraction(numbers, width) - 1), interference(*draw))


def _frame(order: int, width: int) -> sp.Matrix:
    """The first rows of a Hadamard matrix of 2^order columns."""
    size = 2**order
    rows = [[(-1) ** bin(i & j).count("1") for j in range(size)] for i in range(width)]
    return sp.Matrix(rows)


def floor_reached(order: int, width: int, plant: int = 0) -> Margin:
    """Rows of a Hadamard matrix, read by their transpose: the mean interference is N/D - 1 exactly."""
    store = _frame(order, width)
    return same(interference(store, store.T), Fraction(2**order, width) - 1 + plant)
