"""What the flow refuses: the words of the error, and the arguments that it answers."""

import numpy as np

from dynamics.flow.descent import descend
from dynamics.flow.trajectories import gradient_flow

START = [[0.0, 1.0, 0.0, 1.0]]


def flow(**options):
    gradient_flow(**{"starts": START, "n_tokens": 5, "t_end": 10.0} | options)


def descent(**options):
    descend(**{"starts": START, "n_tokens": 9, "steps": 3} | options)


TABLE = {
    flow: {
        "starts must have shape": {"starts": [[0, 1, 0]]},
        "starts must be finite": {"starts": [[0, 1, 0, np.nan]]},
        "the loss at a start must be": {"starts": [[0, 1, -1e4, 0]]},
        "a start on the slice needs": {"starts": [[0, 2, 0, 1]], "mode": "slice"},
        "must lie in the box": {"starts": [[-1, 2, 0, 1]], "mode": "box"},
        "mode": {"mode": "disk"},
        "n_tokens must be": {"n_tokens": 3},
        "t_end": {"t_end": 0.0},
        "increase": {"times": [1.0, 1.0]},
        "rtol": {"rtol": 0.0},
    },
    descent: {
        "steps": {"steps": 0},
        "a rate > 0, got 3 and -1": {"learning_rate": -1.0},
        "starts": {"starts": [0, 1]},
    },
}
