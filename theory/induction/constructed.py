"""What the matrices of a constructed head must satisfy, inputs that bring it close to its bound, and its rounding.

Only two products of the matrices enter a head, W_Q^T W_K and W_O W_V (columns, y = W x). So the theorems of Section 3.1
of KV shifting hold for all matrices with the products of the paper's.
"""

from collections.abc import Mapping
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import choice, real, sized, whole
from theory.induction.bounds import SharpCase, copy_error_bound
from theory.induction.heads import check_keys, checked_matrix, induction_head, two_layer_alibi
from theory.induction.network import Array, construction, copied_stream

Matrices = Mapping[str, Array]
EPSILON = 2.0**-52
TAIL = 6  # tokens before the last that take all patterns
LAYERS = ("one", "second")


def paper_matrices(layer: str, dim: int, sigma: ArrayLike = 1.0) -> dict[str, Array]:
    """w_q, w_k, w_v, w_o: the identity of Appendix B ("one"), or Appendix A's second layer, whose W* = I / sigma.

    Raises ValueError as `construction`.
    """
    if choice("layer", layer, LAYERS) == "one":
        return dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), np.eye(whole("dim", dim, 1)))
    _, query, key, value, output = construction(dim, sigma, 0.0)
    return {"w_q": query, "w_k": key, "w_v": value, "w_o": output}


def broken_hypotheses(layer: str, given: Matrices, dim: int, sigma: float) -> tuple[str, ...]:
    """Which hypotheses on the matrices fail, each with the largest distance; none: the theorem is about this head.

    W_Q^T W_K = I and W_O W_V = I for one layer; W_Q^T W_K = (0, I / sigma; 0, 0) and W_O W_V = (I, 0) for the second.
    Source: kv.thm3.3.corrected and kv.thm3.2.sharp. A product may miss by its rounding.
    Args: given: w_q, w_k (d_key, width), w_v (d_value, width), w_o (dim, d_value), width = dim, or 2 dim for "second".
    Raises ValueError for other shapes.
    """
    wanted = paper_matrices(layer, dim, sigma)
    width = wanted["w_q"].shape[1]
    found = {name: checked_matrix(name, given[name], width) for name in ("w_q", "w_k", "w_v")}
    check_keys(len(found["w_q"]), len(found["w_k"]))
    found["w_o"] = checked_matrix("w_o", given["w_o"], len(found["w_v"]))
    if len(found["w_o"]) != dim:
        raise ValueError(f"w_o must have {dim} rows, got shape {found['w_o'].shape}")
    told = {"one": ("I", "I"), "second": ("(0, I/sigma; 0, 0)", "(I, 0)")}[layer]
    products = zip(("W_Q^T W_K", "W_O W_V"), _products(found), _products(wanted), told, strict=True)
    return tuple(text for text in (_missed(*each) for each in products) if text)


def _products(m: Matrices) -> tuple[tuple[Array, Array], ...]:
    return (m["w_q"].T, m["w_k"]), (m["w_o"], m["w_v"])


def _missed(name: str, factors: tuple[Array, Array], wanted: tuple[Array, Array], text: str) -> str:
    (left, right), target = factors, wanted[0] @ wanted[1]
    gap = np.abs(left @ right - target)
    allowed = 4 * (left.shape[1] + 2) * EPSILON * (np.abs(left) @ np.abs(right) + np.abs(target))
    return f"{name} is not {text}: an entry is off by {gap.max():.3g}" if (gap > allowed).any() else ""


def rounding(x: Array, slope: ArrayLike, sigma: float, matrices: Matrices) -> float:
    """What float64 may add to the difference of two computations of one head, 2^-52 times the operations in a row.

    A score is a sum of products, in the second layer of means over the length; the output moves by its error at most.
    """
    (query, key), (output, value) = _products(matrices)
    top, length = float(np.abs(x).max()), x.shape[-2]
    score = top**2 * float((np.abs(query) @ np.abs(key)).sum()) / sigma + float(np.max(slope)) * length
    size = top * float((np.abs(output) @ np.abs(value)).sum(1).max())
    return 2 * EPSILON * size * (length + 8 + (length + x.shape[-1] + 4) * score)


@sized()
def closest_case(
    length: int, dim: int, sigma: float, copy_slope: float, domain: str, slope: float | None = None
) -> SharpCase:
    """Tokens and a slope m whose |IH - TF| comes closest to `copy_error_bound` among patterns of low and high tokens.

    The last 6 tokens before x_L take all patterns, those before them are low, high or alternate, and x_L is high. Where
    m is free it is placed where two positions s < t change places: m = x_L . (k_s - k_t) / (sigma (t - s)), k_s the
    mean of x_{s-1} and y_s, so that IH and TF rank them by the same margin in opposite orders. As a function of m the
    error has a peak there as wide as that margin, of order e^{-p}.
    Source: `sharp_case`, which this extends to every length. Raises ValueError as `copy_error_bound`, and unless
    length >= 3, slope >= 0.
    """
    bound = copy_error_bound(dim, sigma, copy_slope, domain)
    length, dim, sigma = whole("length", length, 3), whole("dim", dim, 1), real("sigma", sigma)
    rows = _patterns(length, 0.0 if domain == "unit" else -1.0)
    line = sigma if domain == "ball" else sigma / dim  # the sigma of the same head on a line
    slopes = _swaps(rows, line, copy_slope) if slope is None else np.full((len(rows), 1), real("slope", slope))
    x = np.repeat(rows, slopes.shape[1], axis=0)
    error = np.abs(induction_head(x, line, slopes.ravel()) - two_layer_alibi(x, line, slopes.ravel(), copy_slope))
    best = int(np.argmax(error[:, 0] / np.where(bound > 0, bound, 1.0)))
    direction = np.eye(dim)[0] if domain == "ball" else np.ones(dim)
    return SharpCase(x[best] * direction, float(slopes.ravel()[best]))


def _patterns(length: int, low: float) -> Array:
    """Low and high tokens on a line, (patterns, length, 1)."""
    tail = min(length - 1, TAIL)
    ends = np.array(list(product((low, 1.0), repeat=tail)))
    before = [np.resize(start, length - 1 - tail) for start in ((low,), (1.0,), (low, 1.0))]
    rows = [np.hstack([np.tile(front, (len(ends), 1)), ends, np.ones((len(ends), 1))]) for front in before]
    return np.concatenate(rows if length - 1 > tail else rows[:1])[..., None]


def _swaps(rows: Array, sigma: float, copy_slope: float) -> Array:
    """Slopes at which two of the last positions change places, (patterns, pairs); 0 where none >= 0 does."""
    stream = copied_stream(rows, copy_slope)
    keys = (stream[:, :-2, 0] + stream[:, 1:-1, 1]) / 2  # of s = 2 .. L - 1; x_L is 1
    first, second = np.triu_indices(keys.shape[1], 1)
    near = first >= keys.shape[1] - TAIL
    first, second = first[near], second[near]
    found = (keys[:, first] - keys[:, second]) / (sigma * (second - first))
    return np.maximum(np.concatenate([np.zeros((len(rows), 1)), found], axis=1), 0.0)
