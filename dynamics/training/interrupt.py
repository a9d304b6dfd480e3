"""Ctrl-C takes effect between two training steps and never inside one."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def deferred_interrupt() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C sets instead of raising; the caller looks at it where stopping is safe.

    Outside the main thread Python delivers no signals: the event then just stays unset. A second Ctrl-C raises at
    once; files stay whole because they are written atomically.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def handler(signum: int, frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, previous)
