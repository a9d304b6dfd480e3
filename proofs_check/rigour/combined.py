"""An inequality as a combination of products of what is known, found by linear programming: no coefficient is told.

Inside, a monomial is the tuple of the powers of all atoms that occur, exponentials last.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from operator import add, sub
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.normal import Monomial, Rational, back, constant, times
from proofs_check.core.terms import ONE, Term, exp, to_json, walk
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import small
from proofs_check.rigour.nodes import is_exp
from proofs_check.rigour.positive import positive
from proofs_check.rigour.tactics import Failed, Proof, by, first

Powers = tuple[Any, ...]
Form = dict[Powers, Fraction]
_LONGEST = 60  # monomials of a product
_MOST = 3000  # columns
_EFFORTS = (1, 3), (2, 3), (3, 3), (3, 6)  # facts of a product, and how often columns are added that fit those before


def combined(q: Sequent) -> Proof:
    """Products of up to three facts, each times an exponential, and equalities times anything; if need be, of the goal
    times what it divides by.
    """
    return first(_combined, _cleared)(q)


def sure(q: Sequent) -> Proof:
    """A side condition, by its shape, as a combination or by a short search."""
    return first(by("identity"), by("known"), arithmetic.signs, positive, _combined, small)(q)


def _cleared(q: Sequent) -> Proof:
    factor, image = arithmetic.cleared(arithmetic.margin_of(q))
    if factor is ONE:
        raise Failed("combined: no denominator")
    less = times(constant(-1), image)
    return first(*(lambda s, by=by: arithmetic.scaled(s, by[0], sure, _combined, by[1])
                   for by in ((factor, image), (-factor, less))))(q)  # fmt: skip


def _combined(q: Sequent) -> Proof:
    margin = arithmetic.margin_of(q)
    if margin.over:
        raise Failed("combined: a denominator")
    work = _Work(q, margin)
    efforts = [(0, 3)] if q.goal.parts[0] == "=" else _EFFORTS
    return first(*(lambda _, effort=effort: work.of_degree(*effort) for effort in efforts))(q)


@dataclass(frozen=True)
class Column:
    """A product of facts, by their numbers, times a monomial."""

    relation: str
    facts: tuple[int, ...]
    factor: Powers
    form: Form

    def times(self, factor: Powers) -> Column:
        form = {tuple(map(add, mono, factor)): c for mono, c in self.form.items()}
        return Column(self.relation, self.facts, factor, form)


class _Work:
    """A goal, what is known, and the products made so far."""

    def __init__(self, q: Sequent, margin: Rational) -> None:
        known = list(arithmetic.fact_forms(q))
        bases = {base for form in (margin, *(f for _, _, f in known)) for mono in form.top for base, _ in mono}
        self.q, self.margin = q, margin
        self.atoms: list[Term] = sorted(bases, key=lambda base: (is_exp(base), base.serial))
        self.plain = sum(not is_exp(base) for base in self.atoms)
        # The core takes no factor of an equality that may be undefined.
        self.partial = [any(node.kind in ("item", "div", "if") for node in walk(base)) for base in self.atoms]
        self.sums = [base.kind == "fold" for base in self.atoms]
        none = self.powers(())
        self.goal = {self.powers(mono): c for mono, c in margin.top.items()}
        self.facts = [Column(relation, (number,), none, {self.powers(m): c for m, c in form.top.items()})
                      for number, relation, form in known]  # fmt: skip
        self.products = [Column("<", (), none, {none: Fraction(1)})]

    def powers(self, mono: Monomial) -> Powers:
        found = {base: int(p) if p.denominator == 1 else p for base, p in mono}
        return tuple(found.get(base, 0) for base in self.atoms)

    def of_degree(self, degree: int, rounds: int) -> Proof:
        """A combination of products of up to so many facts; none: of equalities."""
        shorter = [column for column in self.products if len(column.facts) == degree - 1]
        above = [column for column in self.facts if column.relation != "="]
        if len(self.products[-1].facts) < degree:
            self.products += [found for one in shorter for other in above if (found := _longer(one, other)) is not None]
        return self.solved(self.fitting(self.products if degree else [], rounds))

    def fitting(self, products: list[Column], rounds: int) -> list[Column]:
        """Columns whose monomials are those of the goal, or of other columns; none has one for itself alone."""
        columns: dict[tuple[Any, ...], Column] = {}
        seen = set(self.goal) or {mono for column in (*self.facts, *products) for mono in column.form}
        for _ in range(rounds):
            for column in itertools.chain(self.of_zeros(seen), self.of_products(products, seen)):
                columns.setdefault((column.facts, column.factor), column)
                if len(columns) > _MOST:
                    break
            seen = seen.union(*(column.form for column in columns.values()))
        kept = list(columns.values())
        while True:
            count = Counter(itertools.chain(self.goal, *(column.form for column in kept)))
            fewer = [column for column in kept if all(count[mono] > 1 for mono in column.form)]
            if len(fewer) == len(kept):
                return kept
            kept = fewer

    def of_zeros(self, seen: set[Powers]) -> Iterator[Column]:
        """Equalities times what makes a monomial with a sum, if it has one, one that is seen."""
        for column in self.facts:
            if column.relation != "=":
                continue
            sums = [m for m in column.form if any(itertools.compress(m, self.sums))] or column.form
            factors = {tuple(map(sub, theirs, mine)) for mine in sums for theirs in seen}
            for factor in factors:
                if min(factor[: self.plain], default=0) >= 0 and not any(itertools.compress(factor, self.partial)):
                    yield column.times(factor)

    def of_products(self, products: list[Column], seen: set[Powers]) -> Iterator[Column]:
        """Products times an exponential by which a third of their monomials become ones that are seen."""
        alike: dict[Powers, list[Powers]] = defaultdict(list)
        for mono in seen:
            alike[mono[: self.plain]].append(mono)
        for column in products:
            hits = Counter(tuple(map(sub, theirs, mine)) for mine in column.form
                           for theirs in alike.get(mine[: self.plain], ()))  # fmt: skip
            yield from (column.times(factor) for factor, count in hits.items() if 3 * count >= len(column.form))

    def solved(self, columns: list[Column]) -> Proof:
        if not columns:
            raise Failed("combined: nothing fits")
        offered = [(0.01 if c.relation == "=" else 1.0 + len(c.facts), c.relation, c.form) for c in columns]
        found = arithmetic.weights(self.goal, self.q.goal.parts[0], offered, most=1e6)
        return by("linear", [self.row(columns[k], weight) for k, weight in found.items()])(self.q)

    def row(self, column: Column, weight: Fraction) -> list[Any]:
        factor = [(base, Fraction(p)) for base, p in zip(self.atoms, column.factor, strict=True) if p]
        power = arithmetic.argument(tuple(pair for pair in factor if is_exp(pair[0])))
        if column.relation == "=":
            plain = tuple(pair for pair in factor if not is_exp(pair[0]))
            return [back(Rational({plain: weight})) * exp(power), list(column.facts)]
        return [str(weight), [*column.facts, *([["exp", to_json(power), small]] if factor else [])]]


def _longer(one: Column, other: Column) -> Column | None:
    """The product of a product and a fact that is none before its last one, if it is short."""
    if one.facts[-1:] > other.facts or len(one.form) * len(other.form) > 4 * _LONGEST:
        return None
    form: Form = defaultdict(Fraction)
    for (a, x), (b, y) in itertools.product(one.form.items(), other.form.items()):
        form[tuple(map(add, a, b))] += x * y
    kept = {mono: value for mono, value in form.items() if value}
    relation = arithmetic.of_product([one.relation, other.relation])
    return Column(relation, (*one.facts, *other.facts), one.factor, kept) if len(kept) <= _LONGEST else None
