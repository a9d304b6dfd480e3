"""Where a shift must stand so that one attention layer without positions is an induction head: the members, answers.

Setting. Tokens x_1 .. x_L are one-hot, x_0 = 0; the last one occurs exactly once before, at p <= L - 2, other tokens as
they like; the target is x_{p+1}. One softmax head over all places 1..L, no position code, no residual:

    output = sum_t softmax_t( q_L M k_t^T ) v_t N,   q = q0 x_t + q1 x_{t-1}, k and v alike with k0, k1 and v0, v1,

M = W_Q W_K^T and N = W_V W_O with the scale any V x V matrices (a head as wide as the vocabulary). The head is right on
a sentence where the largest entry of the output is the target's and no other. A member *implements* induction if for
each length some M, N are right on all sentences up to it; it *concentrates* if some fixed M, N do it as M grows to
infinity with all attention on the place p + 1.

Theorem (r = k0/k1, s = q1/q0).
1. It concentrates exactly where q0, k1, v0 are not 0, max(0, r, s, r + s, r s, r s + s) < min(1, 1 + r s) and
   v1/v0 < 1 (V >= 3). Necessary: the conditions on M are linear and keep under renaming tokens, so the mean over all
   names, M = lambda I + mu J, would do it too; for that M they are these inequalities. So for N.
2. With k1 = v1 = 0, and where only what leaves the layer is shifted, no weights do it (V >= 3, L = 4): the first two
   of a b c a change places, and the last output is the same; with unmixed queries those of a b c .. c a after two.
3. With k1 = 0 no weights do it (V >= 5, L = 6), `MIDDLE`. On q b u c b q and q c b u b q the outputs differ by
   v1 (P_b - P_c)(N_q - N_u)/Z, P the weights e^score, so v1 (P_b - P_c)(D_q - D_u) > 0 for D = N_b - N_c: not for u on
   both sides of q, and of three numbers D one is between the others.
4. With q0 = 0 no weights do it (V >= 4, L = 6), `UNASKED`: what the places before the last give b over c hangs on
   their tokens, what the last gives on x_{L-1} and x_L, so a b d c b, a c d b b, each before a and before d, ask that
   w_a D_a > w_d D_d > w_a D_a.
5. A key that is shifted alone implements exactly where k1 is not 0 and r < 1 (V >= 3). `ONLY_KEY` has the sentences of
   the proof that r >= 1 fails, of 5 tokens or fewer.
6. Weights that treat all names alike, M = lambda I + mu J and N = nu I + kappa J, do not do it at any scale where
   queries and keys have one kernel and values are unmixed (V >= 5, L = 6) or have it too (V >= 6, L = 7), `ALIKE`.
Where each channel has coefficients of its own (a key offset, Canon A), some hold the token and others the one before;
M and N choose: q = v = (1, 0), k = (0, 1) of point 1, in a width of 2 V or more.
What stands behind each point: claims of the ledger, `kv.beyond.family.*`, whose statements the core proves (the page
docs/family.md lists them by member), point 1 for every length; beside it brute force over short sentences, and a linear
programme over all M.

Argued, not proved: the members of `ARGUED` do not implement induction. There r s = 1, so no fixed weights concentrate
(1); none that treat all names alike are right (6); with own or previous coefficient 0 none at all (2, 4). The missing
step: weights that tell names apart and do not concentrate. The output is not linear in M, so the mean over all names,
which does for 1, says nothing of them. It takes all lengths: with three letters and up to 4 tokens smear has weights,
with c = v1/v0 about -2 (a test holds them); up to 5 a descent on M, N and c from many starts misses some sentence.
With other coefficients between 1 and 2-5 - several shifts at once that do not concentrate - nothing is said.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import choice, elementwise, real, reals, sized, whole
from theory.induction.network import Array
from theory.records import comparable

Reason = Literal["concentrates", "same_output", "middle", "unasked", "only_key", "argued_no", "not_concentrated"]
Sentence = tuple[int, ...]
UNMIXED = (1.0, 0.0)

# letters 0, 1, 2, .. stand for a, b, c, ..
SWAPPED: tuple[Sentence, ...] = ((0, 1, 2, 0), (1, 0, 2, 0))  # targets b, c
UNSEEN: tuple[Sentence, ...] = ((0, 1, 2, 0), (0, 1, 2, 1))  # targets b, c: where x_L is nowhere seen
# q = 0 is between u = 3 and u = 4; targets b = 1, c = 2, twice
MIDDLE: tuple[Sentence, ...] = tuple(
    sentence for u in (3, 4) for sentence in ((0, 1, u, 2, 1, 0), (0, 2, 1, u, 1, 0))
)  # fmt: skip
# targets b, c, c, b
UNASKED: tuple[Sentence, ...] = ((0, 1, 3, 2, 1, 0), (0, 1, 3, 2, 1, 3), (0, 2, 3, 1, 1, 0), (0, 2, 3, 1, 1, 3))
# h q b u u z q, on which u, and h q b u z q, on which z or what does not occur has as large an entry as b, the target
ALIKE: tuple[Sentence, ...] = ((4, 0, 1, 2, 2, 3, 0), (4, 0, 1, 2, 3, 0))
# r >= 1, k1 > 0, F = e^{k0 score}, G = e^{k1 score}, E_x = F_x (N_xb - N_xc). The first and the second with b and c
# renamed say that (G_q - G_b)(E_b - E_c) > 0, and so with G_c; the last two exclude E_b < E_c. So G_q > G_b and
# E_b > E_c, whatever the names, and q b q, b q b ask for (k0 - k1)(score_q(b) - score_q(q) + score_b(q) - score_b(b))
# > 0, where both differences are negative.
ONLY_KEY: tuple[Sentence, ...] = ((0, 1, 2, 1, 0), (0, 1, 2, 2, 0), (0, 1, 1, 0), (0, 1, 0))


class Member(NamedTuple):
    """Which kernel (own, previous) mixes queries, keys, values (None: unmixed), or what leaves the layer."""

    where: str
    kernels: int
    query: int | None = None
    key: int | None = None
    value: int | None = None
    after: bool = False


MEMBERS: dict[str, Member] = {
    "none": Member("nowhere", 0),
    "smear": Member("the embedding: all read it", 1, 0, 0, 0),
    "query": Member("queries", 1, query=0),
    "key": Member("keys", 1, key=0),
    "value": Member("values", 1, value=0),
    "key_value": Member("keys and values, own coefficients", 2, key=0, value=1),
    "key_value_common": Member("keys and values, the same coefficients", 1, key=0, value=0),
    "query_key": Member("queries and keys, own coefficients", 2, query=0, key=1),
    "query_key_common": Member("queries and keys, the same coefficients", 1, query=0, key=0),
    "query_value": Member("queries and values, own coefficients", 2, query=0, value=1),
    "partial_key": Member("some channels of the keys, by one place", 0),
    "output": Member("what leaves the layer", 1, after=True),
    "canon_a": Member("before the layer, each channel its own coefficients", 0),
    "canon_b": Member("queries, keys and values, own coefficients", 3, 0, 1, 2),
    "canon_c": Member("before the MLP", 1, after=True),
    "canon_d": Member("inside the MLP", 1, after=True),
}


# Some channels hold the token itself, others the one before: M lets queries read those, keys these, and N values those.
APART = ("partial_key", "canon_a")
# Coefficients with which a member implements induction; those of no member that is left out do, argued only in ARGUED.
KERNELS: dict[str, tuple[tuple[float, float], ...]] = {
    "key": ((0.0, 1.0),),
    "key_value": ((0.0, 1.0), (1.0, 0.0)),
    "key_value_common": ((-1.0, 1.0),),
    "query_key": ((1.0, 0.0), (0.0, 1.0)),
    "partial_key": (),
    "canon_a": (),
    "canon_b": ((1.0, 0.0), (0.0, 1.0), (1.0, 0.0)),
}
ARGUED = ("smear", "query_key_common")


class Mixing(NamedTuple):
    """The kernels (own, previous) of queries, keys and values."""

    query: tuple[float, float] = UNMIXED
    key: tuple[float, float] = UNMIXED
    value: tuple[float, float] = UNMIXED


class Answer(NamedTuple):
    """Whether a member implements induction: `gap` and `lead` > 0 if it concentrates, else the `sentences` of a proof.

    holds is True or False only where that is proved, and then it is about all weights. It is None with the reason
    "argued_no": no fixed weights concentrate and none that treat all names alike are right (`sentences` show it), which
    leaves weights that tell names apart and do not concentrate; and with "not_concentrated": no fixed weights
    concentrate, and nothing of others.
    """

    holds: bool | None
    reason: Reason
    gap: float
    lead: float
    sentences: tuple[Sentence, ...]


@comparable
class Weights(NamedTuple):
    """M = W_Q W_K^T and N = W_V W_O, rows multiplied from the left."""

    match: Array
    read: Array


def mixing(member: str, kernels: ArrayLike = ()) -> Mixing:
    """What the member does to queries, keys and values; a member after the layer leaves them.

    Args: kernels: (n, 2), rows (own, previous), n as the member has: queries first, then keys, then values.
    Raises ValueError for another member or other kernels.
    """
    found = MEMBERS[choice("member", member, tuple(MEMBERS))]
    if member in APART:
        reals("kernels", kernels, shape=(0,))
        return Mixing(key=(0.0, 1.0))
    rows = reals("kernels", kernels, shape=(found.kernels, 2) if found.kernels else (0,))
    pairs = [UNMIXED if n is None else (float(rows[n, 0]), float(rows[n, 1])) for n in found[2:5]]
    return Mixing(*pairs)


@sized()
def attention_gap(query: ArrayLike, key: ArrayLike) -> float:
    """min(1, 1 + r s) - max(0, r, s, r + s, r s, r s + s), r = k0/k1, s = q1/q0, rounded once; 0 where q0 k1 = 0.

    Score of p + 1 over all others for M = I/(q0 k1), at its least; keys concentrate exactly where it is positive.
    Args: query, key: (own, previous).
    """
    (q0, q1), (k0, k1) = exactly("query", query), exactly("key", key)
    if q0 == 0 or k1 == 0:
        return 0.0
    r, s = k0 / k1, q1 / q0
    # p + 1, which may hold x_{L-1}; then the place p, the successor of x_{L-1}, the last place, and x_{L-1}
    return float(min(1, 1 + r * s) - max(0, r, s, r + s, r * s, r * s + s))


@sized()
def value_lead(value: ArrayLike) -> float:
    """min(1, 1 - v1/v0), by which the target leads where all attention is on p + 1 and N = I/v0; 0 where v0 = 0."""
    v0, v1 = exactly("value", value)
    return 0.0 if v0 == 0 else float(min(1, 1 - v1 / v0))


def exactly(name: str, pair: ArrayLike) -> tuple[Fraction, Fraction]:
    """In floats r s may be less than 1 where it is 1, and a gap of 0 be positive."""
    own, previous = reals(name, pair, shape=(2,))
    return Fraction(float(own)), Fraction(float(previous))


def possible(member: str) -> bool | None:
    """Whether the member implements induction with some coefficients; None where a no is argued and not proved."""
    name = choice("member", member, tuple(MEMBERS))
    return None if name in ARGUED else name in KERNELS


def implements(member: str, kernels: ArrayLike = ()) -> Answer:
    """Whether the member with these coefficients implements induction: the theorem of this module.

    Args: as `mixing`, of which it has the errors.
    """
    found = mixing(member, kernels)
    gap, lead = attention_gap(found.query, found.key), value_lead(found.value)
    reason, sentences = _reason(MEMBERS[member], found, gap, lead)
    holds = None if reason in ("argued_no", "not_concentrated") else reason == "concentrates"
    return Answer(holds, reason, gap, lead, sentences)


def _reason(member: Member, found: Mixing, gap: float, lead: float) -> tuple[Reason, tuple[Sentence, ...]]:
    (q0, q1), (k0, k1), (v0, v1) = found
    if member.after or (k1 == 0 and v1 == 0):
        return "same_output", SWAPPED
    if q0 == 0 and k0 == 0 and v0 == 0:
        return "same_output", UNSEEN
    if k1 == 0:
        return "middle", MIDDLE
    if q0 == 0:
        return "unasked", UNASKED
    if gap > 0 and lead > 0:
        return "concentrates", ()
    if q1 == 0 and v1 == 0 and v0 != 0:
        return "only_key", ONLY_KEY
    if found.query == found.key and (v1 == 0 or found.value == found.key):
        return "argued_no", ALIKE[1:] if v1 == 0 else ALIKE
    return "not_concentrated", ()


@elementwise("scale")
@sized()
def head_weights(query: ArrayLike, key: ArrayLike, value: ArrayLike, vocabulary: int, scale: float) -> Weights:
    """M = scale/(q0 k1) I and N = I/v0: if any fixed weights concentrate, these do.

    Raises ValueError where q0, k1 or v0 is 0.
    """
    rows = [reals(name, pair, shape=(2,)) for name, pair in (("query", query), ("key", key), ("value", value))]
    product, own = rows[0][0] * rows[1][1], rows[2][0]
    if product == 0 or own == 0:
        raise ValueError("query, key and value must have q0, k1 and v0 not 0")
    identity = np.eye(whole("vocabulary", vocabulary, 3))
    return Weights(real("scale", scale) / product * identity, identity / own)
