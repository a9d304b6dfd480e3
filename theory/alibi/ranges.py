"""How far apart the logits of one query can be: the range D of a head and the gap D_s to its own token."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from theory.alibi.ascent import ascend
from theory.alibi.certified import enclosed_range, enclosed_self_gap
from theory.alibi.head import Head, SphereHead, balanced, checked, lifted, of_head, on_sphere, state
from theory.alibi.sphere import SphereMaximum, sphere_maximum
from theory.checked import sized
from theory.records import comparable


@comparable
class Extremes(NamedTuple):
    """Post-norm states (d_model,): the query whose logits spread most, and the keys with its highest and lowest."""

    query: np.ndarray
    high: np.ndarray
    low: np.ndarray


@of_head()
@sized()
def logit_range(head: Head) -> float:
    """D = max over post-norm x, y, y' of q(x) . (k(y) - k(y')) / sqrt(d_head), attained.

    For a fixed x the best y and y' are antipodal, so D = 2 sqrt(d) max_z ||A z + a|| / sqrt(d_head) on ||z||^2 = d with
    A = P Gamma W_K^T W_Q Gamma P and a = P Gamma W_K^T (W_Q b + b_Q), P the projection of LayerNorm. Without biases
    that is 2 d sigma_max(A) / sqrt(d_head); with them, a trust-region problem without a gap.
    Source: what RazorAttention, Appendix A, needs in place of Eq. 8.
    Args: w_q, w_k (d_head, d_model); gamma, norm_bias (d_model,); query_bias (d_head,); norm "rms" or "layer".
    Returns: D >= 0 as a float; `certified_logit_range` encloses it.
    Raises: ValueError for a wrong shape, a number that is not finite, or an unknown norm.
    """
    weights, factor = balanced(checked(head))
    seen = on_sphere(weights)
    found, _ = _largest_key_norm(seen)
    return 2 * math.sqrt(seen.radius2 * max(found.value, 0.0)) * seen.scale * factor


@of_head()
@sized()
def certified_logit_range(head: Head) -> tuple[float, float]:
    """Floats (lower, upper) from Arb balls that enclose `logit_range` of exactly these float64 arguments.

    The lower end is by an explicit query. Arguments and errors as in `logit_range`.
    """
    weights, factor = balanced(checked(head))
    seen = on_sphere(weights)
    found, lift = _largest_key_norm(seen)
    point = lift @ found.point
    z = lifted(weights, point if point.any() else _any_point(seen))
    return enclosed_range(weights, factor, found.multiplier, z)


@of_head()
@sized()
def extremes(head: Head) -> Extremes:
    """States that attain the logit range; arguments as in `logit_range`."""
    weights, _ = balanced(checked(head))
    seen = on_sphere(weights)
    found, lift = _largest_key_norm(seen)
    z = lift @ found.point
    z = z * math.sqrt(seen.radius2) / np.linalg.norm(z) if z.any() else _any_point(seen)
    pull = seen.key.T @ (seen.query @ z + seen.offset)
    top = pull * math.sqrt(seen.radius2) / np.linalg.norm(pull) if pull.any() else _any_point(seen)
    return Extremes(state(weights, z), state(weights, top), state(weights, -top))


@of_head()
@sized()
def self_gap(head: Head) -> float:
    """D_s = max over post-norm x, y of q(x) . (k(y) - k(x)) / sqrt(d_head): how far any logit can exceed the own one.

    With N the bilinear form of the logits on the sphere and v = N^T z + a, ||v|| sqrt(d) <= s ||v||^2 + d/(4s) turns
    the maximum of sqrt(d) ||v|| - v . z into min over s > 0 of a trust-region problem, convex in s: an upper bound.
    Without biases it is exact: the joint range of two quadratic forms on a sphere is convex from three dimensions on
    (Brickman 1961) and an ellipse in two, and the objective grows along one of its axes. With biases it is an upper
    bound, tight wherever the inner maximiser is unique. A sphere of two points (LayerNorm at d = 2) is searched.
    A positive epsilon in the norm lets states into the ball. That changes nothing where the sphere has a direction that
    neither W_Q nor W_K sees (d_model > 2 d_head, one more for LayerNorm): such a state is one of the sphere less its
    unseen part. Without one, N = c I say, D_s grows and only the bounds without it stand (`razor.adversary.epsilon`).
    Arguments and errors as in `logit_range`. Returns: the bound as a float, 0 <= D_s <= D.
    """
    weights, factor = balanced(checked(head))
    seen = on_sphere(weights)
    _, found = SelfGap(seen).best()
    return max(found.value, 0.0) * seen.scale * factor


@of_head()
@sized()
def certified_self_gap(head: Head) -> tuple[float, float]:
    """Floats (lower, upper) from Arb balls around `self_gap`: by an explicit query, and by a multiplier.

    The lower end is not above the largest gap, the upper end not below. Arguments and errors as in `logit_range`.
    """
    weights, factor = balanced(checked(head))
    gap = SelfGap(on_sphere(weights))
    weight, found = gap.best()
    return enclosed_self_gap(weights, factor, weight, found.multiplier, lifted(weights, gap.polished(weight)))


def _largest_key_norm(seen: SphereHead) -> tuple[SphereMaximum, np.ndarray]:
    """max over the sphere of ||key^T (query z + offset)||^2, and the matrix that takes its point to z."""
    basis, small_query = np.linalg.qr(seen.query.T)
    small_key = np.linalg.qr(seen.key.T, mode="r")
    left, values, right = np.linalg.svd(small_key @ small_query.T)
    pull = small_key @ seen.offset
    size = len(values)
    inside = (left.T @ pull)[:size]
    found = sphere_maximum(values**2, values * inside, seen.radius2)
    found = found._replace(value=found.value + float(pull @ pull))
    return found, basis @ right.T[:, :size]


def _any_point(seen: SphereHead) -> np.ndarray:
    z = np.zeros(seen.query.shape[1])
    z[0] = math.sqrt(seen.radius2)
    return z


class SelfGap:
    """The objective sqrt(d) ||N^T z + a|| - (N^T z + a) . z on the sphere, in the span of the head's rows."""

    def __init__(self, seen: SphereHead) -> None:
        basis, factor = np.linalg.qr(np.concatenate([seen.query, seen.key]).T)
        d_head, n = seen.query.shape
        self.basis, self.radius2 = basis, seen.radius2
        self.form = factor[:, :d_head] @ factor[:, d_head:].T
        self.pull = factor[:, d_head:] @ seen.offset
        self.square, self.symmetric = self.form @ self.form.T, (self.form + self.form.T) / 2
        self.room = n > basis.shape[1]  # directions that no logit sees: curvature 0

    def dual(self, s: float) -> SphereMaximum:
        """d/(4s) + max over the sphere of s ||N^T z + a||^2 - (N^T z + a) . z, with the maximiser in the basis of N."""
        curvature, vectors = np.linalg.eigh(s * self.square - self.symmetric)
        linear = vectors.T @ (s * (self.form @ self.pull) - self.pull / 2)
        if self.room:
            curvature, linear = np.append(curvature, 0.0), np.append(linear, 0.0)
        found = sphere_maximum(curvature, linear, self.radius2)
        value = found.value + self.radius2 / (4 * s) + s * float(self.pull @ self.pull)
        return SphereMaximum(value, found.multiplier, vectors @ found.point[: len(vectors)])

    def best(self) -> tuple[float, SphereMaximum]:
        """The smallest dual value and its s: a root of the derivative, which grows with s."""
        if len(self.basis) == 1:
            return 1.0, max((self._at(sign * math.sqrt(self.radius2)) for sign in (-1.0, 1.0)), key=lambda at: at.value)
        largest = math.sqrt(self.radius2) * float(np.linalg.norm(self.form, 2)) + float(np.linalg.norm(self.pull))
        if largest == 0:
            return 1e300, SphereMaximum(0.0, 0.0, np.zeros(len(self.form)))  # d/(4s) then vanishes
        smallest = math.log(math.sqrt(self.radius2) / (2 * largest))
        tried: dict[float, SphereMaximum] = {}

        def slope(log_s: float) -> float:
            found = tried[math.exp(log_s)] = self.dual(math.exp(log_s))
            norm = float(np.linalg.norm(self.form.T @ found.point + self.pull))
            return 2 * math.exp(log_s) * norm / math.sqrt(self.radius2) - 1

        low, high = smallest - 1e-9, smallest + 35.0
        if slope(low) < 0 < slope(high):
            brentq(slope, low, high, xtol=1e-12, rtol=1e-14)
        s = min(tried, key=lambda key: tried[key].value)
        return s, tried[s]

    def _at(self, z: float) -> SphereMaximum:
        """The objective at one of the two points of a sphere in one dimension."""
        v = float(self.form[0, 0]) * z + float(self.pull[0])
        return SphereMaximum(math.sqrt(self.radius2) * abs(v) - v * z, 0.0, np.array([z]))

    def polished(self, s: float) -> np.ndarray:
        """A query of large gap (n,), by ascent from the dual's points on both sides of a possible kink at s."""
        room = int(self.room)
        form, pull = np.pad(self.form, (0, room)), np.pad(self.pull, (0, room))
        starts = []
        for near in (s, s * (1 - 1e-6), s * (1 + 1e-6)):
            point = self.dual(near).point
            unseen = math.sqrt(max(self.radius2 - float(point @ point), 0.0))
            starts += [np.append(point, [unseen] * room), np.append(point, [-unseen] * room)]
        z = ascend(form, pull, self.radius2, starts)
        seen = self.basis @ z[: len(self.form)]
        return seen + z[-1] * self._unseen() if room else seen

    def _unseen(self) -> np.ndarray:
        """A unit vector orthogonal to all rows of the head."""
        # An axis has the squared norm of its row of the basis in the span. These norms add up to k, the number of
        # columns, and k < n: the axis with the smallest has at most k / n < 1 there, and the rest is not zero.
        vector = np.zeros(len(self.basis))
        vector[np.argmin((self.basis**2).sum(axis=1))] = 1.0
        for _ in range(2):
            vector = vector - self.basis @ (self.basis.T @ vector)
        return vector / np.linalg.norm(vector)
