"""What the weights of a layer say of its queries, keys and values, and whether those that come are such."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from theory.cache.reach import Reach, Values, stretched
from theory.records import comparable

Array = np.ndarray
AT_ONCE = 512  # tokens, which bounds the memory of their copies in double precision
SMALLEST = float(np.finfo(np.float64).tiny) ** 0.5  # a slack whose square is no zero yet


@comparable
class Probed(NamedTuple):
    """Queries (n_heads, d), keys and values (n_kv_heads, d) of `fixed_state`, before rotations and shifts; which
    components (d,) are rotated; and the dtype in which the model is taken to compute."""

    queries: Array
    keys: Array
    values: Array
    turned: Array
    dtype: str


class Weighed(NamedTuple):
    """What the weights of a layer say: where its keys, values and queries (not scaled) can lie.

    scale: the factor that a logit has in all, None if the attention multiplies by all of it. Of what it does not
    multiply by, rotations (rotary) have put a root on queries and keys each (YaRN); else it is on the queries (OPT).
    probed: a checksum of the weights, None without; `dynamics.hf.receipt` holds a model to it.
    """

    keys: Reach
    values: Values
    queries: Reach
    scale: float | None = None
    rotary: bool = False
    probed: Probed | None = None

    def __deepcopy__(self, memo: dict) -> Weighed:
        """Itself: nothing writes to it, and it is large."""
        return self

    def stretched(self, scale: float) -> Weighed:
        """The same as an attention that multiplies by `scale` gets to see it.

        Raises: ValueError where rotations would have made the logits smaller.
        """
        if self.scale is None or abs(self.scale - scale) <= 1e-6 * scale:
            return self
        outward = 1 + 2.0**-48
        if not self.rotary:
            return self._replace(queries=stretched(self.queries, self.scale / scale * outward))
        if self.scale < scale:
            raise ValueError(f"the weights are of logits scaled by {self.scale:.6g}, this attention has {scale:.6g}")
        factor = math.sqrt(self.scale / scale) * outward
        return self._replace(keys=stretched(self.keys, factor), queries=stretched(self.queries, factor))

    def expected(self, scale: float) -> dict[str, Array]:
        """What `probed` is at position 0 of a model whose attention multiplies by `scale`."""
        queries, keys, values, turned, _ = self.probed
        rest = 1.0 if self.scale is None else self.scale / scale
        root = np.where(turned, math.sqrt(rest), 1.0)
        return {"queries": queries * (root if self.rotary else rest), "keys": keys * root, "values": values}


def fixed_state(width: int) -> Array:
    """A state of whole numbers that every format of floats holds, large enough for any epsilon of a norm."""
    return np.random.default_rng(0).integers(-127, 128, width).astype(np.float64)


def on_sphere(raw: Array, norm: str) -> Array:
    """Raw points (.., d) as normalised states ||z||^2 = d, before the gain; without their mean for LayerNorm."""
    if norm == "layer":
        raw = raw - raw.mean(-1, keepdims=True)
    return raw * math.sqrt(raw.shape[-1]) / np.maximum(np.linalg.norm(raw, axis=-1, keepdims=True), 1e-12)


def inside(of: Reach | Values, device: torch.device) -> Callable[[Tensor], Tensor]:
    """Of vectors (batch, heads, n, d) which lie in reach, (batch, heads, n): what passes does, and what lies in the set
    widened by a quarter of its slack passes. What is no number does not.

    x - centre is within s (slack) of the ellipsoid {F^T u: ||u|| <= 1} if for some t > 0 both u = (F F^T + t)^-1 F x
    and the rest x - F^T u, of norm s at most, fit. Along the axes of F, of half length a, with coordinates z, these are
    sum (a z)^2 / (a^2 + t)^2 <= 1 and sum (t z)^2 / (a^2 + t)^2 <= s^2. The rest grows by 4 at most where t does, and
    a vector within s / 4 needs a t <= s max(a): t = s^2 4^k up to there are all that have to be tried.
    """

    def held(x: Array) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(x, np.float64)).to(device)

    if isinstance(of, Values):
        of = Reach(of.centre, of.radius, norm=0 * of.radius)
    slack, tests = np.maximum(of.slack, SMALLEST)[:, None], []
    centre, off = held(of.centre[:, None]), held(slack)
    if of.norm is not None:
        norm = held(of.norm[:, None])
        tests.append(lambda x: x.norm(dim=-1) <= norm + off)
    if of.cap is not None and of.pairs is not None:
        cap, pairs = held(of.cap[:, None]), held(of.pairs[:, None] == np.arange(of.cap.shape[1]))
        tests.append(lambda x: ((x.square() @ pairs).sqrt() - cap).clamp(min=0).norm(dim=-1) <= off)
    if of.factor is not None:
        _, half, axes = np.linalg.svd(of.factor)
        half = np.pad(half, [(0, 0), (0, axes.shape[1] - half.shape[1])])[..., None]
        tries = 1 + math.ceil(math.log(max(1.0, (half.max(1) / slack).max()), 4))
        t = (slack**2 * 4.0 ** np.arange(tries))[:, None]
        sums = (half / (half**2 + t)) ** 2, (t / (half**2 + t) / slack[..., None]) ** 2
        along, weights = held(axes.swapaxes(1, 2)), held(np.concatenate(sums, axis=2))
        tests.append(lambda x: ((x @ along).square() @ weights).unflatten(-1, (2, -1)).amax(-2).amin(-1) <= 1)
    return lambda vectors: torch.stack([test(vectors.double() - centre) for test in tests]).all(0)


class Guard:
    """Refuses, in one layer, queries, keys and values that lie outside of where a bound has them."""

    def __init__(self, weighed: Weighed, layer: int) -> None:
        self.weighed, self.layer = weighed, layer
        self.tests: dict[str, Callable[[Tensor], Tensor]] = {}

    def check(self, scale: float, **given: Tensor) -> None:
        """queries, keys, values (batch, heads, n, d). Raises: ValueError that names the first head outside."""
        for role, x in given.items():
            if role not in self.tests:
                self.tests[role] = inside(getattr(self.weighed.stretched(scale), role), x.device)
            for part in x.split(AT_ONCE, 2):
                fits = self.tests[role](part)
                if not fits.all():
                    raise ValueError(
                        f"layer {self.layer}: {role} of head {int((~fits).nonzero()[0, 1])} lie where the weights that "
                        "were weighed put none, and no bound holds: weigh the model as it runs, with its adapters"
                    )
