"""Theorem 3.4 at finite width, beyond the paper: mean and variance of the loss at order 1/d, and long sentences."""

import math

from proofs_check.evidence.margin import Margin
from proofs_check.kv.beyond import width_checks as c
from proofs_check.ledger.claim import INSTANCES, SAMPLES, Control, Effort, Evidence
from proofs_check.ledger.mathematical import exact, mathematical, sampled

SOURCE = "KV shifting (both versions), Section 3.2, Theorem 3.4, our addition"
GAUSSIAN = "embeddings iid N(0, 1/d)"
ACCURACY = ((8, 0.126), (32, 0.324), (128, 0.721), (512, 0.97))


def _threshold(tokens: int, factor: float) -> int:
    """factor times 2 T log T / (e - 1)^2, a width."""
    return max(1, round(factor * 2 * tokens * math.log(tokens) / (math.e - 1) ** 2))


def _reach(tokens: int, factor: float, expected: float) -> Margin:
    return c.accuracy(tokens, _threshold(tokens, factor), expected, slack=0.1)


def _lengths(effort: Effort) -> list[dict[str, float]]:
    lengths = (8, 16) if effort is Effort.QUICK else (8, 16, 32, 64)
    shares = ((0.5, 0.33), (1.0, 0.5), (8.0, 0.95))
    return [{"tokens": t, "factor": f, "expected": e} for t in lengths for f, e in shares]


def _interpolated(which: str) -> Evidence:
    return exact(
        "exact interpolation in 1/T through the kernel on fractions, at random rational parameters and e^{alpha}",
        c.long_limit,
        lambda effort: [{"which": which, "seed": 10 * s} for s in range(1 if effort is Effort.QUICK else 10)],
        Control("off by one", lambda which, seed: c.long_limit(which, seed, plant=1)),
    )


CLAIMS = (
    mathematical(
        "kv.beyond.width.terms",
        SOURCE,
        "E L = L_inf + c1/d + O(d^-2) and Var L = v1/d + O(d^-2) with c1 = sum_j L_jj,jj + (1/2) sum_{j<k} L_jk,jk and "
        "v1 = 2 sum_j L_jj^2 + sum_{j<k} L_jk^2, derivatives in G at G = I, in closed form.",
        exact(
            "the kernel on fractions against exact jets of the loss in each entry of G; T = 2..4 (full: 2..6), every i",
            c.exact_terms,
            c.every_position,
            Control("weight 1 off the diagonal of c1", lambda **p: c.exact_terms(**p, off_diagonal=c.HALF * 2)),
            Control("weight 1 on the diagonal of v1", lambda **p: c.exact_terms(**p, diagonal=1)),
        ),
        sampled(
            "Monte Carlo with the linear term as control variate, d = 256 and 1024, 4 random points (full: 10): three "
            "standard errors, each at most 10 % of the prediction",
            c.monte_carlo,
            c.monte_carlo_points,
            Control("no shift of the mean", lambda **p: c.monte_carlo(**p, mean_factor=0.0)),
            Control("twice the shift", lambda **p: c.monte_carlo(**p, mean_factor=2.0)),
            Control("no variance", lambda **p: c.monte_carlo(**p, variance_factor=0.0)),
            Control("twice the variance", lambda **p: c.monte_carlo(**p, variance_factor=2.0)),
        ),
        formula=r"c_1=\sum_j\frac{\partial^2L}{\partial G_{jj}^2}"
        r"+\frac12\sum_{j<k}\frac{\partial^2L}{\partial G_{jk}^2}",
        hypotheses=(GAUSSIAN, "T >= 2, 1 <= i <= T"),
        coverage=INSTANCES,
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.width.long_variance",
        SOURCE,
        "T v1 -> (beta1 + beta2)^2 as T grows: on the slice the noise of one sentence has standard deviation "
        "1/sqrt(d T), against a landscape of depth (e - 1)/T.",
        _interpolated("v1"),
        formula=r"\lim_{T\to\infty}T\,v_1=(\beta_1+\beta_2)^2",
        hypotheses=(GAUSSIAN, "4 <= i <= T - 4", "d -> infinity before T"),
        coverage=INSTANCES,
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.width.long_mean",
        SOURCE,
        "T c1 -> (b1 + b2)^2/2 + alpha1 b1 + alpha2 b2 - e^{alpha2} (alpha1 b2 + alpha2^2 b1/2) as T grows.",
        _interpolated("c1"),
        formula=r"\lim_{T\to\infty}T\,c_1=\frac{(\beta_1+\beta_2)^2}{2}+\alpha_1\beta_1+\alpha_2\beta_2"
        r"-e^{\alpha_2}\left(\alpha_1\beta_2+\frac{\alpha_2^2\beta_1}{2}\right)",
        hypotheses=(GAUSSIAN, "4 <= i <= T - 4", "d -> infinity before T"),
        coverage=INSTANCES,
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.width.argmax",
        SOURCE,
        "At T = 29 the head alpha = (0, 1), beta = (1, 0) is right by argmax in about 13, 32, 72, 97 % of the "
        "sentences at d = 8, 32, 128, 512; at d = 2 T log T / (e - 1)^2 in about half of them, T = 8 to 64.",
        sampled(
            "1000 sentences with fresh embeddings: three standard errors and a point of slack",
            c.accuracy,
            tuple({"tokens": 29, "width": d, "expected": e} for d, e in ACCURACY),
            Control("right always at d = 128", None, ({"tokens": 29, "width": 128, "expected": 1.0},)),
            Control("half as often", lambda tokens, width, expected: c.accuracy(tokens, width, expected / 2)),
        ),
        sampled(
            "at half, one and eight times d = 2 T log T / (e - 1)^2: near 1/3, 1/2 and 19/20 (within 0.1 and three "
            "standard errors), T = 8, 16 (full: to 64)",
            _reach,
            _lengths,
            Control("19/20 at that width already", None, ({"tokens": 16, "factor": 1.0, "expected": 0.95},)),
        ),
        formula=r"P(\text{argmax}=x_{i+1})\approx 0.13,\ 0.32,\ 0.72,\ 0.97\quad(d=8,\ 32,\ 128,\ 512)",
        hypotheses=(GAUSSIAN, "i uniform on 1..T-1"),
        coverage=SAMPLES,
        is_correction=True,
    ),
)
