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
from scipy.linalg import hadamard

from proofs_check.evidence.margin import Margin, different, identity, same, worst
from proofs_check.kv.induction.exact_heads import induction_head, rational
from proofs_check.kv.induction.general_checks import positive

MATCH, DECAY = Fraction(3), Fraction(1, 2)  # e^{1/sigma} and e^{-m}


def kernel_vectors(moved: bool = True) -> Margin:
    """What the two kinds of kernel vector move.

    L = 3: IH is x_2, whatever the weight, and x_2 + a is another value for a != 0. L = 4, x_4 = b: x_1 + b multiplies
    the weight of x_2 by e^{|b|^2/sigma} = 1 + gain, so that it gains share.
    """
    weight, change, first, second, gain = sp.symbols("w a w_2 w_3 gain", positive=True)
    token = sp.Symbol("x", real=True)
    before, after = (weight * value / weight for value in (token, token + (change if moved else 0)))
    lifted = first * (1 + gain if moved else 1)
    share = lifted / (lifted + second) - first / (first + second)
    return worst([identity(before, token), positive(after - before), positive(share)])


def _state(dim: int, width: int, seed: int) -> sp.Matrix:
    return sp.Matrix(np.random.default_rng([dim, width, seed]).integers(-4, 5, (width, 2 * dim)))


def _whole(vector: sp.Matrix) -> list[int]:
    """The multiple of a rational vector that has whole entries."""
    scale = sp.ilcm(*(entry.q for entry in vector))
    return [int(entry * scale) for entry in vector]


def _attended(state: sp.Matrix, x: Sequence[Sequence[int]]) -> list[sp.Matrix]:
    """What layer 2 can use: the states of the places 2 .. L - 1, and at L = 4 the query's too."""
    places = range(2, len(x) + (1 if len(x) > 3 else 0))
    return [state * sp.Matrix([*x[s - 1], *x[s - 2]]) for s in places]


def confused(dim: int, width: int, seed: int) -> Margin:
    """A random state of a width: two inputs with the same states that IH tells apart."""
    return _told_apart(_state(dim, width, seed), dim)


def confused_copy(dim: int, keeps: int) -> Margin:
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


def _interference(store: sp.Matrix, read: sp.Matrix) -> sp.Expr:
    """Mean square error that the other stored numbers, independent of variance 1, cause in one that is read."""
    product = read * store
    gains = [product[k, k] for k in range(product.rows)]
    noise = sp.diag(*gains).inv() * product - sp.eye(len(gains))
    return (noise * noise.T).trace() / len(gains)


def floor_reached(order: int, width: int, plant: int = 0) -> Margin:
    """Rows of a Hadamard matrix, read by their transpose: the mean interference is N/D - 1 exactly."""
    store = sp.Matrix(hadamard(2**order)[:width])
    return same(_interference(store, store.T), sp.Rational(2**order, width) - 1 + plant)
