"""Scores by the attention that a model returns itself: undeclared families, any callable, and what is refused."""

from contextlib import nullcontext

import numpy as np
import pytest
import torch

from dynamics.heads.returned import Returning, of_transformers
from dynamics.heads.rows import longest, measured, returned_by
from dynamics.heads.scores import head_scores, repeated_prompt
from dynamics.hf import versions
from tests.dynamics.heads.test_scores import brute_force, matrices, random_model
from tests.dynamics.hf import models, undeclared
from tests.dynamics.refusal import refused

TOKENS = repeated_prompt(64, 15, 4, 2, range(3))
HOW = {"k": 15, "seed": 2, "excluded": range(3)}


def returned(model, tokens=TOKENS):
    """(layers, heads, length, length), with the written-out attention named in the configuration from now on."""
    model.config._attn_implementation = "eager"
    with torch.no_grad():
        return torch.cat(model(torch.from_numpy(tokens)[None], output_attentions=True).attentions).numpy()


# --- families without a place -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", undeclared.FAMILIES)
def test_an_undeclared_family_is_scored_by_what_it_returns(name):
    model = undeclared.model(name)
    default = model.config._attn_implementation
    found = head_scores(model, **HOW)
    assert model.config._attn_implementation == default
    weights = returned(model)
    np.testing.assert_allclose(found, brute_force(weights, TOKENS, 15), rtol=0, atol=1e-9)
    assert found.echo.shape == (1 if name == "Jamba" else 2, 4)
    assert (np.triu(weights, 1).max() > 0) == (name in undeclared.ENCODERS)
    assert np.ptp(found.induction) > 1e-4


def test_a_declared_family_whose_attention_is_refused_is_scored_too():
    model = models.model("bert", is_decoder=True)
    with models.double():
        found = head_scores(model, **HOW)
        expected = brute_force(returned(model), TOKENS, 15)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["CodeGen", "Cohere2", "Roberta", "XLNet"])
def test_a_prompt_nobody_chose_fits_the_positions(name):
    model = undeclared.model(name)
    most = undeclared.LONGEST.get(name, 128)
    assert longest(model) == most
    assert np.isfinite(head_scores(model)).all()
    if most is not None:
        np.testing.assert_array_equal(head_scores(model), head_scores(model, k=most // 4))
        refused(f"the model has positions for {most}: pass k={most // 4} or", head_scores, model, k=most // 4 + 1)
        refused(
            f"the prompt has {most + 1} tokens", measured, model, np.zeros(most + 1, dtype=np.int64), lambda *_: None
        )


def test_a_model_with_images_is_scored_as_the_language_model_inside_it():
    text = {"model_type": "llama", "vocab_size": 64, "num_key_value_heads": 2} | undeclared.FAMILIES["Phi"]
    eyes = {"model_type": "clip_vision_model", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
            "num_attention_heads": 1, "image_size": 8, "patch_size": 4}  # fmt: skip
    model = undeclared.model("Llava", text_config=text, vision_config=eyes, image_token_index=63)
    configs = [model.config, model.config.text_config, model.config.vision_config]
    before = [config._attn_implementation for config in configs]
    assert returned_by(model) is not None and returned_by(model.language_model) is None
    assert longest(model) == 128
    found = head_scores(model, k=15, seed=2, excluded=[63])
    np.testing.assert_allclose(found, head_scores(model.language_model, k=15, seed=2, excluded=[63]), rtol=0, atol=1e-6)
    assert [config._attn_implementation for config in configs] == before
    with versions.eager(model):
        assert {config._attn_implementation for config in configs} == {"eager"}


# --- any callable -----------------------------------------------------------------------------------------------------


def shown(model, lengths):
    def attentions(tokens):
        lengths.append(tokens.shape[1])
        return torch.from_numpy(matrices(model, tokens[0].numpy()))[:, None]

    return attentions


def test_a_callable_that_returns_attention_is_scored_as_the_model_behind_it():
    model, lengths = random_model(3), []
    stranger = Returning(shown(model, lengths), vocab=16, longest=70)
    np.testing.assert_allclose(head_scores(stranger, k=9), head_scores(model, k=9), rtol=0, atol=1e-12)
    head_scores(stranger)
    assert lengths == [36, 64]
    refused("the prompt has 80 tokens, the model has positions for 70", head_scores, stranger, k=16, repeats=5)


def test_whole_matrices_are_of_1024_tokens_unless_told_otherwise():
    lengths = []

    def even(tokens):
        lengths.append(tokens.shape[1])
        return [torch.ones(1, 1, tokens.shape[1], tokens.shape[1]).tril() / tokens.shape[1]]

    head_scores(Returning(even, vocab=5000))
    head_scores(Returning(even, vocab=5000), k=300)
    assert lengths == [1024, 1200]


GOOD = torch.ones(1, 2, 60, 60).tril() / 60


# --- refused ----------------------------------------------------------------------------------------------------------


SMALL = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8}


def test_an_encoder_of_two_is_scored_alone():
    found = head_scores(undeclared.model("Bart", **SMALL).get_encoder(), **HOW)
    assert np.isfinite(found).all()


def test_a_model_in_training_and_no_model_are_refused():
    refused(r"the model is in training mode: use model\.eval", head_scores, undeclared.model("Phi").train(), k=15)
    words = "Linear is neither a model of ours nor of transformers: give what returns"
    refused(words, head_scores, torch.nn.Linear(2, 2), k=15)


def test_attention_that_is_not_the_models_is_refused(monkeypatch):
    """Falcon returns its bias twice, and by default weights on tokens to come; `dynamics.hf.attention` has it right."""
    twice = models.model("falcon", alibi=True, multi_query=False)
    words = "returns attention that is not what it runs"
    refused(f"{words}: .* by its sdpa attention", head_scores, of_transformers(twice), **HOW)
    refused("alibi with 4 heads on 1 key-value heads", head_scores, models.model("falcon", alibi=True), **HOW)
    rotary = models.model("falcon")
    head_scores(of_transformers(rotary), **HOW)
    monkeypatch.setattr(versions, "eager", nullcontext)
    refused(words, head_scores, of_transformers(rotary), **HOW)


@pytest.mark.parametrize("name", ["Phi", "Cohere2"])
def test_configurations_come_back_after_an_error_too(name, monkeypatch):
    model = undeclared.model(name)
    configs = {id(module.config): module.config for module in model.modules() if hasattr(module, "config")}.values()
    before = [config._attn_implementation for config in configs]
    last = model.get_submodule("layers.1")
    monkeypatch.setattr(last, "forward", lambda *_, **__: 1 / 0)
    refused(f"{name}Model cannot run 60 tokens .ZeroDivisionError: division by zero", head_scores, model, **HOW)
    with pytest.raises(RuntimeError), versions.eager(model):
        assert {config._attn_implementation for config in configs} == {"eager"}
        raise RuntimeError
    assert [config._attn_implementation for config in configs] == before
