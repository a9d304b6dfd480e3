"""What a row of the table holds, which of it failed, and how it is printed."""

import importlib
from itertools import zip_longest
from typing import NamedTuple

from benchmarks.timing import Times
from scripts.commands.cli import aligned


class Comparison(NamedTuple):
    """`ratio` = baseline / ours; `floor` is the least accepted (None: it is only reported), `aim` what is hoped for."""

    baseline: str
    baseline_seconds: float
    ours_seconds: float
    ratio: float
    floor: float | None = None
    aim: float | None = None


class Limit(NamedTuple):
    """`distance` = ours / what the arithmetic, or the memory, must cost at the least; at most `most` is accepted."""

    name: str
    distance: float
    most: float | None = None


class Guard(NamedTuple):
    """An accuracy or a property that speed must not have cost: passed where value <= most (NaN fails)."""

    name: str
    value: float
    most: float


class Row(NamedTuple):
    name: str
    comparisons: list[Comparison]
    limits: list[Limit]
    guards: list[Guard]


def compare(
    times: Times,
    slow: str,
    label: str,
    floor: float | None = None,
    aim: float | None = None,
    fast: str = "ours",
    scale: float = 1.0,
) -> Comparison:
    """The comparison of two timed variants. The slow one is timed on one of `scale` equal parts of the work."""
    seconds, ratio = scale * times.seconds(slow), scale * times.ratio(slow, fast)
    return Comparison(label, seconds, times.seconds(fast), ratio, floor, aim)


def measured(name: str, quick: bool) -> Row:
    """The row of the module of that name."""
    return importlib.import_module(f"benchmarks.{name}").measure(quick)


HEADINGS = ("row", "baseline", "baseline s", "ours s", "ratio", "floor", "aim", "limit", "x limit", "most", "guard",
            "value", "most", "passed")  # fmt: skip


def failures(row: Row, floors: bool = True) -> list[str]:
    """One sentence a guard that failed and, with `floors`, a floor or limit that was missed."""
    broken = [guard for guard in row.guards if not guard.value <= guard.most]
    found = [f"{row.name}: {guard.name} is {guard.value:.3g}, more than {guard.most:g}" for guard in broken]
    if floors:
        found += [
            f"{row.name}: {c.ratio:.3g}x {c.baseline}, less than {c.floor:g}x"
            for c in row.comparisons
            if c.floor is not None and not c.ratio >= c.floor
        ]
        found += [
            f"{row.name}: {limit.distance:.3g}x {limit.name}, more than {limit.most:g}x"
            for limit in row.limits
            if limit.most is not None and not limit.distance <= limit.most
        ]
    return found


def table(rows: list[Row]) -> str:
    """Text with one block a row: its comparisons, limits and guards side by side, in lines of one width."""
    return "\n".join(aligned([HEADINGS, *(line for row in rows for line in _lines(row))]))


def _lines(row: Row) -> list[tuple[str, ...]]:
    lines = []
    for number, (c, limit, g) in enumerate(zip_longest(row.comparisons, row.limits, row.guards)):
        left = ("",) * 6
        if c:
            left = (c.baseline, f"{c.baseline_seconds:.3g}", f"{c.ours_seconds:.3g}", f"{c.ratio:.3g}", *_bounds(c[4:]))
        middle = (limit.name, f"{limit.distance:.3g}", *_bounds(limit[2:])) if limit else ("",) * 3
        right = (g.name, f"{g.value:.2g}", f"{g.most:g}", "yes" if g.value <= g.most else "NO") if g else ("",) * 4
        lines.append((row.name if number == 0 else "", *left, *middle, *right))
    return lines


def _bounds(values: tuple[float | None, ...]) -> list[str]:
    return ["-" if value is None else f"{value:g}" for value in values]
