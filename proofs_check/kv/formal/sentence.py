"""Section 3.2 and Appendix C of the KV-shifting paper, as statements: logits and loss of the one-repeat sentence."""

from typing import Any

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, both, either, eq, exp, lift, log, ne
from proofs_check.kv.formal.definitions import (
    BOX,
    CLOSED,
    EDGE,
    HALF,
    INTERIOR,
    LOGIT,
    LOGITS,
    LOSS,
    MIXING,
    PLACES,
    PRINTED_EDGE,
    QUARTER,
    SCORE,
    SENTENCE,
    STEP,
    WEIGHT,
    T,
    a,
    a1,
    a2,
    b,
    b1,
    b2,
    call,
    gamma,
    gaps,
    i,
    j,
    partition,
    s,
    sigma,
    u,
)
from proofs_check.language.converted import term
from proofs_check.language.notation import each, iff, limit, positive, real, statement, supremum, when, whole
from proofs_check.records import Rule, parted, rule, states
from theory.landscape import symbolic

ONE_SLIP = (
    "It is one slip, e^{alpha2} for the e^{alpha1} that the derivation above Table 3 prints: it stands in Table 3, "
    "Eq. 10, Eq. 14 and the listing. The order terms O(T) are filled in with the exact rests, T - 2 in S and T - 4 "
    "other tokens below the logarithm, and tokens are orthonormal; a1, a2, b1, b2 are alpha and beta."
)


def _logit(token: Any) -> Term:
    return call(LOGIT, token, T, i, *LOGITS)


def sentence() -> list[Rule | Statement]:
    """Logits and loss of the one-repeat sentence, by brute force."""
    whole_sum, A, B = partition(T, a1, a2), exp(a1), exp(a2)
    before_end = pick_when(
        (eq(j, i), 2 * b1 * A + b2 * B), (eq(j, i + 1), b1 * B + b2 * when(eq(i, T - 1), A, 1)),
        (either(eq(j, i - 1), eq(j, T)), b1 + b2 * A), otherwise=b1 + b2,
    )  # fmt: skip
    at_end = pick_when(
        (eq(j, T), b1 * (A + A * B) + b2 * A * B), (eq(j, T - 1), b1 + b2 * A), otherwise=b1 + b2,
    )  # fmt: skip
    attention = each(s, call(SCORE, s, T, i, 0, gamma))
    sharp = each(s, call(SCORE, s, T, i, 0, 1 / sigma))
    repeated, edge, _ = (gap / whole_sum for gap in gaps(*LOGITS))
    mixed = (QUARTER * 8, 3 * QUARTER * 8, QUARTER, 3 * QUARTER)  # W_Q = 8 I scales the scores
    return [
        rule(
            "kv.eq10", "Section 3.2, Eq. 10", _interior(eq(call(LOSS, T, i, *LOGITS), _printed_loss(PRINTED_EDGE))),
            meant=_interior(eq(call(LOSS, T, i, *LOGITS), _printed_loss(EDGE))), shown="kv.appC.logits.edges",
            repeats="kv.tab3", why="The tokens i - 1 and T have e^{b1/S + b2 e^{alpha1}/S}. " + ONE_SLIP,
        ),
        states(
            "kv.eq10.corrected", "added to Section 3.2, Eq. 10",
            for_all=[*INTERIOR, *MIXING], says=eq(call(LOSS, T, i, *LOGITS), CLOSED),
            using=SENTENCE,
        ),
        rule("kv.appC.logits.edges", "Appendix C, Calculate logits", _edges(EDGE)),
        rule(
            "kv.tab3", "Appendix C, Table 3", _edges(PRINTED_EDGE), meant=_edges(EDGE), shown="kv.appC.logits.edges",
            why=ONE_SLIP,
        ),
        rule(
            "kv.appC.footnote12", "Appendix C, footnote 12", _successor(T - 1), meant=_successor(T - 2),
            why="At i = T - 1 the successor is token T, which the value at T + 1 mixes in: b2 exp(a1) stands for b2.",
        ),
        statement(
            "kv.appC.every_position",
            for_all=[whole("T", 2), whole("i", 1, T), whole("j", 1, T), *MIXING],
            says=eq(_logit(j), when(i < T, before_end / whole_sum, at_end / (A + A * B + T - 1))),
            using=SENTENCE,
        ),
        statement(
            # Eq. 10 with its one slip put right, S exact, and whatever is >= 0 for the O(T) of the denominator.
            "kv.thm3.4.small_t", for_all=[*INTERIOR, *MIXING],
            says=log(1 + exp(repeated) + 2 * exp(edge)) <= call(LOSS, T, i, *LOGITS),
            using=SENTENCE,
        ),
        states(
            "kv.thm3.4.minimum.corrected", "added to Section 3.2, Theorem 3.4",
            for_all=[*INTERIOR, *MIXING, STEP],
            says=supremum(-call(LOSS, T, i, *LOGITS), 0, at={a1: 0, a2: 2, b1: 1 / u, b2: 0}, step=u,
                          rate=(T - 1) * (T + 8), attained=False),
            using=SENTENCE,
        ),
        statement(
            "kv.beyond.sign_rule",
            for_all=[whole("T", 5), whole("i", 2, T - 2), whole("j", 1, T), *MIXING],
            given=[ne(j, i - 1), ne(j, i), ne(j, i + 1), ne(j, T)],
            says=both(eq(_logit(i + 1) - _logit(j), (B - 1) * b1 / whole_sum),
                      iff(_logit(j) < _logit(i + 1), a2 * b1 > 0)),
            using=SENTENCE,
        ),
        states(
            "kv.beyond.temperature.half", "added to Section 3.2, Theorem 3.4 (first version: Theorem 3)",
            for_all=[*INTERIOR, real("gamma"), positive("sigma")],
            says=both(iff(call(WEIGHT, 1, T + 1, attention, i + 1) >= HALF, log(T) <= gamma),
                      iff(call(WEIGHT, 1, T + 1, sharp, i + 1) >= HALF, sigma <= 1 / log(T))),
            using=SENTENCE,
        ),
        states(
            "kv.eq6.sigma.corrected", "added to Section 2.2, Eq. 6, Section 3 (both versions)",
             # u is 1/sqrt(D), D >= 1
            for_all=[whole("T", 2), whole("i", 1, T - 1), STEP],
            says=limit(call(WEIGHT, 1, T + 1, each(s, call(SCORE, s, T, i, 0, u)), i + 1), 1 / (T + 1), u, 1),
            using=SENTENCE,
        ),
        statement(
            "kv.eq5.one_mixture",
            for_all=[whole("T", 2), whole("i", 1, T - 1), whole("j", 1, T)],
            given=[ne(j, i + 1)],
            says=call(LOGIT, j, T, i, *mixed) - when(eq(j, i), 1, 0) < call(LOGIT, i + 1, T, i, *mixed),
            using=SENTENCE,
        ),
        _two_tokens(),
    ]  # fmt: skip


def pick_when(*cases: tuple[Term, Any], otherwise: Any) -> Term:
    found = lift(otherwise)
    for condition, value in reversed(cases):
        found = when(condition, value, found)
    return found


def _two_tokens() -> Statement:
    """T = 2, sentence x_1 x_2 x_1: the loss in closed form, and the head (1, 0) as its only minimiser on the box."""
    two_tokens = term(symbolic.loss(symbolic.position_table(2, 1)), PLACES)
    least_loss = call(LOSS, 2, 1, 1, 0, 0, 1)
    return statement(
        "kv.fig2.two_tokens.loss",
        for_all=[*MIXING, *BOX],
        says=both(
            eq(call(LOSS, 2, 1, *LOGITS), two_tokens),
            either(least_loss < call(LOSS, 2, 1, a, 1 - a, b, 1 - b), both(eq(a, 1), eq(b, 0))),
            least_loss < log(2),
        ),
        using=SENTENCE,
    )


def _interior(says: Term) -> Statement:
    return statement("", for_all=[*INTERIOR, *MIXING], says=says, using=SENTENCE)


def _edges(edge: Term) -> Statement:
    """The logits of the tokens i - 1 and T."""
    value = edge / partition(T, a1, a2)
    return _interior(both(eq(_logit(i - 1), value), eq(_logit(T), value)))


def _successor(last: Term) -> Statement:
    """The logit of the token i + 1, for 1 < i <= last."""
    value = (b1 * exp(a2) + b2) / partition(T, a1, a2)
    return statement("", for_all=[whole("T", 3), whole("i", 2, last), *MIXING], says=eq(_logit(i + 1), value),
                     using=SENTENCE)  # fmt: skip


def _printed_loss(edge: Term) -> Term:
    """Eq. 10, both O(T) at their exact values (theory.landscape.symbolic.printed_loss); edge: the numerator of the
    logits of the tokens i - 1 and T."""
    whole_sum = partition(T, a1, a2)
    target, edge, rest = (b1 * exp(a2) + b2) / whole_sum, edge / whole_sum, (b1 + b2) / whole_sum
    repeated = (2 * b1 * exp(a1) + b2 * exp(a2)) / whole_sum
    return -log(exp(target) / (exp(target) + 2 * exp(edge) + exp(repeated) + (T - 4) * exp(rest)))


CLAIMS, FORMAL = parted(sentence())
