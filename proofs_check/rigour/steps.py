"""Steps of proof scripts: each says what to do, and takes a tactic for the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial, reduce
from typing import Any

from proofs_check.core.domain import Sequent, Variable, facts
from proofs_check.core.normal import canonical_formula, is_number, normal
from proofs_check.core.printing import text
from proofs_check.core.terms import ONE, ZERO, Term, eq, exp, free, lift, ne, to_json, walk
from proofs_check.language.notation import each, total, var, when
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import scaled, small
from proofs_check.rigour.auto import auto
from proofs_check.rigour.combined import sure
from proofs_check.rigour.lines import one_below
from proofs_check.rigour.nodes import exchanged
from proofs_check.rigour.sums import used
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first

Scripts = dict[str, Tactic]
Step = Callable[[Tactic], Tactic]
identity: Tactic = by("identity")
known: Tactic = by("known")


def fails_at(**point: Any) -> Callable[[], Scripts]:
    """The script of a false statement: a point at which it fails, smaller than those that a search comes upon."""
    return lambda: {"points": lambda _: [point]}


def chain(*parts: Step) -> Step:
    """One after the other."""
    return lambda then: reduce(lambda rest, part: part(rest), reversed(parts), then)


def steps(*parts: Any) -> Tactic:
    """One after the other; the last one is a tactic."""
    return chain(*parts[:-1])(parts[-1])


def search(q: Sequent) -> Proof:
    """What arithmetic, calculus and simple sums can prove."""
    return auto(q, depth=6, steps=250)


# -- logic -------------------------------------------------------------------------------------------------------------


def have(lemma: Term, why: Tactic = small, defined: Tactic = small) -> Step:
    """A lemma, with why it is true and why it is defined."""
    return lambda then: by("have", lemma, defined, why, then)


def cases(condition: Term, no: Tactic) -> Step:
    """Goes on where the condition holds; another tactic proves the goal where it does not."""
    return lambda then: by("cases", condition, small, then, no)


def only(*kept: Term) -> Step:
    """Forgets every hypothesis but these, and the variables that nothing then mentions."""

    def step(then: Tactic) -> Tactic:
        def tactic(q: Sequent) -> Proof:
            mine = [canonical_formula(formula) for formula in kept]
            gone = [j for j, formula in enumerate(q.given) if canonical_formula(formula) not in mine]
            rest = [q.goal, *(formula for j, formula in enumerate(q.given) if j not in gone)]
            return by("forget", _unmentioned(q, rest), gone, then)(q)

        return tactic

    return step


plainly: Tactic = only()(search)


def tightened(name: str, *ends: Term) -> Step:
    """Hypotheses become ends of a variable's domain."""
    return chain(*(partial(_tightened, name, end) for end in ends))


def _tightened(name: str, end: Term, then: Tactic) -> Tactic:
    def tactic(q: Sequent) -> Proof:
        if end not in q.given:
            raise Failed(f"no hypothesis {text(end)}")
        return by("tighten", name, q.given.index(end), then)(q)

    return tactic


def _unmentioned(q: Sequent, formulas: Sequence[Term]) -> list[str]:
    """The variables that are in none of the formulas, nor in the ends of variables that are."""
    seen = set().union(*map(free, formulas))
    names = []
    for v in reversed(q.variables):
        if v.name in seen:
            seen = seen.union(*map(free, v.ends()))
        else:
            names.append(v.name)
    return names


def named(
    node: Term, name: str, *bounds: Any, open: bool = False, keep: Sequence[Term] | None = (),
    goal: Term | None = None, why: Tactic = small, defined: Tactic = small,
) -> Step:  # fmt: skip
    """The term becomes a variable within bounds: in the goal (or the goal is as given), in the hypotheses to keep.

    None keeps all that mention it.
    """
    low, high = (*map(lift, bounds), None, None)[:2]
    new = Variable(name, low, high, low_open=open)

    def written(formula: Term) -> Term:
        return exchanged(formula, node, var(name))

    def step(then: Tactic) -> Tactic:
        def tactic(q: Sequent) -> Proof:
            wider = written(q.goal) if goal is None else goal
            kept = [formula for formula in q.given if node in walk(formula)] if keep is None else keep
            return by("generalise", node, new.to_json(), wider, list(map(written, kept)), why, defined, then)(q)

        return tactic

    return step


# -- comparisons -------------------------------------------------------------------------------------------------------


def times(factor: Any, why: Tactic = sure, image: Term | None = None) -> Step:
    """The goal times a positive factor; the image where the normal form keeps denominators that cancel."""
    form = None if image is None else normal(image)
    return lambda then: lambda q: scaled(q, lift(factor), why, then, form)


def becomes(
    goal: Term, *zeros: tuple[Any, Term], factor: Any = ONE, why: Tactic = small, defined: Tactic = small
) -> Step:
    """The goal times a positive factor is this one, up to multiples (weight, fact) of equalities among the facts."""

    def step(then: Tactic) -> Tactic:
        def tactic(q: Sequent) -> Proof:
            multiples = [[to_json(lift(weight)), _place(fact, _forms(q))] for weight, fact in zeros]
            return by("scale", lift(factor), goal, multiples, defined, why, then)(q)

        return tactic

    return step


def cleared(*above_zero: Term) -> Step:
    """Every denominator goes; these are known to be positive."""

    def step(then: Tactic) -> Tactic:
        def tactic(q: Sequent) -> Proof:
            factor, image = arithmetic.cleared(arithmetic.margin_of(q))
            return arithmetic.either_sign(q, factor, why, then, image)

        return tactic

    def of_positive(q: Sequent) -> Proof:
        return arithmetic.linear(q, 3, False)

    why = first(small, only(*(0 < part for part in above_zero))(of_positive))
    return step


def _forms(q: Sequent) -> list[Term]:
    return [canonical_formula(fact) if fact.kind == "rel" else fact for fact in facts(q)]


def _place(formula: Term, forms: Sequence[Term]) -> int:
    mine = canonical_formula(formula)
    if mine not in forms:
        raise Failed(f"no fact {text(formula)}")
    return forms.index(mine)


def linear(*rows: Any, defined: Tactic = small) -> Tactic:
    """Rows (coefficient, references..): a fact, a hypothesis by its number (-1 is the last), or, for the sign it has,
    an exponential, square or absolute value.
    """

    def tactic(q: Sequent) -> Proof:
        forms = _forms(q)

        def row(coefficient: Any, *references: Term | int) -> list[Any]:
            terms = [q.given[r] if isinstance(r, int) else r for r in references]
            zero = any(term.kind == "rel" and term.parts[0] == "=" for term in terms)
            weight = to_json(lift(coefficient)) if zero else str(Fraction(coefficient))
            return [weight, [_place(term, forms) if term.kind == "rel" else _signed(term, defined) for term in terms]]

        return by("linear", [row(*parts) for parts in rows])(q)

    return tactic


def _signed(term: Term, defined: Tactic) -> list[Any]:
    """The reference of the rule `linear` to a term whose kind has a sign."""
    if term.kind == "apply" and term.parts[0] in ("exp", "abs"):
        return [term.parts[0], to_json(term.parts[1]), defined]
    if term.kind == "pow" and term.parts[1] == 2:
        return ["square", to_json(term.parts[0]), defined]
    raise Failed(f"no sign is known of {text(term)}")


def at_least_one(y: Any) -> Step:
    """1 + y <= e^y."""
    return have(1 + y <= exp(y), one_below(lift(y)))


def fades(y: Any) -> Step:
    """2 y e^-y <= 1, for y >= 0: 2 y <= (1 + y/2)^2 <= e^y."""
    y = lift(y)
    part = 1 + y / 2 <= exp(y / 2)
    below = times(exp(y))(linear((1, part, part), (2, part), (1, ZERO <= y, part), (1, (1 - y / 2) ** 2)))
    return chain(at_least_one(y / 2), have(2 * y * exp(-y) <= 1, below))


def node_in(formula: Term, name: str) -> Term:
    """The first node that is of this kind, or applies this function."""
    for node in walk(formula):
        if name in (node.kind, *node.parts[: node.kind == "apply"]):
            return node
    raise Failed(f"no {name} in {text(formula)}")


def number_in(term: Any) -> Fraction:
    """The number that a term is, whatever its variables."""
    found = is_number(normal(lift(term)))
    if found is None:
        raise Failed("a term is no number")
    return found


def coefficient(term: Term, node: Term) -> Fraction:
    """The number that multiplies the node in a term that is linear in it."""
    return number_in(exchanged(term, node, ONE) - exchanged(term, node, ZERO))


# -- ifs, and sums -----------------------------------------------------------------------------------------------------


def resolve(node: Term, which: int, why: Tactic = small) -> Step:
    """What an `if`, an absolute value, a largest or least is, as a fact."""
    return lambda then: by("resolve", node, which, small, why, then)


def resolved(node: Term, which: int, why: Tactic = small) -> Step:
    """The same, and the goal is rewritten with it."""
    return chain(resolve(node, which, why), used)


def termwise(node: Term, relation: str, body: Any, why: Tactic = small) -> Step:
    """The sum compared with that of another body, term by term, as a fact."""
    return lambda then: by("termwise", node, relation, lift(body), small, why, small, then)


def split_sum(node: Term, at: Any) -> Step:
    """The sum as two, the first up to a place, as a fact."""
    return lambda then: by("split_sum", node, lift(at), small, small, then)


def around(node: Term, at: Any) -> Step:
    """Split the sum at a place: two facts give it as the part before, the item there, and the part after."""
    _, index, low, _, body = node.parts
    return chain(split_sum(node, at), split_sum(total(var(index), low, at, body), at - 1))


def alone(node: Term, at: Any, value: Any) -> Step:
    """A sum whose terms before and behind a place are 0, as a fact."""
    _, index, low, high, body = node.parts
    ends = (termwise(total(var(index), x, y, body), "=", 0, search) for x, y in ((low, at - 1), (at + 1, high)))
    return have(eq(node, value), steps(around(node, at), *ends, arithmetic.of_facts))


def without(size: Any, place: Any, body: Callable[[Any], Term]) -> tuple[Term, Term, Step]:
    """The sum of 1..size without the item at a place, the whole one, and their difference as a fact."""
    k, kl = var("k"), var("kl")
    node, whole = total(kl, 1, size, when(ne(kl, place), body(kl), 0)), total(k, 1, size, body(k))
    parts = (total(kl, low, high, node.parts[4]) for low, high in ((1, place - 1), (place + 1, size)))
    ends = (termwise(part, "=", body(kl), search) for part in parts)
    why = steps(around(node, place), around(whole, place), *ends, arithmetic.of_facts)
    return node, whole, have(eq(node, whole - body(place)), why)


def closed(node: Term, primitive: Any, factor: Any = ONE) -> Step:
    """A closed form as a fact: the primitive is written in the index of the sum."""
    return lambda then: by("telescope", node, each(var(node.parts[1]), primitive), lift(factor), small, small, then)


def positive(node: Term) -> Step:
    """A sum of exponentials, not empty."""
    return have(0 < node, termwise(node, ">", 0, by("signs", [], {}))(known))


def nonzero(node: Term) -> Tactic:
    """Such a sum is not 0."""
    return positive(node)(by("apart", False, known))
