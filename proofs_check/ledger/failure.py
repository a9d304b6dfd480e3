"""Both sides of a refuted statement at the point where it fails, for display. Verdicts do not depend on this."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs_check.core import witness
from proofs_check.core.enclose import Evaluator, Undefined, Unknown
from proofs_check.core.statement import from_data, obligations
from proofs_check.core.terms import Malformed
from theory.lowering.precision import working

_BITS = 128


def sides(statement: Any, at: Mapping[str, Any]) -> tuple[str, str] | None:
    """The two sides of the relation that fails there, six digits each; None where there are no two numbers to show.

    statement, at: data, of a statement and of where the core refuted it.
    """
    part = dict(obligations(from_data(statement)))[at["part"]]
    sequent, point = witness.with_terms_put(part, witness.from_json(at["point"]))
    goal = sequent.goal
    try:
        while goal.kind == "and":
            goal = next(part for part in goal.parts if witness.truth(part, point) is False)
        if goal.kind != "rel":
            return None
        with working(_BITS):
            left, right = (_shown(Evaluator(point).value(side)) for side in goal.parts[1:])
    except (StopIteration, Undefined, Unknown, Malformed):
        return None
    return left, right


def _shown(value: Any) -> str:
    """An exact fraction as it is, if it is short, and six digits of anything else."""
    if isinstance(value, Fraction) and len(str(value)) <= 12:
        return str(value)
    return f"{float(value) if isinstance(value, Fraction) else float(sum(value) / 2):.6g}"
