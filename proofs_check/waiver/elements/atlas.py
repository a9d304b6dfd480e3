"""The atlas: six ways out of a softmax that must sum to 1, which contains which, and which can never be which.

All are taken on one head: the logits and values of a context at a query are given, and each adds parameters of its own.
"""

from proofs_check.ledger.claim import Claim
from proofs_check.ledger.mathematical import mathematical

SECTION = "Waiver paper, Section 3.1, added"
COPY = "Waiver paper, Section 4.2.1, added (of a masked token whose word is the first one's)"
FIRST = "Values less the first one's are all values whose first is 0."


def _arrow(id: str, source: str, statement: str, formula: str, note: str = "") -> Claim:
    return mathematical(id, source, statement, is_correction=True, formula=formula, note=note)


CLAIMS: tuple[Claim, ...] = (
    _arrow(
        "waiver.atlas.plus_one.equal.sink_logit", SECTION,
        "A learned sink logit b is softmax plus one at logits that are lower by b.",
        r"\frac{\sum_je^{s_j}v_j}{e^b+\sum_je^{s_j}}=\frac{\sum_je^{s_j-b}v_j}{1+\sum_je^{s_j-b}}",
        "One class where the head may add a constant to its logits; where it may not, waiver.atlas.plus_one.separated"
        ".sink_logit.",
    ),
    _arrow(
        "waiver.atlas.gate.equal.drain", SECTION,
        "One more token of value 0 and weight 1 - g is the gate g on the output, and every gate strictly between 0 and "
        "1 is such a token.",
        r"b=\log\frac{1-g}{g}+\log\sum_je^{s_j}",
        "One class where gate or logit may see the other logits; where neither does, waiver.atlas.gate.separated"
        ".plus_one.",
    ),
    _arrow(
        "waiver.atlas.gate.equal.waiver", COPY,
        "Where the first token has the value 0 and the weight a, a copy of it, its logit higher by c, is the gate "
        "1/(1 + a e^c) on the output.",
        r"\frac1{1+ae^c}",
        f"{FIRST} At least 1/2 without positions, where c = 0: such a copy takes away no more than half.",
    ),
    _arrow(
        "waiver.atlas.sink.contains.drain", SECTION,
        "Attention to n tokens and a sink token has one more term in numerator and denominator; it is that to a "
        "drained token of the same logit exactly at the value 0.",
        r"\mathrm{softmax}(s,b)\,(v,u)=\frac{\sum_je^{s_j}v_j+e^bu}{\sum_je^{s_j}+e^b}",
    ),
    _arrow(
        "waiver.atlas.sink.contains.waiver", COPY,
        "A copy of the first token, its logit higher by c, makes of both one token of the first one's value and of a "
        "logit higher by ln(1 + e^c), by ln 2 without positions.",
        r"s_1\mapsto s_1+\ln(1+e^c)",
        "So it is a sink token of the logit s_1 + c and the value v_1, beside all tokens or in the first one's place. "
        "One value at all queries, as long as the first token is the same one.",
    ),
    _arrow(
        "waiver.atlas.drain.contains.sink_logit", SECTION,
        "A learned sink logit is one more token of value 0 whose logit is the same at all queries.",
        r"\frac{\sum_je^{s_j}v_j}{e^b+\sum_je^{s_j}}=\mathrm{softmax}(s,b)\,(v,0)",
    ),
    _arrow(
        "waiver.atlas.plus_one.separated.sink_logit", SECTION,
        "At a query of 0, with a token of value 1 and with two such tokens, softmax plus one is not the learned sink "
        "logit b whatever key and value it gives the token, unless b = 0.",
        r"\frac{u}{2}=\frac1{1+e^b},\ \frac{2u}{3}=\frac2{2+e^b}\iff b=0,\ u=1",
        "At a query of 0 all logits are 0, whatever the keys: the logits cannot be lowered by b. So a drained token "
        "without a bias, its logit q.k, is no learned logit there either.",
    ),
    _arrow(
        "waiver.atlas.sink_logit.separated.drain", SECTION,
        "A learned sink logit is a drained token at two queries that see the same logits only if the token's logits at "
        "both are the learned one, unless the values cancel.",
        r"o_p=o_b=o_x\iff p=b=x",
    ),
    _arrow(
        "waiver.atlas.drain.separated.sink", SECTION,
        "Where the other tokens' values are 0, a sink token of a value that is not 0 is no drained token of any logit.",
        r"\frac{e^b}{e^b+\sum_je^{s_j}}u=0\iff u=0",
    ),
    _arrow(
        "waiver.atlas.gate.separated.sink", SECTION,
        "A sink token whose value does not lie on the line of the plain output is no gate.",
        r"o_{b,x}\,o'-o_{b,y}\,o=\frac{e^b}{e^b+Z}(x\,o'-y\,o)",
        "In any two coordinates, o and o' the plain output's, x and y the sink token's.",
    ),
    _arrow(
        "waiver.atlas.sink.separated.gate", SECTION,
        "On values of 1 no sink token is a gate at one query in two contexts whose sums of exponentials differ, unless "
        "both do nothing.",
        r"\frac{Z+e^bu}{Z+e^b}=g=\frac{Z'+e^bu}{Z'+e^b}\iff u=g=1",
    ),
    _arrow(
        "waiver.atlas.gate.separated.plus_one", SECTION,
        "No gate of the query alone is softmax plus one, a learned sink logit or a drained token in two contexts whose "
        "sums of exponentials differ.",
        r"\frac{Z}{Z+e^b}=g=\frac{Z'}{Z'+e^b}\Rightarrow Z=Z'",
        "Softmax plus one is b = 0. A sink sees how much there is to attend to, a gate does not.",
    ),
    _arrow(
        "waiver.atlas.waiver.separated.sink", COPY,
        "On tokens of one value a copy of the first one changes nothing; a sink token does not either only if it has "
        "that value.",
        r"x=\frac{Zx+e^bu}{Z+e^b}\iff u=x",
    ),
    _arrow(
        "waiver.atlas.waiver.separated.plus_one", COPY,
        "On tokens of one value that is not 0 no copy of the first one is softmax plus one, a learned sink logit or a "
        "drained token.",
        r"o_c=x,\qquad\frac{Zx}{Z+e^b}=x\iff x=0",
    ),
    _arrow(
        "waiver.atlas.waiver.separated.gate", COPY,
        "Where one coordinate of all values is 1, a copy of the first token is a gate only if both do nothing: the "
        "gate is 1, and the first token's value the plain output.",
        r"(1,o_c)=g\,(1,o)\iff g=1,\ v_1=o",
    ),
    _arrow(
        "waiver.atlas.waiver.separated.drain", COPY,
        "Where the first token has the value 0 its copy is one more drained token, of the copy's logit and of no "
        "other, unless the values cancel.",
        r"o_c=o_p\iff p=s_1+c",
        f"{FIRST} So a waiver's share is the first token's, and free only as far as c is; a learned logit, one number, "
        "is not the copy at two queries that give the first token different logits.",
    ),
)  # fmt: skip
