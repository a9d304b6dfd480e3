"""What the tasks refuse: for each call the words of the error, and the arguments that it answers."""

from functools import partial

import numpy as np

from dynamics.tasks.hop import Hop, hop_batch
from dynamics.tasks.igsm import IGSM
from dynamics.tasks.igsm_text import encoded
from dynamics.tasks.induction import induction_batch
from dynamics.tasks.mqar import mqar_batch
from dynamics.tasks.needles import Windows, plant, text_windows
from dynamics.tasks.packed import documents, packed_rows
from dynamics.tasks.trigram import Table, trigram_batch, trigram_table
from tests.dynamics.refusal import done
from tests.dynamics.tasks.test_packed import text
from tests.dynamics.tasks.test_task import Given

RNG = np.random.default_rng(0)
ONE = np.array([11])
DRAW, PACKED = IGSM().draw, IGSM().packed


def igsm(**settings):
    IGSM.checked(settings, "igsm")


def planted(needles, questions, length=30):
    windows = Windows(*np.zeros((2, 1, length + 1), dtype=np.int64))
    plant(RNG, windows, 0, np.array(needles), np.array(questions))


def trigram(rows, length):
    trigram_batch(RNG, rows, 12, Table(ONE, ONE, ONE), length)


def rows_of(count, length):
    packed_rows(RNG, documents(text()), count, length, "documents")


def checked(change):
    Given(change=change).check(9)


TABLE = {
    done: {
        "at most vocab - 11 = 9, got 10": lambda: Hop(symbols=4, hops=5).check(20),
        "operations must be in 1..26, one letter each, got 30": lambda: IGSM().at(30),
        "'zebra' is none of the 88 words": lambda: encoded(["zebra"], IGSM().sizes),
        "do not fit a text of 10 bytes": lambda: text_windows(RNG, np.zeros(10, np.uint8), 1, 10),
        "no paragraph of 16 bytes": lambda: documents(text(["short", "ones"])),
    },
    partial(hop_batch, RNG): {
        "batch must be at least 1, got 0": (0,),
        "symbols must be at least 3": (4, 2),
        "length must be at least 2": (4, 4, 1),
        "least_hops <= hops, got 3 and 2": (4, 4, 9, 2, 3),
        "got -1 and -1": (4, 4, 9, -1),
    },
    partial(induction_batch, RNG): {
        "batch must be at least 1, got 0": (0,),
        "at most vocab - 11 = 9, got 10": (4, 20, 10),
        "pool must be at least 3": (4, 8000, 2),
    },
    partial(mqar_batch, RNG): {
        "batch must be at least 1, got 0": (0,),
        "pairs must be in 1..4": (4, 20, 5, 40),
        "pairs must be in 1..14": (4, 40, 0),
        "at least 4 pairs = 16, got 14": (4, 40, 4, 14),
        "length must be even": (4, 40, 4, 17),
        "power must be positive": (4, 40, 4, 16, 0.0),
    },
    partial(trigram_table, RNG): {
        "vocab - 11)^2 = 81, got 0": (0, 20),
        "vocab - 11)^2 = 81, got 82": (82, 20),
        "vocab must be at least 12, got 11": (1, 11),
        "vocab - 11)^2 = 1, got 2": (2, 12),
    },
    trigram: {"batch must be at least 1": (0, 2), "at least 2": (4, 1)},
    igsm: {
        "modulus must be a prime, got 22": {"modulus": 22},
        "modulus must be a prime, got 1": {"modulus": 1},
        "layers must be in 2..4, got 5": {"layers": 5},
        "layers must be in 2..4, got 1": {"layers": 1},
        "items must be in 2..names = 6, got 1": {"items": 1},
        "2..names = 2, got 3": {"names": 2},
        "edges must be at least 2 (layers - 1) = 4, got 3": {"edges": 3},
        "operations must be in 1..26, one letter each, got 27": {"operations": 27},
        "least must be at most operations = 12, got 13": {"least": 13},
        "igsm: least": {"least": 0},
        "igsm: part": {"part": "valid"},
    },
    DRAW: {"rows must be at least 1, got 0": (RNG, 0, 99, 0), "vocab must be at least 99, got 98": (RNG, 1, 98, 0)},
    PACKED: {"rows and length must be at least 1, got 1 and 0": (RNG, 1, 0)},
    planted: {
        "need pairs, apart": [([0], [1]), ([0, 2], [6]), (range(0, 200, 2), range(200, 400, 2), 500)],
        "each needle before its question": [([4], [2]), ([-1], [4]), ([0], [30])],
    },
    rows_of: {"must be at least 1 and fit the text": [(0, 8), (1, 0), (1, 10**9)]},
    checked: {
        "given: tokens must be int64 (rows, length), got int64 (3,)": "flat",
        "given: tokens must be int64 (rows, length), got float64 (1, 3)": "floats",
        "given: target must be (rows,), got (2,) for one row": "shape",
        "given: a row of 3 tokens is scored at index 1": "scored",
        "given: a row of 5 tokens is scored at index 4": "long",
        "given: tokens must be in 0..8, got 9": ["large", "answer"],
        "given: tokens must be in 0..8, got -4": "negative",
    },
}
