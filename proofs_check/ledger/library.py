"""Verdicts from Python, as records: the claims of the papers, and statements of one's own.

    from proofs_check import decide, verify

    verify("razor.thm1")["razor.thm1"].verdict       # "false"; with its witness and what holds instead
    verify(papers=["kv"], jobs=2).frame()            # a pandas frame, where pandas is there
    decide(statement("mine", for_all=[x], says=exp(x) >= 1 + x)).outcome    # "proved"

What decides is what decides for the command line: the same workers, the same core, the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from proofs_check.core.statement import Statement
from proofs_check.ledger.row import Row


@dataclass(frozen=True)
class Verdict:
    """One claim. verdict: holds, holds_if, typo, false, unsettled; status: whether the evidence supports that verdict
    (confirmed, contradicted, undecided, error, not_checked; None if nothing was run); strength and coverage: of what,
    and how far (see CONTRIBUTING); witness: the point, what is printed and what is true there, or both sides of what
    the core refutes; holds_instead: the corrected statement; correction: its id, where it has one of its own; as_data:
    the sentence that the core decides, printed from its tree, or nothing.
    """

    id: str
    paper: str
    source: str
    statement: str
    formula: str
    verdict: str
    severity: str | None
    status: str | None
    strength: str | None
    coverage: str | None
    reading: str
    note: str
    correction: str | None
    holds_instead: str
    witness: Mapping[str, Any] | None
    message: str
    as_data: str


@dataclass(frozen=True)
class Decision:
    """One statement. outcome: proved, refuted, instances, open or error; at: where it fails, or the instances;
    certificate: what the core has checked; mutants: which wrong variants it could not tell from the truth.
    """

    id: str
    sentence: str
    outcome: str
    strength: str | None = None
    coverage: str | None = None
    at: Any = None
    message: str = ""
    certificate: Mapping[str, Any] | None = None
    mutants: Mapping[str, Any] | None = None


class Verdicts(tuple[Verdict, ...]):
    """Verdicts in the order of the papers, by place or by id."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        """The verdict at a place, of an id, or the Verdicts of a slice. Raises IndexError or KeyError."""
        if isinstance(key, str):
            return {verdict.id: verdict for verdict in self}[key]
        found = super().__getitem__(key)
        return Verdicts(found) if isinstance(key, slice) else found

    def __repr__(self) -> str:
        counts = {s: sum(v.status == s for v in self) for s in dict.fromkeys(v.status for v in self)}
        told = ", ".join(f"{count} {status or 'not run'}" for status, count in counts.items())
        return f"<{len(self)} verdicts{': ' if told else ''}{told}>"

    @property
    def supported(self) -> bool:
        """Is every verdict confirmed, or a quotation that nothing here can check?"""
        return all(verdict.status in ("confirmed", "not_checked") for verdict in self)

    def to_json(self) -> list[dict[str, Any]]:
        """A list of objects that json.dumps takes."""
        return [asdict(verdict) for verdict in self]

    def frame(self) -> Any:
        """A pandas.DataFrame, one row a claim, indexed by id. Raises ModuleNotFoundError without pandas."""
        import pandas

        return pandas.DataFrame(self.to_json()).set_index("id")


def verify(
    *ids: str,
    papers: Sequence[str] = (),
    verdict: str | None = None,
    run: bool = True,
    full: bool = False,
    jobs: int = 1,
) -> Verdicts:
    """The claims of these ids (* stands for anything), or all; of these papers, or all; of this verdict, or of any.

    Args: run: False reads the rulings and runs nothing; full: retrain, all points, search anew (as `--full`); jobs:
        worker processes, 1..256. About a minute for all claims with jobs=2.
    Raises: ValueError for an id, a paper or a verdict that does not exist, and if no claim is left; BrokenLedger if the
        claims cannot be loaded, or what ships is not what was committed.
    """
    from proofs_check.ledger import claim, workers

    if isinstance(papers, str) or not all(isinstance(name, str) for name in (*ids, *papers)):
        raise ValueError(f"ids and papers are texts, papers a list of them, got {(*ids, papers)!r}")
    if isinstance(jobs, bool) or not isinstance(jobs, int) or not 1 <= jobs <= 256:
        raise ValueError(f"jobs must be a whole number in 1..256, got {jobs!r}")
    known = [one.value for one in claim.Verdict]
    if verdict is not None and verdict not in known:
        raise ValueError(f"verdict must be one of {', '.join(known)}, got {verdict!r}")
    plan = workers.Plan(tuple(papers) or None, ids or None, verdict, full)
    rows = workers.run(plan, jobs) if run else workers.records_of(plan)
    names = [field.name for field in fields(Verdict)]
    told = ({name: getattr(row, name) for name in names} | {"witness": _witness(row)} for row in rows)
    return Verdicts([Verdict(**one) for one in told])


def _witness(row: Row) -> Mapping[str, Any] | None:
    """That of the evidence, or where the core refutes a claim ruled false or a typo."""
    from proofs_check.ledger.failure import sides

    if row.witness is not None or row.core is None or row.core["outcome"] != "refuted":
        return row.witness
    at = row.core["at"]
    return {"point": at["point"], "sides": sides(row.formal, at)}


def decide(statement: Statement, *, seconds: float = 60, mutants: bool = False) -> Decision:
    """Prove or refute a statement of `proofs_check.language`, in a process of its own; one that runs on is an error.

    mutants: also make wrong variants of a statement that is proved and say which cannot be told from it.
    Raises: ValueError for anything else than a statement, or for seconds that are not positive.
    """
    from proofs_check.ledger.user_claims import decided

    if not isinstance(statement, Statement):
        raise ValueError(f"decide takes a statement of proofs_check.language, got {type(statement).__name__}")
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, got {seconds!r}")
    (row,) = decided([statement], seconds, mutants)
    names = [field.name for field in fields(Decision)]
    return Decision(**{name: row[name] for name in names if name in row})
