"""An observer of a training loop. It limits its cost to a share of the time of the training.

observer = Observer(model, make_probe(model, text), "observed.jsonl", every=100)
for step in range(steps):
    observer.step(step)
    ...  # forward, backward, update
observer.step(steps)
scores = stacked(read_lines("observed.jsonl"), "induction")  # (observations, layers, heads)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from dynamics.observed.log import Line, append_line, begun, write_lines
from dynamics.observed.probe import Probe
from dynamics.observed.scores import summary
from dynamics.sinks.passes import device_of

SHARE = 0.02


class Observer:
    """Observes a model as it trains, and keeps a line an observation in `lines` and in a file.

    The first call of a new log observes: what it costs is not known before. From then on there is an observation where
    `every` steps have gone by since the last and

        spent + c <= share * trained,

    spent the seconds of all observations so far, trained those of training, c the dearer of the last two observations.
    So the first one is paid back before the second, and each later one is paid for beforehand, up to what it takes more
    than c, which the next one then has to wait for. A file's writing is part of the cost. Where the number of steps is
    known, the share is of the whole run as it is foreseen, and what is left of it is spread over the steps to come.
    """

    def __init__(
        self,
        model: nn.Module,
        probe: Probe | Callable[..., Mapping[str, Any]],
        path: str | Path | None = None,
        *,
        every: int = 1,
        share: float | None = SHARE,
        after: int | None = None,
        total: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Args: probe, or a function of the model that returns fields of `Line`; path of the log, None for none; every,
        least steps between observations; share of the time, None for no limit, and so the same steps on every machine;
        after, the steps of an interrupted run that goes on, whose log is continued; total, the steps of the whole run,
        where that is known; clock, in seconds.

        Raises: ValueError for every < 1, a share outside (0, 1], a file that is there and not to be continued.
        """
        if every < 1:
            raise ValueError(f"every must be at least 1, got {every}")
        if share is not None and not 0 < share <= 1:
            raise ValueError(f"share must be in (0, 1], got {share}")
        self.lines: list[Line] = [] if path is None else begun(path, after)
        self.spent = self.trained = 0.0
        self._model, self._path = model, path
        self._look = probe if callable(probe) else partial(summary, probe=probe)
        self._every, self._share, self._clock = every, share, clock
        self._first, self._total = after or 0, total
        self._costs: list[float] = []
        self._last: int | None = self.lines[-1].step if self.lines else None
        self._mark: float | None = None
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            if self.lines:
                write_lines(path, self.lines)

    @property
    def share(self) -> float | None:
        """Seconds of observations over seconds of training, as measured; None before there is any training."""
        return self.spent / self.trained if self.trained > 0 else None

    def resume(self) -> None:
        """What went by since the last call was no training (an evaluation, a save): it is not counted."""
        self._mark = self._clock()

    def step(self, number: int, due: bool = False) -> Line | None:
        """Say that `number` updates are done; returns the line of an observation if one was due, or is said to be.

        Raises: ValueError as `observe`; OSError for a log that cannot be written.
        """
        start = self._count()
        if not (due or self._due(number)):
            return None
        if (device := device_of(self._model)).type == "cuda":
            torch.cuda.synchronize(device)  # what is still running is training
            start = self._count()
        found = self._look(self._model)
        seconds = self._clock() - start
        share = (self.spent + seconds) / self.trained if self.trained > 0 else None
        line = Line.of(number, found, seconds=seconds, trained=self.trained, share=share)
        self.lines.append(line)
        if self._path is not None:
            append_line(self._path, line)
        now = self._clock()
        self._costs = [*self._costs[-1:], now - start]
        self.spent += self._costs[-1]
        self._last, self._mark = number, now
        return line

    def _count(self) -> float:
        """Time since the last mark was training; returns what the clock says."""
        now = self._clock()
        self.trained += 0.0 if self._mark is None else now - self._mark
        self._mark = now
        return now

    def _due(self, number: int) -> bool:
        if self._last is None:
            return True
        gone, cost = number - self._last, max(self._costs, default=0.0)
        if gone < self._every or self._share is None:
            return gone >= self._every
        if self._total is None:
            return self.spent + cost <= self._share * self.trained
        foreseen = self.trained * (self._total - self._first) / max(1, number - self._first)
        return gone * (self._share * foreseen - self.spent) >= cost * (self._total - self._last)
