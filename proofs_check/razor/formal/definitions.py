"""What the statements of the RazorAttention paper are written with: names, ALiBi attention, lengths of vectors.

Attention is always the softmax itself, sums of exponentials over positions. Positions are 1..n, the query is the last
one, and a token's distance is n - j. A set of logits of one query whose spread is at most D is a sequence between a
and a + D. Where a claim says that a bound is attained, the worst context is written out as a comprehension, and its
items can be seen to lie in that interval. `A if and only if B holds for all z` is written (A implies B(z)) and (not A
implies not B(z0)) with z0 written out.
"""

from typing import Any

from proofs_check.core.terms import Term, exp, lift
from proofs_check.language.notation import define, each, positive, real, sequence, total, var, when, whole

# -- variables that most statements share ---------------------------------------------------------------------------

n, m, d, e = whole("n", 1), whole("m", 1), whole("d", 1), whole("e", 1)
slope, spread, base = positive("l"), real("D", 0), real("a")  # the ALiBi slope, the range D, the lowest logit
eps, delta = real("eps", 0, 1, open=True), real("delta", 0, 1, open=True)
logits = sequence("s", n, base, base + spread)
at, distance, window = whole("j", 1, n), whole("k", 1, n - 1), whole("w", 0)
s, v = sequence("s", n), sequence("v", n)
spare = whole("n", 2)  # n where one of them may go
i, j, k, t, q = map(var, "ijktq")  # bound: coordinates i, q; tokens j, k, t


def call(name: str, *arguments: Any) -> Term:
    return Term("call", name, *map(lift, arguments))


def defined(name: str, parameters: str, body: Any) -> Any:
    return define(name, [var(p) for p in parameters.split()], body)


# Parameters of definitions.
S, V, R, W, X, Y, P, H, U = map(var, ("s", "v", "r", "w", "x", "y", "p", "h", "u"))
N, M, E, L, C, B, G = map(var, "nmelcbg")
# Bound inside definitions: each has names of its own, which no argument mentions.
ka, ks, qs, kn, kr, kc, ip, jp, kp = map(var, ("ka", "ks", "qs", "kn", "kr", "kc", "ip", "jp", "kp"))
ko, jf, kf, cf, kg, km, kl = map(var, ("ko", "jf", "kf", "cf", "kg", "km", "kl"))

# -- ALiBi attention: Eq. 1 and the softmax over all positions -----------------------------------------------------

_TERM = exp(S[ka] - L * (N - ka))
ATTENTION = defined("attention", "s l n j", exp(S[j] - L * (N - j)) / total(ka, 1, N, _TERM))
MASS = defined("mass", "s l n w", total(ka, 1, N - W, _TERM) / total(ka, 1, N, _TERM))  # of distances >= w


def attention(s: Any, slope: Any, n: Any, j: Any) -> Term:
    """The weight of position j among 1..n for the query n, whose logits are s."""
    return call("attention", s, slope, n, j)


def mass(s: Any, slope: Any, n: Any, window: Any) -> Term:
    return call("mass", s, slope, n, window)


def high(condition: Term) -> Term:
    """The logits a + D where the condition (on j) holds, a elsewhere."""
    return each(j, when(condition, base + spread, base))


# -- vectors, rows of matrices, sequences -----------------------------------------------------------------------------

NORM2 = defined("norm2", "x d", total(kn, 1, var("d"), X[kn] ** 2))
APART2 = defined("apart2", "x y d", total(kn, 1, var("d"), (X[kn] - Y[kn]) ** 2))


def norm2(x: Any) -> Term:
    return call("norm2", x, d)


def apart2(x: Any, y: Any, size: Any = d) -> Term:
    return call("apart2", x, y, size)


def row(matrix: Any, place: Any) -> Term:
    return each(i, var(matrix.name)[place, i])


def column(matrix: Any) -> Term:
    return each(j, var(matrix.name)[j, q])


def constant(value: Any) -> Term:
    return each(j, value)


def first_is(value: Any, rest: Any) -> Term:
    return each(j, when(j < 2, value, rest))
