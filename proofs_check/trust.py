"""What has to be trusted, found by walking the imports from the function that checks a certificate.

`decision`: every module that `core.certificate` reaches, the lowering to balls included: a mistake there could confirm
a false statement. `logic`: what turns writing into trees, decisions and measurements into a status and words, and says
whose word counts. `definitions`: the statements, and the formulas of theory that they are written with.
"""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
START = ("proofs_check.core.certificate",)
LOGIC = (
    "proofs_check.core.printing", "proofs_check.core.mutants", "proofs_check.language", "proofs_check.language.emit",
    "proofs_check.language.notation", "proofs_check.language.converted", "proofs_check.ledger.verdicts",
    "proofs_check.ledger.store", "proofs_check.ledger.user_claims", "proofs_check.ledger.claim",
    "proofs_check.ledger.record", "proofs_check.ledger.harness", "proofs_check.ledger.registry",
    "proofs_check.ledger.rows", "proofs_check.ledger.workers", "proofs_check.ledger.shipped",
    "proofs_check.ledger.paper",
)  # fmt: skip
PAPERS = sorted(path.parent.name for path in ROOT.glob("proofs_check/*/paper.toml"))
# What makes a verdict and its words of what the core decides.
RULINGS = (
    "proofs_check.language.denial",
    *(f"proofs_check.ledger.{name}" for name in ("place", "readings", "rule", "ruling")),
    *(f"proofs_check.records.{name}" for name in ("quoted", "tables")),
)  # fmt: skip
DEFINITIONS = tuple(f"proofs_check.{paper}.formal" for paper in PAPERS)
OURS = ("proofs_check", "theory", "dynamics", "scripts")


def walk(names: tuple[str, ...], beside: tuple[str, ...] = ()) -> dict[str, Path]:
    """The modules of this project that these import, themselves included, wherever in a file the import stands.

    beside: how the names of those begin that are counted elsewhere. The `__init__` of a package on the way is not
    walked: a test reads that it says no more than which names there are.
    """
    found: dict[str, Path] = {}
    pending = list(names)
    while pending:
        name = pending.pop()
        spec = find_spec(name)
        if name in found or spec is None or spec.origin is None or name.startswith(beside):
            continue
        found[name] = Path(spec.origin)
        for node in ast.walk(ast.parse(found[name].read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in OURS:
                inside = [f"{node.module}.{alias.name}" for alias in node.names]
                pending += [full if _is_module(full) else node.module for full in inside]
            if isinstance(node, ast.Import):
                pending += [alias.name for alias in node.names if alias.name.split(".")[0] in OURS]
            called = node.func if isinstance(node, ast.Call) else None
            word = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if word in ("import_module", "__import__", "exec", "eval"):
                raise ValueError(f"{name} imports dynamically: nobody can tell what has to be trusted")
    return found


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def lines(path: Path) -> int:
    """Lines that are code: no blank ones, no comments, no docstrings."""
    text = path.read_text("utf-8")
    written = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    kept = {number for number, line in written if line and not line.startswith("#")}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            kept -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(kept)


def sizes() -> dict[str, int]:
    """Lines of code of the decision core, of other trusted logic and of the trusted definitions."""
    decision = walk(START)
    logic = {name: path_of(name) for name in (*LOGIC, *RULINGS) if name not in decision}
    definitions = walk(DEFINITIONS, ("proofs_check.ledger.", "proofs_check.records."))
    return {
        "decision": sum(map(lines, decision.values())),
        "logic": sum(map(lines, logic.values())),
        "definitions": sum(lines(path) for name, path in definitions.items() if name not in {*decision, *logic}),
    }


def path_of(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ValueError(f"there is no module {name}")
    return Path(spec.origin)
