"""The names that transformers does not promise: imported in one place, and their absence told in one line."""

import ast
import importlib.metadata
import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest
import torch

from dynamics.hf import attention, families, versions
from dynamics.model.attention_function import full_attention
from tests.dynamics.hf import models

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("theory", "dynamics", "proofs_check", "scripts", "examples")
# Adapters whose subject are those very classes name them.
SUBJECT = ROOT / "examples" / "conform"
FILES = [path for folder in PACKAGES for path in sorted((ROOT / folder).rglob("*.py")) if SUBJECT not in path.parents]
# What its documentation offers to everybody; all else is named in versions.py alone.
PROMISED = {"PreTrainedModel", "TrainerCallback"}
INSIDE = ("_attn_implementation", "_global_mapping", "_local_mapping", "transformers.models.")


def unpromised(source: str) -> set[str]:
    """Names inside transformers that a file imports, reaches for, or spells."""
    found = {name for name in INSIDE if name in source}
    if "transformers" not in source:
        return found
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "transformers":
            names = {alias.name for alias in node.names}
            found |= names - PROMISED if node.module == "transformers" else names
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("transformers.")}
    return found


def test_only_one_file_names_what_transformers_does_not_promise():
    named = {str(path.relative_to(ROOT)): unpromised(path.read_text(encoding="utf-8")) for path in FILES}
    assert {path for path, names in named.items() if names} == {"dynamics/hf/versions.py"}
    assert {"ALL_ATTENTION_FUNCTIONS", "AttentionMaskInterface", "CacheLayerMixin"} < named["dynamics/hf/versions.py"]


def read_again():
    """The module as a new interpreter would meet it."""
    spec = importlib.util.spec_from_file_location("versions_again", versions.__file__)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def absent(module, name):
    return lambda patch: patch.delattr(f"transformers.{module}.{name}")


def of_version(text):
    return lambda patch: patch.setattr(importlib.metadata, "version", lambda _: text)


def no_transformers(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    monkeypatch.setitem(sys.modules, "transformers", None)


FOUND = rf"^transformers [\d.]+ was found, needed is {versions.OLDEST} or later"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (absent("cache_utils", "CacheLayerMixin"), FOUND + ".*cannot import name 'CacheLayerMixin'"),
        (absent("modeling_utils", "ALL_ATTENTION_FUNCTIONS"), FOUND + ".*cannot import name 'ALL_ATTENTION_FUNCTIONS'"),
        (of_version("4.57.6"), r"^transformers 4\.57\.6 was found, needed is 5\.5 or later \(the extra \[hf\]\)"),
        (of_version("5.4.0"), r"^transformers 5\.4\.0 was found"),
        (no_transformers, "^transformers is not installed, needed is"),
    ],
    ids=["no cache layers", "no table", "4.57", "5.4", "none"],
)  # fmt: skip
def test_another_version_is_told_in_one_line(change, words, monkeypatch):
    change(monkeypatch)
    with pytest.raises(ImportError, match=words) as error:
        read_again()
    assert isinstance(error.value, ValueError)  # bad input, to a command line
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("family", ["bloom", "falcon", "mpt"])
def test_a_cache_under_a_new_name_is_not_left_out_silently(family):
    from transformers import DynamicCache

    model = models.model(family)
    with attention.replaced(model, full_attention):
        module = families.heads(model).modules[0]
        with pytest.raises(ValueError, match=FOUND + ".*: it hands its cache to attention as 'remembered'"):
            module(torch.zeros(1, 2, 32), None, remembered=DynamicCache())


def test_later_versions_are_read(monkeypatch):
    for text in ("5.5.0", "5.10.1", "6.0.0.dev0"):
        of_version(text)(monkeypatch)
        read_again()


def test_the_package_asks_for_the_oldest_version():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert f"transformers>={versions.OLDEST}" in extras["hf"]
