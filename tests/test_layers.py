"""Imports run one way, theory -> dynamics -> proofs_check -> scripts, and heavy libraries stay where they belong."""

import ast
import re
from itertools import pairwise, permutations
from pathlib import Path
from statistics import median

import pytest

from scripts.pages import rooms

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
    return {name.split(".")[0] for name in rooms.imported(path)}


def violations(package: str, names: set[str]) -> list[str]:
    above = set(LAYERS[LAYERS.index(package) + 1 :]) if package in LAYERS else set()
    wrong = sorted(names & (above | {"tests", "benchmarks"} - {package}))
    return wrong + sorted(library for library, homes in HOMES.items() if library in names and package not in homes)


FILES = [path for folder in (*LAYERS, "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]


def test_layers_are_respected():
    wrong = {}
    for path in FILES:
        allowed_lazily = {"torch"} if path.name == "numeric.py" else set()
        wrong[path] = violations(path.relative_to(ROOT).parts[0], imported(path) - allowed_lazily)
    assert {str(path): names for path, names in wrong.items() if names} == {} and len(wrong) > 500


def test_commands_import_each_other_relatively():
    """They are installed under another name than `scripts`."""
    assert [str(path) for path in sorted((ROOT / "scripts").rglob("*.py")) if "scripts" in imported(path)] == []


MOST_MODULES, MOST_ROOMS = 24, 18


def permitted() -> dict[str, rooms.Arrows]:
    """The table of rooms in CONTRIBUTING: package -> room -> what it may import."""
    found: dict[str, rooms.Arrows] = {package: {} for package in rooms.PACKAGES}
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for room, may in re.findall(r"^\| `([\w/]+)` \| [^|]+ \| ([^|]+) \|$", text, re.MULTILINE):
        package, name = room.rsplit("/", 1)
        found[package][name] = set() if may == "-" else set(may.split(", "))
    return found


@pytest.mark.parametrize("package", rooms.PACKAGES)
def test_rooms_import_what_their_row_says_and_never_in_a_circle(package):
    built, table = rooms.arrows(package), permitted()[package]
    assert built == table
    rooms.floors(built)


@pytest.mark.parametrize("package", rooms.PACKAGES)
def test_no_room_and_no_package_is_crowded(package):
    folders = [path for path in (ROOT / package).rglob("*") if (path / "__init__.py").is_file()]
    assert len([room for room in rooms.arrows(package) if (ROOT / package / room).is_dir()]) <= MOST_ROOMS
    for folder in folders:
        assert len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) <= MOST_MODULES, folder


def test_papers_never_import_each_other():
    for paper, other in permutations(rooms.PAPERS, 2):
        for path in (ROOT / "proofs_check" / paper).rglob("*.py"):
            assert not [name for name in rooms.imported(path) if name.startswith(f"proofs_check.{other}")], path


def test_a_planted_circle_is_noticed(tmp_path):
    for room, other in (("alibi", "cache"), ("cache", "shift"), ("shift", "alibi")):
        (tmp_path / "theory" / room).mkdir(parents=True)
        (tmp_path / "theory" / room / "part.py").write_text(f"def f():\n    from theory.{other} import part\n")
    assert rooms.arrows("theory", tmp_path)["shift"] == {"alibi"}
    with pytest.raises(ValueError, match="circle: alibi, cache, shift"):
        rooms.floors(rooms.arrows("theory", tmp_path))


def test_an_arrow_that_follows_from_others_is_not_drawn():
    assert rooms.direct({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": {"b"}, "b": {"c"}, "c": set()}


def stops() -> list[list[tuple[Path, str]]]:
    """The ways of alpha in CONTRIBUTING, each a list of (file, name)."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("### One alpha, stop by stop")[1].split("###")[0]
    ways: list[list[tuple[Path, str]]] = []
    for start, file, name in re.findall(r"^\| ([^|]*)\| `([^`]+\.py)` `(\w+)` \|", text, re.MULTILINE):
        if start.strip():
            ways.append([])
        ways[-1].append((ROOT / file, name))
    return ways


def test_each_stop_of_alpha_names_what_is_there_and_calls_the_next_one():
    assert len(stops()) == 3 and all(2 <= len(way) <= 5 for way in stops())
    for way in stops():
        assert len(set(way)) == len(way)
        for file, name in way:
            assert re.search(rf"^(def|class) {name}\b", file.read_text("utf-8"), re.MULTILINE), (file, name)
        for (file, _), (other, _) in pairwise(way):
            module = ".".join(other.relative_to(ROOT).with_suffix("").parts)
            folder, _, stem = module.rpartition(".")
            imports = rf"from {module} import|import {module}|from {folder} import .*\b{stem}\b"
            assert re.search(imports, file.read_text("utf-8")), f"{file} does not import {module}"


@pytest.mark.parametrize("package", ["theory", "dynamics"])
def test_functions_are_short(package):
    lengths = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lengths[f"{path}: {node.name}"] = body[-1].end_lineno - body[0].lineno + 1 if body else 0
    assert {name: lines for name, lines in lengths.items() if lines > 40} == {}
    assert median(lengths.values()) <= 5


def lost(tree: ast.Module, named: set[str], read: set[str]) -> list[str]:
    """Texts that stand as statements of their own and are no docstrings: parts that the string before them lost. Names
    that the module gives, and those and the texts that it reads, are added to the two sets."""
    docstrings, found = set(), []
    for node in ast.walk(tree):  # a parent comes before its children
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                docstrings |= set(node.body[:1])
            case ast.Expr(value=ast.Constant() | ast.JoinedStr()) if node not in docstrings:
                found.append(ast.unparse(node))
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name) | ast.Constant(value=name):
                read.add(name)
    given = (target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets)
    named |= {node.id for target in given for node in ast.walk(target) if isinstance(node, ast.Name)}
    return [text for text in found if text != "..."]


def test_no_text_stands_outside_its_parenthesis_and_every_constant_is_used():
    """All constants but those for readers and for tests. Some are asked for by name: CLAIMS, a paper's record."""
    assert lost(ast.parse('"""Doc."""\nMODEL = "of text with "\n"needles"\n'), set(), set()) == ["'needles'"]
    named, read = set(), set()
    outside = {str(path): lost(ast.parse(path.read_text("utf-8")), named, read) for path in FILES}
    assert {path: texts for path, texts in outside.items() if texts} == {}
    assert {name for name in named - read if name.isupper()} == {"KV1", "MEANINGS", "TWO_POINT_GAP"}
