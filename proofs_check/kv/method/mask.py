"""Section 2.2 of the KV-shifting paper: the causal mask and the divisor of the scores (Eq. 6)."""

import sympy as sp

from proofs_check.evidence.margin import Margin, identity, same
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Nature, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import exact, mathematical, not_identity, symbolic
from theory.shift.algebra import softmax
from theory.symbols import alpha1

SECTION = "KV shifting (both versions), Section 2.2"
LENGTHS = [{"length": n} for n in (2, 3, 4)]


def _masked(length: int, score: sp.Expr = -sp.oo) -> Margin:
    """Row 1 leaves no weight on later tokens, whose scores are masked to `score`; its own score is free."""
    weights = softmax([sp.Symbol("s_1", real=True), *[score] * (length - 1)])
    return identity(sum(weights[1:]), 0)


def _mask_fits(length: int, dim: int, size: int | None = None) -> Margin:
    """Shape of Q K^T, (length, dim) by (dim, length), against the shape of M, `size` or `length` both ways."""
    return same((sp.zeros(length, dim) * sp.zeros(dim, length)).shape, (size or length,) * 2)


def _two_divisors(dim: int, other: sp.Expr | int = 1) -> Margin:
    """Score alpha of a match divided by sqrt(D), as after Eq. 6, against Theorem 3.4's score alpha itself."""
    return not_identity(alpha1 / sp.sqrt(dim), alpha1 / other)


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.eq6.mask",
        f"{SECTION}, Eq. 6",
        "The causal mask multiplies the scores: Softmax(Q K^T . M / sigma).",
        symbolic(
            "the weight row 1 leaves on later tokens is zero under an additive mask, N = 2..4",
            _masked,
            LENGTHS,
            Control("the mask multiplied, as printed", lambda length: _masked(length, sp.S.Zero)),
        ),
        verdict=Verdict.TYPO,
        formula=r"\mathrm{Softmax}(Q\hat K^T\cdot M/\sigma)\hat VW_o",
        note="The mask is added: 0 where s <= j and minus infinity elsewhere.",
        severity=Severity.MISPRINT,
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.eq6.mask_shape",
        f"{SECTION}, after Eq. 6",
        "The causal mask M is a D x D matrix.",
        exact(
            "the shape of Q K^T for N, D = 1..4",
            _mask_fits,
            [{"length": n, "dim": d} for n in range(1, 5) for d in range(1, 5)],
            Control("D x D, as printed", lambda length, dim: _mask_fits(length, dim, dim)),
        ),
        nature=Nature.TEXTUAL,
        verdict=Verdict.TYPO,
        note="M is N x N, like Q K^T.",
        severity=Severity.MISPRINT,
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.eq6.sigma",
        f"{SECTION}, after Eq. 6, against Section 3",
        "The letter sigma: sqrt(D) after Eq. 6, free in Definition 3.1 and Theorem 3.3, and 1 in Theorem 3.4.",
        symbolic(
            "score of a match: alpha/sqrt(D) against Theorem 3.4's alpha, D = 2, 4, 64",
            _two_divisors,
            ({"dim": 2}, {"dim": 4}, {"dim": 64}),
            Control("the same divisor", lambda dim: _two_divisors(dim, sp.sqrt(dim))),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        reading="One letter stands for several quantities; nothing in the text says that they are one.",
        note="The divisor of the analysis is a quantity of its own: it matters (kv.eq6.sigma.corrected).",
        formula=r"\frac{\alpha}{\sqrt{D}}\ne\alpha",
        coverage=everywhere("One width is enough to tell two quantities apart."),
    ),
)
