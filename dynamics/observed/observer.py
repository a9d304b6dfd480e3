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
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from dynamics.observed.log import Line, begun, write_lines
from dynamics.observed.probe import Probe
from dynamics.observed.scores import observe
from dynamics.sinks.passes import device_of

SHARE = 0.02


class Observer:
    """Observes a model as it trains, and keeps a line an observation in `lines` and in a file.

    The first call observes: what it costs is not known before. From then on there is an observation where `every` steps
    have gone by since the last and

        spent + c <= share * trained,

    spent the seconds of all observations so far, trained those of training, c the dearer of the last two observations.
    So the first one is paid back before the second, and each later one is paid for beforehand, up to what it takes more
    than c, which the next one then has to wait for. A file's writing is part of the cost.
    """

    def __init__(
        self,
        model: nn.Module,
        probe: Probe,
        path: str | Path | None = None,
        *,
        every: int = 1,
        share: float | None = SHARE,
        after: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Args: path of the log, None for none; every, least steps between observations; share of the time, None for
        no limit, and so the same steps on every machine; after, the steps of an interrupted run that goes on, whose
        log is continued; clock, in seconds.

        Raises: ValueError for every < 1, a share outside (0, 1], a file that is there and not to be continued.
        """
        if every < 1:
            raise ValueError(f"every must be at least 1, got {every}")
        if share is not None and not 0 < share <= 1:
            raise ValueError(f"share must be in (0, 1], got {share}")
        self.lines: list[Line] = [] if path is None else begun(path, after)
        self.spent = self.trained = 0.0
        self._model, self._probe, self._path = model, probe, path
        self._every, self._share, self._clock = every, share, clock
        self._costs: list[float] = []
        self._last: int | None = None
        self._mark: float | None = None

    @property
    def share(self) -> float | None:
        """Seconds of observations over seconds of training, as measured; None before there is any training."""
        return self.spent / self.trained if self.trained > 0 else None

    def resume(self) -> None:
        """What went by since the last call was no training (an evaluation, a save): it is not counted."""
        self._mark = self._clock()

    def step(self, number: int) -> Line | None:
        """Say that `number` updates are done; returns the line of an observation if one was due.

        Raises: ValueError as `observe`; OSError for a log that cannot be written.
        """
        start = self._count()
        if not self._due(number):
            return None
        if (device := device_of(self._model)).type == "cuda":
            torch.cuda.synchronize(device)  # what is still running is training
            start = self._count()
        found = observe(self._model, self._probe)
        seconds = self._clock() - start
        line = Line.of(number, found, seconds, self.trained, self.spent + seconds)
        self.lines.append(line)
        if self._path is not None:
            write_lines(self._path, self.lines)
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
        paid = self._share is None or self.spent + max(self._costs) <= self._share * self.trained
        return number - self._last >= self._every and paid
