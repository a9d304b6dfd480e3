"""Head scores: whole attention matrices as the oracle, prompts, memory, and refused input."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.heads import rows as head_scores_rows
from dynamics.heads.rows import watched
from dynamics.heads.scores import HeadScores, head_scores, repeated_prompt
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.model.softmax import probabilities
from tests.dynamics.refusal import refused
from tests.dynamics.sinks.test_own import Alive

POSITIONS = st.sampled_from(["rope", "alibi", "none"])
SHAPES = st.sampled_from([(2, 1), (2, 2), (4, 1), (4, 2), (6, 3)])


def matrices(model, tokens):
    """Attention of every layer, (layers, heads, length, length), by the model's own modules."""
    hidden, found = model.embed(torch.from_numpy(tokens)[None]), []
    with torch.no_grad():
        for block in model.blocks:
            found.append(block.attention.weights(block.attention_norm(hidden))[0])
            hidden = block(hidden)
    return torch.stack(found).numpy()


def brute_force(weights, tokens, k):
    """The four scores by looking at the tokens themselves: (layers, heads, length, length) -> HeadScores."""
    sums, queries = np.zeros((4, *weights.shape[:2])), range(k, len(tokens))
    for t in queries:
        for s in range(t):
            if tokens[s] == tokens[t]:
                sums[0] += weights[..., t, s]
                sums[1] += weights[..., t, s + 1]
        sums[2] += weights[..., t, t - 1]
        sums[3] += weights[..., t, 0]
    return HeadScores(*(sums / len(queries)))


def random_model(seed, heads=(4, 2), position="rope", n_layers=2, shift="kv", vocab=16):
    config = ModelConfig(
        vocab=vocab, width=24, n_heads=heads[0], n_kv_heads=heads[1], n_layers=n_layers, position=position, shift=shift
    )
    model = InductionModel(config, torch.Generator().manual_seed(seed)).double()
    with torch.no_grad():
        for block in model.blocks:  # attention far from uniform
            block.attention.q_proj.weight.mul_(6.0)
    return model


@settings(max_examples=30)
@given(
    st.integers(0, 10**6),
    SHAPES,
    POSITIONS,
    st.sampled_from(["none", "kv", "qkv"]),
    st.integers(3, 12),
    st.integers(2, 4),
    st.sampled_from([1, 40, 1 << 20]),
)
def test_scores_are_those_of_the_whole_matrices(seed, heads, position, shift, k, repeats, block):
    model = random_model(seed, heads, position, shift=shift)
    tokens = repeated_prompt(16, k, repeats, seed)
    expected = brute_force(matrices(model, tokens), tokens, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(head_scores_rows, "BLOCK", block)
        found = head_scores(model, k=k, repeats=repeats, seed=seed)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert (found.echo + found.induction + found.previous <= 1 + 1e-12).all()


def test_scores_are_means_over_prompts():
    model = random_model(0)
    several = head_scores(model, k=9, seed=4, prompts=3)
    each = [head_scores(model, k=9, seed=seed) for seed in (4, 5, 6)]
    np.testing.assert_allclose(several, np.mean(each, axis=0), rtol=0, atol=1e-14)
    assert np.abs(np.array(each[0]) - np.array(each[1])).max() > 1e-3


def test_logits_of_half_precision_are_formed_in_single():
    draw, shown = torch.Generator().manual_seed(0), []
    query, key = (4 * torch.randn(2, 2, 30, 8, generator=draw).bfloat16() for _ in "qk")
    out = watched(lambda *block: shown.append(block[3]), 1 << 20)(0, query, key, key, scale=0.5, slopes=None)
    whole = probabilities(query.float(), key.float(), None, 0.5)
    assert out.dtype == torch.bfloat16
    torch.testing.assert_close(torch.cat(shown), whole.flatten(0, 1), rtol=0, atol=1e-6)
    torch.testing.assert_close(out.float(), whole @ key.float(), rtol=1e-2, atol=1e-2)


def test_no_tensor_is_larger_than_a_block(monkeypatch):
    config = ModelConfig(vocab=512, width=16, n_heads=4, n_kv_heads=1, position="alibi")
    model, length = InductionModel(config, torch.Generator().manual_seed(0)), 1200
    monkeypatch.setattr(head_scores_rows, "BLOCK", 96_000)
    with Alive() as blocks:
        head_scores(model, k=300)
    assert 4 * 64_000 <= blocks.largest <= 4 * 96_000  # bytes of single precision
    with Alive() as whole:
        matrices(model, repeated_prompt(512, 300, 4, 0))
    assert whole.largest >= 4 * 4 * length * length > 50 * blocks.largest


@given(st.integers(3, 40), st.integers(2, 5), st.integers(0, 10**6), st.sets(st.integers(0, 59), max_size=20))
def test_prompt_is_distinct_tokens_repeated(k, repeats, seed, excluded):
    prompt = repeated_prompt(60, k, repeats, seed, excluded)
    rows = prompt.reshape(repeats, k)
    assert (rows == rows[0]).all()
    assert len(set(rows[0].tolist())) == k
    assert set(rows[0].tolist()) <= set(range(60)) - excluded
    assert np.array_equal(prompt, repeated_prompt(60, k, repeats, seed, sorted(excluded)))


def test_prompts_use_the_whole_vocabulary():
    assert set(repeated_prompt(60, 60, 2, 0).tolist()) == set(range(60))


def test_a_chunk_of_a_sequence_is_refused():
    query, key = torch.zeros(1, 2, 1, 4), torch.zeros(1, 2, 3, 4)
    words = "whole sequence in one call, got 1 of 3 tokens"
    refused(words, watched(lambda *_: None, 10), 0, query, key, key, scale=1.0, slopes=None)
