"""A masked token's states and logits against a first token's: own models, others', formulas, what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.model.config import Identity, Neutreno, Own, Residual, Shared
from dynamics.sinks.first_token import copy_leads, state_gaps
from tests.dynamics.hf import models
from tests.dynamics.model import variants
from tests.dynamics.refusal import refused
from theory import alibi, sink

SAME, APART = 1e-12, 1e-2
POSITIONS = ("rope", "alibi", "none")


def own(position, shift="none"):
    return variants.model(variants.named(shift=shift, position=position)), variants.tokens(1, 9)[0]


@settings(max_examples=25 if settings.get_current_profile_name() == "ci" else 2000)
@given(
    st.sampled_from(POSITIONS),
    st.sampled_from((Own(), Residual(), Residual(lambda1=1.0, lambda2=2.0), Shared(), Neutreno(), Identity())),
    st.sampled_from(variants.WEIGHTS),
    st.sampled_from(((4, None), (4, 2), (2, 1))),
    st.integers(1, 6),
    st.integers(1, 7),
    st.integers(0, 2**20),
)
def test_a_token_masked_in_all_layers_has_a_first_tokens_states(position, values, weights, heads, layers, place, seed):
    options = {"n_layers": layers, "n_heads": heads[0], "n_kv_heads": heads[1], "shift": "none", "position": position}
    model = variants.model(variants.named(values, weights, **options), seed)
    assert state_gaps(model, variants.tokens(1, 8, seed)[0], place).max() < SAME


@pytest.mark.parametrize("position", POSITIONS)
def test_masked_in_some_layers_it_is_one_up_to_the_first_that_is_not(position):
    model, tokens = own(position)
    lowest = state_gaps(model, tokens, 4, layers=[0])
    assert lowest[0] < SAME and lowest[1:].min() > APART
    assert state_gaps(model, tokens, 4, layers=[1, 2, 3]).min() > APART


@pytest.mark.parametrize(("position", "shift"), [("learned", "none"), ("none", "v"), ("rope", "kv")])
def test_not_with_positions_or_neighbours_in_its_state(position, shift):
    assert state_gaps(*own(position, shift), 4).min() > APART
    assert state_gaps(*own("none", "k"), 4).max() < SAME  # a key that is seen alone does not count


@pytest.mark.parametrize(("family", "same"), [("llama", True), ("bloom", True), ("gpt2", False)])
def test_models_of_transformers_agree_with_the_theorem(family, same):
    with models.double():
        gaps = state_gaps(models.model(family), models.tokens(1, 9)[0], 4)
    assert gaps.max() < 1e-9 if same else gaps.min() > APART


def test_leads_of_the_logit_are_those_of_the_scheme():
    model, tokens = own("alibi")
    np.testing.assert_allclose(copy_leads(model, tokens, 3), 3 * np.array(alibi.slopes(variants.HEADS)), atol=1e-12)
    np.testing.assert_allclose(copy_leads(*own("none"), 3), 0, atol=1e-12)
    model, tokens = own("rope")
    normed, attention = model.blocks[0].attention_norm(model.embed(tokens[None]))[0], model.blocks[0].attention
    query, key = attention.q_proj(normed[-1]), attention.k_proj(normed[0])
    halves = np.arange(attention.head_dim).reshape(2, -1)  # neighbours are pairs for theory
    query, key = (x.view(variants.HEADS, -1).detach().numpy()[:, halves.T.ravel()] for x in (query, key))
    gaps = sink.rotary_copy_gap(query, key, 8, 3, 10000.0 ** (-halves[0] / len(halves[0])))
    np.testing.assert_allclose(copy_leads(model, tokens, 3), gaps * attention.scale, atol=1e-12)
    assert abs(gaps).min() > 1e-3


def test_places_outside_and_shifted_keys_are_refused():
    model, tokens = own("none")
    for place in (0, 9, -1):
        refused(r"place in 1\.\.length - 1", state_gaps, model, tokens, place)
    refused(r"place in 1\.\.length - 2, got shape \(9,\) and place 8", copy_leads, model, tokens, 8)
    refused("tokens must be", state_gaps, model, tokens[None], 3)
    refused("a shifted key holds a part", copy_leads, *own("none", "k"), 3)
    smeared = variants.model(variants.named(past=variants.PASTS["smear"], shift="none"))
    refused("a shifted key holds a part", copy_leads, smeared, tokens, 3)
    refused("hold positions: the copy has not", copy_leads, *own("learned"), 3)
