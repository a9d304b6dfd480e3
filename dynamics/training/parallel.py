"""Where many trainings run: in processes of this machine, one after another, or on a dask cluster."""

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import joblib

BACKENDS = ("loky", "sequential", "dask")


def check(backend: str, n_jobs: int, scheduler: str | None) -> None:
    """Raises: ValueError for what is no backend, no number of processes, or a scheduler that does not go with it."""
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    if (backend == "dask") != (scheduler is not None):
        raise ValueError("the dask backend needs a scheduler's address, and no other backend takes one")
    if n_jobs == 0 or n_jobs < -1:
        raise ValueError(f"n_jobs must be -1 or at least 1, got {n_jobs}")


@contextmanager
def quiet_restarts() -> Iterator[None]:
    """Silence the warning of loky about a worker that it replaces because of its memory. Other deaths stay errors."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        yield


@contextmanager
def workers(backend: str = "loky", n_jobs: int = -1, scheduler: str | None = None) -> Iterator[joblib.Parallel]:
    """Calls go to these workers, one at a time each, and results come back as they are done.

    Args: n_jobs, of the loky backend (-1: one a core); scheduler, the address of a dask cluster's (the extra `hpc`).
    Raises: ValueError, one line, where dask is not installed, or no scheduler answers.
    """
    options: dict = {"return_as": "generator_unordered", "batch_size": 1}
    with _client(scheduler) if backend == "dask" else nullcontext():
        if backend == "dask":
            with joblib.parallel_config(backend="dask"), joblib.Parallel(n_jobs=-1, **options) as parallel:
                yield parallel
        else:
            with (
                quiet_restarts(),
                joblib.Parallel(n_jobs=n_jobs, backend=backend, pre_dispatch="n_jobs", **options) as parallel,
            ):
                yield parallel


def _client(scheduler: str | None) -> AbstractContextManager:
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("a cluster needs dask: pip install 'induction-workbench[hpc]'") from None
    try:
        client: AbstractContextManager = Client(scheduler)
    except (OSError, ValueError) as error:
        raise ValueError(f"no dask scheduler at {scheduler}: {error}") from None
    return client
