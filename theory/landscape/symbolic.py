"""The sympy truth of the one-repeat loss landscape (KV shifting, Theorem 3.4): logits, loss and the forms as printed.

The sentence is x_1 .. x_T, x_{T+1} = x_i with x_1 .. x_T distinct and orthonormal (d = infinity), identity projections,
score scale 1. The last token attends to all T + 1 tokens; its output is read out against the T embeddings and the loss
is the cross entropy of x_{i+1}. Write A = e^{alpha1}, B = e^{alpha2}.
"""

from typing import NamedTuple

import sympy as sp

from theory.checked import index, whole
from theory.symbols import alpha1, alpha2, beta1, beta2, n_tokens, rest_logits, rest_scores

A = sp.exp(alpha1)
B = sp.exp(alpha2)


class TokenClass(NamedTuple):
    """`count` tokens share the logit `numerator / partition`."""

    name: str
    count: sp.Expr
    numerator: sp.Expr


class Table(NamedTuple):
    """All logits of one sentence: the target first, then every other class of tokens."""

    partition: sp.Expr
    classes: tuple[TokenClass, ...]


def interior_table(tokens: sp.Expr = n_tokens) -> Table:
    """Logits for 2 <= i <= T - 2 (so T >= 4); Table 3 of Appendix C with its two exponentials put right."""
    return Table(
        2 * A + B + tokens - 2,
        (
            TokenClass("target", sp.Integer(1), beta1 * B + beta2),
            TokenClass("repeated", sp.Integer(1), 2 * beta1 * A + beta2 * B),
            TokenClass("edge", sp.Integer(2), beta1 + beta2 * A),
            TokenClass("other", tokens - 4, beta1 + beta2),
        ),
    )


def position_table(tokens: int, position: int) -> Table:
    """Logits for any T >= 2 and 1 <= i <= T, boundary cases included.

    Raises ValueError unless tokens >= 2 and 1 <= position <= tokens.
    """
    tokens = whole("n_tokens", tokens, 2)
    position = index("position", position, 1, tokens)
    if position == tokens:  # x_{T+1} = x_T: the target is the repeated token itself
        return Table(
            A + A * B + tokens - 1,
            (
                TokenClass("target", sp.Integer(1), beta1 * (A + A * B) + beta2 * A * B),
                TokenClass("edge", sp.Integer(1), beta1 + beta2 * A),
                TokenClass("other", sp.Integer(tokens - 2), beta1 + beta2),
            ),
        )
    edges = int(position >= 2) + int(position <= tokens - 2)
    last = position == tokens - 1  # then token T is the target and the key at T + 1 mixes it in
    return Table(
        2 * A + B + tokens - 2,
        (
            TokenClass("target", sp.Integer(1), beta1 * B + beta2 * (A if last else 1)),
            TokenClass("repeated", sp.Integer(1), 2 * beta1 * A + beta2 * B),
            TokenClass("edge", sp.Integer(edges), beta1 + beta2 * A),
            TokenClass("other", sp.Integer(tokens - 2 - edges), beta1 + beta2),
        ),
    )


def logits(tokens: int, position: int) -> list[sp.Expr]:
    """The T logits in token order, for concrete T and i."""
    table = position_table(tokens, position)
    by_name = {entry.name: entry.numerator / table.partition for entry in table.classes}
    row = [by_name["other"] if "other" in by_name else sp.Integer(0)] * tokens
    if position == tokens:
        row[tokens - 2] = by_name["edge"]
        row[tokens - 1] = by_name["target"]
        return row
    if position >= 2:
        row[position - 2] = by_name["edge"]
    if position <= tokens - 2:
        row[tokens - 1] = by_name["edge"]
    row[position - 1] = by_name["repeated"]
    row[position] = by_name["target"]
    return row


def loss(table: Table) -> sp.Expr:
    """Cross entropy of the target: log sum_c count_c exp((n_c - n_target) / S)."""
    target = table.classes[0].numerator
    return sp.log(sum(c.count * sp.exp((c.numerator - target) / table.partition) for c in table.classes))


def printed_loss() -> sp.Expr:
    """Eq. 10 (= Eq. 14) as printed, its single O(T) split into `rest_scores` (in S) and `rest_logits` (in the sum)."""
    partition = B + 2 * A + rest_scores
    a1, a2 = A / partition, B / partition
    target = a2 * beta1 + beta2 / partition
    total = (
        sp.exp(target) + 2 * sp.exp(beta1 / partition + beta2 * a2) + sp.exp(2 * a1 * beta1 + a2 * beta2) + rest_logits
    )
    return -sp.log(sp.exp(target) / total)


def printed_edge_numerator() -> sp.Expr:
    """Numerator of the logits of tokens i - 1 and T in Table 3 as printed (the exponential is of alpha2)."""
    return beta1 + beta2 * B
