"""Attention of vanilla ALiBi models on the induction task: rows by length, and bounds that hold."""

import numpy as np
import pytest

from dynamics.comparison import induction as module
from dynamics.comparison.by_distance import ROUNDING, bound_excess, read_scopes
from dynamics.comparison.induction import CONFIG, TRAINING, by_length, induction_scopes
from dynamics.training.batches import heldout_rows
from theory import alibi

pytestmark = pytest.mark.usefixtures("one_thread")


def test_rows_of_one_length_stand_together_with_their_answers():
    batch = heldout_rows(TRAINING, CONFIG.vocab, 200)
    windows = by_length(batch)
    assert sum(len(part.tokens) for part in windows) == (batch.lengths >= module.LEAST).sum()
    for part in windows:
        length = part.tokens.shape[1] - 1
        assert (part.tokens > 0).all()
        for row in part.tokens:
            # the last token stands once before, and the answer after it
            (at,) = np.flatnonzero(row[: length - 1] == row[length - 1])
            assert row[at + 1] == row[length]


def test_scopes_of_a_short_training_resume_and_hold(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ROWS", 60)
    monkeypatch.setattr(module, "TRAINING", TRAINING.but(steps=3, batch=8, heldout_rows=32))
    scopes, accuracy = induction_scopes(tmp_path, "cpu", False)
    assert len(scopes.heads) == 2 * CONFIG.n_layers * CONFIG.n_heads and len(accuracy) == 2
    assert all(bound_excess(head).log_excess <= ROUNDING for head in scopes.heads)
    assert induction_scopes(tmp_path, "cpu", False) == (scopes, accuracy)


def test_shipped_heads_are_the_configuration_s_and_see_as_far_as_they_say():
    scopes = read_scopes(module.SHIPPED)
    assert len(scopes.heads) == module.SEEDS * CONFIG.n_layers * CONFIG.n_heads
    for head in scopes.heads:
        assert head.slope == alibi.slopes(CONFIG.n_heads)[head.head]
        assert head.sharp == alibi.scope(head.slope, head.logit_range, scopes.eps)
        over = [distance for distance, weight in enumerate(head.largest) if weight > scopes.eps]
        assert head.reach == max(over, default=-1) + 1
