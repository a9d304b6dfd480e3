"""Heads chosen by size and by cause: planted ones are found, noise, slopes and sinks are not."""

import numpy as np
import pytest
import torch

from dynamics.heads.batched import losses, shuffled
from dynamics.heads.cause import Cause
from dynamics.heads.copies import draw
from dynamics.heads.found import find
from dynamics.heads.kinds import KINDS, Source, _score, choose
from dynamics.heads.returned import Returning
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.statistics.estimate import Estimate
from tests.dynamics.heads.planted import planted
from tests.dynamics.hf import models
from tests.dynamics.refusal import refused

PAIR = {(1, 1): "shift", (1, 3): "shift"}
LAYER = {(1, head): "shift" for head in range(4)}


def trained_at_64():
    """Positions from 64 on are noise, as those that training never reached."""
    model = planted({(1, 1): "shift"}, 0.3, 256, 48, position="learned", max_length=256)
    with torch.no_grad():
        model.positions[:64] = 0.0
        model.positions[64:].normal_(0, 3, generator=torch.Generator().manual_seed(0))
    return model


def steep():
    """ALiBi heads that attend to the token before by their slopes alone."""
    model = planted({(1, 1): "shift"}, position="alibi")
    for block in model.blocks:
        block.attention.slopes = [1.0, 0.001, 0.7, 0.5]
    return model


# model, heads of `whole_heads`, length that is chosen, words of the answer
CASES = {
    "a third of its attention, 20 ids": (lambda: planted(PAIR, 0.3), PAIR, 24, "2 induction heads (layer.head): 1.1, "),
    "33 ids": (lambda: planted(PAIR, 0.3, 33), PAIR, 24, "2 induction heads (layer.head): 1.1, 1.3; retrieval: 1.1,"),
    "one seen by its rank alone": (lambda: planted(PAIR, 0.09), PAIR, 24, "retrieval: 1.1, 1.3"),
    "a layer of them": (lambda: planted(LAYER), LAYER, 24, "4 induction heads"),
    "grouped": (lambda: planted({(1, 1): "shift"}, n_kv_heads=2, position="rope"), [(1, 1)], 24, "1 induction head (l"),
    "positions never trained": (trained_at_64, [(1, 1)], 48, "1 induction head (layer.head): 1.1; retrieval: 1.1"),
    "slopes": (steep, [(1, 1)], 24, "1 induction head (layer.head): 1.1; retrieval: 1.1"),
    "idle": (lambda: planted(PAIR, loud=0.0), [], 24, "needed: the attention of 1.1, 1.3 to"),
    "one key later": (
        lambda: planted(dict.fromkeys(PAIR, "late")),
        [],
        24,
        "no induction heads found; the model copies (prompts of 24, 48, 96, 192 tokens); without 1.1, 1.3 the second",
    ),
}


@pytest.mark.parametrize(("build", "whole", "length", "words"), CASES.values(), ids=CASES)
def test_planted_heads_are_found_and_no_others(build, whole, length, words):
    found = find(build(), seeds=3)
    assert words in found.why and found.whole_heads == sorted(whole) and found.length == length
    attending = {head for kind in KINDS for head in found.attending(kind)}
    assert attending <= {*LAYER} and not found.attending("previous token")
    if whole:
        cause = found.causes["retrieval"]
        assert cause.same_shape == (len(whole) < 4) and max(cause.others) < 0.1 < cause.hurt.low
    if found.carriers is not None:
        assert [look[0] for look in found.looks.values()] == [1, 1]
        assert all(share > 0.8 > 0.1 > even for _, share, even in found.looks.values())
        assert "1.3 looks most at the key 1 after the right one (0.92; even attention 0.05)" in found.why
        nowhere = found._replace(looks=dict.fromkeys(found.looks, (1, 0.14, 0.05)))
        assert "these heads put less than 0.1 above even attention on each key near the right one" in nowhere.why


def noise(seed):
    """Random, shuffled and pure-sink models of several sizes, positions and spreads."""
    if seed % 3 == 1:
        return shuffled(planted(PAIR, vocab=33), seed)
    place = ("rope", "alibi")[seed // 3]
    settings = ModelConfig.checked({"vocab": 20, "width": 32, "n_layers": 3, "position": place})
    model = InductionModel(settings, torch.Generator().manual_seed(seed))
    with torch.no_grad():
        for block in model.blocks:
            block.attention.k_proj.weight.mul_(5)
    if seed % 3 == 2:
        return models.model("gpt_oss", seed, torch.float32)  # learned sinks and a window
    return model


@pytest.mark.parametrize("seed", range(6))
def test_noise_has_no_heads_of_any_kind(seed):
    model = noise(seed)
    found = find(model, seeds=3, text=[np.arange(200) % 19])
    assert not any(found.attending(kind) for kind in KINDS) and found.whole == [] and len(found.scores) == len(KINDS)
    assert "no induction heads found" in found.why


def returning(right):
    """Attention of two heads: to the token before, and a share to what came after the earlier copy."""

    def attentions(tokens):
        row = tokens[0].numpy()
        even = np.tri(len(row)) / np.arange(1, len(row) + 1)[:, None]
        at, key = np.nonzero(np.tril(row[:, None] == row, -1))
        even[at] *= 1 - right
        even[at, key + 1] += right
        return [torch.from_numpy(np.stack([np.eye(len(row), k=-1), even]))[None]]

    return Returning(attentions, 300)


def test_of_a_stranger_the_cause_is_not_tested_and_no_slope_is_taken_for_a_head():
    found = find(returning(0.3), seeds=3)
    assert found.heads("induction") == [(0, 1)] and "cause not tested" in found.why and found.gates == ()
    assert found.scores["previous token"].mean[0, 0] == 1 and not found.attending("previous token")
    assert not find(returning(0.05), seeds=3).attending("induction")


def test_scores_are_those_of_transformers_own_weights():
    model = models.eager("gpt2", dtype=torch.float32)
    source = Source(model, 3, (5, 6), (), 4)
    scores, sink = choose(source, 24, 1, lambda items, **_: items)
    prompts = source.prompts(8, 24, 3, 0)
    assert (prompts.tokens[:, 0] == 3).all() and not np.isin(prompts.tokens[:, 1:], (3, 5, 6)).any()
    rows = zip(prompts.prompt, prompts.row, strict=True)
    rows = [(p, t, prompts.tokens[p, :t].tolist().index(prompts.tokens[p, t])) for p, t in rows]
    with torch.no_grad():
        plain, twin = (
            torch.stack(model(torch.from_numpy(tokens), output_attentions=True).attentions, 1).numpy()
            for tokens in prompts[:2]
        )
    for found, wanted in (
        (scores["induction"].mean, [plain[p, :, :, t, s + 1] for p, t, s in rows]),
        (scores["induction"].twin, [twin[p, :, :, t, s + 1] for p, t, s in rows]),
        (scores["duplicate"].mean, [plain[p, :, :, t, s] for p, t, s in rows]),
        (scores["retrieval"].mean, [plain[p, :, :, t].argmax(-1) == s + 1 for p, t, s in rows]),
        (scores["previous token"].mean, [plain[p, :, :, t + 2, t + 1] for p, t in np.ndindex(8, 22)]),
        (scores["induction"].even, [1 / (t + 1) for _, t, _ in rows]),
        (sink, [plain[p, :, :, t, 0] for p, t, _ in rows]),
    ):
        np.testing.assert_allclose(found, np.mean(wanted, axis=0), rtol=0, atol=1e-6)


@pytest.mark.parametrize("family", ["llama", "mistral", "bloom", "gemma2"])
def test_a_head_without_output_is_one_whose_columns_are_zero(family):
    model, prompts = models.model(family), draw(64, 24, 4, (0,))
    rows = prompts.tokens, prompts.prompt, prompts.row
    found = losses(model, *rows, [(1, 2)])
    output = [one for name, one in model.named_modules() if name.endswith(("o_proj", "self_attention.dense"))][1]
    with torch.no_grad():
        size = output.weight.shape[1] // 4
        output.weight[:, 2 * size : 3 * size] = 0.0
    torch.testing.assert_close(found, losses(model, *rows), rtol=0, atol=1e-5)


@pytest.mark.parametrize(("vocab", "length", "order"), [(20, 24, 1), (20, 96, 2), (5, 60, 3), (256, 192, 1)])
def test_rows_have_one_earlier_copy_and_the_twin_none(vocab, length, order):
    prompts = draw(vocab, length, 20, (1, 2), excluded=(0,))
    assert prompts.order == order and prompts.distinct == (order == 1)
    assert np.bincount(prompts.back).max() < 0.35 * len(prompts.back)  # no distance is usual
    assert not (prompts.tokens == 0).any() and not (prompts.twins == 0).any()
    for p, t, back in zip(prompts.prompt, prompts.row, prompts.back, strict=True):
        text, run = prompts.tokens[p].tolist(), prompts.tokens[p, t - order + 1 : t + 1].tolist()
        ends = [s for s in range(order - 1, t) if text[s - order + 1 : s + 1] == run]
        assert ends == [t - back] and 1 < t - back < length - 1
        assert text[t - back + 2] == text[t + 2] and text[t - back - 1] == text[t - 1]  # no edge of the segment
        assert prompts.twins[p, t - back] != text[t] and prompts.twins[p, t - back + 1] != text[t + 1]
        assert (prompts.twins[p, t - 1 :] == prompts.tokens[p, t - 1 :]).all()


@pytest.mark.parametrize(
    ("hurt", "others", "same", "needed"),
    [
        ((0.5, 0.4, 0.6), 39 * [0.1] + [0.9], True, True),
        ((0.5, 0.4, 0.6), 37 * [0.1] + 3 * [0.9], True, False),
        ((0.5, 0.4, 0.6), 4 * [0.9], False, True),
        ((0.5, -0.1, 1.1), [0.0], True, False),
        ((0.09, 0.08, 0.1), [0.0], True, False),
        ((0.11, 0.08, 0.14), [0.1], True, True),
    ],
)
def test_needed_is_a_tenth_of_the_gain_sure_and_more_than_others(hurt, others, same, needed):
    assert Cause(((0, 0),), Estimate(*hurt), 1.0, tuple(others), same).needed == needed


@pytest.mark.parametrize(
    ("seeds", "twin", "copy", "kind", "chosen"),
    [
        (10 * [0.3], 0.1, 0.1, "induction", True),
        (10 * [0.3], 0.21, 0.1, "induction", False),
        (10 * [0.3], 0.1, 0.31, "induction", False),
        (9 * [0.3] + [0.1], 0.1, 0.1, "induction", True),
        (8 * [0.3] + 2 * [0.1], 0.1, 0.1, "induction", False),
        (10 * [0.3], 0.1, None, "induction", True),
        (10 * [0.3], 0.1, None, "previous token", False),
    ],
)
def test_a_head_is_chosen_above_all_baselines_in_nine_of_ten_seeds(seeds, twin, copy, kind, chosen):
    cells = np.ones((10, 1, 1))
    copies = [] if copy is None else [[[0.1]], [[copy]], [[0.1]]]
    found = _score(kind, np.reshape(seeds, (10, 1, 1)), np.full(10, 0.05), twin * cells, np.array(copies))
    assert found.chosen.item() == chosen


def test_a_stranger_that_is_an_encoder_is_refused():
    even = Returning(lambda tokens: [torch.full((1, 1, *2 * tokens.shape[1:]), 1 / tokens.shape[1])], 64)
    refused("every token of this model sees all", find, even)
