"""What a Razor cache must compute, written out: each query against all tokens, a mask, and the dropped set's token."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from dynamics.razor_plan import RazorPlan


class MaskedAttention:
    """The masked full computation of a `RazorPlan`: an `AttentionFunction` without memory, one query at a time.

    Nothing is updated: the compensation token of each query is formed from all of its dropped tokens. In float64.
    Args: plan; centres, q_0 of each layer, (n_heads, head_dim), scaled (default: from the prompt's last queries).
    """

    def __init__(self, plan: RazorPlan, centres: Mapping[int, Tensor] | None = None) -> None:
        self.plan, self.centres = plan, centres or {}
        plan.check_centres(self.centres)

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, slopes: Tensor | None
    ) -> Tensor:
        batch, n_heads, length, _ = query.shape
        output = query.new_zeros(batch, n_heads, length, value.shape[-1])
        for head in range(n_heads):
            group = head // self.plan.group
            scaled, keys, values = scale * query[:, head].double(), key[:, group].double(), value[:, group].double()
            slope = 0.0 if slopes is None else float(slopes[head])
            centre = self._centre(layer, head, scaled)
            full = group in self.plan.full[layer]
            for t in range(length):
                start = 0 if full else self.plan.seen_from(t + 1)
                seen = slice(0, t + 1)
                output[:, head, t] = self._read(scaled[:, t], keys[:, seen], values[:, seen], slope, start, centre)
        return output

    def _read(self, query: Tensor, keys: Tensor, values: Tensor, slope: float, start: int, centre: Tensor) -> Tensor:
        """One query (batch, d) that sees the sinks and the tokens from start on; keys, values (batch, n, d)."""
        n = keys.shape[1]
        distance = torch.arange(n - 1, -1, -1, device=keys.device, dtype=keys.dtype)
        logits = torch.einsum("bd,bnd->bn", query, keys) - slope * distance
        position = torch.arange(n, device=keys.device)
        dropped = (position >= self.plan.sinks) & (position < start)
        logits, kept = logits[:, ~dropped], values[:, ~dropped]
        if dropped.any() and self.plan.compensation != "none":
            gone = keys[:, dropped], values[:, dropped], distance[dropped]
            log_weight, mean = self._token(query, *gone, slope, centre)
            logits = torch.cat([logits, log_weight[:, None]], dim=1)
            kept = torch.cat([kept, mean[:, None]], dim=1)
        return torch.einsum("bn,bnd->bd", logits.softmax(-1), kept)

    def _token(self, query, keys, values, distance, slope, centre) -> tuple[Tensor, Tensor]:
        """log mass + q.khat (batch,) and vhat (batch, d) of the dropped keys and values."""
        prior = torch.zeros(keys.shape[:2], device=keys.device, dtype=keys.dtype)
        if self.plan.compensation != "mean":
            prior = prior - slope * distance
        if self.plan.compensation == "centred":
            prior = prior + torch.einsum("bd,bnd->bn", centre, keys)
        weights = prior.softmax(-1)
        key, value = torch.einsum("bn,bnd->bd", weights, keys), torch.einsum("bn,bnd->bd", weights, values)
        log_weight = prior.logsumexp(-1) + (query * key).sum(-1)
        if self.plan.compensation == "mean":
            log_weight = log_weight - slope * distance.mean()
        if self.plan.compensation == "centred":
            log_weight = log_weight - (centre * key).sum(-1)
        return log_weight, value

    def _centre(self, layer: int, head: int, scaled: Tensor) -> Tensor:
        """q_0 of this head, (batch, d): given, or the mean of the last queries of the prompt; scaled (batch, n, d)."""
        if layer in self.centres:
            return self.centres[layer][head].to(scaled).expand(len(scaled), -1)
        return scaled[:, max(0, self.plan.prompt - self.plan.centre_queries) : self.plan.prompt].mean(1)
