"""Theorem 1 of the RazorAttention paper, what is true instead, and how far a window may outreach it, as statements."""

from fractions import Fraction

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, both, either, eq, exp, implies, log, sqrt
from proofs_check.language.notation import each, iff, positive, real, sequence, statement, total, var, when, whole
from proofs_check.razor.formal.definitions import (
    ATTENTION,
    MASS,
    at,
    attention,
    base,
    call,
    d,
    defined,
    delta,
    distance,
    e,
    eps,
    high,
    i,
    j,
    k,
    logits,
    mass,
    n,
    norm2,
    row,
    slope,
    spread,
    t,
    window,
)
from proofs_check.razor.formal.dropped_mass import ENOUGH
from proofs_check.razor.formal.post_norm import (
    KAPPA,
    NORMED,
    bias,
    centre,
    context,
    gains,
    head,
    hidden,
    norms,
    other,
    printed_bias,
    printed_norms,
    regular,
    state,
    variance,
    w_k,
    w_q,
)
from proofs_check.records import Rule, parted, rule, states

gap, size = real("gap", 0, spread), real("size", 0)

# theory.alibi.weight_bound, with D_s and with D_s = D; theory.alibi.scope
_BETWEEN = total(j, 1, distance - 1, exp(-slope * j))
WEIGHT = 1 / (1 + exp(slope * distance) * (exp(-gap) + exp(-spread) * _BETWEEN))
SHARP = 1 / (1 + exp(slope * distance) * (exp(-spread) + exp(-spread) * _BETWEEN))
SCOPE = log(1 + (1 / eps - 1) * (1 - exp(-slope)) * exp(spread)) / slope
# theory.alibi.reach.reach_forget_gap
GAP = log((1 / delta - 1) / (1 - exp(-slope))) / slope


def violation(x: Term, y: Term, bound: Term) -> tuple[Term, Term]:
    """Where |x| |x - y| > bound: printed scope and weight of y for a head of one dimension, read on the context y x.

    Its query is x.x and its key w.x, |x| |w| (kappa - bound) = 2 - log(1 - eps); its slope is just above what puts the
    scope below 1.
    """
    size = call("kappa", x, y, d)
    strength = (2 - log(1 - eps)) / (size - bound)
    steep = strength * bound - log(eps) + 1
    key = each(i, strength * (y.parts[1] - x.parts[1]) / size)
    return call("scope", x, key, bound, steep, eps, d), call("on_two", x, y, key, steep, d)


_X, _Y, _W = var("x"), var("y"), var("w")
_TWO = each(t, when(t < 2, call("logit_one", _X, _Y, _X, _W, d), call("logit_one", _X, _X, _X, _W, d)))
SCOPE_OF = defined("scope", "x w u l eps d", (sqrt(norm2(_X)) * sqrt(norm2(_W)) * var("u") - log(eps)) / slope)
ON_TWO = defined("on_two", "x y w l d", attention(_TWO, slope, 2, 1))
WEIGHT_OF = defined(
    "weight", "h g b c p r l n j d e",
    attention(each(t, head(state(row(context, n), gains, bias), state(row(context, t), gains, bias))), slope, n, at),
)  # fmt: skip


# Gains of one size z > 0, in LayerNorm of one sign, and a bias that in LayerNorm is orthogonal to the ones.
sign, raw, one_size = sequence("w", d), sequence("b", d), positive("z")
_POSITIVE = when(centre >= 1, sign[1], sign[i]) >= 0
alike = each(i, when(_POSITIVE, one_size, -one_size))
shift = each(i, raw[i] - centre * total(k, 1, d, raw[k]) / d)
_ALONG = when(_POSITIVE, shift.parts[1], -shift.parts[1])  # z is then along the bias; without one any z will do
best, worst = (each(i, way * when(norm2(shift) > 0, _ALONG, hidden[i])) for way in (1, -1))


def _thm1() -> Rule:
    """m - n > L_h is solved for the slope: l (m - n) is z > 0 more than the numerator of Eq. 2."""
    earlier, excess = whole("j", 1, n - 1), positive("z")
    x, y = (state(row(context, place), gains, printed_bias) for place in (n, t))
    weight = attention(each(t, head(x, y)), slope, n, earlier)
    least = 2 * call("product", w_q, w_k, e, d) * printed_norms - log(eps)
    printed = statement(
        "", for_all=[n, d, e, centre, context, gains, bias, w_q, w_k, eps, earlier, excess, slope],
        given=[regular, eq(slope, (least + excess) / (n - earlier))], says=weight <= eps, using=NORMED,
    )  # fmt: skip
    return rule(
        "razor.thm1", "Section 3.1, Theorem 1, Eq. 2", printed, meant=_thm1_corrected(),
        why="Scores are those of Eq. 1, without 1/sqrt(d_head). The norm is the Frobenius norm of W_Q^T W_K, which "
        "is at least the spectral norm. l = (..)/(n - j) says that the target lies beyond L_h. Post-norm "
        "states reach d max gamma^2, and the own token's logit may be as far below zero as the target's is above. The "
        "weight beyond L_h has no bound but 1. With W_Q^T W_K, gains of one size and no bias the theorem is true: "
        "razor.thm1.no_bias.",
    )


def _thm1_corrected() -> Statement:
    """Of D_s only the target's excess is used. The worst context begins with the target; D_s = D in it."""
    weight, worst = attention(logits, slope, n, n - distance), attention(high(j < 2), slope, distance + 1, 1)
    return statement(
        "", for_all=[n, distance, slope, spread, gap, base, logits, eps],
        given=[logits[n - distance] - logits[n] <= gap], using=[ATTENTION],
        says=both(weight <= WEIGHT, implies(distance >= SCOPE, weight <= eps), eq(worst, SHARP),
                  implies(distance < SCOPE, eps < worst)),
    )  # fmt: skip


def _thm1_iff() -> Statement:
    """size: the spectral norm of W_Q^T W_K or more, of which only x.M(y - x) <= |M| |x| |y - x| is used."""
    x, y = (state(row(context, place), gains, bias) for place in (n, at))
    size_of, weight = call("kappa", x, y, d), call("weight", context, gains, bias, centre, w_q, w_k, slope, n, at, d, e)
    scope, violating = violation(x, y, 2 * norms)
    return statement(
        "razor.thm1.iff", for_all=[n, d, e, centre, context, gains, bias, w_q, w_k, size, slope, eps, at],
        using=[*NORMED, KAPPA, SCOPE_OF, ON_TWO, WEIGHT_OF],
        given=[regular, head(x, y) - head(x, x) <= size * size_of, (2 * size * norms - log(eps)) / slope < n - at],
        says=both(implies(size_of <= 2 * norms, weight <= eps),
                  implies(size_of > 2 * norms, both(scope < 1, eps < violating))),
    )  # fmt: skip


def _thm1_one_size() -> Statement:
    """kappa with the two states that reach it, and when it is at most 2 (|gamma|^2 + |b|^2): razor.thm1.iff."""
    states = ([state(x, alike, shift) for x in pair] for pair in ((hidden, other), (best, worst)))
    found, reached = (call("kappa", *pair, d) for pair in states)
    radius, long = sqrt(d) * one_size, sqrt(norm2(shift))
    most, bound = 2 * radius * (radius + long), 2 * (norm2(alike) + norm2(shift))
    return statement(
        "razor.thm1.one_size", for_all=[d, centre, one_size, sign, raw, hidden, other],
        using=[*NORMED, KAPPA],
        given=[variance(hidden) > 0, variance(other) > 0],
        says=both(found <= most, eq(reached, most), iff(most <= bound, either(norm2(shift) <= 0, radius <= long))),
    )  # fmt: skip


def _gap() -> Statement:
    """A window w that a context exceeds delta at, a distance k that the worst one (D_s = D) gives less than 1/2."""
    half = log(1 + (1 - exp(-slope)) * exp(spread)) / slope  # SCOPE at eps = 1/2
    unreached = attention(high(j < 2), slope, distance + 1, 1) < Fraction(1, 2)
    at_most_half = real("delta", 0, Fraction(1, 2), open="low")
    return states(
        "razor.thm1.gap", "added to Section 3.1, Theorem 1",
        for_all=[n, distance, window, slope, spread, base, logits, at_most_half],
        using=[ATTENTION, MASS],
        says=both(ENOUGH - half <= GAP, GAP - (ENOUGH - half) <= exp(-spread) / (slope * (1 - exp(-slope))),
                  implies(both(delta < mass(logits, slope, n, window), unreached), window - distance < GAP)),
    )  # fmt: skip


_CORRECTED = rule("razor.thm1.corrected", "added to Section 3.1, Theorem 1", _thm1_corrected())
CLAIMS, FORMAL = parted((_thm1(), _CORRECTED, _thm1_iff(), _thm1_one_size(), _gap()))
