"""One more token in the softmax, of any logit and value; and a copy of the first token, which is such a token.

With Z = sum e^{x_i} and o the plain output, a token of logit s and value u makes (Z o + e^s u)/(Z + e^s): at u = 0 the
sink logit s, and no gate, sink logit or drained token where u leaves the line of o. docs/atlas.md holds all six ways
together; `theory.sink.denominators` the other four.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import UNIT, Array, reals, sized
from theory.lowering.digits import odds_share
from theory.sink.denominators import sink_gate
from theory.sink.shapes import agree, checked_head


@sized()
def sink_token_output(logits: ArrayLike, values: ArrayLike, sink_logit: ArrayLike, sink_value: ArrayLike) -> Array:
    """(1 - p) o + p u, p = 1/(1 + e^{lse - s}): the head with one more token, of logit s and value u.

    Args: logits (..., keys); values (..., keys, d_v); sink_logit s (...); sink_value u (..., d_v). Returns: (..., d_v).
    Raises ValueError for shapes that do not agree.
    """
    x, v = checked_head(logits, values)
    s, u = reals("sink_logit", sink_logit), reals("sink_value", sink_value)
    if u.ndim < 1 or u.shape[-1] != v.shape[-1]:
        raise ValueError(f"values (..., keys, d_v) and sink_value (..., d_v) must agree, got {v.shape} and {u.shape}")
    agree(logits=x.shape[:-1], values=v.shape[:-2], sink_logit=s.shape, sink_value=u.shape[:-1])
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    kept = sink_gate(x, s)[..., None]
    plain = np.einsum("...k,...kd->...d", weights / weights.sum(axis=-1, keepdims=True), v)
    return np.asarray(kept * plain + (1 - kept) * u)


@sized()
def first_copy_output(logits: ArrayLike, values: ArrayLike, log_ratio: ArrayLike = 0.0) -> Array:
    """The output of the head after a copy of the first token is added, with the logit x_1 + g and the value v_1.

    The waiver paper's Eq. 11 gives this state to a masked token with the first token's word; a masked token with any
    other word gets the state of that word. g = 0 without positions, and g = slope k under ALiBi for a token k places
    later. The output stays o iff v_1 = o, for instance where all values are equal. The copy is added and replaces no
    token; `copy_weights` also treats a copy that replaces one.
    Args: logits (..., keys), the first token's first; values (..., keys, d_v); log_ratio g (...). Returns: (..., d_v).
    Raises ValueError for shapes that do not agree.
    """
    x, v = checked_head(logits, values)
    g = reals("log_ratio", log_ratio)
    agree(logits=x.shape[:-1], values=v.shape[:-2], log_ratio=g.shape)
    return sink_token_output(x, v, x[..., 0] + g, v[..., 0, :])


@sized()
def merged_logit(logit: ArrayLike, other_logit: ArrayLike) -> Array:
    """ln(e^s + e^t): two tokens with the same value act as one token with this logit. A copy adds ln(1 + e^g) to s.

    Args, which broadcast: two logits. Returns: (...). Raises ValueError for other numbers.
    """
    s, t = reals("logit", logit), reals("other_logit", other_logit)
    agree(logit=s.shape, other_logit=t.shape)
    return np.asarray(np.logaddexp(s, t))


@sized()
def drained_copy_gate(weight: ArrayLike, log_ratio: ArrayLike = 0.0) -> Array:
    """1/(1 + tau e^g): a copy of a first token of value 0 and weight tau acts as this gate; its logit is higher by g.

    At least 1/2 without positions, g = 0: such a copy takes away no more than half.
    Args, which broadcast: weight tau in [0, 1]; log_ratio g. Returns: (...), in [0, 1]. Raises ValueError outside.
    """
    tau, g = reals("weight", weight, UNIT), reals("log_ratio", log_ratio)
    agree(weight=tau.shape, log_ratio=g.shape)
    with np.errstate(divide="ignore"):  # a weight of 0 is no token: the gate is 1
        return odds_share(-(g + np.log(tau)))
