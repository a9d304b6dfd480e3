"""Masks and swaps: what a model does under them, against a mask handed to transformers and against brute force."""

import numpy as np
import pytest
import torch

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.sinks import intervention
from dynamics.sinks.intervention import Mask, Swap, intervene
from tests.dynamics.hf import models
from tests.dynamics.hf.test_attention import windowed
from tests.dynamics.refusal import refused
from tests.dynamics.sinks import brute
from tests.dynamics.sinks.test_measured import CHANGES, FAMILIES, TIGHT, near, text

WINDOW, K = 12, 5
MASKABLE = [family for family in FAMILIES if family not in ("bloom", "mpt", "gpt_oss")]


def seen_by_hand(length, causal, window=None, alone=None):
    """Which keys (length, length) each query sees; token `alone` sees itself alone, and all others still see it."""
    distance = np.arange(length)[:, None] - np.arange(length)
    seen = distance >= 0 if causal else np.ones_like(distance, dtype=bool)
    if window is not None:
        seen = seen & (distance < window)
    if alone is not None:
        seen[alone] = np.arange(length) == alone
    return seen


def own_logits(model, row, seen=None, **more):
    """Logits of transformers' own forward, under an additive four-dimensional mask."""
    if seen is not None:
        more["attention_mask"] = torch.where(torch.from_numpy(seen), 0.0, -torch.inf).double()[None, None]
    with torch.no_grad(), models.double():
        return model(torch.from_numpy(row)[None], **more).logits[0].numpy()


def divergence(one, other):
    p, q = (x - np.logaddexp.reduce(x) for x in (one, other))
    return (np.exp(p) * (p - q)).sum()


@pytest.mark.parametrize("family", MASKABLE)
def test_a_mask_does_what_one_handed_to_transformers_does(family):
    model, causal = models.eager(family, **CHANGES.get(family, {})), family != "bert"
    window = CHANGES.get(family, {}).get("sliding_window")
    rows = text(2 * WINDOW).reshape(2, WINDOW)
    with models.double():
        effect = intervene(model, rows.ravel(), Mask(K), WINDOW)
    assert (effect.kind, effect.places) == ("mask", (K,))
    for index, row in enumerate(rows):
        plain = own_logits(model, row)
        masked = own_logits(model, row, seen_by_hand(WINDOW, causal, window, K))
        near(effect.loss_before[index], brute.loss(plain, row, causal))
        near(effect.loss_after[index], brute.loss(masked, row, causal))
        near(effect.divergence[index], divergence(plain[-1], masked[-1]))
        near(effect.change[index], np.abs(plain[-1] - masked[-1]).max())
        assert np.abs(plain - masked).max() > 1e-2


def test_the_weight_of_a_masked_token_is_that_of_the_returned_attention():
    model, row = models.eager("llama"), text(WINDOW)
    with models.double(), torch.no_grad():
        effect = intervene(model, row, Mask(K), WINDOW)
        mask = torch.where(torch.from_numpy(seen_by_hand(WINDOW, True, alone=K)), 0.0, -torch.inf).double()
        for more, found in (({}, effect.weight_before), ({"attention_mask": mask[None, None]}, effect.weight_after)):
            out = model(torch.from_numpy(row)[None], output_attentions=True, use_cache=False, **more)
            given = torch.cat(out.attentions)[:, :, K + 1 :, K].mean(-1)
            near(found[..., 0], given.numpy())


@pytest.mark.parametrize("heads", [{1: ()}, {1: (0, 3)}, {0: (2,), 1: (1,)}])
@pytest.mark.parametrize("family", ["llama", "bloom", "mpt", "gpt_oss"])
def test_a_mask_in_some_layers_and_heads_changes_their_rows_alone(family, heads):
    """Brute force: attention written out, with a mask of each head's own before the softmax."""
    model, row = models.eager(family), text(WINDOW)
    with models.double():
        effect = intervene(model, row, Mask(K, heads), WINDOW)
        expected = brute_masked(model, row, K, heads)
    near(effect.loss_after[0], brute.loss(expected, row, True))
    near(effect.change[0], np.abs(own_logits(model, row)[-1] - expected[-1]).max())


def brute_masked(model, row, token, heads):
    from dynamics.hf.attention import replaced

    def function(layer, *given, sinks=None, window=None, **settings):
        every = range(given[0].shape[1])
        lonely = torch.tensor([layer in heads and (not heads[layer] or head in heads[layer]) for head in every])
        return windowed(layer, *given, sinks=sinks, window=window, alone=(token, lonely), **settings)

    with torch.no_grad(), replaced(model, function):
        return model(torch.from_numpy(row)[None], use_cache=False).logits[0].numpy()


@pytest.mark.parametrize("family", ["gpt2", "bert"])
def test_a_swap_exchanges_learned_positions(family):
    model, row, causal = models.eager(family), text(WINDOW), family != "bert"
    places = torch.arange(WINDOW)
    places[[2, 9]] = places[[9, 2]]
    with models.double():
        effect = intervene(model, row, Swap(2, 9), WINDOW)
    # As one mask of all that is seen: GPT-2 takes positions that do not count up for packed documents.
    seen = seen_by_hand(WINDOW, causal)
    own = own_logits(model, row, seen, position_ids=places[None])
    assert effect.kind == "positions"
    near(effect.loss_after[0], brute.loss(own, row, causal))
    near(effect.change[0], np.abs(own_logits(model, row)[-1] - own[-1]).max())
    assert effect.weight_after.shape == (2, 4, 2)


@pytest.mark.parametrize("family", ["llama", "bloom"])
def test_without_learned_positions_the_tokens_are_exchanged(family):
    model, row = models.eager(family), text(WINDOW)
    other = row.copy()
    other[[2, 9]] = row[[9, 2]]
    with models.double():
        effect = intervene(model, row, Swap(2, 9), WINDOW)
    assert effect.kind == "tokens"
    near(effect.loss_after[0], brute.loss(own_logits(model, other), other, True))


def test_logits_in_pieces_give_the_same_loss(monkeypatch):
    model, row = models.model("gpt2"), text(WINDOW)
    whole = intervene(model, row, Mask(K), WINDOW)
    for rows in (1, 5, 11):
        monkeypatch.setattr(intervention.passes, "LOGITS", 64 * rows)
        found = intervene(model, row, Mask(K), WINDOW)
        near(found.loss_after, whole.loss_after)
        near(found.divergence, whole.divergence)


def test_the_last_token_has_no_weight_from_later_ones():
    effect = intervene(models.model("llama"), text(WINDOW), Mask(WINDOW - 1), WINDOW)
    assert np.isnan(effect.weight_before).all() and effect.change[0] > TIGHT
    assert np.isfinite(intervene(models.model("bert"), text(WINDOW), Mask(WINDOW - 1), WINDOW).weight_before).all()


def test_models_without_positions_or_without_a_head_are_refused():
    bare = InductionModel(ModelConfig(vocab=64, width=8, n_heads=2, shift="none", position="none"))
    with pytest.raises(ValueError, match=r"^this model has no positions that two tokens could exchange"):
        intervene(bare, text(WINDOW), Swap(1, 2), WINDOW)
    assert intervene(bare, text(WINDOW), Mask(WINDOW - 1), WINDOW).change[0] > 0
    refused(
        r"^LlamaModel has no head 'lm_head'", intervene, models.model("llama").base_model, text(WINDOW), Mask(1), WINDOW
    )
