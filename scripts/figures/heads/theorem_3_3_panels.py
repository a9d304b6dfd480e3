"""Panels of the figure of Theorem 3.3: what two sentences ask for and get, the least errors, and where they vanish."""

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator

from ..figure_files import STYLE
from ..palette import BLACK, DOTTED, EXACT, FAINT, MEASURED, RIGHT, WORDS, WRONG, WRONG_AREA

LOWEST = 1e-5  # of both axes of errors
SIDE = 0.72  # of a token's box


def draw_panels(data) -> Figure:
    with matplotlib.rc_context(fname=STYLE):
        figure = Figure(figsize=(7.0, 2.75))
        left = figure.add_axes((0.012, 0.01, 0.38, 0.89))
        middle, right = (figure.add_axes((x, 0.145, 0.25, 0.755)) for x in (0.463, 0.74))
        _sentences(left, data)
        _lengths(middle, data)
        _scales(right, data)
        return figure


def _sentences(panel: Axes, data) -> None:
    """The two sentences, what IH gives and what a causal head gives; below, what each of the two reads."""
    panel.set(xlim=(-0.1, 7.0), ylim=(-0.55, 6.9))
    panel.axis("off")
    panel.set_title("(a) one causal head cannot give both 0 and 1")
    for place in range(3):
        panel.text(place + 1.4, 6.2, f"$x_{place + 1}$", ha="center", va="center")
    for at, words in ((5.0, "must\ngive"), (6.25, "any causal\nhead gives")):
        panel.text(at, 6.35, words, ha="center", va="center", linespacing=1.0)
    for height, sentence, wanted, given in zip(
        (5.3, 4.35), data.sentences, data.wanted, (r"$y$", r"$e^m\, y$"), strict=True
    ):
        for place, token in enumerate(sentence):
            _box(panel, place + 1.4, height, f"{token:g}", FAINT if token == 0 else "white")
        panel.text(5.0, height, f"{wanted:g}", ha="center", va="center", color=RIGHT, fontweight="bold")
        panel.text(6.25, height, given, ha="center", va="center", color=WRONG, fontsize=8)
    reads = (("needs\nto read", (0.0, 1.0, 0.0), RIGHT), ("reads", data.forced, WRONG))
    for height, (words, weights, color) in zip((2.5, 1.05), reads, strict=True):
        _reads(panel, height, words, weights, color)
    panel.text(4.0, 2.8, "only $x_2$, whatever\nthe tokens are", va="center", color=RIGHT)
    words = "all three, in both alike:\nthe query $x_3=0$ matches\nnothing, distance decides"
    panel.text(4.0, 1.35, words, va="center", color=WRONG)
    words = "for all $\\alpha,\\beta,W$, width and scale, with slope $m$;\nAppendix B's head: $y=1/3$ at $m=0$"
    panel.text(3.45, -0.05, words, ha="center", va="center", color=WORDS)


def _box(panel: Axes, x: float, y: float, text: str, face: str) -> None:
    panel.add_patch(Rectangle((x - SIDE / 2, y - SIDE / 2), SIDE, SIDE, facecolor=face, edgecolor=BLACK, linewidth=0.5))
    panel.text(x, y, text, ha="center", va="center")


def _reads(panel: Axes, height: float, words: str, weights, color: str) -> None:
    """Bars of attention to the three tokens."""
    panel.text(0.75, height + 0.3, words, ha="right", va="center", linespacing=1.0)
    panel.plot([0.95, 3.85], [height - 0.05, height - 0.05], color=BLACK, linewidth=0.5)
    for place, weight in enumerate(weights):
        panel.add_patch(Rectangle((place + 1.1, height - 0.05), 0.6, 0.95 * weight, facecolor=color, linewidth=0))


def _lengths(panel: Axes, data) -> None:
    seen = data.least_any > 0
    panel.fill_between(data.lengths[seen], LOWEST, data.least_any[seen], color=WRONG_AREA, linewidth=0)
    panel.plot(data.lengths, data.printed, linestyle="", marker="o", markersize=3, color=MEASURED,
               markerfacecolor="white", markeredgewidth=0.8, label="Appendix B's head")  # fmt: skip
    panel.plot(data.lengths, data.least, color=EXACT, label=r"best head, $m=0$: $1/(2L-4)$")
    panel.plot(data.lengths[seen], data.least_any[seen], color=EXACT, linestyle=DOTTED, linewidth=1.2,
               label="best head of any slope")  # fmt: skip
    panel.text(0.12, 0.1, "no causal head,\nwhatever its parameters", transform=panel.transAxes, color=WORDS)
    panel.set(xscale="log", yscale="log", xlim=(2.7, data.lengths[-1] * 1.1), ylim=(LOWEST, 30))
    panel.set(xlabel="tokens $L$ of the sentence", ylabel="largest error")
    ticks = [n for n in (3, 10, 30, 100, 300) if n <= data.lengths[-1]]
    panel.set_xticks(ticks, [str(n) for n in ticks])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_minor_locator(NullLocator())
    panel.set_title("(b) any head errs, by $1/L$ at best")
    panel.legend(loc="upper left", borderaxespad=0.2)


def _scales(panel: Axes, data) -> None:
    panel.plot(data.inverse, data.bound, color=EXACT, linestyle=DOTTED, linewidth=1.2,
               label=r"bound $2e^{-1/\sigma}$ ($m=0$)")  # fmt: skip
    panel.plot(data.inverse, data.matched, linestyle="", marker="o", markersize=3, color=MEASURED,
               markerfacecolor="white", markeredgewidth=0.8, label="Appendix B's head")  # fmt: skip
    panel.text(0.05, 0.06, "tokens 1 and $L$\nmasked: exactly 0", transform=panel.transAxes, color=RIGHT)
    panel.set(yscale="log", xlim=(0, data.inverse[-1]), ylim=(LOWEST, 30), xlabel=r"scale of the scores, $1/\sigma$")
    panel.yaxis.set_minor_locator(NullLocator())
    panel.set_yticklabels([])
    panel.set_title("(c) it fades where a word recurs")
    panel.legend(loc="upper left", borderaxespad=0.2)
