"""What weights allow: every vector of a state lies in its reach, and the plain reach is reached."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.cases import SEEDS, refuses
from theory.alibi.rotary import pair_numbers
from theory.cache import reach


def layer(seed, biased=True):
    rng = np.random.default_rng(seed)
    heads, d_head, d_model = int(rng.integers(1, 4)), 2 * int(rng.integers(1, 4)), int(rng.integers(2, 9))
    norm = str(rng.choice(["rms", "layer"]))
    weights = rng.standard_normal((heads, d_head, d_model))
    gamma, beta, bias = rng.standard_normal(d_model), rng.standard_normal(d_model), rng.standard_normal((heads, d_head))
    given = {"weights": weights, "gamma": gamma, "norm_bias": beta * biased, "bias": bias * biased, "norm": norm}
    return rng, given


def states(rng, given, count):
    z = rng.standard_normal((count, given["gamma"].size))
    for _ in range(2):  # of nearly equal numbers the first mean that is taken off leaves something
        if given["norm"] == "layer":
            z = z - z.mean(1, keepdims=True)
        z *= np.sqrt(z.shape[1]) / np.linalg.norm(z, axis=1, keepdims=True)
    return z, z * given["gamma"] + given["norm_bias"]


def raw_vectors(given, post):
    return np.einsum("nm,hdm->hnd", post, given["weights"]) + given["bias"][:, None]


def within(of, asked, vectors):
    """The largest share of a half range that a product uses, over vectors (heads, n, d)."""
    low, high = (x[..., None] for x in reach.span(of, asked))
    products = np.einsum("hmd,hnd->hmn", asked, vectors)
    return float((np.abs(products - (low + high) / 2) / ((high - low) / 2)).max())


@given(SEEDS, st.floats(0.1, 3.0))
def test_all_vectors_of_states_are_in_reach_and_stretched_ones_in_one_that_is_stretched(seed, factor):
    rng, given = layer(seed)
    vectors, plain = raw_vectors(given, states(rng, given, 40)[1]), reach.projected(**given)
    asked = rng.standard_normal((len(vectors), 5, vectors.shape[2]))
    assert within(plain, asked, vectors) <= 1
    assert within(reach.stretched(plain, factor), asked, factor * vectors) <= 1
    spread = reach.values(**given)
    assert (np.linalg.norm(vectors - spread.centre[:, None], axis=-1) <= spread.radius[:, None]).all()


@given(SEEDS)
def test_the_plain_reach_is_reached(seed):
    rng, given = layer(seed)
    asked = rng.standard_normal((len(given["weights"]), 1, given["weights"].shape[1]))
    pull = (asked @ given["weights"])[:, 0] * given["gamma"]
    if given["norm"] == "layer":
        pull = pull - pull.mean(1, keepdims=True)
    best = pull * np.sqrt(pull.shape[1]) / np.linalg.norm(pull, axis=1, keepdims=True)
    post = best * given["gamma"] + given["norm_bias"]
    top = np.einsum("hm,hdm->hd", post, given["weights"]) + given["bias"]
    low, high = reach.span(reach.projected(**given), asked)
    assert (asked[:, 0] * top).sum(1) == pytest.approx(high[:, 0], rel=1e-9, abs=1e-9)
    assert (low <= high).all()


@given(SEEDS, st.sampled_from(["halves", "neighbours"]))
def test_turned_vectors_are_in_reach(seed, order):
    rng, given = layer(seed)
    raw = raw_vectors(given, states(rng, given, 30)[1])
    width = raw.shape[2]
    rotated = 2 * int(rng.integers(1, width // 2 + 1))
    pairs = pair_numbers(width, order, rotated)
    turned = raw.copy()
    for pair in range(rotated // 2):
        i, j = np.flatnonzero(pairs == pair)
        angle = rng.uniform(0, 7, raw.shape[:2])
        turned[..., i] = raw[..., i] * np.cos(angle) - raw[..., j] * np.sin(angle)
        turned[..., j] = raw[..., i] * np.sin(angle) + raw[..., j] * np.cos(angle)
    assert within(reach.turned(reach.projected(**given), pairs), rng.standard_normal((len(raw), 4, width)), turned) <= 1


@given(SEEDS)
def test_mixed_vectors_are_in_reach(seed):
    rng, given = layer(seed, biased=False)
    mixture = rng.uniform(-1, 2, (len(given["weights"]), 2))
    raw = raw_vectors(given, states(rng, given, 30)[1])
    mixed = mixture[:, :1, None] * raw[:, 1:] + mixture[:, 1:, None] * raw[:, :-1]
    asked = rng.standard_normal((len(raw), 4, raw.shape[2]))
    assert within(reach.projected(**given, mixture=mixture), asked, mixed) <= 1


@given(SEEDS)
def test_normed_and_clipped_vectors_are_in_reach(seed):
    rng = np.random.default_rng(seed)
    heads, width = int(rng.integers(1, 3)), 2 * int(rng.integers(1, 4))
    pairs = np.arange(width) if rng.random() < 0.5 else pair_numbers(width, "halves")
    x, gains = rng.standard_normal((heads, 30, width)), rng.standard_normal(width)
    asked = rng.standard_normal((heads, 4, width))
    gains = gains if rng.random() < 0.5 else rng.standard_normal((heads, width))
    unit = x * np.sqrt(width) / np.linalg.norm(x, axis=-1, keepdims=True)
    assert within(reach.normed(gains, heads, pairs), asked, (gains * np.ones((heads, width)))[:, None] * unit) <= 1
    assert within(reach.clipped(0.8, heads, pairs), asked, np.clip(x, -0.8, 0.8)) <= 1


def test_rounding_is_granted_of_what_is_summed_and_not_of_what_a_mean_leaves():
    """Rows that share a large part: LayerNorm takes it out, but for the rounding of states in single precision."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4000, 2)).astype(np.float32)
    x = x[np.abs(x.mean(1)) < x.std(1)]  # a mean far above the deviations may cost more than is granted
    z = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    weights = (1000 + rng.standard_normal((1, 3, 2))).astype(np.float32)
    keys = (z @ weights[0].T)[None].astype(np.float64)
    asked = np.eye(3)[None]
    given = {"weights": weights, "gamma": np.ones(2), "norm": "layer"}
    assert within(reach.projected(**given), asked, keys) > 1 + 1e-6
    assert within(reach.projected(**given, rounding=34 * 2.0**-24), asked, keys) <= 1


def test_what_has_no_reach_is_refused():
    _, given = layer(1)
    weights, gamma = given["weights"], given["gamma"]
    mixture = np.ones((len(weights), 2))
    refuses(lambda: reach.projected(**given, mixture=mixture), "a KV shift beside biases of the norm, key or value")
    refuses(lambda: reach.projected(weights, np.ones(99)), "and gamma (d_model,) must agree")
    refuses(lambda: reach.projected(weights, gamma, norm="batch"), "norm must be one of rms, layer, got 'batch'")
    refuses(lambda: reach.span(reach.projected(**given), np.ones((9, 1, 1))), "vectors must have shape (.., ")
    refuses(lambda: reach.turned(reach.clipped(1.0, 1, np.arange(2)), np.arange(2)), "turned needs a reach with a")
