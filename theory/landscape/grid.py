"""Loss and gradient on the slice alpha2 = 1 - alpha1, beta2 = 1 - beta1, over a uniform grid of (alpha1, beta1).

At a fixed alpha1 every logit difference is affine in beta1, D_c = u_c + v_c beta1, so that on a uniform grid
e^{D_c} is a product of two short tables, one over blocks of the beta1 axis and one inside a block. The sum over classes
and the sums of both derivatives are then one small matrix product a row, and one logarithm a point is left.
`theory.landscape` is the reference to which these numbers are pinned; it takes any four parameters.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.checked import Range, real, reals, whole
from theory.records import comparable

Array = NDArray[np.float64]

_BLOCK = 64  # near the square root of the usual 1001 points, so both tables stay short
_ROWS = 32  # rows a sweep: its three outputs stay in the cache until they are written
_REACH = 10.0  # beyond |10| exponents are large enough to spoil the last digits
_HIGHEST = 600.0  # e^600 is finite with room for the sums


@comparable
class SliceGrid(NamedTuple):
    """Axes of length `size`; the fields have shape (alpha1, beta1). d_alpha1 = dL/dalpha1 along the slice."""

    alpha1: Array
    beta1: Array
    loss: Array
    d_alpha1: Array
    d_beta1: Array


class Terms(NamedTuple):
    """The classes of tokens beside the target: `weight` e^{u + v beta1}, with du, dv the derivatives in alpha1.

    Every array has shape (class, alpha1).
    """

    weight: Array
    u: Array
    v: Array
    du: Array
    dv: Array


def slice_axis(size: int, span: tuple[float, float], name: str) -> Array:
    """A uniform axis of `size` points. Raises ValueError for fewer than 2 points or a span outside [-10, 10]."""
    number = whole("size", size, 2)
    ends = reals(name, span, shape=(2,)).tolist()
    if not -_REACH <= ends[0] < ends[1] <= _REACH:
        raise ValueError(f"{name} must run upwards inside [-10, 10], got {ends[0]} to {ends[1]}")
    return np.linspace(*ends, number)


def slice_grid(
    n_tokens: float,
    size: int = 1001,
    alpha1: tuple[float, float] = (0.0, 1.0),
    beta1: tuple[float, float] = (0.0, 1.0),
) -> SliceGrid:
    """L and its gradient (dL/dalpha1 - dL/dalpha2, dL/dbeta1 - dL/dbeta2) at an interior position.

    Source: KV shifting, Theorem 3.4 as corrected in `theory.landscape.symbolic`, on the slice of Figure 2.
    Valid when: n_tokens >= 4. Raises ValueError otherwise and for the axes as `slice_axis` does.
    """
    tokens = real("n_tokens", n_tokens, Range(4.0))
    rows, columns = slice_axis(size, alpha1, "alpha1"), slice_axis(size, beta1, "beta1")
    return evaluate(rows, columns, _exact_terms(rows, tokens))


def angle_between(grid: SliceGrid, other: SliceGrid) -> Array:
    """Angle in radians, 0..pi, between the gradients of two grids of one shape; 0 where either gradient vanishes."""
    cross = grid.d_alpha1 * other.d_beta1 - grid.d_beta1 * other.d_alpha1
    return np.arctan2(np.abs(cross), grid.d_alpha1 * other.d_alpha1 + grid.d_beta1 * other.d_beta1)


def _exact_terms(alpha1: Array, n_tokens: float) -> Terms:
    """D_i, D_e, D_o of the corrected loss; the numerators are (p + q beta1) / S."""
    own, previous = np.exp(alpha1), np.exp(1.0 - alpha1)
    zero = np.zeros_like(own)
    p = np.stack([np.expm1(1.0 - alpha1), np.expm1(alpha1), zero])
    q = np.stack([2 * own - 2 * previous + 1, 2 - own - previous, -np.expm1(1.0 - alpha1)])
    dp = np.stack([-previous, own, zero])
    dq = np.stack([2 * own + 2 * previous, previous - own, previous])
    partition, slope = 2 * own + previous + n_tokens - 2, 2 * own - previous
    return quotient(np.array([[1.0], [2.0], [n_tokens - 4.0]]), (p, q), (dp, dq), partition, slope)


def quotient(weight: ArrayLike, top: tuple[Array, Array], d_top: tuple[Array, Array], s: Array, ds: Array) -> Terms:
    """Terms with exponents (p + q beta1) / s, given p, q, s and their derivatives in alpha1."""
    u, v = top[0] / s, top[1] / s
    weights = np.broadcast_to(np.asarray(weight, dtype=np.float64), u.shape)
    return Terms(weights, u, v, (d_top[0] - u * ds) / s, (d_top[1] - v * ds) / s)


def evaluate(alpha1: Array, beta1: Array, terms: Terms) -> SliceGrid:
    """L = log(1 + sum_c weight_c e^{u_c + v_c beta1}) and its derivatives, on the product of two uniform axes.

    Raises ValueError where an exponent exceeds 600, as its exponential would not fit a float.
    """
    ends = np.maximum(terms.u + terms.v * beta1[0], terms.u + terms.v * beta1[-1])
    if not ends.max() <= _HIGHEST:
        raise ValueError(f"an exponent of {ends.max():.4g} exceeds {_HIGHEST:g}: its exponential would overflow")
    size, width = alpha1.size, beta1.size
    loss, d_alpha1, d_beta1 = (np.empty((size, width)) for _ in range(3))
    left, right = _tables(beta1, terms)
    blocks = left.shape[1] // 3
    for start in range(0, size, _ROWS):
        rows = slice(start, start + _ROWS)
        sums = np.matmul(left[rows], right[rows]).reshape(-1, 3, blocks * _BLOCK)[:, :, :width]
        np.log(sums[:, 0], out=loss[rows])
        np.divide(sums[:, 1], sums[:, 0], out=d_alpha1[rows])
        np.divide(sums[:, 2], sums[:, 0], out=d_beta1[rows])
    return SliceGrid(alpha1, beta1, loss, d_alpha1, d_beta1)


def _tables(beta1: Array, terms: Terms) -> tuple[Array, Array]:
    """Left (alpha1, 3 * blocks, rank) and right (alpha1, rank, _BLOCK): their product is Z, dZ/dalpha1, dZ/dbeta1."""
    step = (beta1[-1] - beta1[0]) / (beta1.size - 1)
    starts = beta1[::_BLOCK]
    inside = step * np.arange(_BLOCK)
    classes, size = terms.u.shape
    weight, u, v, du, dv = (np.moveaxis(term, 0, -1)[:, None, :] for term in terms)
    outer = weight * np.exp(u + v * starts[None, :, None])
    left = np.zeros((size, 3, starts.size, 2 * classes + 1))
    left[:, 0, :, 0] = 1.0
    left[:, 0, :, 1 : classes + 1] = outer
    left[:, 1, :, 1 : classes + 1] = outer * (du + dv * starts[None, :, None])
    left[:, 1, :, classes + 1 :] = outer * dv
    left[:, 2, :, 1 : classes + 1] = outer * v
    right = np.empty((size, 2 * classes + 1, _BLOCK))
    right[:, 0] = 1.0
    np.exp(terms.v.T[:, :, None] * inside, out=right[:, 1 : classes + 1])
    np.multiply(right[:, 1 : classes + 1], inside, out=right[:, classes + 1 :])
    return left.reshape(size, 3 * starts.size, 2 * classes + 1), right
