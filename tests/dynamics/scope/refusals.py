"""What scopes, promises and adversaries refuse: for each call the words of the error, and the arguments."""

import math
from functools import partial

import numpy as np

from dynamics.scope.adversary import heaviest_masses, heaviest_weights
from dynamics.scope.adversary_context import heads
from dynamics.scope.heads import settings
from dynamics.scope.promise import windows
from tests.dynamics.scope.cases import CASES

STACK = heads(np.eye(2), np.eye(2), np.ones(2), slope=0.5)
SHORT = {"must be at least 1 and n_tokens above them": [([0],), ([3], [3])]}


def head(**changed):
    heads(**{"w_q": np.eye(2), "w_k": np.eye(2), "gamma": np.ones(2), **changed})


def asked(eps=0.1, mass=0.1, **changed):
    settings(CASES["alibi"], eps, mass, **changed)


TABLE = {
    head: {
        "unknown norm 'batch'": {"norm": "batch"},
        "w_q and w_k must both be": {"w_k": np.eye(3)},
        "w_q must be finite numbers only": {"w_q": [[math.nan, 0], [0, 1]]},
        "w_q must be a number or an array of numbers": {"w_q": [[1, 2], [3]]},
        "gamma has shape": {"gamma": [1.0, 2.0, 3.0]},
        "query_bias has shape": {"query_bias": [[[1.0]]]},
        "slope must be at least 0": {"slope": -0.1},
        "d_model is 1": {"w_q": [[1.0]], "w_k": [[1.0]], "gamma": [1.0], "norm": "layer"},
    },
    partial(heaviest_weights, STACK): SHORT,
    partial(heaviest_masses, STACK): SHORT,
    heaviest_masses: {"without a slope": (heads(np.eye(2), np.eye(2), np.ones(2)), [3])},
    partial(windows, CASES["alibi"]): {
        "error must lie strictly between 0 and 1, got 1.0": (1.0, 9),
        "context must be a whole number >= 1": (0.1, 0),
    },
    asked: {
        "eps must lie strictly between 0 and 1, got 0": {"eps": 0.0},
        "eps must lie strictly between 0 and 1, got nan": {"eps": math.nan},
        "mass must lie strictly between 0 and 1": {"mass": 1.0},
        "window must be a whole number >= 1, got 0": {"window": 0},
        "context must be a whole number": {"context": True},
    },
}
