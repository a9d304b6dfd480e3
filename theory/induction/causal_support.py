"""Proofs about Theorem 3.3: impossible on the causal support, true on {2..L-1}, and the exact gap between the two.

Every function returns a residual (sympy or Fraction) that is zero exactly when its statement is proved; its arguments
allow wrong variants. The sharpness proofs of Theorem 3.2 are in `sharpness`, masks and the sentence about the latest
match in `regime`.
"""

from typing import NamedTuple

import sympy as sp

from theory.induction.symbolic import (
    IDENTITY,
    Pair,
    attend,
    induction_terms,
    kv_shift_terms,
    positions,
    reduced,
    symbolic_tokens,
)
from theory.symbols import sigma


class Elimination(NamedTuple):
    """Outcome of the linear elimination: either multipliers with sum_k multiplier_k f_k = 1, or a solution."""

    equations: tuple[sp.Expr, ...]
    multipliers: tuple[sp.Expr, ...] | None
    solution: dict[sp.Symbol, sp.Expr] | None


def _unknowns(dim: int) -> tuple[sp.Matrix, sp.Matrix]:
    """beta1 M and beta2 M, M the product of all value and output maps; nothing else of them matters."""
    return tuple(sp.Matrix(dim, dim, sp.symbols(f"{name}1:{dim * dim + 1}", real=True)) for name in ("u", "v"))


def probe_equations(support: str, length: int = 3, dim: int = 1) -> tuple[list[sp.Expr], list[sp.Symbol]]:
    """Output - IH, coordinate by coordinate, at three inputs that are zero but for one token t e_1.

    The input k has its nonzero token at L, 1, 2. Attention weights a_{k,s} > 0 and weights p_s > 0 of IH are free
    symbols, so whatever parameters, slope and scale produced them is covered: the equations are linear in
    U = beta1 M and V = beta2 M.
    """
    own, before = _unknowns(dim)
    zero, token = sp.zeros(dim, 1), sp.zeros(dim, 1)
    token[0] = sp.Symbol("t", positive=True)
    equations = []
    for probe, place in enumerate((length, 1, 2), start=1):
        x = [zero] + [token if s == place else zero for s in range(1, length + 1)]  # x[0] is the padding
        output, head = zero, zero
        for s in positions(support, length):
            output = output + sp.Symbol(f"a_{probe}_{s}", positive=True) * (own * x[s] + before * x[s - 1])
        for s in range(2, length):
            head = head + sp.Symbol(f"p_{probe}_{s}", positive=True) * x[s]
        equations += list(output - head)
    return equations, [*own, *before]


def impossibility(support: str = "causal", length: int = 3, dim: int = 1) -> Elimination:
    """Decide the linear system of `probe_equations` by elimination over the field of rational functions of the weights.

    On "causal" it has no solution: the first input forces U e_1 = 0, the second then V e_1 = 0, and the third asks for
    0 = p_2 t e_1. On "inner" it has one, V e_1 = 0 and U e_1 = (p_2 / a_2) e_1, that is beta = (1, 0) and M = I.
    """
    equations, unknowns = probe_equations(support, length, dim)
    matrix, right = sp.linear_eq_to_matrix(equations, unknowns)
    factors = sp.symbols(f"q1:{len(equations) + 1}")
    # f = matrix z - right, so sum q_k f_k = 1 for every z means q matrix = 0 and -q right = 1
    row = sp.Matrix([factors])
    found = sp.solve([*(row * matrix), (-row * right)[0] - 1], factors, dict=True)
    if found:
        multipliers = tuple(factor.subs(found[0]).subs(dict.fromkeys(factors, 0)) for factor in factors)
        return Elimination(tuple(equations), multipliers, None)
    solved = sp.solve(equations, unknowns, dict=True)
    return Elimination(tuple(equations), None, solved[0] if solved else None)


def impossibility_residual(support: str = "causal", length: int = 3, dim: int = 1) -> sp.Expr:
    """sum_k multiplier_k f_k - 1: zero proves that no parameters give IH. -1 where no multipliers exist.

    On this support the equality of Theorem 3.3 then fails for every alpha, beta, every linear W_Q, W_K, W_V, W_O (and
    linear embeddings of any width), every finite slope and scale, on any domain that contains 0 and a multiple of e_1.
    nan if a multiplier has a denominator that is not certainly positive.
    """
    elimination = impossibility(support, length, dim)
    if elimination.multipliers is None:
        return sp.Integer(-1)
    denominators = [sp.fraction(sp.together(q))[1] for q in elimination.multipliers]
    if not all(denominator.is_positive for denominator in denominators):
        return sp.nan
    total = sp.Add(*(q * f for q, f in zip(elimination.multipliers, elimination.equations, strict=True)))
    return sp.cancel(sp.together(total - 1))


def inner_residuals(
    length: int,
    dim: int,
    support: str = "inner",
    alpha: Pair = IDENTITY[0],
    beta: Pair = IDENTITY[1],
    scale: sp.Expr = 1 / sigma,
) -> tuple[sp.Expr, ...]:
    """KVSA - IH on general symbols, a numerator a coordinate: all zero on {2..L-1} with alpha = (0, 1), beta = (1, 0).

    With Eq. 6's own scale 1/sqrt(d) it needs alpha2 = sqrt(d) / sigma.
    """
    tokens = symbolic_tokens(length, dim)
    head = attend(kv_shift_terms(tokens, support, alpha, beta, scale))
    return tuple(reduced(a - b) for a, b in zip(head, attend(induction_terms(tokens)), strict=True))
