"""The verdict on a statement, from what the core says of it and of what is meant: one row of a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from proofs_check.core.domain import Variable
from proofs_check.core.finite import evaluated
from proofs_check.core.mutants import mutants
from proofs_check.core.printing import text
from proofs_check.core.statement import Statement, from_data
from proofs_check.core.terms import ZERO, Term, children, conjuncts, walk
from proofs_check.language.denial import Input, denial, told
from proofs_check.ledger.claim import Severity, Verdict
from proofs_check.ledger.readings import READINGS

Say = Callable[[Statement], Mapping[str, Any]]  # what the core says of a statement, as `verdicts.summary` has it
Tell = Callable[[Statement, Statement], str]  # of a proved statement and a variant of it: "refuted", "true" or "open"
_ENDS = ("low", "high", "low_open", "high_open", "radius", "values")
_TREES = ("printed", "meant", "shown")
_SMALL, _SLIPS = 5, 2  # nodes of what a slip exchanges, and how many pairs
# The severity of a false statement, and of one that lacks a hypothesis, by the strongest kind of place it stands at.
FALSE = {"theorem": Severity.BREAKS, "proof": Severity.BREAKS, "listing": Severity.CODE, "table": Severity.ARITHMETIC}
LACKS = {"table": Severity.ARITHMETIC}


@dataclass(frozen=True)
class Case:
    """What is ruled on. kinds: of the places where it stands; shown: what the record prints that has the right form;
    inputs: where no choice does what is printed.
    """

    printed: Statement
    meant: Statement | None = None
    reading: str = ""
    shown: Statement | None = None
    kinds: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()

    @cached_property
    def denied(self) -> Statement | None:
        return denial(self.printed, self.inputs) if self.inputs else None

    def to_json(self) -> dict[str, Any]:
        trees = {name: tree and tree.to_json() for name in _TREES for tree in [getattr(self, name)]}
        return {**trees, "reading": self.reading, "kinds": list(self.kinds), "inputs": list(self.inputs)}


def from_json(data: Mapping[str, Any]) -> Case:
    trees = {name: data[name] and from_data(data[name]) for name in _TREES}
    return Case(**trees, reading=str(data["reading"]), kinds=tuple(data["kinds"]), inputs=tuple(data["inputs"]))


@dataclass(frozen=True)
class Ruling:
    """row: the row of the table that gives the verdict, in words; governs: the statement that the verdict rests on."""

    verdict: Verdict
    severity: Severity | None
    row: str
    governs: Statement
    repair: str = ""


def ruled(case: Case, say: Say, tell: Tell) -> Ruling:
    """The ruling. Raises ValueError for a reading that changes what it may not, or a repair that assumes its claim."""
    printed, denied = case.printed, case.denied
    if denied is not None and say(denied)["outcome"] == "proved":
        found = _refuted(case, say, tell)
        governs = denied if found.governs is printed else found.governs
        return replace(found, governs=governs, repair=f"{told(denied, case.inputs)}; {found.repair}".removesuffix("; "))
    outcome = say(printed)["outcome"]
    if outcome == "proved":
        return Ruling(Verdict.HOLDS, None, "proved as printed", printed)
    if outcome != "refuted":
        return Ruling(Verdict.OPEN, None, f"the core decides only: {outcome}", printed)
    return _refuted(replace(case, inputs=()), say, tell)


def _refuted(case: Case, say: Say, tell: Tell) -> Ruling:
    printed, meant = case.printed, case.meant
    if meant is None:
        if evaluated(printed) is None and not case.inputs:
            return Ruling(Verdict.REFUTED, None, "refuted; no repair is stated", printed)
        row = "no choice does it" if case.inputs else "refuted by the cells"
        return Ruling(Verdict.FALSE, _severity(FALSE, case.kinds, Severity.REPAIRABLE), row, printed)
    if say(meant)["outcome"] != "proved":
        return Ruling(Verdict.REFUTED, None, "refuted; what is meant is not proved yet", printed)
    return _repaired(case, meant, tell)


def _repaired(case: Case, meant: Statement, tell: Tell) -> Ruling:
    printed = case.printed
    if case.reading:
        reading = READINGS[case.reading]
        if not reading.fits(printed, meant):
            raise ValueError(f"the reading {case.reading!r} may change {reading.changes or 'nothing'}, and no more")
        return Ruling(Verdict.HOLDS_IF, reading.severity, "refuted as printed, proved as read", meant)
    if set(conjuncts(meant.given)) & set(conjuncts([meant.says]) if isinstance(meant.says, Term) else ()):
        raise ValueError("what is concluded is a hypothesis")
    added = _added(printed, meant)
    if added:
        said = " and ".join(added)
        needed = {words: [tell(meant, other) for other in others] for words, others in added.items()}
        idle = [words for words, outcomes in needed.items() if set(outcomes) != {"refuted"}]
        if idle:
            return Ruling(Verdict.REFUTED, None, f"refuted; that {idle[0]} is needed is not shown", printed, said)
        severity = _severity(LACKS, case.kinds, Severity.REPAIRABLE)
        return Ruling(Verdict.HOLDS_IF, severity, "refuted, proved with what is added; without it refuted", meant, said)
    slips = _slips(printed, meant)
    if slips and case.shown is not None and all(_shows(case.shown, new) for _, new in slips):
        said = "; ".join(f"for {text(old)} read {text(new)}" for old, new in dict.fromkeys(slips))
        severity = _severity({"listing": Severity.CODE}, case.kinds, Severity.MISPRINT)
        return Ruling(Verdict.TYPO, severity, "refuted, proved after a slip; another place has it right", printed, said)
    severity = _severity(FALSE, case.kinds, Severity.REPAIRABLE)
    return Ruling(Verdict.FALSE, severity, "refuted; another statement is proved", printed)


def _severity(table: Mapping[str, Severity], kinds: Sequence[str], otherwise: Severity) -> Severity:
    return next((severity for kind, severity in table.items() if kind in kinds), otherwise)


def _added(printed: Statement, meant: Statement) -> dict[str, list[Statement]]:
    """Each hypothesis and narrower domain that only `meant` has, with the mutants of `meant` that drop or widen it."""
    if (printed.says, printed.definitions) != (meant.says, meant.definitions):
        return {}
    before = {v.name: v for v in printed.plain[0]}
    variables, given, _ = meant.plain
    if before.keys() != {v.name for v in variables} or not set(printed.plain[1]) <= set(given):
        return {}
    found: dict[str, list[Statement]] = {text(formula): [] for formula in given if formula not in printed.plain[1]}
    found |= {_narrower(v, before[v.name]): [] for v in variables if v != before[v.name]}
    for other in (mutant.statement for mutant in mutants(meant)):
        if other.says != meant.plain[2]:
            continue
        for formula in set(given) - set(other.given) - set(printed.plain[1]):
            found[text(formula)].append(other)
        for mine, wider in zip(variables, other.variables, strict=True):
            if any(getattr(wider, f) != getattr(mine, f) != getattr(before[mine.name], f) for f in _ENDS):
                found[_narrower(mine, before[mine.name])].append(other)
    return found


def _narrower(v: Variable, before: Variable) -> str:
    """The ends of a variable that it had not before."""
    added = [end for end in v.bounds(v.as_term()) if end not in before.bounds(v.as_term())]
    return " and ".join(map(text, added)) or f"|{v.name}| <= {text(v.radius or ZERO)}"


def _slips(printed: Statement, meant: Statement) -> list[tuple[Term, Term]]:
    """The small subterms in which two conclusions differ, place by place; none where it is more than a slip."""
    one, other = printed.says, meant.says
    if not isinstance(one, Term) or not isinstance(other, Term):
        return []
    if (printed.variables, printed.given) != (meant.variables, meant.given):
        return []
    found: list[tuple[Term, Term]] = []
    _compare(one, other, found)
    small = all(max(old.size, new.size) <= _SMALL for old, new in found)
    return found if small and len(found) <= _SLIPS else []


def _compare(x: Term, y: Term, found: list[tuple[Term, Term]]) -> None:
    if x is y:
        return
    plain = [[part for part in t.parts if not isinstance(part, Term)] for t in (x, y)]
    below = list(children(x)), list(children(y))
    if x.kind == y.kind and plain[0] == plain[1] and len(below[0]) == len(below[1]) > 0:
        for a, b in zip(*below, strict=True):
            _compare(a, b, found)
    else:
        found.append((x, y))


def _shows(shown: Statement, part: Term) -> bool:
    """Does what another record prints contain the part?"""
    says = shown.says
    terms = [*shown.given, *(says.terms if not isinstance(says, Term) else [says])]
    terms += [definition.body for _, definition in shown.definitions]
    return any(node is part for term in terms for node in walk(term))
