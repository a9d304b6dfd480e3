"""The callback in transformers' own handler of callbacks and in the Trainer itself."""

from functools import partial

import torch
from transformers import TrainerControl, TrainerState
from transformers.trainer_callback import CallbackHandler

from dynamics.observed import callback as module
from dynamics.observed.callback import ObserverCallback
from dynamics.observed.log import read_lines, stacked
from tests.dynamics.hf import models
from tests.dynamics.refusal import refused

TEXT = list(range(64)) * 2


class Arguments:
    fsdp, deepspeed = "", None


def drive(callback, model, steps, first=0, arguments=None, world=True):
    """The calls of Trainer: an optimiser's step between on_step_begin and on_step_end."""
    handler = CallbackHandler([callback], model, None, None, None)
    arguments, control = arguments or Arguments(), TrainerControl()
    state = TrainerState(global_step=first, is_world_process_zero=world)
    optimizer, model = torch.optim.SGD(model.parameters(), lr=0.01), model.train()
    handler.on_train_begin(arguments, state, control)
    for step in range(first, first + steps):
        handler.on_step_begin(arguments, state, control)
        tokens = models.tokens(2, 9, step)
        model(tokens, labels=tokens).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        state.global_step = step + 1
        handler.on_step_end(arguments, state, control)
        assert model.training
    handler.on_train_end(arguments, state, control)


def test_a_training_is_logged_and_a_resumed_one_goes_on(tmp_path):
    path, model = tmp_path / "log.jsonl", models.model("llama", dtype=torch.float32)
    drive(ObserverCallback(path, TEXT, every=2, share=None, window=16, k=5), model, 5)
    assert [line.step for line in read_lines(path)] == [0, 2, 4]
    drive(ObserverCallback(path, TEXT, every=2, share=None, window=16, k=5), model, 3, first=4)
    lines = read_lines(path)
    assert [line.step for line in lines] == [0, 2, 4, 6]
    assert stacked(lines, "text_loss").shape == (4,) and stacked(lines, "induction").shape == (4, 2, 4)
    refused("exists already", drive, ObserverCallback(path, TEXT, k=5), model, 1)


def test_only_what_lies_between_the_two_ends_of_a_step_is_training(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module, "Observer", partial(module.Observer, clock=lambda: now[0]))
    callback, state = ObserverCallback(None, k=3, repeats=2), TrainerState()
    callback.on_train_begin(Arguments(), state, None, model=models.model("gpt2", dtype=torch.float32))
    for step in range(1, 4):
        now[0] += 1000.0
        callback.on_step_begin(Arguments(), state, None)
        now[0] += 1.0
        state.global_step = step
        callback.on_step_end(Arguments(), state, None)
    assert callback.observer.trained == 3.0


def test_other_processes_observe_nothing_and_shards_are_refused(tmp_path):
    callback = ObserverCallback(tmp_path / "log.jsonl", k=5)
    drive(callback, models.model("gpt2", dtype=torch.float32), 2, world=False)
    assert callback.observer is None and not list(tmp_path.iterdir())
    arguments = Arguments()
    arguments.fsdp = "full_shard"
    model = models.model("gpt2", dtype=torch.float32)
    refused("weights in shards cannot be observed", drive, callback, model, 1, arguments=arguments)


def test_in_the_trainer_itself(tmp_path):
    from transformers import Trainer, TrainingArguments

    def weights(callbacks):
        model = models.model("gpt2", dtype=torch.float32, attn_pdrop=0.1)
        rows = [{"input_ids": row, "labels": row} for row in models.tokens(16, 9)]
        arguments = TrainingArguments(str(tmp_path / "out"), max_steps=6, per_device_train_batch_size=4, seed=1,
                                      save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True)  # fmt: skip
        Trainer(model, arguments, train_dataset=rows, callbacks=callbacks).train()
        return [weight.detach().numpy().tobytes() for weight in model.parameters()]

    observed = ObserverCallback(tmp_path / "log.jsonl", TEXT, every=2, share=None, k=5)
    assert weights([observed]) == weights([])
    assert [line.step for line in read_lines(tmp_path / "log.jsonl")] == [0, 2, 4, 6]
