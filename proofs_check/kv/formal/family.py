"""The family theorem as statements: which shifts let one attention layer without positions be an induction head.

The head, its members and the answers stand in `theory.induction.family`. r = k0/k1 and s = q1/q0 are the ratios of the
kernels, u = v1/v0. A sentence of any length names its last token 0 and every other one by a positive number; sentences
of the proofs that no weights will do are written out, their letters numbered.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise, permutations
from typing import Any

from proofs_check.core.statement import Definition, Statement
from proofs_check.core.terms import Term, absolute, both, either, eq, exp, implies, lift, ne
from proofs_check.language.notation import define, largest, least, real, sequence, total, var, when, whole
from proofs_check.records import Rule, parted, states

L, p, t, w, j, k, V, M, N, r, s, u, c = map(var, ("L", "p", "t", "w", "j", "k", "V", "M", "N", "r", "s", "u", "c"))
ALIKE = lam, mu, nu, kappa = tuple(map(var, ("lambda", "mu", "nu", "kappa")))
q0, q1, k0, k1, v0, v1 = COEFFICIENTS = tuple(map(var, ("q0", "q1", "k0", "k1", "v0", "v1")))


def call(definition: tuple[str, Definition], *arguments: Any) -> Term:
    return Term("call", definition[0], *map(lift, arguments))


# -- a sentence of any length: the scores of M = c/(q0 k1) I, the values of N = I/v0 -----------------------------------

NAME = define("name", [w, L, p, t], when(either(eq(t, p), eq(t, L)), 0, w[t]))
HOLDS = define("holds", [w, L, p, t, j], when(eq(call(NAME, w, L, p, t), j), 1, 0))  # x_t = j
FOLLOWS = define("follows", [w, L, p, t, j], when(both(t >= 2, eq(call(NAME, w, L, p, t - 1), j)), 1, 0))  # x_{t-1} = j
READS = define("reads", [w, L, p, t, j, r], r * call(HOLDS, w, L, p, t, j) + call(FOLLOWS, w, L, p, t, j))
SCORE = define(
    "score", [w, L, p, t, r, s],
    call(READS, w, L, p, t, 0, r) + s * call(READS, w, L, p, t, call(NAME, w, L, p, L - 1), r),
)  # fmt: skip
GAP = define("gap", [r, s], least(1, 1 + r * s) - largest(0, r, s, r + s, r * s, r * s + s))
LEAD = define("lead", [u], least(1, 1 - u))
WEIGHT = define("weight", [w, L, p, t, r, s, c], exp(c * call(SCORE, w, L, p, t, r, s)))
VALUE = define("value", [w, L, p, t, j, u], call(HOLDS, w, L, p, t, j) + u * call(FOLLOWS, w, L, p, t, j))
OUTPUT = define(
    "output", [w, L, p, j, r, s, u, c],
    total(k, 1, L, call(WEIGHT, w, L, p, k, r, s, c) * call(VALUE, w, L, p, k, j, u))
    / total(k, 1, L, call(WEIGHT, w, L, p, k, r, s, c)),
)  # fmt: skip
SENTENCE = [NAME, HOLDS, FOLLOWS, READS, SCORE, GAP, LEAD, WEIGHT, VALUE, OUTPUT]
ANY = [whole("L", 3), whole("p", 1, L - 2), sequence("w", L, 0, open="low")]
RATIOS = [real("r"), real("s")]


def concentrates() -> list[Rule | Statement]:
    """Point 1, first half: which weights do it."""
    score, target = (lambda place: call(SCORE, w, L, p, place, r, s)), call(NAME, w, L, p, p + 1)
    share = call(WEIGHT, w, L, p, p + 1, r, s, c) / total(k, 1, L, call(WEIGHT, w, L, p, k, r, s, c))
    logit = lambda token: call(OUTPUT, w, L, p, token, r, s, u, c)  # noqa: E731
    return [
        states(
            "kv.beyond.family.gap", "added to Section 3.1 (both versions)",
            for_all=[*ANY, whole("t", 1, L), *RATIOS], given=[ne(t, p + 1)],
            says=call(GAP, r, s) <= score(p + 1) - score(t), using=SENTENCE,
            why=("The last token occurs exactly once before, at p <= L - 2, other tokens as they like; x_0 = 0. "
                 "Here r = k0/k1, s = q1/q0, u = v1/v0, M = c/(q0 k1) I, N = I/v0."),
        ),
        states(
            "kv.beyond.family.attention", "added to Section 3.1 (both versions)", for_all=[*ANY, *RATIOS, real("c", 0)],
            says=1 - share <= (L - 1) / (L - 1 + exp(c * call(GAP, r, s))), using=SENTENCE,
            why=("The last token occurs exactly once before, at p <= L - 2, other tokens as they like; x_0 = 0. "
                 "Here r = k0/k1, s = q1/q0, u = v1/v0, M = c/(q0 k1) I, N = I/v0."),
        ),
        states(
            "kv.beyond.family.right", "added to Section 3.1 (both versions)",
            for_all=[*ANY, *RATIOS, real("u"), real("c", 0), real("j", 0)],
            given=[ne(j, target), (L - 1) * (1 + absolute(u)) < call(LEAD, u) * exp(c * call(GAP, r, s))],
            says=logit(j) < logit(target), using=SENTENCE,
            why=("The last token occurs exactly once before, at p <= L - 2, other tokens as they like; x_0 = 0. "
                 "Here r = k0/k1, s = q1/q0, u = v1/v0, M = c/(q0 k1) I, N = I/v0. At p + 1 the target leads any "
                 "other token by min(1, 1 - u) or more, at any other place it trails by 1 + |u| at most. The left "
                 "side is positive and grows with c where u < 1 and g > 0; a scale that does for L does for less."),
        ),
    ]  # fmt: skip


# -- sentences that are written out: any M and N -----------------------------------------------------------------------


Entry = Callable[[Term, Term], Term]


def _head(name: str, length: int, match: Entry, read: Entry, given: Sequence[Term]) -> tuple[str, Definition]:
    """Entry j of the output at the last of `length` tokens x1, x2, .., for the weights that are given."""
    x = [var(f"x{place}") for place in range(1, length + 1)]

    def asked(token: Term) -> Term:
        return q0 * match(x[-1], token) + q1 * match(x[-2], token)

    scores = [k0 * asked(x[0]), *(k0 * asked(own) + k1 * asked(previous) for previous, own in pairwise(x))]
    values = [v0 * read(x[0], j), *(v0 * read(own, j) + v1 * read(previous, j) for previous, own in pairwise(x))]
    weights = [exp(score) for score in scores]
    top = Term("add", *(weight * value for weight, value in zip(weights, values, strict=True)))
    return define(f"{name}_{length}", [*x, j, *COEFFICIENTS, *given], top / Term("add", *weights))


def _alike(own: Term, rest: Term) -> Entry:
    """Of own I + rest J, J all ones: what treats all names alike."""
    return lambda row, column: when(eq(row, column), own, 0) + rest


# Any M and N; M = lambda I + mu J and N = nu I + kappa J.
HEADS = {n: _head("head", n, lambda *at: M[at], lambda *at: N[at], (M, N)) for n in range(3, 7)}
ALIKE_HEADS = {n: _head("alike", n, _alike(lam, mu), _alike(nu, kappa), ALIKE) for n in (6, 7)}


def head(
    sentence: Sequence[int], token: Any, query: Any = (q0, q1), key: Any = (k0, k1), value: Any = (v0, v1)
) -> Term:
    return call(HEADS[len(sentence)], *sentence, token, *query, *key, *value, M, N)


def alike(sentence: Sequence[int], token: int, query: Any, key: Any, value: Any) -> Term:
    """The same head, of weights that treat all names alike."""
    return call(ALIKE_HEADS[len(sentence)], *sentence, token, *query, *key, *value, *ALIKE)


def weights(names: int) -> list[Any]:
    """Any vocabulary of at least so many names, any M and N."""
    return [whole("V", names), sequence("M", (V, V)), sequence("N", (V, V))]


def fails(sentence: Sequence[int], target: int, other: int, **kernels: Any) -> Term:
    """The target does not lead this other token."""
    return head(sentence, target, **kernels) <= head(sentence, other, **kernels)


def _numbers(names: str) -> list[Any]:
    return [real(name) for name in names.split()]


SWAPPED, UNSEEN = ((1, 2, 3, 1), (2, 1, 3, 1)), ((1, 2, 3, 1), (1, 2, 3, 2))
LONGER = (1, 2, 3, 3, 3, 1), (2, 1, 3, 3, 3, 1)  # targets as of SWAPPED


def same_output() -> list[Rule | Statement]:
    """Point 2: two sentences of one output, and different targets."""
    plain, shifted = {"key": (k0, 0), "value": (v0, 0)}, {"query": (0, q1), "key": (0, k1), "value": (0, v1)}
    unmixed = {"query": (q0, 0), **plain}
    (one, other), (seen, unseen) = SWAPPED, UNSEEN
    token = whole("j", 1, V)
    return [
        states(
            "kv.beyond.family.swapped", "added to Section 3.1 (both versions)",
            for_all=[*weights(3), token, *_numbers("q0 q1 k0 v0")],
            says=both(eq(head(one, j, **plain), head(other, j, **plain)),
                      either(fails(one, 2, 3, **plain), fails(other, 3, 2, **plain))), using=[HEADS[4]],
        ),
        states(
            "kv.beyond.family.after", "added to Section 3.1 (both versions)",
            for_all=[*weights(3), token, *_numbers("q0 k0 v0")],
            says=both(*(eq(*(head(x[:end], j, **unmixed) for x in LONGER)) for end in (6, 5, 4, 3))),
            using=list(HEADS.values()),
            why=("An output kernel, Canon C and Canon D (window 4) read these outputs and nothing else, for there "
                 "is no residual; with more c between, any window."),
        ),
        states(
            "kv.beyond.family.unseen", "added to Section 3.1 (both versions)",
            for_all=[*weights(3), token, *_numbers("q1 k1 v1")],
            says=both(eq(head(seen, j, **shifted), head(unseen, j, **shifted)),
                      either(fails(seen, 2, 3, **shifted), fails(unseen, 3, 2, **shifted))), using=[HEADS[4]],
        ),
    ]  # fmt: skip


def middle(query: Any, other: Any, b: Any = 4, c: Any = 5) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """q b u c b q and q c b u b q: the targets are b and c, the tokens and the last query the same."""
    return (query, b, other, c, b, query), (query, c, b, other, b, query)


def unmixed_keys() -> list[Rule | Statement]:
    """Point 3: keys are not shifted."""
    kernels = {"key": (k0, 0)}
    one, other = middle(1, 2, 3, 4)
    power = {name: exp(k0 * (q0 * M[1, name] + q1 * M[3, name])) for name in (1, 2, 3, 4)}
    mass = 2 * power[1] + 2 * power[3] + power[2] + power[4]
    alternatives = [
        fails(sentence, *pair, **kernels)
        for names in permutations((1, 2, 3), 2)
        for sentence, pair in zip(middle(*names), ((4, 5), (5, 4)), strict=True)
    ]
    return [
        states(
            "kv.beyond.family.middle.difference", "added to Section 3.1 (both versions)",
            for_all=[*weights(4), whole("j", 1, V), *_numbers("q0 q1 k0 v0 v1")], using=[HEADS[6]],
            says=eq(head(one, j, **kernels) - head(other, j, **kernels),
                    v1 * (power[3] - power[4]) * (N[1, j] - N[2, j]) / mass),
        ),
        states(
            "kv.beyond.family.middle", "added to Section 3.1 (both versions)",
            for_all=[*weights(5), *_numbers("q0 q1 k0 v0 v1")], using=[HEADS[6]],
            says=either(*alternatives),
            why="Of three numbers D one lies between the others, and for that q no sign of v1 (P_b - P_c) will do.",
        ),
    ]  # fmt: skip


# a b d c b and a c d b b, each before a and before d: with the target, and what it does not lead
UNASKED = tuple(((1, *pair, 2, last), *order) for pair in ((2, 4, 3), (3, 4, 2))
                for last, order in ((1, (pair[0], pair[2])), (4, (pair[2], pair[0]))))  # fmt: skip


def unasked() -> Statement:
    """Queries do not read their own token."""
    return states(
        "kv.beyond.family.unasked", "added to Section 3.1 (both versions)",
        for_all=[*weights(4), *_numbers("q1 k0 k1 v0 v1")], using=[HEADS[6]],
        says=either(*(fails(*case, query=(0, q1)) for case in UNASKED)),
        why=("f is what the places before the last give b over c, w the last place's weight, D what its value "
             "gives b over c: f does not hang on the last token, w and D hang on the last two alone."),
    )  # fmt: skip


# y z w z y, y z w w y and y z z y tell z from w, y z y tells it from w and from y
ONLY_KEY = (((0, 1, 2, 1, 0), 2), ((0, 1, 2, 2, 0), 2), ((0, 1, 1, 0), 2), ((0, 1, 0), 2), ((0, 1, 0), 0))


def only_key() -> Statement:
    """Point 4: keys alone are shifted, with k0/k1 = r >= 1; k1 and the scale of the values are in M and N."""
    kernels = {"query": (1, 0), "key": (r, 1), "value": (1, 0)}
    alternatives = [
        fails([names[place] for place in sentence], names[1], names[other], **kernels)
        for names in permutations((1, 2, 3))
        for sentence, other in ONLY_KEY
    ]
    return states(
        "kv.beyond.family.only_key", "added to Section 3.1 (both versions)",
        for_all=[*weights(3), real("r", 1)], using=[HEADS[n] for n in (3, 4, 5)],
        says=either(*alternatives),
        why=("For r < 1 kv.beyond.family.right has weights, with s = u = 0 and g = 1 - max(0, r): keys alone "
             "implement induction exactly where k1 is not 0 and r < 1."),
    )  # fmt: skip


# -- weights that treat all names alike --------------------------------------------------------------------------------

# h q b u u z q and h q b u z q; target b, and a sixth that does not occur.
Q, B, U, Z, H, ELSE = range(1, 7)
LONG, SHORT = (H, Q, B, U, U, Z, Q), (H, Q, B, U, Z, Q)


def same_for_all_names() -> list[Rule | Statement]:
    """All read (1, c); or queries and keys read (k0, k1), values (v0, 0)."""
    mixed, keys = [(1, c)] * 3, [(k0, k1), (k0, k1), (v0, 0)]
    fails_alike = lambda x, other: alike(x, B, *mixed) <= alike(x, other, *mixed)  # noqa: E731
    entries = _numbers("lambda mu nu kappa")
    return [
        states(
            "kv.beyond.family.alike.smear", "added to Section 3.1 (both versions)",
            for_all=[real("c"), *entries], using=list(ALIKE_HEADS.values()),
            says=either(fails_alike(SHORT, ELSE), fails_alike(LONG, U), fails_alike(SHORT, Z)),
            why=("J is all ones: these are the matrices that keep under every renaming of tokens. Up to what all "
                 "entries share they are, over the denominator, nu (P^c + c) for b, 0 for what does not occur, nu "
                 "(2 + c + c P^c) for u, nu (P^c + c P^{1 + c^2}) for z, P = e^lambda."),
        ),
        states(
            "kv.beyond.family.alike.query_key", "added to Section 3.1 (both versions)",
            for_all=[*_numbers("k0 k1 v0"), *entries], using=[ALIKE_HEADS[6]],
            says=eq(alike(SHORT, B, *keys), alike(SHORT, Z, *keys)),
            why=("J is all ones: these are the matrices that keep under every renaming of tokens. b holds the "
                 "query's last token before it, z is the query's token before: k0 k1 lambda either way."),
        ),
    ]  # fmt: skip


# -- which weights concentrate -----------------------------------------------------------------------------------------

# The score of a place with this token, after that one, where the last two are b a.
own, previous, a, b = map(var, ("own", "previous", "a", "b"))
PLACE = define(
    "place", [own, previous, a, b, q0, q1, k0, k1, M],
    q0 * (k0 * M[a, own] + k1 * M[a, previous]) + q1 * (k0 * M[b, own] + k1 * M[b, previous]),
)  # fmt: skip
FIRST, SECOND = "ccbbcacba", "ccbbcabba"  # a is followed by c, and by b = x_{L-1}


def compared(sentence: str) -> list[tuple[str, str]]:
    """Token and predecessor at the places from the second on but p + 1."""
    after = sentence.index("a") + 1
    return list(dict.fromkeys((sentence[t], sentence[t - 1]) for t in range(1, len(sentence)) if t != after))


def necessary() -> list[Rule | Statement]:
    """Point 1, second half."""

    def place(names: dict[str, int], token: str, before: str) -> Term:
        return call(PLACE, names[token], names[before], names["a"], names["b"], q0, q1, k0, k1, M)

    every = [dict(zip("abc", names, strict=True)) for names in permutations((1, 2, 3))]
    leads = [place(names, *other) < place(names, sentence[sentence.index("a") + 1], "a")
             for sentence in (FIRST, SECOND) for other in compared(sentence) for names in every]  # fmt: skip
    read = [v0 * N[y, other] + v1 * N[x, other] < v0 * N[y, y] + v1 * N[x, y]
            for x, y, third in permutations((1, 2, 3)) for other in (x, third)]  # fmt: skip
    return [
        states(
            "kv.beyond.family.necessary", "added to Section 3.1 (both versions)",
            for_all=[whole("V", 3), sequence("M", (V, V)), *_numbers("q0 q1 k0 k1")],
            says=implies(both(*leads), both(ne(q0, 0), ne(k1, 0), 0 < call(GAP, k0 / k1, q1 / q0))), using=[GAP, PLACE],
            why=("Of the places from the second on. The mean of M over the renamings is lambda I + mu J, and for "
                 "that one these are the inequalities."),
        ),
        states(
            "kv.beyond.family.decodes", "added to Section 3.1 (both versions)",
            for_all=[whole("V", 3), sequence("N", (V, V)), *_numbers("v0 v1")],
            says=implies(both(*read), both(ne(v0, 0), 0 < call(LEAD, v1 / v0))), using=[LEAD],
            why=("So with kv.beyond.family.necessary and kv.beyond.family.right: fixed M and N concentrate as "
                 "their scale grows exactly where g > 0 and v1/v0 < 1."),
        ),
    ]  # fmt: skip


CLAIMS, FORMAL = parted((
    *concentrates(), *necessary(), *same_output(), *unmixed_keys(), only_key(), unasked(), *same_for_all_names(),
))  # fmt: skip
