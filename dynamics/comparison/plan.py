"""Equal memory: how many tokens each policy may keep so that all hold the same number of key-value entries; no torch.

A model of H heads (all layers) with a context of N tokens holds H N entries, a key and a value each. A budget b allows
b H N of them. Who keeps alike in every head has b N tokens a head: a window, sinks and a window, or heavy hitters of
which half are recent. Razor keeps P heads whole and in each of the others sinks + window + c tokens, c = 1 with a
compensation token: P N + (H - P)(sinks + window + c) <= b H N. Entries are counted, not bytes: a token's log mass, its
double precision in `RazorCache` and a centre, which do not grow with N, are left out.
Source: RazorAttention, Section 4 (which compares at no common budget); P: Table 2, 14 % + 1 %, each rounded up.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

FULL, WINDOW, STREAMING, HEAVY, NONE_PROTECTED = "full", "window", "sinks + window", "heavy hitters", "razor, no heads"
RAZOR, DROPPING, RANDOM = "razor", "razor, no token", "razor, random heads"
DECAYED, CENTRED = "razor, decayed token", "razor, centred token"
COMPENSATION = {RAZOR: "mean", DROPPING: "none", RANDOM: "mean", NONE_PROTECTED: "mean", DECAYED: "alibi",
                CENTRED: "centred"}  # fmt: skip
POLICIES = (FULL, WINDOW, STREAMING, HEAVY, NONE_PROTECTED, RANDOM, DROPPING, RAZOR, DECAYED, CENTRED)
# Of a checkpoint (`equal_memory`), by the names that a command takes; a Razor cache runs those of PLANNED.
EVICTED, RENUMBERED = "random eviction", "sinks, renumbered"
SHORT = {
    "window": WINDOW,
    "sinks": STREAMING,
    "h2o": HEAVY,
    "razor-no-heads": NONE_PROTECTED,
    "razor": RAZOR,
    "razor-no-token": DROPPING,
    "razor-random-heads": RANDOM,
    "random": EVICTED,
}
PLANNED = (WINDOW, STREAMING, NONE_PROTECTED, RAZOR, DROPPING)
LEAST_SHARE = Fraction(1, 16)  # of the context, that heads which are not protected are to keep


class Sizes(NamedTuple):
    """Tokens that a policy keeps: `protected` heads all, the others sinks + window + heavy + token."""

    protected: int
    sinks: int
    window: int
    heavy: int = 0
    token: int = 0

    def entries(self, heads: int, context: int) -> int:
        """Key-value entries of the whole model once `context` tokens are in."""
        local = min(context, self.sinks + self.window + self.heavy + self.token)
        return self.protected * context + (heads - self.protected) * local


def sizes(policy: str, budget: Fraction, heads: int, context: int, sinks: int, protected: int) -> Sizes:
    """The largest window of a policy within a budget.

    Args: budget in (0, 1], of the full cache; heads, of all layers; protected, the heads that Razor would keep whole:
        fewer where the others would be left less than LEAST_SHARE of the context.
    Raises: ValueError for a policy that does not exist, or a budget with no room for a window.
    """
    if policy not in POLICIES:
        raise ValueError(f"policy must be one of {', '.join(POLICIES)}; got {policy!r}")
    if policy == FULL:
        return Sizes(heads, 0, 0)
    share = math.floor(budget * context)
    if policy == WINDOW:
        return _checked(Sizes(0, 0, share), budget)
    if policy == STREAMING:
        return _checked(Sizes(0, sinks, share - sinks), budget)
    if policy == HEAVY:
        return _checked(Sizes(0, 0, share - share // 2, share // 2), budget)
    whole = 0 if policy == NONE_PROTECTED else min(protected, affordable(budget, heads))
    local = (budget * heads * context - whole * context) // (heads - whole)
    token = int(COMPENSATION[policy] != "none")
    return _checked(Sizes(whole, sinks, int(local) - sinks - token, 0, token), budget)


def affordable(budget: Fraction, heads: int) -> int:
    """The most heads that can be kept whole with LEAST_SHARE of the context left for each of the others."""
    return max(0, math.floor((budget - LEAST_SHARE) / (1 - LEAST_SHARE) * heads))


def cells(budgets: tuple[Fraction, ...]) -> Iterator[tuple[str, Fraction]]:
    """Every policy at every budget, the full cache once, at 1."""
    yield FULL, Fraction(1)
    for budget in budgets:
        yield from ((policy, budget) for policy in POLICIES if policy != FULL)


def _checked(found: Sizes, budget: Fraction) -> Sizes:
    if found.window < 1:
        raise ValueError(f"a budget of {budget} leaves no window: {found}")
    return found
