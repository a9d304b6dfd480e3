"""The compensation token of the RazorAttention paper, Eq. 4 and 5, and what Section 1 says of it, as statements."""

from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Variable
from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, absolute, both, either, eq, exp, implies, lift, log, ne, tanh
from proofs_check.language.converted import term
from proofs_check.language.notation import (
    each,
    fold,
    iff,
    positive,
    real,
    sequence,
    statement,
    supremum,
    total,
    var,
    when,
    whole,
)
from proofs_check.razor.formal.definitions import (
    N,
    apart2,
    base,
    call,
    column,
    constant,
    d,
    defined,
    e,
    first_is,
    i,
    j,
    km,
    m,
    n,
    q,
    row,
    s,
    spare,
    v,
)
from proofs_check.razor.formal.head_outputs import (
    OUTPUTS,
    VECTORS,
    average,
    columns,
    compensated,
    cut,
    dropped_mean,
    free_head,
    heads,
    kept,
    log_gap,
    output,
    scores,
    share,
    share_hat,
    v_e,
    w,
    w_e,
)
from proofs_check.records import parted, states
from theory.cache import compensation_bounds

# Keys of d coordinates: q.k_j, and khat of Eq. 4.
query, keys, kept_keys = sequence("q", d), sequence("k", (n, d)), sequence("x", (m, d))
MEAN_KEY = defined("mean_key", "k n i", total(km, 1, N, var("k")[km, i]) / N)


def products(query: Any, keys: Any) -> Term:
    return each(j, total(i, 1, d, query(i) * keys[j, i]))


# Eq. 5 with khat itself, logits t and values v and w.
_TOKEN, _KEPT = n * exp(total(i, 1, d, query[i] * call("mean_key", keys, n, i))), total(j, 1, m, exp(kept[j]))
EQ5 = defined(
    "eq5", "q k v n t w m d", (_TOKEN * average(v, n) + total(j, 1, m, exp(kept[j]) * w[j])) / (_TOKEN + _KEPT)
)


DOTS = defined("dots", "q k d j", total(i, 1, var("d"), var("q")[i] * var("k")[j, i]))


def log_mass_bound(r: Variable) -> Term:
    return term(compensation_bounds.LOG_MASS_BOUND, {compensation_bounds.span: r})


_ASKED = products(lambda i: query[i], keys)


def even(logits: Term) -> Term:
    """One logit on all dropped keys."""
    return fold("max", j, 1, n, logits.parts[1]) <= fold("min", j, 1, n, logits.parts[1])


EVEN = even(_ASKED)
ranged_by = positive("r")
ranged = sequence("s", n, base, base + ranged_by)
HALF_WAY = constant((log(call("Z", ranged, n)) + log(call("Zhat", ranged, n))) / 2)
WORST_SHARE = term(compensation_bounds.WORST_SHARE, {compensation_bounds.span: ranged_by})

# Values of e coordinates: full output, without the dropped tokens, with the token; vbar and vhat.
full_e, cut_e, compensated_e = (each(q, part) for part in (output(*columns), cut(*columns[3:]), compensated(*columns)))
mean_e, average_e = each(q, dropped_mean(*columns[:3])), each(q, average(*columns[1:3]))
# Squared errors of dropping and with the token, and what lies between average and kept output.
_ALL = "s v n t w m e"
DROPPING = defined("dropping", _ALL, apart2(full_e, cut_e, e))
TOKEN = defined("token", _ALL, apart2(full_e, compensated_e, e))
BETWEEN = defined("between", "v n t w m e", apart2(average_e, cut_e, e))
_TOWARDS = total(q, 1, e, (mean_e.parts[1] - cut_e.parts[1]) * (average_e.parts[1] - cut_e.parts[1]))
TOWARDS, OFF = defined("towards", _ALL, _TOWARDS), defined("off", "s v n e", apart2(mean_e, average_e, e))


def not_enough(rho: Any) -> Term:
    """Dropped logits -+ln 2, a kept one far below: |vbar - vhat| = rho |vhat - o_K|, and the token is worse."""
    rest = constant(log(rho - Fraction(1, 2))), constant(0), 1
    shown = first_is(-log(2), log(2)), first_is(1 + Fraction(5, 3) * rho, 1 - Fraction(5, 3) * rho), 2, *rest
    far = absolute(dropped_mean(*shown[:3]) - average(*shown[1:3]))
    worse = absolute(output(*shown) - cut(*rest)) < absolute(output(*shown) - compensated(*shown))
    return both(eq(far, rho * absolute(average(*shown[1:3]) - cut(*rest))), worse)


def _identity() -> Statement:
    """One coordinate of the values."""
    true, hat, mean = share(*scores), share_hat(*scores), dropped_mean(s, v, n)
    split = (true - hat) * (mean - cut(kept, w, m)) + hat * (mean - average(v, n))
    return states(
        "razor.eq5.identity", "added to Section 3.2, Eq. 4 and 5",
        for_all=free_head, says=eq(output(*heads) - compensated(*heads), split), using=OUTPUTS
    )


def _under() -> Statement:
    token = n * exp(total(i, 1, d, query[i] * call("mean_key", keys, n, i)))
    true = total(j, 1, n, exp(_ASKED.parts[1]))
    return statement(
        "razor.eq5.under", for_all=[n, d, query, keys], says=both(token <= true, iff(eq(token, true), EVEN)),
        using=[MEAN_KEY],
    )  # fmt: skip


def _eq5_exact() -> Statement:
    """If keys number a and b differ, the query k_a - k_b and the values 1 (dropped) and 0 (kept) show it."""
    one, two = whole("a", 1, n), whole("b", 1, n)
    dots = lambda query, keys: each(j, call("dots", query, keys, d, j))  # noqa: E731
    between, logits = each(i, keys[one, i] - keys[two, i]), dots(query, keys)
    asked = logits, v, n, dots(query, kept_keys), w, m
    shown = dots(between, keys), constant(1), n, dots(between, kept_keys), constant(0), m
    agree = either(even(logits), call("farthest2", keys, n, d) <= 0)
    return statement(
        "razor.eq5.exact", for_all=[n, m, d, query, keys, kept_keys, v, w, one, two],
        using=[*VECTORS, MEAN_KEY, DOTS, EQ5],
        says=both(implies(agree, eq(call("eq5", query, keys, *asked[1:], d), output(*asked))),
                  implies(apart2(row(keys, one), row(keys, two)) > 0, ne(compensated(*shown), output(*shown)))),
    )  # fmt: skip


def _log_mass() -> Statement:
    return states(
        "razor.eq5.log_mass", "added to Section 3.2, Eq. 4 and 5", for_all=[n, ranged_by, base, ranged],
        says=log_gap(ranged, n) <= log_mass_bound(ranged_by), using=OUTPUTS,
    )  # fmt: skip


def _log_mass_sharp() -> Statement:
    """The whole number u next to the share p* of n keys lie r above the others: O(1/n^2) below the bound."""
    top = whole("u", 1, spare - 1)
    two = log_gap(each(j, when(j <= top, base + ranged_by, base)), spare)
    return states(
        "razor.eq5.log_mass.sharp", "added to Section 3.2, Eq. 4 and 5",
        for_all=[spare, top, ranged_by, base, ranged], using=OUTPUTS,
        given=[absolute(top - WORST_SHARE * spare) <= 1],
        says=both(log_gap(ranged, spare) <= log_mass_bound(ranged_by),
                  log_mass_bound(ranged_by) - two <= ranged_by * (exp(ranged_by) - 1) / spare**2),
    )  # fmt: skip


def _gaps() -> Statement:
    """Reached: T - That at a kept logit half way between log Z_D and log Zhat; vbar - vhat with one key of n + 2."""
    some, half, bound = (ranged, n, kept, m), (ranged, n, HALF_WAY, 1), log_mass_bound(ranged_by)
    apart = total(q, 1, e, (dropped_mean(ranged, column(v_e), n) - average(column(v_e), n)) ** 2)
    one = first_is(2 * log(n + 1), 0), first_is(1, 0), n + 2
    return statement(
        "razor.eq5.gaps", for_all=[n, m, e, ranged_by, base, ranged, kept, v_e], using=VECTORS,
        says=both(share(*some) - share_hat(*some) <= tanh(bound / 4),
                  eq(share(*half) - share_hat(*half), tanh(log_gap(ranged, n) / 4)),
                  apart <= tanh(ranged_by / 4) ** 2 * call("farthest2", v_e, n, e),
                  eq(dropped_mean(*one) - average(*one[1:]), tanh(2 * log(n + 1) / 4))),
    )  # fmt: skip


def _pointwise() -> Statement:
    """Two dropped tokens and m kept ones of one value w, values in [-1, 1], dropping exact: errors up to 1, not 1."""
    x, y, z, u = real("x"), real("y"), real("z"), real("u", 0, 1, open="low")
    one, two, w = (real(name, -1, 1) for name in "prw")
    head = first_is(x, y), first_is(one, two), 2, constant(z), constant(w), m
    family = {x: 1 / u, y: -1 / u, z: log(u), one: 1, two: -1}
    return statement(
        "razor.sec1.proved.pointwise", for_all=[m, x, y, z, one, two, w, u], given=[eq(w, dropped_mean(*head[:3]))],
        says=supremum(absolute(output(*head) - compensated(*head)), 1, family, u, 1 + lift(m) / 2, attained=False),
        using=OUTPUTS,
    )  # fmt: skip


def _proved_corrected() -> Statement:
    """Squared errors; and the constant 1/2: no rho above it is enough."""
    rho = real("rho", Fraction(1, 2), open="low")
    every = (s, v_e, n, kept, w_e, m, e)
    dropping, token, between = call("dropping", *every), call("token", *every), call("between", *every[1:])
    near, towards = 4 * call("off", s, v_e, n, e) <= between, call("towards", *every)
    excess = share_hat(*scores) * between - 2 * share(*scores) * towards
    return statement(
        "razor.sec1.proved.corrected", for_all=[n, m, e, s, v_e, kept, w_e, rho],
        using=[*VECTORS, DROPPING, TOKEN, BETWEEN, TOWARDS, OFF],
        says=both(iff(dropping < token, excess > 0), implies(near, token <= dropping), not_enough(rho)),
    )  # fmt: skip


CLAIMS, FORMAL = parted((
    _identity(), _under(), _eq5_exact(), _log_mass(), _log_mass_sharp(), _gaps(), _pointwise(), _proved_corrected(),
))  # fmt: skip
