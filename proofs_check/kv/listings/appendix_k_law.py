"""How long the rows of Appendix K's generator are: its law against enumeration."""


from proofs_check.kv.listings.appendix_k_law_checks import (
    SMALL,
    SOURCE,
    copied,
    law_holds,
    overlong,
    uniform,
)
from proofs_check.ledger.claim import ENUMERATED, INSTANCES, Claim, Control, everywhere
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
        "kv.appK.position",
        SOURCE,
        "Given T the repeated position i is uniform on 1..T-1: the last token is never repeated at once.",
        exact("all rows, lengths 3..5", uniform, SMALL, Control("uniform on 1..T", lambda length: uniform(length, 0))),
        is_correction=True,
        formula=r"P(i\mid T)=\frac{1}{T-1},\quad1\le i\le T-1",
        coverage=everywhere(
            "The repeated token is drawn uniformly from the T - 1 tokens before the last, whatever n; all rows are "
            "enumerated for n = 3, 4, 5."
        ),
    ),
    mathematical(
        "kv.appK.overlong",
        SOURCE,
        "At length 3, 4, 5 a row holds length + 1 tokens with chance P(T = length - 1): always, 4/7, 9/29.",
        exact("all rows, lengths 3..5", overlong, SMALL, Control("T = length", lambda length: overlong(length, 0))),
        is_correction=True,
        formula=r"P(T=n-1)=1,\ \frac{4}{7},\ \frac{9}{29},\quad n=3,4,5",
        coverage=ENUMERATED,
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
