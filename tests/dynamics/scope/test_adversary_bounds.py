"""The adversary against every bound: none is exceeded by random or optimised contexts."""

import pytest

from tests.dynamics.scope.adversary_cases import KINDS, ULPS, count_and_worst

BOUNDS = {
    "weight_bound", "weight_bound with self_gap", "masked_weight_bound", "dropped_mass_bound",
    "dropped_mass_bound, n_tokens", "scope", "window_for_mass", "output_error_bound",
    "output_error_bound at the worst mass",
}  # fmt: skip


def check(norm, biased, batches, heads_each, far, seed):
    seen, worst = count_and_worst(norm, biased, batches, heads_each, far, seed)
    assert set(worst) == BOUNDS | ({"sharp_weight"} - {"sharp_weight" * biased})
    assert {name: ratio for name, ratio in worst.items() if not ratio <= ULPS} == {}
    return seen


@pytest.mark.parametrize(("norm", "biased"), KINDS)
def test_no_context_exceeds_any_bound(norm, biased):
    assert check(norm, biased, batches=1, heads_each=12, far=300, seed=4) == 72


@pytest.mark.deep
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("norm", "biased"), KINDS)
def test_none_of_ten_thousand_contexts_exceeds_any_bound(norm, biased):
    assert check(norm, biased, batches=9, heads_each=47, far=4000, seed=1) == 2538
