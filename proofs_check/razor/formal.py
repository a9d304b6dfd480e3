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

from proofs_check.core.domain import choice, positive, real, sequence, whole
from proofs_check.core.statement import Statement, define, exists, limit, statement, supremum
from proofs_check.core.terms import (
    Term,
    absolute,
    both,
    each,
    either,
    eq,
    exp,
    fold,
    iff,
    implies,
    largest,
    least,
    lift,
    log,
    ne,
    sqrt,
    tanh,
    total,
    var,
    when,
)

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


def _frobenius(entry: Term) -> Term:
    return sqrt(total(ip, 1, var("d"), total(jp, 1, var("d"), total(kp, 1, var("d"), entry) ** 2)))


# The product "W_Q W_K" in either order and with a transpose, the longest of all in the Frobenius norm, which is at
# least the spectral one: no reading of Eq. 2 has a longer scope.
_ENTRIES = P[ip, kp] * R[kp, jp], R[ip, kp] * P[kp, jp], P[kp, ip] * R[kp, jp], P[ip, kp] * R[jp, kp]
PRODUCT = _define("product", "p r d", largest(*map(_frobenius, _ENTRIES)))
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
    """|x| |x - y|, whose supremum over post-norm states decides (theory.alibi_printed.printed_condition)."""
    return sqrt(norm2(x)) * sqrt(apart2(x, y))


def row(matrix: Any, place: Any) -> Term:
    return each(i, var(matrix.name)[place, i])


def column(matrix: Any) -> Term:
    return each(j, var(matrix.name)[j, q])


printed_bias = each(i, centre * bias[i])  # "b = 0 for RMSNorm"
hidden, other = sequence("h", d), sequence("y", d)
context, w_q, w_k = sequence("h", (n, d)), sequence("p", (d, d)), sequence("r", (d, d))
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
# theory.compensation.compare has all of these; theory.truncation.truncate those without the token.
OUTPUTS = [Z, Z_HAT, OUTPUT, CUT, COMPENSATED, DROPPED_MEAN, AVERAGE, SHARE, SHARE_HAT]
FARTHEST2 = _define(
    "farthest2", "v n e",
    fold("max", jf, 1, N, fold("max", kf, 1, N, total(cf, 1, E, (V[jf, cf] - V[kf, cf]) ** 2))),
)  # fmt: skip

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


def log_mass_bound(r: Any) -> Term:  # theory.compensation_bounds.LOG_MASS_BOUND
    return log((exp(r) - 1) / r) - 1 + r / (exp(r) - 1)


# -- Table 2 -------------------------------------------------------------------------------------------------------

_SHORT = least(N, largest(4000, N / 5))
KEPT = _define("kept", "n", (15 * N + 85 * _SHORT) / (100 * N))  # theory.truncation_cache.kept_share
# Groups of 4 query heads, of which c[k] are retrieval heads: the group is kept whole if there is one.
KEPT_GROUPS = _define("kept_groups", "c g n", total(kg, 1, G, when(C[kg] > 0, N, _SHORT)) / (G * N))


def reduction(length: Any) -> Term:
    return 1 - _call("kept", length)


# -- Theorem 1 -----------------------------------------------------------------------------------------------------


def _thm1() -> Statement:
    def x(place: Any) -> Term:
        return state(row(context, place), gains, printed_bias)

    scores = each(t, _call("logit", x(n), x(t), w_q, w_k, d, d))
    size = _call("product", w_q, w_k, d) * (norm2(gains) + norm2(printed_bias))
    scope = (2 * size - log(eps)) / slope  # Eq. 2
    return statement(
        "razor.thm1", for_all=[n, d, centre, context, gains, bias, w_q, w_k, slope, eps, at],
        given=[regular, scope < n - at], says=attention(scores, slope, n, at) <= eps, using=NORMED,
    )  # fmt: skip


# theory.alibi.weight_bound and theory.alibi.scope
gap, distance = real("gap", 0, spread), whole("k", 1, n - 1)
_WEIGHT = 1 / (1 + exp(slope * distance) * (exp(-gap) + exp(-spread) * total(j, 1, distance - 1, exp(-slope * j))))
_SHARP = 1 / (1 + exp(slope * distance - spread) * (1 + total(j, 1, distance - 1, exp(-slope * j))))
_SCOPE = log(1 + (1 / eps - 1) * (1 - exp(-slope)) * exp(spread)) / slope


def _thm1_corrected() -> Statement:
    weight = attention(logits, slope, n, n - distance)
    worst = attention(high(j < 2), slope, distance + 1, 1)  # the context ends with the target: D_s = D
    return statement(
        "razor.thm1.corrected", for_all=[n, distance, slope, spread, gap, base, logits, eps],
        given=[logits[n - distance] - logits[n] <= gap],
        says=both(weight <= _WEIGHT, implies(distance >= _SCOPE, weight <= eps), eq(worst, _SHARP),
                  implies(distance < _SCOPE, eps < worst)),
        using=[ATTENTION],
    )  # fmt: skip


def _thm1_iff() -> Statement:
    """size: at least the spectral norm of W_Q^T W_K, of which only x.M(y - x) <= |M| |x| |y - x| is used."""
    p, r, size = sequence("p", (e, d)), sequence("r", (e, d)), real("size", 0)
    x, y = (state(row(context, place), gains, bias) for place in (n, at))
    some = each(t, _call("logit", x, state(row(context, t), gains, bias), p, r, e, d))
    rise = _call("logit", x, y, p, r, e, d) - _call("logit", x, x, p, r, e, d)
    bound, far = 2 * (norm2(gains) + norm2(bias)), kappa(x, y)

    # Where a pair is farther apart: the head q = x.x, k = w.x of norm |x| |w|, the context y x, at distance 1.
    strength = (2 - log(1 - eps)) / (far - bound)
    steep = strength * bound - log(eps) + 1
    key = each(i, strength * (_call("state", row(context, at), gains, bias, centre, d, i)
                              - _call("state", row(context, n), gains, bias, centre, d, i)) / far)  # fmt: skip
    two = each(t, when(t < 2, _call("logit_one", x, y, x, key, d), _call("logit_one", x, x, x, key, d)))
    beyond = (sqrt(norm2(x)) * sqrt(norm2(key)) * bound - log(eps)) / steep < 1
    return statement(
        "razor.thm1.iff", for_all=[n, d, e, centre, context, gains, bias, p, r, size, slope, eps, at],
        given=[regular, rise <= size * far, (size * bound - log(eps)) / slope < n - at],
        says=both(implies(far <= bound, attention(some, slope, n, at) <= eps),
                  implies(bound < far, both(beyond, eps < attention(two, steep, 2, 1)))),
        using=NORMED,
    )  # fmt: skip


def _thm1_one_size() -> Statement:
    size, sign, raw = positive("z"), sequence("w", d), sequence("b", d)
    alike = each(i, when(when(centre >= 1, sign[1], sign[i]) >= 0, size, -size))
    shift = each(i, raw[i] - centre * total(k, 1, d, raw[k]) / d)
    x, y = state(hidden, alike, shift), state(other, alike, shift)
    radius, long = sqrt(d) * size, sqrt(norm2(shift))
    along = when(when(centre >= 1, sign[1], sign[i]) >= 0, shift.parts[1], -shift.parts[1])
    best, worst = (each(i, way * when(norm2(shift) > 0, along, hidden[i])) for way in (1, -1))
    reached = kappa(state(best, alike, shift), state(worst, alike, shift))
    most, bound = 2 * radius * (radius + long), 2 * (norm2(alike) + norm2(shift))
    return statement(
        "razor.thm1.one_size", for_all=[d, centre, size, sign, raw, hidden, other],
        given=[variance(hidden) > 0, variance(other) > 0],
        says=both(kappa(x, y) <= most, eq(reached, most),
                  iff(most <= bound, either(norm2(shift) <= 0, radius <= long))),
        using=NORMED,
    )  # fmt: skip


# -- Appendix A ----------------------------------------------------------------------------------------------------


def _last_step() -> Statement:
    return statement(
        "razor.appA.last_step", for_all=[n, s, slope, at],
        says=attention(s, slope, n, at) <= exp(s[at] - slope * (n - at)), using=[ATTENTION],
    )  # fmt: skip


def _eq7() -> Statement:
    x = state(hidden, gains, printed_bias)
    return statement(
        "razor.eq7", for_all=[d, centre, hidden, gains, bias], given=[variance(hidden) > 0],
        says=norm2(x) <= 2 * norm2(gains) + 2 * norm2(printed_bias), using=NORMED,
    )  # fmt: skip


def _eq7_corrected() -> Statement:
    """d for LayerNorm and d + 1 for RMSNorm."""
    x = state(hidden, gains, bias)
    return statement(
        "razor.eq7.corrected", for_all=[d, centre, hidden, gains, bias], given=[variance(hidden) > 0],
        says=norm2(x) <= (d + 1 - centre) * (norm2(gains) + norm2(bias)), using=NORMED,
    )  # fmt: skip


def _eq8() -> Statement:
    x = state(hidden, gains, printed_bias)
    bound = _call("product", w_q, w_k, d) * (2 * norm2(gains) + 2 * norm2(printed_bias))
    return statement(
        "razor.eq8", for_all=[d, centre, hidden, gains, bias, w_q, w_k], given=[variance(hidden) > 0],
        says=_call("logit", x, x, w_q, w_k, d, d) <= bound, using=NORMED,
    )  # fmt: skip


# -- what lies beyond a window -------------------------------------------------------------------------------------

window = whole("w", 0)
_BEYOND = 1 / (1 + exp(-spread) * (exp(slope * window) - 1))  # theory.alibi.dropped_mass_bound
_ENOUGH = log(1 + (1 / delta - 1) * exp(spread)) / slope  # theory.alibi.window_for_mass


def _discard_corrected() -> Statement:
    """The supremum over contexts of all lengths: the worst one of length n comes within (w + 1/l)/n of the bound."""
    found, worst = mass(logits, slope, n, window), mass(high(j <= n - window), slope, n, window)
    return statement(
        "razor.sec3.1.discard.corrected", for_all=[n, window, slope, spread, base, logits, delta],
        says=both(found <= _BEYOND, implies(window >= _ENOUGH, found <= delta),
                  _BEYOND - worst <= (window + 1 / slope) / n),
        using=[MASS],
    )  # fmt: skip


def _form() -> Statement:
    """The bound itself is below eps where D > 0; at D = 0 it is eps, and the mass is below all the same."""
    found, bound = mass(logits, slope, n, window), eps / (1 + eps * (1 - exp(-spread)))
    return statement(
        "razor.sec3.1.form", for_all=[n, window, slope, spread, base, logits, eps],
        given=[(spread - log(eps)) / slope <= window],
        says=both(found <= bound, found < eps, implies(spread > 0, bound < eps)), using=[MASS],
    )  # fmt: skip


def _discard() -> Statement:
    """The added hypothesis: the numerator of Eq. 2 without -ln eps is at least the range D."""
    numerator = real("numerator", spread)
    scope, term = (numerator - log(eps)) / slope, exp(logits[k] - slope * (n - k))
    return statement(
        "razor.sec3.1.discard", for_all=[n, slope, spread, numerator, base, logits, eps],
        says=total(k, 1, n, when(scope < n - k, term, 0)) / total(k, 1, n, term) < eps,
    )  # fmt: skip


def _discard_sum() -> Statement:
    """Two heads of width 1 (W_Q W_K = -D/2, b = 0, gamma = 1: the numerator of Eq. 2 is D), their worst contexts."""
    steep, far = positive("l'"), real("D'", 0)

    def case(slope: Any, spread: Any, kept: int, gone: int, level: Fraction) -> Term:
        worst, n = each(j, when(j <= gone, spread, 0)), kept + gone
        each_one = fold("max", t, 1, gone, attention(worst, slope, n, t)) <= Fraction(1, 1000)
        return both(kept < (spread + log(1000)) / slope, each_one, level < mass(worst, slope, n, kept))

    point = {slope: Fraction(1, 4), spread: 6, steep: Fraction(1, 16), far: 1}
    cases = case(slope, spread, 46, 60, Fraction(3, 1000)), case(steep, far, 84, 120, Fraction(14, 1000))
    return statement(
        "razor.sec3.1.discard.sum", for_all=[slope, spread, steep, far], says=exists(point, both(*cases)),
        using=[ATTENTION, MASS],
    )  # fmt: skip


def _sinks() -> Statement:
    """Dropped: all but p sinks and the last w. The worst mass tends to the one without sinks."""
    sinks, window = whole("p", 0), whole("w", 1)
    worst = high(both(sinks < j, j <= n - window))
    term = exp(worst.parts[1] - slope * (n - j))
    return statement(
        "razor.sec3.1.sinks", for_all=[sinks, window, slope, spread, base, n],
        says=limit(total(j, sinks + 1, n - window, term) / total(j, 1, n, term),
                   1 / (1 + exp(-spread) * (exp(slope * window) - 1)), n,
                   exp(spread) * (sinks + window + 1 / slope) / (1 - exp(-slope))),
    )  # fmt: skip


def _no_decay() -> Statement:
    """Slope 0. theory.truncation_flat.log_scope and mass_floor."""
    scope = (1 / eps - 1) * exp(spread)
    worst = attention(high(j < 2), 0, distance + 1, 1)
    return statement(
        "razor.sec3.2.no_decay", for_all=[n, distance, window, spread, base, logits, eps],
        says=both(implies(scope <= distance, attention(logits, 0, n, n - distance) <= eps),
                  implies(distance < scope, eps < worst), 1 - mass(logits, 0, n, window) <= window * exp(spread) / n),
        using=[ATTENTION, MASS],
    )  # fmt: skip


def _flat_mass() -> Statement:
    """theory.truncation_flat.mass_bound with D_s = D."""
    s, kept = sequence("s", n, base, base + spread), sequence("t", m, base, base + spread)
    bound = n / (n + m * exp(-spread))
    return statement(
        "razor.sec3.2.flat_mass", for_all=[n, m, spread, base, s, kept],
        says=both(share(s, n, kept, m) <= bound, eq(share(constant(base + spread), n, constant(base), m), bound)),
        using=OUTPUTS,
    )  # fmt: skip


# -- outputs -------------------------------------------------------------------------------------------------------


def _output() -> Statement:
    """One coordinate of the values; any set of dropped tokens, any logits, positional biases in them."""
    o_kept = cut(kept, w, m)
    return statement(
        "razor.sec3.1.output", for_all=free_head,
        says=eq(output(*heads) - o_kept, share(*scores) * (dropped_mean(s, v, n) - o_kept)), using=OUTPUTS,
    )  # fmt: skip


def _output_attained() -> Statement:
    """Squared lengths; v: values of e coordinates, whose squared diameter is farthest2."""
    window = whole("w", 1, n - 1)
    bound = 1 / (1 + exp(-spread) * (exp(slope * window) - 1) / (1 - exp(-slope * (n - window))))

    def head(s: Any, value: Any) -> tuple[Any, ...]:
        near = n - window + j
        return (each(j, s(j) - slope * (n - j)), each(j, value(j)), n - window,
                each(j, s(near) - slope * (window - j)), each(j, value(near)), window)  # fmt: skip

    some = head(lambda j: logits[j], lambda j: v_e[j, q])
    worst = head(lambda j: when(j <= n - window, base + spread, base), lambda j: when(j <= n - window, 1, 0))
    moved = total(q, 1, e, (output(*some) - cut(*some[3:])) ** 2)
    return statement(
        "razor.sec3.1.output_attained", for_all=[n, window, e, slope, spread, base, logits, v_e],
        says=both(moved <= bound**2 * _call("farthest2", v_e, n, e), eq(output(*worst) - cut(*worst[3:]), bound)),
        using=[*OUTPUTS, FARTHEST2],
    )  # fmt: skip


def _budget() -> Statement:
    """Both kinds of windows; the masses of the sharp ones are at most 1/2, and costs that make all rates agree free."""
    rate, cost = sequence("l", n, 0, open="low"), sequence("c", n, 0, open="low")
    ranges, masses, budget = sequence("D", n, 0), sequence("x", n, 0, open="low"), positive("eta")
    level, sharp, less = positive("z"), *(sequence(x, n, 0, Fraction(1, 2), open="low") for x in "pr")
    best = each(j, budget / (cost[j] * rate[j] * total(k, 1, n, 1 / rate[k])))  # theory.truncation_budget.split_budget
    best_j = best.parts[1]

    def simple(delta: Any) -> Term:
        return total(j, 1, n, (ranges[j] - log(delta)) / rate[j])

    def sharpest(delta: Any) -> Term:
        return total(j, 1, n, log(1 + (1 / delta - 1) * exp(ranges[j])) / rate[j])

    price = level / (rate[j] * sharp[j] * (1 - (1 - exp(-ranges[j])) * sharp[j]))
    affordable = total(j, 1, n, price * less[j]) <= total(j, 1, n, price * sharp[j])
    return statement(
        "razor.sec3.1.budget", for_all=[n, rate, cost, ranges, masses, budget, level, sharp, less],
        given=[total(j, 1, n, cost[j] * masses[j]) <= budget],
        says=both(eq(total(j, 1, n, cost[j] * best_j), budget), simple(best_j) <= simple(masses[j]),
                  implies(total(j, 1, n, (masses[j] - best_j) ** 2) > 0, simple(best_j) < simple(masses[j])),
                  implies(affordable, sharpest(sharp[j]) <= sharpest(less[j]))),
    )  # fmt: skip


def _eviction() -> Statement:
    """One coordinate of the values. theory.truncation.eviction_errors."""
    n, at = whole("n", 2), whole("i", 1, var("n"))
    left = _define("left", "s v n i", total(kl, 1, N, when(ne(kl, i), exp(S[kl]) * V[kl], 0))
                   / total(kl, 1, N, when(ne(kl, i), exp(S[kl]), 0)))  # fmt: skip

    def cost(s: Any, v: Any, n: Any, at: Any) -> Term:
        return _call("left", s, v, n, at) - dropped_mean(s, v, n)

    weight = exp(s[at]) / _call("Z", s, n)
    moved = weight / (1 - weight) * (dropped_mean(s, v, n) - v[at])
    sink = first_is(log(18), 0), each(j, when(eq(j, 1), 0, when(eq(j, 2), 1, Fraction(-1, 2)))), 3
    heavy = first_is(log(2), 0), each(j, when(eq(j, 1), 0, when(eq(j, 2), 1, -1))), 3
    worst = both(*(absolute(cost(*sink, at)) < absolute(cost(*sink, 1)) for at in (2, 3)))
    return statement(
        "razor.sec2.eviction", for_all=[n, at, s, v],
        says=both(eq(cost(s, v, n, at), moved), worst, eq(cost(*heavy, 1), 0), absolute(cost(*heavy, 2)) > 0),
        using=[*OUTPUTS, left],
    )  # fmt: skip


# -- the compensation token ----------------------------------------------------------------------------------------


def _identity() -> Statement:
    """One coordinate of the values."""
    o_kept, true, hat = cut(kept, w, m), share(*scores), share_hat(*scores)
    mean = dropped_mean(s, v, n)
    return statement(
        "razor.eq5.identity", for_all=free_head,
        says=eq(output(*heads) - compensated(*heads), (true - hat) * (mean - o_kept) + hat * (mean - average(v, n))),
        using=OUTPUTS,
    )  # fmt: skip


query, keys, kept_keys = sequence("q", d), sequence("k", (n, d)), sequence("x", (m, d))
MEAN_KEY = _define("mean_key", "k n i", total(km, 1, N, var("k")[km, i]) / N)  # Eq. 4
products = each(j, total(i, 1, d, query[i] * keys[j, i]))
even = fold("max", j, 1, n, products.parts[1]) <= fold("min", j, 1, n, products.parts[1])


def _under() -> Statement:
    token = n * exp(total(i, 1, d, query[i] * _call("mean_key", keys, n, i)))
    true = total(j, 1, n, exp(products.parts[1]))
    return statement(
        "razor.eq5.under", for_all=[n, d, query, keys], says=both(token <= true, iff(eq(token, true), even)),
        using=[MEAN_KEY],
    )  # fmt: skip


def _eq5_exact() -> Statement:
    """If keys number a and b differ, the query k_a - k_b and the values 1 (dropped) and 0 (kept) show it."""
    one, two = whole("a", 1, n), whole("b", 1, n)
    token = exp(total(i, 1, d, query[i] * _call("mean_key", keys, n, i)))
    seen = each(j, total(i, 1, d, query[i] * kept_keys[j, i]))
    full = output(products, v, n, seen, w, m)
    top = total(j, 1, m, exp(seen.parts[1]) * w[j])
    eq5 = (n * token * average(v, n) + top) / (n * token + total(j, 1, m, exp(seen.parts[1])))
    coincide = _call("farthest2", keys, n, d) <= 0
    apart = each(j, total(i, 1, d, (keys[one, i] - keys[two, i]) * keys[j, i]))
    there = each(j, total(i, 1, d, (keys[one, i] - keys[two, i]) * kept_keys[j, i]))
    shown = apart, constant(1), n, there, constant(0), m
    return statement(
        "razor.eq5.exact", for_all=[n, m, d, query, keys, kept_keys, v, w, one, two],
        says=both(implies(either(even, coincide), eq(eq5, full)),
                  implies(apart2(row(keys, one), row(keys, two)) > 0, ne(compensated(*shown), output(*shown)))),
        using=[*OUTPUTS, FARTHEST2, MEAN_KEY, APART2],
    )  # fmt: skip


positive_range = positive("r")
ranged = sequence("s", n, base, base + positive_range)


def _log_mass() -> Statement:
    return statement(
        "razor.eq5.log_mass", for_all=[n, positive_range, base, ranged],
        says=log_gap(ranged, n) <= log_mass_bound(positive_range), using=OUTPUTS,
    )  # fmt: skip


def _log_mass_sharp() -> Statement:
    """The whole number next to the share p* of n keys lie r above the others: O(1/n^2) below the bound."""
    r, n, top = positive_range, whole("n", 2), whole("m", 1, var("n") - 1)
    worst_share = 1 / r - 1 / (exp(r) - 1)  # theory.compensation_bounds.WORST_SHARE
    two = log_gap(each(j, when(j <= top, base + r, base)), n)
    return statement(
        "razor.eq5.log_mass.sharp", for_all=[n, top, r, base, ranged],
        given=[absolute(top - worst_share * n) <= 1],
        says=both(log_gap(ranged, n) <= log_mass_bound(r), log_mass_bound(r) - two <= (exp(r) - 1) ** 2 / (2 * n**2)),
        using=OUTPUTS,
    )  # fmt: skip


def _quadratic() -> Statement:
    return statement(
        "razor.eq5.log_mass.quadratic", for_all=[positive_range],
        says=log_mass_bound(positive_range) <= positive_range**2 / 8,
    )  # fmt: skip


def _gaps() -> Statement:
    """Reached: T - That at a kept logit half way between log Z_D and log Zhat; vbar - vhat with one key of n + 2."""
    r = positive_range
    mean, plain = dropped_mean(ranged, column(v_e), n), average(column(v_e), n)
    middle = constant((log(_call("Z", ranged, n)) + log(_call("Zhat", ranged, n))) / 2)
    one = first_is(2 * log(n + 1), 0), first_is(1, 0), n + 2
    return statement(
        "razor.eq5.gaps", for_all=[n, m, e, r, base, ranged, kept, v_e],
        says=both(share(ranged, n, kept, m) - share_hat(ranged, n, kept, m) <= tanh(log_mass_bound(r) / 4),
                  eq(share(ranged, n, middle, 1) - share_hat(ranged, n, middle, 1), tanh(log_gap(ranged, n) / 4)),
                  total(q, 1, e, (mean - plain) ** 2) <= tanh(r / 4) ** 2 * _call("farthest2", v_e, n, e),
                  eq(dropped_mean(*one) - average(*one[1:]), tanh(log(n + 1) / 2))),
        using=[*OUTPUTS, FARTHEST2],
    )  # fmt: skip


def _pointwise() -> Statement:
    """Two dropped tokens and m kept ones of one value w, values in [-1, 1], dropping exact: errors up to 1, not 1."""
    x, y, z, u = real("x"), real("y"), real("z"), real("u", 0, 1, open="low")
    one, two, w = real("p", -1, 1), real("r", -1, 1), real("w", -1, 1)
    s, v = first_is(x, y), first_is(one, two)
    head = s, v, 2, constant(z), constant(w), m
    family = {x: 1 / u, y: -1 / u, z: log(u), one: 1, two: -1}
    return statement(
        "razor.sec1.proved.pointwise", for_all=[m, x, y, z, one, two, w, u], given=[eq(w, dropped_mean(s, v, 2))],
        says=supremum(absolute(output(*head) - compensated(*head)), 1, family, u, 1 + lift(m) / 2, attained=False),
        using=OUTPUTS,
    )  # fmt: skip


def _proved_corrected() -> Statement:
    """Squared errors. The last line: |vbar - vhat| = rho |vhat - o_K| is not enough for any rho > 1/2."""
    o, o_kept, hat = (each(q, part) for part in (output(*columns), cut(*columns[3:]), compensated(*columns)))
    mean, plain = (each(q, part) for part in (dropped_mean(*columns[:3]), average(*columns[1:3])))
    along = total(q, 1, e, (mean.parts[1] - o_kept.parts[1]) * (plain.parts[1] - o_kept.parts[1]))
    rho = real("rho", Fraction(1, 2), open="low")
    third = Fraction(5, 3) * rho
    rest = constant(log(rho - Fraction(1, 2))), constant(0), 1
    shown = first_is(-log(2), log(2)), first_is(1 + third, 1 - third), 2, *rest
    worse = absolute(output(*shown) - cut(*shown[3:])) < absolute(output(*shown) - compensated(*shown))
    far = absolute(dropped_mean(*shown[:3]) - average(*shown[1:3]))
    ratio = eq(far, rho * absolute(average(*shown[1:3]) - cut(*rest)))
    return statement(
        "razor.sec1.proved.corrected", for_all=[n, m, e, s, v_e, kept, w_e, rho],
        says=both(iff(apart2(o, o_kept, e) < apart2(o, hat, e),
                      2 * share(*scores) * along < share_hat(*scores) * apart2(plain, o_kept, e)),
                  implies(4 * apart2(mean, plain, e) <= apart2(plain, o_kept, e),
                          apart2(o, hat, e) <= apart2(o, o_kept, e)), ratio, worse),
        using=[*OUTPUTS, APART2],
    )  # fmt: skip


def _alibi_mean() -> Statement:
    """Identical keys of logit x at the distances w .. w + n - 1; the token has their mean bias."""
    x, half = real("x"), Fraction(1, 2) * slope
    faded, example = each(j, x - slope * (window + j - 1)), each(j, -Fraction(1, 256) * j)
    ratio = (exp(half * n) - exp(-half * n)) / (n * (exp(half) - exp(-half)))
    return statement(
        "razor.eq4.alibi_mean", for_all=[n, window, slope, x],  # theory.compensation_alibi.mean_bias_log_gap
        says=both(eq(_call("Z", faded, n) / _call("Zhat", faded, n), ratio),
                  absolute(_call("Z", example, 4000) / _call("Zhat", example, 4000) - 158) <= Fraction(1, 2)),
        using=OUTPUTS,
    )  # fmt: skip


# -- Table 2 -------------------------------------------------------------------------------------------------------


def _reduction() -> Statement:
    return statement("razor.abstract.reduction", for_all=[n], says=Fraction(7, 10) < reduction(n), using=[KEPT])


def _reduction_corrected() -> Statement:
    """The formula holds from N = 4000 on; below nothing is dropped."""
    formula = Fraction(17, 20) * (1 - largest(4000 / lift(n), Fraction(1, 5)))
    stated = {8000: Fraction(425, 1000), 10_000: Fraction(51, 100), 16_000: Fraction(6375, 10_000)}
    return statement(
        "razor.abstract.reduction.corrected", for_all=[n],
        says=both(implies(n >= 4000, eq(reduction(n), formula)), reduction(n) <= Fraction(17, 25),
                  iff(n >= 20_000, eq(reduction(n), Fraction(17, 25))),
                  *(eq(reduction(length), value) for length, value in stated.items())),
        using=[KEPT],
    )  # fmt: skip


def _three() -> Statement:
    """The added hypothesis, N >= 18546, is also necessary."""
    return statement("razor.sec1.three", for_all=[n], says=iff(n >= 18_546, 1 / _call("kept", n) >= 3), using=[KEPT])


def _gqa_corrected() -> Statement:
    """g groups of 4 heads, 15 % of all heads protected: fewest groups hit, most, and in expectation."""
    groups, length, unit = whole("g", 1), whole("n", 20_000), whole("u", 1)
    chosen = replace(sequence("c", groups, 0, 4), whole=True)
    ratio, number = 1 / _call("kept_groups", chosen, groups, length), total(k, 1, groups, chosen[k])
    packed, strewn = (each(k, when(k <= places * unit, heads, 0)) for places, heads in ((3, 4), (12, 1)))
    hit = 1 - Fraction(17, 20) ** 4
    return statement(
        "razor.tab2.gqa.corrected", for_all=[groups, length, unit, chosen],
        says=both(implies(number >= Fraction(15, 100) * 4 * groups, ratio <= Fraction(25, 8)),
                  implies(number <= Fraction(15, 100) * 4 * groups, ratio >= Fraction(25, 17)),
                  eq(1 / _call("kept_groups", packed, 20 * unit, length), Fraction(25, 8)),
                  eq(1 / _call("kept_groups", strewn, 20 * unit, length), Fraction(25, 17)),
                  absolute(1 / lift(hit + (1 - hit) / 5) - Fraction(172, 100)) <= Fraction(1, 200)),
        using=[KEPT_GROUPS],
    )  # fmt: skip


FORMAL: dict[str, Statement] = {
    made.name: made
    for made in (
        _thm1(), _thm1_corrected(), _thm1_iff(), _thm1_one_size(), _last_step(), _eq7(), _eq7_corrected(), _eq8(),
        _discard_corrected(), _form(), _discard(), _discard_sum(), _sinks(), _no_decay(), _flat_mass(), _output(),
        _output_attained(), _budget(), _eviction(), _identity(), _under(), _eq5_exact(), _log_mass(),
        _log_mass_sharp(), _quadratic(), _gaps(), _pointwise(), _proved_corrected(), _alibi_mean(), _reduction(),
        _reduction_corrected(), _three(), _gqa_corrected(),
    )
}  # fmt: skip
