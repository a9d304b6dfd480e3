"""A colour keeps its meaning in every figure, and a marker or a line style doubles it.

Hues are Okabe and Ito's and Paul Tol's muted ones, told apart by colour-blind readers. No figure script writes a colour
of its own: what has an order takes `ordered`, everything else a name from here.
"""

from typing import NamedTuple

BLACK, GREY, PALE, WHITE = "#000000", "#6f6f6f", "#c9c9c9", "#ffffff"
BLUE, VERMILION, GREEN, AMBER, PINK, SKY = "#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9"
INDIGO, WINE, PURPLE, ROSE, FOREST, OLIVE, TAN = (
    "#332288", "#882255", "#aa4499", "#cc6677", "#117733", "#858519", "#a5793f",
)  # fmt: skip
DASHED, DOTTED, CHAINED = (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5))


class Look(NamedTuple):
    """How one thing is drawn: colour, marker, line style ("" for none), and the tint of its area."""

    color: str
    marker: str = ""
    line: str | tuple[float, tuple[float, ...]] = "-"
    tint: str = PALE


# What is modelled.
VANILLA, KV_SHIFT = Look(BLACK, "o", DASHED), Look(BLUE, "s", "-")
RESFORMER, BOTH = Look(VERMILION, "^", CHAINED), Look(PINK, "D", DOTTED)
MODELS = {"vanilla": VANILLA, "kv-shift": KV_SHIFT, "resformer": RESFORMER, "kv-shift+resformer": BOTH}

# What is said: what holds is black, what a paper prints wine, what its code does amber; runs and samples are green.
EXACT = THEORY = SHARP = Look(BLACK, "o", "-", "#dedede")
PRINTED, LISTING = Look(WINE, "X", DASHED, "#ead8e0"), Look(AMBER, "s", CHAINED)
MEASURED = Look(GREEN, "o", "", "#d6efe7")
SECOND = Look(TAN, "s", "")  # another quantity that is measured beside it
WEAKER = Look(GREY, "", DOTTED)  # a bound that is true and not sharp, a limit, a level

# What comes of it: learning, better; not learning, worse.
GOOD, BAD = Look(INDIGO, "o", "-", "#dddaf0"), Look(OLIVE, "X", DASHED, "#eeedcf")
UNDECIDED = Look(GREY, "s", ":")
FLOW = GREY  # paths of gradient flow or descent

# Where positions enter, and what spoils a waiver.
SCHEMES = {
    "none": Look(GREY, "o"), "alibi": Look(SKY, "s"), "rope": Look(PURPLE, "^"), "learned": Look(ROSE, "D"),
    "values": Look(FOREST, "v"), "shifted": Look(TAN, "X"), "lowest": Look(BLACK, "P"),
}  # fmt: skip

# Terms that have no other meaning, in the order in which they are taken.
OTHERS = (PURPLE, FOREST, AMBER, SKY, ROSE, TAN, WINE, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
LINES = ("-", DASHED, DOTTED, CHAINED)


def ordered(count: int) -> list[str]:
    """So many colours for values that have an order, from the darkest, which is the first, to a green that prints."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    ramp = colormaps["viridis"]
    return [to_hex(ramp(0.82 * number / max(count - 1, 1))) for number in range(count)]
