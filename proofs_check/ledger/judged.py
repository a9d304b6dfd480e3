"""What the core said of every stored statement and its mutants, kept for the pages, which would take minutes otherwise.

An entry is read only while all that it follows from is as it was: the sources of what is trusted, the statement and its
certificates. `verify` reads none of it, and tests check the certificates again: a sample of the mutants, or all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from proofs_check import trust
from proofs_check.core.statement import Statement, from_data
from proofs_check.ledger.store import file_digest, judge

Row = dict[str, Any]
FILE = Path(__file__).with_name("judged.json")


def judged(data: Any) -> Row:
    """What `store.judge` says of a statement given as data, its mutants counted: kept, or found now."""
    found = known(from_data(data))
    return judge(data) if found is None else found


def known(statement: Statement) -> Row | None:
    """The row that is kept of a statement; None where there is none, or an old one."""
    found = kept().get(statement.digest)
    return found["row"] if found is not None and found["key"] == key(statement) else None


def stale(statements: Iterable[Statement]) -> list[str]:
    """The names of statements whose kept result is missing or old, then of kept results whose statement has gone."""
    made = list(statements)
    missing = [one.name for one in made if kept().get(one.digest, {}).get("key") != key(one)]
    gone = set(kept()) - {one.digest for one in made}
    return missing + sorted(kept()[digest]["name"] for digest in gone)


def written(statements: Iterable[Statement]) -> str:
    """The text of the file for these statements."""
    rows = {
        one.digest: {"name": one.name, "key": key(one), "row": judged(one.to_json())} for one in statements
    }  # fmt: skip
    lines = [f"{json.dumps(digest)}: {json.dumps(row)}" for digest, row in sorted(rows.items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def key(statement: Statement) -> str:
    """A hash of all that the row of a statement follows from; of its certificates, the file as a whole."""
    stored = file_digest(statement)
    return hashlib.sha256(f"{_trusted()} {statement.digest} {stored}".encode()).hexdigest()[:32]


@cache
def kept() -> dict[str, Row]:
    """The rows that are kept, by digest; none where the file is missing. Raises: ValueError for a damaged one."""
    if not FILE.is_file():
        return {}
    try:
        return dict(json.loads(FILE.read_text("utf-8")))
    except (TypeError, ValueError) as fault:
        raise ValueError(f"{FILE} holds no rows: {fault}") from fault


@cache
def _trusted() -> str:
    """A hash of the sources that decide, and of those that say in words what was decided."""
    paths = {**trust.walk(trust.START), **{name: trust.path_of(name) for name in trust.LOGIC}}
    text = "".join(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n" for name, path in sorted(paths.items()))
    return hashlib.sha256(text.encode()).hexdigest()
