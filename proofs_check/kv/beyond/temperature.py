"""Theorem 3.4 beyond the paper: which logit temperature an induction head should use at finite width."""

from fractions import Fraction

from proofs_check.kv.beyond import temperature_checks as c
from proofs_check.ledger.claim import SAMPLES, Control, Effort, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, sampled, symbolic
from theory.symbols import dim

SOURCE = "KV shifting (both versions), Section 3.2, Theorem 3.4, our addition"
GAUSSIAN = "embeddings iid N(0, 1/d)"
HARD = "hard attention: the output is kappa times the target's embedding"
NEAR = (Fraction(99, 100), Fraction(1), Fraction(101, 100))


def _widths(effort: Effort) -> list[dict[str, object]]:
    widths = (2, 4, 8) if effort is Effort.QUICK else (2, 4, 6, 8, 12, 16)
    return [{"width": d, "factor": f} for d in widths for f in NEAR]


CLAIMS = (
    mathematical(
        "kv.beyond.temperature.infinite",
        SOURCE,
        "At d = infinity, alpha = (0, gamma), beta = (kappa, 0) with kappa > 0 the loss falls in gamma, and in kappa "
        "where gamma > log 2, towards 0: the optimum is at infinity.",
        symbolic(
            "both exponents and their slopes in gamma; the larger one has the sign of 2 - e^gamma",
            c.falls_without_end,
            ONCE,
            Control("threshold at gamma = 0", lambda: c.falls_without_end(1)),
        ),
        formula=r"L=\log\left(1+e^{\kappa(2-e^{\gamma})/(e^{\gamma}+T)}+(T-2)e^{\kappa(1-e^{\gamma})/(e^{\gamma}+T)}\right)",
        hypotheses=("2 <= i <= T - 2", "logits at d = infinity (kv.eq10.corrected)"),
        coverage=everywhere("Both exponents and their slopes are identities in gamma, kappa and T as free symbols."),
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.temperature.one_competitor",
        SOURCE,
        "With one competitor the loss E log(1 + e^{kappa D}), D = x.u - |u|^2, has its only minimum at kappa = 2 d, "
        "exactly and at every width. Only x need be Gaussian: |u| may follow any law.",
        symbolic(
            "given |u|^2 the density of D is e^{-d D} times an even function, every d",
            c.even_after_tilt,
            ONCE,
            Control("e^{-2 d D}", lambda: c.even_after_tilt(2 * dim)),
        ),
        symbolic(
            "so at kappa = 2 d the slope E[D / (1 + e^{-kappa D})] integrates an odd function",
            c.odd_at_optimum,
            ONCE,
            Control("kappa = d", lambda: c.odd_at_optimum(1)),
        ),
        symbolic(
            "and the loss is strictly convex in kappa",
            c.convex_in_temperature,
            ONCE,
            Control("one more", lambda: c.convex_in_temperature(1)),
        ),
        exact(
            "enclosed slope: negative at 0.99, 0 at 1, positive at 1.01 times 2 d; d = 2, 4, 8 (full: to 16)",
            c.slope_sign,
            _widths,
            Control(
                "the optimum at 1.02 times 2 d",
                lambda **p: c.slope_sign(**p, optimum=Fraction(51, 50)),
                ({"width": 8, "factor": NEAR[2]},),
            ),
        ),
        formula=r"\kappa^*=2d\text{ minimises }E\log(1+e^{\kappa D})",
        hypotheses=(GAUSSIAN, HARD),
        coverage=everywhere(
            "Given |u| the tilted density of D is even for every d, so the slope at 2 d is 0 by symmetry, whatever "
            "the law of |u|, and strict convexity leaves no other minimum."
        ),
        note="The finite optimum is due to fluctuating norms: where |x| = |u| = 1, D = -|x - u|^2/2 is negative, and "
        "the loss falls in kappa towards 0.",
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.temperature.several_competitors",
        SOURCE,
        "With two competitors or more the optimal temperature lies strictly between d and 2 d, at every width.",
        symbolic(
            "given |u| and the other margins, the tilted slope weighs D against -D: more at kappa = 2 d, less at d",
            c.bracket,
            ({"at_double": True}, {"at_double": False}),
            Control("2 in place of the target's 1", lambda at_double: c.bracket(at_double, rest=2)),
        ),
        symbolic(
            "the loss is convex in kappa",
            c.convex_in_temperature,
            ONCE,
            Control("one more", lambda: c.convex_in_temperature(1)),
        ),
        sampled(
            "Monte-Carlo slopes at d and 2 d, three standard errors, (T, d) = (3, 2), (10, 4), (30, 8)",
            c.sampled_slope,
            tuple(
                {"tokens": t, "width": d, "temperature": float(f * d), "rising": f == 2}
                for t, d in ((3, 2), (10, 4), (30, 8))
                for f in (1, 2)
            ),
            Control("rising at d", None, ({"tokens": 30, "width": 8, "temperature": 8.0, "rising": True},)),
            Control("falling at 2 d", None, ({"tokens": 30, "width": 8, "temperature": 16.0, "rising": False},)),
        ),
        formula=r"d<\kappa^*<2d",
        hypotheses=(GAUSSIAN, HARD, "T >= 3"),
        coverage=everywhere(
            "The weights of D and -D are compared for any d and any positive sum over the other competitors; the "
            "slope is an integral of them, and the loss is convex in kappa."
        ),
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.temperature.bound",
        SOURCE,
        "E L <= log(1 + (T-1)(1 + 2 kappa/d - kappa^2/d^2)^{-d/2}), least at kappa = d: log(1 + (T-1) 2^{-d/2}).",
        symbolic(
            "E e^{s D} by the Gaussian and the chi-square integral, every d; it is even about s = d",
            c.moments_derived,
            ONCE,
            Control("s + s^2/2d for s - s^2/2d", lambda: c.moments_derived(1)),
        ),
        symbolic(
            "the base is 2 - (kappa - d)^2/d^2",
            c.jensen_minimum,
            ONCE,
            Control("centred at 2 d", lambda: c.jensen_minimum(2 * dim)),
        ),
        symbolic(
            "Jensen: log(1 + s) lies below its tangent at the mean",
            c.tangent,
            ONCE,
            Control("a tangent one higher", lambda: c.tangent(1)),
        ),
        formula=r"E\,L\le\log\left(1+(T-1)\left(1+\frac{2\kappa}{d}-\frac{\kappa^2}{d^2}\right)^{-d/2}\right)",
        hypotheses=(GAUSSIAN, HARD, "kappa < (1 + sqrt 2) d"),
        coverage=everywhere("Each step is an identity or a tangent in free symbols, for every d, T and kappa."),
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.temperature.soft",
        SOURCE,
        "With soft attention at d = 8, T = 8 and 30, alpha = (0, gamma) and beta = (kappa, 0), the expected loss is "
        "lower at gamma = kappa = 1.1 d than with either or both of them at 0.6 d or 1.7 d.",
        sampled(
            "4000 sentences, the same embeddings at both points, three standard errors",
            c.soft_attention,
            tuple(
                {"tokens": t, "key_factor": key, "read_factor": read}
                for t in (8, 30)
                for key in (0.6, 1.1, 1.7)
                for read in (0.6, 1.1, 1.7)
                if (key, read) != (1.1, 1.1)
            ),
            Control(
                "0.6 d is best",
                lambda **p: c.soft_attention(**p, center=0.6),
                tuple({"tokens": t, "key_factor": 1.1, "read_factor": 1.1} for t in (8, 30)),
            ),
        ),
        formula=r"E\,L(1.1d,1.1d)<E\,L(\gamma,\kappa),\quad\gamma,\kappa\in\{0.6d,1.1d,1.7d\}",
        hypotheses=(GAUSSIAN, "i = T/2"),
        coverage=SAMPLES,
        is_correction=True,
    ),
)
