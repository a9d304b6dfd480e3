"""From one token to all that are dropped (Section 3.1): the mass outside a window."""

from fractions import Fraction

import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_at_least, ball_at_most, identity, worst
from proofs_check.ledger.claim import Claim, Severity, Verdict
from proofs_check.ledger.mathematical import mathematical
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


def beyond_printed(name: str, gone: int = 200) -> Margin:
    """`gone` best keys beyond the printed scope at eps = 1/1000, all nearer ones the worst: together those weigh at
    most eps."""
    head, norm, nearer, best = HEADS[name]
    scope = printed_scope(head, norm, SMALL)
    kept = int(float(scope.upper())) + 1
    weights = ball_weights(head, [*[best] * gone, *[nearer] * kept])
    bounded = ball_at_most(sum(weights[:gone], arb(0)), SMALL)
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


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.sec3.1.discard",
        SECTION,
        "All tokens further than L_h can be safely discarded (eps = 0.1 %).",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        reading="What is discarded lies at distances beyond L_h, and safely means that together it weighs less than "
        "eps.",
        formula=r"\sum_{m-n>L_h}a_{m\to n}<\epsilon",
        note=RANGE + ", as it is with W_Q^T W_K, gains of one size and no bias; where it is not, Theorem 1 fails and "
        "with it this. The reason given, a bound for each token, is not enough: razor.sec3.1.discard.sum.",
    ),
)
