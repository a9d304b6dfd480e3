"""Folders by their bytes, and work that is killed in the middle of one and called again."""

import os
import signal
import subprocess
import sys
from functools import partial
from itertools import count
from pathlib import Path

import torch

from dynamics.observed.task import LOG
from dynamics.training import collector
from dynamics.training.checkpoint import save
from tests.conftest import QUICK

ROOT = Path(__file__).resolve().parents[2]


def contents(folder):
    """The bytes of each file, but for the log of a training, which tells seconds."""
    files = [path for path in sorted(Path(folder).rglob("*")) if path.is_file() and path.name != LOG]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def saved(folder, model):
    """A model that nothing is told of."""
    save(folder, model, seed=0, threads=1, device="cpu", training={}, metrics={})


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


def kill_before_every_file_operation(work, root):
    """For k = 1, 2, ..: work in a new folder, killed before its k-th rename or removal, then again; print the last."""

    def counted(name, left):
        plain = getattr(os, name)

        def operation(path, *arguments, **options):
            left[0] -= os.path.exists(path)  # removing what is not there is no operation
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return plain(path, *arguments, **options)

        setattr(os, name, operation)

    def action(folder, number):
        left = [number]
        for name in ("replace", "unlink"):
            counted(name, left)
        work(folder)

    work(Path(root) / "0")  # torch imports more at its first step
    for number in count(1):
        folder = Path(root) / str(number)
        if not forked(partial(action, folder, number)):
            break
        work(folder)
    print(number - 1)


def alone():
    """One thread, and the collector as in all tests."""
    torch.set_num_threads(1)
    collector.gc = QUICK


def check_kills(works, folder):
    """Each work, by the module whose names it has: killed before any file operation and called again, it ends with the
    bytes of the folder that never was; returns the numbers of kills.

    All run in one fresh interpreter, which imports once and forks: moments are the works', not the imports'.
    """
    code = "from tests.dynamics.folders import *; alone()"
    for module, work in works.items():
        code += f"; from {module} import *; kill_before_every_file_operation({work}, {str(folder / module)!r})"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for module in works:
        first, *others = [contents(one) for one in (folder / module).iterdir()]
        assert all(one == first for one in others)
    return [int(number) for number in done.stdout.split()]
