"""Layers from their Gram matrices: against the dense forms of one head, against balls, and where squares cancel."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from tests.theory.alibi.drawn_heads import frame, rotated_spread
from tests.theory.cases import SEEDS, refuses
from tests.theory.entries import LAYER
from theory import alibi
from theory.alibi import rotary
from theory.alibi.grams import logit_ranges, product_norms, value_diameters
from theory.alibi.grams_rotary import rotary_ranges
from theory.alibi.head import product_norm
from theory.cache.dropped import value_diameter


def layer(rng, heads, kv_heads, d_head, d_model, biased=False, dtype=np.float32):
    """Keyword arguments of `logit_ranges` without the norm."""
    return {
        "w_q": rng.standard_normal((heads, d_head, d_model)).astype(dtype),
        "w_k": rng.standard_normal((kv_heads, d_head, d_model)).astype(dtype),
        "gamma": np.exp(0.5 * rng.standard_normal(d_model)),
        "norm_bias": rng.standard_normal(d_model) if biased else None,
        "query_bias": rng.standard_normal((heads, d_head)) if biased else None,
    }


NAMES = ("w_q", "w_k", "gamma", "norm_bias", "query_bias")


def one_by_one(arguments, norm):
    w_q, w_k, gamma, bias, shift = (arguments[name] for name in NAMES)
    keys = np.repeat(w_k, len(w_q) // len(w_k), axis=0)
    shifts = [None] * len(w_q) if shift is None else shift
    return np.array([alibi.logit_range(q, k, gamma, bias, s, norm) for q, k, s in zip(w_q, keys, shifts, strict=True)])


@given(SEEDS, st.sampled_from([np.float32, np.float64]))
def test_ranges_diameters_and_norms_agree_with_the_dense_forms_on_heads_of_any_shape_and_decay(seed, dtype):
    rng = np.random.default_rng(seed)
    kv_heads, group, d_head, d_model = rng.integers([1, 1, 1, 2], [4, 4, 33, 41])
    arguments = layer(rng, kv_heads * group, kv_heads, d_head, d_model, biased=bool(seed % 2), dtype=dtype)
    for name in ("w_q", "w_k"):
        arguments[name] = arguments[name] * np.exp(3 * rng.standard_normal((1, d_head, 1))).astype(dtype)
    norm = ["rms", "layer"][seed // 2 % 2]
    agree(arguments, norm)


def agree(arguments, norm):
    """Whether ranges, value diameters and norms of products are those of each head by itself."""
    w_q, w_k, gamma = (arguments[name] for name in NAMES[:3])
    assert logit_ranges(**arguments, norm=norm) == approx(one_by_one(arguments, norm), rel=1e-10)
    diameters = [value_diameter(rows, gamma, norm) for rows in w_k]
    assert value_diameters(w_k, gamma, norm) == approx(diameters, rel=1e-12)
    keys = np.repeat(w_k, len(w_q) // len(w_k), axis=0).astype(float)
    norms = [product_norm(*pair) for pair in zip(w_q.astype(float), keys, strict=True)]
    assert product_norms(w_q, w_k) == approx(norms, rel=1e-10)


def close_pair(gap):
    """Rows whose product has two largest singular values 1 and sqrt(1 - gap)."""
    rng = np.random.default_rng(2)
    left, right = frame(rng, 8, 40), frame(rng, 8, 40)
    sizes = np.sqrt([1, 1 - gap, *np.linspace(0.5, 0.1, 6)])
    return (sizes[:, None] * left)[None], right[None]


@pytest.mark.parametrize("gap", [0.0, 1e-14, 1e-9, 1e-3])
def test_two_nearly_equal_eigenvalues_cost_no_digits(gap):
    left, right = close_pair(gap)
    expected = product_norm(left[0], right[0])
    assert product_norms(left, right) == approx([expected], rel=1e-10)


@pytest.mark.parametrize("part", [0.0, 1e-12, 1e-7, 0.1])
def test_nearly_orthogonal_queries_and_keys_cost_no_digits(part):
    left, right = (np.eye(12)[i : i + 4] + 0.0 for i in (0, 4))
    right[0, 0] = part
    turn = frame(np.random.default_rng(3), 4)
    found = product_norms((turn @ left)[None], (turn @ right)[None])
    assert found == approx([math.hypot(part, 1.0)], rel=1e-9)


def nearly_mirrored(rng, part):
    """A head whose offset has this part along the key vector of its widest query: z and -z are nearly as good there."""
    d_head, d_model = rng.integers([3, 16], [9, 64])
    left, right, turn = frame(rng, d_head, d_model), frame(rng, d_head, d_model), frame(rng, d_head)
    sizes = np.sqrt(np.linspace(1, 0.4, d_head))[:, None]
    w_q, w_k = ((turn @ (sizes * rows)).astype(np.float32) for rows in (left, right))
    wide_q, wide_k = w_q.astype(float), w_k.astype(float)
    top = np.linalg.eigh(wide_q.T @ wide_k @ wide_k.T @ wide_q)[1][:, -1]
    pull = wide_k @ (wide_k.T @ (wide_q @ top))
    pull /= np.linalg.norm(pull)
    offset = 0.3 * math.sqrt(d_model) * rng.standard_normal(d_head)
    offset += pull * (part - pull @ offset)
    head = {"w_q": w_q[None], "w_k": w_k[None], "query_bias": offset[None]}
    return head | {"gamma": np.ones(d_model), "norm_bias": None}


@pytest.mark.parametrize("part", [0.0, 1e-8, -1e-7, 1e-6, 1e-3])
def test_queries_nearly_as_good_as_their_mirror_images_cost_no_digits(part):
    rng = np.random.default_rng(10)
    for _ in range(30):
        arguments = nearly_mirrored(rng, part)
        assert logit_ranges(**arguments) == approx(one_by_one(arguments, "rms"), rel=1e-10)


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_a_lone_head_near_cancellation_is_not_trusted_by_chance(norm):
    rng = np.random.default_rng(11)
    for _ in range(250):
        arguments = layer(rng, 1, 1, 8, 30)
        turn = frame(rng, 8)
        for name in ("w_q", "w_k"):
            rows = arguments[name][0] * np.exp(3 * rng.standard_normal((8, 1)))
            arguments[name] = (turn @ rows)[None].astype(np.float32)
        assert logit_ranges(**arguments, norm=norm) == approx(one_by_one(arguments, norm), rel=3e-11)


def test_heads_whose_product_is_zero_have_no_range():
    turned = {"w_q": [[[1.0, 0], [0, 0]]], "w_k": [[[0.0, 0], [1, 0]]], "gamma": np.ones(2)}
    assert logit_ranges(**turned) == approx([0.0], abs=1e-15)
    assert rotary_ranges(**turned) == approx([2 * math.sqrt(2)], rel=1e-9)
    blank = np.zeros((2, 3, 5), np.float32)
    assert list(logit_ranges(blank, blank, np.ones(5), query_bias=np.ones((2, 3)))) == [0.0, 0.0]
    assert list(rotary_ranges(blank[:, :2], blank[:, :2], np.ones(5))) == [0.0, 0.0]
    assert list(value_diameters(blank, np.ones(5))) == [0.0, 0.0]


@pytest.mark.parametrize("pairs", rotary.PAIRS)
@pytest.mark.parametrize("biased", [False, True])
def test_rotary_ranges_bound_rotated_logits_and_are_near_the_searched_bound(pairs, biased):
    rng = np.random.default_rng(7)
    for norm, size in [("rms", (4, 2, 2, 7)), ("layer", (2, 1, 8, 5)), ("rms", (2, 2, 8, 24))]:
        arguments = layer(rng, *size, biased=biased)
        for name in ("w_q", "w_k"):
            arguments[name] *= np.exp(rng.standard_normal((1, size[2], 1))).astype(np.float32)
        key_bias = rng.standard_normal((size[1], size[2])) if biased else None
        found = rotary_ranges(**arguments, key_bias=key_bias, norm=norm, pairs=pairs)
        for head, bound in enumerate(found):
            kv = head // (size[0] // size[1])
            one = {name: arguments[name][at] for name, at in (("w_q", head), ("w_k", kv))}
            one |= {"gamma": arguments["gamma"], "norm_bias": arguments["norm_bias"], "norm": norm}
            one |= {"query_bias": arguments["query_bias"][head], "key_bias": key_bias[kv]} if biased else {}
            assert bound <= 1.05 * rotary.rotary_range(**one, pairs=pairs)
            assert bound >= rotated_spread(one, pairs, rng)


HOLED = np.where(np.arange(16).reshape(2, 2, 4) == 6, np.float32("nan"), np.float32(1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"w_q": np.ones((2, 4))}, "w_q has shape"),
        ({"w_q": HOLED}, "finite number"),
        ({"w_k": HOLED}, "finite number"),
        ({"w_k": np.ones((1, 3, 4))}, "w_k has shape"),
        ({"w_k": np.ones((3, 2, 4))}, "kv heads a divisor of 2"),
        ({"gamma": np.ones(3)}, "gamma has shape"),
        ({"norm_bias": [1.0]}, "norm_bias has shape"),
        ({"query_bias": [1.0]}, "query_bias has shape"),
    ],
)
@pytest.mark.parametrize("function", [logit_ranges, rotary_ranges])
def test_bad_layers_are_refused_in_one_line(function, change, message):
    refuses(lambda: function(**LAYER | change), message)


def test_bad_rotary_layers_are_refused():
    refuses(lambda: rotary_ranges(np.ones((1, 3, 4)), np.ones((1, 3, 4)), np.ones(4)), "even number")
    refuses(lambda: rotary_ranges(**LAYER, key_bias=np.ones(2)), "key_bias has shape")
    refuses(lambda: value_diameters(HOLED, np.ones(4)), "w_v holds a value")


@pytest.mark.parametrize("seed", [17, 233, 257, 302])
def test_rows_whose_means_outweigh_the_rest_lose_nothing_under_layer_norm(seed):
    """The query found in float32 and its value are wrong alike here, so that comparing them notices nothing."""
    rng = np.random.default_rng(seed)
    w_q, w_k = ((rng.standard_normal((1, 2, 16)) + mean).astype(np.float32) for mean in (1e3, -1e2))
    bias, shift = rng.standard_normal(16), rng.standard_normal((1, 2))
    found = logit_ranges(w_q, w_k, np.ones(16), bias, shift, "layer")
    true = alibi.logit_range(w_q[0], w_k[0], np.ones(16), bias, shift[0], "layer")
    assert found[0] == approx(true, rel=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gains", ["ones", "alike", "any"])
def test_rows_that_are_nearly_constant_lose_nothing_under_layer_norm(dtype, gains):
    """W Gamma down to one part in the type's digits: what its centring takes off is taken off before any rounding."""
    rng = np.random.default_rng(3)
    gamma = {"ones": np.ones(24), "alike": np.full(24, 1.7), "any": np.exp(0.3 * rng.standard_normal(24))}[gains]
    for spread in (1e-2, 1e-5, 1e-6) if dtype == np.float32 else (1e-4, 1e-9, 1e-13):
        means, rest = rng.standard_normal((2, 2, 4, 1)), rng.standard_normal((2, 2, 4, 24))
        w_q, w_k = ((means + spread * rest) / gamma).astype(dtype)
        found = []
        for query, key in zip(w_q, w_k, strict=True):
            _, upper = alibi.certified_logit_range(query.astype(float), key.astype(float), gamma, norm="layer")
            assert alibi.logit_range(query, key, gamma, norm="layer") == approx(upper, rel=1e-12, abs=0)
            found.append(upper)
        assert logit_ranges(w_q, w_k, gamma, norm="layer") == approx(found, rel=1e-12, abs=0)
