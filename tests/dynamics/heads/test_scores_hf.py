"""Head scores of transformers models: against the attention that transformers itself returns."""

import numpy as np
import pytest
import torch

from dynamics.heads.retrieval import copy_prompt, copy_scores
from dynamics.heads.scores import head_scores, repeated_prompt
from tests.dynamics.heads.test_scores import brute_force
from tests.dynamics.hf import models


def returned(model, tokens):
    """(layers, heads, length, length) by the eager attention in double precision."""
    model.config._attn_implementation = "eager"  # set_attn_implementation leaves Falcon as it is
    with torch.no_grad(), models.double():
        found = model(torch.from_numpy(tokens)[None], use_cache=False, output_attentions=True).attentions
    return torch.cat(found).numpy()


@pytest.mark.parametrize("family", models.FAMILIES)
def test_scores_are_those_of_the_attention_that_transformers_returns(family):
    model = models.model(family)
    tokens = repeated_prompt(64, 15, 4, 2, range(3))
    expected = brute_force(returned(model, tokens), tokens, 15)
    with models.double():
        found = head_scores(model, k=15, seed=2, excluded=range(3))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert np.ptp(expected.induction) > 1e-3


def test_retrieval_scores_are_those_of_the_attention_that_transformers_returns():
    model, prompt = models.model("qwen3"), copy_prompt(64, 30, 8, 1)
    best = returned(model, prompt.tokens)[..., 30:, :].argmax(-1)
    with models.double():
        found = copy_scores(model, haystack=30, needle=8, prompts=1, seed=1)
    np.testing.assert_array_equal(found, (best == prompt.needle + np.arange(8)).mean(-1))


def test_a_prompt_beyond_the_positions_of_the_model_is_refused():
    words = "the prompt has 132 tokens, max_position_embeddings of the model is 128: pass k=32 or less, or no k"
    with pytest.raises(ValueError, match=words):
        head_scores(models.model("llama"), k=33)
    assert np.isfinite(head_scores(models.model("llama"), k=32)).all()


def test_without_k_the_prompt_is_as_long_as_positions_and_vocabulary_allow():
    model = models.model("llama")
    np.testing.assert_array_equal(head_scores(model), head_scores(model, k=32))
    np.testing.assert_array_equal(head_scores(model, repeats=3), head_scores(model, k=42, repeats=3))
    np.testing.assert_array_equal(head_scores(model, repeats=2), head_scores(model, k=64, repeats=2))
    some = {"repeats": 2, "excluded": range(9)}
    np.testing.assert_array_equal(head_scores(model, **some), head_scores(model, k=55, **some))
