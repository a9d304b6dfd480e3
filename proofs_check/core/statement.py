"""A statement: variables, hypotheses and a conclusion as data, and the sequents that it comes down to.

The richer conclusions (a supremum, a limit, a witness, a unique minimiser) are written out as sequents here, once, and
need no rules of their own; a unique zero needs Krawczyk's operator besides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from proofs_check.core.calls import unfold
from proofs_check.core.domain import Sequent, Variable, check_formed, needs, solvable, solved
from proofs_check.core.terms import (
    FORMULAS,
    TRUE,
    ZERO,
    Malformed,
    Term,
    absolute,
    both,
    conjuncts,
    digest,
    either,
    eq,
    free,
    from_json,
    substitute,
    to_json,
)

FORMAT = 1


@dataclass(frozen=True)
class Definition:
    """A named term: calls of it are unfolded before anything is checked. rank: its place; it uses only earlier ones."""

    parameters: tuple[str, ...]
    body: Term
    rank: int


@dataclass(frozen=True)
class Form:
    """A conclusion that is no plain formula: its kind, the terms it is about and what it names.

    supremum  terms (value, bound), at: the point of the family in u, step: (u, rate): value <= bound, and at the
              points of the family, which lie in the domain, bound - value <= rate u; u -> 0 in its own domain (0, u0].
              With no step it is attained at the point `at`. Strict: value < bound (it is not attained).
    limit     terms (value, target, rate), step: u -> 0 in (0, u0]: |value - target| <= rate u. Or u whole or real and
              unbounded above, at least 1: <= rate/u.
    witness   formula, at: terms for variables that exist, inside their domain.
    minimiser terms (value,), at: the only point of the domain where it is least.
    zero      terms (the equations), at: a box of pairs of numbers that holds the only common zero in the domain.
    """

    kind: str
    terms: tuple[Term, ...]
    at: tuple[tuple[str, Term], ...] = ()
    step: str = ""
    strict: bool = False
    box: tuple[tuple[str, Term, Term], ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "form": self.kind, "terms": list(map(to_json, self.terms)), "step": self.step, "strict": self.strict,
            "at": [[name, to_json(t)] for name, t in self.at],
            "box": [[name, to_json(a), to_json(b)] for name, a, b in self.box],
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Form:
        if data.keys() != {"form", "terms", "step", "strict", "at", "box"} or data["form"] not in FORMS:
            raise Malformed("a form has other fields")
        at = tuple((str(name), from_json(t)) for name, t in data["at"])
        box = tuple((str(name), from_json(a), from_json(b)) for name, a, b in data["box"])
        terms = tuple(map(from_json, data["terms"]))
        return cls(data["form"], terms, at, str(data["step"]), data["strict"] is True, box)


def _mapped(says: Term | Form, change: Callable[[Term], Term]) -> Term | Form:
    """The conclusion with each of its terms changed."""
    if isinstance(says, Term):
        return change(says)
    at = tuple((name, change(t)) for name, t in says.at)
    box = tuple((name, change(a), change(b)) for name, a, b in says.box)
    return replace(says, terms=tuple(map(change, says.terms)), at=at, box=box)


Plain = tuple[tuple[Variable, ...], tuple[Term, ...], Term | Form]


@dataclass(frozen=True)
class Statement:
    """For all variables: if all of `given`, then `says`. Definitions are unfolded by `obligations`."""

    name: str
    variables: tuple[Variable, ...]
    given: tuple[Term, ...]
    says: Term | Form
    definitions: tuple[tuple[str, Definition], ...] = ()

    def __post_init__(self) -> None:
        """Raises Malformed for what states nothing."""
        if not isinstance(self.says, Term | Form):
            raise Malformed(f"the conclusion is {self.says!r}: write eq(a, b), not a == b")
        if len(dict(self.definitions)) != len(self.definitions):
            raise Malformed("two definitions have one name")
        for called, definition in self.definitions:
            names = definition.parameters
            if len(set(names)) != len(names) or not free(definition.body) <= set(names):
                raise Malformed(f"the definition {called} mentions what is none of its parameters, or names one twice")
        if not all(isinstance(formula, Term) for formula in self.given):
            raise Malformed("a hypothesis is no formula: write eq(a, b), not a == b")
        variables, hypotheses, conclusion = self.plain
        _check_equalities(Sequent(variables, hypotheses, TRUE))
        if isinstance(conclusion, Term):
            _check_conclusion(conclusion)
        for _, sequent in obligations(self):
            check_formed(sequent)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "for_all": [v.to_json() for v in self.variables],
            "given": [to_json(g) for g in self.given],
            "says": self.says.to_json() if isinstance(self.says, Form) else to_json(self.says),
            "definitions": [[n, list(d.parameters), to_json(d.body)] for n, d in self.definitions],
        }

    @cached_property
    def plain(self) -> Plain:
        """Variables, hypotheses and conclusion without calls."""
        known = dict(self.definitions)

        def opened(term: Term) -> Term:
            return unfold(term, known)

        variables = tuple(v.mapped(opened) for v in self.variables)
        return variables, conjuncts(tuple(map(opened, self.given))), _mapped(self.says, opened)

    @property
    def digest(self) -> str:
        """Of what is stated, not of what it is called."""
        return digest({**self.to_json(), "name": "", "format": FORMAT})


def from_data(data: Any) -> Statement:
    """The statement that plain data writes. Raises Malformed for whatever is none."""
    if not isinstance(data, dict) or data.keys() != {"name", "for_all", "given", "says", "definitions"}:
        raise Malformed("a statement has other fields")
    try:
        variables = tuple(map(Variable.from_json, data["for_all"]))
        given = tuple(map(from_json, data["given"]))
        says = data["says"]
        conclusion = Form.from_json(says) if isinstance(says, dict) else from_json(says)
        known = [(str(n), Definition(tuple(map(str, p)), from_json(b), k))
                 for k, (n, p, b) in enumerate(data["definitions"])]  # fmt: skip
    except (TypeError, ValueError, KeyError) as fault:
        raise Malformed(str(fault)) from fault
    return Statement(str(data["name"]), variables, given, conclusion, tuple(known))


def _comparisons(formula: Term) -> list[Term]:
    """The comparisons that the formula is made of; those inside numbers are no hypotheses."""
    if formula.kind == "rel":
        return [formula]
    return [node for part in formula.parts if part.kind in FORMULAS for node in _comparisons(part)]


def _check_equalities(sequent: Sequent) -> None:
    """A point that meets an equality is found where it gives a number: no point that is drawn ever does."""
    while (found := solvable(sequent)) is not None:
        sequent = solved(sequent, *found)
    if any(node.parts[0] == "=" for formula in sequent.given for node in _comparisons(formula)):
        raise Malformed("a hypothesis is an equality that is solved for no real number")


def _check_conclusion(says: Term) -> None:
    if says.kind not in FORMULAS:
        raise Malformed(f"the conclusion is a {says.kind}, no formula")
    if any(node.parts[1] is node.parts[2] for node in _comparisons(says)):
        raise Malformed("two sides that are the same expression state nothing")
    if says.kind == "iff" and says.parts[0] is says.parts[1]:
        raise Malformed("two sides that are the same formula state nothing")


def obligations(statement: Statement) -> list[tuple[str, Sequent]]:
    """The named sequents that make up the statement; it holds if all are valid (and a zero has its Krawczyk step)."""
    variables, given, says = statement.plain
    base = Sequent(variables, given, TRUE)
    if isinstance(says, Term):
        return [("conclusion", replace(base, goal=says))]
    return FORMS[says.kind](base, says)


def premise(statement: Statement) -> Sequent:
    """The domain and hypotheses, those that the conclusion assumes included."""
    variables, given, says = statement.plain
    return Sequent(variables, given, says if isinstance(says, Term) else TRUE)


def _at_points(base: Sequent, says: Form) -> tuple[Sequent, dict[str, Term], Term]:
    """The sequent over the other variables, the point, and that the point lies in the domain and meets all givens."""
    point = dict(says.at)
    if not point or not point.keys() <= {v.name for v in base.variables}:
        raise Malformed("the point names no variable of the statement")
    if any(free(value) & point.keys() for value in point.values()):
        raise Malformed("the point is written with the variables that it gives")
    inside: list[Term] = []
    for v in base.variables:
        value = point.get(v.name)
        if value is None:
            # The domain of a parameter could be empty at the point, and then nothing would be stated of it.
            if any(free(end) & point.keys() for end in v.ends()):
                raise Malformed(f"the domain of {v.name} depends on the point")
            continue
        if v.sizes or value.kind == "each":
            raise Malformed(f"{v.name} is a sequence: a point gives numbers")
        if v.whole:
            raise Malformed(f"{v.name} is whole: state the cases one by one")
        # A bound asks for a value; without one, nothing else might.
        inside += v.substituted(point).bounds(value) or (value <= value,)
    rest = tuple(v for v in base.variables if v.name not in point)
    still = tuple(g for g in base.given if not free(g) & point.keys())
    inside += [substitute(g, point) for g in base.given if g not in still]
    return Sequent(rest, still, TRUE), point, both(*inside)


def _supremum(base: Sequent, says: Form) -> list[tuple[str, Sequent]]:
    value, bound, *rates = says.terms
    over = replace(base, variables=tuple(v for v in base.variables if v.name != says.step))
    if free(bound) & dict(says.at).keys() or says.step in free(value) | free(bound):
        raise Malformed("a supremum over variables does not depend on them")
    if says.step and over.mentioning(says.step):
        raise Malformed("the domain of a variable depends on the step")
    upper = replace(over, goal=value < bound if says.strict else value <= bound)
    family, point, inside = _at_points(over, says)
    if over.variables == base.variables:
        if says.step or rates or says.strict:
            raise Malformed("a supremum that is attained has no step")
        return [("bound", upper), ("attained", replace(family, goal=both(inside, eq(substitute(value, point), bound))))]
    step = base.variable(says.step)
    _check_step(step)
    (rate,) = rates
    if free(rate) & ({says.step} | point.keys()):
        raise Malformed("the rate depends on the step")
    close = bound - substitute(value, point) <= gap(says, base.variables)
    approached = replace(family, variables=(*family.variables, step), goal=both(inside, close))
    return [("bound", upper), ("approached", approached)]


def _check_step(step: Variable) -> None:
    fits = step.low is ZERO and step.low_open and step.high is not None and step.high.kind == "num"
    if not fits or step.whole or step.sizes or step.high is None or step.high.parts[0] <= 0:
        raise Malformed(f"the step {step.name} is a real number in (0, u0]")


def _limit(base: Sequent, says: Form) -> list[tuple[str, Sequent]]:
    value, target, rate = says.terms
    step = next((v for v in base.variables if v.name == says.step), None)
    if step is None or free(target) & {says.step} or free(rate) & {says.step}:
        raise Malformed("a limit names the variable that it is in, and neither target nor rate depends on it")
    if any(says.step in free(g) for g in base.given) or base.mentioning(says.step):
        raise Malformed("hypotheses and domains do not depend on the step of a limit")
    if not _grows(step):
        _check_step(step)
    return [("gap", replace(base, goal=absolute(value - target) <= gap(says, base.variables)))]


def _grows(step: Variable) -> bool:
    unbounded = step.high is None and not step.sizes
    return unbounded and step.low is not None and step.low.kind == "num" and step.low.parts[0] >= 1


def gap(says: Form, variables: Sequence[Variable]) -> Term:
    """The error that a limit, or the family of a supremum, allows: rate times the step, or rate over one that grows."""
    rate = says.terms[2]
    step = next(v for v in variables if v.name == says.step)
    return rate / step if says.kind == "limit" and _grows(step) else rate * step


def _witness(base: Sequent, says: Form) -> list[tuple[str, Sequent]]:
    (claim,) = says.terms
    family, point, inside = _at_points(base, says)
    parts = [("witness", replace(family, goal=both(inside, substitute(claim, point))))]
    # The ends of what the point names are of no variable of the family, and are asked for their values by themselves.
    if any(True for v in base.variables if v.name in point for end in v.ends() for _ in needs(base, end)):
        parts.append(("domain", replace(base, given=())))
    return parts


def _minimiser(base: Sequent, says: Form) -> list[tuple[str, Sequent]]:
    (value,) = says.terms
    family, point, inside = _at_points(base, says)
    here = [eq(Term("var", name), at) for name, at in says.at]
    only = either(substitute(value, point) < value, both(*here))
    return [("in the domain", replace(family, goal=inside)), ("only least there", replace(base, goal=only))]


def _zero(base: Sequent, says: Form) -> list[tuple[str, Sequent]]:
    """Elsewhere there is none; that the box holds exactly one is Krawczyk's part (`krawczyk.check`)."""
    names = {name for name, _, _ in says.box}
    if names != {v.name for v in base.variables} or base.given or len(says.terms) != len(names):
        raise Malformed("a zero has as many equations as variables, each with a side of its box, and no hypotheses")
    if any(v.sizes or v.whole or v.values for v in base.variables):
        raise Malformed("a zero of real equations has real variables")
    # Ends that move could hold for each point of the domain, and leave the box outside it.
    if any(free(end) for v in base.variables for end in v.ends()):
        raise Malformed("the domain of a zero has constant ends")
    inside: list[Term] = []
    away: list[Term] = []
    for name, low, high in says.box:
        if low.kind != "num" or high.kind != "num" or low.parts[0] >= high.parts[0]:
            raise Malformed("the box of a zero has constant ends")
        x, v = Term("var", name), base.variable(name)
        away += [low < x, x < high]
        inside += [*v.bounds(low), *v.bounds(high)]
    vanish = [Term("rel", "!=", value, ZERO) for value in says.terms]
    parts = [("elsewhere", replace(base, goal=either(*vanish, both(*away))))]
    return parts + ([("box in the domain", Sequent((), (), both(*inside)))] if inside else [])


# Parts that speak of the point, family, rate or box that a statement names: where one fails, that choice was poor, and
# of every other choice nothing is known. (A zero outside its box is a second one, or the box is not where it lies.)
CHOSEN = ("attained", "approached", "gap", "witness", "box in the domain")
FORMS = {"supremum": _supremum, "limit": _limit, "witness": _witness, "minimiser": _minimiser, "zero": _zero}
