"""Texts as tokens: which tokenizer reads them, what is unknown, and where windows begin."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from dynamics.sinks.texts import Facts, Text, facts, read
from dynamics.sinks.windows import windows_of
from tests.dynamics.hf import models

WORDS = {"[UNK]": 0, "[BOS]": 1, **{letter: 2 + place for place, letter in enumerate("ACDEFG")}}
CONFIG = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "[BOS]", "unk_token": "[UNK]"}


@pytest.fixture(params=["with its config", "tokenizer.json alone"])
def folder(tmp_path, request):
    tokenizer = Tokenizer(WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    models.model("gpt2").config.save_pretrained(tmp_path)
    if request.param == "with its config":
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(CONFIG), "utf-8")
    return tmp_path


def written(folder, text):
    (folder / "text").write_text(text, "utf-8")
    return folder / "text"


def test_letters_that_a_tokenizer_does_not_know_are_counted_and_never_lost(folder):
    found = read(models.model("gpt2"), folder, texts=[written(folder, "A C x D\nA q\n")])
    assert_array_equal(found.pieces[0], [2, 3, 0, 4, 2, 0])
    assert (found.unknown, found.n_tokens, facts(models.model("gpt2"), folder).unknown) == (2, 6, 0)
    with pytest.raises(ValueError, match="text: all of its 3 tokens are unknown to the tokenizer"):
        read(models.model("gpt2"), folder, texts=[written(folder, "a c d")])


def test_a_record_a_line_and_an_array_of_records_are_the_same_pieces(folder):
    model, rows = models.model("gpt2"), [[2, 3, 4], [5, 6, 7]]
    np.save(folder / "rows.npy", np.array(rows, np.uint8))
    lines = read(model, folder, records=written(folder, "A C D\n\nE F G\n"))
    array = read(model, folder, records=folder / "rows.npy")
    for found in (lines, array):
        assert [piece.tolist() for piece in found.pieces] == rows and found.names == ("record 1", "record 2")
    two = read(model, folder, texts=[written(folder, "A C D"), Path(written(folder, "A C D"))])
    assert [piece.tolist() for piece in two.pieces] == [rows[0]] * 2


def test_the_first_token_and_the_special_ones_are_the_tokenizers(folder):
    told = (folder / "tokenizer_config.json").exists()
    model = models.model("gpt2")
    assert facts(model, folder) == (Facts(1, 0, (0, 1)) if told else Facts(None, 0, ()))
    assert facts(models.model("gpt2", vocab_size=1), folder) == Facts(None, 0, (0,) * told)
    (folder / "tokenizer.json").unlink()
    assert facts(model, folder) == Facts()


def test_windows_begin_where_pieces_do():
    model, text = models.model("gpt2"), Text((np.arange(7), np.arange(10, 12), np.arange(20, 29)), ("a", "b", "c"))
    found = windows_of(model, text, 4, begin=63)
    assert found.rows.tolist() == [[63, 0, 1, 2], [63, 3, 4, 5], [63, 20, 21, 22], [63, 23, 24, 25], [63, 26, 27, 28]]
    assert (found.piece.tolist(), found.left_out, found.too_short) == ([0, 0, 2, 2, 2], 3, 1)
    assert windows_of(model, text).rows.shape == (3 + 1 + 4, 2)  # by default the shortest piece is read whole
