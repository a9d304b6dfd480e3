"""What the statements of the KV-shifting paper are written with: names, heads, the one-repeat sentence, closed forms.

Attention is written out as sums of exponentials over places, here once and by name; a closed form stands beside it only
where a claim equates the two, or is about the closed form at real T (kv.eq10.corrected ties them at whole T).
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.core.derive import derivative
from proofs_check.core.terms import Term, both, eq, exp, lift, log, substitute
from proofs_check.language.converted import term
from proofs_check.language.notation import define, each, fold, positive, real, sequence, total, var, when, whole
from theory import symbols
from theory.landscape import critical_symbolic as critical
from theory.landscape import symbolic

# -- names ----------------------------------------------------------------------------------------------------------

T, L, d, i, j, k, n, q, r, s = map(var, ("T", "L", "d", "i", "j", "k", "n", "q", "r", "s"))
a, b, a1, a2, b1, b2, c, m, p, u = map(var, ("a", "b", "a1", "a2", "b1", "b2", "c", "m", "p", "u"))
sigma, kappa, gamma, rho, low, high, at = map(var, ("sigma", "kappa", "gamma", "rho", "low", "high", "at"))
w, x, y, z, v = map(var, ("w", "x", "y", "z", "v"))
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)

ANY_T = real("T", 4)
MIXING = [real("a1"), real("a2"), real("b1"), real("b2")]
INTERIOR = [whole("T", 4), whole("i", 2, T - 2)]
BOX = [real("a", 0, 1), real("b", 0, 1)]
STEP = real("u", 0, 1, open="low")
HEAD = [whole("L", 3), whole("d", 1), positive("sigma"), real("m", 0), whole("c", 1, d)]
TOKENS = sequence("x", (L, d))
ORTHONORMAL = [whole("L", 3), whole("i", 1, L - 2), positive("sigma"), real("m", 0), sequence("w", L)]


def call(definition: tuple[str, Any], *arguments: Any) -> Term:
    return Term("call", definition[0], *map(lift, arguments))


def pick(index: Any, values: Sequence[Any]) -> Term:
    """values[index], counted from 1; the last of them for any other index."""
    found = lift(values[-1])
    for place in range(len(values) - 1, 0, -1):
        found = when(eq(index, place), values[place - 1], found)
    return found


def row(*values: Any) -> Term:
    """The sequence of these numbers."""
    return each(s, pick(s, values))


# -- attention ------------------------------------------------------------------------------------------------------

# The mean of the values v by the weights e^z over the places low..high, and the weight of one of them.
ATTEND = define("attend", [low, high, z, v], total(r, low, high, exp(z[r]) * v[r]) / total(r, low, high, exp(z[r])))
WEIGHT = define("weight", [low, high, z, at], exp(z[at]) / total(r, low, high, exp(z[r])))
DOT = define("dot", [x, d, i, j], total(k, 1, d, x[i, k] * x[j, k]))
BEFORE = define("before", [x, s, k], when(s >= 2, x[s - 1, k], 0))  # x_0 = 0

# Definition 3.1 (theory.induction.induction_head): coordinate c of IH.
IH = define(
    "induction_head", [x, L, d, sigma, m, c],
    call(ATTEND, 2, L - 1, each(s, call(DOT, x, d, L, s - 1) / sigma - m * (L - s)), each(s, x[s, c])),
)  # fmt: skip
# Eq. 5-6 and Appendix B with identity projections (theory.induction.kv_shift_head), attention on low..high.
KVSA_SCORE = define(
    "kv_shift_score", [x, L, d, sigma, m, a1, a2, s],
    total(k, 1, d, x[L, k] * (a1 * x[s, k] + a2 * call(BEFORE, x, s, k))) / sigma - m * (L - s),
)  # fmt: skip
KVSA = define(
    "kv_shift_head", [x, L, d, sigma, m, a1, a2, b1, b2, low, high, c],
    call(ATTEND, low, high, each(s, call(KVSA_SCORE, x, L, d, sigma, m, a1, a2, s)),
         each(s, b1 * x[s, c] + b2 * call(BEFORE, x, s, c))),
)  # fmt: skip
# Layer 1 of Appendix A: the mean of x_1 .. x_at by e^{-p distance}, in coordinate k; strictly causal at `at` = s - 1.
COPIED = define(
    "copied", [x, at, k, p],
    total(q, 1, at, exp(-p * (at - q)) * x[q, k]) / total(q, 1, at, exp(-p * (at - q))),
)  # fmt: skip
LINE_COPIED = define(
    "line_copied", [x, at, p], total(q, 1, at, exp(-p * (at - q)) * x[q]) / total(q, 1, at, exp(-p * (at - q))),
)  # fmt: skip
# Theorem 3.2 (theory.induction.two_layer_alibi), and its repair under the mask that includes s itself: the key is
# (y_s - (1 - r) x_s) / r with r = e^{-p}.
TF = define(
    "two_layers", [x, L, d, sigma, m, p, c],
    call(ATTEND, 2, L - 1,
         each(s, total(k, 1, d, x[L, k] * call(COPIED, x, s - 1, k, p)) / sigma - m * (L - s)), each(s, x[s, c])),
)  # fmt: skip
REPAIRED = define(
    "two_layers_repaired", [x, L, d, sigma, m, p, c],
    call(ATTEND, 2, L - 1,
         each(s, total(k, 1, d, x[L, k] * (call(COPIED, x, s, k, p) - (1 - exp(-p)) * x[s, k]) / exp(-p)) / sigma
              - m * (L - s)), each(s, x[s, c])),
)  # fmt: skip
# The same for tokens x_s u along one line, kappa = |u|^2 / sigma: coordinates in units of u.
LINE_IH = define(
    "line_head", [x, L, kappa, m],
    call(ATTEND, 2, L - 1, each(s, kappa * x[L] * x[s - 1] - m * (L - s)), each(s, x[s])),
)  # fmt: skip
LINE_TF = define(
    "line_layers", [x, L, kappa, m, p],
    call(ATTEND, 2, L - 1, each(s, kappa * x[L] * call(LINE_COPIED, x, s - 1, p) - m * (L - s)), each(s, x[s])),
)  # fmt: skip
HEADS = [ATTEND, WEIGHT, DOT, BEFORE, IH, KVSA_SCORE, KVSA, COPIED, LINE_COPIED, TF, REPAIRED, LINE_IH, LINE_TF]

# -- the one-repeat sentence of Theorem 3.4: x_1 .. x_T distinct one-hot tokens, x_{T+1} = x_i -------------------------

TOKEN = define("token", [s, T, i], when(s <= T, s, i))
OWN = define("own", [s, j, T, i], when(eq(call(TOKEN, s, T, i), j), 1, 0))  # x_s . e_j
PREVIOUS = define("previous", [s, j, T, i], when(both(s >= 2, eq(call(TOKEN, s - 1, T, i), j)), 1, 0))  # x_{s-1} . e_j
SCORE = define("score", [s, T, i, a1, a2], a1 * call(OWN, s, i, T, i) + a2 * call(PREVIOUS, s, i, T, i))
LOGIT = define(
    "logit", [j, T, i, a1, a2, b1, b2],
    call(ATTEND, 1, T + 1, each(s, call(SCORE, s, T, i, a1, a2)),
         each(s, b1 * call(OWN, s, j, T, i) + b2 * call(PREVIOUS, s, j, T, i))),
)  # fmt: skip
LOSS = define(
    "attention_loss", [T, i, a1, a2, b1, b2],
    log(total(j, 1, T, exp(call(LOGIT, j, T, i, a1, a2, b1, b2)))) - call(LOGIT, i + 1, T, i, a1, a2, b1, b2),
)  # fmt: skip
SENTENCE = [ATTEND, WEIGHT, TOKEN, OWN, PREVIOUS, SCORE, LOGIT, LOSS]
LOGITS = (a1, a2, b1, b2)

# -- closed forms, from the sympy truth in theory/ --------------------------------------------------------------------

# T > 0 is what theory assumes; each statement says from which T on it holds.
PLACES = {
    symbols.n_tokens: positive("T"), symbols.alpha1: a1, symbols.alpha2: a2, symbols.beta1: b1, symbols.beta2: b2,
}  # fmt: skip
SLICE = {symbols.n_tokens: positive("T"), symbols.alpha1: a, symbols.beta1: b}
TABLE = symbolic.interior_table()
PARTITION = term(TABLE.partition, PLACES)
GAPS = [term(gap, PLACES) for gap in critical.gaps()]
COUNTS = [term(count, PLACES) for count in critical.counts()]
CLOSED = term(symbolic.loss(TABLE), PLACES)
ODDS = term(sp.exp(symbolic.loss(TABLE)) - 1, PLACES)
PRINTED_EDGE = term(symbolic.printed_edge_numerator(), PLACES)  # Table 3
EDGE = substitute(PRINTED_EDGE, {"a2": a1})  # the derivation above it


def partition(tokens: Any, first: Any, second: Any) -> Term:
    """S."""
    return substitute(PARTITION, {"T": lift(tokens), "a1": lift(first), "a2": lift(second)})


def gaps(first: Any, second: Any, own: Any, previous: Any) -> list[Term]:
    """n_c - n_t of the repeated token, the two edge tokens, the T - 4 others."""
    by = {"a1": lift(first), "a2": lift(second), "b1": lift(own), "b2": lift(previous)}
    return [substitute(gap, by) for gap in GAPS]


def odds(tokens: Any, first: Any, second: Any, own: Any, previous: Any) -> Term:
    """e^L - 1."""
    return _put(ODDS, tokens, first, second, own, previous)


def closed(tokens: Any, first: Any, second: Any, own: Any, previous: Any) -> Term:
    """L of the corrected Eq. 10."""
    return _put(CLOSED, tokens, first, second, own, previous)


def _put(formula: Term, *values: Any) -> Term:
    """The formula at T, a1, a2, b1, b2."""
    return substitute(formula, dict(zip(("T", "a1", "a2", "b1", "b2"), map(lift, values), strict=True)))


def on_slice(function: Any, tokens: Any = T, first: Any = a, own: Any = b) -> Term:
    """Figure 2's slice alpha2 = 1 - alpha1, beta2 = 1 - beta1 (theory.landscape.slice_symbolic.on_slice)."""
    return function(tokens, first, 1 - lift(first), own, 1 - lift(own))


SLOPE = {name: derivative(CLOSED, name) for name in ("a1", "a2", "b1", "b2")}
ON_SLICE, SLICE_ODDS = on_slice(closed), on_slice(odds)


def in_rows(rows: Term) -> Term:
    """Every token of the sequence of rows lies in the Euclidean unit ball."""
    return fold("max", s, 1, L, total(k, 1, d, rows[s, k] ** 2)) <= 1
