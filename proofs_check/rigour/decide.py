"""Decide a statement: a witness, proofs of its parts, or proofs of instances. Only the certificate counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

from proofs_check.core import witness
from proofs_check.core.certificate import Checked, Outcome, building_on, check_certificate, instance
from proofs_check.core.domain import Sequent, needed, solvable
from proofs_check.core.mutants import Mutant, mutants
from proofs_check.core.printing import point_to_json, text
from proofs_check.core.rules import FAULTS, Rejected, known_in
from proofs_check.core.statement import FORMAT, Statement, obligations, premise
from proofs_check.core.terms import to_json
from proofs_check.core.work import TooLarge, limited
from proofs_check.rigour.arrange import doubtful, guarded, in_order, sides
from proofs_check.rigour.auto import Search
from proofs_check.rigour.monotone import beyond, from_known
from proofs_check.rigour.points.equal import without_equalities
from proofs_check.rigour.points.exact import as_fractions, refuting
from proofs_check.rigour.points.refute import refute
from proofs_check.rigour.points.sample import failing
from proofs_check.rigour.points.satisfy import satisfy
from proofs_check.rigour.tactics import Failed, Tactic, by, first, no_way

Scripts = Mapping[str, Tactic]
Row = dict[str, Any]
_INSTANCES = 3
_DRAWN = 300  # points at which each mutant is looked at first


@dataclass(frozen=True)
class Effort:
    """Budgets in steps."""

    refuter: int = 2500
    prover: int = 200
    looks: int = 1200
    depth: int = 6
    work: int = 3_000_000


FULL = Effort()
UNAIDED = Effort(refuter=2500, prover=80, looks=600, work=600_000)  # a statement of the ledger without a script
BRIEF = Effort(refuter=600, prover=25, looks=200, depth=3, work=200_000)
MUTANT = Effort(refuter=3000, prover=15, looks=60, depth=3, work=60_000)
# Where that found nothing: a longer hunt, and longer ways from what is known.
STUBBORN = Effort(refuter=15_000, prover=0, looks=0, depth=2, work=1_000_000)


class Empty(Exception):
    """No point was found that lies in the domain and meets the hypotheses: nothing is stated."""


@dataclass(frozen=True)
class Decision:
    """The certificate with what the core says of it, or why there is none."""

    certificate: dict[str, Any] | None
    checked: Checked | None
    reason: str = ""


def decide(
    statement: Statement, effort: Effort = FULL, scripts: Scripts | None = None, known: Statement | None = None
) -> Decision:
    """Search for a certificate. Raises Empty where the hypotheses cannot be met as far as the search goes.

    `scripts` prove parts of the statement, by someone who thinks that it holds, or name points at which it fails;
    `known`: a proved one that is like it.
    """
    told = _at_told_points(statement, scripts or {}) if known is None else None
    if told is not None:
        return _checked(statement, told)
    base = premise(statement)
    point = satisfy(base)
    if point is None:
        raise Empty(f"{statement.name}: no point is found that lies in the domain and meets every hypothesis")
    body = {"format": FORMAT, "statement": statement.digest}
    proved = {**body, "point": point_to_json(point)}
    parts = obligations(statement)

    def offered(proofs: dict[str, Any]) -> Decision:
        return _checked(statement, {**proved, **proofs}, known=known)

    try:
        if known is not None:
            return offered(_from_known(statement, known, effort))
        if scripts:
            return offered(_whole(parts, effort, scripts))
    except Failed:
        pass
    for label, sequent in parts:
        found = refute(sequent, steps=effort.refuter)
        if found is not None:
            return _checked(statement, {**body, "witness": [label, point_to_json(found)]})
    try:
        if known is not None:  # a mutant of what took a script is not found by a short search
            return offered(_from_known(statement, known, effort, scripts or {}, search=not scripts))
        return offered(_whole(parts, effort, {}))
    except Failed as fault:
        reason = str(fault)
    listed = _instances(statement, base, effort) if known is None else []  # instances tell no mutant apart
    if listed:
        return _checked(statement, {**proved, "instances": listed}, reason)
    return Decision(None, None, reason)


def _whole(parts: Sequence[tuple[str, Sequent]], effort: Effort, scripts: Scripts) -> dict[str, Any]:
    with _sharing(effort.work):
        return {"proofs": {k: _proofs(q, effort, scripts.get(k), scripts.get("defined")) for k, q in parts}}


@contextmanager
def _sharing(work: float) -> Iterator[None]:
    """One budget of work for all that is tried inside."""
    try:
        with limited(work):
            yield
    except TooLarge as fault:
        raise Failed(str(fault)) from fault


def _checked(
    statement: Statement, certificate: dict[str, Any], reason: str = "", known: Statement | None = None
) -> Decision:
    try:
        return Decision(certificate, check_certificate(statement, certificate, known), reason)
    except Rejected as fault:
        return Decision(None, None, f"the search found what the core rejects: {fault}")


def _proofs(
    sequent: Sequent, effort: Effort, script: Tactic | None = None, conditions: Tactic | None = None, cases: int = 2
) -> list[Any]:
    """The proof of a part: as it stands, in another order, or case by case where no order will do."""

    def ordered(other: Sequent) -> list[Any]:
        proof = _prove(other, effort, script)
        proved = [[_condition(condition, effort, conditions) for condition in needed(other)], proof]
        return proved if other == sequent else ["ordered", [*map(to_json, other.given)], to_json(other.goal), *proved]

    other = in_order(sequent)
    if other == sequent or doubtful(sequent) is None:
        try:
            return ordered(sequent)
        except Failed:
            if doubtful(sequent) is None:
                raise
    other = guarded(other)
    if (condition := doubtful(other)) is None:
        return ordered(other)
    found = sides(other, condition) if cases else None
    if found is None:
        raise Failed(f"{text(condition.goal)} is needed, and may fail")
    bare, *both_sides = found
    defined = [_condition(need, effort, conditions) for need in needed(bare)]
    ways = [_proofs(side, effort, script, conditions, cases - 1) for side in both_sides]
    return ["cases", to_json(bare.goal), defined, *ways]


def _condition(condition: Sequent, effort: Effort, script: Tactic | None) -> Any:
    """A proof that something is defined."""
    if script is not None:
        with suppress(Failed):
            return _prove(condition, effort, script)
    return _prove(condition, effort, None)


def _condition_from(known: Sequence[Sequent], condition: Sequent, effort: Effort, script: Tactic | None) -> Any:
    """The same, from a condition of the known statement where it has one of the same goal."""
    for place, before in enumerate(known):
        if before.goal is condition.goal:
            with suppress(Rejected, Failed):
                given = building_on(before, condition)
                tactic = from_known if given.variables == before.variables else beyond
                return ["cited", place, _prove(given, effort, tactic(no_way))]
    return _condition(condition, effort, script)


def _prove(sequent: Sequent, effort: Effort, script: Tactic | None) -> Any:
    try:
        with known_in(sequent):
            return _solving(_searching(effort) if script is None else script)(sequent)
    except (Rejected, StopIteration, *FAULTS) as fault:  # a script may meet a sequent that it was not written for
        raise Failed(str(fault)) from fault


def _instances(statement: Statement, base: Sequent, effort: Effort) -> list[dict[str, Any]]:
    """Proofs at the least values of whole numbers that have no upper end."""
    free_sizes = [v for v in base.variables if v.whole and v.high is None and not v.sizes and not v.values]
    if not free_sizes or any(v.low is None or v.low.kind != "num" for v in free_sizes):
        return []
    brief = Effort(effort.refuter, min(80, effort.prover), min(400, effort.looks), 4)
    listed = []
    for step in range(_INSTANCES):
        values = {v.name: Fraction(v.low.parts[0] + step) for v in free_sizes if v.low is not None}
        point = satisfy(instance(base, values))
        if point is None:
            continue
        try:
            with _sharing(effort.work // _INSTANCES):
                proofs = {label: _proofs(instance(part, values), brief) for label, part in obligations(statement)}
        except Failed:
            break
        at = {name: str(value) for name, value in values.items()}
        listed.append({"at": at, "point": point_to_json(point), "proofs": proofs})
    return listed


def try_mutants(statement: Statement, scripts: Scripts | None = None) -> list[Row]:
    """The row of each mutant of a proved statement."""
    return [row for mutant in mutants(statement) if (row := try_mutant(mutant, statement, scripts)) is not None]


def try_mutant(mutant: Mutant, statement: Statement, scripts: Scripts | None = None, kept: Any = None) -> Row | None:
    """A mutant's kind, its digest, and a certificate where one was found; None for a mutant that speaks of nothing.

    One that only weakens the conclusion is proved from the statement itself. kept: a certificate that stays where the
    core still takes it.
    """
    row = {"kind": mutant.kind, "digest": mutant.statement.digest}
    if kept is not None and _checked(mutant.statement, kept, known=statement).checked is not None:
        return {**row, "certificate": kept}
    told = _at_told_points(mutant.statement, scripts or {}) or _at_drawn_points(mutant.statement)
    if told is not None:
        return {**row, "certificate": told}
    try:
        for effort in (MUTANT, STUBBORN):
            found = decide(mutant.statement, effort, scripts, statement)
            if found.checked is not None and found.checked.outcome is not Outcome.INSTANCES:
                return {**row, "certificate": found.certificate}
    except Empty:
        return None
    return {**row, "certificate": None}


def _at_told_points(statement: Statement, scripts: Scripts) -> dict[str, Any] | None:
    """The certificate of a point that the script names, if the statement fails there."""
    told = scripts.get("points")
    return None if told is None else _at_points(statement, lambda sequent, _: map(as_fractions, told(sequent)))


def _at_drawn_points(statement: Statement) -> dict[str, Any] | None:
    """The certificate of a drawn point at which the statement clearly fails: most mutants need no longer search."""
    return _at_points(statement, lambda _, other: (refuting(other, point) for point in failing(other, _DRAWN)))


def _at_points(
    statement: Statement, points: Callable[[Sequent, Sequent], Iterable[dict[str, Any] | None]]
) -> dict[str, Any] | None:
    """The same for points of each part, which is given with and without its equalities: these give some numbers."""
    for label, sequent in obligations(statement):
        other, completed = without_equalities(sequent)
        found = (point for point in points(sequent, other) if point is not None)
        for point in chain.from_iterable(map(completed, found)):
            if witness.refutes(sequent, point):
                return {"format": FORMAT, "statement": statement.digest, "witness": [label, point_to_json(point)]}
    return None


def _from_known(
    statement: Statement, known: Statement, effort: Effort, scripts: Scripts | None = None, search: bool = False
) -> dict[str, Any]:
    """Proofs of the parts: as weaker variants of what is known, by a script, by search as a last resort."""
    before = dict(obligations(known))
    return {"proofs": {label: _part(sequent, before.get(label), effort, scripts or {}, label, search)
                       for label, sequent in obligations(statement)}}  # fmt: skip


def _part(
    sequent: Sequent, known: Sequent | None, effort: Effort, scripts: Scripts, label: str, search: bool
) -> list[Any]:
    """The conditions of definedness, and the goal in the first way that does it."""
    searched = first(scripts.get("weaker", no_way), _searching(effort) if search else no_way)
    ways: list[tuple[Sequent, Tactic, list[str]]] = []
    if label in scripts:
        ways.append((sequent, scripts[label], []))
    if known is not None:
        with suppress(Rejected):
            given = building_on(known, sequent)
            widened = given.variables != known.variables
            ways.append((given, beyond(searched) if widened else from_known(searched), ["known"]))
    if search:
        ways.append((sequent, searched, []))
    for way, tactic, cited in ways:
        with suppress(Failed):
            # A script knows its way, however long: it is no search.
            with _sharing(UNAIDED.work if tactic is scripts.get(label) else effort.work):
                proof = _prove(way, effort, tactic)
            with _sharing(max(BRIEF.work, effort.work)):
                before = [] if known is None else needed(known)
                defined = [_condition_from(before, c, BRIEF, scripts.get("defined")) for c in needed(sequent)]
                return [defined, proof, *cited]
    raise Failed("no way is found")


def _searching(effort: Effort) -> Tactic:
    return lambda s: Search(effort.prover, effort.looks).prove(s, effort.depth)


def _solving(tactic: Tactic) -> Tactic:
    """The tactic behind the equalities that give numbers."""

    def solving(s: Sequent) -> Any:
        found = solvable(s)
        return tactic(s) if found is None else by("solve", *found, solving)(s)

    return solving
