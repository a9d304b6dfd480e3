"""Tables 2, 4 and 14: benchmark scores of the trained models, and what the text says about them."""

from fractions import Fraction

from proofs_check.language import absolute, both, eq, fold, total, whole
from proofs_check.records import Table, column, count, derived, every, one, quoted, rule

TABLE_14 = "Appendix I, Table 14 (first version: Section 4.3, Table 3)"
TABLE_2, MMLU = Table("kv-shifting: Table 2"), Table("kv-shifting: Table 14").row("mmlu", "MMLU")
NAMES = [row[0] for row in TABLE_2.rows]
ROW, TEST, METRIC, TASK = whole("row", 1, 12), whole("test", 1, 8), whole("metric", 1, 3), whole("task", 1, 2)
SIZE, CHECKPOINT = CELL = whole("size", 1, 2), whole("checkpoint", 1, 3)
# The first row of the same model; scores, after a column of the tokens; rows by size and checkpoint, KV shifting below.
MODEL = column("first_row", [NAMES.index(name) + 1 for name in NAMES])
TOKENS, AVERAGE = TABLE_2.column("tokens", "TOKENS"), TABLE_2.column("average", "AVERAGE")
MMLU_2 = TABLE_2.column("mmlu_of_table_2", "MMLU")
SCORES = TABLE_2.grid("scores")
SCORE = derived("score", (ROW, TEST), SCORES(ROW, TEST + 1))
VANILLA, KV = (derived(name, (*CELL, TEST), SCORE(6 * SIZE - first + CHECKPOINT, TEST))
               for name, first in (("vanilla", 6), ("kv", 3)))
BASE, BETTER = (derived(name, CELL, AVERAGE(6 * SIZE - first + CHECKPOINT))
                for name, first in (("vanilla_average", 6), ("kv_average", 3)))
IGSM = Table("kv-shifting: Table 4").grid("accuracy")
GAIN = derived("gain", (METRIC,), MMLU(METRIC + 3) - MMLU(METRIC))
LAMBADA = 1
LOST = [(1, 2, 1), (1, 2, 2), (2, 2, 2), (2, 3, 2), (2, 3, 6)]


def scores(says, *over):
    return every(over, says, TOKENS, MODEL, AVERAGE, SCORES, SCORE, VANILLA, KV, BASE, BETTER)


def lambada(model, operation, low=1):
    """The sum or the largest of the scores on Lambada of the smaller model, from this checkpoint on."""
    return fold(operation, CHECKPOINT, low, 3, model(1, CHECKPOINT, LAMBADA))


def mmlu(says, *over):
    return every(over, says, MMLU, GAIN)


CLAIMS = (
    rule("kv.tab2.average", "Table 2 (both versions)", scores(
        absolute(total(TEST, 1, 8, SCORE(ROW, TEST)) / 8 - AVERAGE(ROW)) <= Fraction(1, 200), ROW)),
    rule("kv.tab2.models", "Table 2, caption (both versions)", scores(both(
        eq(count(eq(MODEL(ROW), ROW), ROW), 4), eq(fold("max", ROW, 1, 6, TOKENS(ROW)), 500),
        eq(fold("max", ROW, 7, 12, TOKENS(ROW)), 200)))),
    rule("kv.sec4.2.better", "Section 4.2, Table 2 (both versions)", scores(BASE(*CELL) < BETTER(*CELL), *CELL),
         why="Performance is the average of the eight benchmarks."),
    rule("kv.sec4.2.better.cells.corrected", "added to Section 4.2, Table 2 (both versions)", scores(both(
        eq(count(VANILLA(*CELL, TEST) < KV(*CELL, TEST), *CELL, TEST), 43),
        *(KV(*cell) < VANILLA(*cell) for cell in LOST)))),
    rule("kv.sec4.2.convergence", "Section 4.2, Table 2 (both versions)", scores(both(
        BASE(1, 3) <= BETTER(1, 1), BASE(2, 2) <= BETTER(2, 1))), why="Faster: an average reached with fewer tokens."),
    rule("kv.sec4.2.lambada", "Section 4.2, Table 2 (both versions)", scores(both(*(
        lambada(model, "max", 2) <= model(1, 1, LAMBADA) for model in (VANILLA, KV)))),
         why="Converged means that the scores no longer rise."),
    rule("kv.sec4.2.lambada.better", "Section 4.2, Table 2 (both versions)", scores(both(
        VANILLA(1, 3, LAMBADA) < KV(1, 3, LAMBADA),
        *(lambada(VANILLA, operation) < lambada(KV, operation) for operation in ("sum", "max")))),
         why="The result of a converged benchmark is its level: the last, the mean and the best score."),
    rule("kv.tab4", "Table 4 (first version: Table 7)", every((TASK,), IGSM(1, TASK) < IGSM(2, TASK), IGSM)),
    rule("kv.tab14.better", TABLE_14, mmlu(GAIN(METRIC) > 0, METRIC)),
    rule("kv.tab14.format", TABLE_14, mmlu(
        both(GAIN(2) > GAIN(1), GAIN(3) > GAIN(1)))),
    rule("kv.tab14.in_context", TABLE_14, mmlu(
        both(GAIN(3) > 0, MMLU(6) - MMLU(4) > MMLU(3) - MMLU(1))),
         why="Few shots measure learning in context, cloze what the model knows without the format."),
    rule("kv.tab14.in_context.shots", f"added to {TABLE_14}", mmlu(
        MMLU(6) - MMLU(5) < MMLU(3) - MMLU(2)), why="The shots themselves do not help KV shifting more."),
    rule("kv.tab14.table2", "Tables 2 and 14", one(
        both(eq(MMLU(3), MMLU_2(3)), eq(MMLU(6), MMLU_2(6))), MMLU, MMLU_2)),
    *quoted(__file__),
)
