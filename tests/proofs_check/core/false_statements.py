"""False statements in the statement language, written before the refuter was tuned: what a hostile reader would try.

FALSE: statements with a counterexample; a few fail in the part of a form that no point refutes. Where it is not plain,
a comment says where one fails and, of a form, which of its parts; no fraction will do where the point is written with a
root. FORBIDDEN: ways that cannot be written at all. EMPTY: statements about no point.
"""

from fractions import Fraction
from functools import partial, reduce
from operator import mul

import numpy as np

from proofs_check.core.domain import Variable
from proofs_check.core.statement import from_data
from proofs_check.core.terms import Term, from_json, num
from proofs_check.language import (
    PI,
    absolute,
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

# fmt: off
a, b, c, d, e, i, j, k, m, n, p, q, r, s = map(var, "abcdeijkmnpqrs")
t, u, v, w, x, y, z = map(var, "tuvwxyz")
slope = var("slope")
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
ROOT2 = sqrt(2)
REAL, UNIT, SIZE = real("x"), real("x", 0, 1), whole("n", 1)
RIGHT, TO_TWO = real("x", 0), real("x", 0, 2)
HALF_OPEN, INNER = real("x", 0, 1, open="low"), real("x", 0, 1, open=True)
POSITIVE, TOKENS = positive("x"), real("t", 4)
ITEMS, SHARE_ITEMS, VALUES = sequence("s", n), sequence("s", n, 0, 1), sequence("v", n, 0, 1)
PARABOLA, AT_LEAST_2 = x * (1 - x), whole("n", 2)
WHOLE, ANY_SIZE, PLACE, TO_THREE = whole("n"), whole("n", 0), whole("i", 1, n), real("x", 0, 3)
PLANE, SQUARE = [REAL, real("y")], [UNIT, real("y", 0, 1)]
VECTOR = [SIZE, ITEMS]
STEP, FAR = real("u", 0, 1, open="low"), real("t", 1)


def _q(top, under):
    return Fraction(top, under)


def _ten(power):
    return Fraction(10) ** power


def _sum(body, index=i):
    return total(index, 1, n, body)


NANO, TINY = _ten(-9), _ten(-5)
MOST, EXPS = fold("max", i, 1, n, s[i]), _sum(exp(s[i]))
_CORNER = {var(f"x{k}"): bit for k, bit in enumerate((1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1))}
_TIGHTER = _q(9999, 10000)

SOFTMAX = define("softmax", [s, n, i], exp(s[i]) / _sum(exp(s[k]), k))
MEAN = define("mean", [s, v, p, q], total(k, p, q, exp(s[k]) * v[k]) / total(k, p, q, exp(s[k])))
MASS = define("mass", [s, n, p], total(k, p, n, exp(s[k])) / _sum(exp(s[k]), k))
# Distances 0, 1, ..: the token at place k is k - 1 away, and loses slope (k - 1).
BEYOND = define("beyond", [s, n, slope, w], total(k, w + 1, n, exp(s[k] - slope * (k - 1)))
                / _sum(exp(s[k] - slope * (k - 1)), k))
_weight = call("softmax", s, n, i)
_HEAD = [*VECTOR, PLACE]
_ALIBI = [positive("slope"), real("d", 0), whole("w", 1), whole("n", w + 1), sequence("s", n, 0, d),
          real("e", 0, 1, open=True)]
_beyond = call("beyond", s, n, slope, w)
_mean = call("mean", s, v, 1, n)

# The sentence is 1, .., t and then i once more; the last token attends to all t + 1 of them.
WORD = define("word", [p, t, i], when(p <= t, p, i))
IS = define("is", [p, t, i, k], when(eq(call("word", p, t, i), k), 1, 0))
AFTER = define("after", [p, t, i, k], when(p >= 2, call("is", p - 1, t, i, k), 0))
WEIGHT = define("weight", [p, t, i, a, b], exp(a * call("is", p, t, i, i) + b * call("after", p, t, i, i)))
LOGIT = define("logit", [k, t, i, a, b, c, d], total(p, 1, t + 1, call("weight", p, t, i, a, b)
               * (c * call("is", p, t, i, k) + d * call("after", p, t, i, k)))
               / total(p, 1, t + 1, call("weight", p, t, i, a, b)))
LOSS = define("loss", [t, i, a, b, c, d], log(total(k, 1, t, exp(call("logit", k, t, i, a, b, c, d)
              - call("logit", i + 1, t, i, a, b, c, d)))))
_loss, _PARAMETERS = call("loss", t, i, a, b, c, d), [real(name, -3, 3) for name in "abcd"]
_INTERIOR = [whole("t", 4, 8), whole("i", 2, t - 2), *_PARAMETERS]


def _table(t, a, b, c, d):
    """The partition and the numerators: the target's, the repeated token's, an edge's, those of the other t - 4."""
    A, B = exp(a), exp(b)
    return 2 * A + B + t - 2, {"target": c * B + d, "repeated": 2 * c * A + d * B, "edge": c + d * A, "other": c + d}


def _closed(t, a, b, c, d, edges=2):
    S, row = _table(t, a, b, c, d)
    gaps = {name: exp((row[name] - row["target"]) / S) for name in row}
    return log(1 + gaps["repeated"] + edges * gaps["edge"] + (t - 4) * gaps["other"])


_truth = _closed(t, a, b, c, d)
_LOSSES = {
    "sign_of_alpha2": _closed(t, a, -b, c, d),
    "one_edge": _closed(t, a, b, c, d, edges=1),
    "a_billionth_more": _truth * (1 + NANO),
}
_S = _table(t, a, b, c, d)[0]
_TABLES = {
    "edge_with_alpha2": (i - 1, (c + d * exp(b)) / _S),
    "repeated_counted_once": (i, (c * exp(a) + d * exp(b)) / _S),
}
_DEFINED = (SOFTMAX, MEAN, MASS, BEYOND, WORD, IS, AFTER, WEIGHT, LOGIT, LOSS)

_LISTED = (
    # Needles: true but for one point, or a region too small to hit by chance.
    ("needle.large_denominator", UNIT, (x - _q(10007, 65537)) ** 2 > 0),  # at x = 10007/65537
    ("needle.square_bump", UNIT, when(both(THIRD <= x, x <= THIRD + NANO), -1, 1) > 0),  # at x = 1/3
    ("needle.curve", PLANE, (y - x**2) ** 2 + (x - _q(1, 7)) ** 2 > 0),  # at x = 1/7, y = 1/49
    ("needle.powell", [real(name, -3, 3) for name in "wxyz"],
     (w - 1 + 10 * x) ** 2 + 5 * (y - z) ** 2 + (x - 2 * y) ** 4 + 10 * (w - 1 - z) ** 4
     > 0),  # at w = 1, x = 0, y = 0, z = 0
    # From here to the end of the part no fraction is a counterexample.
    ("needle.sqrt2", TO_TWO, (x**2 - 2) ** 2 > 0),  # at x = sqrt(2)
    ("needle.log2", UNIT, ne(exp(x), 2)),  # at log 2: exp 0 < 2 < exp 1
    ("needle.cosine_fixed_point", UNIT, ne(cos(x), x)),  # cos 0 > 0, cos 1 < 1
    # Corners: the worst corner is one of very many.
    ("corner.one_of_4096", [real(f"x{k}", 0, 1) for k in range(12)],
     reduce(mul, [f if bit else 1 - f for f, bit in _CORNER.items()]) <= _q(99, 100)),  # at the bits
    ("corner.sequence70", sequence("s", 70, 0, 1), total(i, 1, 70, s[i]) <= 69),  # at s = (1, 1, ..)
    # Scale: false only far out, or only near nothing, or by less than a double holds.
    ("scale.far_cubic", RIGHT, x**3 / 10**9 <= x**2 + 1),  # at x = 2 * 10^9
    ("scale.below_doubles", real("x", 0, 2000), _ten(-400) <= exp(-x)),  # at x = 1000
    ("scale.log_near_nothing", HALF_OPEN, log(x) >= -100),  # at x = 10^-44
    ("scale.giant_cell", REAL, (x - 123456789012) ** 2 >= 1),  # at x = 123456789012
    # The next term of the series decides, far below the last digit of a double.
    ("scale.series_log", real("x", 0, TINY), x - x**2 / 2 + x**3 / 3 <= log(1 + x)),  # at x = 10^-5
    ("scale.harmonic", SIZE, _sum(1 / i) <= 10),  # at n = 12367
    # Ends: true inside, false where the domain is closed.
    ("end.one_left_open", HALF_OPEN, x < 1),
    ("end.irrational_end", real("x", 0, ROOT2), x**2 < 2),  # at x = sqrt(2)
    ("end.last_place", [whole("n", 4), whole("i", 3, n - 1)], i < n - 1),
    ("end.ball_item", [AT_LEAST_2, ball("v", n, 5)], v[1] + v[2] < 7),  # at n = 2, v = (3, 4)
    ("end.zero_width", real("x", THIRD, THIRD), ne(3 * x, 1)),
    # Whole: false at one whole number, or at a few far apart.
    ("whole.far", whole("n", 1, 10**12), (n - 987654321987) ** 2 > 0),  # at n = 987654321987
    ("whole.choice", choice("p", 2, 3, 5, 7), p**2 <= 48),
    ("whole.brocard", [whole("n", 6), whole("m", 1)], ne(fold("prod", i, 1, n, i) + 1, m**2)),  # at n = 7, m = 71
    # Size: true for the small sizes that anyone would try.
    ("size.sum_of_cubes", SIZE, eq(_sum(i**3), (n * (n + 1) / 2) ** 2 -
     (n - 1) * (n - 2) * (n - 3) * (n - 4) * (n - 5) / 7)),  # at n = 6
    ("size.log_sum", VECTOR, log(EXPS) <= MOST + log(4)),  # at n = 5, s = (0,) * 5
    ("size.matrix", [SIZE, sequence("x", (n, n), -1, 1)],
     _sum(_sum(x[i, j] ** 2, j)) <= 16),  # at n = 5, x = ((1, 1, ..), ..)
    # Symbols: more is assumed of a letter than is declared.
    ("symbol.quotient_of_itself", REAL, eq(x / x, 1)),
    ("symbol.positive_that_cancels", PLANE, y <= x * y / absolute(x), ne(x, 0)),
    ("symbol.whole_sine", REAL, eq(sin(PI * x), 0)),
    ("symbol.log_of_power", REAL, eq(log(x**4), 4 * log(absolute(x)))),
    ("symbol.cosine_from_sine", TO_THREE, eq(cos(x), sqrt(1 - sin(x) ** 2))),
    ("symbol.zero_times_log", RIGHT, eq(0 * log(x), 0)),
    ("symbol.common_factor", [*PLANE, real("z")], eq(largest(x * z, y * z), largest(x, y) * z)),
    # Undefined: no value at some point of the domain.
    ("undefined.root_below_nano", UNIT, sqrt(x - NANO) >= 0),  # at x = 0
    ("undefined.origin_moved", PLANE, 1 / ((x - THIRD) ** 2 + (y - _q(2, 7)) ** 2) > 0),  # at x = 1/3, y = 2/7
    ("undefined.tangent", TO_TWO, sin(x) ** 2 / cos(x) ** 2 >= 0),  # at pi/2 only: no fraction is
    # At 0 the assumption of the conclusion has no value: the core asks for its definedness, and no point refutes that.
    ("undefined.both_too_late", UNIT, implies(1 / x > 0, x > 0)),
    ("undefined.largest_of_none", [ANY_SIZE, SHARE_ITEMS], MOST <= 1),
    ("undefined.next_item", [SIZE, PLACE, SHARE_ITEMS], s[i + 1] <= 1),
    ("undefined.item_in_a_sum", [SIZE, SHARE_ITEMS], _sum(s[n - i]) <= n),
    ("undefined.swapped_indices", [SIZE, whole("d", 1), PLACE, whole("j", 1, d), sequence("x", (n, d), 0, 1)],
     x[j, i] <= 1),
    ("undefined.negative_size", [WHOLE, sequence("s", n - 3, 0, 1)], total(i, 1, n - 3, s[i]) < n - 3),
    # Sharp: a best bound, a little better.
    ("sharp.parabola_ten_digits", UNIT, PARABOLA <= _q(1, 4) - _ten(-10)),
    ("sharp.cauchy_sequences", [*VECTOR, sequence("t", n)],
     _sum(s[i] * t[i]) ** 2 <= _TIGHTER * _sum(s[i] ** 2) * _sum(t[i] ** 2)),  # at n = 2, s = (1, 2), t = (1, 2)
    ("sharp.tanh", TO_THREE, tanh(x) <= _TIGHTER * x),  # at x = 1/100
    # Strict: equality is attained.
    ("strict.exp", REAL, 1 + x < exp(x)),
    ("strict.means", [POSITIVE, positive("y")], sqrt(x * y) < (x + y) / 2),
    ("strict.sine", REAL, sin(x) < 1),  # at pi/2: no fraction is
    # Supremum: another value, not attained, a family that leaves the domain.
    ("supremum.too_small", UNIT, supremum(PARABOLA, _q(999, 4000), {x: HALF})),  # bound at x = 1/2
    ("supremum.strict_but_attained", [UNIT, STEP],
     supremum(PARABOLA, _q(1, 4), {x: HALF - u / 2}, u, 1, attained=False)),  # bound at x = 1/2
    ("supremum.leaves_the_domain", [UNIT, STEP], supremum(x, 1, {x: 1 - 2 * u}, u, 2)),  # approached at u = 1
    ("supremum.simplex", [UNIT, real("y", 0, 1 - x)], supremum(x * y, THIRD, {x: HALF, y: HALF})),  # attained
    ("supremum.wrong_family", [INNER, STEP],
     supremum(x * (2 - x), 1, {x: 1 - u / 2}, u, _ten(-3))),  # approached at u = 1
    # Limit: another value, a rate too small, no rate.
    ("limit.no_rate_at_all", STEP, limit((1 - cos(u)) / u**2, HALF, u, 0)),
    ("limit.log_over_t_far", FAR, limit(log(t) / t, 0, t, 100)),  # gap at t = 10^44
    ("limit.share", [FAR, RIGHT], limit(exp(x) / (exp(x) + t - 1), 0, t, exp(x) / 2)),
    # Minimiser: another place, two of them, none in the domain.
    ("minimiser.two", REAL, unique_minimiser((x**2 - 1) ** 2, {x: 1})),  # only least there at x = -1
    ("minimiser.open_end", INNER, unique_minimiser((x - 1) ** 2, {x: 1})),  # in the domain
    ("minimiser.parameter", PLANE, unique_minimiser((x - y) ** 2, {x: 0})),
    # Himmelblau's function is 0 at (3, 2) and at three more places, all of them irrational: (-2.805.., 3.131..), ..
    ("minimiser.himmelblau", PLANE, unique_minimiser((x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2, {x: 3, y: 2})),
    # Zero: none, two, outside its box.
    ("zero.two_pairs", SQUARE, unique_zero([x + y - _q(5, 6), x * y - _q(1, 6)],
     {"x": (_q(2, 5), _q(3, 5)), "y": (_q(1, 5), _q(2, 5))})),  # elsewhere at x = 1/3, y = 1/2
    ("zero.box_outside", UNIT, unique_zero([x - HALF], {"x": (THIRD, 2)})),  # box in the domain
    # From here on no point refutes: the second zero is irrational, or the box itself holds none or two (for Krawczyk).
    ("zero.second_root_of_two", real("x", -2, 2), unique_zero([x**2 - 2], {"x": (1, 2)})),  # -sqrt(2)
    ("zero.none", real("x", -1, 1), unique_zero([x**2 + 1], {"x": (-HALF, HALF)})),
    ("zero.two_in_the_box", UNIT, unique_zero([(x - _q(1, 4)) * (x - _q(3, 4))], {"x": (_q(1, 8), _q(7, 8))})),
    # Witness: what is named does not do.
    ("witness.inverse", PLANE, exists({y: 1 / x}, eq(x * y, 1))),  # witness at x = 0
    ("witness.quantifiers_swapped", [SIZE, POSITIVE],
     exists({x: _ten(-6)}, x * n <= 1)),  # witness at n = 10^6 + 1
    ("witness.hypothesis_lost", PLANE, exists({x: 1, y: 2}, eq(x + y, 3)), y < x),
    # Iff: one direction only.
    ("iff.sign_of_product", PLANE, iff(x * y > 0, both(x > 0, y > 0))),
    ("iff.square_of_size", WHOLE, iff(n**2 <= 16, n <= 4)),
    # Sums: index slips, wrong sizes, swapped subscripts.
    ("sum.swapped", [SIZE, sequence("x", (n, n)), ITEMS],
     eq(_sum(_sum(x[i, j] * s[j], j)), _sum(_sum(x[j, i] * s[j], j)))),
    ("sum.least_and_largest", VECTOR, eq(fold("min", i, 1, n, s[i]), fold("max", i, 1, n, -s[i]))),
    ("sum.window", [SIZE, whole("w", 1), PLACE], eq(_sum(when(both(i - w < k, k <= i), 1, 0), k), w)),
    ("sum.empty_is_one", ANY_SIZE, eq(fold("prod", i, 1, n, 0), _sum(0))),
    # Monotone: it is not, or the other way.
    ("monotone.x_exp", [RIGHT, real("y", x)], x * exp(-x) <= y * exp(-y)),
    ("monotone.small_turn", [UNIT, real("y", x, 1)], (x - TINY) ** 2 <= (y - TINY) ** 2),  # at x = 0, y = 10^-5
    # Dropped: a hypothesis is gone.
    ("dropped.normalised", [SIZE, sequence("w", n, 0), sequence("v", n)],
     _sum(w[i] * v[i]) <= fold("max", i, 1, n, v[i])),
    ("dropped.quadratic", [real(name) for name in "abcx"], implies(b**2 <= 4 * a * c, a * x**2 + b * x + c >= 0)),
    # Attention.
    ("attention.uniform", _HEAD, _weight <= 1 / n),
    ("attention.scale_invariant", _HEAD, eq(call("softmax", each(j, 2 * s[j]), n, i), _weight)),
    ("attention.window_too_short", _ALIBI,
     implies((d - log(e)) / slope - 1 <= w,
     _beyond < e)),  # at slope = 5, d = 1, w = 1, n = 3, s = (0, 1, 1), e = 9/500
    ("attention.window_without_spread", _ALIBI,
     implies(-log(e) / slope <= w, _beyond < e)),  # at slope = 1, d = 5, w = 1, n = 3, s = (0, 5, 5), e = 1/2
    ("attention.window_iff", _ALIBI,
     iff((d - log(e)) / slope <= w, _beyond < e)),  # at slope = 1, d = 1, w = 1, n = 2, s = (0, 0), e = 1/2
    ("attention.truncation", [AT_LEAST_2, whole("m", 1, n - 1), ITEMS, VALUES],
     eq(_mean - call("mean", s, v, 1, m), call("mass", s, n, m + 1) * (call("mean", s, v, m + 1, n) - _mean))),
    ("attention.strict_mask", [SIZE, PLACE, ITEMS, VALUES], call("mean", s, v, 1, i - 1) <= 1),
    # Logits that move by at most w each spread by 2w: the distance may be tanh(w/2), twice what is claimed.
    ("attention.perturbed", [*VECTOR, positive("w"), sequence("t", n, -w, w)],
     _sum(absolute(call("softmax", each(j, s[j] + t[j]), n, k) - call("softmax", s, n, k)), k) / 2
     <= tanh(w / 4)),  # at n = 2, s = (0, 0), w = 1, t = (1, -1)
    ("attention.log_sum_is_largest", VECTOR, log(EXPS) <= MOST),
    # Planted: the one-repeat task by brute force against closed forms with one thing wrong.
    # Each at t = 6, i = 3, a = 1, b = 2, c = 3, d = 1/2.
    *((f"planted.loss_{name}", _INTERIOR, eq(_loss, formula)) for name, formula in _LOSSES.items()),
    ("planted.loss_last_but_one", [whole("t", 4, 8), whole("i", 2, t - 1), *_PARAMETERS],
     eq(_loss, _truth)),  # at t = 4, i = 3, a = 1, b = 0, c = 0, d = 1
    *((f"planted.table_{name}", _INTERIOR, eq(call("logit", token, t, i, a, b, c, d), formula))
      for name, (token, formula) in _TABLES.items()),
    ("planted.slice_minimum_elsewhere", [TOKENS, real("a"), real("b"), real("c", 0, 1)],
     _closed(t, a, b, 0, 1) <= _closed(t, a, b, c, 1 - c), a >= 0, a <= 1, b >= 0, b <= 1),
    # Noise: floating point, or digits by evaluation, would say otherwise.
    ("noise.nested_root_turned", [], ROOT2 + sqrt(3) < sqrt(5 + 2 * sqrt(6))),  # the squares are equal
    ("noise.exp_of_log", [], exp(log(3)) < 3),
    ("noise.cosine_at_nano", real("x", 0, NANO), cos(x) >= 1),  # at x = 10^-9
    ("noise.sine_of_1e22", [], sin(10**22) >= 0),
    ("noise.cancelled_exponentials", real("x", 0, 60), exp(x) + 1 - exp(x) <= HALF),
    # Near: almost so.
    ("near.ramanujan_digits", [], 262537412640768744 - _ten(-13) * 7 <= exp(PI * sqrt(163))),
    ("near.fermat_again", [], eq(num(1782) ** 12 + num(1841) ** 12, num(1922) ** 12)),
    # Thin: equalities by the back door, so that hardly a point meets the hypotheses.
    ("thin.parabola", PLANE, y < 9, absolute(y - x**2) <= NANO),  # at x = 3, y = 9
    ("thin.two_equations", PLANE, x <= HALF, x + y >= 1, x + y <= 1, x * y <= _q(2, 9),
     _q(2, 9) <= x * y),  # at x = 2/3, y = 1/3
    ("thin.simplex_squares", [SIZE, sequence("p", n, 0)], _sum(p[i] ** 2) < 1, _sum(p[i]) <= 1,
     _sum(p[i]) >= 1),  # at n = 1, p = (1,)
    ("thin.substituted", PLANE, y < 4, eq(y, x**2), x <= 2),
)
FALSE = [stated(f"false.{name}", *said, known=_DEFINED) for name, *said in _LISTED]

# -- forbidden: the way, what tries it, why it is refused -------------------------------------------------------------

_BUILT = {
    "constant.float": lambda: x < 0.5,  # constants are exact
    "constant.numpy_int": lambda: x * np.int64(3),  # an integer that may wrap around is none
    "constant.string_number": lambda: num("1/10"),  # a string is no number
    "constant.bool": lambda: x + True,  # True is no 1
    "constant.whole_node": lambda: Term("num", 1),  # a constant is a fraction
    "constant.choice_of_nothing": lambda: choice("p"),  # it has no value
    "operator.power_by_term": lambda: x**n,  # a power has a literal whole exponent
    "operator.huge_power": lambda: x ** (10**7),  # an exponent has a limit
    "operator.floor": lambda: x // 2,  # there is no such operator
    "operator.arithmetic_of_formulas": lambda: (x < 1) + 1,  # a formula is no number
    "operator.sequence_as_a_number": lambda: each(i, i) + 1,  # a sequence is no number
    "operator.item_of_a_term": lambda: (x + y)[1],  # only a sequence has items
    "formula.chained": lambda: 0 < x < 1,  # Python would keep the second comparison only
    "formula.equal_inside": lambda: both(x == y, x < 1),  # == of terms is a bool
    "formula.no_parts": lambda: Term("and"),  # a conjunction has two parts
    "name.cyrillic": lambda: real("\u0445"),  # a look-alike is another name
    "name.function": lambda: var("exp"),  # a function is no variable
    "sequence.ball_of_matrices": lambda: ball("v", (2, 2), 1),  # a size is a number
    "definition.arguments": lambda: stated("f", REAL, call("f", x, x) > 0, known=[define("f", [x], x**2)]),  # one
    "definition.of_itself": lambda: stated("f", REAL, call("f", x) > 0,
     known=[define("f", [x], call("f", x - 1))]),  # a definition uses earlier ones
    "definition.twice": lambda: stated("f", REAL, call("f", x) > 0,
     known=[define("f", [x], -x), define("f", [x], x**2)]),  # a name has one meaning
    "data.number_by_exponent": lambda: from_json(["num", "1e-1"]),  # a number is digits
    "data.division_by_zero": lambda: from_json(["num", "1/0"]),  # a number is digits
    "data.kind": lambda: from_json(["lambda", "x"]),  # there is no such kind
    "data.function": lambda: from_json(["apply", "gamma", ["var", "x"]]),  # there is no such function
    "data.relation": lambda: from_json(["rel", ">", ["num", "1"], ["num", "0"]]),  # > is written with <
    "data.more_fields": lambda: from_data({**FALSE[0].to_json(), "trusted": True}),  # it has others
    "data.variable_field": lambda: Variable.from_json({"name": "x", "positive": True}),  # it has others
    "data.choice_between_ends": lambda: Variable("x", num(0), values=(HALF, THIRD)),  # a choice has no ends
}
_STATED = {
    "formula.equal_operator": (REAL, x == x + 0),  # == of terms is a bool
    "formula.number": (REAL, x + 1),  # the conclusion is a formula
    "formula.number_given": (REAL, x < 1, x + 1),  # a hypothesis is a formula
    "formula.same_sides": (SQUARE, eq(x * y, x * y)),  # it states nothing
    "formula.same_sides_inside": (REAL, both(x**2 >= 0, eq(x + 1, x + 1))),  # it states nothing
    "formula.same_formulas": (REAL, iff(x < 1, x < 1)),  # it states nothing
    "name.undeclared": (REAL, x <= y),  # every name has a domain
    "name.undeclared_index": (REAL, total(i, 1, k, x) >= 0),  # every name has a domain
    "name.in_its_own_end": (real("x", 0, 2 * x), x >= 0),  # ends use earlier variables
    "name.twice": ([UNIT, real("x", 2, 3)], x > 1),  # a name has one domain
    "sequence.as_a_number": (VECTOR, s <= 1),  # a sequence is no number
    "sequence.of_a_number": (REAL, x[1] <= 1),  # a number has no items
    "sequence.real_index": ([*VECTOR, REAL], s[x] <= 1),  # an index is whole
    "sequence.real_bound": (TOKENS, total(i, 1, t, i) >= 1),  # a bound of a sum is whole
    "given.equality_filter": (PLANE, x + y <= 1, eq(x**2 + y**2, 1)),  # no drawn point meets it
    "given.equality_in_a_choice": (REAL, x < 3, either(eq(x, 1), eq(x, 2))),  # it is no choice()
    "given.equality_of_itself": (REAL, x < 1, eq(x, cos(x))),  # it is solved for nothing
    "given.equality_of_items": (VECTOR, s[1] < 1, eq(s[1], 0)),  # it is solved for no variable
    "given.whole_equality": ([SIZE, whole("m", 1)], m < 9, eq(m, n**2)),  # write the one by the other
    "definition.unknown": (REAL, call("f", x) > 0),  # a call has a definition
    "supremum.rate_of_the_step": ([UNIT, STEP], supremum(x, 2, {x: 1 - u}, u, 2 / u)),  # no rate
    "supremum.step_from_a_tenth": ([UNIT, real("u", _q(1, 10), 1)],
     supremum(x, 2, {x: 1 - u}, u, 20)),  # the step goes to 0
    "supremum.given_about_the_step": ([UNIT, STEP], supremum(x, 2, {x: 1 - u}, u, 20),
     u >= _q(1, 9)),  # the step goes to 0
    "supremum.domain_of_the_step": ([STEP, real("x", 0, u)], supremum(x, 1, {x: u}, u, 1)),  # it moves
}
FORBIDDEN = {**_BUILT, **{way: partial(stated, way, *said) for way, said in _STATED.items()}}

# -- empty: no point of the domain meets the hypotheses, so whatever they say they say of nothing ---------------------

_NEVER = num(1) < 0
_EMPTY = (
    ("open_point", real("x", 1, 1, open=True)),
    ("half_open_point", real("x", 1, 1, open="low")),
    ("no_whole_number", whole("n", THIRD, _q(2, 3))),
    ("circular", PLANE, x < y, y < x),
    ("negative_size", [whole("n", -5, -1), ITEMS]),
    ("items_between_crossed_ends", [SIZE, sequence("s", n, 1, 0)]),
    ("negative_radius", [SIZE, real("r", -2, -1), ball("v", n, r)]),
    ("choice_outside", choice("p", 2, 3), p > 3),
    ("undefined_hypothesis", real("x", -2, -1), log(x) < 0),
    ("substituted_outside", [UNIT, real("y", 0, 1)], eq(x, y + 2)),
    ("above_the_root", REAL, x**2 <= 2, x >= ROOT2 + _ten(-30)),
    ("sum_of_a_simplex", [SIZE, sequence("p", n, 0)], _sum(p[k], k) <= 1, fold("max", k, 1, n, p[k]) > 1),
)
EMPTY = [
    stated("empty.assumed_by_the_conclusion", POSITIVE, implies(x < 0, x < -1)),
    *(stated(f"empty.{name}", known, _NEVER, *given) for name, known, *given in _EMPTY),
]
