"""Long sentences at finite width: T v1 as an expression in x = 1/T, and the limits of T v1 and of T c1.

Source: our addition to KV shifting, Theorem 3.4; c1 and v1 are those of `theory.landscape.width`. Away from both ends
(4 <= i <= T - 4) tokens fall into seven kinds and v1 does not depend on i.
"""

from functools import cache
from typing import NamedTuple

import sympy as sp

from theory.checked import whole
from theory.landscape.symbolic import A, B, interior_table
from theory.symbols import alpha1, alpha2, beta1, beta2, n_tokens

x = sp.Symbol("x", positive=True)
NAMES = ("repeated", "target", "edge", "other")
# T times the read-out w_c and T times the softmax share p_c of a token of each class, and T / S
READ = dict(zip(NAMES, sp.symbols("read_repeated read_target read_edge read_other", real=True), strict=True))
SHARE = dict(zip(NAMES, sp.symbols("share_repeated share_target share_edge share_other", positive=True), strict=True))
scale = sp.Symbol("scale", positive=True)
OPAQUE = (*READ.values(), *SHARE.values())


def _pulls() -> dict[str, sp.Expr]:
    """c_k / x of each kind of key, c_k = a_k (g_k - gbar), g_k = beta1 r(own token) + beta2 r(token before)."""
    r = {name: x * SHARE[name] - (1 if name == "target" else 0) for name in NAMES}
    mean = x * (r["repeated"] * READ["repeated"] + r["target"] * READ["target"] + 2 * r["edge"] * READ["edge"])
    mean += (1 - 4 * x) * r["other"] * READ["other"]
    keys = {
        "first": (1, beta1 * r["other"]),
        "generic": (1, beta1 * r["other"] + beta2 * r["other"]),
        "edge": (1, beta1 * r["edge"] + beta2 * r["other"]),
        "query": (A, beta1 * r["repeated"] + beta2 * r["edge"]),
        "target": (B, beta1 * r["target"] + beta2 * r["repeated"]),
        "post": (1, beta1 * r["other"] + beta2 * r["target"]),
    }
    return {name: scale * weight * (read - mean) for name, (weight, read) in keys.items()}


class _Token(NamedTuple):
    """One kind of token: x times their number, and p, w, q divided by x, q_m = alpha1 c(its key) + alpha2 c(next)."""

    number: sp.Expr
    share: sp.Expr
    read: sp.Expr
    pull: sp.Expr


def _tokens() -> list[_Token]:
    """The repeated token and the target first."""
    c = _pulls()

    def token(number: sp.Expr, name: str, own: str, after: str, extra: sp.Expr | int = 0) -> _Token:
        return _Token(number, SHARE[name], READ[name], alpha1 * c[own] + alpha2 * c[after] + extra)

    return [
        token(x, "repeated", "query", "target", alpha1 * c["query"]),  # it has two keys
        token(x, "target", "target", "post"),
        token(2 * x, "edge", "edge", "query"),  # tokens i - 1 and T
        token(x, "other", "first", "generic"),  # 1
        token(2 * x, "other", "generic", "edge"),  # i - 2 and T - 1
        token(x, "other", "post", "generic"),  # i + 2
        token(1 - 8 * x, "other", "generic", "generic"),
    ]


@cache
def scaled_variance() -> sp.Expr:
    """T v1 in x = 1/T, the four parameters and READ, SHARE, scale; no power of x is negative. Valid: 4 <= i <= T - 4.

    v1 = |r|^2 |w|^2 + (r.w)^2 + |q|^2 + q_i^2 + 2 (r_i w.q + w_i r.q), and r = p - 1[target].
    """
    tokens = _tokens()
    repeated, target = tokens[:2]

    def dot(left: str, right: str) -> sp.Expr:
        return sum((t.number * getattr(t, left) * getattr(t, right) for t in tokens), sp.Integer(0))

    residual = 1 - 2 * x * target.share + x * dot("share", "share")
    squares = residual * dot("read", "read") + x * (dot("share", "read") - target.read) ** 2
    squares += dot("pull", "pull") + x * repeated.pull**2
    cross = repeated.share * dot("read", "pull") + repeated.read * (dot("share", "pull") - target.pull)
    return squares + 2 * x * cross


def finite_values(tokens: int) -> dict[sp.Symbol, sp.Expr]:
    """What x, READ, SHARE and scale stand for at a given T, in the four parameters."""
    table = interior_table(sp.Integer(whole("tokens", tokens, 4)))
    by_name = {entry.name: entry for entry in table.classes}
    total = sum(entry.count * sp.exp(entry.numerator / table.partition) for entry in table.classes)
    values = {x: sp.Rational(1, int(tokens)), scale: tokens / table.partition}
    for name in NAMES:
        values[READ[name]] = tokens * by_name[name].numerator / table.partition
        values[SHARE[name]] = tokens * sp.exp(by_name[name].numerator / table.partition) / total
    return values


def limiting_values() -> dict[sp.Symbol, sp.Expr]:
    """The limits of READ, SHARE and scale: S / T -> 1, so T w_c -> n_c, and T p_c -> 1."""
    table = interior_table()
    x_partition = sp.expand(table.partition.subs(n_tokens, 1 / x) * x)
    values = {scale: 1 / x_partition.subs(x, 0)}
    for entry in table.classes:
        values[READ[entry.name]] = sp.expand(entry.numerator * values[scale])
        values[SHARE[entry.name]] = sp.Integer(1)
    return values


def limiting_variance() -> sp.Expr:
    """lim T v1 as T grows = (beta1 + beta2)^2: `scaled_variance` is continuous in x and its other symbols."""
    return sp.factor(scaled_variance().subs(x, 0).subs(limiting_values(), simultaneous=True))


def limiting_mean_shift() -> sp.Expr:
    """lim T c1 = (b1 + b2)^2 / 2 + alpha1 b1 + alpha2 b2 - e^{alpha2} (alpha1 b2 + alpha2^2 b1 / 2), i interior.

    To leading order the first term comes from noise in the logits, the two linear ones from the query's own noise
    r_k d(logit k) summed over all tokens, the last from the target's residual -1 and from the curvature of the softmax
    at the key i + 1.
    """
    noise = (beta1 + beta2) ** 2 / 2 + alpha1 * beta1 + alpha2 * beta2
    return noise - B * (alpha1 * beta2 + alpha2**2 * beta1 / 2)
