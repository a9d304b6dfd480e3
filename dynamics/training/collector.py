"""Python's garbage collector during training."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def frozen_heap() -> Iterator[None]:
    """Keep what exists now out of the collector's sight until the end.

    Autograd's objects make it run every few steps, and its full passes walk every imported module: 8 % of the time of
    a small training step.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
