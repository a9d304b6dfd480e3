"""The family theorem's statements against brute force and `theory`: scores, outputs, bounds, sentences."""

from fractions import Fraction

import numpy as np
import pytest

from proofs_check.kv.formal import family as formal
from proofs_check.language.notation import var
from proofs_check.oracles import family as oracle
from tests.proofs_check.test_formal_truth import close, draws, exactly, opened
from tests.proofs_check.test_formal_truth import eighths as drawn_eighths
from theory import induction
from theory.induction import family

POINTS, NAMES = 12, ("q0", "q1", "k0", "k1", "v0", "v1")


def eighths(rng, *shape):
    return drawn_eighths(rng, *shape)[1]


def test_the_gap_and_the_lead_are_those_of_theory():
    for rng in draws("gap", POINTS):
        r, s, u = eighths(rng, 3)
        point = {"r": exactly(r), "s": exactly(s), "u": exactly(u)}
        close(opened(formal.call(formal.GAP, formal.r, formal.s), [formal.GAP]), point,
              induction.attention_gap((1, s), (r, 1)))  # fmt: skip
        close(opened(formal.call(formal.LEAD, formal.u), [formal.LEAD]), point, induction.value_lead((1, u)))


@pytest.mark.parametrize("length", [3, 4, 5, 6])
def test_a_sentence_that_is_written_out_is_read_as_brute_force_reads_it(length):
    for rng in draws(length, POINTS):
        sentence, token = [rng.randint(1, 5) for _ in range(length)], rng.randint(1, 5)
        kernels, match, read = eighths(rng, 3, 2), eighths(rng, 5, 5), eighths(rng, 5, 5)
        term = opened(formal.head(sentence, token), [formal.HEADS[length]])
        point = {"M": exactly(match), "N": exactly(read), **dict(zip(NAMES, exactly(kernels.ravel()), strict=True))}
        true = oracle.output([x - 1 for x in sentence], *map(tuple, kernels), match, read)
        close(term, point, true[token - 1], 1e-10)


@pytest.mark.parametrize("sentence", [formal.SHORT, formal.LONG])
def test_weights_that_treat_all_names_alike_are_read_as_brute_force_reads_them(sentence):
    for rng in draws(len(sentence), POINTS):
        token, kernels, entries = rng.randint(1, 6), eighths(rng, 3, 2), eighths(rng, 4)
        match, read = (own * np.eye(6) + rest for own, rest in entries.reshape(2, 2))
        mix = [tuple(var(name) for name in NAMES[at : at + 2]) for at in (0, 2, 4)]
        term = opened(formal.alike(sentence, token, *mix), [formal.ALIKE_HEADS[len(sentence)]])
        point = dict(zip((*NAMES, "lambda", "mu", "nu", "kappa"), exactly([*kernels.ravel(), *entries]), strict=True))
        true = oracle.output([x - 1 for x in sentence], *map(tuple, kernels), match, read)
        close(term, point, true[token - 1], 1e-10)


def test_a_sentence_of_any_length_is_read_as_brute_force_reads_it():
    for rng in draws("any", POINTS):
        length = rng.randint(3, 7)
        place = rng.randint(1, length - 2)
        words = [rng.randint(1, 3) for _ in range(length)]
        sentence = [0 if t in (place, length) else x for t, x in enumerate(words, start=1)]
        r, s, u = eighths(rng, 3)
        point = {"L": length, "p": place, "w": tuple(map(Fraction, words)), "c": 2}
        point |= {"r": exactly(r), "s": exactly(s), "u": exactly(u)}
        mix = ((1.0, s), (r, 1.0), (1.0, u))
        match, read = induction.head_weights(*mix, 4, 2.0)
        for token, true in enumerate(oracle.output(sentence, *mix, match, read)):
            arguments = map(var, ("w", "L", "p", "j", "r", "s", "u", "c"))
            term = opened(formal.call(formal.OUTPUT, *arguments), formal.SENTENCE)
            close(term, point | {"j": token}, true, 1e-10)


def test_the_score_of_a_place():
    for rng in draws("place", POINTS):
        (query, key), match = eighths(rng, 2, 2), eighths(rng, 3, 3)
        own, previous, a, b = (rng.randint(1, 3) for _ in range(4))
        point = {"M": exactly(match), **dict(zip(NAMES, exactly([*query, *key]), strict=False))}
        arguments = own, previous, a, b, *formal.COEFFICIENTS[:4], formal.M
        term = opened(formal.call(formal.PLACE, *arguments), [formal.PLACE])
        asked = query[0] * match[a - 1] + query[1] * match[b - 1]
        close(term, point, key[0] * asked[own - 1] + key[1] * asked[previous - 1], 1e-10)


def test_the_sentences_of_the_proofs_are_those_of_theory():
    up = lambda sentences: tuple(tuple(x + 1 for x in sentence) for sentence in sentences)  # noqa: E731
    assert up(family.SWAPPED) == formal.SWAPPED and up(family.UNSEEN) == formal.UNSEEN
    assert up(family.UNASKED) == tuple(sentence for sentence, *_ in formal.UNASKED)
    names = {0: formal.Q, 1: formal.B, 2: formal.U, 3: formal.Z, 4: formal.H}
    assert [tuple(map(names.get, x)) for x in family.ALIKE] == [formal.LONG, formal.SHORT]
    assert up(family.MIDDLE) == formal.middle(1, 4, 2, 3) + formal.middle(1, 5, 2, 3)
    assert tuple(dict.fromkeys(sentence for sentence, _ in formal.ONLY_KEY)) == family.ONLY_KEY


def test_the_places_that_the_necessary_inequalities_compare():
    """All of both sentences from the second on, but p + 1; both have one earlier a, and their targets."""
    for sentence, target in ((formal.FIRST, "c"), (formal.SECOND, "b")):
        after = sentence.index("a") + 1
        assert sentence[-1] == "a" and sentence.count("a") == 2 and sentence[after] == target
        pairs = {(sentence[t], sentence[t - 1]) for t in range(1, len(sentence)) if t != after}
        assert set(formal.compared(sentence)) == pairs and (target, "a") not in pairs
