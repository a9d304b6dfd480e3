"""The rules: what a certificate may say, and why it is then true. `check` raises Rejected for everything else.

A sequent is valid if at each point of its domain, where every hypothesis is defined and true and the goal is defined,
the goal is true. That the goal is defined is proved on its own (`domain.needed`), so a rule may rely on it at each
point of the domain; a rule that looks beyond (a face, a box) proves it there itself. A certificate is plain data:
[rule, arguments.., proofs..], its terms written as lists.
"""

from __future__ import annotations

from typing import Any

from proofs_check.core.domain import Sequent, check_formed
from proofs_check.core.rules.arithmetic import ARITHMETIC
from proofs_check.core.rules.checker import FAULTS, Checker, Rejected, Rule, known_in
from proofs_check.core.rules.logic import LOGIC
from proofs_check.core.rules.one_variable import ONE_VARIABLE, face_parts
from proofs_check.core.rules.sums import SUMS
from proofs_check.core.work import limited

__all__ = ["FAULTS", "RULES", "Checker", "Rejected", "check", "face_parts", "known_in"]

_WORK = 20_000_000
RULES: dict[str, Rule] = {**LOGIC, **ARITHMETIC, **ONE_VARIABLE, **SUMS}


def check(sequent: Sequent, proof: Any) -> None:
    """Returns if the proof shows the sequent valid. Raises Rejected otherwise, whatever the proof is."""
    try:
        check_formed(sequent)
        with limited(_WORK):
            Checker(RULES).prove(sequent, proof)
    except FAULTS as fault:
        raise Rejected(f"{type(fault).__name__}: {fault}"[:200]) from fault
