"""The largest attention to the token at a distance, exactly, for a head without biases."""

from __future__ import annotations

import math

from scipy.optimize import brentq, minimize_scalar

from theory.alibi.head import Head, balanced, checked, of_head, on_sphere
from theory.alibi.logs import log_sum_of_powers, softplus
from theory.alibi.ranges import SelfGap
from theory.checked import NONNEGATIVE, real, sized, whole


@of_head("distance slope w_q w_k gamma norm")
@sized()
def sharp_weight(head: Head, distance: int, slope: float) -> float:
    """Supremum, over all contexts of more than `distance` tokens, of the attention to the one at that distance.

    1/(1 + min_z [e^{slope n + w - v} + e^{-2v} sum_{j=1}^{n-1} e^{slope j}]), n = distance: v = the query's highest
    logit, given to the target, -v = its lowest, given to the tokens between, w = its logit on itself. Both depend on
    the joint range of (||N^T z||^2, z . N z) alone, which is convex (an ellipse in two dimensions), and the bracket is
    convex there, decreasing in the first and increasing in the second: its minimum is met where the tangent to the
    range is the bracket's own, one root in one variable.
    Args: distance a whole number >= 1; slope >= 0; w_q, w_k (d_head, d_model); gamma (d_model,); norm as elsewhere.
    Returns: the supremum, attained by a context of distance + 1 tokens; in (0, 1).
    """
    distance, slope = whole("distance", distance, 1), real("slope", slope, NONNEGATIVE)
    weights, factor = balanced(checked(head))
    if weights.norm_bias.any() or weights.query_bias.any():
        raise ValueError("sharp_weight is of a head without biases")
    seen = on_sphere(weights)
    return _Sharp(SelfGap(seen), seen.scale * factor, distance, slope).weight()


class _Sharp:
    """The bracket in logarithms, over points (||N^T z||, z . N z) of the boundary of the joint range."""

    def __init__(self, gap: SelfGap, scale: float, distance: int, slope: float) -> None:
        self.gap, self.scale, self.radius = gap, scale, math.sqrt(gap.radius2)
        self.target, self.between = slope * distance, log_sum_of_powers(distance - 1, slope)

    def terms(self, norm: float, own: float) -> tuple[float, float]:
        """Logarithms of the own token's and of the others' weight against the target's."""
        v, w = self.radius * norm * self.scale, own * self.scale
        return self.target + w - v, self.between - 2 * v

    def log_rest(self, norm: float, own: float) -> float:
        first, second = self.terms(norm, own)
        return max(first, second) + math.log1p(math.exp(-abs(first - second)))

    def touch(self, log_s: float) -> tuple[float, float]:
        """The boundary point with tangent direction s: the maximiser of s ||N^T z||^2 - z . N z."""
        image = self.gap.dual(math.exp(log_s)).point
        v = self.gap.form.T @ image
        return float((v @ v) ** 0.5), float(image @ v)

    def mismatch(self, log_s: float) -> float:
        """ln s minus that of the bracket's tangent there, (1 + 2 others/own) sqrt(d)/(2 ||N^T z||); increasing."""
        norm, own = self.touch(log_s)
        if norm == 0:
            return -math.inf
        first, second = self.terms(norm, own)
        wanted = softplus(math.log(2) + second - first) + math.log(self.radius / (2 * norm))
        return log_s - wanted

    def weight(self) -> float:
        if len(self.gap.basis) == 1:
            points = [self._end(sign) for sign in (-1.0, 1.0)]
            return math.exp(-softplus(min(self.log_rest(*p) for p in points)))
        if not self.gap.form.any():
            return math.exp(-softplus(self.log_rest(0.0, 0.0)))
        low = math.log(self.radius / (2 * math.sqrt(float(self.gap.square.trace())) * self.radius)) - 1.0
        high = low + 1.0
        while self.mismatch(high) < 0 and high < low + 600:
            high += 2.0
        ends = [low, high]
        if self.mismatch(low) < 0 < self.mismatch(high):
            root = brentq(self.mismatch, low, high, xtol=1e-11)
            ends = [root - 1e-10, root + 1e-10]
        return math.exp(-softplus(self._best_between(*(self.touch(end) for end in ends))))

    def _end(self, sign: float) -> tuple[float, float]:
        z = sign * self.radius
        v = float(self.gap.form[0, 0]) * z
        return abs(v), v * z

    def _best_between(self, first: tuple[float, float], second: tuple[float, float]) -> float:
        """The least bracket on the chord of two points: where the tangent jumps, the range's boundary is that chord."""

        def on_chord(t: float) -> float:
            square = (1 - t) * first[0] ** 2 + t * second[0] ** 2
            return self.log_rest(math.sqrt(square), (1 - t) * first[1] + t * second[1])

        found = minimize_scalar(on_chord, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12})
        return min(float(found.fun), on_chord(0.0), on_chord(1.0))
