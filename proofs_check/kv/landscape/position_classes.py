"""Attention over the one-repeat sentence at every length at once: places and tokens in classes with symbolic ends.

The sentence is x_1 .. x_T, x_{T+1} = x_i, token s being x_s = s. `p` and `n` stand for any whole numbers >= 0. A class
is a run of places (or of tokens) between two ends that are affine in p and n. Whether the run is one given place, or
holds it nowhere, is decided by signs. A sign that the assumptions on p and n do not settle raises Undecided, so that
nothing is read off small cases. No formula of `theory` enters before `closed_form`.
"""

from typing import NamedTuple

import sympy as sp

from proofs_check.evidence.margin import Margin, Undecided
from proofs_check.ledger.claim import Control, everywhere
from proofs_check.ledger.mathematical import identities, symbolic
from theory.landscape.symbolic import A, B, Table, interior_table, printed_edge_numerator
from theory.symbols import alpha1, alpha2, beta1, beta2

p, n = sp.symbols("p n", integer=True, nonnegative=True)
INTERIOR = "2 <= i <= T - 2"
EVERY_LENGTH = everywhere(
    "Places and tokens are counted in runs whose ends are symbolic in T and i, agreement decided by signs at both ends."
)


class Case(NamedTuple):
    """A family of sentences, and the first place (token) of each class of places (tokens); the last ends at the end."""

    tokens: sp.Expr
    position: sp.Expr
    places: tuple[sp.Expr, ...]
    words: tuple[sp.Expr, ...]


class Logit(NamedTuple):
    """The tokens first .. last share the logit; `name` is what they are in Table 3."""

    first: sp.Expr
    last: sp.Expr
    name: str
    logit: sp.Expr

    @property
    def count(self) -> sp.Expr:
        return sp.expand(self.last - self.first + 1)


# together every T >= 2 and 1 <= i <= T, each pair once: places are cut around i and i + 1, tokens around i - 1 too
_FAMILIES = {
    "interior": (4 + p + n, 2 + p, (1, 2 + p, 3 + p, 4 + p, 5 + p + n), (1, 1 + p, 2 + p, 3 + p, 4 + p, 4 + p + n)),
    "first": (3 + n, 1, (1, 2, 3, 4 + n), (1, 2, 3, 3 + n)),
    "last but one": (3 + p, 2 + p, (1, 2 + p, 3 + p, 4 + p), (1, 1 + p, 2 + p, 3 + p)),
    "last": (2 + p, 2 + p, (1, 2 + p, 3 + p), (1, 1 + p, 2 + p)),
    "two tokens": (2, 1, (1, 2, 3), (1, 2)),
}
CASES = {name: Case(*sp.sympify(family)) for name, family in _FAMILIES.items()}
ALL_CASES = tuple({"case": name} for name in CASES)


def holds(first: sp.Expr, last: sp.Expr, place: sp.Expr) -> bool:
    """Is the run first .. last this one place (or else free of it), whatever p and n are?"""
    below, above = sp.expand(first - place), sp.expand(place - last)
    if below == above == 0:
        return True
    if below.is_positive or above.is_positive:
        return False
    raise Undecided(f"whether {place} lies in {first} .. {last} depends on the length or on the place")


def _runs(starts: tuple[sp.Expr, ...], end: sp.Expr) -> list[tuple[sp.Expr, sp.Expr]]:
    """Consecutive runs that cover 1 .. end without gap or overlap, none of negative length."""
    runs = [(a, sp.expand(b - 1)) for a, b in zip(starts, (*starts[1:], end + 1), strict=True)]
    if runs[0][0] != 1 or not all(sp.expand(last - first + 1).is_nonnegative for first, last in runs):
        raise Undecided(f"{runs} is no partition of 1 .. {end}")
    return runs


def _score(case: Case, first: sp.Expr, last: sp.Expr) -> sp.Expr:
    """alpha1 where x_s = x_{T+1}, plus alpha2 where x_{s-1} is, for all places s of a run."""
    own = any(holds(first, last, place) for place in (case.position, case.tokens + 1))
    return alpha1 * int(own) + alpha2 * int(holds(first, last, case.position + 1))


def scores(case: Case) -> list[tuple[sp.Expr, sp.Expr, sp.Expr]]:
    """(first, last, score) of each run of places."""
    return [(first, last, _score(case, first, last)) for first, last in _runs(case.places, case.tokens + 1)]


def logits(case: Case) -> tuple[sp.Expr, list[Logit]]:
    """S and the logit of every token: beta1 times the weights of its own keys, beta2 times those of the keys after."""
    partition = sp.expand(sum((b - a + 1) * sp.exp(score) for a, b, score in scores(case)))
    i, end = case.position, case.tokens
    successor = end if i == end else i + 1
    named = ((successor, "target"), (i, "repeated"), (i - 1, "edge"), (end, "edge"))
    rows = []
    for first, last in _runs(case.words, end):
        total = sum(beta * sp.exp(_score(case, first + k, last + k)) for k, beta in enumerate((beta1, beta2)))
        if holds(first, last, i):
            total += beta1 * sp.exp(_score(case, end + 1, end + 1))
        name = next((name for place, name in named if holds(first, last, place)), "other")
        rows.append(Logit(first, last, name, total / partition))
    return partition, rows


def closed_form(case: str) -> Table:
    """The closed form of a family at symbolic length: `interior_table`, and what is another at either end."""
    size = CASES[case].tokens
    table = interior_table(size)
    target, repeated, edge, other = table.classes
    if case == "interior":
        return table
    if case == "last":
        target = target._replace(numerator=beta1 * (A + A * B) + beta2 * A * B)
        classes = (target, edge._replace(count=sp.Integer(1)), other._replace(count=size - 2))
        return Table(A + A * B + size - 1, classes)
    if case != "first":
        target = target._replace(numerator=beta1 * B + beta2 * A)
    missing = 2 if case == "two tokens" else 1
    others = other._replace(count=size - 4 + missing)
    return table._replace(classes=(target, repeated, edge._replace(count=sp.Integer(2 - missing)), others))


def every_length(case: str, edge: sp.Expr | None = None, extra: int = 0, other: str = "") -> Margin:
    """Closed form against attention in runs of places, T and i symbolic: S, each logit, and the tokens of each class.

    `edge` and `extra` plant another numerator and another S; `other` compares with the form of another family.
    """
    table = closed_form(other or case)
    partition, rows = logits(CASES[case])
    numerators = {c.name: c.numerator for c in table.classes}
    if edge is not None:
        numerators["edge"] = edge
    counts = [sum((row.count for row in rows if row.name == c.name), sp.Integer(0)) for c in table.classes]
    return identities(
        [partition, *(row.logit for row in rows), *counts],
        [
            table.partition + extra,
            *(numerators[row.name] / (table.partition + extra) for row in rows),
            *(c.count for c in table.classes),
        ],
    )


EVERY_LOGIT = symbolic(
    "S, every logit and the tokens of each class in five families that are all pairs T, i; run by run",
    every_length,
    ALL_CASES,
    Control("T - 1 in S", lambda case: every_length(case, extra=1)),
    Control("Table 3 as printed", lambda case: every_length(case, edge=printed_edge_numerator())),
    Control("i = T - 1 in the form of i = 1", lambda case: every_length("last but one", other="first")),
)
