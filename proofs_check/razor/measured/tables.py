"""Tables 1 and 3 of RazorAttention: their arithmetic, and the sentences drawn from them."""

from fractions import Fraction

from proofs_check.language import both, eq, ne, total, when, whole
from proofs_check.records import Table, column, count, derived, every, one, quoted, rounds, rule

ROW, MODEL, TASK = whole("row", 1, 16), whole("model", 1, 4), whole("task", 1, 15)
TOKEN = whole("token", 1, 8)
SHARED = whole("task", 1, 3)  # MultiFieldQA-en, HotpotQA, 2WikiMQA
HEADS, LONGBENCH = Table("razorattention: Table 1"), Table("razorattention: Table 3")
BASELINE, UNPROTECTED = HEADS.row("baseline", "Baseline"), HEADS.row("unprotected", "Protect 0\\% heads")
RANDOM = HEADS.row("random", "Protect 15% heads (Random)")
RETRIEVAL = HEADS.row("retrieval", "Protect 15% heads (Retrieval)")
SCORE = LONGBENCH.grid("score", blank=-1, first=2)
AVERAGE = LONGBENCH.column("average", "Average")
GIVEN = SCORE(ROW, TASK) >= 0
MEAN = derived("mean", (ROW,), total(TASK, 1, 15, when(GIVEN, SCORE(ROW, TASK), 0)) / count(GIVEN, TASK))
WITHOUT_CELL = 10  # Llama3-8B under StreamingLLM
# Weights of a head on eight near tokens and a needle, cut to its local context and whole.
LOCAL = column("local", [Fraction(1, 8)] * 8 + [0])
WIDE = column("wide", [Fraction(1, 1032)] * 8 + [Fraction(1024, 1032)])


def loss(row):
    """The mean of what a row of Table 1 loses of the baseline, in points."""
    return derived(f"loss_{row.name}", (), total(SHARED, 1, 3, BASELINE(SHARED) - row(SHARED)) / 3)


def method(name, place):
    """The average of a method, model by model: it stands at this place of the four rows of each model."""
    return derived(name, (MODEL,), AVERAGE(4 * MODEL - 4 + place))


LOSS, LOSS_RANDOM, LOSS_RETRIEVAL = map(loss, (UNPROTECTED, RANDOM, RETRIEVAL))
FULL, STREAMING, H2O, RAZOR = map(method, ("full", "streaming", "h2o", "razor"), (1, 2, 3, 4))


def losses(says):
    return one(says, BASELINE, UNPROTECTED, RANDOM, RETRIEVAL, LOSS, LOSS_RANDOM, LOSS_RETRIEVAL)


def averages(says, over=()):
    return every(over, says, AVERAGE, FULL, STREAMING, H2O, RAZOR)


def below(name, *hundredths):
    """By how much the averages of a method are below those of the full cache, model by model."""
    return [eq(FULL(model) - name(model), Fraction(points, 100)) for model, points in enumerate(hundredths, 1)]


CLAIMS = (
    rule("razor.tab1.local", "Section 3.2, Table 1", losses(rounds(LOSS(), Fraction(73, 10), 1)),
         meant=losses(rounds(LOSS(), Fraction(77, 10), 1)), why="In points; as a share of the baseline it is more."),
    rule("razor.tab1.random", "Section 3.2, Table 1", losses(rounds(LOSS_RANDOM(), Fraction(71, 10), 1)),
         meant=losses(both(Fraction(71, 10) <= LOSS_RANDOM(), LOSS_RANDOM() < Fraction(72, 10))), reading="cut"),
    rule("razor.tab1.retrieval", "Section 3.2, Table 1", losses(rounds(LOSS_RETRIEVAL(), Fraction(3, 10), 1))),
    rule("razor.tab1.shown", "Table 1, caption", losses(
        both(LOSS_RANDOM() > LOSS() / 2, LOSS_RETRIEVAL() < LOSS() / 2)),
         why="Most is more than half of what is lost without protection. One model, three tasks, one draw of heads."),
    rule("razor.tab1.gap", "added to Section 3.2, Table 1", losses(
        both(eq(LOSS_RETRIEVAL(), Fraction(33, 100)), LOSS_RETRIEVAL() < LOSS() / 20)),
         why="The paper calls what remains a notable gap."),
    rule("razor.tab1.streaming", "added to Tables 1 and 3", one(
        both(*(SCORE(2, task) < UNPROTECTED(shared) for shared, task in ((1, 3), (2, 5), (3, 6)))), SCORE, UNPROTECTED),
         why="Table 1 keeps the last 4K tokens in every head, and StreamingLLM scores less on all that they share."),
    rule("razor.tab3.averages", "Table 3", every(
        (ROW,), rounds(MEAN(ROW), AVERAGE(ROW), 2), SCORE, AVERAGE, MEAN, given=[ne(ROW, WITHOUT_CELL)]),
         why="That row lacks a cell in the text at hand; tasks that are not given do not count."),
    rule("razor.tab3.superior", "Section 4.1, Table 3", averages(
        both(STREAMING(MODEL) < RAZOR(MODEL), H2O(MODEL) < RAZOR(MODEL)), (MODEL,)), why="By the averages."),
    rule("razor.tab3.comparable.averages", "added to Table 3", averages(
        both(*below(RAZOR, 16, 18, 58, -4), *below(H2O, 187, 186, 255, 72)))),
    rule("razor.tab1.solely.redundant", "added to Table 1", every(
        (TOKEN,), both(100 * WIDE(9) > 99, LOCAL(TOKEN) + WIDE(TOKEN) < LOCAL(9) + WIDE(9)), LOCAL, WIDE),
         why="Either of two heads that find one needle is cut at no loss: the needle stays the answer."),
    *quoted(__file__),
)
