"""Cut a text into windows that a model reads one by one: each window has its own sinks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynamics.heads.rows import longest, vocabulary

if TYPE_CHECKING:
    from torch import nn

USUAL = 1024


def cut(model: nn.Module, tokens: ArrayLike, window: int | None = None, begin: int | None = None) -> NDArray[np.int64]:
    """The windows of a text, (windows, window); what is left at its end, less than a window, is left out.

    Windows of one length have importances that can be added, place by place; a shorter one would have others.
    Args: tokens (n,), integers; window, at least 2: None for the least of n, the model's positions and 1024; begin: a
        token that is put in front of each window, as one of its tokens (the first token of a text is often the sink).
    Raises: ValueError for tokens that the model does not know, a window beyond its positions, too short a text.
    """
    text = _checked(model, tokens)
    lead = [] if begin is None else _checked(model, [begin])
    most = longest(model)
    if window is None:
        window = min(len(text) + len(lead), USUAL if most is None else most, USUAL)
    if window < 2:
        raise ValueError(f"a window must have at least 2 tokens, got {window}")
    if most is not None and window > most:
        raise ValueError(f"a window of {window} tokens is beyond the {most} positions of the model")
    taken = window - len(lead)
    number = len(text) // taken
    if not number:
        raise ValueError(f"the text has {len(text)} tokens, a window takes {taken}")
    rows = text[: number * taken].reshape(number, taken)
    return rows if begin is None else np.insert(rows, 0, begin, axis=1)


def _checked(model: nn.Module, tokens: ArrayLike) -> NDArray[np.int64]:
    found, known = np.asarray(tokens), vocabulary(model)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise ValueError(f"tokens must be whole numbers in one row, got {found.dtype} of shape {found.shape}")
    wrong = (found < 0) | (found >= known)
    if wrong.any():
        raise ValueError(f"tokens must be in 0..{known - 1}, got {found[wrong][0]}")
    return found.astype(np.int64)
