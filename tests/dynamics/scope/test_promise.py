"""What a checkpoint's weights promise: windows and plans, read off ranges, kept on text, at the fewest entries."""

import math

import numpy as np
import pytest
import torch

from dynamics.comparison.local_errors import RAZOR, head_windows, least_share, measured, policies
from dynamics.model.attention_function import full_attention, replaced
from dynamics.razor.cache import RazorCache
from dynamics.razor.eviction import sink_window
from dynamics.razor.promise import PromiseCache
from dynamics.razor.receipt_layer import of_heads
from dynamics.scope import receipt
from dynamics.scope.promise import promised_plan, windows
from dynamics.scope.ranges import layer_ranges
from dynamics.scope.receipt import weighed
from dynamics.training.checkpoint import SHIPPED, shipped
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.refusal import refused
from tests.dynamics.scope.cases import ALIBI, CASES, PLAIN, InMemory, case
from theory import alibi
from theory.alibi.shifted_scope import shifted_window
from theory.cache.reach import span

TEXT = SHIPPED / "alibi-text"
CONTEXT = 192


@pytest.fixture(scope="module")
def checkpoint():
    return open_checkpoint(TEXT)


def reader(batch=1):
    model = shipped("alibi-text").model
    tokens = torch.randint(32, 127, (batch, CONTEXT), generator=torch.Generator().manual_seed(0))

    def run(function):
        with replaced(model, function), torch.no_grad():
            model(tokens)

    return run


def diameters(checkpoint):
    return [2 * layer.values.radius for layer in weighed(checkpoint)]


def test_windows_are_those_of_the_range(checkpoint):
    found = windows(checkpoint, 0.05, CONTEXT)
    for layer, row in enumerate(found):
        for head, window in zip(layer_ranges(checkpoint, layer), row, strict=True):
            assert window == min(CONTEXT, math.ceil(shifted_window(head.slope, *head.mixed, 0.05)))
            assert window <= math.ceil(alibi.window_for_mass(head.slope, head.logit_range, 0.05))
    assert min(map(min, found)) < CONTEXT == max(map(max, found))


def entries(plan, context):
    return sum(len(full) * context + (plan.n_kv_heads - len(full)) * plan.n_kept(context) for full in plan.full)


@pytest.mark.parametrize("error", [0.3, 0.01])
def test_no_other_single_window_that_keeps_the_promise_needs_less(checkpoint, error):
    plan, needed = promised_plan(checkpoint, error, CONTEXT), windows(checkpoint, error, CONTEXT)
    assert all((window <= plan.buffer) != (head in full) for full, row in zip(plan.full, needed, strict=True)
               for head, window in enumerate(row))  # fmt: skip
    flat = [window for row in needed for window in row]
    others = [sum(CONTEXT if window > buffer else buffer for window in flat) for buffer in range(1, CONTEXT + 1)]
    assert entries(plan, CONTEXT) == min(others)


def test_promises_are_kept_on_text_with_memory_to_spare(checkpoint):
    run, wide, error = reader(2), diameters(checkpoint), 0.02
    assert measured("full", 1.0, full_attention, run, wide).worst < 1e-5
    cache = PromiseCache(weighed(checkpoint), 8, error)
    tokens = measured("tokens", 0.0, cache, run, wide)
    narrow = measured("windows", 0.0, head_windows(windows(checkpoint, error, CONTEXT)), run, wide)
    plan = measured("plan", 0.0, RazorCache(promised_plan(checkpoint, error, CONTEXT)), run, wide)
    assert max(tokens.worst, narrow.worst, plan.worst) <= error
    windowed = np.mean(windows(checkpoint, error, CONTEXT)) / CONTEXT
    assert cache.kept_share() < 0.9 * windowed < 1


def test_other_policies_lose_more_at_the_same_memory(checkpoint):
    run, wide = reader(), diameters(checkpoint)
    plan = promised_plan(checkpoint, 0.02, CONTEXT)
    curve = [measured(name, float(share), function, run, wide) for share in (0.25, 0.5)
             for name, function in policies(plan, CONTEXT, share, [(0, 0)], True).items()]  # fmt: skip
    assert {one.policy for one in curve} == {"window", "sinks + window", "heavy hitters", "razor, no heads", RAZOR}
    worst = {(one.policy, one.kept): one.worst for one in curve}
    assert all(worst[name, 0.5] <= worst[name, 0.25] for name in ("window", "sinks + window"))
    assert all(one.worst > max(one.mean, 1e-4) for one in curve)
    assert least_share(curve, "window", worst["window", 0.5]).kept == 0.5
    assert least_share(curve, "window", 0.0) is None


def test_errors_are_told_in_units_of_the_diameter_and_of_the_heads_own_output():
    """Recomputed with numpy: two heads of which each token sees itself alone."""
    query, key, value = given = np.random.default_rng(0).normal(size=(3, 1, 2, 9, 4))
    weights = np.exp(query @ key.swapaxes(2, 3)) * np.tri(9)
    full = weights / weights.sum(-1, keepdims=True) @ value
    changes, sizes = (np.linalg.norm(x, axis=-1)[0] for x in (value - full, full))

    def run(function):
        return float(function(0, *torch.from_numpy(given), scale=1.0, slopes=None).sum())

    found = measured("own", 0.5, head_windows([[1, 1]]), run, [np.array([2.0, 2.0])])
    units = changes.max() / 2, changes.mean() / 2, (changes.max(1) / sizes.mean(1)).max()
    assert found == pytest.approx(("own", 0.5, *units, value.sum()))


def test_a_window_is_that_of_all_heads_of_a_group():
    query, key, value = (torch.randn(1, heads, 9, 4, generator=torch.Generator().manual_seed(0)) for heads in (4, 2, 2))
    found = head_windows([[2, 5]])(0, query, key, value, scale=1.0, slopes=None)
    for group, window in enumerate((2, 5)):
        own = query[:, 2 * group : 2 * group + 2], key[:, [group]], value[:, [group]]
        torch.testing.assert_close(found[:, 2 * group : 2 * group + 2],
                                   sink_window(0, window)(0, *own, scale=1.0, slopes=None))  # fmt: skip


class EverySecond(InMemory):
    """The first layer sees a window of 7 tokens, the second all."""

    def small(self, layer):
        return super().small(layer)._replace(window=7 if layer == 0 else None)


def test_a_layer_needs_no_more_than_the_window_that_it_sees():
    assert windows(EverySecond(), 0.1, 50) == [[7, 7], [50, 50]] and windows(EverySecond(), 0.1, 5) == [[5, 5], [5, 5]]
    plan = promised_plan(EverySecond(), 0.1, 50)
    assert plan.full == (frozenset(), frozenset({0, 1})) and plan.buffer == 7
    sloped = PLAIN._replace(**ALIBI)
    free = windows(InMemory(sloped, 0.05), 0.1, 200)
    assert min(map(min, free)) < 60 < max(map(max, free))
    capped = windows(InMemory(sloped, 0.05, window=60), 0.1, 200)
    assert capped == [[min(window, 60) for window in layer] for layer in free]


def test_soft_capped_logits_and_other_types_have_no_receipt(checkpoint):
    capped = case(softcap=30.0)
    refused(r"^layer 0 caps its logits at 30: receipts are for a plain softmax", weighed, capped)
    refused(r"^dtype must be one of ", weighed, checkpoint, "int8")


def test_what_a_layer_has_beside_what_is_known_is_refused(monkeypatch):
    monkeypatch.setattr(receipt, "ARCHITECTURE", tuple(name for name in receipt.ARCHITECTURE if name != "rotated"))
    assert len(weighed(case(position="rope"))) == 2
    refused(r"^layer 0: receipts do not know what rotated 2 allows", weighed, case(position="rope", rotated=2))
    monkeypatch.setattr(receipt, "SMALL", ())
    refused(r"^layer 0: receipts do not know what gamma allows", weighed, case())


@pytest.mark.parametrize("name", [name for name in CASES if "biases" not in name or "shift" not in name])
def test_all_heads_that_scope_knows_have_a_reach_within_its_range(name):
    """Of one query the keys' span is at most the range D of the head."""
    checkpoint = CASES[name]
    known = weighed(checkpoint)[0]
    ranges = list(layer_ranges(checkpoint, 0))
    for head, query in enumerate(known.probed.queries):
        low, high = span(of_heads(known.keys, [head // 2]), query[None, None])
        wide = (high - low).item() * checkpoint.architecture.scale
        loose = 1.5 if name == "rope, biases" or "rope" in name or "clip" in name else 1 + 1e-3
        assert 0.02 * ranges[head].logit_range < wide < loose * ranges[head].logit_range
        assert known.values.radius[head // 2] * 2 == pytest.approx(ranges[head].value_diameter, rel=1e-2)
