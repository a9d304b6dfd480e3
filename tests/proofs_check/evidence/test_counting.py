"""The exact tests on counts against scipy's floating-point ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from proofs_check.evidence.counting import fisher_exact, sign_test

COUNT = st.integers(0, 30)


@given(COUNT, COUNT, COUNT, COUNT)
def test_fisher_exact_agrees_with_scipy(a, b, c, d):
    if a + b + c + d:
        expected = stats.fisher_exact([[a, b], [c, d]]).pvalue
        assert float(fisher_exact(((a, b), (c, d)))) == pytest.approx(expected, rel=1e-9)


@given(st.integers(1, 60), st.data())
def test_sign_test_agrees_with_scipy(trials, data):
    successes = data.draw(st.integers(0, trials))
    expected = stats.binomtest(successes, trials).pvalue
    assert float(sign_test(successes, trials)) == pytest.approx(expected, rel=1e-9)


def test_fisher_exact_of_a_perfectly_balanced_table_is_one():
    assert fisher_exact(((5, 5), (5, 5))) == 1


@pytest.mark.parametrize("table", [((0, 0), (0, 0)), ((1, -1), (0, 2))])
def test_fisher_exact_refuses_impossible_tables(table):
    with pytest.raises(ValueError, match="at least 0"):
        fisher_exact(table)


def test_sign_test_refuses_more_successes_than_trials():
    with pytest.raises(ValueError, match=r"0\.\.3"):
        sign_test(4, 3)
