"""Forty mistakes from a generator: a right method does damage when a condition holds, a size or two things at once.

WRAPPED: class -> (condition and damage, the subject), drawn by a seed. Each condition is taken once.
"""

from itertools import combinations

import numpy as np

from tests.proofs_check.conform.planting import out, plant

WRAPPED = {}

ASKED = ("mask is not None", "segments is not None", "window is not None", "heads > groups", "queries < keys")
ATTENTION = ["keys > 16", "keys > 64", "keys % 32 == 0", "keys == 128", "width > 64", "heads > 16", "rows > 4",
             "keys > 32 and window is not None", "queries == 1 and keys > 64", "calls % 50 == 0"] + [
                 f"{a} and {b}" for a, b in combinations(ASKED, 2)]
WHEN = {
    "alibi_slopes": ["n_heads > 128", "n_heads == 24", "n_heads == 96"],
    "alibi_bias": ["n_keys > 64", "n_heads > 16", "n_keys % 128 == 0", "n_heads > 8 and n_queries < n_keys"],
    "shift": ["tokens > 32", "tokens % 64 == 0", "len(weights) > 4", "len(x) > 4", "len(weights) > 2 and len(x) > 2",
              "len(weights) > 2 and segments is not None", "len(weights) > 2 and mask is not None"],
    "shifted_keys": ["tokens > 16", "len(keys) > 1", "width > 64", "state is not None and len(keys) > 1"],
    "rope": ["positions.max() > 4096", "tokens > 32", "width > 64", "len(x) > 4", "tokens == 1 and dims is not None",
             "len(x) > 1 and dims is not None"],
    "value_residual": ["len(values) > 8", "len(values[0]) > 4", "values[0].size > 512", "own == 0"],
    "evicting_attention": ["keys > 32", "rows > 4", "len(chunks) > 2 and heads > groups", "width > 64"],
    "razor_attention": ["keys > 32", "rows > 1 and compensation", "rows > 4", "window > 16",
                        "heads > 8 and compensation"],
    "logits": ["length > 32", "rows > 4", "length % 16 == 0"],
    "decoded": ["steps.shape[1] > 16", "len(prompts) > 4", "max(map(len, prompts)) > 16",
                "chunk and len({*map(len, prompts)}) > 1", "chunk and len(prompts) > 1"],
    "attention": ATTENTION, "alibi_attention": ATTENTION, "sink_attention": ATTENTION,
}


DAMAGES = {
    "1 % too much": {"found": out(lambda x: 1.01 * x)},
    "zeros": {"found": out(lambda x: 0 * x)},
    "the next along axis 0": {"found": out(lambda x: np.roll(x, -1, 0))},
    "the next along axis 1": {"found": out(lambda x: np.roll(x, -1, 1))},
    "the last value is lost": {"v": lambda v: v * (np.arange(v.shape[-2], 0, -1) > 1)[:, None]},
    "no window": {"window": lambda: None},
    "no documents": {"segments": lambda: None},
    "no pads": {"mask": lambda: None},
}
draw = np.random.default_rng(39)
for subject in [*WHEN, *WHEN, *[*WHEN][-3:] * 4, "attention", "alibi_attention"]:
    when = WHEN[subject].pop(draw.integers(len(WHEN[subject])))
    fit = {"found", *when.split(), *"v" * subject.endswith("attention")}
    told = draw.choice([name for name, damage in DAMAGES.items() if {*damage} <= fit])
    plant(WRAPPED, f"{when}: {told}", subject, when=when, **DAMAGES[told])
