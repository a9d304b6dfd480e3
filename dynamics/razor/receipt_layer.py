"""Receipts of one layer: it holds a copy of the kept tokens, and what is still known of the forgotten ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dynamics.razor.plan import RazorPlan
from dynamics.razor.token import Folded, empty, fold
from dynamics.razor.weighed import Weighed
from theory.cache import receipt
from theory.cache.reach import Reach, span

Array = np.ndarray
FOLDED = ("folded key", "folded value", "folded total")
NAMES = ("bound", "share", "ranged", "ranged_share", "measured")


class Extent(NamedTuple):
    """Of forgotten tokens, by (batch, heads, queries): the box (.., d_k) of their keys, and how far keys and values
    are from those of the first token that could be forgotten; -inf for no token."""

    low: Tensor
    high: Tensor
    key: Tensor
    value: Tensor


class Known(NamedTuple):
    """Means of forgotten keys and values weighted by e^{-rate distance}, (batch, heads, group, .., d), and ln of the
    sum of these weights as seen from the last query: the cache's `Folded`, with weights of distance alone."""

    key: Tensor
    value: Tensor
    total: Tensor


class Kept(NamedTuple):
    """ln Z_K (batch, heads, group, c) and o_K (.., d_v) of the kept tokens, in float64."""

    log_mass: Tensor
    output: Tensor


class ReceiptLayer:
    """Reads what the cache of this layer reads, keeps what it keeps, and says what each query may have lost."""

    def __init__(self, plan: RazorPlan, layer: int, weighed: Weighed | None, measure: bool) -> None:
        self.plan, self.measure, self.n_tokens, self.first = plan, measure, 0, 0
        self.heads = [head for head in range(plan.n_kv_heads) if head not in plan.full[layer]]
        self.weighed, self.keys = weighed, None
        self.state: dict[str, Tensor] = {}
        self.records: list[dict[str, Tensor]] = []

    def reorder(self, beam_index: Tensor) -> None:
        for named in (self.state, *self.records):
            named.update({name: x.index_select(0, beam_index.to(x.device)) for name, x in named.items()})

    def read(
        self, query: Tensor, key: Tensor, value: Tensor, returned: Tensor, scale: float, slopes: Tensor | None
    ) -> None:
        """A block of queries (batch, n_heads, c, d), their keys and values, and what the cache returned."""
        plan, c = self.plan, query.shape[2]
        rates = torch.zeros(plan.n_heads, device=query.device) if slopes is None else slopes
        rates = rates.double().unflatten(0, (plan.n_kv_heads, -1))[self.heads]
        scaled, back = (x.double().unflatten(1, (plan.n_kv_heads, -1))[:, self.heads] for x in (query, returned))
        at = range(self.n_tokens, self.n_tokens + c)
        record = {name: torch.zeros(len(query), plan.n_heads, c, dtype=torch.float64) for name in NAMES}
        if self.weighed is not None and self.keys is None:
            self.keys = of_heads(self.weighed.stretched(scale).keys, self.heads)
        if self.heads:
            self._append(key[:, self.heads], value[:, self.heads])
            found = self._receipts(scale * scaled, back, rates, at)
            for name, x in found.items():
                record[name].unflatten(1, (plan.n_kv_heads, -1))[:, self.heads] = x
            self._drop(rates, at[-1:])
        self.records.append(record)
        self.n_tokens += c

    def _append(self, key: Tensor, value: Tensor) -> None:
        state, sinks = self.state, self.plan.sinks
        for name, x in (("key", key), ("value", value)):
            state[name] = torch.cat([state[name], x], dim=2) if name in state else x
            most = x.double().norm(dim=-1).amax(2)
            state[f"{name} size"] = most.maximum(state[f"{name} size"]) if f"{name} size" in state else most
            if self.measure:
                state[f"all {name}"] = torch.cat([state[f"all {name}"], x], dim=2) if f"all {name}" in state else x
            if f"{name} centre" not in state and state[name].shape[2] > sinks:
                state[f"{name} centre"] = state[name][:, :, sinks].double()

    def _receipts(self, scaled: Tensor, back: Tensor, rates: Tensor, at: range) -> dict[str, Tensor]:
        """Everything of NAMES, (batch, heads, group, c)."""
        starts = [self.plan.seen_from(t + 1) for t in at]
        kept = self._kept(scaled, rates, at, starts)
        steps = scaled.shape[-1] + at.stop + 16
        size = scaled.norm(dim=-1) * self.state["key size"][..., None, None] + (rates * at.stop)[..., None]
        loose = receipt.rounded(_numpy(size), steps)
        wide = self.state["value size"][..., None, None].double() + back.norm(dim=-1)
        slack = 8 * _numpy(wide) * loose
        kept_output, returned = _numpy(kept.output), _numpy(back)
        nothing = np.linalg.norm(kept_output - returned, axis=-1) + slack
        unsaid = 0 * nothing + (np.nan if self.weighed is None else 0.0)
        found = {"bound": nothing, "share": 0 * nothing, "ranged": nothing + unsaid, "ranged_share": unsaid}
        if starts[-1] > self.plan.sinks:
            known, extent = self._known(rates, at, starts)
            ends = _Ends(_numpy(kept.log_mass), kept_output, returned, 2 * loose)
            full, ranged = self._bounds(scaled, known, extent, ends)
            found |= {"bound": full[0] + slack, "share": full[1]}
            found |= {"ranged": ranged[0] + slack, "ranged_share": ranged[1]}
        true = self._whole(scaled, rates, at) - back if self.measure else torch.full_like(back, torch.nan)
        found["measured"] = _numpy(true.norm(dim=-1))
        return {name: torch.from_numpy(np.broadcast_to(x, nothing.shape).copy()) for name, x in found.items()}

    def _bounds(
        self, scaled: Tensor, known: Known, extent: Extent, ends: _Ends
    ) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """(bound, largest share) with all that is known, and from the range alone."""
        total, shape = _numpy(known.total), scaled.shape[:-1]
        low, high = self._seen_span(scaled, extent)
        ranged = np.full(shape, np.nan), np.full(shape, np.nan)
        balls = [(_numpy(self.state["value centre"])[:, :, None, None], _numpy(extent.value.clamp(min=0))[:, :, None])]
        if self.weighed is not None:
            least, most = (x.reshape(shape) for x in span(self.keys, _numpy(scaled.flatten(2, 3))))
            proved = self.weighed.values
            balls.append((proved.centre[self.heads, None, None, :], proved.radius[self.heads, None, None]))
            ranged = ends.bound(*receipt.log_mass(total, least, most), *balls[-1])
            low, high = np.maximum(low, least), np.minimum(high, most)
        high, mean = np.maximum(high, low), _numpy(known.value)
        mass = receipt.log_mass(total, low - ends.loose, high + ends.loose, _numpy((scaled * known.key).sum(-1)))
        wide = high - low + 2 * ends.loose
        rims = [receipt.mean_value_radius(wide, np.linalg.norm(mean - at, axis=-1), radius) for at, radius in balls]
        found = [ends.bound(*mass, *ball) for ball in (*balls, (mean, np.minimum.reduce(np.broadcast_arrays(*rims))))]
        return (np.minimum.reduce([bound for bound, _ in found]), found[0][1]), ranged

    def _seen_span(self, scaled: Tensor, extent: Extent) -> tuple[Array, Array]:
        """Ends of q.k over the forgotten tokens from the box and the ball of their keys, (batch, heads, group, c)."""
        none = extent.key == -torch.inf  # nothing forgotten by this query: any ends will do
        box = [x.masked_fill(none[..., None], 0.0)[:, :, None] for x in (extent.low, extent.high)]
        centre = (scaled * self.state["key centre"][:, :, None, None]).sum(-1)
        ball = scaled.norm(dim=-1) * extent.key.clamp(min=0)[:, :, None]
        sides = torch.minimum(scaled * box[0], scaled * box[1]), torch.maximum(scaled * box[0], scaled * box[1])
        return _numpy((centre - ball).maximum(sides[0].sum(-1))), _numpy((centre + ball).minimum(sides[1].sum(-1)))

    def _kept(self, scaled: Tensor, rates: Tensor, at: range, starts: Sequence[int]) -> Kept:
        sinks, query = self.plan.sinks, _column(at, rates)
        index = torch.arange(self.state["key"].shape[2], device=rates.device)
        position = index + (index >= sinks) * max(0, self.first - sinks)
        seen = (position <= query) & ((position < sinks) | (position >= _column(starts, rates)))
        return _attended(scaled, self.state["key"], self.state["value"], rates, query - position, seen)

    def _whole(self, scaled: Tensor, rates: Tensor, at: range) -> Tensor:
        """The full attention of these queries, (batch, heads, group, c, d_v)."""
        distance = _column(at, rates) - torch.arange(at.stop, device=rates.device)
        found = _attended(scaled, self.state["all key"], self.state["all value"], rates, distance, distance >= 0)
        return found.output

    def _known(self, rates: Tensor, at: range, starts: Sequence[int]) -> tuple[Known, Extent]:
        """The means of all that each query at `at` has forgotten, (batch, heads, group, c, ..), and their extent."""
        state, sinks, stored = self.state, self.plan.sinks, max(self.first, self.plan.sinks)
        gone = [max(0, start - stored) for start in starts]
        new = slice(sinks, sinks + gone[-1])
        key, value, query = state["key"][:, :, new].double(), state["value"][:, :, new].double(), _column(at, rates)
        position = stored + torch.arange(key.shape[2], device=rates.device)
        prior = -rates[..., None, None] * (query - position)
        prior = prior.masked_fill(position >= _column(starts, rates), -torch.inf)
        prior, age = prior.expand(len(key), -1, -1, -1, -1), query[:, 0] - (self.n_tokens - 1)
        before = Known(*(state[name] for name in FOLDED)) if FOLDED[0] in state else None
        known = _folded(before, age, rates, key, value, prior)
        return known, self._extent(key, value, torch.tensor(gone, device=rates.device))

    def _extent(self, key: Tensor, value: Tensor, gone: Tensor) -> Extent:
        """Extents of what was forgotten before and of the first gone[t] tokens here, by query."""
        state = self.state
        parts = Extent(
            -key, key, (key - state["key centre"][:, :, None]).norm(dim=-1),
            (value - state["value centre"][:, :, None]).norm(dim=-1),
        )  # fmt: skip
        found = []
        for name, x in zip(("low", "high", "key radius", "value radius"), parts, strict=True):
            start = state[name] if name in state else torch.full_like(x[:, :, :1].sum(2), -torch.inf)
            found.append(torch.cat([start[:, :, None], x], dim=2).cummax(2).values.index_select(2, gone))
        return Extent(-found[0], *found[1:])

    def _drop(self, rates: Tensor, last: range) -> None:
        """Fold in what no query after the last one sees, and forget it."""
        state, first, sinks = self.state, self.plan.kept_from(last.stop), self.plan.sinks
        if first > max(self.first, sinks):
            # queries are counted from n_tokens on, and `last` stands at the end of this block
            known, extent = self._known(rates, last, [first])
            state |= {name: x.squeeze(3) for name, x in zip(FOLDED, known, strict=True)}
            low, high, key, value = (x.squeeze(2) for x in extent)
            state |= {"low": -low, "high": high, "key radius": key, "value radius": value}
            count = first - max(self.first, sinks)
            for name in ("key", "value"):
                state[name] = torch.cat([state[name][:, :, :sinks], state[name][:, :, sinks + count :]], dim=2)
        elif "folded total" in state:
            state["folded total"] = state["folded total"] - rates * (last.stop - self.n_tokens)
        self.first = max(self.first, first)


class _Ends(NamedTuple):
    """What is certain of each query: ln Z_K, o_K, r, and how loose a logarithm is."""

    log_kept: Array
    kept: Array
    returned: Array
    loose: Array

    def bound(self, low: Array, high: Array, centre: Array, radius: Array) -> tuple[Array, Array]:
        """The bound and the largest share, from the ends of ln Z_F and the ball of v_F."""
        none = np.isneginf(high)
        shares = [receipt.share(np.where(none, 0.0, x), self.log_kept) for x in (low - self.loose, high + self.loose)]
        least, most = (np.where(none, 0.0, x) for x in shares)
        return receipt.receipt_bound(least, most, self.kept, self.returned, centre, radius), most


def _folded(before: Known | None, age: Tensor, rates: Tensor, key: Tensor, value: Tensor, prior: Tensor) -> Known:
    """The means after more tokens, as the Razor cache folds them into its compensation token: the one call of it."""
    rows, split = torch.cat([key, value], dim=-1), key.shape[-1]
    start = empty((len(key), *rates.shape), rows.shape[-1], key.device)
    if before is not None:
        start = Folded(torch.cat([before.key, before.value], dim=-1), before.total)
    found = fold(start, age, rates, rows, prior)
    return Known(found.mean[..., :split], found.mean[..., split:], found.total)


def of_heads(reach: Reach, heads: Sequence[int]) -> Reach:
    """The same of some heads."""
    return Reach(*(x if x is None or name == "pairs" else x[list(heads)] for name, x in reach._asdict().items()))


def _attended(scaled: Tensor, key: Tensor, value: Tensor, rates: Tensor, distance: Tensor, seen: Tensor) -> Kept:
    """Softmax attention in float64 over what is seen; distance (c, n)."""
    scores = torch.einsum("bhgcd,bhnd->bhgcn", scaled, key.double())
    scores = (scores - rates[..., None, None] * distance).masked_fill(~seen, -torch.inf)
    output = torch.einsum("bhgcn,bhnd->bhgcd", scores.softmax(-1), value.double())
    return Kept(scores.logsumexp(-1), output)


def _column(numbers: range | Sequence[int], like: Tensor) -> Tensor:
    return torch.tensor(list(numbers), device=like.device)[:, None]


def _numpy(x: Tensor) -> Array:
    return x.detach().double().cpu().numpy()
