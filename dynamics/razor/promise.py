"""A cache with a promise: no query ever gives the forgotten tokens more than the promised share of its attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dynamics.razor.receipt import check_plain
from dynamics.razor.receipt_layer import of_heads
from dynamics.razor.weighed import Guard, Weighed
from theory.cache.promise import droppable
from theory.cache.reach import Reach, span

NOTHING = "nothing may be forgotten at this error"
BLOCK = 16  # tokens between two looks at what may go; a query sees at least those of its own block


class PromiseCache:
    """A stateful `AttentionFunction` whose every output is within error * diam(V) of the full attention of its inputs.

    diam(V) is the diameter of all values of the head that the weights allow; in exact arithmetic. Which tokens go
    depends on the keys that were seen and on the queries that the weights allow, so it is settled for all that may
    follow (`theory.cache.promise`). Division into chunks changes nothing: decisions fall after every 16th token.
    Args: weighed, of each layer where its queries can lie (`dynamics.scope.receipt`); n_kv_heads; error in (0, 1).
        Inference only, without pads, sinks or windows.
    Raises: ValueError for an error outside; in a call for queries and values that the weights do not allow.
    """

    stateful = True

    def __init__(self, weighed: Sequence[Weighed], n_kv_heads: int, error: float) -> None:
        if not 0 < error < 1:
            raise ValueError(f"error must lie strictly between 0 and 1, got {error}")
        self.error, self.n_kv_heads = error, n_kv_heads
        self._layers = [PromiseLayer(one, n_kv_heads, error) for one in weighed]
        self._guards = [Guard(one, layer) for layer, one in enumerate(weighed)]

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, slopes: Tensor | None, **more: Any
    ) -> Tensor:
        check_plain(query, key, value, **more)
        if layer not in range(len(self._layers)):
            raise ValueError(f"layer must lie in 0..{len(self._layers) - 1}, got {layer}")
        state, outputs, start = self._layers[layer], [], 0
        if query.shape[1] != state.n_heads or key.shape[1] != self.n_kv_heads:
            shape = f"{state.n_heads} heads and {self.n_kv_heads} key-value heads"
            raise ValueError(f"this cache is for {shape}, got {query.shape[1]} and {key.shape[1]}")
        self._guards[layer].check(scale, queries=query, values=value)
        while start < query.shape[2]:
            stop = min(start + BLOCK - state.n_tokens % BLOCK, query.shape[2])
            outputs.append(state.read(*(x[:, :, start:stop] for x in (query, key, value)), scale, slopes))
            start = stop
        return torch.cat(outputs, dim=2)

    def n_tokens(self, layer: int = 0) -> int:
        """Tokens that this layer has seen."""
        return self._layers[layer].n_tokens

    def held(self, layer: int) -> Tensor:
        """Tokens that each key-value head of this layer holds, (batch, n_kv_heads)."""
        counts = [head["alive"].sum(1) for head in self._layers[layer].heads]
        return torch.stack(counts, dim=1) if counts else torch.zeros(0, self.n_kv_heads)

    def kept_share(self) -> float:
        """Entries held over entries seen, all layers and sequences. Raises: ValueError before the first token."""
        seen = [layer.n_tokens for layer in self._layers]
        if not sum(seen):
            raise ValueError("there is no share before the first token")
        return float(np.mean([float(self.held(at).double().mean()) / n for at, n in enumerate(seen) if n]))

    def kept_words(self) -> str:
        """The share as a sentence, which says where the promise lets nothing go. Raises: as `kept_share`."""
        share, seen = self.kept_share(), max(layer.n_tokens for layer in self._layers)
        said = f"{NOTHING} so far: all" if share == 1 else f"{share:.1%} of"
        return f"{said} {seen} tokens are kept"

    def nbytes(self) -> int:
        """Bytes of all tensors stored: of a batch, each head holds what any of its sequences needs."""
        held = [x for layer in self._layers for head in layer.heads for x in head.values()]
        return sum(x.numel() * x.element_size() for x in held)

    def reorder(self, beam_index: Tensor) -> None:
        """Replace sequence b by sequence beam_index[b]."""
        for layer in self._layers:
            for head in layer.heads:
                for name, x in head.items():
                    if name != "position":
                        head[name] = x.index_select(0, beam_index.to(x.device))


class PromiseLayer:
    """What one layer holds, head by head: key, value (batch, n, d), position (n,), alive (batch, n), the ends of
    q.(k - c) over all queries, up and low (batch, group, n), and forgotten (batch, group), ln of what F sums to."""

    def __init__(self, weighed: Weighed, n_kv_heads: int, error: float) -> None:
        self.weighed, self.error, self.n_tokens, self.n_heads = weighed, error, 0, len(weighed.queries.centre)
        group = self.n_heads // n_kv_heads
        self.groups = [range(h * group, h * group + group) for h in range(n_kv_heads)]
        self.heads: list[dict[str, Tensor]] = []

    def read(self, query: Tensor, key: Tensor, value: Tensor, scale: float, slopes: Tensor | None) -> Tensor:
        """Take in tokens of one block, and return the outputs of their queries."""
        count = key.shape[2]
        rates = torch.zeros(self.n_heads, device=query.device) if slopes is None else slopes
        rates = rates.double().unflatten(0, (len(self.groups), -1))
        if not self.heads:
            self.heads = [_empty(key[:, h], value[:, h], len(rates[h])) for h in range(len(self.groups))]
        position = torch.arange(self.n_tokens, self.n_tokens + count, device=query.device)
        scaled, outputs = scale * query.unflatten(1, (len(self.groups), -1)), []
        self.n_tokens += count
        queries = self.weighed.stretched(scale).queries
        for h, head in enumerate(self.heads):
            _append(head, key[:, h], value[:, h], position)
            outputs.append(_output(scaled[:, h], head, rates[h], position))
            if self.n_tokens % BLOCK == 0:
                self._forget(head, of_heads(queries, self.groups[h]), scale, rates[h])
        return torch.stack(outputs, dim=1).flatten(1, 2).to(query.dtype)

    def _forget(self, head: dict[str, Tensor], queries: Reach, scale: float, rates: Tensor) -> None:
        """Forget what may go for the next query and all after it."""
        if "reference" not in head:
            head["reference"] = head["key"].double().mean(1)
        known = head["up"].shape[2]
        fresh = (head["key"][:, known:].double() - head["reference"][:, None]).cpu().numpy() * scale
        low, up = span(queries, np.broadcast_to(fresh[:, None], (len(fresh), len(rates), *fresh.shape[1:])))
        for name, x in (("low", low), ("up", up)):
            head[name] = torch.cat([head[name], torch.from_numpy(x).to(rates.device)], dim=2)
        decay = rates[:, None] * (self.n_tokens - head["position"])
        gone = ~head["alive"][:, None]
        cost, worth = ((head[name] - decay).masked_fill(gone, -torch.inf) for name in ("up", "low"))
        before = head["forgotten"] - rates * BLOCK  # the steps since the last look
        drop, lost = droppable(*(x.cpu().numpy() for x in (cost, worth, before)), self.error)
        head["alive"] = head["alive"] & ~torch.from_numpy(drop).to(rates.device)
        head["forgotten"] = torch.from_numpy(lost).to(rates.device)
        left = head["alive"].any(0)
        for name in ("key", "value", "position", "alive", "up", "low"):
            axis = {"position": 0, "up": 2, "low": 2}.get(name, 1)
            head[name] = head[name].index_select(axis, left.nonzero()[:, 0])


def _empty(key: Tensor, value: Tensor, group: int) -> dict[str, Tensor]:
    ends = torch.zeros(len(key), group, 0, dtype=torch.float64, device=key.device)
    return {
        "key": key[:, :0], "value": value[:, :0], "position": torch.zeros(0, dtype=torch.long, device=key.device),
        "alive": torch.zeros(len(key), 0, dtype=torch.bool, device=key.device), "up": ends, "low": ends,
        "forgotten": ends.sum(2) - torch.inf,
    }  # fmt: skip


def _append(head: dict[str, Tensor], key: Tensor, value: Tensor, position: Tensor) -> None:
    if (len(key), key.shape[2], key.dtype) != (len(head["key"]), head["key"].shape[2], head["key"].dtype):
        raise ValueError(f"the cache holds keys of batch {len(head['key'])}, width {head['key'].shape[2]} and "
                         f"{head['key'].dtype}, got {len(key)}, {key.shape[2]} and {key.dtype}")  # fmt: skip
    head["key"], head["value"] = torch.cat([head["key"], key], dim=1), torch.cat([head["value"], value], dim=1)
    head["position"] = torch.cat([head["position"], position])
    head["alive"] = torch.cat([head["alive"], head["alive"].new_ones(len(key), len(position))], dim=1)


def _output(scaled: Tensor, head: dict[str, Tensor], rates: Tensor, at: Tensor) -> Tensor:
    """The outputs (batch, group, c, d) of queries (batch, group, c, d) over what is held."""
    scores = (scaled.flatten(1, 2) @ head["key"].transpose(1, 2)).unflatten(1, scaled.shape[1:3])
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    distance = at[:, None] - head["position"]
    seen = (distance >= 0) & head["alive"][:, None, None]
    weights = (scores - rates.to(scores)[:, None, None] * distance).masked_fill(~seen, -torch.inf).softmax(-1)
    return (weights.flatten(1, 2) @ head["value"].to(weights)).unflatten(1, scaled.shape[1:3])

