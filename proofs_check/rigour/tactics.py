"""Tactics: functions from a sequent to a certificate. What they return is checked by the core, and believed in nothing.

`by(rule, arguments.., tactics..)` applies one rule, each tactic proving what the rule asks for in its place. `auto`
searches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.rules import FAULTS, RULES, Checker, Rejected, known_in
from proofs_check.core.terms import Term, to_json

Proof = list[Any]
Tactic = Callable[[Sequent], Proof]


class Failed(Exception):
    """A tactic found no proof."""


class _Hole:
    """The place of a proof, and then the proof."""

    def __init__(self, tactic: Tactic) -> None:
        self.tactic = tactic
        self.proof: Any = None


class _Elaborator(Checker):
    """Runs a rule with holes for its proofs, and lets tactics fill them as the rule asks."""

    def prove(self, sequent: Sequent, proof: Any) -> None:
        if not isinstance(proof, _Hole):
            super().prove(sequent, proof)
        else:
            with known_in(sequent):
                proof.proof = proof.tactic(sequent)

    def every(self, sequents: Sequence[Sequent], proofs: Any) -> None:
        if not isinstance(proofs, _Hole):
            super().every(sequents, proofs)
        else:
            proofs.proof = []
            for sequent in sequents:
                with known_in(sequent):
                    proofs.proof.append(proofs.tactic(sequent))


def by(rule: str, *arguments: Any) -> Tactic:
    """One rule. Terms among the arguments are written out; functions are tactics for the proofs.

    What a rule refuses is Failed; a name or an assertion that is wrong in a script is not.
    """
    apply = RULES[rule]

    def tactic(sequent: Sequent) -> Proof:
        filled = [_prepared(argument) for argument in arguments]
        try:
            with known_in(sequent):
                apply(_Elaborator(RULES), sequent, *filled)
        except (Rejected, *FAULTS) as fault:
            raise Failed(f"{rule}: {fault}") from fault
        return [rule, *map(_finished, filled)]

    return tactic


def _prepared(argument: Any) -> Any:
    if isinstance(argument, Term):
        return to_json(argument)
    if callable(argument):
        return _Hole(argument)
    if isinstance(argument, list):
        return [_prepared(part) for part in argument]
    if isinstance(argument, dict):
        return {name: _prepared(part) for name, part in argument.items()}
    return argument


def _finished(argument: Any) -> Any:
    if isinstance(argument, _Hole):
        return argument.proof
    if isinstance(argument, list):
        return [_finished(part) for part in argument]
    return argument


def first(*tactics: Tactic) -> Tactic:
    """The first tactic that succeeds."""

    def tactic(sequent: Sequent) -> Proof:
        why: list[str] = []
        for attempt in tactics:
            try:
                return attempt(sequent)
            except Failed as fault:
                why.append(str(fault))
        raise Failed("; ".join(why)[:300])

    return tactic


def no_way(sequent: Sequent) -> Proof:
    """Fails."""
    raise Failed("it does not apply")
