"""Margins on the law of Appendix K's generator, all in rationals."""

from fractions import Fraction
from functools import lru_cache

from dynamics.tasks.induction import length_law_exact
from proofs_check.evidence.margin import Margin, same
from proofs_check.kv.listings.appendix_k_tree import all_rows, joint_law, n_tokens

SOURCE = "KV shifting (both versions), Appendix K (first version: Appendix D), our addition"
ROW = 512
SMALL = [{"length": n} for n in (3, 4, 5)]


@lru_cache(maxsize=8)
def law(length: int = ROW) -> tuple[Fraction, ...]:
    """P(T), T = 0..length, for a pool of `length` tokens."""
    return tuple(length_law_exact(length))


def law_holds(length: int, off: int = 0) -> Margin:
    """The enumerated P(T) against the formula, read `off` tokens away."""
    found = [Fraction(0)] * (length + 1)
    for (n, _), share in joint_law(length, length).items():
        found[n] += share
    return same(found[2:length], list(law(length)[2 - off : length - off]))


def copied(length: int, back: int = 1) -> Margin:
    """Chance that the token `back` before x_{T+1} is the answer, enumerated, against E[1/(T-1)]."""
    rows = all_rows(length, length).rows
    kept = sum(share for *_, share in rows)
    hit = sum(
        (s for row, (q,), s in rows if n_tokens(row) >= back and row[q - back] == row[q + 1]),
        Fraction(0),
    )
    return same(hit / kept, sum(p / (n - 1) for n, p in enumerate(law(length)) if n > 1))
