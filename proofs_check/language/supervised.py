"""Work in a process of its own that takes along whatever it has started when it ends.

On Linux the supervisor adopts every orphan below it, in whatever session, and kills only children of its own that it
has not waited for: no number of theirs can be another process by then. Elsewhere the process group of the work is
ended, which a child can leave. What a service of the system starts for the work (cron, a container) is not seen here.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

_CHILDREN = "/proc/thread-self/children"
_AT_PARENTS_END, _ADOPTS_ORPHANS, _NO_NEW_PRIVILEGES = 1, 36, 38  # linux/prctl.h
_MAKE_RULES, _UNDER_RULES, _SIGNALS = 444, 446, 2  # linux/landlock.h: two system calls, and what the rules are about
_SECONDS = 5


def supervised(work: Callable[[], None], parent: int) -> None:
    """Calls `work` in a child; ends what is left of it when it ends, at SIGTERM, and when the parent ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    _system("prctl", _AT_PARENTS_END, signal.SIGTERM)
    _system("prctl", _ADOPTS_ORPHANS, 1)
    if os.getppid() != parent:  # it ended before it could be watched
        return
    child = 0
    try:
        child = os.fork()
        if not child:
            _alone(work)
        os.waitpid(child, 0)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _end_children(child)


def _alone(work: Callable[[], None]) -> NoReturn:
    """The work, out of the supervisor's session, ended with the supervisor, and unable to signal what is above it."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        _system("prctl", _AT_PARENTS_END, signal.SIGKILL)
        # From Linux 6.12 on; before, the work can still kill whatever its user can.
        rules = _system("syscall", _MAKE_RULES, ctypes.byref((ctypes.c_uint64 * 3)(0, 0, _SIGNALS)), 24, 0)
        if rules >= 0:
            _system("prctl", _NO_NEW_PRIVILEGES, 1)
            _system("syscall", _UNDER_RULES, rules, 0)
        work()
    finally:
        os._exit(0)


def _end_children(child: int) -> None:
    """Kills every child until there is none: what a killed one had started becomes a child in its turn."""
    if child and not os.path.exists(_CHILDREN):
        with suppress(OSError):
            os.killpg(child, signal.SIGKILL)
    ends = time.monotonic() + _SECONDS  # a process that waits for a broken disk cannot be killed
    while time.monotonic() < ends:
        with suppress(OSError), open(_CHILDREN, encoding="ascii") as found:
            for pid in found.read().split():
                with suppress(PermissionError):  # it has become another user's
                    os.kill(int(pid), signal.SIGKILL)
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return


def _system(function: str, *arguments: object) -> int:
    """What a function of Linux returns for these arguments, the rest 0; -1 on other systems."""
    if sys.platform != "linux":
        return -1
    whole = (ctypes.c_ulong(part) if isinstance(part, int) else part for part in (*arguments, 0, 0, 0))
    return int(getattr(ctypes.CDLL(None), function)(*whole))
