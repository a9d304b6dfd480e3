"""From which learned position on a table looks untrained: false alarms, missed ones, and models trained on a part."""

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from dynamics.sinks.positions import untrained, untrained_from

SHAPES = ((64, 16), (128, 32), (256, 64), (512, 128))


def walk(draw, rows, width, alike):
    """Rows of one variance, each like the one before by the correlation `alike`."""
    found = draw.standard_normal((rows, width))
    for row in range(1, rows):
        found[row] = alike * found[row - 1] + (1 - alike**2) ** 0.5 * found[row]
    return found


OF_ONE_KIND = {
    "drawn": lambda draw, n, d: draw.standard_normal((n, d)),
    "drawn with norms of their own": lambda draw, n, d: walk(draw, n, d, 0) * draw.uniform(0.2, 2, (n, 1)),
    "the first ones larger": lambda draw, n, d: np.r_[4 * walk(draw, 9, d, 0.5), walk(draw, n - 9, d, 0.5)],
    "all but the last few": lambda draw, n, d: np.r_[walk(draw, n - 4, d, 0.9), walk(draw, 4, d, 0)],
    "zero": lambda draw, n, d: np.zeros((n, d)),
}


@pytest.mark.parametrize("kind", OF_ONE_KIND)
def test_no_alarm_in_200_tables_that_are_of_one_kind_throughout(kind):
    draw = np.random.default_rng(0)
    assert not [at for at in range(200) if untrained_from(OF_ONE_KIND[kind](draw, *SHAPES[at % 4])) is not None]


@pytest.mark.parametrize("own", [1, 0])
def test_the_place_to_which_a_table_was_trained_is_found(own):
    """Rows drawn, to the first p of which a smooth part of twice their size is added; or smooth rows of their size."""
    draw, hits = np.random.default_rng(0), 0
    for n, d in 60 * SHAPES[1:]:
        p, table = int(n * draw.uniform(0.1, 0.8)), draw.standard_normal((n, d))
        table[:p] = own * table[:p] + (1 + own) * walk(draw, p, d, 0.98)
        hits += abs((untrained_from(table) or n) - p) <= 2
    assert hits >= 0.95 * 180


@pytest.mark.parametrize(("length", "expected"), [(0, None), (40, 39), (128, None)])
def test_a_model_that_was_trained_on_a_part_of_its_positions(length, expected):
    """The last token of a text predicts nothing, so that its position is not trained."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = GPT2LMHeadModel(GPT2Config(vocab_size=8, n_positions=128, n_embd=32, n_layer=1, n_head=2))
        step = torch.optim.AdamW(model.parameters(), 3e-3)
        for _ in range(60 if length else 0):
            tokens = torch.arange(length) % 7 + torch.randint(2, (8, length))
            model(tokens, labels=tokens).loss.backward()
            step.step()
            step.zero_grad()
    assert untrained(model) == expected
