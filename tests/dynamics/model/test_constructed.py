"""Constructions with parameters of one's own: bounds hold, sharp ones are approached, wrong matrices are named."""

import numpy as np
import pytest

from dynamics.model.made.constructed import CASES, Setting, verify
from proofs_check.ledger.registry import load
from theory.induction.constructed import NAMES, paper_matrices


def drawn(theorem):
    """30 settings; in Theorem 3.2 d e^{-p} / sigma is held while p is large, as its claim asks for."""
    rng = np.random.default_rng(3)
    for seed in range(30):
        dim, given, p = int(rng.integers(5, 9)), {"sigma": 10.0 ** rng.uniform(-0.7, 0.7)}, rng.uniform(8, 14)
        if theorem == "thm3.2":
            given = {"sigma": dim * np.exp(-p) / 10.0 ** rng.uniform(-4, 0.5), "copy_slope": p}
        if theorem == "v-only":
            given["matrices"] = dict(zip(NAMES, rng.normal(size=(4, dim, dim)), strict=True))
        else:
            given["length"] = int(rng.integers(5, 24))
        yield Setting(theorem, dim=dim, inputs=40, seed=seed, **given)


@pytest.mark.parametrize("theorem", CASES)
def test_every_bound_holds_for_thirty_drawn_settings_and_sharp_ones_are_approached(theorem):
    known = {*load()}
    for setting in drawn(theorem):
        rows, broken = verify(setting)
        assert broken == [] and all(row.holds and row.apart <= 1e-9 for row in rows), setting
        assert {claim for row in rows for claim in row.claim.split(", ")} <= known
        if theorem in ("thm3.2", "thm3.3", "k-only"):
            assert all(row.share >= 0.99 for row in rows if row.bound), setting


def test_wrong_matrices_are_named_with_an_error_beyond_the_bound():
    wrong = paper_matrices(3) | {"w_q": np.eye(3)[::-1], "w_v": 2 * np.eye(3)}
    rows, broken = verify(Setting("thm3.3", dim=3, matrices=wrong))
    assert [text.split(":")[0] for text in broken] == ["W_Q^T W_K is not I", "W_O W_V is not I"]
    assert not any(row.holds for row in rows)


def test_matrices_that_are_a_little_wrong_are_named_and_the_row_shows_an_input_that_exceeds_its_bound():
    nearly = paper_matrices(6) | {"w_v": (1 + 1e-6) * np.eye(6)}
    rows, broken = verify(Setting("thm3.3", sigma=0.1, matrices=nearly, inputs=2, seed=2))
    assert broken == ["W_O W_V is not I: an entry is off by 1e-06"]
    assert all(not row.holds and row.error > row.bound for row in rows)
