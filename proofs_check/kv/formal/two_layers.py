"""Theorem 3.2 and Appendix A of the KV-shifting paper, as statements."""

from typing import Any

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, absolute, both, eq, exp, log, sqrt, tanh
from proofs_check.kv.formal.definitions import (
    HEAD,
    HEADS,
    IH,
    LINE_IH,
    LINE_TF,
    REPAIRED,
    STEP,
    TF,
    L,
    c,
    call,
    d,
    i,
    in_rows,
    j,
    k,
    m,
    n,
    p,
    row,
    s,
    sigma,
    u,
    v,
    w,
    x,
    y,
    z,
)
from proofs_check.language.notation import (
    define,
    each,
    exists,
    fold,
    positive,
    real,
    sequence,
    statement,
    total,
    when,
    whole,
)
from proofs_check.records import Rule, parted, rule, states


def two_layers() -> list[Rule | Statement]:
    """Theorem 3.2 and Appendix A."""
    cubes = [sequence("x", (L, d), 0, 1), sequence("y", (L, d), -1, 1), sequence("z", (L, d), -1, 1)]
    # theory.induction.sharpness.COPY_ERROR_BOUNDS has p > 0, so these are written out for p >= 0
    bounds = (tanh(d * exp(-p) / (2 * sigma)), 2 * tanh(d * exp(-p) / sigma), 2 * tanh(exp(-p) / sigma))
    lost = absolute(1 / total(j, 0, s - 2, exp(-p * j)) - 1)
    printed = 4 * (d / sigma) * exp(-p) / (1 - exp(-p))
    # u stands for e^{-p}, c for d e^{-p} / sigma: tokens (low, high, low, high, high) at the balanced slope.
    unit = _line_error(row(0, 1, 0, 1, 1), 5, c / u, c / u - c, -log(u))
    symmetric = _line_error(row(-1, 1, -1, 1, 1), 5, c / u, 2 * (c / u - c), -log(u))
    rate = 2 * c + exp(4 * c) / c
    gain = _line_error(row(1, 0, 1, 1), 4, 1 / sigma, m, p)
    return [
        statement(
            "kv.thm3.2",  # the condition is that |x| <= 1; masks and W* are those of the definition of TF
            for_all=[*HEAD, positive("p"), sequence("x", (L, d), -1, 1)],
            says=_error(TF, x) < printed,
            using=HEADS,
        ),
        statement(
            "kv.thm3.2.sharp",
            for_all=[*HEAD, real("p", 0), *cubes],
            given=[in_rows(z)],
            says=both(*(_error(TF, rows) < bound for rows, bound in zip((x, y, z), bounds, strict=True))),
            using=HEADS,
        ),
        statement(
            "kv.thm3.2.repaired",
            for_all=[*HEAD, real("p", 0), *cubes],
            given=[in_rows(z)],
            says=both(*(_error(REPAIRED, rows) < bound for rows, bound in zip((x, y, z), bounds, strict=True))),
            using=HEADS,
        ),
        statement(
            "kv.thm3.2.attained",  # the ball's bound is the symmetric one along a direction, c = e^{-p} / sigma
            for_all=[positive("c"), STEP],
            says=both(absolute(unit - tanh(c / 2)) <= rate * u, absolute(symmetric - 2 * tanh(c)) <= rate * u),
            using=HEADS,
        ),
        states(
            "kv.thm3.2.eight", "added to Section 3.1, Theorem 3.2 (first version: Theorem 1), Eq. 8",
            for_all=[whole("d", 1), positive("sigma"), positive("p")],
            says=8 * tanh(d * exp(-p) / (2 * sigma)) <= printed,
        ),
        statement(
            "kv.eq8.domain.unbounded",
            for_all=[real("k"), positive("sigma"), real("m", 0), real("p", 0), real("c")],
            says=exists(
                {c: (absolute(k) + 1) / gain},
                both(gain > 0, k < _line_error(row(1, 0, c, 1), 4, 1 / sigma, m, p)),
            ),
            using=HEADS,
        ),
        _softmax_change(),
        rule(
            "kv.appA.step4", "Appendix A, fourth inequality (both versions)", _norm(None), meant=_norm(1),
            repeats="kv.eq8.domain", why="Over which X_L the norm is taken is not said.",
        ),
        states(
            "kv.appA.step6.sharp", "added to Appendix A (both versions)",
             # a supremum over whole s: below it throughout, and as close as 2/(p s)
            for_all=[positive("p"), whole("s", 2)],
            says=both(lost < exp(-p), exp(-p) - lost <= 2 / (p * s)),
        ),
        states(
            "kv.appA.step7.uniform", "added to Appendix A (both versions)",
            for_all=[real("c"), positive("p")],
            says=exists(
                {p: when(c > 1, -log(1 - 1 / c), 1)},
                c * exp(-p) < 4 * exp(-p) / (1 - exp(-p)),
            ),
        ),
    ]


def _norm(size: int | None) -> Statement:
    """|x/sigma|_1 is at most the sum of the entries of I/sigma; size: what the coordinates may reach (None: any)."""
    row = sequence("x", d, None if size is None else -size, size)
    return statement(
        "", for_all=[whole("d", 1), positive("sigma"), row],
        says=both(total(k, 1, d, absolute(x[k] / sigma)) <= _identity_norm(), eq(_identity_norm(), d / sigma)),
    )  # fmt: skip


def _identity_norm() -> Term:
    return total(i, 1, d, total(j, 1, d, absolute(when(eq(i, j), 1, 0) / sigma)))


def _softmax_change() -> Statement:
    """Total variation against the range of the scores' change; two positions reach it, so 1 is the least constant."""
    one, other = (lambda r: exp(z[r]) / total(k, 1, n, exp(z[k]))), (lambda r: exp(v[r]) / total(k, 1, n, exp(v[k])))
    moved = define("moved", [n, z, v], total(j, 1, n, absolute(one(j) - other(j))))
    change = each(s, z[s] - v[s])
    widest = define("widest", [n, w], fold("max", s, 1, n, w[s]) - fold("min", s, 1, n, w[s]))
    size = define("size", [n, w], fold("max", s, 1, n, absolute(w[s])))
    pair = call(moved, 2, row(u, -u), row(-u, u))
    near = sqrt(1 - c)
    return statement(
        "kv.appA.step2.sharp", using=[moved, widest, size],
        for_all=[whole("n", 1), sequence("z", n), sequence("v", n), real("u", 0), real("c", None, 1, open="high")],
        says=both(
            call(moved, n, z, v) <= 2 * tanh(call(widest, n, change) / 4),
            call(moved, n, z, v) <= call(size, n, change),
            eq(pair, 2 * tanh(call(widest, 2, row(2 * u, -2 * u)) / 4)),
            c * call(size, 2, row(2 * near, -2 * near)) < call(moved, 2, row(near, -near), row(-near, near)),
        ),
    )  # fmt: skip


def _error(layers: tuple[str, Any], rows: Term) -> Term:
    return absolute(call(IH, rows, L, d, sigma, m, c) - call(layers, rows, L, d, sigma, m, p, c))


def _line_error(tokens: Term, length: int, size: Any, slope: Any, decay: Any) -> Term:
    return call(LINE_TF, tokens, length, size, slope, decay) - call(LINE_IH, tokens, length, size, slope)


CLAIMS, FORMAL = parted(two_layers())
