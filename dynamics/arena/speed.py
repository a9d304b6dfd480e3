"""What a training step of each entry costs here: interleaved, so that a slow spell of the machine hits all alike."""

import platform
import statistics
import time
from pathlib import Path

import torch

from dynamics.arena.plan import ArenaPlan, Entry
from dynamics.arena.record import Run, Speed, Speeds
from dynamics.arena.training import losses, new_stack, rows, texts
from dynamics.tasks.corpus import Corpus

WARM_UP = 2


def measure(plan: ArenaPlan, entries: list[str], corpus: Corpus, rounds: int = 9) -> Speeds:
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
    found = {
        name: Speed(tokens_per_second=steps[name].tokens / statistics.median(each), seconds=each)
        for name, each in seconds.items()
    }
    return Speeds(plan_sha256=plan.sha256, torch_version=torch.__version__, processor=processor(), speeds=found)


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
