"""The arena's central models while they train: heads that look back, copying, and where shifts move beside the flow.

(a) to (c) The largest score of all heads on random tokens that are repeated four times: attention to the token before,
to the tokens after earlier copies of the current token, and to the copies. (d) The loss on the first time less the loss
on the fourth time. Means over seeds, bands from the least to the most. (e), (f) The previous token's share of each
head's key and value coefficients, as trained on text and along the gradient flow of the theorem's loss from the same
starts; the corner of induction is at the lower right. The flow belongs to another task: compare cells and not times.
"""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dynamics.arena.dissect import DISSECTED
from dynamics.arena.dissected import Dissection, read_dissection, scores
from dynamics.observed.flow import flow_beside, mixing_path

from .dissected_panels import draw_training

QUICK_SIZE, FULL_SIZE = 2, 100
UNIT = "seeds at most"
SHIFTED = "kv-shift"
TOKENS = 16  # of the sentences of the flow's loss, as many as a prompt has


class Data(NamedTuple):
    """Panels (a) to (d): (entry, seed, moment); (e), (f): shares (time, head, 2) of alpha and beta."""

    entries: NDArray
    steps: NDArray
    previous: NDArray
    induction: NDArray
    echo: NDArray
    copied: NDArray
    trained: NDArray
    flow: NDArray


def compute(size: int = FULL_SIZE) -> Data:
    """The shipped dissection, at most `size` seeds of it."""
    found = read_dissection()
    over = {
        name: np.array([scores(found, entry, name)[:size] for entry in DISSECTED])
        for name in ("previous", "induction", "echo", "copy_loss")
    }
    largest = {name: over[name].max((-1, -2)) for name in ("previous", "induction", "echo")}
    trained, flow = paths(found, SHIFTED, size)
    return Data(
        entries=np.array(DISSECTED),
        steps=np.array([one.step for one in found.seen[DISSECTED[0]][0].moments]),
        **largest,
        copied=over["copy_loss"][..., 0] - over["copy_loss"][..., -1],
        trained=shares(trained),
        flow=shares(flow),
    )


def paths(found: Dissection, entry: str, size: int = FULL_SIZE) -> tuple[NDArray, NDArray]:
    """alpha1, alpha2, beta1, beta2 of each head of an entry's runs, and the flow's from their starts, (times, n, 4)."""
    layers = range(found.plan.entries[entry].config.n_layers)
    every = [mixing_path(seen.moments, layer) for seen in found.seen[entry][:size] for layer in layers]
    joined = every[0]._replace(theta=np.concatenate([path.theta for path in every], axis=1))
    return joined.theta, flow_beside(joined, TOKENS).theta


def shares(theta: NDArray) -> NDArray:
    """|c2| / (|c1| + |c2|) of alpha and of beta, (.., 2) for (.., 4)."""
    sizes = np.abs(theta).reshape(*theta.shape[:-1], 2, 2)
    return sizes[..., 1] / sizes.sum(-1)


def draw(data: Data) -> Figure:
    """Draw the six panels."""
    return draw_training(data)
