"""Random statements with a finite model: every form, ends that move, guards on either side, terms without a value."""

import random
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import SimpleNamespace

from proofs_check.core.domain import Variable
from proofs_check.core.meaning import Model, NoDomain, means, mentioned
from proofs_check.core.statement import Definition, Form, Statement
from proofs_check.core.terms import Malformed, Term, both, children, either, eq, implies, num, substitute

POOL = [-2, -1, 0, 0, 1, 1, 2, 3, Fraction(1, 2), Fraction(-1, 2), Fraction(3, 2)]
PARTIAL = ("log", "sqrt", "log", "sqrt", "exp", "abs", "sin", "cos", "tanh", "atan")
FORMS = ("plain", "plain", "plain", "minimiser", "witness", "supremum", "zero")
MOST_POINTS = 120


@dataclass
class Scope:
    """What a term may mention: numbers, those of them that are whole, sequences with their sizes."""

    numbers: list = field(default_factory=list)
    wholes: list = field(default_factory=list)
    sequences: dict = field(default_factory=dict)

    def within(self, index):
        """The scope inside a binder, which may hide a variable."""
        numbers, wholes = ([name for name in names if name != index] for names in (self.numbers, self.wholes))
        sequences = {name: size for name, size in self.sequences.items() if index not in {name} | mentioned(size)}
        return Scope([*numbers, index, index], [*wholes, index], sequences)


class Draw:
    """One attempt at a statement. finite: rational functions over choices and whole numbers between constants only."""

    def __init__(self, rng, finite=False):
        self.rng, self.finite = rng, finite
        self.scope, self.variables, self.carriers = Scope(), [], {}
        self.definitions, self.kinds = [], {}
        self.unused = set()
        self.pivot = {}  # a point of the domain at which each hypothesis is made true
        self.relations = ("<", "<=", "<=", "=", "!=")

    def chance(self, share):
        return self.rng.random() < share

    def pick(self, *options):
        return self.rng.choice(options)

    def model(self):
        return Model(self.carriers, dict(self.definitions))

    # Variables and definitions

    def constant(self):
        return num(self.rng.choice(POOL))

    def end(self):
        earlier = [name for name in self.scope.numbers if name in self.carriers]
        if not earlier or self.chance(0.6):
            return self.constant()
        self.unused -= {(name := self.rng.choice(earlier))}
        return 1 / Term("var", name) if self.chance(0.12) else Term("var", name)

    def declare(self, name, sort):
        """A variable of the sort that has a value at the pivot."""
        for _ in range(30):
            ends = [self.end() if self.chance(0.55) else None for _ in range(2)]
            v = Variable(name, *ends, self.chance(0.4), self.chance(0.4))
            carrier = self.rng.sample(POOL, self.rng.randint(1, 4))
            if sort == "choice":
                v = Variable(name, values=tuple(map(Fraction, dict.fromkeys(carrier))))
                v = replace(v, whole=all(x.denominator == 1 for x in v.values))
            elif sort in ("whole", "size"):
                low, high = num(self.pick(0, 1, 1)), num(self.pick(2, 3))
                v = replace(v, whole=True) if sort == "whole" else Variable(name, low, high, whole=True)
                if self.finite:
                    v = Variable(name, low, high, whole=True)
                carrier = range(-1, 4) if self.finite else self.rng.sample(range(-1 if sort == "whole" else 0, 4), 3)
            elif sort in ("sequence", "ball"):
                size = Term("var", self.rng.choice(self.scope.wholes)) if self.scope.wholes else num(self.pick(1, 2, 2, 3))
                v = replace(v, sizes=(size,)) if sort == "sequence" else Variable(name, sizes=(size,), radius=self.end())
                carrier = carrier[:2]
            carrier = tuple(dict.fromkeys(carrier))
            try:
                values = Model({name: carrier}, {}).values(v, self.pivot)
            except NoDomain:
                continue
            if values:
                break
        else:
            raise Malformed("no value at the pivot")
        self.pivot[name], self.carriers[name] = self.rng.choice(values), carrier
        self.variables.append(v)
        self.unused |= {name}
        self.unused -= {part for end in v.ends() for part in mentioned(end)}
        if v.sizes:
            self.scope.sequences[name] = v.sizes[0]
        else:
            self.scope.numbers.append(name)
            self.scope.wholes += [name] * v.whole

    def define(self, name):
        """A definition: its parameters are numbers (t), or a sequence and its size (sw), and it may use few of them."""
        kinds = self.pick("t", "tt", "tt", "sw", "swt")
        names = self.rng.sample("xyzabi", len(kinds))
        scope = Scope([n for n, k in zip(names, kinds, strict=True) if k != "s"])
        if self.chance(0.3):
            scope.numbers = scope.numbers[:1]
        if "s" in kinds:
            scope.wholes, scope.sequences = [names[1]], {names[0]: Term("var", names[1])}
        unused, self.unused = self.unused, set(names)
        body = self.term(2, scope)
        self.unused = unused
        self.definitions.append((name, Definition(tuple(names), body, len(self.definitions))))
        self.kinds[name] = kinds

    # Terms and formulas

    def leaf(self, scope):
        names = [*scope.numbers, *scope.sequences]
        waiting = [name for name in names if name in self.unused]
        if not names or self.chance(0.2):
            return self.constant()
        name = self.rng.choice(waiting if waiting and self.chance(0.8) else names)
        self.unused = self.unused - {name}
        if name not in scope.sequences:
            return Term("var", name)
        places = [num(self.pick(1, 1, 2, 3)), scope.sequences[name], *(Term("var", whole) for whole in scope.wholes)]
        return Term("item", name, self.rng.choice(places))

    def term(self, depth, scope=None):
        scope = scope or self.scope
        if depth == 0 or self.chance(0.12):
            return self.leaf(scope)
        kinds = ["add", "add", "mul", "div", "div", "pow", "max", "if"]
        kinds += ["fold"] * (2 if scope.wholes or scope.sequences else 1) + ["call"] * 3 * bool(self.kinds)
        kinds += [] if self.finite else ["apply", "apply"]
        kind = self.rng.choice(kinds)
        if kind in ("add", "mul", "div"):
            return Term(kind, self.term(depth - 1, scope), self.term(depth - 1, scope))
        if kind == "pow":
            return self.term(depth - 1, scope) ** self.pick(-1, -1, 0, 2)
        if kind == "apply":
            return Term("apply", self.rng.choice(PARTIAL), self.term(depth - 1, scope))
        if kind == "max":
            return Term(self.pick("max", "min"), self.term(depth - 1, scope), self.term(depth - 1, scope))
        if kind == "if":
            branches = self.term(depth - 1, scope), self.term(depth - 1, scope)
            # One order has to do for all values of an index.
            bound = scope is not self.scope
            return Term("if", self.relation(depth - 1, scope) if bound else self.formula(depth - 1, scope), *branches)
        return self.fold(depth, scope) if kind == "fold" else self.call(depth, scope)

    def fold(self, depth, scope):
        index = self.pick("i", "j", "x")
        highs = [num(self.pick(0, 2, 3)), *scope.sequences.values(), *(Term("var", n) - self.pick(0, 1) for n in scope.wholes)]
        within = scope.within(index)
        body = self.term(depth - 1, within)
        if within.sequences and self.chance(0.5):
            body = Term("item", self.rng.choice(list(within.sequences)), Term("var", index))
        return Term("fold", self.pick("sum", "sum", "prod", "max", "min"), index, num(self.pick(1, 1, 0)),
                    self.rng.choice(highs), body)  # fmt: skip

    def call(self, depth, scope):
        name = self.rng.choice(list(self.kinds))
        kinds, arguments, size = self.kinds[name], [], num(self.pick(1, 2, 3))
        for kind in kinds:
            if kind == "s" and scope.sequences and self.chance(0.5):
                sequence = self.rng.choice(list(scope.sequences))
                arguments.append(Term("var", sequence))
                size = scope.sequences[sequence]
            elif kind == "s":
                index = self.pick("i", "j", "x")
                arguments.append(Term("each", index, self.term(depth - 1, scope.within(index))))
            else:
                arguments.append(size if kind == "w" else self.term(depth - 1, scope))
        return Term("call", name, *arguments)

    def relation(self, depth, scope=None):
        left, right = self.term(depth, scope), self.term(self.pick(0, depth), scope)
        return Term("rel", self.rng.choice(self.relations), left, right if left is not right else right + 1)

    def formula(self, depth, scope=None):
        if depth == 0 or self.chance(0.4):
            return self.relation(depth, scope)
        kind = self.pick("and", "or", "or", "implies", "iff")
        return Term(kind, self.formula(depth - 1, scope), self.formula(depth - 1, scope))

    # Hypotheses

    def hypotheses(self, number):
        found, self.relations = [], ("<", "<=", "!=")  # an equality that gives no variable is refused
        if number and self.chance(0.3):
            found += self.equality()
        model = self.model()
        for _ in range(12):
            if len(found) >= number:
                break
            added = self.rng.choice((self.guarded, self.pinned, self.compound, self.compound))()
            if all(model.truth(formula, self.pivot) is True for formula in added) or self.chance(0.02):
                found += added
        self.rng.shuffle(found)
        self.relations = (*self.relations, "<=", "=")
        return tuple(found)

    def equality(self):
        """x = t for a real x whose domain has the value at the pivot."""
        reals = [v for v in self.variables if not (v.sizes or v.values or v.whole)]
        if not reals:
            return []
        v = self.rng.choice(reals)
        scope = Scope(*([n for n in names if n != v.name] for names in (self.scope.numbers, self.scope.wholes)),
                      self.scope.sequences)  # fmt: skip
        term, model = self.term(self.pick(0, 1, 1, 2), scope), self.model()
        value = model.value(term, self.pivot)
        if not model.admits(v, value, self.pivot):
            return []
        later = self.variables[self.variables.index(v) + 1 :]
        if any(v.name in mentioned(end) for other in later for end in other.ends()) and self.pivot[v.name] != value:
            return []
        self.pivot[v.name] = value
        sides = [v.as_term(), term]
        self.rng.shuffle(sides)
        return [eq(*sides)]

    def guarded(self):
        """A comparison of what may have no value, with what it needs; before or after it, or in one formula."""
        inner = self.term(self.pick(0, 1))
        what = self.pick(("div", 1 / inner, 0 < inner), ("div", 1 / inner, Term("rel", "!=", inner, num(0))),
                         ("log", Term("apply", "log", inner), 0 < inner),
                         ("sqrt", Term("apply", "sqrt", inner), 0 <= inner))  # fmt: skip
        if self.finite:
            what = "div", 1 / inner, Term("rel", "!=", inner, num(0))
        atom = Term("rel", self.pick("<=", "!=", "<"), *self.rng.sample([what[1], self.term(0)], 2))
        found = [what[2], atom]
        self.rng.shuffle(found)
        return found if self.chance(0.6) else [both(*found)]

    def pinned(self):
        name = self.rng.choice(self.scope.numbers)
        value = num(self.pivot[name])
        return [Term("var", name) <= value, value <= Term("var", name)] if self.chance(0.5) else [self.relation(1)]

    def compound(self):
        return [self.formula(self.pick(1, 1, 2))]

    # Conclusions; `points`: those that no hypothesis excludes

    def atom(self, points, wanted):
        """A comparison with a constant that makes it true at the points, or just not; where there is no value a guard."""
        model, term = self.model(), self.term(2)
        values = {k: model.value(term, at) for k, at in enumerate(points)}
        guard = None
        if wanted and None in values.values():
            for _ in range(6):
                guard = self.relation(self.pick(0, 1))
                truths = {k: model.truth(guard, points[k]) for k in values}
                if all(truths[k] is True for k, value in values.items() if value is None):
                    values = {k: value for k, value in values.items() if truths[k] is not True}
                    break
        known = [value for value in values.values() if value is not None] or [0]
        top, low = (max(known), min(known)) if self.chance(0.7) else (self.rng.choice(known), self.rng.choice(POOL))
        found = self.pick(term <= num(top), num(low) <= term, term < num(top + 1), Term("rel", "!=", term, num(top + 1)),
                          eq(term, num(top)) if low == top else term <= num(top)) if wanted else self.pick(
                          term < num(top), num(low + 1) <= term, Term("rel", "!=", term, num(top)), eq(term, num(low)))  # fmt: skip
        return found if guard is None else either(*self.rng.sample([guard, found], 2))

    def conclusion(self, points, wanted):
        def atom():
            return self.atom(points, wanted)

        return self.pick(
            atom, atom, lambda: either(*self.rng.sample([atom(), self.formula(1)], 2)), lambda: both(atom(), atom()),
            lambda: implies(self.formula(1), atom()), lambda: Term("iff", atom(), atom()),
            lambda: implies(both(*self.guarded()), self.formula(1)), lambda: self.formula(2),
        )()  # fmt: skip

    def plain(self, points, wanted):
        return self.conclusion(points, wanted)

    def target(self, named, points):
        """A term for each name at which to stand: a constant, a term in the parameters, now and then in the names."""
        at = self.rng.choice(points) if points else self.pivot
        others = [name for name in self.scope.numbers if name not in named]
        scope = Scope(others, [name for name in self.scope.wholes if name in others], self.scope.sequences)
        found = {}
        for name in named:
            found[name] = num(at[name]) if not others or self.chance(0.6) else self.term(self.pick(0, 0, 1), scope)
            if self.chance(0.06):
                found[name] = self.pick(Term("var", name), Term("apply", "log", -self.constant() ** 2), 1 / (found[name] * 0))
        return tuple(found.items())

    def named_freely(self):
        """The numbers that a point may name: not whole, and in the ends of no other that it does not name."""
        ends = {name: {v.name for v in self.variables if any(name in mentioned(end) for end in v.ends())}
                for name in self.scope.numbers}  # fmt: skip
        return [v.name for v in self.variables if not (v.sizes or v.whole or ends[v.name])]

    def named(self):
        free = self.named_freely()
        return self.rng.sample(free, min(len(free), self.pick(1, 1, 2)))

    def minimiser(self, points, wanted):
        at = self.target(self.named(), points)
        far = [self.pick((Term("var", n) - t) ** 2, Term("apply", "abs", Term("var", n) - t)) for n, t in at]
        value = Term("add", *far, self.term(1)) if self.chance(0.7) else self.term(2)
        if self.chance(0.5):
            value = value / self.term(1)
        return Form("minimiser", (value,), at)

    def witness(self, points, wanted):
        at = self.target(self.named(), points)
        some = [place for place in points if self.chance(0.4)]
        return Form("witness", (self.conclusion(some if wanted else points, wanted),), at)

    def supremum(self, points, wanted):
        at = self.target(self.named(), points)
        value = self.term(2) if self.chance(0.5) else self.term(1) - Term("add", *((Term("var", n) - t) ** 2 for n, t in at),
                                                                          num(0))  # fmt: skip
        known = [x for place in points if (x := self.model().value(value, place)) is not None] or [0]
        bound = substitute(value, dict(at)) if self.chance(0.5) else num(self.pick(max(known), max(known), max(known) + 1))
        return Form("supremum", (value, bound), at)

    def zero(self, points, wanted):
        at = self.rng.choice(points) if points else self.pivot
        model, equations = self.model(), []
        for name in self.scope.numbers:
            term = self.term(self.pick(1, 2)) if self.chance(0.5) else self.term(1) * (Term("var", name) - num(at[name]))
            value = model.value(term, at)
            equations.append(term if value is None or not self.chance(0.9) else term - num(value))
        sides = [(n, num(at[n] - self.pick(1, Fraction(1, 4), 2)), num(at[n] + self.pick(1, Fraction(1, 4), 2, -Fraction(1, 8))))
                 for n in self.scope.numbers]  # fmt: skip
        return Form("zero", tuple(equations), (), "", False, tuple(sides))


def _declared(draw, kind):
    names = draw.rng.sample("xyzi", draw.pick(1, 2, 2, 3))
    if kind == "zero":
        for name in names[:2]:
            draw.scope.numbers, kept = [], draw.scope.numbers  # no moving ends
            draw.declare(name, "real")
            draw.scope.numbers = [*kept, *draw.scope.numbers]
        return
    for k, name in enumerate(names):
        sorts = ["real"] * 4 + ["choice", "whole", "size"] + ["sequence", "ball"] * (k > 0)
        if draw.finite:
            sorts = ["choice", "choice", "whole"]
        draw.declare("i" if name == "i" else name, "size" if name == "i" else draw.rng.choice(sorts))
    if not draw.finite and draw.scope.wholes and len(names) < 3 and draw.chance(0.6):
        draw.declare("s", draw.pick("sequence", "ball"))


def _closed(draw, statement):
    """Carriers that hold what an equality or a named point gives a variable; one that goes on growing is refused."""
    links = [pair for g in _conjuncts(statement.given) if g.kind == "rel" and g.parts[0] == "="
             for pair in (g.parts[1:], g.parts[:0:-1]) if pair[0].kind == "var"]  # fmt: skip
    if isinstance(statement.says, Form) and statement.says.kind != "minimiser":
        links += [(Term("var", name), term) for name, term in statement.says.at]
    names = {mine.parts[0] for mine, _ in links}
    for _ in range(4):
        model, before = draw.model(), dict(draw.carriers)
        wide = [replace(v, low=None, high=None, low_open=False) if v.name in names and not v.values else v
                for v in statement.variables]  # fmt: skip
        points = model.points(wide)
        if len(points) > MOST_POINTS * 3:
            break
        for mine, term in links:
            if not mentioned(term) <= {mine.parts[0]}:
                found = [x for at in points if (x := model.value(term, at)) is not None]
                draw.carriers[mine.parts[0]] = tuple(dict.fromkeys((*draw.carriers[mine.parts[0]], *found)))
            elif not mentioned(term) and (x := model.value(term, {})) is not None:
                draw.carriers[mine.parts[0]] = tuple(dict.fromkeys((*draw.carriers[mine.parts[0]], x)))
        if draw.carriers == before:
            return
    raise Malformed("the carriers do not close")


def _conjuncts(given):
    return [part for g in given for part in (_conjuncts(g.parts) if g.kind == "and" else [g])]


def attempt(rng, kind, finite=False):
    """A statement and its model, or Malformed, or None for one that does not come out as wanted."""
    draw = Draw(rng, finite)
    _declared(draw, kind)
    if kind not in ("plain", "zero") and not draw.named_freely():
        return None
    for name in ("f", "g")[: rng.choice((0, 0, 1, 2))]:
        draw.define(name)
    given = () if kind == "zero" else draw.hypotheses(rng.choice((0, 1, 2, 3)))
    wanted = rng.random() < 0.5
    unused, carriers = draw.unused, dict(draw.carriers)
    for _ in range(6):
        draw.unused, draw.carriers = unused, dict(carriers)
        stub = SimpleNamespace(variables=tuple(draw.variables), given=given, says=num(0) <= 1)
        try:
            _closed(draw, stub)
            model = draw.model()
            points = [at for at in model.points(stub.variables) if not model.excluded(given, at)]
        except NoDomain:
            if rng.random() < 0.8:
                return None
            points = []
        stub.says = getattr(draw, kind)(points, wanted)
        try:
            _closed(draw, stub)
        except NoDomain:
            pass
        if not draw.unused and means(stub, draw.model()) == wanted:
            return _stated(draw, stub)
    return None


def _stated(draw, stub):
    return Statement("random", stub.variables, stub.given, stub.says, tuple(draw.definitions)), draw.model()


def statement(seed, finite=False):
    """The statement of this seed, its model, and how often the core refused one on the way."""
    rng, refused = random.Random(seed), 0
    kind = rng.choice(FORMS)
    while True:
        try:
            found = attempt(rng, kind, finite)
        except Malformed:
            refused += 1
            continue
        if found is not None:
            return (*found, refused)


def shuffled(rng, term):
    """The term with the parts of each `and` and `or` in another order."""
    changed = [shuffled(rng, part) if isinstance(part, Term) else part for part in term.parts]
    if term.kind in ("and", "or"):
        rng.shuffle(changed)
    return Term(term.kind, *changed)


def reordered(rng, made):
    """The statement with hypotheses, and parts of `and` and `or`, in another order."""

    def change(term):
        return shuffled(rng, term)

    says = made.says
    says = change(says) if isinstance(says, Term) else replace(says, terms=tuple(map(change, says.terms)))
    given = list(map(change, made.given))
    rng.shuffle(given)
    known = tuple((name, replace(d, body=change(d.body))) for name, d in made.definitions)
    return Statement(made.name, made.variables, tuple(given), says, known)


__all__ = ["children", "reordered", "statement"]
