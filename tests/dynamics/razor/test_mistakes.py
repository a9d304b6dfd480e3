"""Mistakes planted in the Razor cache, one of each kind, some of them public ones: each is far off."""

from fractions import Fraction

import pytest
import torch

import dynamics.razor.cache as razor_cache_module
import dynamics.razor.layer as razor_layer_module
from dynamics.razor.cache import RazorCache, Schedule
from dynamics.razor.layer import Tokens
from dynamics.razor.plan import RazorPlan
from dynamics.razor.token import Folded, fold
from tests.dynamics.razor.cases import PLANTED, TOLERANCE, cache_gap, slopes_of

CHUNKS = [6, 5, *[1] * 9]


def plan_for(kind: str, cls: type[RazorPlan] = RazorPlan) -> RazorPlan:
    settings = {"sinks": 2, "buffer": 4, "share": Fraction(0), "prompt": 8, "compensation": kind}
    return cls(4, 2, (frozenset({1}),), **settings)


def gap(kind: str, cache: RazorCache | None = None) -> float:
    plan = plan_for(kind)
    return cache_gap(plan, CHUNKS, slopes_of(plan, True), cache)


def without_log_count(*args) -> Folded:
    """The virtual token weighs as one token, not as N_d."""
    found = fold(*args)
    return found._replace(total=found.total.clamp(max=0.0))


class KeepsWhatItDrops(Tokens):
    """Stale keys: the dropped tokens are still there, at the place of the window's."""

    def drop(self, first, count):
        stale = self.store[:, :, : self.count - count].clone()
        super().drop(first, count)
        self.store = stale if count else self.store


class NeverLeaves(Schedule):
    """What leaves is read until the layer is laid out again."""

    @property
    def marks(self):
        found, first = Schedule.marks.func(self), self.header + self.plan.sinks
        found[:, first : self.new] = 0
        return found


@pytest.mark.parametrize(
    ("kind", "place", "wrong"),
    [
        ("mean", (razor_layer_module, "fold"), without_log_count),
        ("none", (razor_layer_module, "Tokens"), KeepsWhatItDrops),
        ("none", (razor_cache_module, "Schedule"), NeverLeaves),
    ],
)
def test_a_wrong_part_is_rejected(kind, place, wrong, monkeypatch):
    assert gap(kind) < TOLERANCE
    monkeypatch.setattr(*place, wrong)
    assert gap(kind) > PLANTED


class LateWindow(RazorPlan):
    """Off by one: the window starts one token late."""

    def seen_from(self, n):
        return super().seen_from(n) + (n > self.prompt)

    def kept_from(self, n):
        return super().kept_from(n) + (n >= self.prompt)


class NoBiasAtDecode(RazorCache):
    """ALiBi's bias is zero for a chunk of one token, which is at distance 0 of itself."""

    def __call__(self, layer, query, key, value, *, scale, slopes):
        return super().__call__(layer, query, key, value, scale=scale, slopes=slopes * (query.shape[2] > 1))


class InterleavedGroups(RazorCache):
    """Query head h reads key-value head h mod n_kv_heads."""

    def __call__(self, layer, query, key, value, *, scale, slopes):
        swap = torch.tensor([0, 2, 1, 3])
        found = super().__call__(layer, query[:, swap], key, value, scale=scale, slopes=slopes[swap])
        return found[:, swap]


@pytest.mark.parametrize(("wrong", "plan"), [(RazorCache, LateWindow), (NoBiasAtDecode, RazorPlan),
                                             (InterleavedGroups, RazorPlan)])  # fmt: skip
def test_a_wrong_window_or_call_is_rejected(wrong, plan):
    assert gap("none", wrong(plan_for("none", plan))) > PLANTED


def test_mean_bias_and_decayed_mass_are_not_the_same():
    assert gap("mean", RazorCache(plan_for("alibi"))) > PLANTED
