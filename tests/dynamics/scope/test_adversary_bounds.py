"""The adversary against every bound: none is exceeded by random or optimised contexts."""

import pytest

from tests.dynamics.scope.adversary_cases import KINDS, ULPS, count_and_worst

BOUNDS = {
    "weight_bound", "weight_bound with self_gap", "masked_weight_bound", "dropped_mass_bound",
    "dropped_mass_bound, n_tokens", "scope", "window_for_mass", "output_error_bound",
    "output_error_bound at the worst mass",
}  # fmt: skip


@pytest.mark.parametrize(("norm", "biased"), KINDS)
@pytest.mark.parametrize(
    ("batches", "heads_each", "far", "seed"),
    [(1, 12, 300, 4), pytest.param(9, 47, 4000, 1, marks=[pytest.mark.deep, pytest.mark.timeout(1800)])],
    ids=["72 contexts", "2538 contexts"],
)
def test_no_context_exceeds_any_bound(norm, biased, batches, heads_each, far, seed):
    seen, worst = count_and_worst(norm, biased, batches, heads_each, far, seed)
    assert set(worst) == BOUNDS | ({"sharp_weight"} - {"sharp_weight" * biased})
    assert {name: ratio for name, ratio in worst.items() if not ratio <= ULPS} == {}
    assert seen == 6 * batches * heads_each
