"""Tensors of every kind, complex numbers, half precision and weights of 1e200: a right number, or one plain line."""

import numpy as np
import pytest
import torch
from flint import arb

from tests.shares import one_in
from tests.theory.cases import leaves
from tests.theory.entries import ENTRIES, LAYER, QUERY
from tests.theory.test_checked import NAMES
from theory import alibi
from theory.alibi import grams, grams_rotary, rotary
from theory.cache import dropped

# no tensor in numpy's memory, or numbers that are not real
REFUSED = {
    "a gradient": lambda x: torch.tensor(x, requires_grad=True),
    "bfloat16": lambda x: torch.tensor(x, dtype=torch.bfloat16),
    "meta": lambda x: torch.empty(x.shape, device="meta"),
    "complex": lambda x: x + 0j,
    "a conjugate": lambda x: (torch.tensor(x) + 1j).conj(),
    "sparse": lambda x: torch.tensor(np.atleast_1d(x)).to_sparse(),
    "a list of gradients": lambda x: [torch.tensor(x, requires_grad=True)] * 2,
}
# taken at their value: rounding them is the caller's doing, and what is computed from them is computed in float64
TAKEN = {
    "float16": lambda x: x.astype(np.float16)[()],
    "float32": lambda x: x.astype(np.float32)[()],
    "tensor": torch.tensor,
    "half tensor": lambda x: torch.tensor(x).half(),
}


def one_line(call):
    """What the call returns, or None for a refusal of one line."""
    try:
        return call()
    except (ValueError, TypeError) as error:
        assert type(error) in (ValueError, TypeError) and "\n" not in str(error) and len(str(error)) < 400
        return None


def same(one, other):
    """Equal, number by number; a ball equals no ball, and is compared as printed."""
    one, other = leaves(one), leaves(other)
    if len(one) != len(other):
        return False
    pairs = zip(one, other, strict=True)
    return all(str(a) == str(b) if isinstance(a, arb) else np.array_equal(a, b) for a, b in pairs)


def numeric(entry):
    """Its arguments that are numbers or arrays of them."""
    return {name: np.asarray(value, dtype=float) for name, value in entry.arguments.items() if value is not None}


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_tensors_without_plain_numbers_are_refused_in_one_line(entry):
    for name, value in numeric(entry).items():
        for kind, made in REFUSED.items():
            found = one_line(lambda made=made, name=name, value=value: entry.called(**{name: made(value)}))
            assert found is None, f"{name}: {kind} gave {found}"


def half_precision_agrees(entry):
    """Whether what the function makes of numbers of few bits is what it makes of the same numbers in float64."""
    for name, value in numeric(entry).items():
        for made in TAKEN.values():
            given = made(value)
            wide = np.asarray(given, dtype=np.float64)
            found = one_line(lambda name=name, given=given: entry.called(**{name: given}))
            if found is not None and not same(found, entry.called(**{name: wide if wide.ndim else float(wide)})):
                return False
    return True


@pytest.mark.parametrize("entry", one_in(2, ENTRIES), ids=NAMES)
def test_numbers_of_few_bits_give_what_they_give_in_float64(entry):
    assert half_precision_agrees(entry)


# function, its arguments, and what may be scaled: all of them together scale the result
LARGE = [
    (alibi.logit_range, QUERY, [("w_q", "query_bias"), ("w_k",)]),
    (alibi.self_gap, QUERY, [("w_q", "query_bias"), ("w_k",)]),
    (alibi.certified_logit_range, QUERY, [("w_q", "query_bias"), ("w_k",)]),
    (rotary.rotary_range, QUERY | {"key_bias": np.ones(2)}, [("w_q", "query_bias"), ("w_k", "key_bias")]),
    (grams.logit_ranges, LAYER, [("w_q", "query_bias"), ("w_k",)]),
    (grams.product_norms, {"left": LAYER["w_q"], "right": LAYER["w_k"]}, [("left",), ("right",)]),
    (grams.value_diameters, {"w_v": LAYER["w_q"], "gamma": np.ones(4)}, [("w_v",)]),
    (grams_rotary.rotary_ranges, LAYER | {"key_bias": np.ones((1, 2))}, [("w_q", "query_bias"), ("w_k", "key_bias")]),
    (dropped.value_diameter, {"w_v": np.eye(2), "gamma": np.ones(2)}, [("w_v",)]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments", "parts"), LARGE, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_weights_of_any_size_give_their_range_to_ten_digits(function, arguments, parts, size):
    plain = np.array(function(**arguments))
    for part in parts:
        scaled = {name: size * np.asarray(arguments[name], dtype=float) for name in part}
        assert np.array(function(**arguments | scaled)) / size == pytest.approx(plain, rel=1e-10)


def test_scopes_of_huge_weights_are_those_of_their_range():
    huge = QUERY | {"w_q": 1e200 * np.eye(2)}
    spread = alibi.logit_range(**huge)
    biased = alibi.Head(**huge | {"query_bias": np.full(2, 1e200)})
    assert alibi.spectral_scope(biased, slope=0.5, eps=0.01) >= 2 * spread
    assert one_line(lambda: alibi.logit_range(**huge | {"w_k": 1e200 * np.eye(2)})) is None
