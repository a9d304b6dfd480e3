"""Margins on the mass outside a window: inside the printed scope, beyond it, and for every slope and range."""

from fractions import Fraction

import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_at_least, ball_at_most, identity, worst
from proofs_check.oracles.alibi import BallHead, ball_weights, printed_scope

SMALL = Fraction(1, 1000)
slope, wide, eps = sp.symbols("l D eps", positive=True)


def _one_dimension(product: Fraction, steep: Fraction) -> BallHead:
    return BallHead("rms", (1,), (0,), ((-product,),), ((1,),), steep)


def _printed_window(head: BallHead, norm: Fraction | int) -> tuple[int, arb]:
    """The least whole distance beyond the printed scope at eps = 1/1000, and that scope as a ball."""
    scope = printed_scope(head, norm, SMALL)
    return int(float(scope.upper())) + 1, scope


# name: (head, spectral norm of the product, the worst key of the query's state, its best): 2 ||M|| (...) >= D but once
HEADS: dict[str, tuple] = {
    "c = 1/2, l = 1/16": (_one_dimension(Fraction(1, 2), Fraction(1, 16)), Fraction(1, 2), (1,), (-1,)),
    "c = 3, l = 1/4": (_one_dimension(Fraction(3), Fraction(1, 4)), 3, (1,), (-1,)),
    "LayerNorm, unit gains": (
        BallHead("layer", (1, 1, 1), (0, 0, 0), ((2, -2, 0),), ((-1, 1, 0),), Fraction(1, 2)), 4, (1, -1, 0), (-1, 1, 0)
    ),
    "Theorem 1 fails": (BallHead("rms", (1, 0), (0, 0), ((5, 0),), ((-1, 0),), Fraction(1, 2)), 5, (1, 0), (-1, 0)),
}  # fmt: skip
*INSIDE, FAILING = ({"name": name} for name in HEADS)


def _beyond(name: str, gone: int) -> tuple[arb, Margin]:
    """The mass of `gone` best keys beyond the printed scope, all nearer ones the worst; and that they lie beyond it."""
    head, norm, nearer, best = HEADS[name]
    kept, scope = _printed_window(head, norm)
    weights = ball_weights(head, [*[best] * gone, *[nearer] * kept])
    return sum(weights[:gone], arb(0)), ball_at_least(kept - scope, strict=True)


def beyond_printed(name: str, gone: int = 200) -> Margin:
    """All tokens beyond the printed scope together weigh at most eps = 1/1000 in this context."""
    mass, further = _beyond(name, gone)
    bounded = ball_at_most(mass, SMALL)
    return worst([further, bounded], sides=bounded)


def moved(name: str, gone: int = 200) -> Margin:
    """Values 1 beyond the printed scope and -1 nearer, so diam V = 2: without the far ones the output moves by 2 eps or
    less."""
    mass, further = _beyond(name, gone)
    full, kept = mass - (1 - mass), -1
    bounded = ball_at_most(abs(full - kept), 2 * SMALL)
    return worst([further, bounded], sides=bounded)


def near_and_far(shift: int = 0) -> Margin:
    """(1 - e^{-lW})/(1 - e^{-l}) is 0 at W = 0 and grows by e^{-lW}; e^{-lW}(1 - e^{-lg})/(1 - e^{-l}) is 0 at g = 0
    and grows by e^{-l(W + g)}: the sums over W kept and g dropped tokens, every W and g; e^{-D} times their quotient.
    """
    kept, gone = sp.symbols("W g", positive=True, integer=True)
    rest = 1 - sp.exp(-slope)

    def near(count: sp.Expr) -> sp.Expr:
        return (1 - sp.exp(-slope * count)) / rest

    def far(count: sp.Expr) -> sp.Expr:
        return sp.exp(-slope * kept) * (1 - sp.exp(-slope * count)) / rest

    closed = sp.exp(-wide) * (sp.exp(slope * (kept + shift)) - 1) / (1 - sp.exp(-slope * gone))
    return worst(
        [
            identity(near(sp.Integer(0)), 0),
            identity(near(kept + 1) - near(kept), sp.exp(-slope * kept)),
            identity(far(sp.Integer(0)), 0),
            identity(far(gone + 1) - far(gone), sp.exp(-slope * (kept + gone))),
            identity(sp.exp(-wide) * near(kept) / far(gone), closed),
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
