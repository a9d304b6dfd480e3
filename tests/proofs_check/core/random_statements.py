"""Random statements with a finite model: every form, ends that move, guards on either side, terms without a value."""

import random
from contextlib import suppress
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

from proofs_check.core.domain import Variable
from proofs_check.core.meaning import Model, NoDomain, means, mentioned
from proofs_check.core.statement import Definition, Form, Statement
from proofs_check.core.terms import (
    FUNCTIONS,
    ZERO,
    Malformed,
    Term,
    absolute,
    both,
    either,
    eq,
    implies,
    log,
    ne,
    negation,
    num,
    sqrt,
    substitute,
)
from proofs_check.language.notation import each, fold, iff, var, when

POOL = [-2, -1, 0, 0, 1, 1, 2, 3, Fraction(1, 2), Fraction(-1, 2), Fraction(3, 2)]
FORMS = ("plain", "plain", "plain", "minimiser", "witness", "supremum", "zero")


class Draw:
    """One attempt at a statement. A scope gives each name what it is: a sequence by its size, a number by True if it is
    whole. finite: rational functions over choices and whole numbers between constants."""

    def __init__(self, rng, kind, finite):
        self.rng, self.kind, self.finite = rng, kind, finite
        self.scope, self.variables, self.carriers, self.definitions = {}, [], {}, []
        self.pivot = {}  # a point of the domain at which each hypothesis is made true
        self.waiting = set()  # variables that nothing mentions yet
        self.relations = ("<", "<=", "!=")  # an equality as a hypothesis has to give a variable

    def chance(self, share):
        return self.rng.random() < share

    def pick(self, *options):
        return self.rng.choice(options)

    def mixed(self, *parts):
        return self.rng.sample(parts, len(parts))

    def model(self):
        return Model(self.carriers, {name: definition for name, definition, _ in self.definitions})

    def numbers(self, without=()):
        return {name: what for name, what in self.scope.items() if not isinstance(what, Term) and name not in without}

    # Variables and definitions

    def end(self):
        if not self.numbers() or self.kind == "zero" or self.finite or self.chance(0.6):
            return num(self.pick(*POOL))
        name = var(self.pick(*self.numbers()))
        return 1 / name if self.chance(0.1) else name

    def declare(self, name, sort):
        """A variable of the sort, with a value at the pivot."""
        low, high = (self.end() if self.chance(0.45) else None for _ in range(2))
        opens = self.chance(0.4), self.chance(0.4)
        carrier = tuple(dict.fromkeys(self.rng.sample(POOL, self.pick(1, 2, 3, 4))))
        v = Variable(name, low, high, *opens)
        if sort == "choice":
            whole = all(x.denominator == 1 for x in carrier)
            v = Variable(name, values=tuple(map(Fraction, carrier)), whole=whole)
        elif sort == "whole":
            carrier = tuple(range(4) if self.chance(0.9) else range(-1, 3))
            v = Variable(name, num(self.pick(0, 1)), num(self.pick(2, 3)), whole=True)
            v = v if self.finite or self.chance(0.7) else Variable(name, low, high, *opens, whole=True)
        elif sort == "sequence":
            carrier = carrier[:2]
            wholes = [var(name) for name, what in self.scope.items() if what is True]
            sizes = (self.pick(*wholes, num(2)),) if wholes else (num(self.pick(1, 2, 3)),)
            ends = (low, high, *opens) if self.chance(0.7) else ()
            v = Variable(name, *ends, sizes=sizes, radius=None if ends else self.end())
        self.pivot[name] = self.pick(*Model({name: carrier}, {}).values(v, self.pivot) or [None])
        if self.pivot[name] is None:
            raise NoDomain
        self.carriers[name], self.scope[name] = carrier, v.sizes[0] if v.sizes else v.whole
        self.variables.append(v)
        self.waiting = (self.waiting | {name}).difference(*(mentioned(end) for end in v.ends()))

    def define(self, name):
        """A definition of numbers, or of a sequence and its size; it uses few of them, or all."""
        names = self.rng.sample("xyzabi", self.pick(1, 2, 3))
        scope = dict.fromkeys(names, False)
        if len(names) > 1 and self.chance(0.5):
            scope |= {names[0]: var(names[1]), names[1]: True}
        used = dict(list(scope.items())[: self.pick(1, 2, 3)]) if scope[names[0]] is False else scope
        body = self.fold(2, used) if self.chance(0.4) else self.term(2, used)
        self.definitions.append((name, Definition(tuple(names), body, len(self.definitions)), scope))

    # Terms and formulas

    def leaf(self, scope):
        if not scope or self.chance(0.2):
            return num(self.pick(*POOL))
        name = self.pick(*(sorted(self.waiting & scope.keys()) if self.chance(0.8) else ()) or scope)
        self.waiting = self.waiting - {name}
        if not isinstance(scope[name], Term):
            return var(name)
        wholes = [var(other) for other, what in scope.items() if what is True]
        return Term("item", name, self.pick(num(self.pick(1, 1, 2, 3)), scope[name], *wholes))

    def term(self, depth, scope=None):
        scope = self.scope if scope is None else scope
        if depth == 0 or self.chance(0.12):
            return self.leaf(scope)

        def part():
            return self.term(depth - 1, scope)

        kinds = [
            lambda: part() + part(), lambda: part() * part(), lambda: part() / part(), lambda: part() / part(),
            lambda: part() ** self.pick(-1, -1, 0, 2), lambda: Term(self.pick("max", "min"), part(), part()),
            # One order of the parts has to do for all values of an index.
            lambda: when(self.formula(depth - 1) if scope is self.scope else self.relation(0, scope), part(), part()),
            lambda: self.fold(depth, scope), lambda: self.fold(depth, scope),
        ]  # fmt: skip
        kinds += [lambda: Term("apply", self.pick(*FUNCTIONS, "log", "sqrt", "log"), part())] * 2 * (not self.finite)
        kinds += [lambda: self.call(depth, scope)] * 3 * bool(self.definitions)
        return self.pick(*kinds)()

    def within(self, scope, index):
        """The scope inside a binder, which may hide a variable."""
        sizes = {name: mentioned(what) if isinstance(what, Term) else () for name, what in scope.items()}
        return {name: scope[name] for name in scope if index not in (name, *sizes[name])} | {index: True}

    def fold(self, depth, scope):
        index = self.pick("i", "x", "y")
        body = self.term(depth - 1, self.within(scope, index)) if self.chance(0.5) else var(index)
        sequences = [name for name, what in self.within(scope, index).items() if isinstance(what, Term)]
        body = Term("item", self.pick(*sequences), body) if sequences and body is var(index) else body
        ends = [what if isinstance(what, Term) else var(name) for name, what in scope.items() if what is not False]
        operation = self.pick("sum", "sum", "prod", "max", "min")
        return fold(operation, var(index), self.pick(1, 1, 0), self.pick(num(self.pick(0, 2, 3)), *ends), body)

    def call(self, depth, scope):
        name, _, wanted = self.pick(*self.definitions)
        arguments, size = [], num(self.pick(1, 2, 3))
        for what in wanted.values():
            sequences = [name for name in scope if isinstance(scope[name], Term)]
            if isinstance(what, Term) and sequences and self.chance(0.5):
                arguments.append(var(self.pick(*sequences)))
                size = scope[arguments[-1].parts[0]]
            elif isinstance(what, Term):
                index = self.pick("i", "x", "y")
                arguments.append(each(var(index), self.term(depth - 1, self.within(scope, index))))
            else:
                term = self.term(depth - 1, scope)
                arguments.append(size if what else 1 / term if self.chance(0.5) else term)
        return Term("call", name, *arguments)

    def relation(self, depth, scope=None):
        one, other = self.term(depth, scope), self.term(self.pick(0, depth), scope)
        return Term("rel", self.pick(*self.relations), one, other if other is not one else other + 1)

    def formula(self, depth):
        if depth == 0 or self.chance(0.4):
            return self.relation(depth)
        return Term(self.pick("and", "or", "or", "implies", "iff"), self.formula(depth - 1), self.formula(depth - 1))

    def partial(self):
        """What makes a term defined, and the term."""
        inner, top = self.term(self.pick(0, 1)), self.term(0)
        found = [(ne(inner, 0), top / inner), (0 < inner, top / inner), (0 < inner, inner**-1)]
        found += [(0 < inner, log(inner)), (0 <= inner, sqrt(inner))] * (not self.finite)
        return self.pick(*found)

    # Hypotheses

    def hypotheses(self, number):
        found = self.equality() if number and self.chance(0.35) else []
        for _ in range(12):
            added = self.pick(self.guarded, self.pinned, lambda: [self.formula(self.pick(1, 2))])()
            met = all(self.model().value(g, self.pivot) is True for g in added) or self.chance(0.01)
            if len(found) < number and met:
                found += added
        return tuple(self.mixed(*found))

    def equality(self):
        """x = t for a real x that has this value at the pivot then."""
        reals = [v for v in self.variables if self.scope[v.name] is False and not v.values]
        for v in self.mixed(*reals)[:1]:
            term = self.term(self.pick(0, 1, 1, 2), self.numbers([v.name]))
            if self.chance(0.05):  # of no point, perhaps
                return [eq(*self.mixed(v, term))]
            held = any(v.name in mentioned(end) for other in self.variables for end in other.ends())
            x = self.model().value(term, self.pivot)
            if self.model().admits(v, x, self.pivot) and (not held or x == self.pivot[v.name]):
                self.pivot[v.name] = x
                return [eq(*self.mixed(v, term))]
        return []

    def guarded(self):
        guard, term = self.partial()
        found = self.mixed(guard, Term("rel", self.pick("<=", "<", "!="), *self.mixed(term, self.term(0))))
        return found if self.chance(0.6) else [both(*found)]

    def pinned(self):
        name = self.pick(*self.numbers() or [None])
        return [] if name is None else [var(name) <= num(self.pivot[name]), num(self.pivot[name]) <= var(name)]

    # Conclusions. points: those that no hypothesis excludes

    def claim(self, points, wanted):
        """A comparison with a constant that is true at the points where its guard is, or just not; and the guard."""
        guard, term = self.partial() if self.chance(0.5) else (self.relation(0), self.term(2))
        guarded = [at for at in points if self.model().value(guard, at) is True or self.chance(0.2)]
        known = [x for at in guarded if (x := self.model().value(term, at)) is not None] or [0]
        top = num(max(known) if wanted or self.chance(0.5) else self.pick(*known))
        true = term <= top, top >= term, term < top + 1, num(min(known)) <= term, ne(term, top + 1), eq(term, top)
        return self.pick(*true) if wanted else self.pick(term < top, eq(term, top), ne(term, top)), guard

    def plain(self, points, wanted):
        claim, guard = self.claim(points, wanted)
        return self.pick(
            lambda: claim, lambda: claim, lambda: both(*self.mixed(claim, guard)), lambda: implies(guard, claim),
            lambda: either(*self.mixed(claim, negation(guard))), lambda: either(*self.mixed(claim, self.formula(1))),
            lambda: iff(claim, self.claim(points, wanted)[0]), lambda: implies(self.formula(1), claim),
        )()  # fmt: skip

    def stand(self, points):
        """Where to stand: for some numbers a constant or a term in the others, now and then one that will not do."""
        free = [name for name, whole in self.numbers().items() if not whole]
        names = self.rng.sample(free, min(len(free), self.pick(1, 1, 2)))
        kept = {name for v in self.variables if v.name not in names for end in v.ends() for name in mentioned(end)}
        if not names or kept.intersection(names):
            raise NoDomain
        at, others = self.pick(*points, self.pivot), self.numbers(names)
        poor = [log(ZERO - self.pick(0, 1)), 1 / ZERO]
        found = {name: num(at[name]) if self.chance(0.6) else self.term(self.pick(0, 0, 1), others) for name in names}
        return {name: self.pick(var(name), *poor) if self.chance(0.2) else term for name, term in found.items()}

    def form(self, points, wanted):
        at = self.stand(points)
        far = ZERO + sum(self.pick((var(name) - term) ** 2, absolute(var(name) - term)) for name, term in at.items())
        value = far + self.term(1) if self.chance(0.5) else self.term(2)
        if self.kind == "witness":
            value = self.plain([place for place in points if not wanted or self.chance(0.4)], wanted)
        elif self.chance(0.5):
            value = (self.term(1) - far if self.kind == "supremum" else value) / self.term(1)
        terms = [value]
        if self.kind == "supremum":
            known = [x for place in points if (x := self.model().value(value, place)) is not None] or [0]
            terms.append(self.pick(substitute(value, at), num(max(known)), num(max(known) + self.pick(0, 1))))
        return Form(self.kind, tuple(terms), tuple(at.items()))

    def zero(self, points, wanted):
        anywhere = {name: self.pick(*carrier) for name, carrier in self.carriers.items()}
        at, equations, box = self.pick(*points, self.pivot, anywhere), [], []
        for name in self.scope:
            other = self.pick(self.term(1), var(name) - num(self.pick(*self.carriers[name])))
            term = self.term(self.pick(1, 2)) if self.chance(0.5) else other * (var(name) - num(at[name]))
            term = term / self.term(1) if self.chance(0.5) else term
            value = self.model().value(term, at)
            equations.append(term if value is None or self.chance(0.1) else term - num(value))
            sides = self.pick(1, 2, Fraction(1, 4)), self.pick(1, 2, Fraction(1, 4), Fraction(-1, 8))
            box.append((name, num(at[name] - sides[0]), num(at[name] + sides[1])))
        return Form("zero", tuple(equations), (), "", False, tuple(box))

    def close(self, says, given):
        """Carriers that hold what an equality or the named point gives a variable; NoDomain where they grow on."""
        equal = [g.parts[1:] for g in given if g.kind == "rel" and g.parts[0] == "="]
        links = [(side.parts[0], other) for pair in equal for side, other in (pair, pair[::-1]) if side.kind == "var"]
        links += getattr(says, "at", ()) if self.kind != "minimiser" else ()
        for _ in range(3):
            before = dict(self.carriers)
            for name, term in links:
                names = sorted(mentioned(term))
                places = product(*(self.carriers[other] for other in names))
                found = [self.model().value(term, dict(zip(names, place, strict=True))) for place in places]
                found = [x for x in dict.fromkeys((*self.carriers[name], *found)) if x is not None]
                self.carriers[name] = tuple(found)
                if len(found) > 12 or max(map(abs, found)) > 100:
                    raise NoDomain
        if self.carriers != before:
            raise NoDomain


def attempt(rng, kind, finite):
    """A statement and its model; None, NoDomain or Malformed for what is none, or does not come out as wanted."""
    draw, wanted = Draw(rng, kind, finite), rng.random() < 0.5
    sorts = ["real", "real", "choice", "whole", "sequence"]
    sorts = ["real"] if kind == "zero" else ["choice", "whole"] if finite else sorts
    for name in rng.sample("xyzi", rng.choice((1, 2) if kind == "zero" else (1, 2, 2, 3))):
        draw.declare(name, rng.choice(sorts) if name != "i" or kind == "zero" else "whole")
    for name in ("f", "g")[: rng.choice((0, 0, 1, 2))]:
        draw.define(name)
    given = () if kind == "zero" else draw.hypotheses(rng.choice((0, 1, 2, 3)))
    draw.relations = ("<", "<=", "=", "!=")
    draw.close(None, given)
    try:
        points = [at for at in draw.model().points(draw.variables) if draw.model().met(given, at) is not False]
    except NoDomain:
        points = []
    waiting, carriers = draw.waiting, dict(draw.carriers)
    for _ in range(6 if len(points) < 100 else 0):
        draw.waiting, draw.carriers = waiting, dict(carriers)
        says = (draw.zero if kind == "zero" else draw.plain if kind == "plain" else draw.form)(points, wanted)
        draw.close(says, given)
        stub = SimpleNamespace(variables=tuple(draw.variables), given=given, says=says)
        if not draw.waiting and means(stub, draw.model()) == wanted:
            known = tuple((name, definition) for name, definition, _ in draw.definitions)
            return Statement("random", stub.variables, given, says, known), draw.model()
    return None


def statement(seed, finite=False):
    """The statement of this seed and its model. finite: no zeros, which are of real numbers."""
    rng, found = random.Random(seed), None
    kind = rng.choice(FORMS[:-1] if finite else FORMS)
    while found is None:
        with suppress(NoDomain, Malformed):
            found = attempt(rng, kind, finite)
    return found
