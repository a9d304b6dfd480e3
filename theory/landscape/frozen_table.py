"""Loss over sentences drawn from one frozen table of random embeddings, to first order in its Gram matrix G.

All T tokens occur in each sentence, in an order drawn afresh, so the average over sentences sees G - I, to first
order, only through the mean g0 of its diagonal and the mean g1 of the rest:
    average of L = L_inf + c1/d + g0 s0 + g1 s1 + (mean zero, O(1/d)),  s0 = sum_j dL/dG_jj,  s1 = sum_{j<k} dL/dG_jk.
g0 and g1 are uncorrelated with variances 2/(d T) and 2/(d T (T - 1)): a frozen table moves what is learned by d^(-1/2),
the average over tables by d^(-1). Not in the papers; c1 is that of `theory.landscape.width`.
"""

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.checked import choice, whole
from theory.landscape.width import _softmax, _state, checked_parameters, width_terms
from theory.records import comparable

Array = NDArray[np.float64]
Law = Literal["mean", "interior"]


@comparable
class TableTerms(NamedTuple):
    """Order-1/d mean c1 (times d), and the slopes s0, s1 in the two means of the table."""

    mean_shift: Array
    diagonal: Array
    off_diagonal: Array


def positions(n_tokens: int, law: Law) -> range:
    """The equally likely positions of the repeated token: 1..T-1 ("mean") or 2..T-2 ("interior").

    Raises ValueError for another law, or fewer than 2 or 4 tokens.
    """
    margin = 0 if choice("law", law, ("mean", "interior")) == "mean" else 1
    size = whole("n_tokens", n_tokens, 2 + 2 * margin)
    return range(1 + margin, size - margin)


def table_terms(
    alpha1: ArrayLike, alpha2: ArrayLike, beta1: ArrayLike, beta2: ArrayLike, n_tokens: int, law: Law = "mean"
) -> TableTerms:
    """c1, s0 and s1, averaged over the law of the position; arrays of the broadcast shape of the parameters.

    Raises ValueError as `positions` and `theory.landscape.width.finite_width` do.
    """
    parameters = checked_parameters(alpha1, alpha2, beta1, beta2)
    places, size = positions(n_tokens, law), int(n_tokens)
    sums = [np.zeros(parameters[0].shape) for _ in range(3)]
    for place in places:
        terms = width_terms(parameters, size, place)[0], *table_slopes(parameters, size, place)
        sums = [total + term for total, term in zip(sums, terms, strict=True)]
    return TableTerms(*(total / len(places) for total in sums))


def table_slopes(
    parameters: Sequence[Array], size: int, place: int, softmax: Callable[[Array], Array] = _softmax
) -> tuple[Array, Array]:
    """(s0, s1) at one position; `softmax` as in `theory.landscape.width.width_terms`.

    dL/dG_jk = A_jk and dL/dG_jj = A_jj / 2 for A = r w^T + w r^T + e_i q^T + q e_i^T, whence s0 = r.w + q_i and, as
    the residual r sums to 0, s0 + s1 = sum_m q_m.
    """
    state = _state(parameters, size, place, softmax)
    pull = (state.pull[..., None] * state.mixing).sum(axis=-2)
    # residuals sum to 0: about the target's logit, whose residual may be all that the others have
    target = place if place < size else place - 1
    about = state.weights - state.weights[..., target, None]
    diagonal = (state.residual * about).sum(axis=-1) + pull[..., state.query]
    return np.asarray(diagonal), np.asarray(pull.sum(axis=-1) - diagonal)


def table_deviation(n_tokens: int, width: int) -> tuple[float, float]:
    """Standard deviations of g0 and g1: sqrt(2 / (d T)) and sqrt(2 / (d T (T - 1))).

    Raises ValueError unless n_tokens T >= 2 and width d >= 1 are whole.
    """
    tokens, size = whole("n_tokens", n_tokens, 2), whole("width", width, 1)
    return math.sqrt(2 / (size * tokens)), math.sqrt(2 / (size * tokens * (tokens - 1)))
