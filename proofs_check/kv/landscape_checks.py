"""Margins for Theorem 3.4 and Appendix C: closed forms against attention over one-hot rows, exact moments, limits."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import sympy as sp

from dynamics.tasks import length_law_exact
from proofs_check.claim import Effort, Interval
from proofs_check.margin import (
    Margin,
    ball_at_least,
    balls_apart,
    close,
    different,
    identity,
    less,
    same,
    worst,
)
from proofs_check.oracles import (
    ball_one_hot_logits,
    ball_one_hot_loss,
    one_hot_logits,
    one_hot_loss,
    sentence,
    symbolic_one_hot_logits,
)
from proofs_check.tolerances import ROUNDING
from theory import landscape
from theory import landscape_symbolic as symbolic
from theory.ball import BallFunction, to_ball
from theory.precision import working
from theory.symbols import PARAMETERS, alpha1, alpha2, beta1, beta2, n_tokens, rest_logits, rest_scores

TABLE = symbolic.interior_table()
# the two O(T) of Eq. 10 at their exact values
EXACT_RESTS = {rest_scores: n_tokens - 2, rest_logits: (n_tokens - 4) * sp.exp((beta1 + beta2) / TABLE.partition)}
PRINTED = symbolic.printed_loss().subs(EXACT_RESTS)


def _lowered(expr: sp.Expr):
    function = BallFunction([expr], [*(str(p) for p in PARAMETERS), "n_tokens"])
    return lambda *point: function(*(to_ball(value) for value in point))[0]


PRINTED_LOSS = _lowered(PRINTED)
EXACT_LOSS = _lowered(symbolic.loss(TABLE))
PRINTED_EDGE = _lowered(symbolic.printed_edge_numerator() / TABLE.partition)
EXACT_EDGE = _lowered(TABLE.classes[2].numerator / TABLE.partition)


def _lay_out(table: symbolic.Table, tokens: int, position: int) -> list[sp.Expr]:
    """An interior table in token order."""
    target, repeated, edge, other = (c.numerator / table.partition for c in table.classes)
    rows = [other] * tokens
    rows[position - 2], rows[position - 1], rows[position], rows[tokens - 1] = edge, repeated, target, edge
    return rows


def _all_equal(left: list[sp.Expr], right: list[sp.Expr]) -> Margin:
    return worst([identity(a, b) for a, b in zip(left, right, strict=True)])


def interior_table(tokens: int, position: int, edge: sp.Expr | None = None, extra: int = 0) -> Margin:
    """Interior table against one-hot attention, token by token; `edge` and `extra` plant wrong variants."""
    table = symbolic.interior_table(sp.Integer(tokens + extra))
    if edge is not None:
        target, repeated, old, other = table.classes
        table = table._replace(classes=(target, repeated, old._replace(numerator=edge), other))
    return _all_equal(_lay_out(table, tokens, position), symbolic_one_hot_logits(tokens, position))


def every_position(tokens: int, position: int, seen: int = 0) -> Margin:
    """Logits of any T >= 2 and 1 <= i <= T; `seen` moves the sentence's repeat by one."""
    true = symbolic_one_hot_logits(tokens, 1 + (position - 1 + seen) % tokens)
    return _all_equal(symbolic.logits(tokens, position), true)


def edge_logit(a1, a2, b1, b2, tokens, formula=PRINTED_EDGE) -> Margin:
    """Logit of token i - 1 (i = 2) against attention, in balls; >= 0 where they differ."""
    return balls_apart(formula(a1, a2, b1, b2, tokens), ball_one_hot_logits(a1, a2, b1, b2, tokens, 2)[0])


def loss_differs(a1, a2, b1, b2, tokens, position=2, formula=PRINTED_LOSS) -> Margin:
    """A loss formula against attention, in balls; >= 0 where they differ."""
    return balls_apart(formula(a1, a2, b1, b2, tokens), ball_one_hot_loss(a1, a2, b1, b2, tokens, position))


def kernel_loss(a1, a2, b1, b2, tokens, formula=landscape.loss) -> Margin:
    return close(formula(a1, a2, b1, b2, tokens), one_hot_loss(a1, a2, b1, b2, tokens, 2), ROUNDING)


def kernel_logits(a1, a2, b1, b2, tokens, seen: int = 0) -> Margin:
    """Numeric logits at every position of the sentence against one-hot attention."""
    return worst(
        [
            close(
                landscape.logits(a1, a2, b1, b2, tokens, place),
                one_hot_logits(a1, a2, b1, b2, tokens, 1 + (place - 1 + seen) % tokens),
                ROUNDING,
            )
            for place in range(1, tokens + 1)
        ]
    )


def printed_with_exact_rests(a1, a2, b1, b2, tokens):
    partition = 2 * np.exp(a1) + np.exp(a2) + tokens - 2
    return landscape.printed_loss(a1, a2, b1, b2, tokens - 2, (tokens - 4) * np.exp((b1 + b2) / partition))


def table_to_eq14(edge: sp.Expr) -> Margin:
    """log-sum-exp over Table 3 with this edge numerator, against Eq. 14 with both O(T) exact."""
    target, repeated, _, other = TABLE.classes
    terms = [(1, target.numerator), (1, repeated.numerator), (2, edge), (other.count, other.numerator)]
    total = sum(count * sp.exp((numerator - target.numerator) / TABLE.partition) for count, numerator in terms)
    return identity(sp.exp(PRINTED), total)


def cross_entropy(tokens: int, position: int, extra: int = 0) -> Margin:
    """Closed form against -log softmax of the target over the T tokens; `extra` enlarges the vocabulary."""
    rows = symbolic_one_hot_logits(tokens, position)
    target = rows[sentence(tokens, position)[position]]
    literal = extra + sum(sp.exp(row - target) for row in rows)
    return identity(sp.exp(symbolic.loss(symbolic.position_table(tokens, position))), literal)


def terms_at_zero(tokens: int) -> Margin:
    """At alpha = beta = 0 all logits agree, so e^L = T; Eq. 10 gives 1 + 2 + 1 + O(T) >= 4 there."""
    rows = ball_one_hot_loss(Fraction(0), Fraction(0), Fraction(0), Fraction(0), tokens, 1)
    if not rows.exp().contains(tokens):
        raise ValueError(f"attention at zero parameters does not give log {tokens}")
    return less(Fraction(tokens), Fraction(4))._replace(printed="log 4 at least", true=f"log {tokens}")


def two_rests(tokens: int, second_count: int = 4) -> Margin:
    """The O(T) of S and the O(T) of the denominator at alpha = beta = 0, read off T + 1 keys and T tokens."""
    words = sentence(tokens, 2)
    in_partition = Fraction(len(words) - 3)
    in_denominator = Fraction(len(set(words)) - second_count)
    return different(in_partition, in_denominator)


def rests(tokens: int, position: int, offset: int = 0) -> Margin:
    """exp of the loss with S = 2A + B + (T-2) and rest (T-4) e^{(b1+b2)/S}, against attention; `offset` spoils S."""
    partition = 2 * symbolic.A + symbolic.B + tokens - 2 + offset
    oracle = symbolic_one_hot_logits(tokens, position)
    others = [r for k, r in enumerate(oracle, 1) if k not in (position - 1, position, position + 1, tokens)]
    rest = (tokens - 4) * sp.exp((beta1 + beta2) / partition)
    return identity(rest, sum((sp.exp(r) for r in others), sp.Integer(0)))


def last_but_one_target(tokens: int, position: int) -> Margin:
    """Numerator of the target: b1 e^{alpha2} + b2, true unless i = T - 1; >= 0 where the interior form fails."""
    true = symbolic_one_hot_logits(tokens, position)[position]
    equal = identity(TABLE.classes[0].numerator / TABLE.partition.subs(n_tokens, tokens), true)
    return Margin(-equal.value if equal.value else -1.0, equal.printed, equal.true)


def descends(b1: int, a2: int = 2) -> Margin:
    """L(0, a2, 2 b1, 0) < L(0, a2, b1, 0) at T = 9, both certainly positive."""
    with working(400):  # the loss is as small as e^{-85}
        here, further = (
            ball_one_hot_loss(Fraction(0), Fraction(a2), Fraction(b), Fraction(0), 9, 4) for b in (b1, 2 * b1)
        )
        value = worst([ball_at_least(further, strict=True), ball_at_least(here - further, strict=True)]).value
        return Margin(value, here.str(6), further.str(6))


def ray_exponents(tokens: int, a2: int = 2) -> Margin:
    """Along beta1 -> infinity at alpha = (0, a2), beta2 = 0 each exponent (n_c - n_t)/S falls linearly: L -> 0."""
    target, *rest = TABLE.classes
    slopes = [sp.diff((c.numerator - target.numerator) / TABLE.partition, beta1) for c in rest]
    at = {alpha1: 0, alpha2: a2, beta2: 0, n_tokens: tokens}
    balls = [BallFunction([-s.subs(at)], ["unused"])(to_ball(0))[0] for s in slopes]
    return worst([ball_at_least(ball, strict=True) for ball in balls])


def positive_loss(tokens: int, position: int, plant: int = 0) -> Margin:
    """e^L - 1 is a sum of exponentials with positive whole coefficients, so L > 0 everywhere."""
    table = symbolic.position_table(tokens, position)
    target, *rest = table.classes
    terms = sum((c.count * sp.exp((c.numerator - target.numerator) / table.partition) for c in rest), sp.Integer(0))
    proved = identity(sp.exp(symbolic.loss(table)) - 1 + plant, terms)
    return worst([proved, *(same(c.count >= 0, sp.true) for c in rest)])


def score_scale(tokens: int, power: sp.Rational) -> Margin:
    """Weight on i + 1 as the width grows, scores divided by width^power (alpha1 = 0, alpha2 = 1): e/(T + e)?"""
    width = sp.Symbol("width", positive=True)
    score = width**-power
    return identity(sp.limit(sp.exp(score) / (tokens + sp.exp(score)), width, sp.oo), sp.E / (tokens + sp.E))


def attention_scores(tokens: int, position: int, swapped: bool = False) -> Margin:
    """Scores of the last token on all T + 1 keys: alpha1 at i and T + 1, alpha2 at i + 1, 0 elsewhere."""
    words = sentence(tokens, position)
    own, previous = (alpha2, alpha1) if swapped else (alpha1, alpha2)
    printed = [
        own if k in (position, tokens + 1) else previous if k == position + 1 else sp.Integer(0)
        for k in range(1, tokens + 2)
    ]
    true = [
        alpha1 * int(word == words[-1]) + alpha2 * int(k > 0 and words[k - 1] == words[-1])
        for k, word in enumerate(words)
    ]
    return _all_equal(printed, true)


def previous_of_last(tokens: int, position: int, place: int = 0) -> Margin:
    """The key at T + 1 mixes in x_T (0-based token T - 1 - place)."""
    return same(sentence(tokens, position)[tokens - 1], tokens - 1 - place)


def _moment(power: int) -> int:
    """E g^power of a standard Gaussian."""
    return 0 if power % 2 else int(sp.factorial2(power - 1)) if power else 1


def norm_moments(variance_times_d: int) -> Margin:
    """u with d entries N(0, 1/d): E|u|^2 = 1 and Var|u|^2 = variance_times_d / d, for all d at once."""
    d = sp.Symbol("d", positive=True)
    mean = d * _moment(2) / d
    second = (d * _moment(4) + d * (d - 1) * _moment(2) ** 2) / d**2
    return worst([identity(mean, 1), identity(second - mean**2, variance_times_d / d)])


def product_moments(fourth_excess: int) -> Margin:
    """sqrt(d) u.v: mean 0, variance 1, fourth moment 3 + fourth_excess / d (so it tends to the Gaussian's 3)."""
    d = sp.Symbol("d", positive=True)
    fourth = (d * _moment(4) ** 2 + 3 * d * (d - 1) * _moment(2) ** 4) / d**2
    return worst(
        [identity(_moment(1) ** 2, 0), identity(d * _moment(2) ** 2 / d, 1), identity(fourth, 3 + fourth_excess / d)]
    )


def score_noise(a1: Fraction, a2: Fraction) -> Margin:
    """d Var of u.(a1 v + a2 w) is a1^2 + a2^2; >= 0 where the printed order (a1 + a2)^2 falls short of it."""
    return less((a1 + a2) ** 2, a1**2 + a2**2)


def score_noise_bound(extra: int = 0) -> Margin:
    """(|a1| + |a2|)^2 - (a1^2 + a2^2) = 2 |a1| |a2| >= 0."""
    a, b = sp.symbols("a b", nonnegative=True)
    return identity((a + b) ** 2 - a**2 - b**2, 2 * a * b + extra)


def order_notation(factor: Fraction) -> Margin:
    """A factor bounded by O(1) as printed, here constant, must tend to 1 for the softmax weights to be right."""
    return same(factor * Fraction(1, 3), Fraction(1, 3))


def gaussian_logits(dim: int, seed: int, a1=0.3, a2=0.7, b1=0.4, b2=0.6, tokens=9, position=4, swap=False) -> Margin:
    """Logits with iid N(0, 1/d) embeddings against d = infinity: largest deviation at most 8 / sqrt(d)."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(tokens, dim)) / np.sqrt(dim)
    rows = table[sentence(tokens, position)]
    previous = np.vstack([np.zeros(dim), rows[:-1]])
    scores = (a1 * rows + a2 * previous) @ rows[-1]
    weights = np.exp(scores) / np.exp(scores).sum()
    found = table @ (weights @ (b1 * rows + b2 * previous))
    limit = landscape.logits(a2, a1, b2, b1, tokens, position) if swap else landscape.logits(
        a1, a2, b1, b2, tokens, position
    )  # fmt: skip
    return close(found, limit, 1.5 / np.sqrt(dim))


def covered_share(pool: int, printed: Fraction | None = None) -> Margin:
    """Share of the generator's sentences (T from its exact law, i uniform on 1..T-1) at an interior position."""
    law = length_law_exact(pool)
    share = sum((p * Fraction(max(t - 3, 0), t - 1) for t, p in enumerate(law) if p), Fraction(0))
    value = less(share, Fraction(1) if printed is None else printed).value
    return Margin(value, "share 1", f"share {float(share):.6f}")


WIDE = tuple(Interval(name, -4.0, 4.0) for name in ("a1", "a2", "b1", "b2"))
INTERIOR = "2 <= i <= T - 2"


def interior(effort: Effort) -> list[dict[str, int]]:
    """Every interior position for T = 4..7."""
    return [{"tokens": t, "position": i} for t in range(4, 8) for i in range(2, t - 1)]


def everywhere(effort: Effort) -> list[dict[str, int]]:
    """Every position for T = 2..7."""
    return [{"tokens": t, "position": i} for t in range(2, 8) for i in range(1, t + 1)]


def planted_edge(numerator: sp.Expr) -> Callable[..., Margin]:
    """`interior_table` with another numerator for the tokens i - 1 and T."""
    return lambda tokens, position: interior_table(tokens, position, numerator)
