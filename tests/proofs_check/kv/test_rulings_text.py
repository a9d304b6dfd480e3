"""Rulings on tables, numbers, references and listings, each with the example that an earlier ruling went against."""

from fractions import Fraction

import pytest

from dynamics.tasks.listing_k import listing_sample
from proofs_check.kv.tables.cells import LOSSES, TABLE_2, TABLE_5, TABLE_14, TABLE_15
from proofs_check.kv.tables.configuration_data import TABLE_16
from proofs_check.ledger.claim import Nature, Severity, Verdict
from proofs_check.ledger.registry import load

REGISTRY = load(("kv", "kv1"))

# What the text does not say is ours: read cell by cell, at the best rates, against chance, at each doubling.
NOT_SAID = {
    "kv.sec4.2.better.cells",
    "kv.sec4.2.lambada.order",
    "kv.tab14.in_context.shots",
    "kv.tab5.at_20b.significant",
    "kv.tab5.asymmetry.chance",
    "kv.appH.best_rate",
    "kv.appH.query",
    "kv.tab13.overhead",
    "kv.tab15.grows.monotone",
    "kv.tab16.names.printed_vocabulary",
    "kv.sec4.1.names.total",
    "kv.fn6.exact",
    "kv.fig1.same_total.scalars",
    "kv.appN.base.shortfall",
}
# References to places that are not there, and letters that are others': one kind of slip, one verdict.
SLIPS = {
    "kv.sec2.1.reference",
    "kv.sec3.2.reference",
    "kv.sec3.reference",
    "kv.appA.reference",
    "kv.fn3.reference",
    "kv.sec5.fusion_reference",
    "kv.tab16.optimizer",
    "kv.appK.tokens",
    "kv.appJ.rope_dimensions",
}
CODE = {"kv.appK.random", "kv.appM.import", "kv.appM.init", "kv.appM.forward", "kv.appM.return"}
TWO_NUMBERS = {"kv.sec4.1.vocabulary", "kv.fig5.batch", "kv.sec4.1.warm_up", "kv.sec4.1.machines.from_scratch"}


def ruling(name):
    claim = REGISTRY[name]
    return claim.verdict, claim.severity


@pytest.mark.parametrize("name", sorted(NOT_SAID))
def test_what_the_text_does_not_say_is_ours(name):
    assert REGISTRY[name].is_correction
    assert "our addition" in REGISTRY[name].source


@pytest.mark.parametrize("name", sorted(SLIPS))
def test_slips_have_one_verdict(name):
    assert ruling(name) == (Verdict.TYPO, Severity.MISPRINT)


@pytest.mark.parametrize("name", sorted(CODE))
def test_code_that_one_line_mends_is_a_typo(name):
    assert ruling(name) == (Verdict.TYPO, Severity.CODE)


@pytest.mark.parametrize("name", sorted(TWO_NUMBERS))
def test_two_numbers_for_one_thing_are_arithmetic(name):
    assert ruling(name) == (Verdict.FALSE, Severity.ARITHMETIC)
    assert REGISTRY[name].nature is Nature.TABLE


def test_listings_that_compute_something_else_are_false_code():
    assert ruling("kv.appM.inference") == ruling("kv1.appF.inference") == (Verdict.FALSE, Severity.CODE)


def test_no_later_score_on_lambada_is_above_the_first():
    for model, tokens in (("vanilla", (340, 420, 500)), ("kv", (340, 420, 500))):
        scores = [TABLE_2[model, "2.9B", t][0] for t in tokens]
        assert max(scores) == scores[0]
    assert ruling("kv.sec4.2.lambada") == (Verdict.HOLDS, None)


def test_shots_add_more_to_cloze_and_less_to_zero_shot():
    (v_cloze, v_zero, v_few), (k_cloze, k_zero, k_few) = TABLE_14["vanilla"], TABLE_14["kv"]
    assert k_few > v_few and k_few - k_cloze > v_few - v_cloze and k_few - k_zero < v_few - v_zero
    assert ruling("kv.tab14.in_context") == (Verdict.HOLDS, None)


def test_seventeen_and_nine_are_unequal():
    assert TABLE_5[0][1] != TABLE_5[1][0]
    assert ruling("kv.tab5.asymmetry") == (Verdict.HOLDS, None)


@pytest.mark.parametrize("name", ["kv.tab5.same_token", "kv.tab5.upper_right", "kv.tab5.lower_left"])
def test_the_order_of_two_coefficients_is_not_that_of_their_sizes(name):
    first, second = Fraction(1, 3), Fraction(-2, 3)
    assert first > second and abs(first) < abs(second)
    assert ruling(name) == (Verdict.HOLDS_IF, Severity.READING)


def test_kv_shifting_wins_26_cells_of_30_without_the_authors_variants():
    others = ("vanilla", "differential", "differential with QK norm", "selective")
    won = 0
    for rate in range(6):
        for context in range(5):
            rivals = [loss for m in others if (loss := LOSSES[m][rate][context]) is not None]
            won += LOSSES["kv"][rate][context] < min(rivals)
    assert won == 26
    assert ruling("kv.appH.almost_every") == (Verdict.HOLDS_IF, Severity.READING)


def test_selective_attention_runs_out_of_memory_beyond_2048():
    assert all(row[4] is None for row in LOSSES["selective"])
    assert ruling("kv.appH.out_of_memory") == (Verdict.HOLDS, None)


def test_mla_with_shifting_is_better_at_each_longer_length():
    assert all(a > b for a, b in zip(TABLE_15["mla"][1:], TABLE_15["kv"][1:], strict=True))
    assert ruling("kv.tab15.grows") == (Verdict.HOLDS, None)


def test_a_nominal_batch_rounds():
    row = TABLE_16["19B"]
    assert round(Fraction(row["gpus"] * row["batch_per_gpu"] * row["context"], 2**20)) == 3
    assert ruling("kv.fn6") == ruling("kv.sec4.1.batch") == (Verdict.HOLDS, None)


def test_names_that_are_right_under_a_convention_hold_under_it():
    for name in ("kv.tab16.names", "kv.sec4.1.names"):
        assert ruling(name) == (Verdict.HOLDS_IF, Severity.ARITHMETIC)
        assert REGISTRY[name].hypotheses
    assert ruling("kv.fig1.same_total") == (Verdict.HOLDS_IF, Severity.READING)


def test_a_schedule_whose_table_lists_the_warm_up_is_constant():
    assert all(TABLE_16[size]["warm_up"] for size in TABLE_16)
    assert ruling("kv.tab16.schedule") == (Verdict.HOLDS, None)


def test_the_vocabulary_has_8000_rows():
    class Largest:
        def shuffle(self, pool):
            self.largest = max(pool)
            raise StopIteration

    draws = Largest()
    with pytest.raises(StopIteration):
        listing_sample(draws)
    assert draws.largest + 1 == 8000
    assert ruling("kv.sec3.2.vocabulary") == (Verdict.HOLDS, None)


def test_a_larger_base_is_larger():
    assert ruling("kv.appN.base") == (Verdict.HOLDS, None)
