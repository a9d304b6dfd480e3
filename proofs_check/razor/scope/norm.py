"""Appendix A, Eq. 6 to 8: what post-norm states can be, and what their products can be."""

from fractions import Fraction

from proofs_check.ledger.claim import WITNESSED, Claim, Control, Severity, Verdict, Witness, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from proofs_check.razor.scope import norm_checks as c

APPENDIX = "RazorAttention, Appendix A"
ZERO, HALF = Fraction(0), Fraction(1, 2)
BILINEAR = tuple({"d_head": h, "d_model": d} for h in (1, 2) for d in (1, 2, 3))

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.appA.sigma",
        APPENDIX + ", definition of sigma",
        "LayerNorm divides by sigma = (1/d) sum_i (xhat_i - mu)^2.",
        symbolic(
            "with the root, any state of any size: S/(S/d) = d",
            c.normed_size_of,
            ONCE,
            Control("as printed, the square of the variance", lambda: c.normed_size_of(power=2)),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=everywhere("The sum of squares and the dimension are free."),
        formula=r"\sigma=\sqrt{\frac{1}{d}\sum_{i=1}^{d}(\hat{x}_i-\mu)^2}",
        note="The square root is missing; without it the normalised state has no bound as xhat - mu tends to 0.",
    ),
    mathematical(
        "razor.eq6",
        APPENDIX + ", Eq. 6 (also Eq. 2 and 8)",
        "q . k = x W_Q W_K x^T, at most ||W_Q W_K||_2 ||x||^2.",
        symbolic(
            "with W_Q^T W_K and a state for the query and one for the key, d_head x d_model up to 2 x 3",
            c.bilinear,
            BILINEAR,
            Control("as printed, W_Q W_K", lambda **p: c.bilinear(**p, printed=True), ({"d_head": 2, "d_model": 2},)),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=everywhere(
            "The form is bilinear: one entry of W_Q and one of W_K a term, whatever the sizes; the bound is the "
            "definition of the norm."
        ),
        formula=r"qk^T=xW_QW_Kx^T\le\|W_QW_K\|_2\|x\|^2",
        reading="W_Q and W_K act on columns (q = W_Q x is printed) or on rows; either way one of them is transposed.",
        note="W_Q^T W_K for columns, W_Q W_K^T for rows; and query and key are of two tokens, ||x_m|| ||x_n||, which "
        "the largest ||x||^2 covers. As printed it bounds nothing: razor.eq6.order.",
    ),
    mathematical(
        "razor.eq6.corrected",
        APPENDIX + ", Eq. 6, corrected",
        "q_m . k_n = x_m . W_Q^T W_K x_n, at most ||W_Q^T W_K||_2 ||x_m|| ||x_n||.",
        symbolic(
            "the bilinear form entry by entry, d_head x d_model up to 2 x 3",
            c.bilinear,
            BILINEAR,
            Control("W_K^T W_Q", lambda d_head, d_model: c.bilinear(d_head, d_model, swap=True)),
        ),
        formula=r"q_m\cdot k_n=x_m^TW_Q^TW_Kx_n",
        coverage=everywhere("The form is bilinear, one entry of each matrix a term; the bound defines the norm."),
        is_correction=True,
    ),
    mathematical(
        "razor.eq7.twice",
        APPENDIX + ", Eq. 7, first step",
        "||a + b||^2 is at most 2 ||a||^2 + 2 ||b||^2.",
        symbolic(
            "component by component, the difference is a square",
            c.doubled,
            ONCE,
            Control("a sign", lambda: c.doubled(sign=-1)),
        ),
        coverage=everywhere("Each component adds the square of a difference."),
        formula=r"\|a+b\|^2\le 2\|a\|^2+2\|b\|^2",
    ),
    mathematical(
        "razor.eq7.gain",
        APPENDIX + ", Eq. 7, second step",
        "||gamma (.) z||^2 is at most ||gamma||^2 for the normalised state z.",
        exact(
            "gamma = e_1, the state of the largest first component: RMSNorm d = 2..7, LayerNorm d = 3..8, in balls",
            c.gains_exceed,
            tuple(
                {"d": d, "norm": norm} for norm, start in (("rms", 2), ("layer", 3)) for d in range(start, start + 6)
            ),
            Control("LayerNorm at d = 2", None, ({"d": 2, "norm": "layer"},)),
        ),
        verdict=Verdict.FALSE,
        severity=Severity.BREAKS,
        coverage=WITNESSED,
        formula=r"\|\gamma\odot z\|^2\le\|\gamma\|^2",
        witness=Witness({"d": 2, "norm": "rms"}),
        correction="razor.eq7.corrected",
        note="Sharp: d max gamma_i^2 (RMSNorm), d lambda_max(P Gamma^2 P) (LayerNorm); times ||gamma||^2 that is d and "
        "d - 1 at worst, at gamma = e_1. True for gains of one size, and for LayerNorm at d = 2.",
    ),
    mathematical(
        "razor.eq8",
        APPENDIX + ", Eq. 8",
        "q . k is at most ||W_Q W_K||_2 (2 ||gamma||^2 + 2 ||b||^2).",
        defect="razor.eq7.gain",
        verdict=Verdict.FALSE,
        severity=Severity.BREAKS,
        reading="The product in either order: the witness has W_Q = W_K = e_1^T, so that each of them has the norm 1.",
        formula=r"qk^T\le\|W_QW_K\|_2(2\|\gamma\|^2+2\|b\|^2)",
        correction="razor.eq8.corrected",
        note="It inherits the size of the state from Eq. 7; the product of Eq. 6 lacks a transpose besides.",
    ),
    mathematical(
        "razor.eq8.corrected",
        APPENDIX + ", Eq. 8, corrected",
        "q . k is at most ||W_Q^T W_K||_2 (sqrt(d) max|gamma_i| + ||b||)^2, reached by RMSNorm with equal gains.",
        symbolic(
            "each component by the largest gain, and the triangle inequality",
            c.largest_gain_bounds,
            ONCE,
            Control("a sign", lambda: c.largest_gain_bounds(sign=-1)),
        ),
        exact(
            "equal gains, b along the state, M = 1: never above, and equal up to rounding, in balls",
            c.range_bound,
            tuple({"d": d, "gain": g, "bias": b} for d in (1, 2, 5) for g in (HALF, Fraction(2)) for b in (ZERO, HALF)),
            Control(
                "d max gamma^2 + ||b||^2",
                lambda d, gain, bias: c.range_bound(d, gain, bias, constant="squares"),
                ({"d": 2, "gain": HALF, "bias": HALF},),
            ),
        ),
        formula=r"qk^T\le\|W_Q^TW_K\|_2(\sqrt{d}\max_i|\gamma_i|+\|b\|)^2",
        coverage=everywhere(
            "||gamma (.) z|| is at most max|gamma_i| sqrt(d), the bias adds at most its length, and the norm bounds "
            "the form; equality where state, bias and the top direction of the product agree."
        ),
        is_correction=True,
    ),
    mathematical(
        "razor.eq2.scale",
        "RazorAttention, Eq. 2 with 1/sqrt(d_head)",
        "Leaving out 1/sqrt(d_head) errs on the safe side by sqrt(d_head), and does not repair Eq. 2: at gamma = e_1, "
        "b = 0 the range exceeds its numerator d / sqrt(d_head) times, at least sqrt(d) times.",
        exact(
            "RMSNorm, M = e_1 e_1^T: the range from hidden states to logits in balls, 2d; over the numerator, against "
            "sqrt(d)",
            c.range_over_numerator,
            tuple({"d": d, "d_head": h} for d in (64, 512) for h in (32, 64, 128) if h <= d),
            Control("divided by d_head", lambda d, d_head: c.range_over_numerator(d, d_head, root=False)),
        ),
        symbolic(
            "d^2/d_head - d, every d_head <= d",
            c.safe_side,
            ONCE,
            Control("divided by d_head^2", lambda: c.safe_side(power=2)),
        ),
        formula=r"\frac{D}{2\|M\|_2\|\gamma\|^2}=\frac{d}{\sqrt{d_h}}\ge\sqrt{d}",
        hypotheses=("d_head <= d",),
        coverage=everywhere(
            "Only the first component counts there, at most sqrt(d) in size, so the range is 2d at every d; and d^2 is "
            "at least d d_head."
        ),
        is_correction=True,
    ),
)
