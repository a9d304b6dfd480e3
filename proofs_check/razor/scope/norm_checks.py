"""Margins for Appendix A, Eq. 6 to 8: sizes of post-norm states and of their products."""

from fractions import Fraction

import sympy as sp

from proofs_check.evidence.margin import Margin, ball_above, ball_within, identity, worst
from proofs_check.oracles.alibi import BallHead, ball, ball_scores, normalised

ZERO = Fraction(0)


def _unit(d: int) -> tuple[int, ...]:
    return (1, *[0] * (d - 1))


def _hidden(d: int, norm: str) -> tuple[int, ...]:
    """A hidden state whose first component is as large after the norm as it can be."""
    return _unit(d) if norm == "rms" else (d - 1, *[-1] * (d - 1))


def squared_size(d: int, norm: str, gamma, bias) -> object:
    head = BallHead(norm, gamma, bias, (), (), 1)
    return sum((x * x for x in normalised(head, _hidden(d, norm))), ball(0))


def normed_size_of(power: int = 1) -> Margin:
    """S/sigma^2 = d for a free sum of squares S > 0, sigma^2 = S/d."""
    total, d = sp.symbols("S d", positive=True)
    return identity(total / (total / d) ** power, d)


def doubled(sign: int = 1) -> Margin:
    """2 a^2 + 2 b^2 - (a + b)^2 = (a - b)^2, component by component."""
    a, b = sp.symbols("a b", real=True)
    return identity(2 * a**2 + 2 * b**2 - (a + b) ** 2, (a - sign * b) ** 2)


def gains_exceed(d: int, norm: str) -> Margin:
    """||g z||^2 > ||g||^2 at g = e_1, in balls."""
    size = squared_size(d, norm, _unit(d), (0,) * d)
    return ball_above(size, 1)


def largest_gain_bounds(sign: int = 1) -> Margin:
    """G^2 z^2 - g^2 z^2 = (G - g)(G + g) z^2, g <= G; and (a + b)^2 - |x + y|^2 = 2 (a b - x.y) where |x| = a, |y| =
    b."""
    top, g, z, a, b, inner = sp.symbols("G g z a b inner", real=True)
    return worst(
        [
            identity(top**2 * z**2 - g**2 * z**2, (top - g) * (top + g) * z**2),
            identity((a + b) ** 2 - (a**2 + b**2 + 2 * inner), 2 * (a * b - sign * inner)),
        ]
    )


def range_over_numerator(d: int, d_head: int, root: bool = True) -> Margin:
    """M = e_1 e_1^T, gamma = e_1, RMSNorm, b = 0: the logits of the query sqrt(d) e_1 on the states sqrt(d) e_1 and its
    mirror image are 2 d apart, in balls; over sqrt(d_head) and the numerator 2 that is at least sqrt(d)."""
    first, none = _unit(d), (0,) * d
    head = BallHead("rms", first, none, (first,), (first,), 1)
    low, own = ball_scores(head._replace(slope=0), [tuple(-e for e in first), first])
    wide = own - low
    near = Fraction(1, 10**11)
    ratio = wide / ball(d_head).sqrt() / 2 if root else wide / ball(d_head) / 2
    return worst([ball_within(abs(wide - 2 * d), near), ball_within(ball(d).sqrt() - ratio, near)])


def safe_side(power: int = 1) -> Margin:
    """With d = d_head + t the square of d/sqrt(d_head) exceeds d by d t/d_head."""
    d_head, more = sp.symbols("d_h t", positive=True)
    d = d_head + more
    return identity(d**2 / d_head**power - d, d * more / d_head)


def range_bound(d: int, gain: Fraction, bias: Fraction, constant: str = "sum") -> Margin:
    """(sqrt(d) max|g| + ||b||)^2 bounds and meets ||x||^2 for RMSNorm with equal gains and b along e_1, in balls."""
    head = BallHead("rms", (gain,) * d, (bias, *[0] * (d - 1)), (), (), 1)
    x = normalised(head, _unit(d))
    size = sum((e * e for e in x), ball(0))
    reach = ball(d).sqrt() * ball(gain) + ball(bias)
    bound = reach * reach if constant == "sum" else ball(d * gain**2 + bias**2)
    near = Fraction(1, 10**12)
    return worst([ball_within(size - bound, near), ball_within(abs(reach * reach - size), near)])


def bilinear(d_head: int, d_model: int, swap: bool = False, printed: bool = False) -> Margin:
    """q . k = x . W_Q^T W_K y entry by entry; `swap` has the other product, `printed` W_Q W_K (square ones only)."""
    w_q = sp.Matrix(d_head, d_model, lambda i, j: sp.Symbol(f"q{i}{j}"))
    w_k = sp.Matrix(d_head, d_model, lambda i, j: sp.Symbol(f"k{i}{j}"))
    x, y = (sp.Matrix(d_model, 1, lambda i, _, n=name: sp.Symbol(f"{n}{i}")) for name in "xy")
    middle = w_k.T * w_q if swap else w_q.T * w_k
    middle = w_q * w_k if printed else middle
    return identity((w_q * x).dot(w_k * y), (x.T * middle * y)[0, 0])
