"""One attention head seen from the sphere of normalised states: x = gamma * z + norm_bias with ||z||^2 = d_model.

Both normalisations divide by the root of the (centred) mean square, so z lies on the sphere of radius sqrt(d_model);
LayerNorm's z is also orthogonal to the vector of ones. A positive epsilon under that root only moves z into the ball,
which raises neither the logit range (convex in z) nor the printed bounds; of D_s see `alibi.self_gap`. The logit of a
query state x on a key state y is (W_Q x + b_Q) . (W_K y + b_K) / sqrt(d_head); b_K adds the same number to all logits
of a query and so never matters without rotations.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import NONNEGATIVE, choice, elementwise, real, reals, sized
from theory.lowering import digits
from theory.records import comparable

NORMS = ("rms", "layer")
R = TypeVar("R")


@comparable
class Head(NamedTuple):
    """The arrays of one attention head and of the norm before it: the query of a state x is w_q x + query_bias.

    w_q, w_k (d_head, d_model), transposed if the weights are those of x @ W; gamma, norm_bias (d_model,), gain and bias
    of the norm; query_bias (d_head,); None for no bias; norm "rms" or "layer". The functions that take it check it.
    """

    w_q: ArrayLike
    w_k: ArrayLike
    gamma: ArrayLike
    norm_bias: ArrayLike | None = None
    query_bias: ArrayLike | None = None
    norm: str = "rms"


def of_head(order: str = " ".join(Head._fields)) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """The function of a `Head` and of other arguments, which also takes the head's arrays: all arguments in this order.

    The signature is that of the arrays; an argument before one that must be given must be given too.
    """

    def wrap(function: Callable[..., R]) -> Callable[..., R]:
        known = {**inspect.signature(Head).parameters, **inspect.signature(function).parameters}
        taken = [known[name] for name in order.split()]
        last = max(i for i, p in enumerate(taken) if p.default is p.empty)
        loose = inspect.Signature(
            [p.replace(default=p.empty if i < last else p.default, annotation=p.empty) for i, p in enumerate(taken)]
        )

        @wraps(function)
        def of_arrays(*args: Any, **kwargs: Any) -> R:
            if args and isinstance(args[0], Head):
                return function(*args, **kwargs)
            given = loose.bind(*args, **kwargs).arguments
            return function(Head(**{name: given.pop(name) for name in Head._fields if name in given}), **given)

        of_arrays.__signature__ = loose
        of_arrays.__doc__ = f"{inspect.getdoc(function)}\n\nA `Head` may be given first, in place of its arrays."
        return of_arrays

    return wrap


class SphereHead(NamedTuple):
    """A head on the sphere ||z||^2 = radius2 in R^n: query vectors `query @ z + offset`, keys `key @ z` up to a shift.

    query, key: (d_head, n), n = d_model (RMSNorm) or d_model - 1 (LayerNorm, in a basis orthogonal to the ones).
    offset: (d_head,), W_Q norm_bias + b_Q. scale: 1/sqrt(d_head).
    """

    query: np.ndarray
    key: np.ndarray
    offset: np.ndarray
    radius2: float
    scale: float

    @property
    def biased(self) -> bool:
        return bool(self.offset.any())


class Weights(NamedTuple):
    """The checked arguments of a head, float64."""

    w_q: np.ndarray
    w_k: np.ndarray
    gamma: np.ndarray
    norm_bias: np.ndarray
    query_bias: np.ndarray
    norm: str


@of_head()
def checked(head: Head) -> Weights:
    """The arguments as float64 arrays. Raises ValueError for a wrong shape, a number that is not finite, another norm.

    Args: w_q, w_k (d_head, d_model); gamma and norm_bias (d_model,); query_bias (d_head,); norm "rms" or "layer".
    """
    w_q, w_k, gamma, norm_bias, query_bias, norm = head
    choice("norm", norm, NORMS)
    query, key, gains = reals("w_q", w_q), reals("w_k", w_k), reals("gamma", gamma)
    if query.ndim != 2 or not query.size:
        raise ValueError(f"w_q has shape {query.shape}: expected (d_head, d_model), both at least 1")
    _refuse_transposed(gains.size, w_q=query, w_k=key)
    d_head, d_model = query.shape
    if norm == "layer" and d_model < 2:
        raise ValueError(f"d_model is {d_model}: LayerNorm needs at least 2")
    return Weights(
        query,
        reals("w_k", key, shape=(d_head, d_model)),
        reals("gamma", gains, shape=(d_model,)),
        np.zeros(d_model) if norm_bias is None else reals("norm_bias", norm_bias, shape=(d_model,)),
        np.zeros(d_head) if query_bias is None else reals("query_bias", query_bias, shape=(d_head,)),
        norm,
    )


def _refuse_transposed(d_model: int, **weights: np.ndarray) -> None:
    """Raises ValueError, naming them, for weights (d_model, d_head) where d_head is not d_model."""
    turned = [name for name, rows in weights.items() if rows.shape[-2:-1] == (d_model,) != rows.shape[-1:]]
    if turned:
        raise ValueError(
            f"transposed {' and '.join(turned)}: gamma has {d_model} entries, and so must have each row, not each "
            f"column; pass {'.T and '.join(turned)}.T for weights of x @ W (GPT-2's Conv1D, torch's Linear.weight.T)"
        )


def balanced(weights: Weights) -> tuple[Weights, float]:
    """The head with both sides divided by powers of two to lie near 1, and the factor its logits have lost."""
    offset = weights.w_q @ weights.norm_bias + weights.query_bias
    asked = power_of_two(max(float(np.abs(weights.w_q * weights.gamma).max()), float(np.abs(offset).max())))
    seen = power_of_two(float(np.abs(weights.w_k * weights.gamma).max()))
    query_bias = weights.query_bias / asked
    return weights._replace(w_q=weights.w_q / asked, w_k=weights.w_k / seen, query_bias=query_bias), asked * seen


def on_sphere(weights: Weights) -> SphereHead:
    """The head on its sphere."""
    d_head, d_model = weights.w_q.shape
    query, key = (scaled(rows, weights.gamma, weights.norm) for rows in (weights.w_q, weights.w_k))
    if weights.norm == "layer":
        query, key = _without_ones(query), _without_ones(key)
    offset = weights.w_q @ weights.norm_bias + weights.query_bias
    return SphereHead(query, key, offset, float(d_model), 1 / math.sqrt(d_head))


def power_of_two(size: float) -> float:
    """The power of two next to a size, 1 for 0."""
    return math.ldexp(1.0, math.frexp(size)[1]) if size else 1.0


def length(vector: np.ndarray) -> float:
    """||vector||, whose squares may overflow or vanish."""
    size = power_of_two(float(np.abs(vector).max(initial=0.0)))
    return size * float(np.linalg.norm(vector / size))


def state(weights: Weights, z: np.ndarray) -> np.ndarray:
    """The post-norm state (d_model,) of a point z (n,) of the sphere."""
    return weights.gamma * lifted(weights, z) + weights.norm_bias


def lifted(weights: Weights, z: np.ndarray) -> np.ndarray:
    """The same point in R^d_model."""
    return _with_ones(z) if weights.norm == "layer" else z


def spectral_range(weights: Weights) -> float:
    """The bound D <= 2 (||M|| (sqrt(d) |gamma|_inf + ||b||) + ||W_K^T b_Q|| / sqrt(d_head)) sqrt(d) |gamma|_inf."""
    scale = 1 / math.sqrt(weights.w_q.shape[0])
    norm = product_norm(weights.w_q, weights.w_k) * scale
    pull = length(weights.w_k.T @ weights.query_bias) * scale
    return spectral_range_of_norms(norm, pull, weights.gamma, weights.norm_bias)


@elementwise("product", "pull")
@sized()
def spectral_range_of_norms(product: float, pull: float, gamma: ArrayLike, norm_bias: ArrayLike | None = None) -> float:
    """`spectral_range` computed from two norms of the head: product = ||M||, pull = ||W_K^T b_Q|| / sqrt(d_head).

    Args: product, pull >= 0; gamma, norm_bias (d_model,). Raises: ValueError for anything else.
    """
    product, pull = real("product", product, NONNEGATIVE), real("pull", pull, NONNEGATIVE)
    gains = reals("gamma", gamma)
    if gains.ndim != 1 or not gains.size:
        raise ValueError(f"gamma has shape {gains.shape}: expected (d_model,)")
    bias = 0.0 if norm_bias is None else length(reals("norm_bias", norm_bias, shape=gains.shape))
    top = float(np.abs(gains).max())
    reach = math.sqrt(gains.size) * top
    twice = 2 * math.sqrt(gains.size)
    return float(digits.product(twice, top, product, reach + bias) + digits.product(twice, top, pull))


def product_norm(left: np.ndarray, right: np.ndarray) -> float:
    """||left^T right||_2 through the small triangular factors."""
    a, b = np.linalg.qr(left.T, mode="r"), np.linalg.qr(right.T, mode="r")
    return float(np.linalg.norm(a @ b.T, 2))


def scaled(rows: np.ndarray, gamma: np.ndarray, norm: str) -> np.ndarray:
    """rows Gamma (., d), for LayerNorm less its first number in each row, which its centring takes off anyway.

    What differs in a row that is nearly constant would be lost in the rounding of its products. That is added to the
    differences, which lose nothing.
    """
    if norm == "rms":
        return rows * gamma
    product, rest = digits.twofold(rows, gamma)
    return (product - product[:, :1]) + (rest - rest[:, :1])


def _mirror(d_model: int) -> np.ndarray:
    """The unit vector of the Householder reflection that takes ones/sqrt(d) to -e_1; no cancellation for d >= 1."""
    v = np.full(d_model, 1 / math.sqrt(d_model))
    v[0] += 1
    return v / np.linalg.norm(v)


def _without_ones(rows: np.ndarray) -> np.ndarray:
    """Rows (., d) as functionals on the complement of the ones, in its Householder basis: (., d - 1)."""
    v = _mirror(rows.shape[1])
    return (rows - 2 * np.outer(rows @ v, v))[:, 1:]


def _with_ones(z: np.ndarray) -> np.ndarray:
    v = _mirror(len(z) + 1)
    full = np.concatenate([[0.0], z])
    return full - 2 * v * (v @ full)
