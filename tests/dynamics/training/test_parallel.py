"""Workers of a machine, and what is said where there is no cluster."""

import importlib.util

import pytest

from dynamics.training.parallel import workers
from tests.dynamics.refusal import refused


def test_calls_come_back_from_one_process_or_two():
    import joblib

    for backend, n_jobs in (("sequential", 1), ("loky", 2)):
        with workers(backend, n_jobs) as parallel:
            assert sorted(parallel(joblib.delayed(pow)(2, n) for n in range(4))) == [1, 2, 4, 8]


@pytest.mark.skipif(importlib.util.find_spec("distributed") is not None, reason="dask is installed")
def test_a_cluster_without_dask_is_refused_in_a_line():
    refused(r"pip install 'induction-workbench\[hpc\]'", workers("dask", -1, "tcp://a:1").__enter__)
