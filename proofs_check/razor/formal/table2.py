"""Table 2 of the RazorAttention paper and the sizes in its text, as statements: how much shorter a cache gets."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, absolute, both, eq, implies, lift
from proofs_check.language.notation import each, iff, largest, least, sequence, statement, total, when, whole
from proofs_check.razor.formal.definitions import C, G, N, call, defined, k, kg, n

_SHORT = least(N, largest(4000, N / 5))
KEPT = defined("kept", "n", (15 * N + 85 * _SHORT) / (100 * N))  # theory.cache.size.kept_share
# Groups of 4 query heads, of which c[k] are retrieval heads: the group is kept whole if there is one.
KEPT_GROUPS = defined("kept_groups", "c g n", total(kg, 1, G, when(C[kg] > 0, N, _SHORT)) / (G * N))

SEVENTY, SHARE_OF_HEADS, MOST, LEAST = Fraction(7, 10), Fraction(15, 100), Fraction(25, 8), Fraction(25, 17)

# Of g groups of 4 heads c[k] heads are chosen in number k; 12 u heads of 80 u in 3 u groups, and in 12 u.
lengths, groups, unit = whole("n", 20_000), whole("g", 1), whole("u", 1)
chosen = replace(sequence("c", groups, 0, 4), whole=True)
packed, strewn = (each(k, when(k <= places * unit, chosen, 0)) for places, chosen in ((3, 4), (12, 1)))
hit = 1 - Fraction(17, 20) ** 4  # the chance of a group, where each head is chosen with 15 %


def reduction(length: Any) -> Term:
    return 1 - call("kept", length)


def kept_groups(chosen: Any, groups: Any, length: Any) -> Term:
    return call("kept_groups", chosen, groups, length)


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


def _gqa_corrected() -> Statement:
    """At least, or at most, 15 % of all heads chosen; fewest groups hit, most, and the mean number of them."""
    ratio, number = 1 / kept_groups(chosen, groups, lengths), total(k, 1, groups, chosen[k]) / (4 * groups)
    return statement(
        "razor.tab2.gqa.corrected", for_all=[groups, lengths, unit, chosen], using=[KEPT_GROUPS],
        says=both(implies(number >= SHARE_OF_HEADS, ratio <= MOST), implies(number <= SHARE_OF_HEADS, ratio >= LEAST),
                  eq(1 / kept_groups(packed, 20 * unit, lengths), MOST),
                  eq(1 / kept_groups(strewn, 20 * unit, lengths), LEAST),
                  absolute(1 / lift(hit + (1 - hit) / 5) - Fraction(172, 100)) <= Fraction(1, 200)),
    )  # fmt: skip


STATED = (_reduction(), _reduction_corrected(), _three(), _gqa_corrected())
