"""What a head puts out: of all tokens, of those kept, with a compensation token for the others.

n dropped tokens (s, v) and m kept ones (t, w), any positional bias in their logits.
"""

from typing import Any

from proofs_check.core.terms import Term, exp, log
from proofs_check.language.notation import fold, sequence, total, var
from proofs_check.razor.formal.definitions import (
    APART2,
    E,
    M,
    N,
    S,
    V,
    W,
    call,
    cf,
    column,
    defined,
    e,
    jf,
    kf,
    ko,
    m,
    n,
    s,
    v,
)

T_ = var("t")
_DROPPED, _KEPT = total(ko, 1, N, exp(S[ko])), total(ko, 1, M, exp(T_[ko]))
_TOKEN = N * exp(total(ko, 1, N, S[ko]) / N)
_DROPPED_V, _KEPT_V = total(ko, 1, N, exp(S[ko]) * V[ko]), total(ko, 1, M, exp(T_[ko]) * W[ko])
_AVERAGE = total(ko, 1, N, V[ko]) / N
Z = defined("Z", "s n", _DROPPED)
Z_HAT = defined("Zhat", "s n", _TOKEN)  # N_d e^{q.khat}: q.khat is the mean of the dropped logits
OUTPUT = defined("output", "s v n t w m", (_DROPPED_V + _KEPT_V) / (_DROPPED + _KEPT))
CUT = defined("cut", "t w m", _KEPT_V / _KEPT)
COMPENSATED = defined("compensated", "s v n t w m", (_TOKEN * _AVERAGE + _KEPT_V) / (_TOKEN + _KEPT))  # Eq. 4 and 5
DROPPED_MEAN = defined("dropped_mean", "s v n", _DROPPED_V / _DROPPED)
AVERAGE = defined("average", "v n", _AVERAGE)
SHARE = defined("T", "s n t m", _DROPPED / (_DROPPED + _KEPT))
SHARE_HAT = defined("That", "s n t m", _TOKEN / (_TOKEN + _KEPT))
# theory.cache.compensation.compare has all of these; theory.cache.dropped.truncate those without the token.
OUTPUTS = [Z, Z_HAT, OUTPUT, CUT, COMPENSATED, DROPPED_MEAN, AVERAGE, SHARE, SHARE_HAT]
FARTHEST2 = defined(
    "farthest2", "v n e",
    fold("max", jf, 1, N, fold("max", kf, 1, N, total(cf, 1, E, (V[jf, cf] - V[kf, cf]) ** 2))),
)  # fmt: skip

VECTORS = [*OUTPUTS, FARTHEST2, APART2]

kept, w = sequence("t", m), sequence("w", m)
scores = (s, n, kept, m)
heads = (s, v, n, kept, w, m)
free_head = [n, m, s, v, kept, w]
v_e, w_e = sequence("v", (n, e)), sequence("w", (m, e))
columns = (s, column(v_e), n, kept, column(w_e), m)  # coordinate q of values of e coordinates


def output(*head: Any) -> Term:
    return call("output", *head)


def cut(*head: Any) -> Term:
    return call("cut", *head)


def compensated(*head: Any) -> Term:
    return call("compensated", *head)


def dropped_mean(*head: Any) -> Term:
    return call("dropped_mean", *head)


def average(*head: Any) -> Term:
    return call("average", *head)


def share(*head: Any) -> Term:
    return call("T", *head)


def share_hat(*head: Any) -> Term:
    return call("That", *head)


def log_gap(s: Any, n: Any) -> Term:
    return log(call("Z", s, n) / call("Zhat", s, n))
