"""Certificates on disk: one file a paper, keyed by the digest of the statement; read as offers, and checked again.

`judge` is what a run says of a statement: from the stored certificate (quick), or from one that was just searched for
(full). The file holds for each statement its certificate and those of its mutants.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofs_check.core.certificate import Checked, Outcome, check_certificate
from proofs_check.core.rules import Rejected
from proofs_check.core.statement import Statement, from_data
from proofs_check.packed import packed, unpacked
from proofs_check.verdicts import counted, summary

if TYPE_CHECKING:
    from proofs_check.claim import Claim

Row = dict[str, Any]
FOLDER = Path(__file__).parent / "certificates"


@cache
def _stored() -> Mapping[str, Row]:
    """Every stored entry."""
    found: dict[str, Row] = {}
    for path in sorted(FOLDER.glob("*.json")):
        found |= entries(path)
    return found


def entries(path: Path) -> dict[str, Row]:
    """The entries of a file by digest. Raises ValueError, with its name, for a damaged one."""
    try:
        found: dict[str, Row] = unpacked(json.loads(path.read_text("utf-8")))
        return dict(found)
    except (KeyError, TypeError, ValueError) as fault:
        raise ValueError(f"{path} holds no certificates: {fault}") from fault


def written(found: Mapping[str, Row]) -> str:
    """The text of a file with these entries."""
    return json.dumps(packed(dict(sorted(found.items()))), separators=(",", ":")) + "\n"


def judge(data: Any, offer: Row | None = None, mutants: bool = True) -> Row:
    """What the core says of a statement given as data, by the offered entry or the stored one; with or without what
    it says of the mutants, which takes longer.
    """
    statement = from_data(data)
    if not mutants:
        return _judged(statement, {**(offer or _stored().get(statement.digest) or _NONE), "mutants": []})
    if offer is not None:
        return _judged(statement, offer)
    digest = statement.digest
    if digest not in _JUDGED:
        _JUDGED[digest] = _judged(statement, _stored().get(digest, {**_NONE, "mutants": []}))
    return _JUDGED[digest]


_NONE: Row = {"certificate": None, "reason": "no certificate is stored for it"}
_JUDGED: dict[str, Row] = {}  # of stored entries, which do not change while a process runs


def _judged(statement: Statement, entry: Row) -> Row:
    if entry.get("error"):
        return {"outcome": "error", "message": entry["error"], "mutants": None, "choice_only": False}
    try:
        checked: Checked | None = None
        if entry["certificate"] is not None:
            checked = check_certificate(statement, entry["certificate"])
    except Rejected as fault:
        return {**summary(None, f"its certificate is rejected: {fault}"), "mutants": None}
    proved = checked is not None and checked.outcome is Outcome.PROVED
    told_apart = counted(statement, entry["mutants"]) if proved else None
    return {**summary(checked, entry.get("reason", "")), "mutants": told_apart}


def offer(claim: Claim, mutants: bool = True, keep: bool = False) -> Row:
    """Search anew for a certificate of a claim's statement and of its mutants; nothing is believed of it.

    keep: with the stored certificate of the statement, if it has one, and new ones of the mutants.
    """
    from proofs_check.rigour.scripts import script_of

    assert claim.formal is not None
    stored = _stored().get(claim.formal.digest, {}) if keep else {}
    return searched(claim.formal, script_of(claim.id), mutants, stored.get("certificate"))


def searched(statement: Statement, scripts: Any = None, mutants: bool = True, certificate: Any = None) -> Row:
    from proofs_check.rigour.decide import FULL, UNAIDED, Decision, Empty, decide, try_mutants

    try:
        if certificate is not None:
            found = Decision(certificate, check_certificate(statement, certificate))
        else:
            found = decide(statement, FULL if scripts else UNAIDED, scripts)
    except Empty as why:
        return {"name": statement.name, "error": str(why)}
    # Mutants are controls of what is said to hold; a refuted statement needs none.
    proved = mutants and found.checked is not None and found.checked.outcome is Outcome.PROVED
    tried = try_mutants(statement, scripts) if proved else []
    return {"name": statement.name, "certificate": found.certificate, "reason": found.reason, "mutants": tried}
