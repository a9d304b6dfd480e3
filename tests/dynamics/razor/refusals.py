"""What plans, their files and decoding refuse: for each call the words of the error, and the arguments."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import torch

from dynamics.model.generation import greedy
from dynamics.razor.eviction import heavy_hitters, sink_window
from dynamics.razor.plan import RazorPlan
from dynamics.razor.plan_file import parse_plan, plan_text
from tests.dynamics.razor.test_model import model
from tests.dynamics.razor.test_plan import ONE, PLAN, changed


def planned(**changes):
    replace(RazorPlan(4, 2, ONE), **changes)


def chosen(*head):
    RazorPlan.for_heads([head], 1, 4, 2)


def decoded(count=1, chunk=None, shape=(1, 3)):
    greedy(model(), torch.zeros(shape, dtype=torch.long), count, chunk=chunk)


def parsed(data):
    parse_plan(data, "p.json")


SIZES = {"got -1 and 2": (-1, 2), "got 0 and 0": (0, 0)}
TABLE = {
    planned: {
        "n_heads must be a multiple of n_kv_heads, got 3 and 2": {"n_heads": 3},
        "n_kv_heads must be a whole number of at least 1, got 0": {"n_kv_heads": 0},
        "sinks must be a whole number of at least 0, got -1": {"sinks": -1},
        "buffer must be a whole number of at least 1, got 0": {"buffer": 0},
        "buffer must be a whole number of at least 1, got 2.5": {"buffer": 2.5},
        "prompt must be a whole number of at least 0, got True": {"prompt": True},
        "centre_queries must be a whole number of at least 1": {"centre_queries": 0},
        "share must be a Fraction in [0, 1], got 0.2": {"share": 0.2},
        "share must be a Fraction in [0, 1], got Fraction": {"share": Fraction(6, 5)},
        "compensation must be one of none, mean, alibi, centred, got 'median'": {"compensation": "median"},
        "full must hold one set of key-value heads a layer": {"full": ()},
        "full must name key-value heads 0..1, got 2": {"full": (frozenset({0}), frozenset({2}))},
    },
    chosen: {"retrieval heads lie in layers 0..0, heads 0..3": [(1, 0), (-1, 0), (0, 4), (0, -1)]},
    partial(RazorPlan.for_heads, [], 1, 8, 8): {"context must be a whole number >= 1": {"context": 0}},
    decoded: {"must be at least 1": [{"count": 0}, {"chunk": 0}, {"shape": (1, 0)}, {"shape": (3,)}]},
    sink_window: SIZES,
    heavy_hitters: SIZES,
    parsed: {
        "p.json: not readable as JSON": b"",
        "p.json: not a JSON object": b"[1]",
        "p.json: not readable as JSON (NaN is": b'{"format": NaN}',
        "p.json: format and version are ('razor-plan', 2), not ('razor-plan', 1): such a plan": changed(version=2),
        "is written by `receipt MODEL --text FILE --error X --write-plan PLAN`": b'{"format": "razor-receipt"}',
        "p.json: format and version are (None, None)": b'{"eps": 0.1}',
        "p.json: extra: Extra inputs are not permitted": changed(extra=1),
        "p.json: sinks: Input should be greater than or equal to 0 (got -1)": changed(sinks=-1),
        "p.json: sinks: Input should be a valid integer": changed(sinks=True),
        "p.json: buffer: ": changed(buffer=1.5),
        "p.json: share: ": changed(share=[1]),
        "'n_heads' stands twice": plan_text(PLAN).replace('"sinks"', '"n_heads": 8, "sinks"').encode(),
        "p.json: share: the denominator must not be 0": changed(share=[1, 0]),
        "p.json: share must be a Fraction in [0, 1], got Fraction(3, 2)": changed(share=[3, 2]),
        "p.json: full.0: a head stands twice (got [1, 1])": changed(full=[[1, 1], []]),
        "p.json: full must name key-value heads 0..1, got 2": changed(full=[[2], []]),
        "p.json: full must hold one set of key-value heads a layer, got none": changed(full=[]),
        "p.json: n_heads must be a multiple of n_kv_heads, got 3 and 2": changed(n_heads=3),
        "compensation: Input should be 'none', 'mean', 'alibi' or 'centred'": changed(compensation="all"),
    },
}
