"""Tiny trainings without the collector's full pass over all that a test process has imported, which takes longer."""

import gc
from types import SimpleNamespace

import pytest

from dynamics.training import collector

QUICK = SimpleNamespace(collect=lambda: None, freeze=gc.freeze, unfreeze=gc.unfreeze)


@pytest.fixture(autouse=True, scope="session")
def quick_collector():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collector, "gc", QUICK)
        yield
