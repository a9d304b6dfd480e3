"""Statements about one token among others: present, removed, masked, and other denominators.

One query: n logits s, one coordinate v of the values, attention the softmax over positions. q is the waiver.
"""

from typing import Any

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, both, eq, exp, implies, lift, ne, sqrt
from proofs_check.language.notation import (
    define,
    each,
    positive,
    real,
    sequence,
    statement,
    total,
    var,
    when,
    whole,
)
from proofs_check.records import parted, states

n, d = whole("n", 1), whole("d", 1)
logits, values = sequence("s", n), sequence("v", n)
at = whole("q", 1, n)
i, j, k, kl = map(var, ("i", "j", "k", "kl"))  # bound
S, V, N = map(var, "svn")

ATTENTION = define("attention", [S, V, N], total(k, 1, N, exp(S[k]) * V[k]) / total(k, 1, N, exp(S[k])))
LEFT = define("left", [S, V, N, i], total(kl, 1, N, when(ne(kl, i), exp(S[kl]) * V[kl], 0))
              / total(kl, 1, N, when(ne(kl, i), exp(S[kl]), 0)))  # fmt: skip
mass = total(k, 1, n, exp(logits[k]))


def attention(logits: Any, values: Any, size: Any = n) -> Term:
    return Term("call", "attention", *map(lift, (logits, values, size)))


def left(logits: Any, values: Any, place: Any) -> Term:
    """The output without one position."""
    return Term("call", "left", *map(lift, (logits, values, n, place)))


def weight(place: Any) -> Term:
    return exp(logits[place]) / mass


# -- Section 3.1 and 3.2 ----------------------------------------------------------------------------------------------


def _eq2() -> Statement:
    """Weights are positive and sum to 1; so one of them is at least 1/n."""
    return states(
        "waiver.eq2.sum", "Section 3.1, Eq. 1 and 2",
        for_all=[n, at, logits], says=both(eq(total(j, 1, n, weight(j)), 1), weight(at) > 0)
    )


def _eq5() -> Statement:
    """The norms of a v and of v, times a, are nonnegative, and their squares are equal."""
    share, vector = real("a", 0), sequence("v", d)
    norm, of_both = (sqrt(total(k, 1, d, x**2)) for x in (vector[k], share * vector[k]))
    return states(
        "waiver.eq5", "Section 3.2, Eq. 4 and 5", for_all=[d, share, vector],
        says=both(eq(of_both**2, (share * norm) ** 2), of_both >= 0, share * norm >= 0),
        why="For weights, which are nonnegative.",
    )  # fmt: skip


def _needed() -> Statement:
    """Two tokens of opposite values: half each, and nothing is mixed in."""
    shared, pair = real("b"), each(k, when(k < 2, 1, -1))
    return states(
        "waiver.sec3.1.needed", "added to Section 3.1", for_all=[shared], using=[ATTENTION],
        says=eq(attention(each(k, shared), pair, 2), 0),
        why=("An example. For given values a softmax reaches 0 exactly where it lies in the relative interior of "
             "their convex hull. Which way is the least impactful is waiver.sec3.1.least."),
    )  # fmt: skip


def _effect() -> Statement:
    """A token changes the output by a (v - the rest's output): not by a v alone, the others are multiplied by 1 - a."""
    many = whole("n", 2)
    s, v, q = sequence("s", many), sequence("v", many), whole("q", 1, many)
    a = exp(s[q]) / total(k, 1, many, exp(s[k]))
    rest = Term("call", "left", *map(lift, (s, v, many, q)))
    out = Term("call", "attention", *map(lift, (s, v, many)))
    return states(
        "waiver.sec3.2.effect", "added to Section 3.2", for_all=[many, q, s, v], using=[ATTENTION, LEFT],
        says=both(eq(out, (1 - a) * rest + a * v[q]), eq(out - rest, a * (v[q] - rest)),
                  eq((rest - out) * (1 - a), a * (out - v[q]))),
        why="So it leaves no trace where v = o', not where v is small.",
    )  # fmt: skip


def _smaller_corrected() -> Statement:
    """|q| |k| cos with cos < 0: what decides is |k| |cos|, at equal angles the norm."""
    length, key, other = positive("q"), positive("k"), positive("x")
    cosine, cosine_other = real("c", -1, 0), real("e", -1, 0)
    one, two = length * key * cosine, length * other * cosine_other
    return states(
        "waiver.sec3.2.smaller.corrected", "added to Section 3.2", for_all=[length, key, other, cosine, cosine_other],
        says=both(implies(key * -cosine < other * -cosine_other, one > two),
                  implies(one > two, key * -cosine < other * -cosine_other),
                  implies(both(eq(cosine, cosine_other), cosine < 0, key < other), one > two)),
    )  # fmt: skip


def _share_needed() -> Statement:
    """A weight of at least t on a token of logit 0 among n: the others' exponentials sum to at most (1 - t)/t."""
    share = real("t", 0, 1, open=True)
    others = total(k, 1, n, exp(logits[k]))
    return states(
        "waiver.sec3.2.zero_key", "added to Section 3.2", for_all=[n, logits, share],
        says=both(implies(1 / (1 + others) >= share, others <= (1 - share) / share),
                  implies(others <= (1 - share) / share, 1 / (1 + others) >= share)),
        why="For 9/10 of n + 1 tokens and n equal logits, -log(9 n): -10.5 at 4096, -14.0 at 131072.",
    )  # fmt: skip


# -- Section 3.3 ------------------------------------------------------------------------------------------------------


def _eq7_first() -> Statement:
    """The first token of two, as printed: whatever follows, its weight on itself is the same."""
    one, two, other = real("s"), real("t"), real("u")
    share, with_other = (exp(one) / (exp(one) + exp(next)) for next in (two, other))
    return statement("waiver.eq7", for_all=[one, two, other], says=eq(share, with_other))


def _prefix() -> Statement:
    """The causal mask at place i, before the softmax: the output is that of the first i tokens, whatever follows."""
    row = whole("i", 1, n)

    def masked(body: Term) -> Term:
        return total(j, 1, n, when(j <= row, body, 0))

    return states(
        "waiver.sec3.3.1.prefix", "Section 3.3.1", for_all=[n, row, logits, values], using=[ATTENTION],
        says=eq(masked(exp(logits[j]) * values[j]) / masked(exp(logits[j])), attention(logits, values, row)),
        why="One layer and head; with what is done token by token in between, so is every layer's.",
    )  # fmt: skip


def _eq7_corrected() -> Statement:
    """The mask before the softmax: the first token's output is its own value, whatever follows."""
    return states(
        "waiver.eq7.corrected", "added to Section 3.3.1, Eq. 7", for_all=[n, logits, values], using=[ATTENTION],
        says=eq(attention(logits, values, 1), values[1]),
    )  # fmt: skip


def _mixed() -> Statement:
    """No mask and two tokens or more: each has a share in every output, and none has all of it."""
    many = whole("n", 2)
    s, q = sequence("s", many), whole("q", 1, many)
    share = exp(s[q]) / total(k, 1, many, exp(s[k]))
    return statement("waiver.sec3.3.2.impossible", for_all=[many, q, s], says=both(share > 0, share < 1))


def _eq11() -> Statement:
    """The row of element q: every logit but its own is masked."""
    top, bottom = (total(j, 1, n, when(eq(j, at), x, 0)) for x in (exp(logits[j]) * values[j], exp(logits[j])))
    return states(
        "waiver.eq11", "Section 4.2.1, Eq. 9 to 11",
        for_all=[n, at, logits, values], says=eq(top / bottom, values[at]),
        why=("In the attention that is masked: what it gives element k is that element's own value. The others "
             "still see element k. What it is in the layers above: waiver.eq11.layers."),
    )


def _constant() -> Statement:
    """n copies of one token, position in the logits alone: every output is that token's value, as the first one's."""
    value = real("u")
    return states(
        "waiver.sec3.3.1.copies", "added to Section 3.3.1", for_all=[n, logits, value], using=[ATTENTION],
        says=eq(attention(logits, each(k, value)), value),
        why=("Where position enters through the logits alone (none, ALiBi, rotary on queries and keys), all states "
             "then stay equal layer by layer, so that a mixed element need not differ from a first one, as Section "
             "3.3.1 has it."),
    )  # fmt: skip


def _second_copy() -> Statement:
    """A second token with the first one's state, hence its logit: t/(1 + t) each."""
    share = weight(at)
    again = exp(logits[at]) / (mass + exp(logits[at]))
    return states(
        "waiver.sec4.3.1.share", "added to Section 4.3.1",
        for_all=[n, at, logits], says=eq(again, share / (1 + share)),
        why=("A token masked as in Equation 11 keeps its own word: its state is the first one's where the words "
             "are one."),
    )


def _alibi_ratio() -> Statement:
    """Equal states under ALiBi, k tokens apart: the later one has e^{l k} times the weight."""
    slope, apart, logit = positive("l"), whole("k", 1), real("b")
    far = real("x", 0)
    return states(
        "waiver.sec4.3.1.alibi", "added to Section 4.3.1", for_all=[slope, apart, logit, far],
        says=both(eq(exp(logit - slope * far), exp(slope * apart) * exp(logit - slope * (far + apart))),
                  exp(slope * apart) > 1),
        why=("Of equal states. Neither model of the paper has ALiBi: Llama3-8B turns queries and keys by RoPE, "
             "where the ratio depends on the query (theory.sink.rotary_copy_gap), and Bert-Large has learned "
             "positions."),
    )  # fmt: skip


def _removed() -> Statement:
    """A token of weight a and value 0 is removed: the output is divided by 1 - a."""
    many = whole("n", 2)
    s, v, q = sequence("s", many), sequence("v", many), whole("q", 1, many)
    a = exp(s[q]) / total(k, 1, many, exp(s[k]))
    out = total(kl, 1, many, when(ne(kl, q), exp(s[kl]) * v[kl], 0)) / total(k, 1, many, exp(s[k]))
    rest = Term("call", "left", *map(lift, (s, v, many, q)))
    return states(
        "waiver.sec2.2.removed", "added to Section 2.2",
        for_all=[many, q, s, v], using=[LEFT], says=eq(rest * (1 - a), out),
        why=("One head's output, before its projection and the next normalisation: tenfold at a = .9, a "
             "hundredfold at .99. What becomes of a model is waiver.sec2.2.instability."),
    )


# -- denominators: one more than the softmax's ------------------------------------------------------------------------


def _plus_one() -> Statement:
    """Softmax plus one is a token of key and value 0; a learned logit b instead of 0, of weight p, scales by 1 - p."""
    sink = real("b")
    top = total(k, 1, n, exp(logits[k]) * values[k])
    share = exp(sink) / (mass + exp(sink))
    return states(
        "waiver.beyond.sink_logit", "added to Section 3.1", for_all=[n, logits, values, sink], using=[ATTENTION],
        says=both(eq(top / (mass + exp(sink)), (1 - share) * attention(logits, values)),
                  eq(top / (mass + 1), (top + exp(0) * 0) / (mass + exp(0)))),
    )  # fmt: skip


def _gate() -> Statement:
    """A gate of 1 - p is a sink logit, and the other way round, where the gate may see the logits."""
    gate = real("g", 0, 1, open=True)
    top, more = total(k, 1, n, exp(logits[k]) * values[k]), mass * (1 - gate) / gate
    return states(
        "waiver.beyond.gate", "added to Section 3.1", for_all=[n, logits, values, gate], using=[ATTENTION],
        says=eq(gate * attention(logits, values), top / (mass + more)),
    )  # fmt: skip


def _gate_apart() -> Statement:
    """One token of logit 0, and of logit 1: the learned logit scales the two queries differently, a gate alike."""
    sink = real("b")
    one, two = (1 - exp(sink) / (exp(lift(x)) + exp(sink)) for x in (0, 1))
    return states("waiver.beyond.gate.constant", "added to Section 3.1", for_all=[sink], says=one < two)


CLAIMS, FORMAL = parted((
    _eq2(), _eq5(), _needed(), _effect(), _smaller_corrected(), _share_needed(),
    _eq7_first(), _eq7_corrected(), _prefix(), _mixed(), _eq11(), _constant(), _second_copy(), _alibi_ratio(),
    _removed(), _plus_one(), _gate(), _gate_apart(),
))  # fmt: skip
