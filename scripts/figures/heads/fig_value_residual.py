"""Value residuals: what a deep stack keeps of the first layer's values, and a sink that drains (resformer.beyond.*).

(a) Along an eigenvector of eigenvalue mu of a constant attention matrix: n plain layers leave mu^n, value residuals of
weight lambda go to mu lambda/(1 + lambda - mu). (b) Gradient flow of a sink's weight and effective value with weight
decay .02 and a first value of 8.67 times the others' spread: two stable points, drained and not, and a saddle between.
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from theory import value_residual as v

from ..palette import AID, BLACK, BLUE, DASHED, FAINT, VERMILION, WORDS, ordered, styled

QUICK_SIZE, FULL_SIZE = 25, 121
UNIT = "points a side"
DEPTHS, WEIGHTS = (2, 8, 32), (0.25, 1.0, 4.0)
DECAY, VARIANCE = 0.02, 1.0
LOGITS, VALUES = (-5.0, 8.0), (0.0, 1.0)


class Data(NamedTuple):
    """`first` is ||v_1||; the flow's plane is the sink logit and ||v + v_1||/||v_1||."""

    mu: NDArray
    plain: NDArray  # (depth, mu)
    kept: NDArray  # (lambda, mu)
    first: NDArray
    logit: NDArray
    value: NDArray
    velocity: NDArray  # (2, value, logit)
    stable: NDArray  # (2, 2): logit and share of both stable points
    saddle: NDArray  # (2,)
    weight_still: NDArray  # share at which the logit stands still, by logit
    value_still: NDArray  # share at which the value stands still, by logit


def compute(size: int = FULL_SIZE) -> Data:
    """The closed forms of `theory.value_residual`, on grids."""
    mu = np.linspace(-1, 1, 4 * size + 1)
    first = float(np.sqrt(np.prod(v.fold_ratios(DECAY)) ** 0.5 * VARIANCE))  # between the folds
    logit, value = np.linspace(*LOGITS, size), np.linspace(*VALUES, size)
    rest = v.drain_equilibria(first, VARIANCE, DECAY)
    still = DECAY / (expit(logit) ** 2 + DECAY)

    def excess(s: float) -> float:
        share = DECAY / (expit(s) ** 2 + DECAY)
        return float(expit(-s) * VARIANCE - expit(s) * (share * first) ** 2)

    middle = brentq(excess, rest.low_logit + 1e-3, rest.high_logit - 1e-3)
    stable = np.array([[rest.low_logit, rest.low_norm / first], [rest.high_logit, rest.high_norm / first]])
    saddle = np.array([middle, DECAY / (expit(middle) ** 2 + DECAY)])
    balance = np.sqrt(np.exp(-logit) * VARIANCE) / first
    flow = [[v.drain_velocity([(y - 1) * first], [first], s, VARIANCE, DECAY) for s in logit] for y in value]
    velocity = np.array([[[a for a, _ in row] for row in flow], [[b[0] / first for _, b in row] for row in flow]])
    return Data(mu, np.array([mu**n for n in DEPTHS]), np.array([v.spectral_map(mu, lam) for lam in WEIGHTS]),
                np.array(first), logit, value, velocity, stable, saddle, balance, still)  # fmt: skip


@styled
def draw(data: Data) -> Figure:
    """Two panels side by side."""
    figure = Figure(figsize=(5.5, 2.6))
    spectrum, plane = figure.subplots(1, 2)
    figure.subplots_adjust(left=0.09, right=0.985, top=0.92, bottom=0.15, wspace=0.24)
    _spectrum(spectrum, data)
    _plane(plane, data)
    return figure


def _spectrum(panel: Axes, data: Data) -> None:
    for values, depth, grey in zip(data.plain, DEPTHS, (FAINT, AID, WORDS), strict=True):
        panel.plot(data.mu, values, color=grey, linestyle=DASHED, label=f"{depth} plain layers")
    for values, weight, color in zip(data.kept, WEIGHTS, ordered(len(WEIGHTS)), strict=True):
        panel.plot(data.mu, values, color=color, label=rf"residual, $\lambda={weight:g}$")
    panel.set(xlim=(-1, 1), ylim=(-1, 1.02), xlabel=r"eigenvalue of attention, $\mu$", ylabel="what is kept")
    panel.set_title("(a) a deep stack")
    panel.legend(loc="lower right", handlelength=2.0, labelspacing=0.25, borderpad=0)


def _plane(panel: Axes, data: Data) -> None:
    panel.streamplot(data.logit, data.value, *data.velocity, color=AID, density=0.75, linewidth=0.5,
                     arrowsize=0.5, maxlength=4.0)  # fmt: skip
    panel.plot(data.logit, data.value_still, color=BLUE, label="value at rest")
    panel.plot(data.logit, data.weight_still, color=VERMILION, linestyle=DASHED, label="weight at rest")
    panel.plot(*data.stable.T, linestyle="", marker="o", markersize=4, color=BLACK, label="stable")
    panel.plot(*data.saddle, linestyle="", marker="X", markersize=4.5, color=BLACK, markerfacecolor="white",
               label="saddle")  # fmt: skip
    panel.set(xlim=LOGITS, ylim=VALUES, xlabel="logit of the sink", ylabel=r"$\|v+v_1\|/\|v_1\|$")
    panel.set_title(f"(b) a sink, decay {DECAY:g}")
    panel.legend(loc="upper right", frameon=True, framealpha=0.9, edgecolor="none", handlelength=1.6,
                 labelspacing=0.25, borderpad=0.2)  # fmt: skip
