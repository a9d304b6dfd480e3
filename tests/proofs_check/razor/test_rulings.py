"""Rulings on RazorAttention that were once wrong: what showed it, kept."""

from fractions import Fraction

import numpy as np
import pytest

from proofs_check.ledger.claim import Kind, Severity, Verdict
from proofs_check.ledger.registry import load
from proofs_check.ledger.store import judge
from proofs_check.razor.cache import compensation_variant_checks as variants
from proofs_check.razor.cache import truncation as output
from proofs_check.razor.cache import truncation_checks
from proofs_check.razor.scope import head_checks, iff_checks, mass, mass_checks, norm_checks, theorem1_checks

CLAIMS = load(("razor",))
HALF = Fraction(1, 2)


def test_gains_of_one_size_but_two_signs_escape_the_condition_of_one_signed_gain():
    """LayerNorm, gamma = (1, -1), b = (1/2, -1/2), orthogonal to the ones and shorter than r: the theorem holds."""
    assert iff_checks.kappa_squared((1, -1), (HALF, -HALF)) == 20 <= 25
    assert iff_checks.kappa_squared((1, 1), (HALF, -HALF)) == 36 > 25
    assert iff_checks.two_states(1, HALF).value >= 0 > iff_checks.two_states(1, HALF, second=-1).value
    claim = CLAIMS["razor.thm1.one_size"]
    assert "one sign" in claim.statement
    assert any("kappa" in evidence.scope and "states" in evidence.scope for evidence in claim.evidence)


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_kappa_of_one_signed_gain_is_what_a_search_over_states_finds(norm):
    rng = np.random.default_rng(3)
    d, gain, share = 5, -1.5, 0.4
    r = np.sqrt(d) * abs(gain)
    bias = rng.standard_normal(d)
    bias = bias - bias.mean() if norm == "layer" else bias
    bias *= share * r / np.linalg.norm(bias)
    z = rng.standard_normal((2, 40_000, d))
    z[0, 0] = -bias
    z[1, 0] = bias
    z = z - z.mean(axis=2, keepdims=True) if norm == "layer" else z
    x, y = gain * z * np.sqrt(d) / np.linalg.norm(z, axis=2, keepdims=True) + bias
    kappa = (np.linalg.norm(x, axis=1) * np.linalg.norm(x - y, axis=1)).max()
    assert kappa == pytest.approx(2 * r * (r + share * r))


def test_a_printed_number_is_held_to_half_its_last_digit():
    cost = head_checks.group_cost
    assert cost(32, 4, "1.2728").value >= 0 > cost(32, 4, "1.2715").value
    assert cost(32, 4, "1.2729").value < 0
    assert "1.2728" in CLAIMS["razor.sec4.1.group_window"].statement


@pytest.mark.parametrize("name", ["razor.sec3.1.discard", "razor.sec3.1.minimal"])
def test_dropping_beyond_the_printed_scope_is_judged_there(name):
    """The old witnesses dropped tokens within L_h, where print keeps them."""
    claim = CLAIMS[name]
    assert claim.verdict is Verdict.HOLDS_IF and "range D" in claim.note
    assert any(control.points == mass.FAILING for evidence in claim.evidence for control in evidence.controls)


def test_the_windows_of_the_old_witnesses_lie_inside_the_printed_scope():
    assert judge(CLAIMS["razor.sec3.1.discard.sum"].formal.to_json())["outcome"] == "proved"  # 46 < (6 + ln 1000)/l
    assert truncation_checks.moves_more(**output.THREE).value >= 0  # distance 1 of L_h = 1.81
    assert output.SLOW_DECAY["scope"] == 407 < 256 * np.log(1000)


def test_beyond_the_printed_scope_the_same_heads_lose_less_than_eps():
    for point in mass.INSIDE:
        assert mass_checks.beyond_printed(**point).value >= 0
        assert mass_checks.moved(**point).value >= 0
    assert mass_checks.beyond_printed(**mass.FAILING[0]).value < -0.8


def test_dependent_frequencies_have_another_limit_than_the_product():
    """theta and theta/10, as base 10^4 has them at 128 dimensions; norms 5 and 30."""
    angles = 2 * np.pi * np.arange(4000) / 4000
    product = np.i0(5) * np.i0(30)
    for turned, wanted in ((0.0, "1.335"), (np.pi, "0.669")):
        reached = np.exp(5 * np.cos(10 * angles + turned) + 30 * np.cos(angles)).mean() / product
        assert reached == pytest.approx(float(wanted), abs=5e-4)
        assert variants.rotated_dependent(turned > 0, wanted).value >= 0
    frequencies = 10000.0 ** (-2 * np.arange(64) / 128)
    np.testing.assert_allclose(frequencies[16:], frequencies[:48] / 10)
    claim = CLAIMS["razor.eq4.rotary.limit"]
    assert any("2 pi" in hypothesis for hypothesis in claim.hypotheses)


def test_what_print_does_not_say_is_not_held_against_it():
    for name in ("sec3.2.raw_range", "sec1.proved.pointwise", "abstract.information.cut", "sec3.1.domination.wider",
                 "tab1.compensated.rows", "sec3.2.seventy.never"):  # fmt: skip
        assert CLAIMS[f"razor.{name}"].is_correction
    for name in ("sec1.proved", "tab1.compensated"):
        assert CLAIMS[f"razor.{name}"].verdict is Verdict.UNSETTLED


def test_steps_that_the_proof_needs_are_the_only_false_mathematics():
    false = {c.id for c in CLAIMS.values() if c.verdict is Verdict.FALSE and c.severity is Severity.BREAKS}
    steps = {"thm1", "appA.positive", "appA.last_step", "eq7.gain", "eq7", "eq8"}
    assert false == {f"razor.{name}" for name in steps}
    others = {c.severity for c in CLAIMS.values() if c.verdict is Verdict.FALSE} - {Severity.BREAKS}
    assert others == {Severity.ARITHMETIC}


def test_the_square_that_print_has_is_at_least_one_and_the_term_that_is_meant_is_not():
    assert CLAIMS["razor.appA.square"].verdict is Verdict.HOLDS
    assert theorem1_checks.below_one(-2).value > 0 > theorem1_checks.below_one(2).value


def test_a_weight_beyond_domination_of_all_logits_is_small_and_of_one_logit_is_not():
    for distance in (1, 20, 60):
        assert theorem1_checks.within_logit_bound(-8, distance).value >= 0
        assert theorem1_checks.dominated(distance + 4, distance).value > 0
    assert theorem1_checks.within_logit_bound(-2, 10, factor=1).value < 0


def test_the_range_behind_the_scale_of_eq_2_is_derived():
    assert norm_checks.range_over_numerator(64, 64).value >= 0
    assert norm_checks.range_over_numerator(64, 32, root=False).value < 0


def test_outcomes_of_training_name_their_sizes():
    for claim in CLAIMS.values():
        if any(evidence.kind is Kind.TRAINED for evidence in claim.evidence):
            text = " ".join([claim.statement, *map(str, claim.hypotheses), *(e.scope for e in claim.evidence)])
            assert "layers" in text and "heads" in text and "seed" in text and "steps" in text, claim.id
            assert claim.is_correction


def test_a_number_of_the_limit_under_rope_is_held_to_half_its_last_digit():
    point = {"periods": (16, 17, 19), "reaches": (3, 2, 1)}
    assert (
        variants.rotated_many(**point, number="14.09").value >= 0 > variants.rotated_many(**point, number="14.08").value
    )
