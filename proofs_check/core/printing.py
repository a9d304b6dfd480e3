"""What people read, printed from what is checked: a statement as an English sentence and as LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from proofs_check.core.domain import Variable
from proofs_check.core.statement import Form, Statement, gap
from proofs_check.core.terms import Term, both, from_json, to_json, walk

_LOOSE, _SUM, _PRODUCT, _POWER, _TIGHT = range(5)  # how strongly a piece of text holds together
_WORDS = {"<": "<", "<=": "<=", "=": "=", "!=": "!="}
_TEX = {"<": "<", "<=": r"\le", "=": "=", "!=": r"\ne"}
_GREEK = {
    "alpha", "beta", "gamma", "delta", "eps", "sigma", "tau", "theta", "kappa", "lambda", "mu", "rho", "phi", "pi",
}  # fmt: skip


class _Text:
    """Plain text; the subclass writes LaTeX."""

    less: ClassVar[dict[str, str]] = _WORDS

    def name(self, name: str) -> str:
        return name

    def number(self, term: Term) -> tuple[str, int]:
        value = term.parts[0]
        if value.denominator == 1:
            return str(value), _TIGHT if value >= 0 else _SUM
        return str(value), _PRODUCT

    def fraction(self, top: Term, under: Term) -> tuple[str, int]:
        return f"{self.at(top, _PRODUCT)}/{self.at(under, _POWER)}", _PRODUCT

    def power(self, base: Term, n: int) -> tuple[str, int]:
        return f"{self.at(base, _TIGHT)}^{n}", _POWER

    def apply(self, function: str, x: Term) -> tuple[str, int]:
        inner = self.write(x)[0]
        return (f"|{inner}|" if function == "abs" else f"{function}({inner})"), _TIGHT

    def fold(self, operation: str, index: str, low: Term, high: Term, body: Term) -> tuple[str, int]:
        return f"{operation}[{index} = {self.at(low)}..{self.at(high)}] {self.at(body, _PRODUCT)}", _SUM

    def item(self, name: str, indices: tuple[Term, ...]) -> tuple[str, int]:
        return f"{self.name(name)}[{', '.join(map(self.at, indices))}]", _TIGHT

    def choose(self, condition: Term, then: Term, otherwise: Term) -> tuple[str, int]:
        return f"({self.at(then)} if {self.formula(condition)} else {self.at(otherwise)})", _TIGHT

    times = " "

    def product(self, parts: tuple[Term, ...]) -> tuple[str, int]:
        if parts[0].kind == "num" and parts[0].parts[0] == -1 and len(parts) == 2:
            return f"-{self.at(parts[1], _PRODUCT)}", _SUM
        return self.times.join(self.at(part, _PRODUCT) for part in parts), _PRODUCT

    def at(self, term: Term, least: int = _LOOSE) -> str:
        """The term's text, in parentheses where it would fall apart."""
        text, strength = self.write(term)
        return text if strength >= least else f"({text})"

    def write(self, term: Term) -> tuple[str, int]:
        kind, parts = term.kind, term.parts
        if kind == "num":
            return self.number(term)
        if kind == "pi":
            return self.name("pi"), _TIGHT
        if kind == "var":
            return self.name(parts[0]), _TIGHT
        if kind == "item":
            return self.item(parts[0], parts[1:])
        if kind == "add":
            text = self.at(parts[0], _SUM)
            for part in parts[1:]:
                piece = self.at(part, _SUM)
                text += f" - {piece[1:]}" if piece.startswith("-") else f" + {piece}"
            return text, _SUM
        if kind == "mul":
            return self.product(parts)
        if kind == "div":
            return self.fraction(*parts)
        if kind == "pow":
            return self.power(*parts)
        if kind == "apply":
            return self.apply(*parts)
        if kind in ("max", "min"):
            return f"{kind}({', '.join(map(self.at, parts))})", _TIGHT
        if kind == "fold":
            return self.fold(*parts)
        if kind == "if":
            return self.choose(*parts)
        if kind == "each":
            return f"({parts[0]} -> {self.at(parts[1])})", _TIGHT
        if kind == "call":
            return f"{self.name(parts[0])}({', '.join(map(self.at, parts[1:]))})", _TIGHT
        return self.formula(term), _LOOSE

    joins: ClassVar[dict[str, str]] = {"and": " and ", "or": " or ", "implies": " implies ", "iff": " exactly if "}

    def formula(self, formula: Term) -> str:
        if formula.kind == "rel":
            relation, a, b = formula.parts
            return f"{self.at(a)} {self.less[relation]} {self.at(b)}"
        inner = [self.formula(p) if p.kind == "rel" else f"({self.formula(p)})" for p in formula.parts]
        return self.joins[formula.kind].join(inner)

    def domain(self, v: Variable) -> str:
        sort = "a whole number" if v.whole else "a real number"
        if v.sizes:
            sort = f"{' x '.join(self.at(s) for s in v.sizes)} {'whole' if v.whole else 'real'} numbers"
        if v.values:
            return f"{self.name(v.name)} one of {', '.join(map(str, v.values))}"
        bounds = []
        if v.low is not None:
            bounds.append(f"{'>' if v.low_open else '>='} {self.at(v.low)}")
        if v.high is not None:
            bounds.append(f"{'<' if v.high_open else '<='} {self.at(v.high)}")
        if v.radius is not None:
            bounds.append(f"of norm at most {self.at(v.radius)}")
        each = "each " if v.sizes and bounds and v.radius is None else ""
        return f"{self.name(v.name)} {sort}" + (f", {each}" if bounds else "") + " and ".join(bounds)


class _Latex(_Text):
    less: ClassVar[dict[str, str]] = _TEX
    times = r" \, "
    joins: ClassVar[dict[str, str]] = {
        "and": r" \wedge ", "or": r" \vee ", "implies": r" \Rightarrow ", "iff": r" \Leftrightarrow ",
    }  # fmt: skip

    def name(self, name: str) -> str:
        stem = name.rstrip("'")
        primes = name[len(stem) :]
        head = stem.rstrip("0123456789")
        digits = stem[len(head) :]
        text = {"eps": r"\varepsilon"}.get(head, f"\\{head}" if head in _GREEK else head)
        if len(head) > 1 and head not in _GREEK:
            text = rf"\mathrm{{{head.replace('_', chr(92) + '_')}}}"
        return text + primes + (f"_{{{digits}}}" if digits else "")

    def number(self, term: Term) -> tuple[str, int]:
        value = term.parts[0]
        if value.denominator == 1:
            return super().number(term)
        sign = "-" if value < 0 else ""
        return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}", _SUM if sign else _TIGHT

    def fraction(self, top: Term, under: Term) -> tuple[str, int]:
        return rf"\frac{{{self.at(top)}}}{{{self.at(under)}}}", _TIGHT

    def power(self, base: Term, n: int) -> tuple[str, int]:
        return f"{self.at(base, _TIGHT)}^{{{n}}}", _POWER

    def apply(self, function: str, x: Term) -> tuple[str, int]:
        inner = self.at(x)
        if function == "exp":
            return f"e^{{{inner}}}", _POWER
        if function == "abs":
            return rf"\left|{inner}\right|", _TIGHT
        if function == "sqrt":
            return rf"\sqrt{{{inner}}}", _TIGHT
        name = {"atan": "arctan"}.get(function, function)
        return rf"\{name}\left({inner}\right)", _TIGHT

    def fold(self, operation: str, index: str, low: Term, high: Term, body: Term) -> tuple[str, int]:
        limits = f"_{{{index}={self.at(low)}}}^{{{self.at(high)}}}"
        return rf"\{operation}{limits} {self.at(body, _PRODUCT)}", _SUM

    def item(self, name: str, indices: tuple[Term, ...]) -> tuple[str, int]:
        return f"{self.name(name)}_{{{','.join(map(self.at, indices))}}}", _TIGHT

    def choose(self, condition: Term, then: Term, otherwise: Term) -> tuple[str, int]:
        cases = rf"{self.at(then)} & {self.formula(condition)} \\ {self.at(otherwise)} & \text{{otherwise}}"
        return rf"\begin{{cases}} {cases} \end{{cases}}", _TIGHT


_TEXT, _LATEX = _Text(), _Latex()


def text(term: Term) -> str:
    """A term or formula as plain text."""
    return _TEXT.at(term)


def latex(term: Term) -> str:
    """A term or formula as LaTeX."""
    return _LATEX.at(term)


def sentence(statement: Statement) -> str:
    """The statement in English, from its tree: variables, hypotheses, conclusion."""
    parts = []
    if statement.variables:
        parts.append("For all " + "; ".join(map(_TEXT.domain, statement.variables)))
    if statement.given:
        parts.append("with " + _TEXT.formula(both(*statement.given)))
    says = statement.says
    conclusion = _form(says, statement.variables) if isinstance(says, Form) else _TEXT.formula(says)
    return (", ".join(parts) + ": " if parts else "") + conclusion + "."


def _form(form: Form, variables: Sequence[Variable]) -> str:
    terms = [_TEXT.at(term) for term in form.terms]
    at = ", ".join(f"{name} = {_TEXT.at(term)}" for name, term in form.at)
    if form.kind == "supremum":
        if not form.step:
            return f"the largest value of {terms[0]} is {terms[1]}, taken at {at}"
        never = " and not taken" if form.strict else ""
        error = _TEXT.at(gap(form, variables))
        return f"the supremum of {terms[0]} is {terms[1]}{never}: at {at} it is within {error} of it"
    if form.kind == "limit":
        error = _TEXT.at(gap(form, variables))
        return f"{terms[0]} tends to {terms[1]} in {form.step}, with an error of at most {error}"
    if form.kind == "witness":
        return f"there is {at} with {_TEXT.formula(form.terms[0])}"
    if form.kind == "minimiser":
        return f"{terms[0]} is least at {at} and nowhere else"
    box = ", ".join(f"{_TEXT.at(a)} < {name} < {_TEXT.at(b)}" for name, a, b in form.box)
    return f"{', '.join(terms)} vanish together at exactly one point, and there {box}"


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
        return _TEXT.at(from_json(value["term"]))
    return f"({', '.join(map(coordinate, value))})" if isinstance(value, list) else str(value)


def formula(statement: Statement) -> str:
    """The conclusion as LaTeX; for a richer form, its terms."""
    says = statement.says
    if isinstance(says, Term):
        return _LATEX.formula(says)
    return r" ;\; ".join(map(_LATEX.at, says.terms))


def definitions(statement: Statement) -> list[str]:
    """The definitions that the statement calls, and those they call, one line each in their order."""
    says = statement.says
    known = dict(statement.definitions)
    pending = [*(end for v in statement.variables for end in v.ends()), *statement.given]
    pending += [*says.terms, *(term for _, term in says.at)] if isinstance(says, Form) else [says]
    used: set[str] = set()
    while pending:
        called = {node.parts[0] for node in walk(pending.pop()) if node.kind == "call"} - used
        used |= called
        pending += [known[name].body for name in called]
    return [f"{n}({', '.join(d.parameters)}) = {_TEXT.at(d.body)}" for n, d in statement.definitions if n in used]
