"""The family of shifts against brute force over all short sentences and linear programmes over all weights."""

from itertools import product

import numpy as np
import pytest

from proofs_check.evidence.tolerances import ROUNDING, VISIBLE
from proofs_check.oracles import family as oracle
from theory.induction import (
    attention_error_bound,
    attention_gap,
    family,
    head_weights,
    implements,
    key_shift_error,
    logit_lead_bound,
)
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


def test_there_are_sentences_of_all_kinds():
    assert len(ALL) == 12 + 12 * 6 + 4 * 27 * 3
    assert oracle.sentences(2, 3).__next__() == ((0, 1, 0), 1)
    assert not list(oracle.sentences(3, 2))
    assert [target(x) for x in SWAPPED + UNSEEN] == [1, 2, 1, 2] and [target(x) for x in MIDDLE] == [1, 2, 1, 2]
    assert all((x, target(x)) in set(oracle.sentences(4, len(x))) for x in (*ONLY_KEY, *UNASKED))
    assert [target(x) for x in (*UNASKED, *ALIKE)] == [1, 2, 2, 1, 1, 1]


@pytest.mark.parametrize("name", YES)
def test_members_that_implement_reach_their_bounds(name):
    mix, answer = mixing(name, kernels(name)), implements(name, kernels(name))
    assert answer.holds and answer.reason == "concentrates" and answer.sentences == ()
    for scale in (2.0, 8.0, 40.0):
        match, read = head_weights(*mix, 4, scale)
        for x, wanted in ALL:
            found = oracle.output(x, *mix, match, read)
            off = 1 - oracle.attention(x, mix.query, mix.key, match)[x.index(x[-1]) + 1]
            error = attention_error_bound(len(x), answer.gap, scale)
            lead = found[wanted] - max(entry for token, entry in enumerate(found) if token != wanted)
            assert off <= error + ROUNDING
            assert lead >= logit_lead_bound(mix.value, error) - ROUNDING
            if scale == 40.0:
                assert right(found, wanted)
    assert attention_error_bound(5, answer.gap, 400.0) < VISIBLE


@pytest.mark.parametrize("ratio", [-2.0, 0.0, 1.0, 1.5])
def test_the_error_of_shifted_keys_is_exact(ratio):
    match, _ = head_weights((1, 0), (ratio, 1), (1, 0), 4, 3.0)
    for x, _ in ALL:
        off = 1 - oracle.attention(x, (1, 0), (ratio, 1), match)[x.index(x[-1]) + 1]
        assert off == pytest.approx(key_shift_error(len(x), ratio, 3.0), abs=ROUNDING)


@pytest.mark.parametrize("name", [n for n in MEMBERS if n not in YES])
def test_members_that_do_not_say_why(name):
    answer = implements(name, kernels(name))
    after = ("none", "query", "output", "canon_c", "canon_d")
    expected = {**dict.fromkeys(after, ("same_output", SWAPPED)),
                **dict.fromkeys(("value", "query_value"), ("middle", MIDDLE)),
                "smear": ("argued_no", ALIKE), "query_key_common": ("argued_no", ALIKE[1:])}  # fmt: skip
    assert (answer.reason, answer.sentences) == expected[name]
    assert answer.holds is (None if name in ARGUED else False)
    assert implements("key", [(1.5, 1)])[1::3] == ("only_key", ONLY_KEY)
    assert implements("smear", [(0, 1)])[1::3] == ("same_output", UNSEEN)
    assert implements("query_key", [(0, 1), (1, 1)])[:2] == (False, "unasked")
    assert implements("query_key_common", [(0, 1)])[:2] == (False, "unasked")
    assert implements("query_key_common", [(1, 0)])[:2] == (False, "same_output")
    assert implements("key_value_common", [(1, 2)])[:2] == (None, "not_concentrated")
    assert implements("canon_b", [(1, 2), (1, 2), (2, 4)])[:2] == (None, "not_concentrated")


@pytest.mark.parametrize("pair", [(0.1, 0.3), (0.3, -0.7), (-1.1, 0.7), (0, 1), (1, 0)])
def test_one_kernel_of_queries_and_keys_has_no_gap_whatever_the_floats(pair):
    """r s = 1 in exact numbers, and min(1, 1 + r s) - max(1, ..) <= 0; in floats r s may fall short of 1."""
    assert attention_gap(pair, pair) <= 0


# M, N and c, found by descent and rounded.
FEW_LETTERS = [-2.7, -0.1, 0.8, 1.5, 3, 2.7, 3.2, 4.5, 4.4, 2, 1.5, -0.2, 1.2, 0.9, 0.9, 0.1, 0.9, -1.1, -2]

PAIRS = [(own, previous) for own in (-1.0, 0.0, 0.5, 1.0) for previous in (-0.5, 0.0, 0.5, 2.0)]


@pytest.mark.parametrize("name", MEMBERS)
def test_what_is_possible_is_so_with_the_coefficients_named_and_else_with_none(name):
    told = possible(name)
    count = MEMBERS[name].kernels
    assert (told is None) == (name in ARGUED)
    if told:
        assert implements(name, family.KERNELS[name]).holds
    else:
        found = {implements(name, rows if count else ()).holds for rows in product(PAIRS, repeat=count)}
        assert True not in found and (told is None or found == {False})


def test_weights_that_tell_names_apart_serve_three_letters_and_four_tokens_with_one_kernel_for_all():
    match, read = np.reshape(FEW_LETTERS[:9], (3, 3)), np.reshape(FEW_LETTERS[9:18], (3, 3))
    short = [item for length in (3, 4) for item in oracle.sentences(3, length)]
    assert all(right(oracle.output(x, *[(1, FEW_LETTERS[18])] * 3, match, read), wanted) for x, wanted in short)
