"""One ALiBi head in Arb balls, from hidden states to attention weights, sharing no formula with `theory`."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from flint import arb, fmpq

Rational = int | Fraction


class BallHead(NamedTuple):
    """Norm, gains and bias of the input, W_Q and W_K (d_head, d_model) and the slope, all exact."""

    norm: str
    gamma: tuple[Rational, ...]
    bias: tuple[Rational, ...]
    w_q: tuple[tuple[Rational, ...], ...]
    w_k: tuple[tuple[Rational, ...], ...]
    slope: Rational


def ball(value: Any) -> arb:
    """An exact number as a ball; a ball as it is."""
    if isinstance(value, arb):
        return value
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


def normalised(head: BallHead, hidden: Sequence[Rational]) -> list[arb]:
    """LayerNorm or RMSNorm (no epsilon) of an exact vector, with gains and bias."""
    mean = Fraction(sum(hidden)) / len(hidden) if head.norm == "layer" else Fraction(0)
    centred = [Fraction(h) - mean for h in hidden]
    deviation = ball(sum((c * c for c in centred), Fraction(0)) / len(hidden)).sqrt()
    return [ball(g) * ball(c) / deviation + ball(b) for g, c, b in zip(head.gamma, centred, head.bias, strict=True)]


def ball_scores(head: BallHead, hidden: Sequence[Sequence[Rational]]) -> list[arb]:
    """q_m . k_n - slope (m - n) of the last token on every token, as Eq. 1 has it: no 1/sqrt(d_head)."""
    states = [normalised(head, h) for h in hidden]
    query = _times(head.w_q, states[-1])
    last = len(states) - 1
    return [_dot(query, _times(head.w_k, x)) - ball(head.slope) * (last - n) for n, x in enumerate(states)]


def ball_softmax(scores: Sequence[arb]) -> list[arb]:
    """Weights of exact or ball scores; the largest score is taken out first."""
    top = max(scores, key=lambda s: float(s.mid()))
    powers = [(score - top).exp() for score in scores]
    total = sum(powers, arb(0))
    return [power / total for power in powers]


def ball_weights(head: BallHead, hidden: Sequence[Sequence[Rational]]) -> list[arb]:
    """Attention of the last token over all tokens."""
    return ball_softmax(ball_scores(head, hidden))


def printed_scope(head: BallHead, product_norm: Rational | arb, eps: Rational) -> arb:
    """Eq. 2 with the given value of its spectral norm."""
    norms = sum((Fraction(g) ** 2 for g in head.gamma), Fraction(0)) + sum(
        (Fraction(b) ** 2 for b in head.bias), Fraction(0)
    )
    return (ball(product_norm) * ball(2 * norms) - ball(eps).log()) / ball(head.slope)


def _times(rows: Sequence[Sequence[Rational]], vector: Sequence[arb]) -> list[arb]:
    return [_dot([ball(entry) for entry in row], vector) for row in rows]


def _dot(left: Sequence[arb], right: Sequence[arb]) -> arb:
    return sum((a * b for a, b in zip(left, right, strict=True)), arb(0))
