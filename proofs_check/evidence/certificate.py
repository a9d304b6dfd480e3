"""Certificates of a branch and bound: a tree of splits whose leaves say why the claim holds there, as exact JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofs_check.evidence.check import FORMAT, digest
from theory.lowering.box import Outcome


@dataclass(frozen=True)
class Split:
    """An inner node: its first child lies at or below `at` on `axis`, its second at or above."""

    axis: str
    at: Fraction


@dataclass(frozen=True)
class Leaf:
    """Expression number `which` is at least `lower` on the whole leaf, by the argument `kind`."""

    kind: str
    which: int
    lower: Fraction


@dataclass(frozen=True)
class Proof:
    """The outcome and what it rests on.

    margin: a lower bound of (expression - bound) over the box if PROVED; its value at `point` if REFUTED; else NaN.
    """

    outcome: Outcome
    statement: Mapping[str, Any]
    precision: int
    nodes: tuple[Split | Leaf, ...]
    point: Mapping[str, Fraction] | None
    margin: float
    boxes: int

    def to_json(self) -> str:
        """The certificate, one line of JSON with exact fractions. Raises ValueError for an undecided outcome."""
        if self.outcome is Outcome.UNDECIDED:
            raise ValueError("an undecided search has no certificate")
        rows = [
            ["split", n.axis, str(n.at)] if isinstance(n, Split) else ["leaf", n.kind, n.which, str(n.lower)]
            for n in self.nodes
        ]
        body: dict[str, Any] = {
            "format": FORMAT,
            "statement": dict(self.statement),
            "sha256": digest(self.statement),
            "outcome": self.outcome.name,
            "precision": self.precision,
            "nodes": rows,
            "point": None if self.point is None else {name: str(value) for name, value in self.point.items()},
        }
        return json.dumps({**body, "seal": digest(body)})

    @classmethod
    def from_json(cls, text: str) -> Proof:
        """Reads a certificate back; the margin is then unknown (NaN) until `check.verify` finds it again."""
        body = json.loads(text)
        nodes = tuple(
            Split(row[1], Fraction(row[2])) if row[0] == "split" else Leaf(row[1], row[2], Fraction(row[3]))
            for row in body["nodes"]
        )
        point = body["point"] and {name: Fraction(value) for name, value in body["point"].items()}
        outcome = Outcome[body["outcome"]]
        return cls(outcome, body["statement"], body["precision"], nodes, point, math.nan, len(nodes))
