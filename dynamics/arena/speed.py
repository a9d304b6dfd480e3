"""What a training step of each entry costs here: interleaved, so that a slow spell of the machine hits all alike."""

import statistics
import time

import torch

from dynamics.arena.plan import ArenaPlan, Entry
from dynamics.arena.record import Run
from dynamics.arena.training import losses, new_stack, rows, texts
from dynamics.files.manifest import Strict
from dynamics.tasks.corpus import Corpus

WARM_UP = 2


class Speed(Strict):
    """tokens_per_second: of training, one thread, median; seconds: of each step, round by round."""

    tokens_per_second: float
    seconds: list[float]


def measure(plan: ArenaPlan, entries: list[str], corpus: Corpus, rounds: int = 9) -> dict[str, Speed]:
    """Time `rounds` steps of each entry, one of each in turn; CPU time of one thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        steps = {name: _Step(plan.entries[name], corpus) for name in entries}
        seconds: dict[str, list[float]] = {name: [] for name in entries}
        for number in range(WARM_UP + rounds):
            for name, step in steps.items():
                spent = step(number)
                if number >= WARM_UP:
                    seconds[name].append(spent)
    finally:
        torch.set_num_threads(before)
    return {name: Speed(tokens_per_second=steps[name].tokens / statistics.median(each), seconds=each)
            for name, each in seconds.items()}  # fmt: skip


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
