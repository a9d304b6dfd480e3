"""The branches of critical points on the slice: gradients vanish, the Hessian has the sign of its branch."""

import numpy as np
import pytest

from theory import landscape
from theory.landscape.slice_branches import FOLD_BETA1, branch

BETAS = -np.geomspace(0.01, 250, 30)


@pytest.fixture(scope="module")
def found():
    return branch(BETAS)


def on_slice(found):
    return found.alpha1, 1 - found.alpha1, found.beta1, 1 - found.beta1, found.n_tokens


def test_branch_is_critical(found):
    g = landscape.gradient(*on_slice(found))
    np.testing.assert_allclose(g[:, [0, 2]] - g[:, [1, 3]], 0, atol=1e-13)


def test_branch_is_a_saddle_above_the_fold_and_a_minimum_below(found):
    h = landscape.hessian(*on_slice(found))
    turn = np.array([[1, -1, 0, 0], [0, 0, 1, -1]])
    low, high = np.linalg.eigvalsh(turn @ h @ turn.T).T
    np.testing.assert_array_equal(np.sign(low), np.where(found.beta1 > FOLD_BETA1, -1, 1))
    assert (high > 0).all()


def test_branch_passes_through_the_points_of_the_claims():
    betas = np.array([-0.2851, -1.7223, -16.409, -0.0146, -233.92])
    found = branch(betas)
    np.testing.assert_allclose(found.alpha1, [0.9768, 1.3192, 1.5570, 0.9967, 1.5830], atol=1e-4)
    np.testing.assert_allclose(found.n_tokens, [15, 15, 50, 300, 300], rtol=2e-3)


def test_branch_has_its_least_number_of_tokens_at_the_fold(found):
    assert branch(FOLD_BETA1).n_tokens == pytest.approx(10.81120246, abs=1e-8)
    order = np.argsort(found.beta1)
    assert (np.diff(np.sign(np.diff(found.n_tokens[order]))) >= 0).all() and found.n_tokens.min() > 10.8112


@pytest.mark.parametrize("beta", [0.0, 1.0, -1e4, [-1.0, np.nan]])
def test_branch_refuses_a_beta_out_of_range(beta):
    with pytest.raises(ValueError, match="beta1 must lie"):
        branch(beta)
