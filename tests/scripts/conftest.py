"""A command as a test gives it: what it says, that it succeeds, that it is refused; and a folder to run it in."""

import shlex

import pytest

from scripts.commands import cli
from tests.scripts.commands import main_of


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The folder of tiny random models of these families, the first with a tokenizer of words, by their numbers."""

    def made(families, vocabulary, **special):
        from tokenizers import Tokenizer
        from tokenizers.models import WordLevel
        from tokenizers.pre_tokenizers import Whitespace
        from transformers import PreTrainedTokenizerFast
        from transformers.utils import logging

        from tests.dynamics.hf import models

        logging.disable_progress_bar()
        place = tmp_path_factory.mktemp("models")
        for family in families:
            models.model(family, dtype=None).save_pretrained(place / family)
        tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = Whitespace()
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(place / families[0])
        return place

    return made


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command(capsys):
    """(exit status, standard output, standard error) of a command."""

    def run(name, *arguments):
        capsys.readouterr()
        try:
            status = cli.run(main_of(name), [str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def done(command):
    """What a command prints that succeeds and has nothing to complain of."""

    def printed_by(*words):
        status, printed, told = command(*words)
        assert (status, told) == (0, "")
        return printed

    return printed_by


@pytest.fixture
def refused(command):
    """The command of a line fails with one line, which holds some words."""

    def check(line, *words):
        status, printed, told = command(*shlex.split(line))
        assert (status, printed, told.count("\n")) == (2, "", 1), told
        assert told.startswith("error: ") and all(some in told for some in words), told

    return check
