"""The heads of KV shifting, Section 3.1, on sympy tokens, and a zero test for identities between them.

Tokens are tuples of L tuples of d expressions, x_1 first. An expression in exponentials is reduced by reading each
distinct elementary exponential as an independent symbol: a zero then is a proof.
"""

from collections.abc import Sequence

import sympy as sp

from theory.checked import choice, whole
from theory.induction.network import LEFT_OUT
from theory.symbols import sigma, slope

Tokens = Sequence[Sequence[sp.Expr]]
Pair = tuple[sp.Expr, sp.Expr]
IDENTITY: tuple[Pair, Pair] = ((sp.Integer(0), sp.Integer(1)), (sp.Integer(1), sp.Integer(0)))


def symbolic_tokens(length: int, dim: int) -> tuple[tuple[sp.Symbol, ...], ...]:
    """Independent real symbols for x_1 .. x_L in R^d."""
    length, dim = whole("length", length, 1), whole("dim", dim, 1)
    return tuple(tuple(sp.Symbol(f"x_{s}_{k}", real=True) for k in range(1, dim + 1)) for s in range(1, length + 1))


def positions(support: str, length: int) -> range:
    """1-based positions of "inner" {2..L-1} or "causal" {1..L}. Raises ValueError for another name."""
    start, end = LEFT_OUT[choice("support", support, ("inner", "causal"))]
    length = whole("length", length, 1)
    return range(1 + start, length - end + 1)


def _dot(a: Sequence[sp.Expr], b: Sequence[sp.Expr]) -> sp.Expr:
    return sp.Add(*(p * q for p, q in zip(a, b, strict=True)))


def _mixed(tokens: Tokens, s: int, mix: Pair) -> tuple[sp.Expr, ...]:
    """mix_1 x_s + mix_2 x_{s-1}, x_0 = 0 (Eq. 5)."""
    own = tokens[s - 1]
    before = tokens[s - 2] if s >= 2 else (sp.Integer(0),) * len(own)
    return tuple(mix[0] * a + mix[1] * b for a, b in zip(own, before, strict=True))


def kv_shift_terms(tokens: Tokens, support: str, alpha: Pair, beta: Pair, scale: sp.Expr = 1 / sigma):
    """(score, value) of every attended position: Eq. 5-6 with identity projections and ALiBi slope m."""
    length = len(tokens)
    return [
        (
            sp.expand(scale * _dot(tokens[-1], _mixed(tokens, s, alpha)) - slope * (length - s)),
            _mixed(tokens, s, beta),
        )
        for s in positions(support, length)
    ]


def induction_terms(tokens: Tokens):
    """(score, value) of Definition 3.1: x_L . x_{s-1} / sigma - m |L - s| and x_s for s = 2..L-1."""
    length = len(tokens)
    return [
        (sp.expand(_dot(tokens[-1], tokens[s - 2]) / sigma - slope * abs(length - s)), tuple(tokens[s - 1]))
        for s in range(2, length)
    ]


def attend(terms) -> tuple[sp.Expr, ...]:
    """Softmax average of the values."""
    partition = sp.Add(*(sp.exp(score) for score, _ in terms))
    return tuple(
        sp.Add(*(sp.exp(score) * value[k] for score, value in terms)) / partition for k in range(len(terms[0][1]))
    )


def reduced(expression: sp.Expr) -> sp.Expr:
    """Numerator of `expression`, its exponentials read as independent; 0 proves that the expression vanishes."""
    names: dict[sp.Expr, sp.Symbol] = {}
    powers = {}
    for atom in sorted(expression.atoms(sp.exp), key=sp.default_sort_key):
        factors = []
        for term in sp.Add.make_args(sp.expand(atom.exp)):
            coefficient, monomial = term.as_coeff_Mul(rational=True)
            factors.append(names.setdefault(monomial, sp.Dummy(positive=True)) ** coefficient)
        powers[atom] = sp.Mul(*factors)
    return sp.expand(sp.fraction(sp.together(expression.xreplace(powers)))[0])
