"""A module of records is data: imports, names, terms and calls, and nothing that could decide a case differently."""

import ast
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import pytest

from proofs_check.ledger.registry import installed

DECIDES = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.ClassDef, ast.AsyncFunctionDef, ast.Delete, ast.Global)
KINDS = ("rule", "no_choice", "runs", "refers", "quoted", "Trained")


def modules():
    """The sections whose claims are all records."""
    for name in dict.fromkeys(f"{paper.package}.{s}" for paper in installed().values() for s in paper.sections):
        source = Path(find_spec(name).origin).read_text("utf-8")
        if "proofs_check.records" in source and "Claim" not in source and ".formal" not in name:
            yield name, ast.parse(source)


MODULES = dict(modules())


@pytest.mark.parametrize("name", MODULES)
def test_module_of_records_only_names_things(name):
    for node in ast.walk(MODULES[name]):
        assert not isinstance(node, DECIDES), f"line {node.lineno}: {type(node).__name__}"
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), f"line {node.lineno}: a float"
        if isinstance(node, ast.FunctionDef):
            *before, last = [line for line in node.body if not isinstance(line, ast.Expr)]
            assert isinstance(last, ast.Return) and all(isinstance(line, ast.Assign) for line in before), node.name


def test_half_of_the_records_take_at_most_six_lines():
    calls = [node for tree in MODULES.values() for node in ast.walk(tree)
             if isinstance(node, ast.Call) and getattr(node.func, "id", "") in KINDS]  # fmt: skip
    assert median(call.end_lineno - call.lineno + 1 for call in calls) <= 6
