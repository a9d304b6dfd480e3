"""No causal head is an induction head: what KV shifting's Theorem 3.3 needs (kv.thm3.3.impossible, kv.thm3.3).

(a) The smallest counterexample, three tokens in one dimension: the two sentences ask the head for opposite outputs, and
under the causal mask whatever parameters give it one output up to the factor e^m (kv.thm3.3.impossible). (b) The least
error that any head can have on sentences of one nonzero token, by length, without a slope; above it Appendix B's head.
(c) What holds instead: where the last word occurs before, that head's error falls with the scale of the scores
(kv.thm3.3.discrepancy.matched), and with the tokens 1 and L masked it is 0 (kv.thm3.3.corrected).
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from theory import induction
from theory.induction.one_token import one_token_error, one_token_error_any_slope

from ..palette import BLACK, DOTTED, EXACT, FAINT, MEASURED, RIGHT, WORDS, WRONG, WRONG_AREA, styled

QUICK_SIZE, FULL_SIZE = 64, 512  # tokens of the longest sentence of (b)
UNIT = "tokens of the longest sentence"
MATCHED, MATCH = 16, 7  # tokens of the sentence of (c), and where its last word stands before
COLDEST = 12.0  # largest 1/sigma of (c)
LOWEST = 1e-5  # of both axes of errors
SIDE = 0.72  # of a token's box


class Data(NamedTuple):
    """(a): two sentences of three tokens; (b), (c): errors, the largest of a coordinate."""

    sentences: NDArray  # (2, 3)
    wanted: NDArray  # (2,), what IH gives
    forced: NDArray  # (3,), the attention of any causal head of slope 0 in both: their last token is 0
    given: NDArray  # (2,), what Appendix B's head gives
    lengths: NDArray
    least: NDArray  # of any head of slope 0, and of any slope
    least_any: NDArray
    printed: NDArray  # of Appendix B's head
    inverse: NDArray  # 1/sigma
    matched: NDArray  # error of Appendix B's head where the last word occurs before
    masked: NDArray  # the same with the mask {2..L-1}
    bound: NDArray


def compute(size: int = FULL_SIZE) -> Data:
    """Lengths 3..size."""
    sentences = np.eye(3)[:2]
    wanted, given = (_outputs(head, sentences) for head in ("inner", "causal"))
    lengths = np.unique(np.rint(np.geomspace(3, size, 24)).astype(int))
    inverse = np.linspace(0.5, COLDEST, 24)
    word = np.eye(MATCHED)
    word[-1] = word[MATCH - 1]
    truth = induction.induction_head(word, 1 / inverse, 0.0)
    off = [abs(induction.kv_shift_head(word, 1 / inverse, 0.0, mask) - truth).max(-1) for mask in ("causal", "inner")]
    return Data(
        sentences, wanted, np.append(given, 1 - given.sum()), given, lengths,
        one_token_error(lengths, 0.0), np.array([one_token_error_any_slope(int(n)) for n in lengths]),
        np.array([_printed_error(int(n)) for n in lengths]), inverse, *off,
        np.minimum(induction.matched_discrepancy_bound(MATCHED, MATCH, 1 / inverse, 0.0), 1.0),
    )  # fmt: skip


def _outputs(support, sentences: NDArray) -> NDArray:
    """Appendix B's head on each sentence of numbers, sigma = 1 and slope 0; on "inner" it is IH."""
    return induction.kv_shift_head(sentences[..., None], 1.0, 0.0, support)[..., 0]


def _printed_error(length: int) -> float:
    """The largest error of Appendix B's head over the sentences of one token."""
    sentences = np.eye(length)
    return float(abs(_outputs("causal", sentences) - _outputs("inner", sentences)).max())


@styled
def draw(data: Data) -> Figure:
    """Three panels side by side."""
    figure = Figure(figsize=(7.0, 2.75))
    left = figure.add_axes((0.012, 0.01, 0.38, 0.89))
    middle, right = (figure.add_axes((x, 0.145, 0.25, 0.755)) for x in (0.463, 0.74))
    _sentences(left, data)
    _lengths(middle, data)
    _scales(right, data)
    return figure


def _sentences(panel: Axes, data: Data) -> None:
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


def _lengths(panel: Axes, data: Data) -> None:
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


def _scales(panel: Axes, data: Data) -> None:
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
