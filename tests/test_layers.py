"""Imports run one way, theory -> dynamics -> proofs_check -> scripts, and heavy libraries stay where they belong."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("theory", "dynamics", "proofs_check", "scripts")
# library -> the packages that may import it
HOMES = {
    "torch": {"dynamics", "proofs_check", "scripts", "benchmarks", "tests"},
    "matplotlib": {"scripts", "benchmarks", "tests"},
    "hypothesis": {"tests"},
    "pickle": set(),
}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module)
    return {name.split(".")[0] for name in names}


def violations(package: str, names: set[str]) -> list[str]:
    above = set(LAYERS[LAYERS.index(package) + 1 :]) if package in LAYERS else set()
    wrong = sorted(names & (above | {"tests", "benchmarks"} - {package}))
    return wrong + sorted(library for library, homes in HOMES.items() if library in names and package not in homes)


FILES = [path for folder in (*LAYERS, "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_layers_are_respected(path):
    package = path.relative_to(ROOT).parts[0]
    allowed_lazily = {"torch"} if path.name == "numeric.py" else set()
    assert violations(package, imported(path) - allowed_lazily) == []


@pytest.mark.parametrize(
    ("package", "name"),
    [("theory", "torch"), ("theory", "dynamics"), ("dynamics", "proofs_check"), ("proofs_check", "scripts"),
     ("dynamics", "matplotlib"), ("proofs_check", "hypothesis"), ("scripts", "pickle"), ("theory", "tests")],
)  # fmt: skip
def test_a_planted_wrong_import_is_noticed(package, name):
    assert violations(package, {name, "numpy"}) == [name]
