"""Mistakes planted in the Razor cache, some of them public ones: each is far off, the right cache is not."""

from fractions import Fraction
from math import log

import pytest
import torch

import dynamics.razor.cache as razor_cache_module
import dynamics.razor.layer as razor_layer_module
import dynamics.razor.step as razor_step_module
from dynamics.razor.cache import RazorCache
from dynamics.razor.layer import RazorLayer, Tokens
from dynamics.razor.plan import RazorPlan
from dynamics.razor.step import added, advance
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


class DistancesOfTheStored(RazorCache):
    """Positions are counted among the stored tokens, as if nothing had been dropped."""

    def __call__(self, layer, *tokens, scale, slopes):
        for part in self._parts[layer]:
            part.local.dropped = 0
            part.local.column = None
        return super().__call__(layer, *tokens, scale=scale, slopes=slopes)


class InterleavedGroups(RazorCache):
    """Query head h reads key-value head h mod n_kv_heads."""

    def __call__(self, layer, query, key, value, *, scale, slopes):
        swap = torch.tensor([0, 2, 1, 3])
        found = super().__call__(layer, query[:, swap], key, value, scale=scale, slopes=slopes[swap])
        return found[:, swap]


@pytest.mark.parametrize("wrong", [NoBiasAtDecode, DistancesOfTheStored, InterleavedGroups])
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


class OverwritesTheNewest(Tokens):
    """One token too far round the ring."""

    def put(self, key, value, leaves, placed):
        self.oldest = (self.oldest + leaves) % (self.count - self.sinks)
        super().put(key, value, leaves, placed)


class UnrollsTheRingFromItsStart(Tokens):
    """The ring is stored in order, from its first row instead of its oldest."""

    def ordered(self):
        return self.store[:, :, self.base : self.base + self.count]


class KeepsThePositionThatLeft(Tokens):
    """The new token stands where the one did whose row it takes."""

    def put(self, key, value, leaves, placed):
        super().put(key, value, leaves, placed and not leaves)


RINGS = [OverwritesTheNewest, UnrollsTheRingFromItsStart, KeepsThePositionThatLeft]


@pytest.mark.parametrize("wrong", [DropsTheSinks, KeepsWhatItDrops, *RINGS])
def test_wrong_tokens_stored_are_rejected(wrong, monkeypatch):
    plan, chunks = plan_for("none"), [*CHUNKS, 3]
    slopes = slopes_of(plan, True)
    assert cache_gap(plan, chunks, slopes) < TOLERANCE
    monkeypatch.setattr(razor_layer_module, "Tokens", wrong)
    assert cache_gap(plan, chunks, slopes) > PLANTED


def stale_header(layer, tokens, logits, start, leaves, fresh):
    """The compensation token that single queries read is that of the first of them."""
    before = tokens.store[:, :, : tokens.header].clone()
    advance(layer, tokens, logits, start, leaves, fresh)
    if layer.n_tokens > 11:
        tokens.store[:, :, : tokens.header] = before


def header_of_another_head(layer, logits, column, start, token):
    """Query heads of a group read each other's compensation tokens."""
    found = added(layer, logits, column, start, token)
    header = layer.local.header
    found[..., :header] = found[..., :header].flip(-1)
    return found


def without_the_mass(layer, logits, column, start, token):
    """The compensation token weighs as one token."""
    found = added(layer, logits, column, start, token)
    return found - log(start - layer.local.sinks) * (torch.arange(found.shape[-1]) == 0)


@pytest.mark.parametrize(
    ("kind", "name", "wrong"),
    [(kind, "advance", stale_header) for kind in ("mean", "alibi", "centred")]
    + [(kind, "added", header_of_another_head) for kind in ("alibi", "centred")]
    + [("mean", "added", without_the_mass)],
)
def test_wrong_step_is_rejected(kind, name, wrong, monkeypatch):
    assert gap(kind) < TOLERANCE
    monkeypatch.setattr(razor_step_module, name, wrong)
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
    """Each chunk starts its compensation token afresh."""

    def read(self, *args):
        self.folded = None
        return super().read(*args)


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
