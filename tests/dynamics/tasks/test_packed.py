"""Packed rows are documents of the text, told apart; what is cut is the text itself."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dynamics.tasks.corpus import standard_library
from dynamics.tasks.packed import LEAST, MEAN, VOCAB, documents, packed_rows

PARAGRAPHS = ["first of the lines\nand a second", "x" * 20, "too short", "last one,\twith  blanks at its end  "]


def text(paragraphs=PARAGRAPHS, between="\n \n\n"):
    return np.frombuffer(between.join(paragraphs).encode(), dtype=np.uint8)


def pieces(source):
    return [source.text[a:b].tobytes().decode() for a, b in zip(source.starts, source.ends, strict=True)]


def test_documents_are_the_paragraphs_that_are_long_enough():
    assert pieces(documents(text())) == [part for part in PARAGRAPHS if len(part) >= LEAST]


def segments_of(tokens, numbers):
    """The runs of equal numbers as strings."""
    borders = [0, *(np.flatnonzero(np.diff(numbers)) + 1), len(numbers)]
    return [bytes(tokens[a:b].tolist()).decode() for a, b in itertools.pairwise(borders)]


@given(st.integers(0, 2**32), st.integers(8, 90))
def test_every_segment_is_a_document_but_the_first_which_ends_one_and_the_last_which_begins_one(seed, length):
    source = documents(text())
    whole = pieces(source)
    rows = packed_rows(np.random.default_rng(seed), source, 3, length, "documents")
    assert rows.tokens.shape == rows.segments.shape == (3, length + 1)
    for tokens, numbers in zip(rows.tokens, rows.segments, strict=True):
        first, *middle = segments_of(tokens, numbers)
        if not middle:
            assert any(first in one for one in whole)
            continue
        assert any(one.endswith(first) for one in whole)
        assert set(middle[:-1]) <= set(whole)
        assert any(one.startswith(middle[-1]) for one in whole)


def test_scored_targets_are_those_of_the_same_document():
    rows = packed_rows(np.random.default_rng(0), documents(text()), 4, 60, "documents")
    for numbers, scored in zip(rows.segments, rows.scored, strict=True):
        assert [bool(same) for same in scored] == [numbers[n] == numbers[n + 1] for n in range(60)]
    assert 0 < rows.scored.mean() < 1


def test_cut_rows_are_the_text_as_it_stands_with_borders_of_the_stated_chance():
    source = documents(standard_library().heldout)
    rows = packed_rows(np.random.default_rng(1), source, 400, 64, "cut")
    whole = source.text.tobytes()
    assert all(bytes(row.tolist()) in whole for row in rows.tokens[:20])
    borders = (np.diff(rows.segments, axis=1) > 0).sum()
    count = 400 * 64
    assert abs(borders - count / MEAN) < 4 * (count / MEAN) ** 0.5
    assert rows.tokens.max() < VOCAB
