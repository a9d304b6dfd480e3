"""Cut a text into windows that a model reads one by one: each window has its own sinks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynamics.heads.rows import longest, vocabulary
from dynamics.sinks.texts import Text

if TYPE_CHECKING:
    from torch import nn

USUAL = 1024


class Cut(NamedTuple):
    """Windows: rows (windows, window); piece (windows,), the piece that each comes from; left_out, tokens in no window;
    too_short, the pieces that fill none."""

    rows: NDArray[np.int64]
    piece: NDArray[np.int64]
    left_out: int
    too_short: int


def cut(
    model: nn.Module, text: Text | ArrayLike, window: int | None = None, begin: int | None = None
) -> NDArray[np.int64]:
    """The windows of a text, (windows, window), as `windows_of` cuts them."""
    return windows_of(model, text, window, begin).rows


def windows_of(model: nn.Module, text: Text | ArrayLike, window: int | None = None, begin: int | None = None) -> Cut:
    """Cut a text into windows of one length; each piece of a `Text` begins with a window of its own.

    Windows of one length have importances that can be added, place by place; a shorter one would have others. So what
    is left at the end of a piece, less than a window, is left out.
    Args: text, or tokens (n,), integers; window, at least 2: None for the least of the shortest piece, the model's
        positions and 1024; begin: a token that is put in front of each window, as one of its tokens (the first token of
        a text is often the sink).
    Raises: ValueError for tokens that the model does not know, a window beyond its positions, too short a text.
    """
    pieces = [_checked(model, piece) for piece in (text.pieces if isinstance(text, Text) else [text])]
    lead = [] if begin is None else _checked(model, [begin])
    most = longest(model)
    if window is None:
        window = min(min(map(len, pieces)) + len(lead), USUAL if most is None else most, USUAL)
    if window < 2:
        raise ValueError(f"a window must have at least 2 tokens, got {window}")
    if most is not None and window > most:
        raise ValueError(f"a window of {window} tokens is beyond the {most} positions of the model")
    taken = window - len(lead)
    counts = [len(piece) // taken for piece in pieces]
    if not any(counts):
        raise ValueError(f"the text has {max(map(len, pieces))} tokens, a window takes {taken}")
    whole = [piece[: count * taken].reshape(count, taken) for piece, count in zip(pieces, counts, strict=True)]
    rows, left = np.concatenate(whole), sum(map(len, pieces)) - sum(counts) * taken
    rows = rows if begin is None else np.insert(rows, 0, begin, axis=1)
    return Cut(rows, np.repeat(np.arange(len(pieces)), counts), left, counts.count(0))


def _checked(model: nn.Module, tokens: ArrayLike) -> NDArray[np.int64]:
    found, known = np.asarray(tokens), vocabulary(model)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise ValueError(f"tokens must be whole numbers in one row, got {found.dtype} of shape {found.shape}")
    wrong = (found < 0) | (found >= known)
    if wrong.any():
        raise ValueError(f"tokens must be in 0..{known - 1}, got {found[wrong][0]}")
    return found.astype(np.int64)
