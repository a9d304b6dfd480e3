"""The record of a statement. It has no word for a verdict, a severity, a hypothesis, a witness or a strength."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import Any

from proofs_check.core.domain import Variable
from proofs_check.core.printing import formula, hypotheses, sentence
from proofs_check.core.statement import Definition, Statement
from proofs_check.core.terms import Term
from proofs_check.language import statement
from proofs_check.language.denial import Input
from proofs_check.ledger.claim import Claim, Nature, Verdict
from proofs_check.ledger.paper import Paper
from proofs_check.ledger.place import BOTH, Place
from proofs_check.ledger.readings import READINGS
from proofs_check.ledger.ruling import Case, Ruling, ruled

_NATURES = {"table": Nature.TABLE, "listing": Nature.TEXTUAL}


@dataclass(frozen=True)
class Rule:
    """What is printed at a place of a paper; reading: a key of READINGS; meant: what holds instead, or as it is read;
    shown: the id of the record that prints the right form; repeats: that of the claim whose defect this one has too;
    inputs: where no choice does what is printed; why: a referee's insight, shown as prose.
    """

    id: str
    at: str
    printed: Statement
    meant: Statement | None = None
    reading: str = ""
    shown: str = ""
    repeats: str | None = None
    inputs: tuple[Input, ...] = ()
    why: str = ""

    @property
    def place(self) -> Place:
        return place(self.id, self.at)

    def case(self, known: Callable[[str], Statement]) -> Case:
        """The case with the statement that the record `shown` prints. Raises KeyError where there is none."""
        shown = known(self.shown) if self.shown else None
        return Case(self.printed, self.meant, self.reading, shown, self.place.kinds, self.inputs)

    def claim(self, known: Callable[[str], Statement]) -> Claim:
        """The claim, its verdict and words from the record and from what the core said of its statements."""
        case = self.case(known)
        ruling = ruled(case, kept, told)
        instead = self.meant if ruling.verdict in (Verdict.FALSE, Verdict.TYPO, Verdict.REFUTED) else None
        return Claim(
            id=self.id,
            source=source(self.id, self.at),
            statement=sentence(self.printed) + " The choice must be the same for all sequences." * bool(self.inputs),
            formula=formula(self.printed),
            hypotheses=tuple(hypotheses(self.printed)),
            nature=next((n for kind, n in _NATURES.items() if kind in self.place.kinds), Nature.MATHEMATICAL),
            verdict=ruling.verdict,
            severity=ruling.severity,
            evidence=(),
            formal=ruling.governs,
            case=case,
            reading=READINGS[self.reading].sentence if self.reading else "",
            note=_note(ruling),
            defect=self.repeats,
            why=self.why,
            record="no_choice" if self.inputs else "rule",
            is_correction=self.place.ours,
            holds_instead="" if instead is None else sentence(instead),
        )


def rule(id: str, at: str, printed: Statement, **rest: Any) -> Rule:
    """The record of a statement; its name is the id. rest: meant, reading, shown, repeats, why."""
    meant = rest.pop("meant", None)
    return Rule(id, at, _named(printed, id), None if meant is None else _named(meant, f"{id}.meant"), **rest)


def no_choice(id: str, at: str, printed: Statement, *inputs: Input, **rest: Any) -> Rule:
    """The record of `there is a choice such that`, with inputs at which no choice does it; rest as in `rule`."""
    return rule(id, at, printed, inputs=inputs, **rest)


def _named(statement: Statement, name: str) -> Statement:
    """The statement under another name, which changes nothing that was checked when it was made."""
    made = copy(statement)
    object.__setattr__(made, "name", name)
    return made


def states(
    id: str,
    at: str,
    *,
    for_all: Sequence[Variable],
    says: Any,
    given: Sequence[Term] = (),
    using: Sequence[tuple[str, Definition]] = (),
    **rest: Any,
) -> Rule:
    """The record of a statement that is written out: for all variables, if all of `given`, then `says`."""
    return rule(id, at, statement(id, for_all=for_all, says=says, given=given, using=using), **rest)


def parted(entries: Iterable[Rule | Statement]) -> tuple[tuple[Rule, ...], dict[str, Statement]]:
    """The records among these, and every statement by its id: a bare one belongs to a claim with other evidence."""
    made = tuple(entries)
    statements = [entry.printed if isinstance(entry, Rule) else entry for entry in made]
    return tuple(entry for entry in made if isinstance(entry, Rule)), {one.name: one for one in statements}


def _note(ruling: Ruling) -> str:
    """The row of the table that gives a verdict other than `holds`, in a sentence."""
    if ruling.verdict is Verdict.HOLDS:
        return ""
    said = ruling.row + (f": {ruling.repair}" if ruling.repair else "")
    return f"{said[0].upper()}{said[1:]}."


def place(id: str, at: str) -> Place:
    """The place of a record. Raises: ValueError for a paper that is not installed, and as `Paper.place`."""
    return _paper(id).place(at)


def source(id: str, at: str) -> str:
    """The paper, its version or that it is both, and the place, as they are printed. Raises: ValueError as `place`."""
    paper, text = _paper(id), place(id, at).text
    version = BOTH if BOTH in text else f"({paper.version})" if paper.version else ""
    return f"{f'{paper.name} {version}'.rstrip()}, {text.replace(f' {BOTH}', '')}"


def versions(id: str, at: str) -> list[Paper]:
    """The records of the versions that have the sentence. Raises: ValueError as `place`."""
    paper = _paper(id)
    return [paper, *([paper.first] if place(id, at).first and paper.first else [])]


def _paper(id: str) -> Paper:
    from proofs_check.ledger.registry import installed  # which reads the records

    paper = installed().get(id.split(".")[0])
    if paper is None:
        raise ValueError(f"{id} belongs to no paper that is installed")
    return paper


@cache
def kept(statement: Statement) -> Mapping[str, Any]:
    """What the core said of the statement, or says now, its mutants left out."""
    from proofs_check.ledger import judged, store  # which ask the registry whose a statement is

    found: Mapping[str, Any] | None = judged.known(statement)
    return store.alone(statement) if found is None else found


def told(known: Statement, other: Statement) -> str:
    """What the core says of a variant of a proved statement."""
    from proofs_check.ledger.store import told_apart

    return told_apart(known, other)
