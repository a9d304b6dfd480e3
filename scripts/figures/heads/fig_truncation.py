"""What a cache forgets costs far less than its bound (razor.eq4.*, razor.eq5.*, razor.cache.*).

A Gaussian head over post-norm states that share a direction; the last of 2048 tokens asks, the last W are kept.
(a) without positional bias, (b) under ALiBi. Medians of errors over contexts, by the diameter of all possible values.
"""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from theory import alibi
from theory.cache.compensation import compare, log_weight, token
from theory.cache.compensation_alibi import decayed_token
from theory.cache.compensation_second_order import second_order_log_weight, second_order_token, second_order_value
from theory.cache.dropped import value_diameter

from ..palette import AID, AMBER, BLACK, BLUE, DASHED, GREEN, PINK, styled

QUICK_SIZE, FULL_SIZE = 3, 40
UNIT = "contexts"
D_MODEL, D_HEAD, TOKENS = 64, 16, 2048
SLOPES = (0.0, 1 / 16)
STEEPNESS, SHARED, CENTRE = 1.0, 0.5, 16  # std of queries and keys; cosine of two states; queries that make q_0
KINDS = ("drop", "mean", "decayed", "centred", "second order")
FLOOR = 1e-10  # of both panels; rounding lies below
WINDOWS = (4, 8, 16, 32, 64, 96, 128, 160, 192, 256, 320, 512, 1024, 1536, 1984)


class Data(NamedTuple):
    """Axes: panel, context, kind, window. NaN where a kind is not defined (decayed without a slope)."""

    slopes: NDArray
    windows: NDArray
    held: NDArray  # (kind, window), in tokens: numbers stored over those of one key and value
    error: NDArray  # (panel, context, kind, window)
    grid: NDArray  # windows of the bounds
    bound: NDArray  # (panel, context, grid), of dropping, from the range of q.k in the context
    worst: NDArray  # (panel, grid), of dropping, over all contexts of this head


def compute(size: int = FULL_SIZE, seed: int = 0) -> Data:
    """Errors and bounds in `size` contexts of one head; the figure shows medians."""
    rng = np.random.default_rng(seed)
    w_q, w_k, w_v = (STEEPNESS * rng.standard_normal((D_HEAD, D_MODEL)) / np.sqrt(D_MODEL) for _ in range(3))
    spread, diameter = alibi.logit_range(w_q, w_k, np.ones(D_MODEL)), value_diameter(w_v, np.ones(D_MODEL))
    shared = rng.standard_normal(D_MODEL)
    error = np.full((len(SLOPES), size, len(KINDS), len(WINDOWS)), np.nan)
    grid = np.unique(np.rint(np.geomspace(WINDOWS[0], TOKENS - 1, 150)))
    bound = np.empty((len(SLOPES), size, len(grid)))
    for context in range(size):
        states = np.sqrt(SHARED) * shared + np.sqrt(1 - SHARED) * rng.standard_normal((TOKENS, D_MODEL))
        states *= np.sqrt(D_MODEL) / np.linalg.norm(states, axis=1, keepdims=True)
        head = states @ w_q.T / np.sqrt(D_HEAD), states @ w_k.T, states @ w_v.T
        for panel, slope in enumerate(SLOPES):
            for index, window in enumerate(WINDOWS):
                error[panel, context, :, index] = _errors(*head, slope, window)
            seen = float(np.ptp(head[1] @ head[0][-1]))
            bound[panel, context] = [alibi.dropped_mass_bound(w, slope, seen, TOKENS) for w in grid]
    worst = [[alibi.dropped_mass_bound(w, slope, spread, TOKENS) for w in grid] for slope in SLOPES]
    extra = np.array([0.0, 1.0, 1.0, 1.0, 1.0 + D_HEAD]) + 0.5 / D_HEAD * np.array([0, 1, 1, 1, 1])
    held = extra[:, None] + np.array(WINDOWS)
    return Data(np.array(SLOPES), np.array(WINDOWS), held, error / diameter, grid, bound, np.array(worst))


def _errors(queries: NDArray, keys: NDArray, values: NDArray, slope: float, window: int):
    """||o - o'|| of the last query, by KINDS."""
    query, centre = queries[-1], queries[-1 - CENTRE : -1].mean(0)
    dropped, distance = np.arange(TOKENS) < TOKENS - window, TOKENS - 1.0 - np.arange(TOKENS)
    gone, bias = (keys[dropped], values[dropped]), -slope * distance[dropped]
    plain, decayed = token(*gone), decayed_token(*gone, distance[dropped], slope)
    centred, second = token(*gone, bias, centre), second_order_token(*gone, bias, centre)
    logits = keys @ query - slope * distance
    tokens = [
        (log_weight(query, plain) + bias.mean(), plain.value),
        (log_weight(query, decayed), decayed.value),
        (log_weight(query, centred), centred.value),
        (second_order_log_weight(query, second), second_order_value(query, second)),
    ]
    found = [compare(logits, values, dropped, *each) for each in tokens]
    errors = [np.linalg.norm(each.full - each.compensated) for each in found]
    if slope == 0:
        errors[1] = np.nan
    return [np.linalg.norm(found[0].full - found[0].truncated), *errors]


@styled
def draw(data: Data) -> Figure:
    """Two panels side by side, one key below."""
    styles = dict(zip(KINDS, ((BLACK, "o"), (AMBER, "s"), (BLUE, "^"), (GREEN, "D"), (PINK, "v")),
                      strict=True))  # fmt: skip
    names = ("dropped", "mean token (Eq. 4)", "decayed token", "token centred at $q_0$", "second order at $q_0$")
    figure = Figure(figsize=(5.5, 3.0))
    panels = figure.subplots(1, 2, sharey=True)
    figure.subplots_adjust(left=0.09, right=0.985, top=0.93, bottom=0.34, wspace=0.06)
    for index, panel in enumerate(panels):
        panel.plot(data.grid, data.worst[index], color=AID, linestyle=DASHED, linewidth=1.0,
                   label="dropped, worst context (bound)")  # fmt: skip
        panel.plot(data.grid, np.median(data.bound[index], axis=0), color=AID, linestyle=":",
                   linewidth=1.0, label="dropped, bound from the range of $q\\cdot k$")  # fmt: skip
        for kind, (name, label) in enumerate(zip(KINDS, names, strict=True)):
            color, marker = styles[name]
            middle = np.median(data.error[index, :, kind], axis=0)
            panel.plot(data.held[kind], middle, color=color, marker=marker, markevery=(middle > FLOOR).tolist(),
                       markersize=2.2 if kind else 4, markerfacecolor=color if kind else "white",
                       label=label)  # fmt: skip
        panel.set(xscale="log", yscale="log", xlim=(3.2, 1.4 * TOKENS), ylim=(FLOOR, 3),
                  xlabel="cache held (tokens)")  # fmt: skip
    panels[0].set_ylabel("error / diameter of values")
    panels[0].set_title("(a) no positional bias")
    panels[1].set_title("(b) ALiBi, slope 1/16")
    figure.legend(*panels[1].get_legend_handles_labels(), loc="lower center", ncol=2,
                  columnspacing=1.2, handlelength=2.2, labelspacing=0.3)  # fmt: skip
    return figure
