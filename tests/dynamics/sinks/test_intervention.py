"""Masks, hidden tokens and moved positions: what a model does, against transformers' own masks and by brute force."""

import numpy as np
import pytest
import torch

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.sinks import intervention
from dynamics.sinks.intervention import Hide, Mask, Replace, Swap, intervene
from tests.dynamics.hf import models
from tests.dynamics.hf.test_attention import windowed
from tests.dynamics.refusal import refused
from tests.dynamics.sinks import brute
from tests.dynamics.sinks.test_measured import CHANGES, FAMILIES, TIGHT, near, text

WINDOW, K = 12, 5
MASKABLE = [family for family in FAMILIES if family not in ("bloom", "mpt", "gpt_oss")]


def seen_by_hand(length, causal, window=None, change=None):
    """Which keys (length, length) each query sees: a masked token itself alone, and no other token a hidden one."""
    distance = np.arange(length)[:, None] - np.arange(length)
    seen = distance >= 0 if causal else np.ones_like(distance, dtype=bool)
    if window is not None:
        seen = seen & (distance < window)
    others = np.arange(length) != (change and change.token)
    if isinstance(change, Mask):
        seen[change.token, others] = False
    elif change is not None:
        seen[others, change.token] = False
    return seen


def own(model, row, seen=None, **more):
    """What transformers' own forward returns, under an additive four-dimensional mask."""
    if seen is not None:
        more["attention_mask"] = torch.where(torch.from_numpy(seen), 0.0, -torch.inf).double()[None, None]
    with torch.no_grad(), models.double():
        return model(torch.from_numpy(row)[None], output_hidden_states=True, output_attentions=True, **more)


def own_logits(model, row, seen=None, **more):
    return own(model, row, seen, **more).logits[0].numpy()


def moved(before, after):
    """||y - x|| / ||x|| of each token's last states, and the same of the next token's, one after another."""
    x, y = (out.hidden_states[-1][0].numpy() for out in (before, after))
    sizes = [np.linalg.norm(z, axis=1) for z in (x, y - x, x - x[[*range(1, len(x)), 0]])]
    return sizes[1] / sizes[0], (sizes[2] / sizes[0]).mean()


def divergence(one, other):
    p, q = (x - np.logaddexp.reduce(x) for x in (one, other))
    return (np.exp(p) * (p - q)).sum()


@pytest.mark.parametrize("change", [Mask(K), Hide(K)], ids=["mask", "hide"])
@pytest.mark.parametrize("family", MASKABLE)
def test_a_mask_does_what_one_handed_to_transformers_does(family, change):
    model, causal = models.eager(family, **CHANGES.get(family, {})), family != "bert"
    window = CHANGES.get(family, {}).get("sliding_window")
    rows = text(2 * WINDOW).reshape(2, WINDOW)
    with models.double():
        effect = intervene(model, rows.ravel(), change, WINDOW)
    assert (effect.kind, effect.places) == ("mask" if isinstance(change, Mask) else "hide", (K,))
    given = []
    for index, row in enumerate(rows):
        before, after = own(model, row), own(model, row, seen_by_hand(WINDOW, causal, window, change))
        plain, masked = before.logits[0].numpy(), after.logits[0].numpy()
        for found, expected in zip((effect.moved, effect.neighbours), moved(before, after), strict=True):
            near(found[index], expected)
        near(effect.loss_before[index], brute.loss(plain, row, causal))
        near(effect.loss_after[index], brute.loss(masked, row, causal))
        near(effect.divergence[index], divergence(plain[-1], masked[-1]))
        near(effect.change[index], np.abs(plain[-1] - masked[-1]).max())
        assert np.abs(plain - masked).max() > 1e-2
        others = slice(K + 1, None) if causal else np.arange(WINDOW) != K
        given.append([torch.cat(out.attentions)[:, :, others, K].mean(-1).numpy() for out in (before, after)])
    for found, expected in zip((effect.weight_before, effect.weight_after), np.mean(given, 0), strict=True):
        near(found[..., 0], expected)
    assert effect.weight_after.any() == isinstance(change, Mask)


@pytest.mark.parametrize("kind", [Mask, Hide])
@pytest.mark.parametrize("heads", [{1: ()}, {1: (0, 3)}, {0: (2,), 1: (1,)}])
@pytest.mark.parametrize("family", ["llama", "bloom", "mpt", "gpt_oss"])
def test_a_mask_in_some_layers_and_heads_changes_their_rows_alone(family, heads, kind):
    """Brute force: attention written out, with a mask of each head's own before the softmax."""
    model, row = models.eager(family), text(WINDOW)
    with models.double():
        effect = intervene(model, row, kind(K, heads), WINDOW)
        expected = brute_masked(model, row, K, heads, kind is Hide)
    near(effect.loss_after[0], brute.loss(expected, row, True))
    near(effect.change[0], np.abs(own_logits(model, row)[-1] - expected[-1]).max())


def brute_masked(model, row, token, heads, column):
    from dynamics.hf.attention import replaced

    def function(layer, *given, sinks=None, window=None, **settings):
        every = range(given[0].shape[1])
        lonely = torch.tensor([layer in heads and (not heads[layer] or head in heads[layer]) for head in every])
        return windowed(layer, *given, sinks=sinks, window=window, alone=(token, lonely, column), **settings)

    with torch.no_grad(), replaced(model, function):
        return model(torch.from_numpy(row)[None], use_cache=False).logits[0].numpy()


@pytest.mark.parametrize(
    ("change", "positions"), [(Swap(2, 9), {2: 9, 9: 2}), (Replace(9, 0), {9: 0}), (Replace(4, 11), {4: 11})]
)
@pytest.mark.parametrize("family", ["gpt2", "bert", "opt"])
def test_learned_positions_are_exchanged_or_replaced(family, change, positions):
    model, row, causal = models.eager(family), text(WINDOW), family != "bert"
    places = torch.arange(WINDOW)
    places[list(positions)] = torch.tensor(list(positions.values()))
    with models.double():
        effect = intervene(model, row, change, WINDOW)
    # As one mask of all that is seen: GPT-2 takes positions that do not count up for packed documents.
    seen = seen_by_hand(WINDOW, causal)
    expected = own_logits(model, row, seen, position_ids=places[None])
    assert effect.places == tuple(change)
    near(effect.loss_after[0], brute.loss(expected, row, causal))
    near(effect.change[0], np.abs(own_logits(model, row)[-1] - expected[-1]).max())
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


@pytest.mark.parametrize("change", [Mask(K), Hide(K), Swap(2, 9), Replace(9, 0)])
def test_without_a_head_the_last_states_are_compared(change):
    model = models.model("bert")
    whole, bare = (intervene(one, text(WINDOW), change, WINDOW) for one in (model, model.base_model))
    near(bare.moved, whole.moved)
    assert bare.moved.max() > 1e-2 and (bare.weight_after == whole.weight_after).all()
    assert all(np.isnan(getattr(bare, name)).all() for name in ("loss_before", "loss_after", "divergence", "change"))


def test_models_without_positions_are_refused():
    bare = InductionModel(ModelConfig(vocab=64, width=8, n_heads=2, shift="none", position="none"))
    words = r"^this model has no positions that two tokens could exchange"
    refused(words, intervene, bare, text(WINDOW), Swap(1, 2), WINDOW)
    assert intervene(bare, text(WINDOW), Mask(WINDOW - 1), WINDOW).change[0] > 0
    refused("adds no learned positions", intervene, models.model("llama"), text(WINDOW), Replace(2, 1), WINDOW)
