"""Script for the claim about states after a norm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import ZERO, Term, eq, sqrt
from proofs_check.language.notation import total, var
from proofs_check.razor.proofs.no_decay import counted
from proofs_check.rigour.arithmetic import small
from proofs_check.rigour.combined import combined
from proofs_check.rigour.steps import (
    Scripts,
    Step,
    around,
    becomes,
    cases,
    chain,
    have,
    identity,
    known,
    linear,
    named,
    node_in,
    search,
    steps,
    termwise,
    tightened,
    times,
)
from proofs_check.rigour.tactics import Proof, Tactic, by, first

k, i = var("k"), var("i")


def root_positive(x: Term) -> Step:
    """0 < sqrt(x) for x > 0: otherwise x = sqrt(x)^2 <= 0."""
    root = sqrt(x)
    no = by("absurd", times(x, known, -x)(linear((1, 0 <= root, root <= 0))))
    return have(0 < root, have(0 <= root)(by("cases", 0 < root, small, known, no)))


def member(node: Term, at: Term) -> tuple[Step, Term]:
    """A sum of squares is at least one of them."""
    _, index, low, high, body = node.parts
    early, late, one = (total(var(index), x, y, body) for x, y in ((low, at - 1), (at + 1, high), (at, at)))

    def square(q: Sequent) -> Proof:
        return linear((1, q.goal.parts[2]))(q)

    others = (have(0 <= part, termwise(part, ">=", 0, square)(known)) for part in (early, late))
    return have(one <= node, steps(around(node, at), *others, combined)), one <= node


def _eq7_corrected() -> Scripts:
    d, h, g, b = map(var, "dhgb")

    def proof(c: int) -> Tactic:
        mean = total(k, 1, d, h[k]) / d

        def off(x: Any) -> Term:
            return h[x] - c * mean

        spread = total(i, 1, d, off(i) ** 2)
        factor = d + 1 - c
        root, r = sqrt(spread / d), var("r")
        state = total(i, 1, d, (g[i] * off(i) / r + b[i]) ** 2)

        def one(q: Sequent) -> Proof:
            x = var(q.variables[-1].name)
            z, largest_ = off(x) / r, d * off(x) ** 2 <= (d - c) * spread
            if c == 0:
                step, at_least = member(spread, x)
                why = steps(step, combined)
            else:
                step, at_least = member(total(i, 1, d, ((d - 1) * off(i) + off(x)) ** 2), x)
                weight = off(x) ** 2 - 2 * (d - 1) * off(x) * mean
                most = d**2 * off(x) ** 2 <= (d - 1) ** 2 * spread + d * off(x) ** 2
                why = steps(step, counted(1, d), times(d - 1), have(
                    most, becomes(at_least, (weight, eq(total(i, 1, d, 1), d)))(known)), combined)  # fmt: skip
            short, u = z**2 <= d - c, var("z")
            wider = (g[x] * u + b[x]) ** 2 <= factor * (g[x] ** 2 + b[x] ** 2)
            square = linear((1, (g[x] - b[x] * u) ** 2), (1, u**2 <= d - c, g[x] ** 2), (1, u**2 <= d - c, b[x] ** 2))
            return steps(have(largest_, why),
                         have(short, times(d * r**2)(combined)),
                         named(z, "z", keep=(short,), goal=wider), square)(q)

        # With one coordinate there is 0 < 0 among the hypotheses.
        nothing_left = becomes(ZERO <= ZERO, factor=ZERO, why=known)(identity)
        alone = by("absurd", tightened("d", d <= 1)(by("enumerate", "d", nothing_left)))
        split: Step = cases(1 < d, alone) if c else chain()

        def bounded(q: Sequent) -> Proof:
            written = node_in(q.goal, "sqrt")
            return steps(named(written, "r", keep=(0 < written, eq(d * written**2, spread))),
                         termwise(state, "<=", factor * (g[i] ** 2 + b[i] ** 2), one), known)(q)

        return steps(split, have(0 < d), have(0 < spread / d, times(d)(known)), root_positive(spread / d),
                     have(eq(d * root**2, spread), identity), bounded)

    def nonzero_root(q: Sequent) -> Proof:
        inside = node_in(q.goal, "sqrt").parts[1]
        return steps(have(0 < d), have(0 < inside, times(d)(known)), root_positive(inside),
                     by("apart", False, known))(q)

    # The root first: a search for it spends the work of all.
    return {"conclusion": by("enumerate", "c", proof(0), proof(1)), "defined": first(nonzero_root, search)}


SCRIPTS: dict[str, Callable[[], Scripts]] = {"razor.eq7.corrected": _eq7_corrected}
