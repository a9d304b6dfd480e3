"""Rules of arithmetic: normal forms, positive combinations, signs, boxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import Any

from proofs_check.core import boxes
from proofs_check.core.domain import Sequent, check_formed, divided_by, facts, needs, taken
from proofs_check.core.normal import Rational, back, difference, is_number, knowing, minus, normal, plus, sign, times
from proofs_check.core.rules.checker import Checker, Rejected, Rule, compared, least_values, reject_unless
from proofs_check.core.terms import ONE, Term, absolute, both, exp, from_json, holds, num, rational, substitute, walk


def _identity(c: Checker, sequent: Sequent) -> None:
    """b - a is a constant in normal form, and it decides the relation."""
    relation, margin = compared(sequent.goal)
    value = is_number(margin)
    if value is None:
        raise Rejected("the two sides differ by no constant")
    reject_unless(holds(relation, Fraction(0), value), f"the sides differ by {value}")


def _fact(c: Checker, sequent: Sequent, known: list[Term], reference: Any) -> tuple[str, Rational]:
    """A relation ("=", "<=" or "<") and a form: 0 relation form."""
    if type(reference) is int:
        formula = known[reference]
        relation, margin = compared(formula)
        reject_unless(relation != "!=", "`!=` has no sign")
        return relation, margin
    name, *args = reference
    x = from_json(args[0])
    c.defined(sequent, x, args[1] if len(args) > 1 else [])
    # Exponentials are positive; squares, absolute values and |x| -+ x are not negative; |sin|, |cos| <= 1.
    bounds: dict[str, Callable[[], tuple[str, Term]]] = {
        "exp": lambda: ("<", exp(x)), "square": lambda: ("<=", x**2), "abs": lambda: ("<=", absolute(x)),
        "abs-": lambda: ("<=", absolute(x) - x), "abs+": lambda: ("<=", absolute(x) + x),
        "sin-": lambda: ("<=", 1 - Term("apply", "sin", x)), "sin+": lambda: ("<=", 1 + Term("apply", "sin", x)),
        "cos-": lambda: ("<=", 1 - Term("apply", "cos", x)), "cos+": lambda: ("<=", 1 + Term("apply", "cos", x)),
    }  # fmt: skip
    relation, term = bounds[name]()
    return relation, normal(term)


def _product(known: list[tuple[str, Rational]], factor: Rational) -> Rational:
    return reduce(times, (form for _, form in known), factor)


def _linear(c: Checker, sequent: Sequent, combination: list[Any]) -> None:
    """b - a is a sum of products of facts with positive coefficients, so it has their sign.

    A product with an equality in it is 0, and may carry any factor.
    """
    relation, margin = compared(sequent.goal)
    known = facts(sequent)
    strict, only_zero = False, True
    total = Rational({})
    for coefficient, references in combination:
        parts = [_fact(c, sequent, known, reference) for reference in references]
        if any(how == "=" for how, _ in parts):
            weight = from_json(coefficient)
            reject_unless(not list(needs(sequent, weight)), "a factor that may be undefined")
            check_formed(replace(sequent, goal=weight <= weight))
        else:
            weight = num(rational(coefficient))
            reject_unless(weight.parts[0] > 0, "a coefficient that is not positive")
            only_zero = False
            strict = strict or all(how == "<" for how, _ in parts)
        total = plus(total, _product(parts, normal(weight)))
    reject_unless(minus(margin, total).is_zero, "the combination is not the difference")
    allowed = {"<": strict, "<=": True, "=": only_zero, "!=": strict}[relation]
    reject_unless(allowed, f"the combination does not give {relation}")


def _scale(
    c: Checker, sequent: Sequent, factor: Any, image: Any, zeros: list[Any], defined: Any, positive: Any, proof: Any
) -> None:
    """The difference times m > 0 is the new goal's, up to what known equalities make 0. With m = 1 it rewrites."""
    relation, margin = compared(sequent.goal)
    m, goal = from_json(factor), from_json(image)
    weights = [from_json(weight) for weight, _ in zeros]
    reject_unless(goal.kind == "rel" and goal.parts[0] == relation, "another relation")
    c.defined(sequent, both(goal, m <= m, *(w <= w for w in weights)), defined)
    known = facts(sequent)
    rest = minus(times(normal(m), margin), compared(goal)[1])
    for weight, (_, reference) in zip(weights, zeros, strict=True):
        how, form = _fact(c, sequent, known, reference)
        reject_unless(how == "=", "only an equality is 0")
        rest = minus(rest, times(normal(weight), form))
    reject_unless(rest.is_zero, "the difference is another one")
    if m is not ONE:
        c.prove(replace(sequent, goal=num(0) < m), positive)
    c.prove(replace(sequent, goal=goal), proof)


def _exponentiate(c: Checker, sequent: Sequent, proof: Any) -> None:
    """exp is strictly increasing, so a relation holds if it does between exponentials."""
    relation, a, b = sequent.goal.parts
    c.prove(replace(sequent, goal=Term("rel", relation, exp(a), exp(b))), proof)


def _logarithm(c: Checker, sequent: Sequent, proof: Any) -> None:
    """The same, backwards: between two exponentials a relation holds if it does between their arguments."""
    relation, a, b = sequent.goal.parts
    reject_unless(a.kind == b.kind == "apply" and a.parts[0] == b.parts[0] == "exp", "the sides are no exponentials")
    c.prove(replace(sequent, goal=Term("rel", relation, a.parts[1], b.parts[1])), proof)


def _signs(c: Checker, sequent: Sequent, parts: list[Any], by: dict[str, Any]) -> None:
    """Written in quantities that are not negative, b - a has no negative coefficient.

    `parts` names them: [name, [products of facts above], [below]] is their quotient; `by` writes variables in them,
    which is checked by putting the facts back. Each point has its quantities, so nothing of the domain is lost.
    """
    relation, margin = compared(sequent.goal)
    reject_unless(relation in ("<", "<=", "!="), "signs prove no equality")
    known = facts(sequent)
    values: dict[str, Term] = {}
    named: dict[str, tuple[Fraction, bool]] = {}
    for name, above, below in parts:
        reject_unless(name not in taken(sequent) and name not in named, f"the name {name} is taken")
        reject_unless("'" not in name, "a primed name may be a bound one")
        top = [_fact(c, sequent, known, reference) for reference in above]
        under = [_fact(c, sequent, known, reference) for reference in below]
        reject_unless(all(relation == "<" for relation, _ in under), "a quotient by what may be 0")
        reject_unless(all(relation != "=" for relation, _ in top), "an equality is no quantity")
        values[name] = back(_product(top, normal(ONE))) / back(_product(under, normal(ONE)))
        named[name] = (Fraction(0), all(relation == "<" for relation, _ in top))
    images = {name: from_json(image) for name, image in by.items()}
    with knowing({**least_values(sequent), **named}):
        for name, image in images.items():
            reject_unless(not sequent.variable(name).sizes, f"{name} is a sequence")
            reject_unless(_divides_by_positive(image), f"{name} is written with what may be undefined")
            same = difference(substitute(image, values), Term("var", name)).is_zero
            reject_unless(same, f"{name} is written wrongly")
        # The difference has a value at each point of the domain.
        found = sign(normal(substitute(back(margin), images)), defined=True)
    reject_unless(found == "<" or (found == "<=" and relation == "<="), "a coefficient may be negative, or all 0")


def _divides_by_positive(term: Term) -> bool:
    """Is the term built by arithmetic that is defined, its divisors being positive?"""
    for node in walk(term):
        if node.kind not in ("num", "var", "add", "mul", "div", "pow"):
            return False
        divisor = divided_by(node)
        if divisor is not None and sign(normal(divisor)) != "<":
            return False
    return True


def _boxes(c: Checker, sequent: Sequent, *arguments: Any) -> None:
    """Boxes cover the domain, and on each an enclosure of the goal, or of a hypothesis that fails, decides."""
    boxes.check(sequent, *arguments)


ARITHMETIC: dict[str, Rule] = {
    "identity": _identity, "linear": _linear, "scale": _scale, "signs": _signs, "exponentiate": _exponentiate,
    "logarithm": _logarithm, "boxes": _boxes,
}  # fmt: skip
