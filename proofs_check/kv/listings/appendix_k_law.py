"""How long the rows of Appendix K's generator are: its law against enumeration, in rationals."""

from fractions import Fraction

from dynamics.tasks.induction import length_law_exact
from proofs_check.evidence.margin import Margin, same
from proofs_check.kv.listings.appendix_k_tree import all_rows, n_tokens
from proofs_check.ledger.claim import INSTANCES, Claim, Control, everywhere
from proofs_check.ledger.mathematical import exact, mathematical

SOURCE = "KV shifting (both versions), Appendix K (first version: Appendix D), our addition"
SMALL = [{"length": n} for n in (3, 4, 5)]


def _law_holds(length: int, off: int = 0) -> Margin:
    """The enumerated P(T), for a pool of `length` tokens, against the formula, read `off` tokens away."""
    rows, law = all_rows(length, length).rows, length_law_exact(length)
    kept = sum(share for *_, share in rows)
    found = [sum((share for row, _, share in rows if n_tokens(row) == n), Fraction(0)) for n in range(2, length)]
    return same([share / kept for share in found], list(law[2 - off : length - off]))


def _copied(length: int, back: int = 1) -> Margin:
    """Chance that the token `back` before x_{T+1} is the answer, enumerated, against E[1/(T-1)]."""
    rows = all_rows(length, length).rows
    kept = sum(share for *_, share in rows)
    hit = sum((s for row, (q,), s in rows if n_tokens(row) >= back and row[q - back] == row[q + 1]), Fraction(0))
    return same(hit / kept, sum(p / (n - 1) for n, p in enumerate(length_law_exact(length)) if n > 1))


BY_DRAWS = everywhere(
    "A draw is uniform on the n - 1 tokens other than the last, n - t of which are new after t: for every n the law is "
    "the product of these chances; rows are enumerated for n = 3, 4, 5."
)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.appK.law",
        SOURCE,
        "A row has T distinct tokens before the repetition with chance proportional to (T-1)/(n-1) times the product "
        "of (n-t)/(n-1), t < T, for T = 2..n-1 and n = length.",
        exact(
            "all rows, lengths 3..5",
            _law_holds,
            SMALL,
            Control("T off by one", lambda length: _law_holds(length, 1)),
        ),
        formula=r"P(T)\propto\frac{T-1}{n-1}\prod_{t=1}^{T-1}\frac{n-t}{n-1}",
        is_correction=True,
        coverage=BY_DRAWS,
    ),
    mathematical(
        "kv.appK.previous_token",
        SOURCE,
        "A head that copies the token just before the repetition is right with chance E[1/(T-1)].",
        exact("all rows, lengths 3..5", _copied, SMALL, Control("two before", lambda length: _copied(length, 2))),
        is_correction=True,
        formula=r"P(x_T=x_{i+1})=\mathbb{E}\,\frac{1}{T-1}",
        coverage=INSTANCES,
    ),
)
