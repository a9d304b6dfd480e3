"""Steps are timed in turn, one of each entry, and the median is what counts."""

import statistics

import pytest
import torch

from dynamics.arena.speed import WARM_UP, _Step, measure, processor
from dynamics.tasks.corpus import standard_library
from tests.dynamics.arena.cases import TRAINING, plan


def test_each_entry_is_timed_in_turn(monkeypatch):
    calls, plain, before = [], _Step.__call__, torch.get_num_threads()

    def counted(self, number):
        calls.append((self.run.config.values.kind, self.run.config.shift, number))
        return plain(self, number)

    monkeypatch.setattr(_Step, "__call__", counted)
    found = measure(plan(), ["kv", "vanilla"], standard_library(), rounds=3)
    assert torch.get_num_threads() == before
    assert calls == [("own", shift, number) for number in range(WARM_UP + 3) for shift in ("kv", "none")]
    assert found.plan_sha256 == plan().sha256
    assert found.processor == processor()
    for one in found.speeds.values():
        assert len(one.seconds) == 3
        assert one.tokens_per_second == pytest.approx(TRAINING.rows * TRAINING.length / statistics.median(one.seconds))
