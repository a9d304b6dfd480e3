"""Measurements of transformers models: each number is that of the attention and states that transformers returns."""

import numpy as np
import pytest
import torch
from scipy.special import entr

from dynamics.sinks import measured
from dynamics.sinks.measured import measure
from tests.dynamics.hf import models
from tests.dynamics.refusal import refused
from tests.dynamics.sinks import brute

FAMILIES = ("gpt2", "llama", "qwen2", "qwen3", "bert", "gpt_oss", "mistral", "bloom", "mpt")
CHANGES = {"mistral": {"sliding_window": 5}}
TIGHT = 1e-9  # in double precision; what is asked for is 1e-6
WINDOW, TOKENS = 13, 30


def text(length=TOKENS, seed=3):
    return models.tokens(1, length, seed)[0].numpy()


@pytest.fixture(scope="module", params=FAMILIES)
def case(request):
    """A family, what is measured, and what each window gives by the definitions."""
    family = request.param
    model = models.eager(family, **CHANGES.get(family, {}))
    rows = text()[: TOKENS // WINDOW * WINDOW].reshape(-1, WINDOW)
    with models.double():
        found = measure(model, text(), WINDOW)
    causal = family != "bert"
    windows = [brute.expected(brute.Returned(model, row), causal, family == "gpt_oss") for row in rows]
    return family, found, windows


def mean(windows, name):
    return np.mean([window[name] for window in windows], axis=0)


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=TIGHT)


def test_what_heads_give_is_in_the_attention_that_transformers_returns(case):
    family, found, windows = case
    assert (found.windows, found.left_out, found.causal) == (2, 4, family != "bert")
    for name in ("importance", "entropy", "sink_share"):
        near(getattr(found.heads, name), mean(windows, name))
    near(found.heads.needed_range, np.max([window["needed_range"] for window in windows], axis=0))
    importance = mean(windows, "importance")
    near(found.heads.first, importance[..., 0])
    near(found.heads.largest, importance.max(-1))
    np.testing.assert_array_equal(found.heads.place, importance.argmax(-1))
    assert np.ptp(found.heads.entropy) > 1e-2 and (found.heads.needed_range > 0).any()


def test_the_entropy_lies_below_what_the_first_token_leaves(case):
    _, found, windows = case
    assert (found.heads.entropy <= found.heads.most_entropy + 1e-12).all()
    importance = mean(windows, "importance")
    share = np.maximum(importance[..., 0] / importance.sum(-1), 1 / WINDOW)  # the others have the rest in equal parts
    near(found.heads.most_entropy, entr(share) + (WINDOW - 1) * entr((1 - share) / (WINDOW - 1)))


def test_norms_and_their_ratios_are_those_of_the_states_and_values_of_transformers(case):
    _, found, windows = case
    near(found.states.value_norms, mean(windows, "value_norms"))
    near(found.states.state_norms, mean(windows, "state_norms"))
    places = mean(windows, "importance").mean(1).argmax(-1)
    np.testing.assert_array_equal(found.states.sink, places)
    for name, sizes in (("drain", "value_norms"), ("peak", "state_norms")):
        norms = mean(windows, sizes)
        near(getattr(found.states, name), norms[:, 0] / norms[:, 1:].mean(1))
        at = [row[place] / np.delete(row, place).mean() for row, place in zip(norms, places, strict=True)]
        near(getattr(found.states, f"sink_{name}"), at)
    heads = mean(windows, "head_norms")
    near(found.states.head_drain, heads[..., 0] / heads[..., 1:].mean(-1))


def test_likeness_and_spectra_are_those_of_the_states_and_values_of_transformers(case):
    _, found, windows = case
    near(found.states.similarity, mean(windows, "similarity"))
    for centred in ("", "centred_"):
        eigenvalues = mean(windows, f"{centred}eigenvalues")
        near(getattr(found.states, f"{centred}eigenvalues"), eigenvalues)
        shares = eigenvalues / eigenvalues.sum(-1, keepdims=True)
        near(getattr(found.states, f"{centred}top"), shares.max(-1))
        logs = np.log(np.where(shares > 0, shares, 1))
        near(getattr(found.states, f"{centred}rank"), np.exp(-(shares * logs).sum(-1)))


def test_only_the_layers_asked_for_are_measured_and_as_if_all_were_whatever_the_blocks_of_rows(monkeypatch):
    model, reading = models.model("gpt_oss"), measured.reading
    every = measure(model, text(), WINDOW)
    monkeypatch.setattr(measured, "reading", lambda *args: reading(*args, block=40))
    one = measure(model, text(), WINDOW, layers=[1])
    assert one.layers == (1,)
    for whole, part in ((every.heads, one.heads), (every.states, one.states)):
        for name in whole._fields:
            near(getattr(part, name), getattr(whole, name)[1:])


def test_a_token_can_begin_each_window():
    model = models.model("llama")
    found = measure(model, text(), WINDOW, begin=7)
    rows = np.insert(text()[:24].reshape(2, 12), 0, 7, axis=1).ravel()
    assert found.left_out == 6
    assert found._replace(left_out=0) == measure(model, rows, WINDOW)


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_states_that_are_not_finite_and_other_models_are_refused():
    model = models.model("llama")
    with torch.no_grad():
        brute.blocks(model)[1].mlp.down_proj.weight.fill_(torch.nan)
    refused(r"^the states of layer 1 are not finite, as torch\.float64", measure, model, text(), WINDOW)
    refused(r"^the attention of Linear is none of", measure, torch.nn.Linear(2, 2), text(), WINDOW)
    refused(r"^the model is in training mode: use model\.eval\(\)", measure, model.train(), text(), WINDOW)


@pytest.mark.gpu
@pytest.mark.parametrize("family", ["gpt_oss", "bert", "bloom"])
def test_a_device_gives_the_same_numbers(family):
    model = models.model(family)
    with models.double():  # what transformers works out in single precision, a device rounds in its own way
        here = measure(model, text(), WINDOW)
        there = measure(model.cuda(), text(), WINDOW)
    for one, other in ((here.heads, there.heads), (here.states, there.states)):
        for name in one._fields:
            near(getattr(other, name), getattr(one, name))
