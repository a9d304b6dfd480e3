"""What people read, printed from what is checked: a statement as a short English sentence and as LaTeX.

Whole numbers stand together, then real ones, then sequences. An argument that is the variable of its parameter's own
name is left out: f(2, k = 3) has its first argument, its parameter k and all others by their own names. A long part
that stands in several places is named, where A = ..; A is a sequence where A(i) is item i. Formulas of one shape stand
together, all[ij = 12 21] x[i] < x[j]. Lost are only brackets in sums and products, and the order of conjunctions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from typing import Any

from proofs_check.core.domain import Variable
from proofs_check.core.statement import Definition, Form, Statement, gap
from proofs_check.core.terms import (
    FORMULAS,
    ONE,
    ZERO,
    Term,
    both,
    conjuncts,
    free,
    from_json,
    names_in,
    num,
    rebuild,
    to_json,
    walk,
)

# How strongly a piece of text holds together: a sum, a product with a minus, a fold, which takes in what follows, ..
_LOOSE, _SUM, _MINUS, _FOLD, _PRODUCT, _POWER, _TIGHT = range(7)
_LONG, _MANY = 14, 4  # letters of a part that is named, comparisons of one shape that stand together
_GREEK = {
    "alpha", "beta", "gamma", "delta", "eps", "sigma", "tau", "theta", "kappa", "lambda", "mu", "rho", "phi", "pi",
}  # fmt: skip
_TEXT = {
    "div": "{}/{}", "pow": "{}^{}", "item": "{}[{}]", "apply": "{}({})", "abs": "|{}|", "times": " ", "dot": " * ",
    "fold": "{}[{}] {}", "range": "{} = {}..{}", "nest": ", ", "count": "#{{{}: {}}}", "every": "{}[{}] {}",
    "case": "{1} if {0}", "next": ", ", "cases": "({}, else {})", "set": "{{{}}}", "space": "{}^{}", "say": "{}",
    "and": " and ", "or": " or ", "implies": " implies ", "iff": " exactly if ", "all": "all", "some": "some",
}  # fmt: skip
_LATEX = {
    "div": r"\frac{{{}}}{{{}}}", "pow": "{}^{{{}}}", "item": "{}_{{{}}}", "apply": r"\{}\left({}\right)",
    "abs": r"\left|{}\right|", "exp": "e^{{{}}}", "sqrt": r"\sqrt{{{}}}", "times": r" \, ", "dot": r" \cdot ",
    "fold": r"\{}{} {}", "range": "_{{{}={}}}^{{{}}}", "nest": r" \{}", "count": r"\#\{{{}: {}\}}",
    "every": "{}_{{{}}} {}", " ": r"\;", "case": "{1} & {0}", "next": r" \\ ", "set": r"\{{{}\}}", "space": "{}^{{{}}}",
    "cases": r"\begin{{cases}} {} \\ {} & \text{{otherwise}} \end{{cases}}", "say": r"\text{{{}}}",
    "and": r" \wedge ", "or": r" \vee ", "implies": r" \Rightarrow ", "iff": r" \Leftrightarrow ",
    "all": r"\bigwedge", "some": r"\bigvee", "<=": r"\le", ">=": r"\ge", "!=": r"\ne", "->": r"\mapsto",
    ".": r"\cdot", "in": r"\in", "oo": r"\infty", "R": r"\mathbb{{R}}", " x ": r" \times ", "max": r"\max",
    "min": r"\min",
}  # fmt: skip
Written = tuple[str, int]
Cases = list[tuple[Term, Term]]


def _digits(term: Term) -> list[str]:
    """The digits that the tree is written with, in its order."""
    if term.kind == "num" and term.parts[0] in range(10):
        return [str(term.parts[0])]
    return [digit for part in term.inside for digit in _digits(part)]


def _filled(term: Term, by: Mapping[int, Term], at: Any) -> Term:
    """The tree with another term for its digit number k, if there is one; at counts the digits."""
    if term.kind == "num" and term.parts[0] in range(10):
        return by.get(next(at), term)
    return rebuild(term, lambda part: _filled(part, by, at))


@dataclass
class _Printer:
    """Text or LaTeX. known: the parameters of each definition; bound: names of indices; parts: those with names."""

    tex: bool = False
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    bound: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    parts: dict[Term, str] = field(default_factory=dict)
    written: dict[Term, Written] = field(default_factory=dict)

    def put(self, form: str, *texts: str) -> str:
        return (_LATEX if self.tex else _TEXT).get(form, form).format(*texts)

    def say(self, words: str) -> str:
        return self.put("say", words)

    def many(self, terms: Iterable[Term]) -> str:
        return ", ".join(map(self.at, terms))

    def name(self, name: str) -> str:
        stem = name.rstrip("'")
        head = stem.rstrip("0123456789")
        if not self.tex:
            return name
        text = {"eps": r"\varepsilon"}.get(head, f"\\{head}" if head in _GREEK else head)
        if len(head) > 1 and head not in _GREEK:
            text = rf"\mathrm{{{head.replace('_', chr(92) + '_')}}}"
        return text + name[len(stem) :] + (f"_{{{stem[len(head) :]}}}" if head != stem else "")

    def at(self, term: Term, least: int = _LOOSE) -> str:
        """The term's text, in parentheses where it would fall apart."""
        text, strength = self.write(term)
        return text if strength >= least else f"({text})"

    def write(self, term: Term) -> Written:
        named = self.parts.get(term)
        if named is not None:
            return self.part(named, term), _TIGHT
        if term not in self.written:
            self.written[term] = self.spelt(term)
        return self.written[term]

    def part(self, name: str, term: Term) -> str:
        indices = sorted(free(term) & self.bound)
        return self.name(name) + (f"({', '.join(map(self.name, indices))})" if indices else "")

    def named(self) -> list[str]:
        """The parts that have names, each by those before it."""
        lines = []
        for term, name in self.parts.items():
            text, strength = self.spelt(term)
            if term.kind == "each" and strength == _LOOSE and not free(term) & self.bound:
                lines.append(f"{self.name(name)}({self.name(term.parts[0])}) = {self.at(term.parts[1], _SUM)}")
            else:
                lines.append(f"{self.part(name, term)} = " + (f"({text})" if strength == _LOOSE else text))
        return lines

    def spelt(self, term: Term) -> Written:
        kind, parts = term.kind, term.parts
        if kind in ("pi", "var"):
            return self.name(parts[0] if parts else "pi"), _TIGHT
        if kind == "item":
            return self.put("item", self.name(parts[0]), self.many(parts[1:])), _TIGHT
        if kind == "add":
            pieces = [self.at(part, _SUM) for part in parts]
            return pieces[0] + "".join(f" - {p[1:]}" if p[0] == "-" else f" + {p}" for p in pieces[1:]), _SUM
        if kind == "pow":
            return self.put("pow", self.at(parts[0], _TIGHT), parts[1]), _POWER
        if kind in ("max", "min"):
            return f"{self.put(kind)}({self.many(parts)})", _TIGHT
        if kind in FORMULAS:
            return self.stated(term), _LOOSE
        written: Written = getattr(self, f"_{kind}")(*parts)
        return written

    def _num(self, value: Fraction) -> Written:
        text, size = str(abs(value)), abs(value)
        if size.denominator > 4 or (size.denominator > 1 and size > 9):
            decimal = f"{float(size):.8f}".rstrip("0") if size < 10**6 else "0"
            text = decimal if Fraction(decimal) == size and len(decimal) <= len(text) else text
        ratio = "/" in text
        text = self.put("div", *text.split("/")) if ratio else text
        return "-" * (value < 0) + text, _MINUS if value < 0 else _PRODUCT if ratio and not self.tex else _TIGHT

    def _div(self, top: Term, under: Term) -> Written:
        if self.tex:
            return self.put("div", self.at(top), self.at(under)), _TIGHT
        strength = _MINUS if self.write(top)[1] == _MINUS else _PRODUCT
        return self.put("div", self.at(top, strength), self.at(under, _POWER)), strength

    def _apply(self, function: str, x: Term) -> Written:
        inner = self.at(x)
        if (self.tex and function in _LATEX) or (function == "abs" and "|" not in inner):
            return self.put(function, inner), _POWER if function == "exp" else _TIGHT
        return self.put("apply", "arctan" if self.tex and function == "atan" else function, inner), _TIGHT

    def _mul(self, *parts: Term) -> Written:
        """The factors side by side; the first may bring a minus, and the last be a sum over an index."""
        if parts[0].kind == "num" and parts[0].parts[0] == -1:
            text, strength = self.write(parts[1]) if len(parts) == 2 else self._mul(*parts[1:])
            text = text if strength >= _FOLD else f"({text})"
            return f"-{text}", _SUM if strength == _FOLD else _MINUS
        written = [self.write(part) for part in parts]
        negative, open_ = written[0][1] == _MINUS, written[-1][1] == _FOLD
        fits = [s >= _PRODUCT or (s == _MINUS and k == 0) or (s == _FOLD and k == len(parts) - 1)
                for k, (_, s) in enumerate(written)]  # fmt: skip
        texts = [text if fit else f"({text})" for fit, (text, _) in zip(fits, written, strict=True)]
        text = texts[0] + "".join(self.put("dot" if t[0].isdigit() else "times") + t for t in texts[1:])
        return text, (_SUM if open_ else _MINUS) if negative else _FOLD if open_ else _PRODUCT

    def _fold(self, *parts: Any) -> Written:
        operation = parts[0]
        indices: list[tuple[str, str, str]] = []
        term = Term("fold", *parts)
        while term.kind == "fold" and term.parts[0] == operation and (not indices or term not in self.parts):
            indices.append((self.name(term.parts[1]), self.at(term.parts[2]), self.at(term.parts[3])))
            term = term.parts[4]
        if operation == "sum" and term.kind == "if" and term.parts[1:] == (ONE, ZERO) and term not in self.parts:
            ranges = ", ".join(_TEXT["range"].format(*index) for index in indices)
            return self.put("count", ranges, self.at(term.parts[0])), _TIGHT
        ranges = self.put("nest", operation).join(self.put("range", *index) for index in indices)
        text, strength = self.write(term)
        return self.put("fold", operation, ranges, text if strength >= _FOLD else f"({text})"), _FOLD

    def chain(self, term: Term) -> tuple[Cases, Term]:
        """The conditions of a choice by cases with what each stands before, and what is left."""
        cases: Cases = []
        while term.kind == "if" and (not cases or term not in self.parts):
            cases.append((term.parts[0], term.parts[1]))
            term = term.parts[2]
        return cases, term

    def listed(self, cases: Cases, otherwise: Term, place: Term) -> str:
        """(a, b, then c) for a if place = 1, b if place = 2, else c; empty for other cases."""
        steps = [Term("rel", "=", place, num(k)) for k in range(1, len(cases) + 1)]
        fits = [condition for condition, _ in cases] == steps
        return f"({self.many(then for _, then in cases)}, {self.say('then ')}{self.at(otherwise)})" if fits else ""

    def _if(self, *parts: Term) -> Written:
        cases, otherwise = self.chain(Term("if", *parts))
        place = cases[0][0].parts[1] if cases[0][0].kind == "rel" and len(cases) > 1 else ZERO
        listed = self.listed(cases, otherwise, place)
        if listed:
            return self.put("item", listed, self.at(place)), _TIGHT
        lines = (self.put("case", self.at(condition), self.at(then)) for condition, then in cases)
        return self.put("cases", self.put("next").join(lines), self.at(otherwise)), _TIGHT

    def _each(self, name: str, body: Term) -> Written:
        """A list of items, x[1, .] for a row and A for the items A(i) of a named part, or i -> item number i."""
        index = Term("var", name)
        if body in self.parts and free(body) & self.bound == {name}:
            return self.name(self.parts[body]), _TIGHT
        if body.kind == "if" and body not in self.parts:
            cases, otherwise = self.chain(body)
            apart = not any(name in free(entry) for entry in (otherwise, *(then for _, then in cases)))
            if apart and (listed := self.listed(cases, otherwise, index)):
                return listed, _TIGHT
        items = body.kind == "item" and body not in self.parts and name != body.parts[0]
        if items and [place for place in body.parts[1:] if name in free(place)] == [index]:
            dots = (self.put(".") if place is index else self.at(place) for place in body.parts[1:])
            return self.put("item", self.name(body.parts[0]), ", ".join(dots)), _TIGHT
        return f"{self.name(name)} {self.put('->')} {self.at(body, _SUM)}", _LOOSE

    def _call(self, name: str, *given: Term) -> Written:
        """First the arguments that are not their parameters, in their order, then the others of these by name."""
        own = self.known.get(name, ())
        same = [len(own) == len(given) and a is Term("var", p) for p, a in zip(own, given, strict=False)]
        left_out = [k for k, is_own in enumerate(same) if is_own and own[k] not in self.bound]
        first = left_out[0] if left_out else len(given)
        shown = [self.at(a) for a in given[:first]]
        for k in range(first, len(given)):
            if k not in left_out:
                if same[k] and len(shown) == first:
                    shown.append("..")
                shown.append(self.name(own[k]) + ("" if same[k] else f" = {self.at(given[k], _SUM)}"))
        return self.name(name) + (f"({', '.join(shown)})" if shown or not left_out else ""), _TIGHT

    def shapes(self, formula: Term) -> list[tuple[Term, str]]:
        """The parts of a conjunction; those that differ in digits alone once, with letters, and the digits of each."""
        digits = list(map(_digits, formula.parts))
        zeros = dict.fromkeys(range(max(map(len, digits))), ZERO)
        blank = [_filled(part, zeros, count()) for part in formula.parts]
        alike: dict[Term, list[int]] = {}
        for number, shape in enumerate(blank):
            alike.setdefault(shape, []).append(number)
        found = []
        for number, part in enumerate(formula.parts):
            members = alike[blank[number]]
            columns = list(zip(*(digits[k] for k in members), strict=True)) if len(members) >= _MANY else []
            moving = list(dict.fromkeys(column for column in columns if len(set(column)) > 1))
            letters = [name for name in "ijklmnpqrstuvwxyz" if name not in self.taken][: len(moving)]
            if not 0 < len(moving) == len(letters):
                found.append((part, ""))
            elif number == members[0]:
                names = {column: Term("var", name) for column, name in zip(moving, letters, strict=True)}
                by = {k: names[column] for k, column in enumerate(columns) if column in names}
                rows = " ".join(map("".join, zip(*moving, strict=True)))
                found.append((_filled(part, by, count()), f"{''.join(letters)} = {rows}"))
        return found

    def stated(self, formula: Term) -> str:
        if formula.kind == "rel":
            relation, a, b = formula.parts
            return f"{self.at(a)} {self.put(relation)} {self.at(b)}"
        pieces: list[str] = []
        end = None  # of the comparison before, if another may go on from it: a < b and b < c
        shapes = self.shapes(formula) if formula.kind in ("and", "or") else [(p, "") for p in formula.parts]
        for p, rows in shapes:
            plain = p.kind == "rel" and p.parts[0] != "!=" and not rows and p not in self.parts
            if plain and end is p.parts[1]:
                pieces[-1] += f" {self.put(p.parts[0])} {self.at(p.parts[2])}"
            else:
                text = self.at(p) if p.kind == "rel" or p in self.parts else f"({self.at(p)})"
                word = self.put("all" if formula.kind == "and" else "some")
                text = self.put("every", word, rows.replace(" ", self.put(" ")), text) if rows else text
                pieces.append(f"({text})" if rows and len(shapes) > 1 else text)
            end = p.parts[2] if plain and formula.kind == "and" else None
        return self.put(formula.kind).join(pieces)

    def domain(self, v: Variable) -> str:
        """Of a number: its bounds around its name. Of a sequence: what it lies in."""
        name, inside = self.name(v.name), f" {self.put('in')} "
        low, high = (None if end is None else self.at(end) for end in (v.low, v.high))
        if v.values:
            return name + inside + self.put("set", ", ".join(self._num(value)[0] for value in v.values))
        if v.sizes:
            ends = ("(" if v.low_open or not low else "[") + f"{low or '-' + self.put('oo')}, {high or self.put('oo')}"
            kind = self.put("R") if low is high is None else ends + (")" if v.high_open or not high else "]")
            size = self.put(" x ").join(map(self.at, v.sizes))
            space = self.put("space", kind, size if self.tex or size.isalnum() else f"({size})")
            norm = "" if v.radius is None else self.say(" of norm at most ") + self.at(v.radius)
            return inside + space + norm + self.say(" whole") * v.whole
        if low is not None and high is None:
            return f"{name} {self.put('>' if v.low_open else '>=')} {low}"
        less, more = (self.put("<" if is_open else "<=") for is_open in (v.low_open, v.high_open))
        return (f"{low} {less} " if low is not None else "") + name + (f" {more} {high}" if high is not None else "")

    def domains(self, variables: Sequence[Variable]) -> list[str]:
        """Whole numbers together, then real ones, then sequences."""
        numbers = [v for v in variables if not v.sizes]
        groups = ((self.say(word), [self.domain(v) for v in numbers if v.whole is whole])
                  for word, whole in (("whole ", True), ("real ", False)))  # fmt: skip
        spaces: dict[str, list[str]] = {}
        for v in variables:
            if v.sizes:
                spaces.setdefault(self.domain(v), []).append(self.name(v.name))
        found = [word + ", ".join(members) for word, members in groups if members]
        return found + [", ".join(", ".join(names) + space for space, names in spaces.items())] * bool(spaces)

    def conclusion(self, says: Term | Form, variables: Sequence[Variable], given: Sequence[Term]) -> str:
        """What is said. variables, given: those of the point that a form names, over which it takes the largest, .."""
        if isinstance(says, Term):
            return self.at(says)
        say, terms, less = self.say, [self.at(term) for term in says.terms], self.put("<")
        at = ", ".join(f"{self.name(name)} = {self.at(term, _SUM)}" for name, term in says.at)
        over = "; ".join(self.domains(variables)) + (say(" with ") + self.at(both(*given)) if given else "")
        if says.kind == "supremum":
            most = say(f"the {'supremum of' if says.step else 'largest'} ")
            head = f"{most}{terms[0]}{say(' over ')}{over}{say(' is ')}{terms[1]}"
            if not says.step:
                return f"{head}{say(', taken at ')}{at}"
            never = say(" and not taken: as " if says.strict else ": as ") + self.name(says.step)
            return f"{head}{never}{say(' goes to 0, at ')}{at}{say(' it is within ')}{terms[2]}{say(' of it')}"
        if says.kind == "limit":
            way = " grows" if says.terms[2].kind == "div" else " goes to 0"
            head = f"{terms[0]}{say(' tends to ')}{terms[1]}{say(' as ')}{self.name(says.step)}"
            return f"{head}{say(f'{way}, with an error of at most ')}{terms[2]}"
        if says.kind == "witness":
            return f"{say('for some ')}{over}{say(', namely ')}{at}: {terms[0]}"
        if says.kind == "minimiser":
            return f"{terms[0]}{say(' over ')}{over}{say(' is least at ')}{at}{say(' and nowhere else')}"
        box = (f"{self.at(low)} {less} {self.name(name)} {less} {self.at(high)}" for name, low, high in says.box)
        head = f"{say('at exactly one point of ')}{over}: {', '.join(terms)}{say(' all vanish')}"
        return f"{head}{say(', and there ')}{', '.join(box)}"


def _printer(roots: Sequence[Term], definitions: Iterable[tuple[str, Definition]], names: Iterable[str]) -> _Printer:
    """A printer for these trees: it knows their indices, what they call, and which long parts stand in two places."""
    called, every = dict(definitions), {node for root in roots for node in walk(root)}
    bound = frozenset(node.parts[node.kind == "fold"] for node in every if node.kind in ("fold", "each"))
    used = bound.union(names, *map(free, roots))
    taken = used.union(called, *map(names_in, roots), *(d.parameters for d in called.values()))
    printer = _Printer(False, {name: d.parameters for name, d in called.items() if name not in used}, bound, taken)
    seen: dict[Term, None] = {}
    places: Counter[Term] = Counter(roots)
    pending = list(roots)
    while pending:
        node = pending.pop()
        if node not in seen:
            seen[node] = None
            shown = [part for part, *_ in printer.shapes(node)] if node.kind in ("and", "or") else node.inside
            # A minus stays before a name; what is left of a choice by cases is printed within it.
            shown = [p.parts[1] if p.kind == "mul" and p.parts[::2] == (num(-1),) else p for p in shown]
            places.update(p for k, p in enumerate(shown) if (node.kind, k, p.kind) != ("if", 2, "if"))
            pending += shown
    letters = (letter + str(k or "") for k in count() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    fit = (letter for letter in letters if letter not in taken)
    for node in sorted((node for node in seen if places[node] > 1), key=lambda node: node.size):
        if len(printer.spelt(node)[0]) >= (3 * _LONG if node.kind in FORMULAS else _LONG):
            printer.parts[node] = next(fit)
    return printer


def _said(statement: Statement) -> Term | Form:
    """The conclusion, with the error that it allows in place of a rate."""
    says = statement.says
    if isinstance(says, Term) or not says.step:
        return says
    return replace(says, terms=(*says.terms[:2], gap(says, statement.variables)))


def _roots(statement: Statement) -> list[Term]:
    """Every tree that the sentence prints."""
    says = _said(statement)
    said = [*says.terms, *(t for _, t in says.at)] if isinstance(says, Form) else [says]
    return [*said, *statement.given, *(end for v in statement.variables for end in v.ends())]


def _written(statement: Statement, tex: bool = False) -> tuple[_Printer, str, str]:
    """The printer, whatever comes before the conclusion, and that."""
    says, flat = statement.says, conjuncts(statement.given)
    printer = _printer(_roots(statement), statement.definitions, [v.name for v in statement.variables])
    printer = replace(printer, tex=tex, written={})
    names = {name for name, *_ in (*says.at, *says.box)} if isinstance(says, Form) else set()
    outer, inner = ([v for v in statement.variables if (v.name in names) is named] for named in (False, True))
    before, after = ([g for g in flat if bool(free(g) & names) is named] for named in (False, True))
    lead = [printer.say("for ") + "; ".join(printer.domains(outer))] if outer else []
    lead += [printer.say("if ") + printer.at(both(*before))] if before else []
    return printer, ", ".join(lead), printer.conclusion(_said(statement), inner, after)


def text(term: Term) -> str:
    """A term or formula as plain text."""
    return _Printer().at(term)


def latex(term: Term) -> str:
    """A term or formula as LaTeX."""
    return _Printer(tex=True).at(term)


def sentence(statement: Statement) -> str:
    """The statement in English, from its tree: variables, hypotheses, conclusion, and the parts that have names."""
    printer, lead, says = _written(statement)
    whole = f"{lead}: {says}" if lead else says
    whole = whole[0].upper() + whole[1:] if re.match("(for|if|at|the) ", whole) else whole
    return ", where ".join(filter(None, (whole, ", ".join(printer.named())))) + "."


def formula(statement: Statement) -> str:
    """The conclusion as LaTeX, and the parts of it that have names."""
    printer, _, says = _written(statement, tex=True)
    return r", \; ".join([says, *printer.named()])


def hypotheses(statement: Statement) -> list[str]:
    """The domains, those of whole numbers together, and the hypotheses; what has a name has it in the sentence."""
    printer = _written(statement)[0]
    return [*printer.domains(statement.variables), *map(printer.at, statement.given)]


def definitions(statement: Statement) -> list[str]:
    """The definitions that the statement calls, and those they call, one line each in their order, and their parts."""
    known = dict(statement.definitions)
    pending = _roots(statement)
    used: set[str] = set()
    while pending:
        called = {node.parts[0] for node in walk(pending.pop()) if node.kind == "call"} - used
        used |= called
        pending += [known[name].body for name in called]
    lines = []
    for name, d in statement.definitions:
        if name in used:
            printer = _printer([d.body], statement.definitions, d.parameters)
            lines.append(f"{name}({', '.join(d.parameters)}) = {printer.at(d.body)}")
            lines += [f"in {name}: {part}" for part in printer.named()]
    return lines


def point_to_json(point: Mapping[str, Any]) -> dict[str, Any]:
    """A point as plain data, which `witness.from_json` reads."""
    return {name: _plain(value) for name, value in point.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Term):
        return {"term": to_json(value)}
    return str(value) if isinstance(value, Fraction) else [_plain(part) for part in value]


def coordinate(value: Any) -> str:
    """A coordinate of a point as JSON: a number, a term, a sequence of numbers."""
    if isinstance(value, dict):
        return text(from_json(value["term"]))
    return f"({', '.join(map(coordinate, value))})" if isinstance(value, list) else str(value)
