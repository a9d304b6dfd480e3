"""Table 2 of the RazorAttention paper and the sizes in its text, as statements: how much shorter a cache gets."""

from fractions import Fraction
from typing import Any

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, both, eq, implies, lift
from proofs_check.language.notation import iff, largest, least, statement, whole
from proofs_check.razor.formal.definitions import N, call, defined, n
from proofs_check.records import parted

_SHORT = least(N, largest(4000, N / 5))
KEPT = defined("kept", "n", (15 * N + 85 * _SHORT) / (100 * N))  # theory.cache.size.kept_share

SEVENTY = Fraction(7, 10)

lengths = whole("n", 20_000)


def reduction(length: Any) -> Term:
    return 1 - call("kept", length)


def _reduction() -> Statement:
    """Where it is largest, from N = 20000 on."""
    return statement("razor.abstract.reduction", for_all=[lengths], says=reduction(lengths) > SEVENTY, using=[KEPT])


def _reduction_corrected() -> Statement:
    """The formula holds from N = 4000 on; before that nothing is dropped."""
    formula = Fraction(17, 20) * (1 - largest(4000 / lift(n), Fraction(1, 5)))
    stated = {8000: Fraction(425, 1000), 10_000: Fraction(51, 100), 16_000: Fraction(6375, 10_000)}
    return statement(
        "razor.abstract.reduction.corrected", for_all=[n], using=[KEPT],
        says=both(implies(n >= 4000, eq(reduction(n), formula)), reduction(n) <= Fraction(17, 25),
                  iff(n >= 20_000, eq(reduction(n), Fraction(17, 25))),
                  *(eq(reduction(length), value) for length, value in stated.items())),
    )  # fmt: skip


def _three() -> Statement:
    """The added hypothesis, N >= 18546, is also necessary."""
    return statement("razor.sec1.three", for_all=[n], says=iff(n >= 18_546, 1 / call("kept", n) >= 3), using=[KEPT])


CLAIMS, FORMAL = parted((_reduction(), _reduction_corrected(), _three()))
