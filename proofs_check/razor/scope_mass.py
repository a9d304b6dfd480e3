"""From one token to all that are dropped (Section 3.1): the mass outside a window."""

from fractions import Fraction

from proofs_check.claim import Claim, Control, Severity, Verdict, everywhere
from proofs_check.kv.mathematical import exact, mathematical, symbolic
from proofs_check.razor import scope_mass_checks as c

SECTION = "RazorAttention, Section 3.1"
WORST = {"product": Fraction(3), "steep": Fraction(1, 4), "kept": 46, "gone": 60, "level": Fraction(3, 1000)}
SLOW = {"product": Fraction(1, 2), "steep": Fraction(1, 16), "kept": 84, "gone": 120, "level": Fraction(14, 1000)}
INSIDE = tuple({"name": name} for name in c.HEADS if name != "Theorem 1 fails")
FAILING = ({"name": "Theorem 1 fails"},)
RANGE = "The numerator of Eq. 2, without -ln eps, must be at least the range D of the head's logits"

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.sec3.1.discard",
        SECTION,
        "All tokens further than L_h can be safely discarded (eps = 0.1 %): together they weigh less than eps.",
        symbolic(
            "the mass beyond (D + t - ln eps)/l for every eps, D and t >= 0, and both sums of exponentials",
            lambda: c.worst([c.with_room(), c.near_and_far()]),
            ({},),
            Control("a numerator below the range", lambda: c.with_room(printed=True)),
            Control("a window of one more", lambda: c.near_and_far(shift=1)),
        ),
        exact(
            "three heads whose numerator is D, their worst context beyond the printed L_h, in balls",
            c.beyond_printed,
            INSIDE,
            Control("a head for which Theorem 1 fails: 0.888 beyond L_h", points=FAILING),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=everywhere(
            "Every slope, range, eps and numerator at least D, and every number of kept and dropped tokens; logits of "
            "one query differ by D at most, so the worst context has all dropped ones D above all kept ones."
        ),
        reading="What is discarded lies at distances beyond L_h, and what must be small is its whole mass.",
        formula=r"\sum_{m-n>L_h}a_{m\to n}<\epsilon",
        note=RANGE + ", as it is with W_Q^T W_K, gains of one size and no bias; where it is not, Theorem 1 fails and "
        "with it this. The reason given, a bound for each token, is not enough: razor.sec3.1.discard.sum.",
    ),
    mathematical(
        "razor.sec3.1.discard.sum",
        SECTION + ", added",
        "A bound on each token does not bound their sum: with windows inside L_h (46 of 51.6, 84 of 126.5 tokens) no "
        "dropped token weighs more than 0.1 %, and together they weigh more than 0.3 % and 1.4 %.",
        exact(
            "negative heads in one dimension, in balls, and that the windows end within the printed L_h",
            c.dropped,
            (WORST, SLOW),
            Control("only the nearest dropped token is a good key", lambda **p: c.dropped(**p, needle=True)),
            Control("a window of 130", lambda **p: c.dropped(**{**p, "kept": 130})),
        ),
        symbolic(
            "at the sharp scope of one token the mass may be eps/(eps + (1 - eps)(1 - e^-l)): 20.4 % at l = 2^-8",
            c.at_token_scope,
            ({},),
            Control("the slope doubled", lambda: c.at_token_scope(share=2)),
        ),
        formula=r"a_{m\to n}\le\epsilon\ \forall n,\quad\sum_n a_{m\to n}>3\epsilon",
        coverage=everywhere("Two exact heads show it; the closed form is for every slope, range and eps."),
        is_correction=True,
    ),
    mathematical(
        "razor.sec3.1.discard.corrected",
        SECTION + ", corrected",
        "All tokens at distance W or more together weigh at most 1/(1 + e^{-D}(e^{lW} - 1)), the supremum if D_s = D; "
        "so at most delta beyond (1/l) ln(1 + (1/delta - 1) e^D).",
        symbolic(
            "the sums over W kept and any number of dropped tokens, closed by induction, and their quotient",
            c.near_and_far,
            ({},),
            Control("a window of one more", lambda: c.near_and_far(shift=1)),
        ),
        symbolic(
            "kept tokens D below all dropped ones, the worst by the same monotony: the quotient, W and N - W up to 6",
            c.kept_against_dropped,
            tuple({"kept": k, "gone": g} for k in (1, 2, 4, 6) for g in (1, 3, 6)),
            Control("a window of one more", lambda **p: c.kept_against_dropped(**p, shift=1)),
        ),
        exact(
            "attained by negative heads in one dimension, in balls",
            c.mass_attained,
            tuple({"product": Fraction(2), "steep": Fraction(1, 8), "kept": k, "gone": 70} for k in (1, 9, 50)),
            Control("half the range", lambda **p: c.mass_attained(**p, spread=1)),
        ),
        formula=r"\sum_{m-n\ge W}a_{m\to n}\le\frac{1}{1+e^{-D}(e^{lW}-1)}",
        coverage=everywhere(
            "Sums for every W and every number dropped; the mass rises with dropped logits and falls with kept ones, "
            "which lie D apart at most, and do where D_s = D: the kept tokens are then the query's own state."
        ),
        is_correction=True,
    ),
    mathematical(
        "razor.sec3.1.form",
        SECTION + ", corrected",
        "A window of (D - ln eps)/l, the form of Eq. 2 with the true range, bounds the whole dropped mass by eps/(1 + "
        "eps (1 - e^{-D})); the mass is below eps, and so is the bound if D > 0.",
        symbolic(
            "substitution into the mass bound",
            c.at_printed_form,
            ({},),
            Control("e^{-D} dropped", lambda: c.at_printed_form(drop_range=True)),
        ),
        formula=r"W=\frac{D-\log\epsilon}{l}\Rightarrow\sum_{m-n\ge W}a_{m\to n}<\epsilon",
        coverage=everywhere("Substitution into razor.sec3.1.discard.corrected, for every range, slope and eps."),
        is_correction=True,
    ),
)
