"""A Razor cache fed in chunks = the masked full computation: every kind of compensation, GQA, ALiBi, prompts, beams."""

from hypothesis import given
from hypothesis import strategies as st

from tests.dynamics.razor_cases import TOLERANCE, cache_gap, plans, sizes, slopes_of


@given(plans(), sizes(), st.booleans(), st.integers(0, 9))
def test_cache_in_chunks_equals_the_masked_computation(plan, chunks, with_alibi, seed):
    with_alibi = with_alibi or plan.compensation == "alibi"
    assert cache_gap(plan, chunks, slopes_of(plan, with_alibi), seed=seed) < TOLERANCE
