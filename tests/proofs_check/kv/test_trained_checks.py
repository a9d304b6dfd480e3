"""Margins on shipped trainings and sweeps, with planted runs and counts a little off."""

from types import SimpleNamespace

import pytest

from proofs_check.kv.trained import checks
from proofs_check.kv.trained.hop_data import ERRORS, HOPS, ROWS, positions


def test_a_loss_that_is_not_finite_is_no_falling_loss(monkeypatch):
    def planted(losses):
        monkeypatch.setattr(checks, "shipped", lambda _: [SimpleNamespace(loss=losses)])
        return checks.loss_falls(("any", "a"))

    assert planted([2.5, 1.0]) == 1.5
    assert planted([2.5, None]) == 0


CURVES = {"high": [[0.2, 0.9], [0.3, 0.95, 0.95]], "low": [[0.2, 0.3, 0.5], [0.2, 0.3, 0.9]]}


@pytest.fixture(autouse=True)
def _planted(monkeypatch):
    monkeypatch.setattr(checks, "shipped", lambda name: [SimpleNamespace(accuracy=curve) for curve in CURVES[name]])


def test_largest_gap_holds_the_last_score_of_a_run_that_stopped():
    # Medians of high: 0.25, 0.925, 0.925; of low: 0.2, 0.3, 0.7.
    assert checks.largest_gap(("high", "low")) == pytest.approx(0.625)
    assert checks.largest_gap(("low", "low")) == 0


def test_final_error_is_the_median_at_the_end():
    assert checks.final_error("high") == pytest.approx(0.075)


@pytest.mark.parametrize("counts", ERRORS.values(), ids=map(str, ERRORS))
def test_published_errors_are_numbers_of_the_scored_positions(counts):
    assert len(counts) == len(HOPS)
    assert all(0 <= count <= ROWS * positions(k) for k, count in zip(HOPS, counts, strict=True))
