"""Margins for the claims of Section 3 that are sampled: the library's own bound against heads drawn at random."""

import numpy as np
import sympy as sp
from scipy.spatial.distance import pdist

from proofs_check.evidence.margin import Margin, at_most, identity, worst
from proofs_check.evidence.tolerances import KERNEL
from theory.value_residual import (
    averaged_attention,
    cross_layer_attention,
    cross_layer_gap_bound,
    difference_range,
    worst_head,
)
from theory.value_residual.cross_layer_bound import share_slack_residual


def slack_is_a_square(power: int = 2) -> Margin:
    """What tanh(r/4) has over the gain of any share is a square over positive factors."""
    return identity(share_slack_residual(power), 0)


def gap_is_bounded(seed: int, looser: int = 1) -> Margin:
    """One query with up to six keys a layer and values in a plane: the gap, and the bound at r/looser."""
    rng = np.random.default_rng(seed)
    keys = int(rng.integers(1, 7))
    logits, others = rng.normal(0, 3, (2, 1, keys))
    values, earlier = rng.normal(size=(2, keys, 2))
    diameter = float(pdist(np.concatenate([values, earlier])).max())
    apart = cross_layer_attention(logits, others, values, earlier) - averaged_attention(logits, values, earlier)
    bound = cross_layer_gap_bound(float(difference_range(logits, others)[0]) / looser, diameter)
    return at_most(float(np.linalg.norm(apart)), float(bound), KERNEL)


def gap_is_reached(logit_range: float, share: float = 1.0) -> Margin:
    """The worst head of this range has at least this share of the bound, up to rounding."""
    head = worst_head(logit_range)
    apart = cross_layer_attention(*head) - averaged_attention(head.logits, head.values, head.other_values)
    found = float(np.abs(apart).max())
    return worst([at_most(share * float(cross_layer_gap_bound(logit_range, 1.0)), found, KERNEL)])


def denseformer(embedded: bool = True) -> Margin:
    """Layers that add u_i = A_i V_i to what they get, and averages over depth; and the same as a sum of x, u_1, u_2."""
    x, one, two, a, b, c, d, e = sp.symbols("x u1 u2 alpha10 alpha11 alpha20 alpha21 alpha22")
    first = a * x + b * (x + one)
    second = c * x + d * (x + one) + e * (first + two)
    carried = (c + d + e * (a + b)) * x if embedded else 0
    return identity(second, (d + e * b) * one + e * two + carried)
