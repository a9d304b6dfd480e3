"""A norm with an epsilon, which the bound with the self gap does not survive."""

from fractions import Fraction

from proofs_check.evidence.margin import Margin, ball_above
from proofs_check.ledger.claim import Claim, Control, everywhere
from proofs_check.ledger.mathematical import exact, mathematical
from proofs_check.oracles.alibi import ball

THEOREM = "RazorAttention, Section 3.1, Theorem 1, corrected"
SLOPE = Fraction(1, 4)


def epsilon(inverse: int, product: int, gap: int = 0) -> Margin:
    """RMSNorm with epsilon 1/inverse, d = 1, M = product > 0, so D_s = 0: a query at half the radius sees a token at
    distance 1 above 1/(1 + e^l), l = 1/4; with `gap` above 1/(1 + e^{l - gap})."""
    small = ball(Fraction(1, inverse))
    key, query = 1 / (1 + small).sqrt(), ball(Fraction(1, 2))  # h / sqrt(h^2 + eps) at h = 1 and sqrt(eps/3)
    weight = 1 / (1 + (ball(SLOPE) + product * query * (query - key)).exp())
    return ball_above(weight, 1 / (1 + ball(SLOPE - gap).exp()))


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.adversary.epsilon",
        THEOREM,
        "A positive epsilon under the norm's root leaves D as it is but not D_s: a query state of half the radius lies "
        "further below its best key than any on the sphere, so that only the bounds without D_s carry over.",
        exact(
            "d = 1, RMSNorm, W_Q^T W_K = c > 0, so D_s = 0: two tokens, the query's hidden state sqrt(eps/3); in balls",
            epsilon,
            tuple({"inverse": i, "product": c} for i in (10**5, 10**6) for c in (1, 8, 40)),
            Control("the bound of D", lambda inverse, product: epsilon(inverse, product, gap=2 * product)),
        ),
        formula=r"\sup_{\|z\|^2\le d}(\alpha-s)\ge\sup_{\|z\|^2=d}(\alpha-s)",
        coverage=everywhere("One exact head refutes the bound with D_s; D is the maximum of a convex function."),
        is_correction=True,
    ),
)
