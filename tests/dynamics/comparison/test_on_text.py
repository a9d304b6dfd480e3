"""Policies on a checkpoint against caches of numpy that drop tokens, one query at a time, in four families."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from dynamics.comparison import plan as named
from dynamics.comparison.equal_memory import barred, held_bytes, rows, shape_of
from dynamics.comparison.on_text import first_scored, measure
from dynamics.hf.attention import replaced
from dynamics.razor.plan import RazorPlan
from dynamics.sinks.passes import logits
from tests.dynamics.hf import models

LENGTH, SINKS, SEEDS = 30, 2, 2
MODELS = {"gpt2": {}, "bloom": {}, "llama": {}, "qwen2": {"num_key_value_heads": 2}}
WINDOWS = models.tokens(2, LENGTH).numpy()
HEADS = [(0, 1), (1, 2)]
# Sinks, whether there is a compensation token, and heads that are kept whole.
POLICIES = {
    **dict.fromkeys((named.WINDOW, named.HEAVY, named.EVICTED), (0, False, 0)),
    **dict.fromkeys((named.STREAMING, named.RENUMBERED), (2, False, 0)),
    **dict.fromkeys((named.RAZOR, named.RANDOM), (2, True, 2)),
    named.DROPPING: (2, False, 2),
    named.NONE_PROTECTED: (2, True, 0),
}


def turned(x, by, theta=10000.0):
    """A rotary vector (d,) turned on by so many places."""
    angle = by * theta ** (-np.arange(0, len(x), 2) / len(x))
    one, two = x[: len(x) // 2], x[len(x) // 2 :]
    return np.concatenate([one * np.cos(angle) - two * np.sin(angle), two * np.cos(angle) + one * np.sin(angle)])


def stays(policy, held, worth, plan):
    """What a key-value head still holds of the tokens `held`, the last of them new; worth: of each token so far."""
    if policy in (named.HEAVY, named.EVICTED):
        recent = plan.buffer - plan.buffer // 2
        older = sorted(held[:-recent], key=lambda j: worth[j])
        return [j for j in held if j not in older[: max(0, len(held) - plan.buffer)]]
    return [j for j in held if j < plan.sinks or j > held[-1] - plan.buffer]


def walked(policy, plan, draw, window, seen):
    """The policy as an attention function in numpy.

    `seen` gets, of each key-value head, the tokens that it holds at the end, whether it has a compensation token, and
    the first query that misses a token.
    """

    def head(layer, g, query, key, value, scale, slopes):
        n, held, late, out = len(key), [], np.inf, np.zeros((*query.shape[:2], value.shape[1]))
        numbers = np.random.default_rng([draw, window, layer]).random((plan.n_kv_heads, n))[g]
        worth, whole = (numbers if policy == named.EVICTED else np.zeros(n)), g in plan.full[layer]
        for t in range(n):
            held = [*held, t] if whole else stays(policy, [*held, t], worth, plan)
            gone = np.array([j for j in range(t) if j not in held], int)
            late = min(late, t) if len(gone) else late
            for h, slope in enumerate(slopes):
                place = min(t, plan.sinks + plan.buffer - 1) if policy == named.RENUMBERED else t
                apart = np.array([(place if j < plan.sinks else t) - j for j in held])
                near = turned(query[h, t], place - t) if policy == named.RENUMBERED and not slope else query[h, t]
                scores = [scale * (near if j < plan.sinks else query[h, t]) @ key[j] for j in held] - slope * apart
                values = value[held]
                if len(gone) and plan.compensation != "none" and not whole:
                    prior = -slope * (t - gone) if plan.compensation == "alibi" else np.zeros(len(gone))
                    share = np.exp(prior) / np.exp(prior).sum()
                    scores = np.append(scores, np.log(np.exp(prior).sum()) + scale * query[h, t] @ (share @ key[gone]))
                    values = np.vstack([values, share @ value[gone]])
                weights = np.exp(scores - scores.max())
                weights /= weights.sum()
                out[h, t] = weights @ values
                if policy == named.HEAVY:
                    worth[held] += weights
        seen[layer, g] = len(held), bool(len(gone)) and plan.compensation != "none" and not whole, late
        return out

    def attention(layer, query, key, value, *, scale, slopes):
        group = query.shape[1] // key.shape[1]
        slopes = np.zeros(query.shape[1]) if slopes is None else slopes.numpy()
        heads = [slice(g * group, (g + 1) * group) for g in range(key.shape[1])]
        q, k, v = (x[0].numpy() for x in (query, key, value))
        found = [head(layer, g, q[some], k[g], v[g], scale, slopes[some]) for g, some in enumerate(heads)]
        return torch.from_numpy(np.concatenate(found))[None]

    return attention


def shares(found):
    found = found.double().numpy()
    top = found.max(-1, keepdims=True)
    return found - top - np.log(np.exp(found - top).sum(-1, keepdims=True))


@pytest.fixture(scope="module", params=MODELS)
def compared(request):
    """A model, its rows at a budget, and what is measured of them."""
    model = models.model(request.param, **MODELS[request.param])
    shape = shape_of(model, torch.from_numpy(WINDOWS[0]))
    full = RazorPlan.for_heads(HEADS, shape.n_layers, shape.n_heads, shape.n_kv_heads).full
    reasons = barred(model, shape, "")
    wanted = {policy: reasons.get(policy, "") for policy in POLICIES}
    most = held_bytes(named.FULL, shape.whole, shape, LENGTH) * 3 // 5
    found = rows(shape, LENGTH, most, wanted, full, SINKS, SEEDS)
    scores = measure(model, WINDOWS, shape, [found], lambda done: None)[0]
    running, first = [row for row in found if row.plans], first_scored(found, LENGTH)
    return SimpleNamespace(**locals())


def test_every_policy_loses_what_a_cache_of_numpy_loses(compared):
    model, first, kind = compared.model, compared.first, "alibi" if compared.shape.sloped else "mean"
    assert {row.policy for row in compared.running} == {one for one in POLICIES if not compared.reasons.get(one)}
    for number, window in enumerate(WINDOWS):
        tokens = torch.from_numpy(window)
        with torch.no_grad():
            whole = shares(model(tokens[None], use_cache=False).logits[0, first:-1])
        targets = (np.arange(len(whole)), window[first + 1 :])
        assert_allclose(compared.scores[named.FULL].windows[0, number], [-whole[targets].mean(), 0, 1], atol=1e-6)
        for row in compared.running:
            for draw, plan in enumerate(row.plans):
                seen = {}
                with replaced(model, walked(row.policy, plan, draw, number, seen)), torch.no_grad():
                    own = shares(model(tokens[None], use_cache=False).logits[0, first:-1])
                same, divergence = whole.argmax(-1) == own.argmax(-1), (np.exp(whole) * (whole - own)).sum(-1)
                wanted = [-own[targets].mean(), divergence.mean(), same.mean()]
                measured = compared.scores[row.policy].windows[draw, number]
                assert_allclose(measured, wanted, atol=1e-6, rtol=0, err_msg=row.policy)
                assert held_bytes(row.policy, plan, compared.shape, LENGTH) == bytes_of(row, compared.shape, seen)
                whole_heads = sum(map(len, plan.full))
                assert (plan.sinks, plan.compensation == kind, whole_heads) == POLICIES[row.policy]
                assert row.first == min(late for *_, late in seen.values()) <= first
    assert first == max(row.first for row in compared.running)


def test_each_policy_has_the_longest_window_that_the_budget_allows(compared):
    shape, most = compared.shape, compared.most
    assert most == 3 * 8 * shape.width * shape.n_layers * shape.n_kv_heads * LENGTH // 5
    for row in compared.running:
        for plan in row.plans:
            more = replace(plan, buffer=plan.buffer + 1)
            assert held_bytes(row.policy, plan, shape, LENGTH) <= most < held_bytes(row.policy, more, shape, LENGTH)


@pytest.mark.parametrize(
    ("family", "more"),
    [("cohere", {"logit_scale": 0.5}), ("granite", {}), ("gemma2", {"final_logit_softcapping": 3.0}), ("opt", {})],
)
def test_logits_are_the_models_own(family, more):
    model, tokens = models.model(family, **more), torch.from_numpy(WINDOWS[0])
    with torch.no_grad():
        found = torch.cat([part for _, part in logits(model, tokens)])
        torch.testing.assert_close(found, model(tokens[None], use_cache=False).logits[0])


def test_random_draws_are_those_of_the_seed_and_keep_as_many_heads_whole(compared):
    shape, full = compared.shape, compared.full
    budgets, policies = (compared.most, compared.most * 5 // 4), {named.RANDOM: ""}
    found = [rows(shape, LENGTH, most, policies, full, SINKS, 20)[0] for most in budgets]
    (without,) = rows(shape, LENGTH, 1, policies, full, SINKS, 20)
    assert not without.plans and without.why == "needs more than the budget even with a window of one token"
    one, two = ([plan.full for plan in row.plans] for row in found)
    assert one == two and len(set(one)) > 2
    assert {sum(map(len, heads)) for heads in one} == {sum(map(len, full))}
    assert {layer for heads in one for layer, some in enumerate(heads) if some} == {0, 1}


def bytes_of(row, shape, seen):
    """Keys and values in double precision, a compensation token and its log mass for each mean, a sum in float32."""
    means = shape.n_heads // shape.n_kv_heads if shape.sloped else 1
    number = 8 * shape.width
    more = 4 * (row.policy == named.HEAVY)
    return sum(held * (number + more) + token * means * (number + 8) for held, token, _ in seen.values())
