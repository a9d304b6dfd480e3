"""Theorem 3.4 as a limit: the objective at dimension d tends to a function of the four scalars, with a rate."""

from fractions import Fraction

from proofs_check.kv.landscape import theorem34_checks
from proofs_check.kv.landscape import width_limit_checks as c
from proofs_check.ledger.claim import Claim, Control, Evidence, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic

THEOREM = "KV shifting (final), Section 3.2, Theorem 3.4"
SETTING = ("embeddings iid N(0, 1/d)", "score scale 1", "T and i fixed")
STEPS = everywhere(
    "Every step is an inequality in free symbols that no size enters (softmax by a chord, sums term by term), for "
    "every Gram matrix; the moments are exact at every d and T."
)


def moves(margin, what: str, control: Fraction, points=c.gram_points) -> Evidence:
    """A deterministic bound at rational Gram matrices, against attention place by place."""
    return exact(
        f"{what}, balls at rational Gram matrices and parameters, every position at T = 2..5, a hard case at T = 12",
        margin,
        points,
        Control(f"{control} of it", lambda **point: margin(**point, factor=control)),
    )


def step_evidence() -> tuple[Evidence, ...]:
    return (
        symbolic(
            "the steps and their sum: scores, attention, read-out, logits, loss",
            c.steps,
            ONCE,
            Control("tanh(w/5)", lambda: c.steps(5)),
            Control("the loss moving as one logit", lambda: c.steps(twice=1)),
        ),
        symbolic(
            "second moments of the Gram matrix, and their sum T (T + 3)/(2 d)",
            c.moments,
            ONCE,
            Control("E D_jj^2 = 1/d", lambda: c.moments(1)),
        ),
    )


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.thm3.4",
        THEOREM,
        "As d -> infinity learning in the simplified setting is equivalent to minimising a function L of the four "
        "scalars: the loss of a sentence, and its mean over embeddings, tend to L uniformly on bounded sets of them.",
        *step_evidence(),
        moves(c.loss_moves, "|L(G) - L(I)| <= (|beta1| + |beta2|)(2 + |alpha1| + |alpha2|) max|G - I|", Fraction(3, 4)),
        symbolic(
            "the weights of the limit need the score scale 1: all T, alpha free",
            theorem34_checks.score_scale,
            ({"power": 0},),
            Control("scores over sqrt(D)", points=({"power": Fraction(1, 2)},)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        reading="Equivalent means that the objective tends to L uniformly on bounded sets of the four scalars; which "
        "function L is, Eq. 10 says, and kv.eq10 rules on it.",
        coverage=STEPS,
        hypotheses=SETTING,
        note="Missing: scores that are not divided by sqrt(D), as Eq. 6 divides them. L is kv.eq10.corrected for "
        "1 < i < T - 1.",
        formula=r"\mathbb{E}\sup_{|\alpha|\le a,|\beta|\le b}|L_d-L|\le b(2+a)\sqrt{\frac{T(T+3)}{2d}}",
    ),
    mathematical(
        "kv.thm3.4.mean",
        THEOREM + ", our addition",
        "The mean of the loss over embeddings differs from L by at most (K/d)(b^2 (1 + a/2)^2 + 2ab(1 + a)) + "
        "(M^2/d^2) a^2 b (1 + b), at every d, T and i, with a = |alpha1| + |alpha2|, b = |beta1| + |beta2|, "
        "K = T(T + 3)/2 and M = T(3T + 13)/2.",
        *step_evidence(),
        symbolic(
            "half the bound on the second derivative along I + s(G - I), averaged; the first derivative has mean 0",
            c.mean_bound,
            ONCE,
            Control("half of the mixed term", lambda: c.mean_bound(1)),
        ),
        moves(c.curvature, "the second derivative's bound", Fraction(1, 50)),
        is_correction=True,
        coverage=STEPS,
        hypotheses=SETTING,
        formula=r"|\mathbb{E}L_d-L|\le\frac{K}{d}\left(b^2(1+\frac{a}{2})^2+2ab(1+a)\right)+\frac{M^2}{d^2}a^2b(1+b)",
    ),
    mathematical(
        "kv.thm3.4.gradient",
        THEOREM + ", our addition",
        "The gradient in the four scalars tends to that of L as well, uniformly on bounded sets and in mean at the "
        "rate 1/sqrt(d), so descent on the mean objective follows descent on L over any bounded time.",
        *step_evidence(),
        moves(
            c.gradient_moves,
            "slopes in beta move at most e(1 + a/2)(b(1 + e) + 2), in alpha e b(b(1 + a/2)(1/2 + e)^2 + 2(1 + e) "
            "+ 3a(1 + 2e)/2), e = max |G - I|",
            Fraction(1, 50),
        ),
        is_correction=True,
        coverage=everywhere(
            "For every Gram matrix the slopes move by at most a polynomial in max |G - I| without constant term. All "
            "moments of sqrt(d) (G - I) are bounded in d, so that its mean is O(1/sqrt(d)) and the slope of the mean "
            "is the mean of the slopes. In a bounded time descent stays in a bounded set, as the losses are >= 0, and "
            "there Gronwall's inequality compares the two flows."
        ),
        hypotheses=SETTING,
        formula=r"\mathbb{E}\sup_{|\alpha|\le a,|\beta|\le b}|\nabla L_d-\nabla L|=O\left(\frac{1}{\sqrt{d}}\right)",
    ),
)
