"""The part of the trained scalars' variance that the two means of a frozen table do not explain, and its two causes.

Write E = G - I for a table of width d, g0 and g1 for its means. Averaged over the orders of a sentence the loss is, to
first order in E, a function of g0 and g1 alone (`theory.landscape.frozen_table`). Two things are left over:
- a batch does not average over all orders: the gradient of a sentence deviates from that average by terms linear in E,
  of variance V/d, so that SGD at a rate h with b sentences a step ends with h/(b d) int P V P^T dt, P the flow's own
  propagator to the end. Against the linear part, of order 1/d too, that is a share n which no width makes smaller;
- the average itself has a second order in E, e^T H e / 2 in the distinct entries e of E, of covariance C/d: of variance
  tr(H C H C)/(2 d^2), a share k/d. H is an integral of P times the slope of the loss's second derivatives, averaged
  over orders, plus the flow's own curvature in g0 and g1; tr(H C)/(2 d) is the mean shift of `prediction`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.integrate import simpson, solve_ivp
from torch import Tensor
from torch.func import grad, jacrev, vmap

from dynamics.scalar.prediction import corrected_flows
from theory import landscape
from theory.landscape.frozen_table import positions

Array = NDArray[np.float64]

_NODES = 13  # of Simpson's rule over the time
_NUDGE = 2e-2  # of second differences in g0 and g1
_STEP = 1e-5  # of differences of the gradient


class Remainder(NamedTuple):
    """Of each scalar: `sampling`, the share n; `second`, k, d times the share of second order; `shift`, d times the
    mean of the second order, for comparison. A share is of the linear variance over tables.
    """

    sampling: Array
    second: Array
    shift: Array

    def share(self, width: int) -> Array:
        """(n + k/d) / (1 + n + k/d): the part of the whole variance that the two means leave at width d."""
        left = self.sampling + self.second / width
        return left / (1 + left)


def remainder(start: Sequence[float], n_tokens: int, end: float, rate: float, batch: int) -> Remainder:
    """The remainder at time `end` of SGD at `rate` on interior positions; see the module."""
    times = np.linspace(0, end, _NODES)
    theta, propagators = _paths(start, n_tokens, times)
    noise, bends = np.zeros((_NODES, 4, 4)), np.zeros((_NODES, 4, 7))
    for node, (point, move) in enumerate(zip(theta, propagators, strict=True)):
        variance, slopes = _slopes(point, n_tokens)
        noise[node], bends[node] = move @ variance @ move.T, move @ slopes
    pairs = _entries(n_tokens)
    spread = np.where(pairs[:, 0] == pairs[:, 1], 2.0, 1.0)  # d times the variance of an entry
    classes = -simpson(bends, x=times, axis=0)
    linear, curvature = _along_means(start, n_tokens, end)
    second, shift = np.zeros(4), np.zeros(4)
    for k in range(4):
        form = (classes[k][_classes(n_tokens)] + curvature[k]) * spread
        second[k], shift[k] = np.sum(form * form.T) / 2, np.trace(form) / 2
    sampled = np.diag(simpson(noise, x=times, axis=0)) * rate / batch
    return Remainder(sampled / linear, second / linear, shift)


def _paths(start: Sequence[float], n_tokens: int, times: Array) -> tuple[Array, Array]:
    """The flow at d = infinity, (times, 4), and its propagators from each time to the last one, (times, 4, 4)."""

    def velocity(_: float, state: Array) -> Array:
        theta, moved = state[:4], state[4:].reshape(4, 4)
        around = np.concatenate([theta[None], theta + _STEP * np.eye(4), theta - _STEP * np.eye(4)])
        slope = landscape.gradient(*around.T, n_tokens, None)
        bend = (slope[1:5] - slope[5:]) / (2 * _STEP)
        return -np.concatenate([slope[0], (bend @ moved).ravel()])

    first = np.concatenate([start, np.eye(4).ravel()])
    found = solve_ivp(velocity, (0, times[-1]), first, method="DOP853", t_eval=times, rtol=1e-9, atol=1e-11).y.T
    moved = found[:, 4:].reshape(-1, 4, 4)
    return found[:, :4], moved[-1] @ np.linalg.inv(moved)


def _along_means(start: Sequence[float], n_tokens: int, end: float) -> tuple[Array, Array]:
    """Linear variance over tables times d, (4,), and the curvature of the flow in g0, g1 as forms in the entries."""
    signs = np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)])
    rows = np.column_stack([np.zeros(9), _NUDGE * signs])
    zero, *near = corrected_flows(start, n_tokens, [end], rows, "interior")[0]
    first = [(near[2 * k] - near[2 * k + 1]) / (2 * _NUDGE) for k in (0, 1)]
    own = [(near[2 * k] + near[2 * k + 1] - 2 * zero) / _NUDGE**2 for k in (0, 1)]
    mixed = (near[4] + near[5] - near[6] - near[7]) / (4 * _NUDGE**2)
    pairs, size = _entries(n_tokens), n_tokens * (n_tokens - 1)
    diagonal = pairs[:, 0] == pairs[:, 1]
    means = np.where(diagonal, 1 / n_tokens, 0.0), np.where(diagonal, 0.0, 2 / size)
    forms = np.outer(means[0], means[0]), np.outer(means[1], means[1]), np.outer(*means) + np.outer(*means[::-1])
    curvature = sum(c[:, None, None] * form for c, form in zip((*own, mixed), forms, strict=True))
    return first[0] ** 2 * 2 / n_tokens + first[1] ** 2 * 2 / size, np.asarray(curvature)


@cache
def _entries(n_tokens: int) -> NDArray[np.int_]:
    """The distinct entries (j, k), j <= k, of a symmetric matrix."""
    return np.array([(j, k) for j in range(n_tokens) for k in range(j, n_tokens)])


@cache
def _classes(n_tokens: int) -> NDArray[np.int_]:
    """What relabelling the tokens leaves of two entries: jj jj, jj kk, jj jk, jj kl, jk jk, jk jl, jk lm: 0..6."""
    pairs = [tuple(pair) for pair in _entries(n_tokens).tolist()]

    def kind(p: tuple[int, int], q: tuple[int, int]) -> int:
        equal, shared = int(p[0] == p[1]) + int(q[0] == q[1]), len(set(p) & set(q))
        return (6 - shared, 3 - shared, 1 - shared)[equal]

    return np.array([[kind(p, q) for q in pairs] for p in pairs])


def _loss(entries: Tensor, theta: Tensor, query: Tensor, where: Tensor) -> Tensor:
    """Cross entropy of a sentence in order, G = I + `entries`; `query` one-hot at its repeated token."""
    upper = torch.zeros(len(query), len(query), dtype=torch.float64).index_put((where[0], where[1]), entries)
    gram = torch.eye(len(query), dtype=torch.float64) + upper + torch.triu(upper, 1).T
    alpha1, alpha2, beta1, beta2 = theta
    row = gram @ query
    none = torch.zeros(1, dtype=torch.float64)
    attention = (alpha1 * torch.cat([row, (row @ query)[None]]) + alpha2 * torch.cat([none, row])).softmax(0)
    read = beta1 * (attention[:-1] + attention[-1] * query) + beta2 * attention[1:]
    logits = gram @ read
    return logits.logsumexp(0) - logits @ query.roll(1)


def _slopes(theta: Array, n_tokens: int) -> tuple[Array, Array]:
    """Of the gradient in theta: d times its variance over sentences and tables less that of its average over orders,
    (4, 4); and its second derivatives in the entries, averaged over orders by class, (4, 7).
    """
    pairs = _entries(n_tokens)
    places = torch.eye(n_tokens, dtype=torch.float64)[[place - 1 for place in positions(n_tokens, "interior")]]
    zero, point, where = torch.zeros(len(pairs), dtype=torch.float64), torch.tensor(theta), torch.tensor(pairs.T)
    over, slope = (None, None, 0, None), jacrev(grad(_loss, 1), 0)
    first = vmap(slope, over)(zero, point, places, where).numpy()  # place, parameter, entry
    second = vmap(jacrev(slope, 0), over)(zero, point, places, where).mean(0).numpy()
    diagonal = pairs[:, 0] == pairs[:, 1]
    whole = np.einsum("pje,pke,e->jk", first, first, np.where(diagonal, 2.0, 1.0)) / len(first)
    sums = [first[..., chosen].sum(2).mean(0) for chosen in (diagonal, ~diagonal)]
    share = (2 / n_tokens, 2 / (n_tokens * (n_tokens - 1)))
    averaged = sum(part * np.outer(total, total) for part, total in zip(share, sums, strict=True))
    kinds = _classes(n_tokens).ravel()
    counts = np.bincount(kinds, minlength=7)
    bends = [np.bincount(kinds, form.ravel(), minlength=7) / counts for form in second]
    return whole - averaged, np.array(bends)
