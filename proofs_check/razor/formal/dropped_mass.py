"""Sections 3.1 and 3.2 of the RazorAttention paper, as statements: the weight beyond a window, and a budget of it."""

from fractions import Fraction
from typing import Any

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, both, eq, exp, implies, log
from proofs_check.language.notation import (
    each,
    exists,
    fold,
    limit,
    positive,
    real,
    sequence,
    statement,
    total,
    when,
    whole,
)
from proofs_check.razor.formal.definitions import (
    ATTENTION,
    MASS,
    attention,
    base,
    constant,
    delta,
    distance,
    eps,
    high,
    j,
    k,
    logits,
    m,
    mass,
    n,
    slope,
    spread,
    t,
    window,
)
from proofs_check.razor.formal.head_outputs import OUTPUTS, share
from proofs_check.records import parted, states

BEYOND = 1 / (1 + exp(-spread) * (exp(slope * window) - 1))  # theory.alibi.dropped_mass_bound
ENOUGH = log(1 + (1 / delta - 1) * exp(spread)) / slope  # theory.alibi.window_for_mass


def short_sum(slope: Any, spread: Any, kept: int, gone: int, level: Fraction) -> Term:
    """A window inside L_h = (D - ln 0.001)/l, beyond it no weight above 0.1 %, and a mass above the level."""
    context, n = each(j, when(j <= gone, spread, 0)), kept + gone
    light = fold("max", t, 1, gone, attention(context, slope, n, t)) <= Fraction(1, 1000)
    return both(kept < (spread + log(1000)) / slope, light, level < mass(context, slope, n, kept))


# Heads number j with slope l, cost c, range D, dropped mass x; theory.cache.budget.split_budget.
rate, cost, masses = (sequence(name, n, 0, open="low") for name in "lcx")
ranges, budget, level = sequence("D", n, 0), positive("eta"), positive("z")
sharp, less = (sequence(name, n, 0, Fraction(1, 2), open="low") for name in "pr")
split = budget / (cost[j] * rate[j] * total(k, 1, n, 1 / rate[k]))
price = level / (rate[j] * sharp[j] * (1 - (1 - exp(-ranges[j])) * sharp[j]))  # the costs at which all rates agree


def simple_windows(delta: Any) -> Term:
    return total(j, 1, n, (ranges[j] - log(delta)) / rate[j])


def sharp_windows(delta: Any) -> Term:
    return total(j, 1, n, log(1 + (1 / delta - 1) * exp(ranges[j])) / rate[j])


def _discard_corrected() -> Statement:
    """The supremum over contexts of all lengths: the worst one of length n comes within (w + 1/l)/n of the bound."""
    found, worst = mass(logits, slope, n, window), mass(high(j <= n - window), slope, n, window)
    return states(
        "razor.sec3.1.discard.corrected", "added to Section 3.1",
        for_all=[n, window, slope, spread, base, logits, delta], using=[MASS],
        says=both(found <= BEYOND, implies(window >= ENOUGH, found <= delta),
                  BEYOND - worst <= (window + 1 / slope) / n),
    )  # fmt: skip


def _form() -> Statement:
    """The bound itself is below eps where D > 0; at D = 0 it is eps, and the mass is below all the same."""
    found, bound = mass(logits, slope, n, window), eps / (1 + eps * (1 - exp(-spread)))
    return states(
        "razor.sec3.1.form", "added to Section 3.1",
        for_all=[n, window, slope, spread, base, logits, eps], using=[MASS],
        given=[(spread - log(eps)) / slope <= window],
        says=both(found <= bound, found < eps, implies(spread > 0, bound < eps)),
    )  # fmt: skip


def _discard() -> Statement:
    """The added hypothesis: the numerator of Eq. 2 without -ln eps is at least the range D of the logits."""
    numerator, term = real("numerator", spread), exp(logits[k] - slope * (n - k))
    dropped = when((numerator - log(eps)) / slope < n - k, term, 0)
    return statement(
        "razor.sec3.1.discard", for_all=[n, slope, spread, numerator, base, logits, eps],
        says=total(k, 1, n, dropped) / total(k, 1, n, term) < eps,
    )  # fmt: skip


def _discard_sum() -> Statement:
    """Two heads of width 1, W_Q^T W_K = -D/2, b = 0 and gamma = 1 (the numerator of Eq. 2 is D), worst contexts."""
    steep, far = positive("l'"), real("D'", 0)
    point = {slope: Fraction(1, 4), spread: 6, steep: Fraction(1, 16), far: 1}
    cases = (slope, spread, 46, 60, Fraction(3, 1000)), (steep, far, 84, 120, Fraction(14, 1000))
    return states(
        "razor.sec3.1.discard.sum", "added to Section 3.1",
        for_all=[slope, spread, steep, far], using=[ATTENTION, MASS],
        says=exists(point, both(*(short_sum(*case) for case in cases))),
    )  # fmt: skip


def _sinks() -> Statement:
    """Dropped: all but u sinks and the last w. The worst mass tends to the bound without sinks, which none exceeds."""
    sinks, window = whole("u", 0), whole("w", 1)
    term = exp(when(both(sinks < j, j <= n - window), base + spread, base) - slope * (n - j))
    bound = 1 / (1 + exp(-spread) * (exp(slope * window) - 1))
    rate = exp(spread) * (sinks + window + 1 / slope) / (1 - exp(-slope))
    return states(
        "razor.sec3.1.sinks", "added to Section 3.1", for_all=[sinks, window, slope, spread, base, n],
        says=limit(total(j, sinks + 1, n - window, term) / total(j, 1, n, term), bound, n, rate),
    )  # fmt: skip


def _no_decay() -> Statement:
    """Slope 0. theory.cache.dropped_flat.log_scope and mass_floor."""
    scope, weight = (1 / eps - 1) * exp(spread), attention(logits, 0, n, n - distance)
    return states(
        "razor.sec3.2.no_decay", "Section 3.2",
        for_all=[n, distance, window, spread, base, logits, eps], using=[ATTENTION, MASS],
        says=both(implies(distance >= scope, weight <= eps),
                  implies(distance < scope, eps < attention(high(j < 2), 0, distance + 1, 1)),
                  1 - mass(logits, 0, n, window) <= window * exp(spread) / n),
        why=("RoPE adds no term that falls with distance: a head whose logits do not depend on it is a rotary "
             "head, with keys in pairs that do not turn or equal to 0. Without a slope the sharp scope is (1/eps - "
             "1) e^D, and any fixed window loses all of the mass as the context grows."),
    )  # fmt: skip


def _flat_mass() -> Statement:
    """theory.cache.dropped_flat.mass_bound with D_s = D."""
    s, kept = sequence("s", n, base, base + spread), sequence("t", m, base, base + spread)
    worst, bound = share(constant(base + spread), n, constant(base), m), n / (n + m * exp(-spread))
    return states(
        "razor.sec3.2.flat_mass", "added to Section 3.2", for_all=[n, m, spread, base, s, kept], using=OUTPUTS,
        says=both(share(s, n, kept, m) <= bound, eq(worst, bound)),
    )  # fmt: skip


def _budget() -> Statement:
    """Simple windows; and sharp ones, for masses of at most 1/2 (without that it is false) and any costs."""
    affordable = total(j, 1, n, price * less[j]) <= total(j, 1, n, price * sharp[j])
    other = total(j, 1, n, (masses[j] - split) ** 2) > 0
    return statement(
        "razor.sec3.1.budget", for_all=[n, rate, cost, ranges, masses, budget, level, sharp, less],
        given=[total(j, 1, n, cost[j] * masses[j]) <= budget],
        says=both(eq(total(j, 1, n, cost[j] * split), budget), simple_windows(split) <= simple_windows(masses[j]),
                  implies(other, simple_windows(split) < simple_windows(masses[j])),
                  implies(affordable, sharp_windows(sharp[j]) <= sharp_windows(less[j]))),
    )  # fmt: skip


CLAIMS, FORMAL = parted((
    _discard_corrected(), _form(), _discard(), _discard_sum(), _sinks(), _no_decay(), _flat_mass(), _budget(),
))  # fmt: skip
