"""Time a training step of each entry on this machine, in turns, so that a slow phase affects all entries alike."""

import platform
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import torch

from dynamics.arena.plan import ArenaPlan, Entry
from dynamics.arena.record import Run, Speed, Speeds
from dynamics.arena.training import losses, new_stack, rows, texts
from dynamics.tasks.corpus import Corpus

WARM_UP = 2
T = TypeVar("T")


def measure(plan: ArenaPlan, entries: list[str], corpus: Corpus, rounds: int = 9) -> Speeds:
    """Time `rounds` steps of each entry, one of each in turn; CPU time of one thread."""
    steps = {name: _Step(plan.entries[name], corpus) for name in entries}
    seconds = _in_turn(steps, rounds)
    found = {
        name: Speed(tokens_per_second=steps[name].tokens / statistics.median(each), seconds=each)
        for name, each in seconds.items()
    }
    return Speeds(plan_sha256=plan.sha256, torch_version=torch.__version__, processor=processor(), speeds=found)


def ratios(speeds: Speeds, baseline: str) -> dict[str, float]:
    """A step of each entry over one of the baseline, whose width theirs must be: medians of what was timed in turn."""
    one = statistics.median(speeds.speeds[baseline].seconds)
    return {name: statistics.median(found.seconds) / one for name, found in speeds.speeds.items()}


def stack_seconds(entry: Entry, stacks: list[int], corpus: Corpus, rounds: int) -> list[float]:
    """The least that a step of each size of stack takes, timed in turn; CPU time of one thread."""
    steps = {size: _Step(entry.model_copy(update={"stack": size}), corpus) for size in stacks}
    return [min(seconds) for seconds in _in_turn(steps, rounds).values()]


def _in_turn(steps: Mapping[T, Callable[[int], float]], rounds: int) -> dict[T, list[float]]:
    """Seconds of each, round by round, after rounds that do not count."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        seconds: dict[T, list[float]] = {name: [] for name in steps}
        for number in range(WARM_UP + rounds):
            for name, step in steps.items():
                spent = step(number)
                if number >= WARM_UP:
                    seconds[name].append(spent)
    finally:
        torch.set_num_threads(before)
    return seconds


def processor() -> str:
    """What the system calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


class _Step:
    def __init__(self, entry: Entry, corpus: Corpus):
        self.run = Run(name="timed", config=entry.config, training=entry.training, seeds=entry.stack)
        self.source = texts(corpus, entry.training.corpus)
        self.stack = new_stack(self.run, torch.device("cpu"))
        self.tokens = entry.stack * entry.training.rows * entry.training.length

    def __call__(self, number: int) -> float:
        batch = rows(self.run.members, self.source, number, torch.device("cpu"))
        start = time.process_time()
        self.stack.step(number, batch, losses)
        return time.process_time() - start
