"""The family of shifts against brute force over all short sentences, and drawn weights where none will do."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.optimize import linprog

from proofs_check.evidence.tolerances import ROUNDING, VISIBLE
from proofs_check.oracles import family as oracle
from theory import induction
from theory.induction import family
from theory.induction.family import (
    ALIKE,
    APART,
    ARGUED,
    MEMBERS,
    MIDDLE,
    ONLY_KEY,
    SWAPPED,
    UNASKED,
    UNSEEN,
    mixing,
    possible,
)

KERNELS = {"query_key": [(1, -0.5), (0.25, 1)], "canon_b": [(1, -0.5), (0.25, 1), (1, 0.5)],
           "key_value": [(0.5, 1), (1, -2)], "key_value_common": [(-1, 1)], "key": [(0.5, 1)]}  # fmt: skip
YES = [*KERNELS, *APART]
ALL = [item for length in (3, 4, 5) for item in oracle.sentences(4, length)]


def kernels(name):
    count = MEMBERS[name].kernels
    return KERNELS.get(name, [(1.0, 0.5)] * count) if count else ()


def target(x):
    return x[x.index(x[-1]) + 1]


def right(found, wanted):
    return all(found[wanted] > entry for token, entry in enumerate(found) if token != wanted)


def drawn(rng, size=5):
    return rng.normal(size=(size, size)) * rng.choice([0.3, 1, 3]), rng.normal(size=(size, size))


def test_there_are_sentences_of_all_kinds():
    assert len(ALL) == 12 + 12 * 6 + 4 * 27 * 3
    assert oracle.sentences(2, 3).__next__() == ((0, 1, 0), 1)
    assert not list(oracle.sentences(3, 2))
    assert [target(x) for x in SWAPPED + UNSEEN] == [1, 2, 1, 2] and [target(x) for x in MIDDLE] == [1, 2, 1, 2]
    assert all((x, target(x)) in set(oracle.sentences(4, len(x))) for x in (*ONLY_KEY, *UNASKED))
    assert [target(x) for x in (*UNASKED, *ALIKE)] == [1, 2, 2, 1, 1, 1]


@pytest.mark.parametrize("name", YES)
def test_members_that_implement_reach_their_bounds(name):
    mix, answer = mixing(name, kernels(name)), induction.implements(name, kernels(name))
    assert answer.holds and answer.reason == "concentrates" and answer.sentences == ()
    for scale in (2.0, 8.0, 40.0):
        match, read = induction.head_weights(*mix, 4, scale)
        for x, wanted in ALL:
            found = oracle.output(x, *mix, match, read)
            off = 1 - oracle.attention(x, mix.query, mix.key, match)[x.index(x[-1]) + 1]
            error = induction.attention_error_bound(len(x), answer.gap, scale)
            lead = found[wanted] - max(entry for token, entry in enumerate(found) if token != wanted)
            assert off <= error + ROUNDING
            assert lead >= induction.logit_lead_bound(mix.value, error) - ROUNDING
            if scale == 40.0:
                assert right(found, wanted)
    assert induction.attention_error_bound(5, answer.gap, 400.0) < VISIBLE


@pytest.mark.parametrize("ratio", [-2.0, 0.0, 0.5, 1.0, 1.5])
def test_the_error_of_shifted_keys_is_exact(ratio):
    match, _ = induction.head_weights((1, 0), (ratio, 1), (1, 0), 4, 3.0)
    for x, _ in ALL:
        off = 1 - oracle.attention(x, (1, 0), (ratio, 1), match)[x.index(x[-1]) + 1]
        assert off == pytest.approx(induction.key_shift_error(len(x), ratio, 3.0), abs=ROUNDING)


def concentrates(query, key, vocabulary=3, longest=6):
    """Whether some M gives p + 1 the largest score on all sentences, as a linear programme in M."""
    rows = set()
    for x, _ in (item for length in range(3, longest + 1) for item in oracle.sentences(vocabulary, length)):
        asked, scores = oracle.mixed(x, len(x) - 1, query), []
        for place in range(len(x)):
            score = np.zeros((vocabulary, vocabulary))
            for i, a in asked.items():
                for j, b in oracle.mixed(x, place, key).items():
                    score[i, j] += a * b
            scores.append(score.ravel())
        best = x.index(x[-1]) + 1
        rows |= {tuple(np.round(scores[best] - other, 9)) for t, other in enumerate(scores) if t != best}
    a, n = np.array(sorted(rows)), vocabulary**2
    found = linprog([0.0] * n + [-1.0], A_ub=np.c_[-a, np.ones(len(a))], b_ub=np.zeros(len(a)),
                    bounds=[(-1, 1)] * n + [(None, 1)])  # fmt: skip
    return -found.fun > 1e-7


@pytest.mark.parametrize(
    ("query", "key"),
    [((1, s), (r, 1)) for r in (-1.5, -0.5, 0, 0.5, 1, 1.5) for s in (0, -0.5, 0.4, 1.2)]
    + [((0, 1), (0, 1)), ((1, 0), (1, 0)), ((1, 0.5), (1, 0.5)), ((-0.5, 1), (-0.5, 1)), ((2, -1), (2, -1))],
)
def test_the_gap_is_positive_exactly_where_some_weights_concentrate(query, key):
    """Of all matrices M, not of multiples of the identity alone."""
    assert concentrates(query, key) == (induction.attention_gap(query, key) > 0)


@pytest.mark.parametrize("value", [(1, 0), (1, 0.9), (1, 1), (-1, 1), (0, 1), (-1, -2), (2, -5)])
def test_the_lead_is_positive_exactly_where_some_read_out_decodes(value):
    rows = []
    for a in range(3):
        for b in (token for token in range(3) if token != a):
            for other in (token for token in range(3) if token != b):
                row = np.zeros((3, 3))
                for token, share in ((b, value[0]), (a, value[1])):
                    row[token, b] += share
                    row[token, other] -= share
                rows.append(row.ravel())
    a = np.array(rows)
    found = linprog([0.0] * 9 + [-1.0], A_ub=np.c_[-a, np.ones(len(a))], b_ub=np.zeros(len(a)),
                    bounds=[(-1, 1)] * 9 + [(None, 1)])  # fmt: skip
    assert (-found.fun > 1e-7) == (induction.value_lead(value) > 0)


@pytest.mark.parametrize("name", [n for n in MEMBERS if n not in YES])
def test_members_that_do_not_say_why(name):
    answer = induction.implements(name, kernels(name))
    after = ("none", "query", "output", "canon_c", "canon_d")
    expected = {**dict.fromkeys(after, ("same_output", SWAPPED)),
                **dict.fromkeys(("value", "query_value"), ("middle", MIDDLE)),
                "smear": ("argued_no", ALIKE), "query_key_common": ("argued_no", ALIKE[1:])}  # fmt: skip
    assert (answer.reason, answer.sentences) == expected[name]
    assert answer.holds is (None if name in ARGUED else False)
    assert induction.implements("key", [(1.5, 1)])[1::3] == ("only_key", ONLY_KEY)
    assert induction.implements("smear", [(0, 1)])[1::3] == ("same_output", UNSEEN)
    assert induction.implements("query_key", [(0, 1), (1, 1)])[:2] == (False, "unasked")
    assert induction.implements("query_key_common", [(0, 1)])[:2] == (False, "unasked")
    assert induction.implements("query_key_common", [(1, 0)])[:2] == (False, "same_output")
    assert induction.implements("key_value_common", [(1, 2)])[:2] == (None, "not_concentrated")
    assert induction.implements("canon_b", [(1, 2), (1, 2), (2, 4)])[:2] == (None, "not_concentrated")


@pytest.mark.parametrize("pair", [(0.1, 0.3), (0.3, -0.7), (-1.1, 0.7), (3.0, -0.1)])
def test_one_kernel_of_queries_and_keys_has_no_gap_whatever_the_floats(pair):
    """r s = 1 in exact numbers, and min(1, 1 + r s) - max(1, ..) <= 0; in floats r s may fall short of 1."""
    assert induction.attention_gap(pair, pair) <= 0


# M, N and c, found by descent and rounded.
FEW_LETTERS = [-2.7, -0.1, 0.8, 1.5, 3, 2.7, 3.2, 4.5, 4.4, 2, 1.5, -0.2, 1.2, 0.9, 0.9, 0.1, 0.9, -1.1, -2]

PAIRS = [(own, previous) for own in (-1.0, 0.0, 0.5, 1.0) for previous in (-0.5, 0.0, 0.5, 2.0)]


@pytest.mark.parametrize("name", MEMBERS)
def test_what_is_possible_is_so_with_the_coefficients_named_and_else_with_none(name):
    told = possible(name)
    count = MEMBERS[name].kernels
    assert (told is None) == (name in ARGUED)
    if told:
        assert induction.implements(name, family.KERNELS[name]).holds
    else:
        found = {induction.implements(name, rows if count else ()).holds for rows in product(PAIRS, repeat=count)}
        assert True not in found and (told is None or found == {False})


@pytest.mark.parametrize("query", [(1, 0), (0.7, -1.3)])
def test_two_sentences_have_one_output_whatever_the_weights(query):
    """At the last place; with unmixed queries at the last two: so what leaves the layer may be mixed as well."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        match, read = drawn(rng, 3)
        for end in (3, 4) if query == (1, 0) else (4,):
            one, other = (oracle.output(x[:end], query, (1, 0), (1, 0), match, read) for x in SWAPPED)
            assert np.allclose(one, other, rtol=0, atol=ROUNDING)
        one, other = (oracle.output(x, (0, 1), (0, 1), (0, 1), match, read) for x in UNSEEN)
        assert np.allclose(one, other, rtol=0, atol=ROUNDING)
    planted = [oracle.output(x, query, (0, 1), (1, 0), match, read) for x in SWAPPED]
    assert not np.allclose(*planted, rtol=0, atol=VISIBLE)


def named(x, names):
    return tuple(names[token] for token in x)


@pytest.mark.parametrize("query", [(1, 0), (0.7, -1.3)])
@pytest.mark.parametrize("value", [(0, 1), (1, 1), (1, -1), (-0.4, 1)])
def test_no_weights_serve_the_four_sentences_around_the_middle_token(query, value):
    rng = np.random.default_rng(1)
    for _ in range(100):
        match, read = drawn(rng)
        d = read[:, 1] - read[:, 2]
        low, middle, high = sorted((0, 3, 4), key=lambda token: d[token])
        outputs = []
        for x in MIDDLE:
            x = named(x, (middle, 1, 2, low, high))
            outputs.append((oracle.output(x, query, (1, 0), value, match, read), target(x)))
        assert not all(right(*pair) for pair in outputs)


def alike(own, rest, size=6):
    return own * np.eye(size) + rest


@pytest.mark.parametrize("c", [-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
def test_no_weights_that_treat_all_names_alike_serve_one_kernel(c):
    """At every scale up to where others concentrate; the failing comparison changes with the signs."""
    for own, nu in product((-30, -3, -1, -0.1, 0, 0.1, 0.5, 1, 3, 30), (-1.0, 1.0)):
        match, read = alike(own, 0.3), alike(nu, -0.2)
        for value, sentences in (((1, c), ALIKE), ((1, 0), ALIKE[1:])):
            outputs = [(oracle.output(x, (1, c), (1, c), value, match, read), target(x)) for x in sentences]
            lead = [found[wanted] - max(np.delete(found, wanted)) for found, wanted in outputs]
            assert min(lead) <= ROUNDING


def test_weights_that_tell_names_apart_serve_the_sentences_of_that_proof():
    """So it is about those weights alone; three letters and four tokens have them too, with one kernel for all."""
    rng, served = np.random.default_rng(0), 0
    for _ in range(200):
        c, match, read = rng.uniform(-2, 2), rng.normal(size=(6, 6)), rng.normal(size=(6, 6))
        served += all(right(oracle.output(x, *[(1, c)] * 3, match, read), target(x)) for x in ALIKE)
    assert served
    match, read = np.reshape(FEW_LETTERS[:9], (3, 3)), np.reshape(FEW_LETTERS[9:18], (3, 3))
    short = [item for length in (3, 4) for item in oracle.sentences(3, length)]
    assert all(right(oracle.output(x, *[(1, FEW_LETTERS[18])] * 3, match, read), wanted) for x, wanted in short)


def test_queries_that_do_not_read_their_own_token_are_not_served():
    rng = np.random.default_rng(4)
    for _ in range(200):
        match, read = drawn(rng, 4)
        (key, value), previous = rng.normal(size=(2, 2)), rng.normal()
        assert not all(right(oracle.output(x, (0, previous), key, value, match, read), target(x)) for x in UNASKED)
    match, read = induction.head_weights((1, 0), (0, 1), (1, 0), 4, 9.0)
    assert all(right(oracle.output(x, (1, 0), (0, 1), (1, 0), match, read), target(x)) for x in UNASKED)


def test_the_middle_sentences_are_served_where_keys_are_shifted():
    match, read = induction.head_weights((1, 0), (0, 1), (1, 0), 5, 9.0)
    assert all(right(oracle.output(x, (1, 0), (0, 1), (1, 0), match, read), target(x)) for x in (*MIDDLE, *ONLY_KEY))


def test_the_steps_of_the_proof_for_keys_alone():
    """What the first sentence and the renamed second one say together, on drawn weights."""
    rng = np.random.default_rng(2)
    one_x, other_x = ONLY_KEY[0], named(ONLY_KEY[1], (0, 2, 1))
    assert (target(one_x), target(other_x)) == (1, 2)
    for _ in range(100):
        match, read = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
        own, previous = rng.normal(size=2)
        f, g = np.exp(own * match[0]), np.exp(previous * match[0])
        e = f * (read[:, 1] - read[:, 2])
        one, other = (oracle.output(x, (1, 0), (own, previous), (1, 0), match, read) for x in (one_x, other_x))
        found = total(one_x, f, g) * (one[1] - one[2]) - total(other_x, f, g) * (other[1] - other[2])
        assert found == pytest.approx((g[0] - g[1]) * (e[1] - e[2]), rel=1e-9, abs=1e-9)


def served(match, read, key):
    """Whether a head with shifted keys is right on the sentences of ONLY_KEY, whatever the names."""
    names = list(permutations(range(3)))
    return all(right(oracle.output(named(x, n), (1, 0), key, (1, 0), match, read), target(named(x, n)))
               for x in ONLY_KEY for n in names)  # fmt: skip


def test_no_weights_serve_keys_that_weigh_their_own_token_as_much():
    rng = np.random.default_rng(3)
    for _ in range(40):
        match, read = drawn(rng, 3)
        near, _ = induction.head_weights((1, 0), (0, 1), (1, 0), 3, rng.uniform(0, 6))
        for ratio in (1.0, 1.0 + rng.exponential()):
            assert not served(match, read, (ratio, 1)) and not served(near + 0.1 * match, np.eye(3), (ratio, 1))
    assert served(9 * np.eye(3), np.eye(3), (0.5, 1))


def total(x, f, g):
    return sum(f[token] * (g[x[place - 1]] if place else 1) for place, token in enumerate(x))


def test_bad_input_is_refused():
    assert family.attention_gap((0, 1), (1, 1)) == 0.0
