"""Short documents packed into rows, as language models are trained on them; each row says where a document begins.

A document is a paragraph of a text: what blank lines set apart. Rows are cut from a stream of documents in a random
order; "cut" ones take pieces of the text instead, each the continuation of the one before: documents in name only,
of which the last token of one says much about the first of the next.
"""

import re
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAST = 16  # bytes of a document
MEAN = 96  # bytes of a piece that is cut
VOCAB = 128
Packing = Literal["documents", "cut"]


class Documents(NamedTuple):
    """A text, (n,) uint8, and where its documents begin and end, (m,) each."""

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


class Packed(NamedTuple):
    """Rows for next-token prediction: tokens (rows, length + 1) int64, and the document of each, (rows, length + 1).

    Nothing foretells the first token of a document, and where a target is one it is not scored.
    """

    tokens: NDArray[np.int64]
    segments: NDArray[np.int64]

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Whether the token after each is of the same document, (rows, length)."""
        return self.segments[:, 1:] == self.segments[:, :-1]


def documents(text: NDArray[np.uint8]) -> Documents:
    """The paragraphs of a text, blank lines left out. Raises ValueError where there is none of 16 bytes."""
    found = re.finditer(rb"[^\n]*[^\s][^\n]*(?:\n[^\n]*[^\s][^\n]*)*", text.tobytes())
    spans = [match.span() for match in found if len(match[0]) >= LEAST]
    if not spans:
        raise ValueError(f"a text of {len(text)} bytes has no paragraph of {LEAST} bytes")
    starts, ends = np.array(spans, dtype=np.int64).T
    return Documents(text, starts, ends)


def packed_rows(rng: np.random.Generator, source: Documents, rows: int, length: int, packing: Packing) -> Packed:
    """Draw rows of length + 1 tokens. Raises ValueError: no rows, rows longer than the text."""
    if rows < 1 or not 1 <= length < len(source.text):
        raise ValueError(f"rows and length must be at least 1 and fit the text, got {rows} and {length}")
    draw = _row if packing == "documents" else _cut_row
    tokens, segments = zip(*(draw(rng, source, length + 1) for _ in range(rows)), strict=True)
    return Packed(np.stack(tokens).astype(np.int64), np.stack(segments))


def _row(rng: np.random.Generator, source: Documents, length: int) -> tuple[NDArray, NDArray]:
    """Whole documents, but for the first one, which begins anywhere, and the last one, which is cut off."""
    pieces, total = [], 0
    while total < length:
        one = rng.integers(len(source.starts))
        start, end = source.starts[one], source.ends[one]
        if not pieces:
            start = rng.integers(start, end)
        pieces.append(source.text[start:end])
        total += len(pieces[-1])
    number = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
    return np.concatenate(pieces)[:length], number[:length]


def _cut_row(rng: np.random.Generator, source: Documents, length: int) -> tuple[NDArray, NDArray]:
    """Text as it stands, cut where a coin of chance 1/96 falls."""
    start = rng.integers(len(source.text) - length + 1)
    border = rng.random(length) < 1 / MEAN
    border[0] = False
    return source.text[start : start + length], border.cumsum()
