"""Shared settings: deterministic hypothesis in CI, longer runs under `deep`, GPU tests only where there is one."""

import gc
import os
import sys
from collections.abc import Generator
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# Two workers on two cores: torch's threads would wait for one another, spinning, and take five times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("SYMPY_CACHE_SIZE", "100000")  # as in the workers that run the claims
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("deep", deadline=None, max_examples=2000, suppress_health_check=list(HealthCheck))
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
settings.load_profile(PROFILE)
QUICK = SimpleNamespace(collect=lambda: None, freeze=gc.freeze, unfreeze=gc.unfreeze)
if PROFILE == "ci":
    # Hypothesis mixes numbers from the source of all loaded modules into its examples. Which are loaded depends on the
    # tests that ran before in this process, so that derandomised examples would still change from run to run.
    providers._get_local_constants = providers.Constants


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not any(item.get_closest_marker("gpu") for item in items):
        return
    import torch

    if torch.cuda.is_available():
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))


def pytest_collection_finish() -> None:
    """What the tests import stays to the end: the collector need not go through it again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """After every test torch has as many threads as before it: commands choose their own."""
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 0
    result = yield
    if torch:
        torch.set_num_threads(before)
    return result


@pytest.fixture
def one_thread() -> None:
    import torch

    torch.set_num_threads(1)


@pytest.fixture(autouse=True, scope="session")
def quick_collector() -> Generator[None, None, None]:
    """Tiny trainings without the collector's full pass over all that a test process has imported: it takes longer."""
    from dynamics.training import collector

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collector, "gc", QUICK)
        yield
