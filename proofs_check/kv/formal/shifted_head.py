"""Theorem 3.3 of the KV-shifting paper and what is true instead, as statements."""

from typing import Any

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, absolute, both, either, eq, exp, ne
from proofs_check.kv.formal.definitions import (
    ATTEND,
    DOT,
    HEAD,
    HEADS,
    IH,
    KVSA,
    KVSA_SCORE,
    MIXING,
    ORTHONORMAL,
    TOKENS,
    WEIGHT,
    L,
    a,
    a1,
    a2,
    b,
    b1,
    b2,
    c,
    call,
    d,
    i,
    in_rows,
    j,
    k,
    m,
    row,
    s,
    sigma,
    u,
    w,
    x,
)
from proofs_check.language.notation import (
    each,
    exists,
    fold,
    largest,
    limit,
    positive,
    real,
    sequence,
    statement,
    total,
    when,
    whole,
)
from proofs_check.records import Rule, no_choice, parted, states

CAUSAL = call(KVSA, x, L, d, sigma, m, 0, 1, 1, 0, 1, L, c)
TRUE_HEAD = call(IH, x, L, d, sigma, m, c)
CAUSAL_SCORES = each(s, call(KVSA_SCORE, x, L, d, sigma, m, 0, 1, s))


def _one_layer(low: Any, high: Any) -> Statement:
    """Some KV-shift head with attention on low..high, namely that of Appendix B, is IH."""
    head = call(KVSA, x, L, d, sigma, m, a1, a2, b1, b2, low, high, c)
    chosen = exists({a1: 0, a2: 1, b1: 1, b2: 0}, eq(head, TRUE_HEAD))
    return statement("", for_all=[*HEAD, TOKENS, *MIXING], says=chosen, using=HEADS)


def _impossible() -> Rule:
    """No one-layer head on the causal mask is IH: at L = 3 one of two inputs with one nonzero token shows it.

    Tokens are multiples of e_1, and the output is read in that coordinate: a, b are what the matrices of any width
    leave of W_Q W_K^T and of W_V W_O there. The query is 0, so that weights follow from distance alone.
    """

    def head(*tokens: Any) -> Term:
        pairs = list(zip(tokens, (0, *tokens[:2]), strict=True))
        scores = [a * tokens[2] * (a1 * x_ + a2 * y_) / sigma - m * (2 - place) for place, (x_, y_) in enumerate(pairs)]
        return call(ATTEND, 1, 3, row(*scores), row(*(b * (b1 * x_ + b2 * y_) for x_, y_ in pairs)))

    return states(
        "kv.thm3.3.impossible", "added to Section 3.1, Theorem 3.3 (first version: Theorem 2), Eq. 9",
        for_all=[*MIXING, real("a"), real("b"), positive("sigma"), real("m"), positive("u")],
        says=either(ne(head(u, 0, 0), 0), ne(head(0, u, 0), u)),
        using=[ATTEND],
    )


def shifted_head() -> list[Rule | Statement]:
    """Theorem 3.3 and what is true instead, and the sentence after Definition 3.1."""
    first, last = exp(-m * (L - 1)), exp(call(DOT, x, d, L, L - 1) / sigma)
    outer = first + last
    inner = total(s, 2, L - 1, exp(call(DOT, x, d, L, s - 1) / sigma - m * (L - s)))
    share = outer / (outer + inner)
    spread = fold("max", s, 1, L, x[s, c]) - fold("min", s, 1, L, x[s, c])
    worst = exp(-m * (L - 1)) + exp(1 / sigma)
    bound = worst / (worst + exp(-1 / sigma) * total(j, 1, L - 2, exp(-m * j)))
    reached = _distances(when(s < 2, 0, when(s <= L - 1, -1, 1)))  # the products of -u, .., -u, u, u, with x_0 = 0
    grown = exp(2 / sigma) * (exp(m) - 1)
    return [
        # At d = 1 the matrices are numbers, which a1 .. b2 take up: no choice of matrices does it either.
        no_choice(
            "kv.thm3.3", "Section 3.1, Theorem 3.3 (first version: Theorem 2), Eq. 9", _one_layer(1, L),
            {"L": 3, "d": 1, "c": 1, "x": [[1], [0], [0]]}, {"L": 3, "d": 1, "c": 1, "x": [[0], [1], [0]]},
            reading="places", meant=_one_layer(2, L - 1),
            why="Attention on s = 2 .. L - 1 is needed, as Eq. 7 and Appendix A sum. The setting is that of Section "
            "3.1: ALiBi, a free sigma, L >= 3; Eq. 6 has the causal mask, no ALiBi, and sigma = sqrt(D). With d = 1 "
            "the matrices are numbers, which alpha and beta take up, so that no choice of matrices does it either "
            "(kv.thm3.3.impossible). kv.thm3.3.discrepancy gives the distance of the causal head from IH, and "
            "kv.appB.beta1 rules on the 1/sigma that Appendix B writes at beta.",
        ),
        _impossible(),
        states(
            "kv.thm3.3.corrected", "added to Section 3.1, Theorem 3.3 (first version: Theorem 2), Eq. 9",
            for_all=[*HEAD, TOKENS],
            says=eq(call(KVSA, x, L, d, sigma, m, 0, 1, 1, 0, 2, L - 1, c), TRUE_HEAD),
            using=HEADS,
        ),
        states(
            "kv.thm3.3.discrepancy", "added to Section 3.1, Theorem 3.3 (first version: Theorem 2), Eq. 9",
            for_all=[*HEAD, TOKENS],
            says=eq(CAUSAL - TRUE_HEAD, share * ((first * x[1, c] + last * x[L, c]) / outer - TRUE_HEAD)),
            using=HEADS,
        ),
        states(
            "kv.thm3.3.discrepancy.range", "added to Section 3.1, Theorem 3.3 (first version: Theorem 2), Eq. 9",
            for_all=[*HEAD, TOKENS],
            says=absolute(CAUSAL - TRUE_HEAD) <= share * spread,
            using=HEADS,
        ),
        states(
            "kv.thm3.3.discrepancy.matched", "added to Section 3.1, Theorem 3.3 (first version: Theorem 2), Eq. 9",
            for_all=ORTHONORMAL,
            says=outer_share(_distances(_match(s - 1, 1))) <= 2 * exp(-1 / sigma + m * (L - i - 1)),
            using=HEADS,
        ),
        statement(
            "kv.thm3.3.discrepancy.ball",
            for_all=[*HEAD[:4], sequence("x", (L, d), -1, 1)],
            given=[in_rows(x)],
            says=both(outer_share(CAUSAL_SCORES) <= bound, eq(outer_share(reached), bound)),
            using=HEADS,
        ),
        statement(
            "kv.thm3.3.discrepancy.long",
            for_all=[positive("sigma"), positive("m"), whole("L", 3)],
            says=limit(bound, grown / (1 + grown), L, 3 * (1 + 1 / m) / m),
        ),
        states(
            "kv.sec3.1.any_context.corrected", "added to Section 3.1, Definition 3.1 (first version: Definition 1)",
             # k is the gap to the match before the latest, or less
            for_all=[*ORTHONORMAL, whole("k", 1)],
            says=1 / (1 + (L - 3) * largest(exp(-m * k), exp(m * (L - i - 2) - 1 / sigma)))
            <= call(WEIGHT, 2, L - 1, _distances(_match(s - 1, k)), i + 1),
            using=HEADS,
        ),
    ]  # fmt: skip


def _match(place: Term, gap: Any) -> Term:
    """x_L . x_place, orthonormal tokens and x_0 = 0: the latest match before L is i, earlier ones where w is 0."""
    earlier = both(place >= 1, place <= i - gap)
    return when(eq(place, i), 1, when(earlier, when(eq(w[place], 0), 1, 0), 0))


def outer_share(scores: Term) -> Term:
    """eps: what attention on 1..L spends on the tokens 1 and L, which Eq. 7 leaves out."""
    return call(WEIGHT, 1, L, scores, 1) + call(WEIGHT, 1, L, scores, L)


def _distances(products: Term) -> Term:
    """Scores from the products x_L . x_{s-1}, a term in s."""
    return each(s, products / sigma - m * (L - s))


CLAIMS, FORMAL = parted(shifted_head())
