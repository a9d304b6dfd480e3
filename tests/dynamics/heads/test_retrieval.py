"""The retrieval score: prompts, a plain loop as the oracle, and heads whose score is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.heads import rows
from dynamics.heads.retrieval import copy_prompt, copy_scores
from tests.dynamics.heads.test_scores import POSITIONS, SHAPES, matrices, random_model


@given(st.integers(1, 12), st.integers(0, 10), st.integers(0, 10**6), st.sets(st.integers(0, 29), max_size=6))
def test_prompt_says_cue_and_needle_twice(needle, more, seed, excluded):
    haystack = needle + 2 + more
    prompt = copy_prompt(30, haystack, needle, seed, excluded)
    tokens = prompt.tokens.tolist()
    assert len(tokens) == haystack + needle
    assert len(set(tokens[:haystack])) == haystack
    assert set(tokens) <= set(range(30)) - excluded
    assert 1 <= prompt.needle < haystack - needle
    assert tokens[haystack:] == tokens[prompt.needle - 1 : prompt.needle + needle - 1]


def test_needles_stand_everywhere():
    assert {copy_prompt(30, 12, 4, seed).needle for seed in range(200)} == set(range(1, 8))


@settings(max_examples=20)
@given(st.integers(0, 10**6), SHAPES, POSITIONS, st.integers(1, 6), st.sampled_from([1, 30, 1 << 20]))
def test_score_is_the_share_of_needle_tokens_that_have_the_largest_weight(seed, heads, position, needle, block):
    model = random_model(seed, heads, position)
    expected = np.zeros((2, heads[0]))
    for index in range(3):
        prompt = copy_prompt(16, 12, needle, seed + index)
        weights, tokens = matrices(model, prompt.tokens), prompt.tokens
        answer = tokens[prompt.needle : prompt.needle + needle]
        for i, token in enumerate(answer):
            best = weights[:, :, 12 + i].argmax(-1)
            expected += (tokens[best] == token) & (best < 12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "BLOCK", block)
        found = copy_scores(model, haystack=12, needle=needle, prompts=3, seed=seed)
    np.testing.assert_allclose(found, expected / (3 * needle), rtol=0, atol=1e-15)
