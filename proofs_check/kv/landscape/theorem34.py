"""Theorem 3.4: the loss of the one-repeat sentence as the embedding dimension grows (Table 3, Eq. 10, 13, 14)."""

from fractions import Fraction

from proofs_check.kv.landscape import theorem34_checks as c
from proofs_check.kv.landscape import width_limit_checks
from proofs_check.kv.landscape.theorem34_checks import INTERIOR, interior
from proofs_check.kv.landscape.width_limit import STEPS, moves, step_evidence
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Effort, Severity, Verdict
from proofs_check.ledger.claim import everywhere as all_of_it
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, sampled, symbolic
from theory.landscape import symbolic as closed

THEOREM = "KV shifting (final), Section 3.2, Theorem 3.4"
APPENDIX = "KV shifting (final), Appendix C"
EVERY_LENGTH = all_of_it(
    "Places and tokens are counted in runs whose ends are symbolic in T and i, agreement decided by signs at both ends."
)
INTERIOR_RUN = ({"case": "interior"},)


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.eq10.rest",
        "KV shifting (final), Section 3.2, Eq. 10",
        "What Eq. 10 leaves as O(T), in S and in the denominator, is of order T and not negative; Figure 2 takes it as "
        "a constant.",
        symbolic(
            "0 <= T - 2 <= T and 0 <= (T - 4) e^{(b1+b2)/S} <= T e^c where |b1 + b2| <= 2 c, every T >= 4",
            c.order_of_rests,
            ONCE,
            Control("of order 0", lambda: c.order_of_rests(0)),
        ),
        coverage=all_of_it("T, alpha and a bound on the betas are free."),
        hypotheses=(INTERIOR, "bounded beta"),
        reading="O(T) is order notation, not one number, and the constant in Figure 2 a declared simplification.",
        formula=r"T-2=O(T),\qquad(T-4)e^{(\beta_1+\beta_2)/S}=O(T)",
    ),
    mathematical(
        "kv.eq10.rest.corrected",
        "KV shifting (final), Section 3.2, Eq. 10, corrected",
        "With S = 2 e^{alpha1} + e^{alpha2} + (T - 2) the rest of the denominator is (T - 4) e^{(b1+b2)/S}.",
        symbolic(
            "S, the logits and the number of the other tokens, in runs of places: T and i free",
            c.every_length,
            INTERIOR_RUN,
            Control("T - 1 in S", lambda case: c.every_length(case, extra=1)),
        ),
        symbolic(
            "sum over the other tokens of one-hot attention written out, T = 5..7, every interior i",
            c.rests,
            lambda effort: [p for p in interior(effort) if p["tokens"] > 4],
            Control("T - 1 in S", lambda tokens, position: c.rests(tokens, position, offset=1)),
        ),
        is_correction=True,
        coverage=EVERY_LENGTH,
        hypotheses=(INTERIOR,),
        formula=r"S=2e^{\alpha_1}+e^{\alpha_2}+(T-2),\qquad"
        r" \sum_{\text{others}}e^{l_k}=(T-4)\,e^{(\beta_1+\beta_2)/S}",
    ),
    mathematical(
        "kv.eq10.rest.two",
        "KV shifting (final), Section 3.2, Eq. 10, our addition",
        "One constant cannot serve both rests: at alpha = beta = 0 that of S is T - 2, that of the denominator T - 4.",
        symbolic(
            "places and tokens that are left, counted run by run at every T",
            c.two_rests,
            ONCE,
            Control("two tokens fewer set aside", lambda: c.two_rests(2)),
        ),
        is_correction=True,
        coverage=EVERY_LENGTH,
        formula=r"T-2\ne T-4",
    ),
    mathematical(
        "kv.thm3.4.small_t",
        THEOREM,
        "Eq. 10 applies for every T >= 3, all its O(.) being >= 0.",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        hypotheses=(INTERIOR, "the slip of kv.eq10 put right"),
        reading="Sizes are meant that have a position to which the derivation applies: T >= 4.",
        note="T >= 4: T = 3 has no interior position. Footnote 12 takes i = T - 1 for one: kv.appC.footnote12.",
        formula=r"T\ge 3",
    ),
    mathematical(
        "kv.thm3.4.minimum",
        THEOREM,
        "Learning is min L over the four scalars.",
        symbolic(
            "L > 0 at every T and interior i: e^L - 1 is a sum of positive terms",
            c.positive_everywhere,
            ONCE,
            Control("e^L - 2", lambda: c.positive_everywhere(-1)),
        ),
        symbolic(
            "and L -> 0: every exponent falls along beta1 -> infinity at alpha = (0, 2), beta2 = 0, every T >= 4",
            c.ray_exponents,
            ONCE,
            Control("at alpha = 0", lambda: c.ray_exponents(0)),
        ),
        reading="min names the problem: its value is the infimum.",
        coverage=all_of_it("T is free in both steps, on the closed form of kv.eq10.corrected."),
        note="The infimum is 0, and no parameters attain it (kv.thm3.4.minimum.corrected).",
        formula=r"\min_{\alpha,\beta}L\to\inf_{\alpha,\beta}L=0",
    ),
    mathematical(
        "kv.thm3.4.sigma",
        THEOREM + " with Eq. 6",
        "As d -> infinity the attention weights tend to those of Table 3 although Eq. 6 divides by sqrt(D).",
        symbolic(
            "limit of the weight on i + 1, score scale 1; T and alpha free",
            c.score_scale,
            ({"power": 0},),
            Control("sigma = sqrt(D)", points=({"power": Fraction(1, 2)},)),
        ),
        defect="kv.thm3.4",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=all_of_it("T and both alphas are free."),
        note="The score scale must stay 1 (sigma = 1): with sigma = sqrt(D) the attention tends to the uniform one.",
        formula=r"\lim_{d\to\infty}a_{i+1}=\frac{e^{\alpha_2}}{S}",
    ),
    mathematical(
        "kv.thm3.4.limit",
        THEOREM,
        "As d -> infinity the logits tend to those of the closed form, with deviations of order 1/sqrt(d).",
        *step_evidence(),
        moves(
            width_limit_checks.logits_move,
            "no logit moves by more than (|beta1| + |beta2|)(1 + (|alpha1| + |alpha2|)/2) max |G - I|",
            Fraction(1, 10),
        ),
        sampled(
            "T = 9, i = 4, alpha = (.3, .7), beta = (.4, .6): largest deviation below 1.5/sqrt(d), d = 64..65536",
            c.gaussian_logits,
            lambda effort: [
                {"dim": 4**k, "seed": s} for k in range(3, 9) for s in range(3 if effort is Effort.QUICK else 10)
            ],
            Control("alpha and beta swapped", lambda dim, seed: c.gaussian_logits(dim, seed, swap=True)),
        ),
        defect="kv.thm3.4",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=STEPS,
        hypotheses=("embeddings iid N(0, 1/d)", "score scale 1", "T and i fixed"),
        reading="In mean, hence in probability, uniformly on bounded sets of the four scalars.",
        note="Missing: scores that are not divided by sqrt(D), as Eq. 6 divides them (kv.thm3.4.sigma).",
        formula=r"\mathbb{E}\max_k|l_k^{(d)}-l_k|\le b(1+\frac{a}{2})\sqrt{\frac{T(T+3)}{2d}}",
    ),
    mathematical(
        "kv.eq13",
        APPENDIX + ", Eq. 13",
        "The loss is minus the logarithm of the target's softmax over the T tokens.",
        symbolic(
            "closed form against the sum over all tokens, run by run: T and i free, every position",
            c.every_loss,
            c.ALL_CASES,
            Control("a vocabulary of T + 1", lambda case: c.every_loss(case, 1)),
        ),
        symbolic(
            "closed form against softmax cross entropy of one-hot attention, T = 2..5, every i",
            c.cross_entropy,
            tuple({"tokens": t, "position": i} for t in range(2, 6) for i in range(1, t + 1)),
            Control("a vocabulary of T + 1", lambda tokens, position: c.cross_entropy(tokens, position, 1)),
        ),
        coverage=EVERY_LENGTH,
        formula=r"L=-\log\frac{e^{l_{i+1}}}{\sum_{k=1}^{T}e^{l_k}}",
    ),
    mathematical(
        "kv.eq14",
        APPENDIX + ", Eq. 14",
        "Eq. 14 follows from Table 3 as printed (the step is right; the table is not).",
        symbolic(
            "log-sum-exp of the printed table with both O(T) exact, all T >= 4 at once",
            c.table_to_eq14,
            ({"edge": closed.printed_edge_numerator()},),
            Control("the right table", points=({"edge": c.TABLE.classes[2].numerator},)),
        ),
        coverage=all_of_it("T and the four parameters are free."),
        formula=r"L=-\log\frac{e^{a_2\beta_1+\beta_2/S}}{e^{a_2\beta_1+\beta_2/S}+2e^{\beta_1/S+\beta_2a_2}"
        r"+e^{2a_1\beta_1+a_2\beta_2}+O(T)}",
    ),
    mathematical(
        "kv.thm3.4.coverage",
        THEOREM + " with Appendix K",
        "The sentence of the theorem, distinct tokens and then one of them again, is what the data generator writes.",
        exact(
            "every row of the listing for pools of 3..5 (full: 6) tokens, by all its draws",
            c.one_repeat,
            lambda effort: [{"pool": n} for n in range(3, 6 if effort is Effort.QUICK else 7)],
            Control("a repeat of the first T - 2 only", lambda pool: c.one_repeat(pool, 3)),
        ),
        coverage=INSTANCES,
        reading="Footnote 12 sets the first and the last position apart; the paper does not say that none occurs.",
        formula=r"x_1,\ldots,x_T\ \mathrm{distinct},\quad x_{T+1}=x_i,\quad i<T",
    ),
)
