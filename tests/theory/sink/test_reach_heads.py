"""Random ALiBi heads over post-norm states: no context gives the first token more than the bound, some reach it."""

import numpy as np
import pytest

from theory import alibi, sink

HEADS, D_MODEL, D_HEAD = 1000, 5, 3
EVEN = np.ones(D_MODEL)


def states(rng, *shape):
    """RMSNorm's states, gains apart: of norm sqrt(d_model)."""
    drawn = rng.normal(size=(*shape, D_MODEL))
    return drawn * np.sqrt(D_MODEL) / np.linalg.norm(drawn, axis=-1, keepdims=True)


def first_weight(logits, slope):
    """The last query's weight on the first key; logits (.., length)."""
    length = logits.shape[-1]
    biased = logits - slope * np.arange(length - 1, -1, -1.0)
    powers = np.exp(biased - biased.max(-1, keepdims=True))
    return powers[..., 0] / powers.sum(-1)


def drawn_head(seed):
    rng = np.random.default_rng(seed)
    w_q, w_k = rng.normal(size=(2, D_HEAD, D_MODEL)) * rng.uniform(0.2, 1.5)
    slope, length = float(2.0 ** -rng.integers(0, 9)), int(rng.integers(2, 40))
    return rng, w_q, w_k, slope, length


def worst_weights(queries, w_q, w_k, slope, length):
    """Of each query state, the first token's weight where all other states are the worst for it; its own is fixed."""
    pull = queries @ w_q.T @ w_k / np.sqrt(D_HEAD)
    top = np.sqrt(D_MODEL) * np.linalg.norm(pull, axis=-1)
    logits = np.repeat(-top[:, None], length, axis=1)
    logits[:, 0], logits[:, -1] = top, (pull * queries).sum(-1)
    return first_weight(logits, slope)


def searched(rng, *head):
    """The largest weight that is found: 80 query states, then five rounds of 40 steps around the best, ever smaller."""
    queries = states(rng, 80)
    for size in (0.5, 0.2, 0.1, 0.03, 0.01):
        weights = worst_weights(queries, *head)
        near = queries[weights.argmax()] + size * rng.normal(size=(40, D_MODEL))
        near *= np.sqrt(D_MODEL) / np.linalg.norm(near, axis=1, keepdims=True)
        queries = np.concatenate([queries[[weights.argmax()]], near])
    return worst_weights(queries, *head).max()


@pytest.mark.parametrize("block", range(8))
def test_no_context_found_by_search_exceeds_the_bound_of_its_head(block):
    for seed in range(block * HEADS // 8, (block + 1) * HEADS // 8):
        rng, w_q, w_k, slope, length = drawn_head(seed)
        spread, gap = alibi.logit_range(w_q, w_k, EVEN), alibi.self_gap(w_q, w_k, EVEN)
        bound = sink.first_token_bound(length, slope, spread, min(gap, spread))
        assert searched(rng, w_q, w_k, slope, length) <= bound * (1 + 1e-9), seed


@pytest.mark.parametrize("block", range(4))
def test_heads_of_one_query_reach_the_bound(block):
    """Where the query does not depend on its token, the own one may be the lowest: D_s = D, and it is reached."""
    for seed in range(block * HEADS // 4, (block + 1) * HEADS // 4):
        rng, _, w_k, slope, length = drawn_head(seed)
        query = rng.normal(size=D_HEAD)
        along = w_k.T @ query
        high = np.sqrt(D_MODEL) * along / np.linalg.norm(along)
        logits = np.full(length, -high @ along) / np.sqrt(D_HEAD)
        logits[0] = high @ along / np.sqrt(D_HEAD)
        spread = alibi.logit_range(np.zeros((D_HEAD, D_MODEL)), w_k, EVEN, query_bias=query)
        bound = sink.first_token_bound(length, slope, spread)
        reached = first_weight(logits, slope)
        assert 0.999 * bound <= reached <= bound * (1 + 1e-9)


def test_a_bound_of_a_smaller_range_is_exceeded():
    rng, _, w_k, slope, length = drawn_head(3)
    query = rng.normal(size=D_HEAD)
    along = w_k.T @ query
    high = np.sqrt(D_MODEL) * along / np.linalg.norm(along)
    logits = np.full(length, -high @ along) / np.sqrt(D_HEAD)
    logits[0] = -logits[0]
    spread = 2 * logits[0]
    assert first_weight(logits, slope) > 1.01 * float(sink.first_token_bound(length, slope, 0.9 * spread))
