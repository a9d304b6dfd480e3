"""The two-word models against the ball-certified weights: beyond the printed scope, and never beyond the sharp one."""

from fractions import Fraction

import pytest
import torch

from dynamics.model.made.two_word import CASES, two_word_model
from proofs_check.oracles.alibi import BallHead, ball, ball_weights, printed_scope
from theory import alibi

# of each case: the spectral norm of its product, in the order that Eq. 2 prints or the other; its range of logits
RANGES = {"two tokens": (1, 4), "product as printed": (0, 2), "RMSNorm, d = 2": (5, 20), "LayerNorm, d = 3": (40, 160),
          "equal gains, a bias": (20, 120), "eps = 1e-300, product as printed": (0, 2000)}  # fmt: skip


def exact(value):
    """The fractions that floats, or tuples of them, are."""
    return tuple(map(exact, value)) if isinstance(value, tuple) else Fraction(value)


def ball_head(case):
    return BallHead(case.norm, *map(exact, (case.gamma, case.bias, case.w_q, case.w_k, case.slope)))


@pytest.mark.parametrize("name", CASES)
def test_measured_attention_is_the_certified_weight_above_eps_beyond_the_printed_scope(name):
    model = two_word_model(name)
    (other, target), distance, eps = map(exact, model.case[-3:])
    head, (norm, spread) = ball_head(model.case), RANGES[name]
    distance = int(distance)
    measured = model.attention(model.sentence())[0, -1]
    certified = ball_weights(head, [target, *[other] * distance])
    for found, wanted in zip(measured.tolist(), certified, strict=True):
        assert abs(ball(found) - wanted) < 1e-12
    assert measured.sum() == pytest.approx(1) and len(measured) == distance + 1
    assert float(measured[0]) > eps and float(printed_scope(head, norm, eps).upper()) < distance
    assert distance < alibi.scope(float(head.slope), spread, float(eps))


def test_the_models_run_on_two_words_and_their_output_is_the_weighted_mean_of_the_values():
    model = two_word_model("RMSNorm, d = 2")
    with torch.no_grad():
        model.head.v_proj.weight.copy_(torch.eye(2))
        model.head.o_proj.weight.copy_(torch.eye(2))
        tokens = model.sentence()
        states = model.norm(model.embedding(tokens))
        assert set(tokens.unique().tolist()) == {0, 1} and model.embedding.num_embeddings == 2
        wanted = model.attention(tokens)[0] @ states[0]
        torch.testing.assert_close(model(tokens)[0], wanted)
    assert float(wanted[-1, 0]) < 0  # one B in 35 tokens turns the sign of the output
