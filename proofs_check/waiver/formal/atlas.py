"""The atlas as statements: six ways out of a softmax, which contains which, and which cannot be which.

One head: n logits s and one coordinate v of the values, at a query; each way adds parameters of its own. A `separated`
statement is about every choice of them.
"""

from typing import Any

from proofs_check.core.statement import Statement
from proofs_check.core.terms import Term, both, eq, exp, implies, lift, log, ne
from proofs_check.language.notation import (
    define,
    each,
    iff,
    real,
    sequence,
    total,
    var,
    when,
    whole,
)
from proofs_check.records import parted, states
from proofs_check.waiver.formal.tokens import ATTENTION

n, m = whole("n", 1), whole("m", 1)
s, t = sequence("s", n), sequence("t", m)
v, w = sequence("v", n), sequence("w", n)
b, c, g, p, u, x = map(real, "bcgpux")
k = var("k")  # bound
S, V, N, B, C, U = map(var, "svnbcu")


def _call(name: str, *arguments: Any) -> Term:
    return Term("call", name, *map(lift, arguments))


TOP, MASS = total(k, 1, N, exp(S[k]) * V[k]), total(k, 1, N, exp(S[k]))
PLUS_ONE = define("plus_one", [S, V, N], TOP / (1 + MASS))
LEARNED = define("learned", [S, V, N, B], TOP / (MASS + exp(B)))
SINK = define("sink", [S, V, N, B, U], (TOP + exp(B) * U) / (MASS + exp(B)))
DRAIN = define("drain", [S, V, N, B], TOP / (MASS + exp(B)))
WAIVER = define("waiver", [S, V, N, C], (TOP + exp(S[1] + C) * V[1]) / (MASS + exp(S[1] + C)))


def attention(values: Any, logits: Any = s, size: Any = n) -> Term:
    return _call("attention", logits, values, size)


def plus_one(values: Any, logits: Any = s, size: Any = n) -> Term:
    return _call("plus_one", logits, values, size)


def learned(values: Any, logit: Any, logits: Any = s, size: Any = n) -> Term:
    """A sink logit without a value: one number at all queries."""
    return _call("learned", logits, values, size, logit)


def sink(values: Any, logit: Any, value: Any, logits: Any = s, size: Any = n) -> Term:
    """One more token in the softmax: `one_more` in a formula (waiver.atlas.sink.contains.drain)."""
    return _call("sink", logits, values, size, logit, value)


def drain(values: Any, logit: Any, logits: Any = s, size: Any = n) -> Term:
    """One more token of value 0, whose logit may be another one at each query."""
    return _call("drain", logits, values, size, logit)


def waiver(values: Any, ahead: Any, logits: Any = s) -> Term:
    """One more token with the first one's value, its logit ahead of the first one's: by 0 without positions."""
    return _call("waiver", logits, values, n, ahead)


def same(value: Any) -> Term:
    """Tokens of one value."""
    return each(k, value)


mass = total(k, 1, n, exp(s[k]))
top = total(k, 1, n, exp(s[k]) * v[k])
drained = each(k, v[k] - v[1])  # any values, of which the first is 0


def one_more(logit: Any, value: Any) -> Term:
    """Attention to the head's tokens and one more, n + 1 in all."""
    longer = (each(k, when(k <= n, row[k], item)) for row, item in ((s, logit), (v, value)))
    return _call("attention", *longer, n + 1)


# -- which are one ----------------------------------------------------------------------------------------------------


def _shifted() -> Statement:
    """A learned logit is plus one at lower logits."""
    return states(
        "waiver.atlas.plus_one.equal.sink_logit", "added to Section 3.1",
        for_all=[n, s, v, b], using=[PLUS_ONE, LEARNED],
        says=eq(learned(v, b), plus_one(v, each(k, s[k] - b))),
        why=("One class where the head may add a constant to its logits; where it may not, "
             "waiver.atlas.plus_one.separated.sink_logit."),
    )  # fmt: skip


def _drained_is_gate() -> Statement:
    """A drained token of weight 1 - g is the gate g, and the other way round."""
    gate = real("g", 0, 1, open=True)
    matching = log(mass * (1 - gate) / gate)
    return states(
        "waiver.atlas.gate.equal.drain", "added to Section 3.1", for_all=[n, s, v, b, gate], using=[ATTENTION, DRAIN],
        says=both(eq(drain(v, b), mass / (mass + exp(b)) * attention(v)),
                  eq(gate * attention(v), drain(v, matching))),
        why=("One class where gate or logit may see the other logits; where neither does, "
             "waiver.atlas.gate.separated.plus_one."),
    )  # fmt: skip


def _copy_of_drained() -> Statement:
    """A copy of a drained first token is the gate 1/(1 + e^c a), a the first token's weight."""
    return states(
        "waiver.atlas.gate.equal.waiver", "added to Section 4.2.1", for_all=[n, s, v, c], using=[ATTENTION, WAIVER],
        says=eq(waiver(drained, c), attention(drained) / (1 + exp(c) * exp(s[1]) / mass)),
        why=("Values less the first one's are all values whose first is 0. At least 1/2 without positions, where c "
             "= 0: such a copy takes away no more than half."),
    )  # fmt: skip


# -- which contain which ----------------------------------------------------------------------------------------------


def _sink_has_drain() -> Statement:
    """The formula is the attention to n + 1 tokens; and that of a drained token at the value 0 alone."""
    return states(
        "waiver.atlas.sink.contains.drain", "added to Section 3.1",
        for_all=[n, s, v, b, u], using=[ATTENTION, SINK, DRAIN],
        says=both(eq(one_more(b, u), sink(v, b, u)), iff(eq(sink(v, b, u), drain(v, b)), eq(u, 0))),
    )  # fmt: skip


def _sink_has_waiver() -> Statement:
    """A first token and its copy are one token of the same value, its logit higher by ln(1 + e^c)."""
    higher = each(k, when(eq(k, 1), s[1] + log(1 + exp(c)), s[k]))
    return states(
        "waiver.atlas.sink.contains.waiver", "added to Section 4.2.1", for_all=[n, s, v, c], using=[ATTENTION, WAIVER],
        says=eq(waiver(v, c), attention(v, higher)),
        why=("So it is a sink token of the logit s_1 + c and the value v_1, beside all tokens or in the first "
             "one's place. One value at all queries, as long as the first token is the same one."),
    )  # fmt: skip


def _drain_has_learned() -> Statement:
    """A learned logit is a drained token of that logit."""
    return states(
        "waiver.atlas.drain.contains.sink_logit", "added to Section 3.1",
        for_all=[n, s, v, b], using=[ATTENTION, LEARNED],
        says=eq(learned(v, b), one_more(b, 0)),
    )  # fmt: skip


# -- which cannot be which --------------------------------------------------------------------------------------------


def _not_plus_one() -> Statement:
    """A query of 0 on a token, and on two of it, whatever its key; u is the value that plus one may give it."""
    zeros = each(k, 0)
    agree = (eq(plus_one(same(u), zeros, size), learned(same(1), b, zeros, size)) for size in (1, 2))
    return states(
        "waiver.atlas.plus_one.separated.sink_logit", "added to Section 3.1", for_all=[b, u], using=[PLUS_ONE, LEARNED],
        says=iff(both(*agree), both(eq(b, 0), eq(u, 1))),
        why=("At a query of 0 all logits are 0, whatever the keys: the logits cannot be lowered by b. So a drained "
             "token without a bias, its logit q.k, is no learned logit there either."),
    )  # fmt: skip


def _not_learned() -> Statement:
    """A drained token's logits p and x at two queries that are alike otherwise: both are the learned one."""
    agree = (eq(learned(v, b), drain(v, logit)) for logit in (p, x))
    return states(
        "waiver.atlas.sink_logit.separated.drain", "added to Section 3.1",
        for_all=[n, s, v, b, p, x], given=[ne(top, 0)],
        using=[LEARNED, DRAIN], says=iff(both(*agree), both(eq(p, b), eq(x, b))),
    )  # fmt: skip


def _not_drain() -> Statement:
    """Where the other values are 0 a drained token of any logit leaves 0."""
    return states(
        "waiver.atlas.drain.separated.sink", "added to Section 3.1", for_all=[n, s, b, p, u], using=[SINK, DRAIN],
        says=iff(eq(sink(same(0), b, u), drain(same(0), p)), eq(u, 0)),
    )  # fmt: skip


def _not_gate() -> Statement:
    """Two coordinates: a gate stays on the line of the plain output, a sink token on it only if its value is."""
    y = real("y")
    one, two = sink(v, b, x), sink(w, b, y)
    off = exp(b) / (mass + exp(b)) * (x * attention(w) - y * attention(v))
    return states(
        "waiver.atlas.gate.separated.sink", "added to Section 3.1",
        for_all=[n, s, v, w, b, g, x, y], using=[ATTENTION, SINK],
        says=both(eq(one * attention(w) - two * attention(v), off),
                  implies(both(eq(one, g * attention(v)), eq(two, g * attention(w))),
                          eq(x * attention(w), y * attention(v)))),
        why="In any two coordinates, o and o' the plain output's, x and y the sink token's.",
    )  # fmt: skip


def _not_sink() -> Statement:
    """One query on tokens of value 1 in two contexts of different masses: no sink token is a gate but 1."""
    one, other = mass, total(k, 1, m, exp(t[k]))
    agree = (eq(sink(same(1), b, u, logits, size), g * attention(same(1), logits, size))
             for logits, size in ((s, n), (t, m)))  # fmt: skip
    return states(
        "waiver.atlas.sink.separated.gate", "added to Section 3.1",
        for_all=[n, m, s, t, b, u, g], given=[ne(one, other)],
        using=[ATTENTION, SINK], says=iff(both(*agree), both(eq(u, 1), eq(g, 1))),
    )  # fmt: skip


def _gate_sees_no_mass() -> Statement:
    """The same two contexts: the one gate that a learned logit of any size is in the one is not that in the other."""
    gate = learned(same(1), b) / attention(same(1))
    there = learned(same(1), b, t, m), attention(same(1), t, m)
    return states(
        "waiver.atlas.gate.separated.plus_one", "added to Section 3.1",
        for_all=[n, m, s, t, b], using=[ATTENTION, LEARNED],
        says=iff(eq(there[0], gate * there[1]), eq(mass, total(k, 1, m, exp(t[k])))),
        why="Softmax plus one is b = 0. A sink sees how much there is to attend to, a gate does not.",
    )  # fmt: skip


def _waiver_keeps() -> Statement:
    """On tokens of one value a copy of the first one changes nothing, a sink token does unless it has that value."""
    return states(
        "waiver.atlas.waiver.separated.sink", "added to Section 4.2.1",
        for_all=[n, s, b, c, u, x], using=[SINK, WAIVER],
        says=iff(eq(waiver(same(x), c), sink(same(x), b, u)), eq(u, x)),
    )  # fmt: skip


def _waiver_never_scales() -> Statement:
    """On tokens of one value a learned logit of any size takes something away, a copy does not."""
    return states(
        "waiver.atlas.waiver.separated.plus_one", "added to Section 4.2.1",
        for_all=[n, s, b, c, x], using=[LEARNED, WAIVER],
        says=both(eq(waiver(same(x), c), x), iff(eq(learned(same(x), b), x), eq(x, 0))),
    )  # fmt: skip


def _waiver_and_gate() -> Statement:
    """Values with a coordinate that is 1: a copy is a gate only if both do nothing."""
    agree = (eq(waiver(values, c), g * attention(values)) for values in (same(1), v))
    return states(
        "waiver.atlas.waiver.separated.gate", "added to Section 4.2.1",
        for_all=[n, s, v, c, g], using=[ATTENTION, WAIVER],
        says=iff(both(*agree), both(eq(g, 1), eq(v[1], attention(v)))),
    )  # fmt: skip


def _waiver_logit() -> Statement:
    """A drained first token: its copy is one more drained token, of one logit, which a learned one is not twice."""
    return states(
        "waiver.atlas.waiver.separated.drain", "added to Section 4.2.1", for_all=[n, s, v, c, p],
        given=[ne(total(k, 1, n, exp(s[k]) * (v[k] - v[1])), 0)], using=[DRAIN, WAIVER],
        says=iff(eq(waiver(drained, c), drain(drained, p)), eq(p, s[1] + c)),
        why=("Values less the first one's are all values whose first is 0. So a waiver's share is the first "
             "token's, and free only as far as c is; a learned logit, one number, is not the copy at two queries "
             "that give the first token different logits."),
    )  # fmt: skip


CLAIMS, FORMAL = parted((
    _shifted(), _drained_is_gate(), _copy_of_drained(), _sink_has_drain(), _sink_has_waiver(), _drain_has_learned(),
    _not_plus_one(), _not_learned(), _not_drain(), _not_gate(), _not_sink(), _gate_sees_no_mass(),
    _waiver_keeps(), _waiver_never_scales(), _waiver_and_gate(), _waiver_logit(),
))  # fmt: skip
