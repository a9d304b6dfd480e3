"""A learned sink in the denominator: attained by three logits, exceeded by none."""

import math

import numpy as np
import pytest

from tests.theory.cases import softmax
from theory.alibi.sinks import sink_dropped_mass, sink_scope


def beside(sink, logits):
    """The weights of tokens."""
    return softmax(np.append(logits, sink))[:-1]


@pytest.mark.parametrize("sink", [-6.0, 0.3, 4.0])
@pytest.mark.parametrize("half", [0.5, 2.0])
def test_the_scope_is_where_the_heaviest_weight_falls_to_eps(half, sink):
    eps = 0.02
    scope = sink_scope(2 * half, sink - half, eps)
    for distance in range(1, 4000):
        heaviest = beside(sink, [half] + [-half] * distance)[0]
        assert (heaviest <= eps * (1 + 1e-12)) == (distance >= scope * (1 - 1e-12))
    rng = np.random.default_rng(0)
    far = max(1, math.ceil(scope))
    for _ in range(200):
        assert beside(sink, rng.uniform(-half, half, far + 1)).max() <= eps


@pytest.mark.parametrize(("window", "length"), [(0, 5), (3, 20), (19, 20), (20, 20)])
def test_the_dropped_mass_is_attained_and_never_exceeded(window, length):
    half, sink = 1.5, 0.7
    bound = sink_dropped_mass(window, 2 * half, sink - half, length)
    logits = [half] * (length - window) + [-half] * window
    assert beside(sink, logits)[: length - window].sum() == pytest.approx(bound, rel=1e-12, abs=1e-300)
    rng = np.random.default_rng(1)
    for _ in range(200):
        assert beside(sink, rng.uniform(-half, half, length))[: length - window].sum() <= bound
