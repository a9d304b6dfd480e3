"""Table 16, Section 4.1 and Figure 5: batches, steps, learning rates and machines, as arithmetic."""

from fractions import Fraction

from proofs_check.core.terms import lift
from proofs_check.kv.tables.models import FROM_SCRATCH, MODEL, SETTINGS, TABLE, models, of
from proofs_check.language import absolute, both, either, eq, implies, least, ne, whole
from proofs_check.records import column, derived, quoted, rule

SECTION = "Section 4.1, Table 16 (first version: Section 4.1, Table 6)"
FIGURE_5 = "Figure 5, caption, Table 16 (first version: Figure 6, Table 6)"
# Section 4.1: warm-up, learning rates, batches in M. Footnote 6: the M of a batch.
WARM_UP, RATE = SETTINGS.said("said_warm_up", 0), SETTINGS.said("said_rate", *range(6, 11))
SAID_BATCH, MILLION = SETTINGS.said("said_batch", *range(11, 16)), SETTINGS.said("million", 16)
# The caption of Figure 5: three models, each with its batch in M.
CAPTION, STEP = whole("caption", 1, 3), whole("step", of("warm_up"))
CAPTION_NAME, CAPTION_BATCH = SETTINGS.said("caption_name", 18, 20, 22), SETTINGS.said("caption_batch", 19, 21, 23)
IN_CAPTION = eq(CAPTION_NAME(CAPTION), of("name"))
STEPS = derived("steps", (MODEL,), 10**9 * of("tokens") / of("batch"))
SQUARE = lift(1024) * 1024
BATCH_FITS = absolute(of("batch") / MILLION() - SAID_BATCH(MODEL)) <= Fraction(1, 2)


def on(card):
    """1 for a model that was trained on this card."""
    return column(card, [int(cell == f"{card}-80G") for cell in TABLE.cells("GPU")])


def in_caption(batch):
    return models(implies(IN_CAPTION, eq(of("batch"), batch * MILLION())),
                  CAPTION_NAME, CAPTION_BATCH, MILLION, over=(CAPTION, MODEL))


H800, A100 = on("H800"), on("A100")

CLAIMS = (
    rule("kv.sec4.1.batch", "Section 4.1, footnote 6, Table 16 (first version: Section 4.1, footnote 9, Table 6)",
         models(BATCH_FITS, SAID_BATCH, MILLION), why="To the nearest M."),
    rule("kv.fn6", "footnote 6, Table 16 (first version: footnote 9, Table 6)", models(
        both(eq(MILLION(), SQUARE), BATCH_FITS), SAID_BATCH, MILLION), why="Nominal sizes, to the nearest M."),
    rule("kv.fig5.batch", FIGURE_5, in_caption(CAPTION_BATCH(CAPTION)), meant=in_caption(2 * CAPTION_BATCH(CAPTION)),
         why="Section 4.1 and Table 16 give twice as much."),
    rule("kv.fig5.steps", FIGURE_5, models(
        both(implies(IN_CAPTION, eq(of("tokens"), 10)),
             implies(both(IN_CAPTION, ne(of("name"), 13)), eq(2 * of("steps", 4), of("steps")))),
        CAPTION_NAME, STEPS, over=(CAPTION, MODEL))),
    rule("kv.sec4.1.learning_rate", SECTION, models(eq(of("rate") - RATE(MODEL), 0), RATE)),
    rule("kv.sec4.3.large_rate", "Section 4.3, Table 16 (first version: Section 4.4, Table 6)", models(
        either(eq(of("name"), Fraction(29, 10)), of("rate") < of("rate", 2)))),
    rule("kv.sec4.1.warm_up", SECTION, models(eq(of("warm_up"), WARM_UP()), WARM_UP)),
    rule("kv.tab16.schedule", "Table 16 (first version: Table 6)", models(
        eq(least(1, STEP / of("warm_up")), 1), over=(MODEL, STEP)),
         why="The schedule is constant after the linear warm-up, a row of the same table."),
    rule("kv.sec4.1.machines.from_scratch", SECTION, models(implies(FROM_SCRATCH, eq(H800(MODEL), 1)), H800)),
    rule("kv.sec4.1.machines.others", SECTION, models(either(FROM_SCRATCH, eq(A100(MODEL), 1)), A100)),
    *quoted(__file__),
)
