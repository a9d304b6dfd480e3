"""Claims about ResFormer as statements: data that the core decides, one a claim of the ledger, under its id.

One query at a time: a row of attention is the softmax of n logits, or weights that are nonnegative and sum to 1, and
one coordinate of the values is a sequence. What is true of every row and coordinate is true of the matrices.
"""

from fractions import Fraction
from typing import Any

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, absolute, both, eq, exp, lift, log, ne
from proofs_check.language.notation import (
    define,
    each,
    limit,
    positive,
    real,
    sequence,
    total,
    var,
    when,
    whole,
)
from proofs_check.records import Rule, parted, states

n, layers = whole("n", 1), whole("m", 1)
logits, others = sequence("s", n), sequence("t", n)
values, first = sequence("v", n), sequence("w", n)
factor, lam = real("c"), real("l")
at = whole("q", 1, n)
i, j, k = map(var, "ijk")  # bound
S, V, N = map(var, "svn")

# Eq. 1 at one query and coordinate, sums of exponentials over positions.
ATTENTION = define("attention", [S, V, N], total(k, 1, N, exp(S[k]) * V[k]) / total(k, 1, N, exp(S[k])))


def attention(logits: Any, values: Any, keys: Any = n) -> Term:
    """The output of a query with these logits, over so many keys."""
    return Term("call", "attention", *map(lift, (logits, values, keys)))


def concatenated(logits: Any, values: Any, others: Any, first: Any) -> Term:
    """Eq. 2: one softmax over the keys of two layers."""
    top = total(j, 1, n, exp(logits[j]) * values[j]) + total(j, 1, n, exp(others[j]) * first[j])
    return top / (total(j, 1, n, exp(logits[j])) + total(j, 1, n, exp(others[j])))


# -- Section 3.2: cross-layer attention made cheap -------------------------------------------------------------------


def _eq4() -> Statement:
    return states(
        "resformer.eq4", "Section 3.2, Eq. 3 and 4", for_all=[n, logits, values, first], using=[ATTENTION],
        says=eq(concatenated(logits, values, logits, first), attention(logits, each(j, values[j] + first[j])) / 2),
    )  # fmt: skip


def _eq5() -> Statement:
    """m layers whose keys are all those of the present one: v[i, j] is the value of position j in layer i."""
    table = sequence("v", (layers, n))
    joined = total(i, 1, layers, total(j, 1, n, exp(logits[j]) * table[i, j])) / (
        total(i, 1, layers, total(j, 1, n, exp(logits[j])))
    )
    return states(
        "resformer.eq5", "Section 3.2, Eq. 5", for_all=[layers, n, logits, table], using=[ATTENTION],
        says=eq(joined, total(i, 1, layers, attention(logits, each(k, table[i, k]))) / layers),
    )  # fmt: skip


def _eq6_mass() -> Statement:
    """What is given to values in all: a row of A, and a share for each of the n - 1 layers before."""
    row = total(j, 1, n, exp(logits[j])) / total(j, 1, n, exp(logits[j]))
    deep = whole("m", 2)
    return states(
        "resformer.eq6.mass", "added to Section 3.2, Eq. 6",
        for_all=[n, deep, logits], says=eq(row + total(i, 1, deep - 1, 1 / (deep - 1)), 2),
        why=("A comparison by loss (Figure 10) changes the mapping and the scale at once; at n = 1 the formula "
             "divides by 0. With the weights of Equation 5 the mapping is (1/n)(A V_n + V_1 + .. + V_{n-1})."),
    )


# -- Sections 3.3 and 3.4 ---------------------------------------------------------------------------------------------


def _lambda() -> Statement:
    """Values and output scaled the opposite way: what W_V and W_O can do for any two nonzero lambda."""
    other = real("h")
    mixed = attention(logits, each(j, values[j] + lam * first[j]))
    again = lam / other * attention(logits, each(j, other / lam * values[j] + other * first[j]))
    return states(
        "resformer.fig8.class", "added to Section 4.2 and Figure 8",
        for_all=[n, logits, values, first, lam, other], given=[ne(lam, 0), ne(other, 0)],
        says=eq(mixed, again), using=[ATTENTION],
        why=("So lambda is an initialisation, a step size and a decay, not what the model can express; Equation 7 "
             "is lambda = 1 up to the factor 1/2 of W_O."),
    )  # fmt: skip


def _eq8() -> Statement:
    """At the query's own position i: (A - lambda I) V + lambda V_1 = A V + lambda (V_1 - V)."""
    weight = exp(logits[j]) / total(k, 1, n, exp(logits[k]))
    left = total(j, 1, n, (weight - lam * when(eq(j, at), 1, 0)) * values[j]) + lam * first[at]
    return states(
        "resformer.eq8", "Section 3.4, Eq. 8", for_all=[n, at, logits, values, first, lam], using=[ATTENTION],
        says=eq(left, attention(logits, values) + lam * (first[at] - values[at])),
    )  # fmt: skip


def _neutreno_fixed() -> Statement:
    """Along an eigenvector of A of eigenvalue mu, one layer is u -> (mu - lambda) u + lambda v_1; a run of layers."""
    mu, start, one = real("a"), real("u"), real("b")
    fixed = lam * one / (1 + lam - mu)
    return states(
        "resformer.eq8.fixed", "added to Section 3.4, Eq. 8",
        for_all=[mu, lam, start, one], given=[ne(1 + lam - mu, 0)],
        says=both(eq((mu - lam) * fixed + lam * one, fixed),
                  eq((mu - lam) * start + lam * one - fixed, (mu - lam) * (start - fixed))),
        why=("All layers have one A, and the values of a layer are the output of the one before: no projections, "
             "no residual stream, no norms. A swap of two tokens has mu = -1: unstable for every lambda > 0; a "
             "causal A for lambda > 1 + min A_ii. With the residual stream of the paper's models the factor is 1 + "
             "mu - lambda instead."),
    )  # fmt: skip


def _pagerank() -> Statement:
    """Along an eigenvector: the residual's fixed point, and the distance to it shrinks by mu/(1 + lambda) a layer."""
    mu, start, one = real("a", -1, 1), real("u"), real("b")
    weight = positive("l")
    fixed = mu * weight * one / (1 + weight - mu)
    step = mu * (start + weight * one) / (1 + weight)
    return states(
        "resformer.beyond.pagerank", "added to Eq. 7", for_all=[mu, weight, start, one],
        says=both(eq(mu * (fixed + weight * one) / (1 + weight), fixed),
                  eq(step - fixed, mu / (1 + weight) * (start - fixed)), absolute(mu / (1 + weight)) < 1),
        why=("All layers have one A, and the values of a layer are the output of the one before: no projections, "
             "no residual stream, no norms. Personalised PageRank; n plain layers leave mu^n, which goes to 0 for "
             "|mu| < 1. Equation 7 has lambda = 1. Section 4.2 does not divide by 1 + lambda, and adds lambda v_1 "
             "a layer along mu = 1."),
    )  # fmt: skip


# -- Section 4.1.3: entropy of importance ------------------------------------------------------------------------------

importance = sequence("a", n, 0, open="low")  # of the columns of a causal softmax: none is 0
SHARE = importance[j] / total(k, 1, n, importance[k])
ENTROPY = -total(j, 1, n, SHARE * log(SHARE))


def _rows() -> Statement:
    """As printed, a_q is the mean of row q, and every row sums to 1: a causal one over q keys, any other at q = n."""
    mean = total(j, 1, at, exp(logits[j]) / total(k, 1, at, exp(logits[k]))) / n
    return states(
        "resformer.eq11.rows", "added to Section 4.1.3, Eq. 11", for_all=[n, at, logits],
        says=both(eq(mean, 1 / n), eq(-total(j, 1, n, 1 / n * log(1 / n)), log(n))),
    )  # fmt: skip


def _entropy() -> Statement:
    return states(
        "resformer.eq11.entropy", "added to Section 4.1.3, Eq. 11",
        for_all=[n, importance], says=both(ENTROPY >= 0, ENTROPY <= log(n)),
        why="Equal ones have log l (resformer.eq11.rows); as one token's share goes to 1 it goes to 0.",
    )  # fmt: skip


def _lower() -> Statement:
    """No importance is above m, so no share is above m over their sum: e is at least the log of the inverse."""
    most = positive("m")
    return states(
        "resformer.eq11.lower", "added to Section 4.1.3, Eq. 11",
        for_all=[n, most, sequence("a", n, 0, most, open="low")],
        says=log(total(k, 1, n, importance[k]) / most) <= ENTROPY,
    )  # fmt: skip


# -- Section 4.1.4: second moments of values -------------------------------------------------------------------------


def _scale() -> Statement:
    """W_V times c and W_O over c: the same output, and c^2 times the second moment along any direction."""
    return states(
        "resformer.eq12.scale", "added to Section 4.1.4, Eq. 12",
        for_all=[n, logits, values, factor], given=[ne(factor, 0)], using=[ATTENTION],
        says=both(eq(attention(logits, each(j, factor * values[j])) / factor, attention(logits, values)),
                  eq(total(j, 1, n, (factor * values[j]) ** 2) / n, factor**2 * (total(j, 1, n, values[j] ** 2) / n))),
        why="So larger eigenvalues of the values alone say nothing about what a model can represent.",
    )  # fmt: skip


# -- Sections 3.5 and 4: what is stored --------------------------------------------------------------------------------

stack, width, groups, many = whole("L", 1), whole("d", 1), whole("g", 1), whole("h", 1)


def _half() -> Rule:
    """Keys in every layer and values in one: the share that is saved, of both in every layer."""
    saved = 1 - (stack * width + width) / (2 * stack * width)
    return states(
        "resformer.eq10.cache", "Section 3.5, Eq. 10", for_all=[stack, width],
        says=limit(saved, Fraction(1, 2), stack, Fraction(1, 2)),
        why="(L + 1)/(2L) of the cache is left: saved are 37.5 % with 4 layers, 43.75 % with 8, 45.8 % with 12 and "
        "47.9 % with 24. Sharing keys and values by twos saves exactly one half where the number of layers is even.",
    )  # fmt: skip


def _half_grouped() -> Statement:
    """g groups of h heads, and a layers that store values of their own."""
    anchors, grouped, one = whole("a", 1, stack), whole("g", 1, many), whole("d", 1)
    share = (stack * grouped * one + anchors * grouped * one) / (2 * stack * many * one)
    return states(
        "resformer.eq10.grouped", "added to Section 3.5, Eq. 10, Sections 4.6 and 4.8",
        for_all=[stack, many, grouped, anchors, one],
        says=eq(share, lift(grouped) / many * (lift(stack) + anchors) / (2 * stack)),
    )  # fmt: skip


def _with_groups() -> Statement:
    """g groups for h heads, fewer groups than heads and at least two layers."""
    deep = whole("L", 2)
    one, other = lift(groups) / many, (deep + 1) / (2 * lift(deep))
    return states(
        "resformer.sec4.6.gqa", "Sections 1, 2.2 and 4.6", for_all=[deep, groups, many], given=[groups < many],
        says=both(one * other < one, one * other < other),
    )  # fmt: skip


# -- concentration, smoothing, drain ---------------------------------------------------------------------------------

spread, base = real("r", 0), real("b")
ranged = sequence("s", n, base, base + spread)


def _sink_range() -> Statement:
    """Reached where one logit is higher than all others by the whole range."""
    weight = exp(ranged[at]) / total(k, 1, n, exp(ranged[k]))
    bound = exp(spread) / (exp(spread) + n - 1)
    reached = exp(spread) / total(k, 1, n, when(eq(k, at), exp(spread), 1))
    return states(
        "resformer.beyond.sink_range", "added to Section 4.1.3",
        for_all=[n, at, base, spread, ranged], says=both(weight <= bound,
                                                                                       eq(reached, bound)),
        why="A sink of weight t needs r >= ln(t (n - 1)/(1 - t)): 10.5 for .9 of 4096 tokens.",
    )  # fmt: skip


def _smoothing() -> Statement:
    """Two rows over their first q and p keys that give at least a to the first, and values within a range w."""
    least, reach, below = real("a", 0, 1), real("w", 0), whole("p", 1, n)
    rows = [(x[1], total(k, 1, keys, exp(x[k]))) for x, keys in ((logits, at), (others, below))]
    within = sequence("v", n, base, base + reach)
    apart = attention(logits, within, at) - attention(others, within, below)
    return states(
        "resformer.beyond.smoothing", "added to Section 1, Appendix A.1",
        for_all=[n, at, below, least, reach, base, logits, others, within],
        using=[ATTENTION], given=[exp(one) / mass >= least for one, mass in rows], says=apart <= (1 - least) * reach,
        why=("So L layers without residuals by (1 - a)^L. A value residual acts before A, and cannot undo A = 1 "
             "e_1^T."),
    )  # fmt: skip


def _drain() -> Statement:
    """dv = -a^2 (v + v_1) - m v pulls v + v_1 at the rate a^2 + m to m v_1/(a^2 + m), so v to -a^2 v_1/(a^2 + m)."""
    weight, decay, one, own = positive("a"), real("m", 0), real("w"), real("v")
    rate = weight**2 + decay
    rest = decay * one / rate
    return states(
        "resformer.beyond.drain", "added to Sections 1 and 4.5", for_all=[weight, decay, one, own],
        says=both(eq(-(weight**2) * (own + one) - decay * own, -rate * (own + one - rest)),
                  eq(rest - one, -(weight**2) * one / rate)),
        why=("The weight a and the first value v_1 are constant; no projections, and the plain sum v + v_1. "
             "Gradient flow with decay m of half the mean square of a (v + v_1) + (1 - a) r with centred r. With "
             "the 1/2 of Equation 7, a/2 stands for a. So the sum is drained, and v is not, unless v_1 is 0: no "
             "residual."),
    )  # fmt: skip


CLAIMS, FORMAL = parted((
    _eq4(), _eq5(), _eq6_mass(), _lambda(), _eq8(), _neutreno_fixed(), _pagerank(), _rows(), _entropy(), _lower(),
    _scale(), _half(), _half_grouped(), _with_groups(), _sink_range(), _smoothing(), _drain(),
))  # fmt: skip
NEEDS: dict[str, str] = {}
