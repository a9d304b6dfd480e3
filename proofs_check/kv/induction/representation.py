"""Theorem 3.2: two layers approximate the induction head; what it needs, its sharp form, and the standard mask."""

from fractions import Fraction

import sympy as sp

from proofs_check.evidence.margin import same
from proofs_check.kv.induction import general_checks as general
from proofs_check.kv.induction import representation_checks as c
from proofs_check.ledger.claim import ENUMERATED, Claim, Control, Nature, Severity, Verdict, everywhere
from proofs_check.ledger.exact_claim import BOTH
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, sampled, symbolic
from theory.induction.sharpness import flat_witness_residual, r, slope_witness_residual, uniform_sharpness_residual
from theory.symbols import sigma

THEOREM = f"{BOTH}, Section 3.1, Theorem 3.2 (first version: Theorem 1)"
EQ8 = f"{THEOREM}, Eq. 8"
MASKS = "layer 1 strictly causal, layer 2 on {2..L-1}"
PROOF = everywhere(
    "Copy error, range of the scores (corners decide, one coordinate at a time; Cauchy-Schwarz in a ball) and "
    "change of the softmax are identities in free symbols: L and d do not enter."
)
UNBOUNDED = [{"size": Fraction(c), "ratio": Fraction(1, q)} for c, q in ((21, 100), (10**3, 100), (10**6, 10**4))]
SLOPES = ({"domain": "unit", "constant": sp.Rational(1, 2)}, {"domain": "symmetric", "constant": sp.Integer(2)})
STEPS = symbolic(
    "the steps, each an identity, for any number of positions: sup of the copy error e^{-p}, range of the scores, "
    "tanh(w/4)",
    c.proof,
    ONCE,
    Control("copy error e^{-2p}", lambda: c.proof(supremum=r**2)),
    Control("tokens up to 2", lambda: c.proof(high=2)),
    Control("tanh(w/5)", lambda: c.proof(divisor=5)),
)
WITHIN = exact(
    "the sharp bounds in balls at rational points of the three domains, the sharp cases among them, L = 3..8, d = 1..3",
    c.within_sharp,
    c.domain_points,
    Control("one percent less", lambda **p: c.within_sharp(**p, factor=Fraction(99, 100))),
    Control("the standard mask in layer 1", lambda **p: c.within_sharp(**p, itself=True)),
)


BOUNDS = (
    mathematical(
        "kv.thm3.2",
        EQ8,
        "A two-layer single-head ALiBi transformer without FFN, D = 2d, has sup_L ||IH - TF||_{L,inf} <= O(e^{-p}); "
        "by Appendix A the error is less than 4 (d / sigma) e^{-p} / (1 - e^{-p}).",
        STEPS,
        symbolic(
            "the bound they give on [-1, 1]^d, 2 tanh(d e^{-p}/sigma), lies below the printed one",
            c.below_printed,
            ONCE,
            Control("a quarter of the printed one", lambda: c.below_printed(1)),
        ),
        WITHIN,
        defect="kv.thm3.3",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        reading="An order as p -> infinity at fixed d / sigma.",
        coverage=PROOF,
        formula=r"\sup_{L}\|\mathrm{IH}-TF\|_{L,\infty}\leq O(e^{-p^{(1)}})",
        hypotheses=("||x_s||_inf <= 1", MASKS, "columns", "W* = I / sigma"),
        note=f"Missing: ||x_s||_inf <= 1, {MASKS}, columns, W* = I / sigma, and for the constant a fixed d / sigma "
        "and, as printed, p bounded away from 0.",
    ),
    mathematical(
        "kv.eq8.domain",
        EQ8,
        "The norm of Eq. 8, a supremum over X_L, is O(e^{-p}).",
        symbolic(
            "tokens with entries up to B, any B: 2 B tanh(B^2 d e^{-p}/sigma), of order 2 B^3 (d / sigma) e^{-p}",
            c.bounded_tokens,
            ONCE,
            Control("of order B^2", lambda: c.bounded_tokens(2)),
        ),
        STEPS,
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        reading="Over which X_L the supremum is taken is not said; three steps of Appendix A need bounded tokens.",
        coverage=PROOF,
        note="Missing: bounded tokens. Over all of R^{L x d} it is infinite: kv.eq8.domain.unbounded.",
        formula=r"\sup_{\|X_L\|_\infty\le B}\|\mathrm{IH}(X_L)-\mathrm{TF}(X_L)\|_\infty\le O(e^{-p})",
    ),
    mathematical(
        "kv.eq8.domain.unbounded",
        f"{EQ8}, our addition",
        "Over all X_L in R^{L x d} the supremum of Eq. 8 is infinite at every p: at x = (1, 0, c, 1) the error is a "
        "positive multiple of c.",
        symbolic(
            "weight that the third token gains, free sigma, m and p",
            general.gains_weight,
            ONCE,
            Control("x_1 = 0", lambda: general.gains_weight(0)),
        ),
        exact(
            "sigma = 1, m = 0, balls: the error exceeds the printed bound of Appendix A",
            c.above_printed,
            UNBOUNDED,
            Control("||x||_inf = 1", lambda size, ratio: c.above_printed(Fraction(1), ratio)),
        ),
        is_correction=True,
        coverage=everywhere("sigma, m and p are free, and c is any number; L = 4 is one of the lengths."),
        formula=r"\sup_{X_L\in\mathbb{R}^{L\times d}}\|\mathrm{IH}(X_L)-\mathrm{TF}(X_L)\|_\infty=\infty",
    ),
    mathematical(
        "kv.thm3.2.sharp",
        f"{EQ8}, corrected and sharpened",
        "In each coordinate, every L >= 3 and m >= 0: |IH - TF| < tanh(d e^{-p}/(2 sigma)) for tokens in [0, 1]^d, "
        "2 tanh(d e^{-p}/sigma) in [-1, 1]^d and 2 tanh(e^{-p}/sigma) in the Euclidean unit ball.",
        STEPS,
        WITHIN,
        hypotheses=(MASKS, "columns", "W* = I / sigma"),
        is_correction=True,
        coverage=PROOF,
        formula=r"|\mathrm{IH}-\mathrm{TF}|<\tanh\frac{de^{-p}}{2\sigma},\quad2\tanh\frac{de^{-p}}{\sigma},"
        r"\quad2\tanh\frac{e^{-p}}{\sigma}",
    ),
    mathematical(
        "kv.thm3.2.attained",
        f"{EQ8}, our addition",
        "The three bounds are sharp for every value of d e^{-p} / sigma (ball: e^{-p} / sigma): the error of "
        "(low, high, low, high, high) tends to them as p -> infinity with that value and the scores' balance held.",
        symbolic(
            "limit of error less bound, any d e^{-p} / sigma > 0; the ball is the symmetric case along one direction",
            c.zero(uniform_sharpness_residual),
            ({"domain": "unit"}, {"domain": "symmetric"}),
            Control("scores not balanced", points=[{"domain": name, "lean": 0} for name in ("unit", "symmetric")]),
        ),
        exact(
            "balls at e^{-p} = 10^-5: at least 0.999 of the bound, three domains, d = 1, 3",
            c.nearly_sharp,
            c.sharp_points,
            Control("m = 0", lambda **p: c.nearly_sharp(**{**p, "slope": Fraction(0)})),
        ),
        is_correction=True,
        coverage=everywhere("One sequence of inputs for each domain; d e^{-p} / sigma is a free symbol in the limit."),
        formula=r"\lim_{p\to\infty}|\mathrm{IH}-\mathrm{TF}|=\tanh\frac{c}{2}\ \mathrm{or}\ 2\tanh c,"
        r"\quad\frac{de^{-p}}{\sigma}=c",
    ),
    mathematical(
        "kv.thm3.2.first_order",
        f"{EQ8}, our addition",
        "As a multiple of (d / sigma) e^{-p} the worst error is 1/2 on [0, 1]^d and 2 on [-1, 1]^d, to first order.",
        symbolic(
            "x = (low, 1, low, 1, 1), m = (1 - low) d / sigma: limit p -> infinity, then d / sigma -> infinity",
            c.zero(slope_witness_residual),
            SLOPES,
            Control("the printed 4", points=({"domain": "unit", "constant": sp.Integer(4)},)),
            Control("half of it", points=({"domain": "symmetric", "constant": sp.Integer(1)},)),
        ),
        symbolic(
            "from above, for any number of positions: the slopes of kv.thm3.2.sharp at e^{-p} = 0",
            c.bound_slopes,
            SLOPES,
            Control("the printed 4", points=({"domain": "unit", "constant": sp.Integer(4)},)),
        ),
        is_correction=True,
        coverage=everywhere("From above by kv.thm3.2.sharp, from below by one sequence of inputs; d / sigma is free."),
        formula=r"\sup|\mathrm{IH}-\mathrm{TF}|\sim c\frac{d}{\sigma}e^{-p},\quad c=\frac{1}{2}\ \mathrm{on}\ [0,1]^d,"
        r"\quad c=2\ \mathrm{on}\ [-1,1]^d",
    ),
    mathematical(
        "kv.thm3.2.flat",
        f"{EQ8}, our addition",
        "At every slope m the error is of order (d / sigma) e^{-p}: x = (0, 1, 1, 0, 1) gives sech^2(m/2)/4 times it, "
        "d / sigma -> infinity.",
        symbolic(
            "limit p -> infinity, then d / sigma -> infinity; m free",
            c.zero(flat_witness_residual),
            ({"factor": sp.Rational(1, 4)},),
            Control("sech^2(m/2)/2", points=({"factor": sp.Rational(1, 2)},)),
        ),
        is_correction=True,
        coverage=everywhere("One input; m and d / sigma are free symbols."),
        formula=r"\lim_{d/\sigma\to\infty}\lim_{p\to\infty}\frac{|\mathrm{IH}-\mathrm{TF}|}{(d/\sigma)e^{-p}}"
        r"=\frac{1}{4\cosh^2(m/2)}",
    ),
)

WEIGHTS = (
    mathematical(
        "kv.thm3.2.norms",
        THEOREM,
        "||W_K^(2)||, ||W_Q^(2)|| <= O(1, 1/sigma).",
        symbolic(
            "W_K W_K^T on its range, d = 1..3",
            c.key_norm,
            [{"dim": dim} for dim in range(1, 4)],
            Control("1 / sigma^2", lambda dim: c.key_norm(dim, claimed=1 / sigma**2)),
        ),
        sampled(
            "largest singular values of the matrices as built",
            c.key_entries,
            [{"dim": n, "sigma_value": s, "p": 3.0, "key": "paper"} for n in (1, 4) for s in (0.01, 2.0)],
            Control("half of it", lambda **p: c.key_entries(**p, shrink=0.5)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="The operator norm, and O(1, 1/sigma) as O(max(1, 1/sigma)).",
        coverage=everywhere("The blocks are multiples of the identity, so that the dimension does not enter."),
        note="The operator norm: 1 for W_Q and 1/sigma for W_K. Their ||.||_{1,1}, the norm of Appendix A, is d times "
        "that. O(1, 1/sigma) must mean O(max(1, 1/sigma)).",
        formula=r"\|W_K^{(2)}\|,\|W_Q^{(2)}\|\le O(1,1/\sigma)",
    ),
    mathematical(
        "kv.thm3.2.constant",
        THEOREM,
        "There exists a constant C > 0 such that ... <= O(e^{-p}).",
        exact(
            "symbols of the bound C e^{-p}",
            lambda symbols: same(symbols.count("C"), 1),
            ({"symbols": ("C", "e", "p")},),
            Control("O(e^{-p}), as printed", points=({"symbols": ("O", "e", "p")},)),
        ),
        nature=Nature.TEXTUAL,
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=ENUMERATED,
        note="C belongs in the bound: <= C e^{-p}. It depends on d / sigma.",
    ),
    mathematical(
        "kv.thm3.2.repaired",
        f"{THEOREM}, our addition",
        "Under the standard causal mask of layer 1, which includes s, W_K = [[0, 0], [-(1-r) W*, W*]]/r, r = e^{-p}, "
        "restores the theorem with the same sharp bounds: the key is a mean with more than 1 - r on x_{s-1}.",
        symbolic(
            "weights of the key at any s: they sum to 1, with more than 1 - r on x_{s-1}; r and r^s free",
            general.repaired_weights,
            ONCE,
            Control("factor 1 in place of 1 - r", lambda: general.repaired_weights(sp.Integer(1))),
        ),
        exact(
            "balls at rational points of the three domains",
            lambda **p: c.within_sharp(**p, itself=True, repaired=True),
            c.domain_points,
            Control("the printed W_K", lambda **p: c.within_sharp(**p, itself=True)),
        ),
        is_correction=True,
        coverage=everywhere("The weights at any s are free symbols; what follows is the proof of kv.thm3.2.sharp."),
        formula=r"W_K^{(2)}=\frac{1}{r}\begin{pmatrix}0&0\\-(1-r)W^*&W^*\end{pmatrix},\quad r=e^{-p}",
    ),
    mathematical(
        "kv.thm3.2.repaired.norm",
        f"{THEOREM}, our addition",
        "The repaired W_K has norm sqrt(1 + (1-r)^2) e^p / sigma, beyond O(1, 1/sigma) as p grows.",
        symbolic(
            "W_K W_K^T on its range, d = 1..3",
            lambda dim: c.key_norm(dim, "repaired", sp.sqrt(1 + (1 - r) ** 2) / (r * sigma)),
            [{"dim": dim} for dim in range(1, 4)],
            Control("1 / sigma", lambda dim: c.key_norm(dim, "repaired")),
        ),
        sampled(
            "largest singular values of the matrices as built",
            c.key_entries,
            [{"dim": n, "sigma_value": 0.3, "p": p, "key": "repaired"} for n in (1, 4) for p in (0.5, 5.0)],
            Control("half of it", lambda **p: c.key_entries(**p, shrink=0.5)),
        ),
        is_correction=True,
        coverage=everywhere("The blocks are multiples of the identity; r and sigma are free."),
        formula=r"\|W_K^{(2)}\|=\frac{e^p}{\sigma}\sqrt{1+(1-e^{-p})^2}",
    ),
)

CLAIMS: tuple[Claim, ...] = (*BOUNDS, *WEIGHTS)
