"""A colour keeps its meaning in every figure, and a marker or a line style doubles it.

Hues are Okabe and Ito's and a purple, told apart by colour-blind readers; no figure script writes a hue of its own.
"""

from typing import NamedTuple

from matplotlib import colormaps, rc_context
from matplotlib.colors import to_hex

from .figure_files import STYLE

styled = rc_context(fname=STYLE)  # a decorator: what is drawn has the style of all figures

BLACK, BLUE, VERMILION, GREEN = "#000000", "#0072b2", "#d55e00", "#009e73"
AMBER, SKY, PINK, PURPLE = "#e69f00", "#56b4e9", "#cc79a7", "#7b3294"
DASHED, DOTTED, CHAINED = (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5))

# What holds is black, what a paper prints purple and dashed, what was run green; right is blue, wrong vermilion.
EXACT, PRINTED, MEASURED, RIGHT, WRONG = BLACK, PURPLE, GREEN, BLUE, VERMILION
RIGHT_AREA, WRONG_AREA = "#cfe3f3", "#fbdcc4"
# Lines that help the eye, and words that are no label.
AID, FAINT, WORDS = "#999999", "#dddddd", "#555555"


class Look(NamedTuple):
    """How one thing among several is drawn."""

    color: str
    marker: str
    line: str | tuple[float, tuple[float, ...]] = "-"


# Models, wherever they stand side by side: vanilla, KV shift, ResFormer, both.
MODELS = (Look(BLACK, "o", DASHED), Look(BLUE, "s"), Look(VERMILION, "^", CHAINED), Look(GREEN, "D", DOTTED))
# Verdicts against a baseline, in no model's hue: better or worse by enough, by less; no difference, undecided.
VERDICTS = {
    "better by": Look("#332288", "o"), "better": Look("#8f86cc", "D"), "no difference": Look("#555555", "s"),
    "undecided": Look("#aaaaaa", "p"), "worse": Look("#b5a642", "v"), "worse by": Look("#746300", "X"),
}  # fmt: skip
# Several things without another meaning, in the order in which they are taken.
SERIES = (
    Look(BLUE, "o"), Look(VERMILION, "s", DASHED), Look(GREEN, "^", CHAINED), Look(PINK, "D", DOTTED),
    Look(AMBER, "v"), Look(SKY, "P", DASHED), Look(BLACK, "X", CHAINED),
)  # fmt: skip


def ordered(count: int) -> list[str]:
    """So many colours for values that have an order, the first the darkest; the last is still seen on paper."""
    return [to_hex(colormaps["viridis"](0.85 * number / max(count - 1, 1))) for number in range(count)]
