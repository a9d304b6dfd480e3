"""docs/coverage.md: every checkable sentence of the papers with the claims that rule on it, and the shares."""

import re
from typing import NamedTuple

from .markdown import between

SHARES = ("<!-- shares: begin -->", "<!-- shares: end -->")


class Sentence(NamedTuple):
    """A checkable sentence of a paper, its section, and the claims that rule on it."""

    section: str
    text: str
    claims: tuple[str, ...]


def sentences(text: str) -> list[Sentence]:
    """The rows of the tables of docs/coverage.md."""
    found, section = [], ""
    for line in text.splitlines():
        if line.startswith("### "):
            section = line[4:]
        elif re.match(r"\| \d+ \|", line):
            _, sentence, claims = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
            found.append(Sentence(section, sentence, tuple(re.findall(r"`([^`]+)`", claims))))
    return found


def with_shares(text: str, registry) -> str:
    """The coverage page with its table of shares brought up to date."""
    own = {name for name, claim in registry.items() if not claim.is_correction}
    rows = ["| section | sentences | covered | share |", "|---|---|---|---|"]
    counts: dict[str, list[int]] = {}
    for row in sentences(text):
        paper = row.section.split(":")[0]
        for name in (f"**{paper}**", row.section):
            total = counts.setdefault(name, [0, 0])
            total[0] += 1
            total[1] += bool(own & set(row.claims))
    order = sorted(counts, key=lambda name: not name.startswith("**"))
    rows += [f"| {name} | {n} | {k} | {100 * k / n:.1f} % |" for name in order for n, k in [counts[name]]]
    return between(text, SHARES, rows)
