"""True statements of ordinary mathematics, chosen before the prover was tuned: what share it proves is its measure.

Textbook facts on softmax, exponentials, means, entropy, kernels and the like; none comes from the papers under audit.
Easy and hard are mixed on purpose, and nothing was left out or put in because of what can be proved.
"""

from fractions import Fraction

from proofs_check.language import (
    PI,
    absolute,
    atan,
    ball,
    both,
    call,
    choice,
    cos,
    define,
    each,
    either,
    eq,
    exists,
    exp,
    fold,
    iff,
    implies,
    largest,
    least,
    limit,
    log,
    ne,
    positive,
    real,
    sequence,
    sin,
    sqrt,
    supremum,
    tanh,
    total,
    unique_minimiser,
    unique_zero,
    var,
    when,
    whole,
)
from tests.proofs_check.core.writing import stated

HALF = Fraction(1, 2)
j, k = var("j"), var("k")  # bound indices
x, y, z, t = real("x"), real("y"), real("z"), real("t")
a, b, c, d = map(positive, "abcd")
p, q = real("p", 0, 1), real("q", 0, 1)
inner_p, inner_q = real("p", 0, 1, open=True), real("q", 0, 1, open=True)
nonneg = real("x", 0)
above_x, over_x = real("y", x), real("y", x, open="low")
n, m = whole("n", 1), whole("m", 1)
i = whole("i", 1, n)
width, depth = real("c", 0), real("d", 0)
PLANE, SPACE = [x, y], [x, y, z]
s, r, v = (sequence(name, n) for name in "srv")
w, e = (sequence(name, n, 0, open="low") for name in "we")  # positive weights
f, g, h = (sequence(name, n, 0) for name in "fgh")
bounded = sequence("s", n, x, y)
small = sequence("e", n, -c, c)
step, far = real("u", 0, 1, open="low"), real("T", 1)

Q, R, S, V, N, I = map(var, ("q", "r", "s", "v", "n", "i"))  # noqa: E741  parameters of definitions
SOFTMAX = define("softmax", [S, N, I], exp(S[I]) / total(k, 1, N, exp(S[k])))
ATTEND = define("attend", [S, V, N], total(j, 1, N, call("softmax", S, N, j) * V[j]))
LSE = define("lse", [S, N], log(total(k, 1, N, exp(S[k]))))
MEAN = define("mean", [S, N], total(k, 1, N, S[k]) / N)
SPREAD = define("spread", [S, N], total(k, 1, N, (S[k] - call("mean", S, N)) ** 2) / N)
ENTROPY = define("entropy", [Q, N], -total(k, 1, N, Q[k] * log(Q[k])))
KL = define("kl", [Q, R, N], total(k, 1, N, Q[k] * log(Q[k] / R[k])))
TV = define("tv", [Q, R, N], total(k, 1, N, absolute(Q[k] - R[k])) / 2)
POWER = define("power", [S, N], fold("prod", k, 1, N, S))
DEFINED = (SOFTMAX, ATTEND, LSE, MEAN, SPREAD, ENTROPY, KL, TV, POWER)

sk, rk, vk, wk, ek, fk, gk, hk = (var(name)[k] for name in "srvwefgh")  # items at the index of a sum


def _sum(body, index=k):
    return total(index, 1, n, body)


def _softmax(scores, place):
    return call("softmax", scores, n, place)


def _lse(scores):
    return call("lse", scores, n)


def _attend(scores, values):
    return call("attend", scores, values, n)


def _share(weights, place):
    return weights[place] / _sum(weights[j], j)


def _shares(weights):
    return each(k, _share(weights, k))


def _most(body):
    return fold("max", k, 1, n, body)


def _least(body):
    return fold("min", k, 1, n, body)


def _power(base, number):
    return call("power", base, number)


def _sig(at):
    return 1 / (1 + exp(-at))


def _softplus(at):
    return log(1 + exp(at))


def _h2(at):
    return -at * log(at) - (1 - at) * log(1 - at)


def _kl2(one, other):
    return one * log(one / other) + (1 - one) * log((1 - one) / (1 - other))


ITEMS, PAIR, WEIGHTS_TWICE = [n, s], [n, s, v], [n, w, e]
SUM, MOST, LEAST, EXPS = _sum(sk), _most(sk), _least(sk), _sum(exp(sk))
AVERAGE, SQUARES, V_SQUARES, PRODUCTS = SUM / n, _sum(sk**2), _sum(vk**2), _sum(sk * vk)
WEIGHTS = _sum(wk)
WEIGHTED = _sum(wk * sk) / WEIGHTS
WEIGHT, WEIGHT_J, LOG_SUM, OUTPUT = _softmax(s, i), _softmax(s, j), _lse(s), _attend(s, v)
JOINING = exp(x) / (exp(x) + EXPS)  # the weight of a key with score x that joins the others
SECANT, LOG_COSH = (exp(y) - exp(x)) / (y - x), log((exp(x) + exp(-x)) / 2)
MIDDLE, EXP_XY, EXP_XYZ = exp((x + y) / 2), exp(x) + exp(y), exp(x) + exp(y) + exp(z)
SMOOTH_MAX, LENGTH, HYPOTENUSE = (x + y + sqrt((x - y) ** 2 + c**2)) / 2, sqrt(SQUARES), sqrt(1 + x**2)
KEPT_ALL, P_SUM, F_SUM = fold("prod", k, 1, n, 1 - var("p")[k]), _sum(var("p")[k]), _sum(fk)
SINES, LOGIT, DECAY = absolute(sin(n * t)) <= n * absolute(sin(t)), log(p / (1 - p)), 1 - exp(-a)


def exponentials():
    mid = real("t", x, over_x, open=True)
    return [
        ("exp.tangent", x, 1 + x <= exp(x)),
        ("exp.tangent_strict", x, 1 + x < exp(x), ne(x, 0)),
        ("exp.reciprocal", real("x", None, 1, open="high"), exp(x) <= 1 / (1 - x)),
        ("exp.second_order", nonneg, 1 + x + x**2 / 2 <= exp(x)),
        ("exp.pade", real("x", 0, 2, open="high"), exp(x) <= (2 + x) / (2 - x)),
        ("exp.cubic", nonneg, x**3 * exp(3) <= 27 * exp(x)),
        ("exp.cosh_below_gauss", x, (exp(x) + exp(-x)) / 2 <= exp(x**2 / 2)),
        ("exp.chord", [p, x], exp(p * x) <= 1 - p + p * exp(x)),
        ("exp.order", PLANE, iff(x < y, exp(x) < exp(y))),
        ("exp.difference", PLANE, eq(exp(x) - exp(y), MIDDLE * (exp((x - y) / 2) - exp((y - x) / 2)))),
        ("exp.midpoint", PLANE, iff(eq(MIDDLE, (EXP_XY) / 2), eq(x, y))),
        # Hermite and Hadamard: the mean of exp over [x, y] lies between the middle and the mean of the ends.
        ("exp.hermite_hadamard", [x, over_x], both(MIDDLE < SECANT, SECANT < (EXP_XY) / 2)),
        ("exp.am_gm_three", SPACE, 3 * exp(x) * exp(y) * exp(z) <= exp(3 * x) + exp(3 * y) + exp(3 * z)),
        # Popoviciu's inequality of convex functions, for exp.
        ("exp.popoviciu", SPACE, 2 * (MIDDLE + exp((y + z) / 2) + exp((z + x) / 2))
         <= EXP_XYZ + 3 * exp((x + y + z) / 3)),
        ("exp.power", [n, x], eq(_power(exp(x), n), exp(n * x))),
        ("exp.of_sum", ITEMS, eq(exp(SUM), fold("prod", k, 1, n, exp(sk)))),
        ("exp.jensen", [n, w, s], exp(WEIGHTED) <= _sum(wk * exp(sk)) / WEIGHTS),
        ("exp.decay_peak", nonneg, supremum(x * exp(-x), exp(-1), at={x: 1})),
        ("exp.saturates", [nonneg, step],
         supremum(1 - exp(-x), 1, at={x: 1 / step}, step=step, rate=1, attained=False)),
        ("exp.quotient", step, limit((exp(step) - 1) / step, 1, step, 1)),
        ("exp.compound", [p, far], limit(exp(far * log(1 + p / far)), exp(p), far, 2)),
        ("exp.mean_value", [x, over_x, mid], exists({mid: log(SECANT)}, eq(exp(y) - exp(x), exp(t) * (y - x)))),
        # The omega constant, alone and as the fixed point of a pair.
        ("exp.omega", x, unique_zero([x * exp(x) - 1], box={"x": (HALF, Fraction(3, 5))})),
        ("exp.crossed", PLANE, unique_zero([x - exp(-y), y - exp(-x)],
         box={"x": (HALF, Fraction(3, 5)), "y": (HALF, Fraction(3, 5))})),
        ("exp.affine_least", [a, x], unique_minimiser(exp(x) - a * x, at={x: log(a)})),
    ]  # fmt: skip


def logarithms():
    more, base = real("y", 1), real("x", -1, open="low")
    return [
        ("log.tangent", a, log(a) <= a - 1),
        ("log.reciprocal", a, 1 - 1 / a <= log(a)),
        ("log.pade", nonneg, 2 * x / (2 + x) <= log(1 + x)),
        ("log.root", nonneg, log(1 + x) <= x / sqrt(1 + x)),
        ("log.unit", a, iff(log(a) <= 0, a <= 1)),
        ("log.subadditive", [a, b], log(1 + a + b) < log(1 + a) + log(1 + b)),
        ("log.slope_falls", [a, b], log(1 + b) / b < log(1 + a) / a, a < b),
        # The logarithmic mean lies between the geometric and the arithmetic one.
        ("log.mean_above_geometric", [a, b], sqrt(a * b) < (a - b) / (log(a) - log(b)), ne(a, b)),
        ("log.mean_below_arithmetic", [a, b], (a - b) / (log(a) - log(b)) < (a + b) / 2, ne(a, b)),
        ("log.young", [p, a, b], exp(p * log(a) + (1 - p) * log(b)) <= p * a + (1 - p) * b),
        ("log.bernoulli_real", [base, more], 1 + y * x <= exp(y * log(1 + x))),
        ("log.fenchel", [x, a], x * a <= exp(x) + a * log(a) - a),
        ("log.conjugate", [a, x], supremum(x * a - exp(x), a * log(a) - a, at={x: log(a)})),
        ("log.entropic_least", a, unique_minimiser(a * log(a), at={a: exp(-1)})),
        ("log.stirling_low", n, n * log(n) - n <= _sum(log(k))),
        ("log.stirling_high", n, _sum(log(k)) <= (n + 1) * log(n + 1) - n),
        ("log.harmonic_low", n, log(n + 1) < _sum(1 / k)),
        ("log.harmonic_high", n, _sum(1 / k) <= 1 + log(n)),
        ("log.of_product", [n, w], eq(log(fold("prod", k, 1, n, wk)), _sum(log(wk)))),
        ("log.jensen", WEIGHTS_TWICE, _sum(wk * log(ek)) / WEIGHTS <= log(_sum(wk * ek) / WEIGHTS)),
        ("log.sum_inequality", WEIGHTS_TWICE, WEIGHTS * log(WEIGHTS / _sum(ek)) <= _sum(wk * log(wk / ek))),
    ]


def sigmoids():
    up_to_four = real("t", 0, 4)
    next_y, next_z = real("y", None, x), real("z", None, y)
    return [
        ("sigmoid.reflection", x, eq(_sig(x) + _sig(-x), 1)),
        ("sigmoid.by_tanh", x, eq(tanh(x), 2 * _sig(2 * x) - 1)),
        ("sigmoid.lipschitz", PLANE, absolute(_sig(x) - _sig(y)) <= absolute(x - y) / 4),
        ("sigmoid.slope", x, supremum(_sig(x) * (1 - _sig(x)), Fraction(1, 4), at={x: 0})),
        # Moving a logit by 2c moves its probability by tanh(c/2) at most.
        ("sigmoid.move", [width, x], supremum(_sig(x + 2 * c) - _sig(x), tanh(c / 2), at={x: -c})),
        ("sigmoid.onto", [inner_p, x], exists({x: LOGIT}, eq(_sig(x), p))),
        ("sigmoid.bradley_terry", [x, next_y, next_z], largest(_sig(x - y), _sig(y - z)) <= _sig(x - z)),
        ("sigmoid.odds", SPACE, eq(_sig(x - z) / _sig(z - x), _sig(x - y) / _sig(y - x) * (_sig(y - z) / _sig(z - y)))),
        ("sigmoid.silu_floor", x, -Fraction(3, 10) < x * _sig(x)),
        ("tanh.addition", PLANE, eq(tanh(x + y), (tanh(x) + tanh(y)) / (1 + tanh(x) * tanh(y)))),
        ("tanh.contracts", PLANE, absolute(tanh(x) - tanh(y)) <= absolute(x - y)),
        ("tanh.cubic", nonneg, x - x**3 / 3 <= tanh(x)),
        ("tanh.rational", nonneg, x / (1 + x) <= tanh(x)),
        ("tanh.order", PLANE, iff(x < y, tanh(x) < tanh(y))),
        ("tanh.saturates", [x, step], supremum(tanh(x), 1, at={x: log(1 / step)}, step=step, rate=2, attained=False)),
        ("tanh.mean_field", a, unique_zero([a - tanh(2 * a)], box={"a": (Fraction(19, 20), Fraction(24, 25))})),
        ("softplus.reflection", x, eq(_softplus(x), x + _softplus(-x))),
        ("softplus.bounds", x, both(largest(x, 0) < _softplus(x), _softplus(x) <= largest(x, 0) + log(2))),
        ("softplus.quadratic", x, _softplus(x) <= log(2) + x / 2 + x**2 / 8),
        ("softplus.lipschitz", PLANE, absolute(_softplus(x) - _softplus(y)) <= absolute(x - y)),
        ("softplus.convex", [p, x, y], _softplus(p * x + (1 - p) * y) <= p * _softplus(x) + (1 - p) * _softplus(y)),
        ("softplus.descent", [x, up_to_four], _softplus(x - t * _sig(x)) <= _softplus(x) - t * _sig(x) ** 2 / 2),
        ("softplus.limit", far, limit(_softplus(far) - far, 0, far, 1)),
        ("loss.zero_one", x, when(x <= 0, 1, 0) <= _softplus(-x) / log(2)),
        ("loss.below_exponential", x, _softplus(-x) < exp(-x)),
        ("loss.logit_least", [inner_p, x], unique_minimiser(_softplus(x) - p * x, at={x: LOGIT})),
        ("loss.focal", real("p", 0, 1, open="low"), -((1 - p) ** 2) * log(p) <= -log(p)),
        ("loss.log_cosh", x, both(absolute(x) - log(2) < LOG_COSH, LOG_COSH <= absolute(x))),
        ("loss.log_cosh_gap", [x, step],
         supremum(absolute(x) - LOG_COSH, log(2), at={x: log(1 / step)}, step=step, rate=1, attained=False)),
        ("loss.pseudo_huber", x, both(absolute(x) - 1 <= HYPOTENUSE - 1, HYPOTENUSE - 1 <= x**2 / 2)),
        ("loss.soft_threshold", [width, x, t],
         unique_minimiser((t - x) ** 2 / 2 + c * absolute(t), at={t: when(c < x, x - c, when(x < -c, x + c, 0))})),
        # Shafer and Fink.
        ("atan.shafer", nonneg, 3 * x / (1 + 2 * HYPOTENUSE) <= atan(x)),
        ("atan.complement", a, eq(atan(a) + atan(1 / a), PI / 2)),
    ]  # fmt: skip


def softmaxes():
    two, place = whole("n", 2), whole("i", 1, n)
    others = whole("j", 1, n)
    shifted, moved = each(k, sk + x), each(k, sk + small[k])
    sharper = real("d", c)
    below = sequence("s", n, None, x - c)
    return [
        ("softmax.total", ITEMS, eq(_sum(WEIGHT_J, j), 1)),
        ("softmax.open", [two, s, place], both(WEIGHT > 0, WEIGHT < 1)),
        ("softmax.shift", [n, s, x, i], eq(_softmax(shifted, i), WEIGHT)),
        ("softmax.order", [n, s, i, others], iff(s[i] <= s[others], WEIGHT <= _softmax(s, others))),
        ("softmax.log_odds", [n, s, i, others], eq(log(WEIGHT) - log(_softmax(s, others)), s[i] - s[others])),
        ("softmax.largest", ITEMS, eq(fold("max", j, 1, n, WEIGHT_J), exp(MOST) / EXPS)),
        ("softmax.largest_share", ITEMS, 1 / n <= fold("max", j, 1, n, WEIGHT_J)),
        ("softmax.range_low", [n, x, above_x, bounded, i], exp(x - y) / n <= WEIGHT),
        ("softmax.range_high", [n, x, above_x, bounded, i], WEIGHT <= 1 / (1 + (n - 1) * exp(x - y))),
        # The usual way to compute it: the largest score is taken off first.
        ("softmax.stable", [n, s, i], eq(exp(s[i] - MOST) / _sum(exp(s[j] - MOST), j), WEIGHT)),
        ("softmax.rises", [n, s, x, y], iff(x < y, JOINING < exp(y) / (exp(y) + EXPS))),
        ("softmax.one_more_key", [n, s, x, i], exp(s[i]) / (EXPS + exp(x)) < WEIGHT),
        # A product of experts: the product of two softmaxes, normalised, is the softmax of the sum.
        ("softmax.experts", [n, s, r, i],
         eq(_softmax(each(k, sk + rk), i), WEIGHT * _softmax(r, i) / _sum(WEIGHT_J * _softmax(r, j), j))),
        ("softmax.perturbed", [n, s, width, small, i], _softmax(moved, i) <= exp(2 * c) * WEIGHT),
        # From the largest norm to the sum of absolute values it is Lipschitz with constant 1.
        ("softmax.lipschitz", [n, s, width, small], _sum(absolute(_softmax(moved, j) - WEIGHT_J), j) <= c),
        ("softmax.sigmoid", PLANE, eq(exp(x) / (EXP_XY), _sig(x - y))),
        ("softmax.gap", [n, width, x, below], 1 / (1 + n * exp(-c)) <= JOINING),
        ("softmax.bias_onto", [n, s, inner_p, x], exists({x: LOGIT + LOG_SUM}, eq(JOINING, p))),
        ("softmax.saturates", [n, s, x, step],
         supremum(JOINING, 1, at={x: log(1 / step)}, step=step, rate=EXPS, attained=False)),
        ("softmax.hot", [x, y, step], limit(exp(step * x) / (exp(step * x) + exp(step * y)), HALF, step,
         absolute(x - y) / 4)),
        ("lse.above_max", ITEMS, both(MOST <= LOG_SUM, LOG_SUM <= MOST + log(n))),
        ("lse.equality", ITEMS, iff(eq(LOG_SUM, MOST + log(n)), eq(MOST, LEAST))),
        ("lse.above_mean", ITEMS, AVERAGE + log(n) <= LOG_SUM),
        ("lse.shift", [n, s, x], eq(_lse(shifted), LOG_SUM + x)),
        ("lse.lipschitz", [n, s, width, small], absolute(_lse(moved) - LOG_SUM) <= c),
        ("lse.convex", [n, s, r, p], _lse(each(k, p * sk + (1 - p) * rk)) <= p * LOG_SUM + (1 - p) * _lse(r)),
        ("lse.gradient", [n, s, r], LOG_SUM + _sum(WEIGHT_J * (r[j] - s[j]), j) <= _lse(r)),
        ("lse.smooth", [n, s, r], _lse(each(k, sk + rk))
         <= LOG_SUM + _sum(WEIGHT_J * r[j], j) + _sum(rk**2) / 4),
        # Hoeffding's lemma for the softmax distribution.
        ("lse.hoeffding", [n, s, width, small],
         _lse(moved) <= LOG_SUM + _sum(WEIGHT_J * small[j], j) + c**2 / 2),
        ("lse.mean_gap", [n, x, above_x, bounded], LOG_SUM - log(n) <= AVERAGE + (y - x) ** 2 / 8),
        ("lse.norms_fall", [n, s, c, sharper], _lse(each(k, sharper * sk)) / sharper <= _lse(each(k, c * sk)) / c),
        ("lse.means_rise", [n, s, c, sharper],
         (_lse(each(k, c * sk)) - log(n)) / c <= (_lse(each(k, sharper * sk)) - log(n)) / sharper),
        ("lse.cold", [n, s, far], limit(_lse(each(k, far * sk)) / far, MOST, far, log(n))),
        ("lse.three_gap", SPACE, supremum(log(EXP_XYZ) - largest(x, y, z), log(3),
         at={x: 0, y: 0, z: 0})),
        ("lse.three_tight", [x, y, z, step],
         supremum(largest(x, y, z) - log(EXP_XYZ), 0, at={x: 0, y: log(step), z: log(step)}, step=step,
         rate=2, attained=False)),
        ("lse.cross_entropy", [two, s, place], LOG_SUM - s[i] > 0),
    ]  # fmt: skip


def attention():
    held, centred = sequence("v", n, x, above_x), sequence("v", n, x - d, x + d)
    limited, score = sequence("v", n, -d, d), sequence("K", (n, n))
    key, query, u = sequence("K", (n, m)), sequence("q", m), sequence("u", m)
    below, other = sequence("s", n, None, t - c), sequence("r", m)
    moved = each(k, sk + small[k])
    others = total(k, 1, m, exp(other[k]))
    top = (exp(t) * x + _sum(exp(sk) * vk)) / (exp(t) + EXPS)
    layer = _attend(r, each(j, _attend(each(k, score[j, k]), v)))
    return [
        ("attention.hull", [n, s, x, above_x, held], both(x <= OUTPUT, OUTPUT <= y)),
        ("attention.extremes", PAIR, both(_least(vk) <= OUTPUT, OUTPUT <= _most(vk))),
        ("attention.two_layers", [n, x, above_x, held, r, score], both(x <= layer, layer <= y)),
        ("attention.constant_values", [n, s, x], eq(_attend(s, each(k, x)), x)),
        ("attention.constant_scores", [n, v, x], eq(_attend(each(k, x), v), _sum(vk) / n)),
        ("attention.affine", [n, s, v, x, y], eq(_attend(s, each(k, x * vk + y)), x * OUTPUT + y)),
        ("attention.reversed", PAIR, eq(_attend(each(k, s[n + 1 - k]), each(k, v[n + 1 - k])), OUTPUT)),
        ("attention.value_lipschitz", [n, s, v, r], absolute(OUTPUT - _attend(s, r)) <= _most(absolute(vk - rk))),
        ("attention.score_lipschitz", [n, s, width, small, depth, limited],
         absolute(_attend(moved, v) - OUTPUT) <= c * d),
        ("attention.variance", PAIR, OUTPUT**2 <= _attend(s, each(k, vk**2))),
        ("attention.tilt", [n, s, v, x, above_x], _attend(each(k, sk + x * vk), v) <= _attend(each(k, sk + y * vk), v)),
        # Blocks can be attended to apart and merged by their sums of exponentials.
        ("attention.merge", [n, m, s, v, other, u],
         eq((EXPS * OUTPUT + others * call("attend", other, u, m)) / (EXPS + others),
         (_sum(exp(sk) * vk) + total(k, 1, m, exp(other[k]) * u[k])) / (EXPS + others))),
        # A score that leads by c retrieves its value x up to the mass of the others.
        ("attention.retrieval", [n, width, depth, t, x, below, centred],
         absolute(top - x) <= d * n * exp(-c) / (1 + n * exp(-c))),
        ("attention.own_score", ITEMS, both(AVERAGE <= _attend(s, s), _attend(s, s) <= MOST)),
        ("attention.linear_order", [n, m, key, query, v],
         eq(_sum(total(k, 1, m, query[k] * key[j, k]) * v[j], j),
         total(k, 1, m, query[k] * _sum(key[j, k] * v[j], j)))),
        # Positive features: the exponential kernel by the Gaussian one.
        ("attention.gaussian_kernel", PAIR,
         eq(exp(PRODUCTS), exp(SQUARES / 2) * exp(V_SQUARES / 2) * exp(-_sum((sk - vk) ** 2) / 2))),
        ("attention.rows", [n, score], eq(_sum(_sum(_softmax(each(k, score[j, k]), k), k), j), n)),
    ]  # fmt: skip


def geometric():
    longer, content = whole("n", m), sequence("s", n, -c, c)

    def mass(slope, count):
        return total(k, 0, count - 1, exp(-slope * k))

    return [
        ("geometric.sum", [n, x], eq((1 - x) * total(j, 0, n - 1, _power(x, j)), 1 - _power(x, n))),
        ("geometric.bernoulli", [real("x", -1), n], 1 + n * x <= _power(1 + x, n)),
        ("geometric.second_order", [nonneg, n], 1 + n * x + n * (n - 1) / 2 * x**2 <= _power(1 + x, n)),
        ("geometric.moving_average", [n, x], eq((1 - x) * _sum(_power(x, n - j), j), 1 - _power(x, n))),
        ("alibi.closed", [n, a], eq(mass(a, n), (1 - exp(-a * n)) / (DECAY))),
        ("alibi.newest", [n, a], DECAY < 1 / mass(a, n)),
        ("alibi.window", [m, longer, a], 1 - exp(-a * m) < mass(a, m) / mass(a, longer)),
        ("alibi.steeper", [n, a, b], 1 / mass(a, n) <= 1 / mass(b, n), a < b),
        ("alibi.distance", [n, a], (DECAY) ** 2 * total(k, 0, n - 1, k * exp(-a * k)) < exp(-a)),
        ("alibi.limit", [a, n], limit((DECAY) * mass(a, n), 1, n, 1 / a)),
        # With bounded scores besides the slope, the newest key keeps a share of its own.
        ("alibi.content", [n, a, width, content],
         exp(-2 * c) * (DECAY) < exp(s[1]) / _sum(exp(sk - a * (k - 1)))),
        ("product.weierstrass", [n, sequence("p", n, 0, 1)],
         both(1 - P_SUM <= KEPT_ALL,
         KEPT_ALL <= exp(-P_SUM))),
        ("product.above_sum", [n, f], 1 + F_SUM <= fold("prod", k, 1, n, 1 + fk)),
    ]  # fmt: skip


def information():
    at, of = inner_p, inner_q
    ps, qs = _shares(w), _shares(e)
    root = sqrt(p * q) + sqrt((1 - p) * (1 - q))
    rest = real("q", 0, 1 - inner_p, open=True)
    return [
        ("entropy.two_peak", at, supremum(_h2(at), log(2), at={at: HALF})),
        ("entropy.two_equality", at, iff(eq(_h2(at), log(2)), eq(at, HALF))),
        ("entropy.two_parabola", at, 4 * log(2) * at * (1 - at) <= _h2(at)),
        ("entropy.two_root", at, _h2(at) <= 2 * log(2) * sqrt(at * (1 - at))),
        ("entropy.two_concave", [at, of], (_h2(at) + _h2(of)) / 2 <= _h2((at + of) / 2)),
        ("entropy.three", [at, rest], -at * log(at) - rest * log(rest) - (1 - at - rest) * log(1 - at - rest)
         <= log(3)),
        ("entropy.below_log", [n, w], call("entropy", ps, n) <= log(n)),
        ("entropy.nonnegative", [n, w], call("entropy", ps, n) >= 0),
        ("entropy.collision", [n, w], -log(_sum(_share(w, k) ** 2)) <= call("entropy", ps, n)),
        # Gibbs: the free energy is largest at the softmax.
        ("entropy.variational", [n, w, s], WEIGHTED + call("entropy", ps, n) <= LOG_SUM),
        ("entropy.of_softmax", ITEMS, eq(call("entropy", each(j, WEIGHT_J), n), LOG_SUM - _attend(s, s))),
        ("entropy.regularised_least", [x, at], unique_minimiser(at * x - _h2(at), at={at: 1 / (1 + exp(x))})),
        ("entropy.cross_least", [at, of], unique_minimiser(-at * log(of) - (1 - at) * log(1 - of), at={of: at})),
        ("kl.gibbs", WEIGHTS_TWICE, call("kl", ps, qs, n) >= 0),
        ("kl.pinsker", WEIGHTS_TWICE, 2 * call("tv", ps, qs, n) ** 2 <= call("kl", ps, qs, n)),
        ("kl.pinsker_two", [at, of], 2 * (at - of) ** 2 <= _kl2(at, of)),
        ("kl.two_equality", [at, of], iff(eq(_kl2(at, of), 0), eq(at, of))),
        ("kl.two_chi", [at, of], _kl2(at, of) <= (at - of) ** 2 / (of * (1 - of))),
        ("kl.renyi", WEIGHTS_TWICE, call("kl", ps, qs, n) <= log(_sum(_share(w, k) ** 2 / _share(e, k)))),
        ("kl.merging", [a, b, c, d], (a + b) * log((a + b) / (c + d)) <= a * log(a / c) + b * log(b / d)),
        ("kl.jensen_shannon", [at, of], (_kl2(at, (at + of) / 2) + _kl2(of, (at + of) / 2)) / 2 < log(2)),
        ("tv.overlap", WEIGHTS_TWICE, eq(call("tv", ps, qs, n), 1 - _sum(least(_share(w, k), _share(e, k))))),
        ("tv.excess", WEIGHTS_TWICE, eq(call("tv", ps, qs, n), _sum(largest(0, _share(w, k) - _share(e, k))))),
        ("tv.triangle", [n, s, r, v], call("tv", s, v, n) <= call("tv", s, r, n) + call("tv", r, v, n)),
        # Le Cam: the Bhattacharyya overlap of two coins bounds their distance from both sides.
        ("tv.hellinger_low", [p, q], 1 - root <= absolute(p - q)),
        ("tv.hellinger_high", [p, q], (p - q) ** 2 + root**2 <= 1),
    ]


def means():
    rise_y, rise_z = real("y", x), real("z", y)
    rise_b, rise_c = real("b", real("a")), real("c", real("b"))
    up_b, up_c = real("b", real("a"), open="low"), real("c", real("b"), open="low")
    real_a, real_b, real_c, real_d = map(real, "abcd")
    na, nb, nc = (real(name, 0) for name in "abc")
    kept, matrix = sequence("w", n, a, real("b", a)), sequence("A", (n, m))
    u = sequence("u", m)
    spread = _sum((sk - _sum(s[j], j) / n) ** 2)
    long = sequence("s", n + 1)
    return [
        ("mean.am_gm", [n, w], exp(_sum(log(wk)) / n) <= WEIGHTS / n),
        ("mean.am_gm_three", [na, nb, nc], 27 * a * b * c <= (a + b + c) ** 3),
        ("mean.am_gm_equality", [a, b, c], iff(eq(a**3 + b**3 + c**3, 3 * a * b * c), both(eq(a, b), eq(b, c)))),
        ("mean.am_hm", [n, w], n**2 <= WEIGHTS * _sum(1 / wk)),
        ("mean.quadratic", ITEMS, SUM**2 <= n * SQUARES),
        ("mean.cubic", [n, f], F_SUM ** 3 <= n**2 * _sum(fk**3)),
        ("mean.root_concave", [p, na, nb], p * sqrt(a) + (1 - p) * sqrt(b) <= sqrt(p * a + (1 - p) * b)),
        ("mean.kantorovich", [n, a, real("b", a), kept], WEIGHTS * _sum(1 / wk) <= n**2 * (a + b) ** 2 / (4 * a * b)),
        ("mean.weighted_hull", [n, w, x, above_x, bounded], both(x <= WEIGHTED, WEIGHTED <= y)),
        ("mean.maclaurin", [na, nb, nc], 27 * (a * b * c) ** 2 <= (a * b + b * c + c * a) ** 3),
        ("mean.newton", [real_a, real_b, real_c], 3 * a * b * c * (a + b + c) <= (a * b + b * c + c * a) ** 2),
        ("mean.smooth_max", [x, y, width],
         both(largest(x, y) <= SMOOTH_MAX,
         SMOOTH_MAX <= largest(x, y) + c / 2)),
        ("cauchy.schwarz", PAIR, PRODUCTS**2 <= SQUARES * V_SQUARES),
        ("cauchy.two_equality", [real_a, real_b, real_c, real_d],
         iff(eq((a * c + b * d) ** 2, (a**2 + b**2) * (c**2 + d**2)), eq(a * d, b * c))),
        ("cauchy.lagrange", [x, y, z, real_a, real_b, real_c],
         eq((x**2 + y**2 + z**2) * (a**2 + b**2 + c**2) - (x * a + y * b + z * c) ** 2,
         (x * b - y * a) ** 2 + (y * c - z * b) ** 2 + (z * a - x * c) ** 2)),
        ("cauchy.minkowski", PAIR, sqrt(_sum((sk + vk) ** 2)) <= LENGTH + sqrt(V_SQUARES)),
        ("cauchy.plane_triangle", [real_a, real_b, real_c, real_d],
         sqrt((a + c) ** 2 + (b + d) ** 2) <= sqrt(a**2 + b**2) + sqrt(c**2 + d**2)),
        # Engel's form, also Titu's or Sedrakyan's.
        ("cauchy.engel", [n, s, w], SUM**2 / WEIGHTS <= _sum(sk**2 / wk)),
        ("cauchy.hoelder_three", [n, f, g, h], _sum(fk * gk * hk) ** 3 <= _sum(fk**3) * _sum(gk**3) * _sum(hk**3)),
        ("cauchy.lyapunov", [n, f], _sum(fk**2) ** 2 <= F_SUM * _sum(fk**3)),
        ("cauchy.norms", [n, f], _sum(fk**3) ** 2 <= _sum(fk**2) ** 3),
        ("cauchy.balls", [n, depth, width, ball("s", n, depth), ball("v", n, width)], absolute(PRODUCTS) <= c * d),
        ("cauchy.cosine", PAIR, absolute(PRODUCTS / (LENGTH * sqrt(V_SQUARES))) <= 1, SQUARES > 0,
         V_SQUARES > 0),
        ("cauchy.frobenius", [n, m, matrix, u],
         _sum(total(k, 1, m, matrix[j, k] * u[k]) ** 2, j)
         <= _sum(total(k, 1, m, matrix[j, k] ** 2), j) * total(k, 1, m, u[k] ** 2)),
        ("cubic.nesbitt", [a, b, c], Fraction(3, 2) <= a / (b + c) + b / (c + a) + c / (a + b)),
        ("cubic.schur", [na, nb, nc], a * (a - b) * (a - c) + b * (b - a) * (b - c) + c * (c - a) * (c - b) >= 0),
        ("square.cyclic", SPACE, iff(eq(x * y + y * z + z * x, x**2 + y**2 + z**2), both(eq(x, y), eq(y, z)))),
        ("square.form", [na, real_b, nc, x, y], a * x**2 + 2 * b * x * y + c * y**2 >= 0, b**2 <= a * c),
        ("chebyshev.three", [x, rise_y, rise_z, real_a, rise_b, rise_c],
         (x + y + z) * (a + b + c) <= 3 * (x * a + y * b + z * c)),
        ("chebyshev.exp", ITEMS, SUM * EXPS <= n * _sum(sk * exp(sk))),
        ("chebyshev.identity", PAIR, eq(_sum(_sum((s[j] - sk) * (v[j] - vk)), j),
         2 * (n * PRODUCTS - SUM * _sum(vk)))),
        ("absolute.triangle", ITEMS, absolute(SUM) <= _sum(absolute(sk))),
        ("absolute.hlawka", SPACE, absolute(x + y) + absolute(y + z) + absolute(z + x)
         <= absolute(x) + absolute(y) + absolute(z) + absolute(x + y + z)),
        ("absolute.norms", ITEMS, both(_most(absolute(sk)) <= LENGTH,
         LENGTH <= sqrt(n) * _most(absolute(sk)))),
        ("absolute.relu", PLANE, absolute(largest(x, 0) - largest(y, 0)) <= absolute(x - y)),
        ("absolute.median", [real_a, up_b, up_c, t],
         unique_minimiser(absolute(t - a) + absolute(t - b) + absolute(t - c), at={t: up_b})),
        ("variance.steiner", [n, s, x], eq(_sum((sk - x) ** 2), spread + n * (AVERAGE - x) ** 2)),
        ("variance.least", [n, s, t], unique_minimiser(_sum((sk - t) ** 2), at={t: AVERAGE})),
        ("variance.weighted_least", [n, w, s, t], unique_minimiser(_sum(wk * (sk - t) ** 2), at={t: WEIGHTED})),
        ("variance.zero", ITEMS, iff(eq(spread, 0), eq(MOST, LEAST))),
        ("variance.popoviciu", [n, x, above_x, bounded], spread / n <= (y - x) ** 2 / 4),
        ("variance.bhatia_davis", [n, x, above_x, bounded], spread / n <= (y - AVERAGE) * (AVERAGE - x)),
        ("variance.ridge", [n, s, v, a, t],
         unique_minimiser(_sum((sk - t * vk) ** 2) + a * t**2, at={t: PRODUCTS / (V_SQUARES + a)})),
        ("tail.markov", [n, f, a], a * _sum(when(a <= fk, 1, 0)) <= F_SUM),
        ("tail.chernoff", [n, s, x, width], _sum(when(x <= sk, 1, 0)) <= exp(-c * x) * _sum(exp(c * sk))),
        ("sum.cubes", n, eq(_sum(k**3), (n * (n + 1) / 2) ** 2)),
        ("sum.telescope", [n, long], eq(_sum(s[k + 1] - sk), s[n + 1] - s[1])),
        ("sum.prefixes", ITEMS, eq(_sum(total(k, 1, j, sk), j), _sum((n + 1 - k) * sk))),
        ("sum.inverse_squares", n, _sum(1 / k**2) <= 2 - 1 / n),
        ("sum.inverse_roots", n, _sum(1 / sqrt(k)) <= 2 * sqrt(n) - 1),
        ("sum.root_spread", [n, f], sqrt(F_SUM) <= _sum(sqrt(fk))),
        ("sum.fractions", [a, b], a / (1 + a) + b / (1 + b) < 2 * (a + b) / (1 + a + b)),
    ]  # fmt: skip


def norms_and_kernels():
    scale = sqrt(call("spread", s, n) + a)
    pushed = each(k, sk + x)
    rms = sqrt(SQUARES / n)
    points, real_a, real_b, real_c = sequence("f", n, 0), real("a"), real("b"), real("c")

    def gram(kernel):
        return _sum(_sum(v[j] * vk * kernel, k), j)

    return [
        # An alternative is true where one part is, also where the other has no value.
        ("quotient.or_zero", nonneg, either(1 / x > 0, eq(x, 0))),
        ("layernorm.centred", [n, s, a], eq(_sum((sk - call("mean", s, n)) / scale), 0)),
        ("layernorm.length", [n, s, a], _sum(((sk - call("mean", s, n)) / scale) ** 2) < n),
        ("layernorm.shift", [n, s, a, x, i],
         eq((s[i] + x - call("mean", pushed, n)) / sqrt(call("spread", pushed, n) + a),
         (s[i] - call("mean", s, n)) / scale)),
        # Samuelson: no entry is further than sqrt(n - 1) standard deviations from the mean.
        ("layernorm.samuelson", [n, s, i], (s[i] - call("mean", s, n)) ** 2 <= (n - 1) * call("spread", s, n)),
        ("rmsnorm.scale", [n, s, c, i], eq(c * s[i] / sqrt(_sum((c * sk) ** 2) / n), s[i] / rms), SQUARES > 0),
        ("rmsnorm.entry", [n, s, a, i], absolute(s[i] / sqrt(SQUARES / n + a)) < sqrt(n)),
        ("kernel.exponential", PAIR, gram(exp(s[j] * sk)) >= 0),
        ("kernel.gaussian", PAIR, gram(exp(-((s[j] - sk) ** 2))) >= 0),
        ("kernel.gaussian_three", [x, y, z, real_a, real_b, real_c],
         a**2 + b**2 + c**2 + 2 * a * b * exp(-((x - y) ** 2)) + 2 * b * c * exp(-((y - z) ** 2)) + 2 * c * a
         * exp(-((z - x) ** 2)) >= 0),
        ("kernel.laplace_two", [x, y, real_a, real_b], a**2 + b**2 + 2 * a * b * exp(-absolute(x - y)) >= 0),
        ("kernel.cosine", PAIR, eq(gram(cos(s[j] - sk)), _sum(vk * cos(sk)) ** 2 + _sum(vk * sin(sk)) ** 2)),
        # The covariance of Brownian motion, and the matrix of 1 / (j + k).
        ("kernel.brownian", [n, points, v], gram(least(f[j], fk)) >= 0),
        ("kernel.hilbert", [n, v], gram(1 / (j + k)) >= 0),
    ]


def rotations():
    theta, one, two = real("t"), whole("i"), whole("j")
    q1, q2, k1, k2 = real("a"), real("b"), real("c"), real("d")

    def turned(first, second, angle):
        return first * cos(angle) - second * sin(angle), first * sin(angle) + second * cos(angle)

    (a1, a2), (b1, b2) = turned(q1, q2, one * theta), turned(k1, k2, two * theta)
    c1, c2 = turned(k1, k2, (two - one) * theta)
    return [
        ("rotary.length", [x, y, theta], eq(turned(x, y, t)[0] ** 2 + turned(x, y, t)[1] ** 2, x**2 + y**2)),
        ("rotary.relative", [q1, q2, k1, k2, theta, one, two], eq(a1 * b1 + a2 * b2, q1 * c1 + q2 * c2)),
        ("rotary.bounded", [q1, q2, k1, k2, theta],
         (q1 * turned(k1, k2, t)[0] + q2 * turned(k1, k2, t)[1]) ** 2 <= (q1**2 + q2**2) * (k1**2 + k2**2)),
        ("rotary.chord", PLANE, (cos(x) - cos(y)) ** 2 + (sin(x) - sin(y)) ** 2 <= (x - y) ** 2),
        ("sinusoid.inner", [n, s, x, y],
         eq(_sum(sin(sk * x) * sin(sk * y) + cos(sk * x) * cos(sk * y)), _sum(cos(sk * (x - y))))),
        ("sinusoid.farthest", [n, s, x, y], _sum(cos(sk * (x - y))) <= n),
        ("sinusoid.dirichlet", [n, t], eq(2 * sin(t / 2) * _sum(cos(k * t)), sin((n + HALF) * t) - sin(t / 2))),
        ("sine.multiple", [n, t], SINES),
        ("sine.few", [choice("n", 2, 3, 4), t], SINES),
        ("sine.jordan", real("x", 0, PI / 2), 2 * x / PI <= sin(x)),
        ("sine.cubic", nonneg, x - x**3 / 6 <= sin(x)),
        ("cosine.quartic", x, both(1 - x**2 / 2 <= cos(x), cos(x) <= 1 - x**2 / 2 + x**4 / 24)),
        ("cosine.quotient", step, limit((1 - cos(step)) / step**2, HALF, step, 1)),
        ("cosine.triangle", PLANE, cos(x) + cos(y) - cos(x + y) <= Fraction(3, 2)),
        ("cosine.fixed", x, unique_zero([x - cos(x)], box={"x": (Fraction(7, 10), Fraction(3, 4))})),
        ("cosine.both_small", PLANE, implies(both(cos(x) <= 0, cos(y) <= 0), either(cos(x + y) >= 0, cos(x - y) >= 0))),
    ]  # fmt: skip


TRUE = tuple(stated(f"true.{name}", *said, known=DEFINED) for name, *said in (
    *exponentials(), *logarithms(), *sigmoids(), *softmaxes(), *attention(), *geometric(), *information(), *means(),
    *norms_and_kernels(), *rotations(),
))  # fmt: skip
