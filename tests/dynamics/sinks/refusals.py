"""What measurements of sinks refuse: for each call the words of the error, and the arguments that it answers."""

from dynamics.sinks.intervention import Hide, Mask, Replace, Swap, intervene
from dynamics.sinks.measured import measure
from tests.dynamics.hf import models
from tests.dynamics.sinks.test_intervention import WINDOW
from tests.dynamics.sinks.test_measured import text


def measured(**arguments):
    measure(models.model("llama"), **arguments)


def changed(change):
    row = text(WINDOW).copy()
    row[4] = row[3]
    intervene(models.model("llama"), row, change, WINDOW)


TABLE = {
    measured: {
        "tokens must be in 0..63, got 64": [{"tokens": [1, 2, 64]}, {"tokens": [1, 2, 3], "begin": 64}],
        "tokens must be in 0..63, got -2": {"tokens": [1, -2, 3]},
        "tokens must be whole numbers in one row, got float64": {"tokens": [0.5, 1.0]},
        "tokens must be whole numbers in one row": {"tokens": [[1, 2]]},
        "the text has 3 tokens, a window takes 4": {"tokens": [1, 2, 3], "window": 4},
        "a window must have at least 2 tokens, got 1": [{"tokens": [1, 2, 3], "window": 1}, {"tokens": [1]}],
        "a window of 129 tokens is beyond the 128 positions": {"tokens": [1] * 200, "window": 129},
        "layers must be in 0..1, got 0, 2": {"tokens": [1, 2, 3], "layers": [0, 2]},
    },
    changed: {
        "token 12 is outside the window: 0..11": [Mask(WINDOW), Hide(WINDOW), Swap(1, 12), Replace(12, 0)],
        "token -1 is outside": Mask(-1),
        "layers must be in 0..1, got 2": Mask(0, {2: ()}),
        "heads of layer 1 must be in 0..3, got 4": Mask(0, {1: (1, 4)}),
        "a swap or replacement is of two tokens, got 1 twice": [Swap(1, 1), Replace(1, 1)],
        "tokens 3 and 4 are the same: to exchange them changes nothing": Swap(3, 4),
    },
}
