"""Appendix N of the KV-shifting paper (first version: Appendix G): the base of the rotary embedding, and the rest."""

from flint import arb, fmpq

from proofs_check.evidence.margin import Margin, ball_at_least, ball_below, less, worst
from proofs_check.kv.tables.models import by_name
from proofs_check.ledger.claim import ENUMERATED, INSTANCES, Claim, Control, everywhere
from proofs_check.ledger.mathematical import exact, mathematical

SOURCE = "KV shifting (both versions), Appendix N (first version: Appendix G)"
BOUND = "with the bound of the work it cites (Xu et al., 2024, arXiv:2405.14591)"
DEFAULT_BASE, BASE = 10_000, 100_000
# The smallest distance at which the sum is negative, for heads of dimension 128.
FIRST_NEGATIVE = {DEFAULT_BASE: 1707, BASE: 7757}

HIDDEN, HEADS, CONTEXT = map(by_name, ("HIDDEN SIZE", "HEAD NUMBER", "CONTEXT LENGTH"))


def head_dimension(size: str) -> int:
    """128 for each of the five models."""
    return HIDDEN[size] // HEADS[size]


def rates(base: int, dim: int) -> list[arb]:
    return [arb(base) ** arb(fmpq(-2 * i, dim)) for i in range(dim // 2)]


def decay(distance: int, rates: list[arb]) -> arb:
    """sum_i cos(distance * base^(-2 i / dim)): by how much a similar key outscores a random one, on average."""
    return sum(((rate * distance).cos() for rate in rates), arb(0))


def _negative(base: int, size: str, distance: int) -> Margin:
    """The sum is below zero at a distance inside the model's window."""
    if distance >= CONTEXT[size]:
        return Margin(-1.0, distance, CONTEXT[size])
    total = decay(distance, rates(base, head_dimension(size)))
    return ball_below(total, 0)


def _positive(base: int, dim: int, window: int, stride: int = 1) -> Margin:
    speeds = rates(base, dim)
    return worst([ball_at_least(decay(distance, speeds), strict=True) for distance in range(0, window, stride)])


def _still_positive(base: int, dim: int, distance: int) -> Margin:
    return ball_at_least(decay(distance, rates(base, dim)), strict=True)


def _larger(base: int) -> Margin:
    return less(DEFAULT_BASE, base)


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.appN.default_base",
        f"{SOURCE}, {BOUND}",
        "The default base 10,000 is too small even for windows of 2048: sum_i cos(m base^(-2i/d)) is negative within.",
        exact(
            "balls at m = 1707, d = 128, the three models with 2048 tokens",
            _negative,
            [{"base": DEFAULT_BASE, "size": size, "distance": 1707} for size in ("1.5B", "6.7B", "13B")],
            Control("base 100,000", points=({"base": BASE, "size": "1.5B", "distance": 1707},)),
        ),
        formula=r"\sum_i\cos(m\,b^{-2i/d})<0",
        coverage=everywhere("One negative sum within the window is enough, and all models of that window are taken."),
    ),
    mathematical(
        "kv.appN.base",
        f"{SOURCE}, {BOUND}",
        "As longer contexts need a larger base, a relatively large one, 100,000, is set for all models.",
        exact(
            "it exceeds the default",
            _larger,
            ({"base": BASE},),
            Control("the default itself", points=({"base": DEFAULT_BASE},)),
        ),
        exact(
            "and with it the sum is still positive at m = 1707, where the default's is not; a ball, d = 128",
            _still_positive,
            ({"base": BASE, "dim": 128, "distance": FIRST_NEGATIVE[DEFAULT_BASE]},),
            Control("base 10,000", points=({"base": DEFAULT_BASE, "dim": 128, "distance": 1707},)),
        ),
        reading="Large is meant against the default, not as enough for every window.",
        note="It is enough for 7757 tokens (kv.appN.base.corrected), and so not for the 19B model's 12,288 "
        "(kv.appN.base.shortfall).",
        formula=r"b=10^5>10^4,\quad\sum_i\cos(1707\,b^{-2i/d})>0",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.appN.base.shortfall",
        f"{SOURCE}, {BOUND}, our addition",
        "The base 100,000 does not meet the bound for the 19B model: the sum is negative at m = 7757, and its window "
        "is 12,288.",
        exact(
            "a ball at m = 7757, d = 128, against the window 12,288 of the 19B model",
            _negative,
            ({"base": BASE, "size": "19B", "distance": FIRST_NEGATIVE[BASE]},),
            Control("the other models", points=[{"base": BASE, "size": s, "distance": 7757} for s in [*CONTEXT][:4]]),
            Control("base 1,000,000", points=({"base": 10**6, "size": "19B", "distance": 7757},)),
        ),
        is_correction=True,
        formula=r"\sum_i\cos(7757\,b^{-2i/d})<0,\quad b=10^5",
        coverage=everywhere("One negative sum within the window is enough."),
    ),
    mathematical(
        "kv.appN.base.corrected",
        f"{SOURCE}, {BOUND}, our addition",
        "With base 100,000 and d = 128 the sum is positive for m < 7757, negative at 7757: windows of 4096 are safe.",
        exact(
            "balls at every m below 7757",
            _positive,
            ({"base": BASE, "dim": 128, "window": FIRST_NEGATIVE[BASE]},),
            Control("one token more", points=({"base": BASE, "dim": 128, "window": 7758, "stride": 7757},)),
            Control("base 10,000", points=({"base": DEFAULT_BASE, "dim": 128, "window": 1708, "stride": 1707},)),
        ),
        exact(
            "a ball at 7757",
            _negative,
            ({"base": BASE, "size": "19B", "distance": FIRST_NEGATIVE[BASE]},),
            Control("a token before", points=({"base": BASE, "size": "19B", "distance": 7756},)),
        ),
        is_correction=True,
        formula=r"\sum_i\cos(m\,b^{-2i/d})>0,\quad0<m<7757,\quad b=10^5,\ d=128",
        coverage=ENUMERATED,
    ),
)
