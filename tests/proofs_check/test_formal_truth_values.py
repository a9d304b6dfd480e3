"""The formulas of the statements about value residuals and sinks against those of `theory`, at drawn points."""

from fractions import Fraction

import numpy as np
import pytest

from proofs_check.resformer import formal as resformer
from tests.proofs_check.test_formal_truth import FORMAL, close, exactly, opened, part
from theory import sink, value_residual

SIZE = 4


@pytest.fixture(params=range(5))
def head(request):
    """Logits of two layers and their values, in eighths."""
    rng = np.random.default_rng(request.param)
    return {name: rng.integers(-16, 17, SIZE) / 8 for name in "stvw"}


def point_of(head, **more):
    return {"n": SIZE, **{name: exactly(values) for name, values in head.items()}, **more}


def close_sides(name, point, true, *path):
    """Both sides of an equality have the value; 1e-10: sums of terms of order 1 that may cancel."""
    for number in (1, 2):
        close(part(name, *path, number), point, float(true), 1e-10)


def test_cross_layer_attention_and_its_average(head):
    logits, others, values, first = (head[name] for name in "stvw")
    columns = values[:, None], first[:, None]
    both = opened(resformer.concatenated(resformer.logits, resformer.values, resformer.others, resformer.first), [])
    true = value_residual.cross_layer_attention(logits[None], others[None], *columns)
    close(both, point_of(head), float(true[0, 0]))
    averaged = value_residual.averaged_attention(logits[None], *columns)
    close_sides("resformer.eq4", point_of(head), averaged[0, 0])


def test_neutreno_at_a_position(head):
    weights = np.exp(head["s"]) / np.exp(head["s"]).sum()
    attention = np.tile(weights, (SIZE, 1))
    true = value_residual.neutreno(attention, head["v"][:, None], head["w"][:, None], 0.5)
    close_sides("resformer.eq8", point_of(head, q=3, l=Fraction(1, 2)), true[2, 0])


def test_fixed_points_along_an_eigenvector():
    point = {"a": Fraction(1, 4), "l": Fraction(3, 4), "b": 1, "u": 2}
    close(part("resformer.beyond.pagerank", 0, 2), point, float(value_residual.spectral_map(0.25, 0.75)))
    fixed = value_residual.neutreno_fixed_point([[0.25, 0.75], [0.75, 0.25]], [[1.0], [1.0]], 0.75)
    along_ones = {**point, "a": 1}
    close(part("resformer.eq8.fixed", 0, 2), along_ones, float(fixed[0, 0]))


def test_what_is_stored_and_the_drained_value():
    cache = part("resformer.eq10.grouped", 2)
    point = {"L": 8, "g": 2, "h": 8, "a": 3, "d": 1}
    close(cache, point, float(value_residual.svformer_cache(8, 8, 2, 3)))
    close(part("resformer.eq10.cache", 0), point, 1 - float(value_residual.svformer_cache(8)))
    rest = value_residual.drained_value([2.0], 0.5, 0.25)
    drained = {"a": Fraction(1, 2), "m": Fraction(1, 4), "w": 2, "v": exactly(rest)[0] - 2}
    close(part("resformer.beyond.drain", 0, 1), drained, 0.0)
    close(part("resformer.beyond.drain", 1, 2), drained, float(rest[0]) - 2)


def test_entropy_and_the_weight_of_a_sink():
    columns = (Fraction(5, 8), Fraction(3, 8))  # of [[1, 0], [1/4, 3/4]]
    entropy = opened(resformer.ENTROPY, FORMAL["resformer.eq11.entropy"].definitions)
    close(entropy, {"n": 2, "a": columns}, float(sink.importance_entropy([[1, 0], [0.25, 0.75]])))
    bound = part("resformer.beyond.sink_range", 0, 2)
    close(bound, {"n": 9, "r": 3}, float(sink.largest_weight(9, 3.0)))


def test_the_effect_of_a_token_and_other_denominators(head):
    logits, values = head["s"], head["v"][:, None]
    weights = np.exp(logits) / np.exp(logits).sum()
    place, output = 2, weights @ values
    rest = (output - weights[place] * values[place]) / (1 - weights[place])
    point = point_of(head, q=place + 1)
    present = sink.present_effect(weights[place], values[place], rest)
    close_sides("waiver.sec3.2.effect", point, present[0], 1)
    removed = sink.removed_effect(weights[place], values[place], output)
    close(part("waiver.sec3.2.effect", 2, 1), point, float(removed[0] * (1 - weights[place])), 1e-10)
    learnt = part("waiver.beyond.sink_logit", 0, 1)
    true = sink.sink_output(logits, values, 0.5)
    close(learnt, point_of(head, b=Fraction(1, 2)), float(true[0]), 1e-10)
    gated = part("waiver.beyond.gate", 1)
    close(gated, point_of(head, g=Fraction(1, 4)), float(sink.gated_output(logits, values, 0.25)[0]), 1e-10)


def test_the_six_ways_of_the_atlas(head):
    logits, values = head["s"], head["v"][:, None]
    point = point_of(head, b=Fraction(1, 2), u=Fraction(-3, 2), c=Fraction(1, 4), g=Fraction(1, 4))
    # The softmax over n + 1 tokens, and the formula.
    close_sides("waiver.atlas.sink.contains.drain", point, sink.sink_token_output(logits, values, 0.5, [-1.5])[0], 0)
    scaled = float(sink.sink_output(logits, values, 0.5)[0])
    lower = float(sink.zero_token_output(logits - 0.5, values)[0])
    for number, true in ((1, scaled), (2, lower)):
        close(part("waiver.atlas.plus_one.equal.sink_logit", number), point, true, 1e-10)
    close_sides("waiver.atlas.drain.contains.sink_logit", point, scaled)
    close_sides("waiver.atlas.gate.equal.drain", point, sink.gated_output(logits, values, 0.25)[0], 1)
    close_sides("waiver.atlas.sink.contains.waiver", point, sink.first_copy_output(logits, values, 0.25)[0])
    gate = float(sink.drained_copy_gate(np.exp(logits[0]) / np.exp(logits).sum(), 0.25))
    close_sides("waiver.atlas.gate.equal.waiver", point, sink.gated_output(logits, values - values[0], gate)[0])


def test_a_second_copy(head):
    copy = part("waiver.sec4.3.1.share", 2)
    weight = float(np.exp(head["s"][1]) / np.exp(head["s"]).sum())
    close(copy, point_of(head, q=2), float(sink.copy_weights(weight).copy))
