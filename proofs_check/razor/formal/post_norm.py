"""Post-norm states and the logits of a head, Eq. 6: what statements about weights and norms are written with."""

from typing import Any

from proofs_check.core.terms import Term, sqrt
from proofs_check.language.notation import choice, each, fold, sequence, total, var
from proofs_check.razor.formal.definitions import (
    APART2,
    ATTENTION,
    NORM2,
    B,
    C,
    E,
    G,
    H,
    P,
    R,
    U,
    W,
    X,
    Y,
    apart2,
    call,
    d,
    defined,
    e,
    i,
    ip,
    jp,
    kc,
    kp,
    kr,
    ks,
    n,
    norm2,
    qs,
    row,
    t,
)

centre = choice("c", 0, 1)  # 0: RMSNorm, 1: LayerNorm, which takes the mean off
gains, bias = sequence("g", d), sequence("b", d)
hidden, other = sequence("h", d), sequence("y", d)
context, w_q, w_k = sequence("h", (n, d)), sequence("p", (e, d)), sequence("r", (e, d))

_MEAN = total(ks, 1, var("d"), H[ks]) / var("d")
_VARIANCE = total(qs, 1, var("d"), (H[qs] - C * _MEAN) ** 2)
VARIANCE = defined("variance", "h c d", _VARIANCE)  # times d
STATE = defined("state", "h g b c d i", G[i] * (H[i] - C * _MEAN) / sqrt(_VARIANCE / var("d")) + B[i])
_DOTS = total(kc, 1, var("d"), P[kr, kc] * X[kc]) * total(kc, 1, var("d"), R[kr, kc] * Y[kc])
LOGIT = defined("logit", "x y p r e d", total(kr, 1, E, _DOTS))  # (W_Q x) . (W_K y), with E rows
# One row each, W_Q = u and W_K = w: the product W_Q^T W_K has the norm |u| |w|.
LOGIT_ONE = defined(
    "logit_one", "x y u w d", total(kc, 1, var("d"), U[kc] * X[kc]) * total(kc, 1, var("d"), W[kc] * Y[kc])
)

# The norm of W_Q^T W_K in Frobenius' sense, at least the spectral one: no scope of Eq. 2 is longer. (In the printed
# order the product bounds nothing: razor.eq6.order.)
_ENTRY = total(kp, 1, E, P[kp, ip] * R[kp, jp])
PRODUCT = defined("product", "p r e d", sqrt(total(ip, 1, var("d"), total(jp, 1, var("d"), _ENTRY**2))))
NORMED = [VARIANCE, STATE, NORM2, APART2, LOGIT, LOGIT_ONE, PRODUCT, ATTENTION]


def state(hidden: Any, gains: Any, bias: Any) -> Term:
    """x = gamma (.) z + b, z the hidden state divided by its root mean square, in LayerNorm without its mean."""
    return each(i, call("state", hidden, gains, bias, centre, d, i))


def variance(hidden: Any) -> Term:
    return call("variance", hidden, centre, d)


def kappa(x: Any, y: Any) -> Term:
    """|x| |x - y|, whose supremum over post-norm states decides (theory.alibi.printed.printed_condition)."""
    return sqrt(norm2(x)) * sqrt(apart2(x, y))


KAPPA = defined("kappa", "x y d", kappa(X, Y))


def head(x: Any, y: Any) -> Term:
    return call("logit", x, y, w_q, w_k, e, d)


printed_bias = each(i, centre * bias[i])  # "b = 0 for RMSNorm"
regular = fold("min", t, 1, n, variance(row(context, t))) > 0  # no hidden state that the norm cannot divide
printed_norms, norms = norm2(gains) + norm2(printed_bias), norm2(gains) + norm2(bias)
