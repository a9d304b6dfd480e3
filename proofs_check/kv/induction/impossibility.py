"""Theorem 3.3: one causal KV-shift layer is never the induction head; on {2..L-1} it is. Appendix B, footnotes."""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, ball_at_least, identity, same, worst
from proofs_check.kv.induction import general_checks as general
from proofs_check.kv.induction.exact_heads import Numbers, dot, induction_weights, rational
from proofs_check.kv.induction.representation_checks import error
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Effort, Point, Severity, Verdict, everywhere
from proofs_check.ledger.exact_claim import BOTH
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, not_identity, symbolic
from theory import induction
from theory.induction.causal_support import impossibility_residual, inner_residuals
from theory.induction.sharpness import COPY_ERROR_BOUNDS
from theory.induction.symbolic import IDENTITY, attend, induction_terms, kv_shift_terms, reduced, symbolic_tokens
from theory.lowering.precision import working
from theory.symbols import copy_slope, sigma

SECTION = f"{BOTH}, Section 3.1"
THEOREM = f"{SECTION}, Theorem 3.3 (first version: Theorem 2), Eq. 9"
APPENDIX = f"{BOTH}, Appendix B"
SHORTER, LONGER = ([{"length": n, "dim": dim} for n in lengths for dim in (1, 2)] for lengths in ((3, 4), (4, 5)))
SAME_TERM = everywhere("Score and value agree at a general place and coordinate, over the same places: any L and d.")
Row = tuple[int, ...]


def impossible(length: int, dim: int, support: str = "causal") -> Margin:
    """Multipliers with sum_k multiplier_k (output - IH)_k = 1: no parameters make all differences zero."""
    return same(impossibility_residual(support, length, dim), sp.Integer(0))


def inner_head(length: int, dim: int, **wrong) -> Margin:
    """Appendix B's head over {2..L-1} is IH: residuals on free tokens, sigma and m."""
    return worst([identity(residual, 0) for residual in inner_residuals(length, dim, **wrong)])


ROOT = sp.sqrt(sp.Symbol("D", positive=True))


def key_scale_term(alpha2: sp.Expr | int = ROOT / sigma, **wrong) -> Margin:
    """At a general place and coordinate, divisor sqrt(D) of Eq. 6, any D: alpha2 = sqrt(D) / sigma gives IH's score."""
    return general.same_term(alpha=(0, alpha2), scale=1 / ROOT, **wrong)


def _epsilon(x: Sequence[Row], numbers: Numbers):
    """Share of the causal head on tokens 1 and L."""
    ends = numbers.weight(0, len(x) - 1) + numbers.weight(dot(x[-1], x[-2]), 0)
    return ends / (ends + sum(induction_weights(x, numbers).values()))


def _ball_share(length: int, match_weight: int, decay: Fraction, ends: int = 2) -> Fraction:
    """a/(a+Z), a = e^{-m(L-1)} + e^{1/sigma}, Z = e^{-1/sigma} sum_j e^{-mj}; `ends` = 1 forgets token 1."""
    a = match_weight + (decay ** (length - 1) if ends == 2 else 0)
    return a / (a + sum(decay**j for j in range(1, length - 1)) / match_weight)


def ball_bound(x: Sequence[Row], match_weight: int, decay: Fraction, ends: int = 2) -> Margin:
    """epsilon <= a/(a+Z)."""
    return at_most(_epsilon(x, rational(match_weight, decay)), _ball_share(len(x), match_weight, decay, ends))


def ball_reached(length: int, match_weight: int, decay: Fraction, last: int = 1) -> Margin:
    """Equality at x_1 = .. = x_{L-2} = -u, x_{L-1} = x_L = u."""
    x = [(-1,)] * (length - 2) + [(last,), (1,)]
    return same(_epsilon(x, rational(match_weight, decay)), _ball_share(length, match_weight, decay))


def share_grows(sign: int = 1) -> Margin:
    """a/(a+Z) grows with a and falls with Z: it is larger at a + more, Z than at a, Z + lost."""
    a, z, more, lost = sp.symbols("a Z more lost", positive=True)
    return general.positive(sp.factor((a + more) / (a + more + z) - a / (a + z + sign * lost)))


def ball_limit(factor: int = 1) -> Margin:
    """L -> infinity of the bound: t/(1 + t), t = e^{2/sigma} (e^m - 1); the sum is geometric with e^{-m} < 1."""
    match, decay = sp.symbols("e^(1/sigma) e^(-m)", positive=True)
    z = decay / (1 - decay) / match
    t = factor * match**2 * (1 / decay - 1)
    return identity(match / (match + z), t / (1 + t))


def line_tokens(effort: Effort) -> Iterator[Point]:
    """All tokens in {-1, 0, 1}, d = 1."""
    for length in range(3, 6 if effort is Effort.QUICK else 8):
        for values in itertools.product((-1, 0, 1), repeat=length):
            yield {"x": [(v,) for v in values], "match_weight": 3, "decay": Fraction(2, 3)}


def vanishes(domain: str, variable: sp.Symbol = copy_slope) -> Margin:
    """The sharp bound tends to 0 as p -> infinity; `variable` sigma -> 0 instead, where it does not."""
    limit = sp.limit(COPY_ERROR_BOUNDS[domain], variable, sp.oo if variable is copy_slope else 0)
    return same(limit, sp.Integer(0))


def lost_in_floats(ratio: Fraction) -> Margin:
    """In float64 the error of the network is exactly 0 where the true one is positive."""
    x = [[0], [1], [1], [0], [1]]
    with working(300):
        true = ball_at_least(error(x, 1, 0, ratio), strict=True)
    found = induction.two_layer_alibi(x, 1.0, 0.0, -float(np.log(float(ratio))))
    head = induction.induction_head(x, 1.0, 0.0)
    return worst([same(*(tuple(map(Fraction, row.tolist())) for row in (found, head))), true])


def first_token_matters(length: int, dim: int, alpha: tuple[int, int] = (1, 0)) -> Margin:
    """IH depends on x_1; a head over {2..L-1} with keys of alpha = (1, 0), the vanilla one, does not."""
    tokens = symbolic_tokens(length, dim)
    head, truth = attend(kv_shift_terms(tokens, "inner", alpha, IDENTITY[1])), attend(induction_terms(tokens))
    unread = same([entry.has(*tokens[0]) for entry in head], [False] * dim)
    return worst([unread, not_identity(reduced(truth[0].diff(tokens[0][0])), 0)])


SAME = symbolic(
    "key, bias and value at a general place of {2..L-1} and in a general coordinate",
    general.same_term,
    ONCE,
    Control("alpha = (1, 0)", lambda: general.same_term(alpha=(1, 0))),
    Control("beta = (0, 1)", lambda: general.same_term(beta=(0, 1))),
)
INNER_HEAD = symbolic(
    "Appendix B's head over {2..L-1}, D = d: free tokens, sigma and m, L = 4, 5, d = 1, 2",
    inner_head,
    LONGER,
    Control("the causal mask", lambda **p: inner_head(**p, support="causal")),
)

THEOREM_CLAIMS = (
    mathematical(
        "kv.appB.beta1",
        APPENDIX,
        "alpha = (0, 1), beta_0 (that is beta_1) = 1/sigma, beta_2 = 0 give IH: the factor 1/sigma stands at beta.",
        symbolic(
            "beta_1 = 1 and the score scale 1/sigma, at a general place and coordinate",
            general.same_term,
            ONCE,
            Control("beta_1 = 1/sigma, as printed", lambda: general.same_term(beta=(1 / sigma, 0))),
            Control("and the divisor of Eq. 6", lambda: key_scale_term(1, beta=(1 / sigma, 0))),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        reading="1/sigma is the inverse temperature of the scores, written at the wrong symbol.",
        coverage=SAME_TERM,
        note="beta_1 = 1; sigma belongs to the scores: alpha_2 = sqrt(D)/sigma under the divisor of Eq. 6 "
        "(kv.appB.corrected).",
        formula=r"\alpha_1=0,\quad\alpha_2=\frac{\sqrt{D}}{\sigma},\quad\beta_1=1,\quad\beta_2=0",
    ),
    mathematical(
        "kv.appB.corrected",
        f"{APPENDIX}, corrected",
        "Under Eq. 6's divisor sqrt(D): alpha_1 = 0, alpha_2 = sqrt(D)/sigma, beta_1 = 1, beta_2 = 0 (on {2..L-1}).",
        symbolic(
            "score and value at a general place and coordinate, any D",
            key_scale_term,
            ONCE,
            Control("alpha_2 = 1, as printed", lambda: key_scale_term(1)),
            Control("alpha_2 = 1/sigma", lambda: key_scale_term(1 / sigma)),
        ),
        is_correction=True,
        coverage=SAME_TERM,
        formula=r"\alpha_1=0,\quad\alpha_2=\frac{\sqrt{D}}{\sigma},\quad\beta_1=1,\quad\beta_2=0",
    ),
)

DISTANCE = (
    mathematical(
        "kv.thm3.3.discrepancy.ball",
        f"{THEOREM}, our addition",
        "Tokens in the unit ball: eps <= a/(a + Z), a = e^{-m(L-1)} + e^{1/sigma}, Z = e^{-1/sigma} sum_{j=1}^{L-2} "
        "e^{-mj}, reached at -u, .., -u, u, u.",
        exact(
            "all tokens in {-1, 0, 1}, L = 3..5 (full: 7), e^{1/sigma} = 3, e^{-m} = 2/3",
            ball_bound,
            line_tokens,
            Control("token 1 forgotten", lambda **p: ball_bound(**p, ends=1)),
        ),
        exact(
            "equality, L = 3..8",
            ball_reached,
            [{"length": n, "match_weight": 5, "decay": Fraction(1, 2)} for n in range(3, 9)],
            Control("x_{L-1} = 0", lambda **p: ball_reached(**p, last=0)),
        ),
        symbolic(
            "a/(a + Z) grows with a and falls with Z, which Cauchy-Schwarz bounds term by term",
            share_grows,
            ONCE,
            Control("Z larger", lambda: share_grows(-1)),
        ),
        is_correction=True,
        coverage=everywhere("Each weight is bounded by the product of its vectors; a/(a + Z) is monotone in both."),
        formula=r"\varepsilon\le\frac{a}{a+Z},\quad a=e^{-m(L-1)}+e^{1/\sigma},\quad Z=e^{-1/\sigma}\sum_{j"
        r"=1}^{L-2}e^{-mj}",
    ),
    mathematical(
        "kv.thm3.3.discrepancy.long",
        f"{THEOREM}, our addition",
        "Tokens in the unit ball, m > 0: as L -> infinity the bound on eps is t/(1 + t), t = e^{2/sigma}(e^m - 1).",
        symbolic(
            "e^{1/sigma} and e^{-m} free",
            ball_limit,
            ({"factor": 1},),
            Control("twice t", points=({"factor": 2},)),
        ),
        is_correction=True,
        coverage=everywhere("sigma and m > 0 are free symbols; the sum over places is geometric."),
        formula=r"\lim_{L\to\infty}\frac{a}{a+Z}=\frac{t}{1+t},\quad t=e^{2/\sigma}(e^m-1)",
    ),
)

SENTENCES = (
    mathematical(
        "kv.sec3.1.equal_sign",
        f"{SECTION}, after Theorem 3.3",
        "The first layer's copy introduces noise from ALiBi's bias; as KV shifting has none, Eq. 9 has an equal sign.",
        INNER_HEAD,
        SAME,
        symbolic(
            "x = (1, 0, c, 1): two layers move weight to the third token at every sigma, m and p",
            general.gains_weight,
            ONCE,
            Control("x_1 = 0", lambda: general.gains_weight(0)),
        ),
        defect="kv.thm3.3",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=everywhere("Equality at a general place and coordinate, error at one input: sigma, m, p free."),
        hypotheses=("attention on {2..L-1}",),
        note="Missing: attention on {2..L-1}, in both networks (kv.thm3.3).",
        formula=r"\mathrm{KVSA}-\mathrm{IH}=0,\quad\mathrm{TF}-\mathrm{IH}\ne0",
    ),
    mathematical(
        "kv.fn3.no_separation",
        f"{BOTH}, footnote 3, our addition",
        "No lower bound holds for all p: the infimum over p of the error is 0 on each bounded domain, so two layers "
        "and KV shifting on {2..L-1} differ only in attained against not attained.",
        symbolic(
            "limit of the sharp bounds as p -> infinity",
            vanishes,
            [{"domain": domain} for domain in ("unit", "symmetric", "ball")],
            Control("as sigma -> 0 instead", lambda domain: vanishes(domain, sigma)),
        ),
        is_correction=True,
        coverage=everywhere("A limit of the three bounds of kv.thm3.2.sharp in free symbols."),
        formula=r"\inf_p\|\mathrm{IH}-\mathrm{TF}\|=0",
    ),
    mathematical(
        "kv.fn2",
        f"{BOTH}, footnote 2",
        "The transformers have infinite precision (which the comparison of Theorems 3.2 and 3.3 needs).",
        exact(
            "e^{-p} = 1e-18, 1e-30: IH and TF are the same number in float64, the ball of the true error is positive",
            lost_in_floats,
            [{"ratio": Fraction(1, 10**k)} for k in (18, 30)],
            Control("e^{-p} = 0.01", points=({"ratio": Fraction(1, 100)},)),
        ),
        coverage=INSTANCES,
        note="In float64 the two-layer network here is exact from about p = 40 on, and nothing separates the two.",
        formula=r"\|\mathrm{IH}-\mathrm{TF}\|>0,\quad\mathrm{float}(\mathrm{IH})=\mathrm{float}(\mathrm{TF})",
    ),
    mathematical(
        "kv.sec3.1.less_depth",
        f"{SECTION}, first paragraph and after Theorem 3.3",
        "KV shifting represents induction heads with less depth: one layer, where vanilla attention needs more.",
        symbolic(
            "{2..L-1}, L = 4, 5: whatever its matrices, one vanilla layer does not see x_1, on which IH depends",
            first_token_matters,
            LONGER,
            Control("KV shifting's keys", lambda **p: first_token_matters(**p, alpha=(0, 1))),
        ),
        symbolic(
            "causal mask: one vanilla layer is a case of the elimination (beta2 = 0, alpha2 = 0)",
            impossible,
            SHORTER,
            Control("the mask {2..L-1}", lambda **p: impossible(**p, support="inner")),
        ),
        defect="kv.thm3.3",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=everywhere(
            "A vanilla head over {2..L-1} takes keys and values of x_2 .. x_{L-1} and the query of x_L, so that x_1 "
            "cannot enter; the elimination leaves the weights free."
        ),
        hypotheses=("attention on {2..L-1}",),
        note="Missing: attention on {2..L-1} (kv.thm3.3). Under the causal mask neither is exact in one layer, though "
        "KV shifting comes close where the last token has occurred (kv.thm3.3.discrepancy.matched).",
        formula=r"\mathrm{KVSA}_{1\ \mathrm{layer}}=\mathrm{IH},\quad\mathrm{TF}_{1\ \mathrm{layer}}\ne\mathrm{IH}",
    ),
    mathematical(
        "kv.sec3.1.less_width",
        f"{SECTION}, first paragraph and after Theorem 3.3",
        "KV shifting represents induction heads with less width: D = d in Theorem 3.3, D = 2d in Theorem 3.2.",
        INNER_HEAD,
        SAME,
        defect="kv.thm3.3",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        reading="The widths that the two theorems need are compared, as the text does.",
        coverage=SAME_TERM,
        hypotheses=("attention on {2..L-1}",),
        note="Missing: attention on {2..L-1} (kv.thm3.3). That two vanilla layers cannot do with less than 2d is not "
        "said: it is so for linear states (kv.sec2.1.width.linear), not in superposition "
        "(kv.sec2.1.width.superposition).",
        formula=r"D_{\mathrm{KVSA}}=d<2d=D_{\mathrm{TF}}",
    ),
)

CLAIMS: tuple[Claim, ...] = (*THEOREM_CLAIMS, *DISTANCE, *SENTENCES)
