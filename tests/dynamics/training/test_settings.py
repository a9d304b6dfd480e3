"""Settings of a training: one record for every task, and one map from records of the form before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamics.model.config import ModelConfig
from dynamics.tasks.hop import Hop
from dynamics.tasks.induction import Induction
from dynamics.tasks.mqar import MQAR
from dynamics.tasks.trigram import Trigram
from dynamics.training.settings import FLAT, TrainConfig, by_task
from dynamics.training.state import _check_settings

OLD = {
    "steps": 2, "batch": 4, "learning_rate": 0.1, "warmup": 3, "final_lr": 1.0, "weight_decay": 0.5, "beta2": 0.9,
    "clip": 2.0, "seed": 7, "task": "induction", "pool": 12, "pairs": 8, "symbols": 5, "hops": 3, "least_hops": 1,
    "length": 16, "heldout_rows": 32,
}  # fmt: skip
SHARED = TrainConfig(
    steps=2, batch=4, learning_rate=0.1, warmup=3, weight_decay=0.5, beta2=0.9, clip=2.0, seed=7, heldout_rows=32
)
TASKS = {
    "induction": Induction(pool=12),
    "trigram": Trigram(pairs=8, length=16),
    "hop": Hop(symbols=5, hops=3, least_hops=1, length=16),
    "mqar": MQAR(pairs=8, length=16),
}
tasks = st.one_of(
    st.builds(Induction, pool=st.integers(3, 1000)),
    st.builds(Trigram, pairs=st.integers(1, 99), length=st.integers(2, 99)),
    st.builds(Hop, hops=st.integers(0, 9), least_hops=st.none() | st.integers(0, 9)),
    st.builds(MQAR, pairs=st.integers(1, 99)),
)


@pytest.mark.parametrize("name", TASKS)
def test_a_record_of_the_form_before_is_read_as_the_task_it_trained(name):
    assert TrainConfig.checked(OLD | {"task": name}) == SHARED.but(task=TASKS[name])
    assert FLAT.keys() == TASKS.keys()


@given(task=tasks)
def test_a_record_is_read_back_as_it_was_written(task):
    settings = SHARED.but(task=task)
    assert TrainConfig.checked(settings.model_dump()) == settings
    assert TrainConfig.parsed(settings.model_dump_json().encode(), "settings") == settings


def test_an_interrupted_run_of_the_form_before_goes_on_with_the_same_settings_only():
    config = ModelConfig()
    before = by_task({**config.model_dump(), **OLD, "task": "hop"})
    same = SHARED.but(task=TASKS["hop"])
    _check_settings(before, {**config.model_dump(), **same.model_dump()}, "state")
    other = same.with_task(hops=2, least_hops=None)
    with pytest.raises(ValueError, match=r"the interrupted run has task\.hops=3, not 2"):
        _check_settings(before, {**config.model_dump(), **other.model_dump()}, "state")
