"""The cache that keeps what it must: every output within the promise, whatever the text, and tokens are forgotten."""

import numpy as np
import pytest
import torch

from dynamics.model.attention_function import full_attention
from dynamics.razor.promise import BLOCK, PromiseCache
from dynamics.razor.receipt_attack import on_sphere, random_layer, vectors
from dynamics.razor.weighed import Weighed
from tests.dynamics.razor.cases import chunked
from tests.dynamics.refusal import refused
from theory.cache.reach import Reach, Values


def run(layer, states, error, chunks=None):
    cache = PromiseCache([layer.weighed], len(layer.key), error)
    tokens = vectors(layer, states)
    parts = chunked(tokens, chunks or states.shape[1])
    output = torch.cat([cache(0, *part, scale=layer.scale, slopes=layer.slopes) for part in parts], dim=2)
    group = len(layer.query) // len(layer.key)
    full = full_attention(0, *tokens, scale=layer.scale, slopes=layer.slopes)
    diameter = np.repeat(2 * layer.weighed.values.radius, group)
    return cache, output, ((output - full).norm(dim=-1).amax((0, 2)).numpy() / diameter).max()


def contexts(layer, length, rng=None, worst=False):
    """Random states; in the worst ones all that came before a point has the keys that a query after it likes most."""
    rng = rng or np.random.default_rng(0)
    states = on_sphere(rng.standard_normal((4, length, layer.gamma.size)), layer.norm)
    if worst:
        asked = vectors(layer, states[:, -1:])[0][:, 0, 0].numpy()
        pull = asked @ layer.key[0] * layer.gamma
        liked = on_sphere(pull + 1e-9, layer.norm)
        early = np.arange(length) < rng.integers(1, length)
        kept = rng.choice([-1.0, 0.0], (4, length, 1)) * liked[:, None] + 0.3 * states
        placed = np.where(early[:, None], 0.5 * liked[:, None] + 0.3 * states, kept)
        states[:, :-1] = on_sphere(placed, layer.norm)[:, :-1]
    return states


def survey(count, seed):
    """Largest error over the promise, and the smallest share kept, over random layers."""
    largest, least = 0.0, 1.0
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        layer, error = random_layer(rng), 10 ** rng.uniform(-3, -0.4)
        states = contexts(layer, int(rng.integers(20, 70)), rng, number % 2 == 0)
        cache, _, worst = run(layer, states, error)
        largest, least = max(largest, worst / error), min(least, cache.kept_share())
    return largest, least


def test_no_output_is_farther_off_than_promised_and_tokens_are_forgotten():
    largest, least = survey(120, seed=1)
    assert largest <= 1 and least < 0.4


@pytest.mark.deep
def test_the_promise_holds_in_many_layers():
    largest, least = survey(4000, seed=2)
    assert largest <= 1 and least < 0.3


def sloped():
    """A layer with slopes, two query heads to a key-value head."""
    for number in range(1000):
        layer = random_layer(np.random.default_rng([0, number]))
        if layer.slopes is not None and len(layer.query) == 4 and len(layer.key) == 2 and layer.slopes.min() > 0.05:
            return layer
    raise AssertionError("no such layer was drawn")


def test_what_was_kept_is_said_in_words_and_so_is_that_nothing_may_be_forgotten():
    layer = sloped()
    kept, *_ = run(layer, contexts(layer, BLOCK - 1), 0.3)
    assert kept.kept_words() == f"nothing may be forgotten at this error so far: all {BLOCK - 1} tokens are kept"
    some, *_ = run(layer, contexts(layer, 400), 0.3)
    assert some.kept_share() < 1 and some.kept_words() == f"{100 * some.kept_share():.1f}% of 400 tokens are kept"


LENGTH, SHARE, SLOPES, ASKED = 6 * BLOCK + 1, 0.3, (0.03, 0.05), (1.0, 0.8)


def known_keys():
    """Keys of width 1; the first token of a block adds next to nothing, so that its query sees what was promised."""
    keys = np.random.default_rng(3).normal(0, 0.5, LENGTH)
    keys[::BLOCK] = -40.0
    return keys


def known_cache(keys):
    """Two query heads that ask for 1 and 0.8 whatever the text, and share keys: the tokens that are forgotten at the
    end of every block, and what the cache takes these to weigh then."""
    reach = Reach(np.array(ASKED)[:, None], np.zeros(2), np.zeros((2, 1, 1)))
    cache = PromiseCache([Weighed(reach, Values(np.zeros((1, 1)), np.ones(1)), reach)], 1, SHARE)
    asked = torch.tensor(ASKED, dtype=torch.float64)[:, None, None].repeat(1, LENGTH, 1)
    tokens = (asked, torch.from_numpy(keys)[None, :, None], torch.zeros(1, LENGTH, 1, dtype=torch.float64))
    gone, weights = [], []
    for start in range(0, LENGTH, BLOCK):
        part = (x[None, :, start : start + BLOCK] for x in tokens)
        cache(0, *part, scale=1.0, slopes=torch.tensor(SLOPES, dtype=torch.float64))
        (head,) = cache._layers[0].heads
        gone.append(np.setdiff1d(np.arange(cache.n_tokens()), head["position"]))
        weights.append(np.exp(head["forgotten"][0].numpy() + np.array(ASKED) * float(head["reference"])))
    return gone[:-1], weights[:-1]


def masses(keys, now):
    """Of all tokens before `now` for a query at `now`, (heads, now)."""
    distance = now - np.arange(now)
    return np.exp(np.outer(ASKED, keys[:now]) - np.outer(SLOPES, distance))


def test_what_is_forgotten_is_the_most_that_the_promise_allows():
    """By the masses of all that went before, added up anew at every look from where each token lies by then."""
    keys = known_keys()
    found, weights = known_cache(keys)
    gone = np.array([], dtype=int)
    for forgotten, weight, now in zip(found, weights, range(BLOCK, LENGTH, BLOCK), strict=True):
        mass, odds = masses(keys, now), SHARE / (1 - SHARE)
        there = np.setdiff1d(np.arange(now), gone)
        order = there[np.argsort(mass[:, there].max(0))]
        drops = [np.concatenate([gone, order[:count]]) for count in range(len(order))]
        fits = [drop for drop in drops if (mass[:, drop].sum(1) <= odds * np.delete(mass, drop, 1).sum(1)).all()]
        assert len(fits[-1]) > len(gone)
        gone = fits[-1]
        assert np.array_equal(forgotten, np.sort(gone))
        assert weight == pytest.approx(mass[:, gone].sum(1), rel=1e-12)


def test_division_into_chunks_changes_nothing():
    layer = sloped()
    states = contexts(layer, 50)
    whole, output, _ = run(layer, states, 0.1)
    for chunks in (1, 7):
        other, found, _ = run(layer, states, 0.1, chunks)
        assert torch.allclose(found, output, atol=1e-12) and torch.equal(other.held(0), whole.held(0))
    assert whole.kept_share() < 1 and whole.n_tokens() == 50


def test_what_is_held_is_counted_and_bounded():
    layer = sloped()
    cache, _, _ = run(layer, contexts(layer, 3 * BLOCK), 0.1)
    longer, _, _ = run(layer, contexts(layer, 12 * BLOCK), 0.1)
    assert longer.held(0).max() < 6 * BLOCK and longer.nbytes() < 4 * cache.nbytes()
    assert cache.kept_share() == float(cache.held(0).double().mean()) / (3 * BLOCK)


def test_sequences_are_reordered():
    layer = sloped()
    states = contexts(layer, 40)
    order = np.array([2, 2, 0, 1])
    cache = PromiseCache([layer.weighed], 2, 0.1)
    cache(0, *vectors(layer, states[:, :20]), scale=layer.scale, slopes=layer.slopes)
    cache.reorder(torch.from_numpy(order))
    rest = (x[:, :, 20:] for x in vectors(layer, states[order]))
    found = cache(0, *rest, scale=layer.scale, slopes=layer.slopes)
    assert torch.allclose(found, run(layer, states[order], 0.1)[1][:, :, 20:], atol=1e-12)


def test_what_does_not_fit_is_refused():
    layer = sloped()
    refused(r"^error must lie strictly between 0 and 1, got 0", PromiseCache, [layer.weighed], 2, 0)
    cache = PromiseCache([layer.weighed], 2, 0.1)
    refused(r"^there is no share before the first token", cache.kept_share)
    tokens = vectors(layer, contexts(layer, 3)[:1])
    refused(r"^layer must lie in 0..0, got 1", cache, 1, *tokens, scale=1.0, slopes=None)
    plain = {"scale": 1.0, "slopes": None}
    words = r"^this cache is for 4 heads and 2 key-value heads, got 4 and 1"
    refused(words, cache, 0, tokens[0], *(x[:, :1] for x in tokens[1:]), **plain)
    cache(0, *tokens, **plain)
    refused(r"^the cache holds keys of batch 1", cache, 0, *(x.repeat(2, 1, 1, 1) for x in tokens), **plain)
