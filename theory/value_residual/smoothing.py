"""How much attention pulls the rows of its values together: a contraction in any norm, one layer or many.

The diameter here is the largest euclidean distance of two rows. diam(AV) <= tau(A) diam(V), tau the Dobrushin
coefficient: a row i of A less a row k has a positive and a negative part of mass (half the l1 distance) <= tau each, so
row i of AV less row k is that mass times the difference of two means of rows of V. The same for every norm.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import NONNEGATIVE, UNIT, elementwise, real, sized, whole
from theory.lowering.digits import product
from theory.value_residual.inputs import Array, rows, stochastic
from theory.value_residual.pagerank import kept


@sized()
def row_diameter(values: ArrayLike) -> Array:
    """max over i, k of ||v_i - v_k||_2, for values (..., length, d). Raises ValueError for other shapes."""
    found = rows("values", values)
    farthest = [np.linalg.norm(found - row[..., None, :], axis=-1).max(-1) for row in np.moveaxis(found, -2, 0)]
    return np.asarray(np.max(farthest, axis=0))


@sized()
def dobrushin(attention: ArrayLike) -> Array:
    """tau(A) = max over i, k of sum_j |A_ij - A_kj| / 2, in [0, 1]: diam(AV) <= tau(A) diam(V), the best such constant.

    Reached by V = 1 for the j where A_ij > A_kj, 0 for the others. tau(AB) <= tau(A) tau(B).
    Args: attention (..., length, length). Raises ValueError for other shapes and rows that do not add up to 1.
    """
    found = stochastic(attention)
    farthest = [np.abs(found - row[..., None, :]).sum(-1).max(-1) for row in np.moveaxis(found, -2, 0)]
    coefficient: Array = np.minimum(np.max(farthest, axis=0) / 2.0, 1.0)
    return coefficient


@sized()
def sink_share(attention: ArrayLike) -> Array:
    """a = max_j min_i A_ij, the weight that every row puts on one token at least: tau(A) <= 1 - a.

    tau = 1 - min over i, k of sum_j min(A_ij, A_kj), and one term of the sum is at least a. For causal A the token is
    the first, the only one that all rows see. Arguments and errors as `dobrushin`.
    """
    share: Array = stochastic(attention).min(-2).max(-1)
    return share


@elementwise("sink", "n_layers")
@sized()
def sink_collapse(sink: float, n_layers: int) -> float:
    """diam(A_L .. A_1 V) <= (1 - a)^L diam(V) where all layers have `sink_share` a on any tokens: this factor.

    Reached by A with (1, 0) and (a, 1 - a) for rows. Args: sink a in [0, 1]; n_layers L >= 1. Raises ValueError.
    """
    sink, n_layers = real("sink", sink, UNIT), whole("n_layers", n_layers, 1)
    return 0.0 if sink == 1.0 else math.exp(n_layers * math.log1p(-sink))


@elementwise("contraction", "diameter", "lam", "n_layers")
@sized()
def residual_diameter_bound(contraction: float, diameter: float, lam: float, n_layers: int | None = None) -> float:
    """diam(U_n) <= diam(V_1) times `spectral_map` at tau, for the stack of `residual_stack` with tau(A_i) <= tau.

    d_1 <= tau D and d_n <= tau (d_{n-1} + lambda D)/(1 + lambda), a recursion that an eigenvalue tau obeys as well; in
    the limit tau lambda/(1 + lambda - tau), not 0. It is reached by A with (1, 0) and (1 - tau, tau) for rows. At
    tau = 0 it is 0: A_n = 1 e_1^T still makes all rows one, since V_1 is added before the mixing.
    Args: contraction tau in [0, 1]; diameter D >= 0 of V_1; lam >= 0, > 0 for the limit; n_layers >= 1, None for the
    limit. lambda below 1e-290 is rounded upwards. Raises ValueError.
    """
    mu, wide = real("contraction", contraction, UNIT), real("diameter", diameter, NONNEGATIVE)
    shrunk = kept(mu, lam, n_layers)
    if 0.0 < shrunk < 1e-290:  # where it is rounded by a unit of its own, which is no small share of it
        shrunk = math.nextafter(shrunk, 1.0)
    return float(product(wide, mu, shrunk))
