"""Arb's working precision, set and kept by one thread at a time.

`flint.ctx.prec` is one number of the whole process. Two threads that set it by themselves compute at each other's
precision, and whichever leaves last leaves its own behind. An enclosure stays sound at any precision, but it may become
useless, and no longer the same from run to run. So a computation with balls takes `held`, a re-entrant lock, and sets
the precision through `working`, which takes it too: its balls then depend on nothing that another thread does, as long
as that one does the same. Everything in this library does. Code that sets `flint.ctx.prec` without the lock, or that
computes with balls outside of it while other threads work, is on its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

from flint import ctx

held = RLock()


@contextmanager
def working(bits: int) -> Iterator[None]:
    """This many bits inside the block, for this thread alone, and what they were before after it."""
    with held:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before
