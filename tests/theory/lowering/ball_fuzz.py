"""Random expressions and boxes for the containment test of the ball printer, with values from mpmath alone.

Each expression is built twice in parallel, as a sympy tree and as a Python function of mpmath numbers, so that the
reference values share no code with the printer or with sympy's simplifier.
"""

from fractions import Fraction
from random import Random

import mpmath
import sympy
from flint import ctx

from theory.lowering.ball import BallFunction, Box

SYMBOLS = sympy.symbols("x y z", real=True)
NAMES = [symbol.name for symbol in SYMBOLS]
DIGITS = 100
SLACK = mpmath.mpf(10) ** -60


def rational(number):
    return mpmath.mpf(number.numerator) / number.denominator


def constant(rng):
    number = Fraction(rng.randint(-30, 30), rng.choice([1, 2, 3, 7, 10, 97]))
    if rng.random() < 0.2:
        return rng.choice([(sympy.pi, lambda _: +mpmath.pi), (sympy.E, lambda _: +mpmath.e)])
    return sympy.Rational(number.numerator, number.denominator), lambda _: rational(number)


def leaf(rng):
    if rng.random() < 0.3:
        return constant(rng)
    index = rng.randrange(3)
    return SYMBOLS[index], lambda point: point[index]


def unary(name, inner):
    function, reference = getattr(sympy, name), {"Abs": abs}.get(name) or getattr(mpmath, name)
    return function(inner[0]), lambda point: reference(inner[1](point))


def power(inner, exponent):
    exact = Fraction(exponent)
    exponent = sympy.Rational(exact.numerator, exact.denominator)
    if exact.denominator == 1:
        return inner[0] ** exponent, lambda point: inner[1](point) ** int(exact)
    return inner[0] ** exponent, lambda point: mpmath.power(inner[1](point), rational(exact))


def bounded(rng, depth):
    return unary(rng.choice(["tanh", "sin", "cos", "atan"]), expression(rng, depth - 1))


def positive(rng, depth):
    choice = rng.randrange(4)
    if choice == 0:
        square = power(expression(rng, depth - 1), 2)
        return square[0] + 1, lambda point: square[1](point) + 1
    if choice == 1:
        size = unary("Abs", expression(rng, depth - 1))
        return size[0] + sympy.Rational(1, 3), lambda point: size[1](point) + mpmath.mpf(1) / 3
    return unary(rng.choice(["exp", "cosh"]), bounded(rng, depth))


def binary(rng, depth):
    a, b = expression(rng, depth - 1), expression(rng, depth - 1)
    return rng.choice(
        [
            (a[0] + b[0], lambda point: a[1](point) + b[1](point)),
            (a[0] - b[0], lambda point: a[1](point) - b[1](point)),
            (a[0] * b[0], lambda point: a[1](point) * b[1](point)),
            (sympy.Max(a[0], b[0], evaluate=False), lambda point: max(a[1](point), b[1](point))),
            (sympy.Min(a[0], b[0], evaluate=False), lambda point: min(a[1](point), b[1](point))),
        ]
    )


def piecewise(rng, depth):
    a, b, c = (expression(rng, depth - 1) for _ in range(3))
    index, limit = rng.randrange(3), Fraction(rng.randint(-20, 20), 10)
    condition = SYMBOLS[index] < sympy.Rational(limit.numerator, limit.denominator)

    def reference(point):
        return (a if point[index] < rational(limit) else b)[1](point) + c[1](point)

    return sympy.Piecewise((a[0], condition), (b[0], True)) + c[0], reference


def expression(rng, depth):
    """A random expression over the supported functions, defined at every real point."""
    if depth <= 0:
        return leaf(rng)
    choice = rng.random()
    if choice < 0.4:
        return binary(rng, depth)
    if choice < 0.5:
        return power(expression(rng, depth - 1), rng.choice([2, 3, 4]))
    if choice < 0.6:
        return power(positive(rng, depth), rng.choice([-1, -2, Fraction(1, 2), Fraction(-1, 2), Fraction(2, 3)]))
    if choice < 0.65:
        base, exponent = positive(rng, depth), bounded(rng, depth)
        return base[0] ** exponent[0], lambda point: mpmath.power(base[1](point), exponent[1](point))
    if choice < 0.72:
        return unary("log", positive(rng, depth))
    if choice < 0.8:
        return unary(rng.choice(["exp", "sinh", "cosh"]), bounded(rng, depth))
    if choice < 0.95:
        return unary(rng.choice(["tanh", "sin", "cos", "atan", "Abs"]), expression(rng, depth - 1))
    return piecewise(rng, depth)


def random_box(rng):
    sides = {}
    for name in NAMES:
        low = Fraction(rng.randint(-3000, 3000), rng.choice([1000, 1024, 997, 3000]))
        width = rng.choice([Fraction(0), Fraction(1, 10 ** rng.randint(10, 40)), Fraction(rng.randint(1, 999), 700)])
        sides[name] = (low, low + width)
    return Box(sides)


def random_points(rng, box):
    ends = [[rng.choice(box[name]) for name in NAMES] for _ in range(2)]
    return [*ends, [low + (high - low) * Fraction(rng.randint(0, 10**6), 10**6) for _, low, high in box.sides]]


def exact_end(end):
    number = end.fmpq()
    return mpmath.mpf(int(number.p)) / int(number.q)


def fuzz(cases, seed, printer=BallFunction, balls=Box.balls):
    """Of so many random expressions on random boxes: how many enclosures were not finite, and those that missed the
    value at one of three exact points.
    """
    rng, infinite, missed = Random(seed), 0, []
    with mpmath.workdps(DIGITS):
        for _ in range(cases):
            (expr, reference), box = expression(rng, rng.randint(1, 3)), random_box(rng)
            with ctx.workprec(rng.choice([53, 64, 128])):
                function = printer([expr], NAMES)
                ball = function(*balls(box))[0]
                ends = [(ball.lower(), ball.upper()), function.on(box)[0]]
            if not all(low.is_finite() and high.is_finite() for low, high in ends):
                infinite += 1
                continue
            for point in random_points(rng, box):
                value = reference([rational(coordinate) for coordinate in point])
                slack = SLACK * (1 + abs(value))
                if any(not exact_end(low) - slack <= value <= exact_end(high) + slack for low, high in ends):
                    missed.append(f"{expr} on {box} at {point}")
                    break
    return infinite, missed
