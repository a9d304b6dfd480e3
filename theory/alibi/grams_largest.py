"""The largest value of a head on its sphere, from rounded Gram matrices, and how far it may be too small.

max h(z) = ||R^T (S z + o)||^2 over ||z||^2 = d. Gram matrices of float32 find z = S^T c; G_Q c and G_K (G_Q c + o),
each one pass over the weights in float64, give its value and its residual. With A = S^T G_K S, b = S^T G_K o and
m = z.(A z + b)/d that is r = A z + b - m z, orthogonal to z, and
    max h - h(z) <= r^T (m - A)^{-1} r for m > lambda_1(A), for that is the dual at m less h(z);
    max h - h(z) <= ||r||^2 / (m - lambda_2(A)) without offset: Temple's inequality.
A' stands for A from the rounded Gram matrices, and e for a number with A <= A' + e. Then the first bound is at most
r^T (m - e - A')^{-1} r, whatever the eigenvectors of A are. If the residual is too large, a Newton step along the
sphere lowers it; the matrix of that step may be rounded too.

Nothing here is a proof. The number e is an estimate: SAFETY times the error that was seen in one direction, so another
direction may be worse, and an upper end from it may lie below the maximum. Rounding in float64 is not counted either.
`certified_logit_range` proves its two ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from theory.alibi.sphere import sphere_maximum

CLOSE = 2e-11  # of the value: what it may fall short by
FLAT = 1e-4  # of the value over what the norms of its parts allow: below, the squares cancel
ROUNDING = 1e-5  # the least presumed of a float32 Gram matrix, over its norm: equal squares round one way, 5e-6 seen
SAFETY = 8  # over the error seen, in one direction
STEPS = 4
Product = Callable[[np.ndarray], tuple[np.ndarray, float]]  # X X^T v and ||X^T v||^2 of v, from the weights in float64


class Sphere(NamedTuple):
    """The problem as float32 sees it: Gram matrices (d_head, d_head), offset (d_head,) and ||z||^2, all float64."""

    query: np.ndarray
    key: np.ndarray
    offset: np.ndarray
    radius2: float


class Largest(NamedTuple):
    """The maximum from Gram matrices alone.

    value; direction (d_head,): the maximiser is along S^T direction; rival: the eigenvalue of G_Q G_K that the
    multiplier must exceed, the largest, or without offset the second; flatness: the value over what the norms of the
    matrices and the offset allow; sizes, bounds on the norms of both; factor L with L L^T = G_Q; form L^T G_K L, its
    eigenvalues and eigenvectors, of which only the last two are there without an offset.
    """

    value: float
    direction: np.ndarray
    rival: float
    flatness: float
    sizes: tuple[float, float]
    factor: np.ndarray
    form: np.ndarray
    spectrum: np.ndarray
    vectors: np.ndarray


class Bounded(NamedTuple):
    """A value that is attained up to rounding, and what the maximum is at most if the estimate of rounding holds."""

    value: float
    upper: float


class Seen(NamedTuple):
    """A point z = S^T c of the sphere in float64: S z, query S z + o, pull G_K query, multiplier m, rest pull - m c."""

    c: np.ndarray
    image: np.ndarray
    query: np.ndarray
    pull: np.ndarray
    value: float
    multiplier: float
    rest: np.ndarray


def largest(sphere: Sphere) -> Largest | None:
    """The maximum as the matrices have it; None where they are not finite, or too large or small for float32."""
    query, key, offset, radius2 = sphere
    if not (moderate(query) and moderate(key)):
        return None
    factor = factor_of(query)
    form = factor.T @ key @ factor
    size = len(form)
    if offset.any():
        spectrum, vectors = np.linalg.eigh(form)
        pull = key @ offset
        found = sphere_maximum(spectrum, vectors.T @ (factor.T @ pull), radius2)
        value, point, rival = found.value + float(offset @ pull), vectors @ found.point, float(spectrum[-1])
    else:
        spectrum, vectors = eigh(form, subset_by_index=[max(size - 2, 0), size - 1], check_finite=False)
        value, point = radius2 * float(spectrum[-1]), vectors[:, -1]
        rival = float(spectrum[-2]) if size > 1 else 0.0
    # where the derivative vanishes z is along S^T G_K (S z + o)
    direction = key @ (factor @ point + offset)
    sizes = _size(query), _size(key)
    reach = math.sqrt(sizes[0] * radius2) + float(np.linalg.norm(offset))
    return Largest(value, direction, rival, value / (sizes[1] * reach**2), sizes, factor, form, spectrum, vectors)


def bounded(sphere: Sphere, asked: Product, seen: Product, close: float = CLOSE) -> Bounded | None:
    """The maximum to a relative `close`, by the estimate, from the weights in float64; None where the estimate says no.

    asked: c to S S^T c and ||S^T c||^2; seen: q to R R^T q and ||R^T q||^2.
    """
    found = largest(sphere)
    if found is None or not found.flatness > FLAT:
        return None
    with np.errstate(all="ignore"):
        at = _at(found.direction, sphere, asked, seen)
        error = _error(at, sphere, found.sizes)
        rival, close_by = found.rival + error, False
        if sphere.offset.any() and not at.multiplier > rival + error:
            top = bounded(sphere._replace(offset=np.zeros_like(sphere.offset)), asked, seen)
            rival, close_by = top.upper / sphere.radius2 if top else math.inf, True
        for _ in range(STEPS):
            if not at.multiplier > rival:
                return None
            upper = at.value + _missing(at, found, sphere, rival, None if close_by else error)
            if upper <= at.value * (1 + close):
                return Bounded(at.value, upper)
            at = _at(at.c + _newton(at, found, sphere), sphere, asked, seen)
    return None


def is_attained(top: Largest, sphere: Sphere, asked: Product, seen: Product) -> bool:
    """Do the weights in float64 give the value, at the point of the sphere along S^T direction?

    A Gram matrix without full rank has a factor with directions of size 1e-8, which the weights do not have.
    """
    with np.errstate(all="ignore"):
        return abs(_at(top.direction, sphere, asked, seen).value - top.value) <= CLOSE * top.value


def _at(c: np.ndarray, sphere: Sphere, asked: Product, seen: Product) -> Seen:
    image, length2 = asked(c)
    scale = math.sqrt(sphere.radius2 / length2) if length2 else math.nan
    c, image = scale * c, scale * image
    query = image + sphere.offset
    pull, value = seen(query)
    multiplier = float(image @ pull) / sphere.radius2
    return Seen(c, image, query, pull, value, multiplier, pull - multiplier * c)


def _newton(at: Seen, found: Largest, sphere: Sphere) -> np.ndarray:
    """The change of c that takes z to the stationary point of its quadratic model along the sphere.

    With z = Q^T y, Q orthonormal and y = L^T c: (m - form) delta + mu y = L^T rest, delta orthogonal to y. The change
    with L^T change = delta + mu y / m is read off m delta, so that nothing is divided by a singular L; what is along y
    only lengthens z.
    """
    y = found.factor.T @ at.c
    size = len(y)
    bordered = np.zeros((size + 1, size + 1))
    bordered[:size, :size] = -found.form
    bordered.flat[: size * (size + 2) : size + 2] += at.multiplier
    bordered[size, :size] = bordered[:size, size] = y
    delta = np.linalg.solve(bordered, np.append(found.factor.T @ at.rest, 0.0))[:size]
    return (sphere.key @ (found.factor @ delta) + at.rest) / at.multiplier


def _error(at: Seen, sphere: Sphere, sizes: tuple[float, float]) -> float:
    """An estimate, no bound, of how far the eigenvalues of G_Q G_K are off: from the errors of both at this point."""
    total = 0.0
    sides = (sphere.query, at.c, at.image), (sphere.key, at.query, at.pull)
    for (matrix, vector, true), size in zip(sides, sizes, strict=True):
        here = float(np.linalg.norm(matrix @ vector - true)) / (size * float(np.linalg.norm(vector)))
        total += max(SAFETY * here, ROUNDING)
    return total * sizes[0] * sizes[1]


def _missing(at: Seen, found: Largest, sphere: Sphere, rival: float, error: float | None) -> float:
    """What the value falls short by, if the estimates hold: by all eigenvalues where `error` allows, or the rival."""
    hidden = ROUNDING * float(at.rest @ at.rest) + 1e-30 * float(at.pull @ at.pull)
    hidden *= found.sizes[0] / (at.multiplier - rival)
    if error is None or not sphere.offset.any():
        return float(at.rest @ sphere.query @ at.rest) / (at.multiplier - rival) + hidden
    along = found.vectors.T @ (found.factor.T @ at.rest)
    return float((along**2 / (at.multiplier - error - found.spectrum)).sum()) + hidden


def moderate(matrix: np.ndarray) -> bool:
    """Whether the squares neither overflow nor vanish in float32; False for NaN."""
    return 1e-20 < float(matrix.trace()) < 1e20


def _size(matrix: np.ndarray) -> float:
    """A bound on the spectral norm, which is what the rounding of a Gram matrix is measured by."""
    return min(float(np.linalg.norm(matrix)), float(np.abs(matrix).sum(axis=1).max()))


def factor_of(matrix: np.ndarray) -> np.ndarray:
    """L with L L^T = the matrix: Cholesky's, or from eigenvectors where it is singular."""
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        return vectors * np.sqrt(np.maximum(values, 0.0))
