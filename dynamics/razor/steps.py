"""Single tokens for a layer of the Razor cache: written in place, and read with everything that is then stored."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor

from dynamics.razor.logits import Logits, weigh
from dynamics.razor.schedule import Schedule
from dynamics.razor.token import Folded, fold_one


class Kept(NamedTuple):
    """What a layer keeps: the tokens of full heads, those of the others, in order in one or more pieces, and the means.

    full (batch, heads, n, d_k + d_v), the pieces (batch, heads, .., d_k + d_v), with no heads where there are none.
    """

    full: Tensor | None
    local: tuple[Tensor, ...]
    folded: Folded | None


class Picks:
    """What picks the heads of a layer and puts them back."""

    def __init__(self, full: list[int], local: list[int], device: torch.device) -> None:
        self.full, self.local = (torch.tensor(x, dtype=torch.long, device=device) for x in (full, local))
        self.order = torch.cat([self.local, self.full]).argsort()
        self.places = self.order.tolist()

    def tensors(self) -> list[Tensor]:
        return [self.full, self.local, self.order]


class Steps:
    """The tokens of a layer, laid out as a `Schedule` says, until its steps are done; `kept` gives them back in order.

    One storage, so that a token is written to all heads at once: `flat`, (batch, rows of all heads, 1, d_k + d_v), the
    heads that are not full first. The compensation tokens stand among the rows, and their log weights are added to the
    logits of those. Rows that hold nothing are zero. A weight of 0 silences a row only while its numbers are finite: if
    some that leave are not (`wipes`), and no compensation token passes them on for good, they are zeroed as they leave.
    """

    def __init__(self, layer: int, picks: Picks, width: int, kept: Kept, schedule: Schedule) -> None:
        self.layer, self.picks, self.width, self.schedule = layer, picks, width, schedule
        self.n_local, self.n_full, self.done = len(picks.local), len(picks.full), 0
        sizes = [schedule.n_rows] * self.n_local + [schedule.n_full_rows] * self.n_full
        like = kept.local[0] if self.n_local else kept.full
        self.flat = like.new_zeros(len(like), sum(sizes), 1, like.shape[3])
        self._view()
        if self.n_full:
            self.full.narrow(2, 0, schedule.n).copy_(kept.full)
        if self.n_local:
            torch.cat(kept.local, dim=2, out=self.local.narrow(2, schedule.header, schedule.count))
        new = [schedule.new] * self.n_local + [schedule.n] * self.n_full
        rows = [before + row for before, row in zip(accumulate([0, *sizes]), new, strict=False)]
        self.rows = (torch.tensor([rows[i] for i in picks.places], device=like.device) + schedule.counter).unbind()
        self.folded, self.wipes = kept.folded, False
        if self.folded is None:
            self.wipes = not self._first(schedule.gone[-1]).isfinite().all()
        elif schedule.plain:
            self.local.narrow(2, schedule.new + 1, schedule.n_steps).copy_(self._means())
        else:
            self.local.narrow(2, 0, schedule.header).copy_(self.folded.mean)

    def _view(self) -> None:
        """Views of `flat`, made once: a view costs as much as a small product."""
        shapes = (self.n_local, self.schedule.n_rows), (self.n_full, self.schedule.n_full_rows)
        parts = self.flat.squeeze(2).split([heads * rows for heads, rows in shapes], 1)
        self.local, self.full = (part.unflatten(1, shape) for part, shape in zip(parts, shapes, strict=True))
        widths = [self.width, self.flat.shape[3] - self.width]
        self.local_parts, self.full_parts = self.local.split(widths, 3), self.full.split(widths, 3)

    def _means(self) -> Tensor:
        """The plain means that the steps read, (batch, heads, n_steps, d_k + d_v)."""
        gone, dropped = self.schedule.left
        leaving = self.leaving(self.schedule.gone[-1])
        sums = torch.cat([self.folded.mean * self.schedule.dropped, leaving], dim=2).cumsum(2)
        return sums.index_select(2, gone).div_(dropped[:, None])

    def leaving(self, count: int) -> Tensor:
        """The first tokens to leave."""
        return self._first(count).double()

    def _first(self, count: int) -> Tensor:
        first = self.schedule.header + self.schedule.plan.sinks
        return self.local[:, :, first : first + count]

    def tensors(self) -> list[Tensor]:
        """All that is allocated, the schedule aside."""
        return [self.flat, self.rows[0], *self.picks.tensors(), *(self.folded or ())]

    def nbytes(self) -> int:
        """Bytes of the tokens that are kept."""
        done, schedule = self.done, self.schedule
        rows = self.n_local * (schedule.count + done - schedule.gone[done]) + self.n_full * (schedule.n + done)
        return len(self.flat) * rows * self.flat.shape[3] * self.flat.itemsize

    def reorder(self, beam_index: Tensor) -> None:
        """Replace sequence b by sequence beam_index[b]."""
        self.flat = self.flat.index_select(0, beam_index)
        if self.folded is not None:
            self.folded = Folded(*(x.index_select(0, beam_index) for x in self.folded))
        self._view()

    def kept(self) -> Kept:
        """Views of the tokens that are kept, in order, and what is folded of those that left."""
        schedule, folded = self.schedule, self.folded
        first, stop, gone = schedule.header, schedule.new + self.done, schedule.gone[self.done]
        sinks = min(first + schedule.plan.sinks, stop)
        if schedule.plain and gone and folded is not None:
            total = folded.mean * schedule.dropped + self.leaving(gone).sum(2, keepdim=True)
            folded = folded._replace(mean=total / (schedule.dropped + gone))
        window = self.local[:, :, sinks + gone : stop]
        return Kept(self.full[:, :, : schedule.n + self.done], (self.local[:, :, first:sinks], window), folded)

    def read(self, query: Tensor, key: Tensor, value: Tensor, logits: Logits, centre: Tensor | None) -> Tensor:
        """Store a token and read it with the others: the outputs (batch, n_kv_heads, group, d_v) of its queries.

        query (batch, n_kv_heads, group, d_k), key and value (batch, n_kv_heads, 1, d); centre of the local heads.
        """
        self.flat.index_copy_(1, self.rows[self.done], torch.cat([key, value], dim=-1))
        if not self.n_full:
            found = self._read_local(query, logits, centre)
        elif not self.n_local:
            found = self._read_full(query, logits)
        else:
            local, full = self.picks.local, self.picks.full
            whole = self._read_full(query.index_select(1, full), _with_sinks(logits, full))
            rest = self._read_local(query.index_select(1, local), _with_sinks(logits, local), centre)
            found = torch.cat([rest, whole], dim=1).index_select(1, self.picks.order)
        self.done += 1
        return found

    def _read_full(self, query: Tensor, logits: Logits) -> Tensor:
        if logits.rates is None:
            held = self.full.narrow(2, 0, self.schedule.n + self.done + 1)
            return weigh(query, held[..., : self.width], held[..., self.width :], None, logits)
        return weigh(query, *self.full_parts, self.schedule.of_full(self.done, logits.rates)[self.layer], logits)

    def _read_local(self, query: Tensor, logits: Logits, centre: Tensor | None) -> Tensor:
        schedule, step = self.schedule, self.done
        bias = schedule.of_local(step, logits.rates)[self.layer]
        folded = self.folded
        if not schedule.plain and schedule.has_token(step):
            folded = advanced(self, logits, centre)
            self.local.narrow(2, 0, schedule.header).copy_(folded.mean)
            bias = with_own_tokens(self, folded, logits, centre, bias)
        if self.wipes:
            self._first(schedule.gone[step + 1]).zero_()
        found = weigh(query, *self.local_parts, bias, logits)
        self.folded = folded  # last, so that a step that fails can be taken again
        return found


def _with_sinks(logits: Logits, heads: Tensor) -> Logits:
    """With the learned sinks of these heads alone; the rates stay those of all."""
    return logits if logits.sinks is None else logits._replace(sinks=logits.sinks.index_select(1, heads))


def advanced(steps: Steps, logits: Logits, centre: Tensor | None) -> Folded:
    """The means that weigh tokens by distance or by a centre one token later, with the token in them that leaves."""
    schedule, folded, step = steps.schedule, steps.folded, steps.done
    rate = folded.total.new_zeros(folded.total.shape[1:])
    if logits.rates is not None:
        rate = logits.rates[0].index_select(0, steps.picks.local).double()
    gone = schedule.gone[step + 1]
    if gone == schedule.gone[step]:
        return folded._replace(total=folded.total - rate)
    row, age = steps.leaving(gone)[:, :, -1:], schedule.n + step - (schedule.starts[step] - 1)
    prior = -rate * age
    if centre is not None:
        prior = prior + logits.cap((centre * row[..., : steps.width]).sum(-1))
    return fold_one(folded, rate, row, prior)


def with_own_tokens(steps: Steps, folded: Folded, logits: Logits, centre: Tensor | None, bias: Tensor) -> Tensor:
    """The bias where each query head has its own compensation token: it sees none of the group's others."""
    weight = folded.total
    if centre is not None:
        weight = weight - logits.cap((centre * folded.mean[..., : steps.width]).sum(-1))
    found = bias.expand(*weight.shape, -1).clone()
    found[..., : steps.schedule.header].diagonal(dim1=-2, dim2=-1).copy_(weight)
    return found
