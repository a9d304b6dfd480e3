"""What the scores of heads refuse: for each call the words of the error, and the arguments that it answers."""

import math
from functools import partial

import numpy as np
import torch

from dynamics.heads.found import find
from dynamics.heads.returned import Returning
from dynamics.heads.scores import head_scores
from dynamics.heads.selection import top_heads
from tests.dynamics.heads.test_coupling import BATCH, CONFIG, mixings, model_of
from tests.dynamics.heads.test_returned import GOOD, SMALL
from tests.dynamics.heads.test_scores import random_model
from tests.dynamics.hf import models, undeclared


def returned(*layers):
    head_scores(Returning(lambda _: layers, vocab=64), k=15)


def named(name, changes):
    head_scores(undeclared.model(name, **changes), k=15)


def mixed(**changes):
    mixings(model_of(CONFIG.model_copy(update=changes)), BATCH, 0)


TABLE = {
    partial(head_scores, random_model(0)): {
        "k must be in 3..16, the number of tokens that may be drawn, got 2500": {"k": 2500},
        "k must be in 3..16, the number of tokens that may be drawn, got 2": {"k": 2},
        "k must be in 3..15": {"k": 16, "excluded": (0,)},
        "excluded ids must be in 0..15, got 16": {"k": 8, "excluded": (16,)},
        "excluded ids must be in 0..15, got -1": {"k": 8, "excluded": (3, -1)},
        "repeats must be at least 2, got 1": {"k": 8, "repeats": 1},
        "prompts must be at least 1, got 0": {"k": 8, "prompts": 0},
        "non-negative": {"k": 8, "seed": -1},
    },
    partial(find, random_model(0)): {
        "a prompt must have at least 12 tokens, got 11": {"length": 11},
        "at least 4 ids must be left to draw from, got 3": {"excluded": range(1, 13), "first": 0},
        "a text needs 3 tokens in 0..15, got 2: 3..4": {"text": [[3, 4]]},
        "a text needs 3 tokens in 0..15, got 4: 1..16": {"text": [[1, 2, 3, 16]]},
    },
    partial(find, models.model("gpt2")): {"a prompt of 9999 tokens is beyond the 128 positions": {"length": 9999}},
    top_heads: {
        "finite numbers of shape": [([[0.1, np.nan]], 0.5), ([[]], 0.5)],
        "got shape (2,)": ([0.1, 0.2], 0.5),
        "a share of heads must be in 0..1, got": [([[0.1]], 1.5), ([[0.1]], -0.1), ([[0.1]], math.nan)],
    },
    returned: {
        "no row above 1, got a least of -0.5 and rows that sum to -29": GOOD - 0.5,
        "layer 0 must return weights, ": 60 * GOOD,
        "least of nan": GOOD * torch.nan,
        "weights of shape (1, heads, 60, 60), got (2, 60, 60)": GOOD[0],
        "got (1, 2, 60, 9)": GOOD[..., :9],
        "got (2, 2, 60, 60)": GOOD.expand(2, -1, -1, -1),
        "got NoneType": None,
        "attention of equally many heads each, got 2, 1": (GOOD, GOOD[:, :1]),
        "attention of equally many heads each, got no layers": (),
    },
    named: {
        "BartModel is an encoder with a decoder: score one of them, as model.get_encoder": ("Bart", SMALL),
        "FNetModel returns no attention, with output_attentions=True": ("FNet", undeclared.FAMILIES["Phi"]),
        "got (1, 4, 60, 9)": ("Longformer", undeclared.FAMILIES["Roberta"] | {"attention_window": 8}),
        "ViTModel takes no tokens": (
            "ViT",
            {"hidden_size": 8, "num_attention_heads": 1, "num_hidden_layers": 1},
        ),
    },
    mixed: {
        "needs one layer, shift kv and window 2, got": [
            {"n_layers": 2},
            {"shift": "k"},
            {"shift": "qkv"},
            {"window": 3},
        ]
    },
}
