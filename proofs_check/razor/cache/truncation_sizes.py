"""Cache sizes that RazorAttention states, against the settings of its own Table 2."""

from fractions import Fraction

from proofs_check.language import both, choice, eq, implies, largest, least, lift, whole
from proofs_check.records import Table, constant, derived, every, numbers, one, rounds, rule

N, LONG = whole("n", 1), whole("n", 20_000)  # tokens
WHOLE, HEADS, SHARED = whole("percent_whole", 0, 100), whole("heads", 1), whole("shared", 1)
(LEAST, PART), (INDUCED,), (ECHOED,) = [numbers(cell) for _, cell in Table("razorattention: Table 2").rows]
INDUCTION, ECHO = constant("induction", INDUCED), constant("echo", ECHOED)  # per cent of the heads
PROTECTED = derived("protected", (), INDUCTION() + ECHO())
BUFFER = derived("buffer", (N,), least(N, largest(LEAST, N / PART)))
SHARE = derived("share", (N, WHOLE), (WHOLE * N + (100 - WHOLE) * BUFFER(N)) / (100 * N))
KEPT = derived("kept", (N,), SHARE(N, PROTECTED()))  # each head has a cache, or protected heads fill whole groups
TABLE_2 = INDUCTION, ECHO, PROTECTED, BUFFER, SHARE, KEPT
SIXTH = derived("buffer", (N,), N / 6)
DROPPED = 1 - BUFFER(N) / N
SEVENTY, RATIO = Fraction(7, 10), Fraction(25, 8)

# 16 bits a number, layers, heads and width of the public configuration of Qwen1.5-7B; more parameters than it has.
BYTES, LAYERS, QUERIES, WIDTH, PARAMETERS = [constant(*pair) for pair in (
    ("bytes", 2), ("layers", 32), ("query_heads", 32), ("width", 128), ("parameters", 8 * 10**9))]  # fmt: skip
CACHE = derived("cache_bytes", (SHARED, N), 2 * BYTES() * LAYERS() * SHARED * WIDTH() * N)
MATRIX = derived("matrix_bytes", (N,), BYTES() * QUERIES() * N**2)  # attention weights of one layer
CARD = derived("card_bytes", (), 24 * lift(2) ** 30)  # Section 4: 24GB
ATTENTION = BYTES, QUERIES, MATRIX, CARD
PAIRS = derived("pairs", (N,), N * (N + 1) / 2)
WINDOW, SINKS = constant("window", 4000), constant("sinks", 4)
GROUPED = derived("percent_grouped", (), 100 - 100 * ((100 - PROTECTED()) / 100) ** 4)
CHOSEN = INDUCED_HEADS, ECHO_HEADS, RETRIEVAL = whole("induction_heads"), whole("echo_heads"), whole("retrieval_heads")


def sizes(over, says, *given, using=TABLE_2):
    return every(over, says, *using, given=given)


def reduced(using):
    return sizes((whole("n", 8000, 102_400),), 1 - KEPT(N) >= SEVENTY, using=using)


def least_heads(heads, percent):
    """That this is the least whole number of heads that is at least this share of them."""
    return percent * HEADS / 100 <= heads, heads < percent * HEADS / 100 + 1


def grouped(*given):
    return sizes((LONG, whole("percent_whole", 15, 60)), eq(RATIO * SHARE(LONG, WHOLE), 1), *given)


def half(*given):
    return sizes((choice("n", 1_024_000, 1_048_576), whole("percent_whole", 31, 100)),
                 1 - SHARE(N, WHOLE) >= Fraction(1, 2), *given)  # fmt: skip


CLAIMS = (
    rule("razor.tab2.ratio", "Table 2, caption", sizes((N,), eq(RATIO * KEPT(N), 1)),
         meant=sizes((LONG,), eq(RATIO * KEPT(LONG), 1)), reading="some size",
         why="Each head has a cache of its own; sinks and compensation tokens do not count."),
    rule("razor.abstract.reduction", "Abstract, Table 2", sizes((LONG,), 1 - KEPT(LONG) > SEVENTY), meant=sizes(
        (N,), both(1 - KEPT(N) <= Fraction(17, 25), implies(N >= 20_000, eq(1 - KEPT(N), Fraction(17, 25))))),
         why="Table 2 holds unless another setting is stated; shorter texts are reduced less."),
    rule("razor.sec1.range", "Section 1, Table 2", reduced(TABLE_2),
         meant=reduced((INDUCTION, ECHO, PROTECTED, SIXTH, SHARE, KEPT)), reading="some setting",
         why="Of the size alone: the impact on performance is razor.abstract.lossless. No such setting is printed."),
    rule("razor.fig1.reduction", "Figure 1, Sections 1 and 6, Table 2", sizes(
        (choice("n", 64_000, 65_536),), eq(1 - KEPT(N), SEVENTY)), meant=sizes(
        (choice("n", 64_000, 65_536),), rounds(1 - KEPT(N), SEVENTY, 1)), reading="printed digits"),
    rule("razor.sec1.three", "Sections 1, 4.1 and 5, Table 2", sizes((N,), 1 / KEPT(N) >= 3),
         meant=sizes((whole("n", 18_546),), 1 / KEPT(N) >= 3), why="Of RoPE and ALiBi models alike."),
    rule("razor.sec3.2.seventy", "Section 3.2, Table 2", sizes((N,), DROPPED >= SEVENTY),
         meant=sizes((whole("n", 13_334),), DROPPED >= SEVENTY), reading="some size", why="At least that share."),
    rule("razor.sec3.2.seventy.never", "added to Section 3.2, Table 2", sizes((N,), both(
        implies(N <= 13_333, DROPPED < SEVENTY), implies(N >= 13_334, DROPPED > SEVENTY)))),
    rule("razor.tab2.gqa", "Sections 4 and 4.1", grouped(), meant=grouped(WHOLE <= PROTECTED()),
         why="Groups of 4 heads are kept whole if one head is protected: the protected heads must fill whole groups."),
    rule("razor.sec4.2.half", "Sections 1 and 4.2", half(), meant=half(WHOLE <= 37),
         why="Of 31 % protected heads. True where each has its own cache; GLM-9B's public configuration has groups."),
    rule("razor.heads.share", "Section 3.2, Table 2", sizes(
        (HEADS, *CHOSEN), both(INDUCTION() * HEADS / 100 <= RETRIEVAL, RETRIEVAL < PROTECTED() * HEADS / 100 + 2),
        *least_heads(INDUCED_HEADS, INDUCTION()), *least_heads(ECHO_HEADS, ECHO()), INDUCED_HEADS <= RETRIEVAL,
        RETRIEVAL <= INDUCED_HEADS + ECHO_HEADS), why="The heads of both sets. About is a rounding of each set up."),
    rule("razor.sec1.overhead", "Abstract, Sections 1 and 3.2, Table 2", sizes((whole("n", 8000),), both(
        (100 - PROTECTED()) / 100 <= N * KEPT(N) / 5000, N <= PAIRS(N) / 1000), using=(*TABLE_2, PAIRS)),
         why="In operations: one logit more a cut head and step; to make it, a sum over tokens beside all pairs."),
    rule("razor.sec1.speed.bytes", "added to Sections 1 and 5, Table 2", sizes(
        (LONG,), eq(LONG, RATIO * (LONG * KEPT(LONG)))), why="A decoding step reads what is kept."),
    rule("razor.sec5.efficiency.bytes", "added to Section 5, Table 2", one(
        both(rounds(100 * (WINDOW() + SINKS()) / 100_000, 4), eq(100 * KEPT(100_000), 32)), *TABLE_2, WINDOW, SINKS),
         why="StreamingLLM with a window of 4000 tokens and four sinks reads less a step than RazorAttention."),
    rule("razor.sec2.memory", "Section 2", one(
        CACHE(QUERIES(), 32_768) > BYTES() * PARAMETERS(), BYTES, LAYERS, QUERIES, WIDTH, PARAMETERS, CACHE),
         why="One sequence at a time: at 16 bits and the shape of Qwen1.5-7B."),
    rule("razor.sec2.groups", "Section 2", sizes(
        (HEADS, SHARED, N), eq(CACHE(SHARED, N) / CACHE(HEADS, N), SHARED / HEADS), SHARED <= HEADS,
        using=(BYTES, LAYERS, WIDTH, CACHE)), why="The quality that it costs is razor.sec2.tradeoff."),
    rule("razor.fig4.memory", "Figure 4", sizes((N,), MATRIX(N) > CARD(), using=ATTENTION),
         meant=sizes((whole("n", 20_067),), MATRIX(N) > CARD(), using=ATTENTION), reading="some size",
         why="If the matrix of a layer is held whole; nothing forces that: razor.sec1.incompatible.blocks."),
    rule("razor.sec4.1.context", "added to Section 4.1, Table 2", one(both(
        rounds(1 / KEPT(4096), Fraction(102, 100), 2), rounds(1 / KEPT(8192), Fraction(177, 100), 2),
        rounds(1 / SHARE(8192, GROUPED()), Fraction(136, 100), 2)), *TABLE_2, GROUPED),
         why="Texts cut where Baichuan2-13B and Llama3-8B were trained; last, groups of 4 protected independently."),
)
