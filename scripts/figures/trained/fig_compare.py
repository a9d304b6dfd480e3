"""Quality against memory: ways to shrink the cache part in retrieval, hardly on text (razor.trained.*).

Above, what text costs beyond the full cache; below, needles found. Means of the shipped comparison over seeds with
Student's 95 % intervals (models differ most in retrieval); broken, the full cache.
"""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dynamics.comparison import plan
from dynamics.comparison.record import read_comparison
from dynamics.comparison.statistics import lines

from .compare_panels import draw_panels

QUICK_SIZE, FULL_SIZE = 5, 9
UNIT = "policies"


class Data(NamedTuple):
    """Policies by name; arrays (policy, budget), the last axis of the intervals (low, mean, high)."""

    names: NDArray
    memory: NDArray  # share of the full cache
    extra: NDArray  # (policy, budget, 3): bits per byte above the full cache
    accuracy: NDArray  # (policy, budget, 3): share of needles found
    full: NDArray  # (3,): needles found with the full cache


def compute(size: int = FULL_SIZE) -> Data:
    """The first `size` of the policies, in the order of the figure's key."""
    order = (plan.RAZOR, plan.DROPPING, plan.RANDOM, plan.HEAVY, plan.STREAMING, plan.WINDOW, plan.NONE_PROTECTED,
             plan.CENTRED, plan.DECAYED)[:size]  # fmt: skip
    table = lines(read_comparison())
    rows = [[line for line in table if line.policy == policy] for policy in order]

    def ends(name: str) -> NDArray:
        found = [[getattr(line, name) for line in row] for row in rows]
        return np.array([[(e.low, e.value, e.high) for e in row] for row in found])

    whole = table[0].accuracy
    return Data(np.array(order), np.array([[line.share for line in row] for row in rows]), ends("extra"),
                ends("accuracy"), np.array([whole.low, whole.value, whole.high]))  # fmt: skip


def draw(data: Data) -> Figure:
    """Draw both panels."""
    return draw_panels(data)
