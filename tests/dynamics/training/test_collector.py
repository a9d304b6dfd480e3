import gc

import pytest

from dynamics.training.collector import frozen_heap


def test_what_existed_is_frozen_inside_and_free_again_after_an_error():
    before = gc.get_freeze_count()
    with pytest.raises(KeyboardInterrupt), frozen_heap():
        assert gc.get_freeze_count() > before
        raise KeyboardInterrupt
    assert gc.get_freeze_count() == 0
