"""The row of a claim: all that is read of it, by pages, reports and the command line, and written as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Piece:
    """A piece of evidence: what the record says of it, and what its run measured."""

    kind: str
    scope: str
    controls: tuple[str, ...]
    margin: float | None = None
    points: int = 0
    seconds: float = 0.0
    controls_rejected: int = 0
    tolerance: float | None = None
    error: float | None = None


@dataclass(frozen=True)
class Row:
    """The words are of the record; status, witness and what was measured of a run; core, strength, coverage and mutants
    of what the core says. formal and case: the statements as data; as_data: the first of them as it is printed.
    """

    id: str
    paper: str
    source: str
    statement: str
    formula: str
    hypotheses: tuple[str, ...]
    nature: str
    verdict: str
    severity: str | None
    reading: str
    coverage: str | None
    coverage_why: str
    status: str | None
    is_correction: bool
    note: str
    why: str
    record: str
    evidence: tuple[Piece, ...]
    correction: str | None
    holds_instead: str
    outcome_of: str | None
    defect: str | None
    message: str
    strength: str | None
    formal: Any
    as_data: str
    case: Any
    witness: Mapping[str, Any] | None = None
    mutants: Mapping[str, Any] | None = None
    core: Mapping[str, Any] | None = None

    @property
    def conditions(self) -> list[str]:
        """The hypotheses that the statement does not say itself: a printed one begins with its domain."""
        printed = self.record in ("rule", "no_choice")
        if printed or self.as_data.split("; where ")[0] == self.statement.removesuffix("."):
            return []
        return [condition for condition in self.hypotheses if condition not in self.statement]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def from_json(data: Mapping[str, Any]) -> Row:
    """The row that `to_json` wrote. Raises TypeError for other fields."""
    pieces = tuple(Piece(**{**piece, "controls": tuple(piece["controls"])}) for piece in data["evidence"])
    return Row(**{**data, "evidence": pieces, "hypotheses": tuple(data["hypotheses"])})
