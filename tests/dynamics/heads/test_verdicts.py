"""Heads are called what attention and ablation say, in models made by hand from one that was trained."""

import copy

import numpy as np
import pytest
import torch

from dynamics.heads.verdicts import judge, score
from dynamics.tasks.induction import Induction
from dynamics.training.batches import heldout_rows
from dynamics.training.checkpoint import shipped
from dynamics.training.evaluation import evaluate, heldout_batch
from dynamics.training.settings import SMALL_TRAINING, TRAININGS
from tests.dynamics.heads.test_named import constructed

ONE, IDLE, AGAINST = "the induction head", "attends, not needed even jointly", "attends, works against the answer"
LOOKS, NONE = "looks like one without its gains and is not", "no induction head"
OTHER = "lowers the loss, attends elsewhere"
ROWS = heldout_rows(SMALL_TRAINING, 32, 256)


def columns(head):
    return slice(8 * head, 8 * head + 8)


def gauge(attention):
    """Other coefficients and matrices of the same model."""
    for head, (key, value) in enumerate(((-3.0, 0.5), (2.0, -1.0), (-1.0, -0.1), (10.0, 7.0))):
        attention.alpha[head] *= key
        attention.k_proj.weight[columns(head)] /= key
        attention.beta[head] *= value
        attention.v_proj.weight[columns(head)] /= value


def sign(attention):
    """The sign turned behind the head."""
    attention.o_proj.weight[:, columns(0)] *= -1


def twice(attention, share=0.5, values=1.0):
    """Head 0 again in the place of head 1, the output shared, or the second one without values."""
    for projection in (attention.q_proj, attention.k_proj, attention.v_proj):
        projection.weight[columns(1)] = projection.weight[columns(0)]
    attention.alpha[1], attention.beta[1] = attention.alpha[0], attention.beta[0]
    attention.o_proj.weight[:, columns(0)] *= share
    attention.o_proj.weight[:, columns(1)] = attention.o_proj.weight[:, columns(0)]
    attention.v_proj.weight[columns(1)] *= values


def idle_twin(attention):
    twice(attention, 1.0, 0.0)


def no_values(attention):
    attention.v_proj.weight[columns(0)] = 0


def no_query(attention):
    """Head 1 has the theorem's own coefficients, and attends evenly."""
    attention.q_proj.weight[columns(1)] = 0
    attention.alpha[1], attention.beta[1] = torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.0])


@pytest.mark.parametrize(
    ("change", "verdicts"),
    [
        (lambda attention: None, [ONE, NONE, NONE, NONE]),
        (gauge, [ONE, NONE, NONE, NONE]),
        (sign, [AGAINST, None, None, None]),
        (twice, ["one of 2 that share the work"] * 2 + [NONE, NONE]),
        (idle_twin, [ONE, IDLE, NONE, NONE]),
        (no_values, [IDLE, OTHER, OTHER, OTHER]),
        (no_query, [ONE, LOOKS, NONE, NONE]),
    ],
)
def test_heads_made_by_hand_are_called_what_they_do(change, verdicts):
    model = copy.deepcopy(shipped("small-kv-shift").model)
    with torch.no_grad():
        change(model.blocks[0].attention)
    found = judge(model, ROWS, SMALL_TRAINING.task)
    assert found.heads[0].report.attends  # so that attention alone says the same of all of these
    for head, verdict in zip(found.heads, verdicts, strict=True):
        assert verdict in (None, head.verdict)


def test_a_head_that_only_an_mlp_makes_right_is_wrong_without_it():
    model = copy.deepcopy(shipped("small-kv-shift").model)
    whole = judge(model, ROWS, SMALL_TRAINING.task).heads[0]
    model.blocks[0].mlp.down.weight.data.zero_()
    bare = judge(model, ROWS, SMALL_TRAINING.task).heads[0]
    assert (whole.verdict, bare.verdict) == (ONE, AGAINST)
    assert whole.loss == bare.loss > 29 and whole.theta[2] == bare.theta[2] < -28
    assert whole.read_out.mean > 15 and bare.read_out.mean < -10


def test_a_model_that_only_guesses_has_no_induction_head_though_one_attends_and_lowers_its_loss():
    model, rows = constructed((0.0, 1.0), (1.0, 0.0), scale=2.0).float(), heldout_batch(1, 256, 32, 12)
    right = judge(model, rows, Induction(pool=12))
    model.embedding.data[3] = 2.0  # a token that no row has wins
    wrong = judge(model, rows, Induction(pool=12))
    assert [found.heads[0].verdict for found in (right, wrong)] == [ONE, "attends, in a model no better than a guess"]
    assert (right.answers, right.heads[0].needed) == (True, True) != (wrong.answers, wrong.heads[0].needed)
    assert wrong.score.loss.mean() + 1 < wrong.without_all.loss.mean()


def test_attention_is_told_beside_an_even_one():
    rows = heldout_batch(1, 60, 32, 12)
    found = judge(constructed((1.0, 0.0), (1.0, 0.0)), rows, Induction(pool=12))
    assert (found.heads[0].repeated, found.heads[0].last) == pytest.approx((0.5, 0.5))
    assert found.even == pytest.approx(np.mean([1 / length for length in rows.lengths]))


def test_heads_of_the_shipped_models_share_the_work_or_have_none():
    model = shipped("kv-shift").model
    found = judge(model, heldout_rows(TRAININGS["kv-shift"], 8000, 256), TRAININGS["kv-shift"].task)
    assert [head.verdict for head in found.heads] == ["one of 4 that share the work"] * 4
    assert min(head.without.right.mean() for head in found.heads) > 0.98 and not found.without_all.right.any()
    plain = judge(shipped("small-vanilla-1").model, ROWS, SMALL_TRAINING.task)
    assert not any(head.report.attends for head in plain.heads) and plain.stages is plain.together is None


def test_a_score_without_heads_is_that_of_a_model_whose_outputs_are_zero():
    model = copy.deepcopy(shipped("small-vanilla-2").model)
    weights = [block.attention.o_proj.weight for block in model.blocks]
    before = [(weight.data_ptr(), weight.detach().clone()) for weight in weights]
    found = score(model, ROWS, [(0, 1), (1, 3), (1, 0)], chunk=100)
    for weight, (address, values) in zip(weights, before, strict=True):
        assert weight.data_ptr() == address and torch.equal(weight, values)
    with torch.no_grad():
        weights[0][:, columns(1)] = 0
        weights[1][:, columns(3)] = 0
        weights[1][:, columns(0)] = 0
    expected = evaluate(model, ROWS)
    assert (found.right.sum(), np.mean(found.loss)) == (expected.correct, pytest.approx(expected.loss, rel=1e-5))
