"""Single tokens, one layout after another: where one can begin, end or be broken off."""

from copy import deepcopy
from fractions import Fraction
from itertools import cycle
from math import inf, nan

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.razor.cache import RazorCache
from dynamics.razor.masked import MaskedAttention
from dynamics.razor.plan import ROOM, RazorPlan
from tests.dynamics.razor.cases import (
    KINDS,
    SCALE,
    TOLERANCE,
    chunked,
    decode,
    part_of,
    plans,
    slopes_of,
    small_plan,
    stream,
)


def steps_of(cache, layer=0):
    return cache._parts[layer][0].steps


def test_a_layer_of_full_heads_alone_is_not_copied_at_every_token():
    plan = RazorPlan(2, 1, (frozenset({0}),), prompt=3)
    cache = RazorCache(plan)
    decode(cache, stream(plan, 40), [30, *[1] * 10], None)
    flat = steps_of(cache).flat
    decode(cache, stream(plan, ROOM - 10, seed=1), 1, None)
    assert steps_of(cache).flat is flat


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prompt", [45, 200])
def test_tokens_of_the_prompt_that_come_one_by_one_are_not_copied_at_each(kind, prompt):
    plan = small_plan(buffer=6, share=Fraction(0), compensation=kind, prompt=prompt, centre_queries=5)
    cache, tokens, slopes = RazorCache(plan), stream(plan, 45), slopes_of(plan, True)
    decode(cache, part_of(tokens, 0, 22), [20, 1, 1], slopes)
    steps = steps_of(cache)
    decode(cache, part_of(tokens, 22, 40), 1, slopes)
    assert steps_of(cache) is steps
    decode(cache, part_of(tokens, 40, 45), 1, slopes)
    assert (steps_of(cache) is None) == (prompt == 45)


@pytest.mark.parametrize("bad", [inf, nan])
@pytest.mark.parametrize("part", [1, 2])
@pytest.mark.parametrize("buffer", [4, 70])
@pytest.mark.parametrize("sliding", [False, True])
def test_what_is_not_finite_is_forgotten_with_its_token(bad, part, buffer, sliding):
    plan = RazorPlan(2, 2, (frozenset(),), 1, buffer, Fraction(0), "none")
    window = {"window": buffer} if sliding else {}
    tokens = stream(plan, 3 * buffer + 5)
    expected = decode(lambda *x, **more: RazorCache(plan)(*x, **more, **window), tokens, tokens[0].shape[2], None)
    tokens[part][0, 1, 2] = bad
    cache = RazorCache(plan)
    found = decode(lambda *x, **more: cache(*x, **more, **window), tokens, [2, *[1] * (3 * buffer + 3)], None)
    assert found[0, 1, 2 : 2 + buffer].isfinite().all(1).sum() < buffer
    found[0, 1, 2 : 2 + buffer] = expected[0, 1, 2 : 2 + buffer]
    assert (found - expected).abs().max() < TOLERANCE


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_and_what_it_was_made_of_go_on_by_themselves(kind):
    plan = small_plan(full=(frozenset({1}), frozenset()), buffer=6, share=Fraction(0), compensation=kind, prompt=8)
    slopes, tokens = slopes_of(plan, True), stream(plan, 30)
    caches, rest = [RazorCache(plan)], part_of(tokens, 12)
    for layer in range(2):
        decode(caches[0], part_of(tokens, 0, 12), [8, *[1] * 4], slopes, layer)
    caches.append(deepcopy(caches[0]))
    assert not {*map(id, caches[0]._schedules.values())} & {*map(id, caches[1]._schedules.values())}
    assert [steps_of(caches[1], layer).schedule for layer in range(2)] == 2 * [*caches[1]._schedules.values()]
    held = caches[0].allocated()
    expected = [decode(caches[0], rest, 1, slopes, layer) for layer in range(2)]
    del caches[0]
    assert caches[0].allocated() == held
    for layer in range(2):
        assert torch.equal(decode(caches[0], rest, 1, slopes, layer), expected[layer])


@torch.no_grad()
def test_slopes_that_change_between_calls_are_the_ones_that_count():
    plan = RazorPlan(2, 2, (frozenset({0}),), buffer=3, share=Fraction(0), sinks=1)
    tokens, cache = stream(plan, 9), RazorCache(plan)
    for now, slopes in enumerate(torch.rand(9, 2, dtype=torch.float64) + 0.1):
        token = part_of(tokens, now, now + 1)
        found = cache(0, *token, scale=SCALE, slopes=slopes)
        if now:
            other = RazorCache(plan)
            other(0, *part_of(tokens, 0, now), scale=SCALE, slopes=slopes)
            assert (found - other(0, *token, scale=SCALE, slopes=slopes)).abs().max() < TOLERANCE


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_that_fails_can_be_taken_again(kind):
    plan = RazorPlan(2, 2, (frozenset(),), 1, 3, Fraction(0), kind, prompt=2)
    tokens, chunks, slopes = stream(plan, 12), [5, *[1] * 7], slopes_of(plan, True)
    expected, cache, found = decode(RazorCache(plan), tokens, chunks, slopes), RazorCache(plan), []
    for query, key, value in chunked(tokens, chunks):
        if found:
            with pytest.raises(RuntimeError):
                cache(0, query.to(torch.complex128), key, value, scale=SCALE, slopes=slopes)
        found.append(cache(0, query, key, value, scale=SCALE, slopes=slopes))
    assert torch.equal(torch.cat(found, dim=2), expected) and cache.n_tokens() == 12


moves = st.one_of(
    st.tuples(st.just("chunk"), st.integers(2, 9)),
    st.tuples(st.just("steps"), st.sampled_from([1, 3, 20, 70])),
    st.tuples(st.just("pads"), st.integers(1, 7)),
    st.tuples(st.just("beams"), st.lists(st.integers(0, 1), min_size=1, max_size=2)),
    st.tuples(st.just("copy"), st.none()),
)
begun = st.sampled_from([("chunk", 2), ("pads", 7), ("pads", 1)])
special = st.fixed_dictionaries({}, optional={"softcap": st.just(0.7), "sinks": st.just(True)})


@settings(max_examples=60)
@given(plans(n_layers=2), begun, st.lists(moves, max_size=8), st.sampled_from([None, 3, 64]), special, st.booleans())
def test_any_course_of_layers_with_and_without_a_window(plan, first, course, window, more, with_alibi):
    draw, slopes = torch.Generator().manual_seed(1), slopes_of(plan, with_alibi)
    more = more | ({"sinks": torch.linspace(-1, 1, plan.n_heads, dtype=torch.float64)} if "sinks" in more else {})
    given_to, modes = [more, more | {"window": window}], cycle([torch.no_grad, torch.inference_mode])
    cache, batch = RazorCache(plan), 2
    tokens = [part_of(stream(plan, 1), 0, 0) for _ in range(2)]
    outputs, real = [tokens[0][0]] * 2, torch.ones(2, 0, dtype=torch.bool)
    for move, how in [first, *course]:
        if move == "copy":
            cache = deepcopy(cache)
        elif move == "beams":
            index = torch.tensor(how).clamp(max=batch - 1)
            cache.reorder(index)
            tokens, outputs = [[x[index] for x in layer] for layer in tokens], [x[index] for x in outputs]
            real, batch = real[index], len(how)
        counts = [] if move in ("copy", "beams") else [1] * how if move == "steps" else [how]
        for count in counts:
            own = torch.rand(batch, count, generator=draw) < (0.6 if move == "pads" else 2)
            real = torch.cat([real, own], dim=1)
            pads, mode = {} if own.all() else {"real": own}, next(modes)
            for layer in range(2):
                new = stream(plan, count, batch, seed=2 * real.shape[1] + layer)
                with mode():
                    found = cache(layer, *new, scale=SCALE, slopes=slopes, **given_to[layer], **pads)
                tokens[layer] = [torch.cat(pair, dim=2) for pair in zip(tokens[layer], new, strict=True)]
                outputs[layer] = torch.cat([outputs[layer], found], dim=2)
    for layer in range(2):
        masked = MaskedAttention(plan)
        expected = masked(layer, *tokens[layer], scale=SCALE, slopes=slopes, **given_to[layer], real=real)
        assert ((outputs[layer] - expected).abs().amax((1, 3)) * real).max() < TOLERANCE
