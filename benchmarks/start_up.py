"""`--help` of every command line against importing the heavy libraries first; each in a fresh interpreter."""

import resource
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

from benchmarks.row import Comparison, Guard, Limit, Row
from benchmarks.timing import ROOT
from scripts.commands import table

_HEAVY = ("torch", "sympy", "scipy", "matplotlib.pyplot")
_HELP = (
    "import runpy, sys; sys.argv[1:] = sys.argv[1].split() + ['--help']; "
    "runpy.run_module('scripts', run_name='__main__')"
)
_EAGER = f"import {', '.join(_HEAVY)}, scipy.integrate; {_HELP}"
_LOADED = f"""
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    {_HELP}
print(sum(heavy in sys.modules for heavy in {_HEAVY}))
"""


class Run(NamedTuple):
    """What one child process took, and its standard output."""

    cpu: float
    wall: float
    output: str


def measure(quick: bool) -> Row:
    commands = [*table.COMMANDS, *(f"{group} {name}" for group, (_, names) in table.GROUPS.items() for name in names)]
    rounds = 1 if quick else 5
    bare, eager, times = [], [], {name: [] for name in commands}
    python("pass")
    for _ in range(rounds):
        bare.append(python("pass"))
        eager.append(python(_EAGER, commands[0]))
        for name in commands:
            times[name].append(python(_HELP, name))
    ours = {name: statistics.median(run.cpu for run in runs) for name, runs in times.items()}
    slowest = max(ours, key=ours.__getitem__)
    all_eager = statistics.median(run.cpu for run in eager)
    loaded = sum(int(python(_LOADED, name).output) for name in commands)
    guards = [Guard("heavy libraries imported by --help", loaded, 0)]
    if not quick:
        # The fastest of the rounds: a wall clock on a shared machine measures the other programs as well.
        wall = max(min(run.wall for run in runs) for runs in times.values())
        guards.insert(0, Guard("seconds on the wall, the slowest --help", wall, 0.3))
    return Row(
        "start_up",
        [Comparison(f"eager imports ({slowest}, the slowest of {len(ours)})", all_eager, ours[slowest],
                    all_eager / ours[slowest], 5)],
        [Limit("a bare interpreter", ours[slowest] / statistics.median(run.cpu for run in bare))],
        guards,
    )  # fmt: skip


def python(code: str, *arguments: str) -> Run:
    """Run code in a new interpreter. Raises RuntimeError with its last line of errors if it fails."""
    before, start = _children_cpu(), time.perf_counter()
    child = subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True)
    wall = time.perf_counter() - start
    if child.returncode:
        raise RuntimeError(f"a child process failed: {child.stderr.strip().splitlines()[-1:]}")
    return Run(_children_cpu() - before, wall, child.stdout)


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
