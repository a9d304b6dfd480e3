"""The reference for a Razor cache: each query attends to all tokens under a mask, and to the compensation token."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from dynamics.razor.plan import RazorPlan


class MaskedAttention:
    """The masked full computation of a `RazorPlan`: an `AttentionFunction` without memory, one query at a time.

    Nothing is updated: the compensation token of each query is formed from all of its dropped tokens. In float64. With
    pads, `real` (batch, n), each sequence is computed from its real tokens alone. In a layer with a sliding window a
    query sees that instead of the plan's. A soft cap is on every product q.k, the token's too.
    Args: plan; centres, q_0 of each layer, (n_heads, head_dim), scaled (default: from the prompt's last queries).
    Raises: ValueError for "centred" with neither a prompt nor centres.
    """

    def __init__(self, plan: RazorPlan, centres: Mapping[int, Tensor] | None = None) -> None:
        self.plan, self.centres = plan, centres or {}
        plan.check_centres(self.centres)

    def __call__(
        self,
        layer: int,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        scale: float,
        slopes: Tensor | None,
        sinks: Tensor | None = None,
        softcap: float | None = None,
        window: int | None = None,
        real: Tensor | None = None,
    ) -> Tensor:
        if real is None:
            rows = [(slice(None), slice(None))]
        else:
            rows = [(slice(row, row + 1), own.nonzero()[:, 0]) for row, own in enumerate(real)]
        output = query.new_zeros(*query.shape[:3], value.shape[3])
        one = _Row(self.plan, layer, scale, slopes, sinks, softcap, window, self.centres.get(layer))
        for row, seen in rows:
            own = [x[row][:, :, seen] for x in (query, key, value)]
            if own[0].shape[2]:
                output[row, :, seen] = one.outputs(*own).to(query.dtype)
        return output


class _Row:
    """Sequences without pads in one layer."""

    def __init__(self, plan, layer, scale, slopes, sinks, softcap, window, centre) -> None:
        self.plan, self.layer, self.scale, self.window, self.softcap = plan, layer, scale, window, softcap
        self.slopes, self.sinks, self.centre = slopes, sinks, centre

    def outputs(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        plan, scaled = self.plan, self.scale * query.double()
        keys, values = (x.double().repeat_interleave(plan.group, dim=1) for x in (key, value))
        rates = scaled.new_zeros(plan.n_heads) if self.slopes is None else self.slopes.double()
        full = torch.tensor([head // plan.group in plan.full[self.layer] for head in range(plan.n_heads)])
        centre, outputs = self._centre(scaled), []
        for t in range(query.shape[2]):
            n = t + 1
            position = torch.arange(n, device=query.device)
            if self.window is not None:
                gone = (t - position >= self.window).expand(plan.n_heads, -1)
            else:
                dropped = (position >= plan.sinks) & (position < plan.seen_from(n))
                gone = dropped & ~full.to(query.device)[:, None]
            bias = -rates[:, None] * (t - position)
            outputs.append(self._read(scaled[:, :, t], keys[:, :, :n], values[:, :, :n], bias, gone, centre))
        return torch.stack(outputs, dim=2)

    def _read(self, query: Tensor, keys: Tensor, values: Tensor, bias: Tensor, gone: Tensor, centre: Tensor) -> Tensor:
        """Outputs (batch, heads, d) of one query (batch, heads, d) over n tokens; bias, gone (heads, n)."""
        logits = self._capped(torch.einsum("bhd,bhnd->bhn", query, keys)) + bias
        kept = logits.masked_fill(gone, -torch.inf)
        if self.window is not None or self.plan.compensation == "none" or not gone.any():
            return torch.einsum("bhn,bhnd->bhd", self._shares(kept), values)
        log_weight, mean = self._token(query, keys, values, bias, gone, centre)
        weights = self._shares(torch.cat([kept, log_weight[..., None]], dim=-1))
        return torch.einsum("bhn,bhnd->bhd", weights, torch.cat([values, mean[:, :, None]], dim=2))

    def _token(self, query, keys, values, bias, gone, centre) -> tuple[Tensor, Tensor]:
        """log mass + q.khat (batch, heads), -inf for a full head, and vhat (batch, heads, d) of the tokens gone."""
        kind = self.plan.compensation
        prior = torch.zeros(keys.shape[:3], device=keys.device, dtype=keys.dtype)
        if kind != "mean":
            prior = prior + bias
        if kind == "centred":
            prior = prior + self._capped(torch.einsum("bhd,bhnd->bhn", centre, keys))
        prior = prior.masked_fill(~gone, -torch.inf)
        weights = prior.softmax(-1).nan_to_num(0.0)  # a full head has nothing to weigh
        key, value = torch.einsum("bhn,bhnd->bhd", weights, keys), torch.einsum("bhn,bhnd->bhd", weights, values)
        log_weight = prior.logsumexp(-1) + self._capped((query * key).sum(-1))
        if kind == "mean":
            log_weight = log_weight + (bias * gone).sum(-1) / gone.sum(-1).clamp(min=1)
        if kind == "centred":
            log_weight = log_weight - self._capped((centre * key).sum(-1))
        return log_weight, value

    def _capped(self, products: Tensor) -> Tensor:
        return products if self.softcap is None else self.softcap * torch.tanh(products / self.softcap)

    def _shares(self, logits: Tensor) -> Tensor:
        """Softmax over (batch, heads, n), a sink's weight left out."""
        if self.sinks is None:
            return logits.softmax(-1)
        sinks = self.sinks.to(logits)[:, None].expand(len(logits), -1, 1)
        return torch.cat([logits, sinks], dim=-1).softmax(-1)[..., :-1]

    def _centre(self, scaled: Tensor) -> Tensor:
        """q_0 of each head, (batch, heads, d): given, or the mean of the prompt's last queries; scaled as those."""
        if self.centre is not None:
            return self.centre.to(scaled).expand(len(scaled), -1, -1)
        return scaled[:, :, max(0, self.plan.prompt - self.plan.centre_queries) : self.plan.prompt].mean(2)
