"""What all rules share: the walk from rule to rule, lemmas that have to be defined, rejection."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Sequent, check_formed, needs
from proofs_check.core.enclose import Undefined, Unknown
from proofs_check.core.normal import Rational, difference, knowing
from proofs_check.core.terms import FORMULAS, Malformed, Term
from proofs_check.core.work import TooLarge, spend

Proof = list[Any]
_STEP = 200  # of the work that a check may take, for a rule
FAULTS = (
    Malformed, TooLarge, Unknown, Undefined, ZeroDivisionError, KeyError, IndexError, TypeError, ValueError,
    AttributeError, RecursionError, OverflowError, MemoryError,
)  # fmt: skip
Rule = Callable[..., None]


class Rejected(Exception):
    """The certificate does not prove the sequent; the message says where."""


def least_values(sequent: Sequent) -> dict[str, tuple[Fraction, bool]]:
    """The constants that variables, and items, are at least; and whether that one is left out."""
    lows: dict[str, tuple[Fraction, bool]] = {}
    for v in sequent.variables:
        if v.values:
            lows[v.name] = (min(v.values), False)
        elif v.low is not None and v.low.kind == "num":
            lows[v.name] = (v.low.parts[0], v.low_open)
    return lows


def known_in(sequent: Sequent) -> AbstractContextManager[None]:
    """What normal forms may use of the domain."""
    return knowing(least_values(sequent))


class Checker:
    """Follows a proof from rule to rule. A search may put its own in its place, to see what a rule asks for."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self.rules = rules

    def prove(self, sequent: Sequent, proof: Any) -> None:
        if not isinstance(proof, list) or not proof or proof[0] not in self.rules:
            raise Rejected("no rule is named")
        spend(_STEP)
        with known_in(sequent):
            self.rules[proof[0]](self, sequent, *proof[1:])

    def every(self, sequents: Sequence[Sequent], proofs: Any) -> None:
        reject_unless(len(sequents) == len(proofs), f"{len(sequents)} conditions and {len(proofs)} proofs")
        for sequent, proof in zip(sequents, proofs, strict=True):
            self.prove(sequent, proof)

    def defined(self, sequent: Sequent, term: Term, proofs: Any) -> None:
        """The term, new in the proof, is well formed and defined at each point of the sequent."""
        check_formed(replace(sequent, goal=term if term.kind in FORMULAS else term <= term))
        self.every(list(dict.fromkeys(needs(sequent, term))), proofs)


def reject_unless(condition: bool, why: str) -> None:
    if not condition:
        raise Rejected(why)


def compared(goal: Term) -> tuple[str, Rational]:
    """The relation and b - a of a goal `a relation b`."""
    reject_unless(goal.kind == "rel", f"the rule is for comparisons, and the goal is a {goal.kind}")
    return goal.parts[0], difference(goal.parts[2], goal.parts[1])
