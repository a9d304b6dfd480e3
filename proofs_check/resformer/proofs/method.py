"""Scripts for the claims about values, residuals and the maps between layers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from proofs_check.core.terms import Term, eq, exp
from proofs_check.language.notation import total, var, when
from proofs_check.rigour.arithmetic import of_facts
from proofs_check.rigour.steps import (
    Scripts,
    alone,
    around,
    chain,
    cleared,
    closed,
    have,
    linear,
    positive,
    search,
    split_sum,
    steps,
    termwise,
)
from proofs_check.rigour.sums import used
from proofs_check.rigour.tactics import by

n, q, p, j, k, r, b, w = map(var, "nqpjkrbw")
s, t, v = map(var, "stv")


def _eq8() -> Scripts:
    """The entry of the identity stands at q alone: the sum is cut there, and before and behind it there is nothing."""
    node = total(j, 1, n, when(eq(j, q), 1, 0) * v[j])
    return {"conclusion": alone(node, q, v[q])(search)}


def _sink_range() -> Scripts:
    """All others have at least e^b; then x/(x + y) grows in x. Where all others are at 0 it is reached."""
    mass, rest = total(k, 1, n, exp(s[k])), exp(b)
    node = total(k, 1, n, when(eq(k, q), exp(r), 1))
    sides = ((1, q - 1), (q + 1, n))
    count = chain(*(closed(total(k, low, high, 1), k) for low, high in sides))
    least = (termwise(total(k, low, high, exp(s[k])), ">=", rest, search) for low, high in sides)
    ones = (termwise(total(k, low, high, node.parts[4]), "=", 1, search) for low, high in sides)
    others = have(mass >= exp(s[q]) + (n - 1) * rest, steps(around(mass, q), *least, count, search))
    most = have(exp(s[q]) <= rest * exp(r), search)
    weight = steps(others, most, positive(mass), have(0 <= n - 1), have(0 < exp(r) + n - 1), have(0 < rest),
                   cleared(mass, exp(r) + n - 1), search)  # fmt: skip
    reached = have(eq(node, exp(r) + n - 1), steps(around(node, q), *ones, count, of_facts))
    even = steps(reached, have(0 < exp(r) + n - 1), have(0 < node, of_facts), cleared(node, exp(r) + n - 1), search)
    return {"conclusion": by("split", weight, even)}


def _within(logits: Term, keys: Term, above: bool) -> tuple[Term, Term]:
    """The output is at most (at least) what it would be with every value but the first at its end; why, as a lemma."""
    mass, top = total(k, 1, keys, exp(logits[k])), total(k, 1, keys, exp(logits[k]) * v[k])
    end, relation = (b + w, "<=") if above else (b, ">=")
    share = exp(logits[1]) / mass
    bound = share * v[1] + (1 - share) * end
    rest = termwise(total(k, 2, keys, exp(logits[k]) * v[k]), relation, exp(logits[k]) * end, search)
    why = steps(positive(mass), cleared(mass), split_sum(top, 1), used, split_sum(mass, 1), used, rest, of_facts)
    return (top / mass <= bound if above else top / mass >= bound), why


def _smoothing() -> Scripts:
    """What the two bounds leave of (1 - a) w is (x - a)(b + w - v_1) + (y - a)(v_1 - b), and no factor is negative.

    Without its hypothesis a row may give its first token next to nothing; with it the last point reaches the bound.
    """
    (upper, why_upper), (lower, why_lower) = _within(s, q, True), _within(t, p, False)
    low, high = b <= v[1], v[1] <= b + w
    given = linear((1, upper), (1, lower), (1, 0, high), (1, 1, low))
    return {"conclusion": steps(have(upper, why_upper), have(lower, why_lower), have(low), have(high), given),
            "points": lambda _: POINTS}  # fmt: skip


POINTS = [
    {"n": 2, "q": rows[0], "p": rows[1], "a": Fraction(1, 2), "w": 1, "b": 0, "v": values, "s": logits, "t": others}
    for rows, logits, others, values in (
        ((1, 2), (0, 0), (-40, 0), (1, 0)),
        ((2, 1), (-40, 0), (0, 0), (0, 1)),
        ((1, 2), (0, 0), (0, 0), (1, 0)),
    )
]
# A decay below zero that cancels the weight's square.
NO_RATE = {"a": Fraction(1, 10), "m": Fraction(-1, 100), "w": 1, "v": 0}

SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "resformer.eq8": _eq8,
    "resformer.beyond.sink_range": _sink_range,
    "resformer.beyond.smoothing": _smoothing,
    "resformer.beyond.drain": lambda: {"points": lambda _: [NO_RATE]},
}
