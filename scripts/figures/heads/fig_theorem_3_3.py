"""No causal head is an induction head: what KV shifting's Theorem 3.3 needs (kv.thm3.3.impossible, kv.thm3.3).

(a) The smallest counterexample, three tokens in one dimension: the two sentences ask the head for opposite outputs, and
under the causal mask whatever parameters give it one output up to the factor e^m (kv.thm3.3.impossible). (b) The least
error that any head can have on sentences of one nonzero token, by length, without a slope; above it Appendix B's head.
(c) What holds instead: where the last word occurs before, that head's error falls with the scale of the scores
(kv.thm3.3.discrepancy.matched), and with the tokens 1 and L masked it is 0 (kv.thm3.3.corrected).
"""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from theory import induction
from theory.induction.one_token import one_token_error, one_token_error_any_slope

from .theorem_3_3_panels import draw_panels

QUICK_SIZE, FULL_SIZE = 64, 512  # tokens of the longest sentence of (b)
UNIT = "tokens of the longest sentence"
MATCHED, MATCH = 16, 7  # tokens of the sentence of (c), and where its last word stands before
COLDEST = 12.0  # largest 1/sigma of (c)


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


def draw(data: Data) -> Figure:
    """Three panels side by side."""
    return draw_panels(data)
