"""From which learned position on a table looks untrained: false alarms, missed ones, and models trained on a part."""

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from dynamics.sinks.positions import learned, untrained, untrained_from
from tests.dynamics.hf import models

SHAPES = ((64, 16), (128, 32), (256, 64), (512, 128))


def walk(draw, rows, width, alike):
    """Rows of one variance, each like the one before by the correlation `alike`."""
    found = draw.standard_normal((rows, width))
    for row in range(1, rows):
        found[row] = alike * found[row - 1] + (1 - alike**2) ** 0.5 * found[row]
    return found


NOT_CUT = {
    "drawn": lambda draw, shape: 0.02 * draw.standard_normal(shape),
    "drawn evenly": lambda draw, shape: draw.uniform(-1, 1, shape),
    "drawn with long tails": lambda draw, shape: draw.standard_t(3, shape),
    "drawn with norms of their own": lambda draw, shape: walk(draw, *shape, 0) * draw.uniform(0.2, 2, (shape[0], 1)),
    "trained throughout": lambda draw, shape: walk(draw, *shape, 0.9),
    "trained, the first ones more": lambda draw, shape: (
        walk(draw, *shape, 0.5) * np.where(np.arange(shape[0]) < 9, 4, 1)[:, None]
    ),
    "trained on all but the last few": lambda draw, shape: (
        np.r_[walk(draw, shape[0] - 4, shape[1], 0.9), walk(draw, 4, shape[1], 0)]
    ),
    "zero": lambda draw, shape: np.zeros(shape),
    "of one row": lambda draw, shape: np.ones((1, 8)),
}


@pytest.mark.parametrize("kind", NOT_CUT)
def test_no_alarm_in_200_tables_that_are_of_one_kind_throughout(kind):
    draw = np.random.default_rng(0)
    assert [untrained_from(NOT_CUT[kind](draw, SHAPES[index % 4])) for index in range(200)] == [None] * 200


@pytest.mark.parametrize(("size", "found"), [(0.1, 0.0), (2.0, 0.95)])
def test_a_table_that_was_trained_to_a_place_is_found_where_training_moved_its_rows_enough(size, found):
    """Rows drawn, to the first p of which a smooth part of `size` times their own is added."""
    draw, hits = np.random.default_rng(0), []
    for index in range(200):
        n, d = SHAPES[1 + index % 3]
        p = int(n * draw.uniform(0.1, 0.8))
        table = draw.standard_normal((n, d))
        table[:p] += size * walk(draw, p, d, 0.95)
        told = untrained_from(table)
        hits.append(told is not None and abs(told - p) <= 2)
    assert np.mean(hits) >= found and (size > 1 or not any(hits))


@pytest.mark.parametrize(("length", "expected"), [(0, None), (40, 40), (128, None)])
def test_a_model_that_was_trained_on_a_part_of_its_positions(length, expected):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = GPT2LMHeadModel(GPT2Config(vocab_size=8, n_positions=128, n_embd=32, n_layer=1, n_head=2))
        step = torch.optim.AdamW(model.parameters(), 3e-3)
        for _ in range(60 if length else 0):
            tokens = torch.arange(length) % 7 + torch.randint(2, (8, length))
            model(tokens, labels=tokens).loss.backward()
            step.step()
            step.zero_grad()
    found = untrained(model)
    assert found == expected if expected is None else abs(found - expected) <= 1


def test_which_models_have_learned_positions():
    for family in ("gpt2", "bert", "opt", "llama", "bloom"):
        model = models.model(family)
        table = learned(model)
        assert (table is None) == (family in ("llama", "bloom"))
        if table is not None:
            assert tuple(table.shape) == (model.config.max_position_embeddings, model.config.hidden_size)
    assert untrained(models.model("llama")) is None
