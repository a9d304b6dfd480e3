"""Single tokens, one layout after another: every place where one can begin, end or be broken off."""

from fractions import Fraction
from itertools import product

import pytest
import torch

from dynamics.razor.cache import RazorCache
from dynamics.razor.layer import RazorLayer
from dynamics.razor.logits import Logits
from dynamics.razor.plan import ROOM, RazorPlan
from dynamics.razor.schedule import Schedule
from tests.dynamics.razor.cases import SCALE, TOLERANCE, cache_gap, decode, slopes_of, stream

KINDS = ("none", "mean", "alibi", "centred")
SHARES = (Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(1))
FULL = (frozenset(), frozenset({1}), frozenset({0, 1, 2}))
CHUNKS = ([1] * 14, [2, *[1] * 12], [5, 1, 1, 1, 3, 1, 1, 1])


def slopes_for(plan, with_alibi):
    return slopes_of(plan, with_alibi or plan.compensation == "alibi")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("with_alibi", [False, True])
def test_small_windows_sinks_prompts_and_shares(kind, with_alibi):
    for sinks, buffer, share, prompt, full in product((0, 1, 4, 6), (1, 2, 5), SHARES, (1, 7), FULL):
        plan = RazorPlan(6, 3, (full,), sinks, buffer, share, kind, prompt)
        for chunks in CHUNKS:
            assert cache_gap(plan, chunks, slopes_for(plan, with_alibi)) < TOLERANCE, (plan, chunks)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 5)])
def test_longer_than_a_layout_and_broken_off_anywhere(kind, share):
    plan = RazorPlan(4, 2, (frozenset({1}),), sinks=3, buffer=70, share=share, compensation=kind, prompt=80)
    for chunks in ([80, *[1] * (3 * ROOM)], [80, *[1] * 37, 5, *[1] * 70, 2, 1, 2, 1], [300, *[1] * (2 * ROOM + 1), 9]):
        assert cache_gap(plan, chunks, slopes_for(plan, True)) < TOLERANCE


@pytest.mark.parametrize("kind", KINDS)
def test_beams_in_the_middle_of_a_layout(kind):
    plan = RazorPlan(4, 2, (frozenset({1}),), 2, 6, Fraction(0), kind, 8)
    slopes = slopes_for(plan, True)
    tokens, cache, whole = stream(plan, 30), RazorCache(plan), RazorCache(plan)
    expected = decode(whole, tokens, [8, *[1] * 22], slopes)
    decode(cache, [x[:, :, :12] for x in tokens], [8, *[1] * 4], slopes)
    swap = torch.tensor([1, 0])
    cache.reorder(swap)
    found = decode(cache, [x[swap, :, 12:] for x in tokens], [1] * 18, slopes)
    assert torch.equal(found[swap], expected[:, :, 12:])


def steps_of(cache, layer=0):
    return cache._parts[layer][0].steps


def test_a_layer_of_full_heads_alone_is_not_copied_at_every_token():
    plan = RazorPlan(2, 1, (frozenset({0}),), prompt=3)
    cache = RazorCache(plan)
    decode(cache, stream(plan, 40), [30, *[1] * 10], None)
    flat = steps_of(cache).flat
    decode(cache, stream(plan, ROOM - 10, seed=1), 1, None)
    assert steps_of(cache).flat is flat


def test_layers_that_stand_alike_share_a_schedule():
    plan = RazorPlan(2, 2, (frozenset({0}), frozenset(), frozenset({0, 1})), buffer=90, share=Fraction(0))
    cache, slopes, tokens = RazorCache(plan), slopes_of(plan, True), stream(plan, 12)
    for token in zip(*(x.split(1, dim=2) for x in tokens), strict=True):
        for layer in range(3):
            cache(layer, *token, scale=SCALE, slopes=slopes)
    used = [steps_of(cache, layer).schedule for layer in range(3)]
    assert used[0] is used[1] is used[2] and [*cache._schedules.values()] == used[:1]
    decode(cache, stream(plan, 3), [2, 1], slopes, layer=1)
    assert steps_of(cache, 1).schedule is not used[0] and len(cache._schedules) == 2
    del used
    for layer in range(3):
        decode(cache, stream(plan, 2), 2, slopes, layer=layer)
    assert not cache._schedules


def test_slopes_that_change_between_calls_are_the_ones_that_count():
    plan = RazorPlan(2, 2, (frozenset({0}),), buffer=3, share=Fraction(0), sinks=1)
    tokens, cache = stream(plan, 9), RazorCache(plan)
    for now, slopes in enumerate(torch.rand(9, 2, dtype=torch.float64) + 0.1):
        token = [x[:, :, now : now + 1] for x in tokens]
        found = cache(0, *token, scale=SCALE, slopes=slopes)
        if now:
            other = RazorCache(plan)
            other(0, *(x[:, :, :now] for x in tokens), scale=SCALE, slopes=slopes)
            assert (found - other(0, *token, scale=SCALE, slopes=slopes)).abs().max() < TOLERANCE


def test_a_step_that_fails_can_be_taken_again():
    plan = RazorPlan(2, 2, (frozenset({0}),), buffer=3, share=Fraction(0), sinks=1)
    tokens, chunks, schedules = stream(plan, 12), [5, *[1] * 7], {}
    expected = decode(RazorCache(plan), tokens, chunks, None)

    def schedule(plan, n, like):
        return schedules.setdefault(n, Schedule(plan, n, like.dtype, like.device))

    layer, found = RazorLayer(plan, 0, None), []
    for query, key, value in zip(*(x.split(chunks, dim=2) for x in tokens), strict=True):
        if found:
            with pytest.raises(RuntimeError):
                layer.read(query.to(torch.complex128), key, value, Logits(SCALE), schedule)
        found.append(layer.read(query, key, value, Logits(SCALE), schedule))
    assert torch.equal(torch.cat(found, dim=2), expected)
