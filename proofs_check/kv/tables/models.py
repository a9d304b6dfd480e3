"""The five models of Tables 1 and 16 as terms: what they are called, their shapes, their numbers of parameters."""

from fractions import Fraction

from proofs_check.language import call, either, eq, whole
from proofs_check.records import Table, column, derived, every
from proofs_check.records.tables import number

MODEL = whole("model", 1, 5)
TABLE = Table("kv-shifting: Table 16")
# Section 4.1, footnote 6 and the caption of Figure 5.
SETTINGS = Table("kv-shifting: settings")
ROWS = {
    "hidden": "HIDDEN SIZE", "layers": "LAYERS", "heads": "HEAD NUMBER", "kv_heads": "KV NUMBER", "ffn": "FFN SIZE",
    "max_length": "MAX LENGTH", "tokens": "TOTAL TOKENS", "vocabulary": "VOCAB SIZE", "gpus": "GPU NUMBERS",
    "context": "CONTEXT LENGTH", "batch_per_gpu": "BATCH SIZE PER GPU", "rate": "LEARNING RATE",
    "warm_up": "WARM-UP STEPS",
}  # fmt: skip


def of(name, model=MODEL):
    """This number of a model."""
    return call(name, model)


def digits(name, cells):
    """The unit of the last digit of each name, as 0.1 of 1.5B."""
    return column(name, [Fraction(1, 10 ** len(cell.removesuffix("B").partition(".")[2])) for cell in cells])


def models(says, *using, over=(MODEL,), **other):
    """What is said of every model. other: columns in the place of those of the same name."""
    return every(over, says, *({**DEFINITIONS, **other}[name] for name in DEFINITIONS), *using)


# Billions; Llama's queries and outputs, keys and values of fewer heads, FFN of three matrices and gains of the norms;
# tokens of a step; numbers in the cache of one token.
DEFINITIONS = {name: TABLE.row(name, title) for name, title in ROWS.items()} | {
    "name": column("name", map(number, TABLE.header[1:])), "last_digit": digits("last_digit", TABLE.header[1:]),
    "non_embedding": derived("non_embedding", (MODEL,), of("hidden") + of("layers") * of("hidden") * (
        2 * of("hidden") * (1 + of("kv_heads") / of("heads")) + 3 * of("ffn") + 2)),
    "total": derived("total", (MODEL,), of("non_embedding") + 2 * of("vocabulary") * of("hidden")),
    "batch": derived("batch", (MODEL,), of("gpus") * of("batch_per_gpu") * of("context")),
    "cached": derived("cached", (MODEL,), 2 * of("layers") * of("kv_heads") * of("hidden") / of("heads")),
}  # fmt: skip
FROM_SCRATCH = either(*(eq(of("name"), number(SETTINGS.header[place])) for place in (24, 25)))
