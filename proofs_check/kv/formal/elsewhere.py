"""Section 2, Section 5 and the listings of the KV-shifting paper, as statements."""

from itertools import product

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, either, eq, lift
from proofs_check.kv.formal.definitions import a1, a2, i, j, k, n, pick, s, x, y
from proofs_check.language.notation import largest, real, sequence, statement, total, var, when, whole
from proofs_check.records import Rule, parted, states


def elsewhere() -> list[Rule | Statement]:
    """Section 2, Section 5 and the listings."""
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


CLAIMS, FORMAL = parted(elsewhere())
