"""Scripts for the family of shifts: weights that treat all names alike; queries that do not read their own token."""

from __future__ import annotations

from collections.abc import Callable

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import ZERO, Term, exp
from proofs_check.kv.formal import family as formal
from proofs_check.kv.proofs.family import defined, fine, impossible, refuted
from proofs_check.kv.proofs.family_keys import linear_absurd
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


def _alternative(number: int, fact: Term) -> Tactic:
    """It is the fact, times what is positive."""
    return by("either", number, lambda s: times(s.goal.parts[1].parts[1])(linear((1, fact, SHARED)))(s))


def _power(bound: Term, *rows: tuple[object, ...]) -> Step:
    """An exponential is below 1, or above."""
    return have(bound, by("logarithm", linear(*rows)))


def _smear() -> Scripts:
    """By the signs of what b has, of nu, of c and of lambda."""
    up, down, above, below = ZERO < nu, nu <= ZERO, ZERO <= c, c < ZERO
    high, low, some = ZERO <= size, size < ZERO, ZERO < TARGET
    grows = {high: ((1, high), (1, high, c**2)), low: ((1, low), (1, low, c**2))}

    def less(*rows: tuple[object, ...]) -> Tactic:
        return have(LESS, linear(*rows))(_alternative(1, LESS))

    def no_more(side: Term, sign: Term, of_c: Term) -> Tactic:
        bound = ONE <= TWICE if side is high else TWICE <= ONE
        return steps(_power(bound, *grows[side]), have(NO_MORE, linear((1, sign, of_c, bound))),
                     _alternative(2, NO_MORE))  # fmt: skip

    few, many = ONCE <= ONE, ONE <= ONCE
    one = steps(_power(few, (1, above, low)), less((1, up), (1, up, few), (1, up, above, ONCE)))
    two = steps(_power(few, (1, below, high)), less((1, some, ONCE), (2, up, few), (1, up, few, ONCE)))
    three = steps(_power(many, (1, below, low)), less((1, some, ONCE), (2, down, many), (1, down, many, ONCE)))
    positive = by("cases", above, fine, by("cases", high, fine, no_more(high, up, above), one),
                  by("cases", high, fine, two, no_more(low, up, below)))  # fmt: skip
    none = impossible(TARGET, known, linear((1, down, ONCE), (1, down, above)))
    negative = by("cases", above, fine, none, by("cases", high, fine, no_more(high, down, below), three))
    whole = by("cases", up, fine, positive, negative)
    return defined(conclusion=by("cases", LEAST, fine, _alternative(0, LEAST), whole))


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
