"""Section 3.1 of the RazorAttention paper, as statements: what dropped tokens change of a head's output."""

from typing import Any

from proofs_check.core.statement import Statement
from proofs_check.core.terms import both, eq, exp
from proofs_check.language.notation import each, statement, total, when, whole
from proofs_check.razor.formal.definitions import (
    base,
    call,
    e,
    j,
    logits,
    m,
    n,
    q,
    s,
    slope,
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
from proofs_check.records import parted, states


def windowed(s: Any, v: Any, window: Any) -> tuple[Any, ...]:
    """Logits and values by position, the last ones kept, as dropped and kept tokens with ALiBi in their logits."""
    near = n - window + j
    gone = each(j, s(j) - slope * (n - j)), each(j, v(j)), n - window
    return (*gone, each(j, s(near) - slope * (window - j)), each(j, v(near)), window)


def _output() -> Statement:
    """One coordinate of the values; any set of dropped tokens, any logits, positional biases in them."""
    o_kept = cut(kept, w, m)
    return states(
        "razor.sec3.1.output", "added to Section 3.1", for_all=free_head, using=OUTPUTS,
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


CLAIMS, FORMAL = parted((_output(), _output_attained()))
