"""One loss at T = 10^6: the closed form against attention over sparse one-hot tokens."""

import numpy as np

from benchmarks.row import Guard, Limit, Row, compare
from benchmarks.timing import interleave
from theory import landscape


def measure(quick: bool) -> Row:
    tokens, points = (10_000, 1000) if quick else (1_000_000, 10_000)
    one = (0.3, 0.9, 0.4, 0.7)
    many = np.random.default_rng(0).uniform(size=(4, points))
    variants = {
        "oracle": lambda: sparse_attention(*one, tokens, 2),
        "many": lambda: landscape.loss(*many, tokens),
        "one": lambda: landscape.loss(*one, tokens),
    }
    times = interleave(variants, 3 if quick else 21, {"one": 50, "many": 5})
    # By themselves: whichever ran first after the oracle would find the caches cold.
    small = {"many, T = 8": lambda: landscape.loss(*many, 8), "one, T = 8": lambda: landscape.loss(*one, 8)}
    calls = {"one": 20, "one, T = 8": 20}
    flat = interleave({name: variants[name] for name in ("one", "many")} | small, 5 if quick else 101, calls)
    oracle_gap = max(abs(sparse_attention(*p, tokens, 2) - landscape.loss(*p, tokens)) for p in many.T[:5])
    return Row(
        "closed_form",
        [
            compare(times, "oracle", f"sparse attention, {points} points", 1e4, fast="many", scale=points),
            compare(times, "oracle", "sparse attention, a lone call", fast="one"),
        ],
        [
            Limit(f"T = 8 (at T = {tokens:g}, {points} points)", flat.ratio("many", "many, T = 8"), 1.3),
            Limit(f"T = 8 (at T = {tokens:g}, a lone call)", flat.ratio("one", "one, T = 8"), 1.3),
        ],
        [Guard("difference from the sparse attention", float(oracle_gap), 1e-12)],
    )


def sparse_attention(a1: float, a2: float, b1: float, b2: float, tokens: int, position: int) -> float:
    """Cross entropy of x_{i+1} after x_1 .. x_T, x_i, with one score a key and one logit a token: O(T), no formula."""
    sentence = np.append(np.arange(tokens), position - 1)
    same = sentence == sentence[-1]
    scores = a1 * same
    scores[1:] += a2 * same[:-1]
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    logits = b1 * np.bincount(sentence, weights, tokens) + b2 * np.bincount(sentence[:-1], weights[1:], tokens)
    top = logits.max()
    return float(top + np.log(np.exp(logits - top).sum()) - logits[position])
