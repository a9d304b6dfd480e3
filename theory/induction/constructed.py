"""What the matrices of a constructed head must satisfy, inputs that bring it close to its bound, and its rounding.

Only two products of the matrices enter a head, W_Q^T W_K and W_O W_V (columns, y = W x). So the theorems of Section 3.1
of KV shifting hold for all matrices with the products of the paper's.
"""

from collections.abc import Mapping
from itertools import product

import numpy as np

from theory.checked import sized
from theory.induction.bounds import Domain, SharpCase, copy_error_bound
from theory.induction.heads import induction_head, two_layer_alibi
from theory.induction.network import Array, construction, copied_stream

Matrices = Mapping[str, Array]
NAMES = ("w_q", "w_k", "w_v", "w_o")
EPSILON = 2.0**-52
TAIL = 6  # tokens before the last that take all patterns


def paper_matrices(dim: int, sigma: float | None = None) -> dict[str, Array]:
    """The identity four times, Appendix B; with sigma the second layer of Appendix A, whose W* = I / sigma.

    Raises ValueError as `construction`.
    """
    found = [np.eye(dim)] * 4 if sigma is None else construction(dim, sigma, 0.0)[1:]
    return dict(zip(NAMES, found, strict=True))


def broken_hypotheses(given: Matrices, wanted: Matrices) -> list[str]:
    """Which products of the given matrices are not those of the wanted ones, with the largest distance of an entry.

    A product may miss by its rounding. Source: kv.thm3.3.corrected (W = I), kv.thm3.2.sharp (columns, W* = I / sigma).
    """
    told = ("(0, I/sigma; 0, 0)", "(I, 0)") if len(wanted["w_o"]) < len(wanted["w_q"]) else ("I", "I")
    found = []
    for name, text, mine, its in zip(("W_Q^T W_K", "W_O W_V"), told, _pairs(given), _pairs(wanted), strict=True):
        gap = np.abs(mine[0] @ mine[1] - its[0] @ its[1]).max()
        if gap > 4 * EPSILON * np.linalg.norm(mine[0]) * np.linalg.norm(mine[1]):
            found.append(f"{name} is not {text}: an entry is off by {gap:.3g}")
    return found


def _pairs(m: Matrices):
    return (m["w_q"].T, m["w_k"]), (m["w_o"], m["w_v"])


@sized()
def rounding(x: Array, slope: Array, sigma: float, matrices: Matrices) -> Array:
    """What float64 may add to the difference of two computations of a head: 2^-52 times the operations in a row.

    A score is a sum of products, in the second layer of means over the length; the output moves by its error at most.
    Args: x (n, length, dim), slope (n,). Returns: (n,). Raises ValueError where it overflows.
    """
    query, key, value, output = (np.linalg.norm(matrices[name]) for name in NAMES)
    top, (length, dim) = np.linalg.norm(x, axis=-1).max(-1), x.shape[-2:]
    score = top**2 * query * key / sigma + slope * length
    return EPSILON * (length + dim) * (8 + score) * top * output * value


@sized()
def closest_case(
    length: int, dim: int, sigma: float, copy_slope: float, domain: Domain, slope: float | None = None
) -> SharpCase:
    """Tokens and a slope m whose |IH - TF| comes closest to `copy_error_bound` among patterns of low and high tokens.

    The last 6 tokens before x_L take all patterns, those before them alternate, and x_L is high. Where m is free it is
    placed where two neighbours s and s + 1 change places: m = x_L . (k_s - k_{s+1}) / sigma, k_s the mean of x_{s-1}
    and y_s, so that IH and TF rank them by one margin in opposite orders. As a function of m the error has a peak there
    that is as wide as this margin, about e^{-p} of the slope.
    Source: `sharp_case`, which this extends to every length. Raises ValueError as `copy_error_bound` and
    `induction_head` do.
    """
    copy_error_bound(dim, sigma, copy_slope, domain)
    low, tail = 0.0 if domain == "unit" else -1.0, min(length - 1, TAIL)
    ends = np.array([(*ends, 1.0) for ends in product((low, 1.0), repeat=tail)])
    rows = np.hstack([np.tile(np.resize((low, 1.0), length - 1 - tail), (len(ends), 1)), ends])[..., None]
    line = sigma / (1 if domain == "ball" else dim)  # of the same head on a line
    stream = copied_stream(rows, copy_slope)
    keys = (stream[:, :-2, 0] + stream[:, 1:-1, 1])[:, -TAIL - 1 :] / 2  # of the last positions, where x_L = 1
    slopes = np.maximum(-np.diff(keys, append=keys[:, -1:]) / line, 0.0)  # the last one is 0
    if slope is not None:
        slopes = np.full((len(rows), 1), slope)
    x, m = np.repeat(rows, slopes.shape[1], axis=0), slopes.ravel()
    best = np.argmax(np.abs(induction_head(x, line, m) - two_layer_alibi(x, line, m, copy_slope)))
    return SharpCase(x[best] * (np.eye(dim)[0] if domain == "ball" else np.ones(dim)), float(m[best]))
