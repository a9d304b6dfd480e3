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


def directions(rng):
    x = rng.standard_normal((HEADS, COUNT, WIDTH))
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def ellipsoids(rng, slack):
    """Half axes over six decades; points of the rim and the normals there: F^T u, and F^-1 u for u on the sphere."""
    turns = np.linalg.qr(rng.standard_normal((2, HEADS, WIDTH, WIDTH)))[0]
    half = 10 ** rng.uniform(-6, 0, (HEADS, WIDTH, 1))
    u, (left, right) = directions(rng), turns
    of = Reach(rng.standard_normal((HEADS, WIDTH)), slack, left @ (half * right))
    return of, u @ of.factor, u @ left / half[..., 0][:, None] @ right


def discs(rng, slack):
    """One pair on its rim, the others half as far out; the norm allows all of them."""
    pairs, caps = np.arange(WIDTH) % 3, rng.uniform(0.5, 2, (HEADS, 3))
    x = directions(rng).reshape(HEADS, COUNT, 2, 3)
    x = x / np.linalg.norm(x, axis=2, keepdims=True) * caps[:, None, None]
    normal = x * (np.arange(3) == rng.integers(3, size=(HEADS, COUNT, 1, 1)))
    of = Reach(np.zeros((HEADS, WIDTH)), slack, None, caps, pairs, 2 * np.linalg.norm(caps, axis=1))
    return of, ((x + normal) / 2).reshape(HEADS, COUNT, WIDTH), normal.reshape(HEADS, COUNT, WIDTH)


def balls(rng, slack):
    """Discs that only their norm bounds."""
    of, norm, u = discs(rng, slack)[0], rng.uniform(0.1, 0.4, HEADS), directions(rng)
    return of._replace(norm=norm), u * norm[:, None, None], u


@given(st.sampled_from([ellipsoids, discs, balls]), st.integers(0, 999), st.floats(-9, -2), st.booleans())
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
