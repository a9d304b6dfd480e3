"""Arb enclosures of the logit range and of the self gap, from Gram matrices of exact float64 weights.

The lower end is the value of an explicit query, put exactly on its sphere in balls. The upper end is a value of the
dual: it needs a multiplier above the largest eigenvalue of a product of Gram matrices, and that eigenvalue is enclosed
by traces of powers, since tr(X^p)^(1/p) / size^(1/p) <= lambda_max <= tr(X^p)^(1/p) for a spectrum >= 0. No
factorisation is trusted, singular matrices included.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat

from theory.alibi.head import Weights
from theory.lowering.box import outward
from theory.lowering.precision import working

PRECISION, DEEP = 384, 2304  # a Jordan block of size 2 near the top loses 1 + 2 + ... + 38 bits, twice over
DOUBLINGS = 38  # powers of 2^38: the size^(1/p) of the enclosure is then within 1e-10 of one, and 38 bits are lost


class Grams(NamedTuple):
    """Exact factors and Gram matrices of a head on its sphere: S = W_Q Gamma P, R = W_K Gamma P."""

    s: arb_mat
    r: arb_mat
    ss: arb_mat
    rr: arb_mat
    sr: arb_mat
    offset: arb_mat
    d_model: int
    n: int
    layer: bool

    @property
    def d_head(self) -> int:
        return self.ss.nrows()

    @property
    def biased(self) -> bool:
        return any(not entry.is_zero() for entry in self.offset.entries())


def enclosed_range(weights: Weights, factor: float, multiplier: float, z: np.ndarray) -> tuple[float, float]:
    """Floats around factor * D: the spread of the query at z (d_model,), and the dual at this multiplier or more."""
    with working(PRECISION):
        grams = _grams(weights)
        product = grams.rr * grams.ss
        pull = grams.rr * grams.offset
        share = _dot(grams.offset, pull).upper() / grams.d_model  # part of the value, so that 2^-45 of it is harmless
        above = _above(largest_eigenvalue(product), multiplier, share * arb(2) ** -45 + arb(2) ** -3000)
        square = above * grams.d_model
        if grams.biased:
            identity = _identity(grams.d_head)
            square += above * _dot(grams.offset, (above * identity - product).solve(pull))
        spread = _key_norm(grams, _on_sphere(grams, z)[0])
        return _floats(grams, factor, 2 * _root(grams.d_model * spread), 2 * _root(grams.d_model * square))


def enclosed_self_gap(
    weights: Weights, factor: float, s: float, multiplier: float, z: np.ndarray, precision: int = PRECISION
) -> tuple[float, float]:
    """Floats around factor * D_s: the gap of the query at z (d_model,), and the dual at s, this multiplier or more."""
    with working(precision):
        grams = _grams(weights)
        if grams.n == 1:
            both = _gap(grams, z).max(_gap(grams, -z))
            return _floats(grams, factor, both, both)
        weight, square = arb(s), grams.rr * grams.offset
        matrix, left, right = (_direct if grams.d_model <= 2 * grams.d_head else _reduced)(grams, weight)
        shift = _root((matrix * matrix).trace()).upper()
        size = matrix.nrows()
        top = largest_eigenvalue(matrix + shift * _identity(size)) - shift
        # nan compares as false
        if precision < DEEP and not 2 * top.rad() <= shift * arb(2) ** -32:
            return enclosed_self_gap(weights, factor, s, multiplier, z, DEEP)
        if grams.n > 2 * grams.d_head:
            top = top.max(arb(0))  # the directions no logit sees
        above = _above(top, multiplier, (shift + 1 / (4 * weight)) * arb(2) ** -45)
        value = grams.d_model * (above + 1 / (4 * weight)) + weight * _dot(grams.offset, square)
        if grams.biased:
            value += _dot(left, (above * _identity(size) - matrix).solve(right))
        return _floats(grams, factor, _gap(grams, z), value)


def largest_eigenvalue(matrix: arb_mat) -> arb:
    """A ball around the largest eigenvalue of a square matrix whose eigenvalues are real and >= 0."""
    logarithm, share = arb(0), arb(1)
    for _ in range(DOUBLINGS):
        total = matrix.trace()
        if not total > 0:  # zero, or not told from it: only the upper end is known
            return arb(0).union(abs(total).upper() ** share * logarithm.exp())
        logarithm += share * total.log()
        matrix = matrix / total
        matrix, share = matrix * matrix, share / 2
    rest = matrix.trace()
    return (logarithm + share * (rest / matrix.nrows()).log().union(rest.log())).exp()


def _grams(weights: Weights) -> Grams:
    d_head, d_model = weights.w_q.shape
    gamma = [arb(g) for g in weights.gamma.tolist()]
    layer = weights.norm == "layer"
    s, r = (_projected(w, gamma, layer) for w in (weights.w_q, weights.w_k))
    plain = arb_mat(d_head, d_model, weights.w_q.ravel().tolist())
    offset = plain * _column(weights.norm_bias) + _column(weights.query_bias)
    st, rt = s.transpose(), r.transpose()
    return Grams(s, r, s * st, r * rt, s * rt, offset, d_model, d_model - layer, layer)


def _projected(rows: np.ndarray, gamma: list[arb], layer: bool) -> arb_mat:
    """Rows times gamma, less their means where the norm is LayerNorm."""
    entries = []
    for row in rows.tolist():
        scaled = [arb(w) * g for w, g in zip(row, gamma, strict=True)]
        mean = sum(scaled, arb(0)) / len(scaled) if layer else arb(0)
        entries += [entry - mean for entry in scaled]
    return arb_mat(*rows.shape, entries)


def _direct(grams: Grams, s: arb) -> tuple[arb_mat, arb_mat, arb_mat]:
    """The quadratic of the dual on R^d_model itself, and twice its linear half; below all else on LayerNorm's ones."""
    form = grams.s.transpose() * grams.r
    matrix = s * (form * form.transpose()) - (form + form.transpose()) / 2
    if grams.layer:
        matrix = matrix - _root((matrix * matrix).trace()).upper() * _ones(grams.d_model)
    pull = grams.r.transpose() * grams.offset
    linear = s * (form * pull) - pull / 2
    return matrix, linear, linear


def _reduced(grams: Grams, s: arb) -> tuple[arb_mat, arb_mat, arb_mat]:
    """The same through B = [S; R]: B^T C B has the nonzero eigenvalues of F C, F = B B^T, of size 2 d_head."""
    size = grams.d_head
    half = _identity(size) / -2
    middle = _blocks(s * grams.rr, half, half, 0 * half)
    outer = _blocks(grams.ss, grams.sr, grams.sr.transpose(), grams.rr)
    weights = [*(s * (grams.rr * grams.offset)).entries(), *(grams.offset / -2).entries()]
    left = arb_mat(2 * size, 1, weights)
    return outer * middle, left, outer * left


def _on_sphere(grams: Grams, z: np.ndarray) -> tuple[arb_mat, arb_mat]:
    """Query and key vectors (d_head, 1) of the point of the sphere in the direction of z."""
    point = [arb(entry) for entry in z.tolist()]
    if grams.layer:
        mean = sum(point, arb(0)) / len(point)
        point = [entry - mean for entry in point]
    column = arb_mat(len(point), 1, point)
    column = column * (_root(arb(grams.d_model)) / _root(_dot(column, column)))
    return grams.s * column + grams.offset, grams.r * column


def _gap(grams: Grams, z: np.ndarray) -> arb:
    """How far the best logit of the query at z exceeds its own, before 1/sqrt(d_head)."""
    query, key = _on_sphere(grams, z)
    return _root(grams.d_model * _key_norm(grams, query)) - _dot(query, key)


def _key_norm(grams: Grams, query: arb_mat) -> arb:
    return _dot(query, grams.rr * query)


def _above(top: arb, multiplier: float, margin: arb) -> arb:
    """A number certainly above `top`, close to the larger of it and the multiplier."""
    return arb(multiplier).max(top.upper()).upper() * (1 + arb(2) ** -45 * (1 if top.upper() > 0 else 0)) + margin


def _floats(grams: Grams, factor: float, low: arb, high: arb) -> tuple[float, float]:
    scale = arb(factor) / _root(arb(grams.d_head))
    return max(outward(low * scale)[0], 0.0), max(outward(high * scale)[1], 0.0)


def _root(value: arb) -> arb:
    """Square root of a number known to be >= 0; a ball that reaches zero may reach below it by rounding."""
    return value.sqrt() if value > 0 else arb(0).union(value.upper().max(arb(0)).sqrt())


def _dot(left: arb_mat, right: arb_mat) -> arb:
    return (left.transpose() * right)[0, 0]


def _column(values: np.ndarray) -> arb_mat:
    return arb_mat(len(values), 1, values.tolist())


def _identity(size: int) -> arb_mat:
    return arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])


def _ones(size: int) -> arb_mat:
    return arb_mat(size, size, [arb(1) / size] * size**2)


def _blocks(a: arb_mat, b: arb_mat, c: arb_mat, d: arb_mat) -> arb_mat:
    size = a.nrows()
    tables = [m.tolist() for m in (a, b, c, d)]
    rows = [tables[2 * (i // size)][i % size] + tables[2 * (i // size) + 1][i % size] for i in range(2 * size)]
    return arb_mat(rows)
