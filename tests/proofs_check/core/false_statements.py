"""False statements in the statement language, written before the refuter was tuned: what a hostile reader would try.

FALSE: statements with a counterexample (a few, marked so, fail in the part of a form that no point refutes).
COUNTEREXAMPLES: for the ids that need one, the part of the statement that fails and a point at which it does. A number
there may be a term: then no fraction will do. What neither has a point there is argued in a comment.
FORBIDDEN: ways that cannot be written at all. EMPTY: statements about no point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import sympy as sp
from flint import arb

from proofs_check.core.domain import Variable
from proofs_check.core.statement import Form, Statement, from_data
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
    from_json,
    implies,
    log,
    ne,
    num,
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

# fmt: off
FALSE: list[Statement] = []
COUNTEREXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {}
EMPTY: list[Statement] = []
Point = dict[str, Any]

a, b, c, d, e, g, h, i, j, k, m, n, p, q, r, s = map(var, "abcdeghijkmnpqrs")
t, u, v, w, x, y, z = map(var, "tuvwxyz")
slope, size = var("slope"), var("size")
REAL, UNIT, SIZE = real("x"), real("x", 0, 1), whole("n", 1)
PLACE = whole("i", 1, n)
PLANE, SQUARE = [real("x"), real("y")], [real("x", 0, 1), real("y", 0, 1)]
QUADRANT = [positive("x"), positive("y")]
VECTOR = [SIZE, sequence("s", n)]
STEP, FAR = real("u", 0, 1, open="low"), real("t", 1)


def _false(
    name: str, variables: Sequence[Variable], says: Term | Form, *given: Term, at: Point | None = None,
    part: str = "conclusion", using: Sequence[Any] = (),
) -> None:
    """One false statement, and where it fails."""
    FALSE.append(statement(f"false.{name}", for_all=variables, given=given, says=says, using=using))
    if at is not None:
        COUNTEREXAMPLES[f"false.{name}"] = part, {key: _exact(value) for key, value in at.items()}


def _exact(value: Any) -> Any:
    return value if isinstance(value, Term) else tuple(map(_exact, value)) if _many(value) else Fraction(value)


def _many(value: Any) -> bool:
    return isinstance(value, tuple | list)


def _q(top: int, under: int = 1) -> Fraction:
    return Fraction(top, under)


def _ten(power: int) -> Fraction:
    return Fraction(10) ** power


def _add(terms: Sequence[Any]) -> Term:
    return reduce(lambda one, other: one + other, terms)


def _times(terms: Sequence[Any]) -> Term:
    return reduce(lambda one, other: one * other, terms)


def _call(name: str, *arguments: Any) -> Term:
    return Term("call", name, *(arg if isinstance(arg, Term) else num(arg) for arg in arguments))


def _square(term: Any) -> Term:
    return term * term


# -- needles: true but for one point, or a region too small to hit by chance ------------------------------------------

_false("needle.third", [UNIT], (x - _q(1, 3)) ** 2 > 0)
_false("needle.22_7", [real("x", 0, 10)], (x - _q(22, 7)) ** 2 > 0, at={"x": _q(22, 7)})
_false("needle.large_denominator", [UNIT], (x - _q(10007, 65537)) ** 2 > 0, at={"x": _q(10007, 65537)})
_false("needle.two", [UNIT], ((x - _q(5, 13)) * (x - _q(7, 11))) ** 2 > 0, at={"x": _q(5, 13)})
_false("needle.plane", SQUARE, (x - _q(1, 3)) ** 2 + (y - _q(2, 7)) ** 2 > 0, at={"x": _q(1, 3), "y": _q(2, 7)})
_false(
    "needle.five_variables",
    [real(f"x{k}", 0, 1) for k in range(1, 6)],
    _add([(var(f"x{k}") - _q(k, 7)) ** 2 for k in range(1, 6)]) > 0,
    at={f"x{k}": _q(k, 7) for k in range(1, 6)},
)
_false("needle.billionth", [UNIT], _ten(-18) <= (x - _q(1, 3)) ** 2, at={"x": _q(1, 3)})
_false("needle.gauss", [UNIT], 2 * exp(-(10**12) * (x - _q(1, 3)) ** 2) < 1, at={"x": _q(1, 3)})
_false("needle.gauss_off_grid", [real("x", -5, 5)], exp(-(10**16) * (x - _q(7310585, 10**7)) ** 2) <= _q(1, 2),
       at={"x": _q(7310585, 10**7)})
_false("needle.lorentz", [real("x", -9, 9)], 1 / (1 + 10**16 * (x - _q(3, 10)) ** 2) <= _q(1, 2), at={"x": _q(3, 10)})
_false("needle.square_bump", [UNIT], when(both(_q(1, 3) <= x, x <= _q(1, 3) + _ten(-9)), -1, 1) > 0, at={"x": _q(1, 3)})
_false("needle.value_at_a_point", [UNIT], when(eq(x, _q(2, 7)), -1, 1) > 0, at={"x": _q(2, 7)})
_false("needle.on_the_diagonal", SQUARE, when(eq(x, y), -x, 1) > 0, at={"x": 1, "y": 1})
_false("needle.diagonal", SQUARE, (x - y) ** 2 > 0)
_false("needle.antidiagonal", SQUARE, (x + y - 1) ** 2 + (x * y - _q(2, 9)) ** 2 > 0, at={"x": _q(1, 3), "y": _q(2, 3)})
_false("needle.curve", PLANE, (y - x**2) ** 2 + (x - _q(1, 7)) ** 2 > 0, at={"x": _q(1, 7), "y": _q(1, 49)})
_false("needle.rosenbrock", PLANE, (x - _q(2, 3)) ** 2 + 100 * (y - x**2) ** 2 > 0, at={"x": _q(2, 3), "y": _q(4, 9)})
_false("needle.largest", [UNIT], largest(x - _q(4, 9), _q(4, 9) - x) > 0, at={"x": _q(4, 9)})
_false("needle.absolute", SQUARE, absolute(x - _q(3, 11)) + absolute(y - x**2) > 0,
       at={"x": _q(3, 11), "y": _q(9, 121)})
_false("needle.motzkin", PLANE, x**4 * y**2 + x**2 * y**4 - 3 * x**2 * y**2 + 1 > 0, at={"x": 1, "y": 1})
_false("needle.motzkin_a_millionth_off", PLANE,
       x**4 * y**2 + x**2 * y**4 - (3 + _ten(-6)) * x**2 * y**2 + 1 >= 0, at={"x": 1, "y": 1})
_false("needle.powell", [real(name, -3, 3) for name in "wxyz"],
       (w - 1 + 10 * x) ** 2 + 5 * (y - z) ** 2 + (x - 2 * y) ** 4 + 10 * (w - 1 - z) ** 4 > 0,
       at={"w": 1, "x": 0, "y": 0, "z": 0})
# Each multiple of a millionth, and so each short decimal, is a zero of the sine.
_false("needle.aliased", [UNIT], sin(10**6 * PI * x) ** 2 <= _q(1, 2), at={"x": _q(1, 2 * 10**6)})
_false("needle.aliased_wave", [real("x", 0, 100)], cos(2 * PI * 1000 * x) >= _q(999, 1000), at={"x": _q(1, 2000)})
_false("needle.one_cell", SQUARE, (x - _q(617, 1000)) ** 2 + (y - _q(203, 1000)) ** 2 - _ten(-10) > 0,
       at={"x": _q(617, 1000), "y": _q(203, 1000)})
# From here to the end of the part no fraction is a counterexample.
_false("needle.sqrt2", [real("x", 0, 2)], (x**2 - 2) ** 2 > 0, at={"x": sqrt(num(2))})
_false("needle.golden", [real("x", 0, 2)], ne(x**2, x + 1), at={"x": (1 + sqrt(num(5))) / 2})
_false("needle.log2", [UNIT], ne(exp(x), 2))  # at log 2: exp 0 < 2 < exp 1
_false("needle.root_of_sine", [real("x", 3, 4)], ne(sin(x), 0))  # at pi: sin 3 > 0 > sin 4
_false("needle.sine_meets_cosine", [UNIT], (sin(x) - cos(x)) ** 2 > 0)  # at pi/4
_false("needle.cosine_fixed_point", [UNIT], ne(cos(x), x))  # cos 0 > 0, cos 1 < 1
_false("needle.cubic", [real("x", 1, 2)], ne(x**3, x + 1))  # 1 < 2, 8 > 3
_false("needle.rationalless_circle", [real("x", 0, 2), real("y", 0, 2)], (x**2 + y**2 - 3) ** 2 > 0,
       at={"x": sqrt(num(3)), "y": num(0)})

# -- corners: the worst corner is one of very many --------------------------------------------------------------------


def _cube(count: int, low: int = 0, high: int = 1) -> tuple[list[Variable], list[Term]]:
    return [real(f"x{k}", low, high) for k in range(count)], [var(f"x{k}") for k in range(count)]


def _corner(values: Sequence[int]) -> Point:
    return {f"x{k}": value for k, value in enumerate(values)}


def _determinant(rows: Sequence[Sequence[Term]]) -> Term:
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
_HADAMARD = (1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1, 1, -1, -1, 1)
_BITS = (1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1)
_KEY = tuple(int(bit) for bit in "101100101110001011010011")
_false("corner.sum7", _cube7, _add(_x7) <= 7 - _q(1, 100), at=_corner([1] * 7))
_false("corner.alternating8", _cube8, _add([(-1) ** k * _x8[k] for k in range(8)]) < 8,
       at=_corner([(-1) ** k for k in range(8)]))
_false("corner.product10", _cube10, _times(_x10) < 1, at=_corner([1] * 10))
_false("corner.one_of_4096", _cube12, _times([f if bit else 1 - f for f, bit in zip(_x12, _BITS, strict=True)])
       <= _q(99, 100), at=_corner(_BITS))
_false("corner.sum20", _cube20, _add(_x20) <= 19, at=_corner([1] * 20))
_false("corner.sequence70", [sequence("s", 70, 0, 1)], total(i, 1, 70, s[i]) <= 69, at={"s": (1,) * 70})
_false("corner.two_sequences", [sequence("s", 30, -1, 1), sequence("t", 30, -1, 1)],
       total(i, 1, 30, s[i] * t[31 - i]) <= 29, at={"s": (1,) * 30, "t": (1,) * 30})
# Seven points of [0, 1]: three at one end and four at the other are 12 apart in sum.
_false("corner.cut7", _cube7, _add([absolute(_x7[k] - _x7[m]) for k in range(7) for m in range(k)]) <= _q(1199, 100),
       at=_corner((0, 0, 0, 1, 1, 1, 1)))
_false("corner.bell", _cube4, _x4[0] * _x4[2] + _x4[0] * _x4[3] + _x4[1] * _x4[2] - _x4[1] * _x4[3] <= _q(19, 10),
       at=_corner((1, 1, 1, 1)))
_false("corner.determinant3", _cube9, _determinant([_x9[0:3], _x9[3:6], _x9[6:9]]) <= _q(3999, 1000),
       at=_corner((1, 1, 1, -1, 1, 1, -1, -1, 1)))
_false("corner.determinant4", _cube16, absolute(_determinant([_x16[k : k + 4] for k in (0, 4, 8, 12)]))
       <= _q(15999, 1000),
       at=_corner(_HADAMARD))
_false("corner.choices7", [choice(f"x{k}", 0, 1) for k in range(7)], ne(_add(_x7), 7), at=_corner([1] * 7))
_false("corner.pattern10", [choice(f"x{k}", 0, 1) for k in range(10)],
       _add([(_x10[k] - _BITS[k]) ** 2 for k in range(10)]) > 0, at=_corner(_BITS[:10]))
_false("corner.pattern24", [choice(f"x{k}", 0, 1) for k in range(24)],
       _add([(var(f"x{k}") - _KEY[k]) ** 2 for k in range(24)]) > 0, at=_corner(_KEY))

# -- scale: false only far out, or only near nothing, or by less than a double holds ----------------------------------

_false("scale.million", [real("x", 0)], x <= 10**6)
_false("scale.log14", [real("x", 0)], log(1 + x) <= 14, at={"x": 2 * 10**6})
_false("scale.log100", [real("x", 1)], log(x) <= 100, at={"x": _ten(44)})
_false("scale.log_log", [real("x", 3)], log(log(x)) <= 5, at={"x": _ten(70)})
_false("scale.root", [real("x", 0)], sqrt(x) <= 10**6, at={"x": _ten(13)})
_false("scale.far_cubic", [real("x", 0)], x**3 / 10**9 <= x**2 + 1, at={"x": 2 * 10**9})
_false("scale.log_of_tokens", [real("t", 4)], log(t - 1) <= 20, at={"t": 10**9})
_false("scale.tail", [real("x", 0)], _ten(-20) <= exp(-x), at={"x": 50})
_false("scale.below_doubles", [real("x", 0, 2000)], _ten(-400) <= exp(-x), at={"x": 1000})
_false("scale.above_doubles", [real("x", 0, 2000)], exp(x) <= _ten(400), at={"x": 1000})
_false("scale.saturated", [real("x", 0)], tanh(x) <= 1 - _ten(-15), at={"x": 20})
_false("scale.saturated_far", [real("x", 0)], tanh(x) <= 1 - _ten(-300), at={"x": 400})
_false("scale.sigmoid", [REAL], _ten(-12) <= 1 / (1 + exp(x)), at={"x": 30})
_false("scale.nano_end", [real("x", 0, 1, open="low")], _ten(-9) <= x, at={"x": _ten(-10)})
_false("scale.log_near_nothing", [real("x", 0, 1, open="low")], log(x) >= -100, at={"x": _ten(-44)})
_false("scale.power_near_nothing", [real("x", 0, 1, open="low")], _ten(-300) <= x**20, at={"x": _ten(-16)})
_false("scale.product_near_nothing", [real(name, 0, 1, open="low") for name in "xy"], _ten(-12) <= x * y,
       at={"x": _ten(-7), "y": _ten(-7)})
_false("scale.small_slope", [real("slope", 0, 1, open="low")], 1 / slope <= 10**6, at={"slope": _ten(-7)})
_false("scale.nano_dip", [REAL], x**2 - x * _ten(-9) + 2 * _ten(-19) > 0, at={"x": _q(1, 2 * 10**9)})
_false("scale.giant_point", [REAL], (x - 10**12) ** 2 > 0, at={"x": 10**12})
_false("scale.giant_cell", [REAL], (x - 123456789012) ** 2 >= 1, at={"x": 123456789012})
_false("scale.mixed", QUADRANT, x * y < 10**3 + x**2 / 10**9 + y**2 * 10**3, at={"x": 10**6, "y": 10})
# The next term of the series decides, far below the last digit of a double.
_false("scale.series_sqrt", [real("x", 0, _ten(-6))], sqrt(1 + x) <= 1 + x / 2 - x**2 / 8, at={"x": _ten(-6)})
_false("scale.series_exp", [real("x", 0, _ten(-6))], exp(x) <= 1 + x + x**2 / 2, at={"x": _ten(-6)})
_false("scale.series_cos", [real("x", -_ten(-5), _ten(-5))], cos(x) <= 1 - x**2 / 2, at={"x": _ten(-5)})
_false("scale.series_sin", [real("x", 0, _ten(-6))], x <= sin(x), at={"x": _ten(-6)})
_false("scale.series_log", [real("x", 0, _ten(-5))], x - x**2 / 2 + x**3 / 3 <= log(1 + x), at={"x": _ten(-5)})
_false("scale.series_tanh", [real("x", 0, _ten(-4))], tanh(x) <= x - x**3 / 3, at={"x": _ten(-4)})
_false("scale.series_atan", [real("x", 0, _ten(-5))], atan(x) <= x - x**3 / 3, at={"x": _ten(-5)})
_false("scale.n_million", [SIZE], n <= 10**6, at={"n": 10**6 + 1})
_false("scale.harmonic", [SIZE], total(i, 1, n, 1 / i) <= 10, at={"n": 12367})
_false("scale.basel", [SIZE], total(i, 1, n, 1 / i**2) <= _q(1644, 1000), at={"n": 1100})
_false("scale.alternating", [whole("n", 5)], _q(1, 500) <= absolute(total(i, 1, n, cos(PI * i) / i) + log(num(2))),
       at={"n": 300})

# -- ends: true inside, false where the domain is closed --------------------------------------------------------------

_false("end.low", [UNIT], x > 0)
_false("end.high", [UNIT], x < 1)
_false("end.both", [UNIT], x * (1 - x) > 0)
_false("end.one_left_open", [real("x", 0, 1, open="low")], x < 1)
_false("end.one_right_open", [real("x", 0, 1, open="high")], x > 0)
_false("end.corner", SQUARE, x * y < 1)
_false("end.absolute", [real("e", -1, 1)], 3 + e - 2 * absolute(e) > 0, at={"e": -1})
_false("end.tent", [real("x", -1, 1)], absolute(x) < 1)
_false("end.exponential", [real("x", 0, 1)], exp(x) < exp(num(1)))
_false("end.irrational_end", [real("x", 0, sqrt(num(2)))], x**2 < 2, at={"x": sqrt(num(2))})  # no fraction is
_false("end.at_pi", [real("x", 0, PI)], cos(x) > -1)  # at pi, which no fraction is
_false("end.of_a_variable", [real("x", 0, 1), real("y", 0, x)], y < x)
_false("end.of_two_variables", [real("x", 0, 1), real("y", 0, 1 - x)], x + y < 1)
_false("end.four_tokens", [real("t", 4)], t - 4 > 0)
_false("end.last_place", [whole("n", 4), whole("i", 3, n - 1)], i < n - 1)
_false("end.ball", [SIZE, ball("v", n, 1)], total(i, 1, n, v[i] ** 2) < 1)
_false("end.ball_of_radius", [SIZE, positive("r"), ball("v", n, r)], total(i, 1, n, v[i] ** 2) < r**2)
_false("end.ball_item", [whole("n", 2), ball("v", n, 5)], v[1] + v[2] < 7, at={"n": 2, "v": (3, 4)})
_false("end.items", [SIZE, sequence("s", n, 0, 1)], total(i, 1, n, s[i]) < n)
_false("end.all_thirty_items", [sequence("s", 30, 0, 1)], total(i, 1, 30, s[i]) < 30, at={"s": (1,) * 30})
_false("end.narrow", [real("x", _q(1, 3), _q(1, 3) + _ten(-12))], _q(1, 3) < x)
_false("end.log_near_a_third", [real("x", _q(1, 3) + _ten(-60), 1, open="low")],
       log(x - _q(1, 3) - _ten(-60)) > -10, at={"x": _q(1, 3) + 2 * _ten(-60)})
_false("end.log_far_below", [real("x", _q(1, 3), 1, open="low")], log(x - _q(1, 3)) > -1000,
       at={"x": _q(1, 3) + _ten(-440)})
_false("end.zero_width", [real("x", _q(1, 3), _q(1, 3))], ne(3 * x, 1))
_false("end.zero_width_irrational", [real("x", sqrt(num(2)), sqrt(num(2)))], x**2 < 2, at={"x": sqrt(num(2))})
_false("end.not_whole", [whole("n", _q(3, 2), _q(9, 2))], both(n > 2, n < 4))
_false("end.irrational_and_whole", [whole("n", sqrt(num(8)), sqrt(num(17)))], n > 3)
_false("end.slice", [real("a", 0, 1), real("b", 0, 1)], exp(a) + exp(b) - 2 * sqrt(exp(a + b)) > 0)

# -- whole: false at one whole number, or at a few far apart ----------------------------------------------------------

_false("whole.seventeen", [SIZE], ne(n, 17), at={"n": 17})
_false("whole.squared_distance", [whole("n", 1, 1000)], (n - 617) ** 2 > 0, at={"n": 617})
_false("whole.far", [whole("n", 1, 10**12)], (n - 987654321987) ** 2 > 0, at={"n": 987654321987})
_false("whole.three", [SIZE], n**2 <= exp(n * log(num(2))), at={"n": 3})
_false("whole.nine", [whole("n")], 2 * n**2 - 35 * n + 153 > 0, at={"n": 9})
_false("whole.triangle_153", [SIZE], ne(total(i, 1, n, i), 153), at={"n": 17})
_false("whole.choice", [choice("p", 2, 3, 5, 7)], p**2 <= 48)
_false("whole.place_before_last", [whole("n", 5), PLACE], (i - n + 3) ** 2 > 0)
_false("whole.euler", [whole("n", 0), whole("a", 2), whole("b", 2)], ne(n**2 + n + 41, a * b),
       at={"n": 40, "a": 41, "b": 41})
_false("whole.fermat", [whole("a", 2), whole("b", 2)], ne(2**32 + 1, a * b), at={"a": 641, "b": 6700417})
_false("whole.pell2", [whole("x", 1), whole("y", 1)], ne(x**2 - 2 * y**2, 1), at={"x": 3, "y": 2})
_false("whole.pell61", [whole("x", 1), whole("y", 1)], ne(x**2 - 61 * y**2, 1), at={"x": 1766319049, "y": 226153980})
_false("whole.ljunggren", [whole("x", 1), whole("y", 2)], ne(x**2 + 1, 2 * y**4), at={"x": 239, "y": 13})
_false("whole.catalan", [whole("x", 2), whole("y", 2)], ne(x**2 - y**3, 1), at={"x": 3, "y": 2})
_false("whole.taxicab", [whole(name, 1) for name in "abcd"], ne(a**3 + b**3, c**3 + d**3), a < c, c <= d, d < b,
       at={"a": 1, "b": 12, "c": 9, "d": 10})
_false("whole.four_fifth_powers", [whole(name, 1) for name in "abcde"], ne(a**5 + b**5 + c**5 + d**5, e**5),
       at={"a": 27, "b": 84, "c": 110, "d": 133, "e": 144})
_false("whole.three_cubes_30", [whole(name) for name in "xyz"], ne(x**3 + y**3 + z**3, 30),
       at={"x": 2220422932, "y": -2218888517, "z": -283059965})
_false("whole.three_cubes_42", [whole(name) for name in "xyz"], ne(x**3 + y**3 + z**3, 42),
       at={"x": -80538738812075974, "y": 80435758145817515, "z": 12602123297335631})
_false("whole.cannonballs", [whole("n", 2), whole("m", 2)], ne(total(i, 1, n, i**2), m**2), at={"n": 24, "m": 70})
_false("whole.brocard", [whole("n", 6), whole("m", 1)], ne(fold("prod", i, 1, n, i) + 1, m**2), at={"n": 7, "m": 71})
_false("whole.triangular_square", [whole("n", 9), whole("m", 1)], ne(n * (n + 1) / 2, m**2), at={"n": 49, "m": 35})
_false("whole.two_places", [whole("n", 8), whole("i", 2, n - 2), whole("j", i, n)], ne(i + j, 2 * n - 3),
       at={"n": 8, "i": 6, "j": 7})

# -- size: true for the small sizes that anyone would try -------------------------------------------------------------

_early = (n - 1) * (n - 2) * (n - 3) * (n - 4)
_hilbert = total(i, 1, n, total(j, 1, n, s[i] * s[j] / (i + j - 1)))
_shapiro = (*(_q(1, 1000) if not f else _q(f) for f in (0, 42, 2, 42, 4, 41, 5, 39, 4, 38, 2, 38, 0, 40)),)
_false("size.sum", [SIZE], eq(total(i, 1, n, i), n * (n + 1) / 2 + _early))
_false("size.sum_of_cubes", [SIZE], eq(total(i, 1, n, i**3), (n * (n + 1) / 2) ** 2 - _early * (n - 5) / 7),
       at={"n": 6})
_false("size.tokens8", [whole("t", 4)], eq(total(k, 1, t, when(either(k <= 2, t - 1 <= k), 0, 1)),
       t - 4 + (t - 4) * (t - 5) * (t - 6) * (t - 7)), at={"t": 8})
_false("size.cauchy4", VECTOR, total(i, 1, n, s[i]) ** 2 <= 4 * total(i, 1, n, s[i] ** 2), at={"n": 5, "s": (1,) * 5})
_false("size.circle_regions", [SIZE], eq(1 + n * (n - 1) / 2 + n * (n - 1) * (n - 2) * (n - 3) / 24,
       exp((n - 1) * log(num(2)))), at={"n": 6})
_false("size.factorial", [SIZE], fold("prod", i, 1, n, i) <= 24, at={"n": 5})
_false("size.largest", [SIZE], fold("max", i, 1, n, i * (10 - i)) <= 24, at={"n": 5})
_false("size.log_sum", VECTOR, log(total(i, 1, n, exp(s[i]))) <= fold("max", i, 1, n, s[i]) + log(num(4)),
       at={"n": 5, "s": (0,) * 5})
_false("size.variance", [SIZE, sequence("s", n, 0, 1)],
       total(i, 1, n, s[i] ** 2) - total(i, 1, n, s[i]) ** 2 / n <= 1, at={"n": 5, "s": (0, 0, 0, 1, 1)})
_false("size.pairs", [SIZE], total(i, 1, n, total(j, i + 1, n, 1)) <= 6, at={"n": 5})
_false("size.matrix", [SIZE, sequence("x", (n, n), -1, 1)], total(i, 1, n, total(j, 1, n, x[i, j] ** 2)) <= 16,
       at={"n": 5, "x": ((1,) * 5,) * 5})
_false("size.hilbert6", VECTOR, _hilbert <= _q(8, 5) * total(i, 1, n, s[i] ** 2),
       at={"n": 6, "s": (75, 44, 32, 25, 21, 18)})
_false("size.hilbert10", VECTOR, _hilbert <= _q(7, 4) * total(i, 1, n, s[i] ** 2),
       at={"n": 10, "s": (703, 426, 318, 256, 216, 187, 166, 148, 135, 123)})
_false("size.hardy", [SIZE, sequence("s", n, 0)],
       total(k, 1, n, (total(i, 1, k, s[i]) / k) ** 2) <= _q(17, 9) * total(k, 1, n, s[k] ** 2),
       at={"n": 8, "s": (86, 41, 24, 15, 10, 6, 4, 2)})
# Shapiro's cyclic sum is at least 7 for small changes of equal terms; Troesch's point is below by five millionths.
_false("size.shapiro14", [sequence("s", 14, 0, open="low")],
       total(i, 1, 12, s[i] / (s[i + 1] + s[i + 2])) + s[13] / (s[14] + s[1]) + s[14] / (s[1] + s[2]) >= 7,
       at={"s": _shapiro})
_false("size.depth", [whole("n", 1)], total(i, 0, n, exp(-i * log(num(2)))) <= 2 - _q(1, 16), at={"n": 5})

# -- symbols: more is assumed of a letter than is declared ------------------------------------------------------------

_false("symbol.root_of_square", [REAL], eq(sqrt(x**2), x))
_false("symbol.log_of_square", [REAL], eq(log(x**2), 2 * log(x)), ne(x, 0))
_false("symbol.half_log_of_square", [REAL], eq(exp(log(x**2) / 2), x), ne(x, 0))
_false("symbol.quotient_of_itself", [REAL], eq(x / x, 1))
_false("symbol.square_of_root", [REAL], eq(sqrt(x) ** 2, x))
_false("symbol.exp_of_log", [REAL], eq(exp(log(x)), x))
_false("symbol.positive", [REAL], x >= 0)
_false("symbol.positive_that_cancels", PLANE, y <= x * y / absolute(x), ne(x, 0))
_false("symbol.nonzero", [REAL], x**2 > 0)
_false("symbol.absolute", [REAL], eq(absolute(x), x))
_false("symbol.whole", [REAL], x * (x - 1) >= 0)
_false("symbol.whole_sine", [REAL], eq(sin(PI * x), 0))
_false("symbol.even", [whole("n")], eq(cos(PI * n), 1))
_false("symbol.odd_power", [REAL], x <= x**3, x >= -1)
_false("symbol.not_one", [positive("x")], ne(log(x), 0))
_false("symbol.distinct", PLANE, ne(x, y))
_false("symbol.log_of_product", PLANE, eq(log(x * y), log(x) + log(y)), x * y > 0)
_false("symbol.log_of_power", [REAL], eq(log(x**4), 4 * log(absolute(x))))
_false("symbol.root_of_product", PLANE, eq(sqrt(x * y), sqrt(x) * sqrt(y)), x * y >= 0)
_false("symbol.root_of_quotient", PLANE, eq(sqrt(x / y), sqrt(x) / sqrt(y)), x * y > 0)
_false("symbol.cancelled_factor", PLANE, eq(x * y / y, x))
_false("symbol.complete_square", [REAL], eq(sqrt(1 - 2 * x + x**2), 1 - x))
_false("symbol.cosine_from_sine", [real("x", 0, 3)], eq(cos(x), sqrt(1 - sin(x) ** 2)))
_false("symbol.arcus_of_inverse", [REAL], eq(atan(1 / x), PI / 2 - atan(x)), ne(x, 0))
_false("symbol.arcus_of_tangent", [real("x", 0, 4)], eq(atan(sin(x) / cos(x)), x), ne(cos(x), 0))
_false("symbol.arcus_sum", QUADRANT, eq(atan(x) + atan(y), atan((x + y) / (1 - x * y))), ne(x * y, 1))
_false("symbol.zero_times_log", [real("x", 0)], eq(0 * log(x), 0))
_false("symbol.entropy_at_zero", [UNIT], x * log(x) >= -1)
_false("symbol.binary_entropy", [UNIT], -x * log(x) - (1 - x) * log(1 - x) <= log(num(2)))
_false("symbol.common_factor", [REAL, real("y"), real("z")], eq(largest(x * z, y * z), largest(x, y) * z))
_false("symbol.sign_of_largest", PLANE, eq(-largest(x, y), largest(-x, -y)))
_false("symbol.modulus_of_sum", PLANE, eq(absolute(x + y), absolute(x) + absolute(y)))
_false("symbol.bits_for_nats", [positive("x")], eq(log(x) / log(num(2)), log(x)))
_false("symbol.real_size", [real("t", 1)], eq((t - 1) * (t - 2) * (t - 3), absolute((t - 1) * (t - 2) * (t - 3))))

# -- undefined: no value at some point of the domain ------------------------------------------------------------------

_false("undefined.third", [UNIT], eq((x - _q(1, 3)) / (x - _q(1, 3)), 1), at={"x": _q(1, 3)})
_false("undefined.large_denominator", [UNIT], 1 / (x - _q(10007, 65537)) ** 2 >= 0, at={"x": _q(10007, 65537)})
_false("undefined.log_of_square", [UNIT], log((x - _q(3, 7)) ** 2) <= 1, at={"x": _q(3, 7)})
_false("undefined.root_below_nano", [UNIT], sqrt(x - _ten(-9)) >= 0, at={"x": 0})
_false("undefined.root_beyond_one", [real("x", 0, 1 + _ten(-12))], sqrt(1 - x) >= 0, at={"x": 1 + _ten(-12)})
_false("undefined.log_below_a_third", [real("x", _q(1, 3), 1)], log(x - _q(1, 3) - _ten(-60)) <= 0, at={"x": _q(1, 3)})
_false("undefined.origin", PLANE, 1 / (x**2 + y**2) > 0)
_false("undefined.origin_moved", PLANE, 1 / ((x - _q(1, 3)) ** 2 + (y - _q(2, 7)) ** 2) > 0,
       at={"x": _q(1, 3), "y": _q(2, 7)})
_false("undefined.difference", [real("x", 0, 1), real("y", 0, x)], 1 / (x - y) > 0)
_false("undefined.tangent", [real("x", 0, 2)], sin(x) ** 2 / cos(x) ** 2 >= 0)  # at pi/2 only: no fraction is
_false("undefined.root_of_two", [real("x", 0, 2)], 1 / (x**2 - 2) ** 2 > 0)  # at sqrt(2): no fraction is
_false("undefined.sinc", [REAL], sin(x) / x <= 1)
_false("undefined.exponential_quotient", [REAL], (exp(x) - 1) / x > 0)
_false("undefined.negative_power", [UNIT], x**-2 > 0)
_false("undefined.branch", [real("x", 0)], when(x >= 0, 1 / x, 0) >= 0)
# At 0 the assumption of the conclusion has no value: the core asks for its definedness, and no point refutes that.
_false("undefined.both_too_late", [real("x", 0, 1)], implies(1 / x > 0, x > 0))
_false("undefined.mean_of_none", [whole("n", 0), sequence("s", n, 0, 1)], total(i, 1, n, s[i]) / n <= 1)
_false("undefined.largest_of_none", [whole("n", 0), sequence("s", n, 0, 1)], fold("max", i, 1, n, s[i]) <= 1)
_false("undefined.log_of_rest", [SIZE], log(n - 1) >= 0)
_false("undefined.log_of_three", [real("t", 3)], log(t - 3) <= t)
_false("undefined.log_of_sum", [SIZE, sequence("s", n, 0)], log(total(i, 1, n, s[i])) <= total(i, 1, n, s[i]))
_false("undefined.next_item", [SIZE, PLACE, sequence("s", n, 0, 1)], s[i + 1] <= 1)
_false("undefined.item_before", [SIZE, PLACE, sequence("s", n, 0, 1)], s[i - 1] <= 1)
_false("undefined.item_in_a_sum", [SIZE, sequence("s", n, 0, 1)], total(i, 1, n, s[n - i]) <= n)
_false("undefined.third_item", [SIZE, sequence("s", n, 0, 1)], s[3] <= 1)
_false("undefined.far_item", [whole("n", 1, 50), sequence("s", 49, 0, 1)], s[n] <= 1, at={"n": 50, "s": (0,) * 49})
_false("undefined.but_for_a_hypothesis", [SIZE], 1 / (n - 3) < 0, ne(n, 3))
_false("undefined.swapped_indices", [SIZE, whole("d", 1), PLACE, whole("j", 1, d), sequence("x", (n, d), 0, 1)],
       x[j, i] <= 1)
_false("undefined.no_weights", [SIZE, PLACE, sequence("s", n)],
       1 / total(k, 1, i - 1, exp(s[k])) >= 0)  # the first token sees nobody
_false("undefined.negative_size", [whole("n"), sequence("s", n - 3, 0, 1)], total(i, 1, n - 3, s[i]) < n - 3)

# -- sharp: a best bound, a little better -----------------------------------------------------------------------------

_TIGHT, _TIGHTER, _ABOVE = _q(999, 1000), _q(9999, 10000), _q(1001, 1000)
_false("sharp.parabola", [UNIT], x * (1 - x) <= _TIGHT / 4)
_false("sharp.parabola_ten_digits", [UNIT], x * (1 - x) <= _q(1, 4) - _ten(-10))
_false("sharp.parabola_off_centre", [UNIT], x * (2 - 3 * x) <= _q(1, 3) - _ten(-12), at={"x": _q(1, 3)})
_false("sharp.cubic", [UNIT], x**2 * (1 - x) <= _TIGHTER * 4 / 27, at={"x": _q(2, 3)})
_false("sharp.means", QUADRANT, x * y <= _TIGHTER * ((x + y) / 2) ** 2)
_false("sharp.three_means", [*QUADRANT, positive("z")], 27 * x * y * z <= _TIGHTER * (x + y + z) ** 3,
       at={"x": 1, "y": 1, "z": 1})
_false("sharp.cauchy", [*PLANE, real("a"), real("b")], (a * x + b * y) ** 2
       <= _TIGHT * (a**2 + b**2) * (x**2 + y**2), at={"x": 1, "y": 1, "a": 1, "b": 1})
_false("sharp.cauchy_sequences", [*VECTOR, sequence("t", n)], total(i, 1, n, s[i] * t[i]) ** 2
       <= _TIGHTER * total(i, 1, n, s[i] ** 2) * total(i, 1, n, t[i] ** 2),
       at={"n": 2, "s": (1, 2), "t": (1, 2)})
_false("sharp.triangle", PLANE, absolute(x + y) <= _TIGHT * (absolute(x) + absolute(y)))
_false("sharp.tangent_of_exp", [REAL], _q(10001, 10000) * exp(num(1)) * x <= exp(x), at={"x": 1})
_false("sharp.linear_exp", [REAL], 1 + _ABOVE * x <= exp(x), at={"x": _q(1, 1000)})
_false("sharp.log", [positive("x")], log(x) <= _TIGHT * (x - 1), at={"x": _ABOVE})
_false("sharp.tanh", [real("x", 0, 3)], tanh(x) <= _TIGHTER * x, at={"x": _q(1, 100)})
_false("sharp.jordan", [real("x", 0, PI / 2)], _ABOVE * 2 / PI * x <= sin(x), at={"x": _q(157, 100)})
_false("sharp.x_exp", [real("x", 0)], x * exp(-x) <= _TIGHTER * exp(num(-1)), at={"x": 1})
_false("sharp.x_log", [real("x", 0, 1, open="low")], -x * log(x) <= _TIGHTER * exp(num(-1)), at={"x": _q(368, 1000)})
_false("sharp.entropy", [real("x", 0, 1, open=True)], -x * log(x) - (1 - x) * log(1 - x) <= _TIGHTER * log(num(2)))
_false("sharp.pinsker", [real("p", 0, 1, open=True), real("q", 0, 1, open=True)],
       _ABOVE * 2 * (p - q) ** 2 <= p * log(p / q) + (1 - p) * log((1 - p) / (1 - q)),
       at={"p": _q(1, 2), "q": _q(51, 100)})
_false("sharp.hoeffding", [REAL], log((exp(x) + exp(-x)) / 2) <= _TIGHT * x**2 / 2, at={"x": _q(1, 100)})
_false("sharp.young", PLANE, x * y <= _q(499, 1000) * (x**2 + y**2))
_false("sharp.sum_of_inverse", [positive("x")], 2 + _ten(-4) <= x + 1 / x)
_false("sharp.nesbitt", [*QUADRANT, positive("z")], _q(15001, 10000) <= x / (y + z) + y / (z + x) + z / (x + y),
       at={"x": 1, "y": 1, "z": 1})
_false("sharp.three_squares", [*PLANE, real("z")], _q(10001, 10000) * (x * y + y * z + z * x) <= x**2 + y**2 + z**2,
       at={"x": 1, "y": 1, "z": 1})
_false("sharp.lipschitz", PLANE, absolute(sin(x) - sin(y)) <= _TIGHT * absolute(x - y), at={"x": 0, "y": _q(1, 100)})
_false("sharp.sigmoid_slope", PLANE, absolute(1 / (1 + exp(-x)) - 1 / (1 + exp(-y))) <= _TIGHTER * absolute(x - y) / 4,
       at={"x": _q(1, 1000), "y": -_q(1, 1000)})
_false("sharp.likelihood_ratio", [real("m", 0, 1, open=True), real("r", 1, open="low")],
       (r - 1) / (r - m) * (1 - m) <= _TIGHT * tanh(log(r / m) / 4),
       at={"m": _q(1, 4), "r": 4})
_false("sharp.sphere3", [ball("v", 3, 1)], v[1] * v[2] + v[2] * v[3] + v[3] * v[1] <= _TIGHTER,
       at={"v": (_q(57735, 10**5),) * 3})
_false("sharp.power_means", [SIZE, sequence("s", n, 0)],
       total(i, 1, n, s[i]) ** 3 <= _TIGHT * n**2 * total(i, 1, n, s[i] ** 3), at={"n": 3, "s": (1, 1, 1)})
_false("sharp.four_corners", [real(name, -1, 1) for name in "xyz"], x * y * z - x - y + z <= 4 - _ten(-5),
       at={"x": -1, "y": -1, "z": 1})

# -- strict: equality is attained -------------------------------------------------------------------------------------

_false("strict.exp", [REAL], 1 + x < exp(x))
_false("strict.log", [positive("x")], log(x) < x - 1)
_false("strict.log_elsewhere", [positive("x")], log(x) < 7 * x / 5 - 1 + log(num(_q(5, 7))), at={"x": _q(5, 7)})
_false("strict.means", QUADRANT, sqrt(x * y) < (x + y) / 2)
_false("strict.sum_of_inverse", [positive("x")], x + 1 / x > 2)
_false("strict.triangle", PLANE, absolute(x + y) < absolute(x) + absolute(y))
_false("strict.tanh", [real("x", 0)], tanh(x) < x)
_false("strict.cosine", [REAL], cos(x) < 1)
_false("strict.sine", [REAL], sin(x) < 1)  # at pi/2: no fraction is
_false("strict.sine_below_identity", [REAL], absolute(sin(x)) < absolute(x))
_false("strict.monotone", PLANE, implies(x <= y, exp(x) < exp(y)))
_false("strict.least", PLANE, least(x, y) < (x + y) / 2)
_false("strict.sum_of_places", [SIZE], total(i, 1, n, i) < n**2)
_false("strict.power_of_two", [whole("n", 0)], n + 1 < exp(n * log(num(2))))
_false("strict.inverse_size", [SIZE], 1 / n < 1)
_false("strict.cauchy", [*VECTOR, sequence("t", n)],
       total(i, 1, n, s[i] * t[i]) ** 2 < total(i, 1, n, s[i] ** 2) * total(i, 1, n, t[i] ** 2))
_false("strict.sum_and_largest", [SIZE, sequence("s", n, 0)], total(i, 1, n, s[i]) < n * fold("max", i, 1, n, s[i]))
_false("strict.polynomial", [REAL], 9 * x**4 - 12 * x**3 + 4 * x**2 + (3 * x - 2) ** 2 > 0, at={"x": _q(2, 3)})
_false("strict.convex", [*SQUARE, real("t", 0, 1)], (t * x + (1 - t) * y) ** 2 < t * x**2 + (1 - t) * y**2)
_false("strict.constant", [REAL], x * 0 < (x - x) ** 2)

# -- supremum: another value, not attained, a family that leaves the domain ------------------------------------------

_false("supremum.too_small", [UNIT], supremum(x * (1 - x), _TIGHT / 4, {x: _q(1, 2)}), part="bound", at={"x": _q(1, 2)})
_false("supremum.too_large", [UNIT], supremum(x * (1 - x), _q(26, 100), {x: _q(1, 2)}), part="attained", at={})
_false("supremum.outside", [real("x", 0, 1, open="high")], supremum(x, 1, {x: num(1)}), part="attained", at={})
_false("supremum.strict_but_attained", [UNIT, STEP],
       supremum(x * (1 - x), _q(1, 4), {x: _q(1, 2) - u / 2}, u, 1, attained=False),
       part="bound", at={"x": _q(1, 2)})
_false("supremum.strict_at_an_end", [real("x", 0), STEP], supremum(exp(-x), 1, {x: u}, u, 1, attained=False),
       part="bound", at={"x": 0})
_false("supremum.slower", [positive("x"), STEP], supremum(x / (1 + x), 1, {x: 1 / u}, u, _q(1, 2)),
       part="approached", at={"u": _q(1, 2)})
_false("supremum.tanh_too_small", [REAL, STEP], supremum(tanh(x), _TIGHTER, {x: 1 / u}, u, 1, attained=False),
       part="bound", at={"x": 10})
_false("supremum.tanh_too_large", [REAL, STEP], supremum(tanh(x), 1 + _ten(-6), {x: 1 / u}, u, 1, attained=False),
       part="approached", at={"u": _ten(-7)})
_false("supremum.leaves_the_domain", [UNIT, STEP], supremum(x, 1, {x: 1 - 2 * u}, u, 2),
       part="approached", at={"u": 1})
_false("supremum.arcus_decimals", [REAL, STEP], supremum(atan(x), _q(157, 100), {x: 1 / u}, u, 1, attained=False),
       part="bound", at={"x": 2000})
_false("supremum.arcus_22_14", [REAL, STEP], supremum(atan(x), _q(22, 14), {x: 1 / u}, u, 1, attained=False),
       part="approached", at={"u": _ten(-8)})
_false("supremum.parameter", [real("c", 0), REAL], supremum(x * (c - x), c / 4, {x: c / 2}))
_false("supremum.sine_on_the_unit", [UNIT], supremum(sin(x), 1, {x: num(1)}), part="attained", at={})
_false("supremum.forgotten_side", [real("x", -2, 1)], supremum(x**2, 1, {x: num(1)}), part="bound", at={"x": -2})
_false("supremum.simplex", [real("x", 0, 1), real("y", 0, 1 - x)],
       supremum(x * y, _q(1, 3), {x: _q(1, 2), y: _q(1, 2)}),
       part="attained", at={})
_false("supremum.ablation", [REAL, real("t", 4), STEP],
       supremum(-log(1 + (t - 1) * exp(-x)), -log(1 + _ten(-3)), {x: 1 / u}, u, t, attained=False))
_false("supremum.wrong_family", [real("x", 0, 1, open=True), STEP],
       supremum(x * (2 - x), 1, {x: 1 - u / 2}, u, _ten(-3)),
       part="approached", at={"u": 1})

# -- limit: another value, a rate too small, no rate ------------------------------------------------------------------

_false("limit.sinc_rate", [STEP], limit(sin(u) / u, 1, u, _q(1, 1000)))
_false("limit.sinc_value", [STEP], limit(sin(u) / u, _TIGHTER, u, 1), part="gap", at={"u": _ten(-5)})
_false("limit.quotient_of_exp", [STEP], limit((exp(u) - 1) / u, 1, u, _q(1, 2)))
_false("limit.no_rate_at_all", [STEP], limit((1 - cos(u)) / u**2, _q(1, 2), u, 0))
_false("limit.curvature", [STEP], limit((1 - cos(u)) / u**2, _q(1, 3), u, 1))
_false("limit.log_rate", [STEP], limit(log(1 + u) / u, 1, u, _q(1, 3)))
_false("limit.root", [STEP], limit(sqrt(u), 0, u, 1000), part="gap", at={"u": _ten(-7)})
_false("limit.u_log_u", [STEP], limit(u * log(u), 0, u, 50), part="gap", at={"u": _ten(-22)})
_false("limit.near_value", [STEP], limit(u**2, _ten(-8), u, 1), part="gap", at={"u": _ten(-9)})
_false("limit.far_root", [FAR], limit(1 / sqrt(t), 0, t, 1000), part="gap", at={"t": 10**7})
_false("limit.log_over_t", [FAR], limit(log(t) / t, 0, t, 10), part="gap", at={"t": 30000})
_false("limit.log_over_t_far", [FAR], limit(log(t) / t, 0, t, 100), part="gap", at={"t": _ten(44)})
_false("limit.t_log", [FAR], limit(t * log(1 + 1 / t), 1, t, _q(1, 3)), part="gap", at={"t": 10})
_false("limit.euler", [SIZE], limit(exp(n * log(1 + 1 / n)), exp(num(1)), n, 1), part="gap", at={"n": 10})
_false("limit.euler_decimals", [SIZE], limit(exp(n * log(1 + 1 / n)), _q(27182, 10000), n, 2),
       part="gap", at={"n": 10**6})
_false("limit.basel", [SIZE], limit(total(i, 1, n, 1 / i**2), _q(164, 100), n, 2), part="gap", at={"n": 1000})
_false("limit.share", [FAR, real("x", 0)], limit(exp(x) / (exp(x) + t - 1), 0, t, exp(x) / 2))
_false("limit.angle", [STEP], limit(atan(1 / u), _q(11, 7), u, 1), part="gap", at={"u": _ten(-6)})
_false("limit.alternating", [SIZE], limit(cos(PI * n) / 2, 0, n, 10**3), part="gap", at={"n": 3000})
_false("limit.log_of_rest", [real("t", 4)], limit(log(t) - log(t - 1), 0, t, 1), part="gap", at={"t": 4})

# -- minimiser: another place, two of them, none in the domain --------------------------------------------------------

_MINIMISER = "only least there"
_false("minimiser.two", [REAL], unique_minimiser((x**2 - 1) ** 2, {x: num(1)}), part=_MINIMISER, at={"x": -1})
_false("minimiser.elsewhere", [UNIT], unique_minimiser((x - _q(1, 3)) ** 2, {x: _q(1, 2)}))
_false("minimiser.saddle", [real("x", -1, 1)], unique_minimiser(x**4 - x**2, {x: num(0)}))
_false("minimiser.local", [real("x", -3, 3)], unique_minimiser(x**3 - 3 * x, {x: num(1)}))
_false("minimiser.plateau", [REAL], unique_minimiser(absolute(x) + absolute(x - 1), {x: num(0)}))
_false("minimiser.flat", [REAL], unique_minimiser(largest(0, absolute(x) - 1), {x: num(0)}))
_false("minimiser.constant", PLANE, unique_minimiser(x - y + (y - x), {x: num(0), y: num(0)}))
_false("minimiser.hyperbola", [real("x", -1, 1), real("y", -1, 1)], unique_minimiser(x * y, {x: num(0), y: num(0)}))
_false("minimiser.open_end", [real("x", 0, 1, open=True)], unique_minimiser((x - 1) ** 2, {x: num(1)}),
       part="in the domain", at={})
_false("minimiser.outside", [real("x", 1, 2)], unique_minimiser(x**2, {x: num(0)}), part="in the domain", at={})
_false("minimiser.almost_e", [positive("x")], unique_minimiser(x * log(x), {x: _q(367879, 10**6)}), part=_MINIMISER,
       at={"x": _q(36787944, 10**8)})
_false("minimiser.tilted_wells", [REAL], unique_minimiser((x**2 - 1) ** 2 + x / 10**9, {x: num(1)}), part=_MINIMISER,
       at={"x": -1})
_false("minimiser.tilt_moves_it", [real("x", 0, 3)], unique_minimiser((x**2 - 1) ** 2 + x / 10**6, {x: num(1)}),
       part=_MINIMISER, at={"x": 1 - _q(1, 9 * 10**6)})
_false("minimiser.parameter", PLANE, unique_minimiser((x - y) ** 2, {x: num(0)}))
_false("minimiser.ripple", [REAL], unique_minimiser(x**2 + sin(50 * x) / 100, {x: num(0)}))
_false("minimiser.deep_far_well", [real("x", 0, 100)],
       unique_minimiser((x - 2) ** 2 - 10**4 * exp(-(10**4) * (x - _q(617, 10)) ** 2), {x: num(2)}),
       part=_MINIMISER, at={"x": _q(617, 10)})
_false("minimiser.second_period", [real("x", 0, 10)], unique_minimiser(cos(x), {x: PI}))  # and at 3 pi, no fraction
# Himmelblau's function is 0 at (3, 2) and at three more places, all of them irrational: (-2.805.., 3.131..), ..
_false("minimiser.himmelblau", PLANE, unique_minimiser((x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2, {x: 3, y: 2}))

# -- zero: none, two, outside its box ---------------------------------------------------------------------------------

_false("zero.two", [real("x", -1, 1)], unique_zero([x**2 - _q(1, 4)], {"x": (0, 1)}),
       part="elsewhere", at={"x": -_q(1, 2)})
_false("zero.three", [real("x", -2, 2)], unique_zero([x**3 - x], {"x": (-_q(1, 2), _q(1, 2))}))
_false("zero.sine", [UNIT], unique_zero([sin(10 * x)], {"x": (_q(1, 5), _q(2, 5))}))
_false("zero.two_pairs", SQUARE, unique_zero([x + y - _q(5, 6), x * y - _q(1, 6)], {"x": (_q(2, 5), _q(3, 5)),
       "y": (_q(1, 5), _q(2, 5))}), part="elsewhere", at={"x": _q(1, 3), "y": _q(1, 2)})
_false("zero.box_outside", [UNIT], unique_zero([x - _q(1, 2)], {"x": (_q(1, 3), 2)}), part="box in the domain", at={})
_false("zero.beside_the_box", [UNIT], unique_zero([x - _q(3, 4)], {"x": (0, _q(1, 2))}))
_false("zero.on_the_edge", [UNIT], unique_zero([x - _q(1, 2)], {"x": (_q(1, 2), 1)}))
_false("zero.plateau", [UNIT], unique_zero([absolute(x - _q(1, 3)) + absolute(x - _q(2, 3)) - _q(1, 3)],
       {"x": (_q(1, 4), _q(2, 5))}))
_false("zero.at_an_end", [real("x", 0, 4)], unique_zero([x * (x - 1) * (x - 4)], {"x": (_q(1, 2), 2)}))
# From here on no point refutes: the second zero is irrational, or the box itself holds none or two (Krawczyk's part).
_false("zero.second_root_of_two", [real("x", -2, 2)], unique_zero([x**2 - 2], {"x": (1, 2)}))  # -sqrt(2)
_false("zero.line_and_circle", [real("x", -1, 1), real("y", -1, 1)],
       unique_zero([x**2 + y**2 - 1, x - y], {"x": (_q(1, 2), 1), "y": (_q(1, 2), 1)}))  # both -1/sqrt(2)
_false("zero.none", [real("x", -1, 1)], unique_zero([x**2 + 1], {"x": (-_q(1, 2), _q(1, 2))}))
_false("zero.none_by_a_hair", [real("x", -1, 1)], unique_zero([x**2 + _ten(-30)], {"x": (-_q(1, 2), _q(1, 2))}))
_false("zero.line_beside_circle", [real("x", 0, 3), real("y", 0, 3)],
       unique_zero([x**2 + y**2 - 1, x + y - 3], {"x": (1, 2), "y": (1, 2)}))
_false("zero.two_in_the_box", [UNIT], unique_zero([(x - _q(1, 4)) * (x - _q(3, 4))], {"x": (_q(1, 8), _q(7, 8))}))
_false("zero.two_close_in_the_box", [UNIT], unique_zero([(x - _q(1, 2)) ** 2 - _ten(-20)], {"x": (_q(1, 8), _q(7, 8))}))

# -- witness: what is named does not do ------------------------------------------------------------------------------

_false("witness.half", [UNIT], exists({x: _q(1, 2)}, eq(x**2, _q(1, 2))))
_false("witness.rounded_root", [REAL], exists({x: _q(14142135623730951, 10**16)}, eq(x**2, 2)), part="witness", at={})
_false("witness.root_below", [REAL], exists({x: sqrt(num(2))}, both(eq(x**2, 2), x <= _q(14142, 10**4))))
# (The second part of the last one is false, 2 > 1.4142^2; the first is an equality of roots.)
_false("witness.smaller", [real("x"), real("y")], exists({y: x / 2}, y < x), part="witness", at={"x": -1})
_false("witness.inverse", [real("x"), real("y")], exists({y: 1 / x}, eq(x * y, 1)), part="witness", at={"x": 0})
_false("witness.pi", [REAL], exists({x: _q(245850922, 78256779)}, eq(x, PI)), part="witness", at={})
_false("witness.outside", [real("x", _q(1, 2), 1)], exists({x: _q(1, 3)}, x < 1))
_false("witness.beyond_the_end", SQUARE, exists({y: x + 1}, x < y))
_false("witness.quantifiers_swapped", [SIZE, positive("x")], exists({x: _ten(-6)}, x * n <= 1), part="witness",
       at={"n": 10**6 + 1})
_false("witness.bound_of_all", [real("x"), real("y")], exists({y: num(10**5)}, x <= y), part="witness",
       at={"x": 10**6})
_false("witness.root", [real("x"), real("y")], exists({y: sqrt(x)}, eq(y**2, x)), part="witness", at={"x": -1})
_false("witness.logarithm", [real("x", 0), real("y")], exists({y: log(x)}, eq(exp(y), x)), part="witness", at={"x": 0})
_false("witness.continuity", [REAL, real("y"), positive("e"), positive("d")],
       exists({d: e / 2}, implies(absolute(x - y) <= d, absolute(x**2 - y**2) <= e)), part="witness",
       at={"x": 10, "y": _q(99, 10), "e": 1})
_false("witness.two_squares", [REAL, real("y")], exists({x: _q(3, 5), y: _q(4, 5)}, both(eq(x**2 + y**2, 1), y < x)))
_false("witness.hypothesis_lost", [REAL, real("y")], exists({x: num(1), y: num(2)}, eq(x + y, 3)), y < x)

# -- iff: one direction only -----------------------------------------------------------------------------------------

_false("iff.square_is_one", [REAL], iff(eq(x**2, 1), eq(x, 1)))
_false("iff.order_of_squares", PLANE, iff(x <= y, x**2 <= y**2))
_false("iff.sign_of_product", PLANE, iff(x * y > 0, both(x > 0, y > 0)))
_false("iff.small_square", [REAL], iff(x**2 <= 1, x <= 1))
_false("iff.modulus", [REAL], iff(absolute(x) < 1, x < 1))
_false("iff.exp_above_one", [REAL], iff(exp(x) > 1, x >= 0))
_false("iff.equal_moduli", PLANE, iff(eq(x, y), eq(absolute(x), absolute(y))))
_false("iff.sum_and_all", VECTOR, iff(eq(total(i, 1, n, s[i]), 0), eq(total(i, 1, n, s[i] ** 2), 0)),
       at={"n": 2, "s": (1, -1)})
_false("iff.factor", [REAL], iff(eq((x - 1) * (x - 2), 0), eq(x, 1)))
_false("iff.far_factor", [REAL], iff(eq((x - 1) * (x - _q(355, 113)), 0), eq(x, 1)), at={"x": _q(355, 113)})
_false("iff.square_of_size", [whole("n")], iff(n**2 <= 16, n <= 4))
_false("iff.largest", PLANE, iff(eq(largest(x, y), x), y < x))
_false("iff.inverse", [REAL], iff(1 / x < 1, x > 1), ne(x, 0))
_false("iff.threshold", [UNIT], iff(_q(2, 9) <= x * (1 - x), _q(1, 3) <= x))
_false("iff.threshold_digits", [UNIT], iff(_q(2, 9) <= x * (1 - x), both(_q(333, 1000) <= x, x <= _q(2, 3))),
       at={"x": _q(3332, 10000)})
_false("iff.window", [positive("slope"), SIZE, real("e", 0, 1, open=True)],
       iff(exp(-slope * n) <= e, -log(e) / slope <= n + 1))
_false("iff.rotated", [*PLANE, real("z")], iff(both(x < y, y < z), x < z))
_false("iff.two_relations", PLANE, iff(x**2 + y**2 <= 2 * x * y, either(x < y, y < x)))
_false("iff.triangle_is_equality", PLANE, iff(eq(absolute(x + y), absolute(x) + absolute(y)), x * y > 0))

# -- sums: index slips, wrong sizes, swapped subscripts ---------------------------------------------------------------

_geometric = total(i, 0, n - 1, exp(a * i)) * (exp(a) - 1)
_TABLE = [SIZE, sequence("x", (n, n)), sequence("s", n)]
_false("sum.places", [SIZE], eq(total(i, 1, n, i), n * (n - 1) / 2))
_false("sum.squares", [SIZE], eq(total(i, 1, n, i**2), n * (n + 1) * (2 * n - 1) / 6))
_false("sum.odd", [SIZE], eq(total(i, 1, n, 2 * i + 1), n**2))
_false("sum.ones", [SIZE], eq(total(i, 2, n, 1), n))
_false("sum.from_zero", [SIZE], eq(total(i, 0, n, 1), n))
_false("sum.geometric", [SIZE, real("a")], eq(_geometric, exp(a * (n + 1)) - 1))
_false("sum.geometric_at_one", [SIZE, real("a")], eq(total(i, 0, n - 1, exp(a * i)), (exp(a * n) - 1) / (exp(a) - 1)))
_false("sum.telescope", [SIZE], eq(total(i, 1, n, 1 / (i * (i + 1))), 1 - 1 / n))
_false("sum.telescope_items", [whole("n", 2), sequence("s", n)],
       eq(total(i, 1, n - 1, s[i + 1] - s[i]), s[n] - s[2]))
_false("sum.pairs", [SIZE], eq(total(i, 1, n, total(j, i + 1, n, 1)), n**2 / 2))
_false("sum.pairs_with_diagonal", [SIZE], eq(total(i, 1, n, total(j, i, n, 1)), n * (n - 1) / 2))
_false("sum.shifted", [whole("n", 2), sequence("s", n)], eq(total(i, 1, n - 1, s[i + 1]), total(i, 1, n - 1, s[i])))
_false("sum.split_twice", [SIZE, whole("m", 1, n), sequence("s", n)],
       eq(total(i, 1, n, s[i]), total(i, 1, m, s[i]) + total(i, m, n, s[i])))
_false("sum.abel", [whole("n", 2), sequence("s", n), sequence("t", n)],
       eq(total(i, 1, n - 1, s[i] * (t[i + 1] - t[i])),
          s[n] * t[n] - s[1] * t[1] - total(i, 1, n - 1, t[i] * (s[i + 1] - s[i]))))
_false("sum.reversed_weights", VECTOR, eq(total(i, 1, n, i * s[n + 1 - i]), total(i, 1, n, i * s[i])))
_false("sum.reversed_half", VECTOR, eq(total(i, 1, n, (n - i) * s[i]), total(i, 1, n, i * s[n + 1 - i])))
_false("sum.swapped", _TABLE, eq(total(i, 1, n, total(j, 1, n, x[i, j] * s[j])),
       total(i, 1, n, total(j, 1, n, x[j, i] * s[j]))))
_false("sum.symmetric", [SIZE, PLACE, whole("j", 1, n), sequence("x", (n, n))], eq(x[i, j], x[j, i]))
_false("sum.trace_of_square", [SIZE, sequence("x", (n, n))], eq(total(i, 1, n, total(j, 1, n, x[i, j] * x[j, i])),
       total(i, 1, n, total(j, 1, n, x[i, j] ** 2))))
_false("sum.product_order", [SIZE, sequence("x", (n, n)), sequence("y", (n, n))],
       eq(total(k, 1, n, x[1, k] * y[k, n]), total(k, 1, n, y[1, k] * x[k, n])))
_false("sum.factorial", [SIZE], eq(fold("prod", i, 1, n + 1, i), n * fold("prod", i, 1, n, i)))
_false("sum.weighted_factorials", [SIZE],
       eq(total(k, 1, n, k * fold("prod", i, 1, k, i)), fold("prod", i, 1, n + 1, i)))
_false("sum.square_of_sum", VECTOR, eq(total(i, 1, n, s[i]) ** 2, total(i, 1, n, s[i] ** 2)))
_false("sum.product_of_sums", [*VECTOR, sequence("t", n)],
       eq(total(i, 1, n, s[i] * t[i]), total(i, 1, n, s[i]) * total(i, 1, n, t[i])))
_false("sum.variance", [whole("n", 2), sequence("s", n)], eq(
       total(i, 1, n, (s[i] - total(k, 1, n, s[k]) / n) ** 2),
       total(i, 1, n, s[i] ** 2) - total(i, 1, n, s[i]) ** 2 / (n - 1)))
_false("sum.lagrange", [*VECTOR, sequence("t", n)], eq(
       total(i, 1, n, s[i] ** 2) * total(i, 1, n, t[i] ** 2) - total(i, 1, n, s[i] * t[i]) ** 2,
       total(i, 1, n, total(j, 1, n, (s[i] * t[j] - s[j] * t[i]) ** 2))))
_false("sum.exp_of_sum", VECTOR, eq(exp(total(i, 1, n, s[i])), total(i, 1, n, exp(s[i]))))
_false("sum.log_of_sum", [SIZE, sequence("s", n, 0, open="low")],
       eq(log(total(i, 1, n, s[i])), total(i, 1, n, log(s[i]))))
_false("sum.largest_of_sum", [*VECTOR, sequence("t", n)], eq(fold("max", i, 1, n, s[i] + t[i]),
       fold("max", i, 1, n, s[i]) + fold("max", i, 1, n, t[i])))
_false("sum.least_and_largest", VECTOR, eq(fold("min", i, 1, n, s[i]), fold("max", i, 1, n, -s[i])))
_false("sum.others", [whole("t", 4), whole("i", 1, t)],
       eq(total(k, 1, t, when(both(i - 1 <= k, k <= i + 1), 0, 1)), t - 3))
_false("sum.delta", [SIZE, whole("j", 0, n)], eq(total(i, 1, n, when(eq(i, j), 1, 0)), 1))
_false("sum.window", [whole("n", 1), whole("w", 1), PLACE], eq(total(k, 1, n, when(both(i - w < k, k <= i), 1, 0)), w))
_false("sum.empty_is_one", [whole("n", 0)], eq(fold("prod", i, 1, n, 0), total(i, 1, n, 0)))
_false("sum.binomial", [real("a")], eq((1 + a) ** 5, 1 + 5 * a + 10 * a**2 + 10 * a**3 + 5 * a**4))
_false("sum.bound_by_mean", [SIZE, sequence("s", n, 0)], n * fold("max", i, 1, n, s[i]) <= 2 * total(i, 1, n, s[i]))

# -- monotone: it is not, or the other way ----------------------------------------------------------------------------

_PAIR = [real("x", 0), real("y", x)]
_false("monotone.square", [real("x"), real("y", x)], x**2 <= y**2)
_false("monotone.x_exp", _PAIR, x * exp(-x) <= y * exp(-y))
_false("monotone.parabola", [real("x", 0, 1), real("y", x, 1)], x * (1 - x) <= y * (1 - y))
_false("monotone.inverse", PLANE, implies(x < y, 1 / y < 1 / x), ne(x, 0), ne(y, 0))
_false("monotone.sine", [real("x", 0, 2), real("y", x, 2)], sin(x) <= sin(y))
_false("monotone.x_log", [real("x", 0, 1, open="low"), real("y", x, 1)], x * log(x) <= y * log(y))
_false("monotone.cubic", [real("x", 0, 2), real("y", x, 2)], x - x**3 / 6 <= y - y**3 / 6)
_false("monotone.ratio", [real("x", 0, open="low"), real("y", x)], tanh(x) / x <= tanh(y) / y)
_false("monotone.other_logit", [*PLANE, real("z", y)], exp(x) / (exp(x) + exp(y)) <= exp(x) / (exp(x) + exp(z)))
_false("monotone.euler", [SIZE], exp((n + 1) * log(1 + 1 / (n + 1))) <= exp(n * log(1 + 1 / n)))
_false("monotone.log_over_n", [SIZE], log(n + 1) / (n + 1) <= log(n) / n)
_false("monotone.partial_sums", [SIZE, sequence("s", n + 1)], total(i, 1, n, s[i]) <= total(i, 1, n + 1, s[i]))
_false("monotone.slow_turn", _PAIR, x - x**2 / 10**6 <= y - y**2 / 10**6, at={"x": 5 * 10**5, "y": 2 * 10**6})
_false("monotone.small_turn", [real("x", 0, 1), real("y", x, 1)], (x - _ten(-5)) ** 2 <= (y - _ten(-5)) ** 2,
       at={"x": 0, "y": _ten(-5)})

# -- dropped: a hypothesis is gone ------------------------------------------------------------------------------------

_false("dropped.at_least_one", [real("x", 0)], x <= x**2)
_false("dropped.sign_of_factor", [*PLANE, real("z", y)], x * y <= x * z)
_false("dropped.sign_of_divisor", PLANE, implies(x <= y, x / y <= 1), ne(y, 0))
_false("dropped.products", [*PLANE, real("a", x), real("b", y)], x * y <= a * b)
_false("dropped.range", PLANE, 4 * x * y <= (x + y) ** 2 - (x - y) ** 4 / 10**6)
_false("dropped.three_means", [*PLANE, real("z")], 27 * x * y * z <= (x + y + z) ** 3)
_false("dropped.order", [real(name) for name in "abxy"], a * x + b * y >= (a + b) * (x + y) / 2)
_false("dropped.order_of_sequences", [*VECTOR, sequence("t", n)],
       total(i, 1, n, s[i]) * total(i, 1, n, t[i]) <= n * total(i, 1, n, s[i] * t[i]))
_false("dropped.normalised", [SIZE, sequence("w", n, 0), sequence("v", n)],
       total(i, 1, n, w[i] * v[i]) <= fold("max", i, 1, n, v[i]))
_false("dropped.nonnegative_weights", [sequence("v", 3), real("p"), real("q")],
       p * v[1] + q * v[2] + (1 - p - q) * v[3] <= fold("max", i, 1, 3, v[i]))
_false("dropped.two_tokens", [SIZE, sequence("s", n)], exp(s[1]) / total(i, 1, n, exp(s[i])) <= 1 - _ten(-40),
       at={"n": 1, "s": (0,)})
_false("dropped.positive_slope", [real("slope", 0, 1), SIZE], exp(-slope * n) < 1)
_false("dropped.window_of_one", [whole("w", 0), positive("slope"), real("d", 0)],
       1 / (1 + exp(-d) * (exp(slope * w) - 1)) < 1)
_false("dropped.quadratic", [real(name) for name in "abcx"], implies(b**2 <= 4 * a * c, a * x**2 + b * x + c >= 0))
_false("dropped.bounded", [REAL, real("y", -1, 1)], absolute(x * y) <= absolute(y))
_false("dropped.distance", PLANE, absolute(x**2 - y**2) <= 2 * absolute(x - y))
_false("dropped.likelihood", [real("m", 0), real("r", 0)], (1 - m) * (r - 1) <= (r - m) * absolute(r - 1))
_false("dropped.mean_of_ratios", [real(name, 0, open="low") for name in "abcd"], (a + b) / (c + d)
       <= least(a / c, b / d))
_false("dropped.shift", [real("a"), real("b"), real("x", -1, 1), real("y", -1, 1)], absolute(a * x + b * y)
       <= absolute(a + b))

# -- attention --------------------------------------------------------------------------------------------------------

SOFTMAX = define("softmax", [s, n, i], exp(s[i]) / total(k, 1, n, exp(s[k])))
MEAN = define("mean", [s, v, p, q], total(k, p, q, exp(s[k]) * v[k]) / total(k, p, q, exp(s[k])))
MASS = define("mass", [s, n, p], total(k, p, n, exp(s[k])) / total(k, 1, n, exp(s[k])))
# Distances 0, 1, ..: the token at place k is k - 1 away, and loses slope (k - 1).
BEYOND = define("beyond", [s, n, slope, w], total(k, w + 1, n, exp(s[k] - slope * (k - 1)))
                / total(k, 1, n, exp(s[k] - slope * (k - 1))))
_weight = _call("softmax", s, n, i)
_HEAD = [*VECTOR, PLACE]
_SPREAD = [real("d", 0), SIZE, sequence("s", n, 0, d), PLACE]
_ALIBI = [positive("slope"), real("d", 0), whole("w", 1), whole("n", w + 1), sequence("s", n, 0, d)]
_beyond = _call("beyond", s, n, slope, w)
_false("attention.uniform", _HEAD, _weight <= 1 / n, using=[SOFTMAX])
_false("attention.below_one", _HEAD, _weight < 1, using=[SOFTMAX])
_false("attention.positive_by_much", _HEAD, _ten(-30) <= _weight, using=[SOFTMAX], at={"n": 2, "s": (0, 100), "i": 1})
_false("attention.mass_of_rest", _HEAD, eq(total(k, 1, n, _call("softmax", s, n, k)) - _weight, (n - 1) / n),
       using=[SOFTMAX])
_false("attention.scale_invariant", _HEAD, eq(_call("softmax", each(j, 2 * s[j]), n, i), _weight), using=[SOFTMAX])
_false("attention.sharper", _HEAD, _weight <= _call("softmax", each(j, 2 * s[j]), n, i), using=[SOFTMAX])
_false("attention.linear", [*_HEAD, sequence("t", n)], eq(_call("softmax", each(j, (s[j] + t[j]) / 2), n, i),
       (_weight + _call("softmax", t, n, i)) / 2), using=[SOFTMAX])
_false("attention.spread", _SPREAD, _weight <= _TIGHT / (1 + (n - 1) * exp(-d)), using=[SOFTMAX])
_false("attention.spread_sharper", [*_SPREAD[:1], whole("n", 3), *_SPREAD[2:]],
       _weight <= _TIGHTER / (1 + (n - 1) * exp(-d)), d >= 1, using=[SOFTMAX],
       at={"d": 1, "n": 3, "s": (1, 0, 0), "i": 1})
_false("attention.spread_counts_itself", _SPREAD, _weight <= 1 / (1 + n * exp(-d)), using=[SOFTMAX])
_false("attention.half_spread", _SPREAD, _weight <= 1 / (1 + (n - 1) * exp(-d / 2)), using=[SOFTMAX])
_false("attention.spread_below", _SPREAD, _ABOVE / (1 + (n - 1) * exp(d)) <= _weight, using=[SOFTMAX])
_false("attention.centred_spread", [real("d", 0), SIZE, sequence("s", n, -d, d), PLACE],
       _weight <= 1 / (1 + (n - 1) * exp(-d)), using=[SOFTMAX])
_false("attention.window_one_more", _ALIBI, _beyond <= 1 / (1 + exp(-d) * (exp(slope * (w + 1)) - 1)), using=[BEYOND])
_false("attention.window_half_spread", _ALIBI, _beyond <= 1 / (1 + exp(-d / 2) * (exp(slope * w) - 1)), using=[BEYOND],
       at={"slope": 1, "d": 2, "w": 1, "n": 3, "s": (0, 2, 2)})
_false("attention.window_of_the_formula", _ALIBI, _beyond <= _TIGHT * exp(-slope * w), using=[BEYOND],
       at={"slope": 5, "d": 0, "w": 1, "n": 3, "s": (0, 0, 0)})
# The bound is approached for many tokens and steep slopes: a thousandth less is too little.
_false("attention.window_sharp", _ALIBI, _beyond <= _TIGHT / (1 + exp(-d) * (exp(slope * w) - 1)), using=[BEYOND],
       at={"slope": 5, "d": 1, "w": 1, "n": 3, "s": (0, 1, 1)})
_false("attention.window_too_short", [*_ALIBI, real("e", 0, 1, open=True)],
       implies((d - log(e)) / slope - 1 <= w, _beyond < e), using=[BEYOND],
       at={"slope": 5, "d": 1, "w": 1, "n": 3, "s": (0, 1, 1), "e": _q(9, 500)})
_false("attention.window_without_spread", [*_ALIBI, real("e", 0, 1, open=True)],
       implies(-log(e) / slope <= w, _beyond < e), using=[BEYOND],
       at={"slope": 1, "d": 5, "w": 1, "n": 3, "s": (0, 5, 5), "e": _q(1, 2)})
_false("attention.window_iff", [*_ALIBI, real("e", 0, 1, open=True)],
       iff((d - log(e)) / slope <= w, _beyond < e), using=[BEYOND],
       at={"slope": 1, "d": 1, "w": 1, "n": 2, "s": (0, 0), "e": _q(1, 2)})
# Queries and keys in [-r, r]: products differ by up to 2 r^2, and exceed the query's own by up to r^2/4.
_KEYS = [positive("r"), *(real(name, -r, r) for name in "qxy")]
_false("attention.logit_range", _KEYS, q * x - q * y <= r**2)
_false("attention.logit_range_sharp", _KEYS, q * x - q * y <= _q(19999, 10000) * r**2,
       at={"r": 1, "q": 1, "x": 1, "y": -1})
_false("attention.self_gap", _KEYS, q * x - q**2 <= _TIGHT * r**2 / 4, at={"r": 2, "q": 1, "x": 2, "y": 0})
_false("attention.printed_scope", [*_KEYS, positive("slope"), SIZE, real("e", 0, 1, open=True)],
       implies(r**2 - log(e) <= slope * n, 1 / (1 + exp(q * x - q * y + slope * n)) < e),
       at={"r": 2, "q": 2, "x": -2, "y": 2, "slope": 5, "n": 1, "e": _q(1, 2)})
_KEPT = [whole("n", 2), whole("m", 1, n - 1), sequence("s", n), sequence("v", n, 0, 1)]
_lost = _call("mean", s, v, 1, n) - _call("mean", s, v, 1, m)
_mass = _call("mass", s, n, m + 1)
_false("attention.truncation", _KEPT, eq(_lost, _mass * (_call("mean", s, v, m + 1, n) - _call("mean", s, v, 1, n))),
       using=[MEAN, MASS])
_false("attention.truncation_bound", _KEPT, absolute(_lost) <= _TIGHT * _mass, using=[MEAN, MASS],
       at={"n": 2, "m": 1, "s": (0, 0), "v": (0, 1)})
_false("attention.truncation_second_order", _KEPT, absolute(_lost) <= _mass**2, using=[MEAN, MASS])
_false("attention.output_below_largest", [*VECTOR, sequence("v", n)],
       _call("mean", s, v, 1, n) < fold("max", k, 1, n, v[k]), using=[MEAN])
_false("attention.output_by_uniform", [*VECTOR, sequence("v", n, 0, 1)],
       _call("mean", s, v, 1, n) <= total(k, 1, n, v[k]) / n, using=[MEAN])
_false("attention.strict_mask", [SIZE, PLACE, sequence("s", n), sequence("v", n, 0, 1)],
       _call("mean", s, v, 1, i - 1) <= 1, using=[MEAN])
_false("attention.causal_is_full", [SIZE, PLACE, sequence("s", n), sequence("v", n, 0, 1)],
       absolute(_call("mean", s, v, 1, i) - _call("mean", s, v, 1, n)) <= _q(9, 10), using=[MEAN],
       at={"n": 2, "i": 1, "s": (0, 5), "v": (0, 1)})
_false("attention.two_logits", PLANE, absolute(1 / (1 + exp(-x)) - 1 / (1 + exp(-y)))
       <= _TIGHT * tanh(absolute(x - y) / 4),
       at={"x": 1, "y": -1})
_false("attention.two_logits_eighth", PLANE, absolute(1 / (1 + exp(-x)) - 1 / (1 + exp(-y)))
       <= tanh(absolute(x - y) / 8),
       at={"x": 1, "y": -1})
# Logits that move by at most w each spread by 2w: the distance may be tanh(w/2), twice what is claimed.
_false("attention.perturbed", [*VECTOR, positive("w"), sequence("t", n, -w, w)],
       total(k, 1, n, absolute(_call("softmax", each(j, s[j] + t[j]), n, k) - _call("softmax", s, n, k))) / 2
       <= tanh(w / 4), using=[SOFTMAX], at={"n": 2, "s": (0, 0), "w": 1, "t": (1, -1)})
_false("attention.log_sum_exp", VECTOR, log(total(i, 1, n, exp(s[i]))) <= fold("max", i, 1, n, s[i]) + _TIGHT * log(n))
_false("attention.log_sum_mean", VECTOR, log(total(i, 1, n, exp(s[i]))) <= total(i, 1, n, s[i]) / n + log(n))
_false("attention.log_sum_is_largest", VECTOR, log(total(i, 1, n, exp(s[i]))) <= fold("max", i, 1, n, s[i]))
_false("attention.entropy", [whole("n", 2), sequence("s", n)],
       -total(i, 1, n, _weight * log(_weight)) <= _TIGHT * log(n), using=[SOFTMAX])
_false("attention.scope_sum", [positive("slope"), SIZE],
       eq(total(k, 0, n - 1, exp(-slope * k)), (1 - exp(-slope * (n + 1))) / (1 - exp(-slope))))
_false("attention.shifted_range", [real("a"), real("b"), real("x", -1, 1), real("y", -1, 1)],
       absolute(a * x + b * y) <= largest(absolute(a), absolute(b)))
_false("attention.value_residual", [real("a"), real("b"), *(real(name, 0, 1) for name in "xyzw")],
       absolute(a * x + b * z - a * y - b * w) <= absolute(a + b))

# -- planted: the one-repeat task by brute force against closed forms with one thing wrong ----------------------------

# The sentence is 1, .., t and then i once more; the last token attends to all t + 1 of them.
WORD = define("word", [p, t, i], when(p <= t, p, i))
IS = define("is", [p, t, i, k], when(eq(_call("word", p, t, i), k), 1, 0))
AFTER = define("after", [p, t, i, k], when(p >= 2, _call("is", p - 1, t, i, k), 0))
WEIGHT = define("weight", [p, t, i, a, b], exp(a * _call("is", p, t, i, i) + b * _call("after", p, t, i, i)))
LOGIT = define("logit", [k, t, i, a, b, c, d], total(p, 1, t + 1, _call("weight", p, t, i, a, b)
               * (c * _call("is", p, t, i, k) + d * _call("after", p, t, i, k)))
               / total(p, 1, t + 1, _call("weight", p, t, i, a, b)))
LOSS = define("loss", [t, i, a, b, c, d], log(total(k, 1, t, exp(_call("logit", k, t, i, a, b, c, d)
              - _call("logit", i + 1, t, i, a, b, c, d)))))
ONE_REPEAT = [WORD, IS, AFTER, WEIGHT, LOGIT]
_loss, _PARAMETERS = _call("loss", t, i, a, b, c, d), [real(name, -3, 3) for name in "abcd"]
_INTERIOR = [whole("t", 4, 8), whole("i", 2, t - 2), *_PARAMETERS]


def _table(t: Any, a: Any, b: Any, c: Any, d: Any) -> tuple[Term, dict[str, Term]]:
    """The partition and the numerators: the target's, the repeated token's, an edge's, those of the other t - 4."""
    A, B = exp(a), exp(b)
    return 2 * A + B + t - 2, {"target": c * B + d, "repeated": 2 * c * A + d * B, "edge": c + d * A, "other": c + d}


def _closed(t: Any, a: Any, b: Any, c: Any, d: Any, edges: int = 2, others: Any = None) -> Term:
    S, row = _table(t, a, b, c, d)
    others = t - 4 if others is None else others
    gaps = {name: exp((row[name] - row["target"]) / S) for name in row}
    return log(1 + gaps["repeated"] + edges * gaps["edge"] + others * gaps["other"])


_LOSSES: dict[str, Term] = {
    "alphas_swapped": _closed(t, b, a, c, d),
    "betas_swapped": _closed(t, a, b, d, c),
    "sign_of_alpha1": _closed(t, -a, b, c, d),
    "sign_of_alpha2": _closed(t, a, -b, c, d),
    "sign_of_beta1": _closed(t, a, b, -c, d),
    "sign_of_beta2": _closed(t, a, b, c, -d),
    "one_token_more": _closed(t + 1, a, b, c, d),
    "half_a_token_more": _closed(t + _q(1, 2), a, b, c, d),
    "one_edge": _closed(t, a, b, c, d, edges=1),
    "others_less_three": _closed(t, a, b, c, d, others=t - 3),
    "excess": _closed(t, a, b, c, d) - log(t),
    "a_billionth_more": _closed(t, a, b, c, d) * (1 + _ten(-9)),
    "temperature": _closed(t, a / 2, b / 2, c, d),
    "bits": _closed(t, a, b, c, d) / log(num(2)),
    "last_class_lost": _closed(t, a, b, c, d, others=0),
    "right_for_four": _closed(t, a, b, c, d, others=(t - 4) * (9 - t) / 4),
}
for _name, _formula in _LOSSES.items():
    _false(f"planted.loss_{_name}", _INTERIOR, eq(_loss, _formula), using=[*ONE_REPEAT, LOSS],
           at={"t": 6, "i": 3, "a": 1, "b": 2, "c": 3, "d": _q(1, 2)})
_false("planted.loss_every_position", [whole("t", 4, 8), whole("i", 1, t - 1), *_PARAMETERS],
       eq(_loss, _closed(t, a, b, c, d)), using=[*ONE_REPEAT, LOSS])
_false("planted.loss_last_but_one", [whole("t", 4, 8), whole("i", 2, t - 1), *_PARAMETERS],
       eq(_loss, _closed(t, a, b, c, d)), using=[*ONE_REPEAT, LOSS],
       at={"t": 4, "i": 3, "a": 1, "b": 0, "c": 0, "d": 1})
_false("planted.loss_unbounded_tokens", [whole("t", 4), whole("i", 2, t - 2), *_PARAMETERS],
       eq(_loss, _closed(t, a, b, c, d, others=(t - 4) + (t - 4) * (t - 5) * (t - 6) * (t - 7))),
       using=[*ONE_REPEAT, LOSS], at={"t": 8, "i": 3, "a": 1, "b": 2, "c": 3, "d": _q(1, 2)})

_S, _ROW = _table(t, a, b, c, d)
_TABLES: dict[str, tuple[Any, Term]] = {
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
for _name, (_token, _formula) in _TABLES.items():
    _false(f"planted.table_{_name}", _INTERIOR, eq(_call("logit", _token, t, i, a, b, c, d), _formula),
           using=ONE_REPEAT, at={"t": 6, "i": 3, "a": 1, "b": 2, "c": 3, "d": _q(1, 2)})

_SLICE = [real("t", 4), real("a"), real("b"), real("c", 0, 1)]
_slice = _closed(t, a, b, c, 1 - c)
_false("planted.slice_minimum_elsewhere", _SLICE, _closed(t, a, b, 0, 1) <= _slice, a >= 0, a <= 1, b >= 0, b <= 1)
_false("planted.slice_minimum_off_the_box", _SLICE, _closed(t, 0, 1, 1, 0) <= _slice,
       at={"t": 4, "a": 0, "b": 3, "c": 1})
_false("planted.slice_minimum_sharp", _SLICE, _q(10001, 10000) * _closed(t, 0, 1, 1, 0) <= _slice, a >= 0, a <= 1,
       b >= 0, b <= 1, at={"t": 4, "a": 0, "b": 1, "c": 1})
_false("planted.loss_below_uniform", [real("t", 4), *_PARAMETERS], _closed(t, a, b, c, d) <= log(t))
_false("planted.loss_of_no_shift", [real("t", 4), real("a"), real("c")], log(t) <= _closed(t, a, 0, c, 0),
       at={"t": 4, "a": 0, "c": -1})

# -- noise: floating point, or digits by evaluation, would say otherwise ---------------------------------------------

_false("noise.nested_root", [], sqrt(5 + 2 * sqrt(num(6))) < sqrt(num(2)) + sqrt(num(3)))  # the squares are equal
_false("noise.nested_root_turned", [], sqrt(num(2)) + sqrt(num(3))
       < sqrt(5 + 2 * sqrt(num(6))))  # the squares are equal
_false("noise.nested_root_apart", [], ne(sqrt(5 + 2 * sqrt(num(6))), sqrt(num(2)) + sqrt(num(3))))  # equal
_false("noise.nested_root_and_more", [], eq(sqrt(5 + 2 * sqrt(num(6))) + _ten(-30), sqrt(num(2)) + sqrt(num(3))), at={})
_false("noise.root_of_six", [], sqrt(num(2)) * sqrt(num(3)) < sqrt(num(6)))  # the squares are equal
_false("noise.inverse_root", [], sqrt(num(3)) + sqrt(num(2)) < 1 / (sqrt(num(3)) - sqrt(num(2))), at={})
_false("noise.cube", [], (1 + sqrt(num(2))) ** 3 < 7 + 5 * sqrt(num(2)), at={})
_false("noise.exp_of_log", [], exp(log(num(3))) < 3, at={})
_false("noise.log_of_eight", [], log(num(8)) < 3 * log(num(2)))  # the exponentials are equal
_false("noise.quarter_pi", [], atan(num(1)) < PI / 4)  # equal
_false("noise.machin", [], 4 * atan(num(_q(1, 5))) - atan(num(_q(1, 239))) < PI / 4)  # equal
_false("noise.sixth_of_pi", [], sin(PI / 6) < _q(1, 2))  # equal
_false("noise.sine_of_pi", [], ne(sin(PI), 0))  # equal
_false("noise.tanh_of_log", [], tanh(log(num(2))) < _q(3, 5), at={})
_false("noise.tenths", [], total(i, 1, 10, num(_q(1, 10))) < 1)
_false("noise.three_tenths", [], eq(num(Fraction(0.1)) + num(Fraction(0.2)), num(Fraction(0.3))), at={})
_false("noise.fraction_of_a_float", [], eq(10 * num(Fraction(0.1)), 1), at={})
_false("noise.tiny_square", [], _ten(-40) < (1 + num(_ten(-20))) ** 2 - 1 - 2 * num(_ten(-20)))
_false("noise.absorbed", [UNIT], eq((x + _ten(20)) - _ten(20), x / 2), at={"x": 1})
_false("noise.next_whole", [], (num(10**16) + 1) - 10**16 < 1)
_false("noise.close_roots", [real("x", _ten(20))], sqrt(x + 1) <= sqrt(x))
_false("noise.root_differences", [real("x", 1)], _ten(-10) <= sqrt(x + 1) - sqrt(x), at={"x": _ten(21)})
_false("noise.cosine_at_nano", [real("x", 0, _ten(-9))], cos(x) >= 1, at={"x": _ten(-9)})
_false("noise.exp_at_nano", [real("x", 0, _ten(-9))], exp(x) - 1 <= x, at={"x": _ten(-9)})
_rump = _q(1335, 4) * num(33096) ** 6 + num(77617) ** 2 * (
    11 * num(77617) ** 2 * num(33096) ** 2 - num(33096) ** 6 - 121 * num(33096) ** 4 - 2
) + _q(11, 2) * num(33096) ** 8 + num(77617) / (2 * num(33096))
_false("noise.rump", [], _rump >= 0, at={})
_false("noise.rump_as_doubles_have_it", [], _q(117, 100) <= _rump, at={})
_false("noise.sine_of_1e22", [], sin(num(10**22)) >= 0)
_false("noise.three_roots", [], sqrt(num(10)) + sqrt(num(36)) + sqrt(num(45))
       <= sqrt(num(8)) + sqrt(num(34)) + sqrt(num(52)))
_false("noise.saturated", [real("x", 20)], eq(tanh(x), 1), at={"x": 20})
_false("noise.underflow", [real("x", 800, 900)], exp(-x) <= 0, at={"x": 800})
_false("noise.product_of_overflow", [real("x", 800, 900)], exp(x) * exp(-x) < 1)
_false("noise.cancelled_exponentials", [real("x", 0, 60)], (exp(x) + 1) - exp(x) <= _q(1, 2))
_false("noise.tower", [real("x", 0, 60)], _ten(-9) <= exp(-exp(x)), at={"x": 60})
_false("noise.deep_tower", [real("x", 0, 3)], exp(-exp(exp(exp(exp(x))))) <= 0, at={"x": 0})
_false("noise.power_tower", [real("x", 0, 2)], x**5000 <= 10**6, at={"x": 2})
_false("noise.inverse_tower", [real("x", -1, 0, open="high")], _ten(-9) <= exp(1 / x), at={"x": -_q(1, 100)})

# -- near: almost so ---------------------------------------------------------------------------------------------------

_RAMANUJAN = exp(PI * sqrt(num(163)))
_false("near.ramanujan", [], eq(_RAMANUJAN, 262537412640768744), at={})
_false("near.ramanujan_digits", [], 262537412640768744 - _ten(-13) * 7 <= _RAMANUJAN, at={})
_false("near.ramanujan_above", [], _RAMANUJAN >= 262537412640768744, at={})
_false("near.ramanujan_log", [], eq(log(num(640320**3 + 744)) / sqrt(num(163)), PI), at={})
_false("near.milu", [], absolute(PI - _q(355, 113)) <= _ten(-7))
_false("near.pi_is_22_7", [], eq(PI, num(_q(22, 7))))
_false("near.pi_by_lambert", [], eq(PI, num(_q(245850922, 78256779))), at={})
_false("near.pi_by_roots", [], absolute(sqrt(num(2)) + sqrt(num(3)) - PI) <= _q(1, 1000))
_false("near.powers_of_pi", [], eq(PI**4 + PI**5, exp(num(6))))
_false("near.gelfond", [], eq(exp(PI) - PI, 20))
_false("near.pi_less_e", [], eq(163 * (PI - exp(num(1))), 69))
_false("near.fraction_of_e", [], eq(exp(num(1)), num(_q(2721, 1001))), at={})
_false("near.fermat_12", [], eq(num(3987) ** 12 + num(4365) ** 12, num(4472) ** 12), at={})
_false("near.fermat_again", [], eq(num(1782) ** 12 + num(1841) ** 12, num(1922) ** 12), at={})
_false("near.golden_power", [], eq(((1 + sqrt(num(5))) / 2) ** 40, 228826127), at={})
_false("near.silver_power", [], eq((1 + sqrt(num(2))) ** 30, 304278004998), at={})
_false("near.sine_of_355", [], absolute(sin(num(355))) <= 3 * _ten(-5))
_false("near.cosine_of_355", [], eq(cos(num(355)), -1), at={})
_false("near.sine_of_eleven", [], eq(sin(num(11)), -1))
_false("near.tanh_of_twenty", [], eq(tanh(num(20)), 1), at={})
_false("near.whole_dispersion", [SIZE], _ten(-4) <= absolute(sin(n)), at={"n": 355})
_false("near.harmonic", [SIZE], absolute(total(i, 1, n, 1 / i) - log(n) - 1 / (2 * n) - _q(5772, 10**4))
       <= 1 / (10 * n**2),
       at={"n": 200})
_false("near.stirling", [SIZE], fold("prod", i, 1, n, i) <= sqrt(2 * PI * n) * exp(n * log(n) - n) * (1 + 1 / (12 * n)),
       at={"n": 1})

# -- thin: equalities by the back door, so that hardly a point meets the hypotheses ----------------------------------

_circle = x**2 + y**2
_false("thin.circle", PLANE, x + y <= _q(14, 10), _circle <= 1, _circle >= 1, at={"x": _q(20, 29), "y": _q(21, 29)})
_false("thin.circle_as_an_implication", PLANE, implies(eq(_circle, 1), x + y <= _q(7, 5)),
       at={"x": _q(20, 29), "y": _q(21, 29)})
_false("thin.nobody_but_axes", PLANE, implies(eq(_circle, 1), eq(x * y, 0)), at={"x": _q(3, 5), "y": _q(4, 5)})
_false("thin.diagonal", SQUARE, x + y < 2, (x - y) ** 2 <= 0)
_false("thin.diagonal_implied", SQUARE, implies(eq(x, y), x * y < 1))
_false("thin.parabola", PLANE, y < 9, absolute(y - x**2) <= _ten(-9), at={"x": 3, "y": 9})
_false("thin.hyperbola", QUADRANT, x + y > 2, x * y <= 1, x * y >= 1)
_false("thin.two_equations", PLANE, x <= _q(1, 2), x + y >= 1, x + y <= 1, x * y <= _q(2, 9), _q(2, 9) <= x * y,
       at={"x": _q(2, 3), "y": _q(1, 3)})
_false("thin.whole_root", [SIZE], n < 17, n**2 <= 289, n**2 >= 289)
_false("thin.pythagoras", [whole(name, 1) for name in "abc"], implies(eq(a**2 + b**2, c**2), ne(a + b + c, 1000)),
       at={"a": 200, "b": 375, "c": 425})
_false("thin.simplex_entropy", [whole("n", 2), sequence("p", n, 0, open="low")],
       implies(eq(total(i, 1, n, p[i]), 1), -total(i, 1, n, p[i] * log(p[i])) <= _TIGHT * log(n)),
       at={"n": 2, "p": (_q(1, 2), _q(1, 2))})
_false("thin.simplex_squares", [SIZE, sequence("p", n, 0)], total(i, 1, n, p[i] ** 2) < 1, total(i, 1, n, p[i]) <= 1,
       total(i, 1, n, p[i]) >= 1, at={"n": 1, "p": (1,)})
_false("thin.sphere", [real(name) for name in "xyz"], implies(eq(_circle + z**2, 1), x * y * z <= _q(19, 100)),
       at={"x": _q(23, 41), "y": _q(24, 41), "z": _q(24, 41)})
_false("thin.irrational", [real("x", 0, 2)], x < _q(14, 10), x**2 <= 2, x**2 >= 2, at={"x": sqrt(num(2))})
_false("thin.substituted", [REAL, real("y")], y < 4, eq(y, x**2), x <= 2)
_false("thin.orthonormal", [real(name) for name in "abcd"],
       implies(both(eq(a**2 + b**2, 1), eq(c**2 + d**2, 1), eq(a * c + b * d, 0)), eq(a * d - b * c, 1)),
       at={"a": 1, "b": 0, "c": 0, "d": -1})

# -- forbidden: (the way, what tries it, why it is refused) -----------------------------------------------------------

FORBIDDEN: list[tuple[str, Callable[[], Any], str]] = []


def _forbidden(way: str, attempt: Callable[[], Any], reason: str) -> None:
    FORBIDDEN.append((way, attempt, reason))


def _state(variables: Sequence[Variable], says: Any, *given: Any, using: Sequence[Any] = ()) -> Statement:
    return statement("forbidden", for_all=variables, given=given, says=says, using=using)


_NO_FLOAT = "constants are exact"
_forbidden("constant.float", lambda: x < 0.5, _NO_FLOAT)
_forbidden("constant.float_power", lambda: 10**-9 * x, _NO_FLOAT)
_forbidden("constant.float_quotient", lambda: (1 / 3) * x, _NO_FLOAT)
_forbidden("constant.float_end", lambda: real("x", 0, 1e6), _NO_FLOAT)
_forbidden("constant.infinite_end", lambda: real("x", 0, math.inf), "no end is None")
_forbidden("constant.nan", lambda: eq(x, math.nan), _NO_FLOAT)
_forbidden("constant.numpy_float", lambda: x * np.float64(0.5), _NO_FLOAT)
_forbidden("constant.numpy_float32", lambda: x < np.float32(0.1), _NO_FLOAT)
_forbidden("constant.numpy_int", lambda: x * np.int64(3), "an integer that may wrap around is none")
_forbidden("constant.decimal", lambda: x < Decimal("0.1"), _NO_FLOAT)
_forbidden("constant.complex", lambda: x * 1j, "terms are real")
_forbidden("constant.sympy", lambda: x < sp.Rational(1, 3), "a foreign term brings its own assumptions")
_forbidden("constant.sympy_symbol", lambda: eq(x, sp.Symbol("x", positive=True)), "symbols are made from the domain")
_forbidden("constant.ball", lambda: x < arb("0.5"), "a ball is no number")
_forbidden("constant.string", lambda: x < 3 * "1/10", "3 times a string repeats it")
_forbidden("constant.string_number", lambda: num("1/10"), "a string is no number")
_forbidden("constant.bool", lambda: x + True, "True is no 1")
_forbidden("constant.bool_side", lambda: eq(x, True), "True is no 1")
_forbidden("constant.bool_node", lambda: Term("num", True), "True is no 1")
_forbidden("constant.whole_node", lambda: Term("num", 1), "a constant is a fraction")
_forbidden("constant.choice_of_floats", lambda: choice("l", 0.5, 1.5), _NO_FLOAT)
_forbidden("operator.root_by_power", lambda: x**0.5, "a power has a literal whole exponent")
_forbidden("operator.power_by_term", lambda: x**n, "a power has a literal whole exponent")
_forbidden("operator.power_of_two", lambda: 2**n, "a power has a literal whole exponent")
_forbidden("operator.huge_power", lambda: x ** (10**7), "an exponent has a limit")
_forbidden("operator.floor", lambda: x // 2, "there is no such operator")
_forbidden("operator.remainder", lambda: n % 2, "there is no such operator")
_forbidden("operator.builtin_abs", lambda: abs(x), "absolute() is")
_forbidden("operator.builtin_max", lambda: max(x, y), "it would compare, and forget one of them")
_forbidden("operator.builtin_sorted", lambda: sorted([x, y]), "it would compare")
_forbidden("operator.math", lambda: math.sqrt(x), "a term is no float")
_forbidden("operator.numpy", lambda: np.exp(x), "a term is no float")
_forbidden("operator.round", lambda: round(x), "a term is no float")
_forbidden("operator.arithmetic_of_formulas", lambda: (x < 1) + 1, "a formula is no number")
_forbidden("operator.comparison_of_formulas", lambda: eq(x < 1, y < 1), "iff() is")
_forbidden("operator.item_of_a_term", lambda: (x + y)[1], "only a sequence has items")
_forbidden("formula.chained", lambda: 0 < x < 1, "Python would keep the second comparison only")
_forbidden("formula.and", lambda: x < 1 and y < 1, "Python would keep one of them only")
_forbidden("formula.or", lambda: x < 1 or y < 1, "Python would keep one of them only")
_forbidden("formula.not", lambda: not x < 1, "it would be False")
_forbidden("formula.all", lambda: all([x < 1, y < 1]), "it would be True")
_forbidden("formula.if", lambda: x if x < 1 else y, "when() is")
_forbidden("formula.equal_operator", lambda: _state([REAL], x == x + 0), "== of terms is a bool")
_forbidden("formula.unequal_operator", lambda: _state([REAL], x != x + 0), "!= of terms is a bool")
_forbidden("formula.equal_inside", lambda: both(x == y, x < 1), "== of terms is a bool")
_forbidden("formula.true", lambda: _state([REAL], True), "the conclusion is a formula")
_forbidden("formula.nothing", lambda: _state([REAL], None), "the conclusion is a formula")
_forbidden("formula.function", lambda: _state([REAL], lambda x: x > 0), "the conclusion is data")
_forbidden("formula.number", lambda: _state([REAL], x + 1), "the conclusion is a formula")
_forbidden("formula.number_given", lambda: _state([REAL], x < 1, x + 1), "a hypothesis is a formula")
_forbidden("formula.same_sides", lambda: _state(SQUARE, eq(x * y, x * y)), "it states nothing")
_forbidden("formula.same_sides_at_most", lambda: _state([REAL], x <= x), "it states nothing")
_forbidden("formula.same_sides_inside", lambda: _state([REAL], both(x**2 >= 0, eq(x + 1, x + 1))), "it states nothing")
_forbidden("formula.same_formulas", lambda: _state([REAL], iff(x < 1, x < 1)), "it states nothing")
_forbidden("formula.no_parts", lambda: Term("and"), "a conjunction has two parts")
_forbidden("name.undeclared", lambda: _state([REAL], x <= y), "every name has a domain")
_forbidden("name.undeclared_given", lambda: _state([REAL], x < 1, y < 1), "every name has a domain")
_forbidden("name.undeclared_index", lambda: _state([REAL], total(i, 1, k, x) >= 0), "every name has a domain")
_forbidden("name.declared_later", lambda: _state([real("y", 0, x), UNIT], y <= x), "ends use earlier variables")
_forbidden("name.in_its_own_end", lambda: _state([real("x", 0, 2 * x)], x >= 0), "ends use earlier variables")
_forbidden("name.twice", lambda: _state([UNIT, real("x", 2, 3)], x > 1), "a name has one domain")
_forbidden("name.bound_index_outside", lambda: _state([SIZE], total(i, 1, n, i) >= i), "the index lives in its sum")
_forbidden("name.space", lambda: real("x "), "names are ASCII letters and digits")
_forbidden("name.cyrillic", lambda: real("\u0445"), "a look-alike is another name")
_forbidden("name.greek", lambda: var("\u03b1"), "names are ASCII letters and digits")
_forbidden("name.empty", lambda: real(""), "names are ASCII letters and digits")
_forbidden("name.digit", lambda: var("2x"), "names are ASCII letters and digits")
_forbidden("name.function", lambda: var("exp"), "a function is no variable")
_forbidden("sequence.as_a_number", lambda: _state(VECTOR, s <= 1), "a sequence is no number")
_forbidden("sequence.of_a_number", lambda: _state([REAL], x[1] <= 1), "a number has no items")
_forbidden("sequence.too_few_indices", lambda: _state([SIZE, sequence("x", (n, n))], x[1] <= 1), "a matrix has two")
_forbidden("sequence.real_index", lambda: _state([*VECTOR, REAL], s[x] <= 1), "an index is whole")
_forbidden("sequence.half_index", lambda: _state(VECTOR, s[_q(1, 2)] <= 1), "an index is whole")
_forbidden("sequence.quotient_index", lambda: _state(VECTOR, s[n / 2] <= 1), "an index is whole by its shape")
_forbidden("sequence.real_size", lambda: _state([REAL, sequence("s", x)], s[1] <= 1), "a size is whole")
_forbidden("sequence.real_bound", lambda: _state([real("t", 4)], total(i, 1, t, i) >= 1), "a bound of a sum is whole")
_forbidden("sequence.fractional_bound", lambda: _state([SIZE], total(i, 1, n / 2, i) >= 0), "a bound of a sum is whole")
_forbidden("sequence.ball_of_matrices", lambda: ball("v", (2, 2), 1), "a size is a number")
_forbidden("given.equality_filter", lambda: _state(PLANE, x + y <= 1, eq(x**2 + y**2, 1)), "no drawn point meets it")
_forbidden("given.equality_in_a_choice", lambda: _state([REAL], x < 3, either(eq(x, 1), eq(x, 2))), "it is no choice()")
_forbidden("given.equality_of_itself", lambda: _state([REAL], x < 1, eq(x, cos(x))), "it is solved for nothing")
_forbidden("given.equality_of_items", lambda: _state(VECTOR, s[1] < 1, eq(s[1], 0)), "it is solved for no variable")
_forbidden("given.whole_equality", lambda: _state([SIZE, whole("m", 1)], m < 9, eq(m, n**2)),
           "write the one by the other")
_forbidden("given.two_values", lambda: _state([REAL], x < 1, eq(x, 1), eq(x, 2)), "1 = 2 is solved for nothing")
_forbidden("given.false_constant", lambda: _state([REAL], x < 1, eq(num(0), num(1))), "it is solved for nothing")
_forbidden("definition.unknown", lambda: _state([REAL], _call("f", x) > 0), "a call has a definition")
_forbidden("definition.arguments", lambda: _state([REAL], _call("f", x, x) > 0, using=[define("f", [x], x**2)]), "one")
_forbidden("definition.of_itself",
           lambda: _state([REAL], _call("f", x) > 0, using=[define("f", [x], _call("f", x - 1))]),
           "a definition uses earlier ones")
_forbidden("definition.later", lambda: _state([REAL], _call("f", x) > 0,
           using=[define("f", [x], _call("g", x)), define("g", [x], x**2)]), "a definition uses earlier ones")
_forbidden("definition.twice", lambda: _state([REAL], _call("f", x) > 0,
           using=[define("f", [x], -x), define("f", [x], x**2)]), "a name has one meaning")
_forbidden("supremum.at_a_whole_number",
           lambda: _state([SIZE], supremum(1 - 1 / n, 1, {n: num(9)})), "a case of its own")
_forbidden("supremum.bound_that_moves",
           lambda: _state([REAL], supremum(x, x + 1, {x: num(0)})), "a bound is one number")
_forbidden("supremum.value_of_the_step",
           lambda: _state([UNIT, STEP], supremum(x + u, 1, {x: 1 - u}, u, 1)), "no variable")
_forbidden("supremum.rate_of_the_step", lambda: _state([UNIT, STEP], supremum(x, 2, {x: 1 - u}, u, 2 / u)), "no rate")
_forbidden("supremum.step_from_a_tenth", lambda: _state([UNIT, real("u", _q(1, 10), 1)],
           supremum(x, 2, {x: 1 - u}, u, 20)), "the step goes to 0")
_forbidden("supremum.given_about_the_step",
           lambda: _state([UNIT, STEP], supremum(x, 2, {x: 1 - u}, u, 20), u >= _q(1, 9)),
           "the step goes to 0")
_forbidden("supremum.domain_of_the_step",
           lambda: _state([STEP, real("x", 0, u)], supremum(x, 1, {x: u}, u, 1)), "it moves")
_forbidden("supremum.not_attained_without_step", lambda: _state([UNIT], supremum(x, 1, {x: num(1)}, attained=False)),
           "nothing approaches it")
_forbidden("supremum.nowhere", lambda: _state([UNIT], supremum(x, 1, {y: num(1)})), "the point names no variable")
_forbidden("limit.bounded", lambda: _state([real("t", 1, 100)], limit(1 / t, _q(1, 100), t, 1)), "it does not grow")
_forbidden("limit.whole_up_to_nine",
           lambda: _state([whole("n", 1, 9)], limit(1 / n, _q(1, 9), n, 9)), "it does not grow")
_forbidden("limit.from_a_tenth", lambda: _state([real("u", _q(1, 10), 1)], limit(1, 0, u, 10)), "the step goes to 0")
_forbidden("limit.target_that_moves", lambda: _state([STEP], limit(sin(u), u, u, 1)), "a target is one number")
_forbidden("limit.rate_that_moves", lambda: _state([STEP], limit(1, 0, u, 1 / u)), "a rate is one number")
_forbidden("limit.of_nothing", lambda: _state([REAL], limit(x, 0, u, 1)), "the step is no variable")
_forbidden("witness.whole", lambda: _state([whole("k")], exists({k: num(_q(3, 2))}, eq(2 * k, 3))), "a case of its own")
_forbidden("witness.of_itself", lambda: _state([REAL], exists({x: x + 1}, x > 0)), "x is then no variable")
_forbidden("witness.sequence", lambda: _state(VECTOR, exists({s: each(j, j)}, s[1] > 0)), "a point gives numbers")
_forbidden("minimiser.whole",
           lambda: _state([whole("k")], unique_minimiser((2 * k - 3) ** 2, {k: num(1)})), "no real number")
_forbidden("minimiser.nowhere", lambda: _state([REAL], unique_minimiser(x**2, {})), "the point names no variable")
_forbidden("zero.whole", lambda: _state([whole("k")], unique_zero([2 * k - 3], {"k": (1, 2)})), "2 k = 3 has none")
_forbidden("zero.given", lambda: _state([REAL], unique_zero([x**2 - 1], {"x": (0, 2)}), x > 0), "the domain says so")
_forbidden("zero.one_equation", lambda: _state(PLANE, unique_zero([x - y], {"x": (0, 1), "y": (0, 1)})), "as many")
_forbidden("zero.some_variables", lambda: _state(PLANE, unique_zero([x], {"x": (-1, 1)})), "each variable has a side")
_forbidden("zero.empty_box", lambda: _state([UNIT], unique_zero([x], {"x": (1, 0)})), "a side is longer than a point")
_forbidden("zero.moving_box", lambda: _state([UNIT], unique_zero([x - 1], {"x": (0, x)})), "a box has constant ends")
_forbidden("data.number_by_expression", lambda: from_json(["num", "3*1/10"]), "a number is digits")
_forbidden("data.number_by_exponent", lambda: from_json(["num", "1e-1"]), "a number is digits")
_forbidden("data.division_by_zero", lambda: from_json(["num", "1/0"]), "a number is digits")
_forbidden("data.float", lambda: from_json(["num", 0.5]), "a number is a string")
_forbidden("data.kind", lambda: from_json(["lambda", "x"]), "there is no such kind")
_forbidden("data.function", lambda: from_json(["apply", "gamma", ["var", "x"]]), "there is no such function")
_forbidden("data.relation", lambda: from_json(["rel", ">", ["num", "1"], ["num", "0"]]), "> is written with <")
_forbidden("data.formula_as_number", lambda: from_json(["add", ["rel", "<", ["num", "0"], ["num", "1"]], ["num", "1"]]),
           "a formula is no number")
_forbidden("data.more_fields", lambda: from_data({**_state([UNIT], x < 2).to_json(), "trusted": True}), "it has others")
_forbidden("data.variable_field", lambda: Variable.from_json({"name": "x", "positive": True}), "it has others")
_forbidden("data.choice_between_ends", lambda: Variable("x", num(0), values=(_q(1), _q(2))), "a choice has no ends")

# -- empty: no point of the domain meets the hypotheses, so whatever they say they say of nothing ---------------------


_NEVER = num(1) < 0


def _empty(name: str, variables: Sequence[Variable], *given: Term, says: Term = _NEVER) -> None:
    EMPTY.append(statement(f"empty.{name}", for_all=variables, given=given, says=says))


_empty("four_to_three", [real("t", 4, 3)])
_empty("four_and_three", [real("t")], t >= 4, t <= 3)
_empty("open_point", [real("x", 1, 1, open=True)])
_empty("half_open_point", [real("x", 1, 1, open="low")])
_empty("open_point_by_hypotheses", [UNIT], x > _q(1, 3), x < _q(1, 3))
_empty("no_whole_number", [whole("n", _q(1, 3), _q(2, 3))])
_empty("whole_between", [whole("n")], n > 5, n < 6)
_empty("square_root_of_two", [whole("n", 1)], n**2 >= 2, n**2 <= 2)
_empty("positive_below_zero", [positive("x")], x <= 0)
_empty("negative_square", [REAL], x**2 < 0)
_empty("exponential", [REAL], exp(x) <= 0)
_empty("sine_above_one", [REAL], sin(x) > 1)
_empty("crossed_ends", [UNIT, real("y", x + 1, x)])
_empty("circular", PLANE, x < y, y < x)
_empty("circle_outside_circle", PLANE, x**2 + y**2 <= 1, (x - 3) ** 2 + y**2 <= 1)
_empty("negative_size", [whole("n", -5, -1), sequence("s", n)])
_empty("items_between_crossed_ends", [SIZE, sequence("s", n, 1, 0)])
_empty("negative_radius", [SIZE, real("r", -2, -1), ball("v", n, r)])
_empty("choice_outside", [choice("p", 2, 3)], p > 3)
_empty("choice_between", [choice("p", 2, 3)], p > 2, p < 3)
_empty("undefined_hypothesis", [real("x", -2, -1)], log(x) < 0)
_empty("assumed_by_the_conclusion", [positive("x")], says=implies(x < 0, x < -1))
_empty("substituted_outside", [real("x", 0, 1), real("y", 0, 1)], eq(x, y + 2))
_empty("count", [SIZE], total(i, 1, n, 1) < n)
_empty("above_the_root", [REAL], x**2 <= 2, x >= sqrt(num(2)) + _ten(-30))
_empty("means_turned", QUADRANT, (x + y) ** 2 < 4 * x * y)
_empty("fermat", [whole(name, 1) for name in "abc"], a**3 + b**3 <= c**3, a**3 + b**3 >= c**3)
_empty("sum_of_a_simplex", [SIZE, sequence("p", n, 0)], total(k, 1, n, p[k]) <= 1, fold("max", k, 1, n, p[k]) > 1)
