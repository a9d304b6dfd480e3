"""Appendix N of the KV-shifting paper (first version: Appendix G): the base of the rotary embedding, and the rest."""

from flint import arb, fmpq

from proofs_check.evidence.margin import Margin, ball_at_least, ball_below, worst
from proofs_check.kv.tables.models import TABLE, models, of
from proofs_check.language import both, cos, eq, exp, log, total, var
from proofs_check.ledger.claim import ENUMERATED, Claim, Control
from proofs_check.ledger.mathematical import exact, mathematical
from proofs_check.records import Rule, derived, rule

SOURCE = "KV shifting (both versions), Appendix N (first version: Appendix G)"
BOUND = "with the bound of the work it cites (Xu et al., 2024, arXiv:2405.14591)"
DEFAULT_BASE, BASE = 10_000, 100_000
# The smallest distance at which the sum is negative, for heads of dimension 128.
FIRST_NEGATIVE = {DEFAULT_BASE: 1707, BASE: 7757}


def rates(base: int) -> list[arb]:
    return [arb(base) ** arb(fmpq(-i, 64)) for i in range(64)]


def decay(distance: int, rates: list[arb]) -> arb:
    """sum_i cos(distance * base^(-2 i / 128)): by how much a similar key outscores a random one, on average."""
    return sum(((rate * distance).cos() for rate in rates), arb(0))


def _negative(base: int, distance: int) -> Margin:
    return ball_below(decay(distance, rates(base)), 0)


def _positive(base: int, window: int, stride: int = 1) -> Margin:
    speeds = rates(base)
    return worst([ball_at_least(decay(distance, speeds), strict=True) for distance in range(0, window, stride)])


AT = "Appendix N (first version: Appendix G)"
PRINTED = TABLE.row("base", "ROPE’S BASE")
# By how much a similar key outscores a random one in a head of dimension 128, on average: positive is the bound.
DECAY = derived("decay", (var("b"), var("m")), total(
    var("i"), 0, 63, cos(var("m") * exp(-var("i") / 64 * log(var("b"))))))
WIDE = eq(of("hidden") / of("heads"), 128)
CITED = "The bound is that of the work that the appendix cites, Xu et al. (2024), arXiv:2405.14591."

CLAIMS: tuple[Claim | Rule, ...] = (
    rule("kv.appN.default_base", AT, models(
        both(WIDE, 1707 < of("context"), DECAY(10_000, 1707) < 0), DECAY), why=CITED),
    rule("kv.appN.base", AT, models(both(WIDE, PRINTED() > 10_000, DECAY(PRINTED(), 1707) > 0), DECAY, PRINTED),
         why=f"{CITED} Large is meant against the default, not as enough for every window."),
    rule("kv.appN.base.shortfall", "added to Appendix N (first version: Appendix G)", models(
        both(7757 < of("context", 5), DECAY(PRINTED(), 7757) < 0), DECAY, PRINTED, over=()), why=CITED),
    mathematical(
        "kv.appN.base.corrected",
        f"{SOURCE}, {BOUND}, our addition",
        "With base 100,000 and d = 128 the sum is positive for m < 7757, negative at 7757: windows of 4096 are safe.",
        exact(
            "balls at every m below 7757",
            _positive,
            ({"base": BASE, "window": FIRST_NEGATIVE[BASE]},),
            Control("one token more", points=({"base": BASE, "window": 7758, "stride": 7757},)),
            Control("base 10,000", points=({"base": DEFAULT_BASE, "window": 1708, "stride": 1707},)),
        ),
        exact(
            "a ball at 7757",
            _negative,
            ({"base": BASE, "distance": FIRST_NEGATIVE[BASE]},),
            Control("a token before", points=({"base": BASE, "distance": 7756},)),
        ),
        is_correction=True,
        formula=r"\sum_i\cos(m\,b^{-2i/d})>0,\quad0<m<7757,\quad b=10^5,\ d=128",
        coverage=ENUMERATED,
    ),
)
