"""Theorem 3.4: the loss of the one-repeat sentence as the embedding dimension grows (Table 3, Eq. 10, 13, 14)."""

from fractions import Fraction

import sympy as sp

from proofs_check.claim import Claim, Control, Effort, Evidence, Interval, Kind, Nature, Sampled, Verdict, Witness
from proofs_check.kv import landscape_checks as c
from proofs_check.kv.landscape_checks import INTERIOR, WIDE, everywhere, interior, planted_edge
from theory import landscape_symbolic as symbolic
from theory.symbols import beta1, beta2

EXAMPLE = {"a1": Fraction(3, 10), "a2": Fraction(7, 10), "b1": Fraction(2, 5), "b2": Fraction(3, 5), "tokens": 9}
SMALLEST = {"a1": Fraction(0), "a2": Fraction(1), "b1": Fraction(0), "b2": Fraction(1), "tokens": 4}
THEOREM = "KV shifting (final), Section 3.2, Theorem 3.4"
APPENDIX = "KV shifting (final), Appendix C"

CLAIMS = (
    Claim(
        id="kv.eq10",
        source="KV shifting (final), Section 3.2, Eq. 10",
        statement="The loss of the one-repeat sentence is Eq. 10; its tokens i - 1 and T have logit b1/S + b2 a_2.",
        formula=r"L=-\log\frac{e^{a_2\beta_1+\beta_2/S}}{e^{a_2\beta_1+\beta_2/S}+2e^{\beta_1/S+\beta_2a_2}"
        r"+e^{2a_1\beta_1+a_2\beta_2}+O(T)}",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.FALSE,
        hypotheses=(INTERIOR, "d = infinity", "score scale 1"),
        evidence=(
            Evidence(
                Kind.CERTIFIED,
                "balls at an exact point, both O(T) at their exact values, against attention over one-hot rows",
                c.loss_differs,
                (SMALLEST, EXAMPLE),
                (Control("a_1 in place of a_2", lambda **p: c.loss_differs(**p, formula=c.EXACT_LOSS)),),
            ),
        ),
        witness=Witness(SMALLEST),
        correction="kv.eq10.corrected",
        note="The exponential of the tokens i - 1 and T is of alpha1: e^{b1/S + b2 a_1}.",
    ),
    Claim(
        id="kv.eq10.corrected",
        source="KV shifting (final), Section 3.2, Eq. 10, corrected",
        statement="For T >= 4 and 1 < i < T - 1 the loss is log(1 + e^{(n_i-n_t)/S} + 2 e^{(n_e-n_t)/S} "
        "+ (T-4) e^{(n_o-n_t)/S}) with n_t = b1 e^{alpha2} + b2, n_i = 2 b1 e^{alpha1} + b2 e^{alpha2}, "
        "n_e = b1 + b2 e^{alpha1}, n_o = b1 + b2 and S = 2 e^{alpha1} + e^{alpha2} + T - 2.",
        formula=r"L=\log\left(1+e^{(n_i-n_t)/S}+2e^{(n_e-n_t)/S}+(T-4)e^{(n_o-n_t)/S}\right)",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        is_correction=True,
        hypotheses=(*WIDE, Interval("tokens", 4, 12, whole=True)),
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "logits, token by token, as identities in the four parameters: T = 4..7, every interior i",
                c.interior_table,
                interior,
                (
                    Control("alpha2 for alpha1, as Table 3 prints", planted_edge(symbolic.printed_edge_numerator())),
                    Control("beta1 and beta2 swapped", planted_edge(beta2 + beta1 * symbolic.A)),
                    Control(
                        "T off by one",
                        lambda tokens, position: c.interior_table(tokens, position, extra=1),
                    ),
                ),
            ),
            Evidence(
                Kind.SAMPLED,
                "loss against attention over one-hot rows, T = 4..12, parameters in [-4, 4]",
                c.kernel_loss,
                Sampled(200, 2000),
                (Control("as printed", lambda **p: c.kernel_loss(**p, formula=c.printed_with_exact_rests)),),
            ),
        ),
    ),
    Claim(
        id="kv.eq10.rest",
        source="KV shifting (final), Section 3.2, Eq. 10",
        statement="One O(T) serves in S and in the denominator, and it may be treated as a constant.",
        formula=r"\text{one }O(T)\ge 0\text{ in }S\text{ and in the denominator}",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.FALSE,
        hypotheses=(INTERIOR,),
        evidence=(
            Evidence(
                Kind.EXACT,
                "both rests counted at alpha = beta = 0, where every exponential is 1, T = 4..64",
                c.two_rests,
                tuple({"tokens": t} for t in range(4, 65)),
                (Control("two tokens fewer set aside", lambda tokens: c.two_rests(tokens, second_count=2)),),
            ),
        ),
        witness=Witness({"tokens": 4}),
        correction="kv.eq10.rest.corrected",
        note="In S it is T - 2; in the denominator it is (T - 4) e^{(b1+b2)/S}, which moves with all four parameters.",
    ),
    Claim(
        id="kv.eq10.rest.corrected",
        source="KV shifting (final), Section 3.2, Eq. 10, corrected",
        statement="With S = 2 e^{alpha1} + e^{alpha2} + (T - 2) the rest of the denominator is (T - 4) e^{(b1+b2)/S}.",
        formula=r"S=2e^{\alpha_1}+e^{\alpha_2}+(T-2),\qquad"
        r" \sum_{\text{others}}e^{l_k}=(T-4)\,e^{(\beta_1+\beta_2)/S}",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        is_correction=True,
        hypotheses=(INTERIOR,),
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "sum over the other tokens of one-hot attention, T = 5..7, every interior i",
                c.rests,
                lambda effort: [p for p in interior(effort) if p["tokens"] > 4],
                (Control("T - 1 in S", lambda tokens, position: c.rests(tokens, position, offset=1)),),
            ),
        ),
    ),
    Claim(
        id="kv.thm3.4.small_t",
        source=THEOREM,
        statement="Eq. 10 applies for every T >= 3, all its O(.) being >= 0.",
        formula=r"T\ge 3",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.FALSE,
        hypotheses=("T >= 3",),
        evidence=(
            Evidence(
                Kind.EXACT,
                "alpha = beta = 0 at T = 3: Eq. 10 is at least log 4, attention gives log 3",
                c.terms_at_zero,
                ({"tokens": 3},),
                (Control("T = 4, where it applies", None, ({"tokens": 4},)),),
            ),
        ),
        witness=Witness({"tokens": 3}),
        correction="kv.appC.every_position",
        note="T = 3 has no interior position; T >= 4 is needed.",
    ),
    Claim(
        id="kv.thm3.4.minimum",
        source=THEOREM,
        statement="Learning solves min L: the loss over the four parameters has a minimiser.",
        formula=r"\min_{\alpha,\beta}L",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.FALSE,
        hypotheses=("all four parameters real",),
        evidence=(
            Evidence(
                Kind.CERTIFIED,
                "T = 9, i = 4 along alpha = (0, 2), beta = (b, 0): doubling b lowers a loss that stays positive",
                c.descends,
                tuple({"b1": 2**k} for k in range(8)),
                (Control("along alpha = 0, where the loss rises", lambda b1: c.descends(b1, a2=0)),),
            ),
        ),
        witness=Witness({"b1": 64}),
        correction="kv.thm3.4.minimum.corrected",
        note="The infimum is 0 and is not attained; what is minimised is an infimum along beta1 -> infinity.",
    ),
    Claim(
        id="kv.thm3.4.minimum.corrected",
        source=THEOREM + ", corrected",
        statement="inf L = 0, not attained: L > 0 everywhere, and L -> 0 along beta1 -> infinity at alpha = (0, 2).",
        formula=r"\inf_{\alpha,\beta}L=0,\qquad L>0",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        is_correction=True,
        hypotheses=("T >= 4",),
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "e^L - 1 is a sum of exponentials with whole coefficients >= 0 and one of 1, T = 2..7, every i",
                c.positive_loss,
                everywhere,
                (Control("e^L - 2", lambda tokens, position: c.positive_loss(tokens, position, plant=-1)),),
            ),
            Evidence(
                Kind.CERTIFIED,
                "every exponent has a negative slope in beta1 at alpha = (0, 2), beta2 = 0, T = 4..64",
                c.ray_exponents,
                tuple({"tokens": t} for t in range(4, 65)),
                (Control("at alpha = 0", lambda tokens: c.ray_exponents(tokens, a2=0)),),
            ),
        ),
    ),
    Claim(
        id="kv.thm3.4.sigma",
        source=THEOREM + " with Eq. 6",
        statement="As d -> infinity the attention weights tend to those of Table 3 although Eq. 6 divides by sqrt(D).",
        formula=r"\lim_{d\to\infty}a_{i+1}=\frac{e^{\alpha_2}}{S}",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS_IF,
        note="The score scale must stay 1 (sigma = 1): with sigma = sqrt(D) the attention tends to the uniform one.",
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "limit of the weight on i + 1 at alpha = (0, 1), T = 4..9, score scale 1",
                c.score_scale,
                tuple({"tokens": t, "power": sp.Integer(0)} for t in range(4, 10)),
                (Control("sigma = sqrt(D)", None, tuple({"tokens": t, "power": sp.Rational(1, 2)} for t in (4, 9))),),
            ),
        ),
    ),
    Claim(
        id="kv.thm3.4.limit",
        source=THEOREM,
        statement="As d -> infinity the logits tend to those of the closed form, with deviations of order 1/sqrt(d).",
        formula=r"\max_k|l_k^{(d)}-l_k|=O(1/\sqrt{d})",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        hypotheses=("embeddings iid N(0, 1/d)", "T = 9, i = 4, alpha = (.3, .7), beta = (.4, .6)"),
        evidence=(
            Evidence(
                Kind.SAMPLED,
                "largest deviation of the nine logits below 1.5/sqrt(d), d = 64..65536, seeded",
                c.gaussian_logits,
                lambda effort: [
                    {"dim": 4**k, "seed": s} for k in range(3, 9) for s in range(3 if effort is Effort.QUICK else 10)
                ],
                (Control("alpha and beta swapped", lambda dim, seed: c.gaussian_logits(dim, seed, swap=True)),),
            ),
        ),
    ),
    Claim(
        id="kv.tab3",
        source="KV shifting (final), Appendix C, Table 3",
        statement="Table 3: tokens i - 1 and T have logit (b1 + b2 e^{alpha2}) / S.",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.FALSE,
        hypotheses=(INTERIOR,),
        evidence=(
            Evidence(
                Kind.CERTIFIED,
                "balls at an exact point against attention over one-hot rows",
                c.edge_logit,
                (SMALLEST, EXAMPLE),
                (Control("with e^{alpha1}", lambda **p: c.edge_logit(**p, formula=c.EXACT_EDGE)),),
            ),
        ),
        witness=Witness(SMALLEST),
        correction="kv.eq10.corrected",
        note="The derivation above the table has e^{alpha1}; the table copies it as e^{alpha2}.",
        formula=r"l_{i-1}=l_T=\frac{\beta_1+\beta_2e^{\alpha_2}}{S}",
    ),
    Claim(
        id="kv.eq13",
        source=APPENDIX + ", Eq. 13",
        statement="The loss is minus the logarithm of the target's softmax over the T tokens.",
        formula=r"L=-\log\frac{e^{l_{i+1}}}{\sum_{k=1}^{T}e^{l_k}}",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "closed form against softmax cross entropy of one-hot attention, T = 2..5, every i",
                c.cross_entropy,
                tuple({"tokens": t, "position": i} for t in range(2, 6) for i in range(1, t + 1)),
                (Control("a vocabulary of T + 1", lambda tokens, position: c.cross_entropy(tokens, position, 1)),),
            ),
        ),
    ),
    Claim(
        id="kv.eq14",
        source=APPENDIX + ", Eq. 14",
        statement="Eq. 14 follows from Table 3 as printed (the step is right; the table is not).",
        formula=r"L=-\log\frac{e^{a_2\beta_1+\beta_2/S}}{e^{a_2\beta_1+\beta_2/S}+2e^{\beta_1/S+\beta_2a_2}"
        r"+e^{2a_1\beta_1+a_2\beta_2}+O(T)}",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "log-sum-exp of the printed table with both O(T) exact, all T >= 4 at once",
                c.table_to_eq14,
                ({"edge": symbolic.printed_edge_numerator()},),
                (Control("the right table", None, ({"edge": c.TABLE.classes[2].numerator},)),),
            ),
        ),
    ),
    Claim(
        id="kv.thm3.4.coverage",
        source=THEOREM + " with Appendix K",
        statement="Theorem 3.4 describes every sentence of the paper's own data.",
        formula=r"2\le i\le T-2",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.FALSE,
        evidence=(
            Evidence(
                Kind.EXACT,
                "share of interior positions under the generator's exact law, pools of 4..128 and 512 tokens",
                c.covered_share,
                tuple({"pool": n} for n in (4, 8, 16, 32, 64, 128, 512)),
                (Control("below zero", lambda pool: c.covered_share(pool, Fraction(0))),),
            ),
        ),
        witness=Witness({"pool": 512}),
        correction="kv.appC.every_position",
        note="The generator puts i at 1 or T - 1 with probability 2/(T - 1): the theorem covers about nine in ten.",
    ),
)
