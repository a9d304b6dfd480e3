"""A trained model beside the theorem's: predictions by brute force, stages and read-outs by plain loops."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from dynamics.heads import theorem
from dynamics.heads.verdicts import silenced
from dynamics.model.config import ModelConfig
from dynamics.tasks.induction import length_law_exact
from dynamics.training.evaluation import as_tensors, heldout_batch
from tests.dynamics.heads.test_named import constructed, model_of
from tests.dynamics.refusal import refused
from theory import landscape

CONFIG = ModelConfig(vocab=40, width=16, n_heads=4, n_kv_heads=2, mlp_width=8)
BATCH = heldout_batch(0, 30, 40, 10)


def brute_force(heads, n_tokens, place):
    """-log of the right answer's chance: tokens are unit vectors, each head attends and mixes as Eq. 5 says."""
    tokens = [*range(n_tokens), place - 1]
    rows = np.eye(n_tokens)[tokens]
    before = np.vstack([np.zeros(n_tokens), rows[:-1]])
    logits = np.zeros(n_tokens)
    for alpha1, alpha2, beta1, beta2 in heads:
        weights = np.exp((alpha1 * rows + alpha2 * before) @ rows[-1])
        logits += weights / weights.sum() @ (beta1 * rows + beta2 * before)
    return -np.log(np.exp(logits)[place] / np.exp(logits).sum())


HEAD = st.tuples(*[st.floats(-4, 4)] * 4)


@given(st.lists(HEAD, min_size=1, max_size=3), st.integers(2, 9))
def test_predicted_loss_of_several_heads_is_brute_force(heads, n_tokens):
    expected = np.mean([brute_force(heads, n_tokens, place) for place in range(1, n_tokens)])
    assert theorem.predicted_at(heads, n_tokens) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_prediction_is_the_mean_over_the_task_s_lengths_and_positions():
    head, law = (0.3, 4.0, 3.0, -0.5), length_law_exact(20)
    expected = sum(
        float(weight / (size - 1)) * landscape.loss(*head, size, place)
        for size, weight in enumerate(law)
        for place in range(1, size)
        if weight
    )
    assert sum(law) == Fraction(1)
    assert theorem.predicted([head], 20) == pytest.approx(expected, rel=1e-8)


def test_a_loss_far_below_the_rounding_of_logits_keeps_its_digits():
    found, exact = theorem.predicted_at([(0.0, 40.0, 60.0, 0.0)], 6), landscape.loss(0.0, 40.0, 60.0, 0.0, 6, "mean")
    assert found == pytest.approx(exact, rel=1e-9) and 0 < exact < 1e-24


def test_stages_end_at_the_theorem_where_tokens_are_unit_vectors():
    model, batch = constructed((0.2, 1.0), (1.0, -0.3), scale=0.5), heldout_batch(1, 60, 32, 12)
    theta = theorem.theta(model, batch)
    expected = [
        landscape.loss(*theta[0], size - 1, place)
        for size, place in zip(batch.lengths.tolist(), batch.position.tolist(), strict=True)
    ]
    assert theorem.stages(model, batch)["heads"] == pytest.approx(np.mean(expected), rel=1e-6)


def test_stages_are_plain_loops_over_rows():
    model = model_of(CONFIG)
    block, weight, expected = model.blocks[0], model.norm.weight, dict.fromkeys(theorem.STAGES, 0.0)
    model.norm.weight.data.uniform_(0.5, 1.5, generator=torch.Generator().manual_seed(0))
    for row, length in enumerate(BATCH.lengths.tolist()):
        tokens = torch.from_numpy(BATCH.tokens[row : row + 1, :length])
        own = model.embed(tokens)[:, -1]
        added = block.attention(block.attention_norm(model.embed(tokens)))[:, -1]
        states = (
            model.features(tokens)[:, -1], model.features(tokens)[:, -1], model.norm(own + added),
            weight * (own + added), weight * added,
        )  # fmt: skip
        for name, state in zip(theorem.STAGES, states, strict=True):
            known = range(40) if name == "model" else tokens[0, :-1].tolist()
            logits = (state @ model.embedding.T)[0, list(known)]
            answer = torch.tensor(list(known).index(int(BATCH.target[row])))
            expected[name] += F.cross_entropy(logits, answer).item() / len(BATCH.lengths)
    assert theorem.stages(model, BATCH) == pytest.approx(expected, rel=1e-9)
    assert len({round(value, 6) for value in expected.values()}) == 5


def test_a_read_out_is_the_change_of_real_logits_behind_mlp_and_norm():
    model, head = model_of(CONFIG), 2
    block, attention = model.blocks[0], model.blocks[0].attention
    tokens, query, _ = as_tensors(BATCH, "cpu")
    put, before = np.random.default_rng(0).integers(11, 40, (2, len(tokens)))
    with silenced(model, [(0, head)]):
        base = model(tokens, query)
        others = attention(block.attention_norm(model.embed(tokens)), query_index=query)[:, 0]
    mix, columns = attention.beta_mix()[head // 2], slice(4 * head, 4 * head + 4)
    differences = []
    for row in range(len(tokens)):
        values = [attention.v_proj(block.attention_norm(model.embedding[one]))[4:8] for one in (put[row], before[row])]
        value = mix[0] * values[0] + mix[1] * values[1]
        hidden = model.embedding[tokens[row, query[row]]] + others[row] + attention.o_proj.weight[:, columns] @ value
        logits = model.norm(hidden + block.feed_forward(hidden[None, None])[0, 0]) @ model.embedding.T - base[row]
        rest = [one for one in range(11, 40) if one != put[row]]
        differences.append((logits[put[row]] - logits[rest].mean()).item())
    found = theorem.read_out(model, BATCH, head)
    assert found == pytest.approx((np.mean(differences), np.std(differences, ddof=1)), rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({"mlp_width": 0}, []),
        ({}, ["MLP"]),
        ({"shift": "none", "n_layers": 2}, ["2 layers", "shift none", "MLP"]),
        ({"place": "common"}, ["place common", "MLP"]),
        ({"weights": "sink"}, ["another attention than causal softmax over values of its own", "MLP"]),
    ],
)
def test_what_the_theorem_does_not_describe_is_named(changes, reasons):
    config = CONFIG.model_copy(update=changes)
    assert theorem.outside(config) == reasons
    assert theorem.has_gains(config) == (reasons in ([], ["MLP"]))
    if not theorem.has_gains(config):
        refused("needs ", theorem.check, config)


def test_gains_over_some_tokens_are_those_over_all_of_fewer():
    model = model_of(CONFIG.model_copy(update={"vocab": 400}))
    few, every = (np.array(theorem.gains(model, BATCH, most)) for most in (200, None))
    assert not np.array_equal(few, every)
    np.testing.assert_allclose(few, every, atol=0.25 * np.abs(every).max())
