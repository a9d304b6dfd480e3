"""The house as it is built: its rooms and the imports between them, read from the code and drawn.

A room is a folder of modules, or a single module at the top of its package. `make docs` draws docs/rooms.svg.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path
from statistics import mean

from proofs_check.trust import PAPERS

ROOT = Path(__file__).resolve().parents[2]
# each with rooms of its own; a package may import those before it, and papers never import each other
PACKAGES = ("theory", "dynamics", "proofs_check", *(f"proofs_check/{paper}" for paper in PAPERS))
Arrows = dict[str, set[str]]
Place = str | tuple[str, str, int]  # a room, or an arrow between two of them that passes a floor

ROW, BOX, HEIGHT, MARGIN = 62, 106, 26, 16
GAP, LANE = 12, 16  # between boxes; what an arrow takes that passes a floor
LABEL = 150  # room for the package's name, left of its boxes


@cache
def imported(path: Path) -> set[str]:
    """Every dotted name that a module imports, wherever in it the import stands; `from a import b` gives a and a.b."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def arrows(package: str, root: Path = ROOT) -> Arrows:
    """The rooms of a package, each with the rooms of the same package that it imports."""
    places = {path: room_of(path, root / package) for path in sorted((root / package).rglob("*.py"))}
    found: Arrows = {room: set() for room in sorted({room for room in places.values() if room is not None})}
    prefix = package.replace("/", ".") + "."
    for path, room in places.items():
        if room is not None:
            targets = {name.removeprefix(prefix).split(".")[0] for name in imported(path) if name.startswith(prefix)}
            found[room] |= (targets & found.keys()) - {room}
    return found


def room_of(path: Path, package: Path) -> str | None:
    """The folder below the package that holds the module, or the module itself; None for what only names the rooms."""
    first, *rest = path.relative_to(package).parts
    return first if rest else None if first == "__init__.py" else first.removesuffix(".py")


def floors(graph: Mapping[str, set[str]]) -> dict[str, int]:
    """How many arrows lie at most between a room and the ground. Raises ValueError for rooms in a circle."""
    found: dict[str, int] = {}
    while len(found) < len(graph):
        ready = [room for room, below in graph.items() if room not in found and below <= found.keys()]
        if not ready:
            raise ValueError(f"rooms import each other in a circle: {', '.join(sorted(graph.keys() - found.keys()))}")
        found |= {room: 1 + max((found[other] for other in graph[room]), default=-1) for room in ready}
    return found


def direct(graph: Mapping[str, set[str]]) -> Arrows:
    """The arrows that do not follow from others: none that a longer way replaces."""
    reach: Arrows = {}
    for room in sorted(graph, key=floors(graph).__getitem__):
        reach[room] = graph[room].union(*(reach[other] for other in graph[room]))
    return {room: {b for b in below if not any(b in reach[other] for other in below)} for room, below in graph.items()}


def picture() -> str:
    """The rooms of all packages as SVG, the ground floor of each at its bottom, `theory` lowest."""
    parts: list[str] = []
    top, width = MARGIN, 0
    for package in reversed(PACKAGES):
        graph = arrows(package)
        level, down = floors(graph), direct(graph)
        rows = _ordered(level, down)
        widest = max(map(_width, rows))
        height = ROW * (len(rows) - 1) + HEIGHT
        at = {place: (x, top + (len(rows) - 1 - floor) * ROW)
              for floor, row in enumerate(rows) for place, x in _columns(row, LABEL + widest / 2)}  # fmt: skip
        parts.append(f'<text class="package" x="{MARGIN}" y="{top + height / 2 + 5:g}">{escape(package)}/</text>')
        parts += [
            _arrow([at[place] for place in _way(room, other, level)]) for room in down for other in sorted(down[room])
        ]
        parts += [_box(room, *at[room], folder=(ROOT / package / room).is_dir()) for room in graph]
        top += height + 2 * MARGIN
        width = max(width, LABEL + widest + MARGIN)
        parts.append(f'<line class="floor" x1="{MARGIN}" x2="100%" y1="{top - MARGIN}" y2="{top - MARGIN}"/>')
    return "\n".join([_head(width, top), *parts[:-1], "</svg>", ""])


def _way(room: str, other: str, level: Mapping[str, int]) -> list[Place]:
    """Where an arrow starts, the floors that it passes between the boxes, and where it ends."""
    return [room, *((room, other, floor) for floor in range(level[room] - 1, level[other], -1)), other]


def _ordered(level: Mapping[str, int], down: Mapping[str, set[str]]) -> list[list[Place]]:
    """Rooms and passing arrows floor by floor from the ground, each above the middle of what it stands on."""
    rows: list[list[Place]] = [[room for room in level if level[room] == k] for k in range(max(level.values()) + 1)]
    below: dict[Place, list[Place]] = {}
    for room in down:
        for other in sorted(down[room]):
            way = _way(room, other, level)
            for upper, lower in pairwise(way):
                below.setdefault(upper, []).append(lower)
            for lane in way[1:-1]:
                rows[lane[2]].append(lane)
    for floor, row in enumerate(rows):
        if floor:
            x = dict(_columns(rows[floor - 1], 0))
            row.sort(key=lambda place: (mean(x[other] for other in below[place]), str(place)))
    return rows


def _columns(row: Sequence[Place], middle: float) -> Iterator[tuple[Place, float]]:
    """The middle of each box or lane of a floor, the whole centred."""
    left = middle - _width(row) / 2
    for place in row:
        yield place, left + _width([place]) / 2
        left += _width([place])


def _width(row: Sequence[Place]) -> float:
    return sum(BOX + GAP if isinstance(place, str) else LANE for place in row)


def _head(width: float, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif">\n'
        "<style>text{font-size:13px;fill:#1b1b1b}.room{text-anchor:middle}.package{font-weight:bold;font-size:14px}"
        "rect{fill:#e8f1fa;stroke:#0072b2}.file{fill:#fff;stroke:#777}.arrow{stroke:#555;fill:none}"
        ".floor{stroke:#ccc}</style>\n"
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>\n<rect width="100%" height="100%" '
        'style="fill:#fff;stroke:none"/>'
    )


def _arrow(way: Sequence[tuple[float, float]]) -> str:
    """Straight past the boxes of a floor, slanted between floors."""
    (x, y), *passed, (x_end, y_end) = way
    points = [
        (x, y + HEIGHT),
        *(p for lane, high in passed for p in ((lane, high), (lane, high + HEIGHT))),
        (x_end, y_end - 1),
    ]
    text = " ".join(f"{a:g},{b:g}" for a, b in points)
    return f'<polyline class="arrow" points="{text}" marker-end="url(#head)"/>'


def _box(name: str, x: float, y: float, *, folder: bool) -> str:
    kind = "" if folder else ' class="file"'
    return (
        f'<rect{kind} x="{x - BOX / 2:g}" y="{y:g}" width="{BOX}" height="{HEIGHT}" rx="4"/>'
        f'<text class="room" x="{x:g}" y="{y + 18:g}">{escape(name)}</text>'
    )
