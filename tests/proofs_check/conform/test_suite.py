"""What does not run is no pass, what deviates is told in one line, and the same seed gives the same cases."""

import math
import re
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from proofs_check.conform import CHECKS, SUBJECTS, Adapter, Outcome, claimed, conform, load, require, run
from proofs_check.conform import reference as ref
from proofs_check.conform.case import Case, deviation, tolerance
from proofs_check.conform.check import Check
from tests.proofs_check.conform.right import Right
from theory import alibi

PASSED, FAILED, RAISED, CONVENTION, REFUSED, CUT, NOT_CLAIMED = Outcome

NAMED = {check.name: check for check in CHECKS}
RIGHT = Right()


def adapter(**functions):
    return Adapter(SimpleNamespace(**{"DTYPE": "float64"} | functions), "mine")


def test_names_are_unique_and_every_subject_has_checks():
    assert len(NAMED) == len(CHECKS)
    assert {check.subject for check in CHECKS} == set(SUBJECTS)


def slopes(n, at=0, error=None):
    """The right ones, or an error for so many heads."""
    if n == at:
        raise error
    return RIGHT.alibi_slopes(n)


def bias(least, *sizes):
    """The right one, with keys masked that are so many places after the query or more."""
    return np.where(RIGHT.distance(*sizes[1:]) < least, RIGHT.alibi_bias(*sizes), -np.inf)


def in_turn(q, k, v, most=99):
    """Head h reads group h mod groups, of so many heads at most."""
    order = np.arange(q.shape[1]) % k.shape[1]
    return RIGHT.attention(q, k[:, order], v[:, order]) if len(order) <= most else RIGHT.attention(q, k, v)


def remembered(q, k, v, answers={}):  # noqa: B006
    """An answer is found again by the first numbers of what was asked."""
    return answers.setdefault((k.shape, k[0, 0, 0, 0], v[0, 0, 0, 0]), RIGHT.attention(q, k, v))


def rounded(x, positions, base):
    return RIGHT.rope(x, positions.astype(np.float16), base)


ANY, CHUNKS, GROUPED = "alibi_slopes.any_head_count", "alibi_bias.chunks", "attention.grouped"
IN_HALF = "; these are the numbers of positions rounded to float16"
TURNS = "; these are the numbers of head h in group h mod groups"
# A check, an adapter or the function that it is of, how it comes out, and words.
OUTCOMES = [
    ("attention.packed", lambda q, k, v, **more: 0, NOT_CLAIMED, "attention has no parameter segments"),
    (
        ANY, lambda n: slopes(n, 25, NotImplementedError("24 heads at most")), REFUSED, "25 heads: 24 heads at most",
    ),
    (ANY, lambda n: slopes(n, 3, NotImplementedError)[::-1], FAILED, "5 heads: head 0: expected 0.25, got 0.5"),
    (
        ANY, lambda n: slopes(n, 3, RuntimeError("first\nsecond " + 300 * "x")), RAISED,
        f"3 heads: RuntimeError: first second {145 * 'x'}..",
    ),
    (ANY, lambda n: sys.exit(0), RAISED, "3 heads: SystemExit: 0"),
    (
        ANY, ref.slopes_of_the_sentence, FAILED,
        "3 heads: head 0: expected 0.0625, got 0.15749; these are 2^(-8h/n), the sentence of the paper and not the "
        "code that models with this many heads are trained with",
    ),
    (ANY, lambda n: slopes(n) + 0j, RAISED, "3 heads: TypeError: expected real numbers, got an array of complex128"),
    (ANY, ref.slopes, RAISED, "3 heads: RuntimeError: the adapter asks the suite itself for slopes"),
    (CHUNKS, partial(bias, 1), PASSED, ""),
    (CHUNKS, partial(bias, 0), FAILED, "query 0, key 0: expected -0.0625, got inf"),
    (CHUNKS, lambda *sizes: RIGHT.alibi_bias(*sizes)[None, :, -1:], PASSED, ""),
    ("shift.whole", lambda x, weights, state=None: x, RAISED, "returns (output, state), got a ndarray"),
    (GROUPED, in_turn, CONVENTION, TURNS),
    (GROUPED, partial(in_turn, most=9), FAILED, f"{TURNS}, and not in every case"),
    (GROUPED, adapter(attention=in_turn, CONVENTIONS=["groups"]), PASSED, ""),
    (GROUPED, adapter(attention=RIGHT.attention, CONVENTIONS=["groups"]), FAILED, "4 heads of 8 in 2 groups"),
    ("attention.causal", remembered, FAILED, "2 queries at the end of 2 keys: row 0, head 0, query 1"),
    ("rope.far", adapter(rope=rounded, DTYPE="float16"), CONVENTION, IN_HALF),
    ("rope.together", rounded, FAILED, IN_HALF),
    (
        "evicting_attention.output", Adapter(type("Roomy", (Right,), {"forget": lambda self, held, k: held})()),
        REFUSED, "rows 1, heads 2, tokens 16, channels 8, groups 2, chunks of 8, 1 (8 times): nothing",
    ),
    (
        "decoded.steps", adapter(logits=lambda tokens: RIGHT.table[tokens], decoded=RIGHT.decoded), REFUSED,
        "change nothing there: draw larger weights",
    ),
    ("decoded.steps", RIGHT.decoded, REFUSED, "needs the function logits too"),
    ("logits.causal", lambda tokens: np.full((*tokens.shape, 9), np.inf), FAILED, "expected nan"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "of", "outcome", "words"), OUTCOMES)
def test_a_check_comes_out_as_told_in_one_line(name, of, outcome, words):
    result = run(of if isinstance(of, Adapter) else adapter(**{NAMED[name].subject: of}), NAMED[name])
    assert result.outcome is outcome and words in result.told and bool(result.told) is (outcome is not PASSED)
    assert "\n" not in result.told and len(result.told) < 300
    assert result.deviates is (outcome in (FAILED, RAISED, CONVENTION))


def test_a_check_without_cases_is_no_pass():
    empty = Check("alibi_slopes.none", "nothing", lambda given: iter(()))
    assert run(adapter(alibi_slopes=slopes), empty).outcome is REFUSED


def test_what_has_passed_tells_its_largest_sizes():
    result = run(Adapter(RIGHT), NAMED["shift.batch"])
    assert result.cases == 48 and result.largest == {"rows": 33, "tokens": 257, "channels": 256, "weights": 2}


def test_what_the_time_cuts_short_is_no_pass():
    of, shift = Adapter(RIGHT), frozenset({"shift"})
    outcomes = {(r.outcome, r.cases) for r in conform(of, shift, seconds=0)}
    assert outcomes == {(CUT, 1)} and {r.outcome for r in conform(of, shift, seconds=600)} == {PASSED}


@pytest.mark.parametrize(
    ("claims", "yes"),
    [
        ({"logits": lambda q, k: 0}, False),
        ({"logits": lambda tokens: 0}, True),
        ({"logits": lambda ids: 0, "VOCAB": 9}, True),
        ({"logits": lambda ids: 0, "decoded": RIGHT.decoded}, True),
    ],
)
def test_a_helper_called_logits_claims_no_model(claims, yes):
    found = {check.subject for check in claimed(adapter(attention=RIGHT.attention, **claims))}
    assert "attention" in found and ("logits" in found) is yes


@pytest.mark.parametrize(
    ("got", "told"),
    [
        (np.ones(2), "expected an array of shape (3,), got shape (2,)"),
        (np.ones((1, 3)), "expected an array of shape (3,), got shape (1, 3)"),
        ([1.0, 1.0, 1.0], "expected an array of shape (3,), got a list"),
        (np.array([1, 1, math.nan]), "head 2: expected 1, got nan"),
        (np.array([1, -math.inf, 1]), "head 1: expected 1, got -inf"),
        (np.array([1, 1 + 1e-9, 1]), "head 1: expected 1, got 1.000000001"),
    ],
)
def test_shapes_nan_and_infinities_never_pass(got, told):
    case = Case("3 heads", lambda: got, lambda: np.ones(3), ("head",))
    assert deviation(case, "float64") == (f"3 heads: {told}", None)


def test_a_tolerance_is_relative_to_the_largest_number_and_never_below_that_of_one():
    assert tolerance("float32", np.array([0.0, 1e-9])) == tolerance("float32", np.ones(1)) == 2.0**-16
    assert tolerance("float32", np.array([-100.0])) == 100 * 2.0**-16


@pytest.mark.parametrize(("backend", "dtype"), [("numpy", "float64"), ("torch", "float64"), ("torch", "bfloat16")])
def test_numbers_go_in_as_they_are_compared_and_as_copies(backend, dtype):
    of, given = adapter(BACKEND=backend, DTYPE=dtype), np.random.default_rng(0).standard_normal(9)
    seen = of.rounded(given)
    assert (seen == of.rounded(seen)).all() and (seen == given).all() == (dtype == "float64")
    for whole in (given, np.arange(3), np.ones(3, dtype=bool)):
        handed = of.own(whole)
        handed[1] = 0
        assert whole[1]


def drawn(seed, name):
    """What a check hands over."""
    found = []

    def shift(x, weights):
        found.extend(x.ravel())
        return RIGHT.shift(x, weights)[0]

    require(adapter(shift=shift), NAMED[name], seed)
    return found


def test_a_seed_gives_the_same_inputs_and_another_seed_or_check_others():
    first = drawn(0, "shift.causal")
    assert first == drawn(0, "shift.causal")
    assert not set(first) & {*drawn(1, "shift.causal"), *drawn(0, "shift.batch")}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_passes_where_it_is_rounding_and_fails_where_it_is_not(dtype):
    import torch

    def attention(q, k, v):
        scores = q @ k.mT / q.shape[3] ** 0.5
        return scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf).softmax(-1) @ v

    require(adapter(BACKEND="torch", DTYPE=dtype, attention=attention), NAMED["attention.whole"])
    unscaled = adapter(BACKEND="torch", DTYPE=dtype, attention=lambda q, k, v: attention(2 * q, k, v))
    assert run(unscaled, NAMED["attention.whole"]).outcome is FAILED


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"BACKEND": "jax"}, "BACKEND must be one of numpy, torch, got 'jax'"),
        ({"DTYPE": "float8"}, "DTYPE must be one of float64, float32, float16, bfloat16, got 'float8'"),
        ({"DTYPE": "bfloat16"}, "float16 with BACKEND 'numpy', got 'bfloat16'"),
        ({"VOCAB": 2}, "VOCAB must be a whole number of at least 3, got 2"),
        ({"PAIRS": "thirds"}, "PAIRS must be one of halves, neighbours, got 'thirds'"),
        ({"CONVENTIONS": ["left"]}, "CONVENTIONS must be one of groups, window, corner, got 'left'"),
        ({"alibi_slopes": 3}, "mine: alibi_slopes must be a function, got 3"),
    ],
)
def test_settings_outside_their_range_are_refused(given, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        conform(adapter(**given))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import no_such_package_at_all", "ModuleNotFoundError: No module named 'no_such_package_at_all'"),
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("", "ValueError: there is no such file"),
    ],
)
def test_what_goes_wrong_in_a_file_is_told_in_one_line(tmp_path, text, told):
    path = tmp_path / "mine.py"
    if text:
        path.write_text(text)
    with pytest.raises(ValueError, match=f"^{path} cannot be loaded: {told}$"):
        load(str(path))


def test_a_test_of_ones_own_fails_in_one_line():
    """What docs/conform.md shows; `test_planted` has one that passes."""
    wrong = adapter(alibi_slopes=lambda n: slopes(n) * 2)
    with pytest.raises(AssertionError, match=r"^alibi_slopes\.powers_of_two failed: 1 heads: head 0: expected 0.0039"):
        require(wrong, NAMED["alibi_slopes.powers_of_two"])
    with pytest.raises(AssertionError, match=r"^shift\.whole not claimed: no function shift$"):
        require(wrong, NAMED["shift.whole"])


# Two sources of one formula that share no code.


def test_reference_slopes_are_those_of_theory():
    for n in range(1, 130):
        assert ref.slopes(n).tolist() == pytest.approx(alibi.slopes(n), rel=1e-15)
        assert (ref.slopes(n) == ref.slopes_of_the_sentence(n)).all() == (n & (n - 1) == 0)


def test_the_suite_imports_nothing_of_theory_or_dynamics():
    for path in Path(ref.__file__).parent.glob("*.py"):
        assert not re.search("(from|import) (theory|dynamics)", path.read_text("utf-8")), path
