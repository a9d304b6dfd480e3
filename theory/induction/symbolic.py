"""The heads of KV shifting, Section 3.1, on sympy tokens, and exact zero tests for identities between them.

Tokens are tuples of L tuples of d expressions, x_1 first. An expression in exponentials is reduced by reading each
distinct elementary exponential as an independent symbol: a zero then is a proof.
"""

from collections.abc import Sequence
from fractions import Fraction

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


class ExponentialSum:
    """sum_q c_q e^q with rational q and c_q; zero only if every c_q is (Lindemann-Weierstrass)."""

    def __init__(self, terms: dict[Fraction, Fraction] | None = None):
        self.terms = {q: c for q, c in (terms or {}).items() if c != 0}

    def __add__(self, other: "ExponentialSum") -> "ExponentialSum":
        total = dict(self.terms)
        for q, c in other.terms.items():
            total[q] = total.get(q, Fraction(0)) + c
        return ExponentialSum(total)

    def __mul__(self, other: "ExponentialSum") -> "ExponentialSum":
        total: dict[Fraction, Fraction] = {}
        for q, c in self.terms.items():
            for p, b in other.terms.items():
                total[q + p] = total.get(q + p, Fraction(0)) + c * b
        return ExponentialSum(total)

    def size(self) -> Fraction:
        """Largest |c_q|; 0 exactly where the number is 0."""
        return max((abs(c) for c in self.terms.values()), default=Fraction(0))


def exact_inner_residual(
    x: Sequence[Sequence[Fraction]],
    temperature: Fraction,
    decay: Fraction,
    support: str = "inner",
    alpha: tuple[int, int] = (0, 1),
    beta: tuple[int, int] = (1, 0),
) -> Fraction:
    """KVSA(x) - IH(x), cross-multiplied, at rational tokens, sigma = temperature, m = decay; 0 exactly if equal."""
    length, dim = len(x), len(x[0])
    padded = [[Fraction(0)] * dim, *x]

    def terms(places, mix_key, mix_value):
        for s in places:
            key = [mix_key[0] * a + mix_key[1] * b for a, b in zip(padded[s], padded[s - 1], strict=True)]
            match = sum((a * b for a, b in zip(padded[length], key, strict=True)), Fraction(0))
            weight = ExponentialSum({match / temperature - decay * (length - s): Fraction(1)})
            yield weight, [mix_value[0] * a + mix_value[1] * b for a, b in zip(padded[s], padded[s - 1], strict=True)]

    def parts(all_terms, k):
        above, below = ExponentialSum(), ExponentialSum()
        for weight, value in all_terms:
            above, below = above + weight * ExponentialSum({Fraction(0): value[k]}), below + weight
        return above, below

    head = list(terms(positions(support, length), alpha, beta))
    truth = list(terms(range(2, length), (0, 1), (1, 0)))
    worst = Fraction(0)
    for k in range(dim):
        (a, b), (c, d) = parts(head, k), parts(truth, k)
        worst = max(worst, (a * d + ExponentialSum({Fraction(0): Fraction(-1)}) * c * b).size())
    return worst
