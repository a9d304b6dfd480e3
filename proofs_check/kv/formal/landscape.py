"""The closed-form loss of the KV-shifting paper at every real T >= 4, as statements: critical point, infima, slice."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from proofs_check.core.derive import derivative
from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, absolute, both, either, eq, exp, log, ne
from proofs_check.kv.formal.definitions import (
    ANY_T,
    BOX,
    CLOSED,
    COUNTS,
    HALF,
    MIXING,
    ON_SLICE,
    PLACES,
    SLICE,
    SLICE_ODDS,
    SLOPE,
    STEP,
    T,
    a,
    a1,
    a2,
    b,
    b1,
    b2,
    call,
    gaps,
    n,
    on_slice,
    partition,
    rho,
    u,
    w,
)
from proofs_check.language.converted import term
from proofs_check.language.notation import (
    define,
    iff,
    limit,
    real,
    statement,
    supremum,
    unique_minimiser,
    unique_zero,
    whole,
)
from proofs_check.records import Rule, parted, states
from theory import symbols
from theory.landscape import critical_symbolic as critical
from theory.landscape import slice_critical, symbolic

EVERYWHERE = [T, a1, a2, b1, b2]
LOSS = define("loss", EVERYWHERE, CLOSED)
SLOPES = {name: define(f"slope_{name}", EVERYWHERE, slope) for name, slope in SLOPE.items()}
ON_IT = [T, a, b]
SLICE_SLOPES = [define(f"slope_{name}", ON_IT, derivative(ON_SLICE, name)) for name in ("a", "b")]
# e^L on the slice: its slopes, then theirs.
_E = [derivative(SLICE_ODDS, name) for name in ("a", "b")]
_SECOND = {"aa": derivative(_E[0], "a"), "bb": derivative(_E[1], "b"), "ab": derivative(_E[0], "b")}
SLICE_E = {name: define(f"E_{name}", ON_IT, tree) for name, tree in {"a": _E[0], "b": _E[1], **_SECOND}.items()}


def closed(*at: Any) -> Term:
    """L of the corrected Eq. 10, by name."""
    return call(LOSS, *at)


def landscape() -> list[Rule | Statement]:
    """The closed form at every real T >= 4: its critical point, its infima under ablation, Figure 2's slice."""
    A, B, whole_sum = exp(a1), exp(a2), partition(T, a1, a2)
    everything = [ANY_T, *MIXING]
    nowhere = both(*(eq(call(slope, *EVERYWHERE), 0) for slope in SLOPES.values()))
    growths = (symbolic.A, symbolic.B)
    A_there, B_there = (term(critical.at_critical(growth), PLACES) for growth in growths)
    there = both(eq(A, A_there), eq(B, B_there), eq(b1, 0), eq(b2, 0))
    value_there = closed(T, log(A_there), log(B_there), 0, 0)
    region = 2 * A * b1 + B * absolute(b2) <= whole_sum
    signs = (2 * A - B - rho * (1 - B), 1 - B + rho * (A - 1), 1 - B)
    return [
        states(
            "kv.beyond.critical_point", "added to Theorem 3.4 (first version: Theorem 3)",
            for_all=everything, says=both(iff(nowhere, there), eq(value_there, log(T))),
            using=[LOSS, *SLOPES.values()],
        ),
        states(
            "kv.beyond.infimum.vanilla", "added to Theorem 3.4 (first version: Theorem 3)",
            for_all=[ANY_T, real("a1"), real("b1"), STEP],
            says=supremum(-closed(T, a1, 0, b1, 0), -log(T - 1), at={a1: 0, b1: -1 / u}, step=u, rate=2,
                          attained=False), using=[LOSS],
        ),
        states(
            "kv.beyond.infimum.v_shift", "added to Theorem 3.4 (first version: Theorem 3)",
            for_all=[ANY_T, real("a1"), real("b1"), real("b2"), STEP],
            says=supremum(-closed(T, a1, 0, b1, b2), -log(T - 3), at={a1: log(2), b1: -1 / u, b2: -1 / u}, step=u,
                          rate=17, attained=False), using=[LOSS],
        ),
        states(
            "kv.beyond.infimum.k_shift", "added to Theorem 3.4 (first version: Theorem 3)",
            for_all=[ANY_T, real("a1"), real("a2"), real("b1"), STEP],
            says=supremum(-closed(T, a1, a2, b1, 0), 0, at={a1: 0, a2: log(3), b1: 1 / u}, step=u,
                          rate=T * (T + 3) / 2, attained=False), using=[LOSS],
        ),
        states(
            "kv.beyond.route.anti_induction", "added to Theorem 3.4 (first version: Theorem 3)",
            for_all=[ANY_T, real("a1", 0), real("a2", None, 0, open="high"),
                     real("rho", 0, (2 * A - B) / (1 - B), open="high"), STEP],
            says=limit(closed(T, a1, a2, -1 / u, -rho / u), 0, u,
                       whole_sum * (1 / signs[0] + 2 / signs[1] + (T - 4) / signs[2])), using=[LOSS],
        ),
        statement(
            "kv.beyond.time.not_ahead",  # velocities are minus the slopes of L
            for_all=[real("T", 44), real("a1", -log(2), 1), real("a2", 0), real("b1", 0), real("b2", -b1 / 4)],
            given=[region],
            says=both(-T * call(SLOPES["a2"], *EVERYWHERE) <= b1 * B, -T * call(SLOPES["b1"], *EVERYWHERE) <= B - 1),
            using=list(SLOPES.values()),
        ),
        *_slice(),
    ]  # fmt: skip


def _slice() -> list[Rule | Statement]:
    whole_sum = partition(T, a, 1 - a)
    slopes = [call(slope, *ON_IT) for slope in SLICE_SLOPES]
    here = on_slice(closed)
    margins = [-gap / whole_sum for gap in gaps(a, 1 - a, b, 1 - b)]
    best = [-gap / partition(T, 0, 1) for gap in gaps(0, 1, 1, 0)]
    least_loss = log(1 + exp((2 - exp(1)) / (T + exp(1))) + (T - 2) * exp((1 - exp(1)) / (T + exp(1))))
    rest = define("rest", [T], T**2 * (least_loss - log(T) + (exp(1) - 1) / T))
    weights = [n * exp(-margin) for n, margin in zip(COUNTS, margins, strict=True)]
    q = [term(slope, SLICE) for slope in slice_critical.SLOPES]
    rests = zip(slice_critical.K, slice_critical.R, strict=True)
    sums = [term(symbols.beta1 * one - other, SLICE) for one, other in rests]
    E = {name: call(tree, *ON_IT) for name, tree in SLICE_E.items()}
    ten = 10**5
    return [
        statement("kv.fig2.caption", for_all=[ANY_T, *BOX], says=unique_minimiser(here, at={a: 0, b: 1}), using=[LOSS]),
        statement(
            "kv.beyond.box.minimiser",  # that L itself is least there only is kv.fig2.caption
            for_all=[ANY_T, *BOX],
            says=both(*(margin <= top for margin, top in zip(margins, best, strict=True)),
                      either(margins[1] < best[1], both(eq(a, 0), eq(b, 1))),
                      either(on_slice(closed, T, 0, 1) < here, both(eq(a, 0), eq(b, 1)))), using=[LOSS],
        ),
        statement(
            "kv.beyond.box.minimum",
            for_all=[ANY_T, *BOX, real("w", T, open="low")],
            says=both(least_loss <= here, eq(on_slice(closed, T, 0, 1), least_loss),
                      Fraction(449, 100) < call(rest, T), call(rest, T) < call(rest, w), call(rest, T) < exp(2),
                      exp(2) - call(rest, T) <= 19 / T),
            using=[rest, LOSS],
        ),
        statement(
            "kv.beyond.box.kkt",
            for_all=[ANY_T, *BOX],
            says=iff(both(*(either(eq(slope, 0), both(eq(place, 0), slope >= 0), both(eq(place, 1), slope <= 0))
                            for slope, place in zip(slopes, (a, b), strict=True))),
                     both(eq(a, 0), eq(b, 1))), using=SLICE_SLOPES,
        ),
        statement(
            "kv.beyond.slice.conditions",
            for_all=[ANY_T, real("a"), real("b")],
            says=iff(both(eq(slopes[0], 0), eq(slopes[1], 0)),
                     both(eq(sum_of(weights, q), 0), eq(sum_of(weights, sums), 0))), using=SLICE_SLOPES,
        ),
        statement(
            # The point where the Hessian of e^L on the slice is singular too; critical points of e^L are those of L.
            "kv.beyond.slice.fold",
            for_all=[real("a", 1, Fraction(23, 20)), real("b", -Fraction(3, 4), -HALF), real("T", 10, 12)],
            says=unique_zero([E["a"], E["b"], E["aa"] * E["bb"] - E["ab"] ** 2], box={
                "a": (Fraction(107145, ten), Fraction(107155, ten)),
                "b": (Fraction(-63485, ten), Fraction(-63475, ten)),
                "T": (Fraction(1081115, ten), Fraction(1081125, ten))}), using=list(SLICE_E.values()),
        ),
        _levels(),
    ]  # fmt: skip


def sum_of(weights: Sequence[Any], terms: Sequence[Any]) -> Term:
    return Term("add", *(weight * term for weight, term in zip(weights, terms, strict=True)))


def _levels() -> Statement:
    """Appendix L's listing at O(T) = 100, its slips kept, and the loss itself at T = 104; n/20 are the levels drawn."""
    whole_sum = 2 * exp(a) + exp(1 - a) + 100
    first, second = exp(a) / whole_sum, exp(1 - a) / whole_sum
    target = second * b + (1 - b) / whole_sum
    parts = exp(target) + 2 * exp(b / whole_sum + (1 - b) * second) + exp(2 * first * b + second + (1 - b)) + exp(100)
    listed, true = -log(exp(target) / parts), on_slice(closed, 104)
    return states(
        "kv.listing_l.levels", "added to Appendix L; first version, Appendix E",
        for_all=[*BOX, whole("n", 0, 199)],
        says=both(
            Fraction(9997, 100) < listed, listed < Fraction(99995, 1000), Fraction(462, 100) < true,
            true < Fraction(4649, 1000), ne(listed, n / 20), ne(true, n / 20),
        ), using=[LOSS],
    )  # fmt: skip


CLAIMS, FORMAL = parted(landscape())
