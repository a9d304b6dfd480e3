"""Limits and approached suprema that no finite model shows, with their truth by elementary calculus.

TRUE: whatever the point or rate is worth, for it is no part of the sentence; FALSE. x lies in [0, 1], o in (0, 1), r is
any real number, y lies in [1, 2].
"""

from fractions import Fraction

from proofs_check.language import (
    exp,
    fold,
    implies,
    limit,
    log,
    real,
    sin,
    sqrt,
    statement,
    supremum,
    total,
    var,
    whole,
)

HALF = Fraction(1, 2)
u, T, n, x, o, r, y = map(var, ("u", "T", "n", "x", "o", "r", "y"))
i = var("i")
NEAR_1 = 1 - u / 2
DOMAINS = {"u": real("u", 0, 1, open="low"), "T": real("T", 1), "n": whole("n", 1), "x": real("x", 0, 1),
           "o": real("o", 0, 1, open=True), "r": real("r"), "y": real("y", 1, 2)}  # fmt: skip


def tends(value, target, step, *given, rate=1, over=""):
    return [*over, step.parts[0]], given, lambda: limit(value, target, step, rate)


def top(value, bound, at, *given, rate=1, strict=False, over="o"):
    """The supremum over the first name of `over`, at the point `at`."""
    form = lambda: supremum(value, bound, {over[0]: at}, u, rate, attained=not strict)  # noqa: E731
    return [*over, "u"], given, form


def build(entry):
    names, given, form = entry
    return statement("planted", for_all=[DOMAINS[name] for name in names], given=given, says=form())


TRUE = [
    tends(u * x, 0, u, over="x"),  # <= u
    tends(u * x, 0, u, over="x", rate=HALF),  # a poor rate
    tends(u * x, 0, u, over="x", rate=1 / x),  # a rate without a value at 0
    tends(x / T, 0, T, over="x"),
    tends(exp(u), 1, u, rate=2),  # convex, e - 1 < 2
    tends(sqrt(u), 0, u, rate=9),  # at no rate of this shape
    tends(sin(u) / u, 1, u),
    tends(u / (u - HALF), 0, u, rate=9),  # no value at 1/2, which is not near 0
    tends(u / x, 0, u, 0 < x, over="x", rate=1 / x),
    tends(u * log(x), 0, u, log(x) > -5, x > 0, over="x", rate=5),  # the guard comes last
    tends(u / r, 0, u, 1 / r < 2, 0 < r, over="r", rate=2),
    tends(total(i, 1, n, 1) / n, 1, n),
    top(o, 1, NEAR_1),
    top(o, 1, NEAR_1, strict=True),
    top(o, 1, NEAR_1, rate=Fraction(1, 4)),
    top(o, 1, HALF),  # a poor point
    top(o, 1, -u),  # outside
    top(o, 1, 1 - u / (u - u)),  # nowhere
    top(-exp(r), 0, log(u), over="r", strict=True),
    top(log(x), 0, NEAR_1, x > 0, over="x"),
    top(x, 1, NEAR_1, log(x) <= 0, x > 0, over="x"),
    top(o * y, y, NEAR_1, over="oy", strict=True),  # y - o y <= 2 u / 2
    top(o * y, y, NEAR_1, over="oy", rate=y / 4),
]
FALSE = [
    tends(u * x, 1, u, over="x"),  # 0
    tends(T, 0, T, rate=10**6),
    tends(1 / u, 0, u, rate=10**6),
    tends(u * x, log(x) - log(x), u, over="x"),  # no target at 0
    tends(u / x, 0, u, over="x", rate=10**6),  # no value at x = 0
    tends(total(i, 1, n, 1 / i), 2, n, rate=10**6),  # harmonic sums are not bounded
    tends(u + log(u - 1), 0, u),  # nowhere defined
    top(o, 2, NEAR_1),  # no least bound
    top(o, HALF, HALF - u / 2),
    top(x, 1, 1 - u, over="x", strict=True),  # taken at 1
    top(r, 100, 100 - u, over="r"),
    top(log(x), 0, NEAR_1, over="x"),  # no value at 0
    top(log(x), 0, NEAR_1, x > 0, over="x", strict=True),
    top(x, 1, 1 - u, x <= HALF, over="x"),  # 1/2
    top(-exp(r), 0, log(u), r > 0, over="r"),  # -1
    top(o * y, 2, NEAR_1, over="oy"),  # at y = 1 it is 1
    top(fold("max", i, 1, 0, i) + o, 1, NEAR_1),  # a maximum over nothing
    top(o, 1, NEAR_1, implies(o > HALF, o <= Fraction(3, 4))),  # 3/4
]
