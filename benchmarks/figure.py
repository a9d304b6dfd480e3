"""Figure 2 as PNG, three panels: `fig_landscape` against the printed way, with as many streamlines drawn.

Both draw the exact loss at the same T on paper of the same size; the printed way is that of Appendix L: autograd on a
1000 x 1000 grid, matplotlib's streamplot, 200 contour levels.
"""

import io

import matplotlib
import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from benchmarks.row import Guard, Limit, Row, compare
from benchmarks.timing import interleave
from scripts.figures.figure_files import STYLE
from scripts.figures.landscape import fig_landscape
from scripts.figures.landscape.landscape_panels import draw_panels

_TOKENS = (4, 12, 104)
_CELLS = 34  # a side: then the lines are together as long as those of streamplot, which the guards check


def measure(quick: bool) -> Row:
    size = 100 if quick else 1000
    with matplotlib.rc_context(fname=STYLE):
        ours, plain = fast(), printed(fast(), size)
        variants = {
            "ours": lambda: png(fast()),
            "printed": lambda: png(printed(ours, size)),
            "limit": lambda: png(blank(ours)),
        }
        times = interleave(variants, 1 if quick else 5)
    return Row(
        "figure",
        [compare(times, "printed", "the printed way", 10, 14)],
        [Limit("empty PNG of the same panels", times.ratio("ours", "limit"), 5)],
        same_picture(ours, plain),
    )


def fast() -> Figure:
    """The exact landscapes of the figure, computed and drawn."""
    return draw_panels(fig_landscape.compute(_TOKENS, rows=("exact",)), _CELLS)


def blank(like: Figure) -> Figure:
    """Empty axes where the other figure has its own."""
    figure = Figure(figsize=like.get_size_inches())
    for axes in like.axes:
        figure.add_axes(axes.get_position()).set(xlim=axes.get_xlim(), ylim=axes.get_ylim())
    return figure


def printed(like: Figure, size: int) -> Figure:
    figure = blank(like)
    for tokens, axes in zip(_TOKENS, figure.axes, strict=False):
        x, y, loss, along_x, along_y = autograd(tokens, size)
        axes.streamplot(x, y, -along_x, -along_y)
        axes.contour(x, y, loss, levels=np.arange(0, 10, 0.05), colors="black")
        axes.set(xlim=(0, 1), ylim=(0, 1))
    return figure


def autograd(tokens: int, size: int) -> list[np.ndarray]:
    """The grid, the corrected loss on it and its gradient along the slice."""
    axis = np.linspace(0, 1, size)
    x, y = np.meshgrid(axis, axis)
    a, b = torch.tensor(x, requires_grad=True), torch.tensor(y, requires_grad=True)
    own, previous = torch.exp(a), torch.exp(1 - a)
    partition = 2 * own + previous + tokens - 2
    target = torch.exp((previous * b + 1 - b) / partition)
    edge = torch.exp((b + (1 - b) * own) / partition)
    repeated = torch.exp((2 * own * b + previous * (1 - b)) / partition)
    loss = -torch.log(target / (target + 2 * edge + repeated + (tokens - 4) * torch.exp(1 / partition)))
    loss.sum().backward()
    return [x, y, loss.detach().numpy(), a.grad.numpy(), b.grad.numpy()]


def png(figure: Figure) -> bytes:
    FigureCanvasAgg(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def same_picture(ours: Figure, plain: Figure) -> list[Guard]:
    """The worst panel: a figure that draws less is not faster. Arrows and contours are seen in the committed one."""
    lengths = [(line_lengths(a), line_lengths(b)) for a, b in zip(ours.axes[: len(_TOKENS)], plain.axes, strict=False)]
    return [
        Guard("length of all streamlines, printed / ours", max(b.sum() / a.sum() for a, b in lengths), 1.0),
        Guard("longest streamline, printed / ours", max(b.max() / a.max() for a, b in lengths), 1.05),
    ]


def line_lengths(axes) -> np.ndarray:
    """Length of each streamline in units of the side; streamplot's segments are joined where they meet."""
    lengths: list[float] = []
    end = None
    for segment in next(part for part in axes.collections if type(part) is LineCollection).get_segments():
        length = float(np.hypot(*np.diff(segment, axis=0).T).sum())
        if end is not None and np.array_equal(end, segment[0]):
            lengths[-1] += length
        else:
            lengths.append(length)
        end = segment[-1]
    return np.array(lengths)
