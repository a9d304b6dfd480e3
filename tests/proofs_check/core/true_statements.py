"""True statements of ordinary mathematics, chosen before the prover was tuned: what share it proves is its measure.

Textbook facts on softmax, exponentials, means, entropy, kernels and the like; none comes from the papers under audit.
Easy and hard are mixed on purpose, and nothing was left out or put in because of what can be proved.
"""

from fractions import Fraction

from proofs_check.core.statement import Form, Statement
from proofs_check.core.terms import (
    PI,
    Term,
    absolute,
    atan,
    both,
    cos,
    either,
    eq,
    exp,
    implies,
    lift,
    log,
    ne,
    sin,
    sqrt,
    tanh,
)
from proofs_check.language.notation import (
    ball,
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
    unique_minimiser,
    unique_zero,
    var,
    when,
    whole,
)

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
s, r, v = (sequence(name, n) for name in "srv")
w, e = (sequence(name, n, 0, open="low") for name in "we")  # positive weights
f, g, h = (sequence(name, n, 0) for name in "fgh")
bounded = sequence("s", n, x, y)
small = sequence("e", n, -c, c)
step, far = real("u", 0, 1, open="low"), real("T", 1)

Q, R, S, V, N, I = map(var, ("q", "r", "s", "v", "n", "i"))  # noqa: E741  parameters of definitions
SOFTMAX = define("softmax", [S, N, I], exp(S[I]) / total(k, 1, N, exp(S[k])))
LSE = define("lse", [S, N], log(total(k, 1, N, exp(S[k]))))
ATTEND = define("attend", [S, V, N], total(j, 1, N, Term("call", "softmax", S, N, j) * V[j]))
MEAN = define("mean", [S, N], total(k, 1, N, S[k]) / N)
SPREAD = define("spread", [S, N], total(k, 1, N, (S[k] - Term("call", "mean", S, N)) ** 2) / N)
ENTROPY = define("entropy", [Q, N], -total(k, 1, N, Q[k] * log(Q[k])))
KL = define("kl", [Q, R, N], total(k, 1, N, Q[k] * log(Q[k] / R[k])))
TV = define("tv", [Q, R, N], total(k, 1, N, absolute(Q[k] - R[k])) / 2)
POWER = define("power", [S, N], fold("prod", k, 1, N, S))


def _true(name, for_all, says, *given, using=()):
    return statement(f"true.{name}", for_all=for_all, given=given, says=says, using=using)


def _sum(body):
    return total(k, 1, n, body)


def _call(name, *arguments):
    return Term("call", name, *map(lift, arguments))


def _softmax(scores, place):
    return _call("softmax", scores, n, place)


def _lse(scores):
    return _call("lse", scores, n)


def _attend(scores, values):
    return _call("attend", scores, values, n)


def _share(weights, place):
    return weights[place] / total(j, 1, n, weights[j])


def _shares(weights):
    return each(k, _share(weights, k))


def _most(body):
    return fold("max", k, 1, n, body)


def _least(body):
    return fold("min", k, 1, n, body)


def _power(base, number):
    return _call("power", base, number)


def _sig(at):
    return 1 / (1 + exp(-lift(at)))


def _softplus(at):
    return log(1 + exp(at))


def _h2(at):
    return -at * log(at) - (1 - at) * log(1 - at)


def _kl2(one, other):
    return one * log(one / other) + (1 - one) * log((1 - one) / (1 - other))


def exponentials() -> list[Statement]:
    mid = real("t", x, over_x, open=True)
    return [
        _true("exp.tangent", [x], 1 + x <= exp(x)),
        _true("exp.tangent_strict", [x], 1 + x < exp(x), ne(x, 0)),
        _true("exp.reciprocal", [real("x", None, 1, open="high")], exp(x) <= 1 / (1 - x)),
        _true("exp.second_order", [nonneg], 1 + x + x**2 / 2 <= exp(x)),
        _true("exp.pade", [real("x", 0, 2, open="high")], exp(x) <= (2 + x) / (2 - x)),
        _true("exp.cubic", [nonneg], x**3 * exp(3) <= 27 * exp(x)),
        _true("exp.cosh_below_gauss", [x], (exp(x) + exp(-x)) / 2 <= exp(x**2 / 2)),
        _true("exp.chord", [p, x], exp(p * x) <= 1 - p + p * exp(x)),
        _true("exp.order", [x, y], iff(x < y, exp(x) < exp(y))),
        _true("exp.difference", [x, y], eq(exp(x) - exp(y), exp((x + y) / 2) * (exp((x - y) / 2) - exp((y - x) / 2)))),
        _true("exp.midpoint", [x, y], iff(eq(exp((x + y) / 2), (exp(x) + exp(y)) / 2), eq(x, y))),
        # Hermite and Hadamard: the mean of exp over [x, y] lies between the middle and the mean of the ends.
        _true("exp.hermite_hadamard", [x, over_x], both(exp((x + y) / 2) < (exp(y) - exp(x)) / (y - x),
              (exp(y) - exp(x)) / (y - x) < (exp(x) + exp(y)) / 2)),
        _true("exp.am_gm_three", [x, y, z], 3 * exp(x) * exp(y) * exp(z) <= exp(3 * x) + exp(3 * y) + exp(3 * z)),
        # Popoviciu's inequality of convex functions, for exp.
        _true("exp.popoviciu", [x, y, z], 2 * (exp((x + y) / 2) + exp((y + z) / 2) + exp((z + x) / 2))
              <= exp(x) + exp(y) + exp(z) + 3 * exp((x + y + z) / 3)),
        _true("exp.power", [n, x], eq(_power(exp(x), n), exp(n * x)), using=[POWER]),
        _true("exp.of_sum", [n, s], eq(exp(_sum(s[k])), fold("prod", k, 1, n, exp(s[k])))),
        _true("exp.jensen", [n, w, s], exp(_sum(w[k] * s[k]) / _sum(w[k])) <= _sum(w[k] * exp(s[k])) / _sum(w[k])),
        _true("exp.decay_peak", [nonneg], supremum(x * exp(-x), exp(-1), at={x: 1})),
        _true("exp.saturates", [nonneg, step], supremum(1 - exp(-x), 1, at={x: 1 / step}, step=step, rate=1,
              attained=False)),
        _true("exp.quotient", [step], limit((exp(step) - 1) / step, 1, step, 1)),
        _true("exp.compound", [p, far], limit(exp(far * log(1 + p / far)), exp(p), far, 2)),
        _true("exp.mean_value", [x, over_x, mid], exists({mid: log((exp(y) - exp(x)) / (y - x))},
              eq(exp(y) - exp(x), exp(t) * (y - x)))),
        # The omega constant, alone and as the fixed point of a pair.
        _true("exp.omega", [x], unique_zero([x * exp(x) - 1], box={"x": (HALF, Fraction(3, 5))})),
        _true("exp.crossed", [x, y], unique_zero([x - exp(-y), y - exp(-x)],
              box={"x": (HALF, Fraction(3, 5)), "y": (HALF, Fraction(3, 5))})),
        _true("exp.affine_least", [a, x], unique_minimiser(exp(x) - a * x, at={x: log(a)})),
    ]  # fmt: skip


def logarithms() -> list[Statement]:
    more, base = real("y", 1), real("x", -1, open="low")
    return [
        _true("log.tangent", [a], log(a) <= a - 1),
        _true("log.reciprocal", [a], 1 - 1 / a <= log(a)),
        _true("log.pade", [nonneg], 2 * x / (2 + x) <= log(1 + x)),
        _true("log.root", [nonneg], log(1 + x) <= x / sqrt(1 + x)),
        _true("log.unit", [a], iff(log(a) <= 0, a <= 1)),
        _true("log.subadditive", [a, b], log(1 + a + b) < log(1 + a) + log(1 + b)),
        _true("log.slope_falls", [a, b], log(1 + b) / b < log(1 + a) / a, a < b),
        # The logarithmic mean lies between the geometric and the arithmetic one.
        _true("log.mean_above_geometric", [a, b], sqrt(a * b) < (a - b) / (log(a) - log(b)), ne(a, b)),
        _true("log.mean_below_arithmetic", [a, b], (a - b) / (log(a) - log(b)) < (a + b) / 2, ne(a, b)),
        _true("log.young", [p, a, b], exp(p * log(a) + (1 - p) * log(b)) <= p * a + (1 - p) * b),
        _true("log.bernoulli_real", [base, more], 1 + y * x <= exp(y * log(1 + x))),
        _true("log.fenchel", [x, a], x * a <= exp(x) + a * log(a) - a),
        _true("log.conjugate", [a, x], supremum(x * a - exp(x), a * log(a) - a, at={x: log(a)})),
        _true("log.entropic_least", [a], unique_minimiser(a * log(a), at={a: exp(-1)})),
        _true("log.stirling_low", [n], n * log(n) - n <= _sum(log(k))),
        _true("log.stirling_high", [n], _sum(log(k)) <= (n + 1) * log(n + 1) - n),
        _true("log.harmonic_low", [n], log(n + 1) < _sum(1 / k)),
        _true("log.harmonic_high", [n], _sum(1 / k) <= 1 + log(n)),
        _true("log.of_product", [n, w], eq(log(fold("prod", k, 1, n, w[k])), _sum(log(w[k])))),
        _true("log.jensen", [n, w, e], _sum(w[k] * log(e[k])) / _sum(w[k]) <= log(_sum(w[k] * e[k]) / _sum(w[k]))),
        _true("log.sum_inequality", [n, w, e],
              _sum(w[k]) * log(_sum(w[k]) / _sum(e[k])) <= _sum(w[k] * log(w[k] / e[k]))),
    ]


def sigmoids() -> list[Statement]:
    up_to_four, width = real("t", 0, 4), real("c", 0)
    next_y, next_z = real("y", None, x), real("z", None, y)
    return [
        _true("sigmoid.reflection", [x], eq(_sig(x) + _sig(-x), 1)),
        _true("sigmoid.by_tanh", [x], eq(tanh(x), 2 * _sig(2 * x) - 1)),
        _true("sigmoid.lipschitz", [x, y], absolute(_sig(x) - _sig(y)) <= absolute(x - y) / 4),
        _true("sigmoid.slope", [x], supremum(_sig(x) * (1 - _sig(x)), Fraction(1, 4), at={x: 0})),
        # Moving a logit by 2c moves its probability by tanh(c/2) at most.
        _true("sigmoid.move", [width, x], supremum(_sig(x + 2 * c) - _sig(x), tanh(c / 2), at={x: -c})),
        _true("sigmoid.onto", [inner_p, x], exists({x: log(p / (1 - p))}, eq(_sig(x), p))),
        _true("sigmoid.bradley_terry", [x, next_y, next_z], largest(_sig(x - y), _sig(y - z)) <= _sig(x - z)),
        _true("sigmoid.odds", [x, y, z],
              eq(_sig(x - z) / _sig(z - x), _sig(x - y) / _sig(y - x) * (_sig(y - z) / _sig(z - y)))),
        _true("sigmoid.silu_floor", [x], -Fraction(3, 10) < x * _sig(x)),
        _true("tanh.addition", [x, y], eq(tanh(x + y), (tanh(x) + tanh(y)) / (1 + tanh(x) * tanh(y)))),
        _true("tanh.contracts", [x, y], absolute(tanh(x) - tanh(y)) <= absolute(x - y)),
        _true("tanh.cubic", [nonneg], x - x**3 / 3 <= tanh(x)),
        _true("tanh.rational", [nonneg], x / (1 + x) <= tanh(x)),
        _true("tanh.order", [x, y], iff(x < y, tanh(x) < tanh(y))),
        _true("tanh.saturates", [x, step],
              supremum(tanh(x), 1, at={x: log(1 / step)}, step=step, rate=2, attained=False)),
        _true("tanh.mean_field", [a], unique_zero([a - tanh(2 * a)], box={"a": (Fraction(19, 20), Fraction(24, 25))})),
        _true("softplus.reflection", [x], eq(_softplus(x), x + _softplus(-x))),
        _true("softplus.bounds", [x], both(largest(x, 0) < _softplus(x), _softplus(x) <= largest(x, 0) + log(2))),
        _true("softplus.quadratic", [x], _softplus(x) <= log(2) + x / 2 + x**2 / 8),
        _true("softplus.lipschitz", [x, y], absolute(_softplus(x) - _softplus(y)) <= absolute(x - y)),
        _true("softplus.convex", [p, x, y],
              _softplus(p * x + (1 - p) * y) <= p * _softplus(x) + (1 - p) * _softplus(y)),
        _true("softplus.descent", [x, up_to_four], _softplus(x - t * _sig(x)) <= _softplus(x) - t * _sig(x) ** 2 / 2),
        _true("softplus.limit", [far], limit(_softplus(far) - far, 0, far, 1)),
        _true("loss.zero_one", [x], when(x <= 0, 1, 0) <= _softplus(-x) / log(2)),
        _true("loss.below_exponential", [x], _softplus(-x) < exp(-x)),
        _true("loss.logit_least", [inner_p, x], unique_minimiser(_softplus(x) - p * x, at={x: log(p / (1 - p))})),
        _true("loss.focal", [real("p", 0, 1, open="low")], -((1 - p) ** 2) * log(p) <= -log(p)),
        _true("loss.log_cosh", [x], both(absolute(x) - log(2) < log((exp(x) + exp(-x)) / 2),
              log((exp(x) + exp(-x)) / 2) <= absolute(x))),
        _true("loss.log_cosh_gap", [x, step], supremum(absolute(x) - log((exp(x) + exp(-x)) / 2), log(2),
              at={x: log(1 / step)}, step=step, rate=1, attained=False)),
        _true("loss.pseudo_huber", [x], both(absolute(x) - 1 <= sqrt(1 + x**2) - 1, sqrt(1 + x**2) - 1 <= x**2 / 2)),
        _true("loss.soft_threshold", [real("c", 0), x, t],
              unique_minimiser((t - x) ** 2 / 2 + c * absolute(t),
              at={t: when(c < x, x - c, when(x < -c, x + c, 0))})),
        # Shafer and Fink.
        _true("atan.shafer", [nonneg], 3 * x / (1 + 2 * sqrt(1 + x**2)) <= atan(x)),
        _true("atan.complement", [a], eq(atan(a) + atan(1 / a), PI / 2)),
    ]  # fmt: skip


def softmaxes() -> list[Statement]:
    two, place = whole("n", 2), whole("i", 1, n)
    others = whole("j", 1, n)
    soft, smooth = [SOFTMAX], [LSE]
    shifted, moved = each(k, s[k] + x), each(k, s[k] + small[k])
    sharper = real("d", c)
    below = sequence("s", n, None, x - c)
    return [
        _true("softmax.total", [n, s], eq(total(j, 1, n, _softmax(s, j)), 1), using=soft),
        _true("softmax.open", [two, s, place], both(_softmax(s, i) > 0, _softmax(s, i) < 1), using=soft),
        _true("softmax.shift", [n, s, x, i], eq(_softmax(shifted, i), _softmax(s, i)), using=soft),
        _true("softmax.order", [n, s, i, others],
              iff(s[i] <= s[others], _softmax(s, i) <= _softmax(s, others)), using=soft),
        _true("softmax.log_odds", [n, s, i, others],
              eq(log(_softmax(s, i)) - log(_softmax(s, others)), s[i] - s[others]),
              using=soft),
        _true("softmax.largest", [n, s], eq(fold("max", j, 1, n, _softmax(s, j)), exp(_most(s[k])) / _sum(exp(s[k]))),
              using=soft),
        _true("softmax.largest_share", [n, s], 1 / n <= fold("max", j, 1, n, _softmax(s, j)), using=soft),
        _true("softmax.range_low", [n, x, above_x, bounded, i], exp(x - y) / n <= _softmax(s, i), using=soft),
        _true("softmax.range_high", [n, x, above_x, bounded, i],
              _softmax(s, i) <= 1 / (1 + (n - 1) * exp(x - y)), using=soft),
        # The usual way to compute it: the largest score is taken off first.
        _true("softmax.stable", [n, s, i], eq(exp(s[i] - _most(s[k])) / total(j, 1, n, exp(s[j] - _most(s[k]))),
              _softmax(s, i)), using=soft),
        _true("softmax.rises", [n, s, x, y], iff(x < y, exp(x) / (exp(x) + _sum(exp(s[k])))
              < exp(y) / (exp(y) + _sum(exp(s[k]))))),
        _true("softmax.one_more_key", [n, s, x, i],
              exp(s[i]) / (_sum(exp(s[k])) + exp(x)) < _softmax(s, i), using=soft),
        # A product of experts: the product of two softmaxes, normalised, is the softmax of the sum.
        _true("softmax.experts", [n, s, r, i], eq(_softmax(each(k, s[k] + r[k]), i), _softmax(s, i) * _softmax(r, i)
              / total(j, 1, n, _softmax(s, j) * _softmax(r, j))), using=soft),
        _true("softmax.perturbed", [n, s, real("c", 0), small, i], _softmax(moved, i) <= exp(2 * c) * _softmax(s, i),
              using=soft),
        # From the largest norm to the sum of absolute values it is Lipschitz with constant 1.
        _true("softmax.lipschitz", [n, s, real("c", 0), small],
              total(j, 1, n, absolute(_softmax(moved, j) - _softmax(s, j))) <= c, using=soft),
        _true("softmax.sigmoid", [x, y], eq(exp(x) / (exp(x) + exp(y)), _sig(x - y))),
        _true("softmax.gap", [n, real("c", 0), x, below], 1 / (1 + n * exp(-c)) <= exp(x) / (exp(x) + _sum(exp(s[k])))),
        _true("softmax.bias_onto", [n, s, inner_p, x], exists({x: log(p / (1 - p)) + _lse(s)},
              eq(exp(x) / (exp(x) + _sum(exp(s[k]))), p)), using=smooth),
        _true("softmax.saturates", [n, s, x, step],
              supremum(exp(x) / (exp(x) + _sum(exp(s[k]))), 1, at={x: log(1 / step)},
              step=step, rate=_sum(exp(s[k])), attained=False)),
        _true("softmax.hot", [x, y, step], limit(exp(step * x) / (exp(step * x) + exp(step * y)), HALF, step,
              absolute(x - y) / 4)),
        _true("lse.above_max", [n, s], both(_most(s[k]) <= _lse(s), _lse(s) <= _most(s[k]) + log(n)), using=smooth),
        _true("lse.equality", [n, s],
              iff(eq(_lse(s), _most(s[k]) + log(n)), eq(_most(s[k]), _least(s[k]))), using=smooth),
        _true("lse.above_mean", [n, s], _sum(s[k]) / n + log(n) <= _lse(s), using=smooth),
        _true("lse.shift", [n, s, x], eq(_lse(shifted), _lse(s) + x), using=smooth),
        _true("lse.lipschitz", [n, s, real("c", 0), small], absolute(_lse(moved) - _lse(s)) <= c, using=smooth),
        _true("lse.convex", [n, s, r, p], _lse(each(k, p * s[k] + (1 - p) * r[k])) <= p * _lse(s) + (1 - p) * _lse(r),
              using=smooth),
        _true("lse.gradient", [n, s, r], _lse(s) + total(j, 1, n, _softmax(s, j) * (r[j] - s[j])) <= _lse(r),
              using=[SOFTMAX, LSE]),
        _true("lse.smooth", [n, s, r], _lse(each(k, s[k] + r[k])) <= _lse(s) + total(j, 1, n, _softmax(s, j) * r[j])
              + _sum(r[k] ** 2) / 4, using=[SOFTMAX, LSE]),
        # Hoeffding's lemma for the softmax distribution.
        _true("lse.hoeffding", [n, s, real("c", 0), small],
              _lse(moved) <= _lse(s) + total(j, 1, n, _softmax(s, j) * small[j]) + c**2 / 2, using=[SOFTMAX, LSE]),
        _true("lse.mean_gap", [n, x, above_x, bounded],
              _lse(s) - log(n) <= _sum(s[k]) / n + (y - x) ** 2 / 8, using=smooth),
        _true("lse.norms_fall", [n, s, c, sharper],
              _lse(each(k, sharper * s[k])) / sharper <= _lse(each(k, c * s[k])) / c,
              using=smooth),
        _true("lse.means_rise", [n, s, c, sharper], (_lse(each(k, c * s[k])) - log(n)) / c
              <= (_lse(each(k, sharper * s[k])) - log(n)) / sharper, using=smooth),
        _true("lse.cold", [n, s, far], limit(_lse(each(k, far * s[k])) / far, _most(s[k]), far, log(n)), using=smooth),
        _true("lse.three_gap", [x, y, z], supremum(log(exp(x) + exp(y) + exp(z)) - largest(x, y, z), log(3),
              at={x: 0, y: 0, z: 0})),
        _true("lse.three_tight", [x, y, z, step], supremum(largest(x, y, z) - log(exp(x) + exp(y) + exp(z)), 0,
              at={x: 0, y: log(step), z: log(step)}, step=step, rate=2, attained=False)),
        _true("lse.cross_entropy", [two, s, place], _lse(s) - s[i] > 0, using=smooth),
    ]  # fmt: skip


def attention() -> list[Statement]:
    both_defs = [SOFTMAX, ATTEND]
    held, centred = sequence("v", n, x, above_x), sequence("v", n, x - d, x + d)
    limited, score = sequence("v", n, -d, d), sequence("K", (n, n))
    key, query, u = sequence("K", (n, m)), sequence("q", m), sequence("u", m)
    below, other = sequence("s", n, None, t - c), sequence("r", m)
    moved = each(k, s[k] + small[k])
    zs, zr = _sum(exp(s[k])), total(k, 1, m, exp(other[k]))
    top = (exp(t) * x + _sum(exp(s[k]) * v[k])) / (exp(t) + _sum(exp(s[k])))
    layer = _attend(r, each(j, _attend(each(k, score[j, k]), v)))
    return [
        _true("attention.hull", [n, s, x, above_x, held],
              both(x <= _attend(s, v), _attend(s, v) <= y), using=both_defs),
        _true("attention.extremes", [n, s, v], both(_least(v[k]) <= _attend(s, v), _attend(s, v) <= _most(v[k])),
              using=both_defs),
        _true("attention.two_layers", [n, x, above_x, held, r, score], both(x <= layer, layer <= y), using=both_defs),
        _true("attention.constant_values", [n, s, x], eq(_attend(s, each(k, x)), x), using=both_defs),
        _true("attention.constant_scores", [n, v, x], eq(_attend(each(k, x), v), _sum(v[k]) / n), using=both_defs),
        _true("attention.affine", [n, s, v, x, y], eq(_attend(s, each(k, x * v[k] + y)), x * _attend(s, v) + y),
              using=both_defs),
        _true("attention.reversed", [n, s, v], eq(_attend(each(k, s[n + 1 - k]), each(k, v[n + 1 - k])), _attend(s, v)),
              using=both_defs),
        _true("attention.value_lipschitz", [n, s, v, r],
              absolute(_attend(s, v) - _attend(s, r)) <= _most(absolute(v[k] - r[k])),
              using=both_defs),
        _true("attention.score_lipschitz", [n, s, real("c", 0), small, real("d", 0), limited],
              absolute(_attend(moved, v) - _attend(s, v)) <= c * d, using=both_defs),
        _true("attention.variance", [n, s, v], _attend(s, v) ** 2 <= _attend(s, each(k, v[k] ** 2)), using=both_defs),
        _true("attention.tilt", [n, s, v, x, above_x],
              _attend(each(k, s[k] + x * v[k]), v) <= _attend(each(k, s[k] + y * v[k]), v),
              using=both_defs),
        # Blocks can be attended to apart and merged by their sums of exponentials.
        _true("attention.merge", [n, m, s, v, other, u],
              eq((zs * _attend(s, v) + zr * _call("attend", other, u, m)) / (zs + zr),
              (_sum(exp(s[k]) * v[k]) + total(k, 1, m, exp(other[k]) * u[k])) / (zs + zr)), using=both_defs),
        # A score that leads by c retrieves its value x up to the mass of the others.
        _true("attention.retrieval", [n, real("c", 0), real("d", 0), t, x, below, centred],
              absolute(top - x) <= d * n * exp(-c) / (1 + n * exp(-c))),
        _true("attention.own_score", [n, s], both(_sum(s[k]) / n <= _attend(s, s), _attend(s, s) <= _most(s[k])),
              using=both_defs),
        _true("attention.linear_order", [n, m, key, query, v],
              eq(total(j, 1, n, total(k, 1, m, query[k] * key[j, k]) * v[j]),
              total(k, 1, m, query[k] * total(j, 1, n, key[j, k] * v[j])))),
        # Positive features: the exponential kernel by the Gaussian one.
        _true("attention.gaussian_kernel", [n, s, v], eq(exp(_sum(s[k] * v[k])),
              exp(_sum(s[k] ** 2) / 2) * exp(_sum(v[k] ** 2) / 2) * exp(-_sum((s[k] - v[k]) ** 2) / 2))),
        _true("attention.rows", [n, score], eq(total(j, 1, n, total(k, 1, n, _softmax(each(k, score[j, k]), k))), n),
              using=[SOFTMAX]),
    ]  # fmt: skip


def geometric() -> list[Statement]:
    longer, content = whole("n", m), sequence("s", n, -c, c)

    def mass(slope, count):
        return total(k, 0, count - 1, exp(-slope * k))

    return [
        _true("geometric.sum", [n, x], eq((1 - x) * total(j, 0, n - 1, _power(x, j)), 1 - _power(x, n)), using=[POWER]),
        _true("geometric.bernoulli", [real("x", -1), n], 1 + n * x <= _power(1 + x, n), using=[POWER]),
        _true("geometric.second_order", [nonneg, n],
              1 + n * x + n * (n - 1) / 2 * x**2 <= _power(1 + x, n), using=[POWER]),
        _true("geometric.moving_average", [n, x], eq((1 - x) * total(j, 1, n, _power(x, n - j)), 1 - _power(x, n)),
              using=[POWER]),
        _true("alibi.closed", [n, a], eq(mass(a, n), (1 - exp(-a * n)) / (1 - exp(-a)))),
        _true("alibi.newest", [n, a], 1 - exp(-a) < 1 / mass(a, n)),
        _true("alibi.window", [m, longer, a], 1 - exp(-a * m) < mass(a, m) / mass(a, longer)),
        _true("alibi.steeper", [n, a, b], 1 / mass(a, n) <= 1 / mass(b, n), a < b),
        _true("alibi.distance", [n, a], (1 - exp(-a)) ** 2 * total(k, 0, n - 1, k * exp(-a * k)) < exp(-a)),
        _true("alibi.limit", [a, n], limit((1 - exp(-a)) * mass(a, n), 1, n, 1 / a)),
        # With bounded scores besides the slope, the newest key keeps a share of its own.
        _true("alibi.content", [n, a, real("c", 0), content],
              exp(-2 * c) * (1 - exp(-a)) < exp(s[1]) / _sum(exp(s[k] - a * (k - 1)))),
        _true("product.weierstrass", [n, sequence("p", n, 0, 1)],
              both(1 - _sum(var("p")[k]) <= fold("prod", k, 1, n, 1 - var("p")[k]),
              fold("prod", k, 1, n, 1 - var("p")[k]) <= exp(-_sum(var("p")[k])))),
        _true("product.above_sum", [n, f], 1 + _sum(f[k]) <= fold("prod", k, 1, n, 1 + f[k])),
    ]  # fmt: skip


def information() -> list[Statement]:
    at, of = inner_p, inner_q
    ps, qs = _shares(w), _shares(e)
    root = sqrt(p * q) + sqrt((1 - p) * (1 - q))
    rest = real("q", 0, 1 - inner_p, open=True)
    return [
        _true("entropy.two_peak", [at], supremum(_h2(at), log(2), at={at: HALF})),
        _true("entropy.two_equality", [at], iff(eq(_h2(at), log(2)), eq(at, HALF))),
        _true("entropy.two_parabola", [at], 4 * log(2) * at * (1 - at) <= _h2(at)),
        _true("entropy.two_root", [at], _h2(at) <= 2 * log(2) * sqrt(at * (1 - at))),
        _true("entropy.two_concave", [at, of], (_h2(at) + _h2(of)) / 2 <= _h2((at + of) / 2)),
        _true("entropy.three", [at, rest],
              -at * log(at) - rest * log(rest) - (1 - at - rest) * log(1 - at - rest) <= log(3)),
        _true("entropy.below_log", [n, w], _call("entropy", ps, n) <= log(n), using=[ENTROPY]),
        _true("entropy.nonnegative", [n, w], _call("entropy", ps, n) >= 0, using=[ENTROPY]),
        _true("entropy.collision", [n, w], -log(_sum(_share(w, k) ** 2)) <= _call("entropy", ps, n),
              using=[ENTROPY]),
        # Gibbs: the free energy is largest at the softmax.
        _true("entropy.variational", [n, w, s], _sum(w[k] * s[k]) / _sum(w[k]) + _call("entropy", ps, n) <= _lse(s),
              using=[LSE, ENTROPY]),
        _true("entropy.of_softmax", [n, s], eq(_call("entropy", each(j, _softmax(s, j)), n), _lse(s) - _attend(s, s)),
              using=[SOFTMAX, ATTEND, LSE, ENTROPY]),
        _true("entropy.regularised_least", [x, at], unique_minimiser(at * x - _h2(at), at={at: 1 / (1 + exp(x))})),
        _true("entropy.cross_least", [at, of], unique_minimiser(-at * log(of) - (1 - at) * log(1 - of), at={of: at})),
        _true("kl.gibbs", [n, w, e], _call("kl", ps, qs, n) >= 0, using=[KL]),
        _true("kl.pinsker", [n, w, e], 2 * _call("tv", ps, qs, n) ** 2 <= _call("kl", ps, qs, n), using=[KL, TV]),
        _true("kl.pinsker_two", [at, of], 2 * (at - of) ** 2 <= _kl2(at, of)),
        _true("kl.two_equality", [at, of], iff(eq(_kl2(at, of), 0), eq(at, of))),
        _true("kl.two_chi", [at, of], _kl2(at, of) <= (at - of) ** 2 / (of * (1 - of))),
        _true("kl.renyi", [n, w, e], _call("kl", ps, qs, n) <= log(_sum(_share(w, k) ** 2 / _share(e, k))), using=[KL]),
        _true("kl.merging", [a, b, c, d], (a + b) * log((a + b) / (c + d)) <= a * log(a / c) + b * log(b / d)),
        _true("kl.jensen_shannon", [at, of], (_kl2(at, (at + of) / 2) + _kl2(of, (at + of) / 2)) / 2 < log(2)),
        _true("tv.overlap", [n, w, e],
              eq(_call("tv", ps, qs, n), 1 - _sum(least(_share(w, k), _share(e, k)))), using=[TV]),
        _true("tv.excess", [n, w, e],
              eq(_call("tv", ps, qs, n), _sum(largest(0, _share(w, k) - _share(e, k)))), using=[TV]),
        _true("tv.triangle", [n, s, r, v],
              _call("tv", s, v, n) <= _call("tv", s, r, n) + _call("tv", r, v, n), using=[TV]),
        # Le Cam: the Bhattacharyya overlap of two coins bounds their distance from both sides.
        _true("tv.hellinger_low", [p, q], 1 - root <= absolute(p - q)),
        _true("tv.hellinger_high", [p, q], (p - q) ** 2 + root**2 <= 1),
    ]


def means() -> list[Statement]:
    mean, mid = _sum(s[k]) / n, real("t")
    rise_y, rise_z = real("y", x), real("z", y)
    rise_b, rise_c = real("b", real("a")), real("c", real("b"))
    up_b, up_c = real("b", real("a"), open="low"), real("c", real("b"), open="low")
    real_a, real_b, real_c, real_d = map(real, "abcd")
    na, nb, nc = (real(name, 0) for name in "abc")
    kept, matrix = sequence("w", n, a, real("b", a)), sequence("A", (n, m))
    u, radius, other = sequence("u", m), real("d", 0), real("c", 0)
    spread = _sum((s[k] - total(j, 1, n, s[j]) / n) ** 2)
    long = sequence("s", n + 1)
    return [
        _true("mean.am_gm", [n, w], exp(_sum(log(w[k])) / n) <= _sum(w[k]) / n),
        _true("mean.am_gm_three", [na, nb, nc], 27 * a * b * c <= (a + b + c) ** 3),
        _true("mean.am_gm_equality", [a, b, c], iff(eq(a**3 + b**3 + c**3, 3 * a * b * c), both(eq(a, b), eq(b, c)))),
        _true("mean.am_hm", [n, w], n**2 <= _sum(w[k]) * _sum(1 / w[k])),
        _true("mean.quadratic", [n, s], _sum(s[k]) ** 2 <= n * _sum(s[k] ** 2)),
        _true("mean.cubic", [n, f], _sum(f[k]) ** 3 <= n**2 * _sum(f[k] ** 3)),
        _true("mean.root_concave", [p, na, nb], p * sqrt(a) + (1 - p) * sqrt(b) <= sqrt(p * a + (1 - p) * b)),
        _true("mean.kantorovich", [n, a, real("b", a), kept],
              _sum(w[k]) * _sum(1 / w[k]) <= n**2 * (a + b) ** 2 / (4 * a * b)),
        _true("mean.weighted_hull", [n, w, x, above_x, bounded], both(x <= _sum(w[k] * s[k]) / _sum(w[k]),
              _sum(w[k] * s[k]) / _sum(w[k]) <= y)),
        _true("mean.maclaurin", [na, nb, nc], 27 * (a * b * c) ** 2 <= (a * b + b * c + c * a) ** 3),
        _true("mean.newton", [real_a, real_b, real_c], 3 * a * b * c * (a + b + c) <= (a * b + b * c + c * a) ** 2),
        _true("mean.smooth_max", [x, y, other], both(largest(x, y) <= (x + y + sqrt((x - y) ** 2 + c**2)) / 2,
              (x + y + sqrt((x - y) ** 2 + c**2)) / 2 <= largest(x, y) + c / 2)),
        _true("cauchy.schwarz", [n, s, v], _sum(s[k] * v[k]) ** 2 <= _sum(s[k] ** 2) * _sum(v[k] ** 2)),
        _true("cauchy.two_equality", [real_a, real_b, real_c, real_d],
              iff(eq((a * c + b * d) ** 2, (a**2 + b**2) * (c**2 + d**2)), eq(a * d, b * c))),
        _true("cauchy.lagrange", [x, y, z, real_a, real_b, real_c],
              eq((x**2 + y**2 + z**2) * (a**2 + b**2 + c**2) - (x * a + y * b + z * c) ** 2,
              (x * b - y * a) ** 2 + (y * c - z * b) ** 2 + (z * a - x * c) ** 2)),
        _true("cauchy.minkowski", [n, s, v],
              sqrt(_sum((s[k] + v[k]) ** 2)) <= sqrt(_sum(s[k] ** 2)) + sqrt(_sum(v[k] ** 2))),
        _true("cauchy.plane_triangle", [real_a, real_b, real_c, real_d],
              sqrt((a + c) ** 2 + (b + d) ** 2) <= sqrt(a**2 + b**2) + sqrt(c**2 + d**2)),
        # Engel's form, also Titu's or Sedrakyan's.
        _true("cauchy.engel", [n, s, w], _sum(s[k]) ** 2 / _sum(w[k]) <= _sum(s[k] ** 2 / w[k])),
        _true("cauchy.hoelder_three", [n, f, g, h],
              _sum(f[k] * g[k] * h[k]) ** 3 <= _sum(f[k] ** 3) * _sum(g[k] ** 3) * _sum(h[k] ** 3)),
        _true("cauchy.lyapunov", [n, f], _sum(f[k] ** 2) ** 2 <= _sum(f[k]) * _sum(f[k] ** 3)),
        _true("cauchy.norms", [n, f], _sum(f[k] ** 3) ** 2 <= _sum(f[k] ** 2) ** 3),
        _true("cauchy.balls", [n, radius, other, ball("s", n, radius), ball("v", n, other)],
              absolute(_sum(s[k] * v[k])) <= c * d),
        _true("cauchy.cosine", [n, s, v],
              absolute(_sum(s[k] * v[k]) / (sqrt(_sum(s[k] ** 2)) * sqrt(_sum(v[k] ** 2)))) <= 1,
              _sum(s[k] ** 2) > 0, _sum(v[k] ** 2) > 0),
        _true("cauchy.frobenius", [n, m, matrix, u], total(j, 1, n, total(k, 1, m, matrix[j, k] * u[k]) ** 2)
              <= total(j, 1, n, total(k, 1, m, matrix[j, k] ** 2)) * total(k, 1, m, u[k] ** 2)),
        _true("cubic.nesbitt", [a, b, c], Fraction(3, 2) <= a / (b + c) + b / (c + a) + c / (a + b)),
        _true("cubic.schur", [na, nb, nc], a * (a - b) * (a - c) + b * (b - a) * (b - c) + c * (c - a) * (c - b) >= 0),
        _true("square.cyclic", [x, y, z], iff(eq(x * y + y * z + z * x, x**2 + y**2 + z**2), both(eq(x, y), eq(y, z)))),
        _true("square.form", [na, real_b, nc, x, y], a * x**2 + 2 * b * x * y + c * y**2 >= 0, b**2 <= a * c),
        _true("chebyshev.three", [x, rise_y, rise_z, real_a, rise_b, rise_c],
              (x + y + z) * (a + b + c) <= 3 * (x * a + y * b + z * c)),
        _true("chebyshev.exp", [n, s], _sum(s[k]) * _sum(exp(s[k])) <= n * _sum(s[k] * exp(s[k]))),
        _true("chebyshev.identity", [n, s, v], eq(total(j, 1, n, _sum((s[j] - s[k]) * (v[j] - v[k]))),
              2 * (n * _sum(s[k] * v[k]) - _sum(s[k]) * _sum(v[k])))),
        _true("absolute.triangle", [n, s], absolute(_sum(s[k])) <= _sum(absolute(s[k]))),
        _true("absolute.hlawka", [x, y, z], absolute(x + y) + absolute(y + z) + absolute(z + x)
              <= absolute(x) + absolute(y) + absolute(z) + absolute(x + y + z)),
        _true("absolute.norms", [n, s], both(_most(absolute(s[k])) <= sqrt(_sum(s[k] ** 2)),
              sqrt(_sum(s[k] ** 2)) <= sqrt(n) * _most(absolute(s[k])))),
        _true("absolute.relu", [x, y], absolute(largest(x, 0) - largest(y, 0)) <= absolute(x - y)),
        _true("absolute.median", [real_a, up_b, up_c, mid],
              unique_minimiser(absolute(t - a) + absolute(t - b) + absolute(t - c), at={mid: up_b})),
        _true("variance.steiner", [n, s, x], eq(_sum((s[k] - x) ** 2), spread + n * (mean - x) ** 2)),
        _true("variance.least", [n, s, t], unique_minimiser(_sum((s[k] - t) ** 2), at={t: mean})),
        _true("variance.weighted_least", [n, w, s, t],
              unique_minimiser(_sum(w[k] * (s[k] - t) ** 2), at={t: _sum(w[k] * s[k]) / _sum(w[k])})),
        _true("variance.zero", [n, s], iff(eq(spread, 0), eq(_most(s[k]), _least(s[k])))),
        _true("variance.popoviciu", [n, x, above_x, bounded], spread / n <= (y - x) ** 2 / 4),
        _true("variance.bhatia_davis", [n, x, above_x, bounded], spread / n <= (y - mean) * (mean - x)),
        _true("variance.ridge", [n, s, v, a, t],
              unique_minimiser(_sum((s[k] - t * v[k]) ** 2) + a * t**2,
              at={t: _sum(s[k] * v[k]) / (_sum(v[k] ** 2) + a)})),
        _true("tail.markov", [n, f, a], a * _sum(when(a <= f[k], 1, 0)) <= _sum(f[k])),
        _true("tail.chernoff", [n, s, x, real("c", 0)],
              _sum(when(x <= s[k], 1, 0)) <= exp(-c * x) * _sum(exp(c * s[k]))),
        _true("sum.cubes", [n], eq(_sum(k**3), (n * (n + 1) / 2) ** 2)),
        _true("sum.telescope", [n, long], eq(_sum(s[k + 1] - s[k]), s[n + 1] - s[1])),
        _true("sum.prefixes", [n, s], eq(total(j, 1, n, total(k, 1, j, s[k])), _sum((n + 1 - k) * s[k]))),
        _true("sum.inverse_squares", [n], _sum(1 / k**2) <= 2 - 1 / n),
        _true("sum.inverse_roots", [n], _sum(1 / sqrt(k)) <= 2 * sqrt(n) - 1),
        _true("sum.root_spread", [n, f], sqrt(_sum(f[k])) <= _sum(sqrt(f[k]))),
        _true("sum.fractions", [a, b], a / (1 + a) + b / (1 + b) < 2 * (a + b) / (1 + a + b)),
    ]  # fmt: skip


def norms_and_kernels() -> list[Statement]:
    spreads = [MEAN, SPREAD]
    scale = sqrt(_call("spread", s, n) + a)
    pushed = each(k, s[k] + x)
    rms = sqrt(_sum(s[k] ** 2) / n)
    points, real_a, real_b, real_c = sequence("f", n, 0), real("a"), real("b"), real("c")

    def gram(kernel):
        return total(j, 1, n, total(k, 1, n, v[j] * v[k] * kernel))

    return [
        # An alternative is true where one part is, also where the other has no value.
        _true("quotient.or_zero", [nonneg], either(1 / x > 0, eq(x, 0))),
        _true("layernorm.centred", [n, s, a], eq(_sum((s[k] - _call("mean", s, n)) / scale), 0), using=spreads),
        _true("layernorm.length", [n, s, a], _sum(((s[k] - _call("mean", s, n)) / scale) ** 2) < n, using=spreads),
        _true("layernorm.shift", [n, s, a, x, i],
              eq((s[i] + x - _call("mean", pushed, n)) / sqrt(_call("spread", pushed, n) + a),
              (s[i] - _call("mean", s, n)) / scale), using=spreads),
        # Samuelson: no entry is further than sqrt(n - 1) standard deviations from the mean.
        _true("layernorm.samuelson", [n, s, i], (s[i] - _call("mean", s, n)) ** 2 <= (n - 1) * _call("spread", s, n),
              using=spreads),
        _true("rmsnorm.scale", [n, s, c, i],
              eq(c * s[i] / sqrt(_sum((c * s[k]) ** 2) / n), s[i] / rms), _sum(s[k] ** 2) > 0),
        _true("rmsnorm.entry", [n, s, a, i], absolute(s[i] / sqrt(_sum(s[k] ** 2) / n + a)) < sqrt(n)),
        _true("kernel.exponential", [n, s, v], gram(exp(s[j] * s[k])) >= 0),
        _true("kernel.gaussian", [n, s, v], gram(exp(-((s[j] - s[k]) ** 2))) >= 0),
        _true("kernel.gaussian_three", [x, y, z, real_a, real_b, real_c],
              a**2 + b**2 + c**2 + 2 * a * b * exp(-((x - y) ** 2)) + 2 * b * c * exp(-((y - z) ** 2))
              + 2 * c * a * exp(-((z - x) ** 2)) >= 0),
        _true("kernel.laplace_two", [x, y, real_a, real_b], a**2 + b**2 + 2 * a * b * exp(-absolute(x - y)) >= 0),
        _true("kernel.cosine", [n, s, v],
              eq(gram(cos(s[j] - s[k])), _sum(v[k] * cos(s[k])) ** 2 + _sum(v[k] * sin(s[k])) ** 2)),
        # The covariance of Brownian motion, and the matrix of 1 / (j + k).
        _true("kernel.brownian", [n, points, v], gram(least(f[j], f[k])) >= 0),
        _true("kernel.hilbert", [n, v], gram(1 / (j + k)) >= 0),
    ]


def rotations() -> list[Statement]:
    theta, one, two = real("t"), whole("i"), whole("j")
    q1, q2, k1, k2 = real("a"), real("b"), real("c"), real("d")

    def turned(first, second, angle):
        return first * cos(angle) - second * sin(angle), first * sin(angle) + second * cos(angle)

    (a1, a2), (b1, b2) = turned(q1, q2, one * theta), turned(k1, k2, two * theta)
    c1, c2 = turned(k1, k2, (two - one) * theta)
    return [
        _true("rotary.length", [x, y, theta], eq(turned(x, y, t)[0] ** 2 + turned(x, y, t)[1] ** 2, x**2 + y**2)),
        _true("rotary.relative", [q1, q2, k1, k2, theta, one, two], eq(a1 * b1 + a2 * b2, q1 * c1 + q2 * c2)),
        _true("rotary.bounded", [q1, q2, k1, k2, theta], (q1 * turned(k1, k2, t)[0] + q2 * turned(k1, k2, t)[1]) ** 2
              <= (q1**2 + q2**2) * (k1**2 + k2**2)),
        _true("rotary.chord", [x, y], (cos(x) - cos(y)) ** 2 + (sin(x) - sin(y)) ** 2 <= (x - y) ** 2),
        _true("sinusoid.inner", [n, s, x, y], eq(_sum(sin(s[k] * x) * sin(s[k] * y) + cos(s[k] * x) * cos(s[k] * y)),
              _sum(cos(s[k] * (x - y))))),
        _true("sinusoid.farthest", [n, s, x, y], _sum(cos(s[k] * (x - y))) <= n),
        _true("sinusoid.dirichlet", [n, t], eq(2 * sin(t / 2) * _sum(cos(k * t)), sin((n + HALF) * t) - sin(t / 2))),
        _true("sine.multiple", [n, t], absolute(sin(n * t)) <= n * absolute(sin(t))),
        _true("sine.few", [choice("n", 2, 3, 4), t], absolute(sin(n * t)) <= n * absolute(sin(t))),
        _true("sine.jordan", [real("x", 0, PI / 2)], 2 * x / PI <= sin(x)),
        _true("sine.cubic", [nonneg], x - x**3 / 6 <= sin(x)),
        _true("cosine.quartic", [x], both(1 - x**2 / 2 <= cos(x), cos(x) <= 1 - x**2 / 2 + x**4 / 24)),
        _true("cosine.quotient", [step], limit((1 - cos(step)) / step**2, HALF, step, 1)),
        _true("cosine.triangle", [x, y], cos(x) + cos(y) - cos(x + y) <= Fraction(3, 2)),
        _true("cosine.fixed", [x], unique_zero([x - cos(x)], box={"x": (Fraction(7, 10), Fraction(3, 4))})),
        _true("cosine.both_small", [x, y],
              implies(both(cos(x) <= 0, cos(y) <= 0), either(cos(x + y) >= 0, cos(x - y) >= 0))),
    ]  # fmt: skip


TRUE: tuple[Statement, ...] = (
    *exponentials(), *logarithms(), *sigmoids(), *softmaxes(), *attention(), *geometric(), *information(), *means(),
    *norms_and_kernels(), *rotations(),
)  # fmt: skip


def _numbers(stated: Statement) -> int:
    """How many numbers it is about, a sequence of free length counted as three; a step and what exists are none."""
    form = stated.says if isinstance(stated.says, Form) else Form("", ())
    bound = {form.step, *(name for name, _ in form.at if form.kind == "witness")}
    return sum(3 if known.sizes else 1 for known in stated.variables if known.name not in bound)


# Statements in three or more variables or of free length.
MANY: tuple[str, ...] = tuple(stated.name for stated in TRUE if _numbers(stated) >= 3)
