"""How a head's output changes if some tokens are dropped: an identity and a bound, for any positional bias or none.

With weights a_i = e^{x_i} / sum e^{x}, T = the weight of the dropped tokens, vbar their weighted mean value, o the full
output and o_K the output over the kept tokens: o - o_K = T (vbar - o_K). RoPE only changes the logits x and obeys this
page as well; the sharp T under ALiBi is in `theory.alibi`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from theory.checked import NONNEGATIVE, UNIT, choice, reals, shown, sized
from theory.lowering.digits import odds_share
from theory.records import comparable

Array = NDArray[np.float64]
Norm = Literal["rms", "layer"]


@comparable
class Truncation(NamedTuple):
    """The parts of o - o_K = mass (dropped_mean - truncated); the outputs have shape (d_v,)."""

    mass: float
    full: Array
    truncated: Array
    dropped_mean: Array


def checked_head(logits: ArrayLike, values: ArrayLike) -> tuple[Array, Array]:
    """Logits (n,) and values (n, d_v) as float64. Raises ValueError for other shapes and numbers not finite."""
    x, v = reals("logits", logits), reals("values", values)
    if x.ndim != 1 or v.ndim != 2 or len(x) != len(v) or not v.size:
        raise ValueError(f"logits (n,) and values (n, d_v) must agree, n >= 1: got {x.shape} and {v.shape}")
    return x, v


def checked_dropped(dropped: ArrayLike, count: int) -> NDArray[np.bool_]:
    """A mask (n,) that drops and keeps at least one token each. Raises ValueError otherwise."""
    try:
        mask = np.asarray(dropped)
    except ValueError:
        raise ValueError(f"dropped must be a mask of shape ({count},), got {shown(dropped)}") from None
    if isinstance(dropped, np.ma.MaskedArray) or mask.dtype != np.bool_ or mask.shape != (count,):
        raise ValueError(f"dropped must be a mask of shape ({count},), got {mask.dtype} of shape {mask.shape}")
    if mask.all() or not mask.any():
        raise ValueError(f"dropped must drop and keep at least one of the {count} tokens, got {mask.sum()} dropped")
    return mask


@sized()
def attend(logits: ArrayLike, values: ArrayLike) -> Array:
    """Output of a head: sum_i a_i v_i with a = softmax(logits).

    Args: logits (n,), every positional bias and scale included; values (n, d_v). Returns: (d_v,).
    Raises ValueError for shapes that do not agree and numbers that are not finite.
    """
    x, v = checked_head(logits, values)
    weights = np.exp(x - x.max())
    return (weights / weights.sum()) @ v


@sized()
def truncate(logits: ArrayLike, values: ArrayLike, dropped: ArrayLike) -> Truncation:
    """The head with and without the dropped tokens: o - o_K = T (vbar - o_K), an identity.

    Source: the step that RazorAttention, Section 3.1 leaves out ("we can safely discard them").
    Args: logits (n,); values (n, d_v); dropped, a mask (n,) that drops and keeps at least one token: a window, a window
    with sinks, or any other set.
    Raises ValueError for shapes that do not agree, numbers that are not finite, and a mask of all or none.
    """
    x, v = checked_head(logits, values)
    mask = checked_dropped(dropped, len(x))
    mass = float(odds_share(logsumexp(x[mask]) - logsumexp(x[~mask])))
    return Truncation(mass, attend(x, v), attend(x[~mask], v[~mask]), attend(x[mask], v[mask]))


@sized()
def output_error_bound(mass: ArrayLike, value_diameter: ArrayLike) -> Array:
    """||o - o_K|| <= T diam(V): both means lie in the convex hull of the values.

    Args: mass, T or a bound on it, in [0, 1]; value_diameter, the largest ||v_i - v_j||. Both broadcast.
    Reached when the dropped values are all one end of a diameter and the kept values the other.
    Raises ValueError for a mass outside [0, 1] and a negative or infinite diameter.
    """
    return reals("mass", mass, UNIT) * reals("value_diameter", value_diameter, NONNEGATIVE)


@sized()
def value_diameter(w_v: ArrayLike, gamma: ArrayLike, norm: Norm = "rms") -> float:
    """Diameter of all values W_V (gamma z + b) + b_V of normalised states: 2 sqrt(d) sigma_max(W_V Gamma P).

    P removes the mean ("layer") or nothing ("rms"). Both biases cancel in v_i - v_j; the extent is reached by z and -z.
    Args: w_v (d_v, d); gamma (d,). Raises ValueError for shapes that do not agree, numbers that are not finite, and
    d = 1 with "layer", where no state has norm sqrt(d).
    """
    choice("norm", norm, get_args(Norm))
    weights, scale = reals("w_v", w_v), reals("gamma", gamma)
    if weights.ndim != 2 or not weights.size or scale.shape != weights.shape[1:]:
        raise ValueError(f"w_v (d_v, d) and gamma (d,) must agree, got {weights.shape} and {scale.shape}")
    if norm == "layer" and len(scale) < 2:
        raise ValueError("a LayerNorm of width 1 has no state of norm sqrt(d): d must be >= 2")
    scaled = weights * scale
    if norm == "layer":
        scaled = scaled - scaled.mean(axis=1, keepdims=True)
    return float(2.0 * np.sqrt(len(scale)) * np.linalg.norm(scaled, 2))


@sized()
def eviction_errors(logits: ArrayLike, values: ArrayLike) -> Array:
    """What evicting each token alone costs: ||o - o_{-j}|| = a_j / (1 - a_j) ||v_j - o|| = a_j ||v_j - o_{-j}||.

    The attention weight alone (H2O's score) and a_j ||v_j|| order tokens differently: a sink with a small value is the
    worst token to evict, not the best.
    Args: logits (n,), values (n, d_v), n >= 2. Returns: (n,). Raises ValueError as `truncate` does.
    """
    x, v = checked_head(logits, values)
    if len(x) < 2:
        raise ValueError("evicting the only token leaves no output: n must be >= 2")
    weights = np.exp(x - logsumexp(x))
    top = int(np.argmax(x))
    others = np.arange(len(x)) != top
    # 1 - a_j loses all digits for a heavy token, of which there is one at most: its rest is summed afresh.
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = weights / (1.0 - weights) * np.linalg.norm(v - weights @ v, axis=1)
    errors[top] = weights[top] * np.linalg.norm(v[top] - attend(x[others], v[others]))
    return errors
