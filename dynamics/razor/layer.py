"""One layer of the Razor cache: its tokens, its compensation tokens, and what a block of new queries reads."""

from __future__ import annotations

import torch
from torch import Tensor

from dynamics.razor.plan import RazorPlan
from dynamics.razor.token import Folded, empty, fold


class Tokens:
    """Keys and values (batch, heads, n, d) of the heads `index` of a layer, in storage of exactly that size."""

    def __init__(self, index: list[int]) -> None:
        self.index = index
        self.key: Tensor | None = None
        self.value: Tensor | None = None

    def append(self, key: Tensor, value: Tensor) -> None:
        at = torch.tensor(self.index, device=key.device)
        key, value = key.index_select(1, at), value.index_select(1, at)
        if self.key is not None:
            key, value = torch.cat([self.key, key], dim=2), torch.cat([self.value, value], dim=2)
        self.key, self.value = key, value

    def drop(self, first: int, count: int) -> None:
        """Forget `count` tokens from the `first` stored one on; the others move to new storage."""
        if count:
            self.key, self.value = (
                torch.cat([x[:, :, :first], x[:, :, first + count :]], dim=2) for x in (self.key, self.value)
            )


class RazorLayer:
    """What one layer keeps; `read` takes a block of tokens in and returns the heads' outputs."""

    def __init__(self, plan: RazorPlan, layer: int, centre: Tensor | None) -> None:
        self.plan = plan
        self.n_tokens = 0
        self.first = 0  # first token of the stored window
        self.full = Tokens(sorted(plan.full[layer]))
        self.local = Tokens([head for head in range(plan.n_kv_heads) if head not in plan.full[layer]])
        self.folded: Folded | None = None
        self.given = centre
        self.centre: Tensor | None = None

    def tensors(self) -> list[Tensor]:
        """All that is stored and grows with batch."""
        stored = [self.full.key, self.full.value, self.local.key, self.local.value, self.centre, *(self.folded or ())]
        return [tensor for tensor in stored if tensor is not None]

    def check(self, key: Tensor, value: Tensor) -> None:
        """Raise ValueError unless the new tokens continue those stored: one batch, widths and dtype."""
        tokens = self.full if self.full.index else self.local
        if tokens.key is None:
            return
        for name, new, old in (("key", key, tokens.key), ("value", value, tokens.value)):
            if (len(new), new.shape[3], new.dtype) != (len(old), old.shape[3], old.dtype):
                raise ValueError(
                    f"the cache holds {name}s of batch {len(old)}, width {old.shape[3]} and {old.dtype}, "
                    f"got {len(new)}, {new.shape[3]} and {new.dtype}"
                )

    def reorder(self, beam_index: Tensor) -> None:
        for tokens in (self.full, self.local):
            if tokens.key is not None:
                tokens.key, tokens.value = (x.index_select(0, beam_index) for x in (tokens.key, tokens.value))
        if self.folded is not None:
            self.folded = Folded(*(x.index_select(0, beam_index) for x in self.folded))
        if self.centre is not None:
            self.centre = self.centre.index_select(0, beam_index)

    def read(self, query: Tensor, key: Tensor, value: Tensor, scale: float, slopes: Tensor | None) -> Tensor:
        """query (batch, n_heads, c, d_k), key and value (batch, n_kv_heads, c, d): the outputs of the c queries."""
        scaled = scale * query.unflatten(1, (self.plan.n_kv_heads, -1))
        rates = torch.zeros(self.plan.n_heads, device=query.device) if slopes is None else slopes
        rates = rates.double().unflatten(0, (self.plan.n_kv_heads, -1))
        at = range(self.n_tokens, self.n_tokens + query.shape[2])
        output = query.new_empty(*scaled.shape[:-1], value.shape[-1])
        self.append(key, value)
        if heads := self.full.index:
            output[:, heads] = self._read_full(scaled[:, heads], rates[heads], at)
        if heads := self.local.index:
            output[:, heads] = self._read_local(scaled[:, heads], rates[heads], at)
            self.drop(rates[heads], at[-1:])
        self.n_tokens += query.shape[2]
        return output.flatten(1, 2)

    def append(self, key: Tensor, value: Tensor) -> None:
        """Store new tokens, key and value (batch, n_kv_heads, c, d)."""
        for tokens in (self.full, self.local):
            if tokens.index:
                tokens.append(key, value)

    def drop(self, rates: Tensor, last: range) -> None:
        """Fold what no query after the `last` one sees into the compensation token, and free it."""
        first = self.plan.kept_from(last.stop)
        if self.folded is not None:
            folded = self._fold(rates, last, [first])
            self.folded = Folded(*(x.squeeze(3) for x in folded))
        self.local.drop(self.plan.sinks, max(0, first - max(self.first, self.plan.sinks)))
        self.first = first

    def _read_full(self, scaled: Tensor, rates: Tensor, at: range) -> Tensor:
        position, query = torch.arange(at.stop, device=rates.device), _tensor(at, rates)
        scores = _scores(scaled, self.full.key, rates, query, position, position <= query)
        return _values(scores.softmax(-1), self.full.value).to(scaled.dtype)

    def _read_local(self, scaled: Tensor, rates: Tensor, at: range) -> Tensor:
        sinks, query = self.plan.sinks, _tensor(at, rates)
        starts = [self.plan.seen_from(t + 1) for t in at]
        index = torch.arange(self.local.key.shape[2], device=rates.device)
        position = index + (index >= sinks) * max(0, self.first - sinks)
        seen = (position <= query) & ((position < sinks) | (position >= _tensor(starts, rates)))
        scores = _scores(scaled, self.local.key, rates, query, position, seen)
        if self.plan.compensation != "none":
            self._start_token(scaled, at)
        if self.plan.compensation == "none" or starts[-1] <= sinks:
            output = _values(scores.softmax(-1), self.local.value)
        else:
            log_weight, mean = self._token(scaled, rates, at, starts)
            weights = torch.cat([scores, log_weight[..., None].to(scores.dtype)], dim=-1).softmax(-1)
            output = _values(weights[..., :-1], self.local.value) + weights[..., -1:] * mean.to(scores.dtype)
        return output.to(scaled.dtype)

    def _token(self, scaled: Tensor, rates: Tensor, at: range, starts: list[int]) -> tuple[Tensor, Tensor]:
        """log mass + q.khat (batch, heads, group, c) and vhat (batch, heads, group or 1, c, d_v) of each query."""
        token = self._fold(rates, at, starts)
        log_weight = token.total + (scaled * token.key).sum(-1)
        if self.plan.compensation == "mean":
            mean_distance = _tensor(at, rates) - (self.plan.sinks + _tensor(starts, rates) - 1) / 2
            log_weight = log_weight - rates[..., None] * mean_distance[:, 0]
        if self.plan.compensation == "centred":
            log_weight = log_weight - (self.centre[..., None, :] * token.key).sum(-1)
        return log_weight, token.value

    def _fold(self, rates: Tensor, at: range, starts: list[int]) -> Folded:
        """The means over all that each query at `at` has dropped, the stored tokens before its start included."""
        sinks, stored = self.plan.sinks, max(self.first, self.plan.sinks)
        new = slice(sinks, sinks + max(0, starts[-1] - stored))
        key, value, query = self.local.key[:, :, new], self.local.value[:, :, new], _tensor(at, rates)
        position = stored + torch.arange(key.shape[2], device=rates.device)
        rate = rates[:, :1] * 0 if self.plan.compensation == "mean" else rates
        prior = -rate[..., None, None] * (query - position)
        if self.centre is not None:
            prior = prior + torch.einsum("bhgd,bhnd->bhgn", self.centre, key.double())[..., None, :]
        prior = prior.masked_fill(position >= _tensor(starts, rates), -torch.inf).expand(len(key), -1, -1, -1, -1)
        return fold(self.folded, query[:, 0] - (self.n_tokens - 1), rate, key, value, prior)

    def _start_token(self, scaled: Tensor, at: range) -> None:
        plan, shape = self.plan, scaled.shape
        if self.folded is None:
            group = 1 if plan.compensation == "mean" else shape[2]
            self.folded = empty((*shape[:2], group), self.local.key, self.local.value)
        if plan.compensation != "centred":
            return
        if self.centre is None:
            self.centre = torch.zeros(*shape[:3], shape[4], dtype=torch.float64, device=scaled.device)
            if self.given is not None:
                given = self.given.to(self.centre).unflatten(0, (plan.n_kv_heads, -1))
                self.centre += given[self.local.index]
        if self.given is None:
            least = max(0, plan.prompt - plan.centre_queries)
            chosen = slice(max(0, least - at.start), max(0, plan.prompt - at.start))
            self.centre += scaled[..., chosen, :].double().sum(-2) / (plan.prompt - least)


def _tensor(numbers: range | list[int], like: Tensor) -> Tensor:
    """A column of whole numbers, on the device of `like`."""
    return torch.tensor(numbers, device=like.device)[:, None]


def _scores(scaled: Tensor, key: Tensor, rates: Tensor, at: Tensor, position: Tensor, seen: Tensor) -> Tensor:
    """q.k - rate * distance, -inf where not seen, (batch, heads, group, c, n); at least float32."""
    # One matrix a key-value head: a broadcast product would copy the keys for each query head.
    scores = (scaled.flatten(2, 3) @ key.transpose(2, 3)).unflatten(2, scaled.shape[2:4])
    kind = torch.promote_types(scores.dtype, torch.float32)
    bias = rates.to(kind)[..., None, None] * (at - position)
    return (scores.to(kind) - bias).masked_fill(~seen, -torch.inf)


def _values(weights: Tensor, value: Tensor) -> Tensor:
    return (weights.flatten(2, 3) @ value.to(weights.dtype)).unflatten(2, weights.shape[2:4])
