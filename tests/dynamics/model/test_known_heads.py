"""Known answers: every planted head is found and no other, and wrong ways to look for them are caught."""

import numpy as np
import pytest
import torch

from dynamics.heads.scores import head_scores
from dynamics.model.made.known_heads import known_model, random_known_model

NAMES = ("echo", "induction", "previous")


def wrong_heads(known, scores):
    """How many heads are named but not planted, or planted but not named."""
    return sum(int(((getattr(scores, name) > 0.5) != getattr(known, name)).sum()) for name in NAMES)


def check_apart(known, scores, planted, others):
    """Scores of planted heads are above, those of all others below; a token and its copies share an echo's weight."""
    assert wrong_heads(known, scores) == 0
    for name in NAMES:
        heads, values = getattr(known, name), getattr(scores, name)
        assert (values[heads] > (0.6 if name == "echo" else planted)).all()
        assert (values[~heads] < (0.4 if name == "previous" else others)).all()


def test_planted_heads_and_no_others_are_found_in_fifty_random_constructions():
    planted, positions, grouped = dict.fromkeys(NAMES, 0), set(), 0
    for seed in range(50):
        known = random_known_model(seed, vocab=16, length=48)
        scores = head_scores(known.model, k=12, seed=seed)
        check_apart(known, scores, 0.95, 0.4)
        for name in NAMES:
            planted[name] += getattr(known, name).sum()
        config = known.model.config
        positions.add(config.position)
        grouped += config.n_kv_heads < config.n_heads
    assert positions == {"rope", "alibi", "none"}
    assert min(planted.values()) >= 30
    assert 15 <= grouped <= 45


@pytest.mark.deep
def test_longer_prompts_leave_nothing_in_between():
    for seed in range(50):
        known = random_known_model(seed, vocab=112, length=440)
        scores = head_scores(known.model, k=110, seed=seed)
        check_apart(known, scores, 0.99, 0.1)


@pytest.mark.deep
@pytest.mark.parametrize("position", ["rope", "none"])
def test_planted_heads_are_found_in_ten_thousand_tokens(position):
    known = known_model(7, vocab=4000, codes=128, length=10_000, n_kv_heads=2, position=position)
    scores = head_scores(known.model.float())
    assert wrong_heads(known, scores) == 0
    assert wrong_heads(known, head_scores(known.model, k=1000, repeats=3)) == 0


@pytest.mark.gpu
def test_planted_heads_are_found_on_a_gpu():
    for seed in range(20):
        known = random_known_model(seed, vocab=64, length=240)
        there = head_scores(known.model.cuda(), k=60, seed=seed)
        here = head_scores(known.model.cpu(), k=60, seed=seed)
        assert wrong_heads(known, there) == 0
        np.testing.assert_allclose(there, here, rtol=0, atol=1e-10)


def test_the_second_layer_needs_its_previous_token_head():
    """Without the head that writes to the room, the two-layer induction head is gone, and the others stay."""
    for seed in range(6):
        known = known_model(seed, n_kv_heads=2, position=("rope", "alibi")[seed % 2], n_layers=3)
        layer, head = np.argwhere(known.previous)[0]
        attention = known.model.blocks[layer].attention
        with torch.no_grad():
            attention.o_proj.weight[:, head * attention.head_dim : (head + 1) * attention.head_dim] = 0.0
        scores = head_scores(known.model, k=12)
        lost = known.induction & (scores.induction <= 0.5)
        assert lost.sum() == 1
        assert np.argwhere(lost)[0, 0] > layer
        assert ((scores.previous > 0.5) == known.previous).all()
        assert ((scores.echo > 0.5) == known.echo).all()
