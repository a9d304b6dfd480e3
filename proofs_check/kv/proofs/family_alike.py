"""Scripts for the family of shifts: weights that treat all names alike; queries that do not read their own token."""

from __future__ import annotations

from collections.abc import Callable

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import ZERO, Term, exp
from proofs_check.kv.formal import family as formal
from proofs_check.kv.proofs.family import defined, fine, impossible, refuted
from proofs_check.kv.proofs.family_keys import linear_absurd
from proofs_check.rigour.combined import combined
from proofs_check.rigour.steps import Scripts, Step, have, identity, known, linear, steps, times
from proofs_check.rigour.tactics import Proof, Tactic, by

c, nu, size = formal.c, formal.nu, formal.lam

# -- weights that treat all names alike --------------------------------------------------------------------------------

# Weights of b after q, and of z; of q after z: over those of a token that is neither, after one that is neither.
ONCE, TWICE = exp(c * size), exp((1 + c**2) * size)
SHARED = exp(formal.mu * (1 + c) ** 2)
TARGET = nu * (ONCE + c)  # b's entry on both sentences, but for the denominator and for what all entries share
ONE = exp(ZERO)
LEAST, LESS, NO_MORE = TARGET <= ZERO, ZERO <= nu * (2 + c + c * ONCE) - TARGET, ZERO <= nu * c * (TWICE - 1)


def _alternative(number: int) -> Tactic:
    """It is a fact, times what is positive."""
    return by("either", number, lambda s: times(s.goal.parts[1].parts[1])(combined)(s))


def _power(bound: Term) -> Step:
    """An exponential is below 1, or above."""
    return have(bound, by("logarithm", combined))


def _smear() -> Scripts:
    """By the signs of what b has, of nu, of c and of lambda."""
    up, above, high = ZERO < nu, ZERO <= c, ZERO <= size
    less, no_more = (have(fact, combined)(_alternative(k)) for k, fact in ((1, LESS), (2, NO_MORE)))
    grown, shrunk = _power(ONE <= TWICE)(no_more), _power(TWICE <= ONE)(no_more)
    few, many = _power(ONCE <= ONE)(less), _power(ONE <= ONCE)(less)
    positive = by("cases", above, fine, by("cases", high, fine, grown, few), by("cases", high, fine, few, shrunk))
    none = impossible(TARGET, known, combined)
    negative = by("cases", above, fine, none, by("cases", high, fine, grown, many))
    whole = by("cases", LEAST, fine, _alternative(0), by("cases", up, fine, positive, negative))
    return defined(conclusion=have(ZERO <= c**2)(whole))


# -- queries that do not read their own token --------------------------------------------------------------------------


def _contradicted(s: Sequent) -> Proof:
    """Without denominators the four leads add up to 0: the last token has one weight and value, whatever is asked."""
    sides = [(fact.parts[2].parts[0] - fact.parts[1].parts[0], fact.parts[1].parts[1]) for fact in s.given]
    leads = [ZERO < top for top, _ in sides]
    facts = [have(ZERO < top, times(1 / mass)(linear((1, k)))) for k, (top, mass) in enumerate(sides)]
    return steps(*facts, by("absurd", linear_absurd(*leads)))(s)


SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "kv.beyond.family.alike.smear": _smear,
    "kv.beyond.family.alike.query_key": lambda: {"conclusion": identity},
    "kv.beyond.family.unasked": lambda: defined(conclusion=refuted(_contradicted)),
}
