"""Pilot claims of the KV-shifting paper as statements: what the ledger rules on, as data that a core can decide.

Attention is written out as sums of exponentials over places, here once and by name; a closed form stands beside it only
where a claim equates the two, or is about the closed form at real T (kv.eq10.corrected ties them at whole T). A claim
that is ruled false is stated as printed; one that holds under a condition, with that condition.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from proofs_check.core.derive import derivative
from proofs_check.core.statement import Statement
from proofs_check.core.terms import (
    Term,
    absolute,
    both,
    cos,
    either,
    eq,
    exp,
    lift,
    log,
    ne,
    sin,
    sqrt,
    substitute,
    tanh,
)
from proofs_check.kv.formal import family
from proofs_check.kv.tables.cells import TABLE_2, TABLE_5
from proofs_check.kv.tables.configuration_data import CAPTION_BATCH_M, M_OF_A_BATCH, TABLE_16
from proofs_check.language.converted import term
from proofs_check.language.notation import (
    choice,
    define,
    each,
    exists,
    fold,
    iff,
    largest,
    limit,
    positive,
    real,
    sequence,
    statement,
    supremum,
    total,
    unique_minimiser,
    unique_zero,
    var,
    when,
    whole,
)
from theory import symbols
from theory.landscape import critical_symbolic as critical
from theory.landscape import slice_critical, symbolic

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


def _printed_loss() -> Term:
    """Eq. 10 with a_2 for the edge tokens, both O(T) at their exact values (theory.landscape.symbolic.printed_loss)."""
    whole_sum = partition(T, a1, a2)
    target, edge, rest = (b1 * exp(a2) + b2) / whole_sum, PRINTED_EDGE / whole_sum, (b1 + b2) / whole_sum
    repeated = (2 * b1 * exp(a1) + b2 * exp(a2)) / whole_sum
    return -log(exp(target) / (exp(target) + 2 * exp(edge) + exp(repeated) + (T - 4) * exp(rest)))


def _outer_share(scores: Term) -> Term:
    """eps: what attention on 1..L spends on the tokens 1 and L, which Eq. 7 leaves out."""
    return call(WEIGHT, 1, L, scores, 1) + call(WEIGHT, 1, L, scores, L)


def _distances(products: Term) -> Term:
    """Scores from the products x_L . x_{s-1}, a term in s."""
    return each(s, products / sigma - m * (L - s))


def _in_rows(rows: Term) -> Term:
    """Every token of the sequence of rows lies in the Euclidean unit ball."""
    return fold("max", s, 1, L, total(k, 1, d, rows[s, k] ** 2)) <= 1


def _error(layers: tuple[str, Any], rows: Term) -> Term:
    return absolute(call(IH, rows, L, d, sigma, m, c) - call(layers, rows, L, d, sigma, m, p, c))


def _line_error(tokens: Term, length: int, size: Any, slope: Any, decay: Any) -> Term:
    return call(LINE_TF, tokens, length, size, slope, decay) - call(LINE_IH, tokens, length, size, slope)


# -- Section 3.1 ----------------------------------------------------------------------------------------------------

CAUSAL = call(KVSA, x, L, d, sigma, m, 0, 1, 1, 0, 1, L, c)
TRUE_HEAD = call(IH, x, L, d, sigma, m, c)
CAUSAL_SCORES = each(s, call(KVSA_SCORE, x, L, d, sigma, m, 0, 1, s))


def two_layers() -> list[Statement]:
    """Theorem 3.2 and Appendix A."""
    cubes = [sequence("x", (L, d), 0, 1), sequence("y", (L, d), -1, 1), sequence("z", (L, d), -1, 1)]
    # theory.induction.sharpness.COPY_ERROR_BOUNDS has p > 0, so these are written out for p >= 0
    bounds = (tanh(d * exp(-p) / (2 * sigma)), 2 * tanh(d * exp(-p) / sigma), 2 * tanh(exp(-p) / sigma))
    lost = absolute(1 / total(j, 0, s - 2, exp(-p * j)) - 1)
    printed = 4 * (d / sigma) * exp(-p) / (1 - exp(-p))
    # u stands for e^{-p}, c for d e^{-p} / sigma: tokens (low, high, low, high, high) at the balanced slope.
    unit = _line_error(row(0, 1, 0, 1, 1), 5, c / u, c / u - c, -log(u))
    symmetric = _line_error(row(-1, 1, -1, 1, 1), 5, c / u, 2 * (c / u - c), -log(u))
    rate = 2 * c + exp(4 * c) / c
    gain = _line_error(row(1, 0, 1, 1), 4, 1 / sigma, m, p)
    return [
        statement(
            "kv.thm3.2",  # the condition is that |x| <= 1; masks and W* are those of the definition of TF
            for_all=[*HEAD, positive("p"), sequence("x", (L, d), -1, 1)],
            says=_error(TF, x) < printed,
            using=HEADS,
        ),
        statement(
            "kv.thm3.2.sharp",
            for_all=[*HEAD, real("p", 0), *cubes],
            given=[_in_rows(z)],
            says=both(*(_error(TF, rows) < bound for rows, bound in zip((x, y, z), bounds, strict=True))),
            using=HEADS,
        ),
        statement(
            "kv.thm3.2.repaired",
            for_all=[*HEAD, real("p", 0), *cubes],
            given=[_in_rows(z)],
            says=both(*(_error(REPAIRED, rows) < bound for rows, bound in zip((x, y, z), bounds, strict=True))),
            using=HEADS,
        ),
        statement(
            "kv.thm3.2.attained",  # the ball's bound is the symmetric one along a direction, c = e^{-p} / sigma
            for_all=[positive("c"), STEP],
            says=both(absolute(unit - tanh(c / 2)) <= rate * u, absolute(symmetric - 2 * tanh(c)) <= rate * u),
            using=HEADS,
        ),
        statement(
            "kv.thm3.2.eight",
            for_all=[whole("d", 1), positive("sigma"), positive("p")],
            says=8 * tanh(d * exp(-p) / (2 * sigma)) <= printed,
        ),
        statement(
            "kv.eq8.domain.unbounded",
            for_all=[real("k"), positive("sigma"), real("m", 0), real("p", 0), real("c")],
            says=exists(
                {c: (absolute(k) + 1) / gain},
                both(gain > 0, k < _line_error(row(1, 0, c, 1), 4, 1 / sigma, m, p)),
            ),
            using=HEADS,
        ),
        _softmax_change(),
        statement(
            "kv.appA.step4",
            for_all=[whole("d", 1), positive("sigma"), sequence("x", d, -1, 1)],
            says=both(
                total(k, 1, d, absolute(x[k] / sigma)) <= _identity_norm(),
                eq(_identity_norm(), d / sigma),
            ),
        ),
        statement(
            "kv.appA.step6.sharp",  # a supremum over whole s: below it throughout, and as close as 2/(p s)
            for_all=[positive("p"), whole("s", 2)],
            says=both(lost < exp(-p), exp(-p) - lost <= 2 / (p * s)),
        ),
        statement(
            "kv.appA.step7.uniform",
            for_all=[real("c"), positive("p")],
            says=exists(
                {p: when(c > 1, -log(1 - 1 / c), 1)},
                c * exp(-p) < 4 * exp(-p) / (1 - exp(-p)),
            ),
        ),
    ]


def _identity_norm() -> Term:
    return total(i, 1, d, total(j, 1, d, absolute(when(eq(i, j), 1, 0) / sigma)))


def _softmax_change() -> Statement:
    """Total variation against the range of the scores' change; two positions reach it, so 1 is the least constant."""
    one, other = (lambda r: exp(z[r]) / total(k, 1, n, exp(z[k]))), (lambda r: exp(v[r]) / total(k, 1, n, exp(v[k])))
    moved = define("moved", [n, z, v], total(j, 1, n, absolute(one(j) - other(j))))
    change = each(s, z[s] - v[s])
    widest = define("widest", [n, w], fold("max", s, 1, n, w[s]) - fold("min", s, 1, n, w[s]))
    size = define("size", [n, w], fold("max", s, 1, n, absolute(w[s])))
    pair = call(moved, 2, row(u, -u), row(-u, u))
    near = sqrt(1 - c)
    return statement(
        "kv.appA.step2.sharp", using=[moved, widest, size],
        for_all=[whole("n", 1), sequence("z", n), sequence("v", n), real("u", 0), real("c", None, 1, open="high")],
        says=both(
            call(moved, n, z, v) <= 2 * tanh(call(widest, n, change) / 4),
            call(moved, n, z, v) <= call(size, n, change),
            eq(pair, 2 * tanh(call(widest, 2, row(2 * u, -2 * u)) / 4)),
            c * call(size, 2, row(2 * near, -2 * near)) < call(moved, 2, row(near, -near), row(-near, near)),
        ),
    )  # fmt: skip


def _impossible() -> Statement:
    """No one-layer head on the causal mask is IH: at L = 3 one of two inputs with one nonzero token shows it.

    Tokens are multiples of e_1, and the output is read in that coordinate: a, b are what the matrices of any width
    leave of W_Q W_K^T and of W_V W_O there. The query is 0, so that weights follow from distance alone.
    """

    def head(*tokens: Any) -> Term:
        pairs = list(zip(tokens, (0, *tokens[:2]), strict=True))
        scores = [a * tokens[2] * (a1 * x_ + a2 * y_) / sigma - m * (2 - place) for place, (x_, y_) in enumerate(pairs)]
        return call(ATTEND, 1, 3, row(*scores), row(*(b * (b1 * x_ + b2 * y_) for x_, y_ in pairs)))

    return statement(
        "kv.thm3.3.impossible",
        for_all=[*MIXING, real("a"), real("b"), positive("sigma"), real("m"), positive("u")],
        says=either(ne(head(u, 0, 0), 0), ne(head(0, u, 0), u)),
        using=[ATTEND],
    )


def shifted_head() -> list[Statement]:
    """Theorem 3.3 and what is true instead, and the sentence after Definition 3.1."""
    first, last = exp(-m * (L - 1)), exp(call(DOT, x, d, L, L - 1) / sigma)
    outer = first + last
    inner = total(s, 2, L - 1, exp(call(DOT, x, d, L, s - 1) / sigma - m * (L - s)))
    share = outer / (outer + inner)
    spread = fold("max", s, 1, L, x[s, c]) - fold("min", s, 1, L, x[s, c])
    worst = exp(-m * (L - 1)) + exp(1 / sigma)
    bound = worst / (worst + exp(-1 / sigma) * total(j, 1, L - 2, exp(-m * j)))
    reached = _distances(when(s < 2, 0, when(s <= L - 1, -1, 1)))  # the products of -u, .., -u, u, u, with x_0 = 0
    grown = exp(2 / sigma) * (exp(m) - 1)
    return [
        statement(
            "kv.thm3.3",  # with the parameters of Appendix B; that no others do is kv.thm3.3.impossible
            for_all=[*HEAD, TOKENS, *MIXING],
            says=exists({a1: 0, a2: 1, b1: 1, b2: 0},
                        eq(call(KVSA, x, L, d, sigma, m, a1, a2, b1, b2, 1, L, c), TRUE_HEAD)),
            using=HEADS,
        ),
        _impossible(),
        statement(
            "kv.thm3.3.corrected",
            for_all=[*HEAD, TOKENS],
            says=eq(call(KVSA, x, L, d, sigma, m, 0, 1, 1, 0, 2, L - 1, c), TRUE_HEAD),
            using=HEADS,
        ),
        statement(
            "kv.thm3.3.discrepancy",
            for_all=[*HEAD, TOKENS],
            says=eq(CAUSAL - TRUE_HEAD, share * ((first * x[1, c] + last * x[L, c]) / outer - TRUE_HEAD)),
            using=HEADS,
        ),
        statement(
            "kv.thm3.3.discrepancy.range",
            for_all=[*HEAD, TOKENS],
            says=absolute(CAUSAL - TRUE_HEAD) <= share * spread,
            using=HEADS,
        ),
        statement(
            "kv.thm3.3.discrepancy.matched",
            for_all=ORTHONORMAL,
            says=_outer_share(_distances(_match(s - 1, 1))) <= 2 * exp(-1 / sigma + m * (L - i - 1)),
            using=HEADS,
        ),
        statement(
            "kv.thm3.3.discrepancy.ball",
            for_all=[*HEAD[:4], sequence("x", (L, d), -1, 1)],
            given=[_in_rows(x)],
            says=both(_outer_share(CAUSAL_SCORES) <= bound, eq(_outer_share(reached), bound)),
            using=HEADS,
        ),
        statement(
            "kv.thm3.3.discrepancy.long",
            for_all=[positive("sigma"), positive("m"), whole("L", 3)],
            says=limit(bound, grown / (1 + grown), L, 3 * (1 + 1 / m) / m),
        ),
        statement(
            "kv.sec3.1.any_context.corrected",  # k is the gap to the match before the latest, or less
            for_all=[*ORTHONORMAL, whole("k", 1)],
            says=1 / (1 + (L - 3) * largest(exp(-m * k), exp(m * (L - i - 2) - 1 / sigma)))
            <= call(WEIGHT, 2, L - 1, _distances(_match(s - 1, k)), i + 1),
            using=HEADS,
        ),
    ]  # fmt: skip


def _match(place: Term, gap: Any) -> Term:
    """x_L . x_place, orthonormal tokens and x_0 = 0: the latest match before L is i, earlier ones where w is 0."""
    earlier = both(place >= 1, place <= i - gap)
    return when(eq(place, i), 1, when(earlier, when(eq(w[place], 0), 1, 0), 0))


# -- Section 3.2 and Appendix C -------------------------------------------------------------------------------------


def _logit(token: Any) -> Term:
    return call(LOGIT, token, T, i, *LOGITS)


def sentence() -> list[Statement]:
    """Logits and loss of the one-repeat sentence, by brute force."""
    whole_sum, A, B = partition(T, a1, a2), exp(a1), exp(a2)
    before_end = pick_when(
        (eq(j, i), 2 * b1 * A + b2 * B), (eq(j, i + 1), b1 * B + b2 * when(eq(i, T - 1), A, 1)),
        (either(eq(j, i - 1), eq(j, T)), b1 + b2 * A), otherwise=b1 + b2,
    )  # fmt: skip
    at_end = pick_when(
        (eq(j, T), b1 * (A + A * B) + b2 * A * B), (eq(j, T - 1), b1 + b2 * A), otherwise=b1 + b2,
    )  # fmt: skip
    attention = each(s, call(SCORE, s, T, i, 0, gamma))
    sharp = each(s, call(SCORE, s, T, i, 0, 1 / sigma))
    repeated, edge, _ = (gap / whole_sum for gap in gaps(*LOGITS))
    mixed = (QUARTER * 8, 3 * QUARTER * 8, QUARTER, 3 * QUARTER)  # W_Q = 8 I scales the scores
    return [
        statement(
            "kv.eq10", for_all=[*INTERIOR, *MIXING], says=eq(call(LOSS, T, i, *LOGITS), _printed_loss()),
            using=SENTENCE,
        ),
        statement(
            "kv.eq10.corrected", for_all=[*INTERIOR, *MIXING], says=eq(call(LOSS, T, i, *LOGITS), CLOSED),
            using=SENTENCE,
        ),
        statement(
            "kv.tab3", for_all=[*INTERIOR, *MIXING],
            says=both(eq(_logit(i - 1), PRINTED_EDGE / whole_sum), eq(_logit(T), PRINTED_EDGE / whole_sum)),
            using=SENTENCE,
        ),
        statement(
            "kv.appC.footnote12", for_all=[whole("T", 3), whole("i", 2, T - 1), *MIXING],
            says=eq(_logit(i + 1), (b1 * B + b2) / whole_sum),
            using=SENTENCE,
        ),
        statement(
            "kv.appC.every_position",
            for_all=[whole("T", 2), whole("i", 1, T), whole("j", 1, T), *MIXING],
            says=eq(_logit(j), when(i < T, before_end / whole_sum, at_end / (A + A * B + T - 1))),
            using=SENTENCE,
        ),
        statement(
            # Eq. 10 with its one slip put right, S exact, and whatever is >= 0 for the O(T) of the denominator.
            "kv.thm3.4.small_t", for_all=[whole("T", 3), whole("i", 2, largest(2, T - 2)), *MIXING],
            says=log(1 + exp(repeated) + 2 * exp(edge)) <= call(LOSS, T, i, *LOGITS),
            using=SENTENCE,
        ),
        statement(
            "kv.thm3.4.minimum.corrected",
            for_all=[*INTERIOR, *MIXING, STEP],
            says=supremum(-call(LOSS, T, i, *LOGITS), 0, at={a1: 0, a2: 2, b1: 1 / u, b2: 0}, step=u,
                          rate=(T - 1) * (T + 8), attained=False),
            using=SENTENCE,
        ),
        statement(
            "kv.beyond.sign_rule",
            for_all=[whole("T", 5), whole("i", 2, T - 2), whole("j", 1, T), *MIXING],
            given=[ne(j, i - 1), ne(j, i), ne(j, i + 1), ne(j, T)],
            says=both(eq(_logit(i + 1) - _logit(j), (B - 1) * b1 / whole_sum),
                      iff(_logit(j) < _logit(i + 1), a2 * b1 > 0)),
            using=SENTENCE,
        ),
        statement(
            "kv.beyond.temperature.half",
            for_all=[*INTERIOR, real("gamma"), positive("sigma")],
            says=both(iff(call(WEIGHT, 1, T + 1, attention, i + 1) >= HALF, log(T) <= gamma),
                      iff(call(WEIGHT, 1, T + 1, sharp, i + 1) >= HALF, sigma <= 1 / log(T))),
            using=SENTENCE,
        ),
        statement(
            "kv.eq6.sigma.corrected",  # u is 1/sqrt(D), D >= 1
            for_all=[whole("T", 2), whole("i", 1, T - 1), STEP],
            says=limit(call(WEIGHT, 1, T + 1, each(s, call(SCORE, s, T, i, 0, u)), i + 1), 1 / (T + 1), u, 1),
            using=SENTENCE,
        ),
        statement(
            "kv.eq5.one_mixture",
            for_all=[whole("T", 2), whole("i", 1, T - 1), whole("j", 1, T)],
            given=[ne(j, i + 1)],
            says=call(LOGIT, j, T, i, *mixed) - when(eq(j, i), 1, 0) < call(LOGIT, i + 1, T, i, *mixed),
            using=SENTENCE,
        ),
        _two_tokens(),
    ]  # fmt: skip


def pick_when(*cases: tuple[Term, Any], otherwise: Any) -> Term:
    found = lift(otherwise)
    for condition, value in reversed(cases):
        found = when(condition, value, found)
    return found


def _two_tokens() -> Statement:
    """T = 2, sentence x_1 x_2 x_1: the loss in closed form, and the head (1, 0) as its only minimiser on the box."""
    two_tokens = term(symbolic.loss(symbolic.position_table(2, 1)), PLACES)
    least_loss = call(LOSS, 2, 1, 1, 0, 0, 1)
    return statement(
        "kv.fig2.two_tokens.loss",
        for_all=[*MIXING, *BOX],
        says=both(
            eq(call(LOSS, 2, 1, *LOGITS), two_tokens),
            either(least_loss < call(LOSS, 2, 1, a, 1 - a, b, 1 - b), both(eq(a, 1), eq(b, 0))),
            least_loss < log(2),
        ),
        using=SENTENCE,
    )


def landscape() -> list[Statement]:
    """The closed form at every real T >= 4: its critical point, its infima under ablation, Figure 2's slice."""
    A, B, whole_sum = exp(a1), exp(a2), partition(T, a1, a2)
    everything = [ANY_T, *MIXING]
    nowhere = both(*(eq(slope, 0) for slope in SLOPE.values()))
    growths = (symbolic.A, symbolic.B)
    A_there, B_there = (term(critical.at_critical(growth), PLACES) for growth in growths)
    there = both(eq(A, A_there), eq(B, B_there), eq(b1, 0), eq(b2, 0))
    value_there = closed(T, log(A_there), log(B_there), 0, 0)
    region = 2 * A * b1 + B * absolute(b2) <= whole_sum
    signs = (2 * A - B - rho * (1 - B), 1 - B + rho * (A - 1), 1 - B)
    return [
        statement(
            "kv.beyond.critical_point", for_all=everything, says=both(iff(nowhere, there), eq(value_there, log(T))),
        ),
        statement(
            "kv.beyond.infimum.vanilla",
            for_all=[ANY_T, real("a1"), real("b1"), STEP],
            says=supremum(-closed(T, a1, 0, b1, 0), -log(T - 1), at={a1: 0, b1: -1 / u}, step=u, rate=2,
                          attained=False),
        ),
        statement(
            "kv.beyond.infimum.v_shift",
            for_all=[ANY_T, real("a1"), real("b1"), real("b2"), STEP],
            says=supremum(-closed(T, a1, 0, b1, b2), -log(T - 3), at={a1: log(2), b1: -1 / u, b2: -1 / u}, step=u,
                          rate=17, attained=False),
        ),
        statement(
            "kv.beyond.infimum.k_shift",
            for_all=[ANY_T, real("a1"), real("a2"), real("b1"), STEP],
            says=supremum(-closed(T, a1, a2, b1, 0), 0, at={a1: 0, a2: log(3), b1: 1 / u}, step=u,
                          rate=T * (T + 3) / 2, attained=False),
        ),
        statement(
            "kv.beyond.route.anti_induction",
            for_all=[ANY_T, real("a1", 0), real("a2", None, 0, open="high"),
                     real("rho", 0, (2 * A - B) / (1 - B), open="high"), STEP],
            says=limit(closed(T, a1, a2, -1 / u, -rho / u), 0, u,
                       whole_sum * (1 / signs[0] + 2 / signs[1] + (T - 4) / signs[2])),
        ),
        statement(
            "kv.beyond.time.not_ahead",  # velocities are minus the slopes of L
            for_all=[real("T", 44), real("a1", -log(2), 1), real("a2", 0), real("b1", 0), real("b2", -b1 / 4)],
            given=[region],
            says=both(-T * SLOPE["a2"] <= b1 * B, -T * SLOPE["b1"] <= B - 1),
        ),
        *_slice(),
    ]  # fmt: skip


def _slice() -> list[Statement]:
    whole_sum = partition(T, a, 1 - a)
    slopes = [derivative(ON_SLICE, name) for name in ("a", "b")]
    margins = [-gap / whole_sum for gap in gaps(a, 1 - a, b, 1 - b)]
    best = [-gap / partition(T, 0, 1) for gap in gaps(0, 1, 1, 0)]
    least_loss = log(1 + exp((2 - exp(1)) / (T + exp(1))) + (T - 2) * exp((1 - exp(1)) / (T + exp(1))))
    rest = define("rest", [T], T**2 * (least_loss - log(T) + (exp(1) - 1) / T))
    weights = [n * exp(-margin) for n, margin in zip(COUNTS, margins, strict=True)]
    q = [term(slope, SLICE) for slope in slice_critical.SLOPES]
    rests = zip(slice_critical.K, slice_critical.R, strict=True)
    sums = [term(symbols.beta1 * one - other, SLICE) for one, other in rests]
    E_a, E_b = (derivative(SLICE_ODDS, name) for name in ("a", "b"))
    singular = derivative(E_a, "a") * derivative(E_b, "b") - derivative(E_a, "b") ** 2
    ten = 10**5
    return [
        statement("kv.fig2.caption", for_all=[ANY_T, *BOX], says=unique_minimiser(ON_SLICE, at={a: 0, b: 1})),
        statement(
            "kv.beyond.box.minimiser",  # that L itself is least there only is kv.fig2.caption
            for_all=[ANY_T, *BOX],
            says=both(*(margin <= top for margin, top in zip(margins, best, strict=True)),
                      either(margins[1] < best[1], both(eq(a, 0), eq(b, 1))),
                      either(on_slice(closed, T, 0, 1) < ON_SLICE, both(eq(a, 0), eq(b, 1)))),
        ),
        statement(
            "kv.beyond.box.minimum",
            for_all=[ANY_T, *BOX, real("w", T, open="low")],
            says=both(least_loss <= ON_SLICE, eq(on_slice(closed, T, 0, 1), least_loss),
                      Fraction(449, 100) < call(rest, T), call(rest, T) < call(rest, w), call(rest, T) < exp(2),
                      exp(2) - call(rest, T) <= 19 / T),
            using=[rest],
        ),
        statement(
            "kv.beyond.box.kkt",
            for_all=[ANY_T, *BOX],
            says=iff(both(*(either(eq(slope, 0), both(eq(place, 0), slope >= 0), both(eq(place, 1), slope <= 0))
                            for slope, place in zip(slopes, (a, b), strict=True))),
                     both(eq(a, 0), eq(b, 1))),
        ),
        statement(
            "kv.beyond.slice.conditions",
            for_all=[ANY_T, real("a"), real("b")],
            says=iff(both(eq(slopes[0], 0), eq(slopes[1], 0)),
                     both(eq(sum_of(weights, q), 0), eq(sum_of(weights, sums), 0))),
        ),
        statement(
            # The point where the Hessian of e^L on the slice is singular too; critical points of e^L are those of L.
            "kv.beyond.slice.fold",
            for_all=[real("a", 1, Fraction(23, 20)), real("b", -Fraction(3, 4), -HALF), real("T", 10, 12)],
            says=unique_zero([E_a, E_b, singular], box={
                "a": (Fraction(107145, ten), Fraction(107155, ten)),
                "b": (Fraction(-63485, ten), Fraction(-63475, ten)),
                "T": (Fraction(1081115, ten), Fraction(1081125, ten))}),
        ),
        _levels(),
    ]  # fmt: skip


def sum_of(weights: Sequence[Any], terms: Sequence[Any]) -> Term:
    return Term("add", *(weight * term for weight, term in zip(weights, terms, strict=True)))


def _levels() -> Statement:
    """Appendix L's listing at O(T) = 100, its slips kept, and the loss itself at T = 104; n/20 are the levels drawn."""
    whole_sum = 2 * exp(a) + exp(1 - a) + 100
    first, second = exp(a) / whole_sum, exp(1 - a) / whole_sum
    target = second * b + (1 - b) / whole_sum
    parts = exp(target) + 2 * exp(b / whole_sum + (1 - b) * second) + exp(2 * first * b + second + (1 - b)) + exp(100)
    listed, true = -log(exp(target) / parts), on_slice(closed, 104)
    return statement(
        "kv.listing_l.levels",
        for_all=[*BOX, whole("n", 0, 199)],
        says=both(
            Fraction(9997, 100) < listed, listed < Fraction(99995, 1000), Fraction(462, 100) < true,
            true < Fraction(4649, 1000), ne(listed, n / 20), ne(true, n / 20),
        ),
    )  # fmt: skip


# -- elsewhere ------------------------------------------------------------------------------------------------------


def elsewhere() -> list[Statement]:
    """Section 2, Section 5, the listings and the tables."""
    first, second = (lambda r, q: when(q <= r, x[r, q], 0)), (lambda r, q: when(q <= r, y[r, q], 0))
    patterns = [whole("n", 2), sequence("x", (n, n)), sequence("y", (n, n))]
    kernel = (a2, a1)  # K = (alpha2, alpha1): column 0 takes the previous token
    return [
        statement(
            "kv.property1.every_row",  # x, y: the two patterns, read below the diagonal only
            for_all=[*patterns, whole("j", 1, n), whole("i", 1, n - 1)],
            says=eq(total(k, 1, n, second(j, k) * first(k, i + 1)), total(k, i + 1, j, y[j, k] * x[k, i + 1])),
        ),
        _rotated(),
        statement(
            "kv.appM.inference",
            for_all=[real("a1"), real("a2"), whole("n", 2), sequence("x", n), whole("s", 2, n)],
            says=eq(kernel[1] * x[s - 1] + kernel[1] * x[s], total(j, 1, 2, pick(j, kernel) * x[s - 2 + j])),
        ),
        _bigrams(),
        _overlong(),
        _averages(),
        _batches(),
        _fisher(),
    ]


def _rotated() -> Statement:
    """One pair of components: keys (x, y) now and (z, v) before, rotated by s theta; n - 1, n are the places."""
    theta = var("theta")

    def turned(angle: Term, one: Term, other: Term) -> tuple[Term, Term]:
        return cos(angle) * one - sin(angle) * other, sin(angle) * one + cos(angle) * other

    now, before = turned(n * theta, x, y), turned((n - 1) * theta, z, v)
    mixed = turned(n * theta, a1 * x + a2 * z, a1 * y + a2 * v)
    off = [a1 * one + a2 * other - whole_ for one, other, whole_ in zip(now, before, mixed, strict=True)]
    return statement(
        "kv.appM.rope",
        for_all=[whole("n", 2), real("theta"), real("a1"), real("a2"), real("x"), real("y"), real("z"), real("v")],
        says=eq(sqrt(off[0] ** 2 + off[1] ** 2), 2 * absolute(a2 * sin(theta / 2)) * sqrt(z**2 + v**2)),
    )


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


def _overlong() -> Statement:
    """Appendix K's draws, all of them: y1 from n tokens, each next one from the n - 1 that differ from the last."""

    def chance(size: int, distinct: int) -> Term:
        drawn = [var(f"y{place}") for place in range(1, distinct + 2)]
        *heads, final = drawn
        new = [ne(one, other) for place, one in enumerate(heads) for other in heads[:place]]
        row_ends = both(*new, either(*(eq(final, other) for other in heads[:-1])))
        found = when(row_ends, Fraction(1, size * (size - 1) ** distinct), 0)
        for y_ in reversed(drawn):
            found = total(y_, 1, size, found)
        return found

    shares = [chance(size, size - 1) / sum((chance(size, t) for t in range(2, size)), lift(0))
              for size in (3, 4, 5)]  # fmt: skip
    return statement(
        "kv.appK.overlong",
        for_all=[choice("n", 3, 4, 5)],
        says=eq(pick(n - 2, shares), pick(n - 2, (1, Fraction(4, 7), Fraction(9, 29)))),
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


FORMAL: dict[str, Statement] = {
    found.name: found for found in (*two_layers(), *shifted_head(), *sentence(), *landscape(), *elsewhere())
} | family.FORMAL

# What a proof needs beyond following definitions and exact arithmetic.
_SPLIT = "split the sums over places at r = i, i + 1, T + 1: scores a1, a2, a1, else 0, so the weights add up to S"
_SMALL = "e^{-x} <= 1/x for x > 0, term by term"
NEEDS: dict[str, str] = {
    "kv.thm3.2": "kv.thm3.2.sharp on [-1, 1]^d, then 2 tanh(z) <= 2 z < 4 z/(1 - r), z = d r / sigma, r = e^{-p}",
    "kv.thm3.2.sharp": "layer 1 misses x_{s-1} by (r - r^{s-1})/(1 - r^{s-1}) < r (geometric sum); |x_L.(mean - "
    "x_{s-1})| <= d, 2d, 2 (Cauchy-Schwarz); kv.appA.step2.sharp; a mean moves by total variation times the "
    "coordinate's range",
    "kv.thm3.2.repaired": "weights of the key: r^{s-1}(1 - r)/(1 - r^s) on x_s, (1 - r)/(1 - r^s) > 1 - r on "
    "x_{s-1}, all >= 0 with sum 1; then as kv.thm3.2.sharp",
    "kv.thm3.2.attained": "scores of tokens 3, 4 differ by +-c (unit) or +-2c up to 2 c u or 4 c u, token 2 weighs "
    "at most e^{-2m}; tanh has slope <= 1, e^{-x} <= 1/x",
    "kv.thm3.2.eight": "tanh z <= z for z >= 0 at z = d r/(2 sigma), and 1/(1 - r) >= 1",
    "kv.eq8.domain.unbounded": "error is linear in c; its factor is > 0: score 3 gains kappa r/(1 + r), the others "
    "none; 1/(1 + r) < 1",
    "kv.appA.step2.sharp": "with R = e^{max - min}: odds of any set of places change by at most R (sum of p_i p_j (R "
    "t_j - t_i) >= 0); two blocks: slack h (1 + h)(B - 1)^2/(..) >= 0, e^{w/2} = 1 + h; tanh x <= x; tanh x > x (1 - "
    "x^2) for c",
    "kv.appA.step4": "sums of terms |x_k| <= 1; the double sum keeps the diagonal",
    "kv.appA.step6.sharp": "geometric sum by induction on s; slack r^{s-1}(1 - r)/(1 - r^{s-1}) in (0, r^{s-1}]; "
    "e^{-x} <= 1/x",
    "kv.appA.step7.uniform": "cases c > 1 (e^{-p} = 1 - 1/c, so 4c > c) and c <= 1 (4/(1 - 1/e) > 4)",
    "kv.thm3.3.corrected": "score and value agree place by place on 2..L-1, where x_{s-1} is never the padding",
    "kv.thm3.3.discrepancy": "split the sum over 1..L into {1, L} and 2..L-1; score 1 is -m(L-1) as x_0 = 0",
    "kv.thm3.3.discrepancy.range": "kv.thm3.3.discrepancy; v and IH are means, so both lie between min and max over "
    "places",
    "kv.thm3.3.discrepancy.matched": "a <= 2 (x_{L-1} is no match) and Z is at least its term s = i + 1: eps <= a/Z",
    "kv.thm3.3.discrepancy.ball": "Cauchy-Schwarz for each product; a/(a + Z) rises in a and falls in Z; reverse the "
    "sum (j = L - s); the second part is exact",
    "kv.thm3.3.discrepancy.long": "geometric sum; gap = q^{L-1}(Z_oo + 1/(1-q))/((a + Z)(E + Z_oo)) with q = e^{-m}; "
    "q^{L-1} <= 1/(m(L-1)), 1/(1-q) <= 1 + 1/m",
    "kv.sec3.1.any_context.corrected": "each of the L - 3 other weights over that of i + 1 is at most the maximum: "
    "places before i - gap by the distance, the others by 1/sigma",
    "kv.eq10.corrected": f"{_SPLIT}; tokens in classes j = i - 1, i, i + 1, T and T - 4 others; log of a product",
    "kv.appC.every_position": f"{_SPLIT} (i = T: at T, T + 1); then r = j and r = j + 1 in the numerator, case by case",
    "kv.thm3.4.minimum.corrected": f"kv.eq10.corrected; log(1 + x) > 0 and <= x; {_SMALL}",
    "kv.beyond.sign_rule": f"{_SPLIT}; token j has logit (b1 + b2)/S; e^x - 1 has the sign of x",
    "kv.beyond.temperature.half": f"{_SPLIT}: weight e^gamma/(e^gamma + T) (S at a1 = 0); exp and log are increasing",
    "kv.eq6.sigma.corrected": "one score u and T scores 0: e^u/(e^u + T); e^u - 1 <= 2u on (0, 1]",
    "kv.eq5.one_mixture": f"{_SPLIT}; finitely many coincidences of i - 1, i, i + 1, i + 2, T; signs of sums "
    "of e^2, e^6",
    "kv.fig2.two_tokens.loss": "lead affine in b; at each end monotone in a (sign of derivatives on [0, 1]); (e - "
    "1)/(2e + 1) > (e - 2)/(e + 2)",
    "kv.beyond.critical_point": "S Z grad by weights w_c: where the b-slopes vanish the a-slopes are M beta, det M = "
    "2 w_r^2 + w_e (w_r + w_e + w_o) > 0, so beta = 0; then two linear equations in A, B of determinant 2T",
    "kv.beyond.infimum.vanilla": f"e^L = T - 1 + e^{{b1 (2A - 1)/S}}; {_SMALL}",
    "kv.beyond.infimum.v_shift": f"e^L = T - 3 + two exponentials; {_SMALL}; (T + 3)/(T - 3) <= 7",
    "kv.beyond.infimum.k_shift": f"e^L - 1 > 0; {_SMALL}",
    "kv.beyond.route.anti_induction": f"all three rates are > 0 on the domain; log(1 + x) <= x; {_SMALL}",
    "kv.beyond.time.not_ahead": "theory.landscape.learning_order: b1' by shares, 2A >= 1, S >= T; a2' = B (b1 - G)/S "
    "with G >= 0 from D_r <= 1 and D_r - D_e >= 1 - e or D_e <= 1/2; both brackets grow with T from 44 on",
    "kv.fig2.caption": "kv.beyond.box.minimiser",
    "kv.beyond.box.minimiser": "margins affine in b; o: b (B - 1)/S; e: b (A + B - 2) + 1 - A with A + B >= 2 "
    "sqrt(e) > 2; i: ends 1 - B <= 0 and B - 2A; (B - 1)/S and (B - 2A)/S fall in a",
    "kv.beyond.box.minimum": "kv.fig2.caption; with t = 1/T, rest is a Taylor remainder of L_min - log T: third "
    "derivative < 0 on [0, 1/4] (interval), value at T = 4; 19 bounds a third of its size",
    "kv.beyond.box.kkt": "u = 1/(T - 2) in [0, 1/2], interval proof: b-slope < 0 for a <= 2/5; for a >= 2/5 the "
    "a-slope is b f + u g with f, g > 0; a-slope > 0 at b = 1",
    "kv.beyond.slice.conditions": "S dD_c/db = q_c; S dD_c/da + b (rise - 1) q_c = b K_c - R_c: an invertible "
    "combination",
    "kv.beyond.slice.fold": "Krawczyk in three unknowns on the box (it passes); branch and bound elsewhere",
    "kv.listing_l.levels": "branch and bound over the box; enumerate n, or n/20 <= 9.95 and no n/20 in [4.62, 4.649]",
    "kv.property1.every_row": "terms k <= i and k > j vanish: cut the sum at i and at j (empty for j <= i)",
    "kv.appM.rope": "addition theorems: |R(t) v - R(t - theta) v|^2 = (2 - 2 cos theta)|v|^2 = 4 sin^2(theta/2) |v|^2",
    "kv.sec5.query_kernel.no_scalar": "leads P1, P2 of A B over B B, A A and Q1, Q2 of A A over A C, C A: P1 P2 (g0 "
    "+ g1)^2 + Q1 Q2 (g0 - g1)^2 = 0, and P1 P2 > 0 excludes g0 = g1",
    "kv.tab5.coupled": "60 exact terms of a sum of binomials",
}
