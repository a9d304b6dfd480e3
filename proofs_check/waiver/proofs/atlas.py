"""Scripts for the arrows of the atlas: attention to one more token as a quotient, and then arithmetic on quotients.

In comments Z is the head's mass, e the mass of the one more token.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import ONE, ZERO, Term, eq, exp, lift, log
from proofs_check.language.notation import total, var, when
from proofs_check.rigour.arithmetic import of_facts
from proofs_check.rigour.steps import (
    Scripts,
    Step,
    becomes,
    chain,
    cleared,
    have,
    identity,
    known,
    linear,
    only,
    positive,
    resolve,
    search,
    split_sum,
    steps,
    termwise,
)
from proofs_check.rigour.tactics import Proof, Tactic, by, first

n, m, k = map(var, "nmk")
s, t, v, w = map(var, "stvw")
b, c, g, p, u, x, y = map(var, "bcgpuxy")
Body = Callable[[Any], Term]
Part = tuple[Body, Body, Body]  # of an item: as it is written, with an `if` or none, and what it is on either side


def items(sequence: Term) -> Body:
    return lambda j: sequence[j]


def always(value: Any) -> Body:
    return lambda j: lift(value)


def zero(*rows: tuple[Any, Term], factor: Any = ONE) -> Tactic:
    """An equality: times a positive factor, it is a sum of multiples of known ones."""
    return becomes(eq(ZERO, ZERO), *rows, factor=factor)(identity)


def exactly(there: Tactic, back: Tactic) -> Tactic:
    return by("split", by("assume", there), by("assume", back))


# -- sums whose items are chosen by an `if` ----------------------------------------------------------------------------


def _item(parts: tuple[Part, ...], which: int) -> Term:
    """e^logit, or e^logit times a value, of item k."""
    logit, *value = (part[which](k) for part in parts)
    return exp(logit) * value[0] if value else exp(logit)


def _chosen(parts: tuple[Part, ...], which: int, q: Sequent) -> Proof:
    """An item, its ifs being known; the index is the sequent's last variable."""
    j = var(q.variables[-1].name)
    (logit, plain), (value, read) = [(part[0](j), part[which](j)) for part in (*parts, (always(1),) * 3)][:2]
    choose = [resolve(node, which - 1) for node in (logit, value) if node.kind == "if"]
    power, same = eq(exp(logit), exp(plain)), [(exp(plain), eq(value, read))] if value.kind == "if" else []
    return steps(*choose, have(power, by("logarithm", of_facts)), zero((value, power), *same))(q)


def _parted(size: Term, at: Any, *parts: Part) -> tuple[Term, Term, Term, Step]:
    """A sum, what it is up to a place and behind it, and that it is both, as a fact."""
    node = total(k, 1, size, _item(parts, 0))
    places = (1, 1, at), (2, lift(at) + 1, size)
    below, behind = (total(k, low, high, _item(parts, which)) for which, low, high in places)
    each = (termwise(total(k, low, high, node.parts[4]), "=", _item(parts, which), partial(_chosen, parts, which))
            for which, low, high in places)  # fmt: skip
    is_both = have(eq(node, below + behind), steps(only(), split_sum(node, at), *each, first(identity, of_facts)))
    return node, below, behind, is_both


def _quotient(high: Term, less: Term, above: Term, below: Term) -> tuple[Term, Step]:
    """high/less = above/below, as a fact, where those of above and below are; what is below is positive."""
    fact, parts = eq(high / less, above / below), ((below, eq(high, above)), (-above, eq(less, below)))
    return fact, have(fact, steps(have(0 < below), have(0 < less, of_facts), zero(*parts, factor=less * below)))


def one_more_is(logit: Any, value: Any) -> tuple[Term, Step]:
    """Attention to a head and one more token is (sum e^s v + e u)/(Z + e), as a fact."""
    one, two = ((lambda j, of=of, own=own: when(j <= n, of(j), own), of, always(own))
                for of, own in ((items(s), logit), (items(v), value)))  # fmt: skip
    less, plain, own, less_is = _parted(n + 1, n, one)
    high, above, more, high_is = _parted(n + 1, n, one, two)
    fact, is_fact = _quotient(high, less, above + more, plain + own)
    return fact, chain(have(0 <= plain), less_is, high_is, is_fact)


def _other_than_0(term: Term, which: int) -> Step:
    """Its square is positive; that it is not 0 is the hypothesis of this number."""
    ways = (linear((1, less, less)) for less in (term < 0, 0 < term))
    return have(0 < term**2, by("alternatives", which, *ways))


Z, top = total(k, 1, n, exp(s[k])), total(k, 1, n, exp(s[k]) * v[k])
Y = total(k, 1, m, exp(t[k]))
some = have(0 <= Z)
E, X = exp(b), exp(s[1] + c)  # of the one more token, and of a copy of the first


# -- which are one, which contain which --------------------------------------------------------------------------------


def _shifted() -> Scripts:
    less = total(k, 1, n, exp(s[k] - b))
    return {"conclusion": steps(some, have(0 <= less), cleared(Z + E, 1 + less), identity)}


def _drained_is_gate() -> Scripts:
    odds = Z * (1 - g) / g
    return {"conclusion": by("split", positive(Z)(zero()), chain(positive(Z), have(0 < odds))(zero()))}


def _sink_has_drain() -> Scripts:
    fact, step = one_more_is(b, u)
    sink, none = fact.parts[2], top / (Z + E)
    there = some(zero((Z + E, eq(sink, none)), factor=E))
    back = some(zero((E / (Z + E), eq(u, 0))))
    return {"conclusion": by("split", step(zero((1, fact))), exactly(there, back))}


def _sink_has_waiver() -> Scripts:
    """The first item of both sums is 1 + e^c times what it was; with a copy there is e^c times it more."""
    higher = s[1] + log(1 + exp(c))
    logit = lambda j: when(eq(j, 1), higher, s[j]), always(higher), items(s)
    less, first_less, rest_less, less_is = _parted(n, 1, logit)
    high, first_high, rest_high, high_is = _parted(n, 1, logit, (items(v),) * 3)
    below, above = first_less + rest_less, first_high + rest_high
    raised, is_raised = _quotient(high, less, above, below)
    # What is behind the first item may be empty.
    behind = have(0 <= rest_less, termwise(rest_less, ">=", 0, by("signs", [], {}))(of_facts))
    sums = chain(less_is, high_is, is_raised, split_sum(Z, 1), split_sum(top, 1))
    facts = chain(positive(Z), have(0 < first_less), behind, sums)
    one, two = eq(Z, exp(s[1]) + rest_less), eq(top, exp(s[1]) * v[1] + rest_high)
    both = (1 / below, two), (-(top + X * v[1]) / below / (Z + X), one)
    return {"conclusion": facts(zero((-1, raised), *both))}


def _drain_has_learned() -> Scripts:
    fact, step = one_more_is(b, 0)
    return {"conclusion": step(zero((-1, fact)))}


def _copy_of_drained() -> Scripts:
    return {"conclusion": positive(Z)(zero())}


# -- which cannot be which ---------------------------------------------------------------------------------------------


def _not_plus_one() -> Scripts:
    """u/2 = 1/(1 + e) and 2 u/3 = 2/(2 + e): u (1 + e) = 2 and u (2 + e) = 3, so u = 1, and e = 1."""
    one, two, u_is, power = eq(u / 2, 1 / (1 + E)), eq(2 * u / 3, 2 / (2 + E)), eq(u, 1), eq(E, 1)
    value = have(u_is, zero((-2 * (1 + E), one), (3 * (2 + E) / 2, two)))
    there = by("split", by("exponentiate", zero((-1 - E, u_is), (2 * (1 + E), one))), known)
    e_is = have(power, steps(have(eq(E, exp(ZERO)), by("logarithm", known)), linear((1, eq(E, exp(ZERO))))))
    return {"conclusion": exactly(value(there), e_is(by("split", search, search)))}


def _equal_logits(read: Term, mass: Term, one: Term, two: Term) -> tuple[Tactic, Tactic]:
    """y/(Z + e) = y/(Z + e'), times y (Z + e) (Z + e'): so e' = e; and the other way round."""
    agree, power = eq(read / (mass + one), read / (mass + two)), eq(two, one)
    weight = read * (mass + one) * (mass + two)
    there = by("exponentiate", zero((weight, agree), factor=read**2))
    same = have(power, by("logarithm", known))
    back = zero((read / (mass + one) / (mass + two), power))
    return have(0 <= mass)(there), chain(have(0 <= mass), same)(back)


def _not_learned() -> Scripts:
    there, back = zip(*(_equal_logits(top, Z, E, exp(logit)) for logit in (p, x)), strict=True)
    return {"conclusion": exactly(_other_than_0(top, 0)(by("split", *there)), by("split", *back))}


def _not_drain() -> Scripts:
    """e u/(Z + e) = 0."""
    agree = eq(E * u / (Z + E), 0)
    there, back = zero((Z + E, agree), factor=E), zero((E / (Z + E), eq(u, 0)))
    return {"conclusion": exactly(some(there), some(back))}


def _not_gate() -> Scripts:
    """With o and o' the plain outputs, g o = (Z o + e x)/(Z + e) and g o' = (Z o' + e y)/(Z + e), crosswise."""
    other = total(k, 1, n, exp(s[k]) * w[k])
    agree = eq((top + E * x) / (Z + E), g * top / Z), eq((other + E * y) / (Z + E), g * other / Z)
    rows = ((Z + E) * other / Z, agree[0]), (-(Z + E) * top / Z, agree[1])
    return {"conclusion": by("split", positive(Z)(zero()), by("assume", positive(Z)(zero(*rows, factor=E))))}


def _not_sink() -> Scripts:
    """(g - 1) Z = e (u - g) = (g - 1) Y, so g = 1, and then u = 1."""
    agree = [eq((part + E * u) / (part + E), g * part / part) for part in (Z, Y)]
    apart, g_is, u_is = Z - Y, eq(g, 1), eq(u, 1)
    gate = have(g_is, zero((-(Z + E) * apart, agree[0]), ((Y + E) * apart, agree[1]), factor=apart**2))
    value = zero((Z + E, agree[0]), (Z + E, g_is), factor=E)
    sums = chain(positive(Z), positive(Y))
    there = chain(sums, _other_than_0(apart, 0), gate)(by("split", value, known))
    back = (zero((-1, g_is), (E / (part + E), u_is)) for part in (Z, Y))
    # In two contexts of one mass a sink of value 0 and logit 0 is the gate 1/2.
    alike = {"n": 1, "m": 1, "s": (0,), "t": (0,), "b": 0, "u": 0, "g": Fraction(1, 2)}
    return {"conclusion": exactly(there, sums(by("split", *back))), "points": lambda _: [alike]}


def _gate_sees_no_mass() -> Scripts:
    """Z/(Z + e) = Y/(Y + e), times both denominators."""
    agree = eq(Y / (Y + E), Z / (Z + E) / (Z / Z) * (Y / Y))
    weight, sums = (Z + E) * (Y + E), chain(positive(Z), positive(Y))
    there, back = zero((-weight, agree), factor=E), zero((-E / weight, eq(Z, Y)))
    return {"conclusion": exactly(sums(there), sums(back))}


def _waiver_keeps() -> Scripts:
    """x = (Z x + e u)/(Z + e)."""
    agree = eq((x * Z + X * x) / (Z + X), (x * Z + E * u) / (Z + E))
    there, back = zero((-Z - E, agree), factor=E), zero((-E / (Z + E), eq(u, x)))
    return {"conclusion": exactly(some(there), some(back))}


def _waiver_never_scales() -> Scripts:
    """x = Z x/(Z + e)."""
    there, back = zero((-Z - E, eq(x * Z / (Z + E), x)), factor=E), zero((-E / (Z + E), eq(x, 0)))
    return {"conclusion": by("split", some(zero()), exactly(some(there), some(back)))}


def _waiver_and_gate() -> Scripts:
    """1 = g; and then (Z o + e v_1)/(Z + e) = o."""
    out, g_is = top / Z, eq(g, 1)
    agree = eq((Z + X) / (Z + X), g * Z / Z), eq((top + X * v[1]) / (Z + X), g * out)
    value = zero((Z + X, agree[1]), ((Z + X) * out, g_is), factor=X)
    there = chain(positive(Z), have(g_is, zero((-1, agree[0]))))(by("split", known, value))
    back = zero((-1, g_is)), zero((-out, g_is), (X / (Z + X), eq(v[1], out)))
    return {"conclusion": exactly(there, positive(Z)(by("split", *back)))}


def _waiver_logit() -> Scripts:
    read = total(k, 1, n, exp(s[k]) * (v[k] - v[1]))
    there, back = _equal_logits(read, Z, X, exp(p))
    return {"conclusion": exactly(_other_than_0(read, 0)(there), back)}


SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "waiver.atlas.plus_one.equal.sink_logit": _shifted,
    "waiver.atlas.gate.equal.drain": _drained_is_gate,
    "waiver.atlas.gate.equal.waiver": _copy_of_drained,
    "waiver.atlas.sink.contains.drain": _sink_has_drain,
    "waiver.atlas.sink.contains.waiver": _sink_has_waiver,
    "waiver.atlas.drain.contains.sink_logit": _drain_has_learned,
    "waiver.atlas.plus_one.separated.sink_logit": _not_plus_one,
    "waiver.atlas.sink_logit.separated.drain": _not_learned,
    "waiver.atlas.drain.separated.sink": _not_drain,
    "waiver.atlas.gate.separated.sink": _not_gate,
    "waiver.atlas.sink.separated.gate": _not_sink,
    "waiver.atlas.gate.separated.plus_one": _gate_sees_no_mass,
    "waiver.atlas.waiver.separated.sink": _waiver_keeps,
    "waiver.atlas.waiver.separated.plus_one": _waiver_never_scales,
    "waiver.atlas.waiver.separated.gate": _waiver_and_gate,
    "waiver.atlas.waiver.separated.drain": _waiver_logit,
}
