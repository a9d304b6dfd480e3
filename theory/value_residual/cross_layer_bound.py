"""Sharp bound on the difference of Eq. 4 of ResFormer and Eq. 2, which it approximates, and a head that attains it.

For one query let rho be the range of the numbers 0 and S'_j - S_j, over the keys j that it sees; S are its logits
against the keys of layer n, S' against those of layer m. Then in any norm

    ||U (Eq. 2) - U (Eq. 4)|| <= tanh(rho / 4) diam(V_n and V_m together),

and for every rho > 0 a head of two keys reaches it: `worst_head`.

Proof. By Eq. 3, Eq. 4 is a softmax over both blocks as well, with logits (S, S) where Eq. 2 has (S, S'). So P, the law
of Eq. 4, becomes Q, the law of Eq. 2, by weights t = e^{(0, S' - S)} and a new normaliser.
1. For a set B of slots with u = P(B): Q(B) = sum_B p t / (sum_B p t + sum_{not B} p t) is largest where t is as large
   as can be on B and as small as can be off B, and those are a factor e^rho apart. So
   Q(B) - P(B) <= e^rho u / (1 + (e^rho - 1) u) - u.
2. `share_slack_residual`: with R = e^{rho/2}, tanh(rho/4) = (R - 1)/(R + 1) exceeds the right side by a square.
3. With B the slots where Q > P, tv = Q(B) - P(B): the difference of the outputs is tv (x - y), x and y means of values
   by the positive and the negative part of Q - P, hence at most diam apart.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from theory.cache import total_error_bound
from theory.checked import Range, elementwise, real, sized
from theory.records import comparable
from theory.value_residual.cross_layer import Mask, masked
from theory.value_residual.inputs import Array

LARGE_ENOUGH = Range(1e-300)  # half of it is not 0, and has a logarithm


@comparable
class CrossHead(NamedTuple):
    """Arguments of `cross_layer_attention`: logits (1, 2), other_logits (1, 2), values (2, 1), other_values (2, 1)."""

    logits: Array
    other_logits: Array
    values: Array
    other_values: Array


def share_slack_residual(power: int = 2) -> sp.Expr:
    """(R - 1)/(R + 1) - [T u/(1 + (T - 1) u) - u] - (R - 1)((R + 1) u - 1)^2 / ((R + 1)(1 + (T - 1) u)), T = R^power.

    Zero for the power 2, T = e^rho: step 2 of the proof, and equality exactly at u = 1/(1 + R).
    """
    root, share = sp.Symbol("R", positive=True), sp.Symbol("u", nonnegative=True)
    top = root**power
    total = 1 + (top - 1) * share
    slack = (root - 1) / (root + 1) - (top * share / total - share)
    return sp.cancel(slack - (root - 1) * ((root + 1) * share - 1) ** 2 / ((root + 1) * total))


@sized()
def difference_range(logits: ArrayLike, other_logits: ArrayLike, mask: Mask = "none") -> Array:
    """rho = max(0, max_j (S'_j - S_j)) - min(0, min_j (S'_j - S_j)), over the keys j that the query sees.

    Args: logits S and other_logits S' (..., queries, keys). Returns: (..., queries), >= 0. Raises ValueError as
    `cross_layer_attention`.
    """
    own = masked("logits", logits, mask)
    other = masked("other_logits", other_logits, mask, own.shape)
    seen = np.isfinite(own)
    # A hidden key differs by 0, which is in the range anyway: that of the own block.
    gaps = np.subtract(other, own, out=np.zeros_like(own), where=seen)
    spread: Array = np.maximum(gaps.max(-1), 0.0) - np.minimum(gaps.min(-1), 0.0)
    return spread


@sized()
def cross_layer_gap_bound(logit_range: ArrayLike, diameter: ArrayLike) -> Array:
    """||U (Eq. 2) - U (Eq. 4)|| <= tanh(rho / 4) diam: sharp for every rho, in any norm. Source: ResFormer, Eq. 2, 4.

    Args broadcast: logit_range rho >= 0, of `difference_range`; diameter >= 0 of the values of both layers together.
    Raises ValueError for negative or infinite arguments.
    """
    # both replace one softmax over all slots by another whose log ratio has range rho
    return total_error_bound(logit_range, diameter)


@elementwise("logit_range")
@sized()
def worst_head(logit_range: float) -> CrossHead:
    """A query with two keys that reaches tanh(rho / 4), with values of diameter 1.

    Layer n weighs its first key 2/(1 + R), R = e^{rho/2}; that key's logit against layer m is rho higher, the other's
    the same. So the first slot of layer m has the share 1/(1 + R) under Eq. 4, where the slack of step 2 is 0, and it
    alone has the value 1. Raises ValueError unless rho is finite and >= 1e-300.
    """
    rho = real("logit_range", logit_range, LARGE_ENOUGH)
    rest = rho / 2.0 + math.log(-math.expm1(-rho / 2.0)) - math.log(2.0)  # ln((R - 1)/2): the odds of the second key
    logits = np.array([[0.0, rest]])
    return CrossHead(logits, np.array([[rho, rest]]), np.zeros((2, 1)), np.array([[1.0], [0.0]]))
