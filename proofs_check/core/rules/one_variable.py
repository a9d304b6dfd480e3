"""Rules about one variable: its ends, induction, another variable in its place, a variable for a term."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from proofs_check.core.derive import derivative
from proofs_check.core.domain import Sequent, Variable, check_formed, facts, needs, put, supposing, taken
from proofs_check.core.normal import canonical_formula, difference, is_number
from proofs_check.core.rules.checker import Checker, Rejected, Rule, reject_unless
from proofs_check.core.terms import ONE, ZERO, Term, both, conjuncts, exp, free, fresh, from_json, log, num, substitute


def without(sequent: Sequent, name: str) -> Sequent:
    """The sequent without the hypotheses on a variable that no later end mentions: more is then to be proved."""
    reject_unless(not sequent.mentioning(name), f"an end mentions {name}")
    return without_given(sequent, name)


def without_given(sequent: Sequent, name: str) -> Sequent:
    return replace(sequent, given=tuple(g for g in sequent.given if name not in free(g)))


def face_parts(sequent: Sequent, name: str, low: bool, strict: bool) -> tuple[list[Sequent], Sequent, Sequent]:
    """What `face` needs: definedness with the end, the slope inside, the goal at the end."""
    bare = without(sequent, name)
    known = bare.variable(name)
    end = known.low if low else known.high
    if end is None or known.whole or known.sizes:
        raise Rejected(f"{name} has no such end")
    relation, a, b = bare.goal.parts
    reject_unless(bare.goal.kind == "rel" and relation in ("<", "<="), "a face is for inequalities")
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
    first = known.low
    if first is None or first.kind != "num" or first.parts[0].denominator != 1:
        raise Rejected(f"{name} has no least whole value, or no whole constant as one")
    reject_unless(known.whole and not known.sizes and not known.low_open, f"{name} has no least whole value")
    # In the step sequences have their longer size, and the shorter beginning is one of the old domain only if
    # it is cut by its size alone: the ends of its items, and the sizes of others, must not mention the variable.
    for other in sequent.variables:
        ends = [end for end in (other.low, other.high, other.radius) if end is not None]
        ends += other.sizes if other.radius is not None else ()
        reject_unless(all(name not in free(end) for end in ends), f"the domain of {other.name} moves")
        for size in other.sizes:
            if name in free(size):  # from the first value on there is a sequence of that size
                offset = is_number(difference(size, Term("var", name)))
                reject_unless(offset is not None and first.parts[0] + offset >= 0, f"a size of {other.name}")
    bare = without_given(sequent, name)
    following = Term("var", name) + 1
    variables = tuple(v if v.name == name else v.substituted({name: following}) for v in bare.variables)
    if known.high is not None:
        before = replace(known, high=known.high - 1)
        variables = tuple(before if v.name == name else v for v in variables)
    step = Sequent(variables, (*bare.given, *conjuncts([bare.goal])), substitute(bare.goal, {name: following}))
    return put(bare, name, first), step


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
    known = sequent.variable(name)
    plain = not (known.whole or known.sizes or known.values)
    reject_unless(plain and new not in taken(sequent), f"{name} cannot be changed to {new}")
    u = Term("var", new)
    low, high = known.low, known.high
    if kind == "log":  # v = log u, u between the exponentials of the ends
        image = log(u)
        variable = Variable(new, exp(low) if low is not None else ZERO, exp(high) if high is not None else None,
                            known.low_open or low is None, known.high_open)  # fmt: skip
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
    c.prove(image_of, proof)


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
    reject_unless(new.name not in taken(sequent) and new.radius is None, f"the name {new.name} is taken")
    reject_unless(not new.whole and not new.values, "a value is known to be real, and no more")
    by = {new.name: term}
    reject_unless(_same(substitute(wider, by), sequent.goal), "the goal is not an instance")
    kept = tuple(map(from_json, given))
    known = [canonical_formula(fact) for fact in facts(sequent)]
    reject_unless(all(canonical_formula(substitute(g, by)) in known for g in kept), "a hypothesis that is not known")
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
    c.prove(supposing(general, *kept), proof)


def _same(one: Term, other: Term) -> bool:
    return one is other or canonical_formula(one) is canonical_formula(other)


ONE_VARIABLE: dict[str, Rule] = {
    "face": _face, "induct": _induct, "change": _change, "generalise": _generalise,
}  # fmt: skip
