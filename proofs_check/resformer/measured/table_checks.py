"""Margins for the tables of ResFormer, in fractions of the printed cells."""

from fractions import Fraction

import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, different, identity, less, same, worst
from proofs_check.resformer.measured.table_cells import (
    ACCUMULATION,
    COLUMNS,
    RATES,
    STEPS,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_5,
    WARMUP,
)
from theory.value_residual import TABLE_4, model_parameters, svformer_saving

HALF_A_UNIT = {1: Fraction(1, 2000), 5: Fraction(1, 20_000)}  # of the last printed digit, by table


def mean_of(table: int, model: str, at: int, off: int = 0) -> Fraction:
    """The mean of a row's cells, `off` too many in the count."""
    cells = (TABLE_1 if table == 1 else TABLE_5)[model, at][:-1]
    return sum(cells, Fraction(0)) / (len(cells) + off)


def average(table: int, model: str, at: int, off: int = 0, unit: Fraction | None = None) -> Margin:
    """|mean of the cells - printed average| is at most half a unit of the last digit."""
    printed = (TABLE_1 if table == 1 else TABLE_5)[model, at][-1]
    return at_most(abs(mean_of(table, model, at, off) - printed), unit or HALF_A_UNIT[table])


def gain(length: int) -> Fraction:
    """How much more of the six tasks ResFormer gets right, in points."""
    return 100 * (mean_of(1, "ResFormer", length) - mean_of(1, "Transformer", length))


def gain_is_not(length: int, printed: int = 3) -> Margin:
    """Neither the points nor the per cent of the Transformer's average round to the printed number."""
    found = gain(length), gain(length) / mean_of(1, "Transformer", length)
    return worst([Margin(less(Fraction(1, 2), abs(printed - one)).value, printed, one) for one in found])


def gain_is(length: int, points: Fraction) -> Margin:
    """Rounded to two decimals."""
    return at_most(abs(gain(length) - points), Fraction(1, 200))


def better_everywhere(size: int, first: str = "ResFormer", second: str = "Transformer") -> Margin:
    """A lower loss on every domain of Table 5."""
    pairs = zip(TABLE_5[first, size][:-1], TABLE_5[second, size][:-1], strict=True)
    return worst([less(a, b) for a, b in pairs])


def shares(total_percent: int = 100, total_tokens: int = 20) -> Margin:
    """Table 2 adds up, and each domain's tokens are its share of all."""
    parts = [same(Fraction(percent, 100) * total_tokens, Fraction(tokens)) for percent, tokens in TABLE_2.values()]
    return worst([*parts, same(total_percent, sum(percent for percent, _ in TABLE_2.values()))])


def weighted_by_tokens(model: str, size: int, printed: str) -> Margin:
    """The mean of a row by the shares of Table 2, to four decimals."""
    cells = zip(COLUMNS, TABLE_5[model, size][:-1], strict=True)
    found = sum((Fraction(TABLE_2[domain][0], 100) * loss for domain, loss in cells), Fraction(0))
    return at_most(abs(found - Fraction(printed)), Fraction(1, 20_000))


def batch_is(length: int, steps: int = ACCUMULATION, gpus: int = 1) -> Margin:
    """The total batch is what so many GPUs hold in so many steps."""
    total, each = TABLE_3[length]
    return same(total, each * steps * gpus)


def two_million(length: int, within: Fraction) -> Margin:
    """Tokens in a batch are 2 million up to a share."""
    return at_most(abs(length * TABLE_3[length][0] - 2 * 10**6), within * 2 * 10**6)


def one_epoch(length: int, within: Fraction = Fraction(1, 20)) -> Margin:
    """The tokens of all steps are 20 billion up to a share."""
    return at_most(abs(STEPS * length * TABLE_3[length][0] - 20 * 10**9), within * 20 * 10**9)


def warmups(first: str = "Section 4.1.1", second: str = "Table 4") -> Margin:
    value = different(WARMUP[first], WARMUP[second]).value
    return Margin(value, f"{WARMUP[first]} steps in {first}", f"{WARMUP[second]} steps in {second}: not both")


def summed_rate(warmup: int) -> Fraction:
    """Of all steps: up a line, then down half a cosine, whose terms cancel but for the first."""
    start, peak, end = RATES
    rest = STEPS - warmup
    return warmup * start + (peak - start) * Fraction(warmup - 1, 2) + rest * end + (peak - end) * Fraction(rest + 1, 2)


def summed_within(warmup: int, share: Fraction) -> Margin:
    """The sum is that with the 120 steps of Table 4 up to a share."""
    return at_most(abs(1 - summed_rate(warmup) / summed_rate(WARMUP["Table 4"])), share)


def decays_to(share: Fraction) -> Margin:
    """The last learning rate of Table 4 is this share of its peak."""
    return same(share, RATES[2] / RATES[1])


def losses_missing(size: int) -> Margin:
    """Table 5 has no two rows of this size, one a model."""
    rows = sum(at == size for _, at in TABLE_5)
    return Margin(different(2, rows).value, f"losses of {size}M in Appendix A.6", f"{rows} rows of {size}M in Table 5")


def size_is(label: int, parameters: int, tied: bool = False) -> Margin:
    """Parameters of a row of Table 4, exactly, and its label is that in millions, rounded."""
    found = _parameters(label) - (_embedding(label) if tied else 0)
    return worst([same(parameters, found), at_most(abs(found - label * 10**6), 10**6 // 2)])


def saved_is(label: int, percent: str) -> Margin:
    """What SVFormer's missing value projections are of all parameters, to two decimals of a per cent."""
    shape = TABLE_4[f"{label}M"]
    share = Fraction(svformer_saving(shape.layers, shape.hidden), _parameters(label))
    return at_most(abs(100 * share - Fraction(percent)), Fraction(1, 200))


def _parameters(label: int) -> int:
    shape = TABLE_4[f"{label}M"]
    return model_parameters(shape.layers, shape.hidden, shape.ffn, shape.vocab)


def _embedding(label: int) -> int:
    return TABLE_4[f"{label}M"].hidden * TABLE_4[f"{label}M"].vocab


def kaplan_between(low: Fraction, high: Fraction, parameters: int = 700 * 10**6) -> Margin:
    """5000 N^{0.74} lies strictly between two numbers of billions: their quotients, in 50th powers, which are whole."""
    found = Fraction(5000) ** 50 * Fraction(parameters) ** 37
    return worst([less((low * 10**9) ** 50 / found, 1), less(1, (high * 10**9) ** 50 / found)])


def billion(width: int, non_embedding: int, label: int = 10**9) -> Margin:
    """With both embeddings a model of so many other parameters rounds to the label, to a tenth."""
    return at_most(abs(non_embedding + 2 * TABLE_4["2M"].vocab * width - label), Fraction(label, 10))


def attention_doubles(projections: int = 0) -> Margin:
    """A query's products with two layers' keys, and its weights' with their values, over those of one layer: 2."""
    length, width = sp.symbols("l d", positive=True)
    fixed = projections * width**2
    return identity((fixed + 4 * length * width) / (fixed + 2 * length * width), 2)


def computation(length: int, causal: bool = False, output: bool = True) -> Fraction:
    """Multiplications a token of the 468M model of Table 4: with Eq. 2 in all layers but the first, over those without.

    output: with the output matrix.
    """
    shape = TABLE_4["468M"]
    fixed = shape.layers * (4 * shape.hidden**2 + 3 * shape.hidden * shape.ffn)
    fixed += output * shape.vocab * shape.hidden
    attended = 2 * shape.hidden * (Fraction(length + 1, 2) if causal else length)
    return (fixed + (2 * shape.layers - 1) * attended) / (fixed + shape.layers * attended)


def costs(length: int, share: str, **how: bool) -> Margin:
    """To three decimals."""
    return at_most(abs(computation(length, **how) - Fraction(share)), Fraction(1, 2000))
