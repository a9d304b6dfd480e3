"""Appendix C: the derivation of Theorem 3.4 line by line, its moments and its error terms."""

from fractions import Fraction

from proofs_check.claim import Claim, Control, Evidence, Interval, Kind, Nature, Sampled, Verdict, Witness
from proofs_check.kv import landscape_checks as c
from proofs_check.kv.landscape_checks import INTERIOR, WIDE, everywhere, interior, planted_edge
from theory import landscape_symbolic as symbolic

APPENDIX = "KV shifting (final), Appendix C"

CLAIMS = (
    Claim(
        id="kv.appC.scores",
        source=APPENDIX + ", attention scores",
        statement="At d = infinity the last token's scores are alpha1 at i and T + 1, alpha2 at i + 1, 0 elsewhere.",
        formula=r"\hat a_i=\hat a_{T+1}=\alpha_1,\qquad \hat a_{i+1}=\alpha_2,\qquad \hat a_k=0",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS_IF,
        note="i < T is needed (the proof's footnote says so): at i = T the places i + 1 and T + 1 coincide.",
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "all keys, T = 2..9, i = 1..T-1",
                c.attention_scores,
                tuple({"tokens": t, "position": i} for t in range(2, 10) for i in range(1, t)),
                (
                    Control("i = T", None, tuple({"tokens": t, "position": t} for t in range(2, 10))),
                    Control("alphas swapped", lambda tokens, position: c.attention_scores(tokens, position, True)),
                ),
            ),
        ),
    ),
    Claim(
        id="kv.appC.logits",
        source=APPENDIX + ", logits",
        statement="The derivation's limits: token i 2 b1 e^{alpha1} + b2 e^{alpha2}, i + 1 b1 e^{alpha2} + b2, "
        "i - 1 and T b1 + b2 e^{alpha1}, others b1 + b2, all over S.",
        formula=r"l_i=\frac{2\beta_1e^{\alpha_1}+\beta_2e^{\alpha_2}}{S},\quad"
        r" l_{i+1}=\frac{\beta_1e^{\alpha_2}+\beta_2}{S},\quad "
        r"l_{i-1}=l_T=\frac{\beta_1+\beta_2e^{\alpha_1}}{S},\quad l_k=\frac{\beta_1+\beta_2}{S}",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        hypotheses=(INTERIOR,),
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "token by token, T = 4..7, every interior i",
                c.interior_table,
                interior,
                (Control("Table 3 as printed", planted_edge(symbolic.printed_edge_numerator())),),
            ),
        ),
    ),
    Claim(
        id="kv.appC.every_position",
        source=APPENDIX + ", completed",
        statement="Logits for every T >= 2 and 1 <= i <= T, boundary cases included (`landscape_symbolic.logits`).",
        formula=r"l_k=\beta_1\sum_{s:x_s=k}a_s+\beta_2\sum_{s:x_{s-1}=k}a_s",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        is_correction=True,
        hypotheses=(*WIDE, Interval("tokens", 2, 12, whole=True)),
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "token by token, T = 2..7, every i",
                c.every_position,
                everywhere,
                (Control("the next position", lambda tokens, position: c.every_position(tokens, position, 1)),),
            ),
            Evidence(
                Kind.SAMPLED,
                "numpy kernel, T = 2..12, every i, parameters in [-4, 4]",
                c.kernel_logits,
                Sampled(100, 1000),
                (Control("the next position", lambda **p: c.kernel_logits(**p, seen=1)),),
            ),
        ),
    ),
    Claim(
        id="kv.appC.footnote12",
        source=APPENDIX + ", footnote 12",
        statement="The derivation covers every i with i > 1 and i < T.",
        formula=r"1<i<T",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.FALSE,
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "target logit at i = T - 1, T = 3..9: b1 e^{alpha2} + b2 e^{alpha1} over S, not b1 e^{alpha2} + b2",
                c.last_but_one_target,
                tuple({"tokens": t, "position": t - 1} for t in range(3, 10)),
                (Control("i = T - 2", None, tuple({"tokens": t, "position": t - 2} for t in range(4, 10))),),
            ),
        ),
        witness=Witness({"tokens": 3, "position": 2}),
        correction="kv.appC.every_position",
        note="1 < i < T - 1 is needed: at i = T - 1 the successor is token T, which the last key mixes in.",
    ),
    Claim(
        id="kv.appC.norm",
        source=APPENDIX + ", (Norm)",
        statement="u.u is a scaled chi-squared variable with mean 1 and variance 2/d.",
        formula=r"\mathbb{E}\,|u|^2=1,\qquad \mathrm{Var}\,|u|^2=\frac{2}{d}",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "Gaussian moments, all d at once",
                c.norm_moments,
                ({"variance_times_d": 2},),
                (Control("variance 1/d", None, ({"variance_times_d": 1},)),),
            ),
        ),
    ),
    Claim(
        id="kv.appC.orthogonality",
        source=APPENDIX + ", (Near-orthogonality)",
        statement="sqrt(d) u.v has mean 0 and variance 1 and tends to N(0, 1).",
        formula=r"\sqrt{d}\,u_i^{\top}u_j\to\mathcal{N}(0,1)",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "first, second and fourth moment (0, 1, 3 + 6/d), all d at once; the limit itself is the cited CLT",
                c.product_moments,
                ({"fourth_excess": 6},),
                (Control("fourth moment 3 + 3/d", None, ({"fourth_excess": 3},)),),
            ),
        ),
    ),
    Claim(
        id="kv.appC.error_term",
        source=APPENDIX + ", attention scores",
        statement="Scores deviate from their limits by O((alpha1 + alpha2)/sqrt(d)).",
        formula=r"\hat a_k=O\left(\frac{\alpha_1+\alpha_2}{\sqrt{d}}\right)",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.FALSE,
        evidence=(
            Evidence(
                Kind.EXACT,
                "d times the variance of u.(alpha1 v + alpha2 w) against d times the printed order squared",
                c.score_noise,
                ({"a1": Fraction(1), "a2": Fraction(-1)}, {"a1": Fraction(2), "a2": Fraction(-2)}),
                (Control("no cancellation", None, ({"a1": Fraction(1), "a2": Fraction(1)},)),),
            ),
        ),
        witness=Witness({"a1": Fraction(1), "a2": Fraction(-1)}),
        correction="kv.appC.error_term.corrected",
        note="At alpha1 = -alpha2 the printed order is 0, the deviation is not: (|alpha1| + |alpha2|)/sqrt(d).",
    ),
    Claim(
        id="kv.appC.error_term.corrected",
        source=APPENDIX + ", attention scores, corrected",
        statement="The standard deviation sqrt((alpha1^2 + alpha2^2)/d) is at most (|alpha1| + |alpha2|)/sqrt(d).",
        formula=r"\sqrt{\frac{\alpha_1^2+\alpha_2^2}{d}}\le\frac{|\alpha_1|+|\alpha_2|}{\sqrt{d}}",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        is_correction=True,
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "difference of the squares is 2 |alpha1 alpha2| >= 0",
                c.score_noise_bound,
                ({"extra": 0},),
                (Control("one more", None, ({"extra": 1},)),),
            ),
        ),
    ),
    Claim(
        id="kv.appC.order_notation",
        source=APPENDIX + ", softmax weights",
        statement="a_k = e^{score} O(e^{(alpha1+alpha2)/sqrt(d)}) / S determines the limit of the weights.",
        formula=r"a_k=\frac{e^{\hat a_k}\,O(e^{(\alpha_1+\alpha_2)/\sqrt{d}})}{S}",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.TYPO,
        note="O(.) allows any bounded factor; 1 + o(1) is meant, and needed.",
        evidence=(
            Evidence(
                Kind.EXACT,
                "a factor 1 keeps the weight 1/3",
                c.order_notation,
                ({"factor": Fraction(1)},),
                (Control("a factor 1/2, which is O(1)", None, ({"factor": Fraction(1, 2)},)),),
            ),
        ),
    ),
    Claim(
        id="kv.appC.x_n",
        source=APPENDIX + ", attention scores, k = T + 1",
        statement="The key at T + 1 mixes in x_n.",
        formula=r"\hat a_{T+1}=x_i^{\top}(\alpha_1x_i+\alpha_2x_n)",
        nature=Nature.TEXTUAL,
        verdict=Verdict.TYPO,
        note="x_T: there is no n in this proof.",
        evidence=(
            Evidence(
                Kind.EXACT,
                "the token before the last one, T = 2..9, every i",
                c.previous_of_last,
                tuple({"tokens": t, "position": i} for t in range(2, 10) for i in range(1, t + 1)),
                (Control("x_{T-1}", lambda tokens, position: c.previous_of_last(tokens, position, 1)),),
            ),
        ),
    ),
)
