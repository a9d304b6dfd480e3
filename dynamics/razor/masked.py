"""What a Razor cache must compute, written out: each query against all tokens, a mask, and the dropped set's token."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from dynamics.razor.plan import RazorPlan


class MaskedAttention:
    """The masked full computation of a `RazorPlan`: an `AttentionFunction` without memory, one query at a time.

    Nothing is updated: the compensation token of each query is formed from all of its dropped tokens. In float64.
    Args: plan; centres, q_0 of each layer, (n_heads, head_dim), scaled (default: from the prompt's last queries).
    Raises: ValueError for "centred" with neither a prompt nor centres.
    """

    def __init__(self, plan: RazorPlan, centres: Mapping[int, Tensor] | None = None) -> None:
        self.plan, self.centres = plan, centres or {}
        plan.check_centres(self.centres)

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, slopes: Tensor | None
    ) -> Tensor:
        scaled = scale * query.double()
        keys, values = (x.double().repeat_interleave(self.plan.group, dim=1) for x in (key, value))
        rates = scaled.new_zeros(self.plan.n_heads) if slopes is None else slopes.double()
        full = torch.tensor([head // self.plan.group in self.plan.full[layer] for head in range(self.plan.n_heads)])
        centre = self._centre(layer, scaled)
        outputs = []
        for t in range(query.shape[2]):
            n = t + 1
            position = torch.arange(n, device=query.device)
            dropped = (position >= self.plan.sinks) & (position < self.plan.seen_from(n))
            gone = dropped & ~full.to(query.device)[:, None]
            bias = -rates[:, None] * (t - position)
            outputs.append(self._read(scaled[:, :, t], keys[:, :, :n], values[:, :, :n], bias, gone, centre))
        return torch.stack(outputs, dim=2).to(query.dtype)

    def _read(self, query: Tensor, keys: Tensor, values: Tensor, bias: Tensor, gone: Tensor, centre: Tensor) -> Tensor:
        """Outputs (batch, heads, d) of one query (batch, heads, d) over n tokens; bias, gone (heads, n)."""
        logits = torch.einsum("bhd,bhnd->bhn", query, keys) + bias
        kept = logits.masked_fill(gone, -torch.inf)
        if self.plan.compensation == "none" or not gone.any():
            return torch.einsum("bhn,bhnd->bhd", kept.softmax(-1), values)
        log_weight, mean = self._token(query, keys, values, bias, gone, centre)
        weights = torch.cat([kept, log_weight[..., None]], dim=-1).softmax(-1)
        return torch.einsum("bhn,bhnd->bhd", weights, torch.cat([values, mean[:, :, None]], dim=2))

    def _token(self, query, keys, values, bias, gone, centre) -> tuple[Tensor, Tensor]:
        """log mass + q.khat (batch, heads), -inf for a full head, and vhat (batch, heads, d) of the tokens gone."""
        prior = torch.zeros(keys.shape[:3], device=keys.device, dtype=keys.dtype)
        if self.plan.compensation != "mean":
            prior = prior + bias
        if self.plan.compensation == "centred":
            prior = prior + torch.einsum("bhd,bhnd->bhn", centre, keys)
        prior = prior.masked_fill(~gone, -torch.inf)
        weights = prior.softmax(-1).nan_to_num(0.0)  # a full head has nothing to weigh
        key, value = torch.einsum("bhn,bhnd->bhd", weights, keys), torch.einsum("bhn,bhnd->bhd", weights, values)
        log_weight = prior.logsumexp(-1) + (query * key).sum(-1)
        if self.plan.compensation == "mean":
            log_weight = log_weight + (bias * gone).sum(-1) / gone.sum(-1).clamp(min=1)
        if self.plan.compensation == "centred":
            log_weight = log_weight - (centre * key).sum(-1)
        return log_weight, value

    def _centre(self, layer: int, scaled: Tensor) -> Tensor:
        """q_0 of each head, (batch, heads, d): given, or the mean of the prompt's last queries; scaled as those."""
        if layer in self.centres:
            return self.centres[layer].to(scaled).expand(len(scaled), -1, -1)
        return scaled[:, :, max(0, self.plan.prompt - self.plan.centre_queries) : self.plan.prompt].mean(2)
