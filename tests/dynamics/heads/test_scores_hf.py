"""Head scores of transformers models: against the attention that transformers itself returns."""

import numpy as np
import pytest

from dynamics.heads.scores import head_scores, repeated_prompt
from tests.dynamics.heads.test_returned import returned
from tests.dynamics.heads.test_scores import brute_force
from tests.dynamics.hf import models

CASES = [(family, {}) for family in models.FAMILIES | models.MEASURED] + models.sliding(18)


@pytest.mark.parametrize(("family", "changes"), CASES)
def test_scores_are_those_of_the_attention_that_transformers_returns(family, changes):
    model = models.model(family, **changes)
    tokens = repeated_prompt(64, 15, 4, 2, range(3))
    with models.double():
        weights = returned(model, tokens)
        found = head_scores(model, k=15, seed=2, excluded=range(3))
    np.testing.assert_allclose(found, brute_force(weights, tokens, 15), rtol=0, atol=1e-12)
    assert np.ptp(found.induction) > 1e-3
    assert (weights.sum(-1).min() < 0.9) == (family == "gpt_oss")
    assert (np.triu(weights, 1).max() > 0) == (family == "bert")
    assert (np.tril(weights, -18).max(axis=(1, 2, 3)) == 0).any() == bool(changes or family in ("gemma2", "gpt_oss"))


def test_without_k_the_prompt_is_as_long_as_positions_and_vocabulary_allow():
    model = models.model("llama")
    np.testing.assert_array_equal(head_scores(model, repeats=3), head_scores(model, k=42, repeats=3))
    some = {"repeats": 2, "excluded": range(9)}
    np.testing.assert_array_equal(head_scores(model, **some), head_scores(model, k=55, **some))
