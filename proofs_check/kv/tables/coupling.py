"""Table 5, footnote 15 and Appendix F: the learned mixing coefficients of the 2.9B model, as counts."""

from fractions import Fraction

from proofs_check.evidence.counting import SIGNIFICANT, TwoByTwo, sign_test
from proofs_check.evidence.margin import Margin, at_most, different, less, same, worst
from proofs_check.kv.tables.cells import DIAGONAL_AT_20B, TABLE_5, TABLE_5_TOTAL
from proofs_check.kv.tables.configuration_data import TABLE_16
from proofs_check.ledger.claim import ENUMERATED, Control, Nature, Severity, Verdict, everywhere
from proofs_check.ledger.exact_claim import BOTH, exact_claim
from proofs_check.ledger.mathematical import mathematical

APPENDIX = "KV shifting (final), Appendix F (first version: Section 4.6)"
EXAMPLE = {"a1": Fraction("0.08"), "a2": Fraction("0.43"), "b1": Fraction("0.34"), "b2": Fraction("-0.15")}
# Coefficients of a pair (self, previous) whose first is the larger, and whose second is: columns and rows of Table 5.
Cells = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]
IN_CELL: Cells = ((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))
# The same order with a previous token that outweighs: 1/3 > -2/3.
OUTWEIGHED: Cells = ((Fraction(1, 3), Fraction(-2, 3)), IN_CELL[1])
BY_SIZE = {
    "verdict": Verdict.HOLDS_IF,
    "hypotheses": ("the larger coefficient is the larger in size, as it is where neither is negative",),
    "reading": "The comparisons of Table 5 are of sizes: the larger coefficient is the one that weighs more.",
    "severity": Severity.READING,
    "note": "Missing: signs. With (1/3, -2/3), which counts as alpha1 > alpha2, the previous token outweighs the "
    "current one; and a sign can be moved to the projection (kv.tab5.gauge).",
    "coverage": everywhere("With the order by size given, which token weighs more is the order itself."),
}


def _total_is(counts: TwoByTwo, total: int) -> Margin:
    return same(total, sum(map(sum, counts)))


def _pairs_of_the_model(total: int, size: str) -> Margin:
    return same(total, TABLE_16[size]["layers"] * TABLE_16[size]["kv_heads"])


def _majority(diagonal: int, total: int) -> Margin:
    return less(total - diagonal, diagonal)


def _chance_of_corners(successes: int, trials: int, printed: Fraction) -> Margin:
    """The p of a fair coin is not below the customary level, and rounds to the printed one."""
    chance = sign_test(successes, trials)
    return worst([at_most(SIGNIFICANT, chance), at_most(abs(chance - printed), Fraction(1, 2000))])


def _unequal(lower_left: int, upper_right: int) -> Margin:
    return different(lower_left, upper_right)


def _smaller(lower_left: int, upper_right: int) -> Margin:
    return less(lower_left, upper_right)


def _dominant_offset(coefficients: tuple[Fraction, Fraction]) -> int:
    """Offset from s of the token with the largest share (by size) in c1 x_s + c2 x_{s-1}, for one-hot x and s = 2."""
    own, previous = coefficients
    shares = [abs(own * (token == 2) + previous * (token == 1)) for token in range(4)]
    return shares.index(max(shares)) - 2


def _corner_reads(row: int, column: int, key: int, value: int, cells: Cells = IN_CELL) -> Margin:
    """The mixed key and the mixed value of this cell of Table 5 are mostly those at these offsets."""
    return same((key, value), (_dominant_offset(cells[column]), _dominant_offset(cells[row])))


def _same_token(row: int, column: int) -> Margin:
    return same(_dominant_offset(IN_CELL[column]), _dominant_offset(IN_CELL[row]))


def _one_outweighed(row: int, column: int) -> Margin:
    """Alpha with a previous token that outweighs, beta without."""
    return same(_dominant_offset(OUTWEIGHED[column]), _dominant_offset(IN_CELL[row]))


def _grew(before: int, after: int) -> Margin:
    return less(before, after)


def _dominated_by_previous(current: str, previous: str) -> Margin:
    return less(abs(EXAMPLE[current]), abs(EXAMPLE[previous]))


def _subtracts(kept: str, taken: str) -> Margin:
    return worst([less(0, EXAMPLE[kept]), less(EXAMPLE[taken], 0)])


def _sum_differs_from_one(first: str, second: str, gap: Fraction) -> Margin:
    return less(gap, abs(EXAMPLE[first] + EXAMPLE[second] - 1))


def _example_lies_in(corner: tuple[int, int]) -> Margin:
    return same(corner, (int(EXAMPLE["b1"] <= EXAMPLE["b2"]), int(EXAMPLE["a1"] <= EXAMPLE["a2"])))


DIAGONAL = TABLE_5[0][0] + TABLE_5[1][1]
OFF = (TABLE_5[0][1], TABLE_5[1][0])

CLAIMS = (
    exact_claim(
        "kv.tab5.total",
        f"{APPENDIX}, Table 5, caption",
        "The counts of Table 5 add up to 128.",
        _total_is,
        ({"counts": TABLE_5, "total": TABLE_5_TOTAL},),
        (Control("one count lower", points=({"counts": ((50, 17), (9, 51)), "total": TABLE_5_TOTAL},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.tab5.pairs",
        f"{APPENDIX}, Table 5 with Table 16",
        "The 128 KV pairs are the 4 key-value heads of the 32 layers of the 2.9B model.",
        _pairs_of_the_model,
        ({"total": TABLE_5_TOTAL, "size": "2.9B"},),
        (Control("the 19B model", points=({"total": TABLE_5_TOTAL, "size": "19B"},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.tab5.diagonal",
        f"{APPENDIX}, Table 5",
        "The diagonal dominates: pairs with alpha and beta in the same order are the majority (102 of 128).",
        _majority,
        ({"diagonal": DIAGONAL, "total": TABLE_5_TOTAL},),
        (Control("the other diagonal", points=({"diagonal": sum(OFF), "total": TABLE_5_TOTAL},)),),
        coverage=ENUMERATED,
    ),
    mathematical(
        "kv.tab5.coupled",
        f"{APPENDIX}, Table 5",
        "Independent at the start, alpha and beta became coupled: Fisher's exact p of Table 5 is below 1e-11.",
        nature=Nature.TABLE,
        reading="Coupled means that the counts are not those of independent orders.",
    ),
    exact_claim(
        "kv.tab5.at_20b.majority",
        f"{APPENDIX}, text below Table 5",
        "After 20B tokens the diagonal (47 and 43) already holds the majority of the 128 pairs.",
        _majority,
        ({"diagonal": sum(DIAGONAL_AT_20B), "total": TABLE_5_TOTAL},),
        (Control("one of its two cells", points=({"diagonal": DIAGONAL_AT_20B[0], "total": TABLE_5_TOTAL},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.tab5.progress",
        f"{APPENDIX}, first paragraph",
        "The coupling grew as training progressed: more pairs on the diagonal at 500B than at 20B tokens.",
        _grew,
        ({"before": sum(DIAGONAL_AT_20B), "after": DIAGONAL},),
        (Control("in the other order", points=({"before": DIAGONAL, "after": sum(DIAGONAL_AT_20B)},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.tab5.same_token",
        f"{APPENDIX}, text below Table 5",
        "A pair on the diagonal mostly uses the key and the value of the same token.",
        _same_token,
        ({"row": 0, "column": 0}, {"row": 1, "column": 1}),
        (
            Control("off the diagonal", points=({"row": 0, "column": 1},)),
            Control("a negative coefficient that outweighs", _one_outweighed),
        ),
        **BY_SIZE,
    ),
    exact_claim(
        "kv.tab5.upper_right",
        f"{APPENDIX}, text below Table 5",
        "Heads in the upper right read the key of token i - 1 and the value of token i.",
        _corner_reads,
        ({"row": 0, "column": 1, "key": -1, "value": 0},),
        (
            Control("the lower left", points=({"row": 1, "column": 0, "key": -1, "value": 0},)),
            Control("a negative coefficient that outweighs", lambda **p: _corner_reads(**p, cells=OUTWEIGHED)),
        ),
        **BY_SIZE,
    ),
    exact_claim(
        "kv.tab5.lower_left",
        f"{APPENDIX}, text below Table 5",
        "Heads in the lower left read the key of token i and the value of token i - 1.",
        _corner_reads,
        ({"row": 1, "column": 0, "key": 0, "value": -1},),
        (
            Control("the upper right", points=({"row": 0, "column": 1, "key": 0, "value": -1},)),
            Control("a negative coefficient that outweighs", lambda **p: _corner_reads(**p, cells=OUTWEIGHED)),
        ),
        **BY_SIZE,
    ),
    exact_claim(
        "kv.tab5.lower_left.smaller",
        f"{APPENDIX}, text below Table 5",
        "The lower left corner is the smaller one of the two off the diagonal (9 against 17).",
        _smaller,
        ({"lower_left": OFF[1], "upper_right": OFF[0]},),
        (Control("corners swapped", points=({"lower_left": OFF[0], "upper_right": OFF[1]},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.tab5.asymmetry",
        f"{APPENDIX}, text below Table 5",
        "The corners off the diagonal are not symmetrical: 17 and 9.",
        _unequal,
        ({"lower_left": OFF[1], "upper_right": OFF[0]},),
        (Control("13 and 13", points=({"lower_left": 13, "upper_right": 13},)),),
        reading="A description of the two counts; that chance would not give them is not said.",
        note="A fair coin parts 26 as unevenly with probability .169 (kv.tab5.asymmetry.chance).",
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.tab5.asymmetry.chance",
        f"{APPENDIX}, text below Table 5, our addition",
        "The asymmetry of the corners, 17 and 9, is not significant: a fair coin gives one at least as large with "
        "probability .169.",
        _chance_of_corners,
        ({"successes": OFF[1], "trials": sum(OFF), "printed": Fraction("0.169")},),
        (
            Control("3 and 23", points=({"successes": 3, "trials": sum(OFF), "printed": Fraction("0.169")},)),
            Control(
                "0.084, one-sided",
                lambda successes, trials, printed: _chance_of_corners(successes, trials, printed / 2),
            ),
        ),
        is_correction=True,
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.fn15.key",
        f"{BOTH}, footnote on the 3rd KV pair of layer 17",
        "With alpha = (0.08, 0.43) the previous token's key dominates the current one's.",
        _dominated_by_previous,
        ({"current": "a1", "previous": "a2"},),
        (Control("the values, where the current one dominates", points=({"current": "b1", "previous": "b2"},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.fn15.value",
        f"{BOTH}, footnote on the 3rd KV pair of layer 17",
        "With beta = (0.34, -0.15) the previous token's value is subtracted from the current one's.",
        _subtracts,
        ({"kept": "b1", "taken": "b2"},),
        (Control("the keys, which are added", points=({"kept": "a1", "taken": "a2"},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.fn15.sums",
        f"{BOTH}, footnote on the 3rd KV pair of layer 17, with Appendix F.1",
        "The sums of the coefficients have left their initial value 1: here 0.51 and 0.19.",
        _sum_differs_from_one,
        [{"first": f, "second": s, "gap": Fraction(2, 5)} for f, s in (("a1", "a2"), ("b1", "b2"))],
        (Control("a gap of 0.6 for the keys", points=({"first": "a1", "second": "a2", "gap": Fraction(3, 5)},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.fn15.corner",
        f"{BOTH}, footnote on the 3rd KV pair of layer 17, with Table 5",
        "The pair of the footnote, alpha1 <= alpha2 and beta1 > beta2, is one of the 17 in the upper right.",
        _example_lies_in,
        ({"corner": (0, 1)},),
        (Control("the lower left", points=({"corner": (1, 0)},)), Control("diagonal", points=({"corner": (1, 1)},))),
        coverage=ENUMERATED,
    ),
)
