"""Training on text: interrupted and resumed equals uninterrupted, stages of lengths, losses that leave noise out."""

import os

import numpy as np
import pytest
import torch

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.tasks.corpus import Corpus
from dynamics.tasks.needles import NOISE, VOCAB, training_windows
from dynamics.training import text as module
from dynamics.training.state import STATE
from dynamics.training.text import text_losses, train_text
from dynamics.training.text_settings import TextTraining
from tests.dynamics.interruption import interrupt
from tests.dynamics.refusal import refused
from tests.dynamics.training.test_loop import same

pytestmark = pytest.mark.usefixtures("one_thread")

TEXT = (np.arange(3000) * 31 % 90 + 32).astype(np.uint8)
CORPUS = Corpus(TEXT, TEXT[:500], "c" * 64, 2)
CONFIG = ModelConfig(vocab=VOCAB, width=8, n_heads=2, n_layers=2, mlp_width=8, shift="none", position="alibi")
SETTINGS = TextTraining(corpus=CORPUS.sha256, lengths=((8, 4), (16, 4)), tokens=64, warmup=2)


@pytest.mark.parametrize("step", [1, 5])
def test_resumed_run_equals_the_uninterrupted_one_bit_for_bit(tmp_path, monkeypatch, step):
    whole = train_text(CONFIG, SETTINGS, CORPUS, progress=False)
    with monkeypatch.context() as patch:
        calls = interrupt(patch, module, "_step", step)
        with pytest.raises(KeyboardInterrupt):
            train_text(CONFIG, SETTINGS, CORPUS, out=tmp_path, progress=False)
    assert os.listdir(tmp_path) == [STATE] and len(calls) == step
    resumed = train_text(CONFIG, SETTINGS, CORPUS, out=tmp_path, progress=False)
    assert same(whole.model, resumed.model) and whole.history == resumed.history
    again = train_text(CONFIG, SETTINGS, CORPUS, out=tmp_path, progress=False)
    assert same(whole.model, again.model)


def test_stages_follow_each_other(monkeypatch):
    seen = []

    def watched(*arguments):
        seen.append(arguments[3])
        return training_windows(*arguments)

    monkeypatch.setattr(module, "training_windows", watched)
    result = train_text(CONFIG, SETTINGS, CORPUS, progress=False)
    assert seen == [8] * 4 + [16] * 4 and len(result.history["text"]) == SETTINGS.steps == 8
    refused("below 8", SETTINGS.length_at, 8)


def test_learning_lowers_the_loss_of_text():
    settings = SETTINGS.but(lengths=((16, 120),), learning_rate=0.02)
    history = train_text(CONFIG, settings, CORPUS, progress=False).history
    assert np.mean(history["text"][-5:]) < 0.75 * np.mean(history["text"][:5])


def test_losses_are_cross_entropies_of_the_next_byte():
    model = InductionModel(CONFIG, torch.Generator().manual_seed(0))
    windows = training_windows(np.random.default_rng(0), TEXT, 4, 32, 1.0, 8)
    losses, right, kind = text_losses(model, windows)
    logits = model(torch.from_numpy(windows.tokens[:, :-1])).log_softmax(-1)
    targets = torch.from_numpy(windows.tokens[:, 1:])
    torch.testing.assert_close(losses, -logits.gather(2, targets[..., None]).squeeze(2))
    assert torch.equal(right, logits.argmax(-1) == targets)
    assert np.array_equal(kind, windows.kind[:, 1:])


def test_planted_bytes_have_no_part_in_the_gradient(monkeypatch):
    models = []
    for change in (0, 1):  # the last planted byte that is a target: as an input it precedes nothing that is scored

        def windows_of(*arguments, change=change):
            windows = training_windows(*arguments)
            windows.kind[:, -1] = NOISE
            windows.tokens[:, -1] = 130 + change
            return windows

        monkeypatch.setattr(module, "training_windows", windows_of)
        models.append(train_text(CONFIG, SETTINGS, CORPUS, progress=False).model)
    assert same(*models)


def test_another_corpus_or_vocabulary_is_refused():
    other = SETTINGS.but(corpus="d" * 64)
    refused(r"is cccccccccccc\.\., the settings are for dddddddddddd", train_text, CONFIG, other, CORPUS)
    refused("vocab must be 160", train_text, CONFIG.but(vocab=100), SETTINGS, CORPUS)
