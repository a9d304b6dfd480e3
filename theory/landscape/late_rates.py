"""Gradient flow late on the induction route, beta1 -> oo: how the other three parameters change with log beta1.

Not in the papers. Put alpha2 = 2 log beta1 + log c, beta2 = -log beta1 + log g. At fixed alpha1, c, g, with A =
e^{alpha1}, as beta1 grows
    d log c / d log beta1 -> (T - 1 + 2 A) / c - 2,  d log g / d log beta1 -> 1 - g / (T - 2),
    d e^{-alpha1} / d log beta1 -> 2 / c,
a flow into c = (T - 1) / 2, g = T - 2, along which e^{-alpha1} grows as (4 / (T - 1)) log beta1.
"""

import numpy as np

from theory.checked import Range, real, reals
from theory.landscape.exact import Array


def late_velocity(log_beta1: float, state: Array, n_tokens: float) -> Array:
    """d(alpha1, alpha2, beta2) / d log beta1 along the flow, from weights relative to those of the other tokens.

    The weights themselves, near e^{-beta1}, would underflow. `state` is (alpha1, alpha2, beta2).
    Raises ValueError for numbers that are not finite and n_tokens < 4. Far from the flow it may overflow, to inf or
    NaN: a trial step of an integrator that ends there is one to reject.
    """
    with np.errstate(all="ignore"):
        tokens = real("n_tokens", n_tokens, Range(4.0))
        return _velocity(np.exp(real("log_beta1", log_beta1)), reals("state", state, shape=(3,)), tokens)


def _velocity(beta1: float, state: Array, n_tokens: float) -> Array:
    alpha1, alpha2, beta2 = state
    a, b = np.exp(alpha1), np.exp(alpha2)
    partition = 2 * a + b + n_tokens - 2
    repeated = np.exp((beta1 * (2 * a - 1) + beta2 * (b - 1)) / partition)
    edge = 2 * np.exp(beta2 * (a - 1) / partition)
    total = repeated + edge + n_tokens - 4
    along1 = (repeated * (2 * a - 1) - total * (b - 1)) / partition
    along2 = (repeated * (b - 1) + edge * (a - 1)) / partition
    mean = beta1 * along1 + beta2 * along2
    # total beta1 + mean without cancellation: the first terms of `mean` are -total beta1 (b - 1) / partition
    rest = total * beta1 * (2 * a + n_tokens - 1) / partition + beta1 * repeated * (2 * a - 1) / partition
    first = a / partition * (2 * repeated * beta1 + edge * beta2 - 2 * mean)
    second = b / partition * (repeated * beta2 - rest - beta2 * along2)
    return beta1 * np.array([first, second, along2]) / along1
