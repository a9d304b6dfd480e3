"""One layer of the Razor cache: its tokens, its compensation tokens, and what new queries read of both."""

from __future__ import annotations

from bisect import bisect_right
from copy import copy
from math import log

import torch
from torch import Tensor

from dynamics.razor import logits as weighing
from dynamics.razor.logits import Logits, block_bias, packed, scores, shares, weigh, whole, wide
from dynamics.razor.plan import RazorPlan
from dynamics.razor.schedule import ScheduleOf
from dynamics.razor.steps import Kept, Picks, Steps
from dynamics.razor.token import Folded, empty, fold
from dynamics.razor.tokens import Tokens, merged

PIECE = 512  # dropped tokens at a time: what bounds the memory of their copies in double precision


class RazorLayer:
    """What one layer keeps of a batch without pads; `read` takes a chunk of tokens in and returns the heads' outputs.

    `full` holds the tokens of the heads that keep all, `local` those of the others: sinks, then the window from
    `sinks + local.dropped` on; `folded` stands for what lies between. While tokens come one by one, all that is in
    `steps`; the first token and those that close the prompt are read as chunks. A layer with a sliding window, `window`
    tokens that a query sees, has that window for all heads in place of the plan's, and no compensation token.
    """

    def __init__(
        self, plan: RazorPlan, layer: int, centre: Tensor | None, window: int | None = None, batch: int = 1
    ) -> None:
        self.plan = plan if window is None else plan.sliding(window)
        self.layer, self.window, self.batch, self.given = layer, window, batch, centre
        self.n_tokens, self.first_step = 0, max(1, self.plan.prompt)
        self.closing = self.plan.closing.start
        self.steps: Steps | None = None
        self.picks: Picks | None = None
        full = self.plan.full[layer]
        self.full = Tokens(sorted(full), plan.n_kv_heads)
        rest = [head for head in range(plan.n_kv_heads) if head not in full]
        self.local = Tokens(rest, plan.n_kv_heads, self.plan.sinks)
        self.folded: Folded | None = None
        self.centre: Tensor | None = None

    def tensors(self) -> list[Tensor]:
        """All that is allocated, what layers share aside."""
        held = [tokens.store for tokens in (self.full, self.local)] + [self.centre, *(self.folded or ())]
        return [x for x in held if x is not None] + ([] if self.steps is None else self.steps.tensors())

    def nbytes(self) -> int:
        """Bytes of the tokens and means that are stored, spare rows and rounded copies aside."""
        means = [self.centre, *((self.folded if self.steps is None else self.steps.folded) or ())]
        rows = sum(tokens.nbytes() for tokens in (self.full, self.local)) if self.steps is None else self.steps.nbytes()
        return rows + sum(x.nbytes for x in means if x is not None)

    def check(self, key: Tensor, value: Tensor, batch: int) -> None:
        """Raise ValueError unless the new tokens continue those stored: one batch, widths and dtype."""
        tokens = self.full if self.full.index else self.local
        store, split = tokens.store if self.steps is None else self.steps.flat, tokens.width
        if len(key) == batch and store is None:
            return
        if store is None:
            raise ValueError(f"the cache holds keys of batch {batch}, got {len(key)}")
        for name, new, width in (("key", key, split), ("value", value, store.shape[-1] - split)):
            if (len(new), new.shape[3], new.dtype) != (batch, width, store.dtype):
                raise ValueError(
                    f"the cache holds {name}s of batch {batch}, width {width} and {store.dtype}, "
                    f"got {len(new)}, {new.shape[3]} and {new.dtype}"
                )

    def reorder(self, beam_index: Tensor) -> None:
        """Replace sequence b by sequence beam_index[b]."""
        self.batch = len(beam_index)
        for held in (self.full, self.local, self.steps):
            if held is not None:
                held.reorder(beam_index)
        if self.folded is not None:
            self.folded = Folded(*(x.index_select(0, beam_index) for x in self.folded))
        if self.centre is not None:
            self.centre = self.centre.index_select(0, beam_index)

    def taken(self, row: int) -> RazorLayer:
        """A layer that holds this sequence alone."""
        self.close()
        one = copy(self)
        one.full, one.local = copy(self.full), copy(self.local)
        tensors = self.tensors()
        one.reorder(torch.tensor([row], device=tensors[0].device if tensors else None))
        return one

    def read(self, query: Tensor, key: Tensor, value: Tensor, logits: Logits, schedule_of: ScheduleOf) -> Tensor:
        """query (batch, n_heads, c, d_k), key and value (batch, n_kv_heads, c, d): the outputs of the c queries."""
        plan, n, (batch, n_heads, count, _) = self.plan, self.n_tokens, query.shape
        if count == 1 and (n >= self.first_step or 0 < n < self.closing):
            steps = self._opened(n, key, schedule_of)
            if n_heads != plan.n_kv_heads:
                query = query.reshape(batch, plan.n_kv_heads, plan.group, -1)
            found = steps.read(query, key, value, logits, self.centre)
            if n_heads != plan.n_kv_heads:
                found = found.reshape(batch, n_heads, 1, -1)
        else:
            self.close()
            found = self._chunk(query.unflatten(1, (plan.n_kv_heads, -1)), key, value, logits).flatten(1, 2)
        self.n_tokens += count
        return found

    def _opened(self, n: int, like: Tensor, schedule_of: ScheduleOf) -> Steps:
        """Steps with room for one more token, and whose tensors may be written to."""
        steps = self.steps
        if steps is None:
            kept = Kept(self.full.store, (self.local.store,), self.folded)
        elif steps.done < steps.schedule.n_steps and steps.flat.is_inference() <= torch.is_inference_mode_enabled():
            return steps
        else:
            kept = steps.kept()
        if self.picks is None:
            self.picks = Picks(self.full.index, self.local.index, like.device)
        schedule, width = schedule_of(self.plan, n, like), like.shape[3]
        self.steps = Steps(self.layer, self.picks, width, kept, schedule)
        self.full.store = self.local.store = self.folded = None
        return self.steps

    def close(self) -> None:
        """Put the tokens of the steps back in order."""
        if self.steps is not None:
            kept, schedule = self.steps.kept(), self.steps.schedule
            if self.full.index:
                self.full.store = kept.full.clone()
            if self.local.index:
                self.local.store = torch.cat(kept.local, dim=2)
                self.local.dropped = schedule.dropped + schedule.gone[self.steps.done]
            self.folded, self.steps, self.picks = kept.folded, None, None

    def append(self, key: Tensor, value: Tensor) -> None:
        """Store new tokens, key and value (batch, n_kv_heads, c, d)."""
        for tokens in (self.full, self.local):
            if tokens.index:
                tokens.append(tokens.select(key), tokens.select(value))

    def held(self, query: Tensor, logits: Logits, at: range) -> None:
        """`advance` for all heads: the tokens are stored, the queries (batch, n_kv_heads, group, c, d_k) are done."""
        if self.local.index:
            self.advance(self.local.select(query), logits.of(self.local.select), at)

    def drop(self, logits: Logits, at: range) -> None:
        """Fold what no query after those `at` sees into the compensation token, and free it; logits of local heads."""
        first, kept = self.local.sinks + self.local.dropped, self.plan.kept_from(at.stop)
        if self.folded is not None:
            since = at.start - 1
            for cut in [*range(first + PIECE, kept, PIECE), max(first, kept)]:
                folded = self._fold(logits, at[-1:], [cut], first, since)
                self.folded, first, since = Folded(*(x.squeeze(3) for x in folded)), cut, at[-1]
        self.local.drop(self.local.sinks, max(0, kept - self.local.sinks - self.local.dropped))

    def _chunk(self, query: Tensor, key: Tensor, value: Tensor, logits: Logits) -> Tensor:
        """All at once for the full heads; for the others the queries that see all tokens, then block after block."""
        at = range(self.n_tokens, self.n_tokens + query.shape[3])
        if not at.start and self.plan.seen_from(at.stop) <= self.plan.sinks:
            found = whole(query, key, value, logits)
            self.append(key, value)
            self.held(query, logits, at)
            return found
        parts = []
        if (full := self.full).index:
            full.append(full.select(key), full.select(value))
            parts.append((full, whole(full.select(query), full.key, full.value, logits.of(full.select))))
        if (local := self.local).index:
            own = [local.select(x) for x in (query, key, value)]
            parts.append((local, self._local_chunk(*own, logits.of(local.select), at)))
        return merged(parts)

    def _local_chunk(self, query: Tensor, key: Tensor, value: Tensor, logits: Logits, at: range) -> Tensor:
        seeing_all = bisect_right(at, self.plan.sinks, key=lambda t: self.plan.seen_from(t + 1))
        output = query.new_empty(*query.shape[:-1], value.shape[-1])
        cuts = sorted({0, *range(seeing_all, len(at), weighing.BLOCK), len(at)})
        for block in map(slice, cuts, cuts[1:]):
            self.local.append(key[:, :, block], value[:, :, block])
            now = at[block]
            if block.start < seeing_all:
                output[:, :, :, block] = whole(query[:, :, :, block], self.local.key, self.local.value, logits)
            else:
                output[:, :, :, block] = self._read_window(query[:, :, :, block], logits, now)
            self.advance(query[:, :, :, block], logits, now)
        return output

    def advance(self, query: Tensor, logits: Logits, at: range) -> None:
        """What follows the queries at `at` of the local heads, (batch, heads, group, c, d_k): centres, and `drop`."""
        self._start_token(logits.scale * query, at)
        self.drop(logits, at)

    def _read_window(self, query: Tensor, logits: Logits, at: range) -> Tensor:
        """Outputs of queries (batch, heads, group, c, d_k) that see sinks, a window, a token for the rest."""
        local, group, kind = self.local, query.shape[2], wide(query)
        starts = [self.plan.seen_from(t + 1) for t in at]
        index = torch.arange(local.count, device=query.device)
        position = index + (index >= local.sinks) * local.dropped
        start = _column(starts, query)
        bias = block_bias(_column(at, query), position, start.where(position >= local.sinks, 0), logits, kind)
        if self.plan.compensation == "none":
            found = weigh(query.flatten(2, 3), local.key, local.value, packed(bias, group), logits)
            return found.unflatten(2, (group, -1))
        scaled = logits.scale * query
        self._start_token(scaled, at[:0])
        log_weight, mean = self._token(scaled, logits, at, starts)
        found = scores(query.flatten(2, 3), local.key, packed(bias, group), logits)
        found = torch.cat([found, log_weight.flatten(2, 3)[..., None].to(kind)], dim=-1)
        weights = shares(found, logits)
        output = (weights[..., :-1].to(local.value.dtype) @ local.value).unflatten(2, (group, -1))
        return (output + weights[..., -1:].unflatten(2, (group, -1)) * mean.to(kind)).to(query.dtype)

    def _token(self, scaled: Tensor, logits: Logits, at: range, starts: list[int]) -> tuple[Tensor, Tensor]:
        """log mass + q.khat (batch, heads, group, c) and vhat (batch, heads, group or 1, c, d_v) of each query."""
        token = self._fold(logits, at, starts, self.local.sinks + self.local.dropped, at.start - 1)
        width = self.local.width
        key = token.mean[..., :width]
        log_weight = token.total + logits.cap((scaled * key).sum(-1))
        if self.plan.compensation == "mean" and logits.rates is not None:
            mean_distance = _column(at, scaled) - (self.plan.sinks + _column(starts, scaled) - 1) / 2
            log_weight = log_weight - logits.rates[0].double()[..., None] * mean_distance[:, 0]
        if self.plan.compensation == "centred":
            log_weight = log_weight - logits.cap((self.centre[..., None, :] * key).sum(-1))
        return log_weight, token.mean[..., width:]

    def _fold(self, logits: Logits, at: range, starts: list[int], first: int, since: int) -> Folded:
        """The means over all that each query at `at` has dropped; the stored ones from `first` on are not folded yet.

        since: the token at which the means kept stand.
        """
        dropped, stop, query = self.local.dropped, max(first, starts[-1]), _column(at, self.folded.total)
        rows = self.local.store[:, :, first - dropped : stop - dropped]
        position = torch.arange(first, stop, device=rows.device)
        rate, before = self.decay(logits), self.folded
        if self.plan.compensation == "mean" and first > self.local.sinks:  # single tokens do not keep the total
            before = before._replace(total=torch.full_like(before.total, log(first - self.local.sinks)))
        prior = -rate[..., None, None] * (query - position)
        if self.centre is not None:
            keys = rows[..., : self.local.width].double()
            prior = prior + logits.cap(self.centre @ keys.transpose(2, 3))[..., None, :]
        prior = prior.masked_fill(position >= _column(starts, rows), -torch.inf).expand(len(rows), -1, -1, -1, -1)
        return fold(before, query[:, 0] - since, rate, rows, prior)

    def decay(self, logits: Logits) -> Tensor:
        """How fast the log weight of a dropped token falls with distance, (heads, means a head), float64."""
        if logits.rates is None or self.plan.compensation == "mean":
            return self.folded.total.new_zeros(self.folded.total.shape[1:])
        return logits.rates[0].double()

    def _start_token(self, scaled: Tensor, at: range) -> None:
        plan, shape = self.plan, scaled.shape
        if plan.compensation == "none":
            return
        if self.folded is None:
            self.folded = empty((*shape[:2], plan.n_means), self.local.store.shape[3], scaled.device)
        if plan.compensation != "centred":
            return
        if self.centre is None:
            self.centre = torch.zeros(*shape[:3], shape[-1], dtype=torch.float64, device=scaled.device)
            if self.given is not None:
                self.centre += self.local.select(self.given.to(self.centre).unflatten(0, (plan.n_kv_heads, -1))[None])
        if self.given is None and at:
            closing = plan.closing
            chosen = slice(max(0, closing.start - at.start), max(0, closing.stop - at.start))
            self.centre = self.centre + scaled[..., chosen, :].double().sum(-2) / len(closing)


def _column(numbers: range | list[int], like: Tensor) -> Tensor:
    """A column of whole numbers, on the device of `like`."""
    if isinstance(numbers, range):
        return torch.arange(numbers.start, numbers.stop, device=like.device)[:, None]
    return torch.tensor(numbers, device=like.device)[:, None]
