"""Appendix A, Eq. 6 to 8: what post-norm states can be, and what their products can be."""

from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from proofs_check.evidence.margin import Margin, ball_above, ball_within, identity, worst
from proofs_check.ledger.claim import WITNESSED, Claim, Control, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from proofs_check.oracles.alibi import BallHead, ball, ball_scores, normalised

APPENDIX = "RazorAttention, Appendix A"
HALF = Fraction(1, 2)


def _unit(d: int) -> tuple[int, ...]:
    return (1, *[0] * (d - 1))


def normed_size_of(power: int = 1) -> Margin:
    """S/sigma^2 = d for a free sum of squares S > 0, sigma^2 = S/d."""
    total, d = sp.symbols("S d", positive=True)
    return identity(total / (total / d) ** power, d)


def doubled(sign: int = 1) -> Margin:
    """2 a^2 + 2 b^2 - (a + b)^2 = (a - b)^2, component by component."""
    a, b = sp.symbols("a b", real=True)
    return identity(2 * a**2 + 2 * b**2 - (a + b) ** 2, (a - sign * b) ** 2)


def gains_exceed(d: int, norm: str) -> Margin:
    """||g z||^2 > ||g||^2 at g = e_1 and the state whose first component is as large as it can be, in balls."""
    hidden = _unit(d) if norm == "rms" else (d - 1, *[-1] * (d - 1))
    return ball_above(normalised(BallHead(norm, _unit(d), (0,) * d, (), (), 1), hidden)[0] ** 2, 1)


def largest_gain_bounds(sign: int = 1) -> Margin:
    """G^2 z^2 - g^2 z^2 = (G - g)(G + g) z^2, g <= G; and (a + b)^2 - |x + y|^2 = 2 (a b - x.y) where |x| = a, |y| =
    b."""
    top, g, z, a, b, inner = sp.symbols("G g z a b inner", real=True)
    return worst(
        [
            identity(top**2 * z**2 - g**2 * z**2, (top - g) * (top + g) * z**2),
            identity((a + b) ** 2 - (a**2 + b**2 + 2 * inner), 2 * (a * b - sign * inner)),
        ]
    )


def range_over_numerator(d: int, d_head: int, root: bool = True) -> Margin:
    """M = e_1 e_1^T, gamma = e_1, RMSNorm, b = 0: the logits of the query sqrt(d) e_1 on the states sqrt(d) e_1 and its
    mirror image are 2 d apart, in balls; over sqrt(d_head) and the numerator 2 that is at least sqrt(d)."""
    first = _unit(d)
    head = BallHead("rms", first, (0,) * d, (first,), (first,), 0)
    low, own = ball_scores(head, [tuple(-e for e in first), first])
    scale = ball(d_head).sqrt() if root else d_head
    wide, near = own - low, Fraction(1, 10**11)
    return worst([ball_within(abs(wide - 2 * d), near), ball_within(ball(d).sqrt() - wide / 2 / scale, near)])


def safe_side(power: int = 1) -> Margin:
    """With d = d_head + t the square of d/sqrt(d_head) exceeds d by d t/d_head."""
    d_head, more = sp.symbols("d_h t", positive=True)
    d = d_head + more
    return identity(d**2 / d_head**power - d, d * more / d_head)


def range_bound(d: int, gain: Fraction, bias: Fraction, squares: bool = False) -> Margin:
    """(sqrt(d) max|g| + ||b||)^2 is ||x||^2 for RMSNorm with equal gains and b along e_1, in balls."""
    x = normalised(BallHead("rms", (gain,) * d, (bias, *[0] * (d - 1)), (), (), 1), _unit(d))
    bound = ball(d * gain**2 + bias**2) if squares else (ball(d).sqrt() * ball(gain) + ball(bias)) ** 2
    return ball_within(abs(sum((e * e for e in x), ball(0)) - bound), Fraction(1, 10**12))


def bilinear(product: Callable[[sp.Matrix, sp.Matrix], sp.Matrix] = lambda q, k: q.T * k) -> Margin:
    """q . k = x . W_Q^T W_K y entry by entry, all 3 x 3."""
    w_q, w_k = (sp.Matrix(3, 3, sp.symbols(f"{name}0:9")) for name in "qk")
    x, y = (sp.Matrix(sp.symbols(f"{name}0:3")) for name in "xy")
    return identity((w_q * x).dot(w_k * y), x.dot(product(w_q, w_k) * y))


BILINEAR = symbolic(
    "with W_Q^T W_K and a state for the query and one for the key, entry by entry, 3 x 3",
    bilinear,
    ONCE,
    Control("as printed, W_Q W_K", lambda: bilinear(lambda q, k: q * k)),
    Control("W_K^T W_Q", lambda: bilinear(lambda q, k: k.T * q)),
)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.appA.sigma",
        APPENDIX + ", definition of sigma",
        "LayerNorm divides by sigma = (1/d) sum_i (xhat_i - mu)^2.",
        symbolic(
            "with the root, any state of any size: S/(S/d) = d",
            normed_size_of,
            ONCE,
            Control("as printed, the square of the variance", lambda: normed_size_of(power=2)),
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
        BILINEAR,
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
        BILINEAR,
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
            doubled,
            ONCE,
            Control("a sign", lambda: doubled(sign=-1)),
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
            gains_exceed,
            tuple(
                {"d": d, "norm": norm} for norm, start in (("rms", 2), ("layer", 3)) for d in range(start, start + 6)
            ),
            Control("LayerNorm at d = 2", None, ({"d": 2, "norm": "layer"},)),
        ),
        verdict=Verdict.FALSE,
        severity=Severity.BREAKS,
        coverage=WITNESSED,
        formula=r"\|\gamma\odot z\|^2\le\|\gamma\|^2",
        witness={"d": 2, "norm": "rms"},
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
            largest_gain_bounds,
            ONCE,
            Control("a sign", lambda: largest_gain_bounds(sign=-1)),
        ),
        exact(
            "equal gains, b along the state, M = 1: equal up to rounding, in balls",
            range_bound,
            tuple({"d": d, "gain": g, "bias": b} for d in (1, 2, 5) for g in (HALF, 2) for b in (0, HALF)),
            Control(
                "d max gamma^2 + ||b||^2",
                lambda d, gain, bias: range_bound(d, gain, bias, squares=True),
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
            range_over_numerator,
            tuple({"d": d, "d_head": h} for d in (64, 512) for h in (32, 64, 128) if h <= d),
            Control("divided by d_head", lambda d, d_head: range_over_numerator(d, d_head, root=False)),
        ),
        symbolic(
            "d^2/d_head - d, every d_head <= d",
            safe_side,
            ONCE,
            Control("divided by d_head^2", lambda: safe_side(power=2)),
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
