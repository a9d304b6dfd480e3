"""What is not a number is refused in one line, by every public function and in every argument."""

import math
from ast import literal_eval
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.theory.cases import leaves, refuses
from tests.theory.entries import ENTRIES, OPTIONAL
from tests.theory.refusals import TABLE
from theory import checked, landscape
from theory.landscape import temperature

NEVER = [
    True, np.True_, np.array(True), "1.5", b"1", bytearray(b"12"), memoryview(b"12"), 1j, np.array([1 + 0j]), {},
    object(), 10**400, math.nan, math.inf, -math.inf, Decimal("0.5"), np.datetime64("2026-01-01"),
    np.timedelta64(3, "D"), np.ma.array([1.0, 2.0], mask=[False, True]), np.ma.array(1.0),
    np.ma.masked, [True, 1.0], ["1", "2"], [b"1"], [[1.0], [1.0, 2.0]], [1.0, None], [1.0, 10**400],
    [np.ma.masked, 1.0], np.array(["1"]), np.array([True]), np.array([1], dtype="m8[s]"),
    np.array([10**400], dtype=object), np.array([1.0, math.nan]), arb(1), sp.Symbol("x"), sp.pi, mpmath.mpf("inf"),
    np.longdouble("1e4000"), iter([1.0]), "a\nb", None,
]  # fmt: skip
NAMES = [f"{entry.function.__module__.split('.')[-1]}.{entry.function.__name__}" for entry in ENTRIES]


# what a function that hands an argument on calls it there
OTHER_NAMES = ("alpha2 ", "beta1 ", "beta2 ", "constant ", "logit_range ", "n_tokens ", "w_q ")


def refused(entry, name, junk):
    return refuses(lambda: entry.called(**{name: junk}), "")


def allowed(entry, name, junk):
    """None, exact numbers, symbols and "mean" have a meaning in some places."""
    if name in entry.exact and isinstance(junk, str | int) and not isinstance(junk, bool):
        return True
    if junk is None or (isinstance(junk, str) and junk == "mean"):
        return name in (*OPTIONAL, *entry.free)
    return entry.symbols and isinstance(junk, sp.Symbol)


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_every_argument_of_every_function_refuses_what_is_not_a_number(entry):
    entry.called()
    for name in entry.arguments:
        for junk in NEVER:
            if not allowed(entry, name, junk):
                assert refused(entry, name, junk).startswith((f"{name} ", *OTHER_NAMES))


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.words], ids=lambda e: e.function.__name__)
def test_every_word_is_one_of_those_known(entry):
    for name in entry.words:
        for junk in ("other", None, True, ["rms"], np.array(["rms", "layer"]), {}):
            refused(entry, name, junk)


GOOD = {entry.function.__name__: entry for entry in ENTRIES}


@pytest.mark.parametrize("row", TABLE.strip().splitlines())
def test_a_value_beyond_its_range_is_refused_in_words(row):
    function, name, value, words = row.split(" | ")
    assert words in refused(GOOD[function], name, literal_eval(value))


LISTED = st.integers(0, len(NEVER) - 1).map(lambda k: NEVER[k])
LEAVES = st.one_of(LISTED, st.text(), st.binary(), st.complex_numbers(), st.dates(), st.booleans())
JUNK = st.recursive(LEAVES, lambda part: st.lists(part, min_size=1, max_size=3) | st.tuples(part, part), max_leaves=4)


@settings(max_examples=300 if settings.get_current_profile_name() == "ci" else 2000)
@given(st.sampled_from(ENTRIES), st.data())
def test_drawn_junk_is_refused_at_any_depth(entry, data):
    name = data.draw(st.sampled_from(sorted(entry.arguments)))
    junk = data.draw(JUNK)
    if not allowed(entry, name, junk):
        refused(entry, name, junk)


SIZES = [0.0, 5e-324, 1e-308, 1e-160, 1e-16, 0.5, 1 - 2**-53, 1 + 2**-52, 37.0, 710.0, 1e4, 1e16, 1e75, 1e160, 1.7e308]
# functions that say so: bounds, scopes, and a velocity far from its flow
MAY_BE_INFINITE = {"scope", "spectral_scope", "window_for_mass", "log_weight_bound", "printed_condition",
                   "second_order_bound", "matched_discrepancy_bound", "printed_copy_error_bound",
                   "printed_softmax_change_bound", "late_velocity", "log_shifted_odds", "shifted_scope",
                   "shifted_window", "sink_scope", "table_scope", "table_window"}  # fmt: skip
# symbolic, or as large as their numbers; times of learning need seconds near nothing, and have tests of extremes
SIZED = [entry for entry in ENTRIES if entry.function.__module__.split(".")[-1] not in
         ("initialisation", "symbolic", "late_field", "algebra", "frozen_table", "width")
         and entry.function.__name__ not in ("slopes", "logits", "slice_grid", "printed_grid", "margin_density",
                                             "slope_in_temperature", "construction", "learning_time",
                                             "scaled_learning_time")]  # fmt: skip


def scaled(draw, value):
    """A number or an array of them with some replaced by tiny and huge ones, whole numbers by others."""
    if isinstance(value, int):
        return draw(st.sampled_from([value, 1, 2, 1000, 10**15]))
    size = st.sampled_from(SIZES).flatmap(lambda x: st.sampled_from([x, -x]))
    array = np.array(value, dtype=float)
    entries = [draw(st.one_of(st.just(x), size)) for x in array.ravel().tolist()]
    return np.reshape(entries, array.shape) if array.ndim else entries[0]


def numbers_in(found):
    parts = [np.ravel(part) for part in leaves(found) if isinstance(part, float | np.ndarray)]
    return [x for part in parts if part.dtype.kind == "f" for x in part.tolist()]


@settings(max_examples=400)
@given(st.sampled_from(SIZED), st.data())
def test_numbers_of_any_size_give_finite_results_or_a_refusal(entry, data):
    names = data.draw(st.lists(st.sampled_from(sorted(entry.arguments)), unique=True, min_size=1, max_size=3))
    changed = {name: scaled(data.draw, entry.arguments[name]) for name in names}
    try:
        found = entry.called(**changed)
    except ValueError as error:
        assert type(error) is ValueError and "\n" not in str(error)
        return
    values = numbers_in(found)
    assert np.isfinite(values).all() or entry.function.__name__ in MAY_BE_INFINITE
    assert not np.isnan(values).any() or entry.function.__name__ == "late_velocity"


KINDS = [np.int8, np.uint16, np.float16, np.float64, np.longdouble, Fraction, mpmath.mpf, sp.Integer]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_numbers_of_any_library_are_taken_at_their_value(kind):
    assert checked.real("x", kind(3)) == 3.0 and type(checked.real("x", kind(3))) is float
    assert checked.whole("n", kind(3), 1) == 3 and type(checked.whole("n", kind(3), 1)) is int
    for value in (kind(3), [kind(3), 2], np.array([[kind(3)]])):
        found = checked.reals("x", value)
        assert found.dtype == np.float64 and found.ravel()[0] == 3.0
    assert landscape.loss(kind(1), 0, kind(1), 0, kind(9)) == landscape.loss(1.0, 0.0, 1.0, 0.0, 9.0)


def test_whole_numbers_are_whole():
    refuses(lambda: temperature.best_temperature(1.5), "width must be a whole number >= 1, got 1.5")
    assert temperature.best_temperature(3.0) == temperature.best_temperature(np.int8(3)) == 6
    assert checked.index("n", 10**30) == 10**30
    refuses(lambda: checked.index("n", 3.0), "n must be a whole number, got 3.0")


@pytest.mark.parametrize(
    ("within", "words", "inside", "outside"),
    [
        (checked.ANY, "be a finite number, got", [-1e308, 0, 1e308], [math.inf]),
        (checked.NONNEGATIVE, "be a finite number >= 0, got", [0, 1], [-1e-300]),
        (checked.POSITIVE, "be a finite number > 0, got", [5e-324], [0.0, -1]),
        (checked.SHARE, "lie strictly between 0 and 1, got", [0.5], [0.0, 1.0]),
        (checked.UNIT, "lie in [0, 1], got", [0, 1], [-0.1, 1.1]),
        (checked.Range(high=3.0), "be a finite number <= 3, got", [-5, 3], [3.5]),
    ],
)
def test_a_range_is_named_and_kept(within, words, inside, outside):
    for value in inside:
        assert checked.real("x", value, within) == value and checked.reals("x", [value], within) == [value]
    for value in outside:
        refuses(lambda value=value: checked.real("x", value, within), f"x must {words}")
        told = refuses(lambda value=value: checked.reals("x", [0.5, value], within), "x must ")
        assert told.startswith(("x must be finite numbers", "x must lie"))


def test_a_message_shows_the_value_in_few_words():
    assert checked.shown("x" * 500) == f"'{'x' * 56}..."
    assert checked.shown(np.ones((3, 4))) == "an array of float64 of shape (3, 4)"
    assert checked.shown(10**5000) == "a value of type int"
    assert checked.shown({"a": 1}) == "{'a': 1}"
