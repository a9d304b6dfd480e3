"""Tables 1 to 5 of ResFormer: their arithmetic, and the sentences drawn from them."""

from fractions import Fraction

from proofs_check.language import absolute, both, choice, either, eq, exp, log, total, whole
from proofs_check.records import Table, column, constant, count, derived, every, one, quoted, rounds, rule
from proofs_check.records.tables import numbers

# Table 1: columns 2 to 7 are the six tasks; rows 1 and 2 have sequences of 2048 tokens, 3 and 4 of 64000.
ACCURACY = Table("resformer: Table 1")
SCORE, AVERAGE = ACCURACY.grid("score"), ACCURACY.column("average", "Avg")
ROW, TASK, LENGTH = whole("row", 1, 4), whole("task", 2, 7), whole("length", 1, 2)
MEAN = derived("mean", (ROW,), total(TASK, 2, 7, SCORE(ROW, TASK)) / 6)
PLAIN, OURS = MEAN(2 * LENGTH - 1), MEAN(2 * LENGTH)  # the Transformer and ResFormer
POINTS = derived("points", (LENGTH,), 100 * (OURS - PLAIN))
PER_CENT = derived("per_cent", (LENGTH,), POINTS(LENGTH) / PLAIN)

# Tables 2 and 5. From the fourth on all shares are one number, so that the order of the domains does not matter.
DOMAINS, LOSSES = Table("resformer: Table 2"), Table("resformer: Table 5")
SHARE, TOKENS = DOMAINS.column("share", "proportions"), DOMAINS.column("tokens", "Tokens")
LOSS, MEAN_LOSS, ROW_SIZE = LOSSES.grid("loss"), LOSSES.column("mean_loss", "Avg."), LOSSES.titles("row_size")
DOMAIN, OTHER, LOSS_ROW = whole("domain", 1, 7), whole("other", 1, 7), whole("row", 1, 6)
DATA = constant("data", 20)  # billions of tokens: Sections 4.1.1 and A.4, Table 4
PLAIN_LOSS = total(DOMAIN, 1, 7, LOSS(LOSS_ROW, DOMAIN)) / 7
WEIGHTED_LOSS = total(DOMAIN, 1, 7, SHARE(DOMAIN) / 100 * LOSS(LOSS_ROW, DOMAIN))
SIZES = choice("size", 82, 180, 320, 468)  # millions: Section 4.2
WEIGHTED = column("weighted", map(Fraction, ("3.0725", "2.8235", "2.5923", "3.0480", "2.7912", "2.5638")))

# Table 3, by length of a sequence.
SETUP, LENGTHS = Table("resformer: Table 3"), whole("length", 1, 5)
SEQUENCE, BATCH = SETUP.said("sequence", 1, 2, 3, 4, 5), SETUP.row("batch", "Total Batch Size")
PER_GPU, STEPS = SETUP.row("per_gpu", "Per-GPU Batch Size"), SETUP.row("steps", "Gradient Accumulation Step")
GPUS, PART = SETUP.row("gpus", "GPUs"), PER_GPU(LENGTHS) * STEPS(1)
BATCH_TOKENS = derived("batch_tokens", (LENGTHS,), SEQUENCE(LENGTHS) * BATCH(LENGTHS) / 10**6)  # millions
BATCHES = (BATCH, PER_GPU, STEPS, GPUS)
PRINTED_BATCH = constant("printed_batch", 2)  # millions of tokens: Section 4.1.1, Table 4

# Table 4, by size of the model: untied embeddings, SwiGLU, two norms a layer and one more.
MODELS, MODEL = Table("resformer: Table 4"), whole("model", 1, 4)
SIZE, LAYERS = MODELS.said("size", 1, 2, 3, 4), MODELS.row("layers", "Layers")
HIDDEN, FFN = MODELS.row("hidden", "Hidden Dimension"), MODELS.row("ffn", "FFN Dimension")
VOCABULARY = MODELS.row("vocabulary", "Vocabulary Size")
L, D, EMBEDDING = LAYERS(MODEL), HIDDEN(MODEL), VOCABULARY(1) * HIDDEN(MODEL)
MATRICES = derived("matrices", (MODEL,), L * (4 * D**2 + 3 * D * FFN(MODEL)))
PARAMETERS = derived("parameters", (MODEL,), MATRICES(MODEL) + 2 * L * D + D + 2 * EMBEDDING)
SAVED = column("saved", (0, Fraction(224, 100), Fraction(361, 100), Fraction(515, 100)))  # per cent

# Multiplications a token: of attention to so many keys, and of the whole model, with Equation 2 in all layers but the
# first and without it. A causal kernel computes half of the products.
KEYS = whole("keys")
ATTENTION = derived("attention", (MODEL, KEYS), 2 * D * KEYS)
PLAIN_COST = derived("cost", (MODEL, KEYS), MATRICES(MODEL) + EMBEDDING + L * ATTENTION(MODEL, KEYS))
CROSS_COST = derived("cross_cost", (MODEL, KEYS), PLAIN_COST(MODEL, KEYS) + (L - 1) * ATTENTION(MODEL, KEYS))
COSTS = (VOCABULARY, LAYERS, HIDDEN, FFN, MATRICES, ATTENTION, PLAIN_COST, CROSS_COST)

# The schedule: Section 4.1.1 and Table 4. A line up, then down half a cosine, whose terms cancel but for the first.
SCHEDULE = column("schedule", numbers(MODELS.cells("(Warmup Steps, Training Steps)")[0]))
WARMUP = Table("resformer: Section 4.1.1").said("warmup_in_the_text", 0)
FIRST, PEAK, LAST = (constant("first_rate", Fraction(1, 10**7)), constant("peak_rate", Fraction(6, 10**4)),
                     constant("last_rate", Fraction(6, 10**5)))  # fmt: skip
UP, TIMES = whole("warmup"), whole("times", 1, 20)
SUMMED = derived("summed_rate", (UP,), UP * FIRST() + (PEAK() - FIRST()) * (UP - 1) / 2 + (SCHEDULE(2) - UP) * LAST()
                 + (PEAK() - LAST()) * (SCHEDULE(2) - UP + 1) / 2)  # fmt: skip
EPOCH = (SCHEDULE, SEQUENCE, BATCH, BATCH_TOKENS, PRINTED_BATCH, DATA)

# Appendix A.4, in billions: the complete model of so many other parameters, and the data that these need.
N, WIDTH, LABEL = constant("non_embedding", 700 * 10**6), constant("width", 2048), constant("label", 1)
COMPLETE = constant("complete_model", (N() + 2 * VOCABULARY(1) * WIDTH()) / 10**9)
NEEDED = constant("needed", 5000 * exp(Fraction(74, 100) * log(N())) / 10**9)
BILLIONS = (VOCABULARY, N, WIDTH, LABEL, COMPLETE)


def costs(says):
    """A statement about every model and length."""
    return every((MODEL, LENGTHS), says, SEQUENCE, *COSTS)


def times(keys, printed):
    """How many times the multiplications are of the model of 468M, printed in thousandths."""
    return rounds(CROSS_COST(4, keys) / PLAIN_COST(4, keys), Fraction(printed, 1000), 3)


CLAIMS = (
    rule("resformer.tab1.averages", "Table 1", every((ROW,), rounds(MEAN(ROW), AVERAGE(ROW), 3), SCORE, AVERAGE, MEAN),
         why="Two means are halfway between two numbers of three digits."),
    rule("resformer.sec4.4.gain", "Section 4.4, Table 1", every(
        (LENGTH,), either(rounds(POINTS(LENGTH), 3), rounds(PER_CENT(LENGTH), 3)), SCORE, MEAN, POINTS, PER_CENT),
        meant=one(both(rounds(POINTS(1), Fraction(223, 100), 2), rounds(POINTS(2), Fraction(228, 100), 2)),
                  SCORE, MEAN, POINTS),
        why="Nearly is taken as rounded, of points or of per cent of the Transformer's average."),
    rule("resformer.tab2.shares", "Table 2", every((DOMAIN,), both(
        eq(SHARE(DOMAIN) / 100 * DATA(), TOKENS(DOMAIN)), eq(total(OTHER, 1, 7, SHARE(OTHER)), 100)),
        SHARE, TOKENS, DATA)),
    rule("resformer.tab3.accumulation", "Table 3", every((LENGTHS,), eq(BATCH(LENGTHS), PART * GPUS(1)), *BATCHES),
         meant=every((LENGTHS,), both(eq(BATCH(LENGTHS), PART), eq(STEPS(1) / GPUS(1), 4)), *BATCHES),
         reading="together", why="The 32 counts the batches of all 8 GPUs, 4 on each."),
    rule("resformer.secA.5.tokens", "Appendix A.5, Section 4.1.1, Table 3", every(
        (LENGTHS,), rounds(BATCH_TOKENS(LENGTHS), PRINTED_BATCH()), SEQUENCE, BATCH, BATCH_TOKENS, PRINTED_BATCH),
        why="To the one digit that is printed."),
    rule("resformer.sec4.1.epoch", "Section 4.1.2, Tables 3 and 4", every(
        (LENGTHS,), SCHEDULE(2) * BATCH_TOKENS(LENGTHS) <= 1000 * DATA(), *EPOCH),
        meant=every((LENGTHS,), SCHEDULE(2) * PRINTED_BATCH() <= 1000 * DATA(), *EPOCH), reading="printed sizes"),
    rule("resformer.tab4.warmup", "Section 4.1.1, Table 4", one(eq(WARMUP(1), SCHEDULE(1)), WARMUP, SCHEDULE),
         why="One of the two is wrong, and the text does not tell which."),
    rule("resformer.sec4.7.summed", "Section 4.7, Table 4", every(
        (TIMES,), absolute(1 - SUMMED(TIMES * SCHEDULE(1)) / SUMMED(SCHEDULE(1))) <= Fraction(21, 1000),
        SCHEDULE, FIRST, PEAK, LAST, SUMMED), why="That so little is weak is a judgement: the text names no number."),
    rule("resformer.sec4.1.decay", "Section 4.1.1, Table 4", one(eq(LAST() / PEAK(), Fraction(1, 10)), PEAK, LAST)),
    rule("resformer.tab4.sizes", "Table 4", every(
        (MODEL,), rounds(PARAMETERS(MODEL) / 10**6, SIZE(MODEL)), VOCABULARY, LAYERS, HIDDEN, FFN, SIZE, MATRICES,
        PARAMETERS)),
    rule("resformer.tab4.svformer", "added to Section 3.5, Table 4", every(
        (whole("model", 2, 4),), rounds(100 * (L - 1) * D**2 / PARAMETERS(MODEL), SAVED(MODEL), 2),
        VOCABULARY, LAYERS, HIDDEN, FFN, MATRICES, PARAMETERS, SAVED),
        why="SVFormer has so many per cent fewer parameters: a comparison at equal size has to count them."),
    rule("resformer.tab5.averages", "Table 5", every(
        (LOSS_ROW,), rounds(PLAIN_LOSS, MEAN_LOSS(LOSS_ROW), 4), LOSS, MEAN_LOSS),
        why="Each domain counts alike."),
    rule("resformer.tab5.weighted", "added to Tables 2 and 5", every(
        (LOSS_ROW,), rounds(WEIGHTED_LOSS, WEIGHTED(LOSS_ROW), 4), SHARE, LOSS, WEIGHTED)),
    rule("resformer.tab5.better", "Section 4.2, Table 5", every(
        (whole("row", 1, 3), DOMAIN), LOSS(LOSS_ROW + 3, DOMAIN) < LOSS(LOSS_ROW, DOMAIN), LOSS),
        why="Of the three sizes that Table 5 has; one run each."),
    rule("resformer.sec4.2.validation", "Section 4.2, Table 5", every(
        (SIZES,), eq(count(eq(ROW_SIZE(LOSS_ROW), SIZES), LOSS_ROW), 2), ROW_SIZE),
        why="Nor has Table 4 a configuration of that size."),
    rule("resformer.secA.4.data", "Appendix A.4", one(
        both(NEEDED() >= Fraction(175, 10), NEEDED() < Fraction(176, 10)), N, NEEDED),
        why="So many are needed, and a little more."),
    rule("resformer.secA.4.billion", "Appendix A.4", one(eq(COMPLETE(), LABEL()), *BILLIONS),
         meant=one(rounds(COMPLETE(), LABEL()), *BILLIONS), reading="printed digits",
         why="With an input and an output embedding."),
    rule("resformer.sec3.1.doubles", "Section 3.1", costs(
        rounds(CROSS_COST(MODEL, SEQUENCE(LENGTHS)) / PLAIN_COST(MODEL, SEQUENCE(LENGTHS)), 2)), meant=costs(
        eq(ATTENTION(MODEL, 2 * SEQUENCE(LENGTHS)) / ATTENTION(MODEL, SEQUENCE(LENGTHS)), 2)), reading="attention"),
    rule("resformer.sec3.1.doubles.long", "added to Section 3.1, Table 4", one(both(
        times(2048, 1187), times(64_000, 1846), times(Fraction(2049, 2), 1103), times(Fraction(64_001, 2), 1758)),
        *COSTS), why="Of both lengths without and with a causal kernel, which spares half of the keys."),
    *quoted(__file__),
)
