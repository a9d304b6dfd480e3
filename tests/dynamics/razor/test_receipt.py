"""Receipts beside a Razor cache: never exceeded, the same in any chunks, and seen to fail where they are falsified."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.model.attention_function import full_attention
from dynamics.razor import receipt_attack
from dynamics.razor.cache import RazorCache
from dynamics.razor.plan import RazorPlan
from dynamics.razor.promise import PromiseCache
from dynamics.razor.receipt import Receipts
from dynamics.razor.receipt_attack import KINDS, Tally, attack
from tests.dynamics.razor import cases
from tests.dynamics.razor.cases import SCALE, decode, part_of, plans, sizes, slopes_of, stream
from tests.dynamics.refusal import refused
from theory.cache import receipt

PLAN = RazorPlan(4, 2, (frozenset(),), sinks=1, buffer=4, share=Fraction(0), compensation="none", prompt=5)
LENGTH = 20


def held(plan, chunks, slopes, tokens=None, **settings):
    receipts = Receipts(RazorCache(plan), measure=True, **settings)
    output = decode(receipts, tokens or stream(plan, sum(chunks)), chunks, slopes)
    return receipts, output


@given(plans(), sizes(), st.booleans(), st.integers(0, 3))
def test_no_output_is_farther_from_full_attention_than_its_receipt(plan, chunks, with_alibi, seed):
    slopes = slopes_of(plan, with_alibi)
    tokens = stream(plan, sum(chunks), seed=seed)
    receipts, output = held(plan, chunks, slopes, tokens)
    found = receipts.receipt()
    assert found.violations == 0
    full = full_attention(0, *tokens, scale=SCALE, slopes=slopes)
    measured = (output - full).norm(dim=-1).permute(0, 2, 1).numpy()
    local = np.array([head // plan.group not in plan.full[0] for head in range(plan.n_heads)])
    assert np.allclose(found.measured[:, :, 0, local], measured[..., local], atol=1e-10)
    assert (measured[..., local] <= found.bound[:, :, 0, local] + 1e-12).all()
    assert not found.bound[:, :, 0, ~local].any() and not found.share[:, :, 0, ~local].any()


@pytest.mark.parametrize("kind", cases.KINDS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_receipts_do_not_depend_on_chunks_and_leave_outputs_alone(kind, dtype):
    # with a share some steps forget nothing
    plan, slopes = replace(PLAN, compensation=kind, share=Fraction(1, 2)), slopes_of(PLAN, True)
    tokens = [x.to(dtype) for x in stream(plan, LENGTH)]
    whole, output = held(plan, [LENGTH], slopes, tokens)
    steps, _ = held(plan, [1] * LENGTH, slopes, tokens)
    parts, _ = held(plan, [7, 1, 4, 8], slopes, tokens)
    assert torch.equal(output, decode(RazorCache(plan), tokens, [LENGTH], slopes))
    loose = 1e-8 if dtype == torch.float64 else 1e-1  # outputs are rounded otherwise in other chunks
    for other in (steps, parts):
        for x, y in zip(whole.receipt(), other.receipt(), strict=True):
            assert np.allclose(x, y, atol=loose, equal_nan=True)
    assert whole.receipt().violations == 0 and whole.receipt().forgetful.any()


def test_totals_add_up_and_shares_are_shares():
    found = held(PLAN, [LENGTH], slopes_of(PLAN, False))[0].receipt()
    assert found.bound.shape == (2, LENGTH, 1, 4)
    assert found.layers == pytest.approx(np.linalg.norm(found.bound, axis=-1))
    assert found.total_of_local_errors == pytest.approx(found.layers.sum((1, 2)))
    forgets = np.arange(1, LENGTH + 1) - 4 > 1
    assert np.array_equal(found.forgetful[0, :, 0, 0], forgets & (np.arange(1, LENGTH + 1) > 5))
    assert ((found.share >= 0) & (found.share <= 1)).all() and np.isnan(found.ranged[found.forgetful]).all()
    assert 0 <= found.vacuous <= 1 and found.tightness >= 1


def test_one_forgotten_token_is_known_exactly():
    plan = replace(PLAN, prompt=0)
    found = held(plan, [6], slopes_of(plan, True))[0].receipt()
    assert found.bound[:, -1] == pytest.approx(found.measured[:, -1], rel=1e-7)


def test_sequences_are_reordered_with_what_was_said_of_them():
    tokens, slopes = stream(PLAN, LENGTH), slopes_of(PLAN, True)
    order = torch.tensor([1, 0])
    swapped = [torch.cat([x[:, :, :12], x[order][:, :, 12:]], dim=2) for x in tokens]
    receipts, _ = held(PLAN, [12], slopes, part_of(tokens, 0, 12))
    receipts.reorder(order)
    decode(receipts, part_of(swapped, 12), [8], slopes)
    expected = held(PLAN, [LENGTH], slopes, [x[order] for x in tokens])[0].receipt()
    for x, y in zip(receipts.receipt(), expected, strict=True):
        assert np.allclose(x, y, atol=1e-9, equal_nan=True)


def test_the_attack_exceeds_no_bound_and_comes_close():
    tally = attack(40_000, seed=1)
    assert tally.violations == 0 and tally.total >= 40_000
    assert all(tally.steps[kind] > 1000 and tally.closest[kind] > 0.9 for kind in KINDS)
    assert max(tally.closest_range.values()) > 0.9


@pytest.mark.deep
@pytest.mark.timeout(1200)
def test_a_million_adversarial_steps_exceed_no_bound():
    tally = attack(1_000_000, seed=7)
    assert tally.violations == 0 and tally.total >= 1_000_000
    assert min(tally.steps.values()) > 100_000


def test_a_falsified_receipt_is_found_out(monkeypatch):
    """Nothing is said to have been forgotten."""
    monkeypatch.setattr(receipt, "share", lambda log_forgotten, log_kept: 0.0 * log_kept)
    tally = Tally()
    for number in range(8):
        receipt_attack.attack_layer(np.random.default_rng([1, number]), KINDS[number % len(KINDS)], tally)
    assert tally.violations > 0


def test_a_bound_that_is_no_number_counts_as_exceeded(monkeypatch):
    monkeypatch.setattr(receipt, "receipt_bound", lambda low, *rest: np.full(np.shape(low), np.nan))
    assert attack(2_000, seed=1).violations >= 2_000


@pytest.mark.parametrize("given", [{"sinks": torch.zeros(4)}, {"window": 5}, {"softcap": 2.0}, {"causal": False}])
def test_attention_that_is_not_plain_is_refused(given):
    (name,) = given
    tokens = stream(PLAN, 3)
    caches = Receipts(RazorCache(PLAN)), PromiseCache([], 2, 0.1)
    for cache in caches:
        words = f"^receipts and promises are for causal softmax .*: this has '{name}'"
        refused(words, cache, 0, *tokens, scale=SCALE, slopes=None, **given)
    caches[0](0, *tokens, scale=SCALE, slopes=None, window=None, causal=True)


def test_what_cannot_have_a_receipt_is_refused():
    cache = RazorCache(PLAN)
    refused(r"^there is no receipt before the first step", Receipts(cache).receipt)
    refused(r"^the weights are of 0 layers, the plan is of 1", Receipts, cache, [])
    decode(cache, stream(PLAN, 4), [4], None)
    refused(r"^receipts begin with a cache that is empty, this one has seen 4 tokens", Receipts, cache)
    receipts = Receipts(RazorCache(PLAN))
    decode(receipts, stream(PLAN, LENGTH), [LENGTH], None)
    refused(r"^violations are counted against what is measured", lambda: receipts.receipt().violations)
    refused(r"^steps must be at least 1, got 0", attack, 0)
