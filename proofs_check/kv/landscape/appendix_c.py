"""Appendix C: the derivation of Theorem 3.4 line by line, its moments and its error terms."""

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, close, identity, same, worst
from proofs_check.evidence.tolerances import KERNEL
from proofs_check.kv.induction.general_checks import nonnegative
from proofs_check.kv.landscape.position_classes import CASES, EVERY_LENGTH, EVERY_LOGIT, INTERIOR, scores
from proofs_check.kv.landscape.theorem34 import APPENDIX
from proofs_check.kv.landscape.width_limit import entry_moment, gaussian_mean
from proofs_check.ledger.claim import Claim, Control, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, identities, mathematical, sampled, symbolic
from proofs_check.oracles.landscape import one_hot_logits, sentence
from theory import landscape
from theory.landscape.symbolic import A, B, interior_table
from theory.symbols import alpha1, alpha2, beta1, beta2, n_tokens

BEFORE_THE_LAST = tuple({"case": name} for name in CASES if name != "last")
ALL_WIDTHS = everywhere("Gaussian moments of d independent coordinates, d and both alphas free.")
# what x_{T+1} . (alpha1 x_k + alpha2 x_{k-1}) is made of: the coefficient of |x_i|^2, and those of products with other
# embeddings; and d times its variance
SCORES = {
    "k = i, T + 1": (alpha1, (alpha2,), 2 * alpha1**2 + alpha2**2),
    "k = i + 1": (alpha2, (alpha1,), alpha1**2 + 2 * alpha2**2),
    "k = 1": (0, (alpha1,), alpha1**2),
    "other k": (0, (alpha1, alpha2), alpha1**2 + alpha2**2),
}
KINDS = tuple({"kind": kind} for kind in SCORES)


def every_score(case: str, swapped: bool = False) -> Margin:
    """Scores run by run at symbolic length: alpha1 at i and T + 1, alpha2 at i + 1, 0 elsewhere (i < T)."""
    family = CASES[case]
    own, before = (alpha2, alpha1) if swapped else (alpha1, alpha2)
    named = {family.position: own, family.position + 1: before, family.tokens + 1: own}
    found = scores(family)
    expected = [named.get(first, 0) if first == last else 0 for first, last, _ in found]
    return identities([score for _, _, score in found], expected)


def kernel_logits(tokens: int, seen: int = 0) -> Margin:
    """Numeric logits at every position, nine draws in [-4, 4] each, against one-hot attention; `seen` moves i."""
    rng, margins = np.random.default_rng(tokens), []
    for place in 9 * list(range(1, tokens + 1)):
        point = rng.uniform(-4, 4, 4)
        true = one_hot_logits(*point, tokens, 1 + (place - 1 + seen) % tokens)
        margins.append(close(landscape.logits(*point, tokens, place), true, KERNEL))
    return worst(margins)


def norm_moments(variance_times_d: int = 2) -> Margin:
    """u with d entries N(0, 1/d): E|u|^2 = 1 and Var|u|^2 = variance_times_d / d, for all d at once."""
    d, g = sp.symbols("d g", positive=True)
    return identities([gaussian_mean(g**2, g), entry_moment(2, True)], [1, variance_times_d / d])


def normal_limit(scale: int = 1) -> Margin:
    """Characteristic function of sqrt(d) u.v: (1 + t^2/d)^{-1/2} a coordinate, e^{-t^2/2} as d -> infinity."""
    d, t, g = sp.symbols("d t g", positive=True)
    inner = sp.exp(-(t**2) * g**2 / (2 * d))  # mean of e^{i t g h / sqrt(d)} over h
    density = sp.exp(-(g**2) / 2) / sp.sqrt(2 * sp.pi)
    coordinate = 2 * sp.integrate(sp.expand(inner * density, power_exp=False).simplify(), (g, 0, sp.oo))
    whole = (1 + t**2 / d) ** (-d / 2)
    mean, square = (sp.diff(whole, t, order).subs(t, 0) for order in (1, 2))
    return worst(
        [
            identities([coordinate**2, mean, square], [1 / (1 + t**2 / d), 0, -1]),
            same(sp.limit(sp.log(whole), d, sp.oo), -scale * t**2 / 2),
        ]
    )


def _variance(own: sp.Expr, others: tuple[sp.Expr, ...]) -> sp.Expr:
    """d times the variance of own |u|^2 + sum_m c_m u.v_m: d independent coordinates, Gaussian moments."""
    g, *rest = gaussians = sp.symbols(f"g h1:{len(others) + 1}")
    term = own * g**2 + sp.Add(*(c * g * h for c, h in zip(others, rest, strict=True)))
    return sp.expand(gaussian_mean(term**2, *gaussians) - gaussian_mean(term, *gaussians) ** 2)


def score_variance(kind: str, claimed: sp.Expr | None = None) -> Margin:
    """d times the variance of the score at key k, 1 < i < T, at every d; `claimed` plants another."""
    own, others, variance = SCORES[kind]
    return identity(_variance(own, others), variance if claimed is None else claimed)


def score_order(kind: str, factor: int = 2, sizes: bool = True) -> Margin:
    """d Var <= factor (|alpha1| + |alpha2|)^2, signs free; not `sizes`: (alpha1 + alpha2)^2, as printed."""
    a, b = sp.symbols("a b", nonnegative=True)
    own, others, _ = SCORES[kind]
    margins = []
    for sign in (1, -1):
        order = a + (b if sizes else sign * b)
        margins.append(nonnegative(factor * order**2 - _variance(own, others).subs({alpha1: a, alpha2: sign * b})))
    return worst(margins)


def logit_noise(tokens: int, position: int, plant: int = 0) -> Margin:
    """alpha = 0, k != i: (T+1)^2 d Var l_k = 2 s^2 + (T-2) s^2 + (s + beta1)^2, s = beta1 + beta2, place by place.

    All keys weigh the same, so that T + 1 times the output counts in how many places each embedding stands.
    """
    words = sentence(tokens, position)
    others = [beta1 * words.count(k) + beta2 * words[:-1].count(k) for k in range(tokens)]
    own = others.pop(0 if position > 1 else 1)
    s = beta1 + beta2
    return identity(_variance(own, tuple(others)), (tokens + plant) * s**2 + (s + beta1) ** 2)


def logit_order(sizes: bool = True) -> Margin:
    """That variance is at most ((|beta1| + |beta2|) T)^2/d at every T >= 2; not `sizes`: ((beta1 + beta2) T)^2/d."""
    a, b, more = sp.symbols("a b more", nonnegative=True)
    size, margins = 2 + more, []
    for s in (a + b, a - b):
        order = ((a + b) if sizes else s) * size
        margins.append(nonnegative(order**2 * (size + 1) ** 2 - size * s**2 - (s + a) ** 2))
    return worst(margins)


def order_notation(factor: sp.Expr | None = None) -> Margin:
    """With factors e^{c_k/sqrt(d)} = 1 + o(1) on the weights the share of key i tends to e^{alpha1}/S, T free.

    `factor` puts another one, bounded as O(.) allows, on key i.
    """
    d = sp.Symbol("d", positive=True)
    first, *tending = (sp.exp(c / sp.sqrt(d)) for c in sp.symbols("c1:5", real=True))
    own = A * (first if factor is None else factor)
    total = own + A * tending[0] + B * tending[1] + (n_tokens - 2) * tending[2]
    return identity(sp.limit(own / total, d, sp.oo), A / interior_table().partition)


VARIANCES = symbolic(
    "d times the variance of the score at each key, Gaussian moments",
    score_variance,
    KINDS,
    Control("alpha1^2 + alpha2^2 at every key", lambda kind: score_variance(kind, alpha1**2 + alpha2**2)),
    Control("(alpha1 + alpha2)^2 at the other keys", lambda kind: score_variance("other k", (alpha1 + alpha2) ** 2)),
)
ORDER = symbolic(
    "standard deviation at most sqrt(2) (|alpha1| + |alpha2|)/sqrt(d) at every key, both signs, all d",
    score_order,
    KINDS,
    Control("(alpha1 + alpha2)/sqrt(d), as printed", lambda kind: score_order(kind, sizes=False)),
    Control("without sqrt(2)", lambda kind: score_order(kind, 1)),
)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.appC.scores",
        APPENDIX + ", attention scores",
        "At d = infinity the last token's scores are alpha1 at i and T + 1, alpha2 at i + 1, 0 elsewhere (i < T).",
        symbolic(
            "all keys, run by run, every T and every i < T",
            every_score,
            BEFORE_THE_LAST,
            Control("i = T", points=({"case": "last"},)),
            Control("alphas swapped", lambda case: every_score(case, True)),
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
        EVERY_LOGIT,
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
        EVERY_LOGIT,
        sampled(
            "the numpy kernel, T = 2..12, every i, parameters in [-4, 4]",
            kernel_logits,
            tuple({"tokens": t} for t in range(2, 13)),
            Control("the next position", lambda tokens: kernel_logits(tokens, 1)),
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
            norm_moments,
            ONCE,
            Control("variance 1/d", lambda: norm_moments(1)),
        ),
        coverage=everywhere("d is free."),
        formula=r"\mathbb{E}\,|u|^2=1,\qquad \mathrm{Var}\,|u|^2=\frac{2}{d}",
    ),
    mathematical(
        "kv.appC.orthogonality",
        APPENDIX + ", (Near-orthogonality)",
        "sqrt(d) u.v has mean 0 and variance 1 and tends to N(0, 1).",
        symbolic(
            "characteristic function (1 + t^2/d)^{-d/2}: its slopes at 0, and its limit e^{-t^2/2}",
            normal_limit,
            ONCE,
            Control("e^{-t^2}", lambda: normal_limit(2)),
        ),
        coverage=everywhere("d and t are free; convergence of characteristic functions is convergence in law."),
        formula=r"\sqrt{d}\,u_i^{\top}u_j\to\mathcal{N}(0,1)",
    ),
    mathematical(
        "kv.appC.error_term",
        APPENDIX + ", attention scores",
        "Scores deviate from their limits by O((alpha1 + alpha2)/sqrt(d)).",
        ORDER,
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
        VARIANCES,
        is_correction=True,
        coverage=everywhere("The variance is exact in d and both alphas; at alpha1 = -alpha2 it is 2 alpha1^2/d."),
        formula=r"\alpha_1+\alpha_2=0,\quad\mathrm{Var}\,\hat a_k=\frac{2\alpha_1^2}{d}",
    ),
    mathematical(
        "kv.appC.error_term.corrected",
        APPENDIX + ", attention scores, corrected",
        "For 1 < i < T the scores' standard deviations are sqrt((2 alpha1^2 + alpha2^2)/d) at k = i and T + 1, "
        "sqrt((alpha1^2 + 2 alpha2^2)/d) at i + 1, |alpha1|/sqrt(d) at 1 and sqrt((alpha1^2 + alpha2^2)/d) elsewhere; "
        "all are at most sqrt(2) (|alpha1| + |alpha2|)/sqrt(d), which key i attains at alpha2 = 0.",
        VARIANCES,
        symbolic(
            "which keys hold the repeated token, at every T and interior i",
            every_score,
            ({"case": "interior"},),
            Control("alphas swapped", lambda case: every_score(case, True)),
        ),
        ORDER,
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
            logit_order,
            ONCE,
            Control("(beta1 + beta2) T, as printed", lambda: logit_order(False)),
        ),
        symbolic(
            "that variance from the sentence place by place, T = 3..6, every i < T",
            logit_noise,
            tuple({"tokens": t, "position": i} for t in range(3, 7) for i in range(1, t)),
            Control("one token more", lambda tokens, position: logit_noise(tokens, position, 1)),
        ),
        defect="kv.appC.error_term",
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        reading="Sizes are meant under an O: |beta1| + |beta2|.",
        coverage=everywhere("At beta1 = -beta2 the printed order is 0, the variance beta1^2/((T + 1)^2 d): any T, d."),
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
            order_notation,
            ONCE,
            Control("a factor 1/2, which is O(1)", lambda: order_notation(sp.Rational(1, 2))),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=everywhere("T, both alphas and the factors' constants are free."),
        note="O(.) allows any bounded factor; 1 + o(1) is meant, and needed.",
        formula=r"a_k=\frac{e^{\hat a_k}\,(1+o(1))}{S}",
    ),
)
