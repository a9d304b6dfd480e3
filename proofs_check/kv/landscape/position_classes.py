"""Attention over the one-repeat sentence at every length at once: places and tokens in classes with symbolic ends.

The sentence is x_1 .. x_T, x_{T+1} = x_i, token s being x_s = s. `p` and `n` stand for any whole numbers >= 0. A class
is a run of places (or of tokens) between two ends that are affine in p and n; whether two places agree is decided for
all of a run at once, by the signs of the differences at both of its ends. A sign that the assumptions on p and n do not
settle raises Undecided, so that nothing is read off small cases. No formula of `theory` enters.
"""

from typing import NamedTuple

import sympy as sp

from proofs_check.evidence.margin import Undecided
from theory.symbols import alpha1, alpha2, beta1, beta2

p, n = sp.symbols("p n", integer=True, nonnegative=True)


class Case(NamedTuple):
    """A family of sentences, and the first place (token) of each class of places (tokens); the last ends at the end."""

    tokens: sp.Expr
    position: sp.Expr
    places: tuple[sp.Expr, ...]
    words: tuple[sp.Expr, ...]


class Logit(NamedTuple):
    """The tokens first .. last share the logit."""

    first: sp.Expr
    last: sp.Expr
    logit: sp.Expr

    @property
    def count(self) -> sp.Expr:
        return sp.expand(self.last - self.first + 1)


def _case(tokens: sp.Expr, position: sp.Expr, before: bool = True, after: bool = True) -> Case:
    """Cuts around the place i, where there is one `before` it, one `after` i + 1; the last key stands alone."""
    i, end = sp.sympify(position), sp.sympify(tokens)
    start = (sp.Integer(1),) if before else ()
    places = (*start, i, i + 1, *((i + 2, end + 1) if after else (end + 1,)))
    words = (*start, *((i - 1,) if before else ()), i, i + 1, *((i + 2, end) if after else ()))
    return Case(end, i, places, words)


# together every T >= 2 and 1 <= i <= T, each pair once
CASES = {
    "interior": _case(4 + p + n, 2 + p),
    "first": _case(3 + n, sp.Integer(1), before=False),
    "last but one": _case(3 + p, 2 + p, after=False),
    "last": Case(2 + p, 2 + p, (sp.Integer(1), 2 + p, 3 + p), (sp.Integer(1), 1 + p, 2 + p)),
    "two tokens": _case(sp.Integer(2), sp.Integer(1), before=False, after=False),
}


def sign(first: sp.Expr, last: sp.Expr) -> int:
    """The sign of an affine expression on a whole run, from its values at both ends."""
    found = {_sign(first), _sign(last)}
    if len(found) > 1:
        raise Undecided(f"the run from {first} to {last} does not keep its sign")
    return found.pop()


def _sign(value: sp.Expr) -> int:
    value = sp.expand(value)
    if value == 0:
        return 0
    if value.is_positive or value.is_negative:
        return 1 if value.is_positive else -1
    raise Undecided(f"the sign of {value} depends on the length")


def _within(first: sp.Expr, last: sp.Expr, start: sp.Expr, end: sp.Expr) -> bool:
    """Is the run first .. last certainly inside start .. end, whatever p and n are?"""
    return bool(sp.expand(first - start).is_nonnegative and sp.expand(end - last).is_nonnegative)


def _runs(starts: tuple[sp.Expr, ...], end: sp.Expr) -> list[tuple[sp.Expr, sp.Expr]]:
    """Consecutive runs that cover 1 .. end without gap or overlap, none of negative length."""
    runs = [(a, sp.expand(b - 1)) for a, b in zip(starts, (*starts[1:], end + 1), strict=True)]
    if runs[0][0] != 1 or not all(sp.expand(last - first + 1).is_nonnegative for first, last in runs):
        raise Undecided(f"{runs} is no partition of 1 .. {end}")
    return runs


def scores(case: Case) -> list[tuple[sp.Expr, sp.Expr, tuple[int, int]]]:
    """(first, last, (own, before)) of each run of places: is x_s = x_{T+1}, and is x_{s-1}?"""
    found = []
    for first, last in _runs(case.places, case.tokens + 1):
        repeat = sign(first - case.tokens - 1, last - case.tokens - 1) == 0  # the place T + 1, whose token is x_i
        own = repeat or sign(first - case.position, last - case.position) == 0
        before = sign(first - 1 - case.position, last - 1 - case.position) == 0
        found.append((first, last, (int(own), int(before))))
    return found


def logits(case: Case) -> tuple[sp.Expr, list[Logit]]:
    """S and the logit of every token: beta1 times the weights of its own keys, beta2 times those of the keys after."""
    weighted = [(a, b, sp.exp(alpha1 * own + alpha2 * before)) for a, b, (own, before) in scores(case)]
    partition = sp.expand(sum((sp.expand(b - a + 1) * w for a, b, w in weighted), sp.Integer(0)))

    def weight(first: sp.Expr, last: sp.Expr) -> sp.Expr:
        """The weight of the places first .. last, all of which lie in one run."""
        inside = [w for a, b, w in weighted if _within(first, last, a, b)]
        if len(inside) != 1:
            raise Undecided(f"the places {first} .. {last} lie in {len(inside)} runs")
        return inside[0]

    rows = []
    for first, last in _runs(case.words, case.tokens):
        total = beta1 * weight(first, last) + beta2 * weight(first + 1, last + 1)
        if sign(first - case.position, last - case.position) == 0:
            total += beta1 * weight(case.tokens + 1, case.tokens + 1)
        rows.append(Logit(first, last, total / partition))
    return partition, rows
