"""Margins for Theorem 3.4 and Appendix C: closed forms against attention over one-hot rows, exact moments, limits."""

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from dynamics.tasks.listing_k import listing_sample
from dynamics.tasks.task import FIRST_TOKEN
from proofs_check.evidence.margin import Margin, at_most, close, identity, less, same, worst
from proofs_check.evidence.tolerances import ROUNDING
from proofs_check.kv.induction.general_checks import nonnegative, positive
from proofs_check.kv.landscape.position_classes import CASES
from proofs_check.kv.landscape.position_classes import logits as class_logits
from proofs_check.kv.landscape.position_classes import scores as class_scores
from proofs_check.ledger.claim import Effort
from proofs_check.oracles.landscape import one_hot_logits, sentence, symbolic_one_hot_logits
from theory import landscape
from theory.landscape import symbolic
from theory.symbols import alpha1, alpha2, beta1, beta2, n_tokens, rest_logits, rest_scores

TABLE = symbolic.interior_table()
# the two O(T) of Eq. 10 at their exact values
EXACT_RESTS = {rest_scores: n_tokens - 2, rest_logits: (n_tokens - 4) * sp.exp((beta1 + beta2) / TABLE.partition)}
PRINTED = symbolic.printed_loss().subs(EXACT_RESTS)


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


# names of the runs of tokens, in token order, of each family of `position_classes.CASES`
RUNS = {
    "interior": ("other", "edge", "repeated", "target", "other", "edge"),
    "first": ("repeated", "target", "other", "edge"),
    "last but one": ("other", "edge", "repeated", "target"),
    "last": ("other", "edge", "target"),
    "two tokens": ("repeated", "target"),
}
ALL_CASES = tuple({"case": name} for name in RUNS)


def closed_form(case: str) -> symbolic.Table:
    """The table of a family at symbolic length: `interior_table`, or the boundary cases of `position_table`."""
    a, b = symbolic.A, symbolic.B
    size = CASES[case].tokens
    if case == "interior":
        return symbolic.interior_table(size)
    if case == "last":
        numerators = {"target": beta1 * (a + a * b) + beta2 * a * b, "edge": beta1 + beta2 * a, "other": beta1 + beta2}
        counts, partition = {"edge": 1, "other": size - 2}, a + a * b + size - 1
    else:
        target = beta1 * b + beta2 * (1 if case == "first" else a)
        numerators = {"target": target, "repeated": 2 * beta1 * a + beta2 * b, "edge": beta1 + beta2 * a}
        numerators["other"] = beta1 + beta2
        edges = 0 if case == "two tokens" else 1
        counts, partition = {"repeated": 1, "edge": edges, "other": size - 2 - edges}, 2 * a + b + size - 2
    rows = {"target": 1, **counts}
    return symbolic.Table(
        partition, tuple(symbolic.TokenClass(name, sp.sympify(n), numerators[name]) for name, n in rows.items())
    )


def every_length(case: str, edge: sp.Expr | None = None, extra: int = 0, other: str = "") -> Margin:
    """Closed form against attention in runs of places, T and i symbolic: S, each logit, and the tokens of each class.

    `edge` and `extra` plant another numerator and another S; `other` compares with the form of another family.
    """
    table = closed_form(other or case)
    partition, rows = class_logits(CASES[case])
    numerators = {c.name: c.numerator for c in table.classes}
    if edge is not None:
        numerators["edge"] = edge
    names = RUNS[case]
    counts = [(sum(r.count for r, name in zip(rows, names, strict=True) if name == c.name), c.count)
              for c in table.classes]  # fmt: skip
    sides = [
        (partition, table.partition + extra),
        *((row.logit, numerators[name] / (table.partition + extra)) for row, name in zip(rows, names, strict=True)),
        *((sp.sympify(left), right) for left, right in counts),
    ]
    return worst([identity(left, right) for left, right in sides])


def every_loss(case: str, extra: int = 0) -> Margin:
    """e^L of the closed form is sum_k e^{l_k - l_target} over all T tokens, run by run; `extra` adds a token."""
    names, (_, rows) = RUNS[case], class_logits(CASES[case])
    target = next(row.logit for row, name in zip(rows, names, strict=True) if name == "target")
    literal = extra + sum((row.count * sp.exp(row.logit - target) for row in rows), sp.Integer(0))
    return identity(sp.exp(symbolic.loss(closed_form(case))), literal)


def every_score(case: str, swapped: bool = False) -> Margin:
    """Scores run by run at symbolic length: alpha1 at i and T + 1, alpha2 at i + 1, 0 elsewhere (i < T)."""
    family = CASES[case]
    own, before = (alpha2, alpha1) if swapped else (alpha1, alpha2)
    expected = {family.position: own, sp.expand(family.position + 1): before, sp.expand(family.tokens + 1): own}
    found = [(first, last, alpha1 * a + alpha2 * b) for first, last, (a, b) in class_scores(family)]
    named = [first for first, last, _ in found if first in expected and sp.expand(last - first) == 0]
    return worst(
        [
            same(len(named), 3),
            *(identity(score, expected[first] if first in named else 0) for first, _, score in found),
        ]
    )


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


def order_of_rests(constant: int = 1) -> Margin:
    """0 <= T - 2 <= T and 0 <= (T - 4) e^{(b1+b2)/S} <= T e^c for |b1 + b2| <= 2 c, as S >= T - 2 >= 2: both O(T)."""
    more, c, key = sp.symbols("more c key", nonnegative=True)
    size = 4 + more  # S = T - 2 + key, key what the exponentials add
    slack = [size - 2, constant * size - (size - 2), size - 4, constant * size * sp.exp(c) - (size - 4) * sp.exp(c)]
    exponent = c - 2 * c / (size - 2 + key)
    return worst([*(nonnegative(value) for value in slack), nonnegative(sp.numer(sp.together(exponent)))])


def two_rests(set_aside: int = 0) -> Margin:
    """At alpha = beta = 0 each place and each token counts 1: the rests of S and of the sum, run by run, are not one.

    S has all places but i, i + 1 and T + 1, the sum all tokens but the target, the repeated one and the edges.
    """
    family = CASES["interior"]
    places = sum((b - a + 1 for a, b, flags in class_scores(family) if flags == (0, 0)), sp.Integer(0))
    rows = zip(class_logits(family)[1], RUNS["interior"], strict=True)
    others = sum((row.count for row, name in rows if name == "other"), sp.Integer(set_aside))
    return positive(sp.expand(places - others))


def rests(tokens: int, position: int, offset: int = 0) -> Margin:
    """exp of the loss with S = 2A + B + (T-2) and rest (T-4) e^{(b1+b2)/S}, against attention; `offset` spoils S."""
    partition = 2 * symbolic.A + symbolic.B + tokens - 2 + offset
    oracle = symbolic_one_hot_logits(tokens, position)
    others = [r for k, r in enumerate(oracle, 1) if k not in (position - 1, position, position + 1, tokens)]
    rest = (tokens - 4) * sp.exp((beta1 + beta2) / partition)
    return identity(rest, sum((sp.exp(r) for r in others), sp.Integer(0)))


def ray_exponents(a2: int = 2) -> Margin:
    """Along beta1 -> infinity at alpha = (0, a2), beta2 = 0 each exponent (n_c - n_t)/S falls linearly: L -> 0.

    S times its slope is 2 - e^{a2} or 1 - e^{a2}, and S = T + e^{a2} > 0, at every T.
    """
    target, *rest = TABLE.classes
    at = {alpha1: 0, alpha2: a2, beta2: 0}
    slopes = [sp.diff(c.numerator - target.numerator, beta1).subs(at) for c in rest]
    return worst([identity(TABLE.partition.subs(at), n_tokens + sp.exp(a2)), *(less(slope, 0) for slope in slopes)])


def positive_everywhere(plant: int = 0) -> Margin:
    """The same at every length and interior position: e^L - 1 > 0 by the signs of its terms."""
    table = closed_form("interior")
    return positive(sp.exp(symbolic.loss(table)) - 1 + plant)


def score_scale(power: int | Fraction) -> Margin:
    """Weight on i + 1 as the width grows, scores divided by width^power, T and alpha free: e^{alpha2}/S?"""
    width = sp.Symbol("width", positive=True)
    scale = width ** -sp.Rational(Fraction(power).numerator, Fraction(power).denominator)
    weight = sp.exp(alpha2 * scale) / (2 * sp.exp(alpha1 * scale) + sp.exp(alpha2 * scale) + n_tokens - 2)
    return identity(sp.limit(weight, width, sp.oo), symbolic.B / TABLE.partition)


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


def normal_limit(scale: int = 1) -> Margin:
    """Characteristic function of sqrt(d) u.v: (1 + t^2/d)^{-1/2} a coordinate, e^{-t^2/2} as d -> infinity."""
    d, t, g = sp.symbols("d t g", positive=True)
    inner = sp.exp(-(t**2) * g**2 / (2 * d))  # mean of e^{i t g h / sqrt(d)} over h
    density = sp.exp(-(g**2) / 2) / sp.sqrt(2 * sp.pi)
    coordinate = 2 * sp.integrate(sp.expand(inner * density, power_exp=False).simplify(), (g, 0, sp.oo))
    whole = (1 + t**2 / d) ** (-d / 2)
    return worst(
        [
            identity(coordinate**2, 1 / (1 + t**2 / d)),
            same(sp.limit(sp.log(whole), d, sp.oo), -scale * t**2 / 2),
        ]
    )


# what x_{T+1} . (alpha1 x_k + alpha2 x_{k-1}) is made of: coefficient of |u_i|^2, and of products with other embeddings
SCORES = {
    "k = i": (alpha1, (alpha2,)),
    "k = i + 1": (alpha2, (alpha1,)),
    "k = T + 1": (alpha1, (alpha2,)),
    "k = 1": (sp.Integer(0), (alpha1,)),
    "other k": (sp.Integer(0), (alpha1, alpha2)),
}
VARIANCES = {
    "k = i": 2 * alpha1**2 + alpha2**2,
    "k = i + 1": alpha1**2 + 2 * alpha2**2,
    "k = T + 1": 2 * alpha1**2 + alpha2**2,
    "k = 1": alpha1**2,
    "other k": alpha1**2 + alpha2**2,
}
KINDS = tuple({"kind": kind} for kind in SCORES)


def _variance(own: sp.Expr, others: tuple[sp.Expr, ...]) -> sp.Expr:
    """d times the variance of own |u|^2 + sum_m c_m u.v_m: d independent coordinates, Gaussian moments."""
    g, *rest = sp.symbols(f"g h1:{len(others) + 1}")
    term = own * g**2 + sum((c * g * h for c, h in zip(others, rest, strict=True)), sp.Integer(0))

    def mean(value: sp.Expr) -> sp.Expr:
        terms = sp.Poly(sp.expand(value), g, *rest).terms()
        return sum((c * sp.Mul(*(_moment(n) for n in powers)) for powers, c in terms), sp.Integer(0))

    return sp.expand(mean(term**2) - mean(term) ** 2)


def score_variance(kind: str, claimed: sp.Expr | None = None) -> Margin:
    """d times the variance of the score at key k, 1 < i < T, at every d; `claimed` plants another."""
    return identity(_variance(*SCORES[kind]), VARIANCES[kind] if claimed is None else claimed)


def kinds_of_keys() -> Margin:
    """Every length: the keys that see x_i itself are i and T + 1, the one after it is i + 1; no other run does."""
    flags = [flag for _, _, flag in class_scores(CASES["interior"])]
    return same(tuple(flags), ((0, 0), (1, 0), (0, 1), (0, 0), (1, 0)))


def score_order(kind: str, factor: int = 2, sizes: bool = True) -> Margin:
    """d Var <= factor (|alpha1| + |alpha2|)^2, signs free; not `sizes`: (alpha1 + alpha2)^2, as printed."""
    a, b = sp.symbols("a b", nonnegative=True)
    margins = []
    for signs in ((1, 1), (1, -1)):
        at = {alpha1: signs[0] * a, alpha2: signs[1] * b}
        order = (a + b) ** 2 if sizes else (alpha1 + alpha2).subs(at) ** 2
        margins.append(nonnegative(factor * order - _variance(*SCORES[kind]).subs(at)))
    return worst(margins)


def score_noise(a1: Fraction, a2: Fraction) -> Margin:
    """d Var of u.(a1 v + a2 w) is a1^2 + a2^2; >= 0 where the printed order (a1 + a2)^2 falls short of it."""
    return less((a1 + a2) ** 2, a1**2 + a2**2)


def _read_out(tokens: int, position: int) -> list[sp.Expr]:
    """T + 1 times the coefficient of each embedding in the output at alpha = 0, where all keys weigh the same."""
    words = sentence(tokens, position)
    return [beta1 * words.count(k) + beta2 * words[:-1].count(k) for k in range(tokens)]


def logit_noise(tokens: int, position: int, plant: int = 0) -> Margin:
    """alpha = 0, k != i: (T+1)^2 d Var l_k = 2 s^2 + (T-2) s^2 + (s + beta1)^2, s = beta1 + beta2, place by place."""
    coefficients = _read_out(tokens, position)
    k = 0 if position > 1 else 1
    found = _variance(coefficients[k], (*coefficients[:k], *coefficients[k + 1 :]))
    s = beta1 + beta2
    return identity(found, (tokens + plant) * s**2 + (s + beta1) ** 2)


def logit_order(sizes: bool = True) -> Margin:
    """That variance is at most ((|beta1| + |beta2|) T)^2/d at every T >= 2; not `sizes`: ((beta1 + beta2) T)^2/d."""
    a, b, more = sp.symbols("a b more", nonnegative=True)
    size, margins = 2 + more, []
    for sign in (1, -1):
        s, one = a + sign * b, a
        variance = size * s**2 + (s + one) ** 2
        order = ((a + b) if sizes else s) * size
        margins.append(nonnegative(order**2 * (size + 1) ** 2 - variance))
    return worst(margins)


def order_notation(factor: sp.Expr | None = None) -> Margin:
    """With factors e^{c_k/sqrt(d)} = 1 + o(1) on the weights the share of key i tends to e^{alpha1}/S, T free.

    `factor` puts another one, bounded as O(.) allows, on key i.
    """
    d = sp.Symbol("d", positive=True)
    c = sp.symbols("c1:5", real=True)
    tending = [sp.exp(value / sp.sqrt(d)) for value in c]
    own = symbolic.A * (tending[0] if factor is None else factor)
    total = own + symbolic.A * tending[1] + symbolic.B * tending[2] + (n_tokens - 2) * tending[3]
    return identity(sp.limit(own / total, d, sp.oo), symbolic.A / TABLE.partition)


def gaussian_logits(dim: int, seed: int, a1=0.3, a2=0.7, b1=0.4, b2=0.6, tokens=9, position=4, swap=False) -> Margin:
    """Logits with iid N(0, 1/d) embeddings against d = infinity: largest deviation at most 1.5 / sqrt(d)."""
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
    return at_most(float(np.abs(found - limit).max()), 1.5 / np.sqrt(dim))


class _Script(random.Random):
    """Draws that are written down beforehand; the pool is left in order."""

    def __init__(self, draws: Sequence[int]) -> None:
        super().__init__()
        self.draws = list(draws)

    def shuffle(self, x) -> None:
        return None

    def choice(self, seq):
        if not self.draws:
            raise _MoreDraws
        return seq[self.draws.pop(0)]


class _MoreDraws(Exception):
    """The row is not complete yet."""


def rows_of_generator(pool: int, draws: tuple[int, ...] = ()) -> Iterator[list[int]]:
    """Every row that Appendix K's listing writes from a pool, by all its draws but those equal to the token before."""
    try:
        row, _ = listing_sample(_Script(draws), pool, max_val=FIRST_TOKEN + pool, max_draws=len(draws) + 1)
    except _MoreDraws:
        if len(draws) < pool:  # a row of all tokens without a repetition is thrown away and drawn again
            for token in range(pool):
                if not draws or token != draws[-1]:
                    yield from rows_of_generator(pool, (*draws, token))
        return
    yield row[: len(draws) + 1]


def one_repeat(pool: int, ends: int = 2) -> Margin:
    """Each row is x_1 .. x_T distinct, x_{T+1} = x_i with i < T, then x_{i+1}: the sentence and its answer."""
    wrong = 0
    for row in rows_of_generator(pool):
        *words, repeat, answer = row
        fits = len(set(words)) == len(words) and repeat in words[: len(words) + 1 - ends]
        wrong += not (fits and answer == words[words.index(repeat) + 1])
    return same(wrong, 0)


INTERIOR = "2 <= i <= T - 2"


def interior(effort: Effort) -> list[dict[str, int]]:
    """Every interior position for T = 4..7."""
    return [{"tokens": t, "position": i} for t in range(4, 8) for i in range(2, t - 1)]


def every_place(effort: Effort) -> list[dict[str, int]]:
    """Every position for T = 2..7."""
    return [{"tokens": t, "position": i} for t in range(2, 8) for i in range(1, t + 1)]


def planted_edge(numerator: sp.Expr) -> Callable[..., Margin]:
    """`interior_table` with another numerator for the tokens i - 1 and T."""
    return lambda tokens, position: interior_table(tokens, position, numerator)
