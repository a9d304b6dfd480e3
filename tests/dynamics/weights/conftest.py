"""A tiny Llama on disk."""

import pytest

from tests.dynamics.weights import checkpoint_files as files


@pytest.fixture
def folder(tmp_path):
    return files.write(tmp_path / "model", files.LLAMA, files.random_tensors(files.SHAPES))
