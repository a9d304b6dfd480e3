"""The effect of one token of weight a and value v on the output o = a v + (1 - a) o_rest, and the best v and a.

The waiver paper, Section 3.2, measures it by ||a v|| (Eq. 5). But the others are multiplied by 1 - a: a token without a
value is not one without an effect.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import SHARE, UNIT, Array, elementwise, real, reals, sized
from theory.records import comparable
from theory.sink.shapes import agree, checked_vectors


@comparable
class Eviction(NamedTuple):
    """Weights (3,) and values (3,) of three tokens, a_j |v_j| of each, and the exact error of evicting it."""

    weights: Array
    values: Array
    norm_scores: Array
    errors: Array


@sized()
def present_effect(weight: ArrayLike, value: ArrayLike, rest: ArrayLike) -> Array:
    """o - o_rest = a (v - o_rest): what the presence of the token changes; 0 iff a = 0 or v = o_rest.

    Args: weight a in [0, 1], (...); value v and rest o_rest, the output over the other tokens, (..., d).
    Returns: (..., d). Raises ValueError outside and for shapes that do not broadcast.
    """
    a = reals("weight", weight, UNIT)
    v, r = checked_vectors(value=value, rest=rest)
    agree(weight=a.shape, value=v.shape[:-1], rest=r.shape[:-1])
    return a[..., None] * (v - r)


@sized()
def removed_effect(weight: ArrayLike, value: ArrayLike, output: ArrayLike) -> Array:
    """o_rest - o = a/(1 - a) (o - v): what the removal of the token changes, from the output o with it.

    Args: weight a in (0, 1), (...); value v and output o, (..., d). Returns: (..., d). Raises ValueError outside and
    for shapes that do not broadcast.
    """
    a = reals("weight", weight, SHARE)
    v, o = checked_vectors(value=value, output=output)
    agree(weight=a.shape, value=v.shape[:-1], output=o.shape[:-1])
    return (a / (1 - a))[..., None] * (o - v)


@sized()
def eviction_score(weight: ArrayLike, value: ArrayLike, output: ArrayLike) -> Array:
    """a/(1 - a) ||v - o||: exactly what evicting the token costs; (...). Args and errors as `removed_effect`."""
    return np.asarray(np.linalg.norm(removed_effect(weight, value, output), axis=-1))


@sized()
def norm_score(weight: ArrayLike, value: ArrayLike) -> Array:
    """a ||v||, the waiver paper's measure (Eq. 5): the cost of setting the value to 0, not of evicting the token.

    Args: weight a in [0, 1], (...); value v (..., d). Returns: (...). Raises ValueError outside.
    """
    a, (v,) = reals("weight", weight, UNIT), checked_vectors(value=value)
    agree(weight=a.shape, value=v.shape[:-1])
    return np.asarray(a * np.linalg.norm(v, axis=-1))


@elementwise("weight")
def eviction_counterexample(weight: float) -> Eviction:
    """a = (tau, (1 - tau)/2, (1 - tau)/2), v = (0, 1, -1/2): a ||v|| calls the sink the best to evict.

    Its error is tau/4, the others' (1 - tau)(3 + tau)/(4 (1 + tau)) and (1 - tau)(3 - tau)/(4 (1 + tau)): the sink is
    the worst iff tau > (sqrt(33) - 3)/4 = 0.686.. At tau = 9/10: scores (0, .05, .025), errors (.225, .0513, .0276).
    Args: weight tau in (0, 1). Raises ValueError outside.
    """
    tau = real("weight", weight, SHARE)
    light = (1 - tau) / 2
    weights, values = np.array([tau, light, light]), np.array([0.0, 1.0, -0.5])
    output = np.full((3, 1), light / 2)
    found = eviction_score(weights, values[:, None], output)
    return Eviction(weights, values, norm_score(weights, values[:, None]), found)


@sized()
def no_effect_value(weights: ArrayLike, rests: ArrayLike) -> Array:
    """argmin_v E ||o - o_rest||^2 = E[a^2 o_rest] / E[a^2]: the value that disturbs the others least.

    E[o_rest] where a is one number. What is left is 0 iff o_rest is the same at every query.
    Args: weights a in (0, 1), (n,), and rests o_rest (n, d): one row a query. Returns: (d,).
    Raises ValueError otherwise.
    """
    a, r = _queries(weights, rests)
    return _mean(a * a, r)


@sized()
def no_op_value(weights: ArrayLike, rests: ArrayLike) -> Array:
    """argmin_v E ||o||^2 = -E[a (1 - a) o_rest] / E[a^2]: the value that makes the head do least.

    -(1 - a)/a E[o_rest] where a is one number: 0, the waiver's, iff o_rest is centred.
    Args: weights a in (0, 1), (n,), and rests o_rest (n, d): one row a query. Returns: (d,).
    Raises ValueError otherwise.
    """
    a, r = _queries(weights, rests)
    return -_mean(a * a, (1 / a - 1)[:, None] * r)


@sized()
def removal_scale(weight: ArrayLike) -> Array:
    """1/(1 - tau): o_rest = o/(1 - tau) where the token's value is 0. Evicting such a sink is a gain of the output.

    10 at tau = 0.9: exact and finite, what is called a numerical instability. Args: weight tau in (0, 1).
    Raises ValueError outside.
    """
    return np.asarray(1 / (1 - reals("weight", weight, SHARE)))


def _queries(weights: ArrayLike, rests: ArrayLike) -> tuple[Array, Array]:
    a, r = reals("weights", weights, SHARE), reals("rests", rests)
    if a.ndim != 1 or r.ndim != 2 or len(a) != len(r) or not r.size:
        raise ValueError(f"weights (n,) and rests (n, d) must agree, n >= 1: got {a.shape} and {r.shape}")
    return a, r


def _mean(mass: Array, rows: Array) -> Array:
    return np.asarray(mass @ rows / mass.sum())
