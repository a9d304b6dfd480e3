"""Long sentences at finite width: the limits of T v1 and of T c1, away from both ends (4 <= i <= T - 4).

Source: our addition to KV shifting, Theorem 3.4; c1 and v1 are those of `theory.landscape.width`.
"""

import sympy as sp

from theory.landscape.symbolic import B
from theory.symbols import alpha1, alpha2, beta1, beta2


def limiting_variance() -> sp.Expr:
    """lim T v1 = (b1 + b2)^2: |r|^2 |w|^2, where the target's residual is -1 and T - 4 tokens read (b1 + b2)/T."""
    return (beta1 + beta2) ** 2


def limiting_mean_shift() -> sp.Expr:
    """lim T c1 = (b1 + b2)^2 / 2 + alpha1 b1 + alpha2 b2 - e^{alpha2} (alpha1 b2 + alpha2^2 b1 / 2), i interior.

    To leading order the first term comes from noise in the logits, the two linear ones from the query's own noise
    r_k d(logit k) summed over all tokens, the last from the target's residual -1 and from the curvature of the softmax
    at the key i + 1.
    """
    noise = (beta1 + beta2) ** 2 / 2 + alpha1 * beta1 + alpha2 * beta2
    return noise - B * (alpha1 * beta2 + alpha2**2 * beta1 / 2)
