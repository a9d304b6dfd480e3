"""Trees of plain data written small: a part that stands in several places is written once, and named elsewhere."""

from __future__ import annotations

from typing import Any

_LEAST = 4  # nodes of a part that is worth a name
_MARK = "@"


def packed(tree: Any) -> dict[str, Any]:
    """{"parts": .., "tree": ..}: "@k" stands for part k, which names only earlier ones. Raises ValueError for a text
    that begins with the mark itself.
    """
    table = _Table()
    root = table.add(tree)
    names: dict[int, str] = {}
    parts = []
    for number, uses in enumerate(table.uses):
        if uses > 1 and table.sizes[number] >= _LEAST:
            parts.append(table.written(number, names))
            names[number] = f"{_MARK}{len(parts) - 1}"
    return {"parts": parts, "tree": names.get(root) or table.written(root, names)}


class _Table:
    """Every part once, its children before it."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.parts: list[Any] = []  # an atom, a list of numbers, or a dict to numbers
        self.uses: list[int] = []
        self.sizes: list[int] = []

    def add(self, tree: Any) -> int:
        if isinstance(tree, list):
            part: Any = [self.add(child) for child in tree]
            key: Any = ("list", *part)
        elif isinstance(tree, dict):
            part = {name: self.add(child) for name, child in tree.items()}
            key = ("dict", *part.items())
        else:
            if isinstance(tree, str) and tree.startswith(_MARK):
                raise ValueError(f"a text begins with {_MARK}: {tree[:40]}")
            part, key = tree, ("atom", type(tree), tree)
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.parts)
            self.parts.append(part)
            self.uses.append(0)
            children = list(part.values()) if isinstance(part, dict) else part if isinstance(part, list) else []
            self.sizes.append(1 + sum(self.sizes[child] for child in children))
            for child in children:
                self.uses[child] += 1
        return found

    def written(self, number: int, names: dict[int, str]) -> Any:
        """The part, with the names of those that have one."""
        part = self.parts[number]
        if isinstance(part, list):
            return [names.get(child) or self.written(child, names) for child in part]
        if isinstance(part, dict):
            return {name: names.get(child) or self.written(child, names) for name, child in part.items()}
        return part


class Packed:
    """A packed tree, whose branches can be read one by one; parts that were written once are one object.

    Raises KeyError and TypeError for data of another form.
    """

    def __init__(self, data: Any) -> None:
        self.tree, self._parts = data["tree"], [*data["parts"]]
        self._known: dict[int, Any] = {}

    def read(self, tree: Any, before: int | None = None) -> Any:
        """A branch with its parts put in, all before that one. Raises ValueError for what names a later part."""
        before = len(self._parts) if before is None else before
        if isinstance(tree, list):
            return [self.read(child, before) for child in tree]
        if isinstance(tree, dict):
            return {name: self.read(child, before) for name, child in tree.items()}
        if not isinstance(tree, str) or not tree.startswith(_MARK):
            return tree
        number = int(tree[1:])
        if not 0 <= number < before:
            raise ValueError(f"the part {tree} comes later, or not at all")
        if number not in self._known:
            self._known[number] = self.read(self._parts[number], number)
        return self._known[number]


def unpacked(data: Any) -> Any:
    """The whole tree. Raises as `Packed` and its `read`, also for a part that nothing names."""
    made = Packed(data)
    made.read([f"{_MARK}{number}" for number in range(len(data["parts"]))])
    return made.read(made.tree)
