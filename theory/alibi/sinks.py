"""Heads with a learned sink: the softmax has one more logit that belongs to no token. It can only lower the weights.

Logits lie in [-A, A], so that their range is D = 2A, and every rotation is allowed. The query sees n others beside the
token at distance n. Its weight is largest where its own logit is A and those are -A, and then
1 / (1 + n e^{-D} + e^{s - A}): the lead s - A of the sink over the largest logit bounds it even where D does not.
"""

from __future__ import annotations

import math

from theory.alibi.logs import log_1m_exp, log_odds, softplus
from theory.checked import NONNEGATIVE, SHARE, elementwise, real, sized


@elementwise("logit_range", "lead", "eps")
@sized(infinite=True)
def sink_scope(logit_range: float, lead: float, eps: float) -> float:
    """The distance from which no weight exceeds eps: (1/eps - 1 - e^lead) e^D, or 0 where no weight ever does.

    Args: logit_range D >= 0; lead, the sink's logit less the largest of a token, A = D/2; eps in (0, 1).
    Returns: a real number >= 0, inf where it overflows. It is rounded upwards: near the lead from which it is 0 the two
    logarithms cancel, and their difference is taken 2^-51 of their size larger.
    Source: ours; without a sink (lead -inf) it is `bounds.scope`.
    """
    logit_range, eps = real("logit_range", logit_range, NONNEGATIVE), real("eps", eps, SHARE)
    lead, odds = real("lead", lead), log_odds(eps)
    ahead = odds - lead + 2.0**-51 * abs(odds)
    if ahead <= 0:
        return 0.0
    left = odds + log_1m_exp(ahead) + logit_range
    return math.exp(left) if left < 709.78 else math.inf


@elementwise("window", "logit_range", "lead", "n_tokens")
def sink_dropped_mass(window: float, logit_range: float, lead: float, n_tokens: float) -> float:
    """Bound on the attention to distances >= window: 1/(1 + (window e^{-D} + e^lead) / (n_tokens - window)).

    Args: window >= 0, the tokens kept; n_tokens >= 0, of the context, the query among them; the rest as `sink_scope`.
    Returns: a number in [0, 1]; 0 where n_tokens <= window. Raises ValueError for an argument outside of its range.
    """
    window, n_tokens = real("window", window, NONNEGATIVE), real("n_tokens", n_tokens, NONNEGATIVE)
    logit_range, lead = real("logit_range", logit_range, NONNEGATIVE), real("lead", lead)
    if n_tokens <= window:
        return 0.0
    kept = math.log(window) - logit_range if window else -math.inf
    other = max(kept, lead) + math.log1p(math.exp(-abs(kept - lead)))
    return math.exp(-softplus(other - math.log(n_tokens - window)))
