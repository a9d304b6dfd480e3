"""The logit range, the self gap and their enclosures on 200 heads against an optimiser that shares no code."""

import numpy as np
import pytest

from dynamics.scope.adversary import largest_gaps, largest_ranges
from dynamics.scope.adversary_context import heads
from tests.dynamics.scope.adversary_cases import stacked
from tests.theory.alibi.drawn_heads import random_head
from theory import alibi

SIZES = [(2, 1), (3, 2), (4, 4), (8, 3), (16, 4), (24, 12), (32, 8), (48, 32), (64, 8), (64, 64)]


def stacks(sizes, copies, biased):
    """(keyword arguments of each head, the heads as one stack): copies for each size and norm, by seed."""
    for d_model, d_head in sizes:
        for norm in ("rms", "layer"):
            rng = np.random.default_rng([d_model, d_head, norm == "rms", biased])
            found = [random_head(rng, d_model, d_head, norm, biased) for _ in range(copies)]
            yield found, stacked(found, norm, biased)


def compared(sizes, copies, biased, starts, steps):
    """Heads compared, largest relative error of the range, and least and largest excess of the self gap."""
    seen, error, excess = 0, 0.0, []
    for found, stack in stacks(sizes, copies, biased):
        wide = np.array([alibi.logit_range(**head) for head in found])
        gap = np.array([alibi.self_gap(**head) for head in found])
        error = max(error, float(np.abs(largest_ranges(stack, starts, steps).numpy() / wide - 1).max()))
        reached = largest_gaps(stack, starts, steps).numpy()
        excess += ((gap - reached) / np.maximum(reached, 1e-6 * wide)).tolist()
        seen += len(found)
    return seen, error, min(excess), max(excess)


LONG = [pytest.mark.deep, pytest.mark.timeout(1800)]


@pytest.mark.parametrize(
    ("sizes", "copies", "starts", "steps"),
    [(SIZES[1:4:2], 4, 12, 150), pytest.param(SIZES, 10, 24, 600, marks=LONG)],
    ids=["16 heads", "200 heads"],
)
@pytest.mark.parametrize(("biased", "most"), [(False, 1e-8), (True, 0.01)])
def test_range_and_gap_agree_with_the_optimiser(sizes, copies, starts, steps, biased, most):
    """With biases the gap is at most one per cent above."""
    seen, error, below, above = compared(sizes, copies, biased, starts, steps)
    print(f"{seen} heads: range within {error:.1e}, self gap {below:.1e} to {above:.1e} above")
    assert seen == 2 * len(sizes) * copies and error < 1e-8 and -1e-8 < below <= above < most


def test_a_bias_in_the_plane_can_leave_the_self_gap_a_quarter_too_high():
    """A rare head of d = 2 (12 in 3,000 exceed 1 %): valid, but the one per cent of larger widths is no theorem."""
    head = {
        "w_q": [[0.6097828940604286, -1.741079447245895], [0.8210404013893394, 2.016977331053531]],
        "w_k": [[0.6163408129872836, -1.6473374077442302], [0.5505798681534345, -0.19128849206180146]],
        "gamma": [1.0420116025561632, 0.9498388097676111],
        "norm_bias": [1.6303239290890006, 0.25966044042829806],
    }
    reached = float(largest_gaps(heads(**head), starts=16, steps=150))
    assert 1.2 < alibi.self_gap(**head) / reached < 1.3
    low, high = alibi.certified_self_gap(**head)
    assert low <= reached * (1 + 1e-9) and reached < high
