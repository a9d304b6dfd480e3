"""A head as one record: its scope from its matrices, transposed matrices, and every function that takes it."""

import inspect
import math
from functools import partial

import numpy as np
import pytest

from tests.theory.alibi.drawn_heads import logits, random_head, weights_of
from tests.theory.cases import refuses
from theory import alibi
from theory.alibi import grams, grams_rotary, rotary, sharp


def drawn(i):
    """A head as keyword arguments, with a slope and an eps."""
    rng = np.random.default_rng(i)
    d_model, d_head = (int(n) for n in rng.integers(2, 12, 2))
    arrays = random_head(rng, d_model, d_head, ("rms", "layer")[i % 2], i % 3 == 0)
    arrays["w_q"] *= rng.uniform(0.1, 1) / d_model
    return arrays, float(rng.uniform(0.05, 1)), float(rng.choice([0.2, 0.01, 1e-4]))


def test_the_scope_of_two_hundred_heads_is_where_the_worst_context_falls_to_eps():
    for arrays, slope, eps in map(drawn, range(200)):
        head = alibi.Head(**arrays)
        found, at = alibi.head_scope(head, slope, eps), alibi.extremes(**arrays)
        wide = alibi.logit_range(**arrays)
        assert (found.logit_range, found.self_gap) == (wide, alibi.self_gap(**arrays)) and alibi.extremes(head) == at
        assert found.scope == alibi.scope(slope, wide, eps) <= found.spectral_scope * (1 + 1e-12)
        high, low = logits(arrays, at.query, np.stack([at.high, at.low]))
        assert high - low == pytest.approx(wide, rel=1e-10)
        beyond = math.ceil(found.scope)
        states = np.stack([at.high] + [at.low] * beyond)
        assert weights_of(arrays, slope, at.query, states)[0] <= eps * (1 + 1e-9)
        assert weights_of(arrays, slope, at.query, states[:-1])[0] > eps
        states[-1] = at.query
        assert weights_of(arrays, slope, at.query, states)[0] <= eps * (1 + 1e-9)


def test_transposed_matrices_are_named_wherever_shapes_decide():
    told = 0
    for arrays, slope, eps in map(drawn, range(200)):
        if arrays["w_q"].shape[0] == arrays["w_q"].shape[1]:
            continue
        for turned in (("w_q",), ("w_k",), ("w_q", "w_k")):
            head = alibi.Head(**arrays)._replace(**{name: arrays[name].T for name in turned})
            message = refuses(partial(alibi.head_scope, head, slope, eps), f"transposed {' and '.join(turned)}: gamma")
            assert all(f"{name}.mT" in message for name in turned)
            told += 1
        layer = [arrays[name].T[None] for name in ("w_q", "w_k")]
        refuses(partial(grams.logit_ranges, *layer, arrays["gamma"]), "transposed w_q and w_k")
    assert told > 500
    two = np.ones((2, 3))
    refuses(partial(alibi.logit_range, two, two, np.ones(4)), "gamma has shape (4,): expected (3,)")
    refuses(partial(alibi.logit_range, two, np.ones(3), 1.0), "w_k has shape (3,): expected (2, 3)")


RNG = np.random.default_rng(3)
BIASED, LAYER = random_head(RNG, 6, 4, "layer", True), random_head(RNG, 6, 4, "layer", True)
STACKED = {name: value[None] if name in ("w_q", "w_k", "query_bias") else value for name, value in LAYER.items()}
PLAIN = random_head(RNG, 6, 4, "layer", False)
CASES = [
    *((f, BIASED, {}) for f in (alibi.logit_range, alibi.certified_logit_range, alibi.extremes, alibi.self_gap,
                                alibi.certified_self_gap)),
    (alibi.spectral_scope, BIASED, {"slope": 0.5, "eps": 0.1}),
    (alibi.printed_scope, BIASED | {"query_bias": None}, {"slope": [0.5, 0.1], "eps": 0.1}),
    (rotary.rotary_range, BIASED, {"key_bias": np.ones(4)}),
    (sharp.sharp_weight, PLAIN, {"distance": 3, "slope": 0.5}),
    (grams.logit_ranges, STACKED, {}),
    (grams_rotary.rotary_ranges, STACKED, {"key_bias": np.ones((1, 4))}),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arrays", "others"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_a_record_gives_what_its_arrays_give(function, arrays, others):
    taken = inspect.signature(function).parameters
    loose = function(**{name: value for name, value in arrays.items() if name in taken}, **others)
    head = alibi.Head(**arrays)
    assert np.array_equal(function(head, **others), loose) and np.array_equal(function(head, *others.values()), loose)
    assert "A `Head` may stand for w_q, w_k, gamma" in inspect.getdoc(function)
    with pytest.raises(TypeError):
        function(head, *others.values(), *[0.5] * 9)


def test_a_bias_that_a_function_does_not_take_is_refused():
    head = alibi.Head(**BIASED)
    refuses(partial(sharp.sharp_weight, 3, 0.5, head), "sharp_weight is for a head without norm_bias")
    refuses(partial(alibi.printed_scope, head, 0.5, 0.1), "printed_scope is for a head without query_bias")
