"""How long the rows of Appendix K's generator are: its law against enumeration."""


from proofs_check.kv.listings.appendix_k_law_checks import SMALL, SOURCE, copied, law_holds
from proofs_check.ledger.claim import INSTANCES, Claim, Control, everywhere
from proofs_check.ledger.mathematical import exact, mathematical

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
            law_holds,
            SMALL,
            Control("T off by one", lambda length: law_holds(length, 1)),
        ),
        formula=r"P(T)\propto\frac{T-1}{n-1}\prod_{t=1}^{T-1}\frac{n-t}{n-1}",
        is_correction=True,
        coverage=BY_DRAWS,
    ),
    mathematical(
        "kv.appK.previous_token",
        SOURCE,
        "A head that copies the token just before the repetition is right with chance E[1/(T-1)].",
        exact("all rows, lengths 3..5", copied, SMALL, Control("two before", lambda length: copied(length, 2))),
        is_correction=True,
        formula=r"P(x_T=x_{i+1})=\mathbb{E}\,\frac{1}{T-1}",
        coverage=INSTANCES,
    ),
)
