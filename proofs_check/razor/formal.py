"""Claims about RazorAttention as statements: data that the core decides, one a claim of the ledger, under its id.

Attention is always the softmax itself, sums of exponentials over positions. Positions are 1..n, the query is the last
one, and a token's distance is n - j. A set of logits of one query whose spread is at most D is a sequence between a
and a + D. Where a claim says that a bound is attained, the worst context is written out as a comprehension, and its
items can be seen to lie in that interval. `A if and only if B holds for all z` is written (A implies B(z)) and (not A
implies not B(z0)) with z0 written out. What a false claim states is what the paper prints.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Variable
from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, absolute, both, either, eq, exp, implies, lift, log, ne, sqrt, tanh
from proofs_check.language.converted import term
from proofs_check.language.notation import (
    choice,
    define,
    each,
    exists,
    fold,
    iff,
    largest,
    least,
    limit,
    positive,
    real,
    sequence,
    statement,
    supremum,
    total,
    var,
    when,
    whole,
)
from theory.cache import compensation_bounds

# -- variables that most statements share ---------------------------------------------------------------------------

n, m, d, e = whole("n", 1), whole("m", 1), whole("d", 1), whole("e", 1)
slope, spread, base = positive("l"), real("D", 0), real("a")  # the ALiBi slope, the range D, the lowest logit
eps, delta = real("eps", 0, 1, open=True), real("delta", 0, 1, open=True)
logits = sequence("s", n, base, base + spread)
centre = choice("c", 0, 1)  # 0: RMSNorm, 1: LayerNorm, which takes the mean off
gains, bias = sequence("g", d), sequence("b", d)
i, j, k, t, q = map(var, "ijktq")  # bound: coordinates i, q; tokens j, k, t


def _call(name: str, *arguments: Any) -> Term:
    return Term("call", name, *map(lift, arguments))


def _define(name: str, parameters: str, body: Any) -> Any:
    return define(name, [var(p) for p in parameters.split()], body)


S, V, R, W, X, Y, P, H, U = map(var, ("s", "v", "r", "w", "x", "y", "p", "h", "u"))
N, M, E, L, C, B, G = map(var, "nmelcbg")
# Bound inside definitions: each has names of its own, which no argument mentions.
ka, ks, qs, kn, kr, kc, ip, jp, kp = map(var, ("ka", "ks", "qs", "kn", "kr", "kc", "ip", "jp", "kp"))
ko, jf, kf, cf, kg, km, kl = map(var, ("ko", "jf", "kf", "cf", "kg", "km", "kl"))

# -- ALiBi attention: Eq. 1 and the softmax over all positions -----------------------------------------------------

_TERM = exp(S[ka] - L * (N - ka))
ATTENTION = _define("attention", "s l n j", exp(S[j] - L * (N - j)) / total(ka, 1, N, _TERM))
MASS = _define("mass", "s l n w", total(ka, 1, N - W, _TERM) / total(ka, 1, N, _TERM))  # of distances >= w


def attention(s: Any, slope: Any, n: Any, j: Any) -> Term:
    """The weight of position j among 1..n for the query n, whose logits are s."""
    return _call("attention", s, slope, n, j)


def mass(s: Any, slope: Any, n: Any, window: Any) -> Term:
    return _call("mass", s, slope, n, window)


def high(condition: Term) -> Term:
    """The logits a + D where the condition (on j) holds, a elsewhere."""
    return each(j, when(condition, base + spread, base))


# -- post-norm states and the logits of a head: Eq. 6 --------------------------------------------------------------

_MEAN = total(ks, 1, var("d"), H[ks]) / var("d")
_VARIANCE = total(qs, 1, var("d"), (H[qs] - C * _MEAN) ** 2)
VARIANCE = _define("variance", "h c d", _VARIANCE)  # times d
STATE = _define("state", "h g b c d i", G[i] * (H[i] - C * _MEAN) / sqrt(_VARIANCE / var("d")) + B[i])
NORM2 = _define("norm2", "x d", total(kn, 1, var("d"), X[kn] ** 2))
APART2 = _define("apart2", "x y d", total(kn, 1, var("d"), (X[kn] - Y[kn]) ** 2))
_DOTS = total(kc, 1, var("d"), P[kr, kc] * X[kc]) * total(kc, 1, var("d"), R[kr, kc] * Y[kc])
LOGIT = _define("logit", "x y p r e d", total(kr, 1, E, _DOTS))  # (W_Q x) . (W_K y), with E rows
# One row each, W_Q = u and W_K = w: the product W_Q^T W_K has the norm |u| |w|.
LOGIT_ONE = _define(
    "logit_one", "x y u w d", total(kc, 1, var("d"), U[kc] * X[kc]) * total(kc, 1, var("d"), W[kc] * Y[kc])
)


# The norm of W_Q^T W_K in Frobenius' sense, at least the spectral one: no scope of Eq. 2 is longer. (In the printed
# order the product bounds nothing: razor.eq6.order.)
_ENTRY = total(kp, 1, E, P[kp, ip] * R[kp, jp])
PRODUCT = _define("product", "p r e d", sqrt(total(ip, 1, var("d"), total(jp, 1, var("d"), _ENTRY**2))))
NORMED = [VARIANCE, STATE, NORM2, APART2, LOGIT, LOGIT_ONE, PRODUCT, ATTENTION]


def state(hidden: Any, gains: Any, bias: Any) -> Term:
    """x = gamma (.) z + b, z the hidden state divided by its root mean square, in LayerNorm without its mean."""
    return each(i, _call("state", hidden, gains, bias, centre, d, i))


def norm2(x: Any) -> Term:
    return _call("norm2", x, d)


def apart2(x: Any, y: Any, size: Any = d) -> Term:
    return _call("apart2", x, y, size)


def variance(hidden: Any) -> Term:
    return _call("variance", hidden, centre, d)


def kappa(x: Any, y: Any) -> Term:
    """|x| |x - y|, whose supremum over post-norm states decides (theory.alibi.printed.printed_condition)."""
    return sqrt(norm2(x)) * sqrt(apart2(x, y))


def row(matrix: Any, place: Any) -> Term:
    return each(i, var(matrix.name)[place, i])


def column(matrix: Any) -> Term:
    return each(j, var(matrix.name)[j, q])


printed_bias = each(i, centre * bias[i])  # "b = 0 for RMSNorm"
hidden, other = sequence("h", d), sequence("y", d)
context, w_q, w_k = sequence("h", (n, d)), sequence("p", (e, d)), sequence("r", (e, d))
regular = fold("min", t, 1, n, variance(row(context, t))) > 0  # no hidden state that the norm cannot divide
at = whole("j", 1, n)

# -- outputs: n dropped tokens (s, v) and m kept ones (t, w), any positional bias in their logits --------------------

T_ = var("t")
_DROPPED, _KEPT = total(ko, 1, N, exp(S[ko])), total(ko, 1, M, exp(T_[ko]))
_TOKEN = N * exp(total(ko, 1, N, S[ko]) / N)
_DROPPED_V, _KEPT_V = total(ko, 1, N, exp(S[ko]) * V[ko]), total(ko, 1, M, exp(T_[ko]) * W[ko])
_AVERAGE = total(ko, 1, N, V[ko]) / N
Z = _define("Z", "s n", _DROPPED)
Z_HAT = _define("Zhat", "s n", _TOKEN)  # N_d e^{q.khat}: q.khat is the mean of the dropped logits
OUTPUT = _define("output", "s v n t w m", (_DROPPED_V + _KEPT_V) / (_DROPPED + _KEPT))
CUT = _define("cut", "t w m", _KEPT_V / _KEPT)
COMPENSATED = _define("compensated", "s v n t w m", (_TOKEN * _AVERAGE + _KEPT_V) / (_TOKEN + _KEPT))  # Eq. 4 and 5
DROPPED_MEAN = _define("dropped_mean", "s v n", _DROPPED_V / _DROPPED)
AVERAGE = _define("average", "v n", _AVERAGE)
SHARE = _define("T", "s n t m", _DROPPED / (_DROPPED + _KEPT))
SHARE_HAT = _define("That", "s n t m", _TOKEN / (_TOKEN + _KEPT))
# theory.cache.compensation.compare has all of these; theory.cache.dropped.truncate those without the token.
OUTPUTS = [Z, Z_HAT, OUTPUT, CUT, COMPENSATED, DROPPED_MEAN, AVERAGE, SHARE, SHARE_HAT]
FARTHEST2 = _define(
    "farthest2", "v n e",
    fold("max", jf, 1, N, fold("max", kf, 1, N, total(cf, 1, E, (V[jf, cf] - V[kf, cf]) ** 2))),
)  # fmt: skip

VECTORS = [*OUTPUTS, FARTHEST2, APART2]

s, v = sequence("s", n), sequence("v", n)
kept, w = sequence("t", m), sequence("w", m)
scores = (s, n, kept, m)
heads = (s, v, n, kept, w, m)
free_head = [n, m, s, v, kept, w]
v_e, w_e = sequence("v", (n, e)), sequence("w", (m, e))
columns = (s, column(v_e), n, kept, column(w_e), m)  # coordinate q of values of e coordinates


def output(*head: Any) -> Term:
    return _call("output", *head)


def cut(*head: Any) -> Term:
    return _call("cut", *head)


def compensated(*head: Any) -> Term:
    return _call("compensated", *head)


def dropped_mean(*head: Any) -> Term:
    return _call("dropped_mean", *head)


def average(*head: Any) -> Term:
    return _call("average", *head)


def share(*head: Any) -> Term:
    return _call("T", *head)


def share_hat(*head: Any) -> Term:
    return _call("That", *head)


def log_gap(s: Any, n: Any) -> Term:
    return log(_call("Z", s, n) / _call("Zhat", s, n))


def constant(value: Any) -> Term:
    return each(j, value)


def first_is(value: Any, rest: Any) -> Term:
    return each(j, when(j < 2, value, rest))


def log_mass_bound(r: Variable) -> Term:
    return term(compensation_bounds.LOG_MASS_BOUND, {compensation_bounds.span: r})


# -- Table 2 -------------------------------------------------------------------------------------------------------

_SHORT = least(N, largest(4000, N / 5))
KEPT = _define("kept", "n", (15 * N + 85 * _SHORT) / (100 * N))  # theory.cache.size.kept_share
# Groups of 4 query heads, of which c[k] are retrieval heads: the group is kept whole if there is one.
KEPT_GROUPS = _define("kept_groups", "c g n", total(kg, 1, G, when(C[kg] > 0, N, _SHORT)) / (G * N))


SEVENTY, SHARE_OF_HEADS, MOST, LEAST = Fraction(7, 10), Fraction(15, 100), Fraction(25, 8), Fraction(25, 17)


def reduction(length: Any) -> Term:
    return 1 - _call("kept", length)


def kept_groups(chosen: Any, groups: Any, length: Any) -> Term:
    return _call("kept_groups", chosen, groups, length)


# -- parts of single statements ------------------------------------------------------------------------------------

gap, distance, window = real("gap", 0, spread), whole("k", 1, n - 1), whole("w", 0)
printed_norms, norms = norm2(gains) + norm2(printed_bias), norm2(gains) + norm2(bias)
size = real("size", 0)

# theory.alibi.weight_bound, with D_s and with D_s = D; theory.alibi.scope
_BETWEEN = total(j, 1, distance - 1, exp(-slope * j))
WEIGHT = 1 / (1 + exp(slope * distance) * (exp(-gap) + exp(-spread) * _BETWEEN))
SHARP = 1 / (1 + exp(slope * distance) * (exp(-spread) + exp(-spread) * _BETWEEN))
SCOPE = log(1 + (1 / eps - 1) * (1 - exp(-slope)) * exp(spread)) / slope
BEYOND = 1 / (1 + exp(-spread) * (exp(slope * window) - 1))  # theory.alibi.dropped_mass_bound
ENOUGH = log(1 + (1 / delta - 1) * exp(spread)) / slope  # theory.alibi.window_for_mass


def head(x: Any, y: Any) -> Term:
    return _call("logit", x, y, w_q, w_k, e, d)


def violation(x: Term, y: Term, bound: Term) -> tuple[Term, Term]:
    """Where |x| |x - y| > bound: printed scope and weight of y for a head of one dimension, read on the context y x.

    Its query is x.x and its key w.x, |x| |w| (kappa - bound) = 2 - log(1 - eps); its slope is just above what puts the
    scope below 1.
    """
    strength = (2 - log(1 - eps)) / (kappa(x, y) - bound)
    steep = strength * bound - log(eps) + 1
    key = each(i, strength * (y.parts[1] - x.parts[1]) / kappa(x, y))
    two = each(t, when(t < 2, _call("logit_one", x, y, x, key, d), _call("logit_one", x, x, x, key, d)))
    return (sqrt(norm2(x)) * sqrt(norm2(key)) * bound - log(eps)) / steep, attention(two, steep, 2, 1)


# Gains of one size z > 0, in LayerNorm of one sign, and a bias that in LayerNorm is orthogonal to the ones.
sign, raw, one_size = sequence("w", d), sequence("b", d), positive("z")
_POSITIVE = when(centre >= 1, sign[1], sign[i]) >= 0
alike = each(i, when(_POSITIVE, one_size, -one_size))
shift = each(i, raw[i] - centre * total(k, 1, d, raw[k]) / d)
_ALONG = when(_POSITIVE, shift.parts[1], -shift.parts[1])  # z is then along the bias; without one any z will do
best, worst = (each(i, way * when(norm2(shift) > 0, _ALONG, hidden[i])) for way in (1, -1))


def short_sum(slope: Any, spread: Any, kept: int, gone: int, level: Fraction) -> Term:
    """A window inside L_h = (D - ln 0.001)/l, beyond it no weight above 0.1 %, and a mass above the level."""
    context, n = each(j, when(j <= gone, spread, 0)), kept + gone
    light = fold("max", t, 1, gone, attention(context, slope, n, t)) <= Fraction(1, 1000)
    return both(kept < (spread + log(1000)) / slope, light, level < mass(context, slope, n, kept))


def windowed(s: Any, v: Any, window: Any) -> tuple[Any, ...]:
    """Logits and values by position, the last ones kept, as dropped and kept tokens with ALiBi in their logits."""
    near = n - window + j
    gone = each(j, s(j) - slope * (n - j)), each(j, v(j)), n - window
    return (*gone, each(j, s(near) - slope * (window - j)), each(j, v(near)), window)


# Heads number j with slope l, cost c, range D, dropped mass x; theory.cache.budget.split_budget.
rate, cost, masses = (sequence(name, n, 0, open="low") for name in "lcx")
ranges, budget, level = sequence("D", n, 0), positive("eta"), positive("z")
sharp, less = (sequence(name, n, 0, Fraction(1, 2), open="low") for name in "pr")
split = budget / (cost[j] * rate[j] * total(k, 1, n, 1 / rate[k]))
price = level / (rate[j] * sharp[j] * (1 - (1 - exp(-ranges[j])) * sharp[j]))  # the costs at which all rates agree


def simple_windows(delta: Any) -> Term:
    return total(j, 1, n, (ranges[j] - log(delta)) / rate[j])


def sharp_windows(delta: Any) -> Term:
    return total(j, 1, n, log(1 + (1 / delta - 1) * exp(ranges[j])) / rate[j])


# theory.cache.dropped.eviction_errors: the tokens s, v without number i.
LEFT = _define("left", "s v n i", total(kl, 1, N, when(ne(kl, i), exp(S[kl]) * V[kl], 0))
               / total(kl, 1, N, when(ne(kl, i), exp(S[kl]), 0)))  # fmt: skip


def evicted(s: Any, v: Any, n: Any, place: Any) -> Term:
    return _call("left", s, v, n, place) - dropped_mean(s, v, n)


# Keys of d coordinates: q.k_j, and khat of Eq. 4.
query, keys, kept_keys = sequence("q", d), sequence("k", (n, d)), sequence("x", (m, d))
MEAN_KEY = _define("mean_key", "k n i", total(km, 1, N, var("k")[km, i]) / N)


def products(query: Any, keys: Any) -> Term:
    return each(j, total(i, 1, d, query(i) * keys[j, i]))


def with_mean_key(query: Any, kept: Term) -> Term:
    """Eq. 5 with khat itself, values v and w."""
    token = n * exp(total(i, 1, d, query(i) * _call("mean_key", keys, n, i)))
    top = token * average(v, n) + total(j, 1, m, exp(kept.parts[1]) * w[j])
    return top / (token + total(j, 1, m, exp(kept.parts[1])))


_ASKED = products(lambda i: query[i], keys)
EVEN = fold("max", j, 1, n, _ASKED.parts[1]) <= fold("min", j, 1, n, _ASKED.parts[1])  # one logit on all dropped keys
ranged_by, spare = positive("r"), whole("n", 2)
ranged = sequence("s", n, base, base + ranged_by)
HALF_WAY = constant((log(_call("Z", ranged, n)) + log(_call("Zhat", ranged, n))) / 2)
WORST_SHARE = term(compensation_bounds.WORST_SHARE, {compensation_bounds.span: ranged_by})

# Values of e coordinates: full output, without the dropped tokens, with the token; vbar and vhat.
full_e, cut_e, compensated_e = (each(q, part) for part in (output(*columns), cut(*columns[3:]), compensated(*columns)))
mean_e, average_e = each(q, dropped_mean(*columns[:3])), each(q, average(*columns[1:3]))
towards = total(q, 1, e, (mean_e.parts[1] - cut_e.parts[1]) * (average_e.parts[1] - cut_e.parts[1]))


def not_enough(rho: Any) -> Term:
    """Dropped logits -+ln 2, a kept one far below: |vbar - vhat| = rho |vhat - o_K|, and the token is worse."""
    rest = constant(log(rho - Fraction(1, 2))), constant(0), 1
    shown = first_is(-log(2), log(2)), first_is(1 + Fraction(5, 3) * rho, 1 - Fraction(5, 3) * rho), 2, *rest
    far = absolute(dropped_mean(*shown[:3]) - average(*shown[1:3]))
    worse = absolute(output(*shown) - cut(*rest)) < absolute(output(*shown) - compensated(*shown))
    return both(eq(far, rho * absolute(average(*shown[1:3]) - cut(*rest))), worse)


# Of g groups of 4 heads c[k] heads are chosen in number k; 12 u heads of 80 u in 3 u groups, and in 12 u.
lengths, groups, unit = whole("n", 20_000), whole("g", 1), whole("u", 1)
chosen = replace(sequence("c", groups, 0, 4), whole=True)
packed, strewn = (each(k, when(k <= places * unit, chosen, 0)) for places, chosen in ((3, 4), (12, 1)))
hit = 1 - Fraction(17, 20) ** 4  # the chance of a group, where each head is chosen with 15 %


# -- Theorem 1 -----------------------------------------------------------------------------------------------------


def _thm1() -> Statement:
    """m - n > L_h is solved for the slope: l (m - n) is z > 0 more than the numerator of Eq. 2."""
    earlier, excess = whole("j", 1, n - 1), positive("z")
    x, y = (state(row(context, place), gains, printed_bias) for place in (n, t))
    weight = attention(each(t, head(x, y)), slope, n, earlier)
    least = 2 * _call("product", w_q, w_k, e, d) * printed_norms - log(eps)
    return statement(
        "razor.thm1", for_all=[n, d, e, centre, context, gains, bias, w_q, w_k, eps, earlier, excess, slope],
        given=[regular, eq(slope, (least + excess) / (n - earlier))], says=weight <= eps, using=NORMED,
    )  # fmt: skip


def _thm1_corrected() -> Statement:
    """Of D_s only the target's excess is used. The worst context begins with the target; D_s = D in it."""
    weight, worst = attention(logits, slope, n, n - distance), attention(high(j < 2), slope, distance + 1, 1)
    return statement(
        "razor.thm1.corrected", for_all=[n, distance, slope, spread, gap, base, logits, eps],
        given=[logits[n - distance] - logits[n] <= gap], using=[ATTENTION],
        says=both(weight <= WEIGHT, implies(distance >= SCOPE, weight <= eps), eq(worst, SHARP),
                  implies(distance < SCOPE, eps < worst)),
    )  # fmt: skip


def _thm1_iff() -> Statement:
    """size: the spectral norm of W_Q^T W_K or more, of which only x.M(y - x) <= |M| |x| |y - x| is used."""
    x, y = (state(row(context, place), gains, bias) for place in (n, at))
    weight = attention(each(t, head(x, state(row(context, t), gains, bias))), slope, n, at)
    scope, violating = violation(x, y, 2 * norms)
    return statement(
        "razor.thm1.iff", for_all=[n, d, e, centre, context, gains, bias, w_q, w_k, size, slope, eps, at], using=NORMED,
        given=[regular, head(x, y) - head(x, x) <= size * kappa(x, y), (2 * size * norms - log(eps)) / slope < n - at],
        says=both(implies(kappa(x, y) <= 2 * norms, weight <= eps),
                  implies(kappa(x, y) > 2 * norms, both(scope < 1, eps < violating))),
    )  # fmt: skip


def _thm1_one_size() -> Statement:
    """kappa with the two states that reach it, and when it is at most 2 (|gamma|^2 + |b|^2): razor.thm1.iff."""
    found, reached = (kappa(*(state(x, alike, shift) for x in pair)) for pair in ((hidden, other), (best, worst)))
    radius, long = sqrt(d) * one_size, sqrt(norm2(shift))
    most, bound = 2 * radius * (radius + long), 2 * (norm2(alike) + norm2(shift))
    return statement(
        "razor.thm1.one_size", for_all=[d, centre, one_size, sign, raw, hidden, other], using=NORMED,
        given=[variance(hidden) > 0, variance(other) > 0],
        says=both(found <= most, eq(reached, most), iff(most <= bound, either(norm2(shift) <= 0, radius <= long))),
    )  # fmt: skip


# -- Appendix A ----------------------------------------------------------------------------------------------------


def _last_step() -> Statement:
    return statement(
        "razor.appA.last_step", for_all=[n, s, slope, at],
        says=attention(s, slope, n, at) <= exp(s[at] - slope * (n - at)), using=[ATTENTION],
    )  # fmt: skip


def _eq6_order() -> Statement:
    """W_Q = -W_K = -e_1 e_2^T, x = e_2."""
    names = ("p11", "p12", "p21", "p22", "r11", "r12", "r21", "r22", "x", "y")
    p11, p12, p21, p22, r11, r12, r21, r22, x, y = reals = [real(name) for name in names]
    zero = both(*(eq(a * b + c * d, 0) for a, c in ((p11, p12), (p21, p22)) for b, d in ((r11, r21), (r12, r22))))
    logit = (p11 * x + p12 * y) * (r11 * x + r12 * y) + (p21 * x + p22 * y) * (r21 * x + r22 * y)
    point = dict(zip(names, (0, -1, 0, 0, 0, 1, 0, 0, 0, 1), strict=True))
    return statement("razor.eq6.order", for_all=reals, says=exists(point, both(zero, ne(logit, 0))))


def _eq7() -> Statement:
    return statement(
        "razor.eq7", for_all=[d, centre, hidden, gains, bias], given=[variance(hidden) > 0],
        says=norm2(state(hidden, gains, printed_bias)) <= 2 * norm2(gains) + 2 * norm2(printed_bias), using=NORMED,
    )  # fmt: skip


def _eq7_corrected() -> Statement:
    """d for LayerNorm and d + 1 for RMSNorm."""
    return statement(
        "razor.eq7.corrected", for_all=[d, centre, hidden, gains, bias], given=[variance(hidden) > 0],
        says=norm2(state(hidden, gains, bias)) <= (d + 1 - centre) * norms, using=NORMED,
    )  # fmt: skip


def _eq8() -> Statement:
    x, size = state(hidden, gains, printed_bias), _call("product", w_q, w_k, e, d)
    return statement(
        "razor.eq8", for_all=[d, e, centre, hidden, gains, bias, w_q, w_k], given=[variance(hidden) > 0],
        says=head(x, x) <= 2 * size * printed_norms, using=NORMED,
    )  # fmt: skip


# -- what lies beyond a window -------------------------------------------------------------------------------------


def _discard_corrected() -> Statement:
    """The supremum over contexts of all lengths: the worst one of length n comes within (w + 1/l)/n of the bound."""
    found, worst = mass(logits, slope, n, window), mass(high(j <= n - window), slope, n, window)
    return statement(
        "razor.sec3.1.discard.corrected", for_all=[n, window, slope, spread, base, logits, delta], using=[MASS],
        says=both(found <= BEYOND, implies(window >= ENOUGH, found <= delta),
                  BEYOND - worst <= (window + 1 / slope) / n),
    )  # fmt: skip


def _form() -> Statement:
    """The bound itself is below eps where D > 0; at D = 0 it is eps, and the mass is below all the same."""
    found, bound = mass(logits, slope, n, window), eps / (1 + eps * (1 - exp(-spread)))
    return statement(
        "razor.sec3.1.form", for_all=[n, window, slope, spread, base, logits, eps], using=[MASS],
        given=[(spread - log(eps)) / slope <= window],
        says=both(found <= bound, found < eps, implies(spread > 0, bound < eps)),
    )  # fmt: skip


def _discard() -> Statement:
    """The added hypothesis: the numerator of Eq. 2 without -ln eps is at least the range D."""
    numerator, term = real("numerator", spread), exp(logits[k] - slope * (n - k))
    beyond = when((numerator - log(eps)) / slope < n - k, term, 0)
    return statement(
        "razor.sec3.1.discard", for_all=[n, slope, spread, numerator, base, logits, eps],
        says=total(k, 1, n, beyond) / total(k, 1, n, term) < eps,
    )  # fmt: skip


def _discard_sum() -> Statement:
    """Two heads of width 1, W_Q^T W_K = -D/2, b = 0 and gamma = 1 (the numerator of Eq. 2 is D), worst contexts."""
    steep, far = positive("l'"), real("D'", 0)
    point = {slope: Fraction(1, 4), spread: 6, steep: Fraction(1, 16), far: 1}
    cases = (slope, spread, 46, 60, Fraction(3, 1000)), (steep, far, 84, 120, Fraction(14, 1000))
    return statement(
        "razor.sec3.1.discard.sum", for_all=[slope, spread, steep, far], using=[ATTENTION, MASS],
        says=exists(point, both(*(short_sum(*case) for case in cases))),
    )  # fmt: skip


def _sinks() -> Statement:
    """Dropped: all but u sinks and the last w. The worst mass tends to the bound without sinks, which none exceeds."""
    sinks, window = whole("u", 0), whole("w", 1)
    term = exp(when(both(sinks < j, j <= n - window), base + spread, base) - slope * (n - j))
    bound = 1 / (1 + exp(-spread) * (exp(slope * window) - 1))
    rate = exp(spread) * (sinks + window + 1 / slope) / (1 - exp(-slope))
    return statement(
        "razor.sec3.1.sinks", for_all=[sinks, window, slope, spread, base, n],
        says=limit(total(j, sinks + 1, n - window, term) / total(j, 1, n, term), bound, n, rate),
    )  # fmt: skip


def _no_decay() -> Statement:
    """Slope 0. theory.cache.dropped_flat.log_scope and mass_floor."""
    scope, weight = (1 / eps - 1) * exp(spread), attention(logits, 0, n, n - distance)
    return statement(
        "razor.sec3.2.no_decay", for_all=[n, distance, window, spread, base, logits, eps], using=[ATTENTION, MASS],
        says=both(implies(distance >= scope, weight <= eps),
                  implies(distance < scope, eps < attention(high(j < 2), 0, distance + 1, 1)),
                  1 - mass(logits, 0, n, window) <= window * exp(spread) / n),
    )  # fmt: skip


def _flat_mass() -> Statement:
    """theory.cache.dropped_flat.mass_bound with D_s = D."""
    s, kept = sequence("s", n, base, base + spread), sequence("t", m, base, base + spread)
    worst, bound = share(constant(base + spread), n, constant(base), m), n / (n + m * exp(-spread))
    return statement(
        "razor.sec3.2.flat_mass", for_all=[n, m, spread, base, s, kept], using=OUTPUTS,
        says=both(share(s, n, kept, m) <= bound, eq(worst, bound)),
    )  # fmt: skip


# -- heads whose keys are mixed with those before ------------------------------------------------------------------

# theory.alibi.reach.reach_forget_gap
GAP = log((1 / delta - 1) / (1 - exp(-slope))) / slope
# theory.alibi.shifted_scope: mixed logits a_1 s_t + a_2 s_{t-1} of raw ones in [-D/2, D/2], nothing before the first
own, before = real("p", 0), real("r", 0)
raw_logits = sequence("s", n, -spread / 2, spread / 2)
GROWN = total(j, 1, distance, exp(slope * j))


def mixed(raw: Any, sign: int) -> Term:
    """a_1 = p and a_2 = sign r; with both signs turned it is -s that is mixed."""
    return each(j, own * raw(j) + when(j < 2, 0, sign * before * raw(j - 1)))


def alike_odds(v: Any) -> Term:
    """The least odds against a token whose raw logit is v - D/2."""
    return exp(slope - before * spread - own * v) * (GROWN * exp(-slope) - 1 + exp(before * v))


def two_high(sign: int) -> Term:
    """The weight of the second of k + 2 tokens, of high raw logit; the first has that of the sign, others a low one."""
    raw = mixed(lambda x: when(x < 2, sign * spread / 2, when(x < 3, spread / 2, -spread / 2)), sign)
    return attention(raw, slope, distance + 2, 2)


def _shifted_alike() -> Statement:
    """x: where the odds are least, if a_2 > a_1."""
    turn, weight = real("x"), attention(mixed(lambda x: raw_logits[x], 1), slope, n, n - distance)
    least_at = eq(own * (GROWN * exp(-slope) - 1), (before - own) * exp(before * turn))
    worst = alike_odds(spread) + exp(-slope - before * spread / 2)
    return statement(
        "razor.thm1.shifted.alike", for_all=[n, distance, slope, spread, own, before, raw_logits, turn],
        using=[ATTENTION],
        says=both(weight <= 1 / (1 + alike_odds(raw_logits[n - distance] + spread / 2)),
                  implies(before <= own, weight <= 1 / (1 + alike_odds(spread))),
                  implies(least_at, weight <= 1 / (1 + alike_odds(turn))), eq(two_high(1), 1 / (1 + worst))),
    )  # fmt: skip


# D (R + r/phi), for r e^l <= p and for p <= r e^l
RANGES = own + before * exp(slope) / GROWN, before + own * (1 - exp(-slope)) + own / GROWN


def _shifted_opposite() -> Statement:
    weight = attention(mixed(lambda x: raw_logits[x], -1), slope, n, n - distance)
    first, second = (weight <= 1 / (1 + GROWN * exp(-spread * wide)) for wide in RANGES)
    worst = (GROWN - exp(slope)) * exp(-own * spread) + exp(slope - (own + before) * spread)
    before_it = exp(-slope - own * spread - before * spread / 2)
    return statement(
        "razor.thm1.shifted.opposite", for_all=[n, distance, slope, spread, own, before, raw_logits], using=[ATTENTION],
        says=both(implies(before * exp(slope) <= own, first), implies(own <= before * exp(slope), second),
                  eq(two_high(-1), 1 / (1 + worst + before_it))),
    )  # fmt: skip


def _gap() -> Statement:
    """A window w that a context exceeds delta at, a distance k that the worst one (D_s = D) gives less than 1/2."""
    half = log(1 + (1 - exp(-slope)) * exp(spread)) / slope  # SCOPE at eps = 1/2
    unreached = attention(high(j < 2), slope, distance + 1, 1) < Fraction(1, 2)
    at_most_half = real("delta", 0, Fraction(1, 2), open="low")
    return statement(
        "razor.thm1.gap", for_all=[n, distance, window, slope, spread, base, logits, at_most_half],
        using=[ATTENTION, MASS],
        says=both(ENOUGH - half <= GAP, GAP - (ENOUGH - half) <= exp(-spread) / (slope * (1 - exp(-slope))),
                  implies(both(delta < mass(logits, slope, n, window), unreached), window - distance < GAP)),
    )  # fmt: skip


def _shifted_mass() -> Statement:
    """The window is k, below n: what is longer drops nothing."""
    found = mass(mixed(lambda x: raw_logits[x], -1), slope, n, distance)
    first, second = (found <= 1 / (1 + (exp(slope * distance) - 1) * exp(-spread * wide)) for wide in RANGES)
    return statement(
        "razor.sec3.1.shifted", for_all=[n, distance, slope, spread, own, before, raw_logits], using=[MASS],
        says=both(implies(before * exp(slope) <= own, first), implies(own <= before * exp(slope), second)),
    )  # fmt: skip


def _shifted_scope() -> Statement:
    """From odds to distances: theory.alibi.shifted_scope.shifted_range_beyond, whose m is the larger of the two."""
    steady, fading, far, odds = real("x", 0), real("q", 0), positive("m"), 1 / eps - 1
    reached = either(far <= exp(slope), far <= odds * exp(spread * steady))
    wide, falling = odds * exp(spread * (steady + fading / far)), exp(-spread * (steady + fading / GROWN))
    scope, enough = log(1 + wide * (1 - exp(-slope))) / slope, log(1 + wide) / slope
    return statement(
        "razor.thm1.shifted.scope", for_all=[replace(distance, high=None), slope, spread, steady, fading, far, eps],
        says=both(implies(both(reached, scope <= distance), odds <= GROWN * falling),
                  implies(both(reached, enough <= distance), odds <= (exp(slope * distance) - 1) * falling)),
    )  # fmt: skip


# -- outputs -------------------------------------------------------------------------------------------------------


def _output() -> Statement:
    """One coordinate of the values; any set of dropped tokens, any logits, positional biases in them."""
    o_kept = cut(kept, w, m)
    return statement(
        "razor.sec3.1.output", for_all=free_head, using=OUTPUTS,
        says=eq(output(*heads) - o_kept, share(*scores) * (dropped_mean(s, v, n) - o_kept)),
    )  # fmt: skip


def _output_attained() -> Statement:
    """Squared lengths, squared diameter; attained by values 1 (dropped) and 0 (kept)."""
    window = whole("w", 1, n - 1)
    bound = 1 / (1 + exp(-spread) * (exp(slope * window) - 1) / (1 - exp(-slope * (n - window))))
    some = windowed(lambda j: logits[j], lambda j: v_e[j, q], window)
    far = windowed(lambda j: when(j <= n - window, base + spread, base), lambda j: when(j <= n - window, 1, 0), window)
    moved = total(q, 1, e, (output(*some) - cut(*some[3:])) ** 2)
    return statement(
        "razor.sec3.1.output_attained", for_all=[n, window, e, slope, spread, base, logits, v_e], using=VECTORS,
        says=both(moved <= bound**2 * _call("farthest2", v_e, n, e), eq(output(*far) - cut(*far[3:]), bound)),
    )  # fmt: skip


def _budget() -> Statement:
    """Simple windows; and sharp ones, for masses of at most 1/2 (without that it is false) and any costs."""
    affordable = total(j, 1, n, price * less[j]) <= total(j, 1, n, price * sharp[j])
    other = total(j, 1, n, (masses[j] - split) ** 2) > 0
    return statement(
        "razor.sec3.1.budget", for_all=[n, rate, cost, ranges, masses, budget, level, sharp, less],
        given=[total(j, 1, n, cost[j] * masses[j]) <= budget],
        says=both(eq(total(j, 1, n, cost[j] * split), budget), simple_windows(split) <= simple_windows(masses[j]),
                  implies(other, simple_windows(split) < simple_windows(masses[j])),
                  implies(affordable, sharp_windows(sharp[j]) <= sharp_windows(less[j]))),
    )  # fmt: skip


def _eviction() -> Statement:
    """One coordinate of the values."""
    place, weight = whole("i", 1, spare), exp(s[var("i")]) / _call("Z", s, spare)
    sink = first_is(log(18), 0), each(j, when(j < 2, 0, when(j < 3, 1, Fraction(-1, 2)))), 3
    heavy = first_is(log(2), 0), each(j, when(j < 2, 0, when(j < 3, 1, -1))), 3
    worst = both(*(absolute(evicted(*sink, other)) < absolute(evicted(*sink, 1)) for other in (2, 3)))
    moved = weight / (1 - weight) * (dropped_mean(s, v, spare) - v[place])
    return statement(
        "razor.sec2.eviction", for_all=[spare, place, s, v], using=[*OUTPUTS, LEFT],
        says=both(eq(evicted(s, v, spare, place), moved), worst, eq(evicted(*heavy, 1), 0), ne(evicted(*heavy, 2), 0)),
    )  # fmt: skip


# -- the compensation token ----------------------------------------------------------------------------------------


def _identity() -> Statement:
    """One coordinate of the values."""
    true, hat, mean = share(*scores), share_hat(*scores), dropped_mean(s, v, n)
    split = (true - hat) * (mean - cut(kept, w, m)) + hat * (mean - average(v, n))
    return statement(
        "razor.eq5.identity", for_all=free_head, says=eq(output(*heads) - compensated(*heads), split), using=OUTPUTS
    )


def _under() -> Statement:
    token = n * exp(total(i, 1, d, query[i] * _call("mean_key", keys, n, i)))
    true = total(j, 1, n, exp(_ASKED.parts[1]))
    return statement(
        "razor.eq5.under", for_all=[n, d, query, keys], says=both(token <= true, iff(eq(token, true), EVEN)),
        using=[MEAN_KEY],
    )  # fmt: skip


def _eq5_exact() -> Statement:
    """If keys number a and b differ, the query k_a - k_b and the values 1 (dropped) and 0 (kept) show it."""
    one, two = whole("a", 1, n), whole("b", 1, n)
    asked = _ASKED, v, n, products(lambda i: query[i], kept_keys), w, m
    gone, seen = (products(lambda i: keys[one, i] - keys[two, i], x) for x in (keys, kept_keys))
    shown = gone, constant(1), n, seen, constant(0), m
    agree = either(EVEN, _call("farthest2", keys, n, d) <= 0)
    return statement(
        "razor.eq5.exact", for_all=[n, m, d, query, keys, kept_keys, v, w, one, two], using=[*VECTORS, MEAN_KEY],
        says=both(implies(agree, eq(with_mean_key(lambda i: query[i], asked[3]), output(*asked))),
                  implies(apart2(row(keys, one), row(keys, two)) > 0, ne(compensated(*shown), output(*shown)))),
    )  # fmt: skip


def _log_mass() -> Statement:
    return statement(
        "razor.eq5.log_mass", for_all=[n, ranged_by, base, ranged],
        says=log_gap(ranged, n) <= log_mass_bound(ranged_by), using=OUTPUTS,
    )  # fmt: skip


def _log_mass_sharp() -> Statement:
    """The whole number u next to the share p* of n keys lie r above the others: O(1/n^2) below the bound."""
    top = whole("u", 1, spare - 1)
    two = log_gap(each(j, when(j <= top, base + ranged_by, base)), spare)
    return statement(
        "razor.eq5.log_mass.sharp", for_all=[spare, top, ranged_by, base, ranged], using=OUTPUTS,
        given=[absolute(top - WORST_SHARE * spare) <= 1],
        says=both(log_gap(ranged, spare) <= log_mass_bound(ranged_by),
                  log_mass_bound(ranged_by) - two <= ranged_by * (exp(ranged_by) - 1) / spare**2),
    )  # fmt: skip


def _quadratic() -> Statement:
    bound = ranged_by**2 / 8
    return statement("razor.eq5.log_mass.quadratic", for_all=[ranged_by], says=log_mass_bound(ranged_by) <= bound)


def _gaps() -> Statement:
    """Reached: T - That at a kept logit half way between log Z_D and log Zhat; vbar - vhat with one key of n + 2."""
    some, half, bound = (ranged, n, kept, m), (ranged, n, HALF_WAY, 1), log_mass_bound(ranged_by)
    apart = total(q, 1, e, (dropped_mean(ranged, column(v_e), n) - average(column(v_e), n)) ** 2)
    one = first_is(2 * log(n + 1), 0), first_is(1, 0), n + 2
    return statement(
        "razor.eq5.gaps", for_all=[n, m, e, ranged_by, base, ranged, kept, v_e], using=VECTORS,
        says=both(share(*some) - share_hat(*some) <= tanh(bound / 4),
                  eq(share(*half) - share_hat(*half), tanh(log_gap(ranged, n) / 4)),
                  apart <= tanh(ranged_by / 4) ** 2 * _call("farthest2", v_e, n, e),
                  eq(dropped_mean(*one) - average(*one[1:]), tanh(2 * log(n + 1) / 4))),
    )  # fmt: skip


def _pointwise() -> Statement:
    """Two dropped tokens and m kept ones of one value w, values in [-1, 1], dropping exact: errors up to 1, not 1."""
    x, y, z, u = real("x"), real("y"), real("z"), real("u", 0, 1, open="low")
    one, two, w = (real(name, -1, 1) for name in "prw")
    head = first_is(x, y), first_is(one, two), 2, constant(z), constant(w), m
    family = {x: 1 / u, y: -1 / u, z: log(u), one: 1, two: -1}
    return statement(
        "razor.sec1.proved.pointwise", for_all=[m, x, y, z, one, two, w, u], given=[eq(w, dropped_mean(*head[:3]))],
        says=supremum(absolute(output(*head) - compensated(*head)), 1, family, u, 1 + lift(m) / 2, attained=False),
        using=OUTPUTS,
    )  # fmt: skip


def _proved_corrected() -> Statement:
    """Squared errors; and the constant 1/2: no rho above it is enough."""
    rho = real("rho", Fraction(1, 2), open="low")
    dropping, token = apart2(full_e, cut_e, e), apart2(full_e, compensated_e, e)
    near = 4 * apart2(mean_e, average_e, e) <= apart2(average_e, cut_e, e)
    excess = share_hat(*scores) * apart2(average_e, cut_e, e) - 2 * share(*scores) * towards
    return statement(
        "razor.sec1.proved.corrected", for_all=[n, m, e, s, v_e, kept, w_e, rho], using=VECTORS,
        says=both(iff(dropping < token, excess > 0), implies(near, token <= dropping), not_enough(rho)),
    )  # fmt: skip


def _alibi_mean() -> Statement:
    """Identical keys of logit x at the distances w .. w + n - 1; theory.cache.compensation_alibi.mean_bias_log_gap."""
    x, half = real("x"), Fraction(1, 2) * slope
    faded, example = each(j, x - slope * (window + j - 1)), each(j, -Fraction(1, 256) * j)
    ratio = (exp(half * n) - exp(-half * n)) / (n * (exp(half) - exp(-half)))
    stated = absolute(_call("Z", example, 4000) / _call("Zhat", example, 4000) - 158) <= Fraction(1, 2)
    return statement(
        "razor.eq4.alibi_mean", for_all=[n, window, slope, x], using=OUTPUTS,
        says=both(eq(_call("Z", faded, n) / _call("Zhat", faded, n), ratio), stated),
    )  # fmt: skip


# -- Table 2 -------------------------------------------------------------------------------------------------------


def _reduction() -> Statement:
    """Where it is largest, from N = 20000 on."""
    return statement("razor.abstract.reduction", for_all=[lengths], says=reduction(lengths) > SEVENTY, using=[KEPT])


def _reduction_corrected() -> Statement:
    """The formula holds from N = 4000 on; before that nothing is dropped."""
    formula = Fraction(17, 20) * (1 - largest(4000 / lift(n), Fraction(1, 5)))
    stated = {8000: Fraction(425, 1000), 10_000: Fraction(51, 100), 16_000: Fraction(6375, 10_000)}
    return statement(
        "razor.abstract.reduction.corrected", for_all=[n], using=[KEPT],
        says=both(implies(n >= 4000, eq(reduction(n), formula)), reduction(n) <= Fraction(17, 25),
                  iff(n >= 20_000, eq(reduction(n), Fraction(17, 25))),
                  *(eq(reduction(length), value) for length, value in stated.items())),
    )  # fmt: skip


def _three() -> Statement:
    """The added hypothesis, N >= 18546, is also necessary."""
    return statement("razor.sec1.three", for_all=[n], says=iff(n >= 18_546, 1 / _call("kept", n) >= 3), using=[KEPT])


def _gqa_corrected() -> Statement:
    """At least, or at most, 15 % of all heads chosen; fewest groups hit, most, and the mean number of them."""
    ratio, number = 1 / kept_groups(chosen, groups, lengths), total(k, 1, groups, chosen[k]) / (4 * groups)
    return statement(
        "razor.tab2.gqa.corrected", for_all=[groups, lengths, unit, chosen], using=[KEPT_GROUPS],
        says=both(implies(number >= SHARE_OF_HEADS, ratio <= MOST), implies(number <= SHARE_OF_HEADS, ratio >= LEAST),
                  eq(1 / kept_groups(packed, 20 * unit, lengths), MOST),
                  eq(1 / kept_groups(strewn, 20 * unit, lengths), LEAST),
                  absolute(1 / lift(hit + (1 - hit) / 5) - Fraction(172, 100)) <= Fraction(1, 200)),
    )  # fmt: skip


FORMAL: dict[str, Statement] = {
    made.name: made
    for made in (
        _thm1(), _thm1_corrected(), _thm1_iff(), _thm1_one_size(), _discard_corrected(), _form(), _discard(),
        _discard_sum(), _gap(), _shifted_alike(), _shifted_opposite(), _shifted_mass(), _shifted_scope(), _sinks(),
        _no_decay(), _flat_mass(), _output(), _output_attained(), _budget(), _eviction(), _identity(), _under(),
        _eq5_exact(), _log_mass(), _log_mass_sharp(), _quadratic(), _gaps(), _pointwise(), _proved_corrected(),
        _alibi_mean(), _last_step(), _eq6_order(), _eq7(), _eq7_corrected(), _eq8(),
        _reduction(), _reduction_corrected(), _three(), _gqa_corrected(),
    )
}  # fmt: skip

# What a proof rests on, where it takes more than arithmetic.
NEEDS: dict[str, str] = {
    "razor.thm1.corrected": "1/weight is a sum: own term >= e^{lk - gap}, those between >= e^{l(j - n + k) - D} "
    "(termwise), older ones dropped; close both geometric sums (telescope), no sum is turned round; the scope by exp.",
    "razor.thm1.iff": "=>: own and target terms alone, weight <= e^{size kappa - l(n - j)} <= eps; <=: w.(y - x) = c "
    "|x - y|^2/kappa, |x| |w| = c, and weight > eps comes down to e^{-1} < 1.",
    "razor.thm1.one_size": "Cauchy-Schwarz for free d: |x| <= r + |b| and |x - y| <= 2 r, from sum z^2 = d; both "
    "reached where z lies along b; then |b| (r - |b|) <= 0.",
    "razor.sec3.1.discard.corrected": "Near terms >= e^{a - l dist}, far ones <= e^{a + D - l dist}, both sums "
    "geometric; x/(x + y) is monotone; approach: e^{-lt} (1 + l t) <= 1, and n <= w apart.",
    "razor.sec3.1.form": "razor.sec3.1.discard.corrected (finite n: strictly below) with e^{lw} >= e^D/eps.",
    "razor.sec3.1.discard": "A cutoff that is no whole number: induction on the number of tokens for S_n = sum of "
    "e^{-lt} (t <= L) and -A e^{-lt} (t > L), A = e^D (1/eps - 1): (1 - q) S_n = 1 - q^n up to L, then >= 1 - e^{-lL} "
    "- A (e^{-lL} - q^n).",
    "razor.sec3.1.sinks": "Four geometric sums; the gap is at most e^D q^{n - u}/(1 - q^n), and q^t (1 + l t) <= 1; "
    "n < u + w apart.",
    "razor.sec3.2.no_decay": "Termwise e^{s_j - s_t} >= e^{-D}, k of them; the kept mass is at most w e^D/n.",
    "razor.sec3.2.flat_mass": "Termwise e^{s} <= e^{a + D} and e^{t} >= e^a, x/(x + y) monotone.",
    "razor.sec3.1.output_attained": "The identity of razor.sec3.1.output, then |sum p_j r_k (v_j - w_k)|^2 <= max "
    "|v_j - w_k|^2 (Cauchy-Schwarz with weights), and the mass for a finite number of tokens by geometric sums.",
    "razor.sec3.1.budget": "Simple: ln y <= y - 1 at y = x_h/best_h, termwise, strict off best. Sharp: W_h(y) >= "
    "W_h(x) - (y - x)/(l x (1 - a x)) on (0, 1/2], convex there, and the prices make the sum of the right sides.",
    "razor.sec2.eviction": "The sum without token i: split at i - 1 and i; then a rational identity.",
    "razor.eq5.under": "Double sums change order (induction), so q.khat is the mean logit x'; e^{x - x'} >= 1 + x - "
    "x' termwise, strict where x is not x'.",
    "razor.eq5.exact": "razor.eq5.under, strict, for the query k_a - k_b, whose logits on a and b differ by "
    "|k_a - k_b|^2.",
    "razor.eq5.log_mass": "Chord: e^{s - a} <= 1 + (s - a) E/r termwise, E = e^r - 1; then the tangent ln x <= x - 1 "
    "at x = (1 + p E) r/E, p the mean share, gives Lambda at once.",
    "razor.eq5.log_mass.sharp": "razor.eq5.log_mass; below: ln x >= 1 - 1/x at the same x, |x - 1| <= r/n, 1 + p E "
    ">= 1.",
    "razor.eq5.log_mass.quadratic": "For a free share p, ln(1 + p E) - p r <= r^2/8: 0 and flat at r = 0, second "
    "derivative y (1 - y) <= 1/4; then p = 1/r - 1/E. Directly at r = 0 the formula divides by 0.",
    "razor.eq5.gaps": "Masses: (Z_K - sqrt(Z Zhat))^2 >= 0, then razor.eq5.log_mass and tanh increasing. Means: along "
    "any direction the set of p_j > 1/n has a likelihood ratio <= e^r against the rest, so its shares differ by "
    "tanh(r/4) at most; Cauchy-Schwarz.",
    "razor.sec1.proved.pointwise": "|p - 1/2| < 1/2; approach: tanh(1/u) >= 1 - u and 2/(2 + m u) >= 1 - m u/2.",
    "razor.sec1.proved.corrected": "Sum over coordinates of a rational identity; half way: 2 x y >= -x^2/2 - 2 y^2 "
    "termwise and That <= T (razor.eq5.under).",
    "razor.eq4.alibi_mean": "Geometric sum and sum of j by telescoping; the rest in powers of e^{l/2}.",
    "razor.eq7.corrected": "(g z + b)^2 <= (g^2 + b^2)(z^2 + 1); z_i^2 <= d as one term of a sum, in LayerNorm <= d "
    "- 1 by Cauchy-Schwarz for the others, whose sum is -z_i.",
    "razor.abstract.reduction.corrected": "Cases at N = 4000 and 20000 for min and max.",
    "razor.sec1.three": "Cases at N = 4000 and 20000; 3400/N <= 11/60 from 18546 on, N whole.",
    "razor.tab2.gqa.corrected": "The number of groups hit lies between a quarter of the chosen heads and all of them, "
    "termwise; c > 0 and whole is >= 1.",
}
