"""transformers, without its warnings and bars."""

import pytest


@pytest.fixture(scope="module")
def hf():
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return transformers
