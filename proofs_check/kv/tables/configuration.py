"""Tables 1 and 16 and Section 4.1: what the models are called, and how many parameters they have."""

from proofs_check.kv.tables.models import FROM_SCRATCH, MODEL, SETTINGS, TABLE, digits, models, of
from proofs_check.language import absolute, both, choice, either, eq, implies, total, var, when
from proofs_check.records import column, constant, count, derived, one, rule
from proofs_check.records.tables import number

SECTION = "Section 4.1, Table 16 (first version: Section 4.1, Table 6)"
# Touvron et al. (2023), Section 2.2: "the total vocabulary size is 32k tokens".
LLAMA = constant("llamas_vocabulary", 32_000)
PRINTED = SETTINGS.said("printed_vocabulary", 17)
LLAMAS = column("vocabulary", [32_000 if cell == "36,000" else number(cell) for cell in TABLE.cells("VOCAB SIZE")])
TEXT_NAME, TEXT_DIGIT = SETTINGS.said("text_name", *range(1, 6)), digits("text_digit", SETTINGS.header[1:6])
COUNTED = derived("counted", (MODEL,), of("total"))
ONE_WITHOUT = derived("counted", (MODEL,), when(eq(MODEL, 1), of("non_embedding"), of("total")))
# A coefficient for keys and values, each pair of them, this token and the one before.
ADDED = derived("added", (MODEL,), total(
    var("tensor"), 1, 2, total(var("pair"), 1, of("kv_heads"), total(var("token"), 1, 2, 1))))


def off(counted, name="name", digit="last_digit"):
    """By how many halves of its last digit the number misses the name, in billions."""
    return 2 * absolute(of(counted) / 10**9 - of(name)) / of(digit)


def named(counted):
    return models(off("counted", "text_name", "text_digit") <= 1, counted, TEXT_NAME, TEXT_DIGIT)


CLAIMS = (
    rule("kv.tab16.names", "Table 16, footnote 9 (first version: Table 6, footnote 12)", models(off("total") <= 1),
         meant=models(off("total") <= 1, vocabulary=LLAMAS), reading="cited",
         why="Llama's original vocabulary, which the text names, has 32,000 tokens and not 36,000."),
    rule("kv.tab16.names.printed_vocabulary", "added to Table 16 (first version: Table 6)", models(
        off("total") > 1, over=(choice("model", 1, 3),))),
    rule("kv.sec4.1.names", SECTION, named(COUNTED), meant=named(ONE_WITHOUT),
         reading="embeddings", why="Of the five names only 1.4B leaves them out."),
    rule("kv.sec1.ten_billion", "Abstract (both versions)", models(
        count(of("non_embedding") > 10**10, MODEL) > 1, over=())),
    rule("kv.fn1.extra_parameters", "footnote 1, Table 16 (first version: footnote 1, Table 6)", models(
        eq(of("added"), 4 * of("kv_heads")), ADDED)),
    rule("kv.sec4.1.vocabulary", "Section 4.1 (both versions)", one(eq(LLAMA(), PRINTED(1)), LLAMA, PRINTED),
         why="The number is from the work that the paper cites for Llama. With it the models' names are their totals."),
    rule("kv.sec4.1.grouped", SECTION, models(both(
        implies(FROM_SCRATCH, both(of("kv_heads") < of("heads"), eq(of("vocabulary"), 48_000))),
        either(FROM_SCRATCH, both(eq(of("kv_heads"), of("heads")), eq(of("vocabulary"), PRINTED(1))))), PRINTED)),
    rule("kv.sec4.1.grouped_memory", SECTION, models(
        implies(FROM_SCRATCH, of("cached") < 2 * of("layers") * of("hidden"))),
        why="KV shifting keeps one raw key and value more a layer."),
    rule("kv.sec4.1.grouped_memory.shift", f"added to {SECTION}",
         models(2048 * of("cached") <= of("context") * of("cached")),
         why="The raw last key and value are as many numbers as one token has in the cache of a full window."),
)
