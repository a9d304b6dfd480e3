"""Tables 1 and 3 of RazorAttention: their arithmetic, and the sentences drawn from them; what the text at hand lost."""

from fractions import Fraction

from proofs_check.ledger.claim import ENUMERATED, Claim, Control, Nature, Severity, Verdict
from proofs_check.ledger.exact_claim import exact_claim, unsettled_claim
from proofs_check.razor.measured import table_checks as c
from proofs_check.razor.measured.table_cells import MODELS, TABLE_1_TASKS, TABLE_3

TAB3 = "RazorAttention, Table 3"
SECTION = "RazorAttention, Section 3.2"

EVERY_ROW = [{"model": model, "method": method} for model, method in TABLE_3]
THREE = [{"task": task} for task in TABLE_1_TASKS]
BELOW_FULL = {"RA": "0.16 0.18 0.58 -0.04", "H2O": "1.87 1.86 2.55 0.72"}
EXCHANGED = {"RA": "H2O", "H2O": "RA"}

CLAIMS: tuple[Claim, ...] = (
    exact_claim(
        "razor.tab1.local",
        SECTION,
        "Without protected heads accuracy decreases by an average of 7.3 %.",
        c.does_not_round_to,
        ({"row": "none", "printed": "7.3"},),
        (Control("7.7", points=({"row": "none", "printed": "7.7"},)),),
        verdict=Verdict.FALSE,
        severity=Severity.ARITHMETIC,
        coverage=ENUMERATED,
        witness={"row": "none", "printed": "7.3"},
        note="7.74 points (and 17.0 % of the baseline): 9.58, 8.60 and 5.03.",
    ),
    exact_claim(
        "razor.tab1.random",
        SECTION,
        "With 15 % random heads protected accuracy decreases by an average of 7.1 %.",
        c.truncates_to,
        ({"row": "random", "printed": "7.1"},),
        (
            Control("7.2", points=({"row": "random", "printed": "7.2"},)),
            Control("7.3 without protected heads", points=({"row": "none", "printed": "7.3"},)),
        ),
        scope="the mean of the three losses, cut after one decimal",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.ARITHMETIC,
        coverage=ENUMERATED,
        reading="Per cent are points, and the mean is cut after one decimal instead of rounded.",
        note="7.17 points, which rounds to 7.2.",
    ),
    exact_claim(
        "razor.tab1.retrieval",
        SECTION,
        "With the retrieval heads protected accuracy declines by only 0.3 %.",
        c.rounds_to,
        ({"row": "retrieval", "printed": "0.3"},),
        (Control("against no protection", lambda row, printed: c.rounds_to(row, printed, baseline="none")),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "razor.tab1.shown",
        "RazorAttention, Table 1",
        "Protecting random heads does about as badly as protecting none; the retrieval heads alone keep most of the "
        "scores.",
        c.only_retrieval_retains,
        ({"helped": "retrieval", "not_helped": "random"},),
        (Control("the rows exchanged", points=({"helped": "random", "not_helped": "retrieval"},)),),
        scope="the printed cells: random heads recover less than half of the mean loss, retrieval heads more",
        reading="Most is more than half of what the cells of Table 1 lose without protection, about as badly less "
        "than half.",
        coverage=ENUMERATED,
        note="7.4 % and 95.7 % of it. One model, three tasks, one draw of random heads.",
    ),
    exact_claim(
        "razor.tab1.gap",
        SECTION + " (a notable accuracy gap remains)",
        "What the protection of the retrieval heads leaves is 0.33 points, below a twentieth of the loss without any.",
        c.small_gap,
        ({"row": "retrieval"},),
        (Control("random heads", points=({"row": "random"},)),),
        coverage=ENUMERATED,
        is_correction=True,
    ),
    unsettled_claim(
        "razor.tab1.compensated",
        SECTION,
        "With compensation tokens the accuracy is further improved.",
        "The runs with and without the token on one model; what Figure 7 shows is lost in the text at hand.",
    ),
    exact_claim(
        "razor.tab1.streaming",
        "RazorAttention, Tables 1 and 3",
        "On all three shared tasks Table 1 without protected heads, 4K tokens kept, is above StreamingLLM of Table 3.",
        c.local_window_is_better,
        THREE,
        (Control("H2O", lambda task: c.local_window_is_better(task, against="H2O")),),
        coverage=ENUMERATED,
        is_correction=True,
    ),
    exact_claim(
        "razor.tab3.averages",
        TAB3,
        "The last column is the mean of the tasks given.",
        c.average,
        EVERY_ROW,
        (
            Control("one task more in the count", lambda model, method: c.average(model, method, off=1)),
            Control("the lost cell at 2.1", lambda model, method: c.average(model, method, lost=Fraction(21, 10))),
            Control("the lost cell at 1.9", lambda model, method: c.average(model, method, lost=Fraction(19, 10))),
            Control("the lost cell at 20", lambda model, method: c.average(model, method, lost=Fraction(20))),
        ),
        scope="all 16 rows to half a unit of the last digit; the one lost cell at 2.0, the only tenth that fits",
        coverage=ENUMERATED,
        note="The row with the lost cell confirms its own completion; the other 15 are whole.",
    ),
    exact_claim(
        "razor.tab3.superior",
        "RazorAttention, Section 4.1",
        "RazorAttention is superior to StreamingLLM and H2O across all models.",
        c.better_on_average,
        [{"model": model, "other": other} for model in MODELS for other in ("StreamingLLM", "H2O")],
        (Control("the full cache", points=({"model": "Qwen1.5-7B", "other": "full"},)),),
        scope="the printed averages",
        reading="By the averages of Table 3, as its last column compares them.",
        coverage=ENUMERATED,
    ),
    unsettled_claim(
        "razor.tab3.comparable",
        "RazorAttention, Section 4.1",
        "RazorAttention is comparable to the uncompressed baseline, even under 3x compression.",
        "What difference is still comparable, the compression of each run, and how far averages move from run to run; "
        "as printed they are those of razor.tab3.comparable.averages.",
    ),
    exact_claim(
        "razor.tab3.comparable.averages",
        TAB3 + ", our addition",
        "RazorAttention's averages are 0.16, 0.18 and 0.58 points below those of the full cache, and 0.04 above for "
        "Baichuan2-13B; H2O's are 1.87, 1.86, 2.55 and 0.72 below.",
        c.below_full,
        [{"model": model, "points": points, "method": method} for method, gaps in BELOW_FULL.items()
         for model, points in zip(MODELS, gaps.split(), strict=True)],
        (Control("the methods exchanged", lambda method, **p: c.below_full(**p, method=EXCHANGED[method])),),
        scope="the printed averages",
        coverage=ENUMERATED,
        is_correction=True,
    ),
    unsettled_claim(
        "razor.sec4.3.optimal",
        "RazorAttention, Section 4.3",
        "The ablations prove that the configuration is optimally chosen.",
        "An ablation compares a few settings of one model; the cells of Table 4 are lost in the text at hand.",
    ),
    unsettled_claim(
        "razor.sec3.3.definitions",
        "RazorAttention, Section 3.3 and Algorithm 1",
        "Echo and induction heads are identified by their scores on repeated random tokens; Algorithm 1.",
        "The definitions and the algorithm are lost in the text at hand.",
        Nature.TEXTUAL,
    ),
)
