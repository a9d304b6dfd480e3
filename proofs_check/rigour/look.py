"""What floats say of the terms of a goal: signs, and by what a lemma may be multiplied to fit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from proofs_check.core.domain import Sequent
from proofs_check.core.normal import Monomial, Rational, back
from proofs_check.core.terms import ZERO, Term
from proofs_check.rigour import arithmetic
from proofs_check.rigour.lemmas import Lemma, lemma, quotient
from proofs_check.rigour.nodes import is_exp
from proofs_check.rigour.points.floats import function
from proofs_check.rigour.points.sample import sample

if TYPE_CHECKING:
    from proofs_check.rigour.auto import Search


class Look:
    """A goal with its float points, and what floats say of terms there."""

    def __init__(self, s: Sequent, margin: Rational) -> None:
        self.s, self.margin = s, margin
        self.points = sample(s, 40)
        self.signs: dict[Term, str] = {}

    def sign(self, term: Term) -> str:
        """ "<" where floats find it positive at each point, "<=" where not negative, "" else."""
        found = self.signs.get(term)
        if found is None:
            value = function(term)
            values = [v for v in map(value, self.points) if not math.isnan(v)]
            strict = bool(values) and all(v > 0 for v in values)
            found = "<" if strict else "<=" if values and all(v >= -1e-12 for v in values) else ""
            self.signs[term] = found
        return found

    def quotients(self, form: Rational, search: Search, most: int = 8) -> Iterator[Lemma]:
        """Products of positive atoms by which some monomial of the form becomes one of the goal."""
        seen: set[Monomial] = {()}
        for mine, theirs in itertools.product(form.top, self.margin.top):
            rest = quotient(theirs, mine)
            mono = next(iter(rest.top))
            if len(rest.top) != 1 or rest.over or mono in seen:
                continue
            seen.add(mono)
            found = self.positive(mono, search)
            if found is not None and len(mono) <= 4:
                yield found
                most -= 1
            if most == 0:
                return

    def positive(self, mono: Monomial, search: Search) -> Lemma | None:
        """0 <= product of powers, where floats say so of each."""
        signs = [self.sign(b) if p.denominator == 1 and (p > 0 or self.sign(b) == "<") else "" for b, p in mono
                 if not is_exp(b)]  # fmt: skip
        if "" in signs or any(arithmetic.has(b, "log") and not is_exp(b) for b, _ in mono):
            return None
        term = back(Rational({mono: Fraction(1)}))
        sure = all(_surely(self.s, b) for b, _ in mono)
        return lemma(ZERO < term if sure else ZERO <= term, search.tactic(2))


def _surely(s: Sequent, base: Term) -> bool:
    """Is the atom positive by the end of its domain, or as an exponential?"""
    if base.kind in ("var", "item"):
        v = s.variable(base.parts[0])
        return v.low is not None and v.low.kind == "num" and (v.low.parts[0] > 0 or (v.low_open and v.low is ZERO))
    return base.kind == "pi" or is_exp(base)
