"""Scripts for the claims about one token among others: present, removed, masked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proofs_check.core.terms import Term, eq, exp
from proofs_check.language.notation import total, var, when
from proofs_check.rigour.arithmetic import of_facts
from proofs_check.rigour.steps import (
    Scripts,
    Step,
    alone,
    around,
    cases,
    chain,
    cleared,
    have,
    identity,
    known,
    linear,
    only,
    positive,
    search,
    split_sum,
    steps,
    termwise,
    tightened,
    without,
)
from proofs_check.rigour.sums import used
from proofs_check.rigour.tactics import by

n, q, i, j, k, kl = map(var, ("n", "q", "i", "j", "k", "kl"))
s, v = var("s"), var("v")


def _others() -> tuple[Term, Term, Step, Step]:
    """The mass of the others, the whole mass, why the first is positive, and both values' sums as facts.

    n >= 2, so something stands before q or behind it.
    """
    less, plain, less_is = without(n, q, lambda j: exp(s[j]))
    _less_v, _plain_v, less_v_is = without(n, q, lambda j: exp(s[j]) * v[j])
    below, above = total(k, 1, q - 1, exp(s[k])), total(k, q + 1, n, exp(s[k]))
    upper, lower = (termwise(part, ">", 0)(of_facts) for part in (above, below))
    between = steps(have(1 < q, linear((1, n < q + 1), (1, 2 <= n))), tightened("q", q < 2, 1 < q),
                    by("enumerate", "q"))  # fmt: skip
    some = steps(around(plain, q), have(0 <= below), have(0 <= above),
                 cases(q + 1 <= n, cases(q < 2, lower)(between)), upper)  # fmt: skip
    return less, plain, chain(less_is, have(0 < less, some)), less_v_is


def _effect() -> Scripts:
    less, plain, remains, less_v_is = _others()
    moved = steps(remains, have(0 < plain), have(0 < plain - exp(s[q]), of_facts), less_v_is,
                  cleared(less, plain, plain - exp(s[q])), used, only(eq(less, plain - exp(s[q]))), used,
                  identity)  # fmt: skip
    return {"conclusion": by("split", moved, moved, moved), "defined": by("apart", False, remains(known))}


def _removed() -> Scripts:
    less, plain, remains, _ = _others()
    moved = steps(remains, have(0 < plain), have(0 < plain - exp(s[q]), of_facts), cleared(less, plain),
                  only(eq(less, plain - exp(s[q]))), used, identity)  # fmt: skip
    return {"conclusion": moved, "defined": by("apart", False, remains(known))}


def _eq11() -> Scripts:
    """Both sums are cut at q: before and behind it there is nothing."""

    def only_there(body: Callable[[Any], Term]) -> Step:
        return alone(total(j, 1, n, when(eq(j, q), body(j), 0)), q, body(q))

    top, bottom = only_there(lambda j: exp(s[j]) * v[j]), only_there(lambda j: exp(s[j]))
    mass = total(j, 1, n, when(eq(j, q), exp(s[j]), 0))
    there = chain(top, bottom, have(0 < mass, steps(have(0 < exp(s[q])), of_facts)))
    return {"conclusion": steps(there, cleared(mass), search), "defined": by("apart", False, there(known))}


def _prefix() -> Scripts:
    """Both sums are cut at i: up to there the mask leaves every term, behind it none."""

    def cut(body: Callable[[Any], Term]) -> Step:
        node = total(j, 1, n, when(j <= i, body(j), 0))
        kept, gone = (total(j, low, high, node.parts[4]) for low, high in ((1, i), (i + 1, n)))
        ends = termwise(kept, "=", body(j), search), termwise(gone, "=", 0, search)
        return have(eq(node, total(k, 1, i, body(k))), steps(split_sum(node, i), *ends, of_facts))

    plain, masked = total(k, 1, i, exp(s[k])), total(j, 1, n, when(j <= i, exp(s[j]), 0))
    sums = chain(cut(lambda j: exp(s[j]) * v[j]), cut(lambda j: exp(s[j])))
    there = chain(sums, positive(plain), have(0 < masked, of_facts))
    return {"conclusion": steps(there, cleared(masked, plain), search), "defined": by("apart", False, there(known))}


SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "waiver.sec3.2.effect": _effect,
    "waiver.sec2.2.removed": _removed,
    "waiver.eq11": _eq11,
    "waiver.sec3.3.1.prefix": _prefix,
}
