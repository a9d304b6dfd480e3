"""Theorem 3.4 and Appendix C: logits and loss of the one-repeat sentence as the embedding dimension goes to infinity."""

import sympy as sp

from proofs_check.claim import Claim, Control, Effort, Evidence, Interval, Kind, Nature, Sampled, Verdict, Witness
from proofs_check.margin import Margin, apart, close, identity, worst
from proofs_check.oracles import one_hot_loss, symbolic_one_hot_logits
from proofs_check.tolerances import ROUNDING, VISIBLE
from theory import landscape
from theory import landscape_symbolic as symbolic
from theory.symbols import beta1, beta2

BOX = tuple(Interval(name, 0.0, 1.0) for name in ("a1", "a2", "b1", "b2"))
TOKENS = Interval("tokens", 4, 12, whole=True)


def _interior_cases(effort: Effort):
    return [{"tokens": t, "position": i} for t in range(4, 8) for i in range(2, t - 1)]


def _rows(table: symbolic.Table, tokens: int, position: int) -> list[sp.Expr]:
    """Lay a table's classes out in token order."""
    target, repeated, edge, other = (c.numerator / table.partition for c in table.classes)
    rows = [other] * tokens
    rows[position - 2], rows[position - 1], rows[position], rows[tokens - 1] = edge, repeated, target, edge
    return rows


def _table_identity(tokens: int, position: int, edge: sp.Expr | None = None, extra: int = 0) -> Margin:
    """Interior table against one-hot attention, token by token; `edge` and `extra` plant wrong variants."""
    table = symbolic.interior_table(sp.Integer(tokens + extra))
    if edge is not None:
        target, repeated, old, other = table.classes
        table = table._replace(classes=(target, repeated, old._replace(numerator=edge), other))
    oracle = symbolic_one_hot_logits(tokens, position)
    return worst([identity(a, b) for a, b in zip(_rows(table, tokens, position), oracle, strict=True)])


def _exact_loss(a1, a2, b1, b2, tokens) -> Margin:
    return close(landscape.loss(a1, a2, b1, b2, tokens), one_hot_loss(a1, a2, b1, b2, tokens, 2), ROUNDING)


def _rest(a1, a2, b1, b2, tokens) -> tuple[float, float]:
    """The two O(T) of Eq. 10 in their exact values: T - 2, and (T - 4) e^{(b1 + b2)/S}."""
    partition = 2 * sp.exp(a1) + sp.exp(a2) + tokens - 2
    return tokens - 2, float((tokens - 4) * sp.exp((b1 + b2) / partition))


def _printed_loss_differs(a1, a2, b1, b2, tokens) -> Margin:
    printed = landscape.printed_loss(a1, a2, b1, b2, *_rest(a1, a2, b1, b2, tokens))
    return apart(printed, one_hot_loss(a1, a2, b1, b2, tokens, 2), VISIBLE)


def _corrected_loss_differs(a1, a2, b1, b2, tokens) -> Margin:
    return apart(landscape.loss(a1, a2, b1, b2, tokens), one_hot_loss(a1, a2, b1, b2, tokens, 2), VISIBLE)


EXAMPLE = {"a1": 0.3, "a2": 0.7, "b1": 0.4, "b2": 0.6, "tokens": 9}

CLAIMS = (
    Claim(
        id="kv.eq10",
        source="KV shifting (final), Section 3.2, Eq. 10",
        statement="The loss of the one-repeat sentence is Eq. 10: the tokens i - 1 and T have logit b1/S + b2 a_2.",
        formula=r"L=-\log\frac{e^{a_2\beta_1+\beta_2/S}}{e^{a_2\beta_1+\beta_2/S}+2e^{\beta_1/S+\beta_2a_2}"
        r"+e^{2a_1\beta_1+a_2\beta_2}+O(T)}",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.FALSE,
        hypotheses=(*BOX, TOKENS),
        evidence=(
            Evidence(
                Kind.SAMPLED,
                "the stored point, both O(T) put in at their exact values, against attention over one-hot rows",
                _printed_loss_differs,
                (EXAMPLE,),
                (Control("Eq. 10 with a_1 in place of a_2", _corrected_loss_differs),),
            ),
        ),
        witness=Witness(EXAMPLE),
        correction="kv.eq10.corrected",
        note="The exponential of the tokens i - 1 and T is of alpha1: e^{b1/S + b2 a_1}.",
    ),
    Claim(
        id="kv.eq10.corrected",
        source="KV shifting (final), Section 3.2, Eq. 10, corrected",
        statement="For T >= 4 and 1 < i < T - 1 the loss is log(1 + e^{(n_i-n_t)/S} + 2 e^{(n_e-n_t)/S} "
        "+ (T-4) e^{(n_o-n_t)/S}) with n_e = b1 + b2 e^{alpha1} and S = 2 e^{alpha1} + e^{alpha2} + T - 2.",
        formula=r"L=\log\left(1+e^{(n_i-n_t)/S}+2e^{(n_e-n_t)/S}+(T-4)e^{(n_o-n_t)/S}\right)",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        is_correction=True,
        hypotheses=(*BOX, TOKENS),
        evidence=(
            Evidence(
                Kind.SYMBOLIC,
                "logits, token by token, as identities in the four parameters: T = 4..7, every interior i",
                _table_identity,
                _interior_cases,
                (
                    Control(
                        "alpha2 for alpha1 in the edge tokens, as Table 3 prints it",
                        lambda tokens, position: _table_identity(tokens, position, symbolic.printed_edge_numerator()),
                    ),
                    Control("T off by one", lambda tokens, position: _table_identity(tokens, position, extra=1)),
                    Control(
                        "beta1 and beta2 swapped in the edge tokens",
                        lambda tokens, position: _table_identity(tokens, position, beta2 + beta1 * symbolic.A),
                    ),
                ),
            ),
            Evidence(
                Kind.SAMPLED,
                "loss against attention over one-hot rows, T = 4..12, parameters in the box",
                _exact_loss,
                Sampled(200, 2000),
                (
                    Control(
                        "Eq. 10 as printed",
                        lambda a1, a2, b1, b2, tokens: close(
                            landscape.printed_loss(a1, a2, b1, b2, *_rest(a1, a2, b1, b2, tokens)),
                            one_hot_loss(a1, a2, b1, b2, tokens, 2),
                            ROUNDING,
                        ),
                    ),
                ),
            ),
        ),
    ),
)
