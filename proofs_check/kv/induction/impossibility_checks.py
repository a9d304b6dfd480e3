"""Margins for Theorem 3.3 and Appendix B: the elimination, the head on {2..L-1}, its distance on the causal mask."""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, ball_at_least, identity, same, worst
from proofs_check.kv.induction.exact_heads import DECAY, MATCH_WEIGHT, Numbers, dot, induction_weights, rational
from proofs_check.kv.induction.general_checks import positive, same_term
from proofs_check.kv.induction.representation_checks import error
from proofs_check.ledger.claim import Effort, Point
from proofs_check.ledger.mathematical import identities, not_identity
from theory import induction
from theory.induction.causal_support import impossibility_residual, inner_residuals
from theory.induction.sharpness import COPY_ERROR_BOUNDS
from theory.induction.symbolic import IDENTITY, attend, induction_terms, kv_shift_terms, reduced, symbolic_tokens
from theory.lowering.precision import working
from theory.symbols import copy_slope, sigma

Row = tuple[int, ...]


def impossible(length: int, dim: int, support: str = "causal") -> Margin:
    """Multipliers with sum_k multiplier_k (output - IH)_k = 1: no parameters make all differences zero."""
    return same(impossibility_residual(support, length, dim), sp.Integer(0))


def inner_head(length: int, dim: int, **wrong) -> Margin:
    """Appendix B's head over {2..L-1} is IH: residuals on free tokens, sigma and m."""
    return worst([identity(residual, 0) for residual in inner_residuals(length, dim, **wrong)])


ROOT = sp.sqrt(sp.Symbol("D", positive=True))


def key_scale_term(alpha2: sp.Expr | int = ROOT / sigma, **wrong) -> Margin:
    """At a general place and coordinate, divisor sqrt(D) of Eq. 6, any D: alpha2 = sqrt(D) / sigma gives IH's score."""
    return same_term(alpha=(0, alpha2), scale=1 / ROOT, **wrong)


def _epsilon(x: Sequence[Row], numbers: Numbers):
    """Share of the causal head on tokens 1 and L."""
    ends = numbers.weight(0, len(x) - 1) + numbers.weight(dot(x[-1], x[-2]), 0)
    return ends / (ends + sum(induction_weights(x, numbers).values()))


def _ball_share(length: int, match_weight: int, decay: Fraction, ends: int = 2) -> Fraction:
    """a/(a+Z), a = e^{-m(L-1)} + e^{1/sigma}, Z = e^{-1/sigma} sum_j e^{-mj}; `ends` = 1 forgets token 1."""
    a = match_weight + (decay ** (length - 1) if ends == 2 else 0)
    return a / (a + sum(decay**j for j in range(1, length - 1)) / match_weight)


def ball_bound(x: Sequence[Row], match_weight: int, decay: Fraction, ends: int = 2) -> Margin:
    """epsilon <= a/(a+Z)."""
    return at_most(_epsilon(x, rational(match_weight, decay)), _ball_share(len(x), match_weight, decay, ends))


def ball_reached(length: int, match_weight: int, decay: Fraction, last: int = 1) -> Margin:
    """Equality at x_1 = .. = x_{L-2} = -u, x_{L-1} = x_L = u."""
    x = [(-1,)] * (length - 2) + [(last,), (1,)]
    return same(_epsilon(x, rational(match_weight, decay)), _ball_share(length, match_weight, decay))


def share_grows(sign: int = 1) -> Margin:
    """a/(a+Z) grows with a and falls with Z: it is larger at a + more, Z than at a, Z + lost."""
    a, z, more, lost = sp.symbols("a Z more lost", positive=True)
    return positive(sp.factor((a + more) / (a + more + z) - a / (a + z + sign * lost)))


def ball_limit(factor: int = 1) -> Margin:
    """L -> infinity of the bound: t/(1 + t), t = e^{2/sigma} (e^m - 1); the sum is geometric with e^{-m} < 1."""
    z = DECAY / (1 - DECAY) / MATCH_WEIGHT
    t = factor * MATCH_WEIGHT**2 * (1 / DECAY - 1)
    return identity(sp.cancel(MATCH_WEIGHT / (MATCH_WEIGHT + z)), sp.cancel(t / (1 + t)))


def line_tokens(effort: Effort) -> Iterator[Point]:
    """All tokens in {-1, 0, 1}, d = 1."""
    for length in range(3, 6 if effort is Effort.QUICK else 8):
        for values in itertools.product((-1, 0, 1), repeat=length):
            yield {"x": [(v,) for v in values], "match_weight": 3, "decay": Fraction(2, 3)}


def vanishes(domain: str, variable: sp.Symbol = copy_slope) -> Margin:
    """The sharp bound tends to 0 as p -> infinity; `variable` sigma -> 0 instead, where it does not."""
    limit = sp.limit(COPY_ERROR_BOUNDS[domain], variable, sp.oo if variable is copy_slope else 0)
    return same(limit, sp.Integer(0))


def lost_in_floats(ratio: Fraction) -> Margin:
    """In float64 the error of the network is exactly 0 where the true one is positive."""
    x = [[0], [1], [1], [0], [1]]
    with working(300):
        true = ball_at_least(error(x, 1, 0, ratio), strict=True)
    found = induction.two_layer_alibi(x, 1.0, 0.0, -float(np.log(float(ratio))))
    head = induction.induction_head(x, 1.0, 0.0)
    return worst([same(*(tuple(map(Fraction, row.tolist())) for row in (found, head))), true])


def first_token_matters(length: int, dim: int, alpha: tuple[int, int] = (1, 0)) -> Margin:
    """IH depends on x_1; a head over {2..L-1} with keys of alpha = (1, 0), the vanilla one, does not."""
    tokens = symbolic_tokens(length, dim)
    swapped = (tuple(sp.Symbol(f"z_{k}", real=True) for k in range(1, dim + 1)), *tokens[1:])
    key = tuple(sp.Integer(a) for a in alpha)
    heads = [attend(kv_shift_terms(x, "inner", key, IDENTITY[1])) for x in (tokens, swapped)]
    truths = [attend(induction_terms(x)) for x in (tokens, swapped)]
    same_heads = identities([reduced(a - b) for a, b in zip(*heads, strict=True)], [sp.Integer(0)] * dim)
    return worst([same_heads, not_identity(reduced(truths[0][0] - truths[1][0]), 0)])
