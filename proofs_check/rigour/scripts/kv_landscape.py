"""Scripts for the one-repeat sentence and its landscape: the closed form for every T, and what is proved about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import ZERO, Term, exp, var
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import small
from proofs_check.rigour.auto import auto
from proofs_check.rigour.places import defined, put_value, sum_value
from proofs_check.rigour.tactics import Proof, Tactic, by, first

Scripts = dict[str, Tactic]
T, i, j, k, n, u, a, b, a1, a2, b1, b2 = map(var, ("T", "i", "j", "k", "n", "u", "a", "b", "a1", "a2", "b1", "b2"))

# -- one-hot attention by places -------------------------------------------------------------------------------------


def closed_sum(node: Term, cuts: Sequence[Term], then: Tactic, each_piece: Any = None) -> Tactic:
    """Puts the value of a sum over places for it."""

    def tactic(s: Sequent) -> Proof:
        value, why = sum_value(s, node, cuts, each_piece) if each_piece else sum_value(s, node, cuts)
        return put_value(node, value, why, then)(s)

    return tactic


def exponential_pieces(cuts: Sequence[Callable[[Term], Sequence[Term]]]) -> Any:
    """The terms e^(sum / S) of a sum over tokens, piece by piece; cuts: where to cut the sum over places."""

    def piece(number: int, q: Sequent, body: Term) -> tuple[Term, Tactic]:
        top, under = body.parts[1].parts

        def why(z: Sequent) -> Proof:
            return closed_sum(z.goal.parts[1].parts[1].parts[0], cuts[number](last(z)), by("identity"))(z)

        value, _ = sum_value(q, top, cuts[number](last(q)))
        return exp(value / under), why

    return piece


def last(s: Sequent) -> Term:
    return Term("var", s.variables[-1].name)


def _eq10() -> Scripts:
    at = [i - 1, i, i + 1, T]
    pieces = exponential_pieces([
        lambda t: [t - 1, t, t + 1, *at], lambda t: [i - 2, *at], lambda t: at, lambda t: [*at[:3], i + 2, T],
        lambda t: [*at[:3], t - 1, t, t + 1, T], lambda t: [*at[:3], T - 1, T],
    ])  # fmt: skip

    def main(s: Sequent) -> Proof:
        target = s.goal.parts[1].parts[1].parts[1]
        return closed_sum(target.parts[1], at, numerator)(s)

    def numerator(s: Sequent) -> Proof:
        target = s.goal.parts[1].parts[1].parts[1]
        return closed_sum(target.parts[0], [*at[:3], i + 2, T], tokens)(s)

    def tokens(s: Sequent) -> Proof:
        outer = s.goal.parts[1].parts[0].parts[1]
        done = by("exponentiate", by("identity"))
        return closed_sum(outer, [i - 2, i - 1, i, i + 1, T - 1], done, pieces)(s)

    return {"conclusion": main, "defined": defined}


SCRIPTS: dict[str, Callable[[], Scripts]] = {"kv.eq10.corrected": _eq10}
NEEDS: dict[str, str] = {}
