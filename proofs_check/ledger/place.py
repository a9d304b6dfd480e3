"""Places in a paper as people write them, "Appendix H, Tables 6 to 13, caption", taken apart into labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from typing import NamedTuple

# What a place can be, the weightiest first.
KINDS = ("theorem", "proof", "equation", "table", "figure", "listing", "text")
# The word before numbers, by other forms of it without the s of the plural.
FORMS = {"Equation": "Eq.", "Eqs.": "Eq.", "Fig.": "Figure", "Figs.": "Figure", "Appendice": "Appendix"}
JOINS = ("and", "to", ",")  # between numbers that have one word before them
PARTS = ("caption", "column", "display", "footnote", "line", "paragraph", "row", "sentence", "step", "text")
WORDS = (
    *JOINS, *PARTS, "(", "Listing", "after", "against", "also", "before", "below", "definition", "equality", "fifth",
    "first", "fourth", "in", "inequality", "it", "last", "left", "listing", "middle", "of", "on", "right", "second",
    "the", "third", "with",
)
# What stands in no paper: a statement of ours beside the place.
OURS = ("added", "addition", "completed", "corrected", "here", "our", "ours", "sharpened", "trained")
FIRST, BOTH = ("(first version:", "; first version,"), "(both versions)"
_TOKEN = re.compile(r"\(first version:|; first version,|\(both versions\)|[^\s(),;]+|\S")
_NUMBER = re.compile(r"[A-Z](\.\d+)*|\d+(\.\d+)*[a-z]?")


class Place(NamedTuple):
    """labels: in the paper's list; first: in that of its first version; kinds: of all of them, the weightiest first;
    ours: a statement of ours beside the place; versions: of the text that say it."""

    paper: str
    text: str
    labels: tuple[str, ...]
    first: tuple[str, ...]
    kinds: tuple[str, ...]
    ours: bool
    versions: tuple[str, ...]


def labels(at: str, known: Collection[str]) -> Iterator[tuple[str, bool]]:
    """The labels that a text names, each with whether it is one of the first version's; a number takes the word before
    the last one. Raises: ValueError for a word that begins no known label and is none of the few that stand beside."""
    heads = set(map(word_of, known))
    tokens = _TOKEN.findall(at)
    word, start, earlier = "", "", False  # the word before numbers, the start of a range
    while tokens:
        token = tokens.pop(0)
        name = FORMS.get(single := token.removesuffix("s"), FORMS.get(token, single))
        numbered = bool(tokens) and _NUMBER.fullmatch(tokens[0]) is not None
        phrase = next((n for n in range(3, -1, -1) if " ".join([token, *tokens[:n]]) in known), None)
        if numbered and name in heads:
            word = name
        elif phrase is not None:
            yield " ".join([token, *tokens[:phrase]]), earlier
            del tokens[:phrase]
        elif word and _NUMBER.fullmatch(token):
            label = f"{word} {token}"
            yield from ((one, earlier) for one in (span(start, label) if start else [label]))
            start = label if tokens[:1] == ["to"] else ""
        elif token in WORDS or token in OURS:
            word = word if token in JOINS else ""
            del tokens[: numbered and token in PARTS]
        elif token in (*FIRST, BOTH, ")"):
            earlier = token in FIRST
        else:
            raise ValueError(f"{at!r}: there is no place {token!r}{near(token, [*heads, *WORDS, *known])}")


def word_of(label: str) -> str:
    """What stands before a label's number."""
    return label.rpartition(" ")[0]


def ours(at: str) -> bool:
    """Does the text place a statement of ours, beside what the paper says?"""
    return not set(OURS).isdisjoint(_TOKEN.findall(at))


def near(word: str, known: Iterable[str]) -> str:
    """The end of a complaint: what may have been meant."""
    found = get_close_matches(word, known, n=1, cutoff=0.4)
    return f": did you mean {found[0]!r}?" if found else ""


def span(start: str, end: str) -> list[str]:
    """The labels after `start` up to `end`, by the last number or letter. Raises: ValueError where there are none."""
    (head, low), (other, high) = (re.split(r"(\d+|[A-Za-z])$", label)[:2] for label in (start, end))
    first, last = (int(one) if one.isdigit() else ord(one) for one in (low, high))
    if head != other or low.isdigit() != high.isdigit() or first >= last:
        raise ValueError(f"from {start} to {end} there is no range")
    return [f"{head}{one if low.isdigit() else chr(one)}" for one in range(first + 1, last + 1)]
