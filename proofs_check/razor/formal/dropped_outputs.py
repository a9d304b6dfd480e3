"""Sections 2 and 3.1 of the RazorAttention paper, as statements: what dropped tokens change of a head's output."""

from fractions import Fraction
from typing import Any

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, absolute, both, eq, exp, log, ne
from proofs_check.language.notation import each, statement, total, var, when, whole
from proofs_check.razor.formal.definitions import (
    N,
    S,
    V,
    base,
    call,
    defined,
    e,
    first_is,
    i,
    j,
    kl,
    logits,
    m,
    n,
    q,
    s,
    slope,
    spare,
    spread,
    v,
)
from proofs_check.razor.formal.head_outputs import (
    OUTPUTS,
    VECTORS,
    cut,
    dropped_mean,
    free_head,
    heads,
    kept,
    output,
    scores,
    share,
    v_e,
    w,
)

# theory.cache.dropped.eviction_errors: the tokens s, v without number i.
LEFT = defined("left", "s v n i", total(kl, 1, N, when(ne(kl, i), exp(S[kl]) * V[kl], 0))
               / total(kl, 1, N, when(ne(kl, i), exp(S[kl]), 0)))  # fmt: skip


def evicted(s: Any, v: Any, n: Any, place: Any) -> Term:
    return call("left", s, v, n, place) - dropped_mean(s, v, n)


def windowed(s: Any, v: Any, window: Any) -> tuple[Any, ...]:
    """Logits and values by position, the last ones kept, as dropped and kept tokens with ALiBi in their logits."""
    near = n - window + j
    gone = each(j, s(j) - slope * (n - j)), each(j, v(j)), n - window
    return (*gone, each(j, s(near) - slope * (window - j)), each(j, v(near)), window)


def _output() -> Statement:
    """One coordinate of the values; any set of dropped tokens, any logits, positional biases in them."""
    o_kept = cut(kept, w, m)
    return statement(
        "razor.sec3.1.output", for_all=free_head, using=OUTPUTS,
        says=eq(output(*heads) - o_kept, share(*scores) * (dropped_mean(s, v, n) - o_kept)),
    )  # fmt: skip


def _output_attained() -> Statement:
    """Squared lengths, squared diameter; attained by values 1 (dropped) and 0 (kept)."""
    window = whole("w", 1, n - 1)
    bound = 1 / (1 + exp(-spread) * (exp(slope * window) - 1) / (1 - exp(-slope * (n - window))))
    some = windowed(lambda j: logits[j], lambda j: v_e[j, q], window)
    far = windowed(lambda j: when(j <= n - window, base + spread, base), lambda j: when(j <= n - window, 1, 0), window)
    moved = total(q, 1, e, (output(*some) - cut(*some[3:])) ** 2)
    return statement(
        "razor.sec3.1.output_attained", for_all=[n, window, e, slope, spread, base, logits, v_e], using=VECTORS,
        says=both(moved <= bound**2 * call("farthest2", v_e, n, e), eq(output(*far) - cut(*far[3:]), bound)),
    )  # fmt: skip


def _eviction() -> Statement:
    """One coordinate of the values."""
    place, weight = whole("i", 1, spare), exp(s[var("i")]) / call("Z", s, spare)
    sink = first_is(log(18), 0), each(j, when(j < 2, 0, when(j < 3, 1, Fraction(-1, 2)))), 3
    heavy = first_is(log(2), 0), each(j, when(j < 2, 0, when(j < 3, 1, -1))), 3
    worst = both(*(absolute(evicted(*sink, other)) < absolute(evicted(*sink, 1)) for other in (2, 3)))
    moved = weight / (1 - weight) * (dropped_mean(s, v, spare) - v[place])
    return statement(
        "razor.sec2.eviction", for_all=[spare, place, s, v], using=[*OUTPUTS, LEFT],
        says=both(eq(evicted(s, v, spare, place), moved), worst, eq(evicted(*heavy, 1), 0), ne(evicted(*heavy, 2), 0)),
    )  # fmt: skip


STATED = (_output(), _output_attained(), _eviction())
