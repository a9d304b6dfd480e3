"""Normal forms: a term as a sum of monomials over powers of polynomials, all in exact rational arithmetic.

Two terms with the same normal form are equal wherever both are defined; nothing else is claimed, and terms that are
equal may have different forms. What is not arithmetic is an atom, after its own argument was brought to normal form.
The only facts about functions that are used stand beside the lines that use them.

An empty sum divides by nothing, so a divisor comes out of a sum only if the sum is certainly not empty, or the divisor
not 0: the least values of variables that show this are told by `knowing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce
from math import isqrt

from flint import fmpz

from proofs_check.core.terms import ONE, PI, ZERO, Term, exp, free, fresh, holds, joined, log, num, sqrt, substitute
from proofs_check.core.work import TooLarge, spend

Monomial = tuple[tuple[Term, Fraction], ...]  # atoms with exponents, in the order of their serial numbers
Poly = dict[Monomial, Fraction]
Frozen = tuple[tuple[Monomial, Fraction], ...]  # a polynomial in a fixed order
Factors = tuple[tuple[Frozen, int], ...]  # polynomials with their powers
_MOST = 4_000  # monomials
_POWER = 2_000  # the highest power that is multiplied out
_ANGLES = 4  # monomials of an angle that is taken apart
_EXPANDED = 64  # terms of a sum with constant bounds that is written out
_TRIED = 50  # primes below are divided out of a number


class Rational:
    """numerator / product of denominators; a denominator of one term is kept as negative exponents instead."""

    __slots__ = ("over", "top")

    def __init__(self, top: Poly, over: Factors = ()) -> None:
        if len(top) > _MOST:
            raise TooLarge("too many monomials")
        self.top = top
        self.over = over if top else ()

    @property
    def is_zero(self) -> bool:
        return not self.top


def constant(value: Fraction | int) -> Rational:
    return Rational({(): Fraction(value)} if value else {})


def atom(term: Term, power: Fraction | int = 1) -> Rational:
    return Rational({((term, Fraction(power)),): Fraction(1)})


def _times_monomial(one: Monomial, other: Monomial) -> Monomial:
    powers = dict(one)
    for base, power in other:
        powers[base] = powers.get(base, Fraction(0)) + power
    return tuple(sorted(((b, p) for b, p in powers.items() if p), key=lambda pair: pair[0].serial))


def _collected(summands: Iterable[tuple[Monomial, Fraction]]) -> Poly:
    total: Poly = {}
    for mono, coefficient in summands:
        total[mono] = total.get(mono, Fraction(0)) + coefficient
    return {mono: value for mono, value in total.items() if value}


def _poly_times(one: Poly, other: Poly) -> Poly:
    spend(len(one) * len(other))
    return _collected((_times_monomial(a, b), x * y) for a, x in one.items() for b, y in other.items())


def _poly_product(factors: Iterable[tuple[Frozen, int]]) -> Poly:
    """The product of the polynomials to their powers."""
    every = [dict(factor) for factor, power in factors for _ in range(power)]
    return reduce(_poly_times, every, {(): Fraction(1)})


def _frozen(poly: Poly) -> Frozen:
    return tuple(sorted(poly.items(), key=lambda pair: [(a.serial, p) for a, p in pair[0]]))


def times(x: Rational, y: Rational) -> Rational:
    over = dict(x.over)
    for factor, power in y.over:
        over[factor] = over.get(factor, 0) + power
    return _reduced(Rational(_poly_times(x.top, y.top), tuple(over.items())))


def plus(x: Rational, y: Rational) -> Rational:
    """Over the least common power of each denominator, so that equal ones do not multiply up."""
    mine, other = dict(x.over), dict(y.over)
    common = {factor: max(mine.get(factor, 0), other.get(factor, 0)) for factor in (*mine, *other)}

    def raised(top: Poly, has: Mapping[Frozen, int]) -> Iterable[tuple[Monomial, Fraction]]:
        return _poly_times(top, _poly_product((f, power - has.get(f, 0)) for f, power in common.items())).items()

    top = _collected((*raised(x.top, mine), *raised(y.top, other)))
    return _reduced(Rational(top, tuple(common.items())))


def minus(x: Rational, y: Rational) -> Rational:
    return plus(x, times(constant(-1), y))


def inverse(x: Rational) -> Rational:
    """1/x, for an x that is not zero where it is defined (a division by the constant 0 has no normal form)."""
    if x.is_zero:
        raise ZeroDivisionError("a division by what is identically zero")
    # The common monomial is taken out, negative powers included: what is left has none.
    bases = {base for mono in x.top for base, _ in mono}
    common = {base: min(dict(mono).get(base, Fraction(0)) for mono in x.top) for base in bases}
    out = tuple(sorted(((b, -p) for b, p in common.items() if p), key=lambda pair: pair[0].serial))
    frozen = _frozen(_poly_times(x.top, {out: Fraction(1)}))
    lead = frozen[0][1]
    top = _poly_times(_poly_product(x.over), {out: 1 / lead})
    monic = tuple((mono, coefficient / lead) for mono, coefficient in frozen)
    return _reduced(Rational(top, ((monic, 1),) if len(monic) > 1 else ()))


def power(x: Rational, n: int) -> Rational:
    if n < 0:
        return power(inverse(x), -n)
    bits = max((abs(c.numerator) + c.denominator).bit_length() for c in x.top.values()) if x.top else 1
    if n > _POWER or n * bits > 100 * _POWER:
        raise TooLarge("too high a power")
    result, square = constant(1), x
    while n:
        result = times(result, square) if n & 1 else result
        n >>= 1
        square = times(square, square) if n else square
    return result


def _reduced(x: Rational) -> Rational:
    """Powers of roots, absolute values and sines of at least 2 written by what they are the root of."""
    kept: Poly = {}
    moved = constant(0)
    for mono, coefficient in x.top.items():
        base, half, rest = _square_in(mono)
        if base is None:
            kept[mono] = coefficient
            continue
        square = power(normal(_SQUARES[base.parts[0]](base.parts[1])), half)
        moved = plus(moved, times(Rational({rest: coefficient}, x.over), square))
    return x if len(kept) == len(x.top) else plus(moved, Rational(kept, x.over))


def _square_in(mono: Monomial) -> tuple[Term | None, int, Monomial]:
    """The first root in a monomial with a power of at least 2, that of its square, and what is left; or all is."""
    for position, (base, exponent) in enumerate(mono):
        if base.kind != "apply" or base.parts[0] not in _SQUARES:
            continue
        if exponent >= 2 or (exponent <= -2 and base.parts[0] != "sin"):
            half = int(exponent / 2)  # towards zero
            return base, half, _times_monomial(mono[:position] + mono[position + 1 :], ((base, exponent - 2 * half),))
    return None, 0, mono


# sqrt(a)^2 = a where the root is defined; |a|^2 = a^2; sin(a)^2 = 1 - cos(a)^2.
_SQUARES: dict[str, Callable[[Term], Term]] = {
    "sqrt": lambda a: a,
    "abs": lambda a: a**2,
    "sin": lambda a: 1 - Term("apply", "cos", a) ** 2,
}
Lows = Mapping[str, tuple[Fraction, bool]]  # the least value of a variable, or of a sequence's items; is it left out?
_lows: list[Lows] = [{}]
_Known = tuple[int, tuple[tuple[str, tuple[Fraction, bool]], ...]]  # a term, and what is known of its variables
_MEMO: dict[_Known, Rational] = {}
_FORMULAS: dict[_Known, Term] = {}


@contextmanager
def knowing(lows: Lows) -> Iterator[None]:
    """Inside, free variables are at least so much."""
    _lows.append(lows)
    try:
        yield
    finally:
        _lows.pop()


def normal(term: Term) -> Rational:
    """The normal form. Raises TooLarge, or ZeroDivisionError for a division by what is identically zero."""
    key = _key(term)
    known = _MEMO.get(key)
    if known is None:
        if len(_MEMO) > 200_000:
            _MEMO.clear()
            _FORMULAS.clear()
        known = _MEMO[key] = _normal(term)
    return known


def _key(term: Term) -> _Known:
    lows = _lows[-1]
    return term.serial, tuple((name, lows[name]) for name in sorted(free(term)) if name in lows)


def sign(form: Rational, defined: bool = False) -> str:
    """What is certainly positive is "<", what is not negative "<="; the rest is "": by the signs of the monomials.

    defined: the form has a value wherever this is used, so that what it divides by is not 0.
    """
    under = {_poly_sign(dict(factor), defined) for factor, _ in form.over}
    return _poly_sign(form.top, defined) if under <= ({"<", "<="} if defined else {"<"}) else ""


def _poly_sign(poly: Poly, defined: bool) -> str:
    strict = False
    for mono, coefficient in poly.items():
        signs = [_power_sign(base, power, defined) for base, power in mono]
        if coefficient < 0 or "" in signs:
            return ""
        strict = strict or all(found == "<" for found in signs)
    return "<" if strict else "<="


def _power_sign(base: Term, power: Fraction, defined: bool) -> str:
    found = _sign(base, defined) or ("<=" if power.denominator == 1 and power % 2 == 0 else "")
    if found == "<=" and power < 0:
        return "<" if defined else ""
    return found


def _sign(base: Term, defined: bool = False) -> str:
    kind, parts = base.kind, base.parts
    if kind == "pi" or (kind == "apply" and parts[0] == "exp"):
        return "<"
    if kind == "apply" and parts[0] in ("abs", "sqrt"):
        return "<="
    if kind in ("var", "item") and parts[0] in _lows[-1]:
        low, left_out = _lows[-1][parts[0]]
        return "<" if low > 0 or (low == 0 and left_out) else "<=" if low == 0 else ""
    if kind == "fold" and parts[0] in ("sum", "prod"):
        operation, index, low, high, body = parts
        with _ranging(index, low):
            found = sign(normal(body), defined)
        # A sum of positive terms is positive if there is one.
        return "<=" if found and not (found == "<" and operation == "sum" and _reaches(low, high)) else found
    return ""


def _reaches(low: Term, high: Term) -> bool:
    """Is high - low certainly not negative, as a sum of numbers that are not?"""
    form = difference(high, low)
    least = Fraction(0)
    for mono, coefficient in form.top.items():
        if mono:
            ((base, power), *others) = mono
            known = _lows[-1].get(base.parts[0]) if base.kind == "var" and power == 1 and not others else None
            if known is None or coefficient < 0:
                return False
            least += coefficient * known[0]
        else:
            least += coefficient
    return not form.over and least >= 0


@contextmanager
def _ranging(index: str, low: Term) -> Iterator[None]:
    """Inside a sum its index is at least its first value, and hides a variable of its name."""
    first = is_number(normal(low))
    if first is None and low.kind == "var" and low.parts[0] in _lows[-1]:
        first = _lows[-1][low.parts[0]][0]
    lows = {name: known for name, known in _lows[-1].items() if name != index}
    with knowing(lows if first is None else {**lows, index: (first, False)}):
        yield


def _normal(term: Term) -> Rational:
    kind, parts = term.kind, term.parts
    if kind == "num":
        return constant(parts[0])
    if kind in ("var", "pi"):
        return atom(term)
    if kind == "add":
        return reduce(plus, map(normal, parts))
    if kind == "mul":
        return reduce(times, map(normal, parts))
    if kind == "div":
        return times(normal(parts[0]), inverse(normal(parts[1])))
    if kind == "pow":
        return power(normal(parts[0]), parts[1])
    if kind == "apply":
        return _apply(parts[0], parts[1])
    if kind == "fold":
        return _fold(*parts)
    if kind == "item":
        return atom(Term("item", parts[0], *map(canonical, parts[1:])))
    if kind == "if":
        return _if(*parts)
    if kind in ("max", "min"):
        distinct = sorted({canonical(part) for part in parts}, key=lambda t: t.serial)
        if all(part.kind == "num" for part in distinct):
            return constant((max if kind == "max" else min)(part.parts[0] for part in distinct))
        return normal(distinct[0]) if len(distinct) == 1 else atom(Term(kind, *distinct))
    raise TooLarge(f"a {kind} has no normal form")


def _apply(name: str, argument: Term) -> Rational:
    x = normal(argument)
    if name == "exp":
        return _exp(x)
    if name == "tanh":  # (e^2x - 1)/(e^2x + 1), whose denominator is never 0
        square = _exp(times(constant(2), x))
        return times(plus(square, constant(-1)), inverse(plus(square, constant(1))))
    if name == "log":
        return _log(x)
    if x.is_zero:
        return constant(name == "cos")
    value = is_number(x)
    if name == "abs":
        if value is not None:
            return constant(abs(value))
        # |-a| = |a|: the first coefficient is made positive.
        return atom(Term("apply", name, back(x if _frozen(x.top)[0][1] > 0 else times(constant(-1), x))))
    if name == "sqrt":
        if value is not None and value > 0:
            return reduce(times, (power(atom(sqrt(num(p))), n) for p, n in _primes(value)), constant(1))
        return atom(sqrt(back(x)))
    if name in ("sin", "cos") and x.top.keys() == {((PI, Fraction(1)),)} and not x.over:
        quarters = 2 * next(iter(x.top.values()))
        if quarters.denominator == 1:  # a multiple of a quarter turn
            return constant((0, 1, 0, -1)[(int(quarters) + (name == "cos")) % 4])
    if name in ("sin", "cos") and 1 < len(x.top) <= _ANGLES:
        return _wave(name, x)
    if name in ("sin", "atan", "cos") and _frozen(x.top)[0][1] < 0:  # odd, odd, even
        return times(constant(1 if name == "cos" else -1), atom(Term("apply", name, back(times(constant(-1), x)))))
    return atom(Term("apply", name, back(x)))


def _wave(name: str, x: Rational) -> Rational:
    """sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b - sin a sin b, monomial by monomial."""
    mono, coefficient = _frozen(x.top)[0]
    first = back(Rational({mono: coefficient}, x.over))
    rest = back(Rational({m: c for m, c in x.top.items() if m != mono}, x.over))
    cos_a, sin_a, cos_b, sin_b = (_apply(wave, part) for part in (first, rest) for wave in ("cos", "sin"))
    if name == "sin":
        return plus(times(sin_a, cos_b), times(cos_a, sin_b))
    return minus(times(cos_a, cos_b), times(sin_a, sin_b))


def _exp(x: Rational) -> Rational:
    """e^(a + b) = e^a e^b and e^(c a) = (e^a)^c: one atom for each monomial, to a rational power."""
    result = constant(1)
    for mono, coefficient in x.top.items():
        single = mono[0] if len(mono) == 1 and not x.over else None
        is_log = single is not None and single[1] == 1 and single[0].kind == "apply" and single[0].parts[0] == "log"
        if single is not None and is_log and coefficient.denominator == 1:  # e^(n log b) = b^n, where log b is defined
            result = times(result, power(normal(single[0].parts[1]), int(coefficient)))
        else:
            result = times(result, atom(exp(back(Rational({mono: Fraction(1)}, x.over))), coefficient))
    return result


def _log(x: Rational) -> Rational:
    """log(1) = 0, and log of a product of exponentials is the sum of the arguments; other logarithms are atoms."""
    if len(x.top) == 1 and not x.over:
        ((mono, coefficient),) = x.top.items()
        if coefficient == 1 and all(base.kind == "apply" and base.parts[0] == "exp" for base, _ in mono):
            return reduce(plus, (times(constant(p), normal(b.parts[1])) for b, p in mono), constant(0))
    value = is_number(x)
    if value is not None and value > 0:  # log of a product of powers
        return reduce(plus, (times(constant(n), atom(log(num(p)))) for p, n in _primes(value)), constant(0))
    return atom(log(back(x)))


def _primes(value: Fraction) -> list[tuple[int, int]]:
    """Numbers with exponents that multiply to a positive value: its small primes, and what is left of either side."""
    found: list[tuple[int, int]] = []
    for number, side in ((value.numerator, 1), (value.denominator, -1)):
        for p, power in fmpz(number).factor(trial_limit=_TRIED):
            root = isqrt(int(p))
            found.append((root, 2 * power * side) if root * root == p else (int(p), power * side))
    return found


def _if(condition: Term, then: Term, otherwise: Term) -> Rational:
    plain = canonical_formula(condition)
    value = is_number(normal(plain.parts[1])) if plain.kind == "rel" else None
    if value is not None:
        return normal(then if holds(plain.parts[0], value, Fraction(0)) else otherwise)
    one, other = canonical(then), canonical(otherwise)
    return normal(one) if one is other else atom(Term("if", plain, one, other))


def canonical_formula(formula: Term) -> Term:
    """The formula with each comparison as `normal form of the difference` against 0."""
    if formula.kind != "rel":
        return Term(formula.kind, *map(canonical_formula, formula.parts))
    key = _key(formula)
    if key not in _FORMULAS:
        relation, a, b = formula.parts
        x = difference(a, b)
        if relation in ("=", "!=") and x.top and _frozen(x.top)[0][1] < 0:
            x = times(constant(-1), x)
        _FORMULAS[key] = Term("rel", relation, back(x), ZERO)
    return _FORMULAS[key]


def _height(term: Term) -> int:
    """How many folds are nested in the term: the name of a bound index that every reading gives alike."""
    inside = max((_height(p) for p in term.parts if isinstance(p, Term)), default=0)
    return inside + (term.kind == "fold")


def _fold(operation: str, index: str, low: Term, high: Term, body: Term) -> Rational:
    first, last = canonical(low), canonical(high)
    count = is_number(plus(constant(1), difference(last, first)))
    if count is not None and count <= _EXPANDED:
        terms = [substitute(body, {index: back(plus(normal(first), constant(i)))}) for i in range(int(count))]
        if operation in ("sum", "prod"):
            return reduce(plus if operation == "sum" else times, map(normal, terms), constant(operation == "prod"))
        if terms:
            return normal(Term(operation, *terms)) if len(terms) > 1 else normal(terms[0])
    name = fresh("k" + "'" * _height(body), free(body) - {index})
    with _ranging(name, first):
        renamed = normal(substitute(body, {index: Term("var", name)}))
    if operation != "sum":
        return atom(_bound(operation, name, first, last, back(renamed)))
    # Linearity: what is free of the index stands before the sum; a divisor only if there is a term, or it is not 0.
    some = _reaches(first, last)

    def divides(base: Term, power: Fraction) -> bool:
        return name in free(base) or (power < 0 and not some and _sign(base) != "<")

    inner = {f for f, _ in renamed.over if _mentions(dict(f), name) or not (some or _poly_sign(dict(f), False) == "<")}
    outside = tuple((f, p) for f, p in renamed.over if f not in inner)
    inside = tuple((f, p) for f, p in renamed.over if f in inner)
    result = constant(0)
    for mono, coefficient in renamed.top.items():
        before = tuple(pair for pair in mono if not divides(*pair))
        after = tuple(pair for pair in mono if divides(*pair))
        summed = atom(_bound("sum", name, first, last, back(Rational({after: Fraction(1)}, inside))))
        result = plus(result, times(Rational({before: coefficient}), summed))
    return times(result, Rational({(): Fraction(1)}, outside))


def _bound(operation: str, index: str, low: Term, high: Term, body: Term) -> Term:
    """The fold with its index named by the folds that are left inside, so that equal sums are written alike."""
    name = fresh("k" + "'" * _height(body), free(body) - {index})
    with _ranging(name, low):
        return Term("fold", operation, name, low, high, canonical(substitute(body, {index: Term("var", name)})))


def _mentions(poly: Poly, name: str) -> bool:
    return any(name in free(base) for mono in poly for base, _ in mono)


def _power_term(base: Term, exponent: Fraction) -> Term:
    if exponent.denominator != 1:  # only an exponential has such a power: (e^a)^c = e^(c a)
        return exp(num(exponent) * base.parts[1])
    return base if exponent == 1 else Term("pow", base, int(exponent))


def _poly_term(frozen: Iterable[tuple[Monomial, Fraction]]) -> Term:
    summands = []
    for mono, coefficient in frozen:
        powers = [_power_term(base, exponent) for base, exponent in mono]
        summands.append(joined("mul", powers if coefficient == 1 and powers else [num(coefficient), *powers], ONE))
    return joined("add", summands, ZERO)


def back(x: Rational) -> Term:
    """A term with this normal form."""
    top = _poly_term(_frozen(x.top))
    if not x.over:
        return top
    order = sorted(x.over, key=lambda pair: [[(a.serial, e) for a, e in mono] for mono, _ in pair[0]])
    return Term("div", top, joined("mul", [_power_term(_poly_term(f), Fraction(p)) for f, p in order], ONE))


def canonical(term: Term) -> Term:
    """The term written out from its normal form: one writing for terms with one form."""
    return back(normal(term))


def difference(a: Term, b: Term) -> Rational:
    return minus(normal(a), normal(b))


def is_number(x: Rational) -> Fraction | None:
    """The constant that the form is, or None."""
    return x.top.get((), Fraction(0)) if set(x.top) <= {()} and not x.over else None
