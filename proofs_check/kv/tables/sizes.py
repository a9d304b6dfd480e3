"""The small models: sizes in Figures 1 and 9 and Appendices F, H and J, as arithmetic."""

from fractions import Fraction

from proofs_check.core.terms import lift
from proofs_check.language import absolute, both, choice, eq, real, var, whole
from proofs_check.records import column, derived, every, one, rule

HIDDEN, HEADS, ROW = whole("hidden", 1, 1024), whole("heads", 1, 64), whole("row", 1, 3)
LAYERS, FFN = choice("layers", 1, 2, 4), choice("ffn", 2816, 4864, 5120, 5376)
VOCABULARY, MATRICES = choice("vocabulary", 32_000, 50_304), choice("matrices", 1, 2)
MILLION = choice("million", 10**6, 2**20)
DRAWS = U, V = real("u", 0, 1), real("v", 0, 1)
h, n, f = var("h"), var("n"), var("f")
# Without embeddings: n layers of attention, 4 h^2, an FFN of three matrices, two norms; and the last norm. Llama's own
# FFN is 8/3 h wide.
COUNT = derived("non_embedding", (h, n, f), n * (4 * h * h + 3 * h * f + 2 * h) + h)
LLAMA = derived("llama", (h, n), COUNT(h, n, 8 * h / 3))
# One layer, its embeddings of 8000 tokens; and with the shift, four scalars a head.
VANILLA = derived("vanilla", (h,), LLAMA(h, 1) + 2 * 8000 * h)
SHIFTED = derived("shifted", (h, var("heads")), VANILLA(h) + 4 * var("heads"))
# The caption of Figure 9.
SAID, LAST_DIGIT = column("said", (50_000_000, 400_000, 800)), column("last_digit", (10**6, 10**5, 100))
DEPTH, FITTING = column("depth", (4, 2, 1)), column("fitting", (1024, 128, 8))


def sized(says, *over):
    return every(over, says, COUNT, LLAMA, VANILLA, SHIFTED, SAID, LAST_DIGIT, DEPTH, FITTING)


def near(count, size, error):
    return absolute(count - size) <= error


def twice(hidden):
    return sized(near(LLAMA(hidden, 2) / LLAMA(hidden, 1), 2, Fraction(1, 20)))


TWENTY = near(COUNT(1024, LAYERS, FFN), 20 * 10**6, 10**6)
FIGURE_9 = near(LLAMA(HIDDEN, DEPTH(ROW)), SAID(ROW), LAST_DIGIT(ROW) / 2)
FIFTH = near(LLAMA(768, LAYERS) + MATRICES * VOCABULARY * 768, 2 * 10**8, 5 * 10**7)

CLAIMS = (
    rule("kv.sec3.2.twenty_million", "Section 3.2 (both versions)", sized(TWENTY, LAYERS, FFN),
         meant=sized(TWENTY, choice("layers", 1), choice("ffn", 4864, 5120, 5376)), reading="some size",
         why="Approximately is within a twentieth. An FFN of 2816 is Llama's own."),
    rule("kv.fig1.twice.depth", "Figure 1, caption (both versions)", twice(1024),
         why="Section 3.2 counts parameters without embeddings; twice is within a twentieth."),
    rule("kv.fig1.twice.width", "Figure 1, caption (both versions)", twice(8),
         why="Section 3.2 counts parameters without embeddings; twice is within a twentieth."),
    rule("kv.fig1.same_total", "Figure 1, caption (both versions)",
         sized(eq(SHIFTED(1024, HEADS), VANILLA(1024)), HEADS),
         meant=sized(eq(SHIFTED(1024, HEADS) - 4 * HEADS, VANILLA(1024)), HEADS), reading="counted apart",
         why="The 4 h scalars of Section 2.2."),
    rule("kv.fig9.sizes", "Figure 9, caption (first version: Figure 3)", sized(FIGURE_9, ROW, HIDDEN),
         meant=sized(FIGURE_9, ROW, whole("hidden", FITTING(ROW), FITTING(ROW))), reading="some size",
         why="Embeddings are not counted."),
    rule("kv.appH.fineweb", "Appendix H", every((MILLION,), 5100 * (MILLION / 2) <= 10**10)),
    rule("kv.appH.size", "Appendix H, Appendix J", sized(FIFTH, choice("layers", *range(1, 25)), VOCABULARY, MATRICES),
         meant=sized(FIFTH, *(choice(*one) for one in (("layers", 12), ("vocabulary", 50_304), ("matrices", 2)))),
         reading="some size"),
    rule("kv.appJ.head", "Appendix J", one(eq(lift(768) / 12, lift(32) + 32))),
    rule("kv.appF.initial_range", "Appendix F.1 (first version: Section 4.6)", every(
        DRAWS, both(*(both(0 <= c, c <= 1) for c in (U, 1 - U, V, 1 - V))))),
)
