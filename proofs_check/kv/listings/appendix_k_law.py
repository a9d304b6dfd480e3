"""How long the rows of Appendix K's generator are: its law against enumeration, and what that means for Figure 1."""

from fractions import Fraction

from proofs_check.evidence.margin import less, same, worst
from proofs_check.kv.listings.appendix_k_law_checks import (
    OVERLONG,
    ROW,
    SMALL,
    SOURCE,
    again,
    copied,
    copy_score,
    law,
    law_holds,
    mean,
    no_repetition,
    no_repetition_with_last,
    overlong,
    quantile,
    rounds_to,
    std_rounds_to,
    uniform,
)
from proofs_check.ledger.claim import ENUMERATED, INSTANCES, Claim, Control, everywhere
from proofs_check.ledger.mathematical import exact, mathematical

BY_DRAWS = everywhere(
    "A draw is uniform on the n - 1 tokens other than the last, n - t of which are new after t: for every n the law is "
    "the product of these chances; rows are enumerated for n = 3, 4, 5."
)
SUMMED = everywhere("The sum runs over every T of the law, in rationals; the law is kv.appK.law's.")

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
        "kv.appK.mean",
        SOURCE,
        "The mean of T is 29.003 for length 512.",
        exact(
            "the law in rationals",
            lambda printed: rounds_to(mean(), printed),
            ({"printed": "29.003"},),
            Control("the mean of T + 1", points=({"printed": "30.003"},)),
        ),
        is_correction=True,
        formula=r"\mathbb{E}\,T=29.003",
        coverage=SUMMED,
    ),
    mathematical(
        "kv.appK.std",
        SOURCE,
        "The standard deviation of T is 14.49 for length 512.",
        exact(
            "the variance in rationals",
            std_rounds_to,
            ({"printed": "14.49"},),
            Control("14.50", points=({"printed": "14.50"},)),
        ),
        is_correction=True,
        formula=r"\sqrt{\mathrm{Var}\,T}=14.49",
        coverage=SUMMED,
    ),
    mathematical(
        "kv.appK.quantiles",
        SOURCE,
        "The median of T is 27 and its 99 % point is 68, for length 512.",
        exact(
            "the law in rationals",
            quantile,
            ({"share": "1/2", "value": 27}, {"share": "99/100", "value": 68}),
            Control("a median of 28", points=({"share": "1/2", "value": 28},)),
            Control("a 99 % point of 67", points=({"share": "99/100", "value": 67},)),
        ),
        is_correction=True,
        formula=r"\min\{t:P(T\le t)\ge0.5\}=27,\quad\min\{t:P(T\le t)\ge0.99\}=68",
        coverage=SUMMED,
    ),
    mathematical(
        "kv.appK.padding",
        SOURCE,
        "93.9 % of the 512 entries of a row are padding: it holds T + 2 tokens, 31.0 on average.",
        exact(
            "1 - (E T + 2)/512 in rationals",
            lambda printed: rounds_to(100 - 100 * (mean() + 2) / ROW, printed),
            ({"printed": "93.9"},),
            Control("the repeated token and its answer not counted", points=({"printed": "94.3"},)),
        ),
        is_correction=True,
        formula=r"1-\frac{\mathbb{E}\,T+2}{512}=0.939",
        coverage=SUMMED,
    ),
    mathematical(
        "kv.appK.regenerated.rate",
        SOURCE,
        "A row is drawn again with chance (n-1)!/(n-1)^(n-1), n = length: 1/2 for 3, 2/9 for 4, 7e-221 for 512.",
        exact(
            "the law for n = 3..40 and 512, all rows for n = 3..5",
            lambda length: again(length, no_repetition),
            [{"length": n} for n in (*range(3, 41), ROW)],
            Control("n!/n^n: the last token may be drawn", lambda length: again(length, no_repetition_with_last)),
        ),
        formula=r"\frac{(n-1)!}{(n-1)^{n-1}}",
        is_correction=True,
        coverage=BY_DRAWS,
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
        "kv.appK.overlong.rate",
        SOURCE,
        "That chance is 0.571 for length 4, 0.310 for 5, 0.0369 for 8, 4.18e-5 for 16 (and 3.4e-218 for 512).",
        exact(
            "the law in rationals",
            lambda length, printed: rounds_to(law(length)[length - 1], printed),
            [{"length": n, "printed": p} for n, p in OVERLONG.items()] + [{"length": ROW, "printed": f"{0:.217f}"}],
            Control("length 8 for 16", points=({"length": 8, "printed": OVERLONG[16]},)),
            Control("0 to 218 digits for 512", points=({"length": ROW, "printed": f"{0:.218f}"},)),
        ),
        is_correction=True,
        formula=r"P(T=n-1)=\frac{n-2}{n-1}\prod_{t"
        r"=1}^{n-2}\frac{n-t}{n-1}\left(1-\frac{(n-1)!}{(n-1)^{n-1}}\right)^{-1}",
        coverage=SUMMED,
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
    mathematical(
        "kv.appK.previous_token.score",
        SOURCE,
        "That chance is 5.5 % for length 512, and no copy from further back does better.",
        exact(
            "the law in rationals; copies from 2, 3, 10 and 40 back (each further one loses terms)",
            lambda printed, back: worst([rounds_to(100 * copy_score(), printed), less(copy_score(back), copy_score())]),
            [{"printed": "5.5", "back": back} for back in (2, 3, 10, 40)],
            Control("1/(E T - 1)", points=({"printed": "3.6", "back": 2},)),
            Control("the same copy", points=({"printed": "5.5", "back": 1},)),
        ),
        is_correction=True,
        formula=r"\mathbb{E}\,\frac{1}{T-1}=0.055",
        coverage=everywhere("All T are summed, and a copy from further back keeps fewer of the same positive terms."),
    ),
    mathematical(
        "kv.fig1.context",
        "KV shifting (both versions), Figure 1, with Appendix K (first version: D), our addition",
        "The rows of 512 entries test short contexts: more than 127 tokens before the repetition come up less than "
        "once in 10^7 rows.",
        exact(
            "P(T > 127) in rationals",
            lambda bound: less(1 - sum(law()[:128]), bound),
            ({"bound": Fraction(1, 10**7)},),
            Control("once in 10^8", points=({"bound": Fraction(1, 10**8)},)),
        ),
        is_correction=True,
        formula="P(T>127)<10^{-7}",
        coverage=SUMMED,
    ),
    mathematical(
        "kv.appN.scored",
        "KV shifting (both versions), Appendix N (first version: G), with Appendix K (D), our addition",
        "A step of 8 GPUs with 512 samples each scores 4096 of 2,097,152 positions; 126,987 entries are not padding.",
        exact(
            "8 x 512 rows of 512, the expectation of T + 2 in rationals",
            lambda gpus, samples: worst(
                [
                    same((gpus * samples, gpus * samples * ROW), (4096, 2_097_152)),
                    rounds_to(gpus * samples * (mean() + 2), "126987"),
                ]
            ),
            ({"gpus": 8, "samples": 512},),
            Control("512 samples in all", points=({"gpus": 8, "samples": 64},)),
        ),
        is_correction=True,
        formula=r"8\cdot512=4096,\quad4096\cdot512=2097152,\quad4096\,(\mathbb{E}\,T+2)=126987",
        coverage=SUMMED,
    ),
)
