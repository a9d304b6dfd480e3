"""Appendix A of the RazorAttention paper, as statements: the steps of its proof of Theorem 1."""

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, both, eq, exp, ne
from proofs_check.language.notation import exists, real, statement
from proofs_check.razor.formal.definitions import ATTENTION, at, attention, call, d, e, n, norm2, s, slope
from proofs_check.razor.formal.post_norm import (
    NORMED,
    bias,
    centre,
    gains,
    head,
    hidden,
    norms,
    printed_bias,
    printed_norms,
    state,
    variance,
    w_k,
    w_q,
)
from proofs_check.records import parted, rule, states


def _last_step(score: Term) -> Statement:
    bound = exp(score - slope * (n - at))
    return statement("", for_all=[n, s, slope, at], says=attention(s, slope, n, at) <= bound, using=[ATTENTION])


def _eq6_order() -> Statement:
    """W_Q = -W_K = -e_1 e_2^T, x = e_2."""
    names = ("p11", "p12", "p21", "p22", "r11", "r12", "r21", "r22", "x", "y")
    p11, p12, p21, p22, r11, r12, r21, r22, x, y = reals = [real(name) for name in names]
    zero = both(*(eq(a * b + c * d, 0) for a, c in ((p11, p12), (p21, p22)) for b, d in ((r11, r21), (r12, r22))))
    logit = (p11 * x + p12 * y) * (r11 * x + r12 * y) + (p21 * x + p22 * y) * (r21 * x + r22 * y)
    point = dict(zip(names, (0, -1, 0, 0, 0, 1, 0, 0, 0, 1), strict=True))
    return states(
        "razor.eq6.order", "added to Appendix A, Eq. 6",
        for_all=reals, says=exists(point, both(zero, ne(logit, 0))))


def _of_state(says: Term) -> Statement:
    return statement("", for_all=[d, centre, hidden, gains, bias], given=[variance(hidden) > 0], says=says,
                     using=NORMED)  # fmt: skip


def _eq8() -> Statement:
    x, size = state(hidden, gains, printed_bias), call("product", w_q, w_k, e, d)
    return statement(
        "razor.eq8", for_all=[d, e, centre, hidden, gains, bias, w_q, w_k], given=[variance(hidden) > 0],
        says=head(x, x) <= 2 * size * printed_norms, using=NORMED,
    )  # fmt: skip


_EQ7 = norm2(state(hidden, gains, printed_bias)) <= 2 * norm2(gains) + 2 * norm2(printed_bias)
_TRUE_EQ7 = _of_state(norm2(state(hidden, gains, bias)) <= (d + 1 - centre) * norms)  # d of LayerNorm, d + 1 of RMSNorm
CLAIMS, FORMAL = parted((
    rule("razor.appA.last_step", "Appendix A, last step", _last_step(s[at]), meant=_last_step(s[at] - s[n]),
         repeats="razor.thm1",
         why="The claim is the end of the chain. Its last step alone, 1/exp(q q^T) <= 1, is true. Before it the own "
         "score q_m . k_m, which may be negative, is taken for q q^T (razor.appA.positive). The own score must be "
         "taken off: the weight is at most exp(q_m . k_n - q_m . k_m - l_h (m - n))."),
    _eq6_order(),
    rule("razor.eq7", "Appendix A, Eq. 7", _of_state(_EQ7), meant=_TRUE_EQ7, repeats="razor.eq7.gain",
         why="True for RMSNorm without a bias up to d = 2 and for LayerNorm without one up to d = 3."),
    rule("razor.eq7.corrected", "added to Appendix A, Eq. 7", _TRUE_EQ7),
    _eq8(),
))  # fmt: skip
