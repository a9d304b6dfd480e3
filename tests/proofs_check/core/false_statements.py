"""False statements in the statement language, written before the refuter was tuned: what a hostile reader would try.

FALSE: statements with a counterexample; a few fail in the part of a form that no point refutes. Where it is not plain,
a comment says where one fails and, of a form, which of its parts; no fraction will do where the point is written with a
root. FORBIDDEN: ways that cannot be written at all. EMPTY: statements about no point.
"""

import math
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce

import numpy as np
import sympy as sp

from proofs_check.core.domain import Variable
from proofs_check.core.statement import from_data
from proofs_check.core.terms import Term, from_json, num
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

# fmt: off
a, b, c, d, e, g, h, i, j, k, m, n, p, q, r, s = map(var, "abcdeghijkmnpqrs")
t, u, v, w, x, y, z = map(var, "tuvwxyz")
slope = var("slope")
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
ROOT2, ROOT3, LOG2 = sqrt(2), sqrt(3), log(2)
REAL, UNIT, SIZE = real("x"), real("x", 0, 1), whole("n", 1)
RIGHT, TO_TWO, WIDE = real("x", 0), real("x", 0, 2), real("x", -1, 1)
HALF_OPEN, INNER = real("x", 0, 1, open="low"), real("x", 0, 1, open=True)
POSITIVE, TOKENS, MATRIX, EPS = positive("x"), real("t", 4), sequence("x", (n, n)), real("e", 0, 1, open=True)
ITEMS, SHARE_ITEMS, VALUES = sequence("s", n), sequence("s", n, 0, 1), sequence("v", n, 0, 1)
FACTORIAL, WIDE_Y, NESTED = fold("prod", i, 1, n, i), real("y", -1, 1), sqrt(5 + 2 * sqrt(6))
COMPOUND, MODULI, PARABOLA, RADIUS2 = exp(n * log(1 + 1 / n)), absolute(x) + absolute(y), x * (1 - x), x**2 + y**2
REAL_A, REAL_Y, REAL_Z, SPREAD_OUT, AT_LEAST_2 = real("a"), real("y"), real("z"), 1 + (n - 1) * exp(-d), whole("n", 2)
ANY_SIZE, NEAR_0, SLOPE, REAL_B = whole("n", 0), real("x", 0, Fraction(1, 10**6)), positive("slope"), real("b")
WHOLE, TO_THREE = whole("n"), real("x", 0, 3)
PLACE = whole("i", 1, n)
PLANE, SQUARE = [REAL, REAL_Y], [UNIT, real("y", 0, 1)]
QUADRANT = [POSITIVE, positive("y")]
VECTOR, TWO_OR_MORE = [SIZE, ITEMS], [AT_LEAST_2, ITEMS]
VECTORS = [*VECTOR, sequence("t", n)]
SHARES, NONNEGATIVE = [SIZE, SHARE_ITEMS], [SIZE, sequence("s", n, 0)]
STEP, FAR = real("u", 0, 1, open="low"), real("t", 1)


def _q(top, under):
    return Fraction(top, under)


def _ten(power):
    return Fraction(10) ** power


def _add(terms):
    return reduce(lambda one, other: one + other, terms)


def _times(terms):
    return reduce(lambda one, other: one * other, terms)


def _sum(body, index=i):
    return total(index, 1, n, body)


def _most(body):
    return fold("max", i, 1, n, body)


def _sigmoid(at):
    return 1 / (1 + exp(-at))


NANO, TINY = _ten(-9), _ten(-5)
SUM, MOST, SQUARES, EXPS, PRODUCTS = _sum(s[i]), _most(s[i]), _sum(s[i] ** 2), _sum(exp(s[i])), _sum(s[i] * t[i])

# -- needles: true but for one point, or a region too small to hit by chance ------------------------------------------

NEEDLES = [
    ("needle.third", UNIT, (x - THIRD) ** 2 > 0),
    ("needle.22_7", real("x", 0, 10), (x - _q(22, 7)) ** 2 > 0),  # at x = 22/7
    ("needle.large_denominator", UNIT, (x - _q(10007, 65537)) ** 2 > 0),  # at x = 10007/65537
    ("needle.two", UNIT, ((x - _q(5, 13)) * (x - _q(7, 11))) ** 2 > 0),  # at x = 5/13
    ("needle.plane", SQUARE, (x - THIRD) ** 2 + (y - _q(2, 7)) ** 2 > 0),  # at x = 1/3, y = 2/7
    ("needle.five_variables", [real(f"x{k}", 0, 1) for k in range(1, 6)],
     _add([(var(f"x{k}") - _q(k, 7)) ** 2 for k in range(1, 6)]) > 0),  # at x_k = k/7
    ("needle.billionth", UNIT, _ten(-18) <= (x - THIRD) ** 2),  # at x = 1/3
    ("needle.gauss", UNIT, 2 * exp(-10**12 * (x - THIRD) ** 2) < 1),  # at x = 1/3
    ("needle.gauss_off_grid", real("x", -5, 5),
     exp(-10**16 * (x - _q(7310585, 10**7)) ** 2) <= HALF),  # at x = 7310585/10^7
    ("needle.lorentz", real("x", -9, 9), 1 / (1 + 10**16 * (x - _q(3, 10)) ** 2) <= HALF),  # at x = 3/10
    ("needle.square_bump", UNIT, when(both(THIRD <= x, x <= THIRD + NANO), -1, 1) > 0),  # at x = 1/3
    ("needle.value_at_a_point", UNIT, when(eq(x, _q(2, 7)), -1, 1) > 0),  # at x = 2/7
    ("needle.on_the_diagonal", SQUARE, when(eq(x, y), -x, 1) > 0),  # at x = 1, y = 1
    ("needle.diagonal", SQUARE, (x - y) ** 2 > 0),
    ("needle.antidiagonal", SQUARE, (x + y - 1) ** 2 + (x * y - _q(2, 9)) ** 2 > 0),  # at x = 1/3, y = 2/3
    ("needle.curve", PLANE, (y - x**2) ** 2 + (x - _q(1, 7)) ** 2 > 0),  # at x = 1/7, y = 1/49
    ("needle.rosenbrock", PLANE, (x - _q(2, 3)) ** 2 + 100 * (y - x**2) ** 2 > 0),  # at x = 2/3, y = 4/9
    ("needle.largest", UNIT, largest(x - _q(4, 9), _q(4, 9) - x) > 0),  # at x = 4/9
    ("needle.absolute", SQUARE, absolute(x - _q(3, 11)) + absolute(y - x**2) > 0),  # at x = 3/11, y = 9/121
    ("needle.motzkin", PLANE, x**4 * y**2 + x**2 * y**4 - 3 * x**2 * y**2 + 1 > 0),  # at x = 1, y = 1
    ("needle.motzkin_a_millionth_off", PLANE,
     x**4 * y**2 + x**2 * y**4 - (3 + _ten(-6)) * x**2 * y**2 + 1 >= 0),  # at x = 1, y = 1
    ("needle.powell", [real(name, -3, 3) for name in "wxyz"],
     (w - 1 + 10 * x) ** 2 + 5 * (y - z) ** 2 + (x - 2 * y) ** 4 + 10 * (w - 1 - z) ** 4
     > 0),  # at w = 1, x = 0, y = 0, z = 0
    # Each multiple of a millionth, and so each short decimal, is a zero of the sine.
    ("needle.aliased", UNIT, sin(10**6 * PI * x) ** 2 <= HALF),  # at x = 1/(2 * 10^6)
    ("needle.aliased_wave", real("x", 0, 100), cos(2 * PI * 1000 * x) >= _q(999, 1000)),  # at x = 1/2000
    ("needle.one_cell", SQUARE, (x - _q(617, 1000)) ** 2 + (y - _q(203, 1000)) ** 2 - _ten(-10)
     > 0),  # at x = 617/1000, y = 203/1000
    # From here to the end of the part no fraction is a counterexample.
    ("needle.sqrt2", TO_TWO, (x**2 - 2) ** 2 > 0),  # at x = sqrt(2)
    ("needle.golden", TO_TWO, ne(x**2, x + 1)),  # at x = (1 + sqrt(5)) / 2
    ("needle.log2", UNIT, ne(exp(x), 2)),  # at log 2: exp 0 < 2 < exp 1
    ("needle.root_of_sine", real("x", 3, 4), ne(sin(x), 0)),  # at pi: sin 3 > 0 > sin 4
    ("needle.sine_meets_cosine", UNIT, (sin(x) - cos(x)) ** 2 > 0),  # at pi/4
    ("needle.cosine_fixed_point", UNIT, ne(cos(x), x)),  # cos 0 > 0, cos 1 < 1
    ("needle.cubic", real("x", 1, 2), ne(x**3, x + 1)),  # 1 < 2, 8 > 3
    ("needle.rationalless_circle", [TO_TWO, real("y", 0, 2)], (RADIUS2 - 3) ** 2 > 0),  # at x = sqrt(3), y = 0
]

# -- corners: the worst corner is one of very many --------------------------------------------------------------------



def _cube(count, low=0, high=1):
    return [real(f"x{k}", low, high) for k in range(count)], [var(f"x{k}") for k in range(count)]


def _determinant(rows):
    if len(rows) == 1:
        return rows[0][0]
    minors = [[[*row[:col], *row[col + 1 :]] for row in rows[1:]] for col in range(len(rows))]
    return _add([(-1) ** col * rows[0][col] * _determinant(minor) for col, minor in enumerate(minors)])


_cube7, _x7 = _cube(7)
_cube8, _x8 = _cube(8, -1, 1)
_cube10, _x10 = _cube(10)
_cube12, _x12 = _cube(12)
_cube20, _x20 = _cube(20)
_cube4, _x4 = _cube(4, -1, 1)
_cube9, _x9 = _cube(9, -1, 1)
_cube16, _x16 = _cube(16, -1, 1)
_BITS = (1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1)
_KEY = tuple(int(bit) for bit in "101100101110001011010011")

CORNERS = [
    ("corner.sum7", _cube7, _add(_x7) <= 7 - _q(1, 100)),  # at 1, 1, ..
    ("corner.alternating8", _cube8, _add([(-1) ** k * _x8[k] for k in range(8)]) < 8),  # at 1, -1, ..
    ("corner.product10", _cube10, _times(_x10) < 1),  # at 1, 1, ..
    ("corner.one_of_4096", _cube12,
     _times([f if bit else 1 - f for f, bit in zip(_x12, _BITS, strict=True)]) <= _q(99, 100)),  # at the bits
    ("corner.sum20", _cube20, _add(_x20) <= 19),  # at 1, 1, ..
    ("corner.sequence70", sequence("s", 70, 0, 1), total(i, 1, 70, s[i]) <= 69),  # at s = (1, 1, ..)
    ("corner.two_sequences", [sequence("s", 30, -1, 1), sequence("t", 30, -1, 1)],
     total(i, 1, 30, s[i] * t[31 - i]) <= 29),  # at s = (1, 1, ..), t = (1, 1, ..)
    # Seven points of [0, 1]: three at one end and four at the other are 12 apart in sum.
    ("corner.cut7", _cube7, _add([absolute(_x7[k] - _x7[m]) for k in range(7) for m in range(k)])
     <= _q(1199, 100)),  # at 0, 0, 0, 1, 1, 1, 1
    ("corner.bell", _cube4, _x4[0] * _x4[2] + _x4[0] * _x4[3] + _x4[1] * _x4[2] - _x4[1] * _x4[3]
     <= _q(19, 10)),  # at 1, 1, 1, 1
    ("corner.determinant3", _cube9,
     _determinant([_x9[0:3], _x9[3:6], _x9[6:9]]) <= _q(3999, 1000)),  # at 1, 1, 1, -1, 1, 1, -1, -1, 1
    ("corner.determinant4", _cube16,
     absolute(_determinant([_x16[k:k + 4] for k in (0, 4, 8, 12)]))
     <= _q(15999, 1000)),  # at the signs of Hadamard's matrix
    ("corner.choices7", [choice(f"x{k}", 0, 1) for k in range(7)], ne(_add(_x7), 7)),  # at 1, 1, ..
    ("corner.pattern10", [choice(f"x{k}", 0, 1) for k in range(10)],
     _add([(_x10[k] - _BITS[k]) ** 2 for k in range(10)]) > 0),  # at the bits
    ("corner.pattern24", [choice(f"x{k}", 0, 1) for k in range(24)],
     _add([(var(f"x{k}") - _KEY[k]) ** 2 for k in range(24)]) > 0),  # at the key
]

# -- scale: false only far out, or only near nothing, or by less than a double holds ----------------------------------

SCALES = [
    ("scale.million", RIGHT, x <= 10**6),
    ("scale.log14", RIGHT, log(1 + x) <= 14),  # at x = 2 * 10^6
    ("scale.log100", real("x", 1), log(x) <= 100),  # at x = 10^44
    ("scale.log_log", real("x", 3), log(log(x)) <= 5),  # at x = 10^70
    ("scale.root", RIGHT, sqrt(x) <= 10**6),  # at x = 10^13
    ("scale.far_cubic", RIGHT, x**3 / 10**9 <= x**2 + 1),  # at x = 2 * 10^9
    ("scale.log_of_tokens", TOKENS, log(t - 1) <= 20),  # at t = 10^9
    ("scale.tail", RIGHT, _ten(-20) <= exp(-x)),  # at x = 50
    ("scale.below_doubles", real("x", 0, 2000), _ten(-400) <= exp(-x)),  # at x = 1000
    ("scale.above_doubles", real("x", 0, 2000), exp(x) <= _ten(400)),  # at x = 1000
    ("scale.saturated", RIGHT, tanh(x) <= 1 - _ten(-15)),  # at x = 20
    ("scale.saturated_far", RIGHT, tanh(x) <= 1 - _ten(-300)),  # at x = 400
    ("scale.sigmoid", REAL, _ten(-12) <= 1 / (1 + exp(x))),  # at x = 30
    ("scale.nano_end", HALF_OPEN, NANO <= x),  # at x = 10^-10
    ("scale.log_near_nothing", HALF_OPEN, log(x) >= -100),  # at x = 10^-44
    ("scale.power_near_nothing", HALF_OPEN, _ten(-300) <= x**20),  # at x = 10^-16
    ("scale.product_near_nothing", [real(name, 0, 1, open="low") for name in "xy"],
     _ten(-12) <= x * y),  # at x = 10^-7, y = 10^-7
    ("scale.small_slope", real("slope", 0, 1, open="low"), 1 / slope <= 10**6),  # at slope = 10^-7
    ("scale.nano_dip", REAL, x**2 - x * NANO + 2 * _ten(-19) > 0),  # at x = 1/(2 * 10^9)
    ("scale.giant_point", REAL, (x - 10**12) ** 2 > 0),  # at x = 10^12
    ("scale.giant_cell", REAL, (x - 123456789012) ** 2 >= 1),  # at x = 123456789012
    ("scale.mixed", QUADRANT, x * y < 10**3 + x**2 / 10**9 + y**2 * 10**3),  # at x = 10^6, y = 10
    # The next term of the series decides, far below the last digit of a double.
    ("scale.series_sqrt", NEAR_0, sqrt(1 + x) <= 1 + x / 2 - x**2 / 8),  # at x = 10^-6
    ("scale.series_exp", NEAR_0, exp(x) <= 1 + x + x**2 / 2),  # at x = 10^-6
    ("scale.series_cos", real("x", -TINY, TINY), cos(x) <= 1 - x**2 / 2),  # at x = 10^-5
    ("scale.series_sin", NEAR_0, x <= sin(x)),  # at x = 10^-6
    ("scale.series_log", real("x", 0, TINY), x - x**2 / 2 + x**3 / 3 <= log(1 + x)),  # at x = 10^-5
    ("scale.series_tanh", real("x", 0, _ten(-4)), tanh(x) <= x - x**3 / 3),  # at x = 10^-4
    ("scale.series_atan", real("x", 0, TINY), atan(x) <= x - x**3 / 3),  # at x = 10^-5
    ("scale.n_million", SIZE, n <= 10**6),  # at n = 10^6 + 1
    ("scale.harmonic", SIZE, _sum(1 / i) <= 10),  # at n = 12367
    ("scale.basel", SIZE, _sum(1 / i**2) <= _q(1644, 1000)),  # at n = 1100
    ("scale.alternating", whole("n", 5), _q(1, 500) <= absolute(_sum(cos(PI * i) / i) + LOG2)),  # at n = 300
]

# -- ends: true inside, false where the domain is closed --------------------------------------------------------------

ENDS = [
    ("end.low", UNIT, x > 0),
    ("end.high", UNIT, x < 1),
    ("end.both", UNIT, PARABOLA > 0),
    ("end.one_left_open", HALF_OPEN, x < 1),
    ("end.one_right_open", real("x", 0, 1, open="high"), x > 0),
    ("end.corner", SQUARE, x * y < 1),
    ("end.absolute", real("e", -1, 1), 3 + e - 2 * absolute(e) > 0),  # at e = -1
    ("end.tent", WIDE, absolute(x) < 1),
    ("end.exponential", UNIT, exp(x) < exp(1)),
    ("end.irrational_end", real("x", 0, ROOT2), x**2 < 2),  # at x = sqrt(2)
    ("end.at_pi", real("x", 0, PI), cos(x) > -1),  # at pi, which no fraction is
    ("end.of_a_variable", [UNIT, real("y", 0, x)], y < x),
    ("end.of_two_variables", [UNIT, real("y", 0, 1 - x)], x + y < 1),
    ("end.four_tokens", TOKENS, t - 4 > 0),
    ("end.last_place", [whole("n", 4), whole("i", 3, n - 1)], i < n - 1),
    ("end.ball", [SIZE, ball("v", n, 1)], _sum(v[i] ** 2) < 1),
    ("end.ball_of_radius", [SIZE, positive("r"), ball("v", n, r)], _sum(v[i] ** 2) < r**2),
    ("end.ball_item", [AT_LEAST_2, ball("v", n, 5)], v[1] + v[2] < 7),  # at n = 2, v = (3, 4)
    ("end.items", SHARES, SUM < n),
    ("end.all_thirty_items", sequence("s", 30, 0, 1), total(i, 1, 30, s[i]) < 30),  # at s = (1, 1, ..)
    ("end.narrow", real("x", THIRD, THIRD + _ten(-12)), THIRD < x),
    ("end.log_near_a_third", real("x", THIRD + _ten(-60), 1, open="low"),
     log(x - THIRD - _ten(-60)) > -10),  # at x = 1/3 + 2 * 10^-60
    ("end.log_far_below", real("x", THIRD, 1, open="low"), log(x - THIRD) > -1000),  # at x = 1/3 + 10^-440
    ("end.zero_width", real("x", THIRD, THIRD), ne(3 * x, 1)),
    ("end.zero_width_irrational", real("x", ROOT2, ROOT2), x**2 < 2),  # at x = sqrt(2)
    ("end.not_whole", whole("n", _q(3, 2), _q(9, 2)), both(n > 2, n < 4)),
    ("end.irrational_and_whole", whole("n", sqrt(8), sqrt(17)), n > 3),
    ("end.slice", [real("a", 0, 1), real("b", 0, 1)], exp(a) + exp(b) - 2 * sqrt(exp(a + b)) > 0),
]

# -- whole: false at one whole number, or at a few far apart ----------------------------------------------------------

WHOLES = [
    ("whole.seventeen", SIZE, ne(n, 17)),  # at n = 17
    ("whole.squared_distance", whole("n", 1, 1000), (n - 617) ** 2 > 0),  # at n = 617
    ("whole.far", whole("n", 1, 10**12), (n - 987654321987) ** 2 > 0),  # at n = 987654321987
    ("whole.three", SIZE, n**2 <= exp(n * LOG2)),  # at n = 3
    ("whole.nine", WHOLE, 2 * n**2 - 35 * n + 153 > 0),  # at n = 9
    ("whole.triangle_153", SIZE, ne(_sum(i), 153)),  # at n = 17
    ("whole.choice", choice("p", 2, 3, 5, 7), p**2 <= 48),
    ("whole.place_before_last", [whole("n", 5), PLACE], (i - n + 3) ** 2 > 0),
    ("whole.euler", [ANY_SIZE, whole("a", 2), whole("b", 2)],
     ne(n**2 + n + 41, a * b)),  # at n = 40, a = 41, b = 41
    ("whole.fermat", [whole("a", 2), whole("b", 2)], ne(2**32 + 1, a * b)),  # at a = 641, b = 6700417
    ("whole.pell2", [whole("x", 1), whole("y", 1)], ne(x**2 - 2 * y**2, 1)),  # at x = 3, y = 2
    ("whole.pell61", [whole("x", 1), whole("y", 1)], ne(x**2 - 61 * y**2, 1)),  # at x = 1766319049, y = 226153980
    ("whole.ljunggren", [whole("x", 1), whole("y", 2)], ne(x**2 + 1, 2 * y**4)),  # at x = 239, y = 13
    ("whole.catalan", [whole("x", 2), whole("y", 2)], ne(x**2 - y**3, 1)),  # at x = 3, y = 2
    ("whole.taxicab", [whole(name, 1) for name in "abcd"], ne(a**3 + b**3, c**3 + d**3), a < c, c <= d,
     d < b),  # at a = 1, b = 12, c = 9, d = 10
    ("whole.four_fifth_powers", [whole(name, 1) for name in "abcde"],
     ne(a**5 + b**5 + c**5 + d**5, e**5)),  # at a = 27, b = 84, c = 110, d = 133, e = 144
    ("whole.three_cubes_30", [whole(name) for name in "xyz"],
     ne(x**3 + y**3 + z**3, 30)),  # at x = 2220422932, y = -2218888517, z = -283059965
    ("whole.three_cubes_42", [whole(name) for name in "xyz"],
     ne(x**3 + y**3 + z**3, 42)),  # at x = -80538738812075974, y = 80435758145817515, z = 12602123297335631
    ("whole.cannonballs", [AT_LEAST_2, whole("m", 2)], ne(_sum(i**2), m**2)),  # at n = 24, m = 70
    ("whole.brocard", [whole("n", 6), whole("m", 1)], ne(FACTORIAL + 1, m**2)),  # at n = 7, m = 71
    ("whole.triangular_square", [whole("n", 9), whole("m", 1)], ne(n * (n + 1) / 2, m**2)),  # at n = 49, m = 35
    ("whole.two_places", [whole("n", 8), whole("i", 2, n - 2), whole("j", i, n)],
     ne(i + j, 2 * n - 3)),  # at n = 8, i = 6, j = 7
]

# -- size: true for the small sizes that anyone would try -------------------------------------------------------------

_early = (n - 1) * (n - 2) * (n - 3) * (n - 4)
_hilbert = total(i, 1, n, _sum(s[i] * s[j] / (i + j - 1), j))

SIZES = [
    ("size.sum", SIZE, eq(_sum(i), n * (n + 1) / 2 + _early)),
    ("size.sum_of_cubes", SIZE, eq(_sum(i**3), (n * (n + 1) / 2) ** 2 - _early * (n - 5) / 7)),  # at n = 6
    ("size.tokens8", whole("t", 4),
     eq(total(k, 1, t, when(either(k <= 2, t - 1 <= k), 0, 1)),
     t - 4 + (t - 4) * (t - 5) * (t - 6) * (t - 7))),  # at t = 8
    ("size.cauchy4", VECTOR, SUM**2 <= 4 * SQUARES),  # at n = 5, s = (1, 1, ..)
    ("size.circle_regions", SIZE, eq(1 + n * (n - 1) / 2 + n * (n - 1) * (n - 2) * (n - 3) / 24,
     exp((n - 1) * LOG2))),  # at n = 6
    ("size.factorial", SIZE, FACTORIAL <= 24),  # at n = 5
    ("size.largest", SIZE, _most(i * (10 - i)) <= 24),  # at n = 5
    ("size.log_sum", VECTOR, log(EXPS) <= MOST + log(4)),  # at n = 5, s = (0,) * 5
    ("size.variance", SHARES, SQUARES - SUM**2 / n <= 1),  # at n = 5, s = (0, 0, 0, 1, 1)
    ("size.pairs", SIZE, _sum(total(j, i + 1, n, 1)) <= 6),  # at n = 5
    ("size.matrix", [SIZE, sequence("x", (n, n), -1, 1)],
     _sum(_sum(x[i, j] ** 2, j)) <= 16),  # at n = 5, x = ((1, 1, ..), ..)
    ("size.hilbert6", VECTOR, _hilbert <= _q(8, 5) * SQUARES),  # at n = 6, s = (75, 44, 32, 25, 21, 18)
    ("size.hilbert10", VECTOR, _hilbert
     <= _q(7, 4) * SQUARES),  # at n = 10, s = (703, 426, 318, 256, 216, 187, 166, 148, 135, 123)
    ("size.hardy", NONNEGATIVE, _sum((total(i, 1, k, s[i]) / k) ** 2, k)
     <= _q(17, 9) * _sum(s[k] ** 2, k)),  # at n = 8, s = (86, 41, 24, 15, 10, 6, 4, 2)
    # Shapiro's cyclic sum is at least 7 for small changes of equal terms; Troesch's point is below by five millionths:
    # a thousandth, 42, 2, 42, 4, 41, 5, 39, 4, 38, 2, 38, a thousandth, 40.
    ("size.shapiro14", sequence("s", 14, 0, open="low"),
     total(i, 1, 12, s[i] / (s[i + 1] + s[i + 2])) + s[13] / (s[14] + s[1]) + s[14] / (s[1] + s[2])
     >= 7),
    ("size.depth", SIZE, total(i, 0, n, exp(-i * LOG2)) <= 2 - _q(1, 16)),  # at n = 5
]

# -- symbols: more is assumed of a letter than is declared ------------------------------------------------------------

SYMBOLS = [
    ("symbol.root_of_square", REAL, eq(sqrt(x**2), x)),
    ("symbol.log_of_square", REAL, eq(log(x**2), 2 * log(x)), ne(x, 0)),
    ("symbol.half_log_of_square", REAL, eq(exp(log(x**2) / 2), x), ne(x, 0)),
    ("symbol.quotient_of_itself", REAL, eq(x / x, 1)),
    ("symbol.square_of_root", REAL, eq(sqrt(x) ** 2, x)),
    ("symbol.exp_of_log", REAL, eq(exp(log(x)), x)),
    ("symbol.positive", REAL, x >= 0),
    ("symbol.positive_that_cancels", PLANE, y <= x * y / absolute(x), ne(x, 0)),
    ("symbol.nonzero", REAL, x**2 > 0),
    ("symbol.absolute", REAL, eq(absolute(x), x)),
    ("symbol.whole", REAL, x * (x - 1) >= 0),
    ("symbol.whole_sine", REAL, eq(sin(PI * x), 0)),
    ("symbol.even", WHOLE, eq(cos(PI * n), 1)),
    ("symbol.odd_power", REAL, x <= x**3, x >= -1),
    ("symbol.not_one", POSITIVE, ne(log(x), 0)),
    ("symbol.distinct", PLANE, ne(x, y)),
    ("symbol.log_of_product", PLANE, eq(log(x * y), log(x) + log(y)), x * y > 0),
    ("symbol.log_of_power", REAL, eq(log(x**4), 4 * log(absolute(x)))),
    ("symbol.root_of_product", PLANE, eq(sqrt(x * y), sqrt(x) * sqrt(y)), x * y >= 0),
    ("symbol.root_of_quotient", PLANE, eq(sqrt(x / y), sqrt(x) / sqrt(y)), x * y > 0),
    ("symbol.cancelled_factor", PLANE, eq(x * y / y, x)),
    ("symbol.complete_square", REAL, eq(sqrt(1 - 2 * x + x**2), 1 - x)),
    ("symbol.cosine_from_sine", TO_THREE, eq(cos(x), sqrt(1 - sin(x) ** 2))),
    ("symbol.arcus_of_inverse", REAL, eq(atan(1 / x), PI / 2 - atan(x)), ne(x, 0)),
    ("symbol.arcus_of_tangent", real("x", 0, 4), eq(atan(sin(x) / cos(x)), x), ne(cos(x), 0)),
    ("symbol.arcus_sum", QUADRANT, eq(atan(x) + atan(y), atan((x + y) / (1 - x * y))), ne(x * y, 1)),
    ("symbol.zero_times_log", RIGHT, eq(0 * log(x), 0)),
    ("symbol.entropy_at_zero", UNIT, x * log(x) >= -1),
    ("symbol.binary_entropy", UNIT, -x * log(x) - (1 - x) * log(1 - x) <= LOG2),
    ("symbol.common_factor", [REAL, REAL_Y, REAL_Z], eq(largest(x * z, y * z), largest(x, y) * z)),
    ("symbol.sign_of_largest", PLANE, eq(-largest(x, y), largest(-x, -y))),
    ("symbol.modulus_of_sum", PLANE, eq(absolute(x + y), MODULI)),
    ("symbol.bits_for_nats", POSITIVE, eq(log(x) / LOG2, log(x))),
    ("symbol.real_size", real("t", 1), eq((t - 1) * (t - 2) * (t - 3), absolute((t - 1) * (t - 2) * (t - 3)))),
]

# -- undefined: no value at some point of the domain ------------------------------------------------------------------

UNDEFINED = [
    ("undefined.third", UNIT, eq((x - THIRD) / (x - THIRD), 1)),  # at x = 1/3
    ("undefined.large_denominator", UNIT, 1 / (x - _q(10007, 65537)) ** 2 >= 0),  # at x = 10007/65537
    ("undefined.log_of_square", UNIT, log((x - _q(3, 7)) ** 2) <= 1),  # at x = 3/7
    ("undefined.root_below_nano", UNIT, sqrt(x - NANO) >= 0),  # at x = 0
    ("undefined.root_beyond_one", real("x", 0, 1 + _ten(-12)), sqrt(1 - x) >= 0),  # at x = 1 + 10^-12
    ("undefined.log_below_a_third", real("x", THIRD, 1), log(x - THIRD - _ten(-60)) <= 0),  # at x = 1/3
    ("undefined.origin", PLANE, 1 / (RADIUS2) > 0),
    ("undefined.origin_moved", PLANE, 1 / ((x - THIRD) ** 2 + (y - _q(2, 7)) ** 2) > 0),  # at x = 1/3, y = 2/7
    ("undefined.difference", [UNIT, real("y", 0, x)], 1 / (x - y) > 0),
    ("undefined.tangent", TO_TWO, sin(x) ** 2 / cos(x) ** 2 >= 0),  # at pi/2 only: no fraction is
    ("undefined.root_of_two", TO_TWO, 1 / (x**2 - 2) ** 2 > 0),  # at sqrt(2): no fraction is
    ("undefined.sinc", REAL, sin(x) / x <= 1),
    ("undefined.exponential_quotient", REAL, (exp(x) - 1) / x > 0),
    ("undefined.negative_power", UNIT, x**-2 > 0),
    ("undefined.branch", RIGHT, when(x >= 0, 1 / x, 0) >= 0),
    # At 0 the assumption of the conclusion has no value: the core asks for its definedness, and no point refutes that.
    ("undefined.both_too_late", UNIT, implies(1 / x > 0, x > 0)),
    ("undefined.mean_of_none", [ANY_SIZE, SHARE_ITEMS], SUM / n <= 1),
    ("undefined.largest_of_none", [ANY_SIZE, SHARE_ITEMS], MOST <= 1),
    ("undefined.log_of_rest", SIZE, log(n - 1) >= 0),
    ("undefined.log_of_three", real("t", 3), log(t - 3) <= t),
    ("undefined.log_of_sum", NONNEGATIVE, log(SUM) <= SUM),
    ("undefined.next_item", [SIZE, PLACE, SHARE_ITEMS], s[i + 1] <= 1),
    ("undefined.item_before", [SIZE, PLACE, SHARE_ITEMS], s[i - 1] <= 1),
    ("undefined.item_in_a_sum", SHARES, _sum(s[n - i]) <= n),
    ("undefined.third_item", SHARES, s[3] <= 1),
    ("undefined.far_item", [whole("n", 1, 50), sequence("s", 49, 0, 1)], s[n] <= 1),  # at n = 50, s = (0,) * 49
    ("undefined.but_for_a_hypothesis", SIZE, 1 / (n - 3) < 0, ne(n, 3)),
    ("undefined.swapped_indices", [SIZE, whole("d", 1), PLACE, whole("j", 1, d), sequence("x", (n, d), 0, 1)],
     x[j, i] <= 1),
    ("undefined.no_weights", [SIZE, PLACE, ITEMS],
     1 / total(k, 1, i - 1, exp(s[k])) >= 0),  # the first token sees nobody
    ("undefined.negative_size", [WHOLE, sequence("s", n - 3, 0, 1)], total(i, 1, n - 3, s[i]) < n - 3),
]

# -- sharp: a best bound, a little better -----------------------------------------------------------------------------

_TIGHT, _TIGHTER, _ABOVE = _q(999, 1000), _q(9999, 10000), _q(1001, 1000)

SHARP = [
    ("sharp.parabola", UNIT, PARABOLA <= _TIGHT / 4),
    ("sharp.parabola_ten_digits", UNIT, PARABOLA <= _q(1, 4) - _ten(-10)),
    ("sharp.parabola_off_centre", UNIT, x * (2 - 3 * x) <= THIRD - _ten(-12)),  # at x = 1/3
    ("sharp.cubic", UNIT, x**2 * (1 - x) <= _TIGHTER * 4 / 27),  # at x = 2/3
    ("sharp.means", QUADRANT, x * y <= _TIGHTER * ((x + y) / 2) ** 2),
    ("sharp.three_means", [*QUADRANT, positive("z")],
     27 * x * y * z <= _TIGHTER * (x + y + z) ** 3),  # at x = 1, y = 1, z = 1
    ("sharp.cauchy", [*PLANE, REAL_A, REAL_B],
     (a * x + b * y) ** 2 <= _TIGHT * (a**2 + b**2) * (RADIUS2)),  # at x = 1, y = 1, a = 1, b = 1
    ("sharp.cauchy_sequences", VECTORS,
     PRODUCTS**2 <= _TIGHTER * SQUARES * _sum(t[i] ** 2)),  # at n = 2, s = (1, 2), t = (1, 2)
    ("sharp.triangle", PLANE, absolute(x + y) <= _TIGHT * (MODULI)),
    ("sharp.tangent_of_exp", REAL, _q(10001, 10000) * exp(1) * x <= exp(x)),  # at x = 1
    ("sharp.linear_exp", REAL, 1 + _ABOVE * x <= exp(x)),  # at x = 1/1000
    ("sharp.log", POSITIVE, log(x) <= _TIGHT * (x - 1)),  # at x = 1001/1000
    ("sharp.tanh", TO_THREE, tanh(x) <= _TIGHTER * x),  # at x = 1/100
    ("sharp.jordan", real("x", 0, PI / 2), _ABOVE * 2 / PI * x <= sin(x)),  # at x = 157/100
    ("sharp.x_exp", RIGHT, x * exp(-x) <= _TIGHTER * exp(-1)),  # at x = 1
    ("sharp.x_log", HALF_OPEN, -x * log(x) <= _TIGHTER * exp(-1)),  # at x = 368/1000
    ("sharp.entropy", INNER, -x * log(x) - (1 - x) * log(1 - x) <= _TIGHTER * LOG2),
    ("sharp.pinsker", [real("p", 0, 1, open=True), real("q", 0, 1, open=True)],
     _ABOVE * 2 * (p - q) ** 2 <= p * log(p / q) + (1 - p) * log((1 - p) / (1 - q))),  # at p = 1/2, q = 51/100
    ("sharp.hoeffding", REAL, log((exp(x) + exp(-x)) / 2) <= _TIGHT * x**2 / 2),  # at x = 1/100
    ("sharp.young", PLANE, x * y <= _q(499, 1000) * (RADIUS2)),
    ("sharp.sum_of_inverse", POSITIVE, 2 + _ten(-4) <= x + 1 / x),
    ("sharp.nesbitt", [*QUADRANT, positive("z")],
     _q(15001, 10000) <= x / (y + z) + y / (z + x) + z / (x + y)),  # at x = 1, y = 1, z = 1
    ("sharp.three_squares", [*PLANE, REAL_Z],
     _q(10001, 10000) * (x * y + y * z + z * x) <= RADIUS2 + z**2),  # at x = 1, y = 1, z = 1
    ("sharp.lipschitz", PLANE, absolute(sin(x) - sin(y)) <= _TIGHT * absolute(x - y)),  # at x = 0, y = 1/100
    ("sharp.sigmoid_slope", PLANE, absolute(_sigmoid(x) - _sigmoid(y))
     <= _TIGHTER * absolute(x - y) / 4),  # at x = 1/1000, y = -1/1000
    ("sharp.likelihood_ratio", [real("m", 0, 1, open=True), real("r", 1, open="low")],
     (r - 1) / (r - m) * (1 - m) <= _TIGHT * tanh(log(r / m) / 4)),  # at m = 1/4, r = 4
    ("sharp.sphere3", ball("v", 3, 1), v[1] * v[2] + v[2] * v[3] + v[3] * v[1] <= _TIGHTER),  # at v = (57735/10^5,) * 3
    ("sharp.power_means", NONNEGATIVE, SUM**3 <= _TIGHT * n**2 * _sum(s[i] ** 3)),  # at n = 3, s = (1, 1, 1)
    ("sharp.four_corners", [real(name, -1, 1) for name in "xyz"],
     x * y * z - x - y + z <= 4 - TINY),  # at x = -1, y = -1, z = 1
]

# -- strict: equality is attained -------------------------------------------------------------------------------------

STRICT = [
    ("strict.exp", REAL, 1 + x < exp(x)),
    ("strict.log", POSITIVE, log(x) < x - 1),
    ("strict.log_elsewhere", POSITIVE, log(x) < 7 * x / 5 - 1 + log(_q(5, 7))),  # at x = 5/7
    ("strict.means", QUADRANT, sqrt(x * y) < (x + y) / 2),
    ("strict.sum_of_inverse", POSITIVE, x + 1 / x > 2),
    ("strict.triangle", PLANE, absolute(x + y) < MODULI),
    ("strict.tanh", RIGHT, tanh(x) < x),
    ("strict.cosine", REAL, cos(x) < 1),
    ("strict.sine", REAL, sin(x) < 1),  # at pi/2: no fraction is
    ("strict.sine_below_identity", REAL, absolute(sin(x)) < absolute(x)),
    ("strict.monotone", PLANE, implies(x <= y, exp(x) < exp(y))),
    ("strict.least", PLANE, least(x, y) < (x + y) / 2),
    ("strict.sum_of_places", SIZE, _sum(i) < n**2),
    ("strict.power_of_two", ANY_SIZE, n + 1 < exp(n * LOG2)),
    ("strict.inverse_size", SIZE, 1 / n < 1),
    ("strict.cauchy", VECTORS, PRODUCTS**2 < SQUARES * _sum(t[i] ** 2)),
    ("strict.sum_and_largest", NONNEGATIVE, SUM < n * MOST),
    ("strict.polynomial", REAL, 9 * x**4 - 12 * x**3 + 4 * x**2 + (3 * x - 2) ** 2 > 0),  # at x = 2/3
    ("strict.convex", [*SQUARE, real("t", 0, 1)], (t * x + (1 - t) * y) ** 2 < t * x**2 + (1 - t) * y**2),
    ("strict.constant", REAL, x * 0 < (x - x) ** 2),
]

# -- supremum: another value, not attained, a family that leaves the domain ------------------------------------------

SUPREMA = [
    ("supremum.too_small", UNIT, supremum(PARABOLA, _TIGHT / 4, {x: HALF})),  # bound at x = 1/2
    ("supremum.too_large", UNIT, supremum(PARABOLA, _q(26, 100), {x: HALF})),  # attained
    ("supremum.outside", real("x", 0, 1, open="high"), supremum(x, 1, {x: 1})),  # attained
    ("supremum.strict_but_attained", [UNIT, STEP],
     supremum(PARABOLA, _q(1, 4), {x: HALF - u / 2}, u, 1, attained=False)),  # bound at x = 1/2
    ("supremum.strict_at_an_end", [RIGHT, STEP], supremum(exp(-x), 1, {x: u}, u, 1, attained=False)),  # bound at x = 0
    ("supremum.slower", [POSITIVE, STEP], supremum(x / (1 + x), 1, {x: 1 / u}, u, HALF)),  # approached at u = 1/2
    ("supremum.tanh_too_small", [REAL, STEP],
     supremum(tanh(x), _TIGHTER, {x: 1 / u}, u, 1, attained=False)),  # bound at x = 10
    ("supremum.tanh_too_large", [REAL, STEP],
     supremum(tanh(x), 1 + _ten(-6), {x: 1 / u}, u, 1, attained=False)),  # approached at u = 10^-7
    ("supremum.leaves_the_domain", [UNIT, STEP], supremum(x, 1, {x: 1 - 2 * u}, u, 2)),  # approached at u = 1
    ("supremum.arcus_decimals", [REAL, STEP],
     supremum(atan(x), _q(157, 100), {x: 1 / u}, u, 1, attained=False)),  # bound at x = 2000
    ("supremum.arcus_22_14", [REAL, STEP],
     supremum(atan(x), _q(22, 14), {x: 1 / u}, u, 1, attained=False)),  # approached at u = 10^-8
    ("supremum.parameter", [real("c", 0), REAL], supremum(x * (c - x), c / 4, {x: c / 2})),
    ("supremum.sine_on_the_unit", UNIT, supremum(sin(x), 1, {x: 1})),  # attained
    ("supremum.forgotten_side", real("x", -2, 1), supremum(x**2, 1, {x: 1})),  # bound at x = -2
    ("supremum.simplex", [UNIT, real("y", 0, 1 - x)], supremum(x * y, THIRD, {x: HALF, y: HALF})),  # attained
    ("supremum.ablation", [REAL, TOKENS, STEP],
     supremum(-log(1 + (t - 1) * exp(-x)), -log(1 + _ten(-3)), {x: 1 / u}, u, t, attained=False)),
    ("supremum.wrong_family", [INNER, STEP],
     supremum(x * (2 - x), 1, {x: 1 - u / 2}, u, _ten(-3))),  # approached at u = 1
]

# -- limit: another value, a rate too small, no rate ------------------------------------------------------------------

LIMITS = [
    ("limit.sinc_rate", STEP, limit(sin(u) / u, 1, u, _q(1, 1000))),
    ("limit.sinc_value", STEP, limit(sin(u) / u, _TIGHTER, u, 1)),  # gap at u = 10^-5
    ("limit.quotient_of_exp", STEP, limit((exp(u) - 1) / u, 1, u, HALF)),
    ("limit.no_rate_at_all", STEP, limit((1 - cos(u)) / u**2, HALF, u, 0)),
    ("limit.curvature", STEP, limit((1 - cos(u)) / u**2, THIRD, u, 1)),
    ("limit.log_rate", STEP, limit(log(1 + u) / u, 1, u, THIRD)),
    ("limit.root", STEP, limit(sqrt(u), 0, u, 1000)),  # gap at u = 10^-7
    ("limit.u_log_u", STEP, limit(u * log(u), 0, u, 50)),  # gap at u = 10^-22
    ("limit.near_value", STEP, limit(u**2, _ten(-8), u, 1)),  # gap at u = 10^-9
    ("limit.far_root", FAR, limit(1 / sqrt(t), 0, t, 1000)),  # gap at t = 10^7
    ("limit.log_over_t", FAR, limit(log(t) / t, 0, t, 10)),  # gap at t = 30000
    ("limit.log_over_t_far", FAR, limit(log(t) / t, 0, t, 100)),  # gap at t = 10^44
    ("limit.t_log", FAR, limit(t * log(1 + 1 / t), 1, t, THIRD)),  # gap at t = 10
    ("limit.euler", SIZE, limit(COMPOUND, exp(1), n, 1)),  # gap at n = 10
    ("limit.euler_decimals", SIZE, limit(COMPOUND, _q(27182, 10000), n, 2)),  # gap at n = 10^6
    ("limit.basel", SIZE, limit(_sum(1 / i**2), _q(164, 100), n, 2)),  # gap at n = 1000
    ("limit.share", [FAR, RIGHT], limit(exp(x) / (exp(x) + t - 1), 0, t, exp(x) / 2)),
    ("limit.angle", STEP, limit(atan(1 / u), _q(11, 7), u, 1)),  # gap at u = 10^-6
    ("limit.alternating", SIZE, limit(cos(PI * n) / 2, 0, n, 10**3)),  # gap at n = 3000
    ("limit.log_of_rest", TOKENS, limit(log(t) - log(t - 1), 0, t, 1)),  # gap at t = 4
]

# -- minimiser: another place, two of them, none in the domain --------------------------------------------------------

MINIMISERS = [
    ("minimiser.two", REAL, unique_minimiser((x**2 - 1) ** 2, {x: 1})),  # only least there at x = -1
    ("minimiser.elsewhere", UNIT, unique_minimiser((x - THIRD) ** 2, {x: HALF})),
    ("minimiser.saddle", WIDE, unique_minimiser(x**4 - x**2, {x: 0})),
    ("minimiser.local", real("x", -3, 3), unique_minimiser(x**3 - 3 * x, {x: 1})),
    ("minimiser.plateau", REAL, unique_minimiser(absolute(x) + absolute(x - 1), {x: 0})),
    ("minimiser.flat", REAL, unique_minimiser(largest(0, absolute(x) - 1), {x: 0})),
    ("minimiser.constant", PLANE, unique_minimiser(x - y + (y - x), {x: 0, y: 0})),
    ("minimiser.hyperbola", [WIDE, WIDE_Y], unique_minimiser(x * y, {x: 0, y: 0})),
    ("minimiser.open_end", INNER, unique_minimiser((x - 1) ** 2, {x: 1})),  # in the domain
    ("minimiser.outside", real("x", 1, 2), unique_minimiser(x**2, {x: 0})),  # in the domain
    ("minimiser.almost_e", POSITIVE,
     unique_minimiser(x * log(x), {x: _q(367879, 10**6)})),  # only least there at x = 36787944/10^8
    ("minimiser.tilted_wells", REAL,
     unique_minimiser((x**2 - 1) ** 2 + x / 10**9, {x: 1})),  # only least there at x = -1
    ("minimiser.tilt_moves_it", TO_THREE,
     unique_minimiser((x**2 - 1) ** 2 + x / 10**6, {x: 1})),  # only least there at x = 1 - 1/(9 * 10^6)
    ("minimiser.parameter", PLANE, unique_minimiser((x - y) ** 2, {x: 0})),
    ("minimiser.ripple", REAL, unique_minimiser(x**2 + sin(50 * x) / 100, {x: 0})),
    ("minimiser.deep_far_well", real("x", 0, 100),
     unique_minimiser((x - 2) ** 2 - 10**4 * exp(-10**4 * (x - _q(617, 10)) ** 2),
     {x: 2})),  # only least there at x = 617/10
    ("minimiser.second_period", real("x", 0, 10), unique_minimiser(cos(x), {x: PI})),  # and at 3 pi, no fraction
    # Himmelblau's function is 0 at (3, 2) and at three more places, all of them irrational: (-2.805.., 3.131..), ..
    ("minimiser.himmelblau", PLANE, unique_minimiser((x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2, {x: 3, y: 2})),
]

# -- zero: none, two, outside its box ---------------------------------------------------------------------------------

ZEROS = [
    ("zero.two", WIDE, unique_zero([x**2 - _q(1, 4)], {"x": (0, 1)})),  # elsewhere at x = -1/2
    ("zero.three", real("x", -2, 2), unique_zero([x**3 - x], {"x": (-HALF, HALF)})),
    ("zero.sine", UNIT, unique_zero([sin(10 * x)], {"x": (_q(1, 5), _q(2, 5))})),
    ("zero.two_pairs", SQUARE, unique_zero([x + y - _q(5, 6), x * y - _q(1, 6)],
     {"x": (_q(2, 5), _q(3, 5)), "y": (_q(1, 5), _q(2, 5))})),  # elsewhere at x = 1/3, y = 1/2
    ("zero.box_outside", UNIT, unique_zero([x - HALF], {"x": (THIRD, 2)})),  # box in the domain
    ("zero.beside_the_box", UNIT, unique_zero([x - _q(3, 4)], {"x": (0, HALF)})),
    ("zero.on_the_edge", UNIT, unique_zero([x - HALF], {"x": (HALF, 1)})),
    ("zero.plateau", UNIT, unique_zero([absolute(x - THIRD) + absolute(x - _q(2, 3)) - THIRD],
     {"x": (_q(1, 4), _q(2, 5))})),
    ("zero.at_an_end", real("x", 0, 4), unique_zero([x * (x - 1) * (x - 4)], {"x": (HALF, 2)})),
    # From here on no point refutes: the second zero is irrational, or the box itself holds none or two (for Krawczyk).
    ("zero.second_root_of_two", real("x", -2, 2), unique_zero([x**2 - 2], {"x": (1, 2)})),  # -sqrt(2)
    ("zero.line_and_circle", [WIDE, WIDE_Y],
     unique_zero([RADIUS2 - 1, x - y], {"x": (HALF, 1), "y": (HALF, 1)})),  # both -1/sqrt(2)
    ("zero.none", WIDE, unique_zero([x**2 + 1], {"x": (-HALF, HALF)})),
    ("zero.none_by_a_hair", WIDE, unique_zero([x**2 + _ten(-30)], {"x": (-HALF, HALF)})),
    ("zero.line_beside_circle", [TO_THREE, real("y", 0, 3)],
     unique_zero([RADIUS2 - 1, x + y - 3], {"x": (1, 2), "y": (1, 2)})),
    ("zero.two_in_the_box", UNIT, unique_zero([(x - _q(1, 4)) * (x - _q(3, 4))], {"x": (_q(1, 8), _q(7, 8))})),
    ("zero.two_close_in_the_box", UNIT, unique_zero([(x - HALF) ** 2 - _ten(-20)], {"x": (_q(1, 8), _q(7, 8))})),
]

# -- witness: what is named does not do ------------------------------------------------------------------------------

WITNESSES = [
    ("witness.half", UNIT, exists({x: HALF}, eq(x**2, HALF))),
    ("witness.rounded_root", REAL, exists({x: _q(14142135623730951, 10**16)}, eq(x**2, 2))),  # witness
    ("witness.root_below", REAL, exists({x: ROOT2}, both(eq(x**2, 2), x <= _q(14142, 10**4)))),
    # (The second part of the last one is false, 2 > 1.4142^2; the first is an equality of roots.)
    ("witness.smaller", PLANE, exists({y: x / 2}, y < x)),  # witness at x = -1
    ("witness.inverse", PLANE, exists({y: 1 / x}, eq(x * y, 1))),  # witness at x = 0
    ("witness.pi", REAL, exists({x: _q(245850922, 78256779)}, eq(x, PI))),  # witness
    ("witness.outside", real("x", HALF, 1), exists({x: THIRD}, x < 1)),
    ("witness.beyond_the_end", SQUARE, exists({y: x + 1}, x < y)),
    ("witness.quantifiers_swapped", [SIZE, POSITIVE],
     exists({x: _ten(-6)}, x * n <= 1)),  # witness at n = 10^6 + 1
    ("witness.bound_of_all", PLANE, exists({y: 10**5}, x <= y)),  # witness at x = 10^6
    ("witness.root", PLANE, exists({y: sqrt(x)}, eq(y**2, x))),  # witness at x = -1
    ("witness.logarithm", [RIGHT, REAL_Y], exists({y: log(x)}, eq(exp(y), x))),  # witness at x = 0
    ("witness.continuity", [REAL, REAL_Y, positive("e"), positive("d")],
     exists({d: e / 2}, implies(absolute(x - y) <= d,
     absolute(x**2 - y**2) <= e))),  # witness at x = 10, y = 99/10, e = 1
    ("witness.two_squares", PLANE, exists({x: _q(3, 5), y: _q(4, 5)}, both(eq(RADIUS2, 1), y < x))),
    ("witness.hypothesis_lost", PLANE, exists({x: 1, y: 2}, eq(x + y, 3)), y < x),
]

# -- iff: one direction only -----------------------------------------------------------------------------------------

EQUIVALENCES = [
    ("iff.square_is_one", REAL, iff(eq(x**2, 1), eq(x, 1))),
    ("iff.order_of_squares", PLANE, iff(x <= y, x**2 <= y**2)),
    ("iff.sign_of_product", PLANE, iff(x * y > 0, both(x > 0, y > 0))),
    ("iff.small_square", REAL, iff(x**2 <= 1, x <= 1)),
    ("iff.modulus", REAL, iff(absolute(x) < 1, x < 1)),
    ("iff.exp_above_one", REAL, iff(exp(x) > 1, x >= 0)),
    ("iff.equal_moduli", PLANE, iff(eq(x, y), eq(absolute(x), absolute(y)))),
    ("iff.sum_and_all", VECTOR, iff(eq(SUM, 0), eq(SQUARES, 0))),  # at n = 2, s = (1, -1)
    ("iff.factor", REAL, iff(eq((x - 1) * (x - 2), 0), eq(x, 1))),
    ("iff.far_factor", REAL, iff(eq((x - 1) * (x - _q(355, 113)), 0), eq(x, 1))),  # at x = 355/113
    ("iff.square_of_size", WHOLE, iff(n**2 <= 16, n <= 4)),
    ("iff.largest", PLANE, iff(eq(largest(x, y), x), y < x)),
    ("iff.inverse", REAL, iff(1 / x < 1, x > 1), ne(x, 0)),
    ("iff.threshold", UNIT, iff(_q(2, 9) <= PARABOLA, THIRD <= x)),
    ("iff.threshold_digits", UNIT, iff(_q(2, 9) <= PARABOLA,
     both(_q(333, 1000) <= x, x <= _q(2, 3)))),  # at x = 3332/10000
    ("iff.window", [SLOPE, SIZE, EPS],
     iff(exp(-slope * n) <= e, -log(e) / slope <= n + 1)),
    ("iff.rotated", [*PLANE, REAL_Z], iff(both(x < y, y < z), x < z)),
    ("iff.two_relations", PLANE, iff(RADIUS2 <= 2 * x * y, either(x < y, y < x))),
    ("iff.triangle_is_equality", PLANE, iff(eq(absolute(x + y), MODULI), x * y > 0)),
]

# -- sums: index slips, wrong sizes, swapped subscripts ---------------------------------------------------------------

_geometric = total(i, 0, n - 1, exp(a * i)) * (exp(a) - 1)
_TABLE = [SIZE, MATRIX, ITEMS]

SUMS = [
    ("sum.places", SIZE, eq(_sum(i), n * (n - 1) / 2)),
    ("sum.squares", SIZE, eq(_sum(i**2), n * (n + 1) * (2 * n - 1) / 6)),
    ("sum.odd", SIZE, eq(_sum(2 * i + 1), n**2)),
    ("sum.ones", SIZE, eq(total(i, 2, n, 1), n)),
    ("sum.from_zero", SIZE, eq(total(i, 0, n, 1), n)),
    ("sum.geometric", [SIZE, REAL_A], eq(_geometric, exp(a * (n + 1)) - 1)),
    ("sum.geometric_at_one", [SIZE, REAL_A], eq(total(i, 0, n - 1, exp(a * i)), (exp(a * n) - 1) / (exp(a) - 1))),
    ("sum.telescope", SIZE, eq(_sum(1 / (i * (i + 1))), 1 - 1 / n)),
    ("sum.telescope_items", TWO_OR_MORE, eq(total(i, 1, n - 1, s[i + 1] - s[i]), s[n] - s[2])),
    ("sum.pairs", SIZE, eq(_sum(total(j, i + 1, n, 1)), n**2 / 2)),
    ("sum.pairs_with_diagonal", SIZE, eq(_sum(total(j, i, n, 1)), n * (n - 1) / 2)),
    ("sum.shifted", TWO_OR_MORE, eq(total(i, 1, n - 1, s[i + 1]), total(i, 1, n - 1, s[i]))),
    ("sum.split_twice", [SIZE, whole("m", 1, n), ITEMS],
     eq(SUM, total(i, 1, m, s[i]) + total(i, m, n, s[i]))),
    ("sum.abel", [AT_LEAST_2, ITEMS, sequence("t", n)],
     eq(total(i, 1, n - 1, s[i] * (t[i + 1] - t[i])),
     s[n] * t[n] - s[1] * t[1] - total(i, 1, n - 1, t[i] * (s[i + 1] - s[i])))),
    ("sum.reversed_weights", VECTOR, eq(_sum(i * s[n + 1 - i]), _sum(i * s[i]))),
    ("sum.reversed_half", VECTOR, eq(_sum((n - i) * s[i]), _sum(i * s[n + 1 - i]))),
    ("sum.swapped", _TABLE, eq(_sum(_sum(x[i, j] * s[j], j)), _sum(_sum(x[j, i] * s[j], j)))),
    ("sum.symmetric", [SIZE, PLACE, whole("j", 1, n), MATRIX], eq(x[i, j], x[j, i])),
    ("sum.trace_of_square", [SIZE, MATRIX],
     eq(_sum(_sum(x[i, j] * x[j, i], j)), _sum(_sum(x[i, j] ** 2, j)))),
    ("sum.product_order", [SIZE, MATRIX, sequence("y", (n, n))],
     eq(_sum(x[1, k] * y[k, n], k), _sum(y[1, k] * x[k, n], k))),
    ("sum.factorial", SIZE, eq(fold("prod", i, 1, n + 1, i), n * FACTORIAL)),
    ("sum.weighted_factorials", SIZE, eq(_sum(k * fold("prod", i, 1, k, i), k), fold("prod", i, 1, n + 1, i))),
    ("sum.square_of_sum", VECTOR, eq(SUM**2, SQUARES)),
    ("sum.product_of_sums", VECTORS, eq(PRODUCTS, SUM * _sum(t[i]))),
    ("sum.variance", TWO_OR_MORE, eq(_sum((s[i] - _sum(s[k], k) / n) ** 2), SQUARES - SUM**2 / (n - 1))),
    ("sum.lagrange", VECTORS, eq(SQUARES * _sum(t[i] ** 2) - PRODUCTS**2,
     _sum(_sum((s[i] * t[j] - s[j] * t[i]) ** 2, j)))),
    ("sum.exp_of_sum", VECTOR, eq(exp(SUM), EXPS)),
    ("sum.log_of_sum", [SIZE, sequence("s", n, 0, open="low")], eq(log(SUM), _sum(log(s[i])))),
    ("sum.largest_of_sum", VECTORS, eq(_most(s[i] + t[i]), MOST + _most(t[i]))),
    ("sum.least_and_largest", VECTOR, eq(fold("min", i, 1, n, s[i]), _most(-s[i]))),
    ("sum.others", [whole("t", 4), whole("i", 1, t)],
     eq(total(k, 1, t, when(both(i - 1 <= k, k <= i + 1), 0, 1)), t - 3)),
    ("sum.delta", [SIZE, whole("j", 0, n)], eq(_sum(when(eq(i, j), 1, 0)), 1)),
    ("sum.window", [SIZE, whole("w", 1), PLACE], eq(_sum(when(both(i - w < k, k <= i), 1, 0), k), w)),
    ("sum.empty_is_one", ANY_SIZE, eq(fold("prod", i, 1, n, 0), _sum(0))),
    ("sum.binomial", REAL_A, eq((1 + a) ** 5, 1 + 5 * a + 10 * a**2 + 10 * a**3 + 5 * a**4)),
    ("sum.bound_by_mean", NONNEGATIVE, n * MOST <= 2 * SUM),
]

# -- monotone: it is not, or the other way ----------------------------------------------------------------------------

_PAIR = [real("x", 0), real("y", x)]

MONOTONE = [
    ("monotone.square", [REAL, real("y", x)], x**2 <= y**2),
    ("monotone.x_exp", _PAIR, x * exp(-x) <= y * exp(-y)),
    ("monotone.parabola", [UNIT, real("y", x, 1)], PARABOLA <= y * (1 - y)),
    ("monotone.inverse", PLANE, implies(x < y, 1 / y < 1 / x), ne(x, 0), ne(y, 0)),
    ("monotone.sine", [TO_TWO, real("y", x, 2)], sin(x) <= sin(y)),
    ("monotone.x_log", [HALF_OPEN, real("y", x, 1)], x * log(x) <= y * log(y)),
    ("monotone.cubic", [TO_TWO, real("y", x, 2)], x - x**3 / 6 <= y - y**3 / 6),
    ("monotone.ratio", [real("x", 0, open="low"), real("y", x)], tanh(x) / x <= tanh(y) / y),
    ("monotone.other_logit", [*PLANE, real("z", y)], exp(x) / (exp(x) + exp(y)) <= exp(x) / (exp(x) + exp(z))),
    ("monotone.euler", SIZE, exp((n + 1) * log(1 + 1 / (n + 1))) <= COMPOUND),
    ("monotone.log_over_n", SIZE, log(n + 1) / (n + 1) <= log(n) / n),
    ("monotone.partial_sums", [SIZE, sequence("s", n + 1)], SUM <= total(i, 1, n + 1, s[i])),
    ("monotone.slow_turn", _PAIR, x - x**2 / 10**6 <= y - y**2 / 10**6),  # at x = 5 * 10^5, y = 2 * 10^6
    ("monotone.small_turn", [UNIT, real("y", x, 1)], (x - TINY) ** 2 <= (y - TINY) ** 2),  # at x = 0, y = 10^-5
]

# -- dropped: a hypothesis is gone ------------------------------------------------------------------------------------

DROPPED = [
    ("dropped.at_least_one", RIGHT, x <= x**2),
    ("dropped.sign_of_factor", [*PLANE, real("z", y)], x * y <= x * z),
    ("dropped.sign_of_divisor", PLANE, implies(x <= y, x / y <= 1), ne(y, 0)),
    ("dropped.products", [*PLANE, real("a", x), real("b", y)], x * y <= a * b),
    ("dropped.range", PLANE, 4 * x * y <= (x + y) ** 2 - (x - y) ** 4 / 10**6),
    ("dropped.three_means", [*PLANE, REAL_Z], 27 * x * y * z <= (x + y + z) ** 3),
    ("dropped.order", [real(name) for name in "abxy"], a * x + b * y >= (a + b) * (x + y) / 2),
    ("dropped.order_of_sequences", VECTORS, SUM * _sum(t[i]) <= n * PRODUCTS),
    ("dropped.normalised", [SIZE, sequence("w", n, 0), sequence("v", n)], _sum(w[i] * v[i]) <= _most(v[i])),
    ("dropped.nonnegative_weights", [sequence("v", 3), real("p"), real("q")],
     p * v[1] + q * v[2] + (1 - p - q) * v[3] <= fold("max", i, 1, 3, v[i])),
    ("dropped.two_tokens", [SIZE, ITEMS], exp(s[1]) / EXPS <= 1 - _ten(-40)),  # at n = 1, s = (0,)
    ("dropped.positive_slope", [real("slope", 0, 1), SIZE], exp(-slope * n) < 1),
    ("dropped.window_of_one", [whole("w", 0), SLOPE, real("d", 0)],
     1 / (1 + exp(-d) * (exp(slope * w) - 1)) < 1),
    ("dropped.quadratic", [real(name) for name in "abcx"], implies(b**2 <= 4 * a * c, a * x**2 + b * x + c >= 0)),
    ("dropped.bounded", [REAL, WIDE_Y], absolute(x * y) <= absolute(y)),
    ("dropped.distance", PLANE, absolute(x**2 - y**2) <= 2 * absolute(x - y)),
    ("dropped.likelihood", [real("m", 0), real("r", 0)], (1 - m) * (r - 1) <= (r - m) * absolute(r - 1)),
    ("dropped.mean_of_ratios", [real(name, 0, open="low") for name in "abcd"],
     (a + b) / (c + d) <= least(a / c, b / d)),
    ("dropped.shift", [REAL_A, REAL_B, WIDE, WIDE_Y], absolute(a * x + b * y) <= absolute(a + b)),
]

# -- attention --------------------------------------------------------------------------------------------------------

SOFTMAX = define("softmax", [s, n, i], exp(s[i]) / _sum(exp(s[k]), k))
MEAN = define("mean", [s, v, p, q], total(k, p, q, exp(s[k]) * v[k]) / total(k, p, q, exp(s[k])))
MASS = define("mass", [s, n, p], total(k, p, n, exp(s[k])) / _sum(exp(s[k]), k))
# Distances 0, 1, ..: the token at place k is k - 1 away, and loses slope (k - 1).
BEYOND = define("beyond", [s, n, slope, w], total(k, w + 1, n, exp(s[k] - slope * (k - 1)))
                / _sum(exp(s[k] - slope * (k - 1)), k))
_weight = call("softmax", s, n, i)
_HEAD = [*VECTOR, PLACE]
_SPREAD = [real("d", 0), SIZE, sequence("s", n, 0, d), PLACE]
_ALIBI = [SLOPE, real("d", 0), whole("w", 1), whole("n", w + 1), sequence("s", n, 0, d)]
_ALIBI_EPS = [*_ALIBI, EPS]
_beyond = call("beyond", s, n, slope, w)
_KEYS = [positive("r"), *(real(name, -r, r) for name in "qxy")]
_mean = call("mean", s, v, 1, n)
_KEPT = [AT_LEAST_2, whole("m", 1, n - 1), ITEMS, VALUES]
_lost = _mean - call("mean", s, v, 1, m)
_mass = call("mass", s, n, m + 1)

ATTENTION = [
    ("attention.uniform", _HEAD, _weight <= 1 / n),
    ("attention.below_one", _HEAD, _weight < 1),
    ("attention.positive_by_much", _HEAD, _ten(-30) <= _weight),  # at n = 2, s = (0, 100), i = 1
    ("attention.mass_of_rest", _HEAD, eq(_sum(call("softmax", s, n, k), k) - _weight, (n - 1) / n)),
    ("attention.scale_invariant", _HEAD, eq(call("softmax", each(j, 2 * s[j]), n, i), _weight)),
    ("attention.sharper", _HEAD, _weight <= call("softmax", each(j, 2 * s[j]), n, i)),
    ("attention.linear", [*_HEAD, sequence("t", n)],
     eq(call("softmax", each(j, (s[j] + t[j]) / 2), n, i), (_weight + call("softmax", t, n, i)) / 2)),
    ("attention.spread", _SPREAD, _weight <= _TIGHT / (SPREAD_OUT)),
    ("attention.spread_sharper", [*_SPREAD[:1], whole("n", 3), *_SPREAD[2:]],
     _weight <= _TIGHTER / (SPREAD_OUT), d >= 1),  # at d = 1, n = 3, s = (1, 0, 0), i = 1
    ("attention.spread_counts_itself", _SPREAD, _weight <= 1 / (1 + n * exp(-d))),
    ("attention.half_spread", _SPREAD, _weight <= 1 / (1 + (n - 1) * exp(-d / 2))),
    ("attention.spread_below", _SPREAD, _ABOVE / (1 + (n - 1) * exp(d)) <= _weight),
    ("attention.centred_spread", [real("d", 0), SIZE, sequence("s", n, -d, d), PLACE],
     _weight <= 1 / (SPREAD_OUT)),
    ("attention.window_one_more", _ALIBI, _beyond <= 1 / (1 + exp(-d) * (exp(slope * (w + 1)) - 1))),
    ("attention.window_half_spread", _ALIBI,
     _beyond <= 1 / (1 + exp(-d / 2) * (exp(slope * w) - 1))),  # at slope = 1, d = 2, w = 1, n = 3, s = (0, 2, 2)
    ("attention.window_of_the_formula", _ALIBI,
     _beyond <= _TIGHT * exp(-slope * w)),  # at slope = 5, d = 0, w = 1, n = 3, s = (0, 0, 0)
    # The bound is approached for many tokens and steep slopes: a thousandth less is too little.
    ("attention.window_sharp", _ALIBI,
     _beyond <= _TIGHT / (1 + exp(-d) * (exp(slope * w) - 1))),  # at slope = 5, d = 1, w = 1, n = 3, s = (0, 1, 1)
    ("attention.window_too_short", _ALIBI_EPS,
     implies((d - log(e)) / slope - 1 <= w,
     _beyond < e)),  # at slope = 5, d = 1, w = 1, n = 3, s = (0, 1, 1), e = 9/500
    ("attention.window_without_spread", _ALIBI_EPS,
     implies(-log(e) / slope <= w, _beyond < e)),  # at slope = 1, d = 5, w = 1, n = 3, s = (0, 5, 5), e = 1/2
    ("attention.window_iff", _ALIBI_EPS,
     iff((d - log(e)) / slope <= w, _beyond < e)),  # at slope = 1, d = 1, w = 1, n = 2, s = (0, 0), e = 1/2
    # Queries and keys in [-r, r]: products differ by up to 2 r^2, and exceed the query's own by up to r^2/4.
    ("attention.logit_range", _KEYS, q * x - q * y <= r**2),
    ("attention.logit_range_sharp", _KEYS, q * x - q * y <= _q(19999, 10000) * r**2),  # at r = 1, q = 1, x = 1, y = -1
    ("attention.self_gap", _KEYS, q * x - q**2 <= _TIGHT * r**2 / 4),  # at r = 2, q = 1, x = 2, y = 0
    ("attention.printed_scope", [*_KEYS, SLOPE, SIZE, EPS],
     implies(r**2 - log(e) <= slope * n,
     1 / (1 + exp(q * x - q * y + slope * n)) < e)),  # at r = 2, q = 2, x = -2, y = 2, slope = 5, n = 1, e = 1/2
    ("attention.truncation", _KEPT, eq(_lost, _mass * (call("mean", s, v, m + 1, n) - _mean))),
    ("attention.truncation_bound", _KEPT, absolute(_lost) <= _TIGHT * _mass),  # at n = 2, m = 1, s = (0, 0), v = (0, 1)
    ("attention.truncation_second_order", _KEPT, absolute(_lost) <= _mass**2),
    ("attention.output_below_largest", [*VECTOR, sequence("v", n)], _mean < fold("max", k, 1, n, v[k])),
    ("attention.output_by_uniform", [*VECTOR, VALUES], _mean <= _sum(v[k], k) / n),
    ("attention.strict_mask", [SIZE, PLACE, ITEMS, VALUES],
     call("mean", s, v, 1, i - 1) <= 1),
    ("attention.causal_is_full", [SIZE, PLACE, ITEMS, VALUES],
     absolute(call("mean", s, v, 1, i) - _mean) <= _q(9, 10)),  # at n = 2, i = 1, s = (0, 5), v = (0, 1)
    ("attention.two_logits", PLANE,
     absolute(_sigmoid(x) - _sigmoid(y)) <= _TIGHT * tanh(absolute(x - y) / 4)),  # at x = 1, y = -1
    ("attention.two_logits_eighth", PLANE,
     absolute(_sigmoid(x) - _sigmoid(y)) <= tanh(absolute(x - y) / 8)),  # at x = 1, y = -1
    # Logits that move by at most w each spread by 2w: the distance may be tanh(w/2), twice what is claimed.
    ("attention.perturbed", [*VECTOR, positive("w"), sequence("t", n, -w, w)],
     _sum(absolute(call("softmax", each(j, s[j] + t[j]), n, k) - call("softmax", s, n, k)), k) / 2
     <= tanh(w / 4)),  # at n = 2, s = (0, 0), w = 1, t = (1, -1)
    ("attention.log_sum_exp", VECTOR, log(EXPS) <= MOST + _TIGHT * log(n)),
    ("attention.log_sum_mean", VECTOR, log(EXPS) <= SUM / n + log(n)),
    ("attention.log_sum_is_largest", VECTOR, log(EXPS) <= MOST),
    ("attention.entropy", TWO_OR_MORE, -_sum(_weight * log(_weight)) <= _TIGHT * log(n)),
    ("attention.scope_sum", [SLOPE, SIZE],
     eq(total(k, 0, n - 1, exp(-slope * k)), (1 - exp(-slope * (n + 1))) / (1 - exp(-slope)))),
    ("attention.shifted_range", [REAL_A, REAL_B, WIDE, WIDE_Y],
     absolute(a * x + b * y) <= largest(absolute(a), absolute(b))),
    ("attention.value_residual", [REAL_A, REAL_B, *(real(name, 0, 1) for name in "xyzw")],
     absolute(a * x + b * z - a * y - b * w) <= absolute(a + b)),
]

# -- planted: the one-repeat task by brute force against closed forms with one thing wrong ----------------------------

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


def _closed(t, a, b, c, d, edges=2, others=None):
    S, row = _table(t, a, b, c, d)
    others = t - 4 if others is None else others
    gaps = {name: exp((row[name] - row["target"]) / S) for name in row}
    return log(1 + gaps["repeated"] + edges * gaps["edge"] + others * gaps["other"])


_truth = _closed(t, a, b, c, d)
_LOSSES = {
    "alphas_swapped": _closed(t, b, a, c, d),
    "betas_swapped": _closed(t, a, b, d, c),
    "sign_of_alpha1": _closed(t, -a, b, c, d),
    "sign_of_alpha2": _closed(t, a, -b, c, d),
    "sign_of_beta1": _closed(t, a, b, -c, d),
    "sign_of_beta2": _closed(t, a, b, c, -d),
    "one_token_more": _closed(t + 1, a, b, c, d),
    "half_a_token_more": _closed(t + HALF, a, b, c, d),
    "one_edge": _closed(t, a, b, c, d, edges=1),
    "others_less_three": _closed(t, a, b, c, d, others=t - 3),
    "excess": _truth - log(t),
    "a_billionth_more": _truth * (1 + NANO),
    "temperature": _closed(t, a / 2, b / 2, c, d),
    "bits": _truth / LOG2,
    "last_class_lost": _closed(t, a, b, c, d, others=0),
    "right_for_four": _closed(t, a, b, c, d, others=(t - 4) * (9 - t) / 4),
}
_S, _ROW = _table(t, a, b, c, d)
_TABLES = {
    "edge_with_alpha2": (i - 1, (c + d * exp(b)) / _S),
    "edge_betas_swapped": (i - 1, (d + c * exp(a)) / _S),
    "edge_with_a_minus": (i - 1, (c - d * exp(a)) / _S),
    "last_token_is_other": (t, _ROW["other"] / _S),
    "repeated_counted_once": (i, (c * exp(a) + d * exp(b)) / _S),
    "repeated_with_alpha2": (i, (2 * c * exp(b) + d * exp(b)) / _S),
    "target_without_beta2": (i + 1, c * exp(b) / _S),
    "target_with_alpha1": (i + 1, (c * exp(b) + d * exp(a)) / _S),
    "partition_of_one_more": (i + 1, _ROW["target"] / (_S + 1)),
    "partition_with_one_key": (i + 1, _ROW["target"] / (_S - exp(a))),
    "partition_swapped": (i + 1, _ROW["target"] / _table(t, b, a, c, d)[0]),
    "partition_of_t": (i, _ROW["repeated"] / (2 * exp(a) + exp(b) + t)),
}
_SLICE = [TOKENS, REAL_A, REAL_B, real("c", 0, 1)]
_slice = _closed(t, a, b, c, 1 - c)

PLANTED = [
    # Each at t = 6, i = 3, a = 1, b = 2, c = 3, d = 1/2.
    *((f"planted.loss_{name}", _INTERIOR, eq(_loss, formula)) for name, formula in _LOSSES.items()),
    ("planted.loss_every_position", [whole("t", 4, 8), whole("i", 1, t - 1), *_PARAMETERS],
     eq(_loss, _truth)),
    ("planted.loss_last_but_one", [whole("t", 4, 8), whole("i", 2, t - 1), *_PARAMETERS],
     eq(_loss, _truth)),  # at t = 4, i = 3, a = 1, b = 0, c = 0, d = 1
    ("planted.loss_unbounded_tokens", [whole("t", 4), whole("i", 2, t - 2), *_PARAMETERS],
     eq(_loss, _closed(t, a, b, c, d,
     others=t - 4 + (t - 4) * (t - 5) * (t - 6) * (t - 7)))),  # at t = 8, i = 3, a = 1, b = 2, c = 3, d = 1/2
    *((f"planted.table_{name}", _INTERIOR, eq(call("logit", token, t, i, a, b, c, d), formula))
      for name, (token, formula) in _TABLES.items()),
    ("planted.slice_minimum_elsewhere", _SLICE, _closed(t, a, b, 0, 1) <= _slice, a >= 0, a <= 1, b >= 0, b <= 1),
    ("planted.slice_minimum_off_the_box", _SLICE, _closed(t, 0, 1, 1, 0) <= _slice),  # at t = 4, a = 0, b = 3, c = 1
    ("planted.slice_minimum_sharp", _SLICE, _q(10001, 10000) * _closed(t, 0, 1, 1, 0) <= _slice, a >= 0, a <= 1, b >= 0,
     b <= 1),  # at t = 4, a = 0, b = 1, c = 1
    ("planted.loss_below_uniform", [TOKENS, *_PARAMETERS], _truth <= log(t)),
    ("planted.loss_of_no_shift", [TOKENS, REAL_A, real("c")],
     log(t) <= _closed(t, a, 0, c, 0)),  # at t = 4, a = 0, c = -1
]

# -- noise: floating point, or digits by evaluation, would say otherwise ---------------------------------------------

_rump = _q(1335, 4) * num(33096) ** 6 + num(77617) ** 2 * (
    11 * num(77617) ** 2 * num(33096) ** 2 - num(33096) ** 6 - 121 * num(33096) ** 4 - 2
) + _q(11, 2) * num(33096) ** 8 + num(77617) / (2 * num(33096))

NOISE = [
    ("noise.nested_root", [], NESTED < ROOT2 + ROOT3),  # the squares are equal
    ("noise.nested_root_turned", [], ROOT2 + ROOT3 < NESTED),  # the squares are equal
    ("noise.nested_root_apart", [], ne(NESTED, ROOT2 + ROOT3)),  # equal
    ("noise.nested_root_and_more", [], eq(NESTED + _ten(-30), ROOT2 + ROOT3)),
    ("noise.root_of_six", [], ROOT2 * ROOT3 < sqrt(6)),  # the squares are equal
    ("noise.inverse_root", [], ROOT3 + ROOT2 < 1 / (ROOT3 - ROOT2)),
    ("noise.cube", [], (1 + ROOT2) ** 3 < 7 + 5 * ROOT2),
    ("noise.exp_of_log", [], exp(log(3)) < 3),
    ("noise.log_of_eight", [], log(8) < 3 * LOG2),  # the exponentials are equal
    ("noise.quarter_pi", [], atan(1) < PI / 4),  # equal
    ("noise.machin", [], 4 * atan(_q(1, 5)) - atan(_q(1, 239)) < PI / 4),  # equal
    ("noise.sixth_of_pi", [], sin(PI / 6) < HALF),  # equal
    ("noise.sine_of_pi", [], ne(sin(PI), 0)),  # equal
    ("noise.tanh_of_log", [], tanh(LOG2) < _q(3, 5)),
    ("noise.tenths", [], total(i, 1, 10, _q(1, 10)) < 1),
    ("noise.three_tenths", [], eq(Fraction(0.1) + num(Fraction(0.2)), Fraction(0.3))),
    ("noise.fraction_of_a_float", [], eq(10 * num(Fraction(0.1)), 1)),
    ("noise.tiny_square", [], _ten(-40) < (1 + num(_ten(-20))) ** 2 - 1 - 2 * num(_ten(-20))),
    ("noise.absorbed", UNIT, eq(x + _ten(20) - _ten(20), x / 2)),  # at x = 1
    ("noise.next_whole", [], num(10**16) + 1 - 10**16 < 1),
    ("noise.close_roots", real("x", _ten(20)), sqrt(x + 1) <= sqrt(x)),
    ("noise.root_differences", real("x", 1), _ten(-10) <= sqrt(x + 1) - sqrt(x)),  # at x = 10^21
    ("noise.cosine_at_nano", real("x", 0, NANO), cos(x) >= 1),  # at x = 10^-9
    ("noise.exp_at_nano", real("x", 0, NANO), exp(x) - 1 <= x),  # at x = 10^-9
    ("noise.rump", [], _rump >= 0),
    ("noise.rump_as_doubles_have_it", [], _q(117, 100) <= _rump),
    ("noise.sine_of_1e22", [], sin(10**22) >= 0),
    ("noise.three_roots", [], sqrt(10) + sqrt(36) + sqrt(45) <= sqrt(8) + sqrt(34) + sqrt(52)),
    ("noise.saturated", real("x", 20), eq(tanh(x), 1)),  # at x = 20
    ("noise.underflow", real("x", 800, 900), exp(-x) <= 0),  # at x = 800
    ("noise.product_of_overflow", real("x", 800, 900), exp(x) * exp(-x) < 1),
    ("noise.cancelled_exponentials", real("x", 0, 60), exp(x) + 1 - exp(x) <= HALF),
    ("noise.tower", real("x", 0, 60), NANO <= exp(-exp(x))),  # at x = 60
    ("noise.deep_tower", TO_THREE, exp(-exp(exp(exp(exp(x))))) <= 0),  # at x = 0
    ("noise.power_tower", TO_TWO, x**5000 <= 10**6),  # at x = 2
    ("noise.inverse_tower", real("x", -1, 0, open="high"), NANO <= exp(1 / x)),  # at x = -1/100
]

# -- near: almost so ---------------------------------------------------------------------------------------------------

_RAMANUJAN = exp(PI * sqrt(163))

NEAR = [
    ("near.ramanujan", [], eq(_RAMANUJAN, 262537412640768744)),
    ("near.ramanujan_digits", [], 262537412640768744 - _ten(-13) * 7 <= _RAMANUJAN),
    ("near.ramanujan_above", [], _RAMANUJAN >= 262537412640768744),
    ("near.ramanujan_log", [], eq(log(640320**3 + 744) / sqrt(163), PI)),
    ("near.milu", [], absolute(PI - _q(355, 113)) <= _ten(-7)),
    ("near.pi_is_22_7", [], eq(PI, _q(22, 7))),
    ("near.pi_by_lambert", [], eq(PI, _q(245850922, 78256779))),
    ("near.pi_by_roots", [], absolute(ROOT2 + ROOT3 - PI) <= _q(1, 1000)),
    ("near.powers_of_pi", [], eq(PI**4 + PI**5, exp(6))),
    ("near.gelfond", [], eq(exp(PI) - PI, 20)),
    ("near.pi_less_e", [], eq(163 * (PI - exp(1)), 69)),
    ("near.fraction_of_e", [], eq(exp(1), _q(2721, 1001))),
    ("near.fermat_12", [], eq(num(3987) ** 12 + num(4365) ** 12, num(4472) ** 12)),
    ("near.fermat_again", [], eq(num(1782) ** 12 + num(1841) ** 12, num(1922) ** 12)),
    ("near.golden_power", [], eq(((1 + sqrt(5)) / 2) ** 40, 228826127)),
    ("near.silver_power", [], eq((1 + ROOT2) ** 30, 304278004998)),
    ("near.sine_of_355", [], absolute(sin(355)) <= 3 * TINY),
    ("near.cosine_of_355", [], eq(cos(355), -1)),
    ("near.sine_of_eleven", [], eq(sin(11), -1)),
    ("near.tanh_of_twenty", [], eq(tanh(20), 1)),
    ("near.whole_dispersion", SIZE, _ten(-4) <= absolute(sin(n))),  # at n = 355
    ("near.harmonic", SIZE, absolute(_sum(1 / i) - log(n) - 1 / (2 * n) - _q(5772, 10**4))
     <= 1 / (10 * n**2)),  # at n = 200
    ("near.stirling", SIZE, FACTORIAL
     <= sqrt(2 * PI * n) * exp(n * log(n) - n) * (1 + 1 / (12 * n))),  # at n = 1
]

# -- thin: equalities by the back door, so that hardly a point meets the hypotheses ----------------------------------

_circle = RADIUS2

THIN = [
    ("thin.circle", PLANE, x + y <= _q(14, 10), _circle <= 1, _circle >= 1),  # at x = 20/29, y = 21/29
    ("thin.circle_as_an_implication", PLANE, implies(eq(_circle, 1), x + y <= _q(7, 5))),  # at x = 20/29, y = 21/29
    ("thin.nobody_but_axes", PLANE, implies(eq(_circle, 1), eq(x * y, 0))),  # at x = 3/5, y = 4/5
    ("thin.diagonal", SQUARE, x + y < 2, (x - y) ** 2 <= 0),
    ("thin.diagonal_implied", SQUARE, implies(eq(x, y), x * y < 1)),
    ("thin.parabola", PLANE, y < 9, absolute(y - x**2) <= NANO),  # at x = 3, y = 9
    ("thin.hyperbola", QUADRANT, x + y > 2, x * y <= 1, x * y >= 1),
    ("thin.two_equations", PLANE, x <= HALF, x + y >= 1, x + y <= 1, x * y <= _q(2, 9),
     _q(2, 9) <= x * y),  # at x = 2/3, y = 1/3
    ("thin.whole_root", SIZE, n < 17, n**2 <= 289, n**2 >= 289),
    ("thin.pythagoras", [whole(name, 1) for name in "abc"],
     implies(eq(a**2 + b**2, c**2), ne(a + b + c, 1000))),  # at a = 200, b = 375, c = 425
    ("thin.simplex_entropy", [AT_LEAST_2, sequence("p", n, 0, open="low")],
     implies(eq(_sum(p[i]), 1), -_sum(p[i] * log(p[i])) <= _TIGHT * log(n))),  # at n = 2, p = (1/2, 1/2)
    ("thin.simplex_squares", [SIZE, sequence("p", n, 0)], _sum(p[i] ** 2) < 1, _sum(p[i]) <= 1,
     _sum(p[i]) >= 1),  # at n = 1, p = (1,)
    ("thin.sphere", [real(name) for name in "xyz"],
     implies(eq(_circle + z**2, 1), x * y * z <= _q(19, 100))),  # at x = 23/41, y = 24/41, z = 24/41
    ("thin.irrational", TO_TWO, x < _q(14, 10), x**2 <= 2, x**2 >= 2),  # at x = sqrt(2)
    ("thin.substituted", PLANE, y < 4, eq(y, x**2), x <= 2),
    ("thin.orthonormal", [real(name) for name in "abcd"],
     implies(both(eq(a**2 + b**2, 1), eq(c**2 + d**2, 1), eq(a * c + b * d, 0)),
     eq(a * d - b * c, 1))),  # at a = 1, b = 0, c = 0, d = -1
]

# -- the list ---------------------------------------------------------------------------------------------------------

_DEFINED = (SOFTMAX, MEAN, MASS, BEYOND, WORD, IS, AFTER, WEIGHT, LOGIT, LOSS)
_LISTED = (
    *NEEDLES, *CORNERS, *SCALES, *ENDS, *WHOLES, *SIZES, *SYMBOLS, *UNDEFINED, *SHARP, *STRICT, *SUPREMA, *LIMITS,
    *MINIMISERS, *ZEROS, *WITNESSES, *EQUIVALENCES, *SUMS, *MONOTONE, *DROPPED, *ATTENTION, *PLANTED, *NOISE,
    *NEAR, *THIN,
)
FALSE = [stated(f"false.{name}", *said, known=_DEFINED) for name, *said in _LISTED]

# -- forbidden: the way, what tries it, why it is refused -------------------------------------------------------------

_BUILT = {
    "constant.float": lambda: x < 0.5,  # constants are exact
    "constant.float_end": lambda: real("x", 0, 1e6),  # constants are exact
    "constant.numpy_int": lambda: x * np.int64(3),  # an integer that may wrap around is none
    "constant.decimal": lambda: x < Decimal("0.1"),  # constants are exact
    "constant.sympy": lambda: x < sp.Rational(1, 3),  # a foreign term brings its own assumptions
    "constant.string": lambda: x < 3 * "1/10",  # 3 times a string repeats it
    "constant.string_number": lambda: num("1/10"),  # a string is no number
    "constant.bool": lambda: x + True,  # True is no 1
    "constant.bool_node": lambda: Term("num", True),  # True is no 1
    "constant.whole_node": lambda: Term("num", 1),  # a constant is a fraction
    "constant.choice_of_nothing": lambda: choice("p"),  # it has no value
    "constant.choice_of_floats": lambda: choice("l", 0.5, 1.5),  # constants are exact
    "operator.root_by_power": lambda: x**0.5,  # a power has a literal whole exponent
    "operator.power_by_term": lambda: x**n,  # a power has a literal whole exponent
    "operator.power_of_two": lambda: 2**n,  # a power has a literal whole exponent
    "operator.huge_power": lambda: x ** (10**7),  # an exponent has a limit
    "operator.floor": lambda: x // 2,  # there is no such operator
    "operator.remainder": lambda: n % 2,  # there is no such operator
    "operator.builtin_abs": lambda: abs(x),  # absolute() is
    "operator.builtin_max": lambda: max(x, y),  # it would compare, and forget one of them
    "operator.math": lambda: math.sqrt(x),  # a term is no float
    "operator.round": lambda: round(x),  # a term is no float
    "operator.arithmetic_of_formulas": lambda: (x < 1) + 1,  # a formula is no number
    "operator.comparison_of_formulas": lambda: eq(x < 1, y < 1),  # iff() is
    "operator.sequence_as_a_number": lambda: each(i, i) + 1,  # a sequence is no number
    "operator.item_of_a_term": lambda: (x + y)[1],  # only a sequence has items
    "formula.chained": lambda: 0 < x < 1,  # Python would keep the second comparison only
    "formula.and": lambda: x < 1 and y < 1,  # Python would keep one of them only
    "formula.not": lambda: not x < 1,  # it would be False
    "formula.if": lambda: x if x < 1 else y,  # when() is
    "formula.equal_inside": lambda: both(x == y, x < 1),  # == of terms is a bool
    "formula.no_parts": lambda: Term("and"),  # a conjunction has two parts
    "name.space": lambda: real("x "),  # names are ASCII letters and digits
    "name.cyrillic": lambda: real("\u0445"),  # a look-alike is another name
    "name.greek": lambda: var("\u03b1"),  # names are ASCII letters and digits
    "name.empty": lambda: real(""),  # names are ASCII letters and digits
    "name.digit": lambda: var("2x"),  # names are ASCII letters and digits
    "name.function": lambda: var("exp"),  # a function is no variable
    "sequence.ball_of_matrices": lambda: ball("v", (2, 2), 1),  # a size is a number
    "definition.arguments": lambda: stated("f", REAL, call("f", x, x) > 0, known=[define("f", [x], x**2)]),  # one
    "definition.of_itself": lambda: stated("f", REAL, call("f", x) > 0,
     known=[define("f", [x], call("f", x - 1))]),  # a definition uses earlier ones
    "definition.later": lambda: stated("f", REAL, call("f", x) > 0,
     known=[define("f", [x], call("g", x)), define("g", [x], x**2)]),  # a definition uses earlier ones
    "definition.twice": lambda: stated("f", REAL, call("f", x) > 0,
     known=[define("f", [x], -x), define("f", [x], x**2)]),  # a name has one meaning
    "data.number_by_expression": lambda: from_json(["num", "3*1/10"]),  # a number is digits
    "data.number_by_exponent": lambda: from_json(["num", "1e-1"]),  # a number is digits
    "data.division_by_zero": lambda: from_json(["num", "1/0"]),  # a number is digits
    "data.float": lambda: from_json(["num", 0.5]),  # a number is a string
    "data.kind": lambda: from_json(["lambda", "x"]),  # there is no such kind
    "data.function": lambda: from_json(["apply", "gamma", ["var", "x"]]),  # there is no such function
    "data.relation": lambda: from_json(["rel", ">", ["num", "1"], ["num", "0"]]),  # > is written with <
    "data.formula_as_number": lambda: from_json(["add", ["rel", "<", ["num", "0"], ["num", "1"]],
     ["num", "1"]]),  # a formula is no number
    "data.more_fields": lambda: from_data({**FALSE[0].to_json(), "trusted": True}),  # it has others
    "data.variable_field": lambda: Variable.from_json({"name": "x", "positive": True}),  # it has others
    "data.choice_between_ends": lambda: Variable("x", num(0), values=(HALF, THIRD)),  # a choice has no ends
}
_STATED = {
    "formula.equal_operator": (REAL, x == x + 0),  # == of terms is a bool
    "formula.unequal_operator": (REAL, x != x + 0),  # != of terms is a bool
    "formula.true": (REAL, True),  # the conclusion is a formula
    "formula.nothing": (REAL, None),  # the conclusion is a formula
    "formula.function": (REAL, lambda x: x > 0),  # the conclusion is data
    "formula.number": (REAL, x + 1),  # the conclusion is a formula
    "formula.number_given": (REAL, x < 1, x + 1),  # a hypothesis is a formula
    "formula.same_sides": (SQUARE, eq(x * y, x * y)),  # it states nothing
    "formula.same_sides_at_most": (REAL, x <= x),  # it states nothing
    "formula.same_sides_inside": (REAL, both(x**2 >= 0, eq(x + 1, x + 1))),  # it states nothing
    "formula.same_formulas": (REAL, iff(x < 1, x < 1)),  # it states nothing
    "name.undeclared": (REAL, x <= y),  # every name has a domain
    "name.undeclared_given": (REAL, x < 1, y < 1),  # every name has a domain
    "name.undeclared_index": (REAL, total(i, 1, k, x) >= 0),  # every name has a domain
    "name.declared_later": ([real("y", 0, x), UNIT], y <= x),  # ends use earlier variables
    "name.in_its_own_end": (real("x", 0, 2 * x), x >= 0),  # ends use earlier variables
    "name.twice": ([UNIT, real("x", 2, 3)], x > 1),  # a name has one domain
    "name.bound_index_outside": (SIZE, _sum(i) >= i),  # the index lives in its sum
    "sequence.as_a_number": (VECTOR, s <= 1),  # a sequence is no number
    "sequence.of_a_number": (REAL, x[1] <= 1),  # a number has no items
    "sequence.too_few_indices": ([SIZE, MATRIX], x[1] <= 1),  # a matrix has two
    "sequence.real_index": ([*VECTOR, REAL], s[x] <= 1),  # an index is whole
    "sequence.half_index": (VECTOR, s[HALF] <= 1),  # an index is whole
    "sequence.quotient_index": (VECTOR, s[n / 2] <= 1),  # an index is whole by its shape
    "sequence.real_size": ([REAL, sequence("s", x)], s[1] <= 1),  # a size is whole
    "sequence.real_bound": (TOKENS, total(i, 1, t, i) >= 1),  # a bound of a sum is whole
    "sequence.fractional_bound": (SIZE, total(i, 1, n / 2, i) >= 0),  # a bound of a sum is whole
    "given.equality_filter": (PLANE, x + y <= 1, eq(RADIUS2, 1)),  # no drawn point meets it
    "given.equality_in_a_choice": (REAL, x < 3, either(eq(x, 1), eq(x, 2))),  # it is no choice()
    "given.equality_of_itself": (REAL, x < 1, eq(x, cos(x))),  # it is solved for nothing
    "given.equality_of_items": (VECTOR, s[1] < 1, eq(s[1], 0)),  # it is solved for no variable
    "given.whole_equality": ([SIZE, whole("m", 1)], m < 9, eq(m, n**2)),  # write the one by the other
    "given.two_values": (REAL, x < 1, eq(x, 1), eq(x, 2)),  # 1 = 2 is solved for nothing
    "given.false_constant": (REAL, x < 1, eq(0, 1)),  # it is solved for nothing
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
    ("four_to_three", real("t", 4, 3)),
    ("four_and_three", real("t"), t >= 4, t <= 3),
    ("open_point", real("x", 1, 1, open=True)),
    ("half_open_point", real("x", 1, 1, open="low")),
    ("open_point_by_hypotheses", UNIT, x > THIRD, x < THIRD),
    ("no_whole_number", whole("n", THIRD, _q(2, 3))),
    ("whole_between", WHOLE, n > 5, n < 6),
    ("square_root_of_two", SIZE, n**2 >= 2, n**2 <= 2),
    ("positive_below_zero", POSITIVE, x <= 0),
    ("negative_square", REAL, x**2 < 0),
    ("exponential", REAL, exp(x) <= 0),
    ("sine_above_one", REAL, sin(x) > 1),
    ("crossed_ends", [UNIT, real("y", x + 1, x)]),
    ("circular", PLANE, x < y, y < x),
    ("circle_outside_circle", PLANE, RADIUS2 <= 1, (x - 3) ** 2 + y**2 <= 1),
    ("negative_size", [whole("n", -5, -1), ITEMS]),
    ("items_between_crossed_ends", [SIZE, sequence("s", n, 1, 0)]),
    ("negative_radius", [SIZE, real("r", -2, -1), ball("v", n, r)]),
    ("choice_outside", choice("p", 2, 3), p > 3),
    ("choice_between", choice("p", 2, 3), p > 2, p < 3),
    ("undefined_hypothesis", real("x", -2, -1), log(x) < 0),
    ("substituted_outside", [UNIT, real("y", 0, 1)], eq(x, y + 2)),
    ("count", SIZE, _sum(1) < n),
    ("above_the_root", REAL, x**2 <= 2, x >= ROOT2 + _ten(-30)),
    ("means_turned", QUADRANT, (x + y) ** 2 < 4 * x * y),
    ("fermat", [whole(name, 1) for name in "abc"], a**3 + b**3 <= c**3, a**3 + b**3 >= c**3),
    ("sum_of_a_simplex", [SIZE, sequence("p", n, 0)], _sum(p[k], k) <= 1, fold("max", k, 1, n, p[k]) > 1),
)
EMPTY = [
    stated("empty.assumed_by_the_conclusion", POSITIVE, implies(x < 0, x < -1)),
    *(stated(f"empty.{name}", known, _NEVER, *given) for name, known, *given in _EMPTY),
]
