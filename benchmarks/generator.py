"""256 rows of the induction task: `induction_batch` against the printed loop of Appendix K."""

import random

import numpy as np

from benchmarks.row import Guard, Limit, Row, compare
from benchmarks.timing import interleave
from dynamics.tasks.induction import induction_batch
from dynamics.tasks.listing_k import listing_sample
from dynamics.tasks.task import FIRST_TOKEN, Batch

_VOCAB = 8000
# About half of what was measured (922 to 1160 times the loop in 11 runs, idle and busy: a noise of 12 %): a slip into
# Python for each token or row costs more than a factor of 2, another version of numpy less.
_FLOOR = 500
# Of `needed`, what distinct tokens in padded rows cost whoever draws them: 1.73 to 2.01 times in 9 runs, idle and busy.
# The rest is lengths, positions and the 6 % of rows that are mended; a second pass over all tokens would exceed it.
# Bare draws are no limit: the same code took 15 to 21 times as long, by the load, for they stay in the cache.
_MOST = 3


def measure(quick: bool) -> Row:
    rows = 32 if quick else 256
    ours, printed = np.random.default_rng(0), random.Random(0)
    counts = induction_batch(ours, rows).query_index
    variants = {
        "ours": lambda: induction_batch(ours, rows),
        "printed": lambda: [listing_sample(printed) for _ in range(rows)],
        "needed": lambda: needed(ours, counts),
    }
    times = interleave(variants, 3 if quick else 15, {"ours": 20, "needed": 20})
    return Row(
        "generator",
        [compare(times, "printed", f"Appendix K: loop, {rows} rows", _FLOOR, 786)],
        [Limit("draw, sort and scatter of as many tokens", times.ratio("ours", "needed"), _MOST)],
        [Guard("rows that break the rule", broken(induction_batch(np.random.default_rng(1), 2000)), 0)],
    )


def needed(rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
    """The work that no vectorised generator can spare: draw the tokens, sort them to find repeats, put them in rows."""
    flat = rng.integers(FIRST_TOKEN, _VOCAB, size=int(counts.sum()))
    np.sort(np.repeat(np.arange(len(counts)) * _VOCAB, counts) + flat)
    tokens = np.zeros((len(counts), int(counts.max()) + 1), dtype=np.int64)
    tokens[np.arange(tokens.shape[1]) < counts[:, None]] = flat
    return tokens


def broken(batch: Batch) -> int:
    """Rows whose first T tokens are not distinct, whose query is not x_i, or whose target is not x_{i+1}."""
    wrong = 0
    for tokens, _, n_tokens, target, position in zip(*batch, strict=True):
        first = tokens[:n_tokens]
        ok = len(set(first.tolist())) == n_tokens and first.min() >= FIRST_TOKEN and first.max() < _VOCAB
        wrong += not (ok and tokens[n_tokens] == first[position - 1] and target == first[position])
    return wrong
