"""Tangents of exponentials and logarithms as lemmas, each with its proof: all come down to 1 + u <= e^u."""

from __future__ import annotations

from proofs_check.core.domain import Sequent, Variable, taken
from proofs_check.core.normal import Rational, canonical, constant, normal, plus, times
from proofs_check.core.terms import ONE, ZERO, Term, exp, free, fresh, log, ne
from proofs_check.rigour.arithmetic import small
from proofs_check.rigour.lemmas import Lemma, lemma
from proofs_check.rigour.tactics import Proof, Tactic, by


def _tangent_proof(name: str, strict: bool) -> Tactic:
    """1 + x <= e^x: its slope e^x - 1 has the sign of x. Strictly for x != 0, which is then the hypothesis."""
    x = Term("var", name)

    def face(low: bool, then: Tactic) -> Tactic:
        return by("face", name, low, strict, small, then, small)

    def half(low: bool) -> Tactic:
        return by("tighten", name, 0, by("forget", [], [0], face(low, face(low, by("signs", [], {})))))

    if strict:
        return by("alternatives", 0, by("forget", [], [0], half(False)), _last(name))
    return by("cases", x >= ZERO, small, half(True), half(False))


def _last(name: str) -> Tactic:
    """From 0 < x, the last hypothesis."""
    face: Tactic = by("face", name, True, True, small, by("face", name, True, True, small, small, small), small)
    return lambda s: by("tighten", name, len(s.given) - 1, by("forget", [], list(range(len(s.given))), face))(s)


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
            return by("forget", names, out, _tangent_proof(new.name, apart is not None))(q)

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


def log_tangent(s: Term, t: Term, apart: Tactic | None = None, sign: int = 1) -> Lemma:
    """log s <= log t + s/t - 1; with sign -1 it is 1/t that t stands for."""
    ratio = s / t if sign == 1 else s * t
    u = canonical(ratio - 1)
    relation = "<" if apart else "<="
    of_t = log(t) if sign == 1 else -log(t)
    formula = Term("rel", relation, log(s), of_t + ratio - 1)
    image = Term("rel", relation, log(s) - of_t, u)
    why = by("scale", ONE, image, [], small, small, by("exponentiate", one_below(u, apart)))
    return Lemma(formula, why, _polynomial(formula))


def log_floor(s: Term, t: Term) -> Lemma:
    """1 - 1/(s t) - log t <= log s."""
    u = canonical(1 / (s * t) - 1)
    formula = 1 - 1 / (s * t) - log(t) <= log(s)
    image = -log(s) - log(t) <= u
    why = by("scale", ONE, image, [], small, small, by("exponentiate", one_below(u)))
    return Lemma(formula, why, _polynomial(formula))


def _polynomial(formula: Term) -> Rational:
    return plus(normal(formula.parts[2]), times(constant(-1), normal(formula.parts[1])))
