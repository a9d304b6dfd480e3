"""Scripts for the arrows of the atlas: attention to one more token as a quotient, and then arithmetic on quotients.

In comments Z is the head's mass, e the mass of the one more token.
"""

from __future__ import annotations

from collections.abc import Callable
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


values, rows = items(v), items(s)


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


def sink_is(logit: Any, value: Any, of: Body = values, logits: Body = rows, size: Any = n) -> tuple[Term, Step]:
    """Attention to a head and one more token is (sum e^s v + e u)/(Z + e), as a fact."""
    one, two = (_joined(*pair, size) for pair in ((logits, logit), (of, value)))
    less, plain, own, less_is = _parted(size + 1, size, one)
    high, above, more, high_is = _parted(size + 1, size, one, two)
    fact, is_fact = _quotient(high, less, above + more, plain + own)
    return fact, chain(positive(plain), less_is, high_is, is_fact)


def _joined(among: Body, own: Any, size: Any) -> Part:
    return lambda j: when(j <= size, among(j), own), among, always(own)


def _other_than_0(term: Term, which: int) -> Step:
    """Its square is positive; that it is not 0 is the hypothesis of this number."""
    ways = (linear((1, less, less)) for less in (term < 0, 0 < term))
    return have(0 < term**2, by("alternatives", which, *ways))


Z, top = total(k, 1, n, exp(s[k])), total(k, 1, n, exp(s[k]) * v[k])
Y = total(k, 1, m, exp(t[k]))
E, X = exp(b), exp(s[1] + c)  # of the one more token, and of a copy of the first


# -- which are one, which contain which --------------------------------------------------------------------------------


def _shifted() -> Scripts:
    less = total(k, 1, n, exp(s[k] - b))
    return {"conclusion": steps(positive(Z), positive(less), cleared(Z + E, 1 + less), identity)}


def _drained_is_gate() -> Scripts:
    fact, step = sink_is(b, 0)
    odds = Z * (1 - g) / g
    other, other_step = sink_is(log(odds), 0)
    back = steps(positive(Z), have(0 < odds), other_step, zero((-1, other)))
    return {"conclusion": by("split", steps(step, zero((1, fact))), back)}


def _sink_has_drain() -> Scripts:
    (full, full_step), (none, none_step) = sink_is(b, u), sink_is(b, 0)
    facts = chain(full_step, none_step)
    sum_is = facts(zero((1, full), (-1, none)))
    # (sink - drain) (Z + e) = e u
    there = facts(zero((Z + E, eq(full.parts[1], none.parts[1])), (-Z - E, full), (Z + E, none), factor=E))
    back = facts(zero((1, full), (-1, none), (E / (Z + E), eq(u, 0))))
    return {"conclusion": by("split", sum_is, exactly(there, back))}


def _sink_has_waiver() -> Scripts:
    """The first item of both sums is 1 + e^c times what it was; with a copy there is e^c times it more."""
    higher = s[1] + log(1 + exp(c))
    logit = lambda j: when(j < 2, higher, s[j]), always(higher), rows
    less, first_less, rest_less, less_is = _parted(n, 1, logit)
    high, first_high, rest_high, high_is = _parted(n, 1, logit, (values,) * 3)
    below, above = first_less + rest_less, first_high + rest_high
    raised, is_raised = _quotient(high, less, above, below)
    kept, step = sink_is(s[1] + c, v[1])
    # What is behind the first item may be empty.
    behind = have(0 <= rest_less, termwise(rest_less, ">=", 0, by("signs", [], {}))(of_facts))
    facts = chain(step, have(0 < first_less), behind, less_is, high_is, is_raised, split_sum(Z, 1), split_sum(top, 1))
    one, two = eq(Z, exp(s[1]) + rest_less), eq(top, exp(s[1]) * v[1] + rest_high)
    both = (1 / below, two), (-(top + X * v[1]) / below / (Z + X), one)
    return {"conclusion": facts(zero((1, kept), (-1, raised), *both))}


def _drain_has_learned() -> Scripts:
    fact, step = sink_is(b, 0)
    return {"conclusion": step(zero((-1, fact)))}


nothing, gone = when(ONE < 2, 0, v[1]), eq(when(ONE < 2, 0, v[1]), 0)  # the value of a drained first token's copy


def drained(j: Any) -> Term:
    return when(j < 2, 0, v[j])


def _copy_of_drained() -> Scripts:
    kept, step = sink_is(s[1] + c, nothing, drained)
    return {"conclusion": chain(step, resolve(nothing, 0))(zero((1, kept), (X / (Z + X), gone)))}


# -- which cannot be which ---------------------------------------------------------------------------------------------


def _not_plus_one() -> Scripts:
    """u/2 = 1/(1 + e) and 2 u/3 = 2/(2 + e): u (1 + e) = 2 and u (2 + e) = 3, so u = 1, and e = 1."""
    one, two, u_is, power = eq(u / 2, 1 / (1 + E)), eq(2 * u / 3, 2 / (2 + E)), eq(u, 1), eq(E, 1)
    value = have(u_is, zero((-2 * (1 + E), one), (3 * (2 + E) / 2, two)))
    there = by("split", by("exponentiate", zero((-1 - E, u_is), (2 * (1 + E), one))), known)
    e_is = have(power, steps(have(eq(E, exp(ZERO)), by("logarithm", known)), linear((1, eq(E, exp(ZERO))))))
    return {"conclusion": exactly(value(there), e_is(by("split", search, search)))}


def _not_learned() -> Scripts:
    def there(logit: Term) -> Tactic:
        """top/(Z + e) = top/(Z + e'), times top (Z + e) (Z + e')."""
        fact, step = sink_is(logit, 0)
        weight, agree = top * (Z + E) * (Z + exp(logit)), eq(top / (Z + E), fact.parts[1])
        return step(by("exponentiate", zero((weight, agree), (weight, fact), factor=top**2)))

    def back(logit: Term) -> Tactic:
        fact, step = sink_is(logit, 0)
        power = eq(exp(logit), E)
        same = have(power, by("logarithm", known))
        return chain(step, same)(zero((-1, fact), (top / (Z + E) / (Z + exp(logit)), power)))

    apart = _other_than_0(top, 0)
    return {"conclusion": exactly(apart(by("split", there(p), there(x))), by("split", back(p), back(x)))}


def _not_drain() -> Scripts:
    """0 and e u/(Z + e)."""
    (full, full_step), (none, none_step) = sink_is(b, u, always(0)), sink_is(p, 0, always(0))
    facts, agree = chain(full_step, none_step), eq(full.parts[1], none.parts[1])
    there = facts(zero((Z + E, agree), (-Z - E, full), (Z + E, none), factor=E))
    back = facts(zero((1, full), (-1, none), (E / (Z + E), eq(u, 0))))
    return {"conclusion": exactly(there, back)}


def _not_gate() -> Scripts:
    """With o and o' the plain outputs, (Z + e) g o = Z o + e x and (Z + e) g o' = Z o' + e y, crosswise."""
    (one, one_step), (two, two_step) = sink_is(b, x), sink_is(b, y, items(w))
    out, other = top / Z, total(k, 1, n, exp(s[k]) * w[k]) / Z
    agree = eq(one.parts[1], g * out), eq(two.parts[1], g * other)
    weights = (other, agree[0]), (-other, one), (-out, agree[1]), (out, two)
    rows = [(weight * (Z + E), fact) for weight, fact in weights]
    return {"conclusion": by("assume", chain(one_step, two_step)(zero(*rows, factor=E)))}


def _not_sink() -> Scripts:
    """(g - 1) Z = e (u - g) = (g - 1) Y, so g = 1, and then u = 1."""
    ones = sink_is(b, u, always(1)), sink_is(b, u, always(1), items(t), m)
    (one, two), facts = (fact for fact, _ in ones), chain(*(step for _, step in ones))
    agree = [eq(fact.parts[1], g * part / part) for fact, part in ((one, Z), (two, Y))]
    apart, g_is, u_is = Z - Y, eq(g, 1), eq(u, 1)
    gate = have(g_is, zero((-(Z + E) * apart, agree[0]), ((Z + E) * apart, one), ((Y + E) * apart, agree[1]),
                           (-(Y + E) * apart, two), factor=apart**2))  # fmt: skip
    value = zero((Z + E, agree[0]), (-Z - E, one), (Z + E, g_is), factor=E)
    there = chain(facts, _other_than_0(apart, 0), gate)(by("split", value, known))
    back = (zero((1, fact), (-1, g_is), (E / (part + E), u_is)) for fact, part in ((one, Z), (two, Y)))
    return {"conclusion": exactly(there, facts(by("split", *back)))}


def _gate_sees_no_mass() -> Scripts:
    """Z/(Z + e) = g = Y/(Y + e)."""
    agree = [eq(part / (part + E), g * part / part) for part in (Z, Y)]
    rows = [(sign * (Z + E) * (Y + E), fact) for sign, fact in zip((1, -1), agree, strict=True)]
    return {"conclusion": by("assume", chain(positive(Z), positive(Y))(zero(*rows, factor=E)))}


def _waiver_keeps() -> Scripts:
    """x = (Z x + e u)/(Z + e)."""
    (kept, kept_step), (full, full_step) = sink_is(s[1] + c, x, always(x)), sink_is(b, u, always(x))
    facts, agree = chain(kept_step, full_step), eq(kept.parts[1], full.parts[1])
    there = facts(zero((-Z - E, agree), (Z + E, kept), (-Z - E, full), factor=E))
    back = facts(zero((1, kept), (-1, full), (-E / (Z + E), eq(u, x))))
    return {"conclusion": exactly(there, back)}


def _waiver_never_scales() -> Scripts:
    """x = Z x/(Z + e)."""
    kept, step = sink_is(s[1] + c, x, always(x))
    there = step(zero((Z + E, eq(kept.parts[1], x * Z / (Z + E))), (-Z - E, kept), factor=E))
    return {"conclusion": exactly(there, step(zero((1, kept), (E / (Z + E), eq(x, 0)))))}


def _waiver_and_gate() -> Scripts:
    """1 = g; and then (Z o + e v_1)/(Z + e) = o."""
    (ones, ones_step), (kept, kept_step) = sink_is(s[1] + c, 1, always(1)), sink_is(s[1] + c, v[1])
    facts, out, g_is = chain(ones_step, kept_step), top / Z, eq(g, 1)
    agree = eq(ones.parts[1], g * Z / Z), eq(kept.parts[1], g * out)
    gate = have(g_is, zero((-1, agree[0]), (1, ones)))
    value = zero((Z + X, agree[1]), (-Z - X, kept), (-(Z + X) * out, g_is), factor=X)
    there = chain(facts, gate)(by("split", known, value))
    back = zero((1, ones), (-1, g_is)), zero((1, kept), (-out, g_is), (X / (Z + X), eq(v[1], out)))
    return {"conclusion": exactly(there, facts(by("split", *back)))}


def _waiver_logit() -> Scripts:
    """With y what is read, y/(Z + e) = y/(Z + e'), times y (Z + e) (Z + e')."""
    (kept, step), (other, other_step) = sink_is(s[1] + c, nothing, drained), sink_is(p, 0, drained)
    read, P = total(k, 1, n, exp(s[k]) * drained(k)), exp(p)
    facts = chain(step, other_step, resolve(nothing, 0))
    weight, power = read * (Z + X) * (Z + P), eq(P, X)
    rows = (weight, eq(kept.parts[1], other.parts[1])), (-weight, kept), (weight, other)
    there = by("exponentiate", zero(*rows, (-read * (Z + P) * X, gone), factor=read**2))
    back = zero((1, kept), (-1, other), (X / (Z + X), gone), (read / (Z + X) / (Z + P), power))
    same = have(power, by("logarithm", known))
    return {"conclusion": exactly(chain(_other_than_0(read, 0), facts)(there), chain(facts, same)(back))}


def _learned_and_waiver() -> Scripts:
    """With y what is read, y/(Z + e) = y/(Z + e'), times y (Z + e) (Z + e'); at each of the two queries."""

    def at(number: int, row: Term) -> tuple[Tactic, Tactic]:
        kept, step = sink_is(row[1] + c, nothing, drained, items(row))
        mass, read = total(k, 1, n, exp(row[k])), total(k, 1, n, exp(row[k]) * drained(k))
        copy = exp(row[1] + c)
        facts, agree = chain(step, resolve(nothing, 0)), eq(read / (mass + E), kept.parts[1])
        weight, power = read * (mass + E) * (mass + copy), eq(copy, E)
        rows = (weight, agree), (weight, kept), (read * (mass + E) * copy, gone)
        there = by("exponentiate", zero(*rows, factor=read**2))
        back = zero((-1, kept), (-copy / (mass + copy), gone), (read / (mass + copy) / (mass + E), power))
        same = have(power, by("logarithm", known))
        return chain(_other_than_0(read, number), facts)(there), chain(facts, same)(back)

    there, back = zip(*(at(number, row) for number, row in enumerate((s, t))), strict=True)
    return {"conclusion": exactly(by("split", *there), by("split", *back))}


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
    "waiver.atlas.sink_logit.separated.waiver": _learned_and_waiver,
}
NEEDS: dict[str, str] = {}
