"""ALiBi slopes, the printed scope, and bounds of arrays; tests/theory/directions.txt has what each bound is."""

import math

import numpy as np
import pytest

from tests.theory.cases import refuses
from theory import alibi


def test_slopes_of_other_head_counts_are_those_of_the_authors():
    assert alibi.slopes(6) == [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]
    for n_heads in range(1, 70):
        found = alibi.slopes(n_heads)
        assert len(set(found)) == n_heads and min(found) > 0 and max(found) < 1


def test_printed_scope_is_the_printed_formula():
    w_q, w_k = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[3.0, 0.0], [1.0, 1.0]])
    norm = np.linalg.svd(w_q.T @ w_k)[1][0]
    found = alibi.printed_scope(w_q, w_k, [1.0, 2.0], [3.0, 0.0], 0.25, 0.01)
    assert found == pytest.approx((2 * norm * 14 - math.log(0.01)) / 0.25, rel=1e-14)
    assert alibi.printed_scope(w_q, w_k, [1.0, 2.0], None, 0.25, 0.01) < found


def test_bounds_of_arrays_are_those_of_their_numbers():
    slopes, eps = np.array([0.0, 0.5, 2.0])[:, None], [1e-3, 0.5]
    found = alibi.scope(slopes, 12, eps)
    assert found.tolist() == [[alibi.scope(s, 12, e) for e in eps] for s in slopes[:, 0]]
    without = alibi.weight_bound(np.arange(6), 0.5, logit_range=3.0)
    assert without.tolist() == [alibi.weight_bound(n, 0.5, 3.0) for n in range(6)]
    assert type(alibi.scope(0.5, 12, 1e-3)) is float and type(alibi.scope(np.float64(0.5), 12, np.array(1e-3))) is float
    assert alibi.scope([], 12.0, 0.1).shape == (0,)
    told = "do not broadcast: slope (2,), logit_range (3,)"
    refuses(lambda: alibi.scope([0.1, 0.2], [1.0, 2.0, 3.0], 0.1), told)
