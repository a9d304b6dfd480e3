"""The one critical point of the loss in four parameters, and its least value on the box of Figure 2, as numbers.

Neither is in the papers; `theory.landscape.critical_symbolic` derives both. Of an array of n_tokens each is a record of
arrays.
"""

import math
from typing import NamedTuple

from theory.checked import Range, elementwise, real
from theory.records import comparable


@comparable
class CriticalPoint(NamedTuple):
    """The point where the gradient of L vanishes."""

    alpha1: float
    alpha2: float
    beta1: float
    beta2: float


@comparable
class BoxMinimum(NamedTuple):
    """Where L is least on the box, and L there in nats."""

    alpha1: float
    beta1: float
    loss: float


def _tokens(n_tokens: float) -> float:
    return real("n_tokens", n_tokens, Range(4.0))


@elementwise("n_tokens")
def critical_point(n_tokens: float) -> CriticalPoint:
    """The only critical point of L: e^{alpha1} = 1 - 1/(2T), e^{alpha2} = 1 + 1/T, beta1 = beta2 = 0; L = log T there.

    A strict saddle: the Hessian has two positive and two negative eigenvalues.
    Valid when: interior position, real T >= 4. Raises ValueError for any other `n_tokens`.
    """
    tokens = _tokens(n_tokens)
    return CriticalPoint(math.log1p(-0.5 / tokens), math.log1p(1 / tokens), 0.0, 0.0)


@elementwise("n_tokens")
def box_minimum(n_tokens: float) -> BoxMinimum:
    """The only minimiser (0, 1) of L on 0 <= alpha1, beta1 <= 1, alpha2 = 1 - alpha1, beta2 = 1 - beta1, and its loss.

    L = log(1 + e^{(2-e)/(T+e)} + (T-2) e^{(1-e)/(T+e)}) = log T - (e-1)/T + r/T^2 with 4.49 < r < e^2; r grows with T.
    Valid when: interior position, real T >= 4. Raises ValueError for any other `n_tokens`.
    """
    tokens = _tokens(n_tokens)
    repeated = math.expm1((2 - math.e) / (tokens + math.e))
    rest = math.expm1((1 - math.e) / (tokens + math.e))
    return BoxMinimum(0.0, 1.0, math.log(tokens) + math.log1p((repeated + (tokens - 2) * rest) / tokens))
