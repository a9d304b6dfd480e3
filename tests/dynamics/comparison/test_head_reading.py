"""What single heads read: attention functions that cut or evict, the record, and the shipped one."""

import numpy as np
import pytest
import torch

from dynamics.comparison.by_distance import read_scopes
from dynamics.comparison.head_reading import questions, read_model, read_reading
from dynamics.comparison.presets import preset
from dynamics.model.decoder import InductionModel
from dynamics.razor.eviction import heavy_hitters, known_query, sink_window, sink_window_but
from dynamics.tasks.corpus import Corpus
from dynamics.tasks.needles import Windows, retrieval_windows
from proofs_check.razor.measured.trained_checks import FINDERS
from tests.dynamics.refusal import refused
from tests.scripts.test_compare import tiny


def tokens(seed):
    rng = np.random.default_rng(seed)
    return [torch.from_numpy(rng.standard_normal((2, 3, 20, 4))) for _ in range(3)]


def full(query, key, value, gone=None):
    """Softmax by hand; gone (batch, heads, queries, keys)."""
    scores = 0.5 * query @ key.transpose(2, 3)
    seen = torch.ones(scores.shape[2:], dtype=torch.bool).tril()
    scores = scores.masked_fill(~seen, -torch.inf)
    return (scores if gone is None else scores.masked_fill(gone, -torch.inf)).softmax(-1) @ value


def test_whole_heads_see_all_and_the_others_their_window():
    query, key, value = tokens(0)
    found = sink_window_but([(0, 1), (1, 0)], 2, 5)(0, query, key, value, scale=0.5, slopes=None)
    narrow = sink_window(2, 5)(0, query, key, value, scale=0.5, slopes=None)
    torch.testing.assert_close(found[:, 1], full(query, key, value)[:, 1])
    torch.testing.assert_close(found[:, [0, 2]], narrow[:, [0, 2]])
    assert not torch.allclose(found[:, 1], narrow[:, 1])


def test_a_known_query_keeps_what_it_attends_to_and_nothing_else_of_the_prompt():
    query, key, value = tokens(1)
    ends, observed, kept = torch.tensor([11, 14]), 3, 4
    found = known_query(ends, observed, kept)(0, query, key, value, scale=0.5, slopes=None)
    scores = 0.5 * query @ key.transpose(2, 3)
    weights = scores.masked_fill(~torch.ones(20, 20, dtype=torch.bool).tril(), -torch.inf).softmax(-1)
    gone = torch.zeros(2, 3, 20, 20, dtype=torch.bool)
    for row, end in enumerate(ends.tolist()):
        for head in range(3):
            received = weights[row, head, end - observed + 1 : end + 1, : end - observed + 1].sum(0)
            dropped = received.argsort(descending=True)[kept:]
            gone[row, head, end:, dropped] = True
    torch.testing.assert_close(found, full(query, key, value, gone))
    assert gone.sum() > 0


@pytest.mark.parametrize(("observed", "kept"), [(0, 3), (2, -1)])
def test_known_query_refuses_what_is_no_number_of_tokens(observed, kept):
    refused("need observed >= 1", known_query, torch.tensor([3]), observed, kept)


def test_heavy_hitters_are_watched_as_they_evict():
    query, key, value = tokens(2)
    seen = {}
    watched = heavy_hitters(3, 4, lambda layer, t, evicted: seen.update({(layer, t): evicted.clone()}))
    found = watched(5, query, key, value, scale=0.5, slopes=None)
    assert sorted(seen) == [(5, t) for t in range(7, 20)]
    for (_, t), evicted in seen.items():
        assert (evicted.sum(-1) == t + 1 - 7).all()
        torch.testing.assert_close(
            found[:, :, t], full(query, key, value, evicted[:, :, None].expand(-1, -1, 20, -1))[:, :, t]
        )


def test_questions_name_the_planted_values():
    text = np.full(3000, 40, dtype=np.uint8)
    windows = retrieval_windows(np.random.default_rng(0), text, 6, 64, 4)
    places = questions(windows)
    assert len(places.row) == 24
    for row, asked, value in zip(*places, strict=True):
        assert windows.tokens[row, value] == windows.tokens[row, asked + 1]
        assert windows.tokens[row, value - 1] == windows.tokens[row, asked]
        assert value < asked


def test_questions_refuse_windows_whose_answer_is_another():
    windows = retrieval_windows(np.random.default_rng(0), np.full(3000, 40, dtype=np.uint8), 1, 64, 4)
    spoilt = windows.tokens.copy()
    spoilt[0, questions(windows).value[0]] += 1
    refused("does not ask for the value", questions, Windows(spoilt, windows.kind))


def test_a_reading_of_a_small_model_is_consistent():
    text = (np.arange(3000) * 31 % 90 + 32).astype(np.uint8)
    corpus = Corpus(text, text[:900], "c" * 64, 2)
    settings = tiny(corpus.sha256, 1, False)
    model = InductionModel(settings.config, torch.Generator().manual_seed(0))
    found = read_model(model, settings, 0, corpus)
    assert [(head.layer, head.head) for head in found.heads] == [(a, b) for a in range(2) for b in range(4)]
    assert len(found.protected.heads) + len(found.others.heads) == 8
    assert found.ranked[0].hits == found.scoped[0].hits and found.ranked[-1].heads != found.scoped[-1].heads
    assert found.ranked[-1].bits == found.full.bits == found.scoped[-1].bits
    for head in found.heads:
        assert 0 <= head.local <= 1 and 0 <= head.needle <= 1 and head.first <= 4
        best = max(h.whole for h in found.heads)
        assert head.whole <= best == found.finder.hits
    assert 0 < found.evicted.kept < 0.5  # a fifth a head, and heads share tokens
    assert found.evicted.hits_by_finder <= found.evicted.held_by_finder
    printed = [next(h.printed for h in found.heads if (h.layer, h.head) == head) for head in found.scoped[-1].heads]
    assert printed == sorted(printed, reverse=True)


def test_the_shipped_reading_is_of_the_comparison_and_fits_the_shipped_model():
    reading = read_reading()
    settings = reading.settings
    assert settings == preset(settings.training.corpus, 3, False) and [m.seed for m in reading.models] == [0, 1, 2]
    assert reading.sinks + reading.window == settings.context // 5 and reading.questions == 256
    for model in reading.models:  # trained afresh, on another processor: the same heads all the same
        layer, head = model.finder.heads[0]
        before = sorted((h for h in read_scopes().heads if h.seed == model.seed), key=lambda h: -h.printed)
        assert FINDERS[model.seed] == (layer, head)
        rank = [(h.layer, h.head) for h in before].index((layer, head))
        assert model.scoped[-1].heads[rank] == (layer, head)
