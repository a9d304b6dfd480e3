"""The arrows of the atlas as data, and what follows from them: which of six ways out of a softmax contains which.

A way contains another if, on every head, all that the other can be it can be as well, by some choice of its own
parameters. A head is a family of contexts with the same first token, and queries in them; its logits and values are
given. A waiver is here a copy of the first token: of its word, and masked as in the waiver paper's Eq. 11, which leaves
every token its own word. docs/atlas.md is the page of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import NamedTuple

SINK, PLUS_ONE, LOGIT, GATE, DRAIN, WAIVER = "sink", "plus_one", "sink_logit", "gate", "drain", "waiver"
WAYS = {
    SINK: "one more token, of any logit at each query and one value u",
    PLUS_ONE: "1 in the denominator",
    LOGIT: "a logit in the denominator, one number at all queries",
    GATE: "a number times the output, of the query alone",
    DRAIN: "one more token, of any logit at each query and the value 0",
    WAIVER: "a copy of the first token, its logit higher by one number c (0 without positions)",
}
EQUAL, CONTAINS, SEPARATED = "equal", "contains", "separated"


class Arrow(NamedTuple):
    """`way` contains `other`, or does not (separated), or their outputs are one under a condition (equal)."""

    way: str
    kind: str
    other: str
    claim: str
    where: str = ""


def _own(way: str, kind: str, other: str, where: str = "") -> Arrow:
    """The claim is called what the arrow is."""
    return Arrow(way, kind, other, f"waiver.atlas.{way}.{kind}.{other}", where)


ARROWS: tuple[Arrow, ...] = (
    _own(PLUS_ONE, EQUAL, LOGIT, "the head may add a constant to its logits"),
    Arrow(GATE, EQUAL, LOGIT, "waiver.beyond.sink_logit", "the gate is the share that the logit leaves"),
    _own(GATE, EQUAL, DRAIN, "the gate is in (0, 1), and gate or logit may see the other logits"),
    _own(GATE, EQUAL, WAIVER, "the first token has the value 0, and the gate may see its weight"),
    _own(SINK, CONTAINS, DRAIN),
    _own(SINK, CONTAINS, WAIVER),
    _own(DRAIN, CONTAINS, LOGIT),
    Arrow(LOGIT, CONTAINS, PLUS_ONE, "waiver.beyond.sink_logit"),
    _own(PLUS_ONE, SEPARATED, LOGIT, "a query of 0"),
    _own(LOGIT, SEPARATED, DRAIN, "two queries of the same logits"),
    Arrow(LOGIT, SEPARATED, WAIVER, "waiver.atlas.waiver.separated.drain", "two queries, a first token of value 0"),
    Arrow(LOGIT, SEPARATED, GATE, "waiver.beyond.gate.constant", "two queries, one token"),
    _own(DRAIN, SEPARATED, SINK, "all other values are 0"),
    Arrow(DRAIN, SEPARATED, WAIVER, "waiver.atlas.waiver.separated.plus_one", "all values are one, not 0"),
    _own(GATE, SEPARATED, SINK, "a value off the line of the output"),
    _own(GATE, SEPARATED, PLUS_ONE, "one query, two contexts"),
    Arrow(GATE, SEPARATED, WAIVER, "waiver.atlas.waiver.separated.gate", "a coordinate of the values is 1"),
    _own(SINK, SEPARATED, GATE, "one query, two contexts"),
    _own(WAIVER, SEPARATED, SINK, "all values are one"),
    _own(WAIVER, SEPARATED, PLUS_ONE, "all values are one, not 0"),
    _own(WAIVER, SEPARATED, GATE, "a coordinate of the values is 1"),
    _own(WAIVER, SEPARATED, DRAIN, "a first token of value 0"),
)


def decided(arrows: Iterable[Arrow] = ARROWS) -> dict[tuple[str, str], bool]:
    """For two ways whether the first contains the second, where that follows from the arrows. `equal` decides nothing.

    Containing is transitive; and if a does not contain b, nothing that a contains contains what contains b. Raises
    ValueError where the arrows contradict each other.
    """
    arrows = list(arrows)
    has = {(way, way) for way in WAYS} | {(a.way, a.other) for a in arrows if a.kind == CONTAINS}
    for middle in WAYS:
        has |= {(way, other) for way in WAYS for other in WAYS if {(way, middle), (middle, other)} <= has}
    apart = [(a.way, a.other) for a in arrows if a.kind == SEPARATED]
    lacks = {(x, y) for way, other in apart for x in WAYS for y in WAYS if {(way, x), (y, other)} <= has}
    if has & lacks:
        raise ValueError(f"the arrows contradict each other: {sorted(has & lacks)}")
    return {pair: pair in has for pair in permutations(WAYS, 2) if pair in has | lacks}
