"""Random terms and points, and their values by mpmath: an evaluator that shares nothing with the core."""

from fractions import Fraction

import mpmath

from proofs_check.core.terms import FUNCTIONS, Term, num
from proofs_check.language import absolute, exp, fold, largest, least, var, when

NAMES = ("x", "y", "z")
UNARY = (*FUNCTIONS, "exp", "log", "sqrt")


class NoValue(Exception):
    """The term has no value at the point, or one that mpmath cannot tell from none."""


def constant(rng):
    return num(Fraction(rng.randint(-6, 6), rng.choice((1, 1, 1, 2, 3, 7))))


def summed(rng, depth, names=("x",)):
    """A random term with sums up to n in sums, and divisors that such a sum is."""
    if depth == 0:
        return rng.choice((var(rng.choice(names)), exp(var(rng.choice(names))), num(rng.randint(-2, 2)), var("n")))
    kind = rng.choice(("sum", "sum", "add", "mul", "div", "div", "exp"))
    if kind == "sum":
        index = rng.choice("ijk")
        high = rng.choice(
            (var("n"), var("n"), var("n") - 1, num(3), var(rng.choice(names)) if len(names) > 1 else num(0))
        )
        if high.kind == "var" and high.parts[0] == "x":
            high = var("n")
        return fold("sum", var(index), 1, high, summed(rng, depth - 1, tuple(dict.fromkeys((*names, index)))))
    if kind == "exp":
        return exp(summed(rng, depth - 1, names) / 7)
    return Term(kind, summed(rng, depth - 1, names), summed(rng, depth - 1, names))


def term(rng, depth, names=NAMES, smooth=False):
    """A random term; a smooth one has no kinks, conditions or products over an index."""
    if depth == 0 or rng.random() < 0.1:
        return var(rng.choice(names)) if rng.random() < 0.7 else constant(rng)
    kind = rng.choice(("add", "add", "mul", "mul", "div", "pow", "apply", "apply", "sum", *(
        () if smooth else ("max", "min", "if", "fold", "abs"))))  # fmt: skip

    def part():
        return term(rng, depth - 1, names, smooth)

    if kind in ("add", "mul"):
        return Term(kind, *(part() for _ in range(rng.choice((2, 2, 3)))))
    if kind == "div":
        return part() / part()
    if kind == "pow":
        return part() ** rng.choice((-2, -1, 0, 1, 2, 3))
    if kind == "apply":
        names_ = [name for name in UNARY if not (smooth and name == "abs")]
        return Term("apply", rng.choice(names_), part())
    if kind == "abs":
        return absolute(part())
    if kind == "max":
        return largest(part(), part())
    if kind == "min":
        return least(part(), part())
    if kind == "if":
        left, right = part(), part()
        relation = rng.choice(("<", "<=", "!=", "="))
        return when(Term("rel", relation, left, right), part(), part())
    operation = "sum" if kind == "sum" else rng.choice(("sum", "prod", "max", "min"))
    index = rng.choice(("i", "j", "k", "x"))  # it may hide a variable
    low = rng.randint(-1, 2)
    body = term(rng, depth - 1, tuple(dict.fromkeys((*names, index))), smooth)
    return fold(operation, var(index), low, low + rng.randint(-2, 3), body)


def point(rng):
    return {name: Fraction(rng.randint(-30, 30), rng.choice((1, 2, 3, 7, 10))) for name in NAMES}


def real(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def _far_from_zero(value):
    if abs(value) < mpmath.mpf(10) ** (-mpmath.mp.dps // 2):
        raise NoValue("too close to zero to tell")
    return value


def value(term_, env):
    """The value at mpmath's precision. Raises NoValue where there is none, or where a branch is too close to call."""
    kind, parts = term_.kind, term_.parts
    if kind == "num":
        return real(parts[0])
    if kind == "pi":
        return +mpmath.pi
    if kind == "var":
        return env[parts[0]]
    if kind == "fold":
        return _fold(term_, env)
    if kind == "if":
        return value(parts[1] if truth(parts[0], env) else parts[2], env)
    if kind == "apply":
        return _apply(parts[0], value(parts[1], env))
    if kind == "pow":
        base = value(parts[0], env)
        found = (_far_from_zero(base) if parts[1] < 0 else base) ** parts[1]
    else:
        values = [value(part, env) for part in parts]
        if kind == "add":
            found = sum(values)
        elif kind == "mul":
            found = mpmath.fprod(values)
        elif kind == "div":
            found = values[0] / _far_from_zero(values[1])
        else:
            found = max(values) if kind == "max" else min(values)
    return _moderate(found)


def _moderate(found):
    if abs(found) > mpmath.mpf(10) ** 12:
        raise NoValue("out of the range in which digits are counted")
    return found


def truth(formula, env):
    relation, a, b = formula.parts
    difference = _far_from_zero(value(a, env) - value(b, env))
    return {"<": difference < 0, "<=": difference < 0, "=": False, "!=": True}[relation]


def _fold(term_, env):
    operation, index, low, high, body = term_.parts
    first, last = (int(mpmath.nint(value(end, env))) for end in (low, high))
    values = [value(body, {**env, index: mpmath.mpf(i)}) for i in range(first, last + 1)]
    if operation == "sum":
        return _moderate(mpmath.fsum(values))
    if operation == "prod":
        return _moderate(mpmath.fprod(values))
    if not values:
        raise NoValue("nothing to choose from")
    return max(values) if operation == "max" else min(values)


def _apply(name, x):
    if name == "exp" and x > 25:
        raise NoValue("out of range")
    if name in ("log", "sqrt"):
        if x < 0:
            raise NoValue("no root, no logarithm")
        _far_from_zero(x)
    function = {"abs": abs, "exp": mpmath.exp, "log": mpmath.log, "sqrt": mpmath.sqrt, "sin": mpmath.sin,
                "cos": mpmath.cos, "tanh": mpmath.tanh, "atan": mpmath.atan}[name]  # fmt: skip
    return function(x)
