"""Rulings on the method of the KV-shifting paper, each with the example that an earlier ruling went against."""

import itertools

import numpy as np
import pytest
import torch

from dynamics.model.listing_m import Flaw, ListingDecoder, listing_convolution
from proofs_check.kv.induction import depth_width
from proofs_check.kv.method import discussion, latent
from proofs_check.ledger.claim import Kind, Severity, Verdict
from proofs_check.ledger.registry import load

REGISTRY = load(("kv", "kv1"))


def ruling(name):
    claim = REGISTRY[name]
    return claim.verdict, claim.severity


def one_mixture(length, match):
    """Output of the head over keys and values (x_s + 3 x_{s-1})/4, W_Q = 8 I, less the last token; one-hot tokens."""
    tokens = np.eye(length)[[*range(length), match]]
    mixed = tokens / 4 + 3 * np.vstack([np.zeros(length), tokens[:-1]]) / 4
    weights = np.exp(8 * mixed @ tokens[-1])
    return weights @ mixed / weights.sum() - tokens[-1]


def test_one_mixture_for_keys_and_values_names_the_successor_in_all_741_sentences():
    sentences = [(length, match) for length in range(2, 40) for match in range(length - 1)]
    assert len(sentences) == 741
    assert all(one_mixture(length, match).argmax() == match + 1 for length, match in sentences)
    assert "cannot" not in REGISTRY["kv.eq5.decoupled"].statement
    assert REGISTRY["kv.eq5.one_mixture"].is_correction


@pytest.mark.parametrize("sentences", [depth_width.FOUR, depth_width.FOUR_FOR_TWO])
def test_no_head_over_token_and_place_does_the_four_sentences(sentences):
    """Any contribution of a token at a place, here thousands of draws at three scales: never the four signs at once."""
    rng = np.random.default_rng(0)
    for scale in (0.1, 1.0, 10.0):
        shares = scale * rng.standard_normal((3000, 5, 6))
        sums = [shares[:, ["abcde".index(letter) for letter in word], range(len(word))].sum(1) for word in sentences]
        right = (sums[0] > 0) & (sums[1] < 0) & (sums[2] < 0) & (sums[3] > 0)
        assert not right.any()


def test_one_head_that_holds_the_token_before_does_them():
    """The state after an a speaks for its own token, c or d; all others are silent."""
    speaks = {"c": 1, "d": -1}
    for word, wanted in zip(depth_width.FOUR, (1, -1, -1, 1), strict=True):
        assert sum(speaks.get(own, 0) for before, own in itertools.pairwise(word) if before == "a") == wanted


def test_the_previous_token_is_needed_only_where_a_state_holds_nothing_else():
    assert ruling("kv.sec2.1.must_integrate") == (Verdict.HOLDS_IF, Severity.READING)
    for word in ((0, 1, 2, 0), (2, 0, 1, 3, 0)):
        answer, states = depth_width._elimination_answer(word)
        assert (answer, states) == (depth_width.successor(word), 1)


def test_index_slips_and_position_one_are_ruled_alike():
    assert ruling("kv.eq11") == ruling("kv.eq12") == (Verdict.TYPO, Severity.MISPRINT)
    apart = [ruling(name) for name in ("kv.sec3.3.key_pairs", "kv.sec3.3.value_pairs", "kv.eq11.normaliser")]
    assert apart == [(Verdict.HOLDS_IF, Severity.READING)] * 3


def test_a_letter_used_twice_is_a_misprint():
    assert ruling("kv.eq6.sigma") == (Verdict.TYPO, Severity.MISPRINT)


def test_the_initial_state_is_kept_where_neighbours_are_equal():
    keys, share = np.array([[3.0, -1.0], [3.0, -1.0], [1.0, 2.0]]), 0.3
    mixed = share * keys[1:] + (1 - share) * keys[:-1]
    assert np.allclose(mixed[0], keys[1]) and not np.allclose(mixed[1], keys[2])
    assert ruling("kv.sec2.2.initial_state") == (Verdict.HOLDS_IF, Severity.REPAIRABLE)


def test_alphas_are_independent_of_betas():
    assert ruling("kv.appF.independent") == (Verdict.HOLDS, None)


def test_the_final_listing_decodes_equal_coefficients_right():
    raw, equal = torch.arange(1, 17).reshape(1, 4, 2, 2) ** 2, torch.tensor([[3, 3], [5, 5]])
    assert torch.equal(ListingDecoder(equal, Flaw.FINAL).run(raw, (1, 1, 1, 1)), listing_convolution(raw, equal))
    assert "unless alpha1 = alpha2" in REGISTRY["kv.appM.inference"].note


def test_a_threshold_on_one_linear_form_cannot_compare_two_tokens():
    rng = np.random.default_rng(1)
    first, second = rng.standard_normal((2, 5000, 2))
    form = first[:, :, None] + second[:, None, :]
    equal, unequal = form[:, [0, 1], [0, 1]], form[:, [0, 1], [1, 0]]
    assert not (equal.min(1) > unequal.max(1)).any()


def test_shifted_heads_of_latent_attention_need_nothing_but_the_cache():
    """The full pass with keys and values from the previous latent, rotated, against one that reads the cache."""
    rng = np.random.default_rng(2)
    latents, query, angle = rng.standard_normal((5, 3)), rng.standard_normal(2), 0.7
    keys, values = rng.standard_normal((2, 2, 3))

    def turn(place):
        turned = place * angle
        return np.array([[np.cos(turned), -np.sin(turned)], [np.sin(turned), np.cos(turned)]])

    cached = [turn(s) @ keys @ latents[s] for s in range(5)]
    full = [(turn(4) @ query) @ (turn(s) @ keys @ latents[s - 1]) for s in range(1, 5)]
    assert np.allclose(full, [(turn(3) @ query) @ cached[s - 1] for s in range(1, 5)])
    weights = rng.random(4)
    assert np.allclose(weights @ (latents[:4] @ values.T), (weights @ latents[:4]) @ values.T)
    assert latent.CLAIMS and ruling("kv.appJ.compatible") == (Verdict.HOLDS, None)


def test_a_linear_state_counts_the_successors():
    word = (0, 1, 2, 0, 2, 1, 0)
    state = sum(np.outer(np.eye(3)[word[s]], np.eye(3)[word[s - 1]]) for s in range(1, len(word)))
    assert (state @ np.eye(3)[0]).tolist() == [0, 1, 1]
    assert discussion._read_from_state(word).value == 0


def test_balls_by_one_program_are_not_called_certified():
    for name in ("kv.eq12", "kv.appN.default_base", "kv.appN.base", "kv.appN.base.corrected"):
        assert Kind.CERTIFIED not in {evidence.kind for evidence in REGISTRY[name].evidence}
