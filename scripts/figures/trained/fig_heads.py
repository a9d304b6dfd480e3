"""Trained heads on the theory's map and in Table 5's cells (kv.tab5.*.trained, kv.beyond.{sign_rule,fate}.trained).

(a) alpha2 and beta1 times the head's own gains: these products are the same in every gauge and stand for the theorem's
alpha2 and beta1. The contour lines are the theorem's chance of the right answer with alpha1 = beta2 = 0.
(b) Shares of the cells of Table 5, at the start and trained, in the gauge that compares sizes, beside the paper's.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from ...commands.cli import Parser, hashed_file
from ..figure_command import figure_parser, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from dynamics.heads.coupling import MixingTable

QUICK_SIZE, FULL_SIZE = 61, 181
REACH = 1.5  # of the axes of the map, over the farthest head


class Data(NamedTuple):
    tokens: "NDArray"  # of the theory's sentence
    successor: "NDArray"  # (head,) mean attention to the successor
    gained: "NDArray"  # (head, 2) key_gain alpha2, value_gain beta1
    alpha2: "NDArray"
    beta1: "NDArray"
    chance: "NDArray"  # (alpha2, beta1) of the right answer
    cells: "NDArray"  # (table, row, column): at the start, trained, the paper's


def compute(table: Any, size: int = QUICK_SIZE) -> Data:
    """The heads of a `coupling.MixingTable` on the map of sentences of their mean length."""
    import numpy as np

    from dynamics.heads.coupling import cells, fixed
    from dynamics.tasks.induction import as_induction
    from proofs_check.records import Table
    from theory import landscape

    heads = table.heads
    tokens = max(4, round(as_induction(table.training.task).mean_length()))
    gained = np.array([(head.key[1], head.value[0]) for head in heads])
    alpha2, beta1 = (
        np.sinh(np.linspace(-1, 1, size) * np.arcsinh(REACH * max(farthest, 5.0))) for farthest in abs(gained).max(0)
    )
    counts = (
        cells((head.start_alpha, head.start_beta) for head in heads),
        cells(fixed(head.alpha, head.beta) for head in heads),
        [[int(cell) for cell in row[1:]] for row in Table("kv-shifting: Table 5").rows],
    )
    return Data(
        np.array(tokens),
        np.array([head.successor for head in heads]),
        gained,
        alpha2,
        beta1,
        np.exp(-landscape.loss(0.0, alpha2[:, None], beta1[None], 0.0, tokens, "mean")),
        np.array(counts),
    )


def draw(data: Data) -> "Figure":
    from .heads_panels import draw_panels

    return draw_panels(data)


def parser() -> Parser:
    p = figure_parser("fig_heads", __doc__, (QUICK_SIZE, FULL_SIZE), "points a side of the map")
    p.add_argument(
        "--sweep", metavar="FOLDER", help="a finished coupling sweep of yours that kept its weights (default: shipped)"
    )
    p.add_argument("--table", metavar="FILE", help="write the heads of --sweep there too, with their hash beside")
    return p


def _table(args: Any) -> "MixingTable":
    """The heads of the sweep given, else those that ship; written too where that is asked for."""
    if args.table:
        hashed_file(args.table)
    from dynamics.heads.coupling import collect
    from dynamics.heads.coupling_file import shipped_table, write_table

    table = collect(args.sweep) if args.sweep else shipped_table()
    if args.table:
        write_table(args.table, table)
        print(args.table)
    return table


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    if args.table and not args.sweep:
        raise ValueError("--table needs the --sweep whose heads it takes")
    return write_figure(args, lambda size: compute(_table(args), size), draw)
