"""Attention by distance under its bound: the adversary reaches it, nothing exceeds it; files."""

import numpy as np
import pytest

from dynamics.comparison.by_distance import read_scopes
from scripts.figures.heads import fig_scope_bounds
from theory import alibi


@pytest.fixture(scope="module")
def data():
    return fig_scope_bounds.compute(fig_scope_bounds.QUICK_SIZE)


def bounds(distances, head):
    wide, gap = alibi.logit_range(**head), alibi.self_gap(**head)
    assert wide == pytest.approx(12)
    return np.array([alibi.weight_bound(int(n), fig_scope_bounds.SLOPE, wide, gap) for n in distances])


def test_data_adversary_reaches_the_bound_of_heads_with_nearly_a_full_self_gap_and_never_exceeds_it(data):
    heads = fig_scope_bounds._built_head(), fig_scope_bounds._random_head()
    share = data.adversary / np.array([bounds(data.attacked, head) for head in heads])
    assert (share <= 1 + 1e-9).all() and (share > 0.9).all()
    assert (data.random[1:] < 0.5 * bounds(np.arange(1, len(data.random)), heads[1])).all()
    assert len(data.attacked) >= 8 and data.attacked[-1] > data.scopes[:2, 0].max()


def test_data_built_head_breaks_the_printed_scope_and_the_random_one_of_its_gains_and_range_does_not(data):
    built, random = fig_scope_bounds._built_head(), fig_scope_bounds._random_head()
    np.testing.assert_array_equal(built["gamma"], random["gamma"])
    assert alibi.logit_range(**built) == pytest.approx(alibi.logit_range(**random))
    beyond = data.attacked >= data.scopes[0, 1]
    assert (data.adversary[0, beyond] > 100 * fig_scope_bounds.EPS).any()
    assert data.scopes[0, 0] == pytest.approx(data.scopes[1, 0])
    assert data.scopes[0, 1] < data.scopes[0, 0] and data.scopes[1, 0] < data.scopes[1, 1]


def test_figure_says_the_weight_that_the_printed_scope_misses(data):
    panels = fig_scope_bounds.draw(data).axes
    (words,) = (text.get_text() for text in panels[0].texts)
    at = int(np.argmax(data.attacked >= data.scopes[0, 1]))
    assert words == f"{100 * data.adversary[0, at]:.0f} % at {data.attacked[at]},\nbeyond the\nprinted scope"
    assert [len(panel.texts) for panel in panels] == [1, 0, 0]


def test_data_scopes_are_where_the_bound_falls_below_eps_and_the_repaired_one_is_larger(data):
    for scopes, bound in zip(data.scopes, data.bound, strict=True):
        assert (bound[data.distance >= scopes[0]] <= fig_scope_bounds.EPS).all()
        assert scopes[0] < scopes[2]


def test_data_of_the_trained_head_are_the_shipped_ones_below_their_bound(data):
    seed, layer, head = data.trained[:3].astype(int)
    shipped = [one for one in read_scopes().heads if (one.seed, one.layer, one.head) == (seed, layer, head)]
    assert len(shipped) == 1 and tuple(data.measured) == shipped[0].largest
    slope, wide, gap = data.trained[3:]
    top = [alibi.weight_bound(n, slope, wide, gap) for n in range(1, len(data.measured))]
    assert (data.measured[1:] <= np.array(top) * (1 + 1e-3)).all()  # four digits are shipped
