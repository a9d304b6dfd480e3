"""Exact tests on counts: Fisher's for a table of two rows and two columns, and the sign test, in rationals."""

from fractions import Fraction
from math import comb

TwoByTwo = tuple[tuple[int, int], tuple[int, int]]

# The customary level of significance.
SIGNIFICANT = Fraction(1, 20)


def fisher_exact(table: TwoByTwo) -> Fraction:
    """Two-sided p of independence: sum of C(r1, k) C(r2, c1-k) / C(n, c1) over all k no likelier than the one seen.

    Source: Fisher's exact test. Args: table, counts, rows by columns. Returns: an exact probability in (0, 1].
    Raises: ValueError for a negative count or an empty table.
    """
    (a, b), (c, d) = table
    if min(a, b, c, d) < 0 or a + b + c + d == 0:
        raise ValueError(f"counts must be at least 0 and not all 0, got {table}")
    row1, row2, column1 = a + b, c + d, a + c
    ways = {k: comb(row1, k) * comb(row2, column1 - k) for k in range(max(0, column1 - row2), min(row1, column1) + 1)}
    return Fraction(sum(w for w in ways.values() if w <= ways[a]), sum(ways.values()))


def sign_test(successes: int, trials: int) -> Fraction:
    """Two-sided p of a fair coin: the total probability of all counts no likelier than the one seen.

    Args: 0 <= successes <= trials. Returns: an exact probability in (0, 1]. Raises: ValueError outside of that.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must lie in 0..{trials}, got {successes}")
    ways = [comb(trials, k) for k in range(trials + 1)]
    return Fraction(sum(w for w in ways if w <= ways[successes]), 2**trials)
