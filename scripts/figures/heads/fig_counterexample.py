"""Two words in two dimensions: beyond the printed distance a token keeps 89 % of the attention (refutes razor.thm1).

The counterexample to Theorem 1, RMSNorm with d = 2. Left, the plane: the circle of normalised states, the axis that
the gains (1, 0) leave of it, with the words A and B, and below it the query of A and both keys. Right, the attention
to B in "B A ... A", measured in the torch model of two words, with the bound that it attains, L_h as printed, and the
sharp scope.
"""

from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dynamics.model.made.two_word import two_word_model
from theory import alibi

from .counterexample_panels import draw_panels

QUICK_SIZE, FULL_SIZE = 60, 80
UNIT = "distances"
NAME = "RMSNorm, d = 2"


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


def draw(data: Data) -> Figure:
    """The plane and the weights."""
    return draw_panels(data)
