"""Margins on shipped trainings, with planted runs and counts a little off."""

from types import SimpleNamespace

import dynamics.sweep.shipped as results
from proofs_check.kv.trained import coupling_checks as coupling
from proofs_check.kv.trained import decoupling, variants
from proofs_check.kv.trained.sweep_margins import arrivals, medians


def test_numbers_named_in_statements_are_checked():
    assert coupling.count("signs", (232, 256)).value == 0 > coupling.count("signs", (231, 256)).value
    assert coupling.count("cells", (12, 167, 40, 37)).value == 0 > coupling.count("cells", (12, 167, 40, 36)).value
    vanilla = ("decoupling", "width-16.vanilla-2")
    assert medians((vanilla,), (None,)).value == 0 > medians((vanilla,), (2500,)).value
    assert arrivals(vanilla, 3).value == 0 > arrivals(vanilla, 4).value


def test_a_loss_that_is_not_finite_is_no_falling_loss(monkeypatch):
    def planted(losses):
        run = SimpleNamespace(job=SimpleNamespace(name="a.seed-0"), loss=losses)
        monkeypatch.setattr(results, "shipped_sweep", lambda _: SimpleNamespace(results=[run]))
        return variants._loss_falls("any", "a").value

    assert planted([2.5, 1.0]) > 0
    assert planted([2.5, None]) < 0
    assert planted([2.5, 2.4]) < 0


def test_usual_circuit_needs_keys_and_values_apart():
    assert decoupling.circuit(6, "previous", "own").value == 0
    for keys, values in (("own", "own"), ("previous", "previous"), ("own", "previous")):
        assert decoupling.circuit(6, keys, values).value < 0
