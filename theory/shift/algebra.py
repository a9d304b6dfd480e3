"""The shift of Eq. 5 as algebra (KV shifting, section 2.2): matrices, key-value offsets, and small exact attention.

A kernel is a sequence of coefficients, the j-th of which multiplies the token j places back; (alpha1, alpha2) for keys.
"""

from collections.abc import Sequence

import sympy as sp

from theory.checked import whole

Kernel = Sequence[sp.Expr | int]


def shift_matrix(length: int) -> sp.Matrix:
    """Shift as a (length, length) matrix: discard the last token, pad a zero at the beginning."""
    length = whole("length", length, 1)
    return sp.Matrix(length, length, lambda row, column: int(row == column + 1))


def mixing_matrix(kernel: Kernel, length: int) -> sp.Matrix:
    """c_0 I + c_1 Shift + c_2 Shift^2 + ..., (length, length), lower triangular; Eq. 5 is mixing_matrix(alpha) @ K."""
    step = shift_matrix(length)
    return sum((weight * step**back for back, weight in enumerate(kernel)), sp.zeros(step.rows, step.rows))


def offset_weights(key: Kernel, value: Kernel) -> dict[int, sp.Expr]:
    """The weights of the values that one attended key reads, by their offset: {value index - key index: weight}.

    The key of position s mixes tokens s - j, its value tokens s - k; the pair (j, k) reads the value at offset j - k of
    the key that matched. Offsets whose coefficients cancel are left out.
    """
    weights: dict[int, sp.Expr] = {}
    for j, left in enumerate(key):
        for k, right in enumerate(value):
            weights[j - k] = weights.get(j - k, sp.Integer(0)) + sp.sympify(left) * sp.sympify(right)
    return {offset: weight for offset, weight in sorted(weights.items()) if sp.expand(weight) != 0}


def softmax(scores: Sequence[sp.Expr]) -> list[sp.Expr]:
    """e^{s_k} / sum e^{s}, symbolically."""
    raised = [sp.exp(score) for score in scores]
    total = sum(raised, sp.Integer(0))
    return [term / total for term in raised]


def tokens(length: int, dim: int = 1, name: str = "x") -> sp.Matrix:
    """Rows of real symbols, (length, dim), called name_<position>_<coordinate>, both from 1."""
    length, dim = whole("length", length, 1), whole("dim", dim, 1)
    return sp.Matrix(length, dim, lambda row, column: sp.Symbol(f"{name}_{row + 1}_{column + 1}", real=True))


def shifted_attention(states: sp.Matrix, key: Kernel, value: Kernel, scale: sp.Expr | int = 1) -> sp.Matrix:
    """Causal attention with mixed keys and values and identity projections, (length, dim); logits are divided by scale.

    Source: KV shifting, Eq. 4-6 with an additive causal mask.
    """
    length = states.rows
    keys, values = mixing_matrix(key, length) * states, mixing_matrix(value, length) * states
    rows = []
    for place in range(length):
        scores = [states.row(place).dot(keys.row(other)) / scale for other in range(place + 1)]
        weights = softmax(scores)
        rows.append(sum((w * values.row(s) for s, w in enumerate(weights)), sp.zeros(1, states.cols)))
    return sp.Matrix.vstack(*rows)
