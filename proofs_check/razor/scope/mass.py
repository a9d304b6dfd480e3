"""From one token to all that are dropped (Section 3.1): the mass outside a window."""

from fractions import Fraction

import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_at_least, ball_at_most, ball_within, identity, worst
from proofs_check.ledger.claim import Claim, Control, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from proofs_check.oracles.alibi import BallHead, ball_weights, printed_scope

SECTION = "RazorAttention, Section 3.1"
RANGE = "The numerator of Eq. 2, without -ln eps, must be at least the range D of the head's logits"
SMALL = Fraction(1, 1000)
slope, wide, eps = sp.symbols("l D eps", positive=True)

# name: (head, spectral norm of the product, the worst key of the query's state, its best): 2 ||M|| (...) >= D but once
HEADS: dict[str, tuple] = {
    "c = 1/2, l = 1/16": (
        BallHead("rms", (1,), (0,), ((Fraction(-1, 2),),), ((1,),), Fraction(1, 16)), Fraction(1, 2), (1,), (-1,)
    ),
    "c = 3, l = 1/4": (BallHead("rms", (1,), (0,), ((-3,),), ((1,),), Fraction(1, 4)), 3, (1,), (-1,)),
    "LayerNorm, unit gains": (
        BallHead("layer", (1, 1, 1), (0, 0, 0), ((2, -2, 0),), ((-1, 1, 0),), Fraction(1, 2)), 4, (1, -1, 0), (-1, 1, 0)
    ),
    "Theorem 1 fails": (BallHead("rms", (1, 0), (0, 0), ((5, 0),), ((-1, 0),), Fraction(1, 2)), 5, (1, 0), (-1, 0)),
}  # fmt: skip
*INSIDE, FAILING = ({"name": name} for name in HEADS)


def beyond_printed(name: str) -> Margin:
    """200 best keys beyond the printed scope at eps = 1/1000, all nearer ones the worst: together those weigh at
    most eps."""
    head, norm, nearer, best = HEADS[name]
    scope = printed_scope(head, norm, SMALL)
    kept = int(float(scope.upper())) + 1
    weights = ball_weights(head, [*[best] * 200, *[nearer] * kept])
    bounded = ball_at_most(sum(weights[:200], arb(0)), SMALL)
    return worst([ball_at_least(kept - scope, strict=True), bounded], sides=bounded)


def near_and_far(shift: int = 0) -> Margin:
    """With q = e^{-l} the terms q^j of the nearest W tokens add up to (1 - q^W)/(1 - q), which is 0 at W = 0 and grows
    by q^W; those of the g tokens beyond are the rest of W + g: e^{-D} times the quotient of the two, every W and g."""
    kept, gone = sp.symbols("W g", positive=True, integer=True)

    def near(count: sp.Expr) -> sp.Expr:
        return (1 - sp.exp(-slope * count)) / (1 - sp.exp(-slope))

    closed = sp.exp(-wide) * (sp.exp(slope * (kept + shift)) - 1) / (1 - sp.exp(-slope * gone))
    return worst(
        [
            identity(near(sp.Integer(0)), 0),
            identity(near(kept + 1) - near(kept), sp.exp(-slope * kept)),
            identity(sp.exp(-wide) * near(kept) / (near(kept + gone) - near(kept)), closed),
        ]
    )


def with_room(printed: bool = False) -> Margin:
    """At lW = D + t - ln eps, t >= 0, the mass bound falls short of eps by eps (e^t - 1 + eps a)/(e^t + eps a), a = 1 -
    e^-D; `printed` has -t, a numerator below the range."""
    room = sp.Symbol("t", nonnegative=True)
    more = sp.exp(-room if printed else room)
    mass = 1 / (1 + sp.exp(-wide) * (sp.exp(wide) * more / eps - 1))
    bend = eps * (1 - sp.exp(-wide))
    gap = eps * (sp.exp(room) - 1 + bend) / (sp.exp(room) + bend)
    return identity(eps - mass, gap)


def proportional(factor: int, power: int = 1) -> Margin:
    """Eq. 2 at slope l and at factor times it, everything else alike: factor^power times the second is the first."""
    head = BallHead("rms", (1, 1), (0, 0), ((1, 0), (0, 1)), ((2, 0), (0, 1)), Fraction(1, 256))
    first, second = (printed_scope(head._replace(slope=head.slope * f), 2, Fraction(1, 1000)) for f in (1, factor))
    return ball_within(abs(first - factor**power * second), Fraction(1, 10**11))


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.sec3.1.adjusts",
        "RazorAttention, Section 3.1",
        "So ALiBi models adjust the cache size per head: a head keeps its recent L_h tokens.",
        exact(
            "one head at slope 1/256 and at 2 to 128 times it, everything else alike, in balls",
            proportional,
            tuple({"factor": 2**n} for n in range(1, 8)),
            Control("its square", lambda factor: proportional(factor, power=2)),
        ),
        reading="The rule by which the cache is to be cut: L_h is inversely proportional to the slope. What it keeps "
        "of a given context is another matter.",
        coverage=everywhere("The slope is Eq. 2's denominator and stands nowhere else in it."),
        formula=r"l_hL_h=2\|W_QW_K\|_2(\|\gamma\|^2+\|b\|^2)-\log\epsilon",
        note="In every model measured here L_h exceeds the context, and nothing is dropped: "
        "razor.trained.printed_scope.",
    ),
    mathematical(
        "razor.sec3.1.larger_scope",
        "RazorAttention, Section 3.1",
        "Retrieval heads are those with a larger L_h.",
        symbolic(
            "the mass beyond (D + t - ln eps)/l for every eps, D and t >= 0",
            with_room,
            ONCE,
            Control("a numerator below the range", lambda: with_room(printed=True)),
        ),
        defect="razor.sec3.1.discard",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        reading="As a necessity: what lies beyond L_h gets less than eps from a head, so that to retrieve from afar "
        "takes a large L_h. As a name for such heads it cannot be wrong.",
        coverage=everywhere("As razor.sec3.1.discard: every slope, range, eps and numerator at least D."),
        formula=r"m-n>L_h\Rightarrow a_{m\to n}<\epsilon",
        note=RANGE + ". The converse fails: the largest L_h do not name the heads that retrieve, "
        "razor.reading.scope_rank.",
    ),
)
