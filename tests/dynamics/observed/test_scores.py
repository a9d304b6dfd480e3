"""Observed scores are those of heads and sinks by themselves, and of brute force: transformers' models, and ours."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from dynamics.heads.scores import head_scores
from dynamics.observed.probe import make_probe
from dynamics.observed.scores import observe
from dynamics.sinks.measured import measure
from tests.dynamics.heads.test_scores import brute_force
from tests.dynamics.hf import models
from tests.dynamics.model import variants
from tests.dynamics.refusal import refused
from tests.dynamics.sinks import brute
from tests.dynamics.sinks.test_own import near, shown

FOUR = ("echo", "induction", "previous", "first")


def text(vocab, length=26):
    return np.random.default_rng(5).integers(0, vocab, length)


# --- transformers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["gpt2", "llama", "bert", "gpt_oss"])
def test_numbers_of_a_transformers_model_are_those_of_its_heads_its_sinks_and_its_logits(family):
    model = models.eager(family)
    probe = make_probe(model, text(64), window=13, k=7, repeats=3, prompts=2)
    with models.double():
        found = observe(model, probe)
        scores = head_scores(model, k=7, repeats=3, prompts=2)
        as_measured(found, measure(model, probe.text.ravel(), 13))
        as_measured(observe(model, probe._replace(text=None)), measure(model, probe.copies.ravel(), 21))
    for name in FOUR:
        near(getattr(found, name), getattr(scores, name))
    assert found.alpha is found.beta is None
    if family == "bert":
        assert found.copy_loss is found.text_loss is None
        return
    for loss, rows in ((found.copy_loss, probe.copies), (found.text_loss, probe.text)):
        near(loss, np.mean([losses(brute.Returned(model, row).logits, row) for row in rows], axis=0))


def as_measured(found, there):
    """What is observed of a text's sinks is what is measured of them."""
    share = there.heads.importance / there.heads.importance.sum(-1, keepdims=True)
    near(found.sink, there.heads.first)
    near(found.entropy, -(share * np.log(share)).sum(-1))
    for name in ("drain", "head_drain", "peak"):
        near(getattr(found, name), getattr(there.states, name))
    near(found.state_norm, there.states.state_norms.max(-1))


def losses(logits, row):
    """The loss of each next token by log-sum-exp."""
    return (np.logaddexp.reduce(logits, axis=-1) - logits[np.arange(len(row)), np.roll(row, -1)])[:-1]


# --- ours -------------------------------------------------------------------------------------------------------------

PASTS = ("smear", "key offset", "offsets", "canon", "output", "one of each")
# A layer with another one's queries or keys does not show its probabilities by itself.
ELSEWHERE = ("cross", "cla", *(name for name in variants.VALUES if "queries" in name or "keys" in name))
CONFIGS = {
    **{f"values {name}": variants.named(name) for name in variants.VALUES if not name.startswith(ELSEWHERE)},
    **{f"weights {name}": variants.named(weights=name) for name in variants.WEIGHTS},
    **{f"past {name}": variants.named(past=variants.PASTS[name], shift="none") for name in PASTS},
    "qkv, gates": variants.named(shift="qkv", parameters="gate", n_kv_heads=2, tied=False),
    "learned": variants.named(position="learned", max_length=32),
    "not causal": variants.named("neutreno", shift="none", position="none", causal=False),
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_every_variant_of_ours_is_observed_as_it_shows_itself(config):
    model = variants.model(config)
    probe = make_probe(model, text(variants.VOCAB, 14), window=7, k=3, repeats=3)
    found, (row,) = observe(model, probe), probe.copies
    for name, expected in zip(FOUR, brute_force(shown(model, torch.from_numpy(row)), row, 3), strict=True):
        near(getattr(found, name), expected)
    as_measured(found, measure(model, probe.text.ravel(), 7))
    if config.causal:
        with torch.no_grad():
            logits = model(torch.from_numpy(row[None]))[0, :-1]
        near(found.copy_loss, F.cross_entropy(logits, torch.from_numpy(row[1:]), reduction="none"))
    assert (found.alpha is None) == (config.shift == "none")
    if found.alpha is not None:
        for layer, block in enumerate(model.blocks):
            near(found.alpha[layer], block.attention.alpha_mix().detach())
            near(found.beta[layer], block.attention.beta_mix().detach())


# --- rows -------------------------------------------------------------------------------------------------------------


def test_a_probe_is_the_same_for_the_same_arguments_and_fits_the_model():
    model = variants.model(variants.named(position="learned", max_length=16))
    probe = make_probe(model, text(variants.VOCAB))
    assert probe == make_probe(model, text(variants.VOCAB))
    assert probe.copies.shape == (1, 16) and probe.text.shape == (1, 16) and probe.k == 4
    several = make_probe(model, prompts=3).copies
    assert several.tolist() == [make_probe(model, seed=seed).copies[0].tolist() for seed in range(3)]
    assert len(np.unique(several, axis=0)) == 3
    assert probe != make_probe(model, text(variants.VOCAB), seed=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 5}, r"k must be in 3\.\.4, what positions and tokens leave to 4 repeats, got 5"),
        ({"repeats": 1}, "repeats must be at least 2, got 1"),
        ({"prompts": 0}, "prompts must be at least 1, got 0"),
        ({"text": [99, 1, 2]}, r"tokens must be in 0\.\.10, got 99"),
        ({"text": [1, 2, 3], "window": 17}, "beyond the 16 positions"),
    ],
)
def test_rows_that_the_model_cannot_read_are_refused_in_one_line(arguments, message):
    model = variants.model(variants.named(position="learned", max_length=16))
    refused(message, make_probe, model, **arguments)
