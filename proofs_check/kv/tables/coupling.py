"""Table 5, footnote 15 and Appendix F: the learned mixing coefficients of the 2.9B model, as counts."""

from collections.abc import Sequence
from fractions import Fraction

from proofs_check.evidence.margin import Margin, same
from proofs_check.kv.tables.models import models, of
from proofs_check.language import absolute, both, eq, fold, ne, total, var, when
from proofs_check.ledger.claim import Claim, Control, Point, Severity, Verdict, everywhere
from proofs_check.ledger.exact_claim import exact_claim
from proofs_check.records import Table, derived, one, rule

APPENDIX = "KV shifting (final), Appendix F (first version: Section 4.6)"
PLACE = "Appendix F, Table 5 (first version: Section 4.6, Table 4)"
COUNTS, SAID = Table("kv-shifting: Table 5").grid("counts"), Table("kv-shifting: beside Table 5")
PAIRS, AT_20B = SAID.said("pairs", 0), SAID.said("at_20b", 1, 2)
ALPHA, BETA = SAID.said("alpha", 3, 4), SAID.said("beta", 5, 6)
DIAGONAL, EARLY = COUNTS(1, 1) + COUNTS(2, 2), AT_20B(1) + AT_20B(2)
UPPER_RIGHT, LOWER_LEFT = COUNTS(1, 2), COUNTS(2, 1)
n, k, i, j = map(var, "nkij")
BINOMIAL = derived("binomial", (n, k), fold("prod", j, 1, k, (n - k + j) / j))
# Fisher: the probability of a table with these margins by its first count. A fair coin: that of so many heads.
FIRST = derived("first", (k,), BINOMIAL(COUNTS(1, 1) + COUNTS(1, 2), k) * BINOMIAL(
    COUNTS(2, 1) + COUNTS(2, 2), COUNTS(1, 1) + COUNTS(2, 1) - k) / BINOMIAL(PAIRS(), COUNTS(1, 1) + COUNTS(2, 1)))
COIN = derived("coin", (n, k), BINOMIAL(n, k) / total(i, 0, n, BINOMIAL(n, i)))
# Coefficients of a pair (self, previous) whose first is the larger, and whose second is: columns and rows of Table 5.
Cells = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]
IN_CELL: Cells = ((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))
# The same order with a previous token that outweighs: 1/3 > -2/3.
OUTWEIGHED: Cells = ((Fraction(1, 3), Fraction(-2, 3)), IN_CELL[1])


def _reads(row: int, column: int, key: int, value: int, cells: Cells = IN_CELL) -> Margin:
    """The mixed key and the mixed value of this cell of Table 5 are mostly those of tokens at these offsets."""
    found = (0 if abs(own) > abs(previous) else -1 for own, previous in (cells[column], cells[row]))
    return same((key, value), tuple(found))


def corner(id: str, statement: str, points: Sequence[Point], wrong: Point) -> Claim:
    """Which tokens a cell of Table 5 reads, where its comparisons are of sizes."""
    return exact_claim(
        id, f"{APPENDIX}, text below Table 5", statement, _reads, points,
        (Control("another cell", points=[wrong]),
         Control("a negative coefficient that outweighs", lambda **point: _reads(**point, cells=OUTWEIGHED))),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        hypotheses=("the larger coefficient is the larger in size, as it is where neither is negative",),
        reading="The comparisons of Table 5 are of sizes: the larger coefficient is the one that weighs more.",
        note="Missing: signs. With (1/3, -2/3), which counts as alpha1 > alpha2, the previous token outweighs the "
        "current one; and a sign can be moved to the projection (kv.tab5.gauge).",
        coverage=everywhere("With the order by size given, which token weighs more is the order itself."),
    )  # fmt: skip


def table5(*says):
    return one(both(*says) if says[1:] else says[0], COUNTS, PAIRS, AT_20B, ALPHA, BETA, BINOMIAL, FIRST, COIN)


def no_likelier(law, seen, most):
    """The probability of what is as improbable as what is seen, or more."""
    return total(k, 0, most, when(law(k) <= law(seen), law(k), 0))


CLAIMS = (
    rule("kv.tab5.total", "Table 5, caption (first version: Table 4)", table5(
        eq(DIAGONAL + UPPER_RIGHT + LOWER_LEFT, PAIRS()))),
    rule("kv.tab5.pairs", "Tables 5 and 16 (first version: Tables 4 and 6)", models(
        eq(of("layers", 2) * of("kv_heads", 2), PAIRS()), PAIRS, over=())),
    rule("kv.tab5.diagonal", PLACE, table5(2 * DIAGONAL > PAIRS())),
    rule("kv.tab5.coupled", PLACE, table5(
        no_likelier(FIRST, COUNTS(1, 1), COUNTS(1, 1) + COUNTS(2, 1)) < Fraction(1, 10**11)),
         why="Coupled: the counts are not those of independent orders, by the exact test of Fisher."),
    rule("kv.tab5.at_20b.majority", PLACE, table5(2 * EARLY > PAIRS())),
    rule("kv.tab5.progress", PLACE, table5(EARLY < DIAGONAL)),
    corner("kv.tab5.same_token", "A pair on the diagonal mostly uses the key and the value of the same token.",
           [{"row": 0, "column": 0, "key": 0, "value": 0}, {"row": 1, "column": 1, "key": -1, "value": -1}],
           {"row": 0, "column": 1, "key": 0, "value": 0}),
    corner("kv.tab5.upper_right", "Heads in the upper right read the key of token i - 1 and the value of token i.",
           [{"row": 0, "column": 1, "key": -1, "value": 0}], {"row": 1, "column": 0, "key": -1, "value": 0}),
    corner("kv.tab5.lower_left", "Heads in the lower left read the key of token i and the value of token i - 1.",
           [{"row": 1, "column": 0, "key": 0, "value": -1}], {"row": 0, "column": 1, "key": 0, "value": -1}),
    rule("kv.tab5.lower_left.smaller", PLACE, table5(LOWER_LEFT < UPPER_RIGHT)),
    rule("kv.tab5.asymmetry", PLACE, table5(ne(LOWER_LEFT, UPPER_RIGHT)),
         why="A description of the two counts; that chance would not give them is not said."),
    rule("kv.tab5.asymmetry.chance", f"added to {PLACE}", table5(
        absolute(no_likelier(lambda c: COIN(UPPER_RIGHT + LOWER_LEFT, c), LOWER_LEFT, UPPER_RIGHT + LOWER_LEFT)
                 - Fraction(169, 1000)) <= Fraction(1, 2000)), why="A fair coin parts them as unevenly that often."),
    rule("kv.fn15.key", "footnote 15 (first version: footnote 13)", table5(absolute(ALPHA(1)) < absolute(ALPHA(2)))),
    rule("kv.fn15.value", "footnote 15 (first version: footnote 13)", table5(0 < BETA(1), BETA(2) < 0)),
    rule("kv.fn15.sums", "footnote 15, Appendix F.1 (first version: footnote 13, Section 4.6)", table5(*(
        absolute(c(1) + c(2) - 1) > Fraction(2, 5) for c in (ALPHA, BETA)))),
    rule("kv.fn15.corner", "added to footnote 15, Table 5 (first version: footnote 13, Table 4)", table5(
        ALPHA(1) <= ALPHA(2), BETA(2) < BETA(1)),
         why="These are the orders of the upper right."),
)
