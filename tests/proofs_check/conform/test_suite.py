"""What does not run is no pass, what deviates is told in one line, and the same seed gives the same cases."""

import inspect
import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from proofs_check.conform import CHECKS, SUBJECTS, Adapter, Outcome, conform, load, require, run
from proofs_check.conform import reference as ref
from proofs_check.conform.case import Case, deviation, tolerance
from proofs_check.conform.check import Check
from tests.proofs_check.conform.right import Right
from theory import alibi

PASSED, FAILED, RAISED, CONVENTION, REFUSED, NOT_CLAIMED = Outcome

NAMED = {check.name: check for check in CHECKS}


def adapter(**functions):
    return Adapter(SimpleNamespace(DTYPE="float64", **functions), "mine")


def test_names_are_unique_and_every_subject_has_checks():
    assert len(NAMED) == len(CHECKS)
    assert {check.subject for check in CHECKS} == set(SUBJECTS)


def test_what_is_not_named_is_not_claimed_and_never_passed():
    results = conform(adapter(alibi_slopes=Right().alibi_slopes))
    assert {r.check.name for r in results if r.outcome is PASSED} == {
        "alibi_slopes.powers_of_two", "alibi_slopes.any_head_count",
    }  # fmt: skip
    assert {r.outcome for r in results if r.check.subject != "alibi_slopes"} == {NOT_CLAIMED}


def test_a_parameter_that_is_not_there_by_name_is_not_claimed():
    right = Right()
    result = run(adapter(attention=lambda q, k, v, **more: right.attention(q, k, v, **more)), NAMED["attention.packed"])
    assert (result.outcome, result.told) == (NOT_CLAIMED, "attention has no parameter segments")


def test_what_is_refused_in_one_case_is_no_pass_and_no_deviation():
    def slopes(n):
        if n == 25:
            raise NotImplementedError("24 heads at most")
        return Right().alibi_slopes(n)

    result = run(adapter(alibi_slopes=slopes), NAMED["alibi_slopes.any_head_count"])
    assert (result.outcome, result.deviates) == (REFUSED, False)
    assert result.told == "25 heads: 24 heads at most"


def test_a_deviation_after_a_refusal_is_found():
    def slopes(n):
        if n == 3:
            raise NotImplementedError
        return Right().alibi_slopes(n)[::-1]

    result = run(adapter(alibi_slopes=slopes), NAMED["alibi_slopes.any_head_count"])
    assert result.outcome is FAILED and result.told.startswith("5 heads: head 0: expected 0.25, got 0.5")


def test_a_crash_is_a_deviation_that_names_its_case_in_one_line():
    def slopes(n):
        raise RuntimeError("first\nsecond " + 300 * "x")

    result = run(adapter(alibi_slopes=slopes), NAMED["alibi_slopes.any_head_count"])
    assert (result.outcome, result.deviates) == (RAISED, True)
    assert result.told.startswith("3 heads: RuntimeError: first second xxx") and len(result.told) < 200


def test_a_check_without_cases_is_no_pass():
    empty = Check("alibi_slopes.none", "nothing", lambda given: iter(()))
    assert run(adapter(alibi_slopes=Right().alibi_slopes), empty).outcome is REFUSED


def test_the_first_line_of_a_failure_is_that_of_the_smallest_case():
    result = run(adapter(alibi_slopes=lambda n: 2.0 ** (-8 / n * np.arange(1, n + 1))),
                 NAMED["alibi_slopes.any_head_count"])  # fmt: skip
    assert result.told == (
        "3 heads: head 0: expected 0.0625, got 0.15749; these are 2^(-8h/n), the sentence of the paper and not the "
        "code that models with this many heads are trained with"
    )


@pytest.mark.parametrize(
    ("got", "told"),
    [
        (np.ones(2), "expected an array of shape (3,), got shape (2,)"),
        (np.ones((1, 3)), "expected an array of shape (3,), got shape (1, 3)"),
        ([1.0, 1.0, 1.0], "expected an array of shape (3,), got a list"),
        (None, "expected an array of shape (3,), got a NoneType"),
        (np.array([1, 1, math.nan]), "head 2: expected 1, got nan"),
        (np.array([1, -math.inf, 1]), "head 1: expected 1, got -inf"),
        (np.array([1, 1 + 1e-9, 1]), "head 1: expected 1, got 1.000000001"),
    ],
)
def test_shapes_nan_and_infinities_never_pass(got, told):
    case = Case("3 heads", lambda: got, lambda: np.ones(3), ("head",))
    assert deviation(case, "float64") == (f"3 heads: {told}", None)


def test_an_expected_nan_never_passes():
    case = Case("none", *[lambda: np.full(2, math.nan)] * 2, ("head",))
    assert deviation(case, "float64") == ("none: head 0: expected nan, got nan", None)


def test_later_keys_may_be_masked_in_a_bias_and_the_own_key_may_not():
    def bias(n_heads, n_queries, n_keys, from_key=1):
        found = Right().alibi_bias(n_heads, n_queries, n_keys)
        return np.where(Right().distance(n_queries, n_keys) < from_key, found, -np.inf)

    for check in CHECKS:
        if check.subject == "alibi_bias" and not check.needs:
            require(adapter(alibi_bias=bias), check)
            assert run(adapter(alibi_bias=lambda *sizes: bias(*sizes, from_key=0)), check).deviates


def test_a_bias_that_is_the_same_for_every_query_is_served():
    of = adapter(alibi_bias=lambda *sizes: Right().alibi_bias(*sizes)[None, :, -1:])
    for name in ("whole", "decode", "chunks", "any_head_count"):
        require(of, NAMED[f"alibi_bias.{name}"])


@pytest.mark.parametrize(("dtype", "outcome"), [("float16", CONVENTION), ("float32", FAILED)])
def test_rounded_positions_are_a_convention_in_half_precision_and_a_mistake_elsewhere(dtype, outcome):
    class Rounded(Right):
        DTYPE = dtype

        def rope(self, x, positions, base):
            return Right.rope(self, x, positions.astype(np.float16), base)

    for name in ("far", "together"):
        result = run(Adapter(Rounded()), NAMED[f"rope.{name}"])
        assert result.outcome is outcome and "; these are those of positions rounded to " in result.told


@pytest.mark.parametrize("nothing", [math.nan, math.inf, -math.inf])
def test_a_model_whose_logits_are_no_numbers_deviates_in_every_check(nothing):
    shape = {"logits": lambda tokens: np.full((*tokens.shape, 16), nothing), "decoded": Right().decoded}
    for check in CHECKS:
        if check.subject in shape and check.name != "decoded.chunks":
            result = run(adapter(**shape), check)
            assert result.outcome is not PASSED and (result.deviates or "change nothing" in result.told)


def test_complex_numbers_are_a_deviation():
    result = run(adapter(alibi_slopes=lambda n: Right().alibi_slopes(n) + 0j), NAMED["alibi_slopes.powers_of_two"])
    assert result.outcome is RAISED and "expected real numbers, got an array of complex128" in result.told


def test_a_tolerance_is_relative_to_the_largest_number_and_never_below_that_of_one():
    assert tolerance("float32", np.array([0.0, 1e-9])) == tolerance("float32", np.ones(1)) == 2.0**-16
    assert tolerance("float32", np.array([-100.0])) == 100 * 2.0**-16


def test_inputs_are_handed_over_as_copies():
    """An implementation that works in place changes nothing that it is compared with."""

    def shift(x, weights):
        x[:, 1:] = weights[0] * x[:, 1:] + weights[1] * x[:, :-1].copy()
        x[:, 0] *= weights[0]
        return x

    for name in ("whole", "batch", "causal"):
        require(adapter(shift=shift), NAMED[f"shift.{name}"])


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_goes_in_shares_no_memory_with_what_it_is_made_of(backend, dtype):
    for given in (np.ones(3), np.arange(3), np.ones(3, dtype=bool)):
        handed = Adapter(SimpleNamespace(BACKEND=backend, DTYPE=dtype)).own(given)
        handed[0] = 0
        handed[1] = 0
        assert given[1]


def test_a_function_with_a_state_must_return_it():
    result = run(adapter(shift=lambda x, weights, state=None: x), NAMED["shift.whole"])
    assert result.outcome is RAISED and "returns (output, state), got a ndarray" in result.told


def test_a_cache_that_dropped_nothing_was_not_tried():
    result = run(Adapter(type("Roomy", (Right,), {"budget": 99, "forget": lambda self, held, k: held})()),
                 NAMED["evicting_attention.output"])  # fmt: skip
    assert result.outcome is REFUSED
    assert result.told.startswith("rows 1, heads 2, tokens 16, channels 8, groups 2, chunks of 8, 1 (8 times): nothing")


def test_a_model_without_a_past_was_not_tried():
    table = np.random.default_rng(0).standard_normal((16, 16))
    rows = adapter(logits=lambda tokens: table[tokens],
                   decoded=lambda prompts, steps: np.stack([table[[p[-1], *s]] for p, s in zip(prompts, steps)]))  # noqa: B905  # fmt: skip
    result = run(rows, NAMED["decoded.steps"])
    assert result.outcome is REFUSED and result.told.endswith("change nothing there: draw larger weights")


def test_decoding_needs_the_whole_to_compare_with():
    result = run(adapter(decoded=Right().decoded), NAMED["decoded.steps"])
    assert result.outcome is REFUSED and "needs the function logits too" in result.told


def seen_inputs(seed, name="attention.whole"):
    found = []

    def attention(q, k, v):
        found.append(q)
        return Right().attention(q, k, v)

    require(adapter(attention=attention), NAMED[name], seed)
    return np.concatenate([q.ravel() for q in found])


def test_a_seed_gives_the_same_inputs_and_another_one_others():
    assert (seen_inputs(0) == seen_inputs(0)).all()
    assert not np.isclose(seen_inputs(0)[:100], seen_inputs(1)[:100]).any()
    assert len(seen_inputs(0, "attention.causal")) and not set(seen_inputs(0)) & set(seen_inputs(0, "attention.causal"))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_numbers_go_in_as_they_are_compared(dtype):
    given = Adapter(SimpleNamespace(BACKEND="torch", DTYPE=dtype))
    drawn = np.random.default_rng(0).standard_normal(9)
    assert (given.rounded(drawn) == given.rounded(given.rounded(drawn))).all()
    assert str(given.own(drawn).dtype) == f"torch.{dtype}"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_passes_where_it_is_rounding_and_fails_where_it_is_not(dtype):
    def attention(q, k, v):
        import torch

        scores = (q.float() @ k.float().mT / q.shape[3] ** 0.5).to(q.dtype)
        seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
        return scores.masked_fill(~seen, -torch.inf).softmax(-1) @ v

    of = Adapter(SimpleNamespace(BACKEND="torch", DTYPE=dtype, attention=attention))
    for name in ("whole", "causal", "decode", "chunks", "batch"):
        require(of, NAMED[f"attention.{name}"])
    unscaled = Adapter(SimpleNamespace(BACKEND="torch", DTYPE=dtype, attention=lambda q, k, v: attention(2 * q, k, v)))
    assert run(unscaled, NAMED["attention.whole"]).deviates


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"BACKEND": "jax"}, "BACKEND must be one of numpy, torch, got 'jax'"),
        ({"DTYPE": "float8"}, "DTYPE must be one of float64, float32, float16, bfloat16, got 'float8'"),
        ({"DTYPE": "bfloat16"}, "float16 with BACKEND 'numpy', got 'bfloat16'"),
        ({"VOCAB": 2}, "VOCAB must be a whole number of at least 3, got 2"),
        ({"PAIRS": "thirds"}, "PAIRS must be one of halves, neighbours, got 'thirds'"),
    ],
)
def test_settings_outside_their_range_are_refused(given, told):
    with pytest.raises(ValueError, match="must be") as error:
        Adapter(SimpleNamespace(**given), "mine")
    assert told in str(error.value)


def test_an_adapter_that_claims_nothing_and_names_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="mine claims nothing: it has none of alibi_slopes, alibi_bias"):
        conform(adapter(alibi_slope=Right().alibi_slopes))
    with pytest.raises(ValueError, match="there is no check or subject 'alibi_slope'"):
        conform(adapter(alibi_slopes=Right().alibi_slopes), frozenset({"alibi_slope"}))
    with pytest.raises(ValueError, match="alibi_slopes must be a function, got 3"):
        conform(adapter(alibi_slopes=3))


def test_what_goes_wrong_in_a_file_is_told_in_one_line(tmp_path):
    (tmp_path / "broken.py").write_text("import no_such_package_at_all\n")
    with pytest.raises(ValueError, match=r"broken.py cannot be loaded: ModuleNotFoundError: No module named"):
        load(str(tmp_path / "broken.py"))
    with pytest.raises(ValueError, match=r"nowhere.py cannot be loaded: ValueError: there is no such file"):
        load(str(tmp_path / "nowhere.py"))


def test_an_adapter_that_leaves_the_program_does_not_pass(tmp_path):
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    with pytest.raises(ValueError, match=r"leaves.py cannot be loaded: SystemExit: 0"):
        load(str(tmp_path / "leaves.py"))
    results = conform(adapter(alibi_slopes=lambda n: sys.exit(0)), frozenset({"alibi_slopes"}))
    assert {result.outcome for result in results} == {RAISED}


def test_a_test_of_ones_own_fails_in_one_line():
    """What docs/conform.md shows; `test_planted` has one that passes."""
    wrong = adapter(alibi_slopes=lambda n: Right().alibi_slopes(n) * 2)
    with pytest.raises(AssertionError, match=r"^alibi_slopes\.powers_of_two failed: 1 heads: head 0: expected 0.0039"):
        require(wrong, NAMED["alibi_slopes.powers_of_two"])
    with pytest.raises(AssertionError, match=r"^shift\.whole not claimed: no function shift$"):
        require(wrong, NAMED["shift.whole"])


# Two sources of one formula that share no code.


def test_reference_slopes_are_those_of_theory():
    for n in range(1, 130):
        assert ref.slopes(n).tolist() == pytest.approx(alibi.slopes(n), rel=1e-15)
        assert (ref.slopes(n) == ref.slopes_of_the_sentence(n)).all() == (n & (n - 1) == 0)


def test_reference_shares_nothing_with_theory_or_dynamics():
    import proofs_check.conform.spec as spec

    names = ("alibi", "attending", "decoding", "evicting", "residual", "rotary", "shifting")
    for module in [ref, *(vars(spec)[name] for name in names)]:
        assert "theory" not in inspect.getsource(module).replace("shared with `theory`", "")
        assert "from dynamics" not in inspect.getsource(module)
