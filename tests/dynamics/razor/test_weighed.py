"""What lies in reach passes and what does not is seen: vectors at known distances from ellipsoids, balls and discs."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.razor.weighed import inside
from theory.cache.reach import Reach, Values

HEADS, WIDTH, COUNT = 2, 6, 20
CPU = torch.device("cpu")


def ellipsoids(rng, slack):
    """Half axes over six decades; points of the rim and the normals there: F^T u, and F^-1 u for u on the sphere."""
    turns = np.linalg.qr(rng.standard_normal((2, HEADS, WIDTH, WIDTH)))[0]
    half = 10 ** rng.uniform(-6, 0, (HEADS, WIDTH, 1))
    u, (left, right) = rng.standard_normal((HEADS, COUNT, WIDTH)), turns
    u /= np.linalg.norm(u, axis=-1, keepdims=True)
    of = Reach(rng.standard_normal((HEADS, WIDTH)), slack, left @ (half * right))
    return of, u @ of.factor, u @ left / half[..., 0][:, None] @ right


def discs(rng, slack):
    """The rim of one pair, a place well inside of the others; the norm allows all of it."""
    caps, angle = rng.uniform(0.5, 2, (HEADS, 3)), rng.uniform(0, 7, (HEADS, COUNT))
    normal = np.zeros((HEADS, COUNT, WIDTH))
    normal[..., 0], normal[..., 3] = np.cos(angle), np.sin(angle)
    rim = caps[:, :1, None] * normal + np.array([0, 0.3, 0.3, 0, 0.3, 0])
    return Reach(np.zeros((HEADS, WIDTH)), slack, None, caps, np.arange(WIDTH) % 3, np.full(HEADS, 9.0)), rim, normal


@given(st.sampled_from([ellipsoids, discs]), st.integers(0, 999), st.floats(-9, -2), st.booleans())
def test_vectors_within_a_quarter_of_the_slack_pass_and_none_beyond_it(shape, seed, digits, far):
    rng = np.random.default_rng(seed)
    slack = np.full(HEADS, 10.0**digits)
    of, rim, normal = shape(rng, slack)
    beyond = 1.001 if far else 0.25
    x = of.centre[:, None] + rim + beyond * 10.0**digits * normal / np.linalg.norm(normal, axis=-1, keepdims=True)
    assert (inside(of, CPU)(torch.from_numpy(x[None])) != far).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1.1])
def test_a_value_must_lie_in_its_ball_and_be_a_number(bad):
    of = Values(np.ones((1, 2)), np.ones(1))
    fits = inside(of, CPU)(torch.tensor([[[[1.0, 1.9], [1.0, 1.0 + bad]]]], dtype=torch.bfloat16))
    assert fits.tolist() == [[[True, False]]]
