"""Loss and descent direction at an interior position, fused: few operations, in place, five exponentials a point.

D_c = (u_c beta1 + v_c beta2) / S is linear in beta, so that the mean of D_c under the softmax weights p is
beta1 g3 + beta2 g4 with g3, g4 the slopes in beta; with A = e^{alpha1}, B = e^{alpha2}, q = 1 - p_target:
    g1 = (A / S) (2 p_i beta1 + p_e beta2 - 2 mean),  g2 = (B / S) (p_i beta2 - q beta1 - mean).
`theory.landscape.kernels` is exact to rounding near the zeros of the slopes too; here A - 1 and B - 1 are differences.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _per_lane(tokens: Array) -> Array | float:
    """One number where all lanes agree: an operand less to read."""
    return float(tokens[0]) if tokens.size and (tokens == tokens[0]).all() else tokens


class Interior:
    """The loss of states (4, points) with T = `tokens` (points,), and -grad L; its scratch is kept between calls.

    Valid while no e^{D_c} and no sum of them overflows; NaN or inf follow otherwise.
    """

    def __init__(self, tokens: Array) -> None:
        self.tokens = tokens
        self._t = _per_lane(tokens)
        self._exp = np.empty((2, tokens.size))
        self._weight = np.empty((3, tokens.size))
        self._beta = np.empty((2, tokens.size))
        self._work = np.empty((5, tokens.size))

    def velocity(self, state: Array, out: Array) -> None:
        """Few operations, in place: each one reads and writes all lanes, which takes longer than its arithmetic."""
        a, b = np.exp(state[:2], out=self._exp)
        c1, c2 = self._beta
        w_i, w_e, w_o = weight = self._weight
        scale, m, lead, own, total = self._work
        np.subtract(a, 1.0, out=own)
        np.add(own, a, out=lead)  # 2A - 1
        np.subtract(b, 1.0, out=m)
        np.add(lead, m, out=scale)
        scale += self._t
        np.divide(-1.0, scale, out=scale)  # -1 / S
        np.multiply(state[2], scale, out=c1)
        np.multiply(state[3], scale, out=c2)
        np.multiply(c1, m, out=w_o)
        np.multiply(c2, own, out=w_e)
        np.subtract(w_o, w_e, out=w_e)
        np.multiply(c1, lead, out=w_i)
        np.subtract(w_o, w_i, out=w_i)
        np.multiply(c2, m, out=total)
        w_i -= total
        np.exp(weight, out=weight)
        w_e *= 2.0
        w_o *= self._t - 4.0
        np.add(w_i, w_e, out=total)
        total += w_o  # e^L - 1
        self._rest = total
        self._slopes(state[2], state[3], out)

    def _slopes(self, b1: Array, b2: Array, out: Array) -> None:
        a, b = self._exp
        c1, c2 = self._beta
        w_i, w_e, mean = self._weight
        scale, m, lead, own, total = self._work
        v1, v2, v3, v4 = out
        np.add(total, 1.0, out=mean)
        np.divide(scale, mean, out=mean)  # -1 / (S e^L): weights turn into -p / S
        w_i *= mean
        w_e *= mean
        np.multiply(total, mean, out=v2)  # -q / S
        np.multiply(w_i, lead, out=v3)
        np.multiply(v2, m, out=v1)
        v3 -= v1
        np.multiply(w_i, m, out=v4)
        own *= w_e
        v4 += own
        np.multiply(c1, v3, out=mean)
        np.multiply(c2, v4, out=own)
        mean += own  # the mean of D over S
        np.multiply(w_i, b1, out=v1)
        v1 += mean
        v1 += v1
        w_e *= b2
        v1 += w_e
        v1 *= a
        w_i *= b2
        v2 *= b1
        np.subtract(w_i, v2, out=v2)
        v2 += mean
        v2 *= b

    def last_loss(self, out: Array | None = None) -> Array:
        """The loss at the states of the latest call."""
        return np.log1p(self._rest, out=out)
