"""Tables 2, 4 and 14: benchmark scores of the trained models, and what the text says about them."""

from fractions import Fraction

from proofs_check.evidence.margin import Margin, at_most, less, same, worst
from proofs_check.kv.tables.cells import BENCHMARKS, TABLE_2, TABLE_4, TABLE_14
from proofs_check.ledger.claim import ENUMERATED, Control, Nature
from proofs_check.ledger.exact_claim import BOTH, FINAL, exact_claim, unsettled_claim
from proofs_check.ledger.mathematical import mathematical

CHECKPOINTS = {"2.9B": (340, 420, 500), "19B": (160, 180, 200)}
CELLS = [
    {"size": size, "tokens": tokens, "benchmark": name}
    for size, all_tokens in CHECKPOINTS.items()
    for tokens in all_tokens
    for name in BENCHMARKS
]
ROWS = [{"size": size, "tokens": tokens} for size, all_tokens in CHECKPOINTS.items() for tokens in all_tokens]
LOST = (
    ("2.9B", 420, "Lambada"),
    ("2.9B", 420, "Winogrande"),
    ("19B", 180, "Winogrande"),
    ("19B", 200, "Winogrande"),
    ("19B", 200, "CMMLU"),
)


def _score(model: str, size: str, tokens: int, benchmark: str) -> Fraction:
    return TABLE_2[model, size, tokens][BENCHMARKS.index(benchmark)]


def _average(model: str, size: str, tokens: int) -> Fraction:
    return TABLE_2[model, size, tokens][-1]


def _gain_of_averages(size: str, tokens: int, better: str = "kv", worse: str = "vanilla") -> Margin:
    return less(_average(worse, size, tokens), _average(better, size, tokens))


def _gain(size: str, tokens: int, benchmark: str) -> Margin:
    return less(_score("vanilla", size, tokens, benchmark), _score("kv", size, tokens, benchmark))


def _lost_cells_are(expected: tuple[tuple[str, int, str], ...]) -> Margin:
    lost = tuple((c["size"], c["tokens"], c["benchmark"]) for c in CELLS if _gain(**c).value < 0)
    return same(expected, lost)


def _earlier_is_better(size: str, early: int, late: int, fast: str = "kv", slow: str = "vanilla") -> Margin:
    """The fast model's average at the early checkpoint is at least the slow one's at the later checkpoint."""
    return at_most(_average(slow, size, CHECKPOINTS[size][late]), _average(fast, size, CHECKPOINTS[size][early]))


def _no_later_rise(model: str, size: str) -> Margin:
    """No later checkpoint scores above the first on Lambada."""
    first, *later = (_score(model, size, tokens, "Lambada") for tokens in CHECKPOINTS[size])
    return at_most(max(later), first)


def _lambada(model: str) -> tuple[Fraction, Fraction, Fraction]:
    """The best, the last and the mean score of the 2.9B model's three checkpoints."""
    scores = [_score(model, "2.9B", tokens, "Lambada") for tokens in CHECKPOINTS["2.9B"]]
    return max(scores), scores[-1], sum(scores) / len(scores)


def _lambada_better(better: str, worse: str) -> Margin:
    pairs = zip(_lambada(worse), _lambada(better), strict=True)
    return worst([less(low, high) for low, high in pairs])


def _igsm_gain(task: int, better: str = "kv", worse: str = "vanilla") -> Margin:
    return less(TABLE_4[worse][task], TABLE_4[better][task])


def _mmlu_gain(metric: int) -> Fraction:
    return TABLE_14["kv"][metric] - TABLE_14["vanilla"][metric]


def _mmlu_better(metric: int, sign: int = 1) -> Margin:
    return less(0, sign * _mmlu_gain(metric))


def _gain_exceeds(metric: int, other: int) -> Margin:
    return less(_mmlu_gain(other), _mmlu_gain(metric))


def _agrees_with_table_2(model: str, metric: int) -> Margin:
    return same(TABLE_14[model][metric], _score(model, "2.9B", 500, "MMLU"))


def _benefit_of_shots(better: str, worse: str, without: int = 1) -> Margin:
    """Few shot minus zero shot (without = 1) or cloze (0) is strictly larger for `better`."""
    benefits = {model: row[2] - row[without] for model, row in TABLE_14.items()}
    return less(benefits[worse], benefits[better])


def _in_context(better: str, worse: str) -> Margin:
    """The few-shot score is higher, and so is what few shots add to cloze, the contrast that the section draws."""
    return worst([less(TABLE_14[worse][2], TABLE_14[better][2]), _benefit_of_shots(better, worse, without=0)])


def _models_are(count: int) -> Margin:
    return same(count, len({(model, size) for model, size, _ in TABLE_2}))


SWAPPED = {"better": "vanilla", "worse": "kv"}

CLAIMS = (
    mathematical(
        "kv.tab2.average",
        f"{BOTH}, Table 2, last column",
        "Each printed average is the mean of its eight benchmarks, rounded to two places.",
        nature=Nature.TABLE,
    ),
    exact_claim(
        "kv.tab2.models",
        f"{BOTH}, Table 2, caption",
        "Four models were trained: two architectures of each of the two sizes.",
        _models_are,
        ({"count": 4},),
        (Control("four of each size", points=({"count": 8},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.sec4.2.better",
        f"{BOTH}, Section 4.2, on the averages of Table 2",
        "KV shifting has the better average at both scales and at all three numbers of training tokens.",
        _gain_of_averages,
        ROWS,
        (Control("vanilla in the place of KV shifting", lambda **p: _gain_of_averages(**p, **SWAPPED)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.sec4.2.better.cells.corrected",
        f"{BOTH}, Section 4.2, read benchmark by benchmark, our addition",
        "KV shifting is better in 43 of the 48 cells of Table 2, all but the five named ones.",
        _lost_cells_are,
        ({"expected": LOST},),
        (Control("no cell lost", points=({"expected": ()},)), Control("one fewer", points=({"expected": LOST[:4]},))),
        is_correction=True,
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.sec4.2.convergence",
        f"{BOTH}, Section 4.2, on the averages of Table 2",
        "KV shifting accelerates convergence: its first checkpoint has reached the average that vanilla has at a later "
        "one, at 2.9B the last, at 19B the second.",
        _earlier_is_better,
        ({"size": "2.9B", "early": 0, "late": 2}, {"size": "19B", "early": 0, "late": 1}),
        (
            Control("the last checkpoint at 19B", points=({"size": "19B", "early": 0, "late": 2},)),
            Control("models swapped", lambda **p: _earlier_is_better(**p, fast="vanilla", slow="kv")),
        ),
        reading="Faster means an average reached with fewer tokens.",
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.sec4.2.lambada",
        f"{BOTH}, Section 4.2, on the Lambada column",
        "Both 2.9B models seem to have converged on Lambada: no later score is above the first.",
        _no_later_rise,
        [{"model": model, "size": "2.9B"} for model in ("vanilla", "kv")],
        (Control("the 19B models, which still rise", points=[{"model": m, "size": "19B"} for m in ("vanilla", "kv")]),),
        reading="Converged means that the scores no longer rise.",
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.sec4.2.lambada.better",
        f"{BOTH}, Section 4.2, on the Lambada column",
        "On Lambada KV shifting achieves better results at 2.9B: its best, its last and its mean score are higher.",
        _lambada_better,
        ({"better": "kv", "worse": "vanilla"},),
        (Control("models swapped", points=(SWAPPED,)),),
        reading="The result of a converged benchmark is its level, not each checkpoint: at 420B vanilla is ahead.",
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.tab4",
        "KV shifting (final), Table 4 (first version: Table 7), Appendix E.2",
        "KV shifting has the higher accuracy on both iGSM tasks.",
        _igsm_gain,
        ({"task": 0}, {"task": 1}),
        (Control("models swapped", lambda task: _igsm_gain(task, **SWAPPED)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.tab14.better",
        "KV shifting (final), Appendix I (first version: Section 4.3), Table 14",
        "KV shifting is better under each of the three evaluation metrics: cloze, zero shot and few shot.",
        _mmlu_better,
        ({"metric": 0}, {"metric": 1}, {"metric": 2}),
        (Control("vanilla better", lambda metric: _mmlu_better(metric, sign=-1)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.tab14.format",
        "KV shifting (final), Appendix I (first version: Section 4.3), Table 14",
        "The multiple-choice format favours KV shifting: its gain is larger with zero and few shots than with cloze.",
        _gain_exceeds,
        ({"metric": 1, "other": 0}, {"metric": 2, "other": 0}),
        (Control("cloze against zero shot", points=({"metric": 0, "other": 1},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.tab14.in_context",
        "KV shifting (final), Appendix I (first version: Section 4.3), Table 14",
        "Table 14 shows that KV shifting enhances in-context learning: its few-shot score is higher, and so is what "
        "few shots add to the cloze score.",
        _in_context,
        ({"better": "kv", "worse": "vanilla"},),
        (Control("models swapped", points=(SWAPPED,)),),
        reading="The few-shot column measures in-context learning, and cloze what the model knows without the format.",
        note="8.71 against 6.85 above cloze; above zero shot it is the other way round (kv.tab14.in_context.shots).",
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.tab14.in_context.shots",
        "KV shifting (final), Appendix I (first version: Section 4.3), Table 14, our addition",
        "The shots themselves do not help KV shifting more than vanilla: few minus zero shots is 3.75 against 4.12.",
        _benefit_of_shots,
        ({"better": "vanilla", "worse": "kv"},),
        (Control("KV shifting gains more from the shots", points=({"better": "kv", "worse": "vanilla"},)),),
        is_correction=True,
        coverage=ENUMERATED,
    ),
    unsettled_claim(
        "kv.tab14.scores",
        "KV shifting (final), Appendix I (first version: Section 4.3), Table 14",
        "The cloze and zero-shot MMLU scores of the 2.9B models are those of the cells.",
        note="It takes the two checkpoints (open, by footnote 5) and an evaluation harness.",
    ),
    unsettled_claim(
        "kv.appI.options",
        "KV shifting (final), Appendix I (first version: Section 4.3)",
        "With multiple choice the model easily uses the context to compare the options and select the most probable.",
        note="A mechanism inside the 2.9B model: it takes the checkpoint and interventions on its heads.",
    ),
    exact_claim(
        "kv.tab14.table2",
        f"{FINAL}, Tables 2 and 14",
        "The few-shot scores of Table 14 are the MMLU scores of Table 2 at 500B tokens.",
        _agrees_with_table_2,
        ({"model": "vanilla", "metric": 2}, {"model": "kv", "metric": 2}),
        (Control("the zero-shot column", points=({"model": "vanilla", "metric": 1},)),),
        coverage=ENUMERATED,
    ),
)
