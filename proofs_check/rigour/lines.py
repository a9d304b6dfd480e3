"""Tangents of exponentials and logarithms as lemmas, each with its proof: all come down to 1 + u <= e^u."""

from __future__ import annotations

from functools import cache

from proofs_check.core.domain import Sequent, Variable, taken
from proofs_check.core.normal import canonical, difference
from proofs_check.core.terms import ZERO, Term, exp, free, fresh, log, ne
from proofs_check.rigour.arithmetic import small
from proofs_check.rigour.lemmas import Lemma, lemma
from proofs_check.rigour.tactics import Proof, Tactic, by

_remembered: Tactic = cache(small)  # what is asked of it is nearly always the same


def one_below(at: Term, apart: Tactic | None = None) -> Tactic:
    """1 + u <= e^u at a term u (up to normal form); with a tactic for u != 0, strictly."""

    def tactic(s: Sequent) -> Proof:
        new = Variable(fresh("x", taken(s) | free(at)))
        x = Term("var", new.name)
        kept = [ne(x, ZERO)] if apart else []
        goal = 1 + x < exp(x) if apart else 1 + x <= exp(x)

        def alone(q: Sequent) -> Proof:
            out = list(range(len(q.given) - len(kept)))
            names = [v.name for v in q.variables if v.name != new.name]
            return by("forget", names, out, _remembered)(q)

        general = by("generalise", at, new.to_json(), goal, kept, small, small, alone)
        return by("have", ne(at, ZERO), small, apart, general)(s) if apart else general(s)

    return tactic


def exp_tangent(a: Term, b: Term, apart: Tactic | None = None) -> Lemma | None:
    """e^b (1 + a - b) <= e^a."""
    u = canonical(a - b)
    image = 1 + u < exp(u) if apart else 1 + u <= exp(u)
    formula = Term("rel", image.parts[0], exp(b) * (1 + a - b), exp(a))
    why = by("scale", exp(-b), image, [], small, small, one_below(u, apart))
    return lemma(formula, why)


def log_tangent(s: Term, t: Term, apart: Tactic | None = None, p: int = 1, q: int = -1) -> Lemma:
    """p log s + q log t <= s^p t^q - 1, for p, q = 1 or -1."""
    u = canonical(s**p * t**q - 1)
    formula = Term("rel", "<" if apart else "<=", p * log(s) + q * log(t), u)
    return Lemma(formula, by("exponentiate", one_below(u, apart)), difference(u, formula.parts[1]))
