"""Appendix A: the matrices of the two-layer network, its masks, and each inequality of the proof of Theorem 3.2."""

import itertools
from fractions import Fraction
from functools import partial

import sympy as sp

from proofs_check.evidence.margin import worst
from proofs_check.kv.induction import appendix_a_checks as c
from proofs_check.kv.induction import general_checks as general
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Effort, Severity, Verdict, everywhere
from proofs_check.ledger.exact_claim import BOTH
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from theory.induction.sharpness import r

SECTION = f"{BOTH}, Appendix A"
DIMENSIONS = [{"dim": dim} for dim in range(1, 4)]
CUBE = "||x_s||_inf <= 1"
BLOCKS = everywhere("Every block is 0 or a multiple of the identity, so that the dimension does not enter.")
COLUMNS = "Tokens are columns, as this appendix displays them: y = W x."
CHORD = everywhere("A chord over the ratios of two laws, free symbols: the number of positions does not enter.")
TERMWISE = everywhere("Term by term in free symbols, then summed: no length and no dimension enters.")


def _mask_points(effort: Effort):
    longest = 7 if effort is Effort.QUICK else 11
    return [{"longest": longest, "match_weight": 3, "decay": t} for t in (Fraction(1), Fraction(1, 2))]


OTHER_MASKS = [
    Control(f"layer 1 {first}, layer 2 {second}", partial(c.masks, first_mask=first, support=second))
    for first, second in itertools.product(("strict", "causal"), ("inner", "causal", "not_current", "not_first"))
    if (first, second) != ("strict", "inner")
]


CONSTRUCTION = (
    mathematical(
        "kv.appA.matrices",
        SECTION,
        "With the given W_V^(1), W_Q^(2), W_K^(2), W_V^(2), W_O^(2) layer 1 writes x under a mean, layer 2 scores "
        "x_L^T y_s (times W*) and reads x_s.",
        symbolic(
            "d = 1..3, tokens free",
            c.matrices,
            DIMENSIONS,
            Control("the row convention X W of Eq. 1 and 4", lambda dim: c.matrices(dim, rows=True)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading=COLUMNS,
        coverage=BLOCKS,
        note="Tokens are columns, y = W x. In the row convention of Eq. 1 and 4 layer 1 writes nothing and every score "
        "of layer 2 is 0; there all the matrices must be transposed.",
        formula=r"W_V^{(1)}\begin{pmatrix}x\\0\end{pmatrix}=\begin{pmatrix}0\\x\end{pmatrix},\quad "
        r"W_V^{(2)}\begin{pmatrix}x\\y\end{pmatrix}=\begin{pmatrix}x\\0\end{pmatrix},\quad "
        r"(W_Q^{(2)}z_L)^TW_K^{(2)}z_s=x_L^TW^*y_s",
    ),
    mathematical(
        "kv.appA.output_matrix",
        SECTION,
        "The projection W_O^(2) = (I, 0) in R^{d x D} takes the output of layer 2 to R^d.",
        exact(
            "the width it takes against D, d = 1..3",
            c.conforms,
            DIMENSIONS,
            Control("rows, as in Eq. 1 and 4", lambda dim: c.conforms(dim, rows=True)),
        ),
        defect="kv.appA.matrices",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading=COLUMNS,
        coverage=BLOCKS,
        note="Tokens are columns: a row of width D cannot be multiplied by a d x D matrix.",
        formula=r"W_O^{(2)}\begin{pmatrix}x\\y\end{pmatrix}=(I,0)\begin{pmatrix}x\\y\end{pmatrix}=x\in\mathbb{R}^d",
    ),
    mathematical(
        "kv.appA.w_star",
        SECTION,
        "W_K^(2) = [[0, 0], [0, W*]] gives the scores x_L^T y_s / sigma (W* is not defined).",
        symbolic(
            "W* = I / sigma, no further divisor, d = 2, 3",
            c.star,
            ({"dim": 2}, {"dim": 3}),
            Control("W* = I", lambda dim: c.star(dim, factor=sp.Integer(1))),
            Control("the divisor sqrt(D) of Eq. 6 kept", lambda dim: c.star(dim, divisor=sp.sqrt(2 * dim))),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=BLOCKS,
        note="W* = I / sigma and the score is not divided again (or W* = sqrt(D) I / sigma under Eq. 6).",
        formula=r"W_K^{(2)}=\begin{pmatrix}0&0\\0&W^*\end{pmatrix},\quad x_L^TW^*y_s=x_L^Ty_s/\sigma",
    ),
    mathematical(
        "kv.appA.first_layer",
        SECTION,
        "Token s leaves layer 1 as (x_s, y_s), y_s = sum_{tau < s} softmax(-p (s - 1 - tau)) x_tau.",
        symbolic(
            "ALiBi weights of tokens 2..6, e^{-p} free",
            c.first_layer,
            [{"place": s} for s in range(2, 7)],
            Control("the standard causal mask, token s itself seen", lambda place: c.first_layer(place, itself=True)),
            Control("another output map, W_O^(1) = 2 I", lambda place: c.first_layer(place, out=2)),
        ),
        defect="kv.thm3.3",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=INSTANCES,
        note="Layer 1 has a strictly causal mask (s not included), which only this sum shows, and W_O^(1) = I.",
        formula=r"y_s=\sum_{\tau=1}^{s-1}\mathrm{softmax}(-p^{(1)}(s-1-\tau))x_\tau",
    ),
    mathematical(
        "kv.appA.first_token",
        SECTION,
        "y_s is a softmax average for every token s.",
        exact(
            "number of tokens it averages, s = 2 + any whole number >= 0",
            lambda least: general.at_least_one(least, left_out=1),
            ({"least": 2},),
            Control("s = 1", points=({"least": 1},)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="The tokens that layer 2 reads, s >= 2.",
        coverage=everywhere("It averages s - 1 tokens: one expression in s."),
        note="s >= 2: y_1 is over no token, harmless as layer 2 leaves s = 1 out.",
        formula=r"\sum_{\tau=1}^{s-1}\mathrm{softmax}(-p^{(1)}(s-1-\tau))=1,\quad s\ge1",
    ),
    mathematical(
        "kv.appA.masks",
        SECTION,
        "The last output of layer 2 is sum_{s=2}^{L-1} softmax(x_L^T y_s / sigma - m|L-s|) x_s, close to IH.",
        exact(
            "p -> infinity, all binary tokens up to L = 7 (full: 11), rational e^{1/sigma} and e^{-m}",
            c.masks,
            _mask_points,
            *OTHER_MASKS,
        ),
        defect="kv.thm3.3",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=INSTANCES,
        note="The sums of the proof print the masks, the theorem does not: layer 1 strictly causal, layer 2 without "
        "the first and the current token, {2..L-1}. Each of the seven other pairs of masks misses IH even as "
        "p -> infinity, at some L <= 4.",
        formula=r"\mathrm{TF}(x)=\sum_{s=2}^{L-1}\mathrm{softmax}(x_L^Ty_s/\sigma-m|L-s|)x_s",
    ),
    mathematical(
        "kv.appA.supremum",
        f"{SECTION}, second equality of the chain",
        "sup over X_L of ||IH(X_L) - TF(X_L)||_inf equals the norm of the difference of the two sums (no supremum).",
        exact(
            "d = 1, two inputs give the right side two values (balls), of which the supremum is at least the larger",
            c.two_values,
            ({"first": (0, 0, 0, 0), "second": (1, 0, 1, 1)},),
            Control("the other way round", points=({"first": (1, 0, 1, 1), "second": (0, 0, 0, 0)},)),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=everywhere("One pair of inputs shows that the right side depends on X_L and the left does not."),
        note="sup over X_L belongs before every line of the chain.",
        formula=r"\sup_{X_L}\|\mathrm{IH}(X_L)-\mathrm{TF}_{-1}(X_L)\|_\infty=\sup_{X_L}\left\|\sum_sp_sx_s"
        r"-\sum_sq_sx_s\right\|_\infty",
    ),
)

TILT = symbolic(
    "any number of positions: by a chord over the ratios of the two laws the share that moves is at most tanh(w/4), w "
    "the range of u - v; and 2 tanh(w/4) <= w/2 <= sup |u - v|",
    general.tilt,
    ONCE,
    Control("tanh(w/5)", lambda: general.tilt(5)),
)

STEPS = (
    mathematical(
        "kv.appA.step1",
        f"{SECTION}, first inequality",
        "|sum (p_s - q_s) x_s| <= sum |p_s - q_s| in each coordinate.",
        symbolic(
            "each term, |c x| <= |c| for |x| <= 1",
            general.termwise,
            ONCE,
            Control("tokens up to 2", lambda: general.termwise(top=2)),
        ),
        defect="kv.eq8.domain",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=TERMWISE,
        note=f"{CUBE}, which neither Definition 3.1 nor Theorem 3.2 asks for.",
        formula=r"\left\|\sum_s(p_s-q_s)x_s\right\|_\infty\le\sum_s|p_s-q_s|",
    ),
    mathematical(
        "kv.appA.step2",
        f"{SECTION}, second inequality (its Lemma D.1)",
        "||softmax(u) - softmax(v)||_1 <= 2 sup |u - v|.",
        TILT,
        coverage=CHORD,
        note="True, not sharp: kv.appA.step2.sharp is at most half of it.",
        formula=r"\|\mathrm{softmax}(u)-\mathrm{softmax}(v)\|_1\le2\sup_s|u_s-v_s|",
    ),
    mathematical(
        "kv.appA.step2.sharp",
        f"{SECTION}, second inequality, sharpened",
        "||softmax(u) - softmax(v)||_1 <= 2 tanh((max - min)(u - v)/4), reached by two positions at u = -v; so the "
        "constant 2 of sup |u - v| can be 1, and no less.",
        TILT,
        exact(
            "equality at two positions with odds g, 1/g",
            c.balanced_pair,
            [{"odds": g} for g in (1, 2, 3, 10, 1000)],
            Control("half as much", lambda odds: c.balanced_pair(odds, 1)),
        ),
        is_correction=True,
        coverage=CHORD,
        formula=r"\|\mathrm{softmax}(u)-\mathrm{softmax}(v)\|_1\le2\tanh\frac{\max(u-v)-\min(u-v)}{4}",
    ),
    mathematical(
        "kv.appA.step3",
        f"{SECTION}, third inequality",
        "|x_L^T (y_s - x_{s-1})| / sigma <= ||x_L / sigma||_1 ||y_s - x_{s-1}||_inf.",
        symbolic(
            "each coordinate: |a| |b_k| <= |a| max |b|",
            general.largest_entry,
            ONCE,
            Control("an entry beyond the largest", lambda: general.largest_entry(-1)),
        ),
        coverage=TERMWISE,
        formula=r"|x_L^T(y_s-x_{s-1})/\sigma|\le\|x_L/\sigma\|_1\|y_s-x_{s-1}\|_\infty",
    ),
    mathematical(
        "kv.appA.step5",
        f"{SECTION}, fifth inequality",
        "||y_s - x_{s-1}||_inf <= ||w - e_{s-1}||_1, w the weights of layer 1.",
        symbolic(
            "each term, |c x| <= |c| for |x| <= 1",
            general.termwise,
            ONCE,
            Control("tokens up to 2", lambda: general.termwise(top=2)),
            Control("half of it", lambda: general.termwise(share=sp.S.Half)),
        ),
        defect="kv.eq8.domain",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=TERMWISE,
        note=f"{CUBE}; on [0, 1]^d half of it is enough (kv.appA.step5.unit).",
        formula=r"\|y_s-x_{s-1}\|_\infty\le\|w-e_{s-1}\|_1",
    ),
    mathematical(
        "kv.appA.step5.unit",
        f"{SECTION}, fifth inequality, sharpened",
        "For tokens in [0, 1]^d: ||y_s - x_{s-1}||_inf <= ||w - e_{s-1}||_1 / 2.",
        symbolic(
            "half the norm is the weight of the other tokens, and these differ from x_{s-1} by at most 1",
            lambda: worst([general.one_weight(), general.termwise()]),
            ONCE,
            Control("differences up to 2", lambda: worst([general.one_weight(), general.termwise(top=2)])),
            Control("a third of it", lambda: worst([general.one_weight(3), general.termwise()])),
        ),
        is_correction=True,
        coverage=TERMWISE,
        formula=r"\|y_s-x_{s-1}\|_\infty\le\frac{1}{2}\|w-e_{s-1}\|_1",
    ),
    mathematical(
        "kv.appA.step5.norm",
        f"{SECTION}, equality after the fifth inequality",
        "||w - e_{s-1}||_1 = 2 |1 / sum_{tau=0}^{s-2} e^{-p tau} - 1|.",
        symbolic(
            "any s: the other weights and what s - 1 lacks are the same number",
            general.one_weight,
            ONCE,
            Control("once that number", lambda: general.one_weight(1)),
        ),
        coverage=everywhere("Only the weight of x_{s-1}, 1 over the sum, and the rest of the weights enter."),
        formula=r"\|w-e_{s-1}\|_1=2\left|\frac{1}{\sum_{\tau=0}^{s-2}e^{-p\tau}}-1\right|",
    ),
    mathematical(
        "kv.appA.step6",
        f"{SECTION}, strict inequality of the last line",
        "sup_s |1 / sum_{tau=0}^{s-2} e^{-p tau} - 1| < e^{-p} / (1 - e^{-p}).",
        symbolic(
            "the supremum over all s is e^{-p}, and the bound exceeds it",
            general.geometric,
            ONCE,
            Control("e^{-2p} / (1 - e^{-p})", lambda: general.geometric(power=2)),
            Control("the supremum e^{-2p}", lambda: general.geometric(supremum=r**2)),
        ),
        coverage=everywhere("The supremum over all s is e^{-p} by kv.appA.step6.sharp, and p is free."),
        note="True, not sharp: the supremum is e^{-p} (kv.appA.step6.sharp), which keeps the bound finite as p -> 0.",
        formula=r"\sup_s\left|\frac{1}{\sum_{\tau=0}^{s-2}e^{-p\tau}}-1\right|<\frac{e^{-p}}{1-e^{-p}}",
    ),
    mathematical(
        "kv.appA.step7",
        f"{SECTION}, last inequality",
        "4 (d / sigma) e^{-p} / (1 - e^{-p}) <= O(e^{-p}).",
        symbolic(
            "constant 4 (d / sigma) / (1 - e^{-p0}) for all p >= p0",
            general.order_constant,
            ONCE,
            Control("e^{-2p}", lambda: general.order_constant(2)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="An order as p -> infinity at fixed d / sigma.",
        coverage=everywhere("p, p0 and d / sigma are free."),
        note="p bounded away from 0 and d / sigma fixed. With the supremum e^{-p} the first condition is not needed.",
        formula=r"\frac{4d}{\sigma}\frac{e^{-p}}{1-e^{-p}}\le O(e^{-p})",
    ),
)

CLAIMS: tuple[Claim, ...] = (*CONSTRUCTION, *STEPS)
