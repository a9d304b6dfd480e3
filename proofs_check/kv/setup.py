"""Appendix N of the KV-shifting paper (first version: Appendix G): the base of the rotary embedding, and the rest."""

from flint import arb, fmpq

from proofs_check.claim import Claim, Control, Evidence, Kind, Verdict, Witness
from proofs_check.kv.configuration_data import SIZES, TABLE_16
from proofs_check.kv.exact_claim import unsettled_claim
from proofs_check.kv.mathematical import mathematical
from proofs_check.margin import Margin, ball_at_least, worst

SOURCE = "KV shifting (both versions), Appendix N (first version: Appendix G)"
BOUND = "with the bound of the work it cites (Xu et al., 2024, arXiv:2405.14591)"
DEFAULT_BASE, BASE = 10_000, 100_000
# The smallest distance at which the sum is negative, for heads of dimension 128.
FIRST_NEGATIVE = {DEFAULT_BASE: 1707, BASE: 7757}


def head_dimension(size: str) -> int:
    """128 for each of the five models."""
    return TABLE_16[size]["hidden"] // TABLE_16[size]["heads"]


def _rates(base: int, dim: int) -> list[arb]:
    return [arb(base) ** arb(fmpq(-2 * i, dim)) for i in range(dim // 2)]


def _decay(distance: int, rates: list[arb]) -> arb:
    """sum_i cos(distance * base^(-2 i / dim)): by how much a similar key outscores a random one, on average."""
    return sum(((rate * distance).cos() for rate in rates), arb(0))


def _negative(base: int, size: str, distance: int) -> Margin:
    """The sum is below zero at a distance inside the model's window."""
    if distance >= TABLE_16[size]["context"]:
        return Margin(-1.0, distance, TABLE_16[size]["context"])
    total = _decay(distance, _rates(base, head_dimension(size)))
    return ball_at_least(-total, strict=True)._replace(printed="above 0", true=total)


def _positive(base: int, dim: int, window: int, stride: int = 1) -> Margin:
    rates = _rates(base, dim)
    return worst([ball_at_least(_decay(distance, rates)) for distance in range(0, window, stride)])


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.appN.default_base",
        f"{SOURCE}, {BOUND}",
        "The default base 10,000 is too small even for windows of 2048: sum_i cos(m base^(-2i/d)) is negative within.",
        Evidence(
            Kind.CERTIFIED,
            "balls at m = 1707, d = 128, the three models with 2048 tokens",
            _negative,
            [{"base": DEFAULT_BASE, "size": size, "distance": 1707} for size in ("1.5B", "6.7B", "13B")],
            (Control("base 100,000", points=({"base": BASE, "size": "1.5B", "distance": 1707},)),),
        ),
        formula=r"\sum_i\cos(m\,b^{-2i/d})<0",
    ),
    mathematical(
        "kv.appN.base",
        f"{SOURCE}, {BOUND}",
        "As longer contexts need a larger base, 100,000 is set uniformly (read: it meets the bound for every model).",
        Evidence(
            Kind.CERTIFIED,
            "a ball at m = 7757, d = 128, against the window 12,288 of the 19B model",
            _negative,
            ({"base": BASE, "size": "19B", "distance": FIRST_NEGATIVE[BASE]},),
            (
                Control("the other models", points=[{"base": BASE, "size": s, "distance": 7757} for s in SIZES[:4]]),
                Control("base 1,000,000", points=({"base": 10**6, "size": "19B", "distance": 7757},)),
            ),
        ),
        verdict=Verdict.FALSE,
        witness=Witness({"base": BASE, "size": "19B", "distance": FIRST_NEGATIVE[BASE]}),
        correction="kv.appN.base.corrected",
        note="By that bound it is large enough for 7757 tokens: for all but the 19B model with its 12,288.",
        formula=r"\sum_i\cos(m\,b^{-2i/d})>0,\quad0<m<N,\quad b=10^5",
    ),
    mathematical(
        "kv.appN.base.corrected",
        f"{SOURCE}, {BOUND}",
        "With base 100,000 and d = 128 the sum is positive for m < 7757, negative at 7757: windows of 4096 are safe.",
        Evidence(
            Kind.CERTIFIED,
            "balls at every m below 7757",
            _positive,
            ({"base": BASE, "dim": 128, "window": FIRST_NEGATIVE[BASE]},),
            (
                Control("one token more", points=({"base": BASE, "dim": 128, "window": 7758, "stride": 7757},)),
                Control("base 10,000", points=({"base": DEFAULT_BASE, "dim": 128, "window": 1708, "stride": 1707},)),
            ),
        ),
        is_correction=True,
        formula=r"\sum_i\cos(m\,b^{-2i/d})>0,\quad0<m<7757,\quad b=10^5,\ d=128",
    ),
    unsettled_claim(
        "kv.appN.toy",
        SOURCE,
        "The toy models ran on 8 A100-80G GPUs, 512 samples each, with a learning rate of 2e-4 and 1000 warm-up steps.",
        note="The runs are private. Section 3.2 gives neither batch nor learning rate to compare with.",
    ),
    unsettled_claim(
        "kv.appN.data",
        SOURCE,
        "The training data contain a large amount of Fineweb-edu and some other filtered data.",
        note="The data are private, as the paper says.",
    ),
)
