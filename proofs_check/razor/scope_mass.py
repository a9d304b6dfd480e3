"""From one token to all that are dropped (Section 3.1): the mass outside a window."""

from fractions import Fraction

import sympy as sp
from flint import arb

from proofs_check.claim import Claim, Control, Verdict, Witness
from proofs_check.kv.mathematical import certified, mathematical, symbolic
from proofs_check.margin import Margin, ball_at_least, identity
from proofs_check.oracles_alibi import BallHead, ball, ball_weights
from theory.precision import working

SECTION = "RazorAttention, Section 3.1"
SMALL = Fraction(1, 1000)
slope, wide, eps = sp.symbols("l D eps", positive=True)


def _one_dimension(product: Fraction, steep: Fraction) -> BallHead:
    return BallHead("rms", (1,), (0,), ((-product,),), ((1,),), steep)


def dropped(product: Fraction, steep: Fraction, kept: int, gone: int, level: Fraction, needle: bool = False) -> Margin:
    """Each dropped token weighs at most eps = 1/1000, and together they weigh more than `level`.

    The dropped states are the best keys of the query, the kept ones its worst; with `needle` only the nearest dropped
    one is.
    """
    best, worst_key = (-1,), (1,)
    hidden = [*[worst_key if needle else best] * (gone - 1), best, *[worst_key] * kept]
    weights = ball_weights(_one_dimension(product, steep), hidden)
    each = ball_at_least(ball(SMALL) - weights[gone - 1])
    total = sum(weights[:gone], arb(0))
    every = ball_at_least(total - ball(level), strict=True)
    return min((each, every), key=lambda margin: margin.value)._replace(printed="at most 0.001", true=total.str(5))


def mass_attained(product: Fraction, steep: Fraction, kept: int, gone: int, spread: int = 2) -> Margin:
    """The worst context's dropped mass is 1/(1 + e^-D (e^{lW} - 1)/(1 - e^{-l gone})), D = 2 product, within 1e-30."""
    with working(256):
        weights = ball_weights(_one_dimension(product, steep), [*[(-1,)] * gone, *[(1,)] * kept])
        total = sum(weights[:gone], arb(0))
        rate = ball(steep)
        odds = ball(-spread * product).exp() * ((rate * kept).exp() - 1) / (1 - (-rate * gone).exp())
        return ball_at_least(ball(Fraction(1, 10**30)) - abs(total - 1 / (1 + odds)))


def kept_against_dropped(kept: int, gone: int, shift: int = 0) -> Margin:
    """e^{-D} sum over kept over sum over dropped of e^{-l distance}, against its closed form."""
    near = sp.exp(-wide) * sum(sp.exp(-slope * j) for j in range(kept))
    far = sum(sp.exp(-slope * j) for j in range(kept, kept + gone))
    closed = sp.exp(-wide) * (sp.exp(slope * (kept + shift)) - 1) / (1 - sp.exp(-slope * gone))
    return identity(near / far, closed)


def at_printed_form(drop_range: bool = False) -> Margin:
    """At W = (D - ln eps)/l the mass bound is eps/(1 + eps (1 - e^-D))."""
    reach = sp.exp(wide) / eps  # e^{lW}
    mass = 1 / (1 + sp.exp(-wide) * (reach - 1))
    return identity(mass, eps / (1 + eps * (1 if drop_range else 1 - sp.exp(-wide))))


def at_token_scope(share: int = 1) -> Margin:
    """At the sharp scope of one token the mass bound is eps/(eps + (1 - eps)(1 - e^-l))."""
    reach = 1 + (1 / eps - 1) * (1 - sp.exp(-slope)) * sp.exp(wide)
    mass = 1 / (1 + sp.exp(-wide) * (reach - 1))
    return identity(mass, eps / (eps + (1 - eps) * (1 - sp.exp(-share * slope))))


WORST = {"product": Fraction(3), "steep": Fraction(1, 4), "kept": 46, "gone": 60, "level": Fraction(3, 1000)}
SLOW = {"product": Fraction(1, 2), "steep": Fraction(1, 16), "kept": 84, "gone": 120, "level": Fraction(14, 1000)}

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.sec3.1.discard",
        SECTION,
        "Any token further than L_h has a weight of at most eps, so all of them can be safely discarded (eps = 0.1%).",
        certified(
            "negative heads in one dimension: each dropped token at most 0.1 %, all of them above 0.3 % and 1.4 %",
            dropped,
            (WORST, SLOW),
            Control("only the nearest dropped token is a good key", lambda **p: dropped(**p, needle=True)),
        ),
        symbolic(
            "at the sharp scope of one token the mass may be eps/(eps + (1 - eps)(1 - e^-l)): 20.4 % at l = 2^-8",
            at_token_scope,
            ({},),
            Control("the slope doubled", lambda: at_token_scope(share=2)),
        ),
        verdict=Verdict.FALSE,
        formula=r"a_{m\to n}\le\epsilon\ \forall n\Rightarrow\sum_n a_{m\to n}\approx 0",
        witness=Witness(SLOW),
        correction="razor.sec3.1.discard.corrected",
        note="A bound for each token says nothing about their sum; a window must be chosen for the dropped mass.",
    ),
    mathematical(
        "razor.sec3.1.discard.corrected",
        SECTION + ", corrected",
        "All tokens at distance W or more together weigh at most 1/(1 + e^{-D}(e^{lW} - 1)), the supremum if D_s = D; "
        "so at most delta beyond (1/l) ln(1 + (1/delta - 1) e^D).",
        symbolic(
            "kept tokens D below all dropped ones, the worst by the same monotony: the quotient, W and N - W up to 6",
            kept_against_dropped,
            tuple({"kept": k, "gone": g} for k in (1, 2, 4, 6) for g in (1, 3, 6)),
            Control("a window of one more", lambda **p: kept_against_dropped(**p, shift=1)),
        ),
        certified(
            "attained by negative heads in one dimension, in balls",
            mass_attained,
            tuple({"product": Fraction(2), "steep": Fraction(1, 8), "kept": k, "gone": 70} for k in (1, 9, 50)),
            Control("half the range", lambda **p: mass_attained(**p, spread=1)),
        ),
        formula=r"\sum_{m-n\ge W}a_{m\to n}\le\frac{1}{1+e^{-D}(e^{lW}-1)}",
        is_correction=True,
    ),
    mathematical(
        "razor.sec3.1.form",
        SECTION + ", corrected",
        "A window of (D - ln eps)/l, the form of Eq. 2 with the true range, bounds the whole dropped mass by eps/(1 + "
        "eps (1 - e^{-D})) < eps.",
        symbolic(
            "substitution into the mass bound",
            at_printed_form,
            ({},),
            Control("e^{-D} dropped", lambda: at_printed_form(drop_range=True)),
        ),
        formula=r"W=\frac{D-\log\epsilon}{l}\Rightarrow\sum_{m-n\ge W}a_{m\to n}<\epsilon",
        is_correction=True,
    ),
)
