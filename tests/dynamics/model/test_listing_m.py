"""Appendix M's listings: the mended rule against Eq. 5, the printed ones against their known faults."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.model.listing_m import Flaw, ListingDecoder, listing_convolution, listing_module, unfold_shape
from dynamics.model.shift import shift_mix


def keys(length: int, heads: int = 2) -> torch.Tensor:
    return torch.arange(1, 1 + 2 * length * heads * 3).square().reshape(2, length, heads, 3)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 3))
def test_listing_convolution_is_eq5_with_reversed_columns(length, window, heads):
    x, weights = keys(length, heads), torch.arange(heads * window).reshape(heads, window) - 3
    wanted = shift_mix(x.double(), weights.flip(1).double())
    assert torch.equal(listing_convolution(x, weights).double(), wanted)
    assert unfold_shape(x, window) == (2, length, heads, 3, window)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_mended_decoder_equals_the_full_pass_for_any_chunks(chunks):
    x, weights = keys(sum(chunks)), torch.tensor([[2, 5], [-3, 4]])
    assert torch.equal(ListingDecoder(weights, Flaw.NONE).run(x, tuple(chunks)), listing_convolution(x, weights))


@pytest.mark.parametrize(
    ("flaw", "wrong"), [(Flaw.NONE, []), (Flaw.FINAL, [4, 5, 6]), (Flaw.FIRST, [4])], ids=lambda value: str(value)
)
def test_decoder_is_wrong_at_exactly_the_tokens_its_flaw_touches(flaw, wrong):
    x, weights = keys(7), torch.tensor([[2, 5], [-3, 4]])
    gap = ListingDecoder(weights, flaw).run(x, (4, 1, 1, 1)) - listing_convolution(x, weights)
    assert gap.flatten(2).ne(0).any(2).any(0).nonzero().flatten().tolist() == wrong


@pytest.mark.parametrize("flaw", [Flaw.FINAL, Flaw.FIRST])
def test_printed_rules_refuse_a_chunk_of_three_after_a_chunk_of_two(flaw):
    with pytest.raises(RuntimeError, match="must match"):
        ListingDecoder(torch.tensor([[2, 5]] * 2), flaw).run(keys(9), (4, 2, 3))


def test_listing_module_shows_each_slip_alone():
    x = torch.zeros(1, 3, 2, 4)
    with pytest.raises(AttributeError):
        listing_module(spelled="forward", returns=True)(2)
    with pytest.raises(NotImplementedError):
        listing_module(calls_super=True, returns=True)(2)(x)
    assert listing_module(calls_super=True, spelled="forward")(2)(x) is None
    assert listing_module(calls_super=True, spelled="forward", returns=True)(2)(x).shape == x.shape
