"""One block of trajectories on its way: steps, output times, loss levels and, in a box, walls.

A projected flow holds a coordinate at a wall while the velocity points outward. The moments of touching and of leaving
a wall are found inside the step, on its dense output, and the step ends there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dynamics.flow.dop853 import FIRST, Dense, Stepper, error_root, next_factor
from dynamics.flow.velocity import Array, Field

FEW_ULPS = 16 * np.finfo(np.float64).eps
_BISECTIONS = 48
_TOUCH = 1e-13  # how far beyond a wall the flow may be before it is put back on it
_SHORT = 4 * np.finfo(np.float64).eps  # of the time: a step that a double can hardly tell from none
_SPARSE = 0.9  # below this share of running lanes the others are removed

Mask = NDArray[np.bool_]


class Settings:
    """What all blocks share: `times` before t_end at which the state is wanted, tolerances, levels, walls."""

    def __init__(self, t_end: float, times: Array, rtol: float, atol: float, levels: Array, walls, most_steps: int):
        self.t_end, self.times, self.rtol, self.atol = t_end, times, rtol, atol
        self.levels, self.walls, self.most_steps = levels, walls, most_steps


class Run:
    """Lanes of one block. `theta` (times + 1, lanes, 4) and the other results keep the order of the starts."""

    def __init__(self, field: Field, state: Array, settings: Settings) -> None:
        lanes = state.shape[1]
        self.settings, self.field, self.state = settings, field, state.copy()
        self.theta = np.full((settings.times.size + 1, lanes, 4), np.nan)
        self.level_times = np.full((settings.levels.size, lanes), np.nan)
        self.rest_times = np.full(lanes, np.nan)
        self.finished, self.rises, self.steps = np.zeros(lanes, bool), np.zeros(lanes, int), np.zeros(lanes, int)
        self.ids, self.time, self.due = np.arange(lanes), np.zeros(lanes), np.zeros(lanes, int)
        self.alive, self.rejected = np.ones(lanes, bool), np.zeros(lanes, bool)
        self.pace = np.full(lanes, np.inf)  # error_root / length of the last accepted step
        self.rounds = 0  # the steps that each lane still alive has attempted
        self.stepper = Stepper(field.dimension, lanes)
        self.free = np.ones_like(self.state)
        self._refresh()
        self.level_times[self.loss <= settings.levels[:, None]] = 0.0
        self.length = self._first_length()
        self._retire()

    def _velocity(self, state: Array, out: Array) -> None:
        self.field.velocity(state, out)
        if self.settings.walls is not None:
            out *= self.free

    def _refresh(self) -> None:
        """Velocity, loss and held coordinates at the current state."""
        rate = self.stepper.rates[FIRST]
        self.field.velocity(self.state, rate)
        self.loss = self.field.last_loss().copy()
        if self.settings.walls is not None:
            self.free = 1.0 - self._outward(self.state, rate)
            rate *= self.free

    def _outward(self, state: Array, rate: Array) -> Mask:
        low, high = self.settings.walls
        return ((state <= low) & (rate <= 0)) | ((state >= high) & (rate >= 0))

    def _first_length(self) -> Array:
        """The usual first guess (Hairer, Norsett, Wanner II.4), lane by lane."""
        rate = self.stepper.rates[FIRST]
        scale = self.settings.atol + self.settings.rtol * np.abs(self.state)
        size, speed = (np.sqrt(np.mean((part / scale) ** 2, axis=0)) for part in (self.state, rate))
        guess = np.where((size < 1e-5) | (speed < 1e-5), 1e-6, 0.01 * size / np.maximum(speed, 1e-300))
        guess = np.minimum(guess, self.settings.t_end)
        after = np.empty_like(rate)
        self._velocity(self.state + guess * rate, after)
        bend = np.nan_to_num(np.sqrt(np.mean(((after - rate) / scale) ** 2, axis=0)), nan=1e300) / guess
        most = np.maximum(speed, bend)
        return np.minimum(100 * guess, np.where(most <= 1e-15, guess, (0.01 / np.maximum(most, 1e-300)) ** 0.125))

    def go(self) -> None:
        """Steps until each lane has reached t_end, rests, or can go no further."""
        with np.errstate(over="ignore", invalid="ignore"):  # in trial steps, which NaN then rejects
            while number := np.count_nonzero(self.alive):
                if number < _SPARSE * self.alive.size:
                    self._compact()
                self._advance()

    def _advance(self) -> None:
        """One step of every lane; of length 0, and so without effect, where it is not alive."""
        settings, stepper = self.settings, self.stepper
        left = settings.t_end - self.time
        length = np.minimum(self.length, left)
        new, error = stepper.step(self._velocity, self.state, length, settings.rtol, settings.atol)
        accepted = error <= 1.0
        failed = np.flatnonzero(~accepted)
        new[:, failed] = self.state[:, failed]
        rate = np.empty_like(new)
        self._velocity(new, rate)
        loss = self.field.last_loss()
        after = self.time + length
        np.copyto(after, settings.t_end, where=length >= left)
        after[failed] = self.time[failed]
        stop = self._look_inside(new, rate, loss, length, after, accepted & self.alive)
        rose = np.flatnonzero(loss > self.loss + FEW_ULPS * (1.0 + self.loss))
        self.rises[self.ids[rose]] += 1
        self.state, self.loss, self.time = new, loss, after
        stepper.rates[FIRST] = rate
        if stop.any():
            self._refresh()
        self._choose_length(error_root(error), length, accepted)
        self.rounds += 1
        self._retire()

    def _choose_length(self, root: Array, length: Array, accepted: Mask) -> None:
        """The next step; after one that failed, the next does not grow."""
        factor = next_factor(root, np.where(accepted, length * self.pace / root, 1.0))
        again = np.flatnonzero(self.rejected & accepted)
        factor[again] = np.minimum(factor[again], 1.0)
        self.length = length * factor
        np.divide(root, length, out=self.pace, where=accepted & (length > 0))
        self.rejected = ~accepted

    def _look_inside(self, new: Array, rate: Array, loss: Array, length: Array, after: Array, moved: Mask) -> Mask:
        """Outputs, levels and walls inside the step; a lane that meets a wall is put back to that moment (mask)."""
        settings = self.settings
        stop = self._meets_wall(self.field, new, self.free) & moved
        look = stop.copy()
        if settings.times.size:
            look |= moved & (np.append(settings.times, np.inf)[self.due] <= after)
        if settings.levels.size:
            look |= moved & (loss <= self._next_level(self.loss))
        lanes = np.flatnonzero(look)
        if lanes.size:
            inside = _Inside(self, lanes, new, rate, length)
            if stop.any():
                inside.stop_at_walls(stop[lanes])
                new[:, lanes], loss[lanes] = inside.new, inside.loss
                after[stop] = (self.time + inside.last_of(stop) * length)[stop]
            inside.write_levels()
            inside.write_outputs(after[lanes])
        return stop

    def _next_level(self, loss: Array) -> Array:
        """The highest level still below the loss of each lane."""
        levels = self.settings.levels[:, None]
        return np.max(np.where(levels < loss, levels, -np.inf), axis=0)

    def _meets_wall(self, field: Field, state: Array, free: Array) -> Mask:
        """A free coordinate is beyond a wall, or the velocity of a held one points inward."""
        if self.settings.walls is None:
            return np.zeros(state.shape[1], bool)
        low, high = self.settings.walls
        raw = np.empty_like(state)
        field.velocity(state, raw)
        beyond = (state < low - _TOUCH) | (state > high + _TOUCH)
        return np.where(free > 0, beyond, ~self._outward(state, raw)).any(axis=0)

    def _retire(self) -> None:
        reached = self.alive & (self.time >= self.settings.t_end)
        spent = self.alive & (self.length <= _SHORT * self.time)
        if self.rounds >= self.settings.most_steps:
            spent[:] = self.alive
        done = reached | spent
        if self.settings.walls is not None:
            rests = self.alive & ~self.free.any(axis=0)
            self.rest_times[self.ids[rests]] = self.time[rests]
            reached |= rests
            done |= rests
        if not done.any():
            return
        self.steps[self.ids[done]] = self.rounds
        self.length[done] = 0.0
        self.alive &= ~done
        ends = np.flatnonzero(reached)
        rows, columns = np.nonzero(np.arange(self.settings.times.size + 1)[:, None] >= self.due[ends])
        self.theta[rows, self.ids[ends[columns]]] = self.field.expand(self.state).T[ends[columns]]
        self.finished[self.ids[ends]] = True

    def _compact(self) -> None:
        lanes = np.flatnonzero(self.alive)
        rate = self.stepper.rates[FIRST].take(lanes, axis=1)
        self.field = self.field.take(lanes)
        self.stepper = Stepper(self.field.dimension, lanes.size)
        self.stepper.rates[FIRST] = rate
        self.state, self.free = self.state.take(lanes, axis=1), self.free.take(lanes, axis=1)
        for name in ("ids", "time", "due", "alive", "rejected", "length", "loss", "pace"):
            setattr(self, name, getattr(self, name)[lanes])


class _Inside:
    """The steps of some lanes, looked into on their dense output; `last` is the fraction at which each step ends."""

    def __init__(self, run: Run, lanes: NDArray[np.int_], new: Array, rate: Array, length: Array) -> None:
        self.run, self.lanes, self.new, self.length = run, lanes, new[:, lanes], length[lanes]
        self.field, self.free = run.field.take(lanes), run.free[:, lanes]
        self.dense = Dense(
            self._velocity, run.stepper.rates[..., lanes], run.state[:, lanes], self.new, rate[:, lanes], self.length
        )
        self.last = np.ones(lanes.size)
        self.loss = self.field.loss(self.new)

    def _velocity(self, state: Array, out: Array) -> None:
        self.field.velocity(state, out)
        out *= self.free

    def _first(self, holds: Callable[[Array], Mask]) -> Array:
        """The least fraction at which `holds`, given that it does at `last`."""
        low, high = np.zeros_like(self.last), self.last.copy()
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            yes = holds(middle)
            high, low = np.where(yes, middle, high), np.where(yes, low, middle)
        return high

    def stop_at_walls(self, stop: Mask) -> None:
        first = self._first(lambda where: self.run._meets_wall(self.field, self.dense(where), self.free))
        self.last = np.where(stop, first, 1.0)
        self.new = np.where(stop, np.clip(self.dense(self.last), *self.run.settings.walls), self.new)
        self.loss = self.field.loss(self.new)

    def last_of(self, mask: Mask) -> Array:
        whole = np.ones(mask.size)
        whole[self.lanes] = self.last
        return whole

    def write_levels(self) -> None:
        before = self.run.loss[self.lanes]
        for level, row in zip(self.run.settings.levels, self.run.level_times, strict=True):
            crossed = (before > level) & (self.loss <= level)
            if crossed.any():
                where = self._first(lambda at, level=level: self.field.loss(self.dense(at)) <= level)
                found = self.run.time[self.lanes] + where * self.length
                row[self.run.ids[self.lanes[crossed]]] = found[crossed]

    def write_outputs(self, after: Array) -> None:
        run = self.run
        times = np.append(run.settings.times, np.inf)
        while (pending := times[run.due[self.lanes]] <= after).any():
            due, lanes = run.due[self.lanes], self.lanes[pending]
            where = (np.minimum(times[due], after) - run.time[self.lanes]) / np.where(self.length > 0, self.length, 1.0)
            run.theta[due[pending], run.ids[lanes]] = self.field.expand(self.dense(where)).T[pending]
            run.due[lanes] += 1
