"""Plans: the window of each query, the groups kept whole, every byte of the cache accounted, and their files."""

import gc
import json
import weakref
from fractions import Fraction
from math import ceil

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.razor.cache import RazorCache
from dynamics.razor.plan import RazorPlan, razor_bytes, spare_bytes
from dynamics.razor.plan_file import parse_plan, plan_text, read_plan, write_plan
from tests.dynamics.razor.cases import KINDS, chunked, decode, plans, sizes, slopes_of, small_plan, stream
from tests.dynamics.refusal import refused

ONE = (frozenset(),)
shares = st.fractions(0, 1, max_denominator=40)


@given(st.integers(1, 50), shares, st.integers(0, 400))
def test_window_never_moves_back_and_holds_its_share(buffer, share, n):
    plan = RazorPlan(1, 1, ONE, buffer=buffer, share=share)
    window = n - plan.start(n)
    assert window == min(n, max(buffer, ceil(n * share)))
    assert plan.start(n) <= plan.start(n + 1) <= plan.start(n) + 1


@given(st.integers(1, 30), shares, st.integers(0, 40), st.integers(1, 90))
def test_what_is_stored_covers_all_later_queries(buffer, share, prompt, n):
    plan = RazorPlan(1, 1, ONE, buffer=buffer, share=share, prompt=prompt)
    assert plan.seen_from(n) == (0 if n <= prompt else plan.start(n))
    assert plan.kept_from(n) <= min(plan.seen_from(later) for later in range(n + 1, n + 60))


@pytest.mark.parametrize(("context", "buffer"), [(None, 4000), (1, 1), (256, 52), (4096, 820), (10**6, 4000)])
def test_default_window_follows_the_context_and_is_that_of_table_2_from_20000_tokens_on(context, buffer):
    plan = RazorPlan.for_heads([], 1, 8, 8, context=context)
    windows = [n - plan.start(n) for n in (1, 256, 3999, 8000, 20000, 20001, 100000)]
    assert windows == [1, *(max(min(buffer, n), ceil(n / 5)) for n in (256, 3999, 8000)), 4000, 4001, 20000]
    assert RazorPlan.for_heads([], 1, 8, 8, context=context, buffer=7).buffer == 7


@given(plans(n_layers=2), st.integers(1, 60))
def test_a_plan_drops_something_where_a_head_holds_fewer_tokens_than_it_saw(plan, n):
    held = [n if head in full else plan.n_kept(n) for full in plan.full for head in range(plan.n_kv_heads)]
    assert plan.drops(n) == (min(held) < n)


def test_group_is_full_if_any_of_its_query_heads_is_a_retrieval_head():
    plan = RazorPlan.for_heads([(0, 0), (0, 3), (0, 5), (2, 7)], 3, 8, 4, sinks=1)
    assert plan.full == (frozenset({0, 1, 2}), frozenset(), frozenset({3})) and plan.sinks == 1 and plan.group == 2
    assert RazorPlan.for_heads([(0, 3)], 1, 4, 4).full == (frozenset({3}),)
    assert RazorPlan.for_heads([], 2, 4, 1).full == (frozenset(), frozenset())


def reachable_storages(root, *given):
    """Bytes by address of every storage that can be reached from an object, whatever holds it, but what was given."""
    seen, stack, found = set(), [root], {}
    while stack:
        thing = stack.pop()
        if id(thing) in seen or isinstance(thing, type) or (callable(thing) and thing is not root):
            continue
        seen.add(id(thing))
        if isinstance(thing, torch.Tensor):
            found[thing.untyped_storage().data_ptr()] = thing.untyped_storage().nbytes()
        else:
            stack.extend(gc.get_referents(thing))
    own = [x.untyped_storage().data_ptr() for x in given if x is not None]
    return {address: size for address, size in found.items() if address not in own}


DTYPES = st.sampled_from([torch.float64, torch.float32, torch.bfloat16])
CHUNKS = sizes() | st.integers(1, 99).map(lambda more: [9, *[1] * more])


@given(plans(n_layers=3), CHUNKS, DTYPES, st.integers(1, 3), st.sampled_from([None, 3, 70]), st.booleans())
def test_bytes_held_equal_the_formula_after_every_chunk(plan, chunks, dtype, batch, window, with_alibi):
    """Of layers of several windows that go on together."""
    tokens = [x.to(dtype) for x in stream(plan, sum(chunks), batch=batch)]
    tokens[2] = torch.cat([tokens[2], tokens[2][..., :2]], dim=-1)  # values wider than keys
    windows, cache, slopes, n = (window, None, window), RazorCache(plan), slopes_of(plan, with_alibi), 0
    assert cache.nbytes() == 0
    for part in chunked(tokens, chunks):
        for layer in range(3):
            cache(layer, *part, scale=1.0, slopes=slopes, window=windows[layer])
        n += part[0].shape[2]
        size = {"value_dim": 6, "batch": batch, "windows": windows}
        expected, held = razor_bytes(plan, n, 4, dtype.itemsize, **size), cache.allocated()
        assert cache.nbytes() == expected and held == sum(reachable_storages(cache, slopes).values())
        spare = 0 if part[0].shape[2] > 1 else spare_bytes(plan, n, 4, dtype.itemsize, **size)
        assert expected <= held <= expected + spare


def test_slopes_cut_from_a_large_table_are_not_the_caches():
    plan = RazorPlan(1, 1, ONE, buffer=100, share=Fraction(0))
    cache, table = RazorCache(plan), torch.ones(100_000, dtype=torch.float64)
    decode(cache, stream(plan, 6), 1, table[:1])
    assert cache.allocated() <= cache.nbytes() + spare_bytes(plan, 6, 4, 8, batch=2)
    assert cache.allocated() == sum(reachable_storages(cache, table).values())


@pytest.mark.parametrize("kind", KINDS)
def test_dropped_tokens_and_the_chunks_they_came_in_are_freed(kind):
    plan = small_plan(sinks=1, share=Fraction(0), compensation=kind, prompt=16)
    cache, slopes, alive = RazorCache(plan), slopes_of(plan, True), []
    for chunk in (12, 4, 8, 1, 1):
        tokens = stream(plan, chunk)
        alive += [weakref.ref(x.untyped_storage()) for x in tokens]
        cache(0, *tokens, scale=1.0, slopes=slopes)
        assert all(ref() is not None for ref in alive[-3:])  # while the chunk is held, so are its storages
        del tokens
    gc.collect()
    assert not [ref for ref in alive if ref() is not None]
    held = weakref.ref(cache._parts[0][0].steps.flat.untyped_storage())
    decode(cache, stream(plan, 2), 2, slopes)
    assert held() is None and cache.allocated() == cache.nbytes()


PLAN = RazorPlan(4, 2, (frozenset({1}), frozenset()), sinks=2, buffer=6, share=Fraction(1, 5), prompt=3)
TEXT = """{
  "format": "razor-plan",
  "version": 1,
  "n_heads": 4,
  "n_kv_heads": 2,
  "full": [[1],[]],
  "sinks": 2,
  "buffer": 6,
  "share": [1,5],
  "compensation": "mean",
  "prompt": 3,
  "centre_queries": 16
}
"""


@given(plans(n_layers=3))
def test_a_plan_is_read_back_as_it_was(plan):
    assert parse_plan(plan_text(plan).encode()) == plan


def test_the_file_is_what_the_page_says(tmp_path):
    path = tmp_path / "folder" / "plan.json"
    write_plan(path, PLAN)
    assert path.read_text() == TEXT == plan_text(PLAN)
    assert read_plan(path) == PLAN


def changed(**fields):
    return json.dumps(json.loads(TEXT) | fields).encode()


def test_a_file_that_is_too_large_or_missing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dynamics.razor.plan_file.LARGEST", 8)
    write_plan(tmp_path / "p.json", PLAN)
    refused(r"p.json: more than 8 bytes are too many", read_plan, tmp_path / "p.json")
    with pytest.raises(FileNotFoundError):
        read_plan(tmp_path / "absent.json")
