"""The arena's central models while they train: heads that look back, and copying.

(a) to (c) The largest score of all heads on random tokens that are repeated four times: attention to the token before,
to the tokens after earlier copies of the current token, and to the copies. (d) The loss on the first time less the loss
on the fourth time. Means over seeds, bands from the least to the most.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.arena.dissect import DISSECTED
from dynamics.arena.dissected import read_dissection, scores

from .dissected_panels import draw_training

QUICK_SIZE, FULL_SIZE = 2, 100
UNIT = "seeds at most"
draw = draw_training


class Data(NamedTuple):
    """Panels (a) to (d): (entry, seed, moment)."""

    entries: NDArray
    steps: NDArray
    previous: NDArray
    induction: NDArray
    echo: NDArray
    copied: NDArray


def compute(size: int = FULL_SIZE) -> Data:
    """The shipped dissection, at most `size` seeds of it."""
    found = read_dissection()
    over = {
        name: np.array([scores(found, entry, name)[:size] for entry in DISSECTED])
        for name in ("previous", "induction", "echo", "copy_loss")
    }
    largest = {name: over[name].max((-1, -2)) for name in ("previous", "induction", "echo")}
    return Data(
        entries=np.array(DISSECTED),
        steps=np.array([one.step for one in found.seen[DISSECTED[0]][0].moments]),
        **largest,
        copied=over["copy_loss"][..., 0] - over["copy_loss"][..., -1],
    )
