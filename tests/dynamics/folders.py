"""Folders by their bytes, and work that is killed in the middle of one and called again."""

import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

from dynamics.observed.task import LOG
from dynamics.training import collector
from tests.conftest import QUICK

ROOT = Path(__file__).resolve().parents[2]


def contents(folder):
    """The bytes of each file, but for the log of a training, which tells seconds."""
    files = [path for path in sorted(Path(folder).rglob("*")) if path.is_file() and path.name != LOG]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def filled(folder, files):
    """A folder that has these contents."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def forked(action) -> bool:
    """Run action in a child; return whether it was killed."""
    child = os.fork()
    if child == 0:
        try:
            action()
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or status == 0
    return os.WIFSIGNALED(status)


def killed_after(seconds, work, folder) -> bool:
    def action():
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))  # its own action is polite
        signal.setitimer(signal.ITIMER_REAL, seconds)
        work(folder)

    return forked(action)


def kill_at_random_moments(work, root, kills, longest):
    """Kill and resume until that many kills have hit; a folder that comes to its end is kept, and another begun."""
    drawn, hits, finished = random.Random(kills), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        work(folder)  # does not count: torch imports more at its first step
    while hits < kills:
        killed = killed_after(drawn.uniform(1e-4, longest), work, Path(root) / str(finished))
        hits, finished = hits + killed, finished + (not killed)
    work(Path(root) / str(finished))


def alone():
    """One thread, and the collector as in all tests."""
    torch.set_num_threads(1)
    collector.gc = QUICK


def interpreter(module, call):
    """The output of a call in a fresh interpreter, which imports once and forks: moments are the work's, not imports'.

    The call may name what the module has, and what this one has.
    """
    code = f"from tests.dynamics.folders import *; alone(); from {module} import *; {call}"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_kills(module, work, folder, kills, longest, whole):
    """All folders have the bytes of the whole one, after so many kills within the longest time."""
    interpreter(module, f"kill_at_random_moments({work}, {str(folder)!r}, {kills}, {longest})")
    assert os.listdir(folder)
    assert all(contents(one) == whole for one in folder.iterdir())
