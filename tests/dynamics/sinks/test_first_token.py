"""A masked token's states and logits against a first token's: own models, others', formulas, what is refused."""

import numpy as np
import pytest
import torch

from dynamics.sinks.first_token import copy_leads, state_gaps
from tests.dynamics.hf import models
from tests.dynamics.model import variants
from tests.dynamics.refusal import refused
from theory import alibi

SAME, APART = 1e-12, 1e-2


def own(position, shift="none"):
    return variants.model(variants.named(shift=shift, position=position)), variants.tokens(1, 9)[0]


@pytest.mark.parametrize("position", ["rope", "alibi", "none"])
def test_a_token_masked_in_all_layers_has_a_first_tokens_states(position):
    model, tokens = own(position)
    assert state_gaps(model, tokens, 4).max() < SAME
    lowest = state_gaps(model, tokens, 4, layers=[0])
    assert lowest[0] < SAME and lowest[1:].min() > APART


@pytest.mark.parametrize(("position", "shift"), [("learned", "none"), ("none", "v"), ("rope", "kv")])
def test_not_with_positions_or_neighbours_in_its_state(position, shift):
    assert state_gaps(*own(position, shift), 4).min() > APART


@pytest.mark.parametrize(("family", "same"), [("llama", True), ("bloom", True), ("gpt2", False)])
def test_models_of_transformers_agree_with_the_theorem(family, same):
    pytest.importorskip("transformers")
    with models.double():
        gaps = state_gaps(models.model(family), models.tokens(1, 9)[0], 4)
    assert gaps.max() < 1e-9 if same else gaps.min() > APART


def test_leads_of_the_logit_are_those_of_the_scheme():
    model, tokens = own("alibi")
    np.testing.assert_allclose(copy_leads(model, tokens, 3), 3 * np.array(alibi.slopes(variants.HEADS)), atol=1e-12)
    np.testing.assert_allclose(copy_leads(*own("none"), 3), 0, atol=1e-12)
    assert abs(copy_leads(*own("rope"), 3)).min() > 1e-3


def test_places_outside_and_shifted_keys_are_refused():
    model, tokens = own("none")
    for place in (0, 9, -1):
        refused(r"place in 1\.\.length - 1", state_gaps, model, tokens, place)
    refused(r"place in 1\.\.length - 2, got shape \(9,\) and place 8", copy_leads, model, tokens, 8)
    refused("tokens must be", state_gaps, model, tokens[None], 3)
    refused("has not the key of the first token", copy_leads, *own("none", "k"), 3)
    refused("hold positions: the copy has not", copy_leads, *own("learned"), 3)


def test_hooks_are_gone_afterwards():
    model, tokens = own("none")
    state_gaps(model, tokens, 4)
    assert not any(block._forward_hooks for block in model.blocks)
    assert torch.isfinite(model(tokens[None])).all()
