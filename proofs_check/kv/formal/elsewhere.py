"""Section 2, Section 5, the listings and the tables of the KV-shifting paper, as statements."""

from fractions import Fraction
from itertools import product

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, absolute, either, eq, lift
from proofs_check.kv.formal.definitions import a1, a2, call, i, j, k, n, pick, s, x, y
from proofs_check.kv.tables.cells import TABLE_2, TABLE_5
from proofs_check.kv.tables.configuration_data import CAPTION_BATCH_M, M_OF_A_BATCH, TABLE_16
from proofs_check.language.notation import (
    choice,
    define,
    fold,
    largest,
    real,
    sequence,
    statement,
    total,
    var,
    when,
    whole,
)
from proofs_check.records import Rule, parted, states


def elsewhere() -> list[Rule | Statement]:
    """Section 2, Section 5, the listings and the tables."""
    first, second = (lambda r, q: when(q <= r, x[r, q], 0)), (lambda r, q: when(q <= r, y[r, q], 0))
    patterns = [whole("n", 2), sequence("x", (n, n)), sequence("y", (n, n))]
    kernel = (a2, a1)  # K = (alpha2, alpha1): column 0 takes the previous token
    return [
        states(
            "kv.property1.every_row", "added to Section 2.1, Property 1 (both versions)",
             # x, y: the two patterns, read below the diagonal only
            for_all=[*patterns, whole("j", 1, n), whole("i", 1, n - 1)],
            says=eq(total(k, 1, n, second(j, k) * first(k, i + 1)), total(k, i + 1, j, y[j, k] * x[k, i + 1])),
        ),
        statement(
            "kv.appM.inference",
            for_all=[real("a1"), real("a2"), whole("n", 2), sequence("x", n), whole("s", 2, n)],
            says=eq(kernel[1] * x[s - 1] + kernel[1] * x[s], total(j, 1, 2, pick(j, kernel) * x[s - 2 + j])),
        ),
        _bigrams(),
        _averages(),
        _batches(),
        _fisher(),
    ]


def _bigrams() -> Statement:
    """Query (x_n, x_{n-1}) by (g0, g1), context (x_{s-1}, x_{s-2}) by (c0, c1), four one-hot letters, newest first."""
    g, kernel = (var("g0"), var("g1")), (var("c0"), var("c1"))

    def score(query: tuple[int, int], context: tuple[int, int]) -> Term:
        return sum((g[q] * kernel[r] for q in (0, 1) for r in (0, 1) if query[q] == context[r]), lift(0))

    def fails(query: tuple[int, int]) -> Term:
        others = [score(query, context) for context in product(range(4), repeat=2) if context != query]
        return score(query, query) <= largest(*others)

    return statement(
        "kv.sec5.query_kernel.no_scalar",
        for_all=[real("g0"), real("g1"), real("c0"), real("c1")],
        says=either(fails((1, 0)), fails((0, 0))),
    )


def _averages() -> Statement:
    """Rows in the order of Table 2; rounded to two places: within half a unit of the second."""
    rows = list(TABLE_2.values())
    mean = Term("add", *(pick(n, column) for column in list(zip(*rows, strict=True))[:-1])) / 8
    return statement(
        "kv.tab2.average",
        for_all=[choice("n", *range(1, len(rows) + 1))],
        says=absolute(mean - pick(n, [cells[-1] for cells in rows])) <= Fraction(1, 200),
    )


def _batches() -> Statement:
    sizes = list(CAPTION_BATCH_M)
    cells = [[TABLE_16[size][name] for size in sizes] for name in ("gpus", "batch_per_gpu", "context")]
    gpus, samples, context = (pick(n, column) for column in cells)
    return statement(
        "kv.fig5.batch",
        for_all=[choice("n", 1, 2, 3)],
        says=eq(gpus * samples * context, pick(n, [CAPTION_BATCH_M[size] for size in sizes]) * M_OF_A_BATCH),
    )


def _fisher() -> Statement:
    """Fisher's exact test, two-sided: tables with the margins of Table 5 that are no likelier than it."""
    (own, across), (down, rest) = TABLE_5
    binomial = define("binomial", [n, k], fold("prod", j, 1, k, (n - k + j) / j))
    table = define(
        "table", [k],
        call(binomial, own + across, k) * call(binomial, down + rest, own + down - k)
        / call(binomial, own + across + down + rest, own + down),
    )  # fmt: skip
    chance = call(table, i)
    return statement(
        "kv.tab5.coupled",
        for_all=[],
        says=total(i, 0, own + down, when(chance <= call(table, own), chance, 0)) < Fraction(1, 10**11),
        using=[binomial, table],
    )


CLAIMS, FORMAL = parted(elsewhere())
