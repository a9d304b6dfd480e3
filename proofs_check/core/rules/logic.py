"""Rules of logic: cases, lemmas, hypotheses, and values one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Sequent, check_formed, facts, put, solved, supposing
from proofs_check.core.enclose import Evaluator
from proofs_check.core.normal import canonical_formula
from proofs_check.core.rules.checker import Checker, Rule, reject_unless
from proofs_check.core.terms import FALSE, Term, free, from_json, implies, negation, num

_MOST_VALUES = 5_000


def _split(c: Checker, sequent: Sequent, *proofs: Any) -> None:
    """A conjunction part by part, each given those before; an equivalence, or a = b, in both directions."""
    goal = sequent.goal
    parts = goal.parts
    if goal.kind == "iff":
        parts = (implies(*parts), implies(*reversed(parts)))
    elif goal.kind == "rel" and goal.parts[0] == "=":
        parts = (goal.parts[1] <= goal.parts[2], goal.parts[2] <= goal.parts[1])
    else:
        reject_unless(goal.kind == "and", "only a conjunction, an equivalence or an equality splits")
    reject_unless(len(parts) == len(proofs), "as many proofs as parts")
    for number, (part, proof) in enumerate(zip(parts, proofs, strict=True)):
        # A later part is defined given the earlier ones, and may use them.
        c.prove(supposing(replace(sequent, goal=part), *(parts[:number] if goal.kind == "and" else ())), proof)


def _assume(c: Checker, sequent: Sequent, proof: Any) -> None:
    """Where P fails, `P implies Q` holds, and asks no value of Q; where P holds, it says Q."""
    reject_unless(sequent.goal.kind == "implies", "only an implication assumes")
    given, then = sequent.goal.parts
    c.prove(supposing(replace(sequent, goal=then), given), proof)


def _either(c: Checker, sequent: Sequent, which: int, proof: Any) -> None:
    """One alternative, where all others fail. Where another holds the goal does; where one has no value, an earlier
    one holds, or the goal would not be defined.
    """
    reject_unless(sequent.goal.kind == "or" and type(which) is int and which >= 0, "only a disjunction has choices")
    parts = sequent.goal.parts
    others = [negation(part) for number, part in enumerate(parts) if number != which]
    c.prove(supposing(replace(sequent, goal=parts[which]), *others), proof)


def _apart(c: Checker, sequent: Sequent, less: bool, proof: Any) -> None:
    """a != b, since a < b, or since b < a."""
    relation, a, b = sequent.goal.parts
    reject_unless(sequent.goal.kind == "rel" and relation == "!=", "only `!=` comes apart")
    c.prove(replace(sequent, goal=a < b if less else b < a), proof)


def _cases(c: Checker, sequent: Sequent, formula: Any, defined: Any, yes: Any, no: Any) -> None:
    """A defined formula holds or its negation does."""
    condition = from_json(formula)
    c.defined(sequent, condition, defined)
    c.prove(supposing(sequent, condition), yes)
    c.prove(supposing(sequent, negation(condition)), no)


def _alternatives(c: Checker, sequent: Sequent, which: int, *proofs: Any) -> None:
    """A hypothesis `P or Q`: the goal from P, and the goal from Q and not P. `a != b` is `a < b or b < a`, and `P
    implies Q` is `not P or Q`.
    """
    formula = sequent.given[which]
    if formula.kind == "implies":
        formula = Term("or", negation(formula.parts[0]), formula.parts[1])
    if formula.kind == "rel" and formula.parts[0] == "!=":
        a, b = formula.parts[1:]
        formula = Term("or", a < b, b < a)
    reject_unless(formula.kind == "or" and len(proofs) == len(formula.parts), "as many proofs as alternatives")
    for number, (part, proof) in enumerate(zip(formula.parts, proofs, strict=True)):
        before = [negation(earlier) for earlier in formula.parts[:number]]
        c.prove(supposing(sequent, *before, part), proof)


def _have(c: Checker, sequent: Sequent, formula: Any, defined: Any, why: Any, proof: Any) -> None:
    """A lemma on the way: proved, then used."""
    lemma = from_json(formula)
    c.defined(sequent, lemma, defined)
    c.prove(replace(sequent, goal=lemma), why)
    c.prove(supposing(sequent, lemma), proof)


def _absurd(c: Checker, sequent: Sequent, proof: Any) -> None:
    """The hypotheses contradict each other: they prove 1 <= 0."""
    c.prove(replace(sequent, goal=FALSE), proof)


def _known(c: Checker, sequent: Sequent) -> None:
    """The goal is a hypothesis or an end of the domain, up to normal form."""
    goal = canonical_formula(sequent.goal)
    reject_unless(any(canonical_formula(fact) is goal for fact in facts(sequent)), "the goal is no known fact")


def _solve(c: Checker, sequent: Sequent, which: int, name: str, proof: Any) -> None:
    """A hypothesis `v = t` puts t for the number v: at each point where the hypotheses hold they are the same."""
    c.prove(solved(sequent, which, name), proof)


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
    reject_unless(relation in ("<", "<="), "only an inequality is an end")
    mine, end, upper = (a, b, True) if a is Term("var", name) else (b, a, False)
    reject_unless(mine is Term("var", name) and name not in free(end), f"hypothesis {which} is no end of {name}")
    known = sequent.variable(name)
    if upper:
        new = replace(known, high=end, high_open=relation == "<", values=())
    else:
        new = replace(known, low=end, low_open=relation == "<", values=())
    # The old end stays as a hypothesis: the new domain is a part of the old one.
    kept = supposing(sequent, *known.bounds(Term("var", name)))
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
        reject_unless(known.whole and all(isinstance(end, Fraction) for end in ends), f"{name} has many values")
        low, high = (int(end) for end in ends if isinstance(end, Fraction))
        reject_unless(all(end.denominator == 1 for end in ends if isinstance(end, Fraction)), "an end is not whole")
        reject_unless(high - low < _MOST_VALUES, f"{name} has too many values")
        values = [Fraction(v) for v in range(low + known.low_open, high + 1 - known.high_open)]
    reject_unless(len(proofs) in (1, len(values)) and not known.sizes, "as many proofs as values")
    for number, value in enumerate(values):
        c.prove(put(sequent, name, num(value)), proofs[number if len(proofs) > 1 else 0])


LOGIC: dict[str, Rule] = {
    "split": _split, "assume": _assume, "either": _either, "apart": _apart, "cases": _cases,
    "alternatives": _alternatives, "have": _have, "absurd": _absurd, "known": _known, "weaken": _weaken,
    "solve": _solve, "forget": _forget, "tighten": _tighten, "enumerate": _enumerate,
}  # fmt: skip
