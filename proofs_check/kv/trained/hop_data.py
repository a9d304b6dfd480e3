"""Errors of vanilla transformers on k hops, as the authors of the task publish them.

Source: github.com/chsanford/hop-induction-heads, the code that Figure 8 takes over, commit fe393ebf, local/errors.json,
runs on fresh samples: 99 tokens, 4 letters, k = 0..16, width 128, 100,000 steps of 32 rows. A rate there is a whole
number of errors over 100 rows of 97 - 3k positions; here are these numbers at k = 1..16, by (layers, heads).
"""

ROWS = 100
HOPS = range(1, 17)
ERRORS = {
    (5, 4): (8, 11, 12, 28, 95, 120, 131, 271, 405, 693, 950, 1331, 1625, 1864, 1953, 2027),
    (6, 4): (2, 4, 10, 14, 28, 25, 51, 43, 49, 66, 70, 71, 122, 150, 181, 302),
    (5, 8): (0, 0, 1, 1, 2, 1, 4, 2, 5, 6, 16, 17, 18, 65, 75, 134),
}


def positions(k: int) -> int:
    """Positions of a row that are scored at k hops."""
    return 97 - 3 * k
