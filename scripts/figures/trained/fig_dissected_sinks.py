"""The arena's models at the end of training: sinks and states by layer, waivers by positional scheme, context.

(a) to (d) By layer, means over heads: the weight that the first token of a document is given, the entropy of what all
tokens are given, and the size of the first token's value and state over that of the others. Dotted: even attention,
and equal sizes. (e), (f) Vanilla models of four positional schemes, a token made a waiver by a mask: what the later
tokens lose, and the weights of the first token and of the waiver, before (open) and after. (g), (h) Loss by the place
of a byte in its document, and of the same bytes from the last bytes before them alone. Marks are means over seeds,
bars and bands reach from the least to the most.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.arena.dissect import DISSECTED, SCHEMES
from dynamics.arena.dissected import Dissection, read_dissection, scores
from dynamics.sinks.attention import entropy

from .dissected_panels import draw_end

QUICK_SIZE, FULL_SIZE = 2, 100
UNIT = "seeds at most"
draw = draw_end


class Data(NamedTuple):
    """(entry, seed, layer) in (a) to (d), (scheme, seed) in (e), (scheme, seed, 2) in (f): before, after."""

    entries: NDArray
    sink: NDArray
    entropy: NDArray
    drain: NDArray
    peak: NDArray
    even: NDArray  # weight of the first token, and entropy, of even attention
    schemes: NDArray
    lost: NDArray  # share of the loss
    first: NDArray
    waiver: NDArray
    by_place: NDArray  # (entry, seed, octave)
    contexts: NDArray
    by_context: NDArray  # (entry, seed, context)


def compute(size: int = FULL_SIZE) -> Data:
    """The shipped dissection, at most `size` seeds of it."""
    found = read_dissection()
    ends = {
        name: np.array([scores(found, entry, name)[:size, -1] for entry in DISSECTED])
        for name in ("sink", "entropy", "drain", "peak")
    }
    masks = [[one.mask for one in found.seen[entry][:size]] for entry in SCHEMES.values()]
    curves, seen = ([of[entry] for entry in DISSECTED] for of in (found.curves, found.seen))
    return Data(
        entries=np.array(DISSECTED),
        **(ends | {name: ends[name].mean(-1) for name in ("sink", "entropy")}),
        even=even(found),
        schemes=np.array(list(SCHEMES)),
        lost=np.array([[mask.later_after / mask.later_before - 1 for mask in one] for one in masks]),
        first=np.array([[(mask.first_before, mask.first_after) for mask in one] for one in masks]).mean(-1),
        waiver=np.array([[(mask.waiver_before, mask.waiver_after) for mask in one] for one in masks]).mean(-1),
        by_place=np.array([one.by_place[:size] for one in curves], dtype=float),
        contexts=np.array(found.plan.looks.contexts),
        by_context=np.array([[one.contexts for one in of[:size]] for of in seen], dtype=float),
    )


def even(found: Dissection) -> NDArray:
    """The importance of the first token, (1/n) sum_i 1/i, and its entropy where each token sees all before it alike."""
    window = found.plan.looks.window
    importance = np.cumsum(1 / np.arange(window, 0, -1))[::-1] / window
    return np.array([importance[0], entropy(importance)])
