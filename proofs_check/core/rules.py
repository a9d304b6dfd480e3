"""The rules: what a certificate may say, and why it is then true. `check` raises Rejected for everything else.

A sequent is valid if at each point of its domain, where every hypothesis is defined and true and the goal is defined,
the goal is true. That the goal is defined is proved on its own (`domain.needed`), so a rule may rely on it at each
point of the domain; a rule that looks beyond (a face, a box) proves it there itself. A certificate is plain data:
[rule, arguments.., proofs..], its terms written as lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import Any

from proofs_check.core import boxes
from proofs_check.core.derive import derivative
from proofs_check.core.domain import Sequent, Variable, check_formed, facts, needs, taken
from proofs_check.core.enclose import Evaluator, Undefined, Unknown
from proofs_check.core.normal import (
    Poly,
    Rational,
    back,
    canonical_formula,
    constant,
    difference,
    inverse,
    is_number,
    knowing,
    normal,
    plus,
    times,
)
from proofs_check.core.terms import (
    FALSE,
    FORMULAS,
    ONE,
    ZERO,
    Malformed,
    Term,
    absolute,
    both,
    conjuncts,
    exp,
    free,
    fresh,
    from_json,
    implies,
    log,
    negation,
    num,
    rational,
    sqrt,
    substitute,
    walk,
)
from proofs_check.core.work import TooLarge, limited, spend

Proof = list[Any]
_MOST_VALUES = 5_000
_WORK = 20_000_000
_STEP = 200  # of that work, for a rule
FAULTS = (
    Malformed, TooLarge, Unknown, Undefined, ZeroDivisionError, KeyError, IndexError, TypeError, ValueError,
    AttributeError, RecursionError, OverflowError, MemoryError,
)  # fmt: skip


class Rejected(Exception):
    """The certificate does not prove the sequent; the message says where."""


def check(sequent: Sequent, proof: Any) -> None:
    """Returns if the proof shows the sequent valid. Raises Rejected otherwise, whatever the proof is."""
    try:
        check_formed(sequent)
        with limited(_WORK):
            Checker().prove(sequent, proof)
    except FAULTS as fault:
        raise Rejected(f"{type(fault).__name__}: {fault}"[:200]) from fault


def known_in(sequent: Sequent) -> AbstractContextManager[None]:
    """What normal forms may use of the domain: constants that variables, and items, are at least."""
    lows: dict[str, tuple[Fraction, bool]] = {}
    for v in sequent.variables:
        if v.values:
            lows[v.name] = (min(v.values), False)
        elif v.low is not None and v.low.kind == "num":
            lows[v.name] = (v.low.parts[0], v.low_open)
    return knowing(lows)


class Checker:
    """Follows a proof from rule to rule. A search may put its own in its place, to see what a rule asks for."""

    def prove(self, sequent: Sequent, proof: Any) -> None:
        if not isinstance(proof, list) or not proof or proof[0] not in RULES:
            raise Rejected("no rule is named")
        spend(_STEP)
        with known_in(sequent):
            RULES[proof[0]](self, sequent, *proof[1:])

    def every(self, sequents: Sequence[Sequent], proofs: Any) -> None:
        _reject_unless(len(sequents) == len(proofs), f"{len(sequents)} conditions and {len(proofs)} proofs")
        for sequent, proof in zip(sequents, proofs, strict=True):
            self.prove(sequent, proof)

    def defined(self, sequent: Sequent, term: Term, proofs: Any) -> None:
        """The term, new in the proof, is well formed and defined at each point of the sequent."""
        check_formed(replace(sequent, goal=term if term.kind in FORMULAS else term <= term))
        self.every(list(dict.fromkeys(needs(sequent, term))), proofs)


def _reject_unless(condition: bool, why: str) -> None:
    if not condition:
        raise Rejected(why)


def _with(sequent: Sequent, *formulas: Term) -> Sequent:
    return replace(sequent, given=(*sequent.given, *conjuncts(formulas)))


def _difference(goal: Term) -> tuple[str, Rational]:
    """The relation and b - a of a goal `a relation b`."""
    _reject_unless(goal.kind == "rel", f"the rule is for comparisons, and the goal is a {goal.kind}")
    return goal.parts[0], difference(goal.parts[2], goal.parts[1])


# -- logic ----------------------------------------------------------------------------------------------------------


def _split(c: Checker, sequent: Sequent, *proofs: Any) -> None:
    """A conjunction part by part, each given those before; an equivalence, or a = b, in both directions."""
    goal = sequent.goal
    parts = goal.parts
    if goal.kind == "iff":
        parts = (implies(*parts), implies(*reversed(parts)))
    elif goal.kind == "rel" and goal.parts[0] == "=":
        parts = (goal.parts[1] <= goal.parts[2], goal.parts[2] <= goal.parts[1])
    else:
        _reject_unless(goal.kind == "and", "only a conjunction, an equivalence or an equality splits")
    _reject_unless(len(parts) == len(proofs), "as many proofs as parts")
    for number, (part, proof) in enumerate(zip(parts, proofs, strict=True)):
        # A later part is defined given the earlier ones, and may use them.
        c.prove(_with(replace(sequent, goal=part), *(parts[:number] if goal.kind == "and" else ())), proof)


def _assume(c: Checker, sequent: Sequent, proof: Any) -> None:
    _reject_unless(sequent.goal.kind == "implies", "only an implication assumes")
    given, then = sequent.goal.parts
    c.prove(_with(replace(sequent, goal=then), given), proof)


def _either(c: Checker, sequent: Sequent, which: int, proof: Any) -> None:
    """One alternative, where all others fail. Where another holds the goal does; where one has no value, an earlier
    one holds, or the goal would not be defined.
    """
    _reject_unless(sequent.goal.kind == "or" and type(which) is int and which >= 0, "only a disjunction has choices")
    parts = sequent.goal.parts
    others = [negation(part) for number, part in enumerate(parts) if number != which]
    c.prove(_with(replace(sequent, goal=parts[which]), *others), proof)


def _apart(c: Checker, sequent: Sequent, less: bool, proof: Any) -> None:
    """a != b, since a < b, or since b < a."""
    relation, a, b = sequent.goal.parts
    _reject_unless(sequent.goal.kind == "rel" and relation == "!=", "only `!=` comes apart")
    c.prove(replace(sequent, goal=a < b if less else b < a), proof)


def _cases(c: Checker, sequent: Sequent, formula: Any, defined: Any, yes: Any, no: Any) -> None:
    """A defined formula holds or its negation does."""
    condition = from_json(formula)
    c.defined(sequent, condition, defined)
    c.prove(_with(sequent, condition), yes)
    c.prove(_with(sequent, negation(condition)), no)


def _alternatives(c: Checker, sequent: Sequent, which: int, *proofs: Any) -> None:
    """A hypothesis `P or Q`: the goal from P, and the goal from Q and not P. `a != b` is `a < b or b < a`."""
    formula = sequent.given[which]
    if formula.kind == "rel" and formula.parts[0] == "!=":
        a, b = formula.parts[1:]
        formula = Term("or", a < b, b < a)
    _reject_unless(formula.kind == "or" and len(proofs) == len(formula.parts), "as many proofs as alternatives")
    for number, (part, proof) in enumerate(zip(formula.parts, proofs, strict=True)):
        before = [negation(earlier) for earlier in formula.parts[:number]]
        c.prove(_with(sequent, *before, part), proof)


def _have(c: Checker, sequent: Sequent, formula: Any, defined: Any, why: Any, proof: Any) -> None:
    """A lemma on the way: proved, then used."""
    lemma = from_json(formula)
    c.defined(sequent, lemma, defined)
    c.prove(replace(sequent, goal=lemma), why)
    c.prove(_with(sequent, lemma), proof)


def _absurd(c: Checker, sequent: Sequent, proof: Any) -> None:
    """The hypotheses contradict each other: they prove 1 <= 0."""
    c.prove(replace(sequent, goal=FALSE), proof)


def _known(c: Checker, sequent: Sequent) -> None:
    """The goal is a hypothesis or an end of the domain, up to normal form."""
    goal = canonical_formula(sequent.goal)
    _reject_unless(any(canonical_formula(fact) is goal for fact in facts(sequent)), "the goal is no known fact")


def _weaken(c: Checker, sequent: Sequent, names: list[str], proof: Any) -> None:
    """More is proved: these variables as real ones between closed ends (they are then no sizes)."""
    changed = tuple(
        replace(v, whole=False, low_open=False, high_open=False) if v.name in names else v for v in sequent.variables
    )
    wider = replace(sequent, variables=changed)
    check_formed(wider)
    c.prove(wider, proof)


def _forget(c: Checker, sequent: Sequent, names: list[str], which: list[int], proof: Any) -> None:
    """Hypotheses, and then variables that nothing mentions any more: what holds without them holds."""
    given = tuple(g for number, g in enumerate(sequent.given) if number not in which)
    kept = tuple(v for v in sequent.variables if v.name not in names)
    shorter = Sequent(kept, given, sequent.goal)
    check_formed(shorter)
    c.prove(shorter, proof)


def _tighten(c: Checker, sequent: Sequent, name: str, which: int, proof: Any) -> None:
    """A hypothesis `v < c` or `c < v` (or <=), c in earlier variables, becomes the end of v's domain."""
    relation, a, b = sequent.given[which].parts
    _reject_unless(relation in ("<", "<="), "only an inequality is an end")
    mine, end, upper = (a, b, True) if a is Term("var", name) else (b, a, False)
    _reject_unless(mine is Term("var", name) and name not in free(end), f"hypothesis {which} is no end of {name}")
    known = sequent.variable(name)
    if upper:
        new = replace(known, high=end, high_open=relation == "<", values=())
    else:
        new = replace(known, low=end, low_open=relation == "<", values=())
    # The old end stays as a hypothesis: the new domain is a part of the old one.
    kept = _with(sequent, *known.bounds(Term("var", name)))
    order = tuple(new if v.name == name else v for v in kept.variables)
    tighter = replace(kept, variables=order)
    check_formed(tighter)
    c.prove(tighter, proof)


def _enumerate(c: Checker, sequent: Sequent, name: str, *proofs: Any) -> None:
    """A whole number between constants, a choice, an interval of one point: value by value; one proof may do."""
    known = sequent.variable(name)
    values: Sequence[Fraction] = known.values
    if known.low is not None and known.low is known.high and not known.sizes and len(proofs) == 1:
        # Both ends are one term: there is no other value. (An open end leaves none at all.)
        c.prove(put(sequent, name, known.low), proofs[0])
        return
    if not values:
        ends = [Evaluator({}).value(end) if end is not None else None for end in (known.low, known.high)]
        _reject_unless(known.whole and all(isinstance(end, Fraction) for end in ends), f"{name} has many values")
        low, high = (int(end) for end in ends if isinstance(end, Fraction))
        _reject_unless(all(end.denominator == 1 for end in ends if isinstance(end, Fraction)), "an end is not whole")
        _reject_unless(high - low < _MOST_VALUES, f"{name} has too many values")
        values = [Fraction(v) for v in range(low + known.low_open, high + 1 - known.high_open)]
    _reject_unless(len(proofs) in (1, len(values)) and not known.sizes, "as many proofs as values")
    for number, value in enumerate(values):
        c.prove(put(sequent, name, num(value)), proofs[number if len(proofs) > 1 else 0])


def put(sequent: Sequent, name: str, value: Term) -> Sequent:
    """The sequent at one value of a variable, which is then none of its variables."""
    by = {name: value}
    variables = tuple(v.substituted(by) for v in sequent.variables if v.name != name)
    given = tuple(substitute(formula, by) for formula in sequent.given)
    return Sequent(variables, given, substitute(sequent.goal, by))


# -- arithmetic -----------------------------------------------------------------------------------------------------


def _identity(c: Checker, sequent: Sequent) -> None:
    """b - a is a constant in normal form, and it decides the relation."""
    relation, margin = _difference(sequent.goal)
    value = is_number(margin)
    _reject_unless(value is not None, "the two sides differ by no constant")
    assert value is not None
    holds = {"=": value == 0, "<=": value >= 0, "<": value > 0, "!=": value != 0}[relation]
    _reject_unless(holds, f"the sides differ by {value}")


def _fact(c: Checker, sequent: Sequent, known: list[Term], reference: Any) -> tuple[str, Rational]:
    """A relation ("=", "<=" or "<") and a form: 0 relation form."""
    if type(reference) is int:
        formula = known[reference]
        relation, margin = _difference(formula)
        _reject_unless(relation != "!=", "`!=` has no sign")
        return relation, margin
    name, *args = reference
    x = from_json(args[0])
    c.defined(sequent, x, args[1] if len(args) > 1 else [])
    # Exponentials are positive; squares, roots, absolute values and |x| -+ x are not negative; |sin|, |cos| <= 1.
    bounds: dict[str, Callable[[], tuple[str, Term]]] = {
        "exp": lambda: ("<", exp(x)), "square": lambda: ("<=", x**2), "abs": lambda: ("<=", absolute(x)),
        "abs-": lambda: ("<=", absolute(x) - x), "abs+": lambda: ("<=", absolute(x) + x),
        "sin-": lambda: ("<=", 1 - Term("apply", "sin", x)), "sin+": lambda: ("<=", 1 + Term("apply", "sin", x)),
        "cos-": lambda: ("<=", 1 - Term("apply", "cos", x)), "cos+": lambda: ("<=", 1 + Term("apply", "cos", x)),
    }  # fmt: skip
    relation, term = bounds[name]()
    return relation, normal(term)


def _linear(c: Checker, sequent: Sequent, combination: list[Any]) -> None:
    """b - a is a sum of products of facts with positive coefficients, so it has their sign.

    A product with an equality in it is 0, and may carry any factor.
    """
    relation, margin = _difference(sequent.goal)
    known = facts(sequent)
    strict, only_zero = False, True
    total = constant(0)
    for coefficient, references in combination:
        parts = [_fact(c, sequent, known, reference) for reference in references]
        product = reduce(times, (form for _, form in parts), constant(1))
        if any(sign == "=" for sign, _ in parts):
            factor = from_json(coefficient)
            _reject_unless(not list(needs(sequent, factor)), "a factor that may be undefined")
            check_formed(replace(sequent, goal=factor <= factor))
            total = plus(total, times(normal(factor), product))
            continue
        size = rational(coefficient)
        _reject_unless(size > 0, "a coefficient that is not positive")
        total = plus(total, times(constant(size), product))
        only_zero = False
        strict = strict or all(sign == "<" for sign, _ in parts)
    _reject_unless(plus(margin, times(constant(-1), total)).is_zero, "the combination is not the difference")
    allowed = {"<": strict, "<=": True, "=": only_zero, "!=": strict}[relation]
    _reject_unless(allowed, f"the combination does not give {relation}")


def _scale(
    c: Checker, sequent: Sequent, factor: Any, image: Any, zeros: list[Any], defined: Any, positive: Any, proof: Any
) -> None:
    """The difference times m > 0 is the new goal's, up to what known equalities make 0. With m = 1 it rewrites."""
    relation, margin = _difference(sequent.goal)
    m, goal = from_json(factor), from_json(image)
    weights = [from_json(weight) for weight, _ in zeros]
    _reject_unless(goal.kind == "rel" and goal.parts[0] == relation, "another relation")
    c.defined(sequent, both(goal, m <= m, *(w <= w for w in weights)), defined)
    known = facts(sequent)
    rest = plus(times(normal(m), margin), times(constant(-1), _difference(goal)[1]))
    for weight, (_, reference) in zip(weights, zeros, strict=True):
        sign, form = _fact(c, sequent, known, reference)
        _reject_unless(sign == "=", "only an equality is 0")
        rest = plus(rest, times(constant(-1), times(normal(weight), form)))
    _reject_unless(rest.is_zero, "the difference is another one")
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
    _reject_unless(a.kind == b.kind == "apply" and a.parts[0] == b.parts[0] == "exp", "the sides are no exponentials")
    c.prove(replace(sequent, goal=Term("rel", relation, a.parts[1], b.parts[1])), proof)


def _signs(c: Checker, sequent: Sequent, parts: list[Any], by: dict[str, Any]) -> None:
    """Written in quantities that are not negative, b - a has no negative coefficient.

    `parts` names them: [name, [products of facts above], [below]] is their quotient; `by` writes variables in them,
    which is checked by putting the facts back. Each point has its quantities, so nothing of the domain is lost.
    """
    relation, margin = _difference(sequent.goal)
    _reject_unless(relation in ("<", "<=", "!="), "signs prove no equality")
    known = facts(sequent)
    signs = _Signs(sequent)
    values: dict[str, Term] = {}
    for name, above, below in parts:
        top = [_fact(c, sequent, known, reference) for reference in above]
        under = [_fact(c, sequent, known, reference) for reference in below]
        _reject_unless(all(sign == "<" for sign, _ in under), "a quotient by what may be 0")
        _reject_unless(all(sign != "=" for sign, _ in top), "an equality is no quantity")
        values[name] = back(reduce(times, [f for _, f in top] + [inverse(f) for _, f in under], constant(1)))
        signs.name(name, "<" if all(sign == "<" for sign, _ in top) else "<=")
    images = {name: from_json(image) for name, image in by.items()}
    for name, image in images.items():
        _reject_unless(not sequent.variable(name).sizes, f"{name} is a sequence")
        _reject_unless(signs.polynomial_over_positive(image), f"{name} is written with what may be undefined")
        _reject_unless(difference(substitute(image, values), Term("var", name)).is_zero, f"{name} is written wrongly")
    found = signs.of_form(normal(substitute(back(margin), images)))
    _reject_unless(found == "<" or (found == "<=" and relation == "<="), "a coefficient may be negative, or all 0")


class _Signs:
    """The signs of forms whose atoms are known not to be negative: "<" positive, "<=" not negative, "" not known."""

    def __init__(self, sequent: Sequent, named: Mapping[str, str] | None = None) -> None:
        self.sequent = sequent
        self.named = dict(named or {})

    def name(self, name: str, sign: str) -> None:
        _reject_unless(name not in taken(self.sequent) and name not in self.named, f"the name {name} is taken")
        _reject_unless("'" not in name, "a primed name may be a bound one")
        self.named[name] = sign

    def of_form(self, form: Rational) -> str:
        """The form is defined where it is used, so what it divides by is not 0: not negative is then positive."""
        if not all(self.of_poly(dict(factor)) for factor, _ in form.over):
            return ""
        return self.of_poly(form.top)

    def of_poly(self, poly: Poly) -> str:
        strict = False
        for mono, coefficient in poly.items():
            found = [self.of_power(base, power) for base, power in mono]
            if coefficient < 0 or "" in found:
                return ""
            strict = strict or all(sign == "<" for sign in found)
        return "<" if strict else "<="

    def of_power(self, base: Term, power: Fraction) -> str:
        sign = self.of_atom(base)
        if not sign and power.denominator == 1 and power % 2 == 0:
            sign = "<="
        return "<" if sign and power < 0 else sign

    def of_atom(self, base: Term) -> str:
        kind, parts = base.kind, base.parts
        if kind == "pi" or (kind == "apply" and parts[0] == "exp"):
            return "<"
        if kind == "apply" and parts[0] in ("abs", "sqrt"):
            return "<="
        if kind == "var" and parts[0] in self.named:
            return self.named[parts[0]]
        if kind in ("var", "item") and any(v.name == parts[0] for v in self.sequent.variables):
            known = self.sequent.variable(parts[0])
            if known.low is not None and known.low.kind == "num" and known.low.parts[0] >= 0:
                return "<" if known.low_open or known.low.parts[0] > 0 else "<="
        if kind == "fold" and parts[0] in ("sum", "prod"):
            # A sum of what is not negative is not negative; it may be empty. Its index gets a name of its own.
            inner = _inside(self.sequent, base, self.named)
            body = substitute(parts[4], {parts[1]: Term("var", inner.variables[-1].name)})
            return "<=" if _Signs(inner, self.named).of_form(normal(body)) else ""
        return ""

    def polynomial_over_positive(self, term: Term) -> bool:
        """Is the term built by arithmetic that is defined, its divisors being positive?"""
        for node in walk(term):
            divisor = node.parts[1] if node.kind == "div" else node.parts[0] if node.kind == "pow" else ONE
            divides = node.kind == "div" or (node.kind == "pow" and node.parts[1] < 0)
            if node.kind not in ("num", "var", "add", "mul", "div", "pow"):
                return False
            if divides and self.of_form(normal(divisor)) != "<":
                return False
        return True


def _boxes(c: Checker, sequent: Sequent, *arguments: Any) -> None:
    boxes.check(sequent, *arguments)


# -- one variable ---------------------------------------------------------------------------------------------------


def without(sequent: Sequent, name: str) -> Sequent:
    """The sequent without the hypotheses on a variable that no later end mentions: more is then to be proved."""
    _reject_unless(not sequent.mentioning(name), f"an end mentions {name}")
    return without_given(sequent, name)


def without_given(sequent: Sequent, name: str) -> Sequent:
    return replace(sequent, given=tuple(g for g in sequent.given if name not in free(g)))


def face_parts(sequent: Sequent, name: str, low: bool, strict: bool) -> tuple[list[Sequent], Sequent, Sequent]:
    """What `face` needs: definedness with the end, the slope inside, the goal at the end."""
    bare = without(sequent, name)
    known = bare.variable(name)
    end = known.low if low else known.high
    _reject_unless(end is not None and not known.whole and not known.sizes, f"{name} has no such end")
    assert end is not None
    relation, a, b = bare.goal.parts
    _reject_unless(bare.goal.kind == "rel" and relation in ("<", "<="), "a face is for inequalities")
    margin = b if a is ZERO else b - a

    def domain(**changes: Any) -> tuple[Variable, ...]:
        return tuple(replace(known, **changes) if v.name == name else v for v in bare.variables)

    closed = replace(bare, variables=domain(low_open=known.low_open and not low, high_open=known.high_open and low))
    inner = replace(bare, variables=domain(low_open=known.low_open or low, high_open=known.high_open or not low))
    slope = derivative(margin, name)
    slope = slope if low else -slope
    steep = replace(inner, goal=num(0) < slope if strict else num(0) <= slope)
    defined = list(dict.fromkeys([*needs(closed, margin), *needs(inner, slope)]))
    away = strict and (known.low_open if low else known.high_open)
    at_end = put(replace(bare, goal=Term("rel", "<=" if away else relation, ZERO, margin)), name, end)
    return defined, steep, at_end


def _face(
    c: Checker, sequent: Sequent, name: str, low: bool, strict: bool, defined: Any, slope: Any, proof: Any
) -> None:
    """b - a moves one way from an end of the variable on, so the goal holds if it does at the end.

    A term is continuous where it is defined (no kink passes `derivative`), here on the interval with that end, and its
    slope has a sign inside: by the mean value theorem b - a is at least its value at the end. With a slope that is
    never 0 and an end outside the domain, it is more than that value.
    """
    conditions, steep, at_end = face_parts(sequent, name, low is True, strict is True)
    c.every(conditions, defined)
    c.prove(steep, slope)
    c.prove(at_end, proof)


def induct_parts(sequent: Sequent, name: str) -> tuple[Sequent, Sequent]:
    """The goal at the least value, and the goal at v + 1 given that at v."""
    known = sequent.variable(name)
    _reject_unless(known.whole and known.low is not None and not known.sizes, f"{name} has no least whole value")
    _reject_unless(is_whole_end(known), f"the least value of {name} is no whole constant")
    assert known.low is not None
    # In the step sequences have their longer size, and the shorter beginning is one of the old domain only if
    # it is cut by its size alone: the ends of its items, and the sizes of others, must not mention the variable.
    for other in sequent.variables:
        ends = [end for end in (other.low, other.high, other.radius) if end is not None]
        plain = other.radius is None or name not in {n for size in other.sizes for n in free(size)}
        _reject_unless(plain and all(name not in free(end) for end in ends), f"the domain of {other.name} moves")
        for size in other.sizes:
            offset = is_number(difference(size, Term("var", name))) if name in free(size) else Fraction(0)
            least = known.low.parts[0] if name in free(size) else Fraction(0)
            # From the first value on there is a sequence of that size.
            _reject_unless(offset is not None and least + offset >= 0, f"a size of {other.name}")
    bare = without_given(sequent, name)
    following = Term("var", name) + 1
    variables = tuple(v if v.name == name else v.substituted({name: following}) for v in bare.variables)
    if known.high is not None:
        last = replace(known, high=known.high - 1)
        variables = tuple(last if v.name == name else v for v in variables)
    step = Sequent(variables, (*bare.given, *conjuncts([bare.goal])), substitute(bare.goal, {name: following}))
    return put(bare, name, known.low), step


def is_whole_end(known: Variable) -> bool:
    end = known.low
    return end is not None and end.kind == "num" and end.parts[0].denominator == 1 and not known.low_open


def induct_needs(bare: Sequent, name: str) -> Iterator[Sequent]:
    grows = {v.name for v in bare.variables if any(name in free(size) for size in v.sizes)}
    for number, formula in enumerate(bare.given):
        if free(formula) & grows:
            yield from needs(replace(bare, given=bare.given[:number]), formula)
    yield from needs(bare, bare.goal)


def _induct(c: Checker, sequent: Sequent, name: str, defined: Any, base: Any, step: Any) -> None:
    """Induction on a whole number from its least value; hypotheses on it are dropped first.

    The goal has to be defined all the way: where it had no value a step would say nothing, and the chain would break.
    So has a hypothesis on a sequence that grows: what it says must not begin with some length.
    """
    first, following = induct_parts(sequent, name)
    check_formed(following)
    bare = without_given(sequent, name)
    c.every(list(dict.fromkeys(induct_needs(bare, name))), defined)
    c.prove(first, base)
    c.prove(following, step)


def _change(c: Checker, sequent: Sequent, name: str, new: str, kind: str, proof: Any) -> None:
    """Every value of the variable is the image of some value of the new one; the goal is proved for that one."""
    c.prove(changed(sequent, name, new, kind), proof)


def changed(sequent: Sequent, name: str, new: str, kind: str) -> Sequent:
    known = sequent.variable(name)
    plain = not (known.whole or known.sizes or known.values)
    _reject_unless(plain and new not in taken(sequent), f"{name} cannot be changed to {new}")
    u = Term("var", new)
    low, high = known.low, known.high
    if kind == "log":  # v = log u, u between the exponentials of the ends
        image = log(u)
        variable = Variable(new, exp(low) if low is not None else ZERO, exp(high) if high is not None else None,
                            known.low_open or low is None, known.high_open)  # fmt: skip
    elif kind == "square":  # v = u^2 with u >= 0, for v >= 0
        _reject_unless(low is not None and low.kind == "num" and low.parts[0] >= 0, f"{name} may be negative")
        assert low is not None
        image = u**2
        variable = Variable(new, sqrt(low), sqrt(high) if high is not None else None, known.low_open, known.high_open)
    elif kind == "moebius" and low is not None and high is None:  # v = low + u/(1 - u), u in [0, 1)
        image, variable = low + u / (1 - u), Variable(new, ZERO, ONE, known.low_open, True)
    elif kind == "moebius" and high is not None and low is None:
        image, variable = high - u / (1 - u), Variable(new, ZERO, ONE, known.high_open, True)
    else:
        raise Rejected(f"there is no change {kind!r} for {name}")
    by = {name: image}
    variables = tuple(variable if v.name == name else v.substituted(by) for v in sequent.variables)
    image_of = Sequent(variables, tuple(substitute(g, by) for g in sequent.given), substitute(sequent.goal, by))
    check_formed(image_of)
    return image_of


def _generalise(
    c: Checker, sequent: Sequent, value: Any, variable: Any, goal: Any, given: Any,
    ranges: Any, defined: Any, proof: Any,
) -> None:  # fmt: skip
    """A term (or each item of a comprehension) becomes a variable: what holds for all its values holds for this one.

    The value is defined where it stands in the goal; its range is proved; a kept hypothesis is a known fact.
    """
    new = Variable.from_json(variable)
    term = from_json(value)
    wider = from_json(goal)
    _reject_unless(new.name not in taken(sequent) and new.radius is None, f"the name {new.name} is taken")
    _reject_unless(not new.whole and not new.values, "a value is known to be real, and no more")
    by = {new.name: term}
    _reject_unless(_same(substitute(wider, by), sequent.goal), "the goal is not an instance")
    kept = tuple(map(from_json, given))
    known = [canonical_formula(fact) for fact in facts(sequent)]
    _reject_unless(all(canonical_formula(substitute(g, by)) in known for g in kept), "a hypothesis that is not known")
    inner, item = sequent, term
    for size in new.sizes:
        index = fresh("i", taken(inner) | free(item))
        body = Term("var", index)
        inner = replace(inner, variables=(*inner.variables, Variable(index, ONE, size, whole=True)))
        item = substitute(item.parts[1], {item.parts[0]: body})
    check_formed(replace(inner, goal=item <= item))
    conditions = [*needs(inner, item), *(replace(inner, goal=bound) for bound in new.bounds(item))]
    conditions += [replace(sequent, goal=num(0) <= size) for size in new.sizes]
    # An end without a value would make both the range and the new domain empty talk.
    conditions += [condition for end in new.ends() for condition in needs(sequent, end)]
    c.every(conditions, ranges)
    general = Sequent((*sequent.variables, new), sequent.given, wider)
    # Where the general goal had no value it would say nothing of the one that has.
    c.defined(general, both(*kept, wider), defined)
    c.prove(_with(general, *kept), proof)


def _same(one: Term, other: Term) -> bool:
    return one is other or canonical_formula(one) is canonical_formula(other)


# -- sums -----------------------------------------------------------------------------------------------------------


def _adding(c: Checker, sequent: Sequent, fact: Term, term: Term, defined: Any, proof: Any) -> None:
    """Goes on with a fact about a sum; the sum, and the place where it is cut, are defined."""
    c.defined(sequent, term, defined)
    c.prove(_with(sequent, fact), proof)


def _split_sum(c: Checker, sequent: Sequent, term: Any, at: Any, defined: Any, where: Any, proof: Any) -> None:
    """Sum (product) over low..high = over low..m and over m+1..high, for low - 1 <= m <= high."""
    node, m = from_json(term), from_json(at)
    operation, index, low, high, body = node.parts
    _reject_unless(node.kind == "fold" and operation in ("sum", "prod"), "only sums and products split")
    parts = [Term("fold", operation, index, low, m, body), Term("fold", operation, index, m + 1, high, body)]
    check_formed(replace(sequent, goal=Term("rel", "=", parts[0], parts[1])))
    c.prove(replace(sequent, goal=both(low - 1 <= m, m <= high)), where)
    joined = Term("add" if operation == "sum" else "mul", *parts)
    _adding(c, sequent, Term("rel", "=", node, joined), both(node <= node, m <= m), defined, proof)


def _telescope(
    c: Checker, sequent: Sequent, term: Any, primitive: Any, factor: Any, defined: Any, where: Any, proof: Any
) -> None:
    """m body(i) = G(i + 1) - G(i): then m times the sum is G(high + 1) - G(low), for low <= high + 1.

    Geometric sums (G = r^i, m = r - 1) and counting (G = i, m = 1) are its cases. G has to be defined everywhere.
    """
    node, G, m = from_json(term), from_json(primitive), from_json(factor)
    operation, index, low, high, body = node.parts
    _reject_unless(node.kind == "fold" and operation == "sum" and G.kind == "each", "only sums telescope")
    _reject_unless(index not in free(m), "the factor depends on the index")
    inner = _inside(sequent, node)
    i = Term("var", inner.variables[-1].name)

    def at(place: Term) -> Term:
        return substitute(G.parts[1], {G.parts[0]: place})

    check_formed(replace(inner, goal=at(i) <= m))
    _reject_unless(not list(needs(inner, at(i))) and not list(needs(sequent, m)), "G or m may be undefined")
    step = difference(at(i + 1) - at(i), m * substitute(body, {index: i}))
    _reject_unless(step.is_zero, "the terms are not the differences")
    c.prove(replace(sequent, goal=low <= high + 1), where)
    fact = Term("rel", "=", m * node, at(high + 1) - at(low))
    check_formed(replace(sequent, goal=fact))
    _adding(c, sequent, fact, node, defined, proof)


def _inside(sequent: Sequent, node: Term, also: Iterable[str] = ()) -> Sequent:
    """The sequent with one more variable: the index of the fold, in its range."""
    _, index, low, high, body = node.parts
    name = fresh(index, taken(sequent) | free(body) | set(also))
    return replace(sequent, variables=(*sequent.variables, Variable(name, low, high, whole=True)))


def _termwise(
    c: Checker, sequent: Sequent, term: Any, relation: str, body: Any,
    defined: Any, termwise: Any, some: Any, proof: Any,
) -> None:  # fmt: skip
    """Terms that compare give sums that compare; strictly only where there is a term.

    For a largest (least) term: if each is <= B (>= B), so is the largest (least); B is then free of the index.
    """
    node, other = from_json(term), from_json(body)
    operation, index, low, high, mine = node.parts
    _reject_unless(node.kind == "fold" and relation in ("<", "<=", "=", ">", ">="), "no termwise comparison")
    second = Term("fold", operation, index, low, high, other)
    if operation in ("max", "min"):
        _reject_unless(index not in free(other) and relation == ("<=" if operation == "max" else ">="), "a side")
        second = other
    else:
        _reject_unless(operation == "sum", "termwise comparison is for sums")
    inner = _inside(sequent, node)
    i = {index: Term("var", inner.variables[-1].name)}
    c.defined(sequent, both(node <= node, second <= second), defined)
    pair = (substitute(mine, i), substitute(other, i))

    def compare(a: Term, b: Term) -> Term:
        return Term("rel", relation.replace(">", "<"), *((b, a) if ">" in relation else (a, b)))

    c.prove(replace(inner, goal=compare(*pair)), termwise)
    if relation in ("<", ">"):
        c.prove(replace(sequent, goal=low <= high), some)
    c.prove(_with(sequent, compare(node, second)), proof)


def _member(c: Checker, sequent: Sequent, term: Any, place: Any, defined: Any, where: Any, proof: Any) -> None:
    """A term of a fold: at most the largest, at least the least."""
    node, at = from_json(term), from_json(place)
    operation, index, low, high, body = node.parts
    _reject_unless(node.kind == "fold" and operation in ("max", "min"), "only a largest or least has members")
    one = substitute(body, {index: at})
    check_formed(replace(sequent, goal=Term("fold", "sum", "k", at, at, ZERO) <= one))
    c.prove(replace(sequent, goal=both(low <= at, at <= high)), where)
    fact = one <= node if operation == "max" else node <= one
    _adding(c, sequent, fact, both(node <= node, at <= at), defined, proof)


def _resolve(c: Checker, sequent: Sequent, term: Any, which: int, defined: Any, why: Any, proof: Any) -> None:
    """An `if` whose condition is known, |a| with a sign known, the largest or least of two that are compared."""
    node = from_json(term)
    kind, parts = node.kind, node.parts
    if kind == "if":
        condition, value = (parts[0] if which == 0 else negation(parts[0])), parts[1 + which]
    elif kind == "apply" and parts[0] == "abs":
        condition, value = (parts[1] >= ZERO, parts[1]) if which == 0 else (parts[1] <= ZERO, -parts[1])
    else:
        _reject_unless(kind in ("max", "min"), "nothing to resolve")
        value = parts[which]
        others = [part for part in parts if part is not value] or [value]
        condition = both(*((other <= value if kind == "max" else value <= other) for other in others))
    c.defined(sequent, node, defined)
    c.prove(replace(sequent, goal=condition), why)
    c.prove(_with(sequent, Term("rel", "=", node, value)), proof)


RULES: dict[str, Callable[..., None]] = {
    "split": _split, "assume": _assume, "either": _either, "apart": _apart, "cases": _cases, "have": _have,
    "alternatives": _alternatives, "absurd": _absurd, "known": _known, "weaken": _weaken, "forget": _forget,
    "tighten": _tighten, "enumerate": _enumerate, "identity": _identity, "linear": _linear, "scale": _scale,
    "signs": _signs, "exponentiate": _exponentiate, "logarithm": _logarithm, "boxes": _boxes, "face": _face,
    "induct": _induct, "change": _change, "generalise": _generalise, "split_sum": _split_sum,
    "telescope": _telescope, "termwise": _termwise, "member": _member, "resolve": _resolve,
}  # fmt: skip
