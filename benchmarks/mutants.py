"""Mutants of a module: mutmut's operators applied to the syntax tree, each rendered as a whole changed file.

mutmut itself plants every mutant beside its original and picks one by an environment variable. That leaves decorated
functions and module constants alone, and lets a cache filled before the choice hide a mutant; so only its operators
are used here. Left out: annotations, type aliases, docstrings, sentences, strings outside functions, and what a
`raise` says.
"""

import difflib
import hashlib
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import ChildReplacementTransformer, MutationVisitor
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode


@dataclass(frozen=True)
class Mutant:
    """One changed file. `name` is `path::function: old => new`, stable while that line stays as it is."""

    path: str
    line: int
    name: str
    source: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(f"{self.path}\0{self.source}".encode()).hexdigest()[:16]


class _Collector(MutationVisitor):
    """Mutations with the line and the function of each; decorated functions are entered, messages are not."""

    def __init__(self) -> None:
        super().__init__(mutation_operators, IgnoredCode(set(), set(), set()))
        self.places: list[tuple[int, str]] = []
        self._line = 1
        self._scopes: list[str] = []

    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.FunctionDef) and node.decorators:
            return False
        return isinstance(node, cst.Raise | cst.Decorator) or super()._skip_node_and_children(node)

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self._scopes.append(node.name.value)
        return super().on_visit(node)

    def on_leave(self, node: cst.CSTNode) -> None:
        super().on_leave(node)
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self._scopes.pop()

    def _create_mutations(self, node: cst.CSTNode) -> None:
        position = self.get_metadata(PositionProvider, node, None)
        self._line = position.start.line if position else self._line
        super()._create_mutations(node)
        missing = len(self.mutations) - len(self.places)
        self.places.extend([(self._line, ".".join(self._scopes))] * missing)


def _inside_function(scope: str) -> bool:
    """Is some part of the dotted scope a function, by its lower case (`_Name` and `Name` are classes)?"""
    return any(part.lstrip("_")[:1].islower() for part in scope.split("."))


def _is_left_out(node: cst.CSTNode, scope: str) -> bool:
    if isinstance(node, cst.SimpleString) and (" " in node.value or not _inside_function(scope)):
        return True
    if isinstance(node, cst.Assign | cst.AnnAssign) and not scope:
        target = node.target if isinstance(node, cst.AnnAssign) else node.targets[0].target
        return isinstance(target, cst.Name) and not target.value.isupper()
    return False


def mutants_of(root: Path, path: str, only: Container[int] | None = None) -> list[Mutant]:
    """All mutants of one file (of its lines `only`) that compile, in the order of the source, without doubles."""
    original = (root / path).read_text()
    wrapper = MetadataWrapper(cst.parse_module(original))
    collector = _Collector()
    module = wrapper.visit(collector)
    parts = [module.code_for_node(line) for line in module.header]
    parts += [module.code_for_node(statement) for statement in module.body]
    tail = "".join(module.code_for_node(line) for line in module.footer)
    owner = {id(node): index for index, statement in enumerate(module.body) for node in _walk(statement)}
    found: dict[str, Mutant] = {}
    names: dict[str, int] = {}
    for mutation, (line, scope) in zip(collector.mutations, collector.places, strict=True):
        if (only is not None and line not in only) or _is_left_out(mutation.original_node, scope):
            continue
        index = owner[id(mutation.original_node)]
        changed = module.body[index].visit(ChildReplacementTransformer(mutation.original_node, mutation.mutated_node))
        pieces = list(parts)
        pieces[len(module.header) + index] = module.code_for_node(changed)
        source = "".join(pieces) + tail
        if source in found or source == original or not _compiles(source):
            continue
        name = f"{path}::{scope or 'module'}: {_change(original, source)}"
        names[name] = names.get(name, 0) + 1
        if names[name] > 1:
            name = f"{name} #{names[name]}"
        found[source] = Mutant(path, line, name, source)
    return list(found.values())


def _walk(node: cst.CSTNode) -> list[cst.CSTNode]:
    nodes = [node]
    for current in nodes:
        nodes.extend(current.children)
    return nodes


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _change(original: str, source: str) -> str:
    """The changed lines in short: `old => new`."""
    lines = difflib.ndiff(original.splitlines(), source.splitlines())
    kept = [line for line in lines if line[:2] in ("- ", "+ ")]
    old, new = ("; ".join(line[2:].strip() for line in kept if line[0] == mark) for mark in "-+")
    return f"{old} => {new}"
