"""For a run of single tokens under one plan: the rows of the tokens and the biases of the logits, shared by all layers.

A step of a small model goes by calls, not by numbers. So the integers of up to ROOM steps are worked out at once, and
the biases of one step for all layers at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import inf, log

import numpy as np
import torch
from torch import Tensor

from dynamics.razor.plan import ROOM, RazorPlan

ScheduleOf = Callable[[RazorPlan, int, Tensor], "Schedule"]
Biases = tuple[Tensor, ...]  # by layer, (1, heads, group, rows); for all heads alike (1, 1, 1, rows)


@dataclass
class _Made:
    """The biases of the last step that was asked for."""

    rates: Tensor
    own: Tensor  # of the heads of all layers, one after another
    sizes: list[int]
    step: int = -1
    biases: Biases = ()


class Schedule:
    """Steps 0, 1, ..: the tokens n, n + 1, .. one by one after the first n, which are more than none.

    A head that is not full has the rows [header | sinks | window | new tokens | one more], a full one [tokens | new
    tokens], with a row for each step among the new ones. A token that leaves the window keeps its row and is not read
    any more. The header is for compensation tokens of each query head's own. A plain mean needs none: all that the
    steps read are known beforehand, since the steps end before one of their own tokens leaves, and each stands in the
    row after the step's new token, which the next one takes. In the prompt they end before its `closing` tokens.
    starts: where the window starts at each step; gone: how many tokens have left before it, and after the last.
    """

    def __init__(self, plan: RazorPlan, n: int, kind: torch.dtype, device: torch.device) -> None:
        self.plan, self.n = plan, n
        self.like = {"dtype": kind, "device": device}
        self.count = plan.n_kept(n)
        self.dropped = n - self.count
        room = ROOM if n >= plan.prompt else min(ROOM, plan.closing.start - n)
        starts = [plan.seen_from(n + i + 1) for i in range(room)]
        gone = [max(0, start - plan.sinks) - self.dropped for start in starts]
        self.n_steps = sum(left <= max(0, self.count - plan.sinks) for left in gone)
        self.starts, self.gone = starts[: self.n_steps], [0, *gone[: self.n_steps]]
        self.plain = plan.compensation == "mean"
        self.header = 0 if self.plain else plan.n_means
        self.new = self.header + self.count  # the row of the first new token
        self.n_rows = self.new + self.n_steps + self.plain
        self.n_full_rows = n + self.n_steps
        self._made: dict[str, _Made] = {}

    def tensors(self) -> list[Tensor]:
        """All that is allocated; the rates are the caller's."""
        names = ("marks", "distances", "future", "lags", "left", "counter")
        made = [tensor for made in self._made.values() for tensor in (*made.biases, made.own)]
        heads = [heads for heads, _ in vars(self).get("heads", {}).values()]
        return [vars(self)[name] for name in names if name in vars(self)] + made + heads

    def has_token(self, step: int) -> bool:
        """Whether anything has been dropped that the compensation tokens stand for."""
        return self.plan.compensation != "none" and self.starts[step] > self.plan.sinks

    @cached_property
    def marks(self) -> Tensor:
        """(n_steps, n_rows): -inf in rows that are not read, the log weight of the step's plain mean, 0 elsewhere."""
        sinks, found = self.plan.sinks, self._table(-inf)
        for step, (row, start, gone) in enumerate(zip(found, self.starts, self.gone[1:], strict=True)):
            stop = self.new + step + 1
            row[self.header : min(self.header + sinks, stop)] = 0
            row[self.header + sinks + gone : stop] = 0
            if self.plain and start > sinks:
                row[stop] = log(start - sinks)
        return torch.from_numpy(found).to(self.like["device"])

    @cached_property
    def distances(self) -> Tensor:
        """(n_steps, n_rows): the token of each row less the new one; for the plain mean the mean of those dropped."""
        found, step = self._table(0), np.arange(self.n_steps)
        token = np.arange(-self.header, self.n_rows - self.header, dtype=found.dtype)
        token[self.header + self.plan.sinks :] += self.dropped
        found += token
        if self.plain:  # the bias at the mean of the distances is the mean of the biases
            found[step, self.new + 1 + step] = (self.plan.sinks + np.array(self.starts) - 1) / 2
        found -= (self.n + step.astype(found.dtype))[:, None]
        return torch.from_numpy(found).to(self.like["device"])

    def _table(self, number: float) -> np.ndarray:
        double = self.like["dtype"] == torch.float64
        return np.full((self.n_steps, self.n_rows), number, dtype=np.float64 if double else np.float32)

    @cached_property
    def left(self) -> Tensor:
        """(2, n_steps): tokens that have left at each step, and all that were dropped, at least 1."""
        gone = self.gone[1:]
        return torch.tensor([gone, [max(1, self.dropped + g) for g in gone]], device=self.like["device"])

    @cached_property
    def counter(self) -> Tensor:
        """0..n_steps - 1, a column."""
        return torch.arange(self.n_steps, device=self.like["device"])[:, None]

    @cached_property
    def lags(self) -> Tensor:
        """Row less new token of a full head: those of step i are n_full_rows from n_steps - 1 - i on."""
        return torch.arange(1 - self.n_full_rows, self.n_steps, **self.like)

    @cached_property
    def future(self) -> Tensor:
        """-inf where a lag is positive, 0 elsewhere."""
        found = torch.zeros_like(self.lags)
        found[self.n_full_rows :] = -inf
        return found

    def of_local(self, step: int, rates: Tensor | None) -> Biases:
        """What is added to the logits of heads that are not full: -rate * distance and `marks`.

        rates: (1, n_kv_heads, group) of all heads, or None. A header that is no plain mean gets -inf.
        """
        if rates is None:
            return (self._marks[step],) * len(self.plan.full)
        return self._biases("local", step, rates)

    def of_full(self, step: int, rates: Tensor) -> Biases:
        """The same of full heads."""
        return self._biases("full", step, rates)

    def _biases(self, name: str, step: int, rates: Tensor) -> Biases:
        made = self._made.get(name)
        if made is None or made.rates is not rates:
            heads, sizes = self.heads[name]
            own = rates.index_select(1, heads).unsqueeze(-1).to(self.like["dtype"])
            made = self._made[name] = _Made(rates, own, sizes)
        if made.step != step:
            if name == "local":
                mark, distance = self._marks[step], self._distances[step]
            else:
                first = self.n_steps - 1 - step
                mark, distance = (x.narrow(0, first, self.n_full_rows) for x in (self.future, self.lags))
            made.biases = torch.addcmul(mark, made.own, distance).split_with_sizes(made.sizes, dim=1)
            made.step = step
        return made.biases

    @cached_property
    def _marks(self) -> Biases:
        """`marks`, step by step, (1, 1, 1, n_rows)."""
        return self.marks[:, None, None, None].unbind()

    @cached_property
    def _distances(self) -> Biases:
        """`distances`, step by step; without slopes there are none."""
        return self.distances.unbind()

    @cached_property
    def heads(self) -> dict[str, tuple[Tensor, list[int]]]:
        """The key-value heads of all layers one after another, and how many there are of each layer."""
        full = [sorted(heads) for heads in self.plan.full]
        local = [[head for head in range(self.plan.n_kv_heads) if head not in heads] for heads in full]
        return {
            name: (torch.tensor([*chain(*layers)], dtype=torch.long, device=self.like["device"]), [*map(len, layers)])
            for name, layers in (("full", full), ("local", local))
        }
