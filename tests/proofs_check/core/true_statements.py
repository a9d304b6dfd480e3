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
p = real("p", 0, 1)
inner_p = real("p", 0, 1, open=True)
nonneg = real("x", 0)
above_x, over_x = real("y", x), real("y", x, open="low")
n, m = whole("n", 1), whole("m", 1)
i = whole("i", 1, n)
width, depth = real("c", 0), real("d", 0)
PLANE = [x, y]
s, r, v = (sequence(name, n) for name in "srv")
w, e = (sequence(name, n, 0, open="low") for name in "we")  # positive weights
f = sequence("f", n, 0)
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

sk, rk, vk, wk, ek, fk = (var(name)[k] for name in "srvwef")  # items at the index of a sum


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
SUM, MOST, LEAST, EXPS = _sum(sk), _most(sk), fold("min", k, 1, n, sk), _sum(exp(sk))
AVERAGE, SQUARES, V_SQUARES, PRODUCTS = SUM / n, _sum(sk**2), _sum(vk**2), _sum(sk * vk)
WEIGHTS = _sum(wk)
WEIGHTED = _sum(wk * sk) / WEIGHTS
WEIGHT, WEIGHT_J, LOG_SUM, OUTPUT = _softmax(s, i), _softmax(s, j), _lse(s), _attend(s, v)
JOINING = exp(x) / (exp(x) + EXPS)  # the weight of a key with score x that joins the others
SECANT, LOG_COSH = (exp(y) - exp(x)) / (y - x), log((exp(x) + exp(-x)) / 2)
MIDDLE, EXP_XY = exp((x + y) / 2), exp(x) + exp(y)
SMOOTH_MAX, LENGTH = (x + y + sqrt((x - y) ** 2 + c**2)) / 2, sqrt(SQUARES)
KEPT_ALL, P_SUM, F_SUM = fold("prod", k, 1, n, 1 - var("p")[k]), _sum(var("p")[k]), _sum(fk)
SINES, LOGIT, DECAY = absolute(sin(n * t)) <= n * absolute(sin(t)), log(p / (1 - p)), 1 - exp(-a)


def exponentials():
    mid = real("t", x, over_x, open=True)
    return [
        ("exp.tangent", x, 1 + x <= exp(x)),
        ("exp.tangent_strict", x, 1 + x < exp(x), ne(x, 0)),
        ("exp.reciprocal", real("x", None, 1, open="high"), exp(x) <= 1 / (1 - x)),
        ("exp.cosh_below_gauss", x, (exp(x) + exp(-x)) / 2 <= exp(x**2 / 2)),
        ("exp.chord", [p, x], exp(p * x) <= 1 - p + p * exp(x)),
        ("exp.order", PLANE, iff(x < y, exp(x) < exp(y))),
        ("exp.midpoint", PLANE, iff(eq(MIDDLE, EXP_XY / 2), eq(x, y))),
        # Hermite and Hadamard: the mean of exp over [x, y] lies between the middle and the mean of the ends.
        ("exp.hermite_hadamard", [x, over_x], both(MIDDLE < SECANT, SECANT < EXP_XY / 2)),
        ("exp.power", [n, x], eq(_power(exp(x), n), exp(n * x))),
        ("exp.jensen", [n, w, s], exp(WEIGHTED) <= _sum(wk * exp(sk)) / WEIGHTS),
        ("exp.decay_peak", nonneg, supremum(x * exp(-x), exp(-1), at={x: 1})),
        ("exp.saturates", [nonneg, step],
         supremum(1 - exp(-x), 1, at={x: 1 / step}, step=step, rate=1, attained=False)),
        ("exp.compound", [p, far], limit(exp(far * log(1 + p / far)), exp(p), far, 2)),
        ("exp.mean_value", [x, over_x, mid], exists({mid: log(SECANT)}, eq(exp(y) - exp(x), exp(t) * (y - x)))),
        # The omega constant.
        ("exp.omega", x, unique_zero([x * exp(x) - 1], box={"x": (HALF, Fraction(3, 5))})),
    ]  # fmt: skip


def logarithms():
    return [
        ("log.tangent", a, log(a) <= a - 1),
        ("log.pade", nonneg, 2 * x / (2 + x) <= log(1 + x)),
        ("log.unit", a, iff(log(a) <= 0, a <= 1)),
        ("log.subadditive", [a, b], log(1 + a + b) < log(1 + a) + log(1 + b)),
        ("log.mean_below_arithmetic", [a, b], (a - b) / (log(a) - log(b)) < (a + b) / 2, ne(a, b)),
        ("log.young", [p, a, b], exp(p * log(a) + (1 - p) * log(b)) <= p * a + (1 - p) * b),
        ("log.conjugate", [a, x], supremum(x * a - exp(x), a * log(a) - a, at={x: log(a)})),
        ("log.entropic_least", a, unique_minimiser(a * log(a), at={a: exp(-1)})),
        ("log.stirling_low", n, n * log(n) - n <= _sum(log(k))),
        ("log.harmonic_high", n, _sum(1 / k) <= 1 + log(n)),
        ("log.of_product", [n, w], eq(log(fold("prod", k, 1, n, wk)), _sum(log(wk)))),
        ("log.sum_inequality", WEIGHTS_TWICE, WEIGHTS * log(WEIGHTS / _sum(ek)) <= _sum(wk * log(wk / ek))),
    ]


def sigmoids():
    next_y, next_z = real("y", None, x), real("z", None, y)
    return [
        ("sigmoid.reflection", x, eq(_sig(x) + _sig(-x), 1)),
        ("sigmoid.lipschitz", PLANE, absolute(_sig(x) - _sig(y)) <= absolute(x - y) / 4),
        ("sigmoid.slope", x, supremum(_sig(x) * (1 - _sig(x)), Fraction(1, 4), at={x: 0})),
        # Moving a logit by 2c moves its probability by tanh(c/2) at most.
        ("sigmoid.move", [width, x], supremum(_sig(x + 2 * c) - _sig(x), tanh(c / 2), at={x: -c})),
        ("sigmoid.onto", [inner_p, x], exists({x: LOGIT}, eq(_sig(x), p))),
        ("sigmoid.bradley_terry", [x, next_y, next_z], largest(_sig(x - y), _sig(y - z)) <= _sig(x - z)),
        ("tanh.addition", PLANE, eq(tanh(x + y), (tanh(x) + tanh(y)) / (1 + tanh(x) * tanh(y)))),
        ("tanh.cubic", nonneg, x - x**3 / 3 <= tanh(x)),
        ("tanh.mean_field", a, unique_zero([a - tanh(2 * a)], box={"a": (Fraction(19, 20), Fraction(24, 25))})),
        ("softplus.bounds", x, both(largest(x, 0) < _softplus(x), _softplus(x) <= largest(x, 0) + log(2))),
        ("softplus.quadratic", x, _softplus(x) <= log(2) + x / 2 + x**2 / 8),
        ("softplus.convex", [p, x, y], _softplus(p * x + (1 - p) * y) <= p * _softplus(x) + (1 - p) * _softplus(y)),
        ("softplus.limit", far, limit(_softplus(far) - far, 0, far, 1)),
        ("loss.zero_one", x, when(x <= 0, 1, 0) <= _softplus(-x) / log(2)),
        ("loss.log_cosh", x, both(absolute(x) - log(2) < LOG_COSH, LOG_COSH <= absolute(x))),
        ("loss.soft_threshold", [width, x, t],
         unique_minimiser((t - x) ** 2 / 2 + c * absolute(t), at={t: when(c < x, x - c, when(x < -c, x + c, 0))})),
        # Shafer and Fink.
        ("atan.shafer", nonneg, 3 * x / (1 + 2 * sqrt(1 + x**2)) <= atan(x)),
    ]  # fmt: skip


def softmaxes():
    two, others = whole("n", 2), whole("j", 1, n)
    moved = each(k, sk + small[k])
    below = sequence("s", n, None, x - c)
    return [
        ("softmax.total", ITEMS, eq(_sum(WEIGHT_J, j), 1)),
        ("softmax.open", [two, s, i], both(WEIGHT > 0, WEIGHT < 1)),
        ("softmax.shift", [n, s, x, i], eq(_softmax(each(k, sk + x), i), WEIGHT)),
        ("softmax.order", [n, s, i, others], iff(s[i] <= s[others], WEIGHT <= _softmax(s, others))),
        ("softmax.largest", ITEMS, eq(fold("max", j, 1, n, WEIGHT_J), exp(MOST) / EXPS)),
        ("softmax.range_low", [n, x, above_x, bounded, i], exp(x - y) / n <= WEIGHT),
        ("softmax.one_more_key", [n, s, x, i], exp(s[i]) / (EXPS + exp(x)) < WEIGHT),
        # From the largest norm to the sum of absolute values it is Lipschitz with constant 1.
        ("softmax.lipschitz", [n, s, width, small], _sum(absolute(_softmax(moved, j) - WEIGHT_J), j) <= c),
        ("softmax.gap", [n, width, x, below], 1 / (1 + n * exp(-c)) <= JOINING),
        ("softmax.bias_onto", [n, s, inner_p, x], exists({x: LOGIT + LOG_SUM}, eq(JOINING, p))),
        ("softmax.saturates", [n, s, x, step],
         supremum(JOINING, 1, at={x: log(1 / step)}, step=step, rate=EXPS, attained=False)),
        ("lse.above_max", ITEMS, both(MOST <= LOG_SUM, LOG_SUM <= MOST + log(n))),
        ("lse.equality", ITEMS, iff(eq(LOG_SUM, MOST + log(n)), eq(MOST, LEAST))),
        ("lse.lipschitz", [n, s, width, small], absolute(_lse(moved) - LOG_SUM) <= c),
        ("lse.convex", [n, s, r, p], _lse(each(k, p * sk + (1 - p) * rk)) <= p * LOG_SUM + (1 - p) * _lse(r)),
        ("lse.cold", [n, s, far], limit(_lse(each(k, far * sk)) / far, MOST, far, log(n))),
        ("lse.three_gap", [x, y, z],
         supremum(log(EXP_XY + exp(z)) - largest(x, y, z), log(3), at={x: 0, y: 0, z: 0})),
        ("lse.cross_entropy", [two, s, i], LOG_SUM - s[i] > 0),
    ]  # fmt: skip


def attention():
    held, centred = sequence("v", n, x, above_x), sequence("v", n, x - d, x + d)
    score, below = sequence("K", (n, n)), sequence("s", n, None, t - c)
    top = (exp(t) * x + _sum(exp(sk) * vk)) / (exp(t) + EXPS)
    layer = _attend(r, each(j, _attend(each(k, score[j, k]), v)))
    return [
        ("attention.hull", [n, s, x, above_x, held], both(x <= OUTPUT, OUTPUT <= y)),
        ("attention.two_layers", [n, x, above_x, held, r, score], both(x <= layer, layer <= y)),
        ("attention.constant_values", [n, s, x], eq(_attend(s, each(k, x)), x)),
        ("attention.value_lipschitz", [n, s, v, r], absolute(OUTPUT - _attend(s, r)) <= _most(absolute(vk - rk))),
        ("attention.variance", PAIR, OUTPUT**2 <= _attend(s, each(k, vk**2))),
        # A score that leads by c retrieves its value x up to the mass of the others.
        ("attention.retrieval", [n, width, depth, t, x, below, centred],
         absolute(top - x) <= d * n * exp(-c) / (1 + n * exp(-c))),
        ("attention.own_score", ITEMS, both(AVERAGE <= _attend(s, s), _attend(s, s) <= MOST)),
        ("attention.rows", [n, score], eq(_sum(_sum(_softmax(each(k, score[j, k]), k), k), j), n)),
    ]  # fmt: skip


def geometric():
    longer, content = whole("n", m), sequence("s", n, -c, c)

    def mass(slope, count):
        return total(k, 0, count - 1, exp(-slope * k))

    return [
        ("geometric.sum", [n, x], eq((1 - x) * total(j, 0, n - 1, _power(x, j)), 1 - _power(x, n))),
        ("geometric.bernoulli", [real("x", -1), n], 1 + n * x <= _power(1 + x, n)),
        ("alibi.closed", [n, a], eq(mass(a, n), (1 - exp(-a * n)) / DECAY)),
        ("alibi.window", [m, longer, a], 1 - exp(-a * m) < mass(a, m) / mass(a, longer)),
        ("alibi.limit", [a, n], limit(DECAY * mass(a, n), 1, n, 1 / a)),
        # With bounded scores besides the slope, the newest key keeps a share of its own.
        ("alibi.content", [n, a, width, content],
         exp(-2 * c) * DECAY < exp(s[1]) / _sum(exp(sk - a * (k - 1)))),
        ("product.weierstrass", [n, sequence("p", n, 0, 1)],
         both(1 - P_SUM <= KEPT_ALL,
         KEPT_ALL <= exp(-P_SUM))),
    ]  # fmt: skip


def information():
    at, of = inner_p, real("q", 0, 1, open=True)
    ps, qs = _shares(w), _shares(e)
    return [
        ("entropy.two_peak", at, supremum(_h2(at), log(2), at={at: HALF})),
        ("entropy.two_concave", [at, of], (_h2(at) + _h2(of)) / 2 <= _h2((at + of) / 2)),
        ("entropy.below_log", [n, w], call("entropy", ps, n) <= log(n)),
        # Gibbs: the free energy is largest at the softmax.
        ("entropy.variational", [n, w, s], WEIGHTED + call("entropy", ps, n) <= LOG_SUM),
        ("entropy.regularised_least", [x, at], unique_minimiser(at * x - _h2(at), at={at: 1 / (1 + exp(x))})),
        ("kl.gibbs", WEIGHTS_TWICE, call("kl", ps, qs, n) >= 0),
        ("kl.pinsker", WEIGHTS_TWICE, 2 * call("tv", ps, qs, n) ** 2 <= call("kl", ps, qs, n)),
        ("kl.two_equality", [at, of], iff(eq(_kl2(at, of), 0), eq(at, of))),
        ("kl.merging", [a, b, c, d], (a + b) * log((a + b) / (c + d)) <= a * log(a / c) + b * log(b / d)),
        ("tv.overlap", WEIGHTS_TWICE, eq(call("tv", ps, qs, n), 1 - _sum(least(_share(w, k), _share(e, k))))),
        ("tv.triangle", [n, s, r, v], call("tv", s, v, n) <= call("tv", s, r, n) + call("tv", r, v, n)),
    ]


def means():
    rise_y, rise_z = real("y", x), real("z", y)
    rise_b, rise_c = real("b", real("a")), real("c", real("b"))
    up_b, up_c = real("b", real("a"), open="low"), real("c", real("b"), open="low")
    real_a, real_b, real_c, real_d = map(real, "abcd")
    na, nb, nc = (real(name, 0) for name in "abc")
    spread = _sum((sk - _sum(s[j], j) / n) ** 2)
    long = sequence("s", n + 1)
    return [
        ("mean.am_gm", [n, w], exp(_sum(log(wk)) / n) <= WEIGHTS / n),
        ("mean.am_hm", [n, w], n**2 <= WEIGHTS * _sum(1 / wk)),
        ("mean.cubic", [n, f], F_SUM ** 3 <= n**2 * _sum(fk**3)),
        ("mean.root_concave", [p, na, nb], p * sqrt(a) + (1 - p) * sqrt(b) <= sqrt(p * a + (1 - p) * b)),
        ("mean.weighted_hull", [n, w, x, above_x, bounded], both(x <= WEIGHTED, WEIGHTED <= y)),
        ("mean.newton", [real_a, real_b, real_c], 3 * a * b * c * (a + b + c) <= (a * b + b * c + c * a) ** 2),
        ("mean.smooth_max", [x, y, width],
         both(largest(x, y) <= SMOOTH_MAX,
         SMOOTH_MAX <= largest(x, y) + c / 2)),
        ("cauchy.schwarz", PAIR, PRODUCTS**2 <= SQUARES * V_SQUARES),
        ("cauchy.minkowski", PAIR, sqrt(_sum((sk + vk) ** 2)) <= LENGTH + sqrt(V_SQUARES)),
        ("cauchy.plane_triangle", [real_a, real_b, real_c, real_d],
         sqrt((a + c) ** 2 + (b + d) ** 2) <= sqrt(a**2 + b**2) + sqrt(c**2 + d**2)),
        # Engel's form, also Titu's or Sedrakyan's.
        ("cauchy.engel", [n, s, w], SUM**2 / WEIGHTS <= _sum(sk**2 / wk)),
        ("cauchy.norms", [n, f], _sum(fk**3) ** 2 <= _sum(fk**2) ** 3),
        ("cauchy.balls", [n, depth, width, ball("s", n, depth), ball("v", n, width)], absolute(PRODUCTS) <= c * d),
        ("cubic.nesbitt", [a, b, c], Fraction(3, 2) <= a / (b + c) + b / (c + a) + c / (a + b)),
        ("square.form", [na, real_b, nc, x, y], a * x**2 + 2 * b * x * y + c * y**2 >= 0, b**2 <= a * c),
        ("chebyshev.three", [x, rise_y, rise_z, real_a, rise_b, rise_c],
         (x + y + z) * (a + b + c) <= 3 * (x * a + y * b + z * c)),
        ("chebyshev.exp", ITEMS, SUM * EXPS <= n * _sum(sk * exp(sk))),
        ("absolute.triangle", ITEMS, absolute(SUM) <= _sum(absolute(sk))),
        ("absolute.norms", ITEMS, both(_most(absolute(sk)) <= LENGTH,
         LENGTH <= sqrt(n) * _most(absolute(sk)))),
        ("absolute.median", [real_a, up_b, up_c, t],
         unique_minimiser(absolute(t - a) + absolute(t - b) + absolute(t - c), at={t: up_b})),
        ("variance.steiner", [n, s, x], eq(_sum((sk - x) ** 2), spread + n * (AVERAGE - x) ** 2)),
        ("variance.weighted_least", [n, w, s, t], unique_minimiser(_sum(wk * (sk - t) ** 2), at={t: WEIGHTED})),
        ("variance.zero", ITEMS, iff(eq(spread, 0), eq(MOST, LEAST))),
        ("variance.popoviciu", [n, x, above_x, bounded], spread / n <= (y - x) ** 2 / 4),
        ("tail.markov", [n, f, a], a * _sum(when(a <= fk, 1, 0)) <= F_SUM),
        ("sum.cubes", n, eq(_sum(k**3), (n * (n + 1) / 2) ** 2)),
        ("sum.telescope", [n, long], eq(_sum(s[k + 1] - sk), s[n + 1] - s[1])),
        ("sum.inverse_squares", n, _sum(1 / k**2) <= 2 - 1 / n),
        ("sum.fractions", [a, b], a / (1 + a) + b / (1 + b) < 2 * (a + b) / (1 + a + b)),
    ]  # fmt: skip


def norms_and_kernels():
    scale = sqrt(call("spread", s, n) + a)

    def gram(kernel):
        return _sum(_sum(v[j] * vk * kernel, k), j)

    return [
        # An alternative is true where one part is, also where the other has no value.
        ("quotient.or_zero", nonneg, either(1 / x > 0, eq(x, 0))),
        ("layernorm.length", [n, s, a], _sum(((sk - call("mean", s, n)) / scale) ** 2) < n),
        # Samuelson: no entry is further than sqrt(n - 1) standard deviations from the mean.
        ("layernorm.samuelson", [n, s, i], (s[i] - call("mean", s, n)) ** 2 <= (n - 1) * call("spread", s, n)),
        ("rmsnorm.entry", [n, s, a, i], absolute(s[i] / sqrt(SQUARES / n + a)) < sqrt(n)),
        ("kernel.gaussian", PAIR, gram(exp(-((s[j] - sk) ** 2))) >= 0),
        ("kernel.cosine", PAIR, eq(gram(cos(s[j] - sk)), _sum(vk * cos(sk)) ** 2 + _sum(vk * sin(sk)) ** 2)),
        # The covariance of Brownian motion.
        ("kernel.brownian", [n, f, v], gram(least(f[j], fk)) >= 0),
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
        ("sinusoid.dirichlet", [n, t], eq(2 * sin(t / 2) * _sum(cos(k * t)), sin((n + HALF) * t) - sin(t / 2))),
        ("sine.multiple", [n, t], SINES),
        ("sine.few", [choice("n", 2, 3, 4), t], SINES),
        ("sine.jordan", real("x", 0, PI / 2), 2 * x / PI <= sin(x)),
        ("cosine.quartic", x, both(1 - x**2 / 2 <= cos(x), cos(x) <= 1 - x**2 / 2 + x**4 / 24)),
        ("cosine.quotient", step, limit((1 - cos(step)) / step**2, HALF, step, 1)),
        ("cosine.fixed", x, unique_zero([x - cos(x)], box={"x": (Fraction(7, 10), Fraction(3, 4))})),
        ("cosine.both_small", PLANE, implies(both(cos(x) <= 0, cos(y) <= 0), either(cos(x + y) >= 0, cos(x - y) >= 0))),
    ]  # fmt: skip


TRUE = tuple(stated(f"true.{name}", *said, known=DEFINED) for name, *said in (
    *exponentials(), *logarithms(), *sigmoids(), *softmaxes(), *attention(), *geometric(), *information(), *means(),
    *norms_and_kernels(), *rotations(),
))  # fmt: skip
