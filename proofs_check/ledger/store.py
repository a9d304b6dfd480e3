"""Certificates on disk: one file a paper, where its record says, keyed by the digest of the statement. Each is checked
again when it is read.

`judge` is what a run says of a statement: from the stored certificate (quick), or from one that was just searched for
(full). The file holds for each statement its certificate and those of its mutants.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from proofs_check.core.certificate import Checked, Outcome, check_certificate, citable
from proofs_check.core.finite import evaluated
from proofs_check.core.mutants import Mutant, mutants
from proofs_check.core.rules import Rejected
from proofs_check.core.statement import Statement, from_data
from proofs_check.ledger.packed import Packed, packed, unpacked
from proofs_check.ledger.paper import Paper
from proofs_check.ledger.registry import installed
from proofs_check.ledger.verdicts import counted, mutant_outcome, summary

Row = dict[str, Any]


@cache
def _file(path: Path) -> Packed | None:
    """The stored entries of a paper's statements, which are read one by one; None where there is no file."""
    with _damage_told(path):
        return Packed(json.loads(path.read_text("utf-8"))) if path.is_file() else None


def _entry(path: Path, digest: str) -> Row | None:
    file = _file(path)
    with _damage_told(path):
        return None if file is None or digest not in file.tree else file.read(file.tree[digest])


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, RecursionError) as fault:
        raise ValueError(f"{path} holds no certificates: {fault}") from fault


def stored(statement: Statement) -> Row:
    """The stored entry of a statement, or one that says what is wrong with it.

    A statement that the core does not settle has an entry too, without a certificate and with the reason. That there is
    none at all is a fault of ours, whose certificates ship; a user's statement may have been given none. One about
    finitely many points needs none: it is evaluated.
    """
    entry = filed(statement)
    if entry is None and (found := evaluated(statement)) is not None:
        return {"certificate": found, "reason": "", "mutants": []}
    if entry is None:
        paper = _paper(statement)
        if paper is None or not paper.host:
            return _NONE
        return {"error": f"its certificate is missing: {'/'.join(paper.certificates.parts[-2:])} has none of it"}
    try:
        _ = entry.get("error") or (entry["certificate"], [(m["digest"], m["certificate"]) for m in entry["mutants"]])
    except (AttributeError, KeyError, TypeError) as fault:
        return {"error": f"its stored certificate lacks a field: {fault}"}
    return entry


def filed(statement: Statement) -> Row | None:
    """What the file of its paper has of a statement; None where that is nothing."""
    paper = _paper(statement)
    try:
        return None if paper is None else _entry(paper.certificates, statement.digest)
    except ValueError as damage:
        return {"error": f"its certificate cannot be read: {damage}"}


def file_digest(statement: Statement) -> str:
    """The sha256 of the file that a statement's certificate would lie in; "" where there is none."""
    paper = _paper(statement)
    return "" if paper is None else _digest(paper.certificates)


@cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _paper(statement: Statement) -> Paper | None:
    return installed().get(statement.name.split(".")[0])


def entries(path: Path) -> dict[str, Row]:
    """The entries of a file by digest. Raises ValueError, with its name, for a damaged one."""
    with _damage_told(path):
        found: dict[str, Row] = unpacked(json.loads(path.read_text("utf-8")))
        return dict(found)


def written(found: Mapping[str, Row]) -> str:
    """The text of a file with these entries."""
    return json.dumps(packed(dict(sorted(found.items()))), separators=(",", ":")) + "\n"


def judge(data: Any, offer: Row | None = None, mutants: bool = True) -> Row:
    """What the core says of a statement given as data, by the offered entry or the stored one; with or without what
    it says of the mutants, which takes longer.
    """
    statement = from_data(data)
    if offer is not None:
        return _judged(statement, offer, mutants)
    found = alone(statement)
    if not mutants or found["outcome"] != Outcome.PROVED.value:
        return found
    if statement.digest not in _MUTANTS:
        entry = stored(statement)
        _MUTANTS[statement.digest] = counted(statement, entry["certificate"], entry["mutants"])
    return {**found, "mutants": _MUTANTS[statement.digest]}


def alone(statement: Statement) -> Row:
    """What the core says of a statement by its stored entry, its mutants left out."""
    digest = statement.digest
    if digest not in _ALONE:
        _ALONE[digest] = _judged(statement, stored(statement), False)
    return _ALONE[digest]


def told_apart(known: Statement, other: Statement) -> str:
    """What is shown of a variant of a proved statement, "refuted", "true" or "open": by the certificates of its mutants
    or by evaluation. Where the file is damaged or gone, nothing is.
    """
    entry = stored(known)
    if entry.get("certificate") is None:
        return "open"
    offered = {row["digest"]: row["certificate"] for row in entry["mutants"]}
    return mutant_outcome(other, offered.get(other.digest), citable(known, entry["certificate"]))


_NONE: Row = {"certificate": None, "reason": "no certificate is stored for it", "mutants": []}
# Of stored entries, which do not change while a process runs: what is said of a statement without its mutants, and of
# them. Kept apart, so that the statement's certificate is checked once whether its mutants are asked for or not.
_ALONE: dict[str, Row] = {}
_MUTANTS: dict[str, Row] = {}


def _judged(statement: Statement, entry: Row, mutants: bool) -> Row:
    if entry.get("error"):
        return _failed(entry["error"])
    try:
        checked: Checked | None = None
        if entry["certificate"] is not None:
            checked = check_certificate(statement, entry["certificate"])
    except Rejected as fault:
        return _failed(f"its certificate is rejected: {fault}")
    proved = checked is not None and checked.outcome is Outcome.PROVED
    told_apart = counted(statement, entry["certificate"], entry["mutants"]) if proved and mutants else None
    return {**summary(checked, entry.get("reason", "")), "mutants": told_apart}


def _failed(why: str) -> Row:
    """What is said of a statement with a certificate that is none: nothing, which no other evidence makes good."""
    return {**summary(None, why), "outcome": "error", "strength": None, "coverage": None, "mutants": None}


def offer(statement: Statement, mutants: bool = True) -> Row:
    """Search anew for a certificate of a statement and of its mutants; nothing is believed of it."""
    from proofs_check.ledger.proofs import script_of

    return searched(statement, script_of(statement.name), mutants)


def searched(statement: Statement, scripts: Any = None, mutants: bool = True) -> Row:
    """The entry of a statement."""
    from proofs_check.rigour.decide import FULL, UNAIDED, Empty, decide, try_mutants

    try:
        found = decide(statement, FULL if scripts else UNAIDED, scripts)
    except Empty as why:
        return {"name": statement.name, "error": str(why)}
    # Mutants are controls of what is said to hold; a refuted statement needs none.
    tried = try_mutants(statement, scripts) if mutants and _proves(statement, found.certificate) else []
    return {"name": statement.name, "certificate": found.certificate, "reason": found.reason, "mutants": tried}


def proof(statement: Statement, kept: Row | None = None) -> Row:
    """The entry of a statement, its mutants not tried yet; kept: what stays if it still holds."""
    if kept is not None and not kept.get("error") and _proves(statement, kept["certificate"]):
        return kept
    return offer(statement, mutants=False)


def to_try(statement: Statement, entry: Row) -> list[tuple[str, Any]]:
    """The mutants of a proved statement by digest, with the certificates that the entry has of them."""
    if entry.get("error") or not _proves(statement, entry["certificate"]):
        return []
    old = {row["digest"]: row["certificate"] for row in entry["mutants"]}
    return [(digest, old.get(digest)) for digest in _mutants_of(statement)]


def tried(statement: Statement, digest: str, kept: Any = None) -> Row | None:
    """The row of one mutant; None for one that speaks of nothing. kept: a certificate that stays if it still holds."""
    from proofs_check.ledger.proofs import script_of
    from proofs_check.rigour.decide import try_mutant

    return try_mutant(_mutants_of(statement)[digest], statement, script_of(statement.name), kept)


def with_mutant(statement: Statement, entry: Row, digest: str, row: Row | None) -> Row:
    """The entry with the row of a mutant in its place."""
    rows = {old["digest"]: old for old in entry["mutants"]} | {digest: row}
    return {**entry, "mutants": [rows[d] for d in _mutants_of(statement) if rows.get(d) is not None]}


def _mutants_of(statement: Statement) -> dict[str, Mutant]:
    return {mutant.statement.digest: mutant for mutant in mutants(statement)}


def _proves(statement: Statement, certificate: Any) -> bool:
    try:
        return certificate is not None and check_certificate(statement, certificate).outcome is Outcome.PROVED
    except Rejected:
        return False
