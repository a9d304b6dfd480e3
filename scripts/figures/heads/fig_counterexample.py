"""Two words in two dimensions: beyond the printed distance a token keeps 89 % of the attention (refutes razor.thm1).

The counterexample to Theorem 1, RMSNorm with d = 2. Left, the plane: the circle of normalised states, the axis that
the gains (1, 0) leave of it, with the words A and B, and below it the query of A and both keys. Right, the attention
to B in "B A ... A", measured in the torch model of two words, with the bound that it attains, L_h as printed, and the
sharp scope.
"""

from typing import NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dynamics.model.made.two_word import two_word_model
from theory import alibi

from ..palette import AID, BLACK, DASHED, EXACT, MEASURED, PRINTED, RIGHT, WORDS, WRONG, styled

QUICK_SIZE, FULL_SIZE = 60, 80
UNIT = "distances"
NAME = "RMSNorm, d = 2"
QUERY, KEY = RIGHT, WRONG


class Data(NamedTuple):
    """Words A, B in that order: hidden states, post-norm states and keys (2, 2); the query of A (2,)."""

    hidden: NDArray
    states: NDArray
    keys: NDArray
    query: NDArray
    distance: NDArray
    weight: NDArray  # measured attention to B at each distance
    bound: NDArray
    printed: NDArray  # L_h
    sharp: NDArray
    eps: NDArray


def compute(size: int = FULL_SIZE) -> Data:
    """The model of two words at distances 1..size."""
    model, distance = two_word_model(NAME), np.arange(1, size + 1)
    case = model.case
    # the scores are unscaled, as printed, where theory divides by sqrt(d_head)
    head = alibi.Head(np.array(case.w_q) * np.sqrt(len(case.w_q)), case.w_k, case.gamma, norm=case.norm)
    wide = alibi.logit_range(head)
    with torch.no_grad():
        states = model.norm(model.embedding.weight)
        keys, queries = model.head.k_proj(states), model.head.q_proj(states)
    return Data(
        np.array(case.words), states.numpy(), keys.numpy(), queries[0].numpy(), distance,
        np.array([float(model.attention(model.sentence(int(n)))[0, -1, 0]) for n in distance]),
        np.array([alibi.weight_bound(int(n), case.slope, wide) for n in distance]),
        np.array(alibi.printed_scope(case.w_q, case.w_k, case.gamma, None, case.slope, case.eps)),
        np.array(alibi.scope(case.slope, wide, case.eps)), np.array(case.eps),
    )  # fmt: skip


@styled
def draw(data: Data) -> Figure:
    """The plane and the weights."""
    figure = Figure(figsize=(5.5, 2.4))
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (1, 1.15)})
    figure.subplots_adjust(left=0.01, right=0.98, top=0.91, bottom=0.15, wspace=0.2)
    _plane(left, data)
    _weights(right, data)
    return figure


def _plane(panel: Axes, data: Data) -> None:
    turn = np.linspace(0, np.pi, 100)
    radius = np.linalg.norm(data.states[0])
    panel.plot(radius * np.cos(turn), radius * np.sin(turn), color=AID, linewidth=0.6)
    panel.plot([-radius, radius], [0, 0], color=WORDS, linewidth=1.6, solid_capstyle="butt")
    panel.text(0, 1.5, r"normalised: $\|z\|^2=2$", ha="center", color=WORDS)
    panel.text(0, 0.14, r"post-norm: $x=(z_1,0)$", ha="center", color=WORDS)
    for name, at in zip("AB", data.states, strict=True):
        panel.plot(*at, marker="o", markersize=4, color=BLACK)
        panel.text(1.22 * at[0], 0, name, ha="center", va="center")
    # arrows along the axis, moved off it one below the other; the query five times shorter than it is
    _arrow(panel, data.query / 5, -0.4, QUERY, r"query $q_A$ (drawn at 1/5)")
    _arrow(panel, data.keys[1], -1.0, KEY, r"key $k_B$:  " + _product(data, 1, "B"))
    _arrow(panel, data.keys[0], -1.6, KEY, r"key $k_A$:  " + _product(data, 0, "A"))
    panel.set(xlim=(-2.3, 2.3), ylim=(-2.15, 1.75), title="(a) query and keys")
    panel.set_aspect("equal")
    panel.axis("off")


def _product(data: Data, word: int, name: str) -> str:
    return rf"$q_A\cdot k_{name}={data.query @ data.keys[word]:+.0f}$"


def _arrow(panel: Axes, vector, height: float, color: str, label: str) -> None:
    panel.annotate("", (vector[0], height), (0, height),
                   arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 1.1, "shrinkA": 0, "shrinkB": 0,
                               "mutation_scale": 6})  # fmt: skip
    panel.plot(0, height, marker="|", markersize=4, color=color)
    panel.text(0, height - 0.13, label, ha="center", va="top", color=color)


def _weights(panel: Axes, data: Data) -> None:
    panel.plot(data.distance, data.bound, color=EXACT, linewidth=1.0, label="bound,\nattained")
    panel.plot(data.distance[::3], data.weight[::3], linestyle="", marker="o", markersize=3, color=MEASURED,
               label="measured\nin torch")  # fmt: skip
    panel.axhline(data.eps, color=AID, linewidth=0.5, zorder=0)
    panel.text(1.5, data.eps * 0.42, r"$\epsilon=0.1$ %", color=WORDS)
    for at, name, color in ((data.printed, "printed $L_h$", PRINTED), (data.sharp, "sharp", EXACT)):
        panel.axvline(at, color=color, linestyle=DASHED, linewidth=0.9, zorder=0.5)
        panel.text(at - 1.6, 1.5e-6, f"{name}: {at:.1f}", rotation=90, ha="center", va="bottom", color=color)
    _beyond(panel, data)
    panel.set(yscale="log", xlim=(0, data.distance[-1]), ylim=(1e-6, 3), xlabel="distance of B (tokens)")
    panel.set_title("(b) attention to B in “B A … A”")
    panel.legend(loc="center right", bbox_to_anchor=(1.0, 0.6), handlelength=1.0)


def _beyond(panel: Axes, data: Data) -> None:
    """The weight at the first distance beyond L_h, ringed and in words."""
    at = int(np.argmax(data.distance > data.printed))
    place = data.distance[at], data.weight[at]
    panel.plot(*place, linestyle="", marker="o", markersize=6.5, color=PRINTED, markerfacecolor="none", zorder=5)
    text = f"{100 * place[1]:.0f} % at {place[0]},\nbeyond $L_h$"
    panel.annotate(text, place, (54, 0.9), ha="left", va="center", color=PRINTED,
                   arrowprops={"arrowstyle": "-", "linewidth": 0.5, "shrinkB": 2.5, "color": PRINTED})  # fmt: skip
