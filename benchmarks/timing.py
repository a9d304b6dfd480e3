"""Measuring: interleaved medians of CPU time, and peak memory in a process of its own.

CPU time of one thread equals wall time on an idle core and, unlike it, does not count the programs that share the core.
Only ratios of one interleaved run mean anything; seconds drift from run to run.
"""

import importlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Times:
    """Seconds of each variant, round by round."""

    def __init__(self, rounds: dict[str, list[float]]):
        self.rounds = rounds

    def seconds(self, name: str) -> float:
        """The median."""
        return statistics.median(self.rounds[name])

    def ratio(self, slow: str, fast: str) -> float:
        """Median over the rounds of slow / fast within a round, so that a slow spell of the machine cancels."""
        return statistics.median(s / f for s, f in zip(self.rounds[slow], self.rounds[fast], strict=True))


def interleave(variants: dict[str, Callable[[], object]], rounds: int, calls: dict[str, int] | None = None) -> Times:
    """Time every variant once a round, after one round that does not count.

    calls: how often a variant runs in a row to make up one timing (default once), for calls of microseconds.
    """
    times: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(rounds + 1):
        for name, variant in variants.items():
            number = (calls or {}).get(name, 1)
            start = time.process_time()
            for _ in range(number):
                variant()
            times[name].append((time.process_time() - start) / number)
    return Times({name: values[1:] for name, values in times.items()})


def peak_extra(function: Callable[[], object]) -> int:
    """Bytes by which the process's resident memory peaks above its present size while `function` runs (Linux).

    VmHWM is reset first: ru_maxrss would still hold the peak of the process that forked this one.
    """
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    result = function()
    peak = _status("VmHWM")
    del result
    return peak - before


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"/proc/self/status has no {key}: peak memory is measured on Linux only")


def peak_in_fresh_process(module: str, prepare: str, *arguments: str) -> int:
    """`peak_extra(module.prepare(*arguments))` in a new process; `prepare` returns the function to measure."""
    command = [sys.executable, "-m", "benchmarks.timing", module, prepare, *arguments]
    return int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    print(peak_extra(getattr(importlib.import_module(sys.argv[1]), sys.argv[2])(*sys.argv[3:])))
