"""Table 16, Section 4.1 and Figure 5: batches, steps, learning rates and machines, as arithmetic."""

from fractions import Fraction
from typing import Any

from proofs_check.evidence.margin import Margin, at_most, different, less, same
from proofs_check.kv.tables.configuration_data import (
    CAPTION_BATCH_M,
    FROM_SCRATCH,
    M_OF_A_BATCH,
    SIZES,
    TABLE_16,
    TEXT_BATCH_M,
    TEXT_LEARNING_RATES,
    TEXT_WARM_UP,
)
from proofs_check.ledger.claim import ENUMERATED, WITNESSED, Control, Nature, Severity, Verdict, everywhere
from proofs_check.ledger.exact_claim import BOTH, exact_claim, unsettled_claim
from proofs_check.ledger.mathematical import mathematical

TABLE = f"{BOTH}, Table 16 (first version: Table 6)"
SECTION = f"{BOTH}, Section 4.1"
MULTI_HEAD = tuple(size for size in SIZES if size not in FROM_SCRATCH)


def _batch(size: str) -> int:
    """Tokens of a step: GPUs x sequences per GPU x context length."""
    row = TABLE_16[size]
    return row["gpus"] * row["batch_per_gpu"] * row["context"]


def _batch_rounds_to(size: str, m: int, unit: int = M_OF_A_BATCH) -> Margin:
    return at_most(abs(Fraction(_batch(size), unit) - m), Fraction(1, 2))


def _batch_is(size: str, m: Fraction) -> Margin:
    return same(m * M_OF_A_BATCH, Fraction(_batch(size)))


def _steps(size: str) -> Fraction:
    return Fraction(TABLE_16[size]["tokens"] * 10**9, _batch(size))


def _half_the_steps(size: str, other: str) -> Margin:
    return same(_steps(size) * 2, _steps(other))


def _cell_is(size: str, name: str, value: Any) -> Margin:
    return same(value, TABLE_16[size][name])


def _cell_differs(size: str, name: str, value: Any) -> Margin:
    return different(value, TABLE_16[size][name])


def _warm_ups(sizes: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{"size": size, "name": "warm_up", "value": TEXT_WARM_UP} for size in sizes]


def _rate_is_constant(step: int, warm_up: int) -> Margin:
    """After a linear warm-up the rate, in units of its peak, is 1."""
    return same(Fraction(1), min(Fraction(1), Fraction(step, warm_up)))


def _gpu_is(size: str, name: str) -> Margin:
    return same(name, TABLE_16[size]["gpu"].partition("-")[0])


def _gpu_differs(size: str, name: str) -> Margin:
    return different(name, TABLE_16[size]["gpu"].partition("-")[0])


def _fastest(size: str) -> Margin:
    return less(max(TABLE_16[s]["learning_rate"] for s in SIZES if s != size), TABLE_16[size]["learning_rate"])


CLAIMS = (
    exact_claim(
        "kv.sec4.1.batch",
        f"{SECTION}, Hyperparameters, with Table 16 and footnote 6",
        "GPUs x batch x context of Table 16 are 1M, 16M, 1M, 2M and 3M tokens, to the nearest M = 2^20.",
        _batch_rounds_to,
        [{"size": s, "m": m} for s, m in zip(SIZES, TEXT_BATCH_M, strict=True)],
        (Control("M = 10^6", lambda size, m: _batch_rounds_to(size, m, 10**6)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.fn6",
        f"{BOTH}, footnote on 1M, with Table 16",
        "1M of a batch is 1,048,576 = 1024 x 1024 tokens: in it the batches of Table 16 are 1M, 16M, 1M, 2M and 3M.",
        _batch_rounds_to,
        [{"size": s, "m": m, "unit": 1024 * 1024} for s, m in zip(SIZES, TEXT_BATCH_M, strict=True)],
        (Control("M = 10^6", lambda size, m, unit: _batch_rounds_to(size, m, 10**6)),),
        reading="Nominal sizes, to the nearest M.",
        coverage=ENUMERATED,
    ),
    unsettled_claim(
        "kv.fn6.elsewhere",
        f"{BOTH}, footnote on 1M",
        "Elsewhere in the paper 1M means 1,000,000.",
        note="The numbers that exist fit both: only the authors can say. Nothing rests on it.",
    ),
    mathematical(
        "kv.fig5.batch",
        f"{BOTH}, Figure 5 (first version: 6), caption",
        "The batch is 0.5M tokens at 1.5B and 6.7B, and 1M at 13B.",
        nature=Nature.TABLE,
        verdict=Verdict.FALSE,
        severity=Severity.ARITHMETIC,
        correction="kv.fig5.batch.corrected",
        note="Section 4.1 and Table 16 give twice as much: 1M, 1M and 2M.",
    ),
    exact_claim(
        "kv.fig5.batch.corrected",
        f"{BOTH}, Figure 5 (first version: 6), caption, corrected",
        "By Table 16 the batch is 1M tokens at 1.5B and 6.7B, and 2M at 13B, with M = 2^20.",
        _batch_is,
        [{"size": s, "m": 2 * m} for s, m in CAPTION_BATCH_M.items()],
        (Control("as printed", points=[{"size": s, "m": m} for s, m in CAPTION_BATCH_M.items()]),),
        is_correction=True,
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.fig5.steps",
        f"{BOTH}, Figure 5 (first version: 6), caption",
        "The 13B model takes half of the steps of the others, all on 10B tokens.",
        _half_the_steps,
        ({"size": "13B", "other": "1.5B"}, {"size": "13B", "other": "6.7B"}),
        (Control("the 6.7B model against the 1.5B one", points=({"size": "6.7B", "other": "1.5B"},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.sec4.1.learning_rate",
        f"{SECTION}, Hyperparameters, with Table 16",
        "The learning rates of the text, 2e-4, 8e-4, 2e-4, 2e-4 and 2e-4, are those of Table 16.",
        _cell_is,
        [{"size": s, "name": "learning_rate", "value": r} for s, r in zip(SIZES, TEXT_LEARNING_RATES, strict=True)],
        (Control("8e-4 at 6.7B", points=({"size": "6.7B", "name": "learning_rate", "value": Fraction(8, 10**4)},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.sec4.3.large_rate",
        f"{BOTH}, Section 4.3 (first version: 4.4)",
        "The 2.9B model is trained with a large learning rate: the largest of Table 16.",
        _fastest,
        ({"size": "2.9B"},),
        (Control("the 19B model", points=({"size": "19B"},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.sec4.1.warm_up",
        f"{SECTION}, Hyperparameters, with Table 16",
        "The warm-up of the models takes 1000 steps.",
        _cell_differs,
        _warm_ups(FROM_SCRATCH),
        (Control("the three other models", points=_warm_ups(MULTI_HEAD)),),
        verdict=Verdict.FALSE,
        witness={"size": "2.9B", "name": "warm_up", "value": TEXT_WARM_UP},
        note="Table 16 gives 600 steps at 2.9B and 3000 at 19B.",
        severity=Severity.ARITHMETIC,
        coverage=WITNESSED,
    ),
    exact_claim(
        "kv.tab16.schedule",
        f"{TABLE}, Learning Rate Schedule",
        "The schedule of the learning rate is constant, after the warm-up that the same table lists.",
        _rate_is_constant,
        [{"step": w + k, "warm_up": w} for w in (600, 1000, 3000) for k in (0, 1, 10_000)],
        (Control("a step of the warm-up", points=({"step": 599, "warm_up": 600},)),),
        reading="The warm-up, a row of the same table, is not part of the schedule.",
        coverage=everywhere("The rate is min(1, step / warm-up): 1 from the end of the warm-up on, whatever the step."),
    ),
    exact_claim(
        "kv.sec4.1.machines.from_scratch",
        f"{SECTION}, Setting, with Table 16",
        "The models trained from scratch ran on H800 GPUs.",
        _gpu_differs,
        ({"size": "19B", "name": "H800"},),
        (Control("the 2.9B model", points=({"size": "2.9B", "name": "H800"},)),),
        verdict=Verdict.FALSE,
        witness={"size": "19B", "name": "H800"},
        note="Table 16 gives A800 for the 19B model.",
        severity=Severity.ARITHMETIC,
        coverage=WITNESSED,
    ),
    exact_claim(
        "kv.sec4.1.machines.others",
        f"{SECTION}, Setting, with Table 16",
        "The models not trained from scratch ran on A100 GPUs.",
        _gpu_is,
        [{"size": s, "name": "A100"} for s in MULTI_HEAD],
        (Control("the models trained from scratch", points=[{"size": s, "name": "A100"} for s in FROM_SCRATCH]),),
        coverage=ENUMERATED,
    ),
)
