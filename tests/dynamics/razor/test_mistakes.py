"""Mistakes planted in the Razor cache, some of them public ones: each is far off, the right cache is not."""

from fractions import Fraction

import pytest
import torch

import dynamics.razor.cache as razor_cache_module
import dynamics.razor.layer as razor_layer_module
import dynamics.razor.steps as razor_steps_module
from dynamics.razor.cache import RazorCache, Schedule
from dynamics.razor.layer import RazorLayer, Steps, Tokens
from dynamics.razor.plan import RazorPlan
from dynamics.razor.steps import advanced, with_own_tokens
from dynamics.razor.token import Folded, fold
from tests.dynamics.razor.cases import PLANTED, TOLERANCE, cache_gap, slopes_of

CHUNKS = [6, 5, *[1] * 9]


def plan_for(kind: str, cls: type[RazorPlan] = RazorPlan) -> RazorPlan:
    settings = {"sinks": 2, "buffer": 4, "share": Fraction(0), "prompt": 8, "compensation": kind}
    return cls(4, 2, (frozenset({1}),), **settings)


def gap(kind: str, with_alibi: bool = True, cache: RazorCache | None = None) -> float:
    plan = plan_for(kind)
    return cache_gap(plan, CHUNKS, slopes_of(plan, with_alibi), cache)


def without_log_count(*args) -> Folded:
    """The virtual token weighs as one token, not as N_d."""
    found = fold(*args)
    return found._replace(total=found.total.clamp(max=0.0))


def one_too_many(*args) -> Folded:
    """N_d + 1 in place of N_d."""
    found = fold(*args)
    return found._replace(total=(found.total.exp() + 1).log().where(found.total > -torch.inf, found.total))


def without_decay(before, age, rate, *rest) -> Folded:
    """The token's mass is not aged when the query moves on."""
    return fold(before, 0 * age, rate, *rest)


def of_the_last_query(*args) -> Folded:
    """One token a chunk, that of its last query."""
    found = fold(*args)
    count = found.total.shape[3]
    return Folded(*(x[:, :, :, -1:].repeat_interleave(count, dim=3) for x in found))


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("mean", without_log_count),
        ("mean", one_too_many),
        ("alibi", without_decay),
        ("centred", without_decay),
        ("mean", of_the_last_query),
        ("alibi", of_the_last_query),
    ],
)
def test_wrong_token_is_rejected(kind, wrong, monkeypatch):
    assert gap(kind) < TOLERANCE
    monkeypatch.setattr(razor_layer_module, "fold", wrong)
    assert gap(kind) > PLANTED


class LateWindow(RazorPlan):
    """Off by one: the window starts one token late."""

    def seen_from(self, n):
        return super().seen_from(n) + (n > self.prompt)

    def kept_from(self, n):
        return super().kept_from(n) + (n >= self.prompt)


class EarlyWindow(RazorPlan):
    """Off by one: the window keeps one token more."""

    def seen_from(self, n):
        return max(0, super().seen_from(n) - 1)

    def kept_from(self, n):
        return max(0, super().kept_from(n) - 1)


class DropsInThePrompt(RazorPlan):
    """The window is applied to the prompt as well."""

    def seen_from(self, n):
        return self.start(n)


@pytest.mark.parametrize("wrong", [LateWindow, EarlyWindow, DropsInThePrompt])
@pytest.mark.parametrize("kind", ["none", "mean"])
def test_wrong_window_is_rejected(kind, wrong):
    assert gap(kind, cache=RazorCache(plan_for(kind))) < TOLERANCE
    assert gap(kind, cache=RazorCache(plan_for(kind, wrong))) > PLANTED


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


@pytest.mark.parametrize("wrong", [NoBiasAtDecode, InterleavedGroups])
def test_wrong_call_is_rejected(wrong):
    assert gap("none", cache=wrong(plan_for("none"))) > PLANTED


class DropsTheSinks(Tokens):
    def drop(self, first, count):
        super().drop(0, count)


class KeepsWhatItDrops(Tokens):
    """Stale keys: the dropped tokens are still there, at the place of the window's."""

    def drop(self, first, count):
        stale = self.store[:, :, : self.count - count].clone()
        super().drop(first, count)
        self.store = stale if count else self.store


@pytest.mark.parametrize("wrong", [DropsTheSinks, KeepsWhatItDrops])
def test_wrong_tokens_stored_are_rejected(wrong, monkeypatch):
    assert gap("none") < TOLERANCE
    monkeypatch.setattr(razor_layer_module, "Tokens", wrong)
    assert gap("none") > PLANTED


class DistancesOfTheStored(Schedule):
    """Positions are counted among the stored tokens, as if nothing had been dropped."""

    @property
    def distances(self):
        first = self.header + self.plan.sinks
        found = Schedule.distances.func(self)
        found[:, first:] -= self.dropped
        return found


class NeverLeaves(Schedule):
    """What leaves is read until the layer is laid out again."""

    @property
    def marks(self):
        found, first = Schedule.marks.func(self), self.header + self.plan.sinks
        found[:, first : self.new] = 0
        return found


class MeanOfTheStepBefore(Schedule):
    """The mean that is read has not got the token that has just left."""

    @property
    def left(self):
        return Schedule.left.func(self) - 1


class WithoutTheMass(Schedule):
    """The compensation token weighs as one token."""

    @property
    def marks(self):
        return Schedule.marks.func(self).clamp(max=0)


class BiasOfTheOldest(Schedule):
    """The mean stands at the position of the first token dropped."""

    @property
    def distances(self):
        found, step = Schedule.distances.func(self), torch.arange(self.n_steps)
        found[step, self.new + 1 + step] = (self.plan.sinks - self.n - step).to(found)
        return found


class SharesTheFirstBias(Schedule):
    """Biases are worked out once, not step by step."""

    def _biases(self, name, step, rates):
        return super()._biases(name, 0, rates)


class OneRowOn(Steps):
    """The tokens of a layer stand one row too far."""

    def _view(self):
        super()._view()
        self.local = self.local.roll(1, 2)


class ForgetsItsMean(Steps):
    """What left since the layer was laid out is not in the mean that it is laid out with again."""

    def kept(self):
        return super().kept()._replace(folded=self.folded)


class LeavesInPlace(Steps):
    """What left is handed back with what is kept, in place of the newest."""

    def kept(self):
        found, gone = super().kept(), self.schedule.gone[self.done]
        first = self.schedule.header + self.schedule.plan.sinks
        stop = self.schedule.new + self.done - gone
        return found._replace(local=(found.local[0], self.local[:, :, first:stop]))


SCHEDULES = [
    ("none", DistancesOfTheStored), ("none", NeverLeaves), ("mean", NeverLeaves), ("mean", MeanOfTheStepBefore),
    ("mean", WithoutTheMass), ("mean", BiasOfTheOldest), ("none", SharesTheFirstBias),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "wrong"), SCHEDULES)
def test_wrong_schedule_is_rejected(kind, wrong, monkeypatch):
    assert gap(kind) < TOLERANCE
    monkeypatch.setattr(razor_cache_module, "Schedule", wrong)
    assert gap(kind) > PLANTED


@pytest.mark.parametrize(("kind", "wrong"), [("none", OneRowOn), ("mean", ForgetsItsMean), ("none", LeavesInPlace)])
def test_wrong_layout_is_rejected(kind, wrong, monkeypatch):
    assert gap(kind) < TOLERANCE
    monkeypatch.setattr(razor_layer_module, "Steps", wrong)
    assert gap(kind) > PLANTED


def stale_header(steps, logits, centre):
    """The compensation token that single queries read is that of the first of them."""
    return steps.folded if steps.done else advanced(steps, logits, centre)


def header_of_another_head(steps, *more):
    """Query heads of a group read each other's compensation tokens."""
    found, header = with_own_tokens(steps, *more), steps.schedule.header
    found[..., :header] = found[..., :header].flip(-1)
    return found


@pytest.mark.parametrize("kind", ["alibi", "centred"])
@pytest.mark.parametrize(("name", "wrong"), [("advanced", stale_header), ("with_own_tokens", header_of_another_head)])
def test_wrong_step_is_rejected(kind, name, wrong, monkeypatch):
    assert gap(kind) < TOLERANCE
    monkeypatch.setattr(razor_steps_module, name, wrong)
    assert gap(kind) > PLANTED


class CountsTheSinks(RazorLayer):
    """The sinks are kept and compensated for."""

    def drop(self, logits, at):
        first = not self.local.dropped
        super().drop(logits, at)
        if first and self.local.dropped:
            rows, total = self.local.store[:, :, : self.plan.sinks], self.folded.total
            prior = torch.zeros(*total.shape, 1, self.plan.sinks).double()
            found = fold(self.folded, torch.zeros(1), torch.zeros(total.shape[1:]), rows, prior)
            self.folded = Folded(*(x.squeeze(3) for x in found))


class CentreOfAllQueries(RazorLayer):
    """q_0 keeps moving after the prompt, with the queries of the answer."""

    def _start_token(self, scaled, at):
        super()._start_token(scaled, at)
        self.centre = self.centre + scaled.mean(3)


class ForgetsTheToken(RazorLayer):
    """Single tokens start their compensation token afresh."""

    def _opened(self, *args):
        if self.steps is None:
            self.folded = Folded(torch.zeros_like(self.folded.mean), torch.full_like(self.folded.total, -torch.inf))
        return super()._opened(*args)


@pytest.mark.parametrize(
    ("kind", "wrong"), [("mean", CountsTheSinks), ("centred", CentreOfAllQueries), ("alibi", ForgetsTheToken)]
)
def test_wrong_layer_is_rejected(kind, wrong, monkeypatch):
    assert gap(kind) < TOLERANCE
    monkeypatch.setattr(razor_cache_module, "RazorLayer", wrong)
    assert gap(kind) > PLANTED


def test_mean_bias_and_decayed_mass_are_not_the_same():
    plan = plan_for("mean")
    assert cache_gap(plan, CHUNKS, slopes_of(plan, True), RazorCache(plan_for("alibi"))) > PLANTED
