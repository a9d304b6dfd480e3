"""Scripts for the claims about heads without a decay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proofs_check.core.terms import Term, exp
from proofs_check.language.notation import total, var, when
from proofs_check.rigour.combined import combined
from proofs_check.rigour.steps import (
    Scripts,
    Step,
    around,
    cases,
    chain,
    closed,
    have,
    only,
    plainly,
    search,
    split_sum,
    steps,
    termwise,
    tightened,
    times,
)
from proofs_check.rigour.tactics import by, first

n, m, w, k, i, D, a, eps, s = map(var, ("n", "m", "w", "k", "i", "D", "a", "eps", "s"))


def counted(low: Any, high: Any) -> Step:
    """The number of terms."""
    return closed(total(i, low, high, 1), i)


def _flat_mass() -> Scripts:
    gone, kept = total(i, 1, n, exp(s[i])), total(i, 1, m, exp(var("t")[i]))
    highest, lowest = total(i, 1, n, exp(a + D)), total(i, 1, m, exp(a))
    sizes = chain(only(), have(0 < n), have(0 < m), counted(1, n), counted(1, m))
    bound = steps(sizes, have(0 < gone), have(0 < kept), termwise(gone, "<=", exp(a + D)),
                  termwise(kept, ">=", exp(a)), combined)  # fmt: skip
    some = chain(have(0 < highest), have(0 < lowest))
    attained = steps(sizes, some, combined)
    sums = steps(only(), some, by("apart", False, combined))
    empty = first(*(tightened(name, var(name) < 1)(by("enumerate", name, search)) for name in ("n", "m")))
    return {"conclusion": by("split", bound, attained), "defined": first(plainly, sums), "weaker": empty}


def _no_decay() -> Scripts:
    scope = (1 / eps - 1) * exp(D)
    at, worst, high = k, exp(a + D), exp(s[n - k])
    body = exp(s[i])

    def part(low: Any, end: Any, what: Any = body) -> Term:
        return total(i, low, end, what)

    every = part(1, n)
    before, after = part(1, n - at - 1), part(n - at + 1, n)
    within = by("assume", steps(
        only(scope <= at), have(0 < every), have(high <= worst), around(every, n - at), have(0 <= before),
        termwise(after, ">=", exp(a)), counted(n - at + 1, n), combined))  # fmt: skip
    two, rest = (part(low, at + 1, exp(when(i < 2, a + D, a))) for low in (1, 2))
    sharp = by("assume", steps(
        only(at < scope), have(0 < two), split_sum(two, 1), termwise(rest, "=", exp(a), by("logarithm", search)),
        counted(2, at + 1), combined))  # fmt: skip
    far, near = part(1, n - w), part(n - w + 1, n)
    inside = steps(split_sum(every, n - w), termwise(near, "<=", worst), termwise(every, ">=", exp(a)),
                   counted(n - w + 1, n), counted(1, n), combined)  # fmt: skip
    kept = steps(only(), have(0 < n), have(0 < every), have(1 <= exp(D)), times(every * n),
                 cases(w <= n, have(0 <= far)(combined))(inside))  # fmt: skip
    total_share = steps(have(0 < every), around(every, n - at), have(0 <= before), have(0 <= after), combined)
    never = by("assume", by("absurd", times(eps)(combined)))
    return {"conclusion": by("split", within, sharp, kept), "defined": plainly,
            "weaker": by("split", by("assume", total_share), never, kept)}  # fmt: skip


SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "razor.sec3.2.no_decay": _no_decay,
    "razor.sec3.2.flat_mass": _flat_mass,
}
