"""Script for the last step of Appendix A, with the own score taken off."""

from __future__ import annotations

from collections.abc import Callable

from proofs_check.core.terms import eq, exp
from proofs_check.language.notation import total, var
from proofs_check.rigour.steps import Scripts, have, linear, nonzero, positive, split_sum, steps, times

i, j, l, n, s = map(var, "ijlns")  # noqa: E741


def _last_step() -> Scripts:
    """The sum of the weights is at least the query's own e^{s_n}, as its other terms are positive."""
    term = exp(s[i] - l * (n - i))
    whole, before, own = total(i, 1, n, term), total(i, 1, n - 1, term), total(i, n, n, term)
    least = exp(s[n]) <= whole
    enough = linear((1, 0 <= before), (-1, eq(whole, before + own)))
    prove = steps(positive(whole), split_sum(whole, n - 1), have(0 <= before), have(least, enough), times(whole),
                  linear((1, least, exp(s[j] - s[n] - l * (n - j)))))  # fmt: skip
    return {"conclusion": prove, "defined": nonzero(whole)}


SCRIPTS: dict[str, Callable[[], Scripts]] = {"razor.appA.last_step.meant": _last_step}
