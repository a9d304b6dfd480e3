"""Figure 2 of the KV-shifting paper: exact, as Eq. 10 prints it, as its listing draws it (kv.fig2.*, kv.listing_l.*).

Contour lines of the loss and descent directions on the slice alpha2 = 1 - alpha1, beta2 = 1 - beta1. A column is one
number of tokens T; the two printed forms take O(T) = T - 4 as their constant. Colour: angle to the exact direction.
"""

import argparse
from typing import TYPE_CHECKING, NamedTuple

from .cli import Parser, run, whole
from .figure_command import figure_parser, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

QUICK_SIZE, FULL_SIZE = 101, 201
ROWS = ("Exact loss", "Eq. 10 as printed,\n$O(T)=T-4$", "Listing once it runs,\n$O(T)=T-4$")


class Data(NamedTuple):
    """Fields of shape (row, column, alpha1, beta1); the angle, in degrees, is to the exact row of the same column."""

    tokens: "NDArray"
    alpha1: "NDArray"
    beta1: "NDArray"
    loss: "NDArray"
    d_alpha1: "NDArray"
    d_beta1: "NDArray"
    angle: "NDArray"
    seed: "NDArray"


def compute(tokens: tuple[int, ...] = (4, 12, 104), size: int = QUICK_SIZE, seed: int = 0) -> Data:
    """The three landscapes of each T. Raises ValueError for T outside 4..504 (the listing overflows beyond)."""
    import numpy as np

    from theory.landscape.grid import angle_between, slice_grid
    from theory.landscape.printed import EQUATION, LISTING, printed_grid

    exact = [slice_grid(t, size) for t in tokens]
    rows = [exact, *([printed_grid(t - 4, slips, size) for t in tokens] for slips in (EQUATION, LISTING))]
    loss, d_alpha1, d_beta1 = (np.array([[grid[field] for grid in row] for row in rows]) for field in (2, 3, 4))
    angle = np.array([[angle_between(grid, true) for grid, true in zip(row, exact, strict=True)] for row in rows])
    axes = exact[0].alpha1, exact[0].beta1
    return Data(np.array(tokens), *axes, loss, d_alpha1, d_beta1, np.degrees(angle), np.array(seed))


def draw(data: Data) -> "Figure":
    """Panels by row and column, one colour bar for the angle."""
    from .landscape_panels import draw_panels

    return draw_panels(data, ROWS)


def parser() -> Parser:
    p = figure_parser("fig_landscape", __doc__, (QUICK_SIZE, FULL_SIZE), "points a side", full=False)
    p.add_argument("--tokens", type=_tokens, default=(4, 12, 104), metavar="T,T,..", help="columns (default 4,12,104)")
    p.add_argument("--seed", type=whole(0), default=0, help="moves the starts of the streamlines (default 0)")
    return p


def _tokens(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() for part in parts) or not 1 <= len(parts) <= 3:
        raise argparse.ArgumentTypeError(f"expected one to three whole numbers such as 4,12,104, got {text!r}")
    tokens = tuple(int(part) for part in parts)
    if not all(4 <= t <= 504 for t in tokens):
        raise argparse.ArgumentTypeError(f"each number of tokens must lie in 4..504, got {text}")
    return tokens


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    return write_figure(args, lambda size: compute(args.tokens, size, args.seed), draw)


if __name__ == "__main__":
    raise SystemExit(run(main))
