"""Layers of every format: no head computed twice, none wrong; values from Gram matrices that are known to be off."""

from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.theory.alibi.drawn_heads import frame
from tests.theory.alibi.test_grams import agree, layer, one_by_one
from tests.theory.cases import SEEDS
from theory import alibi
from theory.alibi import grams, grams_largest, grams_rotary
from theory.alibi.grams_largest import Sphere, bounded
from theory.alibi.grams_rows import times_gram
from theory.alibi.tables import bfloat16

FORMATS = {
    "float32": lambda values: np.asarray(values, np.float32),
    "float16": lambda values: np.asarray(values).astype(np.float16).astype(np.float32),
    "bfloat16": lambda values: bfloat16(np.asarray(values, np.float32)).astype(np.float32),
    "one size": lambda values: np.float32(0.0173) * np.sign(values).astype(np.float32),  # of a quantised checkpoint
}


def rounded(arguments, name, gains):
    """The weights in a format, small as trained ones are, with gains in the format or without."""
    found = {key: FORMATS[name](0.02 * arguments[key]) for key in ("w_q", "w_k")}
    gamma = FORMATS[name](arguments["gamma"]) if gains and name != "one size" else np.ones_like(arguments["gamma"])
    return arguments | found | {"gamma": gamma.astype(np.float64)}


def never(*_):
    pytest.fail("a head was computed anew")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("gains", [False, True])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_heads_of_every_format_are_right_and_not_computed_twice(name, gains, biased, norm, monkeypatch):
    arguments = rounded(layer(np.random.default_rng(4), 6, 3, 32, 1500, biased=biased), name, gains)
    for module, function in ((grams, "_anew"), (grams, "_norm"), (grams_rotary, "finite_gram")):
        monkeypatch.setattr(module, function, never)
    before = arguments["w_q"].copy()
    agree(arguments, norm)
    assert (arguments["w_q"] == before).all()
    grams_rotary.rotary_ranges(**arguments, norm=norm)


def adversarial(rng, case, size):
    """A layer of (heads, kv heads, d_head, d_model) with what may go wrong."""
    heads, _, d_head, d_model = size
    found = layer(rng, *size, dtype=np.float64)
    decay = np.exp(2 * rng.standard_normal((1, d_head, 1)))
    turn = frame(rng, d_head)
    if case == "near equal" and d_head <= d_model:
        for name in ("w_q", "w_k"):
            found[name] = np.stack([np.linalg.qr(rows.T)[0].T for rows in found[name]])
        found["gamma"] = np.ones(d_model)
    elif case == "deficient":
        found["w_q"] = rng.standard_normal((d_head, 1)) @ found["w_q"][:, :1] + 1e-9 * found["w_q"]
    elif case == "scales":
        found |= {name: turn @ (decay * found[name]) for name in ("w_q", "w_k")}
    elif case == "means":
        found |= {"w_q": found["w_q"] + rng.uniform(0, 9), "w_k": found["w_k"] - rng.uniform(0, 9)}
    if case in ("biases", "means"):
        found |= {"norm_bias": rng.standard_normal(d_model), "query_bias": rng.standard_normal((heads, d_head))}
    elif case == "small biases":
        found["query_bias"] = 10.0 ** rng.uniform(-12, 0) * rng.standard_normal((heads, d_head))
    elif case == "cancelling biases":
        found["norm_bias"] = 10.0 ** rng.uniform(0, 3) * rng.standard_normal(d_model)
    largest = max(1.0, *(np.abs(found[name]).max() for name in ("w_q", "w_k")))
    return found | {name: found[name] * min(1.0, 1e4 / largest) for name in ("w_q", "w_k")}  # float16 ends at 65504


CASES = ["plain", "near equal", "deficient", "scales", "means", "biases", "small biases", "cancelling biases"]


@given(SEEDS, st.sampled_from(CASES), st.sampled_from(sorted(FORMATS)), st.booleans())
@example(93212389, "biases", "one size", True)  # LayerNorm of two numbers: the mean is a million times what is left
def test_adversarial_layers_of_any_format_are_right_to_ten_digits(seed, case, name, centred):
    rng = np.random.default_rng(seed)
    kv_heads, group, d_head, d_model = rng.integers([1, 1, 1, 2], [3, 4, 16, 60])
    found = adversarial(rng, case, (kv_heads * group, kv_heads, d_head, d_model))
    found |= {key: FORMATS[name](found[key]) for key in ("w_q", "w_k")}
    if case == "cancelling biases":
        left = 10.0 ** rng.uniform(-9, 1) * rng.standard_normal((kv_heads * group, d_head))
        found["query_bias"] = left - found["w_q"].astype(float) @ found["norm_bias"]
    norm = "layer" if centred else "rms"
    expected = one_by_one(found, norm)
    assert grams.logit_ranges(**found, norm=norm) == pytest.approx(expected, rel=1e-10, abs=1e-13 * expected.max())


def problem(rng, d_head, d_model, offset, gap):
    """Rows whose product has two largest squared singular values 1 and 1 - gap, turned, and an offset of this size."""
    left, right = frame(rng, d_head, d_model), frame(rng, d_head, d_model)
    sizes = np.sqrt([1.0, 1.0 - gap, *rng.uniform(0.1, 0.9, d_head - 2)])[:d_head, None]
    turn = frame(rng, d_head)
    return turn @ (sizes * left), turn @ right, offset * np.sqrt(d_model) * rng.standard_normal(d_head)


def off(rng, matrix, size):
    """The matrix with an error of this size over its norm: noise, or all squares too small."""
    noise = rng.standard_normal(matrix.shape)
    noise = (noise + noise.T) / np.linalg.norm(noise + noise.T) if rng.random() < 0.5 else -np.eye(len(matrix))
    return matrix + size * np.linalg.norm(matrix) * noise


def products(*sides):
    return [partial(times_gram, rows, np.ones(rows.shape[1]), "rms") for rows in sides]


def seen_wrongly(rng, rows_q, rows_k, offset, size):
    """`bounded` of a problem whose Gram matrices are off, and the true maximum."""
    d_model = rows_q.shape[1]
    ones = np.ones(d_model)
    pair = [off(rng, rows @ rows.T, size) for rows in (rows_q, rows_k)]
    found = bounded(Sphere(*pair, offset, float(d_model)), *products(rows_q, rows_k))
    true = alibi.logit_range(rows_q, rows_k, ones, None, offset) ** 2 / 4 / d_model * len(offset)
    return found, true


GAPS = st.floats(-6, -0.5).map(lambda x: 10.0**x)
OFFSETS = st.one_of(st.just(0.0), st.floats(-6, 1).map(lambda x: 10.0**x))
ERRORS = st.floats(-16, -5.1).map(lambda x: 10.0**x)


@settings(max_examples=150)
@given(SEEDS, GAPS, OFFSETS, ERRORS)
def test_a_maximum_from_wrong_gram_matrices_is_right_or_not_given(seed, gap, offset, error):
    rng = np.random.default_rng(seed)
    found, true = seen_wrongly(rng, *problem(rng, rng.integers(2, 14), rng.integers(14, 60), offset, gap), error)
    if found is not None:
        assert found.value <= true * (1 + 1e-13) and true <= found.upper * (1 + 1e-13)
        assert found.upper <= found.value * (1 + grams_largest.CLOSE)


def test_wrong_gram_matrices_are_mostly_enough_even_so():
    rng = np.random.default_rng(0)
    for offset in (0.0, 1e-7, 1e-3, 1.0):
        given_up = sum(
            seen_wrongly(rng, *problem(rng, 12, 60, offset, 0.02), 1e-6)[0] is None for _ in range(20)
        )
        assert given_up <= 2, offset


def test_without_the_error_of_the_eigenvalues_a_worse_maximum_would_be_believed(monkeypatch):
    """Two eigenvalues so close that a wrong matrix puts them the other way round: both have no residual."""
    left, right = np.eye(9)[:3], np.eye(9)[:3] * np.sqrt([1.0, 1 - 4e-6, 0.5])[:, None]

    def believed():
        pair = left @ left.T, right @ right.T + np.diag([-8e-6, 0, 0])
        found = bounded(Sphere(*pair, np.zeros(3), 9.0), *products(left, right))
        return found and found.value / 9

    assert believed() is None
    monkeypatch.setattr(grams_largest, "_error", lambda *_: 0.0)
    assert believed() == pytest.approx(1 - 4e-6, abs=1e-9)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_rotary_bounds_are_the_upper_ends_of_those_by_float64(name, biased, norm, monkeypatch):
    rng = np.random.default_rng(5)
    arguments = rounded(layer(rng, 4, 2, 16, 300, biased=biased), name, gains=True)
    key_bias = rng.standard_normal((2, 16)) if biased else None
    found = grams_rotary.rotary_ranges(**arguments, key_bias=key_bias, norm=norm)
    monkeypatch.setattr(grams_rotary, "bounded", lambda *_: None)
    wide = grams_rotary.rotary_ranges(**arguments, key_bias=key_bias, norm=norm)
    assert found == pytest.approx(wide, rel=1e-9) and (found >= wide * (1 - 1e-14)).all()
