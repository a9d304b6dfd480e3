"""Scripts for the claims about what a cache drops and the compensation token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import Term, absolute, eq, exp, free, lift, log, substitute
from proofs_check.language.notation import total, var, when
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import of_facts
from proofs_check.rigour.combined import combined
from proofs_check.rigour.nodes import exchanged
from proofs_check.rigour.steps import (
    Scripts,
    Step,
    at_least_one,
    chain,
    cleared,
    closed,
    have,
    identity,
    linear,
    named,
    only,
    plainly,
    positive,
    search,
    split_sum,
    steps,
    termwise,
    times,
)
from proofs_check.rigour.sums import used
from proofs_check.rigour.tactics import Proof, Tactic, by, first

n, m, w, i, a, r, x, slope, p, ko, kl = map(var, ("n", "m", "w", "i", "a", "r", "x", "l", "p", "ko", "kl"))
k = var("h")  # the index of sums
s, v = var("s"), var("v")

# -- exponentials and means --------------------------------------------------------------------------------------------


def tangent(point: Any, at: Any) -> Tactic:
    """e^at (1 + point - at) <= e^point."""
    u = var("uu")
    return steps(only(), named(point - at, "uu", goal=exp(at) * (1 + u) <= exp(at) * exp(u)), times(exp(-at)),
                 only(), search)  # fmt: skip


def averaged(size: Term, body: Any, value: Any) -> Step:
    """The sum over h of what is linear in items."""
    return have(eq(total(k, 1, size, body), value), steps(closed(total(k, 1, size, 1), k), used, identity))


def jensen(size: Term, item: Term, mean: Term) -> Step:
    """n e^mean <= sum of e^item(h), for the mean of the items."""
    node, body = total(k, 1, size, exp(item)), exp(mean) * (1 + item - mean)
    prove = steps(only(), averaged(size, body, size * exp(mean)), termwise(node, ">=", body, _tangent_here(item, mean)),
                  of_facts)  # fmt: skip
    return have(size * exp(mean) <= node, prove)


def _tangent_here(item: Term, at: Term) -> Tactic:
    """The tangent for the index that the sequent ends with."""

    def tactic(q: Sequent) -> Proof:
        return tangent(substitute(item, {"h": var(q.variables[-1].name)}), at)(q)

    return tactic


def divisor(q: Sequent) -> Proof:
    """A term with sums of exponentials is positive, or not 0."""
    if q.goal.kind == "rel" and q.goal.parts[0] == "!=":
        return by("apart", False, divisor)(q)
    names = {variable.name for variable in q.variables}
    sums = [node for node in arithmetic.fold_atoms(q.goal) if free(node) <= names and node.parts[4].kind == "apply"]
    last = first(lambda z: arithmetic.linear(z, 2, False), cleared()(first(of_facts, search)))
    return steps(only(), *map(positive, sums), last)(q)


# -- one token less ----------------------------------------------------------------------------------------------------


def _identity() -> Scripts:
    return {"conclusion": identity, "defined": divisor}


# -- how much the token misses -----------------------------------------------------------------------------------------

c_var = var("c")
mean = total(ko, 1, n, s[ko]) / n
Z, H = total(ko, 1, n, exp(s[ko])), n * exp(mean)
steep = (exp(r) - 1) / r
log_bound = log(steep) - 1 + r / (exp(r) - 1)


def chord(z: Any) -> Tactic:
    """e^z <= 1 + z (e^r - 1)/r for z between 0 and r."""
    ends = exp(z) * (1 - z) <= 1, exp(z) * (1 + r - z) <= exp(r)
    return steps(have(ends[0], tangent(lift(0), z)), have(ends[1], tangent(r, z)), times(r), combined)


def _chord_here(q: Sequent) -> Proof:
    item = s[var(q.variables[-1].name)]
    z = var("z")
    body = steps(named(item - a, "z", 0, r, goal=exp(a) * (1 + z * steep) >= exp(a) * exp(z)), times(exp(-a)), chord(z))
    return only()(body)(q)


most = Z <= n * exp(a) * (1 + (mean - a) * steep)
top = 1 + (mean - a) * steep <= steep * exp(mean - a + 1 / steep - 1)


def _most() -> Step:
    """The chord, summed, and the tangent."""
    body = exp(a) * (1 + (s[k] - a) * steep)
    prove = steps(
        averaged(n, body, most.parts[2]), termwise(total(k, 1, n, exp(s[k])), "<=", body, _chord_here), of_facts
    )
    return chain(have(most, prove), have(top, steps(times(1 / steep), tangent(mean - a + 1 / steep - 1, lift(0)))))


def _log_mass_bound(q: Sequent) -> Proof:
    one, two = (exchanged(fact, steep, c_var) for fact in (most, top))
    goal = log(Z / H) <= log(c_var) - 1 + 1 / c_var
    return steps(have(0 < n), _most(), have(0 < H), named(steep, "c", 0, open=True, keep=(most, top), goal=goal),
                 by("exponentiate", times(H)(linear((1, one), (1, two, exp(a), 0 < n)))))(q)  # fmt: skip


def _log_mass_above_zero(q: Sequent) -> Proof:
    """The bound log c - 1 + 1/c is not negative, as 1 - log c <= 1/c: a larger multiple of it is a bound too."""
    bound = q.given[-1].parts[2]
    in_c = steps(at_least_one(-log(c_var)), linear((1, 1 - log(c_var) <= exp(-log(c_var)))))
    return steps(have(0 <= bound, only()(
        named(steep, "c", 0, open=True, keep=(), goal=0 <= log(c_var) - 1 + 1 / c_var)(in_c))),
        named(bound, "g", keep=None), of_facts)(q)  # fmt: skip


def _log_mass() -> Scripts:
    return {"conclusion": _log_mass_bound, "weaker": _log_mass_above_zero}


count, apex = var("u"), 1 / r - 1 / (exp(r) - 1)


def _log_mass_sharp() -> Scripts:
    """log(c/x) <= c/x - 1 for x = 1 + (u/n)(e^r - 1) and c = (e^r - 1)/r, the x of the best share."""
    rise, g, tt = exp(r) - 1, var("g"), var("tt")
    ranks = when(ko <= count, a + r, a)
    above, level = total(ko, 1, n, exp(ranks)), total(ko, 1, n, ranks)

    def parted(node: Term, high: Term, low: Term, ends_by: Tactic) -> tuple[Term, Step]:
        """The sum, by its u items above and the others."""
        fact = eq(node, count * high + (n - count) * low)
        top, rest = (total(ko, start, end, node.parts[4]) for start, end in ((1, count), (count + 1, n)))
        return fact, have(fact, steps(
            only(), split_sum(node, count), termwise(top, "=", high, ends_by), termwise(rest, "=", low, ends_by),
            closed(total(k, 1, count, 1), k), closed(total(k, count + 1, n, 1), k), combined))  # fmt: skip

    above_is, above_step = parted(above, exp(a + r), exp(a), by("logarithm", search))
    _level_is, level_step = parted(level, a + r, a, search)
    here = 1 + count / n * rise
    gap_is = eq(log(above / (n * exp(level / n))), log(here) - count / n * r)
    token_is = eq(exp(level / n), exp(a + r * count / n))
    written = steps(above_step, level_step, have(token_is, by("logarithm", times(n)(used(identity)))),
                    have(0 < above), have(0 < n * exp(level / n)), have(0 < here, plainly), by("exponentiate", steps(
                        named(exp(level / n), "tt", 0, open=True, keep=(above_is, token_is)), times(n * tt), used,
                        used, identity)))  # fmt: skip
    log_is = log(steep) <= log(here) + steep / here - 1
    inward = steps(named(here, "x", 0, open=True), named(steep, "c", 0, open=True), only(),
                   by("exponentiate", steps(times(1 / x), tangent(c_var / x - 1, lift(0)))))  # fmt: skip
    off, y = count - apex * n, var("y")
    square, near, out = off**2 <= 1, absolute(off) <= 1, 1 <= here
    squared = steps(named(off, "y", keep=(near,)), linear((1, absolute(y) <= 1, absolute(y)), (1, absolute(y) <= 1)))
    slack = steep / here - 2 + r / rise + count / n * r <= r * rise / n**2
    out_g, square_g = (exchanged(fact, rise, g) for fact in (out, square))
    final = steps(named(rise, "g", 0, open=True, keep=(square, out)), times(out_g.parts[2] * n**2, combined),
                  linear((1, out_g, 0 < r, 0 < g), (1, square_g, 0 < r, 0 < g)))  # fmt: skip
    two = steps(have(gap_is, written), have(0 < here, plainly), have(out, plainly), have(0 < steep, plainly),
                have(log_is, inward), have(square, squared), only(square, out, 0 < here, log_is, gap_is),
                have(0 < n), have(slack, final), linear((1, log_is), (1, slack), (-1, gap_is)))  # fmt: skip
    return {"conclusion": by("split", _log_mass_bound, two), "defined": divisor}


SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "razor.eq5.identity": _identity,
    "razor.eq5.log_mass": _log_mass,
    "razor.eq5.log_mass.sharp": _log_mass_sharp,
}
NEEDS: dict[str, str] = {
    "razor.sec3.1.output_attained": "Cauchy's inequality over pairs (dropped, kept) for each coordinate, and the mass "
    "beyond the window by closed forms (both ranges split at n - w)",
    "razor.sec3.1.budget": "log t <= t - 1 term by term, a term split off for the strict case, and the convexity of "
    "log(1 + (1/p - 1) e^D) for p <= 1/2 by a face from p on, both ways",
    "razor.eq5.under": "jensen() and the exchange of the sums over keys and coordinates (induction on n); for the "
    "equality, e^u <= 1 + u only at u = 0 with one gap split off the sum",
    "razor.eq5.exact": "as razor.eq5.under, and items that agree where the largest distance is 0 (member, split_sum)",
    "razor.eq5.gaps": "K H 2 rho <= rho^2 H^2 + K^2 with rho = e^{bound/2}; log(Z/H) = log Z - log H by exponentiate; "
    "for the values, the positive parts of weight - 1/n paired with the negative ones (Cauchy), and the chord for them",
    "razor.sec1.proved.pointwise": "the error is That (w - average), |softmax share - 1/2| < 1/2; and "
    "1 - tanh(1/u) <= u with 2/(2 + m u) >= 1 - m u/2",
    "razor.sec1.proved.corrected": "squares of the coordinates written by A = mean - o_K and B = average - o_K (an "
    "identity under the sum); 4 B.C >= -B^2 - 4 C^2 term by term, and T >= That from jensen(); the third by abs",
}
