"""The n-gram model against counting in dictionaries, token by token."""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from dynamics.arena.ngram import ngram_loss
from dynamics.arena.record import PackedTraining
from dynamics.arena.training import Texts, heldout_rows
from dynamics.tasks.packed import VOCAB, documents, packed_rows
from dynamics.training.evaluation import training_rng


def counted(training, source, order):
    """The same loss, with the formula of Witten and Bell read off for one token at a time."""
    seen, losses = defaultdict(Counter), []
    for step in range(training.steps):
        drawn = packed_rows(training_rng(training.seed, step), source.training, training.rows, training.length,
                            training.packing)  # fmt: skip
        for before, token in targets(drawn):
            for length in range(min(order, len(before) + 1)):
                seen[before[len(before) - length :]][token] += 1

    def chance(before, token):
        rest = chance(before[1:], token) if before else 1 / VOCAB
        found = seen[before]
        return (found[token] + len(found) * rest) / (found.total() + len(found)) if found else rest

    for before, token in targets(heldout_rows(training, source)):
        losses.append(-math.log(chance(before[max(0, len(before) - order + 1) :], token)))
    return sum(losses) / len(losses)


def targets(rows):
    """Each scored token with all that stands before it in its document and row."""
    for tokens, segments in zip(rows.tokens.tolist(), rows.segments.tolist(), strict=True):
        for at in range(1, len(tokens)):
            if segments[at] == segments[at - 1]:
                yield tuple(tokens[segments.index(segments[at]) : at]), tokens[at]


@pytest.mark.parametrize("order", [1, 2, 4])
def test_it_counts_what_its_formula_says(order):
    rng = np.random.default_rng(order)
    paragraphs = (bytes(rng.integers(97, 101, rng.integers(16, 40)).astype(np.uint8)) for _ in range(60))
    text = np.frombuffer(b"\n\n".join(paragraphs), dtype=np.uint8)
    source = Texts(documents(text[:1200]), documents(text[1200:]))
    training = PackedTraining(corpus="0" * 64, steps=4, rows=2, length=48, heldout_rows=3)
    assert ngram_loss(training, source, order) == pytest.approx(counted(training, source, order), rel=1e-12)
