"""One name and one order for one thing, and numbers that broadcast, in every public function of `theory`."""

import inspect
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest

from scripts.pages import theory_table
from tests.theory.cases import leaves
from tests.theory.entries import ENTRIES
from theory.records import comparable

PUBLIC = {f"{room}.{name}": function for room, name, function in theory_table.functions()}
ENTRY = {entry.function: entry for entry in ENTRIES}
FED = {name: ENTRY[function] for name, function in PUBLIC.items() if function in ENTRY}
# A size that is an axis of the result: there is none for several.
AXES = {
    "alibi.slopes": "n_heads", "induction.construction": "dim", "induction.head_weights": "vocabulary",
    "induction.sharp_case": "dim", "landscape.logits": "n_tokens", "shift.shift_matrix": "length",
    "shift.tokens": "length dim",
}  # fmt: skip
# A place in a sentence, a word or a number: not an array.
NOT_MEASURED = {"position"}


def test_two_arguments_stand_in_one_order_wherever_both_are():
    first = {}
    for name, function in PUBLIC.items():
        placed = [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.KEYWORD_ONLY]
        for pair in combinations(placed, 2):
            assert pair[::-1] not in first, f"{name} has {pair}, {first[pair[::-1]]} the other way round"
            first[pair] = name


def test_signatures_read_plainly():
    """`x: ArrayLike`, not numpy's unions over many lines."""
    assert [name for name, function in PUBLIC.items() if "_SupportsArray" in str(inspect.signature(function))] == []


@pytest.mark.parametrize("names", [("n_tokens", "tokens", "T"), ("length", "size_of_sentence", "L"),
                                   ("eps", "epsilon"), ("logit_range", "spread"), ("slope", "rate")])  # fmt: skip
def test_one_thing_has_one_name(names):
    kept, *others = names
    for name, function in PUBLIC.items():
        assert not set(others) & set(inspect.signature(function).parameters), f"{name}: it is called {kept}"


def test_every_argument_of_a_public_function_is_fed():
    for name, entry in FED.items():
        left_out = set(inspect.signature(entry.function).parameters) - {*entry.arguments, *entry.words}
        assert left_out <= {"name"}, name


def parts(value):
    return [np.asarray(float(leaf) if isinstance(leaf, Fraction) else leaf) for leaf in leaves(value)]


@pytest.mark.parametrize("name", FED)
def test_numbers_broadcast(name):
    entry, axes = FED[name], AXES.get(name, "").split()
    single = parts(entry.called())
    for argument, value in entry.arguments.items():
        if np.ndim(value) or argument in NOT_MEASURED or (argument in entry.free and value is None):
            continue
        many = {argument: np.array([[value], [value], [value]], dtype=float)}
        if argument in axes:
            with pytest.raises(ValueError) as refusal:
                entry.called(**many)
            assert "\n" not in str(refusal.value)
            continue
        found = parts(entry.called(**many))
        grown = [(one, three) for one, three in zip(single, found, strict=True) if three.shape != one.shape]
        assert grown, f"{name}: {argument} does not broadcast"
        for one, three in grown:
            assert three.shape == (3, 1, *one.shape), f"{name}: {argument} does not broadcast"
            assert np.allclose(three[0, 0], one, rtol=1e-12) and np.array_equal(three[0], three[2])


def test_records_that_are_returned_compare_as_a_whole():
    records = 0
    for name, entry in FED.items():
        found, again = entry.called(), entry.called()
        if not hasattr(found, "_fields"):
            continue
        records += 1
        assert (found == again) is True and (found != again) is False, name
        other = again._replace(**{found._fields[0]: np.asarray(found[0]) + 1.0})
        assert (found == other) is False and (found != other) is True, name
    assert records >= 10


def test_records_with_arrays_of_other_shapes_and_with_nan_compare():
    @comparable
    class Record(NamedTuple):
        values: np.ndarray
        size: float

    one = Record(np.array([1.0, np.nan]), np.nan)
    assert one == Record(np.array([1.0, np.nan]), np.nan) and one != Record(np.array([[1.0, np.nan]]), np.nan)
    assert one != Record(np.array([1.0, 2.0]), np.nan) and one != Record(np.array([1.0, np.nan]), 1.0)
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
