"""Appendix C: the derivation of Theorem 3.4 line by line, its moments and its error terms."""

from fractions import Fraction

import sympy as sp

from proofs_check.kv.landscape import theorem34_checks as c
from proofs_check.kv.landscape.theorem34 import EVERY_LENGTH, INTERIOR_RUN
from proofs_check.kv.landscape.theorem34_checks import INTERIOR, every_place, interior, planted_edge
from proofs_check.ledger.claim import Claim, Control, Effort, Severity, Verdict
from proofs_check.ledger.claim import everywhere as all_of_it
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, sampled, symbolic
from theory.landscape import symbolic as closed
from theory.symbols import alpha1, alpha2

APPENDIX = "KV shifting (final), Appendix C"
BEFORE_THE_LAST = tuple({"case": name} for name in c.RUNS if name != "last")
ALL_WIDTHS = all_of_it("Gaussian moments of d independent coordinates, d and both alphas free.")


def positions_drawn(effort: Effort) -> list[dict]:
    """Seeded parameters in [-4, 4], T = 2..12."""
    import numpy as np

    rng = np.random.default_rng(12)
    count = 100 if effort is Effort.QUICK else 1000
    names = ("a1", "a2", "b1", "b2")
    return [
        {**dict(zip(names, rng.uniform(-4, 4, 4).tolist(), strict=True)), "tokens": int(rng.integers(2, 13))}
        for _ in range(count)
    ]


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.appC.scores",
        APPENDIX + ", attention scores",
        "At d = infinity the last token's scores are alpha1 at i and T + 1, alpha2 at i + 1, 0 elsewhere (i < T).",
        symbolic(
            "all keys, run by run, every T and every i < T",
            c.every_score,
            BEFORE_THE_LAST,
            Control("i = T", points=({"case": "last"},)),
            Control("alphas swapped", lambda case: c.every_score(case, True)),
        ),
        symbolic(
            "all keys written out, T = 2..9, i = 1..T-1",
            c.attention_scores,
            tuple({"tokens": t, "position": i} for t in range(2, 10) for i in range(1, t)),
            Control("i = T", points=tuple({"tokens": t, "position": t} for t in range(2, 10))),
            Control("alphas swapped", lambda tokens, position: c.attention_scores(tokens, position, True)),
        ),
        coverage=EVERY_LENGTH,
        hypotheses=("i < T, as footnote 12 states",),
        formula=r"\hat a_i=\hat a_{T+1}=\alpha_1,\qquad \hat a_{i+1}=\alpha_2,\qquad \hat a_k=0",
    ),
    mathematical(
        "kv.appC.logits",
        APPENDIX + ", logits",
        "The derivation's limits: token i 2 b1 e^{alpha1} + b2 e^{alpha2}, i + 1 b1 e^{alpha2} + b2, "
        "i - 1 and T b1 + b2 e^{alpha1}, others b1 + b2, all over S.",
        symbolic(
            "every token, run by run, T and i free",
            c.every_length,
            INTERIOR_RUN,
            Control("Table 3 as printed", lambda case: c.every_length(case, edge=closed.printed_edge_numerator())),
        ),
        symbolic(
            "token by token, T = 4..7, every interior i",
            c.interior_table,
            interior,
            Control("Table 3 as printed", planted_edge(closed.printed_edge_numerator())),
        ),
        coverage=EVERY_LENGTH,
        hypotheses=(INTERIOR,),
        formula=r"l_i=\frac{2\beta_1e^{\alpha_1}+\beta_2e^{\alpha_2}}{S},\quad"
        r" l_{i+1}=\frac{\beta_1e^{\alpha_2}+\beta_2}{S},\quad "
        r"l_{i-1}=l_T=\frac{\beta_1+\beta_2e^{\alpha_1}}{S},\quad l_k=\frac{\beta_1+\beta_2}{S}",
    ),
    mathematical(
        "kv.appC.every_position",
        APPENDIX + ", completed",
        "Logits for every T >= 2 and 1 <= i <= T, boundary cases included.",
        symbolic(
            "S, every logit and the tokens of each class in five families that are all pairs T, i; run by run",
            c.every_length,
            c.ALL_CASES,
            Control("i = T - 1 in the form of i = 1", lambda case: c.every_length("last but one", other="first")),
        ),
        symbolic(
            "`landscape.symbolic.logits` token by token, T = 2..7, every i",
            c.every_position,
            every_place,
            Control("the next position", lambda tokens, position: c.every_position(tokens, position, 1)),
        ),
        sampled(
            "the numpy kernel, T = 2..12, every i, parameters in [-4, 4]",
            c.kernel_logits,
            positions_drawn,
            Control("the next position", lambda **p: c.kernel_logits(**p, seen=1)),
        ),
        is_correction=True,
        coverage=EVERY_LENGTH,
        formula=r"l_k=\beta_1\sum_{s:x_s=k}a_s+\beta_2\sum_{s:x_{s-1}=k}a_s",
    ),
    mathematical(
        "kv.appC.norm",
        APPENDIX + ", (Norm)",
        "u.u is a scaled chi-squared variable with mean 1 and variance 2/d.",
        symbolic(
            "Gaussian moments, all d at once",
            c.norm_moments,
            ({"variance_times_d": 2},),
            Control("variance 1/d", points=({"variance_times_d": 1},)),
        ),
        coverage=all_of_it("d is free."),
        formula=r"\mathbb{E}\,|u|^2=1,\qquad \mathrm{Var}\,|u|^2=\frac{2}{d}",
    ),
    mathematical(
        "kv.appC.orthogonality",
        APPENDIX + ", (Near-orthogonality)",
        "sqrt(d) u.v has mean 0 and variance 1 and tends to N(0, 1).",
        symbolic(
            "characteristic function (1 + t^2/d)^{-d/2}, which tends to e^{-t^2/2}",
            c.normal_limit,
            ONCE,
            Control("e^{-t^2}", lambda: c.normal_limit(2)),
        ),
        symbolic(
            "first, second and fourth moment (0, 1, 3 + 6/d), all d at once",
            c.product_moments,
            ({"fourth_excess": 6},),
            Control("fourth moment 3 + 3/d", points=({"fourth_excess": 3},)),
        ),
        coverage=all_of_it("d and t are free; convergence of characteristic functions is convergence in law."),
        formula=r"\sqrt{d}\,u_i^{\top}u_j\to\mathcal{N}(0,1)",
    ),
    mathematical(
        "kv.appC.error_term",
        APPENDIX + ", attention scores",
        "Scores deviate from their limits by O((alpha1 + alpha2)/sqrt(d)).",
        symbolic(
            "standard deviation at most sqrt(2) (|alpha1| + |alpha2|)/sqrt(d) at every key, both signs, all d",
            c.score_order,
            c.KINDS,
            Control("(alpha1 + alpha2)/sqrt(d), as printed", lambda kind: c.score_order(kind, sizes=False)),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        reading="Sizes are meant under an O: |alpha1| + |alpha2|.",
        coverage=ALL_WIDTHS,
        hypotheses=("1 < i < T",),
        note="(|alpha1| + |alpha2|)/sqrt(d): at alpha1 = -alpha2 the printed order is 0 (kv.appC.error_term.cancels).",
        formula=r"\hat a_k=O\left(\frac{|\alpha_1|+|\alpha_2|}{\sqrt{d}}\right)",
    ),
    mathematical(
        "kv.appC.error_term.cancels",
        APPENDIX + ", attention scores, our addition",
        "Taken at its word the order (alpha1 + alpha2)/sqrt(d) is 0 at alpha1 = -alpha2, where no score is exact.",
        exact(
            "d times the variance of u.(alpha1 v + alpha2 w) against d times the printed order squared",
            c.score_noise,
            ({"a1": Fraction(1), "a2": Fraction(-1)}, {"a1": Fraction(2), "a2": Fraction(-2)}),
            Control("no cancellation", points=({"a1": Fraction(1), "a2": Fraction(1)},)),
        ),
        symbolic(
            "the variance it rests on, d free",
            c.score_variance,
            ({"kind": "other k"},),
            Control("(alpha1 + alpha2)^2", lambda kind: c.score_variance(kind, (alpha1 + alpha2) ** 2)),
        ),
        is_correction=True,
        coverage=all_of_it("The variance is exact in d and both alphas; at alpha1 = -alpha2 it is 2 alpha1^2/d."),
        formula=r"\alpha_1+\alpha_2=0,\quad\mathrm{Var}\,\hat a_k=\frac{2\alpha_1^2}{d}",
    ),
    mathematical(
        "kv.appC.error_term.corrected",
        APPENDIX + ", attention scores, corrected",
        "For 1 < i < T the scores' standard deviations are sqrt((2 alpha1^2 + alpha2^2)/d) at k = i and T + 1, "
        "sqrt((alpha1^2 + 2 alpha2^2)/d) at i + 1, |alpha1|/sqrt(d) at 1 and sqrt((alpha1^2 + alpha2^2)/d) elsewhere; "
        "all are at most sqrt(2) (|alpha1| + |alpha2|)/sqrt(d), which key i attains at alpha2 = 0.",
        symbolic(
            "d times each variance, Gaussian moments",
            c.score_variance,
            c.KINDS,
            Control("alpha1^2 + alpha2^2 at every key", lambda kind: c.score_variance(kind, alpha1**2 + alpha2**2)),
        ),
        exact(
            "which keys hold the repeated token, at every T and interior i",
            c.kinds_of_keys,
            ONCE,
            Control("one more token", lambda: c.every_score("interior", True)),
        ),
        symbolic(
            "the bound, both signs",
            c.score_order,
            c.KINDS,
            Control("without sqrt(2)", lambda kind: c.score_order(kind, 1)),
        ),
        is_correction=True,
        coverage=ALL_WIDTHS,
        hypotheses=("1 < i < T",),
        formula=r"\sqrt{\frac{2\alpha_1^2+\alpha_2^2}{d}},\ \sqrt{\frac{\alpha_1^2+2\alpha_2^2}{d}},\ "
        r"\sqrt{\frac{\alpha_1^2+\alpha_2^2}{d}}\le\sqrt{2}\,\frac{|\alpha_1|+|\alpha_2|}{\sqrt{d}}",
    ),
    mathematical(
        "kv.appC.logit_error",
        APPENDIX + ", logits",
        "Logits deviate from their limits by O((beta1 + beta2) T/sqrt(d)) and smaller terms of that kind.",
        symbolic(
            "alpha = 0, any T: a logit's variance at most ((|beta1| + |beta2|) T)^2/d, both signs",
            c.logit_order,
            ONCE,
            Control("(beta1 + beta2) T, as printed", lambda: c.logit_order(False)),
        ),
        symbolic(
            "that variance from the sentence place by place, T = 3..6, every i < T",
            c.logit_noise,
            tuple({"tokens": t, "position": i} for t in range(3, 7) for i in range(1, t)),
            Control("one token more", lambda tokens, position: c.logit_noise(tokens, position, 1)),
        ),
        defect="kv.appC.error_term",
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        reading="Sizes are meant under an O: |beta1| + |beta2|.",
        coverage=all_of_it("At beta1 = -beta2 the printed order is 0, the variance beta1^2/((T + 1)^2 d): any T, d."),
        hypotheses=("alpha = 0, where the weights are constant; for others see kv.thm3.4.limit",),
        note="(|beta1| + |beta2|) T/sqrt(d), which is safe; kv.thm3.4.limit bounds the deviation at every alpha.",
        formula=r"l_k-l_k^{\infty}=O\left(\frac{(|\beta_1|+|\beta_2|)T}{\sqrt{d}}\right)",
    ),
    mathematical(
        "kv.appC.order_notation",
        APPENDIX + ", softmax weights",
        "a_k = e^{score} O(e^{(alpha1+alpha2)/sqrt(d)}) / S determines the limit of the weights.",
        symbolic(
            "factors e^{c_k/sqrt(d)}, which tend to 1, leave the limit e^{alpha1}/S; T, alpha, c_k free",
            c.order_notation,
            ONCE,
            Control("a factor 1/2, which is O(1)", lambda: c.order_notation(sp.Rational(1, 2))),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=all_of_it("T, both alphas and the factors' constants are free."),
        note="O(.) allows any bounded factor; 1 + o(1) is meant, and needed.",
        formula=r"a_k=\frac{e^{\hat a_k}\,(1+o(1))}{S}",
    ),
)
